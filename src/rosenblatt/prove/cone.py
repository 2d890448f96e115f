"""Cone: the rows z_i = y_i (x_i, 1) as the searches see them, in floats, scaled.

Each column is multiplied by a power of two that brings its largest entry to about 1. That is
exact, moves no hyperplane (w.z = (w / scale).(scale z)), and linear programs need it: HiGHS drops
entries below 1e-9 and refuses large ones. Weights of scaled columns are called v, w = scale v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Part, Rows

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Cone:
    """All z_i. `exponents` are those of the scale, `y` the labels -1 and +1."""

    rows: Rows
    intercept: bool
    exponents: npt.NDArray[np.int64]
    y: npt.NDArray[np.int8]

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> Cone:
        """One reading of the rows: their labels, and how large their columns are."""
        top, labels = np.zeros(rows.n_features), []
        for part in rows.parts():
            top = np.maximum(top, np.maximum(_ends(part.X.max(axis=0)), -_ends(part.X.min(axis=0))))
            labels.append(part.y)
        top = np.append(top, 1.0) if intercept else top
        exponents = -np.frexp(np.where(top > 0, top, 1.0))[1].astype(np.int64)
        return cls(rows, intercept, exponents, np.concatenate(labels).astype(np.int8))

    @property
    def n_columns(self) -> int:
        return len(self.exponents)

    def scaled(self, at: Any) -> Array:
        """The scaled z_i of these rows, dense, each divided by a power of two of its own size."""
        part = self.rows.take(at)
        Z = np.asarray(dense(part.X), dtype=np.float64)
        if self.intercept:
            Z = np.hstack([Z, np.ones((len(Z), 1))])
        Z = np.ldexp(Z * part.y[:, None], self.exponents)
        return unit(Z)

    def scores(self, v: Array) -> Array:
        """w.z_i in floats for every row; what overflows counts as 0."""
        out = [scores for _, scores in self.score_parts(v)]
        return np.concatenate(out) if len(out) > 1 else out[0]

    def score_parts(self, v: Array) -> Iterator[tuple[Part, Array]]:
        """Part by part: the rows, and w.z_i for them."""
        with np.errstate(all="ignore"):
            w = np.ldexp(v, self.exponents)
            for part in self.rows.parts():
                raw = part.X @ w[: self.rows.n_features]
                if self.intercept:
                    raw = raw + w[-1]
                yield part, np.nan_to_num(raw * part.y, nan=0.0)


def unit(Z: Array) -> Array:
    """Rows divided by powers of two of their size."""
    return np.asarray(np.ldexp(Z, -np.frexp(np.abs(Z).max(axis=1, initial=0.0))[1][:, None]))


def dense(X: Any) -> Array:
    """A part's rows as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _ends(values: Any) -> Array:
    return dense(values).astype(np.float64).ravel()
