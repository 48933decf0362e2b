"""Write the parts of the documentation that are made from code; `make format` runs this."""

from __future__ import annotations

import re
from pathlib import Path

from rlightning.config.reference import configuration_reference
from rlightning.metrics.names import METRIC_NAMES

DOCS = Path(__file__).resolve().parents[1] / "docs"
METRICS_TABLE = re.compile(r"(?<=<!-- metrics: begin -->\n).*?(?=<!-- metrics: end -->)", re.DOTALL)


def reference_pages() -> dict[Path, str]:
    """Return the text that each page made from code shall have."""
    run_folder = DOCS / "run-folder.md"
    text = run_folder.read_text(encoding="utf-8")
    return {
        DOCS / "configuration.md": configuration_reference().rstrip() + "\n",
        run_folder: METRICS_TABLE.sub(lambda _: f"\n{_metrics_table()}\n\n", text),
    }


def _metrics_table() -> str:
    rows = [
        f"| `{metric.name}` | {metric.unit} | {metric.meaning} | `{metric.tag_group}` |"
        for metric in METRIC_NAMES
    ]
    return "\n".join(["| name | unit | meaning | group |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    for page, page_text in reference_pages().items():
        page.write_text(page_text, encoding="utf-8")
