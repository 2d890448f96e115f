"""Trials: a bar while rules are compared."""

from __future__ import annotations

import sys
from typing import Any

from rosenblatt.show.files import Bar


class TrialsBar:
    """A bar on standard error over all runs of a comparison; silent unless `draw`."""

    def __init__(self, draw: bool) -> None:
        self._bar = _Drawn() if draw else None

    def __enter__(self) -> TrialsBar:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__()

    def __call__(self, made: int, total: int, name: str) -> None:
        if self._bar is not None:
            self._bar.show(made, total, name)


class _Drawn(Bar):
    """The bar of files, counting runs in place of bytes."""

    def __init__(self) -> None:
        super().__init__(lambda line: print(f"rosenblatt: {line}", file=sys.stderr), draw=True)

    def show(self, made: int, total: int, name: str) -> None:
        if self._bar is None:
            self._bar = _rich_bar()
            self._bar.start()
            self._task = self._bar.add_task(name, total=total)
        self._bar.update(self._task, completed=made, description=name)


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        refresh_per_second=5,
    )
