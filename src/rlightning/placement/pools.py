"""Which environment workers share replicas, as far as the configuration alone can tell."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.config.env_config import EnvConfig


def env_ids_of_pools(env_configs: Sequence[EnvConfig]) -> list[list[int]]:
    """Return the indices of the environment workers of each pool.

    Blocks with the same environment, arguments and wrappers share a pool. Only a running
    environment tells its spaces, so blocks that differ count as different kinds here, although
    their spaces might turn out to be equal.

    Args:
        env_configs: The blocks; workers are numbered through them from 0.
    """
    pools: dict[str, list[int]] = {}
    next_index = 0
    for block in env_configs:
        kind = repr((block.id, block.kwargs, block.wrappers, block.flatten_observation))
        indices = range(next_index, next_index + block.num_workers)
        pools.setdefault(kind, []).extend(indices)
        next_index = indices.stop
    return list(pools.values())
