from __future__ import annotations

from rlightning.config.routing_config import RoutingConfig
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.fake_pool import FakePool
from rlightning.testing.fake_replica import GatheringFakeReplica, shown_observation
from rlightning.testing.recorded_worker import RecordedWorker

WAIT_SECONDS = 30.0


def test_a_retry_goes_beyond_the_limit_if_the_seats_are_held_by_what_waits_for_it() -> None:
    """The observation of the second request comes after the answer to the first one."""
    with InProcessRuntime("threads") as threads:
        fakes = {
            "eval-0": GatheringFakeReplica("eval-0", before=lambda number: RuntimeError("no luck")),
            "eval-1": GatheringFakeReplica("eval-1"),
        }
        bench = FakePool(threads, fakes, RoutingConfig(mode="async"))
        env = RecordedWorker("env-0")
        first_seen, seen_later = env.call("reset"), env.call("step")
        first = bench.pool.act("env-0", first_seen)
        second = bench.pool.act("env-0", seen_later)
        assert bench.pool.loads() == {"eval-0": 1, "eval-1": 1}
        env.answer(shown_observation("env-0").result())
        assert first.result(WAIT_SECONDS).replica_id == "eval-1"
        assert not second.is_done()
        env.answer(shown_observation("env-0").result())
        assert second.result(WAIT_SECONDS).replica_id == "eval-1"
        assert bench.pool.loads() == {"eval-0": 0, "eval-1": 0}
        assert bench.pool.retried_calls() == {"eval-0": 1}
