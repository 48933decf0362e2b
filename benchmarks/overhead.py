"""What router, submitter and replicas cost, beside the same loop with the policy called directly.

PPO on CartPole-v1 with 64 sub-environments: two environment workers of 32, two replicas, no
output. The direct loop has the same workers, the same learner and forwards of the same sizes, but
no router, no submitter, no runtime and no replica. Both take turns within one run:

    python -m benchmarks.overhead [--check] [--json PATH]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch

from benchmarks.harness import Figure, report
from rlightning.algorithm.ppo import PPO
from rlightning.config.loading import load_config
from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import Assembly, AssemblyPlan, assemble, policy_factory
from rlightning.env.worker import EnvWorker
from rlightning.types import ActionBatch, ObservationBatch

NUM_ROUNDS = 31
ROLLOUT_LENGTH = 128
BAR = 0.9

SETTINGS = [
    "env.num_workers=2",
    "env.num_envs=32",
    "policy.num_eval_policies=2",
    f"engine.rollout_length={ROLLOUT_LENGTH}",
    "algorithm.minibatch_size=2_048",
    "algorithm.num_epochs=4",
]


def main(arguments: list[str]) -> int:
    """Measure both loops in turns and report the ratio of their medians."""
    config = load_config("cartpole-ppo", SETTINGS)
    plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed)
    assembly = assemble(config, plan)
    with assembly.runtime:
        loops = {"routed": routed_loop(assembly), "direct": direct_loop(config)}
        collecting = {name: collect for name, (collect, _) in loops.items()}
        training = {name: whole for name, (_, whole) in loops.items()}
        figures = [
            compare("collecting 8,192 steps, routed / direct", collecting, None),
            compare("training on 8,192 steps, routed / direct", training, BAR),
        ]
    return report(figures, arguments)


def compare(name: str, loops: dict[str, Callable[[], object]], bar: float | None) -> Figure:
    """Run both loops in turns; the ratio is the median over the pairs, of steps per second.

    Pair by pair, because the machine may be quicker now and slower then.
    """
    seconds: dict[str, list[float]] = {which: [] for which in loops}
    for _ in range(NUM_ROUNDS):
        for which, loop in loops.items():
            started = time.perf_counter()
            loop()
            seconds[which].append(time.perf_counter() - started)
    routed, direct = seconds["routed"][1:], seconds["direct"][1:]
    ratios = [plain / ours for ours, plain in zip(routed, direct, strict=True)]
    ratio = statistics.median(ratios)
    return Figure(name, statistics.median(routed), statistics.median(direct), ratio, bar)


Loops = tuple[Callable[[], object], Callable[[], object]]


def routed_loop(assembly: Assembly) -> Loops:
    """Return collecting, and collecting with an update, as the synchronous engine does them."""
    environments, policies = assembly.environments, assembly.policies
    policies.publish()
    environments.reset()

    def collect() -> object:
        for _ in range(environments.rollout_length):
            for env_id, action in policies.act_each(environments.observations()):
                environments.step(env_id, action)
        return environments.take_fragments()

    def train() -> object:
        report_of_update = policies.update(collect(), 0.0)  # type: ignore[arg-type]
        policies.publish()
        return report_of_update

    return collect, train


def direct_loop(config: RunConfig) -> Loops:
    """Return the same without anything between the workers and the policy."""
    (env_config,) = config.env_configs
    workers = [EnvWorker(env_config, index, ROLLOUT_LENGTH, config.seed) for index in range(2)]
    policy = policy_factory(config, workers[0].kind())()
    ppo = PPO(policy, config.algorithm, config.seed)  # type: ignore[arg-type]
    newest = [worker.reset() for worker in workers]

    def act(seen: ObservationBatch) -> ActionBatch:
        with torch.inference_mode():
            output = policy.act(torch.from_numpy(seen.observation), torch.from_numpy(seen.noise))
            action, log_prob, value = (tensor.numpy() for tensor in output)
        return ActionBatch(seen.env_id, action, log_prob, value, 0, "direct")

    def collect() -> object:
        for _ in range(ROLLOUT_LENGTH):
            for number, worker in enumerate(workers):
                newest[number] = worker.step(act(newest[number]))
        return [worker.take_fragment() for worker in workers]

    def train() -> object:
        return ppo.update(collect(), 0.0)  # type: ignore[arg-type]

    return collect, train


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
