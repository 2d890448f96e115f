"""Certificate: a verdict with its proof. Separable | QuasiSeparable | Overlapping.

Write z_i = y_i (x_i, 1), or y_i x_i without offset. A certificate holds numbers only; what
they prove, `verify` checks from the raw data (:mod:`rosenblatt.prove.verify`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from fractions import Fraction
from html import escape
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Rows, as_rows
from rosenblatt.errors import DataError
from rosenblatt.prove import verify as checker

Array = npt.NDArray[Any]
Number = float | Fraction
FORMAT = "rosenblatt-certificate-1"
DIGESTED = 1 << 16  # numbers digested at once


@dataclass(frozen=True)
class Verification:
    """Two questions apart: is it unaltered, and is it true? True only if both hold."""

    integrity: bool
    truth: bool
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.integrity and self.truth

    def __str__(self) -> str:
        if self:
            return "verified: unaltered, and true of these data"
        return "NOT verified: " + "; ".join(self.problems)


@dataclass(frozen=True)
class Combination:
    """Positive weights on rows whose z_i cancel exactly."""

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Certificate:
    """What every verdict carries.

    Attributes
    ----------
    fit_intercept : bool
        Whether hyperplanes with an offset were meant.
    n_rows, n_features : int
    data : str
        Digest of the rows and labels it speaks of.
    """

    verdict: ClassVar[str]

    fit_intercept: bool
    n_rows: int
    n_features: int
    data: str
    positive: str  # the label called +1
    negative: str

    @property
    def digest(self) -> str:
        """Digest of everything the certificate says."""
        return _digest_of(_plain(self))

    def verify(self, X: Any, y: Any = None, digest: str | None = None) -> Verification:
        """Check integrity and truth against the raw data, exactly.

        `digest` is the one written beside the certificate, if it came from a file.
        """
        rows = as_rows(X, y)
        problems = []
        if digest is not None and digest != self.digest:
            problems.append("the certificate was altered: its digest does not fit")
        if self.data != data_digest(rows):
            problems.append("these are not the data it was made for: their digest differs")
        integrity = not problems
        truth = self._untrue(rows)
        return Verification(integrity, not truth, (*problems, *truth))

    def _untrue(self, rows: Rows) -> list[str]:
        """What is not true, in words."""
        if rows.n_features != self.n_features or rows.n_rows != self.n_rows:
            return [
                f"it speaks of {self.n_rows} x {self.n_features} numbers, these are "
                f"{rows.n_rows} x {rows.n_features}"
            ]
        return self._false(rows)

    def _false(self, rows: Rows) -> list[str]:
        raise NotImplementedError

    def to_json(self) -> str:
        """The certificate and its digest as text; rationals and floats exactly."""
        content = _plain(self)
        return json.dumps({"format": FORMAT, "digest": _digest_of(content), **content}, indent=1)

    def __str__(self) -> str:
        return self.explain()

    def explain(self, feature_names: Any = None) -> str:
        """The verdict in plain words."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"

    @property
    def _where(self) -> str:
        return "with an offset" if self.fit_intercept else "through the origin"


@dataclass(frozen=True)
class Separable(Certificate):
    """A hyperplane with y_i (w.x_i + b) > 0 for every row.

    `margin` is its own, min y_i (w.x_i + b) / ||w||; no hyperplane has more than
    `margin_bound`. Both are floats, rounded down and up.
    """

    verdict: ClassVar[str] = "separable"

    w: tuple[Number, ...]
    b: Number
    margin: float
    margin_bound: float

    def _false(self, rows: Rows) -> list[str]:
        if len(self.w) != rows.n_features:
            return [f"w has {len(self.w)} entries for {rows.n_features} features"]
        found = checker.signs(rows, self.w, self.b, self.fit_intercept)
        wrong = np.flatnonzero(found <= 0)
        if wrong.size:
            return [f"{wrong.size} rows are not strictly on their side, the first is {wrong[0]}"]
        return []

    def explain(self, feature_names: Any = None) -> str:
        return (
            f"separable {self._where}: a hyperplane has all {self.n_rows} rows strictly on their "
            f"own side.\nIts margin is {self.margin:.6g}; no hyperplane has more than "
            f"{self.margin_bound:.6g}.\n{_largest_weights(self.w, feature_names)}"
        )


