from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from rlightning.config.env_config import EnvConfig
from rlightning.env.worker import EnvWorker
from rlightning.errors import (
    ConfigError,
    EnvironmentFailedError,
    TaskTimeoutError,
)
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.env_groups import (
    COUNTING,
    create_group,
    step_all,
)
from rlightning.types import ActionBatch


@pytest.fixture(params=["inline", "threads"])
def runtime(request):
    with InProcessRuntime(request.param) as runtime:
        yield runtime


def test_B58_two_workers_with_one_id_are_refused_and_both_named(runtime) -> None:
    def create(config, worker_index, rollout_length, seed):
        return EnvWorker(config, 0, rollout_length, seed)

    with pytest.raises(EnvironmentFailedError, match="got 'env-0' for both env-0 and env-1"):
        create_group(runtime, COUNTING, create_worker=create)


def test_B60_receiving_with_nothing_outstanding_is_an_error(runtime) -> None:
    group = create_group(runtime, COUNTING)
    with pytest.raises(EnvironmentFailedError, match="expected observations that were not taken"):
        group.observations()
    group.reset()
    group.take("env-0")
    with pytest.raises(EnvironmentFailedError, match=r"env-0 that were not taken yet"):
        group.take("env-0")
    assert [env_id for env_id, _ in group.observations()] == ["env-1"]
    with pytest.raises(EnvironmentFailedError, match="got none"):
        group.observations()
    group.close()


def test_B60_a_step_out_of_turn_is_an_error(runtime) -> None:
    group = create_group(runtime, COUNTING)
    answer = ActionBatch("env-0", np.zeros(2, int), np.zeros(2), np.zeros(2), 0, "eval-0")
    with pytest.raises(
        EnvironmentFailedError, match="env-0 to be taken and answered, got a step b"
    ):
        group.step("env-0", answer)
    group.reset()
    with pytest.raises(EnvironmentFailedError, match="got a step before that"):
        group.step("env-0", answer)
    group.take("env-0")
    group.step("env-0", answer)
    with pytest.raises(EnvironmentFailedError, match="got a step before that"):
        group.step("env-0", answer)
    group.close()


def test_an_unknown_worker_is_named_with_the_nearest_one(runtime) -> None:
    group = create_group(runtime, COUNTING)
    with pytest.raises(EnvironmentFailedError, match=r"got 'env1' \(did you mean 'env-1'\?\)"):
        group.take("env1")
    with pytest.raises(EnvironmentFailedError, match="got 'env-9'"):
        group.kind_of("env-9")
    group.close()


def test_a_failing_environment_fails_the_task_of_its_next_observations(runtime) -> None:
    raising = EnvConfig(
        id="rlightning.testing.environments:Raising-v0", num_envs=1, kwargs={"at_step": 1}
    )
    group = create_group(runtime, COUNTING, raising)
    group.reset()
    step_all(group)
    assert group.newest["env-0"].result(30.0).observation.tolist() == [[101], [101]]
    with pytest.raises(EnvironmentFailedError, match=r"Raising-v0' \(env-2\), step 1") as caught:
        group.newest["env-2"].result(30.0)
    assert caught.value.worker_id == "env-2"
    group.close()


def test_a_hanging_environment_is_named_at_the_deadline() -> None:
    go_on = threading.Event()
    config = EnvConfig(
        id="rlightning.testing.environments:Hanging-v0",
        num_envs=1,
        kwargs={"at_step": 2, "seconds": 30.0, "wait": go_on.wait},
        timeout_seconds=0.3,
    )
    with InProcessRuntime("threads") as runtime:
        group = create_group(runtime, config)
        group.reset()
        step_all(group)
        step_all(group)
        with pytest.raises(TaskTimeoutError, match=r"Hanging-v0' \(env-0\), step 2"):
            group.newest["env-0"].result()
        go_on.set()
        group.newest["env-0"].result(30.0)
        group.close()


HANGS_INLINE = """
from rlightning.config.env_config import EnvConfig
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.env.group import EnvGroup
from rlightning.runtime.in_process import InProcessRuntime
import numpy as np
from rlightning.testing.env_groups import (
    CART_POLE, COUNTING, PENDULUM, create_group, still_action, step_all
)
from rlightning.types import ActionBatch

config = EnvConfig(
    id="rlightning.testing.environments:Hanging-v0", num_envs=1, timeout_seconds=0.5
)
group = EnvGroup(InProcessRuntime("inline"), TaskSubmitter(), [config], 3, 0)
group.reset()
group.take("env-0")
one = np.zeros(1)
group.step("env-0", ActionBatch("env-0", np.zeros(1, int), one, one, 0, "eval-0"))
"""


def test_an_environment_that_hangs_on_the_only_thread_ends_the_process_and_is_named() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", HANGS_INLINE],
        capture_output=True,
        text=True,
        check=False,
        timeout=60.0,
    )
    assert answer.returncode == 70
    assert (
        "environment 'rlightning.testing.environments:Hanging-v0' (env-0), step 1" in answer.stderr
    )


def test_an_environment_that_cannot_be_made_leaves_nothing_behind(runtime, closings) -> None:
    closing = EnvConfig(id="Closing-v0", num_workers=2, num_envs=2)
    with pytest.raises(EnvironmentFailedError, match="did you mean 'CartPole-v1'"):
        create_group(runtime, closing, EnvConfig(id="CartPol-v1"))
    assert len(set(closings)) == len(closings) == 4


@pytest.mark.parametrize(("configs", "length"), [((), 3), ((COUNTING,), 0)])
def test_no_environment_and_no_step_are_refused(configs, length) -> None:
    with InProcessRuntime() as runtime, pytest.raises(ConfigError, match="at least one environme"):
        create_group(runtime, *configs, rollout_length=length)


def test_one_environment_that_does_not_close_keeps_no_other_open(runtime, closings) -> None:
    closings.raising = 1
    group = create_group(runtime, EnvConfig(id="Closing-v0", num_workers=3, num_envs=1))
    with pytest.raises(EnvironmentFailedError, match=r"env-\d.*the window does not close"):
        group.close()
    assert len(set(closings)) == len(closings) == 3
    assert not any(handle.is_alive() for handle in group.handles())
