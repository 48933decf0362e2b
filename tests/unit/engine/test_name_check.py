"""What the configuration only names is looked up before anything is made."""

from __future__ import annotations

import pytest

from rlightning.config.loading import load_config
from rlightning.engine.name_check import check_names
from rlightning.errors import (
    ConfigError,
    EnvironmentFailedError,
    RLightningError,
    RoutingValueError,
)


def _fault(source: object, *overrides: str) -> RLightningError:
    with pytest.raises(RLightningError) as caught:
        check_names(load_config(source, overrides))  # type: ignore[arg-type]
    return caught.value


def test_names_that_mean_something_are_passed() -> None:
    check_names(load_config("cartpole-ppo", ["env.wrappers=[gymnasium.wrappers:ClipReward]"]))


def test_one_fault_keeps_its_kind_and_gets_its_setting() -> None:
    error = _fault("cartpole-ppo", "routing.type=simpel")
    assert type(error) is RoutingValueError
    assert str(error).startswith("routing.type: expected router_type as one of")
    assert type(_fault("cartpole-ppo", "env.id=CartPol-v1")) is EnvironmentFailedError


def test_several_faults_are_one_error_that_lists_them() -> None:
    error = _fault("cartpole-ppo", "routing.type=simpel", "policy.network=mpl")
    assert type(error) is ConfigError
    first, *faults = str(error).splitlines()
    assert first == "2 faults in the configuration:"
    assert [fault.split(":")[0].strip() for fault in faults] == ["policy.network", "routing.type"]


def test_an_environment_of_several_is_told_by_its_number() -> None:
    blocks = {"env": [{"id": "CartPole-v1"}, {"id": "CartPol-v1", "wrappers": ["nowhere:W"]}]}
    lines = str(_fault(blocks)).splitlines()
    assert lines[1].startswith("  env.1.id: ")
    assert lines[2].startswith("  env.1.wrappers.0: ")
