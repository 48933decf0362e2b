"""Single settings are laid over a configuration; what cannot be laid is told."""

from __future__ import annotations

from typing import Any

import pytest
from omegaconf import OmegaConf

from rlightning.config.overrides import Overrides, apply_overrides

BELOW = {"seed": 1, "env": [{"id": "A"}, {"id": "B"}], "engine": {"steps": 5}}


def _apply(overrides: Overrides) -> tuple[Any, list[str]]:
    settings = OmegaConf.create(BELOW)
    faults = apply_overrides(settings, overrides)
    return OmegaConf.to_container(settings), faults


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1_000", 1000),
        ("[64, 64]", [64, 64]),
        ("{a: 1}", {"a": 1}),
        ("true", True),
        ("null", None),
        ("", None),
        ("a=b", "a=b"),
        ("'1'", "1"),
        ("CartPole-v1", "CartPole-v1"),
        ("module:Name", "module:Name"),
    ],
)
def test_values_are_yaml(text: str, value: object) -> None:
    settings, faults = _apply([f"engine.value={text}"])
    assert settings["engine"] == {"steps": 5, "value": value}
    assert not faults


def test_a_block_of_a_list_is_reached_by_its_number() -> None:
    settings, faults = _apply(["env.1.id=C", "env.0.kwargs.x=1"])
    assert settings["env"] == [{"id": "A", "kwargs": {"x": 1}}, {"id": "C"}]
    assert not faults


def test_a_later_setting_wins() -> None:
    assert _apply(["seed=2", "seed=3"])[0]["seed"] == 3


def test_a_mapping_is_laid_block_by_block() -> None:
    settings, faults = _apply({"engine": {"length": 2}, "engine.width": 3})
    assert settings["engine"] == {"steps": 5, "length": 2, "width": 3}
    assert not faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("seed", "'seed': expected key=value"),
        ("=3", "'=3': expected key=value"),
        ("a..b=3", "expected key=value"),
        (".a=3", "expected key=value"),
        ("seed =3", "expected key=value"),
        ("a=[1", "a: cannot read '[1' as a YAML value"),
        ("a=${b", "a: cannot read '${b' as a YAML value"),
        ("seed.x=3", "seed.x: expected a setting, got one within the single value 1"),
        ("env.id=C", "env.id: expected the number of a block, since this is a list; such as"),
        ("env.7.id=C", "env.7.id: list index out of range"),
    ],
)  # fmt: skip
def test_what_cannot_be_laid_is_told_and_changes_nothing(text: str, fault: str) -> None:
    settings, faults = _apply([text])
    assert settings == BELOW
    assert len(faults) == 1
    assert fault in faults[0]


def test_faults_are_told_together() -> None:
    assert len(_apply(["a", "b", "seed=2", "c"])[1]) == 3


def test_an_object_that_yaml_cannot_hold_is_told() -> None:
    assert "engine.made: " in _apply({"engine.made": object()})[1][0]
