from __future__ import annotations

import threading

from rlightning.runtime.watchdog import Watch, Watchdog, hang_report
from rlightning.testing.manual_clock import ManualClock


class FakeWorker:
    def __init__(self, running: tuple[str, float] | None) -> None:
        self.worker_id = "env-3"
        self.running = running

    def describe_activity(self) -> str:
        return " (environment 'Sleepy-v0' (env-3), step 7)"


def test_calls_within_their_limit_are_no_hang() -> None:
    watches = [Watch(FakeWorker(None), 1.0), Watch(FakeWorker(("step", 10.0)), 1.0)]
    assert hang_report(watches, 11.0) is None


def test_the_report_names_worker_method_environment_and_step() -> None:
    report = hang_report([Watch(FakeWorker(("step", 10.0)), 1.0)], 11.5)
    assert report is not None
    assert "worker 'env-3' hangs in step() since 1.5 s" in report
    assert "environment 'Sleepy-v0' (env-3), step 7" in report
    assert "its limit is 1 s" in report


def test_a_hang_closes_displays_before_the_process_ends() -> None:
    clock, heard, ended = ManualClock(), list[str](), threading.Event()

    def end(report: str) -> None:
        heard.append(f"end: {report}")
        ended.set()

    watchdog = Watchdog(clock, lambda report: heard.append(f"close: {report}"), end)
    watchdog.watch(FakeWorker(None), 0.04)
    worker = FakeWorker(("step", 0.0))
    watchdog.watch(worker, 0.01)
    clock.advance(1.0)
    assert ended.wait(10.0)
    watchdog.stop()
    assert [line.partition(":")[0] for line in heard] == ["close", "end"]


def test_without_a_display_the_process_ends_all_the_same() -> None:
    clock, ended = ManualClock(1.0), threading.Event()
    watchdog = Watchdog(clock, end=lambda report: ended.set())
    watchdog.watch(FakeWorker(("step", 0.0)), 0.01)
    assert ended.wait(10.0)
    watchdog.stop()


def test_a_watchdog_that_watches_nobody_has_no_thread() -> None:
    num_threads = threading.active_count()
    watchdog = Watchdog(ManualClock())
    assert threading.active_count() == num_threads
    watchdog.stop()
