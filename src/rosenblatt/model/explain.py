"""Explanations: why a row gets its label, and the largest weights of a model.

Two classes: score = b + sum_j w_j x_j, and a score >= 0 is the second class. More: the score of
the winner less that of the runner-up, (b_1 - b_2) + sum_j (w_1j - w_2j) x_j, which is what had to
be >= 0. w_j x_j is what feature j contributes.

Weights depend on the units of the features. Where the deviation s_j of a feature is known, weights
are ordered by |w_j| s_j.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import decide
from rosenblatt.data.block import Csr
from rosenblatt.errors import DataError
from rosenblatt.text import TableReport, html_table, plural, printable, text_table

if TYPE_CHECKING:
    from rosenblatt.model.linear_model import LinearModel

Array = npt.NDArray[Any]
REST = "the rest"


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the score: weight times value."""

    feature: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(TableReport):
    """Why one row gets its label. Printed, it is a table, the largest contributions first.

    Attributes
    ----------
    label : object
        The decision.
    against : object
        The other class, or the runner-up of more than two.
    score : float
        w.x + b as in `decision_function`; with more than two classes, the lead of the winner.
    offset : float
        b, or the difference of two.
    scores : mapping
        The score of each class, if there are more than two.
    features : int array
        The columns that `names`, `values`, `weights` and `contributions` describe: all, or those
        that a sparse row or a mapping contains. The others contribute 0.
    names : tuple of str
        Their names.
    values, weights, contributions : arrays
        Contributions are weights times values. With the offset they add up to the score, up to
        rounding.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> why = Perceptron(shuffle=False).fit(X, y).explain([1, 0])
    >>> why.label, why.score, why["x0"].contribution
    ('no', -1.0, 3.0)
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
            raise DataError(f"{name!r} is not one of the features of this row{_near(name, self)}.")
        return self._at(self.names.index(name))

    def largest(self, most: int | None = None) -> tuple[Contribution, ...]:
        """Return the contributions that are not 0, the largest first, whatever their sign.

        Parameters
        ----------
        most : int or None, default=None
            Number of contributions; None for all.

        Returns
        -------
        tuple of Contribution
            Features with their values, weights and contributions.
        """
        sizes = np.abs(self.contributions)
        there = int(np.count_nonzero(sizes))
        order = largest_first(sizes, there if most is None else min(most, there))
        return tuple(self._at(int(k)) for k in order)

    def rows(self, most: int = 20) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Parameters
        ----------
        most : int, default=20
            Number of features; one more line has the sum of the others.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
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
        """The decision in one line."""
        decided = f"{printable(self.label)}, not {printable(self.against)}"
        if self.scores:
            one, other = self.scores[self.label], self.scores[self.against]
            return f"{decided}: {one:.6g} to {other:.6g}, ahead by {self.score:.6g}"
        side = ">= 0" if self.score >= 0 else "< 0"
        return f"{decided}: the score {self.score:.6g} is {side}"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation in types that JSON has.

        Returns
        -------
        dict
            The attributes; one dict per contribution.
        """
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


@dataclass(frozen=True)
class Weight:
    """A feature, its weight, and its deviation in the training rows if that is known."""

    feature: str
    weight: float
    deviation: float | None = None


