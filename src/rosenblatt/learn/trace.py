"""Trace: what one training run did, and why it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any, NamedTuple

import numpy.typing as npt

Array = npt.NDArray[Any]


class StopReason(StrEnum):
    """Why training stopped, most settled first. What was not established is not claimed."""

    SEPARATED = "separated"
    CYCLE = "cycle"
    NO_IMPROVEMENT = "no_improvement"
    MAX_ITER = "max_iter"
    MAX_UPDATES = "max_updates"
    CALLBACK = "callback"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    StopReason.SEPARATED: "a whole pass moved nothing",
    StopReason.CYCLE: "the weights came back to earlier ones: this run would never end",
    StopReason.NO_IMPROVEMENT: "no gain of tol in n_iter_no_change passes: not a separation",
    StopReason.MAX_ITER: "max_iter passes were made: nothing is known about separability",
    StopReason.MAX_UPDATES: "max_updates were made: nothing is known about separability",
    StopReason.CALLBACK: "a callback asked to stop",
}


@dataclass(frozen=True, eq=False)
class Cycle:
    """The run came back to weights it had before, bit for bit, in a fixed order.

    Attributes
    ----------
    passes, updates : int
        Length of the cycle.
    exact : bool
        True: the updates in it sum to exactly zero, which proves that no hyperplane
        separates the rows. False: rounding alone closed the cycle, nothing is proven.
    rows, counts : arrays
        Which rows moved the weights in one round of it, and how often (times weight).
    """

    passes: int
    updates: int
    exact: bool
    rows: Array
    counts: Array

    def __str__(self) -> str:
        meaning = (
            "its updates sum to exactly zero, so no hyperplane separates these rows"
            if self.exact
            else "only rounding closed it, so nothing is proven about the data"
        )
        return f"cycle of {self.passes} pass(es) and {self.updates} update(s): {meaning}"


class Recorded(NamedTuple):
    """One update: in which pass, at which row, how much of x (eta y step weight, or for a
    batch step its learning rate), and the weights after it."""

    pass_number: int
    row: int
    step: float
    w: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Record:
    """The first updates of a run, for people who want to look. `row` is -1 for a batch step."""

    pass_number: Array
    row: Array
    step: Array
    visit: Array
    w: Array
    b: Array
    complete: bool

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, k: int) -> Recorded:
        return Recorded(
            int(self.pass_number[k]), int(self.row[k]), float(self.step[k]), self.w[k], self.b[k]
        )

    def __iter__(self) -> Iterator[Recorded]:
        return (self[k] for k in range(len(self)))


@dataclass(frozen=True, eq=False)
class Trace:
    """What one training run did, pass by pass, and why it stopped.

    Attributes
    ----------
    stop_reason : StopReason
    mistakes, updates : int arrays, one entry a pass
        They differ where a rule also moves on right answers (`Margin`) or where one
        batch step answers many mistakes.
    loss : float array
        Mean objective of each pass, as the stopping test `tol` sees it.
    norms : float array
        ||w|| after each pass.
    seconds, compile_seconds : float
        Training, and making the machine code on first use (0 once cached).
    cycle : Cycle or None
    record : Record or None
        Every update, if asked for with ``record="updates"``.
    scores : float array or None
        Accuracy on held-out rows after each pass, with early stopping.
    kept_pass : int
        The pass whose weights were given back (counted from 1).
    """

    stop_reason: StopReason
    mistakes: Array
    updates: Array
    loss: Array
    norms: Array
    seconds: float
    compile_seconds: float
    n_rows: int
    cycle: Cycle | None = None
    record: Record | None = None
    scores: Array | None = None
    kept_pass: int = 0

    @property
    def n_passes(self) -> int:
        return len(self.mistakes)

    @property
    def n_mistakes(self) -> int:
        return int(self.mistakes.sum())

    @property
    def n_updates(self) -> int:
        return int(self.updates.sum())

    @property
    def title(self) -> str:
        return (
            f"{self.stop_reason}: {self.stop_reason.sentence}. {self.n_passes} passes over "
            f"{self.n_rows} rows, {self.n_mistakes} mistakes, {self.n_updates} updates, "
            f"{self.seconds:.3g} s"
        )

    def rows(self, most: int = 12) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table; the middle is left out of long runs."""
        header = ["pass", "mistakes", "updates", "mean loss", "||w||"]
        if self.scores is not None:
            header.append("held out")
        n = self.n_passes
        half = most // 2
        shown = list(range(n)) if n <= most else [*range(half), -1, *range(n - half, n)]
        lines = []
        for p in shown:
            if p < 0:
                lines.append(["..."] * len(header))
                continue
            line = [
                str(p + 1),
                str(self.mistakes[p]),
                str(self.updates[p]),
                f"{self.loss[p]:.4g}",
                f"{self.norms[p]:.4g}",
            ]
            if self.scores is not None:
                line.append(f"{self.scores[p]:.4f}")
            lines.append(line)
        return header, lines

    def __str__(self) -> str:
        text = f"{self.title}\n{text_table(*self.rows())}"
        return f"{text}\n{self.cycle}" if self.cycle else text

    def _repr_html_(self) -> str:
        end = f"<p>{escape(str(self.cycle))}</p>" if self.cycle else ""
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}{end}"


@dataclass(frozen=True, eq=False)
class OneVsRestTrace:
    """One trace per class, each class against the rest."""

    classes: Array
    traces: tuple[Trace, ...]

    def __getitem__(self, k: int) -> Trace:
        return self.traces[k]

    def __len__(self) -> int:
        return len(self.traces)

    @property
    def stop_reason(self) -> StopReason:
        """ "separated" only if every class was; otherwise the reason of the least settled one."""
        settled = list(StopReason)
        return max((t.stop_reason for t in self.traces), key=settled.index)

    @property
    def n_passes(self) -> int:
        return max(t.n_passes for t in self.traces)

    @property
    def n_mistakes(self) -> int:
        return sum(t.n_mistakes for t in self.traces)

    @property
    def n_updates(self) -> int:
        return sum(t.n_updates for t in self.traces)

    @property
    def seconds(self) -> float:
        return sum(t.seconds for t in self.traces)

    @property
    def compile_seconds(self) -> float:
        return sum(t.compile_seconds for t in self.traces)

    @property
    def title(self) -> str:
        return (
            f"{len(self)} classes, each against the rest: {self.n_mistakes} mistakes, "
            f"{self.n_updates} updates, {self.seconds:.3g} s"
        )

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table, one class a line."""
        header = ["class", "passes", "mistakes", "updates", "last pass", "stopped"]
        lines = [
            [
                str(c),
                str(t.n_passes),
                str(t.n_mistakes),
                str(t.n_updates),
                str(t.mistakes[-1]),
                str(t.stop_reason),
            ]
            for c, t in zip(self.classes, self.traces, strict=True)
        ]
        return header, lines

    def __str__(self) -> str:
        return f"{self.title}\n{text_table(*self.rows())}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}"


def text_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table for the terminal, columns set flush right.

    >>> print(text_table(["pass", "mistakes"], [["1", "12"]]))
    pass  mistakes
       1        12
    """
    widths = [max(len(line[k]) for line in [header, *lines]) for k in range(len(header))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in [header, *lines]
    )


def html_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """The same table for a notebook."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
