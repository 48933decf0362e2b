"""Whose failure it is when a call could not run because of its arguments; no Ray is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from ray.exceptions import ActorDiedError, ObjectLostError, RayTaskError

from rlightning.errors import WorkerDiedError, WorkerError
from rlightning.runtime.ray.argument_failures import failure_of_call, should_be_sent_again
from rlightning.runtime.ray.ray_failures import translated
from rlightning.runtime.ray.ray_task import RayTask
from rlightning.runtime.ray.waiting_calls import RayCall


class Reference:
    def __init__(self, name: bytes) -> None:
        self.name = name

    def binary(self) -> bytes:
        return self.name


def task_of(worker_id: str, method: str) -> Any:
    sender = SimpleNamespace(worker_id=worker_id, next_completion_number=lambda: 1)
    task = RayTask(sender, method, 1)
    task.try_start()
    return task


def sent_step(name: bytes) -> Any:
    step = task_of("env-0", "step")
    step.mark_sent(Reference(name), SimpleNamespace())
    return step


def act_on(observation: Any) -> RayCall:
    call = RayCall(task_of("eval-1", "act"), (observation,), {}, [observation], None)
    call.task.sent_references = call.present_references()
    return call


def lost(error: BaseException) -> BaseException:
    return translated(error, "eval-1", "#1 on node n")


def test_a_call_goes_again_if_its_argument_was_itself_sent_again_and_answered() -> None:
    step = sent_step(b"first")
    call = act_on(step)
    step.mark_unsent()
    step.mark_sent(Reference(b"second"), SimpleNamespace())
    assert step.finish(None)
    assert should_be_sent_again(call)
    call.task.sent_references = call.present_references()
    assert not should_be_sent_again(call)


def test_a_call_does_not_go_again_if_its_argument_has_failed() -> None:
    step = sent_step(b"first")
    call = act_on(step)
    step.mark_unsent()
    assert step.fail(WorkerDiedError("died", worker_id="env-0"))
    assert not should_be_sent_again(call)
    error = failure_of_call(call, ObjectLostError("00", None, ""), lost)
    assert isinstance(error, WorkerError)
    assert error.worker_id == "env-0"


def test_an_answer_that_is_gone_with_its_node_is_the_death_of_who_gave_it() -> None:
    step = sent_step(b"first")
    call = act_on(step)
    assert step.finish(None)
    error = failure_of_call(call, ObjectLostError(b"first".hex(), None, ""), lost)
    assert isinstance(error, WorkerDiedError)
    assert error.worker_id == "env-0"


def test_the_death_of_another_within_a_call_is_not_the_death_of_who_was_called() -> None:
    error = lost(RayTaskError("run", "traceback", ActorDiedError()))
    assert isinstance(error, WorkerError)
    assert not isinstance(error, WorkerDiedError)
    assert error.worker_id == "eval-1"
    assert isinstance(lost(ActorDiedError()), WorkerDiedError)
