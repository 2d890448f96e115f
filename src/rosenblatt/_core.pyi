"""Compiled core: rows, scores, training loops and parsers."""

from collections.abc import Sequence
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

class Code(enum.Enum):
    """Why a call into the core returned."""

    RUNNING = 0

    SEPARATED = 1

    CYCLE = 2

    NO_IMPROVEMENT = 3

    FULL = 4

    OVERFLOW = 5

    INTERRUPTED = 6

class Block:
    """Rows with class numbers (-1: not visited) and weights."""

    def __init__(self, rows: object, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, seen: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None) -> None: ...

class AdditiveRule:
    """The perceptron rule, also with a margin tau."""

    def __init__(self, eta: float, tau: float, tie: int, margin: bool, fit_intercept: bool) -> None: ...

class AdaptiveRule:
    """Passive-aggressive and second-order rules."""

    def __init__(self, kind: int, c: float, phi: float, tie: int, full: bool) -> None: ...

class ScaledRule:
    """An additive rule with a penalty or a changing rate."""

    def __init__(self, rule: AdditiveRule, alpha: float, l1_ratio: float, rate: int, adaptive: bool, power: float, rate_alpha: float, t0: float, t: float) -> None: ...

class AlmaRule:
    """ALMA for the Euclidean norm."""

    def __init__(self, required: float, step: float, tie: int, fit_intercept: bool) -> None: ...

class BatchRule:
    """All misclassified rows at once: their sum or their mean."""

    def __init__(self, rule: AdditiveRule, etas: Sequence[float], mean: bool) -> None: ...

class MinOverRule:
    """The row of smallest margin is added at every step."""

    def __init__(self, gap: float, steps_per_epoch: int, kept_columns: int, tie: int, fit_intercept: bool) -> None: ...

class Machine:
    """Hyperplanes, the rule that moves them and stop tests."""

    def __init__(self, rule: AdditiveRule | AdaptiveRule | ScaledRule | AlmaRule | BatchRule | MinOverRule, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], *, u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None, ub: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, variance: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None, direct: bool = False, positive: int = 1, repeat: bool = False, round32: bool = False, order: int = 0, seed: int = 0, pocket: bool = False, log_capacity: int = 0, tally: bool = False, class_weight: Sequence[float] = [], visits: float = 0.0, updates: int = 0, max_updates: int = 9223372036854775807, tol: float = float('-inf'), patience: int = 5, clean: bool = True, watch_cycle: bool = False, size: float = 0.0) -> None: ...

    def visit(self, block: Block, most: int = 9223372036854775807) -> Code:
        """
        Visit the rows of a block, at most `most` of them; `position` is 0 when it is done.
        """

    def close_epoch(self, block: Block | None = None) -> Code:
        """
        End the epoch: the batch step, the weights in their own units, the totals.
        """

    def judge(self, block: Block | None = None, objective: float | None = None) -> Code:
        """Whether to stop after the epoch that was closed."""

    def epochs(self, block: Block, n: int) -> Code:
        """Up to n epochs over one block."""

    def cancel(self) -> None:
        """Make a call in another thread return soon."""

    def set_etas(self, etas: Sequence[float]) -> None: ...

    def log(self) -> dict:
        """The updates that were noted: row, amount, visit, w, b, count."""

    def totals(self) -> dict:
        """Mistakes, updates, loss and norm of every epoch."""

    def get_state(self) -> dict:
        """What a run needs to go on, besides the arrays of weights."""

    def set_state(self, state: dict) -> None: ...

    @property
    def position(self) -> int: ...

    @property
    def n_epochs(self) -> int: ...

    @property
    def visits(self) -> float: ...

    @property
    def updates(self) -> int: ...

    @property
    def cycle_length(self) -> int: ...

    @property
    def cycle_updates(self) -> int: ...

    @property
    def tally(self) -> NDArray[numpy.float64]: ...

    @property
    def pocket(self) -> tuple:
        """The weights in the pocket, the offsets, and their epoch."""

    @property
    def margin(self) -> tuple: ...

def decide(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """
    Class numbers from scores (n, planes): score >= 0, or the first of the best.
    """

def shuffled_order(n: int, seed: int, kind: int = 1, epochs: int = 1) -> NDArray[numpy.int64]:
    """The order of visits in the last of some epochs."""
