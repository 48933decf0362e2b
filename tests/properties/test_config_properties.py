"""Loading a configuration holds for any text, not only for the texts one thinks of."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlightning.config.loading import load_config
from rlightning.config.reference import setting_paths
from rlightning.config.run_config import RunConfig
from rlightning.config.yaml_text import config_yaml, parse_yaml
from rlightning.errors import ConfigError

PATHS = sorted(setting_paths())
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers()),
)  # fmt: skip


def _load_or_refuse(source: Any, overrides: Any) -> RunConfig | None:
    try:
        return load_config(source, overrides)
    except ConfigError:
        return None


@given(st.lists(st.text(max_size=30), max_size=3))
def test_any_text_as_override_is_laid_or_refused_clearly(texts: list[str]) -> None:
    _load_or_refuse("cartpole-ppo", texts)


@given(
    st.sampled_from(PATHS), st.sampled_from(["", ".0", ".x", ".0.id", "."]), st.text(max_size=12)
)
def test_any_text_as_value_is_laid_or_refused_clearly(path: str, tail: str, value: str) -> None:
    _load_or_refuse("cartpole-ppo", [f"{path}{tail}={value}"])


@given(st.dictionaries(st.sampled_from(PATHS), VALUES, max_size=3))
def test_what_is_accepted_comes_back_from_its_own_yaml(overrides: dict[str, Any]) -> None:
    config = _load_or_refuse("pendulum-ppo", overrides)
    if config is not None:
        assert load_config(_parsed(config_yaml(config))) == config


@given(st.text(max_size=60))
def test_any_text_as_file_is_read_or_refused_clearly(text: str) -> None:
    with contextlib.suppress(ConfigError):
        parse_yaml(text, origin="a test")


@given(st.sampled_from([path for path in PATHS if "." in path]), st.data())
def test_a_key_that_lacks_one_letter_is_refused_with_the_right_name(
    path: str, data: st.DataObject
) -> None:
    block, _, key = path.rpartition(".")
    position = data.draw(st.integers(0, len(key) - 1))
    typo = key[:position] + key[position + 1 :]
    if len(typo) < 4 or f"{block}.{typo}" in PATHS:
        return
    with pytest.raises(ConfigError, match="did you mean") as caught:
        load_config("cartpole-ppo", [f"{block}.{typo}=1"])
    assert f"{block}.{typo}: unknown key" in str(caught.value)


def _parsed(text: str) -> dict[str, Any]:
    return {str(key): value for key, value in parse_yaml(text, origin="a test").items()}
