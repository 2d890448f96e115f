"""docs/lectures.md, the lectures' texts and the modules have the same headings, in order.

A heading of a text is a line that stands alone between empty lines, begins with a capital letter
or a digit, has at most 62 characters, none of which is a tab or belongs to a formula, and does not
end like a sentence. What that rule gets wrong is listed below, with the reason.
"""

import itertools
import re
from pathlib import Path

import pytest

from rosenblatt.lectures import NAMES
from rosenblatt.lectures.lecture import Slip
from tests.lectures.shown import shown

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


def beside(*path):
    """A file or folder beside the project, or in it."""
    for parent in Path(__file__).resolve().parents:
        if parent.joinpath(*path).exists():
            return parent.joinpath(*path)
    pytest.skip(f"{'/'.join(path)} is not here")


def headings(name):
    """Of a lecture's text, frames of one heading joined."""
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


def documented():
    """The rows of docs/lectures.md by lecture: number, title, claim, command, test."""
    parts = re.split(r"^## (\w+)$", beside("docs", "lectures.md").read_text(), flags=re.M)
    return {
        name: [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in body.splitlines()
            if re.match(r"\| \d+ \|", line)
        ]
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_the_document_has_the_five_lectures_in_order():
    assert [name for name in documented() if name in NAMES] == list(NAMES)
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_sections_are_the_headings_of_the_text(name):
    assert joined(s.heading for s in shown(name)) == headings(name)


@pytest.mark.parametrize("name", NAMES)
def test_exceptions_are_still_in_the_text(name):
    text = beside("shared", "lectures", f"{name}.txt").read_text().splitlines()
    for table in (NOT_HEADINGS, ALSO, AGAIN):
        assert set(table.get(name, {})) <= set(text)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_sections_of_the_lecture(name):
    rows = documented()[name]
    assert [row[1] for row in rows] == [s.title for s in shown(name)]
    assert [row[2] for row in rows] == [s.says.replace("||", "‖") for s in shown(name)]
    for k, row in enumerate(rows, 1):
        assert row[0] == str(k)
        assert row[3] == f"`rosenblatt lectures {name} --section {k}`"


@pytest.mark.parametrize("name", NAMES)
def test_the_tests_that_rows_name_exist(name):
    for row in documented()[name]:
        file, test = row[4].strip("`").split("::")
        assert f"\ndef {test}(" in (Path(__file__).parent / file).read_text(), row


def test_slips_are_marked_where_the_document_says():
    text = beside("docs", "lectures.md").read_text()
    table = text.split("## Where the lectures slip")[1].split("\n## ")[0]
    said = set(re.findall(r"\b(radivojac|chan|sutd|online|cisc271) (\d+)", table))
    marked = {
        (name, str(k))
        for name in NAMES
        for k, section in enumerate(shown(name), 1)
        if any(isinstance(part, Slip) for part in section.parts)
    }
    assert said == marked
    assert len(re.findall(r"^\| \d+\. ", table, flags=re.M)) == 10
