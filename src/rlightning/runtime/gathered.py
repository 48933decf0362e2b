"""Methods that answer several waiting calls at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rlightning.errors import WorkerError

Method = TypeVar("Method", bound=Callable[..., Any])

RULE_ATTRIBUTE = "gather_rule"


@dataclass(frozen=True, slots=True)
class GatherRule:
    """How the calls of one method are gathered.

    Attributes:
        max_batch_calls: Most calls in one run; None for no limit.
        window_seconds: How long a run waits for more calls once it could start.
    """

    max_batch_calls: int | None = None
    window_seconds: float = 0.0

    def __post_init__(self) -> None:
        limit = self.max_batch_calls
        if limit is not None and (isinstance(limit, bool) or limit < 1):
            raise WorkerError(f"expected max_batch_calls of at least 1 or None, got {limit!r}")
        if self.window_seconds < 0:
            raise WorkerError(f"expected window_seconds of at least 0, got {self.window_seconds!r}")


def gathered(
    *, max_batch_calls: int | None = None, window_seconds: float = 0.0
) -> Callable[[Method], Method]:
    """Mark a worker's method as one that answers all calls that wait for it in one run.

    The method takes a list, with the one positional argument of each call, and returns a list
    of the same length: the answer to each call. An answer that is an `Exception` is raised to
    that caller alone. A caller sends one argument and receives one answer, as with any method.

        @gathered(max_batch_calls=32)
        def act(self, requests: list[ObservationBatch]) -> list[ActionBatch]: ...

    Args:
        max_batch_calls: Most calls in one run; None for no limit.
        window_seconds: How long a run waits for more calls once it could start. 0 is right
            when calls arrive while others run: these are gathered anyway.

    Raises:
        WorkerError: If a limit is not allowed.
    """
    rule = GatherRule(max_batch_calls, window_seconds)

    def mark(method: Method) -> Method:
        setattr(method, RULE_ATTRIBUTE, rule)
        return method

    return mark


def gather_rule_of(method: object) -> GatherRule | None:
    """Return the rule of a method that is marked with `gathered`, otherwise None."""
    return getattr(method, RULE_ATTRIBUTE, None)


def gather_rules_of(target: object) -> dict[str, GatherRule]:
    """Return the rules of an object's gathered methods, by name of the method."""
    methods = {name: getattr(type(target), name, None) for name in dir(type(target))}
    rules = {name: gather_rule_of(method) for name, method in methods.items()}
    return {name: rule for name, rule in rules.items() if rule is not None}


def only_argument(method: str, args: Sequence[Any], keywords: Collection[str]) -> Any:
    """Return the one positional argument of a call to a gathered method.

    Raises:
        WorkerError: If there are more, none, or keyword arguments.
    """
    if len(args) != 1 or keywords:
        raise WorkerError(
            f"expected one positional argument for the gathered method {method!r}, got "
            f"{len(args)} and the keywords {list(keywords)}; put them into one record"
        )
    return args[0]


def gathered_answers(
    run: Callable[[list[Any]], object], method: str, arguments: list[Any]
) -> list[Any]:
    """Run a gathered method once and return one answer or `Exception` per argument.

    Raises:
        WorkerError: If the method does not return a list of as many answers.
    """
    answers = run(arguments)
    if not isinstance(answers, list) or len(answers) != len(arguments):
        got = f"{len(answers)}" if isinstance(answers, list) else f"{type(answers).__name__}"
        raise WorkerError(
            f"expected a list of {len(arguments)} answers from the gathered method {method!r}, "
            f"got {got}; return one answer or Exception per argument"
        )
    return answers
