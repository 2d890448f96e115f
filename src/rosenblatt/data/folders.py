"""Folders: the files of a data set that lies in more than one, always in the same order."""

from __future__ import annotations

from pathlib import Path

from rosenblatt.data.piped import pipe_of
from rosenblatt.errors import DataError

TABLES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
COMPRESSED = (".gz", ".bz2", ".zst")
MOST_FILES = 1_000_000


def table_format(path: Path) -> str | None:
    """csv or parquet, if the name says so."""
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED]
    return TABLES.get(suffixes[-1]) if suffixes else None


def files_of(path: Path) -> list[Path]:
    """The file itself; or those of a folder and what is in it, by name: CSV or Parquet, not both.

    Files whose name, or that of a folder they are in, begins with a dot or an underscore are
    passed over, as pyarrow's datasets do, and so are files of other kinds.
    """
    if not path.is_dir():
        return [path]
    found: dict[str, list[Path]] = {}
    for count, file in enumerate(path.rglob("*")):
        if count > MOST_FILES:
            raise DataError(f"{path} has more than {MOST_FILES:,} files. Give a smaller folder.")
        inside = file.relative_to(path)
        kind = table_format(file)
        hidden = any(part.startswith((".", "_")) for part in inside.parts)
        if kind is not None and not hidden and file.is_file():
            found.setdefault(kind, []).append(file)
    if len(found) != 1:
        held = "CSV and Parquet files" if found else "no CSV or Parquet file"
        raise DataError(
            f"the folder {path} holds {held}. Give one with files of one kind; one of LIBSVM or VW "
            "files is read by fit --workers N."
        )
    files = next(iter(found.values()))
    return sorted(files, key=lambda file: file.relative_to(path).parts)


def size_of(path: Path) -> int:
    """Bytes on disk of all files; of a pipe, those that came so far."""
    pipe = pipe_of(path)
    if pipe is not None:
        return pipe.bytes_read
    return sum(file.stat().st_size for file in files_of(path))
