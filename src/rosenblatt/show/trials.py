"""Progress bar of a comparison."""

from __future__ import annotations

from typing import Any


class TrialsBar:
    """A bar on standard error over all runs of a comparison; silent unless `draw`."""

    def __init__(self, draw: bool) -> None:
        self._bar = _rich_bar() if draw else None
        self._task: Any = None

    def __enter__(self) -> TrialsBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, made: int, total: int, name: str) -> None:
        if self._bar is None:
            return
        if self._task is None:
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
