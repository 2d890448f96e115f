"""docs/lectures/index.md: the five lectures, where they disagree, their nine slips and one note."""

import re

import pytest

from tests.lectures.pages import page_text, run_page

NAMES = ("radivojac", "chan", "sutd", "online", "cisc271")
SLIP_ROWS = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", page_text("index"), flags=re.M)


def section(name, anchor):
    """The text below the heading that a link leads to, up to the next one of its level."""
    level, body = 0, []
    for line in page_text(name).splitlines():
        heading = re.match(r"(#+) (.+)", line)
        if heading and level and len(heading[1]) <= level:
            break
        slug = re.sub(r"[^\w -]", "", heading[2]).replace(" ", "-").lower() if heading else None
        level = level or (len(heading[1]) if slug == anchor else 0)
        body += [line] if level else []
    return "\n".join(body)


def test_every_lecture_has_its_row_and_its_column():
    text = page_text("index")
    assert re.findall(r"^\| \[(\w+)\]\(\w+\.md\)", text, flags=re.M) == list(NAMES)
    assert "| | " + " | ".join(NAMES) + " |" in text


def test_four_lectures_separate_setosa_and_one_pass_does_not():
    wrong = run_page("index")["wrong"]
    assert list(wrong) == list(NAMES)
    assert wrong == {**dict.fromkeys(NAMES, 0), "online": 50}


def test_there_are_nine_slips_and_one_note():
    assert "nine slips, and one note" in page_text("index").replace("\n", " ")
    assert [int(number) for number, _ in SLIP_ROWS] == list(range(1, 11))


@pytest.mark.parametrize(("number", "links"), SLIP_ROWS)
def test_each_slip_has_its_box_in_the_section_it_links_to(number, links):
    box = "{admonition} Note" if number == "9" else "{admonition} Slip"
    found = re.findall(r"\((\w+)\.md#([\w-]+)\)", links)
    assert found
    for name, anchor in found:
        assert box in section(name, anchor), (name, anchor)
