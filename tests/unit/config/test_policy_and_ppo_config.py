"""The blocks `policy` and `algorithm` refuse what they cannot mean."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from rlightning.config.policy_config import PolicyConfig
from rlightning.config.ppo_config import PPOConfig


@pytest.mark.parametrize("model", [PolicyConfig, PPOConfig])
def test_every_field_says_unit_default_and_source(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        for word in ("Unit:", "Default:", "Source:"):
            if name == "name":
                continue
            assert word in (field.description or ""), f"{name} lacks {word}"


@pytest.mark.parametrize("model", [PolicyConfig, PPOConfig])
def test_an_unknown_key_is_refused(model: type[BaseModel]) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        model.model_validate({"lerning_rate": 1.0})


@pytest.mark.parametrize("model", [PolicyConfig, PPOConfig])
def test_a_configuration_cannot_be_changed(model: type[BaseModel]) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        model().kwargs = {}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (PPOConfig, {"learning_rate": 0.0}),
        (PPOConfig, {"learning_rate": float("nan")}),
        (PPOConfig, {"discount": 1.01}),
        (PPOConfig, {"gae_lambda": -0.1}),
        (PPOConfig, {"num_epochs": 0}),
        (PPOConfig, {"minibatch_size": 0}),
        (PPOConfig, {"target_kl": 0.0}),
        (PPOConfig, {"learning_rate_schedule": "cosine"}),
        (PolicyConfig, {"num_eval_policies": 0}),
        (PolicyConfig, {"hidden_sizes": (64, 0)}),
        (PolicyConfig, {"activation": "step"}),
        (PolicyConfig, {"observation_clip": 0.0}),
        (PolicyConfig, {"network": ""}),
    ],
)
def test_a_value_without_meaning_is_refused(model: type[BaseModel], values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(values)


def test_clipping_of_values_gradients_and_divergence_can_be_off() -> None:
    config = PPOConfig(clip_range_value=None, max_gradient_norm=None, target_kl=None)
    assert (config.clip_range_value, config.max_gradient_norm, config.target_kl) == (None,) * 3
