"""Exit codes: how a command ends, and the output of results and messages."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from rosenblatt.errors import RosenblattError
from rosenblatt.text import printable


@contextmanager
def handle_errors() -> Iterator[None]:
    """Turn an error into a message and exit code 2. SIGTERM removes unfinished files, as Ctrl-C."""
    before = _on_termination(_terminated)
    try:
        with handle_interrupt():
            yield
    except typer.Exit:
        raise
    except BrokenPipeError as e:  # as with `| head`
        _drop_output()
        raise typer.Exit(128 + 13) from e
    except (RosenblattError, OSError, UnicodeError) as e:
        say(str(e))
        raise typer.Exit(2) from e
    except Exception as e:
        say(f"unexpected error: {type(e).__name__}: {e}")
        raise typer.Exit(2) from e
    finally:
        _on_termination(before)


@contextmanager
def handle_interrupt() -> Iterator[None]:
    """Turn Ctrl-C into a message and exit code 130, or that of the signal that was caught."""
    try:
        yield
    except KeyboardInterrupt as e:
        say(str(e) or "interrupted")
        raise typer.Exit(128 + getattr(e, "signal", signal.SIGINT)) from e


def safe(text: str) -> str:
    """Text for a terminal: escape sequences in names and labels are shown, not executed.

    >>> safe("a\x1b[2Jb") == "a" + chr(92) + "x1b[2Jb"
    True
    """
    lines = (map(printable, line.split("\t")) for line in text.split("\n"))
    return "\n".join("\t".join(parts) for parts in lines)


def say(message: str) -> None:
    """Write a message to standard error."""
    with suppress(Exception):  # standard error may be closed, or unable to write a character
        typer.echo(safe(f"rosenblatt: {message}"), err=True)


def show(text: str, *, err: bool = False) -> None:
    """Write the result to standard output, or to standard error if a file goes to the output."""
    with handle_errors():
        typer.echo(safe(text), err=err)


def _on_termination(handler: Any) -> Any:
    """Set the handler of SIGTERM and return the previous one; only in the main thread."""
    with suppress(ValueError):
        return signal.signal(signal.SIGTERM, handler)
    return signal.SIG_DFL


def _terminated(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _drop_output() -> None:
    """Python would fail again at exit when it flushes standard output."""
    with suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
