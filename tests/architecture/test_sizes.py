"""Files, functions, loops, nesting and parameter lists stay small enough to read at a glance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
MAX_ENGINE_FUNCTION_LINES = 60
MAX_NESTING = 3
MAX_PARAMETERS = 6

# An exception is one line: the place, and the reason why it may be larger.
LARGER_FILES: dict[str, str] = {}
LARGER_FUNCTIONS: dict[str, str] = {}
DEEPER_FUNCTIONS: dict[str, str] = {}
MORE_PARAMETERS: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION_TYPES = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def _named_functions(path: Path, node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Yield every function with its place, "<file>::<Class>.<function>"."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTION_TYPES):
            yield f"{path}::{prefix}{child.name}", child
            yield from _named_functions(path, child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _named_functions(path, child, f"{prefix}{child.name}.")
        else:
            yield from _named_functions(path, child, prefix)


def _all_functions(trees: dict[Path, ast.Module]) -> Iterator[tuple[str, Function]]:
    for path, tree in trees.items():
        yield from _named_functions(path, tree)


def _lines_without_docstring(function: Function) -> int:
    """Count the lines from `def` to the end; a docstring may be as long as its contract needs."""
    num_lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return num_lines
    docstring = function.body[0]
    return num_lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def _nesting(node: ast.AST) -> int:
    """Depth of blocks; an `elif` is as deep as its `if`, inner functions count apart."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTION_TYPES, ast.ClassDef, ast.Lambda)):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        is_deeper = isinstance(child, BLOCKS) and not is_elif
        deepest = max(deepest, _nesting(child) + is_deeper)
    return deepest


def _num_parameters(function: Function) -> int:
    arguments = function.args
    names = [
        argument.arg
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    ]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _max_lines(place: str) -> int:
    is_engine = place.partition("::")[0].endswith("_engine.py")
    return MAX_ENGINE_FUNCTION_LINES if is_engine else MAX_FUNCTION_LINES


def test_no_file_is_longer_than_300_lines(python_texts: dict[Path, str]) -> None:
    too_long = {
        str(path): len(text.splitlines())
        for path, text in python_texts.items()
        if len(text.splitlines()) > MAX_FILE_LINES and str(path) not in LARGER_FILES
    }
    assert not too_long, "split the file, or add it with its reason to LARGER_FILES"


def test_no_function_is_longer_than_40_lines(package_trees: dict[Path, ast.Module]) -> None:
    too_long = {
        place: _lines_without_docstring(function)
        for place, function in _all_functions(package_trees)
        if _lines_without_docstring(function) > _max_lines(place) and place not in LARGER_FUNCTIONS
    }
    assert not too_long, "split the function, or add it with its reason to LARGER_FUNCTIONS"


def test_no_function_is_nested_deeper_than_3(package_trees: dict[Path, ast.Module]) -> None:
    too_deep = {
        place: _nesting(function)
        for place, function in _all_functions(package_trees)
        if _nesting(function) > MAX_NESTING and place not in DEEPER_FUNCTIONS
    }
    assert not too_deep, "return early or name the inner part, or add it to DEEPER_FUNCTIONS"


def test_no_function_takes_more_than_6_parameters(package_trees: dict[Path, ast.Module]) -> None:
    too_many = {
        place: _num_parameters(function)
        for place, function in _all_functions(package_trees)
        if _num_parameters(function) > MAX_PARAMETERS and place not in MORE_PARAMETERS
    }
    assert not too_many, "pass a frozen record, or add it with its reason to MORE_PARAMETERS"


def test_every_exception_is_still_needed(
    package_trees: dict[Path, ast.Module], python_texts: dict[Path, str]
) -> None:
    functions = dict(_all_functions(package_trees))
    files = {str(path): len(text.splitlines()) for path, text in python_texts.items()}
    stale = [
        *(place for place in LARGER_FILES if files.get(place, 0) <= MAX_FILE_LINES),
        *(
            place
            for place in LARGER_FUNCTIONS
            if place not in functions
            or _lines_without_docstring(functions[place]) <= _max_lines(place)
        ),
        *(
            place
            for place in DEEPER_FUNCTIONS
            if place not in functions or _nesting(functions[place]) <= MAX_NESTING
        ),
        *(
            place
            for place in MORE_PARAMETERS
            if place not in functions or _num_parameters(functions[place]) <= MAX_PARAMETERS
        ),
    ]
    assert not stale, "remove the exception: the place is small enough now"


def test_the_measures_see_what_they_should() -> None:
    text = (
        "def outer(self, a, b, *, c):\n"
        '    """One.\n\n    Two.\n    """\n'
        "    if a:\n"
        "        for x in b:\n"
        "            with c:\n"
        "                pass\n"
        "    elif b:\n"
        "        pass\n"
    )
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert _lines_without_docstring(function) == 7
    assert _nesting(function) == 3
    assert _num_parameters(function) == 3
