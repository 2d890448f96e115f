"""Notebooks: the pages of the five lectures, and each of them as a Jupyter notebook."""

from __future__ import annotations

from pathlib import Path

from rosenblatt.errors import DataError


def pages_folder() -> Path:
    """The folder with the page of every lecture, NAME.md.

    An installed package has them in `rosenblatt/lectures/pages`; a checkout in `docs/lectures`.
    """
    here = Path(__file__).resolve()
    installed, checkout = here.parent / "pages", here.parents[3] / "docs" / "lectures"
    for folder in (installed, checkout):
        if folder.is_dir():
            return folder
    raise DataError(
        f"the pages of the lectures are neither in {installed} nor in {checkout}. "
        "Install rosenblatt again."
    )
