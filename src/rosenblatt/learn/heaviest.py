"""Heaviest: the largest weights of a model by name, and the rows that moved them most.

Row i moved the weights by the sum of ||w_after - w_before|| over the updates at it; the offset is
left out. The rules that add multiples of a row give w = w_0 + sum_i a_i x_i besides, where a_i is
the sum of the amounts (learning rate times y times weight) of these updates.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.learn.contributions import largest_first, printable
from rosenblatt.learn.trace import OneVsRestTrace, Record, Trace, html_table, plural, text_table

if TYPE_CHECKING:
    from rosenblatt.learn.linear import LinearModel

Array = npt.NDArray[Any]
REST = "the rest"
HOW = 'Fit with record="updates" to know which rows moved the weights.'


@dataclass(frozen=True)
class Weight:
    """A feature and its weight."""

    feature: str
    weight: float


@dataclass(frozen=True)
class Moved:
    """A training row that moved the weights.

    `row` counts from 0; `updates` is how often it did; `amount` the multiple of it that is in the
    last weights, None if they are no sum of rows (a penalty; arow, scw, sop and alma); `distance`
    the length of all its steps.
    """

    row: int
    updates: int
    amount: float | None
    distance: float


@dataclass(frozen=True)
class PlaneExplanation:
    """One hyperplane: a score > 0 means `label`, < 0 means `against`.

    `weights` are the largest, whatever their sign; `n_nonzero` of `n_features` are not 0.
    """

    label: Any
    against: Any
    offset: float
    norm: float
    n_features: int
    n_nonzero: int
    weights: tuple[Weight, ...]
    moved: tuple[Moved, ...] = ()

    @property
    def title(self) -> str:
        return (
            f"{printable(self.label)} against {printable(self.against)}: "
            f"offset {self.offset:.6g}, ||w|| {self.norm:.6g}, "
            f"{self.n_nonzero:,} of {plural(self.n_features, 'weight')} not 0"
        )

    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Header and lines: the weights, and the rows if they are known."""
        found = [
            (
                ["feature", "weight"],
                [[printable(w.feature), f"{w.weight:.6g}"] for w in self.weights],
            ),
        ]
        if self.moved:
            lines = [
                [str(m.row), str(m.updates), _number(m.amount), _number(m.distance)]
                for m in self.moved
            ]
            found.append((["row", "updates", "amount", "distance"], lines))
        return found


@dataclass(frozen=True, repr=False)
class ModelExplanation:
    """What a model looks at: the largest weights, and the rows that moved them most.

    Attributes
    ----------
    planes : one for two classes, else one per class
    note : what is missing or cut off, and how to get it; may be empty
    """

    planes: tuple[PlaneExplanation, ...]
    note: str = ""

    def facts(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        parts = [
            "\n".join([plane.title, *(text_table(*t) for t in plane.tables())])
            for plane in self.planes
        ]
        return "\n\n".join([*parts, *([self.note] if self.note else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [
            f"<p>{escape(plane.title)}</p>" + "".join(html_table(*t) for t in plane.tables())
            for plane in self.planes
        ]
        return "".join(parts) + (f"<p>{escape(self.note)}</p>" if self.note else "")


def explain_weights(
    model: LinearModel, most: int = 10, trace: Trace | OneVsRestTrace | None = None
) -> ModelExplanation:
    """The largest weights of every hyperplane, and of `trace` the rows that moved them most."""
    labels = model.classes.tolist()
    named = [(labels[1], labels[0])] if len(labels) == 2 else [(label, REST) for label in labels]
    planes = []
    for k, (label, against) in enumerate(named):
        w = model.coef[k].astype(np.float64)
        planes.append(
            PlaneExplanation(
                label,
                against,
                float(model.intercept[k]),
                float(np.linalg.norm(w)),
                len(w),
                int(np.count_nonzero(w)),
                _largest(model, w, most),
                () if trace is None else _moved(trace, k, most),
            )
        )
    return ModelExplanation(tuple(planes), "" if trace is None else _note(trace))


def _largest(model: LinearModel, w: Array, most: int) -> tuple[Weight, ...]:
    order = largest_first(np.abs(w), most)
    return tuple(Weight(model.name(int(k)), float(w[k])) for k in order if w[k])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _moved(trace: Trace | OneVsRestTrace, k: int, most: int) -> tuple[Moved, ...]:
    """The rows that moved hyperplane k most."""
    record = (trace[k] if isinstance(trace, OneVsRestTrace) else trace).record
    if record is None or record.setting is None or _why_not(record):
        return ()
    w, b, (w0, b0) = record.w, record.b, record.setting.start
    amount = record.amount
    if w.ndim == 3:  # all classes at once: one is pushed, another pulled
        w, b, w0, b0 = w[:, k], b[:, k : k + 1], w0[k], b0[k : k + 1]
        amount = np.where(_of_class(record, k), amount, -amount)
    steps = _steps(w, w0)
    there = (steps > 0) | (_steps(b, b0) > 0)
    rows, place = np.unique(record.row[there], return_inverse=True)
    updates = np.bincount(place, minlength=len(rows))
    total = np.bincount(place, amount[there], len(rows))
    distance = np.bincount(place, steps[there], len(rows))
    sums = _is_sum_of_rows(record)
    return tuple(
        Moved(int(rows[i]), int(updates[i]), float(total[i]) if sums else None, float(distance[i]))
        for i in largest_first(distance, most)
    )


def _steps(w: Array, start: Array, block: int = 512) -> Array:
    """||w_after - w_before|| of every update, without another copy of all weights."""
    found = []
    for k in range(0, len(w), block):
        before = np.concatenate([start[None] if k == 0 else w[k - 1 : k], w[k : k + block - 1]])
        moved = w[k : k + block].astype(np.float64) - before[: len(w) - k]
        found.append(np.linalg.norm(moved, axis=1))
    return np.concatenate([np.empty(0), *found])


def _of_class(record: Record, k: int) -> Array:
    """Which updates were made at a row of class k, as far as the rows are still there."""
    problem = None if record.setting is None else record.setting.problem
    return np.ones(len(record), bool) if problem is None else np.asarray(problem.y[record.row] == k)


def _is_sum_of_rows(record: Record) -> bool:
    setting = record.setting
    if setting is None or (record.w.ndim == 3 and setting.problem is None):
        return False
    return setting.settings.adds_rows


def _why_not(record: Record) -> str:
    """Why the rows of a record cannot be told, if so."""
    if (record.row < 0).any():
        return "Every step of mode='batch' is made by all misclassified rows at once."
    return ""


def _note(trace: Trace | OneVsRestTrace) -> str:
    traces = trace.traces if isinstance(trace, OneVsRestTrace) else (trace,)
    records = [t.record for t in traces]
    for record in records:
        if record is None:
            return HOW
        if why := _why_not(record):
            return why
    setting = traces[0].record and traces[0].record.setting
    penalty = "Distances include what the penalty did since the update before."
    said = [penalty] if setting and setting.settings.penalty else []
    cut = [f"{r.title[0].upper()}{r.title[1:]}" for r in records if r and not r.complete]
    said += [f"{cut[0]} were recorded; the rows are of these."] if cut else []
    return " ".join(said)
