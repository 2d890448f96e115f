"""File formats, in one table: a new format is added here.

Its class is a :class:`rosenblatt.io.text_format.Format` in a file of its own beside this one.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, NamedTuple

NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FileFormat(NamedTuple):
    """How files of a format are recognized, which class reads them, and their settings.

    Attributes
    ----------
    suffixes : tuple of str
        Of names of files.
    reader : str
        Module, in rosenblatt.io, and class.
    settings : tuple of str
        Fields of ReadOptions; those of other formats are refused.
    first_bytes : bytes
        With which every file begins.
    line : bytes
        A regular expression; a line that it matches tells the format.
    cut_line : bytes
        The same for a line that is cut off or malformed; tried only if no whole line matches.
    is_lines : bool
        Whether a file can be cut at any line, for several workers.
    """

    suffixes: tuple[str, ...]
    reader: str
    settings: tuple[str, ...]
    first_bytes: bytes = b""
    line: bytes = b""
    cut_line: bytes = b""
    is_lines: bool = False

    @property
    def is_table(self) -> bool:
        """Whether files have columns with names, one of which has the labels."""
        return "target" in self.settings

    def load(self) -> Any:
        """The class that reads it, which is imported when it is needed."""
        module, name = self.reader.split(".")
        return getattr(import_module(f"rosenblatt.io.{module}"), name)


FORMATS = {  # bytes are looked at in this order
    "libsvm": FileFormat(
        (".svm", ".libsvm", ".svmlight"), "libsvm.Libsvm", ("n_features", "zero_based"),
        line=rb"\s*%b(\s+qid:[0-9]+)?(\s+[0-9]+:%b)+\s*(#.*)?$" % (NUMBER, NUMBER),
        cut_line=rb"\s*%b\s+[0-9]+:%b" % (NUMBER, NUMBER), is_lines=True,
    ),
    "vw": FileFormat(
        (".vw",), "vw.VWText", ("bits", "hash"), line=rb"[^#]*\|", is_lines=True,
    ),
    "csv": FileFormat(
        (".csv", ".tsv"), "csv.Csv",
        ("target", "header", "delimiter", "missing", "kinds", "bits"), line=rb".*,",
    ),
    "parquet": FileFormat(
        (".parquet", ".pq"), "parquet.Parquet", ("target", "kinds", "bits"), first_bytes=b"PAR1",
    ),
}  # fmt: skip
BY_SUFFIX = {suffix: name for name, one in FORMATS.items() for suffix in one.suffixes}


def format_of_bytes(head: bytes) -> str | None:
    """The format of a file that begins with these bytes, if it can be told.

    >>> [format_of_bytes(b) for b in (b"+1 3:1 7:0.5", b"1 |f a b:2", b"1.5,2,spam", b"?")]
    ['libsvm', 'vw', 'csv', None]
    >>> format_of_bytes(b"2020-01-01 10:30:00,5,a")
    'csv'
    """
    for name, one in FORMATS.items():
        if one.first_bytes and head.startswith(one.first_bytes):
            return name
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    for line in lines:
        if not line.strip() or line.startswith(b"#"):
            continue
        for name, one in FORMATS.items():
            if one.line and re.match(one.line, line):
                return name
    for name, one in FORMATS.items():
        if one.cut_line and any(re.match(one.cut_line, line) for line in lines):
            return name
    return None
