"""Contenders: libraries that train on the same data, each in the form of data it works on.

`start` imports, `convert` makes the contender's form of the data; `fit` alone counts as training.
passes=None means the contender's defaults.

- ours, scikit-learn: the array or CSR matrix as it is.
- LIBLINEAR: its own copy of the non-zero entries; `-s 1 -c 1 -B 1`, with its own stopping test (at
  most 1,000 passes).
- Vowpal Wabbit: its binary cache file, made from VW text beforehand; `--loss_function hinge`, for
  more than two classes `--oaa`. It reads the cache in one thread and learns in another.
- River: one dict of non-zero entries per row, `learn_one` row after row in Python. It gets at most
  4,000 random rows (a million entries); its seconds are multiplied by all rows / its rows.
- X @ w: one product with a vector per pass, for each hyperplane.
- bytes: the file of the training rows, read from beginning to end.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from datasets import SEED, Split

RIVER_ROWS, RIVER_ENTRIES = 4_000, 1_000_000
JUDGED_ROWS = 20_000


class Contender:
    """Base class; `scale` is the factor of the seconds of `fit` where only some rows were given."""

    package = "rosenblatt"
    scale = 1.0
    learns = True
    default_only = False  # has no number of passes to set

    def __init__(self, split: Split, folder: Path):
        self.split, self.folder = split, folder
        self.classes = np.unique(split.y)
        self.model: Any = None

    def start(self) -> None:
        """Import what is needed, before any clock runs."""

    def convert(self) -> None:
        """Make the contender's own form of the data."""

    def fit(self, passes: int | None) -> None:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.model.predict(X))

    def passes(self, asked: int | None) -> int | None:
        """How many passes the last fit made, if that is known."""
        return asked

    def accuracy(self) -> tuple[float, float]:
        """On training rows (at most 20,000, the same for all) and on the test rows."""
        s = self.split
        few = np.random.default_rng(SEED).permutation(len(s.y))[:JUDGED_ROWS]
        parts = ((s.X[few], s.y[few]), (s.X_test, s.y_test))
        train, test = (float(np.mean(self.predict(X) == y)) for X, y in parts)
        return train, test


# ------------------------------------------------------------------ scikit-learn's interface


class Estimator(Contender):
    """What has fit and predict on arrays."""

    def estimator(self, **options: Any) -> Any:
        raise NotImplementedError

    def start(self) -> None:
        few = np.concatenate([np.flatnonzero(self.split.y == c)[:20] for c in self.classes])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.estimator(max_iter=1, tol=None).fit(self.split.X[few], self.split.y[few])

    def fit(self, passes: int | None) -> None:
        options = {} if passes is None else {"max_iter": passes, "tol": None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = self.estimator(**options).fit(self.split.X, self.split.y)

    def passes(self, asked: int | None) -> int | None:
        return int(np.max(self.model.n_iter_))


class Ours(Estimator):
    keep = "last"

    def estimator(self, **options: Any) -> Any:
        from rosenblatt import Perceptron

        return Perceptron(keep=self.keep, random_state=SEED, **options)


class OursAverage(Ours):
    keep = "average"


class Sklearn(Estimator):
    package = "scikit-learn"

    def estimator(self, **options: Any) -> Any:
        from sklearn.linear_model import Perceptron

        return Perceptron(random_state=SEED, **options)


class Sgd(Estimator):
    package = "scikit-learn"
    seed = SEED

    def estimator(self, **options: Any) -> Any:
        from sklearn.linear_model import SGDClassifier

        return SGDClassifier(random_state=self.seed, **options)


# ------------------------------------------------------------------ their own forms


class Liblinear(Contender):
    package = "liblinear-official"
    default_only = True
    solver, C = 1, 1.0  # 1 solves the dual problem, 2 the primal one

    def start(self) -> None:
        import liblinear.liblinearutil  # noqa: F401  # before the clock runs

    def convert(self) -> None:
        from liblinear.liblinearutil import parameter, problem

        self.options = parameter(f"-s {self.solver} -c {self.C} -B 1 -q")
        self.problem = problem(self.split.y.astype(float), sp.csr_matrix(self.split.X), bias=1)

    def fit(self, passes: int | None) -> None:
        from liblinear.liblinearutil import train

        self.model = train(self.problem, self.options)

    def predict(self, X: Any) -> np.ndarray:
        """By its weights: its own predict would convert the rows once more."""
        columns = self.model.get_nr_feature()
        found = self.model.get_labels()
        planes = [self.model.get_decfun(k) for k in range(len(found) if len(found) > 2 else 1)]
        scores = np.column_stack([X[:, :columns] @ np.asarray(w) + b for w, b in planes])
        if len(planes) == 1:  # positive scores are its first label
            return np.where(scores[:, 0] > 0, found[0], found[1])
        return np.asarray(found)[scores.argmax(axis=1)]


def vw_text(X: Any, labels: np.ndarray, path: Path, rows: int = 20_000) -> None:
    """Write `label | column:value ...`, the non-zero entries, one line per row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with open(path, "wb") as file:
        for k in range(0, X.shape[0], rows):
            part = sp.csr_matrix(X[k : k + rows])
            pairs = pc.binary_join_element_wise(
                pa.array(part.indices).cast(pa.string()), pa.array(part.data).cast(pa.string()), ":"
            )
            entries = pc.binary_join(
                pa.ListArray.from_arrays(part.indptr.astype(np.int32), pairs), " "
            )
            signs = pa.array(labels[k : k + rows]).cast(pa.string())
            lines = pc.binary_join_element_wise(signs, entries, " | ").to_pylist()
            file.write(("\n".join(lines) + "\n").encode())


def vw_text_apart(X: Any, labels: np.ndarray, path: Path) -> None:
    """Write VW text in another process, so that its memory does not count as VW's."""
    child = multiprocessing.get_context("fork").Process(target=vw_text, args=(X, labels, path))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"writing VW text ended with code {child.exitcode}")


