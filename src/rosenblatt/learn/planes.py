"""Planes: hyperplanes trained side by side on rows that come in pieces.

Two classes share one hyperplane. More have one each, class against rest, and each stops by itself:
after a pass that moved nothing, or when its weights come back to earlier ones (Brent's way to see
it: the weights are compared with those after pass 1, 3, 7, 15, ...).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.reading import Chunk
from rosenblatt.data.tensors import Damaged
from rosenblatt.errors import DataError, NotSupportedError, OverflowedError
from rosenblatt.learn import kernels
from rosenblatt.learn.keep import Keep, State
from rosenblatt.learn.machine import ADAPTIVE_KINDS, first_variances
from rosenblatt.learn.rules import RULES, Adaptive, Margin, SecondOrder
from rosenblatt.learn.trace import StopReason
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]
NO_WEIGHTS = np.empty(0)
WIDE = {"w": 0, "u": 0, "spread": 1}  # arrays as wide as the features, and one more for an offset


class Planes:
    """Where the hyperplanes stand, and what every pass did.

    Parameters
    ----------
    n : how many; one parts class 1 from class 0, several each their class from the rest
    update : the rule, one row at a time
    keep : "last" or "average"
    same_order : whether every pass visits the rows in the same order. If not, weights that come
        back prove nothing: they may go elsewhere from there.
    """

    def __init__(self, n: int, update: Update, keep: Keep, same_order: bool = True) -> None:
        whole = isinstance(update.rule, SecondOrder) and update.rule.covariance == "full"
        falls = update.penalty is not None or update.rate is not None
        if update.mode != "online" or falls or update.weighting != "scale":
            raise NotSupportedError(
                "rows in pieces are learned from one at a time, without a penalty or falling rate, "
                "and weights scale the updates. Use Perceptron for other ways."
            )
        if whole or not (update.rule.has_rate or isinstance(update.rule, Adaptive)):
            raise NotSupportedError(
                f"rule={update.rule!r} needs all rows at hand, or more room than a stream of "
                "features allows. Use Perceptron, or with covariance='diagonal' one of "
                f"{[n for n, r in RULES.items() if r.has_rate or issubclass(r, Adaptive)]}."
            )
        if keep not in ("average", "last"):
            raise NotSupportedError(f"keep must be 'average' or 'last' for rows, got {keep!r}.")
        self.keep, self.update = keep, update
        self._cycles = update.moves_by_rows and same_order
        self.rule = stream_rule(update)
        self._variance = 1.0 / float(getattr(update.rule, "a", 1.0))  # of a new feature
        self.width = 0
        self.reasons: list[StopReason | None] = [None] * n
        self.mistakes: list[Array] = []
        self.updates: list[Array] = []
        self.wrong: list[int] = []
        self.compile_seconds = 0.0
        self._saved: tuple[Array, Array] | None = None  # None: all zeros
        self._power, self._length = 1, 0
        counts = np.zeros(n, dtype=np.int64)
        sums = np.zeros((n if keep == "average" else 0, 1))
        spread = np.zeros((0, 1))
        if isinstance(update.rule, Adaptive):
            spread = first_variances(update.rule, (n, 1), update.fit_intercept)
        self._arrays = kernels.Planes(
            w=np.zeros((n, 1)), b=np.zeros(n), u=sums, ub=np.zeros(n), spread=spread,
            visits=np.zeros(n), settled=np.zeros(n, dtype=np.bool_), mistakes=counts,
            updates=counts.copy(), wrong=np.zeros(1, dtype=np.int64),
        )  # fmt: skip

    @property
    def settled(self) -> bool:
        return None not in self.reasons

    def begin_pass(self) -> None:
        for counts in (self._arrays.mistakes, self._arrays.updates, self._arrays.wrong):
            counts[:] = 0

    def visit(self, chunk: Chunk) -> None:
        """One visit to every row, with class numbers (int32) for labels."""
        X, y, weight = chunk
        sparse = hasattr(X, "indptr")
        if not sparse and self.width not in (0, X.shape[1]):
            raise DataError(f"rows of {X.shape[1]} features after rows of {self.width}.")
        if not X.shape[1]:
            return  # nothing to learn from; the caller says so
        self._widen(X.shape[1], sparse)
        parts = (X.indptr, X.indices, X.data) if sparse else (X,)
        rows: Any = (kernels.Sparse if sparse else kernels.Dense)(*map(_read_only, parts))
        weight = NO_WEIGHTS if weight is None else weight
        if not self.compile_seconds:  # on no rows: apart from what learning takes
            began = time.perf_counter()
            kernels.visit(rows, y[:0], NO_WEIGHTS, self._arrays, self.rule)
            self.compile_seconds = time.perf_counter() - began
        if kernels.visit(rows, y, weight, self._arrays, self.rule) == kernels.OVERFLOW:
            raise self._overflowed()

    def _widen(self, width: int, sparse: bool) -> None:
        """Room for more features, whose weights have been 0 so far; for later ones too if sparse.

        The loops for dense rows go by the number of weights, so it must be exact there.
        """
        self.width = max(self.width, width)
        has = self._arrays.w.shape[1]
        if width > has:
            room = max(width, 2 * has) if sparse else width
            self._arrays = self._arrays._replace(
                w=_wider(self._arrays.w, room),
                u=_wider(self._arrays.u, room),
                spread=_wider(self._arrays.spread, room + 1, self._variance),
            )
            if self._saved is not None:
                self._saved = (_wider(self._saved[0], room), self._saved[1])

    def end_pass(self) -> None:
        """Which are clean, or back where they were? They go no further."""
        arrays = self._arrays
        if not (np.isfinite(arrays.b).all() and all(np.isfinite(w).all() for w in arrays.w)):
            raise self._overflowed()
        self.mistakes.append(arrays.mistakes.copy())
        self.updates.append(arrays.updates.copy())
        self.wrong.append(int(arrays.wrong[0]))
        self._length += 1
        for k, reason in enumerate(self.reasons):
            if reason is None and arrays.updates[k] == 0:
                self.reasons[k] = StopReason.SEPARATED
            elif reason is None and self._cycles and self._came_back(k):
                self.reasons[k] = StopReason.CYCLE
            arrays.settled[k] = self.reasons[k] is not None
        if self._length == self._power and not self.settled:
            self._saved = (arrays.w.copy(), arrays.b.copy())
            self._power, self._length = 2 * self._power, 0

    def _came_back(self, k: int) -> bool:
        w, b = self._arrays.w[k], self._arrays.b[k]
        if self._saved is None:
            return not (w.any() or b)
        return bool(b == self._saved[1][k]) and np.array_equal(w, self._saved[0][k])

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the rest of the run depends on, as JSON and as arrays (views, most of them)."""
        arrays, room = self._arrays._asdict(), max(self.width, 1)
        for name, more in WIDE.items():
            arrays[name] = arrays[name][:, : room + more]
        arrays["past"] = np.array([self.mistakes, self.updates], dtype=np.int64)
        if self._saved is not None:
            arrays["saved_w"], arrays["saved_b"] = self._saved[0][:, :room], self._saved[1]
        facts = {
            "width": self.width, "past_wrong": self.wrong, "power": self._power,
            "length": self._length, "reasons": [r and str(r) for r in self.reasons],
        }  # fmt: skip
        return facts, {name: values for name, values in arrays.items() if values.size}

    def restore(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Back to a state; `Damaged` if it is not one of hyperplanes like these."""
        n, passes, room = len(self.reasons), len(facts["past_wrong"]), max(facts["width"], 1)
        fresh = {name: v for name, v in self._arrays._asdict().items() if v.size}
        shapes = {
            name: ((len(v), room + WIDE[name]) if name in WIDE else v.shape, v.dtype)
            for name, v in fresh.items()
        }
        if passes:
            shapes["past"] = ((2, passes, n), np.dtype(np.int64))
        if "saved_w" in arrays:
            shapes |= {"saved_w": shapes["w"], "saved_b": shapes["b"]}
        for name, (shape, dtype) in shapes.items():
            held = arrays.get(name)
            if held is None or (held.shape, held.dtype) != (shape, dtype):
                raise Damaged(f"{name} is not {dtype} of shape {shape}")
        if len(facts["reasons"]) != n:
            raise Damaged(f"it has {len(facts['reasons'])} hyperplanes, the run {n}")
        own = {name: np.array(arrays[name]) for name in shapes}
        self._arrays = self._arrays._replace(**{name: own[name] for name in fresh})
        self._saved = (own["saved_w"], own["saved_b"]) if "saved_w" in own else None
        self.mistakes, self.updates = (list(own["past"][k]) if passes else [] for k in (0, 1))
        self.wrong, self.width = list(facts["past_wrong"]), facts["width"]
        self._power, self._length = facts["power"], facts["length"]
        self.reasons = [None if r is None else StopReason(r) for r in facts["reasons"]]

    def kept(self) -> tuple[Array, Array]:
        """(coef, intercept) as `keep` gives them."""
        a = self._arrays
        u = a.u if self.keep == "average" else [NO_WEIGHTS] * len(a.b)
        states = [
            State(a.w[k], a.b[k : k + 1], u[k], a.ub[k : k + 1], float(a.visits[k]))
            for k in range(len(a.b))
        ]
        kept = [state.kept(self.keep) for state in states]
        return np.stack([w[: self.width] for w, _ in kept]), np.concatenate([b for _, b in kept])

    def _overflowed(self) -> OverflowedError:
        return OverflowedError(
            f"Floating-point under-/overflow occurred at epoch #{len(self.mistakes) + 1}: a score "
            "or a weight left the range of float64. Scale the data "
            "(sklearn.preprocessing.StandardScaler) or lower eta0."
        )


def _wider(table: Array, width: int, value: float = 0.0) -> Array:
    wide = np.full((len(table), width), value)
    wide[:, : table.shape[1]] = table
    return wide


def _read_only(array: Array) -> Array:
    """A view that cannot be written to, so that all arrays are of one type to the compiler."""
    view = array.view()
    view.flags.writeable = False
    return view


def stream_rule(update: Update) -> Any:
    """For rows that come in pieces, whose hyperplanes keep their own variances."""
    if isinstance(update.rule, Adaptive):
        return kernels.Adaptive(*_adaptive(update), np.empty(0), np.empty(0))
    return kernels.Online(
        float(update.etas(1, 1)[0]), update.tau, kernels.TIES[update.tie],
        isinstance(update.rule, Margin), update.fit_intercept, False,
    )  # fmt: skip


def _adaptive(update: Update) -> tuple[int, float, float, int, bool]:
    """What a step depends on but for the row and S."""
    values = update.rule.get_params()
    c, phi = values.get("C", values.get("r", 1.0)), getattr(update.rule, "phi", 0.0)
    kind = ADAPTIVE_KINDS[update.rule.name]
    return kind, float(c), float(phi), kernels.TIES[update.tie], update.fit_intercept
