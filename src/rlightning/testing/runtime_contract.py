"""What every runtime must do, as a suite of tests.

Derive a class from `RuntimeContract`, give it a fixture ``runtime``, and let pytest collect it:

    class TestMyRuntime(RuntimeContract):
        @pytest.fixture
        def runtime(self) -> Iterator[Runtime]:
            with MyRuntime() as runtime:
                yield runtime
"""
# ruff: noqa: S101 - a test suite asserts

from __future__ import annotations

import traceback
from typing import Any

import pytest

from rlightning.errors import RLightningError, WorkerDiedError, WorkerError
from rlightning.runtime.base import Runtime, Task, WorkerHandle, WorkerSpec
from rlightning.runtime.gathered import gathered

TIMEOUT_SECONDS = 30.0


class ContractError(Exception):
    """Raised by `ContractWorker`; pickles, as every error that crosses a process must."""


class ContractWorker:
    """The worker on which the suite is run."""

    def __init__(self) -> None:
        self._seen: list[Any] = []

    def echo(self, value: Any) -> Any:
        """Return the value."""
        return value

    def add(self, left: float, *, right: float) -> float:
        """Return the sum."""
        return left + right

    def remember(self, value: Any) -> None:
        """Append a value."""
        self._seen.append(value)

    def seen(self) -> list[Any]:
        """Return what was remembered, in order."""
        return list(self._seen)

    def fail_deep_inside(self, message: str) -> None:
        """Raise from a helper whose name must be found in the traceback."""
        self._the_guilty_function(message)

    def _the_guilty_function(self, message: str) -> None:
        raise ContractError(message)

    @gathered(max_batch_calls=4)
    def double(self, values: list[Any]) -> list[Any]:
        """Double each value; text is refused for its caller alone."""
        return [
            ContractError(f"cannot double {value!r}") if isinstance(value, str) else 2 * value
            for value in values
        ]

    @gathered()
    def forget_one(self, values: list[Any]) -> list[Any]:
        """Break the rule of gathered methods."""
        return values[1:]

    def end_yourself(self) -> None:
        """Die."""
        raise SystemExit(3)


class BrokenWorker:
    """A worker that cannot be made."""

    def __init__(self) -> None:
        raise ContractError("no such game")


