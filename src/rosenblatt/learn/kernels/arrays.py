"""Arrays: what the loops are given, and how they are compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from numba import njit

from rosenblatt.data.compiled import only_linked, quick_to_load, stamped

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums; never flags that assume finite values
CONTRACT = {"contract"}
LINKED = only_linked()
# Kernels borrow their arrays: without this, every call counts references to each of them
# with atomic instructions, which costs more than an update. Not where arrays are made.
BORROWED: Any = {"_nrt": False} | LINKED

# What a score of exactly 0 is: see docs/conventions.md.
TIES = {"mistake": 0, "positive": 1, "correct": 2, "half": 3}
POSITIVE, CORRECT, HALF = 1, 2, 3
# Who is visited next.
IN_ORDER, SHUFFLED, SAMPLED = 0, 1, 2
STEADY, OPTIMAL, INVSCALING = 0, 1, 2
RATES = {"optimal": OPTIMAL, "invscaling": INVSCALING, "adaptive": STEADY}  # within a call
# Which weights are kept besides the last.
AVERAGE, POCKET = 1, 2
# Why `passes` came back.
RUNNING, SEPARATED, CYCLE, NO_IMPROVEMENT, FULL, OVERFLOW = 0, 1, 2, 3, 4, 5
# The rules of `Adaptive`.
PA, PA1, PA2, AROW, SCW, SOP = 0, 1, 2, 3, 4, 5
# Slots of Keeper.stats.
VISITS, RUN, BEST_RUN, BEST_ERRORS, CHECKED, HOLDS, PASS, BEST_PASS = 0, 1, 2, 3, 4, 5, 6, 7
# How many visits ahead to fetch rows, and how many cache lines of one at most.
NEAR, FAR, LINES = 6, 12, 16
# Slots of Stop.counters.
UPDATES, STALLED, POWER, LENGTH, UPDATES_AT_SAVE = 0, 1, 2, 3, 4
# Slots of Sketch.state, see `sift`.
SPAN, FLOOR, VAIN = 0, 1, 2
BLOCK = 256  # products of a sketch that are added up in float32
# Slots of Gram.state, see `refresh`.
LOW, EACH, WEIGHTS, REACH, LIMIT, MOVED, PEAK = 0, 1, 2, 3, 4, 5, 6
SINCE, ENOUGH, ALARMS, ALL_ALARMS, AWAKE, BLOCKS, WORK = 7, 8, 9, 10, 11, 12, 13
U, V = 2.0**-53, 2.0**-24  # the units of float64 and float32
LANES = 32  # margins that are kept are moved so many at a time


class Dense(NamedTuple):
    """Rows of a C-contiguous matrix."""

    X: Any


class Sparse(NamedTuple):
    """Rows of a CSR matrix that names no column of a row twice."""

    indptr: Any
    indices: Any
    data: Any


class Target(NamedTuple):
    """y: -1 or +1, 0 for a row that is not there (class number or -1 for `Direct`).
    weight: one number a row, or empty."""

    y: Any
    weight: Any


class Model(NamedTuple):
    """The weights: w (d,) and b (1,), or (K, d) and (K,); `flat` is a view of w.

    wide: w in float64, which `Online` scores with: w itself, or a copy that `widen` keeps.
    """

    w: Any
    b: Any
    flat: Any
    wide: Any


class Order(NamedTuple):
    """kind: who is next; index: the order of visits, empty when in order; seed (1,)."""

    kind: int
    index: Any
    seed: Any


class Keeper(NamedTuple):
    """What is kept besides the last weights: a running sum, or a pocket (flat)."""

    kind: int
    u: Any
    ub: Any
    best_w: Any
    best_b: Any
    stats: Any


class Log(NamedTuple):
    """The first `len(index)` updates: who, by how much, after how many visits, to where."""

    index: Any
    step: Any
    visit: Any
    w: Any
    b: Any
    count: Any


class Stop(NamedTuple):
    """When to stop, and what has to be remembered to know it."""

    max_updates: int
    tol: float
    patience: int
    clean: bool
    batch: bool
    size: float
    saved_w: Any
    saved_b: Any
    counters: Any
    best: Any


class Tape(NamedTuple):
    """One entry a pass."""

    mistakes: Any
    updates: Any
    loss: Any
    norm: Any


class Gram(NamedTuple):
    """Margins kept up to date instead of computed: see `refresh`.

    G[j, i] = y_i (x_i.x_j + 1) / R_i, without the 1 where there is no offset; R_i an upper
    bound on ||(x_i, 1)||. Of the rows that are awake, in order: who they are (then n); q,
    (margin - bar) / R up to an error (then inf); C, their rows and columns of G, each row
    of a whole number of `LANES`; low, one bit a row: q is not above state[LOW]. Of each
    row: slot, how many before it are awake; base, its margin at the last refresh, and the
    same scaled.
    """

    G: Any
    R: Any
    who: Any
    q: Any
    C: Any
    low: Any
    slot: Any
    base: Any
    scaled: Any
    state: Any


class Sketch(NamedTuple):
    """Dense rows and weights rounded to fewer bits: see `sift`. All empty: not in use.

    x_i ~ scale[i] short[i], whole numbers, with columns of 0 at the end; v: the weights.
    """

    short: Any
    scale: Any
    v: Any
    state: Any


class Run(NamedTuple):
    """Everything a pass reads and writes."""

    rows: Any
    target: Any
    model: Model
    order: Order
    keeper: Keeper
    log: Log
    stop: Stop
    tape: Tape
    tally: Any
    gram: Gram | None
    sketch: Sketch


class Online(NamedTuple):
    """w += eta y x at each mistake, one row at a time."""

    eta: float
    tau: float
    tie: int
    margin: bool
    intercept: bool
    repeat: bool


class Rate(NamedTuple):
    """The learning rate at visit t: eta, or by `kind` what falls with t."""

    kind: int
    eta: float
    power: float
    alpha: float
    t0: float


class Penalised(NamedTuple):
    """The same, with weight decay (L2) and cumulative truncation (L1) at every visit.

    q: what each weight got of L1; owed: what all owe, the norms the objective sees, and t.
    On sparse rows a weight is shrunk when its feature is next met or the pass ends: since
    its visit `last`, by the running sums `shrunk` (and `drift`, the same for the average).
    `scales`, `sigmas` and `owes` hold scale, sigma and owed[0] after each visit of the pass.
    """

    rate: Rate
    tau: float
    tie: int
    margin: bool
    intercept: bool
    alpha: float
    l1_ratio: float
    q: Any
    owed: Any
    last: Any
    shrunk: Any
    drift: Any
    scales: Any
    sigmas: Any
    owes: Any


class Batch(NamedTuple):
    """w += eta_k * sum (or mean) over all current mistakes of y x."""

    etas: Any
    tau: float
    tie: int
    margin: bool
    intercept: bool
    mean: bool


class Planes(NamedTuple):
    """Hyperplanes that `visit` trains side by side, one entry (or row) each.

    u, ub: the lazy sums of the average, or empty; spread: variances, offset first, or empty;
    settled: not to be moved any more; wrong (1,): rows for which another class scored as well or
    better before they were learned from.
    """

    w: Any
    b: Any
    u: Any
    ub: Any
    spread: Any
    visits: Any
    settled: Any
    mistakes: Any
    updates: Any
    wrong: Any


class Direct(NamedTuple):
    """Kesler: w_y += eta x, w_r -= eta x, r the best-scoring wrong class."""

    eta: float
    tau: float
    tie: int
    margin: bool
    intercept: bool
    repeat: bool


class Adaptive(NamedTuple):
    """w += step y S x, S -= beta Sx (Sx)': see adaptive.py. Two classes.

    kind: which rule; c: its C, r or a; phi: of SCW. spread: S, its diagonal or all of it, the
    offset first (a variance of 0: there is no offset); work: room for S x.
    """

    kind: int
    c: float
    phi: float
    tie: int
    intercept: bool
    spread: Any
    work: Any


class DirectAdaptive(NamedTuple):
    """The same for all classes at once; one S and one S x for each class."""

    kind: int
    c: float
    phi: float
    tie: int
    intercept: bool
    spread: Any
    work: Any


class Alma(NamedTuple):
    """Steps and the margin asked for shrink: see alma.py.

    theta: the weights before the link, that of the offset last.
    """

    bar: float
    step: float
    p: float
    tie: int
    intercept: bool
    theta: Any
    state: Any


def compiled(**options):
    """A function that only other kernels call: no Python wrapper to compile."""
    options |= {"nogil": True, "error_model": "numpy"}
    return njit(**options | BORROWED)


def entry_point(function):
    """njit with the disk cache, or without it where there is no place to write one."""
    try:
        cached = njit(cache=True, nogil=True, error_model="numpy")(function)
        return quick_to_load(stamped(cached, Path(__file__).parent))
    except RuntimeError:
        return njit(nogil=True, error_model="numpy")(function)


def is_a(numba_type, named_tuple):
    return getattr(numba_type, "instance_class", None) is named_tuple


def is_direct(run):
    """Whether there is one row of weights for each class."""
    model = run.types[run.fields.index("model")]
    return model.types[model.fields.index("w")].ndim == 2


def keeps_margins(run):
    return is_a(run.types[run.fields.index("gram")], Gram)
