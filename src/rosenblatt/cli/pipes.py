"""Pipes: `-` in place of a file, and other files that can be read or written only once."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rosenblatt.cli.ending import say
from rosenblatt.errors import ParameterError

DASH = Path("-")


def is_pipe(path: Path) -> bool:
    """Standard input, or a file such as the shell makes of <(command)."""
    if path == DASH:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


@contextmanager
def rows_from(path: Path) -> Iterator[None]:
    """Within `with`, a pipe can be read like a file (once, and its start again)."""
    if not is_pipe(path):
        yield
        return
    from rosenblatt.data.piped import piped

    with _opened(path) as stream, piped(path, stream):
        yield


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file that has to be there whole: what comes through a pipe is put into one meanwhile."""
    if not is_pipe(path):
        yield path
        return
    with TemporaryDirectory(prefix="rosenblatt-") as folder, _opened(path) as stream:
        held = Path(folder) / "standard input"
        with held.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield held


@contextmanager
def model_to(out: Path) -> Iterator[Path]:
    """Where to write a model that is to go to `out`, which may be standard output."""
    if out != DASH:
        yield out
        return
    if sys.stdout.isatty():
        raise ParameterError("a model is not text for a terminal. Give --out a file, or a pipe.")
    with TemporaryDirectory(prefix="rosenblatt-") as folder:
        held = Path(folder) / "model"
        yield held
        with held.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def check_dashes(**given: Path | None) -> None:
    """Standard input is one file only."""
    dashes = [name for name, path in given.items() if path == DASH]
    if len(dashes) > 1:
        raise ParameterError(
            f"standard input (-) cannot be {' and '.join(dashes)} at once. Give a file for one."
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with ExitStack() as stack:
        if path != DASH:
            yield stack.enter_context(open(path, "rb", buffering=0))
            return
        if sys.stdin is None:
            raise ParameterError("there is no standard input to read. Give a file.")
        if sys.stdin.isatty():
            say("reading from the terminal; Ctrl-D ends the input")
        yield sys.stdin.buffer
