"""Data sets of the comparison: a training and a test part, the same for all contenders.

Real sets are read in place from the folder shared/data beside the project. Where a set has a test
file, that is the test part; otherwise every fifth row of a shuffle (seed 0) is. Training rows of
real sets are shuffled once (seed 0), because some files are sorted by label and some contenders
do not shuffle. Columns of dense sets are divided by their largest magnitude among the training
rows. Generated sets hold out one row in ten.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from report import shared_data

SEED = 0


@dataclass(frozen=True)
class Split:
    """Training and test rows; labels are whole numbers."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    file: str | None = None  # where the training rows came from

    def save(self, folder: Path) -> None:
        """Write it for other processes."""
        for name in ("X", "X_test"):
            matrix = getattr(self, name)
            if sp.issparse(matrix):
                sp.save_npz(folder / f"{name}.npz", matrix, compressed=False)
            else:
                np.save(folder / f"{name}.npy", matrix)
        np.savez(folder / "y.npz", y=self.y, y_test=self.y_test)
        (folder / "split.json").write_text(json.dumps({"file": self.file}))

    @classmethod
    def load(cls, folder: Path) -> Split:
        def matrix(name: str) -> Any:
            dense = folder / f"{name}.npy"
            return np.load(dense) if dense.exists() else sp.load_npz(folder / f"{name}.npz")

        with np.load(folder / "y.npz") as labels:
            y, y_test = labels["y"], labels["y_test"]
        about = json.loads((folder / "split.json").read_text())
        return cls(matrix("X"), y, matrix("X_test"), y_test, about["file"])

    @property
    def kind(self) -> str:
        return f"{'CSR' if sp.issparse(self.X) else 'dense'} {self.X.dtype}"

    @property
    def entries(self) -> int:
        """Number of values that a pass reads."""
        return self.X.nnz if sp.issparse(self.X) else self.X.size


def held_out(X: Any, y: np.ndarray, one_in: int = 5, file: str | None = None) -> Split:
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = order[::one_in], np.delete(order, np.s_[::one_in])
    return Split(X[train], y[train], X[test], y[test], file)


def shuffled(split: Split) -> Split:
    order = np.random.default_rng(SEED).permutation(len(split.y))
    return Split(split.X[order], split.y[order], split.X_test, split.y_test, split.file)


def scaled(split: Split) -> Split:
    """Columns divided by their largest magnitude, so that zeros stay zeros."""
    largest = np.abs(split.X).max(axis=0)
    largest[largest == 0] = 1
    return Split(split.X / largest, split.y, split.X_test / largest, split.y_test, split.file)


# ------------------------------------------------------------------ real sets


def libsvm(folder: Path, train: str, test: str | None = None) -> Split:
    from rosenblatt import read

    one = read(folder / train, format="libsvm")
    if test is None:
        return held_out(one.X, one.y.astype(int), file=str(folder / train))
    other = read(folder / test, format="libsvm", n_features=one.X.shape[1])
    y, y_test = one.y.astype(int), other.y.astype(int)
    return shuffled(Split(one.X, y, other.X, y_test, str(folder / train)))


def spambase(folder: Path) -> Split:
    from rosenblatt import read

    path = folder / "spambase.csv.gz"
    rows = read(path, format="csv", target="class")
    return scaled(held_out(rows.X, np.unique(rows.y, return_inverse=True)[1], file=str(path)))


def forest(folder: Path) -> Split:
    """Seven kinds of forest."""
    from rosenblatt import read

    path = folder / "covtype.csv.gz"
    rows = read(path, format="csv", target=-1, header=True)
    return scaled(held_out(rows.X, rows.y.astype(int), file=str(path)))


def covtype(folder: Path) -> Split:
    """The most frequent kind of forest (2) against the six others, as LIBSVM's covtype.binary."""
    split = forest(folder)
    y, y_test = ((part == 2).astype(int) for part in (split.y, split.y_test))
    return Split(split.X, y, split.X_test, y_test, split.file)


def digits(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A part of MNIST in its order: pixels divided by 255, float32."""

    def numbers(name: str, skip: int) -> np.ndarray:
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=skip)

    X = numbers(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    y = numbers(f"{name}-labels-idx1-ubyte.gz", 8).astype(int)
    return X.astype(np.float32) / np.float32(255), y


def mnist(folder: Path) -> Split:
    """Ten digits."""
    path = folder / "train-images-idx3-ubyte.gz"
    return shuffled(Split(*digits(folder, "train"), *digits(folder, "t10k"), str(path)))


REAL: dict[str, Callable[[Path], Split]] = {
    "spambase": spambase,
    "a9a": lambda folder: libsvm(folder, "a9a.svm.gz", "a9a.t.svm.gz"),
    "w8a": lambda folder: libsvm(folder, "w8a.svm.gz"),
    "reuters": lambda folder: libsvm(folder, "reuters.train.svm.bz2", "reuters.test.svm.bz2"),
    "covtype": covtype,
    "mnist": mnist,
}


# ------------------------------------------------------------------ generated sets


def dense(n: int, d: int, dtype: Any = np.float64, flipped: float = 0.05) -> Split:
    """Standard normal rows, labels of a random hyperplane, some of them flipped (seed 0)."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype, copy=False)
    return held_out(X, labels(X, rng, flipped), one_in=10)


def sparse(n: int, d: int, per_row: int, flipped: float = 0.05) -> Split:
    """CSR rows: one entry, standard normal, in each of `per_row` blocks of d / per_row columns."""
    rng = np.random.default_rng(SEED)
    block = d // per_row
    columns = rng.integers(0, block, (n, per_row)) + np.arange(per_row) * block
    indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    data = rng.standard_normal(n * per_row)
    X = sp.csr_matrix((data, columns.ravel().astype(np.int32), indptr), (n, d))
    return held_out(X, labels(X, rng, flipped), one_in=10)


def labels(X: Any, rng: np.random.Generator, flipped: float) -> np.ndarray:
    y = X @ rng.standard_normal(X.shape[1]).astype(X.dtype) > 0
    return (y != (rng.random(len(y)) < flipped)).astype(int)


GENERATED: dict[str, Callable[[], Split]] = {
    "dense 100,000 x 100": lambda: dense(100_000, 100),
    "dense 1,000,000 x 30, float32": lambda: dense(1_000_000, 30, np.float32),
    "CSR 400,000 x 95,000, 38 per row": lambda: sparse(400_000, 95_000, 38),
}


def make(name: str) -> Split:
    """A set by name; LookupError says why there is none."""
    if name in GENERATED:
        return GENERATED[name]()
    folder = shared_data()
    if folder is None or not (folder / name).is_dir():
        raise LookupError(f"{name}: no folder shared/data/{name} beside the project")
    return REAL[name](folder / name)
