"""The report as one self-contained page: no scripts, and nothing is fetched."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from rlightning.cli.report_page.figures import Picture
from rlightning.cli.report_page.numbers import (
    Table,
    course_table,
    facts,
    fault_table,
    metric_table,
    node_table,
    router_table,
)
from rlightning.cli.report_page.run_data import RunData


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture with its PNG files.

    Attributes:
        picture: What it shows.
        light: PNG for light pages.
        dark: PNG for dark pages.
    """

    picture: Picture
    light: bytes
    dark: bytes


def page(run: RunData, pictures: Sequence[DrawnPicture]) -> str:
    """Return the whole page as HTML."""
    style = (resources.files(__package__) / "page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(run.name)}</title>",
            f"<style>\n{style}</style></head>",
            f"<body><h1>{escape(run.name)}</h1>",
            _facts(run),
            *map(_picture, pictures),
            _table(course_table(run)),
            _table(metric_table(run)),
            _table(router_table(run)),
            _table(node_table(run)),
            _table(fault_table(run)),
            "<details><summary>Settings</summary>",
            f"<pre>{escape(run.config_text)}</pre></details>",
            "</body></html>\n",
        ]
    )


def _facts(run: RunData) -> str:
    entries = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts(run))
    note = ""
    if run.num_unreadable:
        note = f"<p>Lines of the metrics that could not be read: {run.num_unreadable}.</p>"
    return f"<dl>{''.join(entries)}</dl>{note}"


def _picture(drawn: DrawnPicture) -> str:
    picture = drawn.picture
    return (
        f"<h2>{escape(picture.title)}</h2><p>{escape(picture.caption)}</p><picture>"
        f'<source media="(prefers-color-scheme: dark)" srcset="{_data_url(drawn.dark)}">'
        f'<img alt="{escape(picture.title)}" src="{_data_url(drawn.light)}"></picture>'
    )


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    head = _cells("th", table.columns, table.num_text_columns)
    rows = (_cells("td", row, table.num_text_columns) for row in table.rows)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return (
        f'<h2>{escape(table.title)}</h2><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(tag: str, row: Sequence[str], num_text_columns: int) -> str:
    num_numbers = len(row) - num_text_columns
    numbers = (f"<{tag}>{escape(cell)}</{tag}>" for cell in row[:num_numbers])
    words = (f'<{tag} class="text">{escape(cell)}</{tag}>' for cell in row[num_numbers:])
    return "".join([*numbers, *words])
