"""The project's files, read once for all architecture tests."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED_FOLDERS = {"__pycache__", "build", "dist", "htmlcov", "runs", "site"}
HIDDEN_FOLDERS_OF_THE_PROJECT = {".ci"}


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """Every file of the project, relative to its root; nothing that is made by a command."""
    return sorted(_walk(ROOT))


def _walk(folder: Path) -> Iterator[Path]:
    for name_of_folder, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_of_the_project(name)]
        for name in names:
            if not name.startswith(".coverage"):
                yield Path(name_of_folder, name).relative_to(folder)


def _is_of_the_project(folder_name: str) -> bool:
    if folder_name.startswith("."):
        return folder_name in HIDDEN_FOLDERS_OF_THE_PROJECT
    return folder_name not in GENERATED_FOLDERS


@pytest.fixture(scope="session")
def python_texts(project_files: list[Path]) -> dict[Path, str]:
    """Text of every Python file, by path relative to the root."""
    return {
        path: (ROOT / path).read_text(encoding="utf-8")
        for path in project_files
        if path.suffix == ".py"
    }


@pytest.fixture(scope="session")
def package_trees(python_texts: dict[Path, str]) -> dict[Path, ast.Module]:
    """Syntax tree of every module of the package, benchmarks and examples, by path."""
    return {
        path: ast.parse(text)
        for path, text in python_texts.items()
        if path.parts[0] in {"src", "benchmarks", "examples"}
    }


@pytest.fixture(scope="session")
def documents(project_files: list[Path]) -> dict[Path, str]:
    """Text of every Markdown page, by path relative to the root."""
    return {
        path: (ROOT / path).read_text(encoding="utf-8")
        for path in project_files
        if path.suffix == ".md"
    }