@dataclass(frozen=True)
class Overlapping(Certificate):
    """Positive weights on rows whose z_i cancel and span every z_i.

    Then w.z_i >= 0 for all rows forces w.z_i = 0 for all [Stiemke]: no hyperplane errs
    nowhere, unless all rows lie on it. `witness` is a smallest such set, for people: a
    point in both convex hulls (without offset: the origin in the hull of the y_i x_i). It
    proves only that nothing separates strictly.
    """

    verdict: ClassVar[str] = "overlapping"

    proof: Combination
    witness: Combination

    def _false(self, rows: Rows) -> list[str]:
        said = []
        for name, part in (("proof", self.proof), ("witness", self.witness)):
            if not checker.cancels(rows, part.rows, part.weights, self.fit_intercept):
                said.append(f"the weights of the {name} do not cancel, or are not positive")
        everything = np.ones(rows.n_rows, dtype=bool)
        if not said and not checker.spans(rows, self.proof.rows, everything, self.fit_intercept):
            said.append("the rows of the proof do not span all rows")
        return said

    def explain(self, feature_names: Any = None) -> str:
        return (
            f"overlapping {self._where}: no hyperplane errs nowhere.\n{len(self.proof)} rows prove "
            "it: with positive weights they cancel exactly, and they span all "
            f"{self.n_rows} rows.\n{_witness_words(self)}"
        )


@dataclass(frozen=True)
class QuasiSeparable(Certificate):
    """A hyperplane with y_i (w.x_i + b) >= 0 for all rows and > 0 for some, and no better.

    `proof`: positive weights on rows that lie on it, which cancel (so nothing separates
    strictly) and span all rows that lie on it (so no hyperplane splits off more).
    """

    verdict: ClassVar[str] = "quasi-separable"

    w: tuple[Number, ...]
    b: Number
    proof: Combination
    witness: Combination
    n_split: int  # rows strictly on their side

    def _false(self, rows: Rows) -> list[str]:
        intercept = self.fit_intercept
        if len(self.w) != rows.n_features:
            return [f"w has {len(self.w)} entries for {rows.n_features} features"]
        found = checker.signs(rows, self.w, self.b, intercept)
        said = []
        if (found < 0).any():
            said.append(f"{(found < 0).sum()} rows are on the wrong side")
        if (found > 0).sum() != self.n_split or self.n_split == 0:
            said.append(f"{(found > 0).sum()} rows are split off, not {self.n_split}")
        on = found == 0
        for name, part in (("proof", self.proof), ("witness", self.witness)):
            if not checker.cancels(rows, part.rows, part.weights, intercept):
                said.append(f"the weights of the {name} do not cancel, or are not positive")
            elif not on[list(part.rows)].all():
                said.append(f"rows of the {name} do not lie on the hyperplane")
        if not said and not checker.spans(rows, self.proof.rows, on, intercept):
            said.append("the rows of the proof do not span the rows on the hyperplane")
        return said

    def split_rows(self, X: Any, y: Any = None) -> Array:
        """The rows strictly on their side."""
        found = checker.signs(as_rows(X, y), self.w, self.b, self.fit_intercept)
        return np.flatnonzero(found > 0)

    def explain(self, feature_names: Any = None) -> str:
        return (
            f"quasi-separable {self._where}: a hyperplane has no row on the wrong side, splits off "
            f"{self.n_split} of {self.n_rows} rows, and the other {self.n_rows - self.n_split} lie "
            "on it.\nNo hyperplane separates strictly or splits off more: with positive weights "
            f"{len(self.proof)} of the rows on it cancel exactly.\n{_witness_words(self)}\n"
            f"{_largest_weights(self.w, feature_names)}"
        )


VERDICTS: dict[str, type[Certificate]] = {
    c.verdict: c for c in (Separable, QuasiSeparable, Overlapping)
}


def from_json(text: str) -> tuple[Certificate, str]:
    """A certificate from `to_json`, and the digest written in it (for `verify`)."""
    try:
        content = json.loads(text)
        if content.pop("format") != FORMAT:
            raise ValueError("unknown format")
        digest, cls = str(content.pop("digest")), VERDICTS[content.pop("verdict")]
        made = {f.name: _parsed(f.name, content.pop(f.name)) for f in fields(cls)}
        if content:
            raise ValueError(f"unexpected entries {sorted(content)}")
        return cls(**made), digest
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as e:
        raise DataError(
            f"this is not a certificate: {type(e).__name__}: {e}. Give the JSON that to_json wrote."
        ) from e


