from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("ray")

from rlightning.runtime.base import Runtime
from rlightning.runtime.ray.ray_runtime import RayRuntime
from rlightning.testing.runtime_contract import RuntimeContract


class TestRay(RuntimeContract):
    @pytest.fixture
    def runtime(self, local_ray: str) -> Iterator[Runtime]:
        with RayRuntime() as runtime:
            yield runtime

    @pytest.fixture
    def node_id(self, local_ray: str) -> str:
        return local_ray
