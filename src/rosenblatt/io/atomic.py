"""Atomic replacement of files: a file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rosenblatt.errors import DataError, ParameterError


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place at the end: readers see the old or the new one.

    If anything fails before, the old file stays and nothing else is left. The mode of the old file
    is kept. A link is followed; a pipe or a terminal is written to directly.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "a"
    >>> with replace_file(path) as file:
    ...     size = file.write(b"text")
    >>> path.read_bytes()
    b'text'
    """
    mode = _mode(path)
    path = Path(os.path.realpath(path))
    if mode is not None and stat.S_ISDIR(mode):
        raise DataError(f"{path} is a folder. Give the name of a file in it.")
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    # named before it is made: whatever ends this, even a signal at once, it is removed
    name = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        try:
            # a private file is private from its first byte
            bits = 0o666 if mode is None else stat.S_IMODE(mode) & 0o600
            number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, bits)
            file = os.fdopen(number, "wb")
        except OSError as e:
            raise DataError(
                f"cannot write {path}: {e}. Give a place that can be written to."
            ) from e
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, stat.S_IMODE(mode))
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


def check_output(out: Path, inputs: Mapping[str, Path]) -> None:
    """Check before the work that the output can be written and is none of the inputs."""
    mode = _mode(out)
    if mode is not None and stat.S_ISDIR(mode):
        raise DataError(f"{out} is a folder. Give the name of a file in it.")
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {out.parent} for {out.name}. Make it first.")
    for what, path in inputs.items():
        if mode is not None and path.exists() and out.samefile(path):
            raise ParameterError(f"{out} is {what}. Write elsewhere: it would be lost.")


_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows


def _mode(path: Path) -> int | None:
    """The mode of what is there, or None; an error if its links go in a circle."""
    try:
        return os.stat(path).st_mode
    except OSError as e:
        if e.errno == errno.ELOOP:
            raise DataError(
                f"{path} is a link that leads back to itself. Remove it or give another name."
            ) from e
        return None
