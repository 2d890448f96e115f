"""Every limit on untrusted input, in one place.

A size that a file or stream claims is compared with one of these numbers before memory is allocated
for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.errors import LimitError


@dataclass(frozen=True)
class Limits:
    """The largest sizes that are accepted from files and streams.

    Attributes
    ----------
    line_bytes : int
        Bytes in one line of text, or in one quoted cell of a CSV file.
    label_chars : int
        Characters in one label.
    classes : int
        Different labels.
    plain_columns : int
        LIBSVM indices below this number are columns as they stand; larger ones are indexed.
    names : int
        Different names of features.
    name_bytes : int
        Bytes in one name of a feature.
    table_columns : int
        Columns of a CSV or Parquet table.
    files : int
        Files in one folder.
    header_bytes : int
        Bytes in the header of a model or checkpoint file.
    """

    line_bytes: int = 1 << 24
    label_chars: int = 1_000
    classes: int = 1_000
    plain_columns: int = 1 << 22
    names: int = 1_000_000
    name_bytes: int = 1_000
    table_columns: int = 100_000
    files: int = 1_000_000
    header_bytes: int = 1 << 20

    def check(self, name: str, size: int, place: str, option: str | None = None) -> None:
        """Raise if a size is beyond the limit of this name.

        Parameters
        ----------
        name : str
            An attribute of this class.
        size : int
            The size that was claimed or found.
        place : str
            Where: a file and a line, for example.
        option : str, optional
            The parameter or option that raises the limit, if there is one.

        Raises
        ------
        LimitError
            If `size` is larger.

        Examples
        --------
        >>> DEFAULT.check("classes", 1_001, "line 7 of data.csv")
        Traceback (most recent call last):
        rosenblatt.errors.LimitError: line 7 of data.csv: 1,001 classes, the limit is 1,000.
        """
        limit = getattr(self, name)
        if size > limit:
            raise LimitError(WORDS[name], size, limit, place, option)


WORDS = {
    "line_bytes": "bytes in one line",
    "label_chars": "characters in a label",
    "classes": "classes",
    "plain_columns": "columns",
    "names": "names of features",
    "name_bytes": "bytes in the name of a feature",
    "table_columns": "columns of a table",
    "files": "files in one folder",
    "header_bytes": "bytes in the header",
}
DEFAULT = Limits()
