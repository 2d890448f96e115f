"""Separability: can a hyperplane separate two classes? A verdict with its certificate.

With z_i = y_i (x_i, 1), or y_i x_i without offset, exactly one of three holds:

- separable: some w has w.z_i > 0 for all i;
- quasi-separable: some w has w.z_i >= 0 for all i and > 0 for some, none all > 0;
- overlapping: w.z_i >= 0 for all i forces w.z_i = 0 for all i.

The steps, each for the rows that the one before left over:

1. a short perceptron run settles most separable data (:mod:`.perceptron_start`);
2. features that split off rows by themselves (:mod:`.single_feature_splits`);
3. a linear program over a small working set finds rows that cancel, and a hyperplane through them
   that errs nowhere on the others (:mod:`.working_set`);
4. rational systems make the weights and the hyperplane exact (:mod:`.exact_repair`);
5. where floats mislead, the working set is decided over the rationals (:mod:`.exact_decision`).

Every certificate is verified before it is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, ConeBlock, as_cone
from rosenblatt.data.exact import floats_if_exact, primitive
from rosenblatt.errors import UndecidedError
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import (
    Certificate,
    Overlapping,
    QuasiSeparable,
    Separable,
    spoken_of,
)
from rosenblatt.prove.checker.signs import Plane, part_signs, violated
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.exact_decision import decide, random_orthogonal
from rosenblatt.prove.separability.exact_repair import (
    Face,
    Weights,
    cancelling_weights,
    combination_of,
)
from rosenblatt.prove.separability.perceptron_start import perceptron_start
from rosenblatt.prove.separability.scaling import ScaledCone, column_sizes, dense
from rosenblatt.prove.separability.single_feature_splits import (
    Splits,
    is_left,
    single_feature_splits,
    splits_ruled_out,
)
from rosenblatt.prove.separability.working_set import Proposal, WorkingSet, spread

Array = npt.NDArray[Any]


def separability(
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
) -> Certificate:
    """Decide whether a hyperplane separates the two classes, with a certificate.

    Parameters
    ----------
    X : array, CSR matrix, memory map or frame of shape (n_samples, n_features), or chunks
        Chunks are pairs (X, y), in something that can be iterated several times or is returned by
        a function.
    y : array of shape (n_samples,), optional
        Labels of two classes. None if X is chunks.
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds : float, optional
        Time limit.
    max_bits : int, optional
        Limit on the length of numerators and denominators.

    Returns
    -------
    Separable, QuasiSeparable or Overlapping
        The verdict and its proof.

    Raises
    ------
    UndecidedError
        If a limit was reached.
    DataError
        If X is invalid, or holds numbers that float64 rounds.
    LabelError
        If y does not have two classes.

    Examples
    --------
    >>> cert = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> cert.verdict, cert.witness.rows
    ('overlapping', (0, 1, 2, 3))
    >>> bool(cert.verify([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]))
    True
    """
    limits = Limits.starting_now(max_seconds, max_bits)
    return verdict_of(as_cone(X, y, fit_intercept), limits)


def verdict_of(cone: Cone, limits: Limits) -> Certificate:
    """The verdict on the rows of a cone."""
    return _Search(cone.within(limits.seconds_left), limits).decide()


class _Search:
    """The steps of the search, and certificates from what they find."""

    def __init__(self, cone: Cone, limits: Limits) -> None:
        self.cone, self.limits = cone, limits
        limits.check_time()
        sizes, ruled_out = zip(*cone.map(_summary, cone.constant), strict=True)
        self.scaled = ScaledCone.of(cone, sizes)
        self.splits, self.splits_ruled_out = Splits.none(cone), any(ruled_out)

    def decide(self) -> Certificate:
        """The verdict."""
        limits = self.limits
        start = perceptron_start(self.cone, limits)
        if start.separates and (found := self._separable(start.w.tolist())):
            return found
        limits.stage = "after a short perceptron run"
        limits.check_time()
        if not self.splits_ruled_out:
            self.splits = single_feature_splits(self.cone, limits)
        if len(left := self.splits.signs) == 0 or (len(left) == 1 and self.cone.constant):
            w = [Fraction(0)] * self.cone.n_columns
            if left:  # one class, which the offset alone puts on its side
                w[-1] = Fraction(left[0])
            if found := self._extended_separable(w):
                return found
        limits.stage = "with rows that no feature splits off by itself"
        working = WorkingSet(self.scaled, self.splits, start.w, limits)
        proposal = working.propose()
        if proposal is not None and (found := self._repaired(proposal, working.columns)):
            return found
        return self._by_rationals(working)

    def _repaired(self, proposal: Proposal, columns: Array) -> Certificate | None:
        """The certificate that these floats suggest, exactly; None if they mislead."""
        near = proposal.v[columns].tolist()
        if not proposal.face:
            exact = self.scaled.unscaled([Fraction(x) for x in near], columns)
            return self._extended_separable(exact)
        face, Z, exponents = self._face(proposal.face, columns)
        proofs = cancelling_weights(face, Z, exponents, self.limits)
        if proofs is None:
            return None
        if not any(near):
            return self._on_face(proofs, [Fraction(0)] * self.cone.n_columns)
        for bits in (8, 24, 53, 120):  # the fewest that do keep the rationals short
            self.limits.check_time()
            self.limits.check_system(*face.size)
            w = self.scaled.unscaled(face.hyperplane_through(near, bits), columns)
            if found := self._on_face(proofs, w):
                return found
        return None

    def _face(self, at: list[int], columns: Array) -> tuple[Face, Array, Array]:
        """Rows as integers and as scaled floats, and the exponents of the floats.

        Rows of equality are there twice, as z and as -z, so that all weights are positive.
        """
        block = self.cone.take(at)
        if block.equality is not None:
            twice = np.flatnonzero(block.equality)
            at = at + [~at[k] for k in twice.tolist()]
            block = block.part(np.append(np.arange(len(block)), twice))
            block.sign[-len(twice) :] *= -1
        Z, exponents = self.scaled.rows(block, columns)
        return Face.of(at, *self.scaled.integers(block, columns)), dense(Z), exponents

    def _on_face(self, proofs: tuple[Weights, Weights], rest: list[Fraction]) -> Certificate | None:
        """Quasi-separable or overlapping, if `rest` errs nowhere on the rows left."""
        proof, witness = map(combination_of, proofs)
        overlapping = Overlapping(**self._spoken, proof=proof, witness=witness)
        if not any(rest) and not self.splits.rounds:
            return overlapping._with_digest(self.cone)
        rounds_of = self.splits.rounds_of
        if rounds_of and any(self.cone.map(_errs, self.scaled.plane(rest), rounds_of)):
            return None
        for exactly in (False, True) if rounds_of else (False,):
            full = self._extended(rest, exactly)
            full = [Fraction(v) for v in primitive(full)]
            self.limits.check_bits(full)
            weights = self.scaled.plane(full)
            split = self.cone.map(_split_and_wrong, weights)
            if not any(wrong for _, wrong in split):
                if not (n_split := sum(n for n, _ in split)):
                    return overlapping._with_digest(self.cone)
                w, b = self._parted(floats_if_exact(full) or tuple(full))
                certificate = QuasiSeparable(
                    **self._spoken, w=w, b=b, proof=proof, witness=witness, n_split=n_split
                )
                return certificate._with_digest(self.cone)
        return None

    def _by_rationals(self, working: WorkingSet) -> Certificate:
        """Decide working sets over the rationals, however long it takes."""
        columns = working.columns
        while True:
            self.limits.stage = f"with {len(working.working)} rows, over the rationals"
            self.limits.check_time()
            face, _, _ = self._face(working.working, columns)
            decided = decide(face.rows, self.limits)
            self.limits.check_bits([*decided.w, *decided.weights])
            w = self.scaled.unscaled(decided.w, columns)
            on = [row for row, c in zip(face.rows, decided.weights, strict=True) if c]
            turned = None
            if on:  # a random direction orthogonal to the face moves what is not in its span
                turned = self.scaled.unscaled(random_orthogonal(on, working.rng), columns)
            if working.add(self._overlooked(w, turned, working)):
                continue
            proofs = face.weights(decided.weights), face.weights(decided.circuit)
            found = self._on_face(proofs, w) if on else self._extended_separable(w)
            if found is None:
                raise UndecidedError(f"a proof did not verify: stopped {self.limits.stage}.")
            return found

    def _overlooked(
        self, w: list[Fraction], turned: list[Fraction] | None, working: WorkingSet
    ) -> Array:
        """Rows on the wrong side of w, or on it though they are not in the span of the face."""
        planes = self.scaled.plane(w), None if turned is None else self.scaled.plane(turned)
        found = self.cone.map(_wrong_rows, *planes, self.splits.rounds_of, working.batch)
        return spread(np.concatenate(found), working.batch)

    def _extended(self, rest: list[Fraction], exactly: bool) -> list[Fraction]:
        """`rest` with multiples that make it right on the rows that single features split off."""
        return self.splits.extended(self.scaled, rest, self.limits, exactly)

    def _extended_separable(self, rest: list[Fraction]) -> Certificate | None:
        """Separable, if `rest` separates the rows left."""
        for exactly in (False, True):
            if found := self._separable(self._extended(rest, exactly)):
                return found
        return None

    def _separable(self, w: Sequence[Any]) -> Certificate | None:
        """The certificate, if w has every row strictly on its side: in floats if they do."""
        for short in _as_short_as_possible(w):
            vector, b = self._parted(short)
            low = checker.margin_of(self.cone, vector, b, self.cone.constant)
            found = Separable(**self._spoken, w=vector, b=b, margin=low)
            if verified := found._with_digest(self.cone):
                return verified
        return None

    def _parted(self, w: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        d = self.cone.n_features
        return tuple(w[:d]), w[d] if self.cone.constant else 0.0

    @property
    def _spoken(self) -> dict[str, Any]:
        return spoken_of(self.cone, self.cone.constant)


def _summary(block: ConeBlock, constant: bool) -> tuple[tuple[Array, Array], bool]:
    """The sizes of the columns, and whether no single feature splits off rows."""
    return column_sizes(block), splits_ruled_out(block, constant)


def _errs(block: ConeBlock, plane: Plane, rounds_of: Array | None) -> bool:
    """Whether a row left is on the wrong side."""
    return bool(violated(block, part_signs(block, plane))[is_left(block, rounds_of)].any())


def _split_and_wrong(block: ConeBlock, plane: Plane) -> tuple[int, int]:
    """How many rows are strictly on their side, and how many on the wrong one."""
    found = part_signs(block, plane)
    return int((found > 0).sum()), int(violated(block, found).sum())


def _wrong_rows(
    block: ConeBlock, plane: Plane, turned: Plane | None, rounds_of: Array | None, most: int
) -> Array:
    """Rows left that are on the wrong side; or on the plane, and moved by `turned`, if given."""
    found = part_signs(block, plane)
    on = found == 0
    if turned is not None:
        on &= part_signs(block, turned) != 0
    wrong = on | violated(block, found)
    return block.first_row + spread(np.flatnonzero(wrong & is_left(block, rounds_of)), most)


def _as_short_as_possible(w: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """w rounded to floats if it has finite ones, then w itself unless that is the same."""
    top = max((abs(Fraction(v)) for v in w), default=Fraction(0)) or Fraction(1)
    power = top.numerator.bit_length() - top.denominator.bit_length()
    unit = Fraction(2) ** power if abs(power) > 900 else Fraction(1)
    floats = tuple(float(Fraction(v) / unit) for v in w)
    yield floats
    if any(Fraction(f) * unit != v for f, v in zip(floats, w, strict=True)):
        yield tuple(Fraction(v) for v in primitive(w))
