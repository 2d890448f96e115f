"""Identity: whether a file is the one that was read before, without reading all of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rosenblatt.data.folders import files_of
from rosenblatt.errors import DataError, ParameterError

PLACES, BYTES = 64, 1 << 14  # how many pieces are looked at (two a file at least); their length


@dataclass(frozen=True)
class Identity:
    """Size, time of the last change, and the SHA-256 of pieces all over the file.

    A change that leaves the size and all those pieces as they were shows in the time only.
    """

    size: int
    changed_ns: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> Identity:
        """Look at the file; of a folder, at every file that is read."""
        size = changed = 0
        hashed = hashlib.sha256()
        try:
            files = files_of(path)
            for file in files:
                found = os.stat(file)
                if not stat.S_ISREG(found.st_mode):
                    raise ParameterError(
                        f"{file} is not a file that can be read again from some place, which a "
                        "checkpoint needs. Write the rows to a file first."
                    )
                size, changed = size + found.st_size, max(changed, found.st_mtime_ns)
                if len(files) > 1:
                    hashed.update(f"{file.relative_to(path)} {found.st_size}\n".encode())
                for piece in _pieces(file, found.st_size, max(2, PLACES // len(files))):
                    hashed.update(piece)
        except OSError as e:
            why = e.strerror or e
            raise DataError(f"cannot read {path}: {why}. Give a file that is there.") from e
        return cls(size, changed, hashed.hexdigest())

    def differs(self, before: Identity) -> str | None:
        """How the contents are seen to differ from those before; None if they are not."""
        if self.size != before.size:
            return f"it had {before.size:,} bytes, now {self.size:,}"
        return "its contents have changed" if self.digest != before.digest else None


def _pieces(path: Path, size: int, count: int) -> Iterator[bytes]:
    """So many, from the first bytes to the last."""
    last = max(0, size - BYTES)
    with open(path, "rb") as file:
        for k in range(count):
            file.seek(last * k // (count - 1))
            yield file.read(BYTES)
