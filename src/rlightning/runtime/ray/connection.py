"""The connection of this process to a Ray, made and ended in one piece whatever signals come."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray

from rlightning.runtime.ray.put_off_signals import PutOffSignals, exit_on_sigterm

_LOGGER_OF_START = "ray._private.worker"
_NO_HANDLER = "SIGTERM handler is not set"


class RayConnection:
    """Connects by `ray.init`, and ends that again, with everything that it started.

    The start runs on a thread of its own: there Ray installs no handlers, so that no signal
    breaks it off halfway, which would leave processes and files of which nobody knows. The thread
    lives as long as the connection, because Linux ends Ray's processes with the thread that
    started them.

    Args:
        arguments: Of `ray.init`.
        starts_ray: Whether these start a Ray, whose files are to be removed at the end.
    """

    def __init__(self, arguments: Mapping[str, Any], *, starts_ray: bool) -> None:
        self._arguments = arguments
        self._starts_ray = starts_ray
        self._is_over = threading.Event()
        self._is_tried = threading.Event()
        self._error: BaseException | None = None
        self._others = _session_folders()
        self._session_folder: str | None = None
        self._has_own_handler = False

    def open(self) -> None:
        """Connect; a signal that comes meanwhile has its effect when all is ended again.

        Raises:
            BaseException: What `ray.init` raised.
        """
        with PutOffSignals() as signals:
            try:
                self._start()
            except BaseException:
                self._end()
                raise
            if signals.is_asked_to_end:
                self._end()
        atexit.register(self.close)
        self._take_sigterm()

    def close(self) -> None:
        """End the connection, and the Ray if it was started here."""
        atexit.unregister(self.close)
        with PutOffSignals():
            self._end()
        if self._has_own_handler and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _start(self) -> None:
        threading.Thread(target=self._keep, name="ray-keeper", daemon=True).start()
        self._is_tried.wait()
        if self._error is not None:
            raise self._error

    def _keep(self) -> None:
        logger = logging.getLogger(_LOGGER_OF_START)
        logger.addFilter(_is_worth_saying)
        try:
            context = ray.init(**self._arguments)
            self._session_folder = getattr(context, "address_info", {}).get("session_dir")
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits
            self._error = error
        finally:
            logger.removeFilter(_is_worth_saying)
            self._is_tried.set()
        self._is_over.wait()

    def _end(self) -> None:
        ray.shutdown()
        self._is_over.set()
        if self._starts_ray:
            for folder in {*_session_folders(), *self._own_folder()} - self._others:
                shutil.rmtree(folder, ignore_errors=True)

    def _own_folder(self) -> list[Path]:
        return [Path(self._session_folder)] if self._session_folder else []

    def _take_sigterm(self) -> None:
        """Let SIGTERM end the program with all that it started, unless it has a handler."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, exit_on_sigterm)
            self._has_own_handler = True


def _is_worth_saying(record: logging.LogRecord) -> bool:
    return _NO_HANDLER not in record.getMessage()


def _session_folders() -> set[Path]:
    """Return the folders of sessions that this process has started; they end in its id."""
    root = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    return set(Path(root, "ray").glob(f"session_*_{os.getpid()}"))
