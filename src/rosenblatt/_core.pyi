"""Compiled core: rows, scores, training loops and parsers."""

from collections.abc import Sequence
import enum
from typing import Annotated, Final, overload

import numpy
import numpy.typing
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

def all_finite(values: Annotated[NDArray, dict(order='C', device='cpu', writable=False)]) -> bool:
    """Whether no number of a C-contiguous array is NaN or infinite."""

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
    """MinOver: every step adds the row of smallest margin."""

    def __init__(self, gap: float, steps_per_epoch: int, kept_columns: int, tie: int, fit_intercept: bool) -> None: ...

class Code(enum.Enum):
    """Why a call into the core returned."""

    RUNNING = 0

    SEPARATED = 1

    CYCLE = 2

    NO_IMPROVEMENT = 3

    MAX_UPDATES = 4

    OVERFLOW = 5

    INTERRUPTED = 6

class Block:
    """Rows with class numbers (-1: not visited) and weights."""

    def __init__(self, rows: object, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, seen: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None) -> None: ...

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

    def moved(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], *, u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None, ub: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, variance: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')] | None = None, direct: bool, positive: int, sign: float, class_weight: Sequence[float]) -> Machine:
        """
        A copy of this machine that goes on in other arrays, which hold its weights and have as
        many features or more. A sign of -1: the two classes have changed sides.
        """

    def log(self) -> dict:
        """The updates that were noted: row, amount, visit, w, b, count."""

    def totals(self) -> dict:
        """Mistakes, updates, loss and norm of every epoch."""

    def get_state(self, order: bool = True) -> dict:
        """
        What a run needs to continue, besides the arrays of weights. order=False leaves out the
        order of visits, one entry per row; set_state does not accept such a state.
        """

    def set_state(self, state: dict) -> None:
        """Continue from what get_state returned."""

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

class FeatureIndex:
    """Columns of features, which are pairs of texts."""

    def __init__(self, hash_bits: int | None = None, max_features: int = 1000000, max_name_bytes: int = 1000) -> None: ...

    def add(self, name: str, namespace: str = '', reserved: bool = False) -> int:
        """
        The column of a feature, a new one if it has none; FULL or TOO_LONG if it gets none.
        """

    def find(self, name: str, namespace: str = '') -> int:
        """The column of a feature, -1 if it has none."""

    def find_all(self, names: list[str], namespace: str = '') -> numpy.typing.NDArray[numpy.int32]:
        """`find` for a list of names."""

    def pair(self, column: int) -> tuple[str, str]:
        """Namespace and name of a column."""

    def names(self, joint: str = '=') -> list[str]:
        """
        Name of each column, after its namespace, if it is in one, and `joint`.
        """

    def add_all(self, other: FeatureIndex) -> numpy.typing.NDArray[numpy.int32]:
        """
        Add the features of another index in order; their columns here, negative for none.
        """

    def arrays(self) -> tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]:
        """
        Bytes of all texts, their offsets and namespaces. Namespaces come first, with -1.
        """

    @staticmethod
    def from_arrays(names: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], spaces: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_features: int = 1000000, max_name_bytes: int = 1000) -> FeatureIndex:
        """An index from `arrays`. Raises ValueError if they are damaged."""

    def copy(self) -> FeatureIndex:
        """A copy that grows alone."""

    def __len__(self) -> int: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple[int, int, int, tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]]], /) -> None: ...

    @property
    def hash_bits(self) -> int | None: ...

    @property
    def n_features(self) -> int:
        """Columns: as many as features, or 2**hash_bits."""

    @property
    def max_features(self) -> int: ...

    @property
    def max_name_bytes(self) -> int: ...

    FULL: Final[int] = ...
    """(arg: object, /) -> int"""

    TOO_LONG: Final[int] = ...
    """(arg: object, /) -> int"""

PLAIN_COLUMNS: int = 4194304

def renumber_columns(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int = 0) -> None:
    """
    Replace columns from `first` on by those that `columns` gives, in place, and sort rows.
    """

