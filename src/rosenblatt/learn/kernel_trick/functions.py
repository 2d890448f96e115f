"""Functions: what stands for the inner product. K(x, z) = phi(x).phi(z), phi never computed.

    linear   x.z
    poly     (gamma x.z + coef0)^degree        (1 + x.z)^d is gamma=1, coef0=1
    rbf      exp(-gamma ||x - z||^2)

The products of many rows with many rows are one call of BLAS. They have the type of the rows:
float32 rows have float32 kernel values, which halves the time; sums over support rows are
float64 always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import DataError, OverflowedError, ParameterError

Array = npt.NDArray[Any]
Matrix = Any  # dense or CSR
NAMES = ("linear", "poly", "rbf")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its numbers settled.

    Examples
    --------
    >>> Kernel("poly", degree=2, gamma=1.0, coef0=1.0).block([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    name: str
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def of(cls, kernel: Any, degree: Any, gamma: Any, coef0: Any, X: Matrix) -> Kernel:
        """Check what the user wrote; gamma='scale' looks at the rows."""
        if callable(kernel):
            return cls("callable", function=kernel)
        if not (isinstance(kernel, str) and kernel in NAMES):
            raise ParameterError(
                f"kernel must be one of {NAMES} or a function k(A, B) of two blocks of rows, got "
                f"{kernel!r}."
            )
        if not (_is_number(degree, Integral) and degree >= 1):
            raise ParameterError(f"degree must be a whole number >= 1, got {degree!r}.")
        if not (_is_number(coef0) and np.isfinite(coef0)):
            raise ParameterError(f"coef0 must be a finite number, got {coef0!r}.")
        return cls(kernel, int(degree), _gamma(gamma, X), float(coef0))

    def block(self, A: Matrix, B: Matrix) -> Array:
        """K(a, b) for every row a of A (down) and b of B (across)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._block(A, B)
            total = values.sum(dtype=np.float64)
        if not (np.isfinite(total) or np.isfinite(values).all()):
            raise OverflowedError(
                f"Floating-point overflow: a value of the kernel {self.name!r} left the range of "
                f"{values.dtype}. Scale the data, lower degree or gamma, or give float64."
            )
        return values

    def _block(self, A: Matrix, B: Matrix) -> Array:
        if self.function is not None:
            return self._called(A, B)
        if self.name == "linear":
            return _products(A, B)
        if self.name == "poly":
            G = _products(A, B)
            G *= self.gamma
            G += self.coef0
            return _power(G, self.degree)
        G = _products(A, B)
        G *= -2.0
        G += _squares(A)[:, None]
        G += _squares(B)
        np.maximum(G, 0.0, out=G)  # rounding can leave a distance below 0
        G *= -self.gamma
        return np.exp(G, out=G)

    def _called(self, A: Matrix, B: Matrix) -> Array:
        assert self.function is not None
        given = self.function(A, B)
        values = np.asarray(given.toarray() if sp.issparse(given) else given)
        if values.shape != (A.shape[0], B.shape[0]) or values.dtype.kind not in "fiub":
            raise ParameterError(
                f"kernel(A, B) gave {values.dtype} values of shape {values.shape} for "
                f"{A.shape[0]} and {B.shape[0]} rows. It must give a number for each pair: shape "
                f"{(A.shape[0], B.shape[0])}."
            )
        if not np.isfinite(values).all():
            raise DataError("kernel(A, B) gave NaN or infinity. Give a kernel that is finite.")
        return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)


def _is_number(v: Any, kind: Any = Real) -> bool:
    return isinstance(v, kind) and not isinstance(v, (bool, np.bool_))


def _gamma(gamma: Any, X: Matrix) -> float:
    """scikit-learn's words: 'auto' is 1 / d, 'scale' is 1 / (d Var X), 1 where Var X = 0."""
    if isinstance(gamma, str) and gamma == "auto":
        return float(1.0 / X.shape[1])
    if isinstance(gamma, str) and gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(X):
                size = X.shape[0] * X.shape[1]
                wide = X.data.astype(np.float64)
                variance = np.square(wide).sum() / size - (wide.sum() / size) ** 2
            else:
                variance = X.var(dtype=np.float64)
        if not np.isfinite(variance):
            raise OverflowedError(
                "Floating-point overflow: the variance that gamma='scale' asks for is not finite. "
                "Scale the data or give gamma as a number."
            )
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    if _is_number(gamma) and 0 <= gamma < np.inf:
        return float(gamma)
    raise ParameterError(f"gamma must be 'scale', 'auto' or a finite number >= 0, got {gamma!r}.")


def _products(A: Matrix, B: Matrix) -> Array:
    product = A @ B.T if hasattr(B, "T") else np.asarray(A) @ np.asarray(B).T
    return np.asarray(product.toarray() if sp.issparse(product) else product)


def _squares(A: Matrix) -> Array:
    """||a||^2 of each row."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A))


def _power(G: Array, degree: int) -> Array:
    """G^degree by squaring, G overwritten; exact where whole numbers are."""
    result = None
    while degree > 1:
        if degree & 1:
            result = G.copy() if result is None else np.multiply(result, G, out=result)
        np.multiply(G, G, out=G)
        degree >>= 1
    return G if result is None else np.multiply(result, G, out=result)
