"""The loop over real groups, with replicas and a learner that only count."""

from __future__ import annotations

import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.config.routing_config import RoutingConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.engine.hooks import Hook
from rlightning.engine.iteration_summary import IterationSummary
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.sync_engine import SyncRLEngine
from rlightning.env.group import EnvGroup
from rlightning.policy.group import PolicyGroup
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import FakeLearner, FakeReplica

COUNTING = EnvConfig(
    id="rlightning.testing.environments:Counting-v0", num_workers=2, num_envs=2, kwargs={}
)


class Listening(Hook):
    def __init__(self) -> None:
        self.reports = []
        self.calls: list[str] = []

    def run_started(self) -> None:
        self.calls.append("started")

    def iteration_ended(self, report):
        self.reports.append(report)
        return report

    def run_ended(self) -> None:
        self.calls.append("ended")


class VersionedLearner(FakeLearner):
    """Remembers the versions that collected each update's fragments."""

    def __init__(self) -> None:
        super().__init__()
        self.versions: list[set[int]] = []

    def update(self, progress, kinds, *fragments):
        self.versions.append({int(v) for part in fragments for v in part.policy_version})
        return super().update(progress, kinds, *fragments)


class Bench:
    def __init__(self, runtime, total_env_steps: int, *, routing=None, configs=(COUNTING,)) -> None:
        self.environments = EnvGroup(runtime, TaskSubmitter(), configs, 4, 0)
        fakes = {f"eval-{i}": FakeReplica(f"eval-{i}") for i in range(2)}
        self.replicas = FakePool(runtime, fakes, routing or RoutingConfig())
        self.learner = VersionedLearner()
        learner = runtime.spawn(WorkerSpec("learner-0", lambda: self.learner))
        kinds = {env_id: self.environments.kind_of(env_id) for env_id in self.environments.env_ids}
        pools = dict.fromkeys(self.environments.kinds, self.replicas.pool)
        self.policies = PolicyGroup(pools, kinds, learner, self.replicas.submitter)
        self.progress = TrainingProgress(total_env_steps)
        self.summary = IterationSummary(self.environments, self.policies, self.progress)
        self.hook = Listening()
        self.engine = SyncRLEngine(
            self.environments, self.policies, self.progress, self.summary, self.hook
        )


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def test_it_trains_until_all_steps_are_taken(runtime) -> None:
    """Two workers, two sub-environments, four rows: 16 steps in each iteration."""
    bench = Bench(runtime, total_env_steps=33)
    bench.engine.run()
    assert [report.env_steps for report in bench.hook.reports] == [16, 32, 48]
    assert [report.iteration for report in bench.hook.reports] == [1, 2, 3]
    assert bench.hook.calls == ["started", "ended"]
    shares = [report.algorithm["progress"] for report in bench.hook.reports]
    assert shares == [0.0, 16 / 33, 32 / 33]


def test_every_iteration_is_collected_by_one_version_the_newest(runtime) -> None:
    bench = Bench(runtime, total_env_steps=64)
    bench.engine.run()
    assert bench.learner.versions == [{0}, {1}, {2}, {3}]
    assert [report.policy_version for report in bench.hook.reports] == [1, 2, 3, 4]


def test_a_request_to_stop_ends_it_after_the_iteration(runtime) -> None:
    bench = Bench(runtime, total_env_steps=10_000)
    bench.engine.run(lambda: len(bench.hook.reports) == 2)
    assert bench.progress.iteration == 2
    assert bench.hook.calls == ["started", "ended"]


def test_a_request_to_stop_that_comes_at_once_still_leaves_one_iteration_to_save(runtime) -> None:
    bench = Bench(runtime, total_env_steps=10_000)
    bench.engine.run(lambda: True)
    assert bench.progress.iteration == 1


def test_a_complete_run_takes_no_step(runtime) -> None:
    bench = Bench(runtime, total_env_steps=16)
    bench.progress.advance(16, 1.0)
    bench.engine.run()
    assert bench.hook.reports == []
    assert bench.hook.calls == ["started", "ended"]


def test_an_error_in_a_hook_ends_the_run(runtime) -> None:
    class Failing(Hook):
        def iteration_ended(self, report):
            raise ValueError("disk full")

    bench = Bench(runtime, total_env_steps=64)
    engine = SyncRLEngine(
        bench.environments, bench.policies, bench.progress, bench.summary, Failing()
    )
    with pytest.raises(ValueError, match="disk full"):
        engine.run()
    assert bench.progress.iteration == 1


def test_a_loop_without_hooks_runs_too(runtime) -> None:
    bench = Bench(runtime, total_env_steps=16)
    SyncRLEngine(bench.environments, bench.policies, bench.progress, bench.summary).run()
    assert bench.progress.env_steps == 16


def test_a_report_tells_who_did_what_in_this_iteration_alone(runtime) -> None:
    bench = Bench(runtime, total_env_steps=48)
    bench.engine.run()
    for number, report in enumerate(bench.hook.reports, start=1):
        assert sum(report.tasks.values()) == 8, "two workers, four requests each"
        assert {env for env, _ in report.tasks} == {"env-0", "env-1"}
        assert report.router_counts["balanced"] == 8 * number, "since the start"
        assert report.loads == {"eval-0": 0, "eval-1": 0}
        assert report.steps_per_second > 0
        assert set(report.queue_wait_seconds) == {"env-0", "env-1", "router", *_served(bench)}
        assert all(seconds >= 0 for seconds in report.queue_wait_seconds.values())
        assert list(report.environments) == []
    lengths = [episode.length for report in bench.hook.reports for episode in report.episodes]
    assert lengths == [3] * 16, "four sub-environments, twelve steps each"


def _served(bench: Bench) -> set[str]:
    return set(bench.replicas.submitter.wait_seconds())


def test_times_of_the_phases_add_up_to_the_iteration(runtime) -> None:
    bench = Bench(runtime, total_env_steps=48)
    bench.engine.run()
    seconds_before = 0.0
    for report in bench.hook.reports:
        shares = report.time_shares
        assert set(shares) == {"environments", "inference", "update", "waiting"}
        assert all(seconds >= 0 for seconds in shares.values())
        assert sum(shares.values()) == pytest.approx(report.seconds - seconds_before)
        seconds_before = report.seconds


def test_without_any_work_all_time_is_waiting(runtime) -> None:
    bench = Bench(runtime, total_env_steps=16)
    bench.summary.report(bench.policies.update([], 0.0), 1.0)
    report = bench.summary.report(_no_update(), 2.0)
    assert report.time_shares["waiting"] == 2.0
    assert report.steps_per_second == 0.0


def _no_update():
    return FakeLearner().update(0.0, [])


def test_several_kinds_have_the_names_of_their_environments(runtime) -> None:
    bench = Bench(runtime, 16, configs=(COUNTING, EnvConfig(id="CartPole-v1", num_envs=2)))
    report = bench.summary.report(_no_update(), 1.0)
    assert report.environments == {
        "env-0": COUNTING.id, "env-1": COUNTING.id, "env-2": "CartPole-v1",
    }  # fmt: skip
