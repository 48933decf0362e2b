"""The pages made from code say what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_made_from_code_are_up_to_date() -> None:
    reference_pages = runpy.run_path(str(ROOT / "tools" / "reference_pages.py"))["reference_pages"]
    stale = [
        page.name for page, text in reference_pages().items() if page.read_text("utf-8") != text
    ]
    assert not stale, "run `make format` and commit the pages"
