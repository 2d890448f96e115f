"""Machines of every rule on a small problem, for tests that compare bytes."""

import numpy as np
import scipy.sparse as sp

from rosenblatt import _core
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.rules import resolve
from rosenblatt.learn.settings import Penalty, Rate, TrainingSettings
from rosenblatt.learn.state import State

N, D, CLASSES = 23, 11, 3
ARRAYS = ("w", "b", "u", "ub", "variance")
NAMES = [
    "perceptron", "margin(tau=0.5)", "pa", "pa1(C=0.1)", "pa2", "arow", "arow(covariance=full)",
    "scw", "sop", "sop(covariance=full)", "alma",
]  # fmt: skip
SETTINGS = {
    **{name: TrainingSettings(rule=resolve(name)) for name in NAMES},
    **{f"{name}, average": TrainingSettings(rule=resolve(name), keep="average") for name in NAMES},
    **{
        f"{name}, direct": TrainingSettings(rule=resolve(name), direct=True)
        for name in ("perceptron", "pa1(C=0.1)", "arow", "scw(covariance=full)")
    },
    "l2": TrainingSettings(penalty=Penalty(0.01, 0.0), keep="average"),
    "l1": TrainingSettings(penalty=Penalty(0.01, 1.0), keep="average"),
    "elastic net": TrainingSettings(penalty=Penalty(0.01, 0.4), keep="average"),
    "optimal": TrainingSettings(rate=Rate("optimal", alpha=0.1), penalty=Penalty(0.1, 0.0)),
    "invscaling": TrainingSettings(rate=Rate("invscaling"), keep="average"),
    "shuffle": TrainingSettings(order="shuffle", keep="average"),
    "sample": TrainingSettings(order="sample"),
    "vote": TrainingSettings(keep="vote"),
    "pocket": TrainingSettings(keep="pocket"),
    "pocket, alma": TrainingSettings(rule=resolve("alma"), keep="pocket"),
    "no offset": TrainingSettings(fit_intercept=False, keep="average"),
    "repeat": TrainingSettings(weighting="repeat", keep="average"),
    "batch": TrainingSettings(mode="batch", keep="average"),
    "batch-mean": TrainingSettings(mode="batch-mean"),
    "minover": TrainingSettings(rule=resolve("minover(gap=0.5)")),
}
L1 = ("l1", "elastic net")  # lazy on CSR rows


def rows(dtype=np.float64, seed=0):
    """Rows with zeros, labels of three classes, weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)
    return X.astype(dtype), rng.integers(0, CLASSES, N).astype(np.int32), rng.random(N) * 3


def core_block(X, y, weight=None, form="dense", cpu=None, seen=None):
    """A block of the rows as they are stored: dense, csr32 or csr64."""
    if form == "dense":
        made = _core.Rows(np.ascontiguousarray(X), cpu=cpu)
    else:
        A = sp.csr_matrix(X)
        index = {"csr32": np.int32, "csr64": np.int64}[form]
        made = _core.Rows(
            A.data, A.indices.astype(index), A.indptr.astype(index), X.shape[1], cpu=cpu
        )
    return _core.Block(made, y, weight, seen)


def machine(settings, dtype=np.float64, **changes):
    """A machine before its first visit, and its state."""
    planes = CLASSES if settings.direct else 1
    state = State.at(np.zeros((planes, D)), np.zeros(planes), dtype)
    made = Machine(
        settings, state, None if settings.direct else 0, 1, seed=7, n_rows=N, **changes
    )  # fmt: skip
    return made, state


def takes_weights(settings):
    """Whether rows may have weights other than 1."""
    return settings.rule.weights_refused is None


def contents(made, state):
    """All that a run leaves behind, as bytes; 0.0 and -0.0 count as equal."""
    arrays = [getattr(state, name) for name in ARRAYS if getattr(state, name) is not None]
    log = made.core.log()
    arrays += [log[name] for name in ("row", "amount", "visit", "w", "b")]
    arrays += list(made.core.totals().values())
    if made.settings.keep == "pocket":
        arrays += list(made.core.pocket[:2])
    return b"".join(np.ascontiguousarray(a + 0).tobytes() for a in arrays)
