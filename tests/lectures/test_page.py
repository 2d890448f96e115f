"""The page of a lecture: everything in it, nothing that a text could break."""

import matplotlib as mpl
import pytest

from rosenblatt.errors import ParameterError
from rosenblatt.lectures import NAMES, lecture
from rosenblatt.lectures.lecture import (
    Lecture,
    Note,
    Picture,
    Played,
    Section,
    Slip,
    Table,
    as_text,
)
from rosenblatt.lectures.page import write_page


def small(given):
    def line():
        figure, ax = plt.subplots()
        ax.plot([0, 1])
        return figure

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return Section(
        "What <b> is & does",
        "It says so.",
        (
            Note("1 < 2"),
            Slip("It is <= and not <."),
            Table.of(["w", "b"], [[0.1 + 0.2, 1], ["x", True]]),
            Picture("line", line, 'a "line"'),
            Picture("drawn", line(), "drawn before"),
            Played("run", lambda path: path.write_text("film"), "the run, played"),
        ),
        {"w": 0.3},
    )


LECTURE = Lecture("small", "A small lecture", (small,))


def test_a_page_holds_every_part_and_escapes_it(tmp_path):
    page = write_page(LECTURE, LECTURE.run(), tmp_path / "new")
    text = page.read_text()
    assert page.name == "small.html"
    for part in ["What &lt;b&gt; is &amp; does", "1 &lt; 2", "&lt;= and not &lt;", "<td>0.3</td>"]:
        assert part in text
    assert 'src="small/line.svg"' in text
    assert "&quot;line&quot;" in text
    assert (tmp_path / "new" / "small" / "drawn.svg").exists()
    assert (tmp_path / "new" / "small" / "line.svg").read_text().startswith("<?xml")
    assert (tmp_path / "new" / "small" / "run.html").read_text() == "film"


def test_the_same_figure_is_the_same_file(tmp_path):
    for folder in ("a", "b"):
        write_page(LECTURE, LECTURE.run(), tmp_path / folder)
    one, other = (tmp_path / folder / "small" / "line.svg" for folder in ("a", "b"))
    assert one.read_bytes() == other.read_bytes()


def test_a_page_that_was_there_stays_when_a_section_fails(tmp_path):
    page = write_page(LECTURE, LECTURE.run(), tmp_path)
    before = page.read_text()

    def fails(given):
        raise ParameterError("no")

    with pytest.raises(ParameterError):
        write_page(LECTURE, Lecture("small", "Another", (fails,)).run(), tmp_path)
    assert page.read_text() == before


def test_the_terminal_gets_text_and_tables():
    text = as_text(next(LECTURE.run()))
    assert "(!) It is <= and not <." in text
    assert "0.3     1" in text
    assert '[line: a "line"]' in text


def test_an_unknown_lecture_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match=", ".join(NAMES)):
        lecture("rosenblatt")