class OnlineModel:
    """Machines that learn from one Python row at a time."""

    def __init__(self, machines: list, labels: list, names: object, kind: int, plain_columns: int, n_features: int, open: bool, average: bool, cannot_overflow: bool, counts: Sequence[int], n_rows: int, n_mistakes: int) -> None: ...

    def learn(self, x: object | None, y: object | None) -> bool:
        """
        Learn from a row; False if nothing was done: Python says why, or makes room.
        """

    def learn_rows(self, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, new_names: FeatureIndex, careful: bool) -> int:
        """
        Learn from rows in order; how many were learned from, -1 if care is needed first.
        """

    def predict(self, x: object | None) -> object:
        """The label of a row, or NotImplemented."""

    @property
    def names(self) -> object: ...

    @property
    def n_features(self) -> int: ...

    @property
    def counts(self) -> list[int]: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_mistakes(self) -> int: ...

def index_rows(rows: list, names: FeatureIndex, plain_columns: int, n_features: int, named: bool) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], int, FeatureIndex, int] | None:
    """
    Dict rows in CSR form: values, columns, row starts, number of features, new names, and
    plain_columns.
    """

class LineError(enum.Enum):
    """Why a line is malformed."""

    OUT_OF_RANGE = 1

    NAME_TOO_LONG = 2

    TOO_MANY_NAMES = 3

    LABEL = 4

    QUERY = 5

    INDEX = 6

    INDEX_ORDER = 7

    INDEX_ZERO = 8

    INDEX_TOO_LARGE = 9

    VALUE = 10

    AFTER_VALUE = 11

    TAB_BEFORE_BAR = 12

    MISSING_BAR = 13

    LABEL_WORDS = 14

    NEGATIVE_WEIGHT = 15

    NAMESPACE_NAME = 16

    NAMESPACE_SCALE = 17

    FEATURE_VALUE = 18

    AFTER_FEATURE = 19

    QUOTE_OPEN = 20

    AFTER_QUOTE = 21

    BARE_QUOTE = 22

    LONE_CR = 23

    NOT_UTF8 = 24

    CELL_COUNT = 25

    NOT_A_NUMBER = 26

    INTEGER_TOO_LARGE = 27

    MISSING_LABEL = 28

    LABEL_TOO_LONG = 29

class BadLine:
    """A malformed line: where it is wrong, and why."""

    @property
    def line(self) -> int:
        """Number of the line in the block, from 1."""

    @property
    def column(self) -> int:
        """Byte of the line, from 1."""

    @property
    def offset(self) -> int:
        """Byte of the block, from 0."""

    @property
    def error(self) -> LineError: ...

    @property
    def cell(self) -> int:
        """
        CSV: the cell, from 0; of CELL_COUNT, how many there are. Otherwise -1.
        """

