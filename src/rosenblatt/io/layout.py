"""Layout: the columns of a table, which one has the labels, and which are used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.features.column_batch import DROP
from rosenblatt.io.text_format import Format, ReadOptions
from rosenblatt.text import repeated


@dataclass(frozen=True)
class Layout:
    """The columns of a table.

    Attributes
    ----------
    names : tuple of str
    label : int or None
        The column of labels; None if there is none.
    kinds : tuple of str
        number, date, category or drop, one per column.
    has_only_numbers : bool
        Whether the head of the file has nothing but numbers besides the labels. Where lines with
        other cells are skipped, every column must have some numbers.
    mixed : mapping of str to str
        Columns of categories of which some cells in the head are numbers, and the first other one.
    """

    names: tuple[str, ...]
    label: int | None
    kinds: tuple[str, ...]
    has_only_numbers: bool = True
    mixed: Mapping[str, str] = field(default_factory=dict)

    @property
    def features(self) -> dict[str, str]:
        """Names and kinds of the columns that are used."""
        named = enumerate(zip(self.names, self.kinds, strict=True))
        return {name: kind for k, (name, kind) in named if k != self.label and kind != DROP}


def is_number(target: str | int) -> bool:
    """Whether a label column is given by its number."""
    return re.fullmatch(r"-?[0-9]+", str(target), re.ASCII) is not None


class TableFormat(Format):
    """Formats of tables.

    Attributes
    ----------
    used : list of int
        The columns that are features.
    """

    layout: Layout | None

    def __init__(self, options: ReadOptions, wanted: Sequence[str] | None) -> None:
        super().__init__(options)
        self.wanted = wanted
        self.used: list[int] = []

    def settings(self) -> dict[str, Any]:
        """How files were read, with what was found out, for the file of a model."""
        return {"target": str(self.options.target)}

    def begin_file(self, names: Sequence[str], label: int | None, place: Any) -> bool:
        """Whether this is the first file; the columns of others must be the same."""
        before = self.layout
        if before is not None and (before.names, before.label) != (tuple(names), label):
            raise DataError(
                f"the columns of {place} are {list(names[:20])}, those of the files before it "
                f"{list(before.names[:20])}. Give files of the same columns in the same order."
            )
        return before is None

    def choose(self, layout: Layout, place: Any) -> None:
        """Keep the layout, and choose the columns that are features."""
        self.layout = layout
        places = {name: k for k, name in enumerate(layout.names) if k != layout.label}
        wanted = list(layout.features) if self.wanted is None else self.wanted
        for name in wanted:
            if name not in places:
                raise DataError(
                    f"{place} has no column {name!r} of the model; it has "
                    f"{list(layout.names[:20])}. Give the columns of the model."
                )
        self.used = [places[name] for name in wanted]
        self.feature_names = tuple(wanted)

    def label_column(self, names: Sequence[str], place: Any) -> int | None:
        """Which column has the labels; None if there is none, where that is allowed."""
        target = self.options.target
        assert target is not None
        if (twice := repeated(names)) is not None:
            first = names.index(twice)
            raise DataError(
                f"columns {first} and {names.index(twice, first + 1)} of {place} are both called "
                f"{twice!r}. Give every column its own name, or say that there is no header."
            )
        if str(target) in names:
            return names.index(str(target))
        few = not is_number(target) or len(names) <= len(self.wanted or ())
        if self.options.optional_label and few:
            return None
        if not is_number(target):
            hint = ""
            if len(names) == 1 and ";" in names[0]:
                hint = " It seems to be separated by semicolons: delimiter=';', or --delimiter ';'."
            raise DataError(f"{place} has no column {target!r}; it has {list(names[:20])}.{hint}")
        number = int(target)
        if not -len(names) <= number < len(names):
            raise DataError(f"{place} has {len(names)} columns, so there is no column {target}.")
        return number % len(names)
