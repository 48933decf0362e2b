from __future__ import annotations

import threading
import time

from rlightning.runtime.call_queue import CallQueue, QueuedCall
from rlightning.runtime.gathered import GatherRule
from rlightning.testing.recorded_worker import RecordedWorker

RULE = GatherRule(max_batch_calls=3)


def call(
    method: str = "act", *, rule: GatherRule | None = RULE, needs: RecordedWorker | None = None
) -> QueuedCall:
    worker = RecordedWorker("eval-0")
    worker.call(method)
    missing = [] if needs is None else [needs.call("observe")]
    return QueuedCall(worker.calls[0].task, (), {}, missing, rule)


def queue_of(*calls: QueuedCall) -> CallQueue:
    queue = CallQueue()
    for one in calls:
        assert queue.put(one)
    return queue


def test_calls_without_a_rule_come_one_by_one() -> None:
    calls = [call(rule=None), call(rule=None)]
    queue = queue_of(*calls)
    assert len(queue) == 2
    assert queue.take() == calls[:1]
    assert queue.calls_in_hand() == calls[:1]
    assert queue.take() == calls[1:]


def test_a_gathered_run_takes_no_more_than_its_limit() -> None:
    calls = [call() for _ in range(5)]
    queue = queue_of(*calls)
    assert queue.take() == calls[:3]
    assert queue.take() == calls[3:]


def test_a_gathered_run_ends_before_a_call_of_another_method() -> None:
    calls = [call(), call(), call("set_weights", rule=None), call()]
    queue = queue_of(*calls)
    assert [queue.take() for _ in range(3)] == [calls[:2], calls[2:3], calls[3:]]


def test_a_gathered_call_whose_argument_is_missing_is_passed_over_by_its_like() -> None:
    """What it waits for may depend on one that was sent later, in place of one that failed."""
    env = RecordedWorker("env-0")
    calls = [call(needs=env), call(), call(needs=env), call()]
    queue = queue_of(*calls)
    assert queue.take() == [calls[1], calls[3]]
    assert len(queue) == 2
    env.answer()
    env.answer()
    assert queue.take() == [calls[0], calls[2]]


def test_a_gathered_call_is_not_passed_over_by_another_method() -> None:
    env = RecordedWorker("env-0")
    calls = [call(needs=env), call("set_weights", rule=None), call()]
    assert_held_up(calls, env, first_run=calls[:1])


def test_a_call_whose_argument_is_missing_holds_up_those_behind_it() -> None:
    env = RecordedWorker("env-0")
    calls = [call(rule=None, needs=env), call(rule=None)]
    assert_held_up(calls, env, first_run=calls[:1])


def assert_held_up(
    calls: list[QueuedCall], env: RecordedWorker, first_run: list[QueuedCall]
) -> None:
    queue = queue_of(*calls)
    taken: list[list[QueuedCall]] = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    time.sleep(0.02)
    assert taken == []
    env.answer()
    queue.wake()
    thread.join()
    assert taken == [first_run]


def test_a_cancelled_call_is_passed_over() -> None:
    calls = [call(rule=None), call(rule=None)]
    queue = queue_of(*calls)
    calls[0].task.cancel()
    assert queue.take() == calls[1:]


def test_a_closed_queue_hands_back_what_waits_and_takes_no_more() -> None:
    calls = [call(rule=None), call(rule=None)]
    queue = queue_of(*calls)
    queue.take()
    assert queue.close() == calls[1:]
    assert queue.close() == []
    assert not queue.put(call())
    assert queue.calls_in_hand() == calls[:1]
    assert queue.take() == []


def test_a_window_waits_for_more_calls() -> None:
    rule = GatherRule(max_batch_calls=2, window_seconds=30.0)
    calls = [call(rule=rule), call(rule=rule)]
    queue = queue_of(calls[0])
    taken: list[list[QueuedCall]] = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    time.sleep(0.02)
    assert taken == []
    queue.put(calls[1])
    thread.join()
    assert taken == [calls]


def test_a_window_ends_with_what_there_is() -> None:
    rule = GatherRule(window_seconds=0.01)
    calls = [call(rule=rule)]
    assert queue_of(*calls).take() == calls


def test_a_window_does_not_wait_when_nothing_more_can_join() -> None:
    rule = GatherRule(window_seconds=30.0)
    calls = [call(rule=rule), call("set_weights", rule=None)]
    assert queue_of(*calls).take() == calls[:1]
