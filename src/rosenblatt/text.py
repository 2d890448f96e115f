"""Plurals, and tables of results for the terminal and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def plural(n: int, one: str, many: str | None = None) -> str:
    """A number and its noun.

    >>> plural(1, "class", "classes"), plural(2, "class", "classes"), plural(0, "row")
    ('1 class', '2 classes', '0 rows')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def repeated(names: Sequence[str]) -> str | None:
    """The first name that was there before, if there is one.

    >>> repeated(["a", "b", "a"]), repeated("ab")
    ('a', None)
    """
    if len(set(names)) == len(names):
        return None
    return next(name for k, name in enumerate(names) if name in names[:k])


def spelled(label: object) -> str:
    """A label or category as text; whole numbers without a fraction.

    >>> spelled(1.0), spelled(0.5), spelled("1.0")
    ('1', '0.5', '1.0')
    """
    return str(int(label) if isinstance(label, float) and label.is_integer() else label)


def printable(name: object) -> str:
    """A name for the terminal, with control characters escaped: files may contain any name.

    >>> print(printable("a\\x1b[2J\\n"))
    a\\x1b[2J\\n
    """
    text = spelled(name)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def text_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table for the terminal, columns aligned right.

    >>> print(text_table(["epoch", "mistakes"], [["1", "12"]]))
    epoch  mistakes
        1        12
    """
    widths = [max(len(line[k]) for line in [header, *lines]) for k in range(len(header))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in [header, *lines]
    )


def html_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """The same table for a notebook."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def left_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table for the terminal, columns set flush left."""
    widths = [max(len(line[k]) for line in [header, *lines]) for k in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [header, *lines]
    )


class TableReport:
    """A result that prints as a title, a table and notes, and as HTML in a notebook."""

    @property
    def title(self) -> str:
        """The line above the table."""
        return ""

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        raise NotImplementedError

    @property
    def notes(self) -> list[str]:
        """Sentences below the table."""
        return []

    def __str__(self) -> str:
        title = [self.title] if self.title else []
        return "\n".join([*title, text_table(*self.rows()), *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        title, *notes = (f"<p>{escape(line)}</p>" for line in (self.title, *self.notes))
        title = title.replace("\n", "<br>") if self.title else ""
        return f"{title}{html_table(*self.rows())}{''.join(notes)}"
