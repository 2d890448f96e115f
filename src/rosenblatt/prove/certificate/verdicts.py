"""Verdicts with proofs: Separable, QuasiSeparable, Overlapping.

Write z_i = y_i (x_i, 1), or y_i x_i without offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import explain as words
from rosenblatt.prove.certificate.base import Array, Certificate, Combination, Facts
from rosenblatt.prove.certificate.codec import kind_of_result

Number = float | Fraction
FEW_FEATURES = 6  # of a point that is still worth reading


@dataclass(frozen=True, kw_only=True, repr=False)
class _WithHyperplane(Certificate):
    w: tuple[Number, ...]
    b: Number

    def split_rows(self, X: Any, y: npt.ArrayLike | None = None) -> Array:
        return np.flatnonzero(checker.signs(as_cone(X, y), self.w, self.b, self.fit_intercept) > 0)

    def _sides(self) -> tuple[str, str]:
        score = "w.x + b" if self.fit_intercept else "w.x"
        positive, negative = words.word(self.positive), words.word(self.negative)
        return "sides", f"{score} is positive for label {positive}, negative for label {negative}."

    def _weights(self, names: list[str]) -> tuple[str, str]:
        return "weights", words.weights_words(self.w, self.b, self.fit_intercept, names)


@dataclass(frozen=True, kw_only=True, repr=False)
class _WithProof(Certificate):
    proof: Combination
    witness: Combination

    @property
    def _weights_said(self) -> str:
        positive = min(self.proof.weights) > 0
        return "positive weights" if positive else "weights, positive but for rows of equality,"

    def _witness_words(self, names: list[str], rows: Cone | None) -> tuple[str, str]:
        at, weights = self.witness.rows, self.witness.weights
        if min(weights) <= 0:
            said = words.rows_words(at)
            return "witness", f"To look at, rows that cancel, some of them of equality: {said}."
        signs = None if rows is None else checker.labels(rows, at)
        where = ""
        if signs is None or rows is None:
            said = words.rows_words(at)
        elif self.fit_intercept:
            said = words.hull_words(at, weights, signs, (self.negative, self.positive))
            if self.n_features <= FEW_FEATURES:
                point = checker.common_point(rows, at, weights)
                short = all(words.short(v) is not None for v in point)
                where = f", {words.point_words(point, names)}" if short else ""
        else:
            said = words.origin_words(at, weights, signs)
        if not self.fit_intercept:
            return "witness", f"To look at: the origin lies in the hull of the y*x: {said}."
        return "witness", f"To look at: a point lies in both convex hulls{where}: {said}."


def spoken_of(rows: Cone, intercept: bool) -> dict[str, Any]:
    """The fields in which every result says which rows and hyperplanes it speaks of.

    `_with_digest` fills in the digest of the data.
    """
    return {
        "fit_intercept": intercept,
        "n_rows": rows.n_rows,
        "n_features": rows.n_features,
        "data": "",
        "positive": str(rows.classes[1]),
        "negative": str(rows.classes[0]),
        "feature_names": rows.names,
    }


@kind_of_result("separable")
@dataclass(frozen=True, kw_only=True, repr=False)
class Separable(_WithHyperplane):
    """A hyperplane with y_i (w.x_i + b) > 0 for every row.

    Attributes
    ----------
    w : tuple of float or Fraction
        The weights.
    b : float or Fraction
        The offset.
    margin : float
        A lower bound on the margin of this hyperplane, min y_i (w.x_i + b) / ||w||. `max_margin`
        finds the largest margin of any hyperplane.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> X, y = [[0], [1], [2], [3]], ["no", "no", "yes", "yes"]
    >>> found = separability(X, y)
    >>> found.verdict, found.split_rows(X, y)
    ('separable', array([0, 1, 2, 3]))
    """

    margin: float

    def _facts(self, names: list[str], rows: Cone | None) -> Facts:
        size = (
            f"{self.margin:.6g}" if self.margin else "positive, but too hard to compute in floats"
        )
        return [
            (
                "verdict",
                f"separable {self.where}: a hyperplane has all {self.n_rows} rows strictly on "
                "their own side.",
            ),
            self._sides(),
            (
                "margin",
                f"Its margin is {size} (max_margin finds the largest).",
            ),
            self._weights(names),
        ]


@kind_of_result("overlapping")
@dataclass(frozen=True, kw_only=True, repr=False)
class Overlapping(_WithProof):
    """Positive weights on rows whose z_i cancel and span every z_i.

    Then w.z_i >= 0 for all rows implies w.z_i = 0 for all [Stiemke]: every hyperplane has a row on
    its wrong side, unless all rows lie on it.

    Attributes
    ----------
    proof : Combination
        The rows and their weights.
    witness : Combination
        A small set of rows that cancel, which is easy to look at: a point in both convex hulls
        (without offset: the origin in the hull of the y_i x_i). It proves only that no hyperplane
        separates strictly.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> found = separability([[0], [1], [2], [3]], ["no", "yes", "no", "yes"])
    >>> found.verdict, found.witness.rows
    ('overlapping', (0, 1, 2))
    """

    def split_rows(self, X: Any, y: npt.ArrayLike | None = None) -> Array:
        return np.empty(0, dtype=np.int64)

    def _facts(self, names: list[str], rows: Cone | None) -> Facts:
        return [
            (
                "verdict",
                f"overlapping {self.where}: every hyperplane has some row on the wrong side, "
                "unless all rows lie on it.",
            ),
            (
                "proof",
                f"{len(self.proof)} rows prove it: with {self._weights_said} they cancel exactly, "
                f"and they span all {self.n_rows} rows ({words.rows_words(self.proof.rows)}).",
            ),
            self._witness_words(names, rows),
        ]


@kind_of_result("quasi-separable")
@dataclass(frozen=True, kw_only=True, repr=False)
class QuasiSeparable(_WithHyperplane, _WithProof):
    """A hyperplane with y_i (w.x_i + b) >= 0 for all rows and > 0 for some, and no better.

    Attributes
    ----------
    w : tuple of float or Fraction
        The weights.
    b : float or Fraction
        The offset.
    proof : Combination
        Positive weights on rows that lie on the hyperplane. These rows cancel, so no hyperplane
        separates strictly, and they span all rows that lie on it, so none splits off more rows.
    witness : Combination
        A small set of rows that cancel; see `Overlapping`.
    n_split : int
        Number of rows strictly on their side.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> X, y = [[0], [1], [1], [2]], ["no", "no", "yes", "yes"]
    >>> found = separability(X, y)
    >>> found.verdict, found.n_split, found.split_rows(X, y)
    ('quasi-separable', 2, array([0, 3]))
    """

    n_split: int  # rows strictly on their side

    def _facts(self, names: list[str], rows: Cone | None) -> Facts:
        split = ""
        if rows is not None:
            signs = checker.signs(rows, self.w, self.b, self.fit_intercept)
            split = words.rows_words(np.flatnonzero(signs > 0).tolist(), self.n_split)
        return [
            (
                "verdict",
                f"quasi-separable {self.where}: a hyperplane has no row on the wrong side, splits "
                f"off {self.n_split} of {self.n_rows} rows, and the other "
                f"{self.n_rows - self.n_split} lie on it.",
            ),
            *([("split off", f"Split off: {split}.")] if split else []),
            (
                "proof",
                f"No hyperplane separates strictly or splits off more: with {self._weights_said} "
                f"{len(self.proof)} of the rows on it cancel exactly, and they span all that lie "
                f"on it ({words.rows_words(self.proof.rows)}).",
            ),
            self._witness_words(names, rows),
            self._sides(),
            self._weights(names),
        ]
