"""Case study of sutd: tumours with 30 measurements and an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError

Array = npt.NDArray[Any]
NUMBERS = 33  # time, 30 measurements, tumour size, lymph nodes


@dataclass(frozen=True, eq=False)
class Tumours:
    """Tumours, one per row.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The measurements; nan where one is missing.
    outcome : ndarray of str
        One of the keys of `meaning`.
    names : tuple of str
        Names of the measurements.
    meaning : dict of str to str
        What the outcomes stand for; the first one is the positive class.
    source : str
        Where the data are from.
    time : ndarray or None
        Months until recurrence, or until the last examination; None if patients were not followed.
    """

    X: Array
    outcome: Array
    names: tuple[str, ...]
    meaning: dict[str, str]
    source: str
    time: Array | None = None


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
        If the file cannot be read, or is another one.

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
        meaning = {"M": "malignant", "B": "benign"}
        outcome = np.where(data.target == 0, "M", "B")
        source = "the diagnostic data set in scikit-learn"
        return Tumours(data.data, outcome, names, meaning, source)
    path = Path("wpbc.data" if path is None else path)
    outcome, numbers = _read(path)
    return Tumours(
        X=numbers[:, 1:],
        outcome=outcome,
        names=(*names, "tumour size", "lymph nodes"),
        meaning={"R": "recurrent", "N": "non-recurrent"},
        source=f"the prognostic data set, {path.name}",
        time=numbers[:, 0],
    )


def _read(path: Path) -> tuple[Array, Array]:
    """Outcomes and numbers of wpbc.data, where ? is a missing value."""
    try:
        rows = [line.split(",") for line in path.read_text(encoding="utf-8").split()]
        cells = np.array([row[2:] for row in rows])
        numbers = np.where(cells == "?", "nan", cells).astype(float)
    except (OSError, ValueError) as e:
        raise DataError(
            f"cannot read {path}: {e}. Give the path of wpbc.data of the UCI repository, or leave "
            "it out for the data set in scikit-learn."
        ) from e
    outcome = np.array([row[1] for row in rows if len(row) > 1])
    if numbers.shape[1:] != (NUMBERS,) or set(outcome.tolist()) != {"N", "R"}:
        raise DataError(
            f"{path} is not wpbc.data of the UCI repository, which has 35 cells in each row: "
            "id, outcome (N or R), time, 30 measurements, tumour size, lymph nodes."
        )
    return outcome, numbers
