"""Notebooks of the lectures: the code of the page, and Markdown that every notebook shows."""

import functools
import re

import nbformat
import pytest

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.lectures import notebook as notebooks
from rosenblatt.lectures.notebook import (
    EVAL,
    LECTURES,
    PageError,
    headings,
    page_text,
    pages_folder,
    plain_markdown,
)
from tests.lectures.pages import run_page

notebook = functools.cache(lambda name: notebooks.notebook(name, pages_folder()))
CELL = re.compile(r"^(`{3,})\{code-cell\}.*\n(?::[\w-]+:.*\n)*((?s:.*?))^\1[ \t]*$", re.M)
MATH = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.S)


@pytest.fixture(params=LECTURES)
def name(request):
    return request.param


def test_the_notebook_is_valid(name):
    made = nbformat.reads(notebook(name), as_version=4)
    nbformat.validate(made)
    assert made.metadata.kernelspec.name == "python3"


def test_the_same_page_gives_the_same_notebook():
    assert notebook("online") == notebooks.notebook("online", pages_folder())


def test_its_text_has_the_values_that_the_site_shows(name):
    made = nbformat.reads(notebook(name), as_version=4)
    text = " ".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert "{eval}" not in text
    codes = EVAL.findall(page_text(name))
    assert codes
    variables = run_page(name)
    for code in codes:
        assert f"`{code}`" not in text
        if code.isidentifier():
            assert str(variables[code]) in text


def test_a_number_is_shown_as_on_the_site():
    bound = run_page("online")["bound"]
    assert f"all far below {bound:.0f}. The theorem" in notebook("online")


def test_a_page_that_fails_is_an_error_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "page_text", lambda name: "```{code-cell} python\n1 / 0\n```\n")
    with pytest.raises(PageError, match="online, cell 1: ZeroDivisionError"):
        notebooks.write_notebook("online", tmp_path / "x.ipynb")
    assert list(tmp_path.iterdir()) == []


def test_its_code_is_the_code_of_the_page(name):
    made = nbformat.reads(notebook(name), as_version=4)
    code = [cell.source.strip() for cell in made.cells if cell.cell_type == "code"]
    assert code == [body.strip() for _, body in CELL.findall(page_text(name))]
    assert all(cell.get("outputs", []) == [] for cell in made.cells)


def test_its_text_has_no_markup_of_the_site(name):
    made = nbformat.reads(notebook(name), as_version=4)
    text = "\n\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.findall(r"^:::|^\(\w[\w-]*\)=|\{[a-z-]+\}`|^```\{", text, re.M)
    assert not re.findall(r"\]\((?!https?:)", text)
    # formulas are untouched, in their order
    assert MATH.findall(text.replace("\n> ", "\n")) == MATH.findall(_prose(name))


def _prose(name):
    """The page without its cells."""
    return CELL.sub("", page_text(name))


def test_slips_are_block_quotes(name):
    titles = re.findall(r"^:::\{admonition\} (Slip.*)$", page_text(name), re.M)
    made = nbformat.reads(notebook(name), as_version=4)
    text = "\n".join(cell.source for cell in made.cells)
    for title in titles:
        assert f"> **{title}**" in text


def test_title_and_headings_are_those_of_the_page(name):
    title, sections = headings(name)
    lines = page_text(name).splitlines()
    places = [lines.index(f"# {title}"), *(lines.index(f"## {heading}") for heading in sections)]
    assert places == sorted(set(places))
    assert len(places) > 1


def test_an_unknown_lecture_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match=", ".join(LECTURES)):
        notebooks.notebook("rosenblatt")


def test_the_pages_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.lectures.notebook.pages_folder", lambda: tmp_path)
    with pytest.raises(DataError, match=r"cannot read .*sutd.md"):
        notebooks.notebook("sutd")


def test_markdown_of_the_site_becomes_plain():
    page = "\n".join(
        (
            "(top)=",
            "See {doc}`x`, [there](../a.md#b) and [here](https://a.b/c).",
            ":::{admonition} Slip: a title",
            ":class: slip",
            "Body $x$.",
            "",
            "More.",
            ":::",
            "After.",
            "```{note}",
            "N",
            "```",
        )
    )
    assert plain_markdown(page).splitlines() == [
        "See `x`, there and [here](https://a.b/c).",
        "> **Slip: a title**",
        ">",
        "> Body $x$.",
        ">",
        "> More.",
        "",
        "After.",
        "> **Note**",
        ">",
        "> N",
    ]
