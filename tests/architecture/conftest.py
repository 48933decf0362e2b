"""The project's files, read once for all architecture tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED_FOLDERS = {
    ".benchmarks", ".git", ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".venv", "__pycache__", "build", "dist", "htmlcov", "runs", "site",
}  # fmt: skip


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """Every file of the project, relative to its root; nothing that is made by a command."""
    return sorted(
        path.relative_to(ROOT)
        for path in ROOT.rglob("*")
        if path.is_file()
        and not path.name.startswith(".coverage")
        and not GENERATED_FOLDERS.intersection(path.relative_to(ROOT).parts)
    )


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
