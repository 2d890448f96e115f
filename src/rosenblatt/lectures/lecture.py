"""Lecture: what a lecture says, and what is shown of it, heading by heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rosenblatt.errors import ParameterError
from rosenblatt.learn.trace import text_table


@dataclass(frozen=True)
class Note:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Slip:
    """Where the lecture is wrong, and what is true."""

    text: str


@dataclass(frozen=True)
class Table:
    """Columns with names, and rows of text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    @classmethod
    def of(cls, header: list[str], rows: list[list[Any]], caption: str = "") -> Table:
        """Numbers are written with six digits."""
        cells = tuple(tuple(shown(cell) for cell in row) for row in rows)
        return cls(tuple(header), cells, caption)


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure, or a function that draws it when the page is written.

    `name` becomes its file's; the caption says what is seen.
    """

    name: str
    figure: Any
    caption: str

    def drawn(self) -> Any:
        """The figure; matplotlib is not needed before."""
        return self.figure() if callable(self.figure) else self.figure


@dataclass(frozen=True)
class Played:
    """A run as a film: `write(path)` makes the HTML file `name`.html."""

    name: str
    write: Callable[[Path], Any]
    caption: str


Part = Note | Slip | Table | Picture | Played


@dataclass(frozen=True)
class Section:
    """One heading of a lecture.

    Parameters
    ----------
    heading : the lecture's own words
    says : what the lecture claims there, in a sentence or two
    parts : what is shown of it, in order
    numbers : what was computed, for programs and tests; plain numbers, texts, lists
    step : which of several frames under one heading this is, in a few words
    """

    heading: str
    says: str
    parts: tuple[Part, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    step: str = ""

    @property
    def title(self) -> str:
        """The heading, and the step if there are several."""
        return f"{self.heading}: {self.step}" if self.step else self.heading


SPREADS = ("deviation", "variance")


@dataclass(frozen=True)
class Given:
    """What the reader gave: files that are not in the package, and which reading of a text."""

    data: Path | None = None  # sutd: the prognostic file (wpbc.data)
    spread: str = "deviation"  # chan: what the second parameter of N(0, 2) is, or "variance"

    def __post_init__(self) -> None:
        if self.spread not in SPREADS:
            raise ParameterError(
                f"spread must be one of {', '.join(SPREADS)}, got {self.spread!r}."
            )


@dataclass(frozen=True)
class Lecture:
    """A lecture and the functions that show its headings, in its order."""

    name: str
    title: str
    sections: tuple[Callable[[Given], Section], ...]

    def run(self, given: Given | None = None, only: int | None = None) -> Iterator[Section]:
        """Compute one section after the other, or `only` the one of that number, from 1."""
        if only is not None and not 1 <= only <= len(self.sections):
            raise ParameterError(
                f"lecture {self.name} has sections 1 to {len(self.sections)}, got {only}."
            )
        for section in self.sections if only is None else self.sections[only - 1 : only]:
            yield section(given or Given())


def shown(value: Any) -> str:
    """A cell of a table: numbers with six digits, texts as they are."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return f"{value:.6g}"


def slug(heading: str) -> str:
    """A heading as part of a link or a file name."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def as_text(section: Section) -> str:
    """A section for the terminal: without its pictures."""
    lines = [section.title, "=" * len(section.title), section.says]
    for part in section.parts:
        if isinstance(part, Note):
            lines += ["", part.text]
        elif isinstance(part, Slip):
            lines += ["", f"(!) {part.text}"]
        elif isinstance(part, Table):
            lines += ["", text_table(list(part.header), [list(row) for row in part.rows])]
            lines += [part.caption] if part.caption else []
        else:
            lines += ["", f"[{part.name}: {part.caption}]"]
    return "\n".join(lines)
