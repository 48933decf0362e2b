"""What `import rlightning` offers."""

from __future__ import annotations

import importlib
import re

import pytest

import rlightning


@pytest.mark.parametrize("name", rlightning.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(rlightning, name) is not None
    assert name in dir(rlightning)


def test_an_unknown_name_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        _ = rlightning.trian  # type: ignore[attr-defined]


def test_a_public_name_is_the_thing_itself() -> None:
    module = importlib.import_module("rlightning.config.loading")
    assert rlightning.load_config is module.load_config


def test_the_version_has_three_parts() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", rlightning.__version__)
