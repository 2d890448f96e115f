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


@dataclass(frozen=True, eq=False)
class Tumours:
    """Tumours, one per row.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The measurements; nan where one is missing.
    outcome : ndarray of str
        One of the keys of `words`.
    names : tuple of str
        Names of the measurements.
    words : dict of str to str
        Meaning of the outcomes; the first one is the positive class.
    source : str
        Where the data are from.
    time : ndarray or None
        Months until recurrence, or until the last examination; None if patients were not followed.
    """

    X: Array
    outcome: Array
    names: tuple[str, ...]
    words: dict[str, str]
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


def tumours(path: Path | str | None = None) -> Tumours:
    """The tumours of the case study.

    Parameters
    ----------
    path : Path or str, optional
        The lecture's own data, wpbc.data of the UCI repository, which is not part of the package:
        198 tumours, recurrent or not. Left out: wpbc.data of the current folder; without it, the
        related data set in scikit-learn, 569 tumours, malignant or benign.

    Returns
    -------
    Tumours
        Measurements, outcomes, and what they mean.

    Raises
    ------
    DataError
        If the file cannot be read, or has another layout.
    LabelError
        If its outcomes are not N and R.

    Examples
    --------
    >>> from rosenblatt.lectures import tumours
    >>> tumours().names[:2]
    ('mean radius', 'mean texture')
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = tuple(map(str, data.feature_names))  # the same in both data sets
    if path is None and not Path("wpbc.data").is_file():
        words = {"M": "malignant", "B": "benign"}
        outcome = np.where(data.target == 0, "M", "B")
        return Tumours(data.data, outcome, names, words, "the diagnostic data set in scikit-learn")
    path = Path("wpbc.data" if path is None else path)
    outcome, numbers = _read(path)
    return Tumours(
        X=numbers[:, 1:],
        outcome=outcome,
        names=(*names, "tumour size", "lymph nodes"),
        words={"R": "recurrent", "N": "non-recurrent"},
        source=f"the prognostic data set, {path.name}",
        time=numbers[:, 0],
    )


def _read(path: Path) -> tuple[Array, Array]:
    """Outcomes and numbers of wpbc.data, where ? is a missing value."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError) as e:
        raise DataError(
            f"cannot read {path}: {e}. Give the path of wpbc.data of the UCI repository, or leave "
            "it out for the data set in scikit-learn."
        ) from e
    if {len(row) for row in rows} != {CELLS}:
        raise DataError(
            f"{path} is not wpbc.data of the UCI repository, which has {CELLS} cells in each row: "
            "id, outcome, time, 30 measurements, tumour size, lymph nodes."
        )
    outcome = np.array([row[1] for row in rows])
    if set(outcome.tolist()) != {"N", "R"}:
        raise LabelError(
            f"outcomes must be N and R, got {sorted(set(outcome.tolist()))[:5]} in {path}. "
            "They are the second column of wpbc.data."
        )
    try:
        numbers = [[float("nan" if cell == "?" else cell) for cell in row[2:]] for row in rows]
    except ValueError as e:
        raise DataError(f"{path}: {e}. A missing value is written ?.") from None
    return outcome, np.array(numbers)
