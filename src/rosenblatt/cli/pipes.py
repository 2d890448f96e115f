"""Pipes: `-` in place of a file, and other files that can be read or written only once."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rosenblatt.cli.exit_codes import say
from rosenblatt.errors import ParameterError
from rosenblatt.io.location import STANDARD_INPUT, is_pipe, is_url

DASH = Path(STANDARD_INPUT)


def check_input(path: str) -> None:
    """Say on a terminal that rows are read from it."""
    if path == STANDARD_INPUT:
        _check_standard_input()


@contextmanager
def whole_file(path: str) -> Iterator[Path]:
    """The file itself, or a temporary copy of what comes through a pipe."""
    if is_url(path):
        raise ParameterError(
            f"{path} is a URL; models and certificates are read from files and pipes. Download it, "
            "or give -, as in `curl -s URL | rosenblatt explain -`."
        )
    if not is_pipe(path):
        yield Path(path)
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


def check_dashes(**given: Path | str) -> None:
    """Standard input is one file only."""
    dashes = [name for name, path in given.items() if str(path) == STANDARD_INPUT]
    if len(dashes) > 1:
        raise ParameterError(
            f"standard input (-) cannot be {' and '.join(dashes)} at once. Give a file for one."
        )


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    with ExitStack() as stack:
        if path != STANDARD_INPUT:
            yield stack.enter_context(open(path, "rb", buffering=0))
            return
        _check_standard_input()
        yield sys.stdin.buffer


def _check_standard_input() -> None:
    if sys.stdin is None:
        raise ParameterError("there is no standard input to read. Give a file.")
    if sys.stdin.isatty():
        say("reading from the terminal; Ctrl-D ends the input")
