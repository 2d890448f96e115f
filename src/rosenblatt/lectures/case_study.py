"""Case study of sutd: tumours with 30 measurements and an outcome."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError, LabelError

Array = npt.NDArray[Any]
CELLS = 35  # id, outcome, time, 30 measurements, tumour size, lymph nodes
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Tumours:
    """One tumour per row. Missing values are nan; `time` is None if patients were not followed."""

    X: Array
    outcome: Array
    names: tuple[str, ...]
    words: dict[str, str]  # meaning of the outcomes; the first one is the positive class
    source: str
    time: Array | None = None

    @property
    def positive(self) -> str:
        """The outcome of the positive class."""
        return next(iter(self.words))

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows per outcome."""
        return {k: int((self.outcome == k).sum()) for k in self.words}


def measurements() -> tuple[str, ...]:
    """The 30 names, the same in both data sets: 10 as mean, error and worst."""
    from sklearn.datasets import load_breast_cancer

    return tuple(str(name) for name in load_breast_cancer().feature_names)


def diagnostic() -> Tumours:
    """569 tumours, malignant or benign: the data set in scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return Tumours(
        X=data.data,
        outcome=np.where(data.target == 0, "M", "B"),
        names=measurements(),
        words={"M": "malignant", "B": "benign"},
        source="the diagnostic data set in scikit-learn",
    )


def prognostic(path: Path) -> Tumours:
    """198 tumours, recurrent or not: the lecture's own file, wpbc.data of UCI."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise DataError(f"{path} is empty. Give the file wpbc.data of the UCI repository.")
    for k, row in enumerate(rows):
        if len(row) != CELLS:
            raise DataError(
                f"row {k + 1} of {path} has {len(row)} cells; wpbc.data has {CELLS}: id, outcome, "
                "time, 30 measurements, tumour size, lymph nodes."
            )
    outcome = np.array([row[1].strip() for row in rows])
    if set(outcome.tolist()) != {"N", "R"}:
        raise LabelError(
            f"outcomes must be N and R, got {sorted(set(outcome.tolist()))[:5]} in {path}. "
            "They are the second column of wpbc.data."
        )
    numbers = np.array([[_number(cell, path) for cell in row[2:]] for row in rows])
    return Tumours(
        X=numbers[:, 1:],
        outcome=outcome,
        names=(*measurements(), "tumour size", "lymph nodes"),
        words={"R": "recurrent", "N": "non-recurrent"},
        source=f"the prognostic data set, {path.name}",
        time=numbers[:, 0],
    )


def _number(cell: str, path: Path) -> float:
    if cell.strip() == MISSING:
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"{cell!r} in {path} is not a number. A missing value is written {MISSING}."
        ) from None


def tumours(path: Path | str | None = None) -> Tumours:
    """The tumours of the case study.

    Parameters
    ----------
    path : Path or str, optional
        The lecture's own data, wpbc.data of the UCI repository, which is not part of the package.
        Left out: wpbc.data of the current folder; without it, the related data set in scikit-learn.

    Returns
    -------
    Tumours
        Measurements, outcomes, and what they mean.

    Raises
    ------
    DataError
        If the file has another layout.

    Examples
    --------
    >>> from rosenblatt.lectures import tumours
    >>> tumours().names[:2]
    ('mean radius', 'mean texture')
    """
    if path is None and not Path("wpbc.data").is_file():
        return diagnostic()
    return prognostic(Path("wpbc.data" if path is None else path))