class ParsedRows:
    """Rows of a block of text, in CSR form."""

    @property
    def labels(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """NaN where a row has none."""

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
        """None if no row names its weight."""

    @property
    def indptr(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def max_index(self) -> int:
        """LIBSVM: the largest index as written; -1 if there is none."""

    @property
    def has_zero(self) -> bool:
        """LIBSVM: whether an index as written is 0."""

    @property
    def n_lines(self) -> int: ...

    @property
    def n_bad_lines(self) -> int: ...

    @property
    def bad_lines(self) -> list[BadLine]:
        """The first ten malformed lines."""

def parse_libsvm(text: bytes | bytearray | memoryview | numpy.typing.NDArray[numpy.uint8], zero_based: bool | None = None, max_index: int | None = None, features: FeatureIndex | None = None, plain_columns: int = 4194304) -> ParsedRows:
    """
    Parse lines of LIBSVM text. zero_based=None: indices count from 1, and 0 becomes column -1.
    max_index is the largest index allowed, as written. An empty index of features gets the
    indices from plain_columns on; index k of it becomes column plain_columns + k
    (less 1 if indices count from 1), and rows are not sorted then.
    """

def parse_vw(text: bytes | bytearray | memoryview | numpy.typing.NDArray[numpy.uint8], bits: int = 18, hash_all: bool = False, features: FeatureIndex | None = None) -> ParsedRows:
    """
    Parse lines of VW text. Columns are those of Vowpal Wabbit with -b BITS, or of an empty index,
    which gets the features of the block by exact name.
    """

class ParsedTable:
    """Records of a block of CSV text."""

    @property
    def numbers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """One row per record, one column for each n and m; NaN: missing or text."""

    @property
    def codes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]:
        """
        One row per record, one column for each t and l: places in words; -1: missing.
        """

    @property
    def words(self) -> list:
        """Distinct texts of each t and l."""

    @property
    def odd(self) -> dict:
        """Texts in mixed columns: {column of numbers: (rows, codes, words)}."""

    @property
    def n_lines(self) -> int: ...

    @property
    def n_bad_lines(self) -> int: ...

    @property
    def bad_lines(self) -> list[BadLine]:
        """The first ten malformed lines."""

def parse_csv(text: bytes | bytearray | memoryview, kinds: str, delimiter: str = ',', missing: Sequence[str] = ..., missing_labels: Sequence[str] = ..., longest_cell: int = 16777216, max_label_bytes: int = 1000) -> ParsedTable:
    """
    Parse whole records of CSV text. kinds has one letter per column: n (number), m (number or text), t (text), l (label), - (not kept).
    """

def csv_records_end(text: bytes | bytearray | memoryview, delimiter: str = ',', longest_cell: int = 16777216) -> int:
    """
    Where the last whole record ends in CSV text that goes on; 0 if there is none.
    """

def csv_first_record(text: bytes | bytearray | memoryview, delimiter: str = ',', longest_cell: int = 16777216) -> tuple[list[str] | None, int]:
    """
    The cells of the first record (None if it is malformed), and where the next begins.
    """

def murmur3(key: bytes, seed: int = 0) -> int:
    """MurmurHash3_x86_32 of a key."""

class Stop:
    """Tests at the end of an epoch: clean, cycle, no gain."""

    def __init__(self, *, tol: float | None = None, patience: int = 5, clean: bool = True, watch_cycle: bool = False) -> None: ...

    def start(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """The weights before the first epoch, for watch_cycle."""

    def end_epoch(self, updates: int, objective: float | None = None, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> Code:
        """
        Judge an epoch by its updates, its objective and the weights after it. Returns
        RUNNING, SEPARATED, CYCLE or NO_IMPROVEMENT.
        """

    @property
    def cycle_length(self) -> int:
        """After CYCLE: its epochs."""

    @property
    def cycle_updates(self) -> int:
        """After CYCLE: its updates."""

class Order:
    """The order of visits: 0 in order, 1 shuffled, 2 sampled."""

    def __init__(self, kind: int = 0, seed: int = 0) -> None: ...

    def arrange(self, n: int) -> NDArray[numpy.int64]:
        """Row numbers of the next epoch of n rows."""

def assemble_rows(n_rows: int, parts: Sequence[tuple[numpy.typing.NDArray[numpy.int32] | numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]]) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]:
    """
    CSR rows (indptr, indices, values) from parts that have a cell per row: numbers and their
    column, NaN for none, or places of words, -1 for none, and the column of each word, -1
    for none.
    """

def least_and_greatest(values: numpy.typing.NDArray[numpy.float64]) -> tuple[float, float]:
    """
    The least and the greatest number, NaN aside; (inf, -inf) if there is none.
    """

def standardize_csr(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_new: int, count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], entries: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Standardize the rows in place with running means and deviations. Rows from `first_new` on
    are counted, and their entries of each column too, in `entries`. Returns the first row
    that is not finite then, or -1.
    """

def standardize_dense(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_new: int, count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """The same for dense rows, without counts of entries."""

class GramBlock:
    """Rows of a kernel perceptron in visiting order."""

    def __init__(self, gram: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], visits: int) -> None: ...

class SupportRows:
    """Coefficients of support rows, in place."""

    def __init__(self, coef: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], lag: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], first_row: int, size: int) -> None: ...

    @property
    def size(self) -> int: ...

def kernel_visit(block: GramBlock, support: SupportRows, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], square_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Visit a block; every mistake adds its row. Returns the code, the rows of the block
    that were added, and the visit, support row, hyperplane and amount of each step.
    """

def kernel_visit_dropping(block: GramBlock, support: SupportRows, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], limit: int, seed: int, mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Visit a block; a row beyond the limit takes the place of a random one. Returns the
    code, the row of the block that took each place (or -1) and the next seed.
    """

def kernel_visit_projecting(block: GramBlock, support: SupportRows, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], limit: int, eta: float, inverse: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], mistakes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], square_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Visit a block; rows near the span of the support rows are projected onto it. Returns
    the code and the row of the block that took each place (or -1).
    """

@overload
def kernel_replay(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

@overload
def kernel_replay(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], visit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    Last, mean and voted scores (3, ends, rows) of one hyperplane after visits.
    """
