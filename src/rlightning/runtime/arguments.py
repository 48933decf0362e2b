"""Arguments of a call that are the tasks of other calls."""

from __future__ import annotations

from typing import Any

from rlightning.runtime.base import Task
from rlightning.runtime.finished_task import FinishedTask


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
    # The exact type first: asking an abstract class costs ten times as much.
    if not kwargs and len(args) == 1 and type(args[0]) is FinishedTask:
        return (args[0].result(),), kwargs
    positional = tuple([each.result() if isinstance(each, Task) else each for each in args])
    if not kwargs:
        return positional, kwargs
    return positional, {
        name: each.result() if isinstance(each, Task) else each for name, each in kwargs.items()
    }