def _parsed(name: str, value: Any) -> Any:
    if name in ("proof", "witness"):
        rows = tuple(_whole_number(i) for i in value["rows"])
        return Combination(rows, tuple(Fraction(str(c)) for c in value["weights"]))
    if name == "w":
        return tuple(_number(v) for v in value)
    if name == "b":
        return _number(value)
    if name in ("n_rows", "n_features", "n_split"):
        return _whole_number(value)
    if name in ("margin", "margin_bound"):
        return float(value)
    if name == "fit_intercept":
        if not isinstance(value, bool):
            raise ValueError("fit_intercept must be true or false")
        return value
    return str(value)


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _number(value: Any) -> Number:
    if isinstance(value, str):
        return Fraction(value)
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number


def _plain(certificate: Certificate) -> dict[str, Any]:
    """The certificate as JSON values: floats as floats, rationals as text."""

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return str(value)
        if isinstance(value, Combination):
            return {"rows": list(value.rows), "weights": [str(c) for c in value.weights]}
        if isinstance(value, tuple):
            return [plain(v) for v in value]
        return value

    content = {f.name: plain(getattr(certificate, f.name)) for f in fields(certificate)}
    return {"verdict": certificate.verdict, **content}


def _digest_of(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def data_digest(rows: Rows) -> str:
    """SHA-256 of the numbers and labels, whatever holds them.

    The same for dense and CSR, float32 and float64, any order in memory and any chunks: four
    streams are digested apart, each row by row, and then their digests together. They are the
    labels, how many entries of a row are not zero, these entries as float64, and their columns
    unless none is missing.
    """
    labels, counts, values, columns = streams = [hashlib.sha256() for _ in range(4)]
    d = rows.n_features
    for part in rows.parts():
        labels.update(part.y.astype(np.int8).tobytes())
        n, size = part.X.shape[0], part.X.nnz if sp.issparse(part.X) else part.X.size
        step = max(1, n * DIGESTED // max(size, 1))
        for low in range(0, n, step):
            count, value, column = _entries(part.X[low : low + step], d)
            counts.update(count.astype("<i8").data)
            values.update(np.ascontiguousarray(value, dtype="<f8").data)
            columns.update(column.astype("<i8").data)
    whole = hashlib.sha256(np.array([rows.n_rows, d], dtype="<i8").tobytes())
    for stream in streams:
        whole.update(stream.digest())
    return whole.hexdigest()


def _entries(X: Any, d: int) -> tuple[Array, Array, Array]:
    """Entries other than 0: how many in each row, their values, columns of rows with gaps."""
    n = X.shape[0]
    if sp.issparse(X):
        count, value, column = np.diff(X.indptr), X.data, X.indices
        keep = value != 0
        if not keep.all():
            row = np.repeat(np.arange(n), count)
            count = np.bincount(row[keep], minlength=n)
            value, column = value[keep], column[keep]
    else:
        there = X != 0
        if there.all():
            return np.full(n, d), X, np.empty(0, dtype=np.int64)
        count, value = there.sum(axis=1), X[there]
        column = np.flatnonzero(there) % d
    return count, value, column[np.repeat(count < d, count)]


def _largest_weights(w: tuple[Number, ...], names: Any) -> str:
    order = sorted(range(len(w)), key=lambda j: abs(Fraction(w[j])), reverse=True)[:5]
    label = [f"feature {j}" for j in range(len(w))] if names is None else [str(n) for n in names]
    shown = ", ".join(f"{label[j]} {_shown(w[j])}" for j in order if w[j])
    return f"Largest weights: {shown}." if shown else "All weights are 0."


def _shown(value: Number) -> str:
    try:
        return f"{float(value):.4g}"
    except OverflowError:
        return "beyond 1e308"


def _witness_words(certificate: Overlapping | QuasiSeparable) -> str:
    rows = ", ".join(str(i) for i in certificate.witness.rows[:8])
    more = "" if len(certificate.witness) <= 8 else f" and {len(certificate.witness) - 8} more"
    if certificate.fit_intercept:
        return f"To look at: rows {rows}{more} have a point in common in both convex hulls."
    return f"To look at: the origin lies in the hull of y*x of rows {rows}{more}."
