"""Whose turn it is: observations are taken once, and a step answers taken ones only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TypeAlias

from rlightning.errors import EnvironmentFailedError, WorkerError
from rlightning.runtime.base import Task
from rlightning.types import ObservationBatch

OnFailure: TypeAlias = Callable[[str, WorkerError], object]


def _refuse(env_id: str, error: WorkerError) -> None:
    raise error


class Turns:
    """Keeps the newest observations of each environment worker until they are taken.

    Nothing is sent and nothing waited for here. Used by one thread.

    Attributes:
        newest: Task of the newest observations by worker, taken or not.
    """

    def __init__(self) -> None:
        self._newest: dict[str, Task[ObservationBatch]] = {}
        self._untaken: dict[str, Task[ObservationBatch]] = {}
        self.newest = MappingProxyType(self._newest)

    @property
    def num_untaken(self) -> int:
        """How many workers have observations that nobody has taken."""
        return len(self._untaken)

    def expect(self, env_id: str, task: Task[ObservationBatch]) -> None:
        """Note the task of a worker's next observations; what it showed before is over."""
        self._newest[env_id] = task
        self._untaken[env_id] = task

    def take(self, env_id: str) -> Task[ObservationBatch]:
        """Take the newest observations of one worker.

        Raises:
            EnvironmentFailedError: If they were taken already, or none are expected.
            BaseException: The error of the step that should have shown them, if it failed.
        """
        task = self._untaken.pop(env_id, None)
        if task is None:
            remedy = "step() it first" if env_id in self._newest else "call reset() first"
            raise EnvironmentFailedError(
                f"expected observations of {env_id} that were not taken yet, got none; {remedy}",
                worker_id=env_id,
            )
        if task.is_done() and task.error() is not None:
            task.result()
        return task

    def take_each(
        self, on_failure: OnFailure = _refuse
    ) -> Iterator[tuple[str, Task[ObservationBatch]]]:
        """Take what is untaken now, one after the other as the caller asks for it.

        Args:
            on_failure: Called with a worker whose step failed, and the error; unless it raises,
                the worker is passed over.

        Raises:
            EnvironmentFailedError: If there is nothing: an empty round is a mistake.
        """
        if not self._untaken:
            raise EnvironmentFailedError(
                "expected observations that were not taken yet, got none; "
                "call reset() first, or step() the workers whose observations were taken"
            )
        return self._take_sound(on_failure)

    def _take_sound(self, on_failure: OnFailure) -> Iterator[tuple[str, Task[ObservationBatch]]]:
        for env_id in list(self._untaken):
            try:
                task = self.take(env_id)
            except WorkerError as error:
                on_failure(env_id, error)
            else:
                yield env_id, task

    def forget(self, env_id: str) -> None:
        """Expect nothing more of a worker until it is reset."""
        self._newest.pop(env_id, None)
        self._untaken.pop(env_id, None)

    def check_may_step(self, env_id: str) -> None:
        """Refuse a step that cannot be the answer to the worker's newest observations.

        Raises:
            EnvironmentFailedError: If those were not taken, or none are expected.
        """
        if env_id in self._newest and env_id not in self._untaken:
            return
        got = "a step before that" if env_id in self._newest else "a step before any reset"
        raise EnvironmentFailedError(
            f"expected the newest observations of {env_id} to be taken and answered, got {got}; "
            "call reset() once, then observations() or take() before each step",
            worker_id=env_id,
        )

    def clear(self) -> None:
        """Forget everything: a reset must follow."""
        self._newest.clear()
        self._untaken.clear()