@dataclass(frozen=True)
class PlaneExplanation:
    """The largest weights of one hyperplane: a score > 0 means `label`, < 0 means `against`.

    `n_nonzero` of `n_features` weights are not 0. `weights` are ordered by size times deviation, if
    deviations are known, else by size.
    """

    label: Any
    against: Any
    offset: float
    norm: float
    n_features: int
    n_nonzero: int
    weights: tuple[Weight, ...]

    @property
    def title(self) -> str:
        """The hyperplane in one line."""
        return (
            f"{printable(self.label)} against {printable(self.against)}: "
            f"offset {self.offset:.6g}, ||w|| {self.norm:.6g}, "
            f"{self.n_nonzero:,} of {plural(self.n_features, 'weight')} not 0"
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines."""
        header = ["feature", "weight"]
        lines = [[printable(w.feature), f"{w.weight:.6g}"] for w in self.weights]
        if any(w.deviation is not None for w in self.weights):
            header += ["deviation", "weight x deviation"]
            for line, w in zip(lines, self.weights, strict=True):
                deviation = w.deviation or 0.0
                line += [f"{deviation:.6g}", f"{w.weight * deviation:.6g}"]
        return header, lines


@dataclass(frozen=True, repr=False)
class ModelExplanation:
    """The largest weights of a model. Printed, it is one table per hyperplane.

    Attributes
    ----------
    planes : tuple of PlaneExplanation
        One for two classes, else one per class.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> print(Perceptron(shuffle=False).fit(X, y).explain_model())
    yes against no: offset -4, ||w|| 3.60555, 2 of 2 weights not 0
    feature  weight
         x0       3
         x1       2
    """

    planes: tuple[PlaneExplanation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation in types that JSON has.

        Returns
        -------
        dict
            The attributes; one dict per hyperplane.
        """
        return asdict(self)

    def __str__(self) -> str:
        return "\n\n".join(f"{plane.title}\n{text_table(*plane.table())}" for plane in self.planes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(p.title)}</p>{html_table(*p.table())}" for p in self.planes)


def largest_first(sizes: Array, most: int) -> Array:
    """Where the `most` largest are, the first of equal ones first.

    >>> largest_first(np.array([2, 5, 1, 5, 2]), 3)
    array([1, 3, 0])
    """
    return np.argsort(-sizes, kind="stable")[:most]


def explain_weights(model: LinearModel, most: int = 10) -> ModelExplanation:
    """The largest weights of each hyperplane."""
    labels = model.classes.tolist()
    named = [(labels[1], labels[0])] if len(labels) == 2 else [(label, REST) for label in labels]
    planes = []
    for k, (label, against) in enumerate(named):
        w, offset = _plane(model, k)
        largest = _largest(model, w, most)
        norm, n_nonzero = float(np.linalg.norm(w)), int(np.count_nonzero(w))
        planes.append(PlaneExplanation(label, against, offset, norm, len(w), n_nonzero, largest))
    return ModelExplanation(tuple(planes))


def _largest(model: LinearModel, w: Array, most: int) -> tuple[Weight, ...]:
    deviations = model.deviations
    sizes = np.abs(w) if deviations is None else np.abs(w) * deviations
    return tuple(
        Weight(model.name(k), float(w[k]), None if deviations is None else float(deviations[k]))
        for k in largest_first(sizes, most).tolist()
        if sizes[k]
    )


def explain_row(model: LinearModel, x: Any) -> Explanation:
    """What each feature of the row `x` contributes to its label."""
    row = _row(model, x)
    scores = np.atleast_1d(model.decision_function(row)[0])
    if isinstance(row, Csr):
        features, values = row.indices, row.data.astype(np.float64)
    else:
        features, values = np.arange(row.shape[1]), row[0].astype(np.float64)
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
        tuple(map(model.name, features.tolist())), values, weights, weights * values,
    )  # fmt: skip


def _plane(model: LinearModel, k: int) -> tuple[Array, float]:
    return model.coef[k].astype(np.float64), float(model.intercept[k])


def _row(model: LinearModel, x: Any) -> Any:
    """`x` as a validated table of one row; of a mapping or a sparse row, only what it has."""
    if hasattr(x, "to_dict") and np.ndim(x) == 1 and model.feature_names:
        x = x.to_dict()  # a row of a frame, matched by name
    if isinstance(x, Mapping):
        _check_names(model, x)
        x = [x]
    elif not (hasattr(x, "columns") or hasattr(x, "tocsr") or np.ndim(x) == 2):
        x = np.asarray(x)[None]
    row = model._matrix(x)
    if row.shape[0] != 1:
        raise DataError(f"explain takes one row, x has {row.shape[0]} rows. Give one row.")
    return row


def _check_names(model: LinearModel, x: Mapping[Any, Any]) -> None:
    """Refuse a name that the model does not know; it may be misspelled."""
    known = model.columns_by_name()
    for name, value in x.items():
        if model.table is not None:
            is_known = name in model.table.kinds
        elif isinstance(value, str) and ("", name) in known:
            raise DataError(f"{name!r} is {value!r}, expected a number.")
        else:  # a category of another text has no weight
            texts = isinstance(value, str) and any(str(k).startswith(f"{name}=") for _, k in known)
            is_known = texts or ("", name) in known
        if not is_known:
            what = "feature" if model.table is None else "column"
            raise DataError(f"The model has no {what} {name!r}{_near(str(name), model)}.")


def _near(name: str, held: Any) -> str:
    """A name that looks alike, as a hint."""
    names: tuple[str, ...] = getattr(held, "names", ()) or getattr(held, "feature_names", ())
    close = difflib.get_close_matches(name, names[:10_000], n=1)
    return f"; did you mean {close[0]!r}" if close else ". Give features that it was trained on"
