"""Notebooks: the pages of the five lectures, and each of them as a Jupyter notebook.

A page is Markdown with cells of Python (MyST-NB), written for the site. jupytext splits it into
cells; the Markdown that only the site understands becomes Markdown that every notebook shows. The
cells are run once, for the numbers in the text; their outputs are not part of the notebook.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path
from typing import Any

from rosenblatt.errors import DataError, MissingPackageError, ParameterError, RosenblattError
from rosenblatt.io.atomic import check_output, replace_file

# name and summary; the title is the first heading of the page
LECTURES = {
    "radivojac": "The machine, its training rule, and the proof that training ends.",
    "chan": "From logistic regression to the perceptron loss, convexity, the Bayesian oracle.",
    "sutd": "Learning problems, a case study, the update rule by hand, the offset.",
    "online": "Predict, see the outcome, update: at most R²/γ² mistakes.",
    "cisc271": "False positives, false negatives, batch learning, four hyperplanes for Iris.",
}
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
BOX = re.compile(
    r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[\w-]+)\} *(?P<title>.*)\n(:[\w-]+:.*\n)*"
    r"(?P<body>(?s:.*?))^(?P=fence)$",
    re.M,
)
EVAL = re.compile(r"\{eval\}`([^`]+)`")
ROLE = re.compile(r"\{[\w:-]+\}`([^`]+)`")
FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
HEADING = re.compile(r"^##? (.+)$", re.M)
ANCHOR = re.compile(r"^\([\w-]+\)=\n", re.M)
RELATIVE_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


class PageError(RosenblattError):
    """A cell or an `{eval}` expression of a page failed."""


def pages_folder() -> Path:
    """The folder with the page of every lecture, NAME.md.

    An installed package has them in `rosenblatt/lectures/pages`; a checkout in `docs/lectures`.
    """
    here = Path(__file__).resolve()
    installed = here.parent / "pages"
    return installed if installed.is_dir() else here.parents[3] / "docs" / "lectures"


def page_text(name: str) -> str:
    """The page of a lecture."""
    if name not in LECTURES:
        raise ParameterError(f"there is no lecture {name!r}. There are: {', '.join(LECTURES)}.")
    path = pages_folder() / f"{name}.md"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as e:
        raise DataError(f"cannot read {path}: {e}. Install rosenblatt again.") from e


def headings(name: str) -> tuple[str, list[str]]:
    """The title of a lecture with its author, and the headings of its sections."""
    title, *sections = HEADING.findall(FENCED.sub("", page_text(name)))
    return title, sections


def write_notebook(name: str, path: Path) -> None:
    """Write a lecture as a notebook, or replace one; the same page gives the same file."""
    if path.suffix != ".ipynb":
        raise ParameterError(f"the name of a notebook ends in .ipynb, got {path}.")
    check_output(path, {})
    content = notebook(name, path.parent)
    with replace_file(path) as file:
        file.write(content.encode())


def notebook(name: str, folder: Path | None = None) -> str:
    """A lecture as the text of a notebook file; its cells are run in `folder`, as Jupyter does."""
    made = page_notebook(page_text(name))
    import jupytext

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Jupyter shows them
        run(made, name, folder or Path.cwd())
    made.metadata = {"kernelspec": KERNEL}
    for number, cell in enumerate(made.cells, 1):
        cell.id = f"cell-{number}"
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source)
        elif "hide-input" in cell.metadata.get("tags", []):
            cell.metadata = {"jupyter": {"source_hidden": True}}
    return str(jupytext.writes(made, fmt="ipynb"))


def page_notebook(text: str) -> Any:
    """A page as a notebook with the Markdown of the site."""
    try:
        import jupytext
        import matplotlib as mpl
    except ImportError as e:
        raise MissingPackageError(
            "writing a notebook needs the packages jupytext and matplotlib: "
            "pip install 'rosenblatt[lectures]'."
        ) from e
    if "matplotlib.pyplot" not in sys.modules:
        mpl.use("Agg")  # figures are drawn and not shown
    return jupytext.reads(FRONT_MATTER.sub("", text), fmt="md:myst")


def run(notebook: Any, name: str, folder: Path) -> dict[str, Any]:
    """Run the cells of a page in one namespace, and put the values into its text.

    Only the pages of this package are run, never a file that a user names.
    """
    import matplotlib.pyplot as plt

    def value(code: re.Match[str]) -> str:
        found = eval(code[1], variables)
        return found if isinstance(found, str) else repr(found)

    variables: dict[str, Any] = {"__name__": "__main__", "display": lambda *shown: None}
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(notebook.cells, 1):
            try:
                if cell.cell_type == "code":
                    exec(compile(cell.source, f"{name}, cell {number}", "exec"), variables)
                    plt.close("all")
                else:
                    cell.source = EVAL.sub(value, cell.source)
            except Exception as error:
                raise PageError(
                    f"{name}, cell {number}: {type(error).__name__}: {error}\n{cell.source}"
                ) from error
    return variables


def plain_markdown(text: str) -> str:
    """Markdown of the site as Markdown that every notebook shows.

    Boxes become block quotes under their titles in bold; links to other pages of the site become
    their text.
    """
    text = ROLE.sub(r"`\1`", ANCHOR.sub("", text))
    return BOX.sub(_block_quote, RELATIVE_LINK.sub(r"\1", text))


def _block_quote(box: re.Match[str]) -> str:
    title = box["title"] or box["name"].capitalize()
    lines = [f"**{title}**", "", *box["body"].strip().splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines) + "\n"
