"""Rows z_i that are the same, as one group with their number as its mass.

The float matrix Z is for proposals only: its columns and rows are scaled by powers of two, which
changes no sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, cone_of_arrays
from rosenblatt.prove.separability.exact_repair import Face
from rosenblatt.prove.separability.scaling import ScaledCone, column_sizes, signed_rows

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the rows of a cone in memory.

    Attributes
    ----------
    cone : all rows
    of_row : the group of each row
    first : the first row of each group; groups are in the order of these
    mass : how many rows each has
    scaled : the first rows, with the scale of their columns
    Z : the same as scaled floats, an array or CSR
    """

    cone: Cone
    of_row: Array
    first: Array
    mass: Array
    scaled: ScaledCone
    Z: Any

    @classmethod
    def of(cls, cone: Cone) -> Groups:
        """Group the rows that are the same z."""
        known: dict[bytes, int] = {}
        everything = cone.whole()
        keys = _keys(signed_rows(everything, cone.constant))
        of_row = np.array([known.setdefault(key, len(known)) for key in keys])
        first = np.unique(of_row, return_index=True)[1]
        heads = some_rows(cone, first)
        scaled = ScaledCone.of(heads, heads.map(column_sizes))
        Z, _ = scaled.rows(heads.whole(), np.arange(cone.n_columns))
        return cls(cone, of_row, first, np.bincount(of_row), scaled, Z)

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, groups: Any) -> Array:
        """All rows of these groups, in order."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[list(groups)] = True
        return np.flatnonzero(chosen[self.of_row])

    def face(self, groups: Array) -> Face:
        """The first rows of these groups as integers."""
        columns = np.arange(self.cone.n_columns)
        block = self.scaled.cone.take(groups)
        return Face.of(groups.tolist(), *self.scaled.integers(block, columns))

    def opposite_pairs(self) -> list[tuple[int, int]]:
        """Groups whose z add up to 0: the shortest cancelling sets but a row of zeros."""
        Z = signed_rows(self.scaled.cone.whole(), self.cone.constant)
        known = {key: g for g, key in enumerate(_keys(Z))}
        opposite = [known.get(key, -1) for key in _keys(-Z)]
        return [(g, h) for g, h in enumerate(opposite) if g < h]


def some_rows(cone: Cone, at: Array) -> Cone:
    """A cone in memory of these rows, in this order. They may be of one class."""
    block = cone.take(at)
    return cone_of_arrays(block.X, block.sign, cone.classes, cone.constant)


def _keys(Z: Any) -> list[bytes]:
    """Bytes for every row, the same for the same numbers."""
    if not sp.issparse(Z):
        return [row.tobytes() for row in np.ascontiguousarray(Z) + 0.0]  # no -0.0
    Z = Z.copy()
    Z.eliminate_zeros()
    Z.sort_indices()
    ends = zip(Z.indptr[:-1].tolist(), Z.indptr[1:].tolist(), strict=True)
    return [Z.indices[a:b].tobytes() + Z.data[a:b].tobytes() for a, b in ends]
