"""An environment that a test can watch being closed."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import pytest

from rlightning.testing.environments import CountingEnv


class Closings(list[int]):
    """Which environments ``Closing-v0`` of this test were closed, by identity.

    Attributes:
        raising: Which of them raises, counted from 1; 0 for none.
    """

    raising = 0


@pytest.fixture
def closings() -> Iterator[Closings]:
    """Register ``Closing-v0``: a class of this test alone, so that no other's are counted."""
    closed = Closings()

    class ClosingEnv(CountingEnv):
        def close(self) -> None:
            closed.append(id(self))
            if len(closed) == closed.raising:
                raise OSError("the window does not close")

    gymnasium.register("Closing-v0", entry_point=ClosingEnv)
    yield closed
    gymnasium.registry.pop("Closing-v0")
