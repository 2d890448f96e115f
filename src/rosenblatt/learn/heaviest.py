"""Heaviest: the largest weights of a model by name, and the rows that moved them most.

From w_0 on, every update adds a multiple of one row: w = w_0 + sum_i a_i x_i, where a_i is the
sum of the amounts (learning rate times y times weight) of the updates at row i. Row i moved the
weights by the distance sum |amount| ||x_i||; the offset is left out of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.learn.contributions import printable
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
    weights; `distance` the length of all its steps, sum |amount| ||x||.
    """

    row: int
    updates: int
    amount: float
    distance: float


@dataclass(frozen=True)
class PlaneExplanation:
    """One hyperplane: a score > 0 speaks for `label`, < 0 for `against`.

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
                [str(m.row), str(m.updates), f"{m.amount:.6g}", f"{m.distance:.6g}"]
                for m in self.moved
            ]
            found.append((["row", "updates", "amount", "distance"], lines))
        return found


@dataclass(frozen=True, repr=False)
class ModelExplanation:
    """What a model looks at: the largest weights, and the rows that moved them most.

    Attributes
    ----------
    planes : one for two classes, else one a class
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
    order = np.argsort(-np.abs(w), kind="stable")[:most]
    return tuple(Weight(model.name(int(k)), float(w[k])) for k in order if w[k])


def _moved(trace: Trace | OneVsRestTrace, k: int, most: int) -> tuple[Moved, ...]:
    """The rows that moved hyperplane k most."""
    own = trace[k] if isinstance(trace, OneVsRestTrace) else trace
    record = own.record
    if record is None or _why_not(record):
        return ()
    row, amount = record.row, record.amount
    if record.w.ndim == 3:  # all classes at once: one is pushed, another pulled
        row, amount = _of_class(record, k)
    assert record.setting is not None
    assert record.setting.problem is not None
    rows, place = np.unique(row, return_inverse=True)
    lengths = _lengths(record.setting.problem.X[rows])
    updates = np.bincount(place, minlength=len(rows))
    total = np.bincount(place, amount, len(rows))
    distance = np.bincount(place, np.abs(amount), len(rows)) * lengths
    order = np.argsort(-distance, kind="stable")[:most]
    return tuple(
        Moved(int(rows[i]), int(updates[i]), float(total[i]), float(distance[i])) for i in order
    )


def _of_class(record: Record, k: int) -> tuple[Array, Array]:
    """Of a run over all classes at once: the updates that moved class k, and by how much."""
    assert record.setting is not None
    assert record.setting.problem is not None
    before = np.concatenate([record.setting.start[0][None, k], record.w[:-1, k]])
    changed = (record.w[:, k] != before).any(axis=1)
    own = record.setting.problem.y[record.row] == k
    amount = np.where(own, record.amount, -record.amount)
    return record.row[changed], amount[changed]


def _lengths(X: Any) -> Array:
    """||x|| of every row."""
    if hasattr(X, "tocsr"):
        squares = X.astype(np.float64).power(2).sum(axis=1)
        return np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
    return np.asarray(np.linalg.norm(X.astype(np.float64), axis=1))


def _why_not(record: Record) -> str:
    """Why the rows of a record cannot be told, if so."""
    if (record.row < 0).any():
        return "Every step of mode='batch' is made by all misclassified rows at once."
    if record.setting is None or record.setting.problem is None:
        return "The training rows are not stored with the model; fit again to know what they did."
    return ""


def _note(trace: Trace | OneVsRestTrace) -> str:
    traces = trace.traces if isinstance(trace, OneVsRestTrace) else (trace,)
    records = [t.record for t in traces]
    for record in records:
        if record is None:
            return HOW
        if why := _why_not(record):
            return why
    cut = [f"{r.title[0].upper()}{r.title[1:]}" for r in records if r and not r.complete]
    return f"{cut[0]} were recorded; the rows are of these." if cut else ""
