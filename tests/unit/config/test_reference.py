"""The page of all settings and the JSON schema are made from the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlightning.config.loading import load_config
from rlightning.config.preset_library import preset_names
from rlightning.config.reference import (
    configuration_reference,
    configuration_schema,
    setting_paths,
)

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_in_the_documentation_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == configuration_reference(), (
        "write it anew: rlightning config --reference > docs/configuration.md"
    )


def test_every_setting_stands_on_the_page_once() -> None:
    page = configuration_reference()
    for path in setting_paths():
        assert page.count(f"| `{path}` |") == 1


@pytest.mark.parametrize(
    "row",
    [
        "| `routing.max_pending_tasks` | whole number, at least 1 | `1` |",
        "| `env.id` | text | none: must be set |",
        "| `policy.hidden_sizes` | list of whole number | `[64, 64]` |",
        "| `algorithm.target_kl` | number or `null` | `null` |",
        "| `cluster.mode` | `inline` or `threads` | `inline` |",
        "| `logging.tensorboard` | true or false | `true` |",
        "| `env.kwargs` | mapping | `{}` |",
        "| `cluster.placement.eval.gpus` | number or fraction | `0` |",
        "| `cluster.placement.strategy` | `default` or `pack` or",
    ],
)
def test_a_row_tells_type_limits_and_default(row: str) -> None:
    assert row in configuration_reference()


def test_the_schema_lists_the_settings_of_every_block() -> None:
    schema = configuration_schema()
    for path in setting_paths():
        block_name, separator, key = path.partition(".")
        if not separator:
            assert path in schema["properties"]
            continue
        definition = {"properties": {block_name: schema["properties"][block_name]}}
        for part in (block_name, *key.split(".")[:-1]):
            block = definition["properties"][part]
            reference = block["oneOf"][0]["$ref"] if "oneOf" in block else block["$ref"]
            definition = schema["$defs"][reference.rpartition("/")[2]]
        assert key.rpartition(".")[2] in definition["properties"], path


def test_the_schema_knows_presets_and_leaves_room_for_own_algorithms() -> None:
    schema = configuration_schema()
    assert schema["properties"]["preset"]["enum"] == preset_names()
    assert schema["$defs"]["AlgorithmConfig"]["additionalProperties"]
    assert "required" not in schema


def test_a_setting_of_the_page_can_be_set() -> None:
    assert load_config("cartpole-ppo", ["policy.network=mlp"]).policy.network == "mlp"
