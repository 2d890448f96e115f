"""Pages: run the cells of a page in this process, once per test session.

A test asserts on the variables of the page:

    page = run_page("sutd")
    assert page["mistakes"] == 3

`rosenblatt.lectures.notebook` runs them, as it does for notebooks. Warnings are errors, as in
every test. A cell that fails raises `PageError` with page and cell.
"""

import functools

import matplotlib as mpl
import pytest

from rosenblatt.lectures.notebook import PageError, page_notebook, pages_folder, run


def page_path(name):
    """The file of a page. Pages beside the lectures ("../gallery/index") are in a checkout only."""
    path = pages_folder() / f"{name}.md"
    if name.startswith("../") and not path.exists():
        pytest.skip(f"{name} is in the source tree only")
    return path


def page_text(name):
    """The page as it is written."""
    return page_path(name).read_text(encoding="utf-8")


@functools.cache
def _run(name, folder):
    """A page that ran, or the error that ended it: a broken page runs once too."""
    mpl.use("Agg")
    try:
        return run(page_notebook(page_text(name)), name, folder or page_path(name).parent)
    except PageError as error:
        return error


def run_page(name, folder=None):
    """The variables of a page after all of its cells ran.

    Parameters
    ----------
    name : str
        Name of a lecture, such as "sutd": the page is docs/lectures/sutd.md.
    folder : Path, optional
        The folder to run it in; by default that of the page.

    Returns
    -------
    dict
        The namespace, shared by all tests: change nothing in it.

    Raises
    ------
    PageError
        If a cell or an `{eval}` expression failed.
    """
    found = _run(name, folder)
    if isinstance(found, PageError):
        raise found
    return found
