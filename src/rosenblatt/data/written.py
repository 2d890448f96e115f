"""Written: files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rosenblatt.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place at the end: readers see the old or the new one.

    If anything goes wrong before, the old one stays and nothing else is left. A link is followed;
    what is no file (a pipe, a terminal) is written to as it is.
    """
    path = path.resolve()
    if path.is_dir():
        raise DataError(f"{path} is a folder. Give the name of a file in it.")
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
        return
    # named before it is made: whatever ends this, even a signal at once, it is cleared away
    name = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        try:
            file = open(name, "xb")  # noqa: SIM115
        except OSError as e:
            raise DataError(
                f"cannot write {path}: {e}. Give a place that can be written to."
            ) from e
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    with suppress(OSError):  # not every system can open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
