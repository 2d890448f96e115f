"""Ending: every way in which a command ends, as an exit code and at most a line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from rosenblatt.errors import RosenblattError


@contextmanager
def explained() -> Iterator[None]:
    """Whatever goes wrong: a message and exit code 2, never one that means an answer.

    Being told to end (SIGTERM) is like being interrupted: what was begun is cleared away.
    """
    before = _on_termination(_terminated)
    try:
        with interruptible():
            yield
    except typer.Exit:
        raise
    except BrokenPipeError as e:  # as `head` does when it has seen enough
        _forget_output()
        raise typer.Exit(128 + 13) from e
    except (RosenblattError, OSError, UnicodeError) as e:
        say(str(e))
        raise typer.Exit(2) from e
    except Exception as e:
        say(f"an error that was not foreseen: {type(e).__name__}: {e}")
        raise typer.Exit(2) from e
    finally:
        _on_termination(before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C: a line, and exit code 130 (or that of the signal that was caught)."""
    try:
        yield
    except KeyboardInterrupt as e:
        say(str(e) or "interrupted")
        raise typer.Exit(128 + getattr(e, "signal", signal.SIGINT)) from e


def say(message: str) -> None:
    """A line on standard error."""
    with suppress(Exception):  # standard error may be closed, or unable to write a character
        typer.echo(f"rosenblatt: {message}", err=True)


def show(text: str, *, err: bool = False) -> None:
    """The result, on standard output (or error, where output is taken)."""
    with explained():
        typer.echo(text, err=err)


def _on_termination(handler: Any) -> Any:
    """What happens at SIGTERM; and what did. Only the main thread may say so."""
    with suppress(ValueError):
        return signal.signal(signal.SIGTERM, handler)
    return signal.SIG_DFL


def _terminated(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _forget_output() -> None:
    """What is still to be written would fail again when Python ends, with a traceback."""
    with suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
