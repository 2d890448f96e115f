"""Written: files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rosenblatt.errors import DataError, ParameterError


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
            file = open(name, "xb")  # noqa: SIM115  # closed below, once it is there
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


def check_place(out: Path, taken: dict[str, Path]) -> None:
    """Before hours of work: the result has a place, and does not take that of its sources."""
    if out.is_dir():
        raise DataError(f"{out} is a folder. Give the name of a file in it.")
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {out.parent} for {out.name}. Make it first.")
    for what, path in taken.items():
        if out.exists() and path.exists() and out.samefile(path):
            raise ParameterError(f"{out} is {what}. Write elsewhere: it would be lost.")
