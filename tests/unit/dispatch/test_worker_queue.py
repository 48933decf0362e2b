from __future__ import annotations

from rlightning.dispatch.worker_queue import Ticket, WorkerQueue


def test_only_the_first_in_line_may_be_served() -> None:
    queue = WorkerQueue()
    first, second = Ticket("act", 0.0), Ticket("act", 1.0)
    queue.join(first)
    queue.join(second)
    queue.join(first)
    assert queue.tickets() == [first, second]
    assert queue.is_open_to(first)
    assert not queue.is_open_to(second)
    assert not queue.is_open_to(None)


def test_an_empty_line_is_open_to_everybody() -> None:
    queue = WorkerQueue()
    assert not queue
    assert queue.is_open_to(None)
    assert queue.is_open_to(Ticket("act", 0.0))


def test_whoever_leaves_calls_the_new_first() -> None:
    queue = WorkerQueue()
    first, second = Ticket("act", 0.0), Ticket("act", 1.0)
    queue.join(first)
    queue.join(second)
    queue.leave(first)
    assert second.wait(0)
    assert not first.wait(0)
    second.begin_look()
    assert not second.wait(0)


def test_leaving_a_line_in_which_one_does_not_stand_is_harmless() -> None:
    queue = WorkerQueue()
    queue.leave(Ticket("act", 0.0))
    queue.call_first()
    assert not queue


def test_waits_are_summed() -> None:
    queue = WorkerQueue()
    queue.add_wait(0.5)
    queue.add_wait(0.25)
    assert queue.wait_seconds == 0.75
