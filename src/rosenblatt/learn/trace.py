"""Trace: what one training run did, and the sentence that says why it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import LabelError, NotSupportedError, ParameterError
from rosenblatt.text import TableReport, plural

if TYPE_CHECKING:  # a trace of a file needs no scipy.sparse
    from rosenblatt.data.problem import Problem
    from rosenblatt.learn.settings import TrainingSettings

Array = npt.NDArray[Any]


class StopReason(StrEnum):
    """Why training stopped, the most conclusive reason first.

    Only `SEPARATED`, and a `CYCLE` whose updates sum to zero, say something about the data.

    Examples
    --------
    >>> str(StopReason.MAX_ITER), StopReason.MAX_ITER.sentence
    ('max_iter', 'the limit on epochs was reached; nothing is known about separability')
    """

    SEPARATED = "separated"
    CYCLE = "cycle"
    NO_IMPROVEMENT = "no_improvement"
    MAX_ITER = "max_iter"
    MAX_UPDATES = "max_updates"
    CALLBACK = "callback"

    @property
    def sentence(self) -> str:
        """The reason in words."""
        return _SENTENCES[self]


_SENTENCES = {
    StopReason.SEPARATED: "a whole epoch without an update",
    StopReason.CYCLE: "the weights returned to earlier ones: training would never end",
    StopReason.NO_IMPROVEMENT: "no gain of tol in n_iter_no_change epochs: not a separation",
    StopReason.MAX_ITER: "the limit on epochs was reached; nothing is known about separability",
    StopReason.MAX_UPDATES: "the limit on updates was reached; nothing is known about separability",
    StopReason.CALLBACK: "a callback stopped training",
}


@dataclass(frozen=True, eq=False)
class Cycle:
    """A run whose weights returned to earlier ones, bit for bit, in a fixed order of visits.

    Attributes
    ----------
    epochs : int
        Length of the cycle.
    updates : int
        Updates in one round of the cycle.
    exact : bool
        True: these updates sum to exactly zero, which proves that no hyperplane of the trained kind
        (`kind`) separates the rows. False: this was not shown (mostly because rounding closed the
        cycle), and nothing is proven.
    rows : int array
        Rows that caused the updates of one round.
    counts : array
        How often each did, times its weight; for the direct rule one column per class.
    kind : str
        "no hyperplane", "no hyperplane through the origin", or the same for one per class.
    """

    epochs: int
    updates: int
    exact: bool
    rows: Array
    counts: Array
    kind: str = "no hyperplane"

    def __str__(self) -> str:
        meaning = (
            f"its updates sum to exactly zero, so {self.kind} separates these rows"
            if self.exact
            else "its updates were not shown to sum to exactly zero, so nothing is proven"
        )
        epochs, updates = plural(self.epochs, "epoch"), plural(self.updates, "update")
        return f"cycle of {epochs} and {updates}: {meaning}"


@dataclass(frozen=True)
class MarginInterval:
    """Bounds on the largest margin, proven by a run of `MinOver`. They allow for rounding.

    Attributes
    ----------
    lower : float
        The margin of the last weights; below 0 while they do not separate the rows.
    upper : float
        No hyperplane has a larger margin.
    augmented : bool
        Whether the offset counts in the norm, as in ``max_margin(..., augmented=True)``;
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
    """One update.

    Attributes
    ----------
    epoch : int
        Counted from 1.
    row : int
        The row visited; -1 for a batch step.
    amount : float
        The multiple of x that was added: learning rate times y times weight. For a batch step, the
        learning rate.
    w, b : arrays
        The weights and offsets after the update.
    """

    epoch: int
    row: int
    amount: float
    w: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Setting:
    """The data, start and settings of a recorded run.

    Attributes
    ----------
    problem : Problem or None
        The rows, not copied. None after the record was pickled or copied: a stored model contains
        no data.
    start : tuple of arrays
        w and b before the first visit.
    visits : float
        Visits of earlier calls of `partial_fit`.
    settings : TrainingSettings
        Rule, order and limits.
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
class Record(TableReport):
    """The first updates of a run; a sequence of `Recorded`.

    Attributes
    ----------
    epoch, row, amount, visit : arrays of shape (updates,)
        As in `Recorded`; `visit` is the number of visits made before the update.
    w, b : arrays
        Weights and offsets after each update.
    n_updates : int
        Updates of the run, including those that were not recorded.
    setting : Setting or None
        Data, start and settings of the run.
    """

    epoch: Array
    row: Array
    amount: Array
    visit: Array
    w: Array
    b: Array
    n_updates: int
    setting: Setting | None = None

    @property
    def complete(self) -> bool:
        """Whether all updates of the run were recorded."""
        return len(self) == self.n_updates

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, k: int) -> Recorded:
        return Recorded(
            int(self.epoch[k]), int(self.row[k]), float(self.amount[k]), self.w[k], self.b[k]
        )

    def __iter__(self) -> Iterator[Recorded]:
        return (self[k] for k in range(len(self)))

    def rows(self, max_lines: int = 12) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Parameters
        ----------
        max_lines : int, default=12
            The most lines; a long record ends in an ellipsis.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        header = ["update", "epoch", "row", "amount", "w after", "b after"]
        lines = []
        for k, u in enumerate(self):
            if k == max_lines:
                lines.append(["..."] * len(header))
                break
            w, b = (" ".join(f"{v:.4g}" for v in np.ravel(a)[:6]) for a in (u.w, u.b))
            w += " ..." if u.w.size > 6 else ""
            lines.append([str(k + 1), str(u.epoch), str(u.row), f"{u.amount:.4g}", w, b])
        return header, lines

    @property
    def title(self) -> str:
        """How many updates were recorded."""
        kept = "all" if self.complete else f"the first {len(self)}"
        return f"{kept} of {plural(self.n_updates, 'update')}"


@dataclass(frozen=True, eq=False, repr=False)
class Trace(TableReport):
    """Totals of each epoch of a training run, and why it stopped.

    Attributes
    ----------
    stop_reason : StopReason
        Why training stopped.
    mistakes : int array of shape (n_epochs,)
        Mistakes in each epoch.
    updates : int array of shape (n_epochs,)
        Changes of the weights. Differs from `mistakes` where a rule also moves on correct rows
        (`Margin`), and where one batch step answers many mistakes.
    loss : float array of shape (n_epochs,)
        Mean objective of each epoch, which the stopping test `tol` compares.
    norms : float array of shape (n_epochs,)
        ||w|| after each epoch.
    seconds : float
        Time spent in training.
    n_rows : int
        Rows visited per epoch, without held-out rows.
    cycle : Cycle or None
        The cycle, if that is why training stopped.
    record : Record or None
        The updates one by one, with ``record="updates"`` (the first 10,000).
    scores : float array of shape (n_epochs,) or None
        Accuracy on held-out rows after each epoch, with early stopping.
    keep : str
        Which weights were returned.
    kept_epoch : int or None
        The epoch of the returned weights (from 1; 0 is the start); None for an average or a vote.
    margin : MarginInterval or None
        Bounds on the largest margin, with ``rule="minover"``.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> clf = Perceptron(shuffle=False).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> clf.trace_.n_epochs, clf.trace_.mistakes, clf.trace_.stop_reason.sentence
    (9, array([2, 3, 3, 2, 2, 3, 2, 1, 0]), 'a whole epoch without an update')
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
    kept_epoch: int | None = None
    margin: MarginInterval | None = None

    def __post_init__(self) -> None:
        for values in (self.mistakes, self.updates, self.loss, self.norms, self.scores):
            if values is not None:
                values.flags.writeable = False

    @property
    def n_epochs(self) -> int:
        """Number of epochs."""
        return len(self.mistakes)

    @property
    def n_mistakes(self) -> int:
        """Mistakes of all epochs."""
        return int(self.mistakes.sum())

    @property
    def n_updates(self) -> int:
        """Updates of all epochs."""
        return int(self.updates.sum())

    def path(self) -> tuple[Array, Array]:
        """Return weights and offset at the start of a recorded run, and after each update.

        Returns
        -------
        w : float array of shape (n_updates + 1, n_features)
            The weights; the first row is the start.
        b : float array of shape (n_updates + 1,)
            The offset.

        Raises
        ------
        ParameterError
            If the run did not record its updates.
        NotSupportedError
            If it trained several hyperplanes at once.
        """
        if self.record is None or self.record.setting is None:
            raise ParameterError(
                "this run did not keep its weights after each update. Fit again with "
                'Perceptron(record="updates").'
            )
        if self.record.w.ndim != 2:
            raise NotSupportedError(
                'multiclass="direct" moves the weights of all classes at once. Fit with '
                'multiclass="ovr", or on two classes.'
            )
        w, b = self.record.setting.start
        path = np.vstack([np.ravel(w), self.record.w])
        return path.astype(np.float64), np.append(np.ravel(b)[0], self.record.b).astype(np.float64)

    @property
    def title(self) -> str:
        """The run in one line."""
        return (
            f"{self.stop_reason}: {self.stop_reason.sentence}. "
            f"{plural(self.n_epochs, 'epoch')} over {plural(self.n_rows, 'row')}, "
            f"{plural(self.n_mistakes, 'mistake')}, {plural(self.n_updates, 'update')}, "
            f"{self.seconds:.3g} s"
        )

    @property
    def returned(self) -> str:
        """Which weights were returned, in words; empty for the last ones."""
        if self.scores is not None:
            return f"Returned: the weights of epoch {self.kept_epoch}, best on the held-out rows."
        if self.keep == "pocket":
            when = f"of epoch {self.kept_epoch}" if self.kept_epoch else "of the start"
            return f"Returned: the weights {when}, which make the fewest training errors."
        words = {"average": "the mean of the weights after each visit", "vote": "all hyperplanes"}
        return f"Returned: {words[self.keep]}." if self.keep in words else ""

    def rows(self, max_lines: int = 12) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Parameters
        ----------
        max_lines : int, default=12
            The most lines; long runs are shown without their middle.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        header = ["epoch", "mistakes", "updates", "mean loss", "||w||"]
        if self.scores is not None:
            header.append("held out")
        n = self.n_epochs
        half = max_lines // 2
        shown = list(range(n)) if n <= max_lines else [*range(half), -1, *range(n - half, n)]
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
    def notes(self) -> list[str]:
        """Which weights were returned, the margin and the cycle, where there are any."""
        lines = (self.returned, str(self.margin or ""), str(self.cycle or ""))
        return [line for line in lines if line]


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestTrace(TableReport):
    """One trace per class, each class against the rest.

    ``trace_[k]`` is the trace of ``classes[k]``, ``trace_.of("setosa")`` that of a label.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Labels.
    traces : tuple of Trace
        One per class.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from sklearn.datasets import load_iris
    >>> clf = Perceptron(shuffle=False).fit(*load_iris(return_X_y=True))
    >>> len(clf.trace_), str(clf.trace_.of(0).stop_reason)
    (3, 'separated')
    """

    classes: Array
    traces: tuple[Trace, ...]

    def __getitem__(self, k: int) -> Trace:
        return self.traces[k]

    def __len__(self) -> int:
        return len(self.traces)

    def of(self, label: Any) -> Trace:
        """Return the trace of one class.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        Trace
            Of this class against the rest.

        Raises
        ------
        LabelError
            If there is no such class.
        """
        known = self.classes.tolist()
        if label not in known:
            raise LabelError(f"There is no class {label!r}. The classes are {known[:10]}.")
        position: int = known.index(label)
        return self.traces[position]

    @property
    def stop_reason(self) -> StopReason:
        """The least conclusive reason of any class; "separated" only if every class was."""
        reasons = list(StopReason)
        return max((t.stop_reason for t in self.traces), key=reasons.index)

    @property
    def n_epochs(self) -> int:
        """The most epochs of any class."""
        return max(t.n_epochs for t in self.traces)

    @property
    def n_mistakes(self) -> int:
        """Mistakes of all classes."""
        return sum(t.n_mistakes for t in self.traces)

    @property
    def n_updates(self) -> int:
        """Updates of all classes."""
        return sum(t.n_updates for t in self.traces)

    @property
    def seconds(self) -> float:
        """Time spent in training all classes."""
        return sum(t.seconds for t in self.traces)

    @property
    def title(self) -> str:
        """The totals of all classes in one line."""
        return (
            f"{len(self)} classes, each against the rest: {plural(self.n_mistakes, 'mistake')}, "
            f"{plural(self.n_updates, 'update')}, {self.seconds:.3g} s"
        )

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table, one line per class.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        header = ["class", "epochs", "mistakes", "updates", "last epoch", "stopped"]
        lines = [
            [
                str(c),
                str(t.n_epochs),
                str(t.n_mistakes),
                str(t.n_updates),
                str(t.mistakes[-1]),
                str(t.stop_reason),
            ]
            for c, t in zip(self.classes, self.traces, strict=True)
        ]
        return header, lines

    @property
    def notes(self) -> list[str]:
        """The margin and the cycle of each class that has one."""
        pairs = zip(self.classes, self.traces, strict=True)
        return [f"class {c}: {proof}" for c, t in pairs for proof in (t.margin, t.cycle) if proof]
