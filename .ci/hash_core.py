"""Print one hash over what the compiled core computes; equal for every compiler and processor.

Each function below yields arrays, computed in every variant that this machine runs. The data are
made of integers, so that they are the same everywhere.
"""

import hashlib

import numpy as np

from rosenblatt import _core


def matrix(n, d, dtype, seed):
    """A third of the values are 0, the others differ much in size."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-(2**23), 2**23, (n, d)) * rng.integers(0, 3, (n, d)).astype(bool)
    return np.ldexp(values.astype(dtype), rng.integers(-40, 0, (n, d)).astype(np.int32))


def csr(X, index):
    """data, indices, indptr and the number of columns of a dense matrix."""
    columns = [np.flatnonzero(x) for x in X]
    indptr = np.cumsum([0, *map(len, columns)]).astype(index)
    indices = np.concatenate(columns).astype(index)
    data = np.concatenate([x[c] for x, c in zip(X, columns, strict=True)])
    return data, indices, indptr, X.shape[1]


def every_kind(X, cpu):
    """Rows of X: dense, and CSR with both types of indices."""
    yield _core.Rows(X, cpu=cpu)
    for index in (np.int32, np.int64):
        yield _core.Rows(*csr(X, index), cpu=cpu)


def scores(cpu):
    """Scores with one and several planes, on two threads."""
    for dtype in (np.float32, np.float64):
        for n, d, planes in [(500, 203, 11), (501, 784, 10), (4000, 37, 1), (999, 5, 3)]:
            X = matrix(n, d, dtype, seed=d)
            W, b = matrix(planes, d, np.float64, seed=1), matrix(1, planes, np.float64, seed=2)[0]
            for rows in every_kind(X, cpu):
                yield _core.scores(rows, W, b, n_threads=2)


def updates(cpu):
    """The other operations, row after row."""
    for dtype in (np.float32, np.float64):
        X = matrix(60, 203, dtype, seed=3)
        for rows in every_kind(X, cpu):
            w, u, S = np.zeros(203), np.zeros(203), np.ones(204)
            for i in range(60):
                rows.add(i, 0.1, w, round32=dtype == np.float32)
                variance = rows.variance(i, S)
                rows.nudge(i, 0.3, i + 1.0, 1 / (1 + variance), S, w, u)
                yield np.array([variance, rows.square(i), rows.dot(i, w)])
            yield w + 0.0  # -0.0 and 0.0 count as equal
            yield u + 0.0
            yield S


def standardized(cpu):
    """Numbers minus a mean that runs, divided by a deviation that runs."""
    X = matrix(500, 7, np.float64, seed=4)
    moments = np.zeros((3, 7))
    _core.standardize_dense(X, np.arange(7, dtype=np.int32), 0, *moments)
    yield X + 0.0
    yield moments


hashes = set()
for cpu in _core.cpus():
    sha = hashlib.sha256()
    for made in (scores, updates, standardized):
        for array in made(cpu):
            sha.update(np.ascontiguousarray(array).tobytes())
    hashes.add(sha.hexdigest())
if len(hashes) > 1:
    raise SystemExit(f"the variants {_core.cpus()} differ")
print(*hashes)
