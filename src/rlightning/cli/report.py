"""`rlightning report RUN`: a run as one page and its pictures."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl

from rlightning.cli.report_page.figures import PICTURES, Picture
from rlightning.cli.report_page.page import DrawnPicture, page
from rlightning.cli.report_page.run_data import RunData, read_run
from rlightning.cli.report_page.theme import DARK, LIGHT, Theme
from rlightning.engine.atomic_file import write_atomically
from rlightning.engine.run_folder import RunFolder
from rlightning.errors import RunFolderError

PAGE_NAME = "report.html"
DOTS_PER_INCH = 120


def write_report(run_folder: Path) -> Path:
    """Write ``report/report.html``, self-contained, and the PNG files beside it.

    Reads only metrics, settings and final evaluation, so it also works for a run that was
    interrupted or still goes on.

    Args:
        run_folder: Folder of the run.

    Returns:
        Where the page lies.

    Raises:
        RunFolderError: If the run has no metrics yet, or the report cannot be written.
    """
    folder = RunFolder(run_folder)
    run = read_run(folder)
    pictures = [drawn for picture in PICTURES if (drawn := _draw(picture, run)) is not None]
    target = folder.report_path / PAGE_NAME
    try:
        folder.report_path.mkdir(exist_ok=True)
        for drawn in pictures:
            write_atomically(target.with_name(f"{drawn.picture.name}.png"), drawn.light)
        write_atomically(target, page(run, pictures).encode())
    except OSError as error:
        raise RunFolderError(
            f"expected to write the report, but cannot write {folder.report_path}: {error}; "
            "make room or set the permissions"
        ) from error
    return target


def _draw(picture: Picture, run: RunData) -> DrawnPicture | None:
    light, dark = (_png(picture, run, theme) for theme in (LIGHT, DARK))
    if light is None or dark is None:
        return None
    return DrawnPicture(picture, light, dark)


def _png(picture: Picture, run: RunData, theme: Theme) -> bytes | None:
    with mpl.rc_context(theme.settings()):
        figure = picture.draw(run, theme)
        if figure is None:
            return None
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DOTS_PER_INCH)
    return content.getvalue()
