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
from rosenblatt.prove.checker.digest import data_digest
from rosenblatt.prove.checker.norms import Floor
from rosenblatt.prove.checker.scan import Answer, Question
from rosenblatt.prove.checker.signs import Plane, part_signs
from rosenblatt.prove.checker.span import Span

Number = float | Fraction
FEW_FEATURES = 6  # of a point that is still worth reading


@dataclass(frozen=True, kw_only=True, repr=False)
class _WithHyperplane(Certificate):
    w: tuple[Number, ...]
    b: Number

    def split_rows(self, X: Any, y: npt.ArrayLike | None = None) -> Array:
        return np.flatnonzero(checker.signs(as_cone(X, y), self.w, self.b, self.fit_intercept) > 0)

    def _no_hyperplane(self) -> list[str]:
        if len(self.w) != self.n_features:
            return [f"w has {len(self.w)} entries for {self.n_features} features"]
        if not all(checker.is_number(v) for v in (*self.w, self.b)):
            return ["w or b is not finite"]
        if self.b and not self.fit_intercept:
            return ["b is not 0, though the hyperplane is to pass through the origin"]
        return []

    @property
    def _plane(self) -> Plane:
        return checker.plane_of(self.w, self.b, self.fit_intercept)

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

    def _false_proof(self, rows: Cone, plane: Plane | None) -> list[str]:
        """What is not true of the combinations, which are of rows on a hyperplane, if any."""
        said, parts = [], [("proof", self.proof), ("witness", self.witness)]
        for name, part in parts[:1] if self.witness == self.proof else parts:
            if not checker.cancels(rows, part.rows, part.weights, self.fit_intercept):
                said.append(f"the weights of the {name} do not cancel, or are not positive")
            elif plane is not None and part_signs(rows.take(part.rows), plane).any():
                said.append(f"rows of the {name} do not lie on the hyperplane")
        return said

    def _span(self, rows: Cone, orthogonal: tuple[Number, ...] | None = None) -> Span:
        return Span.of(rows.take(self.proof.rows).X, self.fit_intercept, orthogonal)

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


def spoken_of(rows: Cone, intercept: bool, digest: str | None = None) -> dict[str, Any]:
    """The fields in which every certificate says which rows and hyperplanes it speaks of.

    The digest of the data is taken, one reading, unless it is given.
    """
    return {
        "fit_intercept": intercept,
        "n_rows": rows.n_rows,
        "n_features": rows.n_features,
        "data": data_digest(rows) if digest is None else digest,
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

    def _asked(self, rows: Cone) -> tuple[list[str], Question]:
        if said := self._no_hyperplane():
            return said, Question()
        plane = self._plane
        return [], Question(plane, floor=Floor.of(plane, self.margin))

    def _false(self, rows: Cone, said: list[str], answer: Answer) -> list[str]:
        if said:
            return said
        if bad := answer.wrong + answer.on:
            first = answer.first_bad
            return [f"{bad} rows are not strictly on their side, the first is {first}"]
        if self.margin != 0 and not (self.margin > 0 and answer.cleared):
            said.append(f"the margin of its hyperplane is less than {self.margin!r}")
        return said

    def _facts(self, names: list[str], rows: Cone | None) -> Facts:
        return [
            (
                "verdict",
                f"separable {self.where}: a hyperplane has all {self.n_rows} rows strictly on "
                "their own side.",
            ),
            self._sides(),
            (
                "margin",
                f"Its margin is {self.margin:.6g} (max_margin finds the largest).",
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

    def _asked(self, rows: Cone) -> tuple[list[str], Question]:
        said = self._false_proof(rows, None)
        return said, Question() if said else Question(span=self._span(rows))

    def _false(self, rows: Cone, said: list[str], answer: Answer) -> list[str]:
        return said if answer.spanned else [*said, "the rows of the proof do not span all rows"]

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

    def _asked(self, rows: Cone) -> tuple[list[str], Question]:
        if said := self._no_hyperplane():
            return said, Question()
        said = self._false_proof(rows, self._plane)
        span = None if said else self._span(rows, (*self.w, self.b))
        return said, Question(self._plane, span=span)

    def _false(self, rows: Cone, said: list[str], answer: Answer) -> list[str]:
        if self._no_hyperplane():
            return said
        of_all = []
        if answer.wrong:
            of_all.append(f"{answer.wrong} rows are on the wrong side")
        if answer.split != self.n_split or self.n_split == 0:
            of_all.append(f"{answer.split} rows are split off, not {self.n_split}")
        if not answer.spanned and not of_all:
            of_all.append("the rows of the proof do not span the rows on the hyperplane")
        return [*of_all, *said]

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
