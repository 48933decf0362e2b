"""Which pool answers which environment worker."""

from __future__ import annotations

from collections.abc import Mapping

from rlightning.errors import RoutingValueError
from rlightning.policy.pool import PolicyPool
from rlightning.registry import did_you_mean


class ServedEnvironments:
    """Knows the kind of each environment worker, and the pool of that kind.

    Thread-safe: a mapping is replaced, not changed, when somebody joins or leaves.

    Args:
        pools: Pool of each kind.
        kinds: Kind of each environment worker.
    """

    def __init__(self, pools: Mapping[str, PolicyPool], kinds: Mapping[str, str]) -> None:
        self._pools = pools
        self._kinds = dict(kinds)
        self._pool_of_env = {env_id: pools[kind] for env_id, kind in kinds.items()}

    def kind_of(self, env_id: str) -> str:
        """Return the kind of an environment worker."""
        return self._kinds[env_id]

    def pool_of(self, env_id: str) -> PolicyPool:
        """Return the pool that answers an environment worker.

        Raises:
            RoutingValueError: If the environment worker is not known.
        """
        pool = self._pool_of_env.get(env_id)
        if pool is None:
            raise RoutingValueError(
                f"expected an environment worker of this group, got {env_id!r}"
                f"{did_you_mean(env_id, self._pool_of_env)}; "
                f"there are {', '.join(self._pool_of_env)}"
            )
        return pool

    def add(self, env_id: str, kind: str) -> None:
        """Serve one more environment worker from now on; its kind must have a pool."""
        self._kinds = {**self._kinds, env_id: kind}
        self._pool_of_env = {**self._pool_of_env, env_id: self._pools[kind]}

    def remove(self, env_id: str) -> None:
        """Serve an environment worker no longer; its fragments have been trained on."""
        self._kinds = {name: own for name, own in self._kinds.items() if name != env_id}
        self._pool_of_env = {name: own for name, own in self._pool_of_env.items() if name != env_id}
