"""Trace: what one training run did, and why it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # a trace of a file needs no scipy.sparse
    from rosenblatt.data.problem import Problem
    from rosenblatt.learn.settings import TrainingSettings

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
    StopReason.MAX_ITER: "the passes asked for were made: nothing is known about separability",
    StopReason.MAX_UPDATES: "the updates allowed were made: nothing is known about separability",
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
        True: the updates in it sum to exactly zero, which proves that no hyperplane of the
        kind that was trained (`kind`) separates the rows. False: rounding alone closed the
        cycle, nothing is proven.
    rows, counts : arrays
        Which rows moved the weights in one round of it, and how often (times weight).
    kind : str
        "no hyperplane", "no hyperplane through the origin", or the same for one per class.
    """

    passes: int
    updates: int
    exact: bool
    rows: Array
    counts: Array
    kind: str = "no hyperplane"

    def __str__(self) -> str:
        meaning = (
            f"its updates sum to exactly zero, so {self.kind} separates these rows"
            if self.exact
            else "only rounding closed it, so nothing is proven about the data"
        )
        passes, updates = plural(self.passes, "pass", "passes"), plural(self.updates, "update")
        return f"cycle of {passes} and {updates}: {meaning}"


@dataclass(frozen=True)
class MarginInterval:
    """Where the largest margin lies, as a run of `MinOver` has proven it.

    Attributes
    ----------
    lower : float
        The margin of the last weights: below 0 while they do not separate the rows.
    upper : float
        No hyperplane has more. Both bounds allow for rounding.
    augmented : bool
        Whether the offset is counted in the norm, as in ``max_margin(..., augmented=True)``;
        False for hyperplanes through the origin.
    """

    lower: float
    upper: float
    augmented: bool

    def __str__(self) -> str:
        inside = " (offset counted in the norm)" if self.augmented else ""
        if self.lower <= 0:
            return f"largest margin at most {self.upper:.6g}{inside}, if there is one"
        return (
            f"largest margin between {self.lower:.6g} and {self.upper:.6g}{inside}: the last "
            f"weights have at least {100 * self.lower / self.upper:.2f} % of it"
        )


