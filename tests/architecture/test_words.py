"""No file names a place that exists on one machine only, or a registry to install from."""

from __future__ import annotations

import re
from pathlib import Path

TEXT_SUFFIXES = {".cfg", ".css", ".html", ".ini", ".json", ".md", ".py", ".svg", ".toml", ".txt"}
TEXT_SUFFIXES |= {".yaml", ".yml", ""}
PLACE_OF_ONE_MACHINE = re.compile(r"(?<![\w.}~-])/(?:home|root|work|Users|opt|mnt)/\w")
REGISTRY = re.compile(r"--(?:extra-)?index-url|--find-links|files\.pythonhosted|pypi\.org/simple")


def _offending_lines(root: Path, files: list[Path], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()}"
        for path in files
        if path.suffix in TEXT_SUFFIXES and path.name != Path(__file__).name
        for number, line in enumerate(
            (root / path).read_text("utf-8", errors="replace").splitlines(), start=1
        )
        if pattern.search(line)
    ]


def test_no_file_names_a_place_of_one_machine(root: Path, project_files: list[Path]) -> None:
    assert not _offending_lines(root, project_files, PLACE_OF_ONE_MACHINE)


def test_no_file_names_a_registry(root: Path, project_files: list[Path]) -> None:
    assert not _offending_lines(root, project_files, REGISTRY)


def test_the_pattern_finds_a_place_and_spares_an_address() -> None:
    assert PLACE_OF_ONE_MACHINE.search("see /home/somebody/run")
    assert not PLACE_OF_ONE_MACHINE.search("https://example.org/home/page")
