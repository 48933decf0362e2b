"""The one table of metrics: what each name means, in which unit, and where TensorBoard shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricName:
    """One metric, or a family of metrics whose names share a beginning.

    Attributes:
        name: Key in `metrics.jsonl`. A family ends with a slash: ``load/`` stands for
            ``load/eval-0`` and so on.
        unit: Of the value.
        meaning: One sentence for a reader of plots.
        tag_group: Part of the TensorBoard tag before the slash.
    """

    name: str
    unit: str
    meaning: str
    tag_group: str


METRIC_NAMES: tuple[MetricName, ...] = (
    MetricName("iteration", "iterations", "Collect-and-update cycles so far.", "time"),
    MetricName("env_steps", "steps", "Valid environment steps since the start.", "time"),
    MetricName("seconds", "s", "Time since the start, all resumed parts together.", "time"),
    MetricName("steps_per_second", "steps/s", "Environment steps per second.", "time"),
    MetricName(
        "episode_return_mean",
        "reward",
        "Mean undiscounted return of the last 100 episodes, as Gymnasium and "
        "Stable-Baselines3 report it; empty before the first episode ends.",
        "rollout",
    ),
    MetricName(
        "episode_return_std",
        "reward",
        "Standard deviation of the returns of the last 100 episodes.",
        "rollout",
    ),
    MetricName(
        "episode_return_min", "reward", "Lowest return of the last 100 episodes.", "rollout"
    ),
    MetricName(
        "episode_return_max", "reward", "Highest return of the last 100 episodes.", "rollout"
    ),
    MetricName("episode_length_mean", "steps", "Mean length of the last 100 episodes.", "rollout"),
    MetricName("num_episodes", "episodes", "Episodes that ended in this iteration.", "rollout"),
    MetricName("policy_version", "versions", "Published versions of the weights.", "time"),
    MetricName("policy_loss", "", "Clipped surrogate loss.", "losses"),
    MetricName("value_loss", "", "Loss of the value function.", "losses"),
    MetricName("entropy", "nats", "Mean entropy of the action distribution.", "losses"),
    MetricName("kl", "nats", "Estimated divergence of the new policy from the old one.", "losses"),
    MetricName("clip_fraction", "share", "Share of ratios outside the clip range.", "losses"),
    MetricName(
        "explained_variance",
        "share",
        "Share of the returns' variance that the value function explains; 1 is perfect, "
        "0 is no better than a constant.",
        "losses",
    ),
    MetricName("learning_rate", "", "Step size of the optimiser.", "train"),
    MetricName("gradient_norm", "", "Norm of the gradient before clipping.", "train"),
    MetricName("evaluation/", "", "Result of an evaluation run.", "evaluation"),
    MetricName("time/", "s", "Seconds of the iteration spent in a phase.", "time"),
    MetricName("router/", "decisions", "Decisions of the router by reason, so far.", "routing"),
    MetricName("load/", "calls", "Calls in flight at a replica.", "routing"),
    MetricName(
        "queue_wait_seconds/", "s", "Seconds that calls waited for room at a worker.", "routing"
    ),
    MetricName(
        "faults/",
        "",
        "Restarts of a worker, steps dropped with its fragments, or calls that another one had "
        "to answer, so far; absent while there are none.",
        "faults",
    ),
    MetricName("tasks/", "tasks", "Requests of one worker answered by one replica.", "routing"),
    MetricName(
        "home_share",
        "share",
        "Share of the requests that a replica on the environment worker's own node was sent; "
        "absent where there is one node only.",
        "routing",
    ),
    MetricName(
        "node_requests/",
        "requests",
        "Requests that environment workers of one node sent to replicas of another, or the same.",
        "routing",
    ),
    MetricName(
        "node_bytes/",
        "bytes",
        "Bytes of the arrays of those requests (observations and noise) and of their answers "
        "(actions, log-probabilities and values).",
        "routing",
    ),
)
"""Every metric that RLightning itself writes; an algorithm may add names of its own."""

_BY_NAME = {metric.name: metric for metric in METRIC_NAMES}


def describe_metric(name: str) -> MetricName:
    """Return the entry of a key of `metrics.jsonl`.

    A key such as ``CartPole-v1/kl`` of one among several environments has the entry of ``kl``.
    A name that is not in the table is an algorithm's own and gets the group ``train``.
    """
    family = _BY_NAME.get(name.partition("/")[0] + "/")
    if family is not None:
        return family
    last = name.rpartition("/")[2]
    return _BY_NAME.get(last) or MetricName(last, "", "A metric of the algorithm.", "train")


def tensorboard_tag(name: str) -> str:
    """Return the tag of a key: ``kl`` → ``losses/kl``, ``load/eval-0`` → ``routing/load/eval-0``.

    Of one among several environments, its name comes last, so that TensorBoard keeps the groups
    together: ``CartPole-v1/kl`` → ``losses/kl/CartPole-v1``.
    """
    metric = describe_metric(name)
    if metric.name.endswith("/"):
        is_named_alike = metric.name == f"{metric.tag_group}/"
        return name if is_named_alike else f"{metric.tag_group}/{name}"
    environment = name[: -len(metric.name)].strip("/")
    tag = f"{metric.tag_group}/{metric.name}"
    return f"{tag}/{environment}" if environment else tag
