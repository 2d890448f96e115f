"""Tumours: the data of the case study, from the file given or from scikit-learn."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer

from rosenblatt.errors import DataError, LabelError

Array = npt.NDArray[Any]
CELLS = 35  # id, outcome, time, 30 measurements, tumour size, lymph nodes
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Tumours:
    """One tumour a row. Missing values are nan; `time` only where patients were followed."""

    X: Array
    outcome: Array
    names: tuple[str, ...]
    words: dict[str, str]  # what the outcomes mean; the first is the class looked for
    source: str
    time: Array | None = None

    @property
    def positive(self) -> str:
        """The outcome that is looked for."""
        return next(iter(self.words))

    @property
    def counts(self) -> dict[str, int]:
        """How many rows of each outcome."""
        return {k: int((self.outcome == k).sum()) for k in self.words}


def measurements() -> tuple[str, ...]:
    """The 30 names, the same in both sets: 10 as mean, error and worst."""
    return tuple(str(name) for name in load_breast_cancer().feature_names)


def diagnostic() -> Tumours:
    """569 tumours, malignant or benign: the set that scikit-learn ships."""
    data = load_breast_cancer()
    return Tumours(
        X=data.data,
        outcome=np.where(data.target == 0, "M", "B"),
        names=measurements(),
        words={"M": "malignant", "B": "benign"},
        source="the diagnostic set that comes with scikit-learn",
    )


def prognostic(path: Path) -> Tumours:
    """The file of the lecture, as UCI has it (wpbc.data)."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise DataError(f"{path} is empty. Give the UCI file wpbc.data with --data.")
    for k, row in enumerate(rows):
        if len(row) != CELLS:
            raise DataError(
                f"row {k + 1} of {path} has {len(row)} cells, and wpbc.data has {CELLS}: id, "
                "outcome, time, 30 measurements, tumour size, lymph nodes. Give that file."
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
        source=f"the prognostic set, {path.name}",
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


def tumours(path: Path | None) -> Tumours:
    """The file if it is given, else the companion."""
    return diagnostic() if path is None else prognostic(path)
