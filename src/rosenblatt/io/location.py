"""Locations: files, folders, URLs and pipes, which files they have, and fingerprints of files."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from rosenblatt.errors import DataError, FileError, MissingPackageError, ParameterError
from rosenblatt.io.formats import BY_SUFFIX, FORMATS
from rosenblatt.io.limits import FILES

COMPRESSED = (".gz", ".bz2", ".zst")
STANDARD_INPUT = "-"
SAMPLES, SAMPLE_BYTES = 64, 1 << 14  # parts of a file that a fingerprint reads


@dataclass(frozen=True)
class Piece:
    """One file, or a part of it: the lines that begin within `length` bytes after `start`.

    Attributes
    ----------
    url : str
        Path or URL; "-" is standard input.
    format : str or None
        None if the name does not tell it.
    size : int
        Bytes on disk; 0 if that is not known.
    start, length : int, int or None
        None: up to the end.
    dataset : dataset of pyarrow or None
        What is read in place of a file; `url` is its name in messages.
    """

    url: str
    format: str | None = None
    size: int = 0
    start: int = 0
    length: int | None = None
    dataset: Any = None

    def __str__(self) -> str:
        name = "standard input" if self.url == STANDARD_INPUT else self.url
        return name if self.length is None else f"{name} from byte {self.start:,}"

    @property
    def is_pipe(self) -> bool:
        """Whether it can be read only once."""
        return is_pipe(self.url)

    def open(self) -> Any:
        """The file, open for reading bytes."""
        if self.url == STANDARD_INPUT:
            return _standard_input()
        if is_url(self.url):
            return _file_system(self.url)[0].open(self.url, "rb")
        return open(self.url, "rb", buffering=0)


def is_url(place: Any) -> bool:
    """Whether it has a scheme, such as https://."""
    return isinstance(place, str) and "://" in place


def is_pipe(place: Any) -> bool:
    """Whether it can be read only once: standard input, a FIFO, a socket or a terminal."""
    if str(place) == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(place).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


def locate(place: Any, format: str | None = None) -> list[Piece]:
    """The files of a path, folder or URL, sorted by name.

    In a folder, files whose name, or that of a folder they are in, begins with a dot or an
    underscore are left out, and so are those whose name does not tell their format, unless `format`
    is given. All files must have one format.

    Raises
    ------
    FileError
        If there is no such file or folder.
    DataError
        If a folder has no file that can be read, or files of several formats.
    """
    place = str(place)
    if is_pipe(place):
        return [Piece(place, format)]
    with readable(place):
        found = _found_at_url(place) if is_url(place) else _found_at_path(place)
    if isinstance(found, int):
        return [Piece(place, format or format_of_name(place), found)]
    kept = []
    for parts, (url, size) in sorted(found.items()):
        kind = format or format_of_name(url)
        if kind is not None and not any(part.startswith((".", "_")) for part in parts):
            kept.append(Piece(url, kind, size))
    kinds = sorted({str(piece.format) for piece in kept})
    if not kept:
        raise DataError(
            f"the folder {place} has no file whose name tells its format ({', '.join(BY_SUFFIX)}; "
            "also compressed). Give another folder, or the format: format='csv' in Python, "
            "--format on the command line."
        )
    if len(kinds) > 1:
        raise DataError(
            f"the folder {place} has files of {' and '.join(kinds)}. Give a folder with files of "
            "one format."
        )
    return kept


# the size of a file; or of each file of a folder, by its names from there, its place and size
Found = int | dict[tuple[str, ...], tuple[str, int]]


def _found_at_path(place: str) -> Found:
    here = os.stat(place)
    if not stat.S_ISDIR(here.st_mode):
        return here.st_size
    files = {}
    for count, path in enumerate(Path(place).rglob("*")):
        FILES.check(count, place)
        if path.is_file():
            files[path.relative_to(place).parts] = str(path), path.stat().st_size
    return files


