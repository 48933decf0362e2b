"""What a synchronous router chooses from: policies that may come and go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from rlightning.dispatch.decision_counts import no_decisions
from rlightning.errors import RoutingError


class PolicyPool(ABC):
    """Policies, whose turn it is, and how often each reason decided. Safe from many threads."""

    @abstractmethod
    def take(self, env_id: str | None) -> Any:
        """Return the policy for an env, and count the decision."""

    @abstractmethod
    def add(self, policy: Any, node_id: str | None = None) -> None:
        """Let a policy join, last in turn."""

    @abstractmethod
    def remove(self, policy: Any) -> None:
        """Let a policy leave; no later call takes it."""

    def notify(self) -> None:
        """Hear that a policy may have become available; a pool that never waits ignores it."""
        return

    @property
    @abstractmethod
    def decision_counts(self) -> dict[str, int]:
        """A fresh count of decisions by reason."""

    @abstractmethod
    def describe(self) -> str:
        """Return the policies as the router's `repr` shows them."""


class NoPool(PolicyPool):
    """Stands where a router of one's own keeps its policies itself."""

    def take(self, env_id: str | None) -> Any:
        """Refuse."""
        raise self._error()

    def add(self, policy: Any, node_id: str | None = None) -> None:
        """Refuse."""
        raise self._error()

    def remove(self, policy: Any) -> None:
        """Refuse."""
        raise self._error()

    @property
    def decision_counts(self) -> dict[str, int]:
        """Nothing is counted."""
        return no_decisions()

    def describe(self) -> str:
        """Nothing is known."""
        return "policies=?"

    def _error(self) -> RoutingError:
        return RoutingError(
            "expected a router whose policies may change, got one that keeps them itself; "
            "override add_policy and remove_policy in its class"
        )
