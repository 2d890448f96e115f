"""Bench: how fast training is on this machine, beside others that are installed.

Sets are generated: a hyperplane is drawn, rows on both sides of it, and one label in twenty is
turned round. Ours and scikit-learn's Perceptron visit the same rows in the same order, so often.
Of sparse rows scikit-learn moves the offset a hundredth as far, so its weights differ there.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.estimators import Perceptron
from rosenblatt.stream.fit import fit_file

Array = npt.NDArray[Any]
TURNED = 0.05  # labels
DENSE, SPARSE, ENTRIES = 30, 20_000, 50  # features of each set; entries of a sparse row
MOST_LINES = 50_000  # of the file


@dataclass(frozen=True)
class Timing:
    """One trainer on one set: the best time, and the error on rows that it has not seen.

    Attributes
    ----------
    data, trainer : what was learned, by whom
    rows, passes : how much of it
    seconds : of the quickest repetition
    error : share of 10,000 rows (fewer for fewer) that get the wrong label; None: not measured
    """

    data: str
    trainer: str
    rows: int
    passes: int
    seconds: float
    error: float | None = None

    @property
    def rows_per_second(self) -> float:
        return self.rows * self.passes / self.seconds

    def facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "rows_per_second": self.rows_per_second}


def measured(rows: int = 100_000, passes: int = 5, repeats: int = 3, seed: int = 0) -> list[Timing]:
    """Train on a dense set, a sparse one, and a file if Vowpal Wabbit is installed.

    Parameters
    ----------
    rows : of each set; the file has at most 50,000
    passes : over the sets in memory; the file is read once
    repeats : of which the quickest counts; who is measured alternates
    seed : of what is generated

    Examples
    --------
    >>> found = measured(rows=1000, passes=1, repeats=1)
    >>> found[0].trainer, found[0].rows, found[0].error == found[1].error
    ('rosenblatt', 1000, True)
    """
    rng = np.random.default_rng(seed)
    test = min(rows, 10_000)
    dense = rng.standard_normal((rows + test, DENSE))
    sparse = _sparse(rows + test, rng)
    found: list[Timing] = []
    for name, X in ((f"dense, {DENSE} features", dense), (f"sparse, {SPARSE:,} features", sparse)):
        y = _labels(X, rng)
        runs = {who: _trainer(made, X[:rows], y[:rows], passes) for who, made in _made().items()}
        seconds = best_of(repeats, {who: run for who, (run, _) in runs.items()})
        for who, (_, model) in runs.items():
            wrong = float((model.predict(X[rows:]) != y[rows:]).mean())
            found.append(Timing(name, who, rows, passes, seconds[who], wrong))
    if importlib.util.find_spec("vowpalwabbit") is not None:
        found += _from_file(sparse[: min(rows, MOST_LINES)], _labels(sparse, rng), repeats)
    return found


def best_of(repeats: int, runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of the quickest repetition of each, after one that does not count; in turn."""
    seconds = dict.fromkeys(runs, float("inf"))
    for k in range(repeats + 1):
        for who, run in runs.items():
            began = time.perf_counter()
            run()
            if k:
                seconds[who] = min(seconds[who], time.perf_counter() - began)
    return seconds


def as_table(found: list[Timing]) -> str:
    """For people: how many times as fast the first of each set is."""
    lines = [("rows", "passes", "trainer", "seconds", "rows/s", "error", "times")]
    shown, data, first = [], "", 1.0
    for one in found:
        if one.data != data:
            data, first = one.data, one.seconds
            shown.append((len(lines), data))
        error = "" if one.error is None else f"{one.error:.2%}"
        lines.append((
            f"{one.rows:,}", str(one.passes), one.trainer, f"{one.seconds:.4f}",
            f"{one.rows_per_second:,.0f}", error, f"{one.seconds / first:.1f}",
        ))  # fmt: skip
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    text = ["  ".join(_set(c, w, k == 2) for k, (c, w) in enumerate(zip(line, widths, strict=True)))
            for line in lines]  # fmt: skip
    for at, name in reversed(shown):
        text.insert(at, f"\n{name}")
    return "\n".join([*text, "\ntimes: as long as the first of its set takes"])


def _set(cell: str, width: int, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)


def _made() -> dict[str, Callable[..., Any]]:
    from sklearn.linear_model import Perceptron as Other

    return {"rosenblatt": Perceptron, "scikit-learn": Other}


def _trainer(
    made: Callable[..., Any], X: Any, y: Array, passes: int
) -> tuple[Callable[[], Any], Any]:
    model = made(shuffle=False, tol=None, max_iter=passes)
    return (lambda: model.fit(X, y)), model


def _sparse(rows: int, rng: np.random.Generator) -> Any:
    """Columns that are met as words are: few of them often."""
    columns = (SPARSE * rng.random((rows, ENTRIES)) ** 3).astype(np.int32)
    indptr = np.arange(0, rows * ENTRIES + 1, ENTRIES, dtype=np.int32)
    X = sp.csr_matrix((np.ones(rows * ENTRIES), columns.ravel(), indptr), shape=(rows, SPARSE))
    X.sum_duplicates()
    return X


def _labels(X: Any, rng: np.random.Generator) -> Array:
    scores = X @ rng.standard_normal(X.shape[1])
    y: Array = np.where(scores > np.median(scores), 1, -1)
    y[rng.random(len(y)) < TURNED] *= -1
    return y


def _from_file(X: Any, y: Array, repeats: int) -> list[Timing]:
    """A pass over a file of VW text, from the text to a model on disk."""
    from vowpalwabbit import Workspace

    with TemporaryDirectory(prefix="rosenblatt-") as folder:
        path, out = Path(folder) / "rows.vw", Path(folder) / "model"
        with path.open("w") as file:
            for k in range(X.shape[0]):
                part = slice(X.indptr[k], X.indptr[k + 1])
                words = " ".join(map("{}:{:g}".format, X.indices[part], X.data[part]))
                file.write(f"{y[k]} | {words}\n")
        command = f"-d {path} -b 18 --loss_function hinge -f {out}.vw --quiet"
        seconds = best_of(
            repeats,
            {
                "rosenblatt": lambda: fit_file(path, out, keep="last", bits=18),
                "Vowpal Wabbit": lambda: Workspace(command).finish(),
            },
        )
    data = "file of VW text, read and learned once"
    return [Timing(data, who, X.shape[0], 1, best) for who, best in seconds.items()]
