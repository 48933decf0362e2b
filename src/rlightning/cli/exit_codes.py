"""How a command ended, as a number for scripts."""

from __future__ import annotations

from enum import IntEnum

from rlightning.errors import (
    CheckpointError,
    ConfigError,
    MetricsError,
    MissingExtraError,
    PlacementError,
    RoutingValueError,
    RunFolderError,
)


class ExitCode(IntEnum):
    """Exit codes of every command; each has its meaning as `meaning`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    RUN = 3
    HUNG = 70
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """One line for the documentation."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "the training or the evaluation failed, or an unexpected error",
    ExitCode.USAGE: "wrong arguments or configuration, a cluster without room for it, "
    "or an optional package is missing",
    ExitCode.RUN: "a run or a checkpoint cannot be found, read or written",
    ExitCode.HUNG: "an environment did not answer in time; the watchdog ended the process",
    ExitCode.INTERRUPTED: "Ctrl-C; after the first one a checkpoint was written, after two not",
}

_CODE_OF_ERROR = {
    ConfigError: ExitCode.USAGE,
    MissingExtraError: ExitCode.USAGE,
    PlacementError: ExitCode.USAGE,
    RoutingValueError: ExitCode.USAGE,
    RunFolderError: ExitCode.RUN,
    CheckpointError: ExitCode.RUN,
    MetricsError: ExitCode.RUN,
}


def exit_code_of(error: BaseException) -> ExitCode:
    """Return the exit code of an error that ended a command."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    codes = (code for kind, code in _CODE_OF_ERROR.items() if isinstance(error, kind))
    return next(codes, ExitCode.FAILED)
