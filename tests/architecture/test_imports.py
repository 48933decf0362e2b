"""What a fresh interpreter loads, and which parts see the whole configuration."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

# "<module or package>": one that may import the model of a whole run, with the reason.
SEES_THE_WHOLE_CONFIGURATION = {
    "__init__.py": "offers `load_config` to users, lazily",
    "config": "its own package",
    "engine/assembly.py": "the composition root: gives every part its own piece",
    "engine/outputs.py": "the composition root of what a run writes and shows",
    "engine/name_check.py": "looks up every name in it before anything is made",
    "engine/training.py": "the public functions: read it and hand it on",
    "engine/training_run.py": "stores it with the run",
    "engine/evaluation.py": "has the same parts built for an evaluation",
    "engine/deployed_policy.py": "builds the policy of a stored run anew",
    "simulation": "builds the same parts on paper",
    "testing": "starts whole runs, to kill and resume them",
    "cli": "reads it from files and arguments",
}
NEVER_LOADS_TORCH = ("policy/utils", "dispatch", "placement", "simulation", "config")
LIST_HEAVY_MODULES = (
    "import importlib, json, sys, threading\n"
    "threads_before = threading.active_count()\n"
    "for name in sys.argv[1:]: importlib.import_module(name)\n"
    "print(json.dumps([*sorted({'torch', 'ray', 'gymnasium'} & set(sys.modules)),\n"
    "                  *(['a thread'] if threading.active_count() > threads_before else [])]))\n"
)


def _imported_modules(tree: ast.Module) -> set[str]:
    """Name every module that a file imports, at any depth; `from a import b` gives a and a.b."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def _within_package(path: Path) -> str:
    return path.relative_to("src/rlightning").as_posix()


def _module_name(path: Path) -> str:
    parts = path.relative_to("src").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _loaded_by(module_names: list[str]) -> list[str]:
    answer = subprocess.run(
        [sys.executable, "-c", LIST_HEAVY_MODULES, *module_names],
        check=True,
        capture_output=True,
        text=True,
    )
    return list(json.loads(answer.stdout))


@pytest.fixture
def modules_of_the_package(package_trees: dict[Path, ast.Module]) -> dict[Path, ast.Module]:
    return {path: tree for path, tree in package_trees.items() if path.parts[0] == "src"}


def test_package_files_below_the_root_are_empty_but_for_a_docstring(
    modules_of_the_package: dict[Path, ast.Module],
) -> None:
    busy = [
        str(path)
        for path, tree in modules_of_the_package.items()
        if path.name == "__init__.py" and path.parent.name != "rlightning"
        if any(not isinstance(node, ast.Expr) for node in tree.body)
    ]
    assert not busy, "importing a package must load nothing: import the module that is needed"


def test_the_public_names_are_offered_without_loading_anything_heavy() -> None:
    assert _loaded_by(["rlightning"]) == []


def test_the_router_loads_neither_torch_nor_ray_and_starts_no_thread() -> None:
    assert _loaded_by(["rlightning.policy.utils.router"]) == []


def test_packages_that_decide_never_load_torch_or_ray(
    modules_of_the_package: dict[Path, ast.Module],
) -> None:
    names = [
        _module_name(path)
        for path in modules_of_the_package
        if _within_package(path).startswith(NEVER_LOADS_TORCH)
    ]
    assert "torch" not in _loaded_by(names)
    assert "ray" not in _loaded_by(names)


def test_ray_is_imported_only_in_runtime_ray(
    modules_of_the_package: dict[Path, ast.Module],
) -> None:
    importers = [
        str(path)
        for path, tree in modules_of_the_package.items()
        if any(name.split(".")[0] == "ray" for name in _imported_modules(tree))
        if not _within_package(path).startswith("runtime/ray/")
    ]
    assert not importers


def test_only_the_composition_root_and_the_commands_see_the_whole_configuration(
    modules_of_the_package: dict[Path, ast.Module],
) -> None:
    whole = {"rlightning.config.run_config", "rlightning.config.loading"}
    curious = [
        str(path)
        for path, tree in modules_of_the_package.items()
        if whole & _imported_modules(tree)
        if not _within_package(path).startswith(tuple(SEES_THE_WHOLE_CONFIGURATION))
    ]
    assert not curious, "pass the part its own piece of the configuration"
