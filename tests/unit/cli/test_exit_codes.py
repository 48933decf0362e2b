"""Every way to end has a number of its own."""

from __future__ import annotations

import pytest

from rlightning.cli.exit_codes import ExitCode, exit_code_of
from rlightning.errors import (
    CheckpointError,
    ConfigError,
    EnvironmentFailedError,
    MissingExtraError,
    NotFiniteError,
    RoutingTimeoutError,
    RoutingValueError,
    RunFolderError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError(), 2),
        (MissingExtraError(), 2),
        (RoutingValueError(), 2),
        (RoutingTimeoutError(), 1),
        (RunFolderError(), 3),
        (CheckpointError(), 3),
        (EnvironmentFailedError("x"), 1),
        (NotFiniteError(), 1),
        (RuntimeError(), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_has_its_code(error: BaseException, code: int) -> None:
    assert exit_code_of(error) == code


def test_every_code_has_a_meaning() -> None:
    assert len({code.meaning for code in ExitCode}) == len(ExitCode)
