"""Kernels: inner products of rows in a feature space that is never computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import all_finite
from rosenblatt.errors import DataError, OverflowedError, ParameterError
from rosenblatt.learn.parameters import is_number

Array = npt.NDArray[Any]
Matrix = Any  # a numpy array or a scipy CSR matrix
KERNELS = ("linear", "poly", "rbf")


def is_sparse(matrix: Matrix) -> bool:
    """Whether a matrix is of scipy.sparse, which is not imported for dense rows."""
    return hasattr(matrix, "toarray")


@dataclass(frozen=True)
class Kernel:
    """K(x, z) = phi(x).phi(z), where phi is never computed.

        linear   x.z
        poly     (gamma x.z + coef0)^degree
        rbf      exp(-gamma ||x - z||^2)

    float32 rows have float32 kernel values, which halves the time; sums over support rows are
    always float64.

    Examples
    --------
    >>> square = Kernel("poly", degree=2, gamma=1.0, coef0=1.0)
    >>> square.matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    name: str
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def from_params(cls, kernel: Any, degree: Any, gamma: Any, coef0: Any, X: Matrix) -> Kernel:
        """Validate the parameters of an estimator; gamma='scale' depends on the rows X."""
        if callable(kernel):
            return cls("callable", function=kernel)
        if not (isinstance(kernel, str) and kernel in KERNELS):
            raise ParameterError(
                f"kernel must be one of {KERNELS} or a function k(A, B) of two blocks of rows, "
                f"got {kernel!r}."
            )
        if not (is_number(degree, Integral) and degree >= 1):
            raise ParameterError(f"degree must be an integer >= 1, got {degree!r}.")
        if not (is_number(coef0) and np.isfinite(coef0)):
            raise ParameterError(f"coef0 must be a finite number, got {coef0!r}.")
        return cls(kernel, int(degree), _gamma(gamma, X), float(coef0))

    def matrix(self, A: Matrix, B: Matrix) -> Array:
        """Return K(a, b) for every row a of A (down) and b of B (across)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.ascontiguousarray(self._values(A, B))
        if not all_finite(values):
            raise OverflowedError(
                f"Floating-point overflow: a value of the kernel {self.name!r} is beyond the range "
                f"of {values.dtype}. Scale the data, lower degree or gamma, or use float64."
            )
        return values

    def _values(self, A: Matrix, B: Matrix) -> Array:
        if self.function is not None:
            return self._call(self.function, A, B)
        product = A @ B.T
        G: Array = product.toarray() if is_sparse(product) else np.asarray(product)
        if self.name == "poly":
            G *= self.gamma
            G += self.coef0
            return _power(G, self.degree)
        if self.name == "rbf":
            G *= -2.0
            G += _squares(A)[:, None]
            G += _squares(B)
            np.maximum(G, 0.0, out=G)  # rounding can make a distance negative
            G *= -self.gamma
            return np.exp(G, out=G)
        return G

    def _call(self, function: Callable[[Any, Any], Any], A: Matrix, B: Matrix) -> Array:
        result = function(A, B)
        values = np.asarray(result.toarray() if is_sparse(result) else result)
        shape = (A.shape[0], B.shape[0])
        if values.shape != shape or values.dtype.kind not in "fiub":
            raise ParameterError(
                f"kernel(A, B) returned {values.dtype} values of shape {values.shape} for "
                f"{shape[0]} and {shape[1]} rows. It must return one number per pair of rows: "
                f"shape {shape}."
            )
        if not np.isfinite(values).all():
            raise DataError("kernel(A, B) returned NaN or infinity. It must return finite values.")
        return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)


def _gamma(gamma: Any, X: Matrix) -> float:
    """Return 1 / d for 'auto', 1 / (d Var X) for 'scale' (1 where Var X = 0), as scikit-learn."""
    if isinstance(gamma, str) and gamma == "auto":
        return float(1.0 / X.shape[1])
    if isinstance(gamma, str) and gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            if is_sparse(X):
                size = X.shape[0] * X.shape[1]
                entries = X.data.astype(np.float64)
                variance = np.square(entries).sum() / size - (entries.sum() / size) ** 2
            else:
                variance = X.var(dtype=np.float64)
        if not np.isfinite(variance):
            raise OverflowedError(
                "Floating-point overflow: the variance of X, which gamma='scale' needs, is not "
                "finite. Scale the data or pass gamma as a number."
            )
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    if is_number(gamma) and 0 <= gamma < np.inf:
        return float(gamma)
    raise ParameterError(f"gamma must be 'scale', 'auto' or a finite number >= 0, got {gamma!r}.")


def _squares(A: Matrix) -> Array:
    """Return ||a||^2 of each row."""
    if is_sparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A))


def _power(G: Array, degree: int) -> Array:
    """Return G^degree by squaring; G is overwritten. Exact for small integers."""
    result = None
    while degree > 1:
        if degree & 1:
            result = G.copy() if result is None else np.multiply(result, G, out=result)
        np.multiply(G, G, out=G)
        degree >>= 1
    return G if result is None else np.multiply(result, G, out=result)
