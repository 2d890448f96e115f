"""Space: the hyperplanes that contain a face, in coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.prove.search.cone import Array, dense, largest

FLAT = 1e-9  # floats closer than this to the span of a face are proposed to lie in it


@dataclass(frozen=True, eq=False)
class Space:
    """The w that are 0 outside some columns and orthogonal to a face, in coordinates.

    An orthonormal basis of what is orthogonal to the face; None if that is everything.
    """

    n_columns: int
    columns: Array
    basis: Array | None

    @classmethod
    def orthogonal_to(cls, Z: Any, columns: Array) -> Space:
        if not Z.shape[0]:
            return cls(Z.shape[1], columns, None)
        q, r, _ = scipy.linalg.qr(dense(Z[:, columns]).T, pivoting=True)
        sizes = np.abs(np.diagonal(r))
        rank = int((sizes > FLAT * sizes[0]).sum())
        return cls(Z.shape[1], columns, q[:, rank:])

    @property
    def size(self) -> int:
        return len(self.columns) if self.basis is None else int(self.basis.shape[1])

    def coordinates(self, Z: Any) -> Any:
        inside = Z[:, self.columns]
        return inside if self.basis is None else inside @ self.basis

    def outside(self, v: Array) -> Array:
        w = np.zeros(self.n_columns)
        w[self.columns] = v if self.basis is None else self.basis @ v
        return w

    @staticmethod
    def off(inside: Any) -> npt.NDArray[np.bool_]:
        """Which rows, by their coordinates, are not on the face."""
        return largest(inside) > FLAT
