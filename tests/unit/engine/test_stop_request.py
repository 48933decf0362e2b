from __future__ import annotations

import signal
import threading

import pytest

from rlightning.engine.stop_request import StopRequest
from rlightning.testing.eventually import eventually


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_the_first_signal_asks_and_says_so(number, name) -> None:
    said: list[str] = []
    with StopRequest(said.append) as stop:
        assert not stop.is_requested
        signal.raise_signal(number)
        assert stop.is_requested
    eventually(lambda: said)
    assert said == [
        f"{name}: ending after this iteration, with a checkpoint; once more ends at once"
    ]


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_at_once(first, second) -> None:
    with StopRequest():
        signal.raise_signal(first)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(second)


def test_the_former_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with StopRequest():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_announcement_is_made_on_a_thread_of_its_own() -> None:
    """The signal may come in the middle of a print or an import of the main thread."""
    threads: list[threading.Thread] = []
    with StopRequest(lambda text: threads.append(threading.current_thread())):
        signal.raise_signal(signal.SIGINT)
        eventually(lambda: threads)
    assert threads != [threading.main_thread()]


def test_without_signals_a_call_asks_too() -> None:
    stop = StopRequest()
    stop.request()
    assert stop.is_requested


def test_in_another_thread_no_handler_is_installed() -> None:
    handlers = []

    def run() -> None:
        with StopRequest():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]
