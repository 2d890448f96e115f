"""Pages: run the cells of a page in this process, once per test session.

A test asserts on the variables of the page:

    page = run_page("sutd")
    assert page["mistakes"] == 3

The cells run as on the site: in order, in one namespace, in the folder of the page. The last
expression of a cell is displayed, and so are the `{eval}` expressions of the text after it.
Warnings are errors, as in every test. A cell that fails raises `PageError` with page, line and
cell.
"""

import ast
import contextlib
import functools
import linecache
import re
from typing import NamedTuple

import matplotlib as mpl
import pytest

from rosenblatt.lectures.notebook import pages_folder

CELL = re.compile(
    r"^(?P<fence>`{3,})\{code-cell\}[^\n]*\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)
OPTIONS = re.compile(r"\A(---\n.*?\n---\n|(:[\w-]+:[^\n]*\n)+)", re.S)
EVAL = re.compile(r"\{eval\}`([^`]+)`")


class PageError(AssertionError):
    """A cell or an `{eval}` expression of a page failed."""


class Code(NamedTuple):
    """Code of a page: a cell, or an expression in the text."""

    source: str
    line: int  # of its first line, from 1
    name: str  # "cell 3", or "{eval} after cell 3"


def page_path(name):
    """The file of a page. Pages beside the lectures ("../gallery/index") are in a checkout only."""
    path = pages_folder() / f"{name}.md"
    if name.startswith("../") and not path.exists():
        pytest.skip(f"{name} is in the source tree only")
    return path


def page_text(name):
    """The page as it is written."""
    return page_path(name).read_text(encoding="utf-8")


def page_code(name):
    """Cells and `{eval}` expressions of a page, in their order."""
    text, found, end, number = page_text(name), [], 0, 0
    for cell in CELL.finditer(text):
        found += _expressions(text, end, cell.start(), number)
        number += 1
        options = OPTIONS.match(cell["body"])
        skip = options.end() if options else 0
        line = _line(text, cell.start("body") + skip)
        found.append(Code(cell["body"][skip:], line, f"cell {number}"))
        end = cell.end()
    return found + _expressions(text, end, len(text), number)


def _expressions(text, start, end, number):
    return [
        Code(role[1], _line(text, role.start()), f"{{eval}} after cell {number}")
        for role in EVAL.finditer(text, start, end)
    ]


def _line(text, position):
    return text.count("\n", 0, position) + 1


@functools.cache
def _run(name):
    """The namespace of a page, or the error that ended it: a broken page runs once too."""
    mpl.use("Agg")
    path = page_path(name)
    linecache.checkcache(str(path))
    namespace = {"__name__": "__main__", "display": lambda *shown: [*map(rendered, shown)]}
    with contextlib.chdir(path.parent):
        for code in page_code(name):
            try:
                _execute(code, str(path), namespace)
            except Exception as error:
                where = f"{path.name}, line {code.line}, {code.name}"
                failed = PageError(f"{where}: {type(error).__name__}: {error}\n{code.source}")
                failed.__cause__ = error
                return failed
    return namespace


def _execute(code, path, namespace):
    import matplotlib.pyplot as plt

    body = ast.parse(code.source, path).body
    for node in body:
        ast.increment_lineno(node, code.line - 1)
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), path, "exec"), namespace)
    if last is not None:
        rendered(eval(compile(ast.Expression(last.value), path, "eval"), namespace))
    left = plt.get_fignums()
    plt.close("all")
    assert not left, f"the cell leaves {len(left)} figures open; end it with picture(ax)"


def rendered(shown):
    """What a notebook shows of a value."""
    for kind in ("_repr_html_", "_repr_svg_", "_repr_markdown_"):
        if hasattr(shown, kind) and not isinstance(shown, type):
            return getattr(shown, kind)()
    return repr(shown)


def run_page(name):
    """The variables of a page after all of its cells ran.

    Parameters
    ----------
    name : str
        Name of a lecture, such as "sutd": the page is docs/lectures/sutd.md.

    Returns
    -------
    dict
        The namespace, shared by all tests: change nothing in it.

    Raises
    ------
    PageError
        If a cell or an `{eval}` expression failed.
    """
    found = _run(name)
    if isinstance(found, PageError):
        raise found
    return found
