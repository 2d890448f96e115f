"""Listed: the files of a folder or of a URL, cut into pieces that one worker reads each.

A piece is a file, or of a large plain text file (LIBSVM, VW) a stretch of whole lines. How files
are cut depends on their sizes alone.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rosenblatt.data.formats import COMPRESSED, NAMES
from rosenblatt.errors import DataError, MissingPackageError
from rosenblatt.scale.waiting import engine

BLOCK_BYTES = 1 << 27  # of a plain text file in one piece
LINES = ("libsvm", "vw")  # formats where every line stands for itself


@dataclass(frozen=True)
class Piece:
    """Where some rows are: `length` bytes from `start` on, up to the ends of lines; None: all."""

    url: str
    format: str | None
    start: int = 0
    length: int | None = None

    def __str__(self) -> str:
        return self.url if self.length is None else f"{self.url} from byte {self.start:,}"

    @contextmanager
    def here(self) -> Iterator[Path]:
        """As a file on this machine: the file itself if it is one, else a copy for a while."""
        fs, path = _opened(self.url)
        if self.length is None and "file" in _protocols(fs):
            yield Path(path)
            return
        with tempfile.TemporaryDirectory(prefix="rosenblatt-") as folder:
            copy = Path(folder) / PurePosixPath(path).name
            if self.length is None:
                with fs.open(path, "rb") as source, copy.open("wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
            else:
                copy.write_bytes(fs.read_block(path, self.start, self.length, b"\n"))
            yield copy


def listed(place: str, format: str | None = None, block_bytes: int = BLOCK_BYTES) -> list[Piece]:
    """The pieces of a file, of a folder and what is in it, or of a URL, by name.

    Files whose name, or that of a folder they are in, begins with a dot or an underscore are
    passed over. In a folder, names must say the format (.svm, .vw, .csv, .parquet, ...; also
    compressed) unless it is given, and it must be one.
    """
    fs, root = _opened(place)
    found = {path: info for path, info in fs.find(root, detail=True).items() if info.get("size")}
    if not found and not fs.exists(root):
        raise DataError(f"there is no {place}. Give a folder, a file or a URL that is there.")
    single = list(found) == [root]
    names = sorted(p for p in found if single or not _hidden(p, root))
    kinds = {path: format or _kind(path) for path in names}
    if not single and format is None:
        kinds = {path: kind for path, kind in kinds.items() if kind is not None}
    held = sorted({kind for kind in kinds.values() if kind is not None})
    if not kinds:
        raise DataError(
            f"{place} holds no file with rows whose name says what it is (.svm, .vw, .csv, "
            ".parquet, also compressed). Give another folder, or --format."
        )
    if len(held) > 1:
        raise DataError(f"{place} holds files of {' and '.join(held)}. Give one kind, or --format.")
    pieces: list[Piece] = []
    for path, kind in kinds.items():
        url, size = _full(fs, path), int(found[path]["size"])
        plain = kind in LINES and not path.lower().endswith(COMPRESSED)
        count = -(-size // block_bytes) if plain else 1
        if count == 1:
            pieces.append(Piece(url, kind))
        else:
            edges = [size * k // count for k in range(count + 1)]
            pieces += [Piece(url, kind, a, b - a) for a, b in itertools.pairwise(edges)]
    return pieces


def _opened(url: str) -> tuple[Any, str]:
    engine()
    import fsspec  # which dask brings

    try:
        fs, path = fsspec.core.url_to_fs(url)
    except ImportError as e:
        raise MissingPackageError(f"{url} cannot be read: {e}.") from e
    except ValueError as e:
        raise DataError(f"{url} is no place that fsspec knows: {e}.") from e
    return fs, path


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _full(fs: Any, path: str) -> str:
    return path if "file" in _protocols(fs) else str(fs.unstrip_protocol(path))


def _hidden(path: str, root: str) -> bool:
    inside = path.removeprefix(root).strip("/").split("/")
    return any(part.startswith((".", "_")) for part in inside)


def _kind(path: str) -> str | None:
    suffixes = [s.lower() for s in PurePosixPath(path).suffixes if s.lower() not in COMPRESSED]
    return NAMES.get(suffixes[-1]) if suffixes else None
