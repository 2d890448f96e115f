"""Every limit on untrusted input, in one place.

A size that a file or stream claims is compared with one of these numbers before memory is allocated
for it. Those on names are enforced by the core.
"""

from __future__ import annotations

from typing import NamedTuple

from rosenblatt.errors import LimitError


class Limit(NamedTuple):
    """The largest size that is accepted, and what is counted."""

    most: int
    words: str

    def check(self, size: int, place: str) -> None:
        """Raise if a size is larger; `place` is a file and a line, for example.

        >>> CLASSES.check(1_001, "line 7 of data.csv")
        Traceback (most recent call last):
        rosenblatt.errors.LimitError: line 7 of data.csv: 1,001 classes, the limit is 1,000.
        """
        if size > self.most:
            raise LimitError(self.words, size, self.most, place)


LINE_BYTES = Limit(1 << 24, "bytes in one line")  # or in one quoted cell of CSV
LABEL_CHARS = Limit(1_000, "characters in a label")
CLASSES = Limit(1_000, "classes")
NAMES = Limit(1_000_000, "names of features")
NAME_BYTES = Limit(1_000, "bytes in the name of a feature")
TABLE_COLUMNS = Limit(100_000, "columns of a table")
FILES = Limit(1_000_000, "files in one folder")
HEADER_BYTES = Limit(1 << 20, "bytes in the header")  # of a model
