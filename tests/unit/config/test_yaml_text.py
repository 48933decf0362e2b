"""Faults of a YAML text are told with file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlightning.config.loading import load_config
from rlightning.config.preset_library import preset_names
from rlightning.config.yaml_text import config_yaml, parse_yaml, read_yaml_file
from rlightning.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nseed: 2\n", "duplicate key seed at line 2, column 1"),
        ("a: 1\nb: [1\n", "at line 3, column 1"),
        ("\tseed: 1", "at line 1, column 1"),
        ("a: 1\n---\nb: 2\n", "another document at line 2"),
        ("- a\n- b\n", "expected blocks such as 'env:' and 'engine:' in run.yaml, got a list"),
        ("just words", "in run.yaml, got a single value"),
        ("a: ${b", "cannot read run.yaml"),
    ],
)
def test_a_faulty_text_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"run\.yaml") as caught:
        parse_yaml(text, origin="run.yaml")
    assert message in str(caught.value)


def test_a_file_that_is_missing_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "walker.yaml").write_text("seed: 1\n")
    with pytest.raises(ConfigError, match=r"does not exist .did you mean 'walker.yaml'"):
        read_yaml_file(tmp_path / "wlker.yaml")
    with pytest.raises(ConfigError, match=r"does not exist; correct the path"):
        read_yaml_file(tmp_path / "nowhere" / "walker.yaml")


def test_a_folder_and_other_bytes_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*directory"):
        read_yaml_file(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_yaml_file(tmp_path / "bytes.yaml")


@pytest.mark.parametrize("preset", preset_names())
def test_the_printed_configuration_can_be_loaded_again(tmp_path: Path, preset: str) -> None:
    config = load_config(preset)
    (tmp_path / "run.yaml").write_text(config_yaml(config))
    assert load_config(tmp_path / "run.yaml") == config
