"""Cells: run the code of a page in this process, and keep the values that its text shows.

Cells run as on the site: in order, in one namespace. The last expression of a cell is rendered, and
so are the `{eval}` expressions of the text after it. Only the pages of this package are run, never
a file that a user names.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import re
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.errors import RosenblattError

CELL = re.compile(
    r"^(?P<fence>`{3,})\{code-cell\}[^\n]*\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)
OPTIONS = re.compile(r"\A(---\n.*?\n---\n|(:[\w-]+:[^\n]*\n)+)", re.S)
EVAL = re.compile(r"\{eval\}`([^`]+)`")


class PageError(RosenblattError):
    """A cell or an `{eval}` expression of a page failed."""


class Code(NamedTuple):
    """Code of a page: a cell, or an expression in the text."""

    source: str
    line: int  # of its first line, from 1
    name: str  # "cell 3", or "{eval} after cell 3"
    span: tuple[int, int]  # the characters of the page that it takes


class Run(NamedTuple):
    """A page after its cells ran."""

    variables: dict[str, Any]
    text: str  # of the page, with the value of each `{eval}` in its place


def page_code(text: str) -> list[Code]:
    """Cells and `{eval}` expressions of a page, in their order."""
    found: list[Code] = []
    end = number = 0
    for cell in CELL.finditer(text):
        found += _expressions(text, end, cell.start(), number)
        number += 1
        options = OPTIONS.match(cell["body"])
        skip = options.end() if options else 0
        line = _line(text, cell.start("body") + skip)
        found.append(Code(cell["body"][skip:], line, f"cell {number}", cell.span()))
        end = cell.end()
    return found + _expressions(text, end, len(text), number)


def _expressions(text: str, start: int, end: int, number: int) -> list[Code]:
    return [
        Code(role[1], _line(text, role.start()), f"{{eval}} after cell {number}", role.span())
        for role in EVAL.finditer(text, start, end)
    ]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def run(text: str, path: Path, folder: Path) -> Run:
    """Run the code of a page.

    Parameters
    ----------
    text : str
        The page.
    path : Path
        The file of the page, for messages and tracebacks.
    folder : Path
        The folder to run in. What the cells print is not shown.

    Returns
    -------
    Run
        The variables at the end, and the text with its values.

    Raises
    ------
    PageError
        If a cell or an `{eval}` expression fails. It names page, line and cell.
    """
    linecache.checkcache(str(path))
    namespace = {"__name__": "__main__", "display": lambda *shown: [*map(rendered, shown)]}
    parts, end = [], 0
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for code in page_code(text):
            try:
                value = _execute(code, str(path), namespace)
            except Exception as error:
                where = f"{path.name}, line {code.line}, {code.name}"
                raise PageError(
                    f"{where}: {type(error).__name__}: {error}\n{code.source}"
                ) from error
            if code.name.startswith("{eval}"):
                shown = value if isinstance(value, str) else repr(value)
                parts += [text[end : code.span[0]], shown]
                end = code.span[1]
    return Run(namespace, "".join([*parts, text[end:]]))


def _execute(code: Code, path: str, namespace: dict[str, Any]) -> Any:
    """Run a cell; the value of its last expression, which is rendered, too."""
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    body = ast.parse(code.source, path).body
    for node in body:
        ast.increment_lineno(node, code.line - 1)
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), path, "exec"), namespace)
    value = None
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), path, "eval"), namespace)
        rendered(value)
    left = [number for number in plt.get_fignums() if number not in before]
    for number in left:
        plt.close(number)
    if left:
        raise PageError(f"the cell leaves {len(left)} figures open; end it with picture(ax)")
    return value


def rendered(shown: Any) -> str:
    """What a notebook shows of a value."""
    for kind in ("_repr_html_", "_repr_svg_", "_repr_markdown_"):
        if hasattr(shown, kind) and not isinstance(shown, type):
            return str(getattr(shown, kind)())
    return repr(shown)
