"""Contributions: why a row gets its label, feature by feature.

Two classes: score = b + sum_j w_j x_j, and a score >= 0 is the second class. More: the score of
the winner less that of the runner-up, (b_1 - b_2) + sum_j (w_1j - w_2j) x_j, which is what had to
be >= 0. w_j x_j is what feature j contributes.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import decide
from rosenblatt.errors import DataError
from rosenblatt.learn.trace import html_table, plural, text_table

if TYPE_CHECKING:
    from rosenblatt.learn.linear import LinearModel

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the score: weight times value."""

    feature: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why one row gets its label; printed, it is a table, the largest contributions first.

    Attributes
    ----------
    label : the decision
    against : the other class, or the runner-up of more than two
    score : w.x + b as `predict` has it; of more than two classes, by how much the winner leads
    offset : b, or the difference of two
    scores : the score of every class, if there are more than two
    features : int array, which features `names`, `values`, `weights` and `contributions` speak of:
        all of them, or for a sparse row and a dict those that are there (the others contribute 0)
    names, values, weights, contributions : one each; contributions are weights times values. With
        the offset they add up to the score, but for rounding.
    """

    label: Any
    against: Any
    score: float
    offset: float
    scores: Mapping[Any, float]
    features: Array
    names: tuple[str, ...]
    values: Array
    weights: Array
    contributions: Array

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Contribution:
        """The contribution of one feature, by name."""
        if name not in self.names:
            raise DataError(f"{name!r} is not among the features of this row{_near(name, self)}.")
        return self._at(self.names.index(name))

    def largest(self, most: int | None = None) -> tuple[Contribution, ...]:
        """The contributions that are not 0, the largest first, whatever their sign."""
        sizes = np.abs(self.contributions)
        there = int(np.count_nonzero(sizes))
        order = largest_first(sizes, there if most is None else min(most, there))
        return tuple(self._at(int(k)) for k in order)

    def rows(self, most: int = 20) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table; what is left out is one line with its sum."""
        header = ["feature", "value", "weight", "contribution"]
        shown = self.largest(most)
        lines = [
            [printable(c.feature), f"{c.value:.6g}", f"{c.weight:.6g}", f"{c.contribution:.6g}"]
            for c in shown
        ]
        left = int(np.count_nonzero(self.contributions)) - len(shown)
        if left:
            rest = self.contributions.sum() - sum(c.contribution for c in shown)
            lines.append([plural(left, "other"), "", "", f"{rest:.6g}"])
        lines.append(["offset", "", "", f"{self.offset:.6g}"])
        lines.append(["score", "", "", f"{self.score:.6g}"])
        return header, lines

    @property
    def title(self) -> str:
        decided = f"{printable(self.label)}, not {printable(self.against)}"
        if self.scores:
            one, other = self.scores[self.label], self.scores[self.against]
            return f"{decided}: {one:.6g} to {other:.6g}, ahead by {self.score:.6g}"
        side = ">= 0" if self.score >= 0 else "< 0"
        return f"{decided}: the score {self.score:.6g} is {side}"

    def facts(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "label": self.label,
            "against": self.against,
            "score": self.score,
            "offset": self.offset,
            "scores": [[label, score] for label, score in self.scores.items()],
            "contributions": [vars(self._at(k)) for k in range(len(self))],
        }

    def _at(self, k: int) -> Contribution:
        numbers = (float(a[k]) for a in (self.values, self.weights, self.contributions))
        return Contribution(self.names[k], *numbers)

    def __str__(self) -> str:
        return f"{self.title}\n{text_table(*self.rows())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p>{html_table(*self.rows())}"


