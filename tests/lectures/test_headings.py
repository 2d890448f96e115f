"""The pages have a section for every heading of the texts, in order, and a box for every slip.

A heading of a text is a line that stands alone between empty lines, begins with a capital letter
or a digit, has at most 62 characters, none of which is a tab or belongs to a formula, and does not
end like a sentence. What that rule gets wrong is listed below, with the reason.
"""

import itertools
import re
from pathlib import Path

import pytest

from rosenblatt.lectures.notebook import LECTURES, headings, page_text, pages_folder

HEADING = re.compile(r"[A-Z0-9][^\t$<>{}\\|]{2,60}[^\t$<>{}\\|.,;:?!]")
TITLE, LABEL, SENTENCE = "of the title", "a label in a picture", "a sentence before a formula"
NOT_HEADINGS = {
    "radivojac": {
        "Machine Learning Lecture Notes": TITLE,
        "Predrag Radivojac": TITLE,
        "March 6, 2015": TITLE,
        "In practice, it is useful to modify the update rule to": SENTENCE,
    },
    "chan": {
        "ECE595 / STAT598: Machine Learning I": TITLE,
        "Lecture 16 Perceptron: Definition and Concept": TITLE,
        "Spring 2020": TITLE,
        "Stanley Chan": TITLE,
        "Discriminative Approaches": "a line of the outline",
        "This lecture: Perceptron 1": "a line of the outline",
        "Perceptron Loss": LABEL,
        "Rectified Linear Unit": LABEL,
        "Let us consider the Perceptron (Soft) Loss": SENTENCE,
    },
    "sutd": {
        "50.007 Machine Learning": TITLE,
        "Lecture 2": TITLE,
        "Different kinds of learning problems": "of the agenda on the title slide",
        "A Case Study of Supervised Learning": "of the agenda on the title slide",
        "Linear Classifier without Offset": "of the agenda on the title slide",
        "Linear Classifier with Offset": "of the agenda on the title slide",
        "Learning a function": LABEL,
        "Original Data": LABEL,
        "EM Clustering": LABEL,
        "Training data": LABEL,
        "Input data": LABEL,
        "1st Update": LABEL,
    },
    "online": {"Back to Lectures": "a link"},
    "cisc271": {
        "Text Correspondence: Hastie *et al.*, 2009 [6], pp 130–132": "a reference",
    },
}
ALSO = {"sutd": {"Steps for solving a supervised learning problem:": "a heading with a colon"}}
AGAIN = {"chan": {"Outline": "shown a second time, word for word, before the second part"}}

# the boxes of the ten slips, numbered as in docs/explanation/conventions.md. The boxes of slip 9
# are notes, because it is about a bound that the texts leave out
BOXES = {
    ("chan", "Slip: from zero, nothing is ever learned"): 1,
    ("radivojac", "Slip: the flip changes the run"): 2,
    ("radivojac", "Slip: a strict inequality"): 3,
    ("online", "Slip: negative, or zero"): 3,
    ("chan", "Slip: the soft loss always has the minimizer 0"): 4,
    ("chan", "Slip: the minimum is always 0"): 4,
    ("chan", "Slip: the limit is a step, not sign"): 5,
    ("sutd", "Slip: the two forms differ at a score of zero"): 6,
    ("radivojac", "Slip: the learning rate only rescales"): 7,
    ("chan", "Slip: convexity does not give existence"): 8,
    ("sutd", "Note: the bound depends on the start"): 9,
    ("cisc271", "Note: how soon does it converge?"): 9,
    ("sutd", 'Slip: "tumor size" is a radius'): 10,
}


def beside(*path):
    """A file or folder beside the project, or in it."""
    for parent in Path(__file__).resolve().parents:
        if parent.joinpath(*path).exists():
            return parent.joinpath(*path)
    pytest.skip(f"{'/'.join(path)} is not here")


def text_headings(name):
    """Headings of a lecture's text, frames of one heading joined."""
    lines = ["", *beside("shared", "lectures", f"{name}.txt").read_text().splitlines(), ""]
    found = []
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        alone = not before.strip() and not after.strip()
        known = line in NOT_HEADINGS[name]
        again = line in AGAIN.get(name, {}) and line in found
        if alone and (HEADING.fullmatch(line) or line in ALSO.get(name, {})):
            found += [] if known or again else [line]
    return joined(found)


def joined(found):
    return [heading for heading, _ in itertools.groupby(found)]


def boxes():
    """All boxes of the pages: (lecture, title) and class."""
    box = re.compile(r"^:::+\{(\w+)\} *(.*)\n(?::class: *(.*)\n)?", re.M)
    return {
        (name, title): kind if directive == "admonition" else directive
        for name in LECTURES
        for directive, title, kind in box.findall(page_text(name))
    }


def test_there_is_a_page_for_each_of_the_five_lectures():
    assert {path.stem for path in pages_folder().glob("*.md")} == {"index", *LECTURES}
    assert len(LECTURES) == 5


@pytest.mark.parametrize("name", LECTURES)
def test_sections_are_the_headings_of_the_text(name):
    expected = text_headings(name)
    _, sections = headings(name)
    found = []
    for section in sections:
        # several sections of one heading are told apart by words after a colon
        matching = [h for h in expected if section == h or section.startswith(f"{h}: ")]
        assert matching, f"{section!r} is no heading of the text"
        found.append(max(matching, key=len))
    assert joined(found) == expected


@pytest.mark.parametrize("name", LECTURES)
def test_no_two_sections_have_one_heading(name):
    _, sections = headings(name)
    assert len(set(sections)) == len(sections)


@pytest.mark.parametrize("name", LECTURES)
def test_exceptions_are_still_in_the_text(name):
    text = beside("shared", "lectures", f"{name}.txt").read_text().splitlines()
    for table in (NOT_HEADINGS, ALSO, AGAIN):
        assert set(table.get(name, {})) <= set(text)


def test_every_slip_has_its_box_and_nothing_else_is_marked_as_a_slip():
    found = boxes()
    assert set(BOXES) <= set(found)
    assert set(BOXES.values()) == set(range(1, 11))
    slips = {box for box, kind in found.items() if kind == "slip"}
    assert slips == {(name, title) for name, title in BOXES if title.startswith("Slip: ")}
    assert {box for box in found if box[1].startswith("Slip")} == slips


def test_the_index_lists_the_slips_with_their_pages():
    text = (pages_folder() / "index.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (\d+) \|.*\| ([^|]*) \|$", text.split("## Where the lectures slip")[1], re.M
    )
    listed = {int(number): set(re.findall(r"\((\w+)\.md", where)) for number, where in rows}
    assert listed == {
        slip: {name for (name, _), number in BOXES.items() if number == slip}
        for slip in range(1, 11)
    }
