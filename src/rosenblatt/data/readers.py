"""Readers: files in. So far CSV, plain or compressed, into memory; more formats come later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers, labels, and the names of the columns the numbers came from."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[Any]
    feature_names: tuple[str, ...]


def read_csv(path: str | Path, target: str, header: bool | None = None) -> Table:
    """A CSV file of numbers with one column of labels.

    Parameters
    ----------
    path : str or Path
        Plain or compressed (.gz, .bz2, .zst).
    target : str
        The label column: its name, or its number (from 0; -1 is the last).
    header : bool or None
        Whether the first line holds names. None: it does if `target` is not a number.
    """
    import pyarrow as pa
    import pyarrow.csv as pc

    numbered = target.lstrip("-").isdigit()
    names = not numbered if header is None else header
    try:
        options = pc.ReadOptions(autogenerate_column_names=not names)
        table = pc.read_csv(str(path), read_options=options)
    except (OSError, pa.ArrowInvalid) as e:
        raise DataError(
            f"cannot read {path} as CSV: {e}. Give a file of rows of equal length."
        ) from e
    columns = table.column_names
    if numbered and target not in columns:
        k = int(target)
        if not -len(columns) <= k < len(columns):
            raise DataError(f"{path} has {len(columns)} columns, so there is no column {k}.")
        label = columns[k]
    elif target in columns:
        label = target
    else:
        raise DataError(f"{path} has no column {target!r}; it has {columns[:20]}.")
    features = [c for c in columns if c != label]
    X = np.empty((table.num_rows, len(features)))
    for k, name in enumerate(features):
        column = table.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            kind = str(column.type)
            raise DataError(
                f"column {name!r} of {path} holds {kind}, not numbers. Encode or drop it first."
            )
        X[:, k] = column.to_numpy()
    y = np.array(table.column(label).to_pylist())
    return Table(X, y, tuple(features))
