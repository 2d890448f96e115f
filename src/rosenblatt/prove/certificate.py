"""Certificate: a verdict with its proof. Separable | QuasiSeparable | Overlapping.

Write z_i = y_i (x_i, 1), or y_i x_i without offset. A certificate holds numbers only; what
they prove, `verify` checks from the raw data (:mod:`rosenblatt.prove.verify`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from rosenblatt.data.chunks import Rows, as_rows
from rosenblatt.prove import verify as checker
from rosenblatt.prove.checking.plane import Floor, Plane, part_signs
from rosenblatt.prove.checking.span import Span
from rosenblatt.prove.claims import words
from rosenblatt.prove.claims.claim import (
    VERDICTS,
    Array,
    Certificate,
    Combination,
    Facts,
    Verification,
)
from rosenblatt.prove.claims.digest import data_digest
from rosenblatt.prove.claims.reading import Answer, Question, ask

Number = float | Fraction
FEW_FEATURES = 6  # of a point that is still worth reading
__all__ = [
    "Certificate",
    "Combination",
    "Overlapping",
    "QuasiSeparable",
    "Separable",
    "Verification",
    "data_digest",
    "from_json",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class _WithHyperplane(Certificate):
    w: tuple[Number, ...]
    b: Number

    def split_rows(self, X: Any, y: Any = None) -> Array:
        return np.flatnonzero(checker.signs(as_rows(X, y), self.w, self.b, self.fit_intercept) > 0)

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
    witness_signs: tuple[int, ...] | None = None  # y of the rows of the witness
    point: tuple[Fraction, ...] | None = None  # the point of both hulls, if short

    def described(self, rows: Rows) -> Self:
        """With the labels of the witness and its point, if that is short; sealed anew."""
        signs, point = checker.labels(rows, self.witness.rows), None
        if self.fit_intercept and self.n_features <= FEW_FEATURES:
            point = checker.common_point(rows, self.witness.rows, self.witness.weights)
            point = None if any(words.short(v) is None for v in point) else point
        return replace(self, witness_signs=signs, point=point, sealed=None)

    def _false_proof(self, rows: Rows, plane: Plane | None) -> list[str]:
        """What is not true of the combinations, which are of rows on a hyperplane, if any."""
        said, parts = [], [("proof", self.proof), ("witness", self.witness)]
        for name, part in parts[:1] if self.witness == self.proof else parts:
            if not checker.cancels(rows, part.rows, part.weights, self.fit_intercept):
                said.append(f"the weights of the {name} do not cancel, or are not positive")
            elif plane is not None and part_signs(rows.take(part.rows), plane).any():
                said.append(f"rows of the {name} do not lie on the hyperplane")
        return said or self._false_description(rows)

    def _span(self, rows: Rows, orthogonal: tuple[Number, ...] | None = None) -> Span:
        return Span.of(rows.take(self.proof.rows).X, self.fit_intercept, orthogonal)

    def _false_description(self, rows: Rows) -> list[str]:
        at, weights = self.witness.rows, self.witness.weights
        if self.witness_signs is not None and self.witness_signs != checker.labels(rows, at):
            return ["the labels of the witness are others"]
        if self.point is None:
            return []
        if not self.fit_intercept or self.n_features > FEW_FEATURES:
            return ["there is no such point of the witness"]
        if self.point != checker.common_point(rows, at, weights):
            return ["the point of the witness is another"]
        return []

    def _witness_words(self, names: list[str]) -> tuple[str, str]:
        rows, weights = self.witness.rows, self.witness.weights
        if self.witness_signs is None:
            said = words.rows_words(rows)
        elif self.fit_intercept:
            labels = (self.negative, self.positive)
            said = words.hull_words(rows, weights, self.witness_signs, labels)
        else:
            said = words.origin_words(rows, weights, self.witness_signs)
        if not self.fit_intercept:
            return "witness", f"To look at: the origin lies in the hull of the y*x: {said}."
        where = "" if self.point is None else f", {words.point_words(self.point, names)}"
        return "witness", f"To look at: a point lies in both convex hulls{where}: {said}."


def spoken_of(rows: Rows, intercept: bool, digest: str | None = None) -> dict[str, Any]:
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
        "feature_names": rows.feature_names,
    }


@dataclass(frozen=True, kw_only=True, repr=False)
class Separable(_WithHyperplane):
    """A hyperplane with y_i (w.x_i + b) > 0 for every row.

    `margin` is at most its own, min y_i (w.x_i + b) / ||w||. No hyperplane has more than
    `margin_bound`, which is at least half the distance of the means of the classes; without
    offset, the norm of the mean of the y_i x_i. Both are floats.
    """

    verdict: ClassVar[str] = "separable"

    margin: float
    margin_bound: float

    def _asked(self, rows: Rows) -> tuple[list[str], Question]:
        if said := self._no_hyperplane():
            return said, Question()
        plane = self._plane
        return [], Question(plane, floor=Floor.of(plane, self.margin), means=True)

    def _false(self, rows: Rows, said: list[str], answer: Answer) -> list[str]:
        if said:
            return said
        if bad := answer.wrong + answer.on:
            first = answer.first_bad
            return [f"{bad} rows are not strictly on their side, the first is {first}"]
        if not answer.cleared:
            said.append(f"the margin of its hyperplane is less than {self.margin!r}")
        sums = answer.sums
        if sums is None or not checker.bounded_by(
            sums, rows, self.fit_intercept, self.margin_bound
        ):
            said.append(f"the means of the classes do not bound margins by {self.margin_bound!r}")
        return said

    def _facts(self, names: list[str]) -> Facts:
        return [
            (
                "verdict",
                f"separable {self._where}: a hyperplane has all {self.n_rows} rows strictly on "
                "their own side.",
            ),
            self._sides(),
            (
                "margin",
                f"Its margin is {self.margin:.6g}; no hyperplane has more than "
                f"{self.margin_bound:.6g} (max_margin finds the largest).",
            ),
            self._weights(names),
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class Overlapping(_WithProof):
    """Positive weights on rows whose z_i cancel and span every z_i.

    Then w.z_i >= 0 for all rows forces w.z_i = 0 for all [Stiemke]: no hyperplane errs
    nowhere, unless all rows lie on it. `witness` is a small set of rows that cancel, for people: a
    point in both convex hulls (without offset: the origin in the hull of the y_i x_i). It
    proves only that nothing separates strictly.
    """

    verdict: ClassVar[str] = "overlapping"

    def _asked(self, rows: Rows) -> tuple[list[str], Question]:
        said = self._false_proof(rows, None)
        return said, Question() if said else Question(span=self._span(rows))

    def _false(self, rows: Rows, said: list[str], answer: Answer) -> list[str]:
        return said if answer.spanned else [*said, "the rows of the proof do not span all rows"]

    def split_rows(self, X: Any, y: Any = None) -> Array:
        return np.empty(0, dtype=np.int64)

    def _facts(self, names: list[str]) -> Facts:
        return [
            (
                "verdict",
                f"overlapping {self._where}: every hyperplane has some row on the wrong side, "
                "unless all rows lie on it.",
            ),
            (
                "proof",
                f"{len(self.proof)} rows prove it: with positive weights they cancel exactly, and "
                f"they span all {self.n_rows} rows ({words.rows_words(self.proof.rows)}).",
            ),
            self._witness_words(names),
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class QuasiSeparable(_WithHyperplane, _WithProof):
    """A hyperplane with y_i (w.x_i + b) >= 0 for all rows and > 0 for some, and no better.

    `proof`: positive weights on rows that lie on it, which cancel (so nothing separates
    strictly) and span all rows that lie on it (so no hyperplane splits off more).
    """

    verdict: ClassVar[str] = "quasi-separable"

    n_split: int  # rows strictly on their side
    first_split: tuple[int, ...] = ()  # the first few of them, for people

    def described(self, rows: Rows) -> Self:
        """With the labels and the point of the witness, and the first rows split off."""
        found = ask(rows, Question(self._plane, few=words.FEW_ROWS))
        return replace(super().described(rows), first_split=found.first_split, sealed=None)

    def _asked(self, rows: Rows) -> tuple[list[str], Question]:
        if said := self._no_hyperplane():
            return said, Question()
        said = self._false_proof(rows, self._plane)
        span = None if said else self._span(rows, (*self.w, self.b))
        return said, Question(self._plane, few=len(self.first_split), span=span)

    def _false(self, rows: Rows, said: list[str], answer: Answer) -> list[str]:
        if self._no_hyperplane():
            return said
        of_all = []
        if answer.wrong:
            of_all.append(f"{answer.wrong} rows are on the wrong side")
        if answer.split != self.n_split or self.n_split == 0:
            of_all.append(f"{answer.split} rows are split off, not {self.n_split}")
        if self.first_split != answer.first_split:
            of_all.append("the first rows split off are others")
        if not answer.spanned and not of_all:
            of_all.append("the rows of the proof do not span the rows on the hyperplane")
        return [*of_all, *said]

    def _facts(self, names: list[str]) -> Facts:
        split = words.rows_words(self.first_split, self.n_split) if self.first_split else ""
        return [
            (
                "verdict",
                f"quasi-separable {self._where}: a hyperplane has no row on the wrong side, splits "
                f"off {self.n_split} of {self.n_rows} rows, and the other "
                f"{self.n_rows - self.n_split} lie on it.",
            ),
            *([("split off", f"Split off: {split}.")] if split else []),
            (
                "proof",
                "No hyperplane separates strictly or splits off more: with positive weights "
                f"{len(self.proof)} of the rows on it cancel exactly, and they span all that lie "
                f"on it ({words.rows_words(self.proof.rows)}).",
            ),
            self._witness_words(names),
            self._sides(),
            self._weights(names),
        ]


VERDICTS.update((c.verdict, c) for c in (Separable, QuasiSeparable, Overlapping))
from_json = Certificate.from_json
