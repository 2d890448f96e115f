"""Separability: can two classes be separated by a hyperplane? A verdict with a proof.

With z_i = y_i (x_i, 1), or y_i x_i without offset, exactly one of three holds:

- separable: some w has w.z_i > 0 for all i;
- quasi-separable: some w has w.z_i >= 0 for all i and > 0 for some, none all > 0;
- overlapping: w.z_i >= 0 for all i forces w.z_i = 0 for all i.

The search, each step for the rows that the one before left over:

1. a short perceptron run settles most separable data (:mod:`.search.short_run`);
2. features that split off rows by themselves are peeled off (:mod:`.search.peel`);
3. linear programs over a small working set find rows that cancel, and a hyperplane through them
   that errs nowhere on the others (:mod:`.search.faces`);
4. floats only propose: one rational system makes the weights of the face exact, another puts
   the hyperplane through it exactly (:mod:`.search.proofs`);
5. where that fails the working set is decided over the rationals (:mod:`.search.rational`).

No verdict leaves unverified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.data.chunks import Part, Rows, as_rows
from rosenblatt.errors import ParameterError, Undecided
from rosenblatt.prove import exact
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    QuasiSeparable,
    Separable,
    spoken_of,
)
from rosenblatt.prove.checking.plane import Plane, part_signs
from rosenblatt.prove.claims.reading import Question, ask
from rosenblatt.prove.search import rational
from rosenblatt.prove.search.cone import Array, Cone
from rosenblatt.prove.search.faces import Faces, Proposal, spread
from rosenblatt.prove.search.limits import Limits
from rosenblatt.prove.search.peel import Peeled, is_left, peel
from rosenblatt.prove.search.proofs import Proofs, combination, primitive
from rosenblatt.prove.search.short_run import short_run


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
) -> Certificate:
    """Whether a hyperplane separates the two classes, with a certificate.

    Parameters
    ----------
    X : array, CSR matrix, memory map or frame of shape (n, d)
        Or, with y left out, something that can be iterated again and again (or a function that
        returns it anew) and yields chunks (X, y); they are read several times.
    y : labels of two classes
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds, max_bits : optional
        Give up with `Undecided` after this time, or when a rational needs more bits.

    Examples
    --------
    >>> cert = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> cert.verdict, cert.witness.rows
    ('overlapping', (0, 1, 2, 3))
    >>> bool(cert.verify([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]))
    True
    """
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ParameterError(f"fit_intercept must be True or False, got {fit_intercept!r}.")
    limits = Limits.starting_now(max_seconds, max_bits)
    return _Search(as_rows(X, y), bool(fit_intercept), limits).decide()


class _Search:
    """From one step of the search to the next, and from what it found to a certificate."""

    def __init__(self, rows: Rows, intercept: bool, limits: Limits) -> None:
        self.rows, self.intercept, self.limits = rows, intercept, limits
        limits.check_time()
        self.cone = Cone.of(rows, intercept)
        self.peeled = Peeled.nothing(self.cone)

    def decide(self) -> Certificate:
        limits = self.limits
        run = short_run(self.cone, limits)
        if run.clean and (found := self._separable(run.w.tolist())):
            return found
        limits.stage = "after a short perceptron run"
        limits.check_time()
        self.peeled = peel(self.cone, limits)
        if found := self._all_peeled():
            return found
        limits.stage = "with rows that no feature splits off by itself"
        with np.errstate(over="ignore"):
            guess = np.ldexp(run.w, -self.cone.exponents)
        faces = Faces(self.cone, self.peeled, guess, limits)
        proofs = Proofs(self.cone, faces.columns, limits)
        proposal = faces.propose()
        if proposal is not None and (found := self._proven(proposal, faces, proofs)):
            return found
        return self._by_rationals(faces, proofs)

    def _all_peeled(self) -> Certificate | None:
        """Nothing left, or one class that an offset alone puts on its side."""
        left = self.peeled.labels
        if not left or (len(left) == 1 and self.intercept):
            w = [Fraction(0)] * self.cone.n_columns
            if left:
                w[-1] = Fraction(left[0])
            return self._lifted(w)
        return None

    def _proven(self, proposal: Proposal, faces: Faces, proofs: Proofs) -> Certificate | None:
        """The certificate that these floats suggest, exactly; None if they mislead."""
        near = proposal.v[faces.columns].tolist()
        if not proposal.face:
            return self._lifted(self._unscaled([Fraction(x) for x in near], faces))
        face = proofs.face(proposal.face)
        pair = proofs.of(face)
        if pair is None:
            return None
        self.limits.check_time()
        if not any(near):
            return self._on_face(pair, [Fraction(0)] * self.cone.n_columns)
        for bits in (8, 24, 53, 120):  # the fewest that do keep the rationals short
            self.limits.check_time()
            w = exact.hyperplane_through(face, near, bits)
            if found := self._on_face(pair, self._unscaled(w, faces)):
                return found
        return None

    def _unscaled(self, v: Sequence[Fraction], faces: Faces) -> list[Fraction]:
        """Weights of all columns from weights of the scaled ones that tell rows apart."""
        w = [Fraction(0)] * self.cone.n_columns
        for j, c in zip(faces.columns.tolist(), v, strict=True):
            w[j] = c * Fraction(2) ** int(self.cone.exponents[j])
        return w

    def _on_face(
        self, proofs: tuple[Combination, Combination], rest: list[Fraction]
    ) -> Certificate | None:
        """Quasi-separable or overlapping, if `rest` errs nowhere on the rows left."""
        proof, witness = proofs
        if not any(rest) and not self.peeled.rounds:
            return self._verified(Overlapping(**self._spoken, proof=proof, witness=witness))
        if any(self.rows.each(_errs, self._plane(_floats_if_exact(rest)), self.peeled.rounds_of)):
            return None
        for exactly in (False, True):
            full = primitive(self._extended(rest, exactly))
            self.limits.check_bits(full)
            w, b = self._parted(_floats_if_exact(full))
            sides = ask(self.rows, Question(self._plane(_floats_if_exact(full))))
            if not sides.wrong:
                return self._verified(
                    QuasiSeparable(
                        **self._spoken,
                        w=w,
                        b=b,
                        proof=proof,
                        witness=witness,
                        n_split=sides.split,
                    )
                    if sides.split
                    else Overlapping(**self._spoken, proof=proof, witness=witness)
                )
        return None

    def _by_rationals(self, faces: Faces, proofs: Proofs) -> Certificate:
        """Floats cannot see it: decide working sets over the rationals, however long it takes."""
        while True:
            self.limits.stage = f"with {len(faces.working)} rows, over the rationals"
            self.limits.check_time()
            rows, exponents = proofs.integers(faces.working)
            decided = rational.decide(rows, self.limits.check_time)
            self.limits.check_bits([*decided.w, *decided.weights])
            w = self._unscaled(decided.w, faces)
            face = [row for row, c in zip(rows, decided.weights, strict=True) if c]
            if faces.add(self._overlooked_exactly(w, face, faces)):
                continue
            at = exact.Face(faces.working, rows, exponents, [], [])
            pair = combination(at, decided.weights), combination(at, decided.circuit)
            found = self._on_face(pair, w) if face else self._lifted(w)
            if found is None:
                raise Undecided(f"a proof did not verify: stopped {self.limits.stage}.")
            return found

    def _overlooked_exactly(self, w: list[Fraction], face: exact.Rows, faces: Faces) -> Array:
        """Rows on the wrong side of w, or on it though they are not in the span of the face."""
        turned = None
        if face:  # a random direction orthogonal to the face moves what is not in its span
            turned = self._unscaled(rational.random_orthogonal(face, faces.rng), faces)
        planes = self._plane(w), None if turned is None else self._plane(turned)
        found = self.rows.each(_wrong_rows, *planes, self.peeled.rounds_of, faces.batch)
        return spread(np.concatenate(list(found)), faces.batch)

    def _lifted(self, rest: list[Fraction]) -> Certificate | None:
        """Separable, if `rest` separates the rows left."""
        for exactly in (False, True):
            w = self._extended(rest, exactly)
            if found := self._separable(w):
                return found
        return None

    def _extended(self, rest: list[Fraction], exactly: bool) -> list[Fraction]:
        """`rest` made right on the rows that single features split off."""
        return self.peeled.extended(self.cone, rest, exactly, self.limits)

    def _separable(self, w: Sequence[Any]) -> Certificate | None:
        """The certificate, if w has every row strictly on its side: in floats if they do."""
        for plain in _as_short_as_possible(w):
            vector, b = self._parted(plain)
            low, high = checker.margin_interval(self.rows, vector, b, self.intercept)
            if low > 0 or self._is_strict(plain):
                return self._verified(
                    Separable(
                        **self._spoken,
                        w=vector,
                        b=b,
                        margin=low,
                        margin_bound=high,
                    )
                )
        return None

    def _is_strict(self, w: Sequence[Any]) -> bool:
        """Whether w has every row strictly on its side."""
        sides = ask(self.rows, Question(self._plane(w)))
        return not sides.wrong and not sides.on

    def _parted(self, w: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        d = self.rows.n_features
        return tuple(w[:d]), w[d] if self.intercept else 0.0

    def _plane(self, w: Sequence[Any]) -> Plane:
        return checker.plane_of(*self._parted(w), self.intercept)

    @property
    def _spoken(self) -> dict[str, Any]:
        return spoken_of(self.rows, self.intercept, digest="")

    def _verified(self, certificate: Certificate) -> Certificate | None:
        """No answer leaves unverified. The digest is taken in the same reading."""
        untrue, answer = certificate._looked(self.rows, digest=True)
        if untrue:
            return None
        return replace(certificate, data=str(answer.digest), sealed=None).described(self.rows)


def _errs(part: Part, plane: Plane, rounds_of: Array | None) -> bool:
    """Whether a row left is on the wrong side."""
    return bool((part_signs(part, plane)[is_left(part, rounds_of)] < 0).any())


def _wrong_rows(
    part: Part, plane: Plane, turned: Plane | None, rounds_of: Array | None, places: int
) -> Array:
    """Rows left that are on the wrong side; or on the plane, and moved by `turned`, if given."""
    signs = part_signs(part, plane)
    wrong = signs <= 0
    if turned is not None:
        wrong = (signs < 0) | ((signs == 0) & (part_signs(part, turned) != 0))
    return part.start + spread(np.flatnonzero(wrong & is_left(part, rounds_of)), places)


def _as_short_as_possible(w: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """w rounded to floats if it has finite ones, then w itself unless that is the same."""
    top = max((abs(Fraction(v)) for v in w), default=Fraction(0)) or Fraction(1)
    power = top.numerator.bit_length() - top.denominator.bit_length()
    unit = Fraction(2) ** power if abs(power) > 900 else Fraction(1)
    floats = tuple(float(Fraction(v) / unit) for v in w)
    yield floats
    if any(Fraction(f) * unit != v for f, v in zip(floats, w, strict=True)):
        yield tuple(primitive([Fraction(v) for v in w]))


def _floats_if_exact(values: Sequence[Fraction]) -> tuple[Any, ...]:
    """Floats where floats can do it, rationals otherwise."""
    if all(abs(v.numerator) < 2**1000 for v in values):
        floats = tuple(float(v) for v in values)
        if all(Fraction(f) == v for f, v in zip(floats, values, strict=True)):
            return floats
    return tuple(values)