def _found_at_url(place: str) -> Found:
    fs, path = _file_system(place)
    if not fs.isdir(path):
        return int(fs.size(path) or 0)
    files = fs.find(path, detail=True)
    FILES.check(len(files), place)
    root = path.rstrip("/") + "/"
    return {
        tuple(name.removeprefix(root).split("/")): (
            str(fs.unstrip_protocol(name)), int(info.get("size") or 0)
        )
        for name, info in files.items()
    }  # fmt: skip


def split(pieces: Sequence[Piece], size: int) -> list[Piece]:
    """Large plain text files of lines in pieces of about this size, for workers."""
    parts = []
    for piece in pieces:
        lines = piece.format is not None and FORMATS[piece.format].is_lines
        plain = lines and not piece.url.lower().endswith(COMPRESSED)
        n = -(-piece.size // size) if plain else 1
        edges = [piece.size * k // n for k in range(n + 1)] if n > 1 else []
        parts += [replace(piece, start=a, length=b - a) for a, b in pairwise(edges)] or [piece]
    return parts


def format_of_name(name: str) -> str | None:
    """The format that the name of a file tells.

    >>> format_of_name("rows.TSV.gz"), format_of_name("rows.txt")
    ('csv', None)
    """
    return BY_SUFFIX.get(suffix_of(name))


def suffix_of(name: str) -> str:
    """The suffix that tells the format, in lower case, without that of a compression."""
    path = PurePosixPath(name.partition("?")[0] if is_url(name) else Path(name).name)
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED]
    return suffixes[-1] if suffixes else ""


@contextmanager
def readable(place: Any, *others: type[Exception]) -> Iterator[None]:
    """Turn errors of reading, and `others`, into one that names the place."""
    caught: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, *others)
    try:
        yield
    except DataError:
        raise
    except caught as e:
        reason = getattr(e, "strerror", None) or str(e).rstrip(".")
        if reason == str(place):  # all that fsspec says of a URL that leads nowhere
            reason = "there is no such file"
        raise FileError(
            f"cannot read {place}: {reason}. Give a file that exists and is whole, plain or "
            "compressed with gzip, bzip2 or zstd."
        ) from e


def _standard_input() -> Any:
    if sys.stdin is None:
        raise ParameterError("there is no standard input to read. Give a file.")
    stream = sys.stdin.buffer
    try:
        return open(stream.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, AttributeError):  # replaced by bytes in memory
        return stream


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as e:
        raise MissingPackageError(
            f"{url} is a URL, which needs fsspec: pip install 'rosenblatt[files]'."
        ) from e
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except ImportError as e:
        raise MissingPackageError(f"{url} cannot be read: {e}.") from e
    except ValueError as e:
        raise DataError(f"{url} has a scheme that fsspec does not know: {e}.") from e
    return fs, str(path)


# -------------------------------------------------------------------------------- fingerprints


@dataclass(frozen=True)
class Fingerprint:
    """Size, time of the last change, and the SHA-256 of samples of files.

    A change that keeps the size and all samples is seen in the time only.
    """

    size: int
    changed_ns: int
    digest: str

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Fingerprint:
        """Read 64 samples, at least two per file."""
        size = changed = 0
        digest = hashlib.sha256()
        for piece in pieces:
            with readable(piece):
                found = os.stat(piece.url)
                if len(pieces) > 1:
                    digest.update(f"{Path(piece.url).name} {found.st_size}\n".encode())
                count = max(2, SAMPLES // len(pieces))
                for sample in _samples(piece.url, found.st_size, count):
                    digest.update(sample)
            size, changed = size + found.st_size, max(changed, found.st_mtime_ns)
        return cls(size, changed, digest.hexdigest())

    def difference(self, before: Fingerprint) -> str | None:
        """How the contents differ from those before; None if they do not, as far as is seen."""
        if self.size != before.size:
            return f"it had {before.size:,} bytes, now {self.size:,}"
        return "its contents have changed" if self.digest != before.digest else None


def _samples(path: str, size: int, count: int) -> Iterator[bytes]:
    last = max(0, size - SAMPLE_BYTES)
    with open(path, "rb") as file:
        for k in range(count):
            file.seek(last * k // (count - 1))
            yield file.read(SAMPLE_BYTES)
