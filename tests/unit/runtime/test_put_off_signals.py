from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from rlightning.runtime.ray.put_off_signals import EXIT_CODE_OF_SIGTERM, PutOffSignals


@pytest.fixture(autouse=True)
def handlers_come_back() -> Iterator[None]:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_signal_has_its_effect_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), PutOffSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.is_asked_to_end
        done.append("all of it")
    assert done


def test_without_a_handler_SIGTERM_ends_the_program_as_an_exception_does() -> None:
    with pytest.raises(SystemExit) as caught, PutOffSignals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == EXIT_CODE_OF_SIGTERM


def test_a_handler_of_the_program_is_called() -> None:
    heard: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with PutOffSignals():
            signal.raise_signal(signal.SIGTERM)
            assert not heard
    finally:
        signal.signal(signal.SIGTERM, former)
    assert heard == [signal.SIGTERM]


def test_the_second_signal_ends_at_once() -> None:
    steps = ["first"]
    with pytest.raises(KeyboardInterrupt), PutOffSignals():
        signal.raise_signal(signal.SIGTERM)
        steps.append("second")
        signal.raise_signal(signal.SIGINT)
        steps.append("never")
    assert steps == ["first", "second"]


def test_without_a_signal_nothing_happens() -> None:
    with PutOffSignals() as signals:
        pass
    assert not signals.is_asked_to_end


def test_an_error_inside_gives_way_to_the_signal() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, PutOffSignals():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("broken off")
    assert isinstance(caught.value.__context__, ValueError)


def test_outside_the_main_thread_handlers_stay_as_they_are() -> None:
    seen: list[object] = []

    def look() -> None:
        with PutOffSignals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(10.0)
    assert seen == [signal.getsignal(signal.SIGINT)]