class RuntimeContract:
    """The suite; see the module's docstring."""

    @pytest.fixture
    def node_id(self, runtime: Runtime) -> str:
        """Return a node on which a worker may be put; override it where nodes are real."""
        return "node-0"

    @pytest.fixture
    def worker(self, runtime: Runtime, node_id: str) -> WorkerHandle:
        """Return a fresh worker."""
        return runtime.spawn(WorkerSpec("worker-0", ContractWorker, node_id=node_id))

    def test_a_call_is_answered(self, worker: WorkerHandle) -> None:
        """Positional and keyword arguments arrive, the result comes back."""
        assert worker.call("add", 1, right=2).result(TIMEOUT_SECONDS) == 3

    def test_a_done_task_says_so(self, worker: WorkerHandle) -> None:
        """After the result it is done, has no error and cannot be cancelled."""
        task = worker.call("echo", 1)
        task.result(TIMEOUT_SECONDS)
        assert task.is_done()
        assert task.error() is None
        assert not task.cancel()

    def test_a_handle_tells_who_it_is(self, worker: WorkerHandle, node_id: str) -> None:
        """Id, node, incarnation and life."""
        assert (worker.worker_id, worker.node_id, worker.incarnation) == ("worker-0", node_id, 1)
        assert worker.is_alive()
        assert "worker-0#1" in repr(worker)

    def test_calls_run_in_the_order_in_which_they_were_sent(self, worker: WorkerHandle) -> None:
        """First come, first served."""
        for number in range(20):
            worker.call("remember", number)
        assert worker.call("seen").result(TIMEOUT_SECONDS) == list(range(20))

    def test_a_task_as_an_argument_is_replaced_by_its_result(self, worker: WorkerHandle) -> None:
        """By position and by keyword, over a chain of ten calls."""
        task = worker.call("echo", 0)
        for _ in range(10):
            task = worker.call("add", task, right=worker.call("echo", 1))
        assert task.result(TIMEOUT_SECONDS) == 10

    def test_the_error_of_an_argument_becomes_the_error_of_the_call(
        self, worker: WorkerHandle
    ) -> None:
        """The method does not run."""
        broken = worker.call("fail_deep_inside", "the first")
        with pytest.raises(ContractError, match=r"^the first"):
            worker.call("remember", broken).result(TIMEOUT_SECONDS)
        assert worker.call("seen").result(TIMEOUT_SECONDS) == []

    def test_an_error_keeps_type_message_and_the_workers_traceback(
        self, worker: WorkerHandle
    ) -> None:
        """Also when it is asked for twice; and it names the worker."""
        task = worker.call("fail_deep_inside", "seed 7")
        for _ in range(2):
            with pytest.raises(ContractError, match=r"^seed 7") as caught:
                task.result(TIMEOUT_SECONDS)
            text = "".join(traceback.format_exception(caught.value))
            assert text.count("in _the_guilty_function") == 1
            assert "worker-0" in text
        assert isinstance(task.error(), ContractError)

    def test_a_worker_survives_an_error_of_a_caller(self, worker: WorkerHandle) -> None:
        """The next call is answered."""
        worker.call("fail_deep_inside", "seed 7")
        assert worker.call("echo", 1).result(TIMEOUT_SECONDS) == 1
        assert worker.is_alive()

    def test_an_unknown_method_is_named_with_the_nearest_one(self, worker: WorkerHandle) -> None:
        """In the error of the task."""
        with pytest.raises(WorkerError, match=r"no method 'ecko'.*did you mean 'echo'"):
            worker.call("ecko", 1).result(TIMEOUT_SECONDS)

    def test_a_gathered_method_answers_each_caller(self, worker: WorkerHandle) -> None:
        """With an argument that is a task among them."""
        arguments: list[Any] = [1, 2, worker.call("echo", 3), 4, 5]
        tasks = [worker.call("double", argument) for argument in arguments]
        assert [task.result(TIMEOUT_SECONDS) for task in tasks] == [2, 4, 6, 8, 10]

    def test_a_bad_request_is_the_error_of_its_caller_alone(self, worker: WorkerHandle) -> None:
        """The others of the same run are answered."""
        broken = worker.call("fail_deep_inside", "not there")
        arguments: list[Any] = [1, "x", broken, 4]
        tasks = [worker.call("double", argument) for argument in arguments]
        no_argument = worker.call("double")
        assert tasks[0].result(TIMEOUT_SECONDS) == 2
        with pytest.raises(ContractError, match="cannot double 'x'"):
            tasks[1].result(TIMEOUT_SECONDS)
        with pytest.raises(ContractError, match="not there"):
            tasks[2].result(TIMEOUT_SECONDS)
        assert tasks[3].result(TIMEOUT_SECONDS) == 8
        with pytest.raises(WorkerError, match="one positional argument"):
            no_argument.result(TIMEOUT_SECONDS)

    def test_a_gathered_method_that_loses_an_answer_is_an_error(self, worker: WorkerHandle) -> None:
        """No caller gets the answer of another."""
        with pytest.raises(WorkerError, match="one answer or Exception per argument"):
            worker.call("forget_one", 1).result(TIMEOUT_SECONDS)

    def test_a_done_callback_is_called_once(self, worker: WorkerHandle) -> None:
        """Before `result` returns, or at once if the task is done."""
        called: list[Task[Any]] = []
        task = worker.call("echo", 1)
        task.add_done_callback(called.append)
        task.result(TIMEOUT_SECONDS)
        assert called == [task]
        task.add_done_callback(called.append)
        assert called == [task, task]

    def test_a_worker_that_cannot_be_made_says_why(self, runtime: Runtime) -> None:
        """With the type and message of the factory's error, and the worker's name."""
        with pytest.raises(ContractError, match=r"^no such game") as caught:
            runtime.spawn(WorkerSpec("worker-0", BrokenWorker))
        assert "worker-0" in "".join(traceback.format_exception(caught.value))
        assert runtime.spawn(WorkerSpec("worker-0", ContractWorker)).is_alive()

    def test_two_living_workers_never_share_an_id(
        self, runtime: Runtime, worker: WorkerHandle
    ) -> None:
        """The second is refused, the first goes on."""
        with pytest.raises(WorkerError, match="exists already"):
            runtime.spawn(WorkerSpec("worker-0", ContractWorker))
        assert worker.call("echo", 1).result(TIMEOUT_SECONDS) == 1

    @pytest.mark.parametrize("end", ["stop", "kill"])
    def test_a_worker_that_ended_answers_no_call(self, worker: WorkerHandle, end: str) -> None:
        """The error names it."""
        getattr(worker, end)()
        assert not worker.is_alive()
        with pytest.raises(WorkerDiedError, match="worker-0") as caught:
            worker.call("echo", 1).result(TIMEOUT_SECONDS)
        assert caught.value.worker_id == "worker-0"

    def test_a_worker_that_exits_is_dead(self, worker: WorkerHandle) -> None:
        """`SystemExit` in a method is the death of the worker, not of the program."""
        with pytest.raises(WorkerDiedError, match="worker-0"):
            worker.call("end_yourself").result(TIMEOUT_SECONDS)
        assert not worker.is_alive()

    def test_a_restarted_worker_is_another_incarnation(
        self, runtime: Runtime, worker: WorkerHandle
    ) -> None:
        """The new handle works, the old one stays dead."""
        worker.kill()
        reborn = runtime.spawn(WorkerSpec("worker-0", ContractWorker))
        assert reborn.incarnation == 2
        assert reborn.call("echo", 1).result(TIMEOUT_SECONDS) == 1
        assert not worker.is_alive()

    def test_wait_any_returns_done_and_pending(
        self, runtime: Runtime, worker: WorkerHandle
    ) -> None:
        """Every task is in one of both."""
        tasks = [worker.call("echo", number) for number in range(5)]
        done, pending = runtime.wait_any(tasks, TIMEOUT_SECONDS)
        assert done
        assert {id(task) for task in (*done, *pending)} == {id(task) for task in tasks}

    def test_waiting_for_nothing_is_an_error(self, runtime: Runtime) -> None:
        """Never an empty answer."""
        with pytest.raises(WorkerError, match="at least one task"):
            runtime.wait_any([], TIMEOUT_SECONDS)

    def test_wait_any_serves_everybody_in_turn(self, runtime: Runtime) -> None:
        """A driver who handles one task at a time meets each worker within ten rounds."""
        workers = [runtime.spawn(WorkerSpec(f"env-{i}", ContractWorker)) for i in range(5)]
        tasks = {worker.worker_id: worker.call("echo", 0) for worker in workers}
        by_id = {worker.worker_id: worker for worker in workers}
        last_served = dict.fromkeys(tasks, 0)
        for number in range(1, 201):
            done, _ = runtime.wait_any(list(tasks.values()), TIMEOUT_SECONDS)
            served = done[0].worker_id
            last_served[served] = number
            tasks[served] = by_id[served].call("echo", number)
            assert number - min(last_served.values()) <= 10

    def test_shutdown_ends_all_workers_and_may_be_repeated(
        self, runtime: Runtime, worker: WorkerHandle
    ) -> None:
        """Afterwards nothing can be spawned."""
        runtime.shutdown()
        runtime.shutdown()
        assert not worker.is_alive()
        with pytest.raises(RLightningError, match="shut down"):
            runtime.spawn(WorkerSpec("worker-1", ContractWorker))