class Recorded(NamedTuple):
    """One update: in which pass, at which row, the weights after it, and the multiple of x
    that was added (learning rate times y times weight; the learning rate of a batch step)."""

    pass_number: int
    row: int
    amount: float
    w: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Setting:
    """What a recorded run worked on and how, so that it can be looked at later.

    Attributes
    ----------
    problem : Problem or None
        The rows, not copied. They are left out when the record is pickled or copied: a stored
        model carries no data.
    start : (w, b)
    visits : float
        Made before this run, in earlier calls of `partial_fit`.
    settings : TrainingSettings
    schedule : str
        "order", "shuffle" or "sample".
    held_out : bool array or None
        Rows that were never visited.
    """

    problem: Problem | None
    start: tuple[Array, Array]
    visits: float
    settings: TrainingSettings
    schedule: str
    held_out: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "problem": None}


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """The first updates of a run, for people who want to look. `row` is -1 for a batch step.

    `n_updates` is how many there were; `complete` says whether all of them are here; `setting`
    is what the run worked on.
    """

    pass_number: Array
    row: Array
    amount: Array
    visit: Array
    w: Array
    b: Array
    n_updates: int
    setting: Setting | None = None

    @property
    def complete(self) -> bool:
        return len(self) == self.n_updates

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, k: int) -> Recorded:
        return Recorded(
            int(self.pass_number[k]), int(self.row[k]), float(self.amount[k]), self.w[k], self.b[k]
        )

    def __iter__(self) -> Iterator[Recorded]:
        return (self[k] for k in range(len(self)))

    def rows(self, most: int = 12) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table, the first of a long record."""
        header = ["update", "pass", "row", "amount", "w after", "b after"]
        lines = []
        for k, u in enumerate(self):
            if k == most:
                lines.append(["..."] * len(header))
                break
            w, b = (" ".join(f"{v:.4g}" for v in np.ravel(a)[:6]) for a in (u.w, u.b))
            w += " ..." if u.w.size > 6 else ""
            lines.append([str(k + 1), str(u.pass_number), str(u.row), f"{u.amount:.4g}", w, b])
        return header, lines

    @property
    def title(self) -> str:
        kept = "all" if self.complete else f"the first {len(self)}"
        return f"{kept} of {plural(self.n_updates, 'update')}"

    def __repr__(self) -> str:
        return f"{self.title}\n{text_table(*self.rows())}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}"


@dataclass(frozen=True, eq=False, repr=False)
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
    seconds : float
    cycle : Cycle or None
    record : Record or None
        The updates one by one, if asked for with ``record="updates"`` (the first 10,000).
    scores : float array or None
        Accuracy on held-out rows after each pass, with early stopping.
    n_rows : int
        Rows that were visited; held-out ones are not.
    keep : str
        Which weights were given back.
    kept_pass : int or None
        The pass whose weights these are (counted from 1; 0 is the start), where there is one.
    margin : MarginInterval or None
        Where the largest margin lies, of a run with ``rule="minover"``.
    """

    stop_reason: StopReason
    mistakes: Array
    updates: Array
    loss: Array
    norms: Array
    seconds: float
    n_rows: int
    cycle: Cycle | None = None
    record: Record | None = None
    scores: Array | None = None
    keep: str = "last"
    kept_pass: int | None = None
    margin: MarginInterval | None = None

    def __post_init__(self) -> None:
        for values in (self.mistakes, self.updates, self.loss, self.norms, self.scores):
            if values is not None:
                values.flags.writeable = False

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
            f"{self.stop_reason}: {self.stop_reason.sentence}. "
            f"{plural(self.n_passes, 'pass', 'passes')} over {plural(self.n_rows, 'row')}, "
            f"{plural(self.n_mistakes, 'mistake')}, {plural(self.n_updates, 'update')}, "
            f"{self.seconds:.3g} s"
        )

    @property
    def given_back(self) -> str:
        """Which weights the caller got, in words; nothing if they are simply the last."""
        if self.scores is not None:
            return f"Given back: the weights of pass {self.kept_pass}, best on the held-out rows."
        if self.keep == "pocket":
            when = f"of pass {self.kept_pass}" if self.kept_pass else "of the start"
            return f"Given back: the weights {when}, which make the fewest training errors."
        words = {"average": "the mean of the weights after each visit", "vote": "all hyperplanes"}
        return f"Given back: {words[self.keep]}." if self.keep in words else ""

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

    @property
    def _end(self) -> list[str]:
        lines = (self.given_back, str(self.margin or ""), str(self.cycle or ""))
        return [line for line in lines if line]

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self.rows()), *self._end])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        end = "".join(f"<p>{escape(line)}</p>" for line in self._end)
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}{end}"


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestTrace:
    """One trace per class, each class against the rest.

    ``trace_[k]`` is the one of ``classes[k]``, ``trace_.of("setosa")`` the one of a label.
    """

    classes: Array
    traces: tuple[Trace, ...]

    def __getitem__(self, k: int) -> Trace:
        return self.traces[k]

    def __len__(self) -> int:
        return len(self.traces)

    def of(self, label: Any) -> Trace:
        """The trace of one class."""
        position: int = self.classes.tolist().index(label)
        return self.traces[position]

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
    def title(self) -> str:
        return (
            f"{len(self)} classes, each against the rest: {plural(self.n_mistakes, 'mistake')}, "
            f"{plural(self.n_updates, 'update')}, {self.seconds:.3g} s"
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

    @property
    def _end(self) -> list[str]:
        pairs = zip(self.classes, self.traces, strict=True)
        return [f"class {c}: {proof}" for c, t in pairs for proof in (t.margin, t.cycle) if proof]

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self.rows()), *self._end])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        end = "".join(f"<p>{escape(line)}</p>" for line in self._end)
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}{end}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "pass", "passes"), plural(2, "pass", "passes"), plural(0, "row")
    ('1 pass', '2 passes', '0 rows')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


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
