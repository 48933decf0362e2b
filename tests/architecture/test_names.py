"""Names are whole words, files are named after their one idea, and nothing silences a check."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FILE_NAMES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "misc"}
# The published API is rlightning.policy.utils.router.
FOLDERS_NAMED_BY_THE_PUBLISHED_API = {"src/rlightning/policy/utils", "tests/unit/policy/utils"}
SHORT_NAMES = {"cfg", "mgr", "idx", "ctx", "tmp"}
# An exception is one line: the place, and the reason.
NAMES_GIVEN_BY_A_LIBRARY = {
    "src/rlightning/cli/main.py: ctx": "overrides a method of Click, whose parameter is so named",
}
SILENCED_CHECK = re.compile(
    r"#\s*(?:pragma:\s*no\s*cover|noqa(?!:)|type:\s*ignore(?!\[)|TODO\b|FIXME|XXX|HACK)",
)


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a module gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _comments(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_no_file_or_folder_has_a_name_that_says_nothing(project_files: list[Path]) -> None:
    nameless = [
        str(path)
        for path in project_files
        for part in (path, *path.parents)
        if part.stem in FILE_NAMES_THAT_SAY_NOTHING
        and str(part) not in FOLDERS_NAMED_BY_THE_PUBLISHED_API
    ]
    assert not nameless, "name the file after the one idea in it"


def test_names_are_whole_words(package_trees: dict[Path, ast.Module]) -> None:
    shortened = {
        f"{path}: {name}"
        for path, tree in package_trees.items()
        for name in _names(tree)
        if SHORT_NAMES.intersection(name.lower().split("_"))
    }
    assert not shortened - set(NAMES_GIVEN_BY_A_LIBRARY), "write the word out"


def test_no_comment_silences_a_check_or_puts_work_off(python_texts: dict[Path, str]) -> None:
    silenced = [
        f"{path}: {comment}"
        for path, text in python_texts.items()
        if SILENCED_CHECK.search(text)
        for comment in _comments(text)
        if SILENCED_CHECK.search(comment)
    ]
    assert not silenced, "give the code of the check and the reason, or mend the cause"


def test_test_files_have_names_of_their_own(project_files: list[Path]) -> None:
    names = Counter(path.name for path in project_files if path.match("test_*.py"))
    assert not [name for name, count in names.items() if count > 1]


def test_the_rules_see_what_they_should() -> None:
    tree = ast.parse("def f(env_idx):\n    self.run_cfg = 1\n")
    assert list(_names(tree)) == ["f", "env_idx", "run_cfg"]
    for comment in ("# noqa", "# type: ignore", "# TODO later", "# pragma: no cover"):
        assert SILENCED_CHECK.search(comment)
    for comment in ("# noqa: S301", "# type: ignore[arg-type]", "# do it twice"):
        assert not SILENCED_CHECK.search(comment)
