from __future__ import annotations

from collections.abc import Iterator

import pytest

from rlightning.runtime.base import Runtime
from rlightning.runtime.in_process import InProcessRuntime
from rlightning.testing.runtime_contract import RuntimeContract


class TestInline(RuntimeContract):
    @pytest.fixture
    def runtime(self) -> Iterator[Runtime]:
        with InProcessRuntime("inline") as runtime:
            yield runtime


class TestThreads(RuntimeContract):
    @pytest.fixture
    def runtime(self) -> Iterator[Runtime]:
        with InProcessRuntime("threads") as runtime:
            yield runtime