def printable(name: Any) -> str:
    """A name for the terminal, with control characters escaped: files may contain any name.

    >>> print(printable("a\\x1b[2J\\n"))
    a\\x1b[2J\\n
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))


def largest_first(sizes: Array, most: int) -> Array:
    """Where the `most` largest are, the first of equal ones first; in time linear in their number.

    >>> largest_first(np.array([2, 5, 1, 5, 2]), 3)
    array([1, 3, 0])
    """
    if most < len(sizes):
        least = np.partition(sizes, len(sizes) - most)[len(sizes) - most] if most else np.inf
        above = np.flatnonzero(sizes > least)
        equal = np.flatnonzero(sizes == least)[: most - len(above)]
        among = np.sort(np.concatenate([above, equal]))
    else:
        among = np.arange(len(sizes))
    return among[np.argsort(-sizes[among], kind="stable")]


def explain_row(model: LinearModel, x: Any) -> Explanation:
    """What every feature of the row `x` contributes to its label."""
    row, features = _row(model, x)
    scores = np.atleast_1d(model.scores(row)[0])
    values = np.asarray(row[:, features].toarray() if hasattr(row, "tocsr") else row)[0]
    values = values.astype(np.float64)
    labels = model.classes.tolist()
    winner = int(decide(scores[None].astype(np.float64))[0])
    if len(labels) == 2:
        score = float(scores[0])
        other, w, b, every = 1 - winner, *_plane(model, 0), {}
    else:
        other = int(np.where(np.arange(len(labels)) == winner, -np.inf, scores).argmax())
        (w, b), (v, c) = _plane(model, winner), _plane(model, other)
        w, b, score = w - v, b - c, float(scores[winner]) - float(scores[other])
        every = dict(zip(labels, map(float, scores), strict=True))
    weights = w[features]
    return Explanation(
        labels[winner], labels[other], score, b, every, features,
        tuple(model.name(int(k)) for k in features), values, weights, weights * values,
    )  # fmt: skip


def _plane(model: LinearModel, k: int) -> tuple[Array, float]:
    return model.coef[k].astype(np.float64), float(model.intercept[k])


def _row(model: LinearModel, x: Any) -> tuple[Any, Array]:
    """`x` as a table of one row, and the features it contains."""
    if isinstance(x, Mapping):
        return _named(model, x)
    if model.feature_names and hasattr(x, "to_dict") and np.ndim(x) == 1:
        return _named(model, x.to_dict())  # a row of a frame, matched by name
    if hasattr(x, "tocsr"):
        row = x.tocsr()[:, : model.n_features]
        row.sum_duplicates()
        _check_one(row.shape[0], "rows")
        return row, np.asarray(row.indices).copy()
    table = x if hasattr(x, "columns") or np.ndim(x) == 2 else np.asarray(x)[None]
    from rosenblatt.data.problem import as_matrix

    row = as_matrix(model._matrix(table), "x")
    _check_one(row.shape[0], "rows")
    return row, np.arange(row.shape[1])


def _named(model: LinearModel, x: Mapping[Any, Any]) -> tuple[Any, Array]:
    """Features by name, in the order in which they are given; those left out are 0."""
    from rosenblatt.data.problem import as_matrix

    places = []
    known = {name: k for k, name in enumerate(model.feature_names)}
    for name in x:
        k = known.get(name) if known else _numbered(name, model.n_features)
        if k is None:
            raise DataError(f"the model has no feature {name!r}{_near(str(name), model)}.")
        places.append(k)
    dense = np.zeros((1, model.n_features), dtype=model.coef.dtype)
    if places:
        dense[0, places] = as_matrix([list(x.values())], "x")
    import scipy.sparse as sp

    features = np.array(places, dtype=np.int64)
    # in one sparse row, so that only what was named is spoken of
    row = sp.csr_matrix((dense[0, features], (np.zeros_like(features), features)), dense.shape)
    return row, features


def _numbered(name: Any, n_features: int) -> int | None:
    """x0, x1, ...: the names of features that have none."""
    digits = name[1:] if isinstance(name, str) and name.startswith("x") else ""
    return int(digits) if digits.isdecimal() and int(digits) < n_features else None


def _check_one(n: int, what: str) -> None:
    if n != 1:
        raise DataError(f"one row is explained at a time, and x has {n} {what}. Give one.")


def _near(name: str, held: Any) -> str:
    """A name that looks alike, as a hint."""
    names: tuple[str, ...] = getattr(held, "names", ()) or getattr(held, "feature_names", ())
    close = difflib.get_close_matches(name, names[:10_000], n=1)
    return f"; did you mean {close[0]!r}" if close else ". Give those it was trained on"