class VowpalWabbit(Contender):
    package = "vowpalwabbit"
    loss = "hinge"
    bits = 18  # 2^bits weights

    def run(self, command: str) -> None:
        from vowpalwabbit import Workspace

        Workspace(f"{command} --quiet").finish()

    def start(self) -> None:
        import vowpalwabbit  # noqa: F401  # before the clock runs

    def convert(self) -> None:
        several = len(self.classes) > 2
        self.vw_labels = np.arange(1, len(self.classes) + 1) if several else np.array([-1, 1])
        how = f"--oaa {len(self.classes)}" if several else ""
        self.options = f"-b {self.bits} --loss_function {self.loss} {how}"
        text, self.cache = self.folder / "train.vw", self.folder / "train.cache"
        y = self.vw_labels[np.searchsorted(self.classes, self.split.y)]
        vw_text_apart(self.split.X, y, text)
        self.run(f"{self.options} -d {text} --cache_file {self.cache} -k")
        os.truncate(text, 0)  # from now on only the cache can be read

    def fit(self, passes: int | None) -> None:
        self.out = self.folder / "vw.model"
        many = f"--passes {passes or 1} --holdout_off"
        text = self.folder / "train.vw"
        self.run(f"{self.options} -d {text} --cache_file {self.cache} {many} -f {self.out}")

    def passes(self, asked: int | None) -> int | None:
        return asked or 1

    def predict(self, X: Any) -> np.ndarray:
        text, found = self.folder / "rows.vw", self.folder / "rows.txt"
        vw_text_apart(X, np.ones(X.shape[0], int), text)
        self.run(f"-i {self.out} -t -d {text} -p {found}")
        scores = np.array([float(line) for line in found.read_text().split()])
        if len(self.classes) > 2:
            return self.classes[scores.astype(int) - 1]
        return self.classes[(scores > 0).astype(int)]


class River(Contender):
    package = "river"

    def start(self) -> None:
        import river.linear_model
        import river.multiclass  # noqa: F401  # before the clock runs

    def convert(self) -> None:
        s = self.split
        rng = np.random.default_rng(SEED)
        most = max(50, min(RIVER_ROWS, RIVER_ENTRIES * len(s.y) // s.entries))
        self.rows = rng.permutation(len(s.y))[:most]
        self.scale = len(s.y) / len(self.rows)
        self.X, self.y = self.dicts(s.X[self.rows]), self.named(s.y[self.rows])

    def named(self, y: np.ndarray) -> list[Any]:
        return y.tolist() if len(self.classes) > 2 else (y == self.classes[1]).tolist()

    @staticmethod
    def dicts(X: Any) -> list[dict[int, float]]:
        X = sp.csr_matrix(X)
        keys, values, ends = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
        spans = itertools.pairwise(ends)
        return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in spans]

    def fit(self, passes: int | None) -> None:
        from river import linear_model, multiclass

        self.model = linear_model.Perceptron()
        if len(self.classes) > 2:
            self.model = multiclass.OneVsRestClassifier(self.model)
        for _ in range(passes or 1):
            for x, y in zip(self.X, self.y, strict=True):
                self.model.learn_one(x, y)

    def passes(self, asked: int | None) -> int | None:
        return asked or 1

    def accuracy(self) -> tuple[float, float]:
        s = self.split
        chosen = np.random.default_rng(SEED).permutation(len(s.y_test))[:RIVER_ROWS]
        parts = ((self.X, self.y), (self.dicts(s.X_test[chosen]), self.named(s.y_test[chosen])))
        train, test = (
            float(np.mean([self.model.predict_one(x) == y for x, y in zip(X, Y, strict=True)]))
            for X, Y in parts
        )
        return train, test


# ------------------------------------------------------------------ physical references


class Product(Contender):
    package = "numpy"
    learns = False

    def convert(self) -> None:
        self.planes = 1 if len(self.classes) <= 2 else len(self.classes)
        self.w = np.ones(self.split.X.shape[1], dtype=self.split.X.dtype)

    def fit(self, passes: int | None) -> None:
        for _ in range((passes or 1) * self.planes):
            self.split.X @ self.w


class Bytes(Contender):
    package = "numpy"
    learns = False
    default_only = True

    def convert(self) -> None:
        if self.split.file is None:
            raise LookupError("generated in memory, there is no file")

    def fit(self, passes: int | None) -> None:
        room = bytearray(1 << 22)
        with open(str(self.split.file), "rb", buffering=0) as file:
            while file.readinto(room):
                pass


CONTENDERS: dict[str, type[Contender]] = {
    "rosenblatt, last": Ours,
    "rosenblatt, average": OursAverage,
    "scikit-learn Perceptron": Sklearn,
    "scikit-learn SGDClassifier": Sgd,
    "LIBLINEAR": Liblinear,
    "Vowpal Wabbit": VowpalWabbit,
    "River": River,
    "X @ w": Product,
    "bytes of the file": Bytes,
}
