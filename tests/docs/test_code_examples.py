"""Every Python block of README and of the documentation runs, page by page, from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A block that needs an optional package or much time says so: <!-- not run: the reason -->
PYTHON_BLOCK = re.compile(
    r"(?P<skipped><!-- not run: [^>]+ -->\s*)?^```python[^\n]*\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


def _blocks(text: str) -> Iterator[str]:
    """Yield each block, moved down to its own lines so that an error names the page's line."""
    for match in PYTHON_BLOCK.finditer(text):
        if match["skipped"] is None:
            yield "\n" * text.count("\n", 0, match.start("code")) + match["code"]


def _pages_with_code() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        page.relative_to(ROOT).as_posix() for page in pages if [*_blocks(page.read_text("utf-8"))]
    ]


@pytest.mark.parametrize("page", _pages_with_code())
def test_the_examples_of_the_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    for block in _blocks((ROOT / page).read_text("utf-8")):
        exec(compile(block, page, "exec"), names)


def test_a_block_keeps_its_line_and_one_with_a_reason_is_left_out() -> None:
    text = "words\n\n```python\n1 / 0\n```\n\n<!-- not run: a game -->\n```python\nplay()\n```\n"
    (block,) = _blocks(text)
    assert block.splitlines() == ["", "", "", "1 / 0"]
