"""The presets that come with the package."""

from __future__ import annotations

import pytest

from rlightning.config.loading import load_config
from rlightning.config.preset_library import preset_names, preset_summary, preset_text
from rlightning.errors import ConfigError


def test_the_published_presets_are_there() -> None:
    assert {"acrobot-ppo", "cartpole-ppo", "pendulum-ppo"} <= set(preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_loads_bears_its_own_name_and_says_what_it_does(name: str) -> None:
    assert load_config(name).name == name
    assert preset_text(name).startswith("# ")
    assert 20 < len(preset_summary(name)) < 100


def test_an_unknown_preset_is_refused_with_all_names() -> None:
    with pytest.raises(ConfigError, match="presets are acrobot-ppo, cartpole-ppo, pendulum-ppo"):
        preset_text("walker")
