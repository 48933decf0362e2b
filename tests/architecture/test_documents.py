"""What the documents name exists: commands, files, versions, headings."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rlightning._version

CODE_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
RELEASE_HEADING = re.compile(
    r"^## \[(?P<version>Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d{2}-\d{2})?$"
)
KINDS_OF_CHANGE = {"Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"}
MAKE_TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)


def _shell_commands(text: str) -> list[list[str]]:
    """Every command line of the shell blocks of a page, as words, comments removed."""
    return [
        line.split("#")[0].split()
        for language, body in CODE_BLOCK.findall(text)
        if language in {"bash", "sh", "shell", "console"}
        for line in body.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def _commands_of_every_page(documents: dict[Path, str]) -> set[tuple[str, ...]]:
    return {tuple(words) for text in documents.values() for words in _shell_commands(text) if words}


def test_make_targets_named_in_the_documents_exist(root: Path, documents: dict[Path, str]) -> None:
    targets = set(MAKE_TARGET.findall((root / "Makefile").read_text()))
    named = {
        word
        for words in _commands_of_every_page(documents)
        if words[0] == "make"
        for word in words[1:]
        if "=" not in word
    }
    assert named, "expected the documents to name make targets"
    assert not named - targets


def test_commands_named_in_the_documents_exist(documents: dict[Path, str]) -> None:
    named = {
        words[1]
        for words in _commands_of_every_page(documents)
        if words[0].endswith("rlightning") and len(words) > 1 and not words[1].startswith("-")
    }
    answer = subprocess.run(
        [sys.executable, "-m", "rlightning.cli.main", "--help"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert not {command for command in named if not re.search(rf"\b{command}\b", answer.stdout)}


def test_the_table_of_changes_names_files_that_exist(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text()
    _, _, table = text.partition("## To change X, open Y")
    named = re.findall(r"`([\w./*-]+(?:/|\.\w+))`", table)
    assert len(named) > 10, "expected the table to name files in backquotes"
    assert not [name for name in named if not list(root.glob(name.rstrip("/")))]


def test_links_between_documents_lead_somewhere(root: Path, documents: dict[Path, str]) -> None:
    broken = [
        f"{path}: {target}"
        for path, text in documents.items()
        for target in re.findall(r"\]\(([^)#\s]+)", text)
        if "://" not in target and not target.startswith("mailto:")
        if not (root / path.parent / target).exists()
    ]
    assert not broken


def test_the_changelog_keeps_its_form(root: Path) -> None:
    lines = (root / "CHANGELOG.md").read_text().splitlines()
    releases = [line for line in lines if line.startswith("## ")]
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert releases, "expected at least one release"
    assert not [line for line in releases if not RELEASE_HEADING.match(line)]
    assert not kinds - KINDS_OF_CHANGE


def test_the_version_stands_in_one_place_and_is_in_the_changelog(root: Path) -> None:
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    versions = [
        match["version"]
        for line in (root / "CHANGELOG.md").read_text().splitlines()
        if (match := RELEASE_HEADING.match(line))
    ]
    released = [version for version in versions if version != "Unreleased"]
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["hatch"]["version"]["path"] == "src/rlightning/_version.py"
    assert rlightning._version.__version__ in (released[:1] or ["0.1.0"])


def test_every_page_of_the_documentation_is_in_its_menu(
    root: Path, documents: dict[Path, str]
) -> None:
    menu = (root / "mkdocs.yml").read_text()
    pages = [path.relative_to("docs").as_posix() for path in documents if path.parts[0] == "docs"]
    assert pages
    assert not [page for page in pages if page not in menu]


@pytest.mark.parametrize("extra", ["ray", "mujoco", "atari", "envpool", "wandb", "video"])
def test_every_extra_has_exact_pins(root: Path, extra: str) -> None:
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    pins = {
        line.partition("==")[0].lower()
        for line in (root / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    needed = {
        re.split(r"[\[<>=;]", requirement)[0].strip().lower()
        for requirement in settings["project"]["optional-dependencies"][extra]
    }
    assert not needed - pins
