from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlightning.errors import RoutingError, RoutingTimeoutError
from rlightning.policy.utils.router import SyncSimpleRouter


class Static:
    @staticmethod
    def is_available() -> bool:
        return False


class RemoteMethod:
    def __call__(self) -> bool:
        raise AssertionError("a remote method was called")

    def remote(self) -> None:
        raise AssertionError("a remote method was called")


class DynamicHandle:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was looked up on a remote handle")


class HandleWithMethodObject:
    def __init__(self) -> None:
        self.is_available = RemoteMethod()


class HandleOfClassWithMethodObject:
    is_available = RemoteMethod()


class Coroutine:
    async def is_available(self) -> bool:
        return False


class Property:
    @property
    def is_available(self) -> bool:
        raise AssertionError("a property was read")


class Slots:
    __slots__ = ("is_available",)


def remote_function() -> bool:
    raise AssertionError("a remote function was called")


remote_function.remote = None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "policy",
    [
        DynamicHandle(),
        HandleWithMethodObject(),
        HandleOfClassWithMethodObject(),
        Coroutine(),
        Property(),
        Slots(),
        Static,
        None,
        object(),
        SimpleNamespace(is_available=False),
        SimpleNamespace(is_available=remote_function),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_one_that_offers_no_local_method_is_always_idle_and_never_called(policy: Any) -> None:
    router = SyncSimpleRouter([policy], timeout_seconds=0)
    assert router.select_policy() is policy


class OfClass:
    @classmethod
    def is_available(cls) -> np.bool_:
        return np.False_


class OfInstance:
    def is_available(self) -> bool:
        return False


class Inheriting(Static):
    pass


@pytest.mark.parametrize(
    "policy",
    [
        Static(),
        OfClass(),
        Inheriting(),
        SimpleNamespace(is_available=lambda: False),
        SimpleNamespace(is_available=OfInstance().is_available),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_every_kind_of_local_method_is_asked(policy: Any) -> None:
    with pytest.raises(RoutingTimeoutError):
        SyncSimpleRouter([policy], timeout_seconds=0).select_policy()


def test_an_availability_that_raises_is_told_and_the_others_go_on() -> None:
    def broken() -> bool:
        raise ZeroDivisionError("no heartbeat")

    router = SyncSimpleRouter([SimpleNamespace(is_available=broken), "b"])
    with pytest.raises(
        RoutingError, match=r"eval policy 0 .* ZeroDivisionError: no heartbeat"
    ) as error:
        router.select_policy()
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert router.select_policy() == "b"
    assert router.decision_counts["balanced"] == 1


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_an_availability_that_is_no_bool_is_told(answer: Any) -> None:
    router = SyncSimpleRouter([SimpleNamespace(is_available=lambda: answer)])
    with pytest.raises(TypeError, match="expected a bool"):
        router.select_policy()
