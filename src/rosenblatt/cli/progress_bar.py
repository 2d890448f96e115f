"""Progress bars on standard error, only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rosenblatt.cli.exit_codes import safe, say
from rosenblatt.io.progress import Progress, Watcher


@contextmanager
def progress_bar(quiet: bool) -> Iterator[ProgressBar]:
    """A watcher that shows the progress of reading, if standard error is a terminal."""
    with ProgressBar((lambda _: None) if quiet else say, not quiet and sys.stderr.isatty()) as bar:
        yield bar


class ProgressBar(Watcher):
    """A watcher that draws a bar with the rate and the time left, and prints messages.

    Parameters
    ----------
    say : function
        Prints one message.
    draw : bool
        Whether to draw the bar.
    """

    def __init__(self, say: Callable[[str], None], draw: bool) -> None:
        self._print, self._draw = say, draw
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, epoch: int) -> None:
        """An epoch begins."""
        if not self._draw:
            return
        named = f"epoch {epoch}"
        if self._bar is None:
            self._bar = _rich_bar()
            self._bar.start()
            self._task = self._bar.add_task(named, total=None, rate="")
        else:
            self._bar.reset(self._task, description=named)

    def progress(self, now: Progress) -> None:
        """Another block was read."""
        if self._task is not None:
            rate = f"{now.rows:,} rows, {now.rows_per_second:,.0f} rows/s"
            total = now.bytes_total or None  # unknown for a pipe
            self._bar.update(self._task, completed=now.bytes_read, total=total, rate=rate)

    def say(self, message: str) -> None:
        """Print a message above the bar."""
        if self._bar is not None:
            self._bar.console.print(safe(f"rosenblatt: {message}"), markup=False, highlight=False)
        else:
            self._print(message)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """A spinner on a terminal, for work without known progress."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    # standard output is left alone: it may go to a file
    with Live(
        Spinner("dots", f"{what} ..."), console=Console(stderr=True), transient=True,
        refresh_per_second=5, redirect_stdout=False, redirect_stderr=False,
    ):  # fmt: skip
        yield


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        refresh_per_second=5,
        redirect_stdout=False,  # it may go to a file
    )
