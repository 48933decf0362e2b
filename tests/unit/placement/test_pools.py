"""Blocks of the configuration become pools of environment workers."""

from __future__ import annotations

from rlightning.config.env_config import EnvConfig
from rlightning.config.placement_config import PlacementConfig
from rlightning.placement.pools import env_ids_of_pools
from rlightning.placement.request import request_of


def test_blocks_of_one_environment_share_a_pool() -> None:
    blocks = [EnvConfig(id="A", num_workers=2), EnvConfig(id="B"), EnvConfig(id="A", num_envs=3)]
    assert env_ids_of_pools(blocks) == [[0, 1, 3], [2]]


def test_each_pool_has_replicas_of_its_own() -> None:
    request = request_of(PlacementConfig(), [[0, 1, 3], [2]], 2)
    assert [pool.eval_ids for pool in request.pools] == [(0, 1), (2, 3)]
    assert request.counts == (1, 0, 4, 4)
