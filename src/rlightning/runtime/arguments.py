"""Arguments of a call that are the tasks of other calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlightning.runtime.base import Task


def has_task(arguments: Iterable[Any]) -> bool:
    """Return whether one of the arguments is a task."""
    for argument in arguments:  # noqa: SIM110 - a generator would double the time of a call
        if isinstance(argument, Task):
            return True
    return False


def argument_tasks(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Task[Any]]:
    """Return those arguments that are tasks; containers are not searched."""
    found = [argument for argument in args if isinstance(argument, Task)]
    if kwargs:
        found.extend(argument for argument in kwargs.values() if isinstance(argument, Task))
    return found


def resolved_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with each task replaced by its result.

    Raises:
        BaseException: The error of the first task that failed.
    """
    return (
        tuple(_resolved(argument) for argument in args),
        {name: _resolved(argument) for name, argument in kwargs.items()},
    )


def _resolved(argument: Any) -> Any:
    return argument.result() if isinstance(argument, Task) else argument
