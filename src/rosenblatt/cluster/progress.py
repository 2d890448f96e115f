"""Progress: how a run goes, round by round, for somebody who looks: a terminal or a notebook."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from rosenblatt.cluster.rounds import Round, Rounds


def line(one: Round) -> str:
    """A round in one line.

    >>> line(Round(3, 120, 120, 60.0, 0.012, 0.5, None, 0.25, 4096))
    'round 3: 120 mistakes, progressive error 1.20%, loss 0.5, 0.25 s'
    """
    scored = "" if one.score is None else f", held-out accuracy {one.score:.2%}"
    return (
        f"round {one.number}: {one.mistakes:,} mistakes, progressive error {one.error:.2%}, "
        f"loss {one.loss:.4g}{scored}, {one.seconds:.2f} s"
    )


class Rounded:
    """A bar of rounds with progressive metrics, on standard error.

    Where nobody can see a bar move, a line a round; with `draw` False, nothing.
    """

    def __init__(self, draw: bool, total: int) -> None:
        self._draw, self._total = draw, total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Rounded:
        if self._draw:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            console = Console(stderr=True)
            if console.is_terminal or console.is_jupyter:
                self._bar = Progress(
                    TextColumn("rounds"), BarColumn(), MofNCompleteColumn(),
                    TextColumn("{task.description}"), console=console, refresh_per_second=5,
                    redirect_stdout=False,
                )  # fmt: skip
                self._bar.start()
                self._task = self._bar.add_task("reading", total=self._total)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def after(self, rounds: Rounds) -> None:
        """A round is over."""
        if not self._draw:
            return
        said = line(rounds.history[-1])
        if self._bar is not None:
            self._bar.update(
                self._task, completed=len(rounds.history), description=said.partition(": ")[2]
            )
        else:
            print(said, file=sys.stderr)
