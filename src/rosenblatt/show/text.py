"""Text: a perceptron's data and hyperplane drawn with characters, for terminals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
NEGATIVE, POSITIVE, BOUNDARY, BOTH, MARKED = "x", "o", "·", "*", "@"


def drawn(
    X: Array,
    y: Array,
    w: Array,
    b: float,
    *,
    marked: int | None = None,
    width: int = 60,
    height: int = 16,
) -> str:
    """Points of two classes in the plane, and the line w.x + b = 0 between them.

    Parameters
    ----------
    X, y : arrays
        The points, and their labels -1 (drawn as x) and +1 (drawn as o); * is both.
    w, b : array of shape (2,), float
        The line. With w = 0 there is none.
    marked : int, optional
        Number of a point that is drawn as @.
    width, height : int
        Size in characters.

    Returns
    -------
    str
        Lines of text.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([-1, 1])
    >>> print(drawn(X, y, np.array([1.0, 0.0]), -1.0, width=5, height=3))
      · o
      ·
    x ·
    """
    low, high = X.min(axis=0), X.max(axis=0)
    # centres of the cells, the second feature upwards
    across = np.linspace(low[0], high[0], width)
    up = np.linspace(high[1], low[1], height)
    scores = w[0] * across + w[1] * up[:, None] + b
    cells = np.full((height, width), " ", dtype="<U1")
    if np.any(w):
        side = scores >= 0
        changes = np.zeros((height, width), dtype=bool)
        changes[:, 1:] |= side[:, 1:] != side[:, :-1]
        changes[1:] |= side[1:] != side[:-1]
        cells[changes] = BOUNDARY
    scale = np.where(high > low, high - low, 1)
    columns, rows = np.rint((X - low) / scale * [width - 1, height - 1]).astype(int).T
    for row, column, label in zip(height - 1 - rows, columns, y, strict=True):
        mark = POSITIVE if label > 0 else NEGATIVE
        cells[row, column] = mark if cells[row, column] in (" ", BOUNDARY, mark) else BOTH
    if marked is not None:
        cells[height - 1 - rows[marked], columns[marked]] = MARKED
    return "\n".join("".join(line).rstrip() for line in cells)
