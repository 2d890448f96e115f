"""Compiled core: rows, scores, training loops and parsers."""

import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


def cpu() -> str:
    """Name of the instruction set in use: v2, v3, v4, or base."""

def cpus() -> list[str]:
    """Names of the instruction sets that this machine runs, slowest first."""

class Rows:
    """Rows of a C-contiguous matrix, or of a CSR matrix, read in place."""

    def __init__(self, data: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], indices: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None, indptr: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None, n_features: int | None = None, *, cpu: str | None = None) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def dot(self, i: int, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """w.x of row i."""

    def square(self, i: int) -> float:
        """x.x of row i."""

    def variance(self, i: int, S: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """x'Sx of row i with a leading 1, S diagonal."""

    def add(self, i: int, c: float, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], round32: bool = False) -> None:
        """w += c x of row i."""

    def nudge(self, i: int, c: float, visits: float, beta: float, S: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, round32: bool = False) -> None:
        """
        w += c S x of row i, u += visits times that, and S contracted along it.
        """

    def entries(self, i: int) -> tuple[list[int], list[float]]:
        """Columns and values of row i."""

    def scan(self, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], positive: int, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, t: int = 0, bar: float = 0.0, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, seen: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple[int, float]:
        """
        First visit from t on whose row has no label or a margin not above bar; its score.
        """

def scores(rows: Rows, W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    W[p].x + b[p] of every row (n_rows, planes); threads do not change the bits.
    """

class CsrForm(enum.Enum):
    """Form of the indices of a CSR matrix."""

    BROKEN = 0
    """Not a CSR matrix."""

    SORTED = 1
    """The columns of every row rise."""

    UNIQUE = 2
    """Some row is unsorted; none names a column twice."""

    REPEATED = 3
    """Some row names a column twice."""

def csr_form(indptr: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], indices: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], n_features: int) -> CsrForm:
    """
    Form of a CSR matrix: whether its indices are valid, sorted and unique.
    """
