"""Formats: which one a file has, by its name or by its first bytes."""

from __future__ import annotations

import re
from pathlib import Path

from rosenblatt.data.blocks import opened
from rosenblatt.data.folders import files_of
from rosenblatt.errors import DataError

NAMES = {
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
KNOWN = ("libsvm", "vw", "csv", "parquet")
COMPRESSED = (".gz", ".bz2", ".zst")
PEEK = 1 << 16
ENTRY = re.compile(rb"\s(qid:)?[0-9]+:[^\s|]")


def format_of(path: Path) -> str:
    """By the name if it says so, else by the first bytes; of a folder, that of its files."""
    if path.is_dir():
        path = files_of(path)[0]
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED]
    if suffixes and suffixes[-1] in NAMES:
        return NAMES[suffixes[-1]]
    with opened(path) as source:
        head = bytearray(PEEK)
        size = source.fill(head, 0, PEEK)
    found = format_of_bytes(bytes(head[:size]))
    if found is None:
        raise DataError(
            f"cannot tell the format of {path} from its name or its first bytes. Say it: "
            f"format={' or '.join(map(repr, KNOWN))}; --format on the command line."
        )
    return found


def format_of_bytes(head: bytes) -> str | None:
    """The format of a file that begins like this, if it can be told.

    >>> [format_of_bytes(b) for b in (b"+1 3:1 7:0.5", b"1 |f a b:2", b"1.5,2,spam", b"?")]
    ['libsvm', 'vw', 'csv', None]
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    for line in lines:
        if b"|" in line.partition(b"#")[0]:
            return "vw"
        if ENTRY.search(line):
            return "libsvm"
        if b"," in line:
            return "csv"
    return None
