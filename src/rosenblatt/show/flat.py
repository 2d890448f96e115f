"""Flat: rows and weights in a picture plane in which the hyperplane is a straight line.

- one feature: the feature across; the height means nothing.
- two features: as they are.
- more: across, the coordinate along the frame's own w, (x - c).w / ||w||, c the centre of the
  rows; up, the coordinate along v, the part orthogonal to w of the direction in which the rows
  spread most once the last w is taken out. Every x of the hyperplane w.x + b = 0 then has the
  same place across, -(b + w.c) / ||w||: a straight line, exactly.

For the third kind the page multiplies rows by weights itself. It needs only the products, so
where there are more features than rows drawn, both are given in coordinates of the rows' span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import eigh

from rosenblatt.data.problem import Problem
from rosenblatt.show.footage import Footage

Array = npt.NDArray[Any]
HALF_PIXEL = 1 / 720  # of half the width: the picture is at most 720 pixels wide
THIN_ABOVE = 1000  # frames up to which nothing is left out
MOST_WEIGHTS, MOST_PLACES = 1_000_000, 300_000  # numbers in a page with more than two features
MOST_ENTRIES = 10_000_000  # of the rows drawn, as a dense array while the page is made
PARALLEL = 0.05  # sine of the angle to w below which the second direction up is used


@dataclass(frozen=True, eq=False)
class Flat:
    """Where everything is drawn.

    Attributes
    ----------
    kind : "line", "plane" or "projection"
    drawn : int array
        The rows that are drawn all the time.
    x : array (rows drawn, r)
        Their places; for a projection, centred rows in r coordinates.
    box : (left, right, bottom, top)
    centre : array (d,)
    scale : array (d,)
        Half the width of the picture, in units of each feature; for a projection, how far the
        rows reach from the centre.
    up : array (2, d) or None
        The two directions up of a projection.
    reach : array (K + 1, 2) or None
        Of a projection, how far the picture goes from the centre in each frame, across and up:
        far enough for all rows in this frame and in those after it, in steps of a quarter.
    basis : array (d, r) or None
        Coordinates of a projection with more features than rows drawn.
    """

    kind: str
    drawn: Array
    x: Array
    box: tuple[float, float, float, float]
    centre: Array
    scale: Array
    up: Array | None = None
    reach: Array | None = None
    basis: Array | None = None

    @classmethod
    def of(cls, footage: Footage, max_rows: int) -> Flat:
        """The picture plane of a run."""
        problem = footage.problem
        d = problem.n_features
        if d > 2:
            return _projection(footage, max_rows)
        drawn = _spread(problem, max_rows)
        x = _dense(problem, drawn)
        seen = np.concatenate([x, footage.x[footage.row >= 0]])
        low, high = seen.min(axis=0), seen.max(axis=0)
        half = np.where(high > low, (high - low) / 2, np.maximum(np.abs(high), 1.0) / 2)
        centre = (low + high) / 2
        if d == 1:
            box = (*_ends(centre[0], 1.1 * half[0]), -1.0, 1.0)
            return cls("line", drawn, x, box, centre, 1.1 * half)
        if half.max() <= 4 * half.min():  # otherwise one feature would be flat
            half = np.full(2, half.max())
        half = 1.1 * half
        box = (*_ends(centre[0], half[0]), *_ends(centre[1], half[1]))
        return cls("plane", drawn, x, box, centre, half)

    # --------------------------------------------------------------------- thinning

    def thinned(self, footage: Footage, always: set[int]) -> Array:
        """The frames to show: every one after which the picture has changed.

        Let f(x) = (w.x + b) / ||w|| be the signed distance from the hyperplane. A frame may be
        left out only if, compared with the last frame shown, f differs by at most half a pixel
        on every point of the picture: then the line, the arrow and, projected, the rows stand
        within half a pixel of where they would. As f is affine, with radius r around c,
            max |f - f'| <= |f(c) - f'(c)| + r ||w/||w|| - w'/||w'|| ||.
        The direction up of a projection is compared likewise, and a change of its scale is one.
        Between w = 0 and any other there is always a change. Up to a thousand updates nothing
        is left out.
        """
        n = len(footage)
        if n - 1 <= THIN_ABOVE:
            return np.arange(n)
        across, at_centre, up = self._directions(footage)
        radius, still = self._half_pixels(n)
        shown, last = [0], 0
        for k in range(1, n):
            turn = float(np.linalg.norm(across[k] - across[last]))
            same = abs(at_centre[k] - at_centre[last]) + radius * turn <= still[k, 0]
            if same and up is not None:
                same = bool(np.linalg.norm(up[k] - up[last]) <= still[k, 1])
            if not same or k in always or k in (1, n - 1) or still[k, 0] != still[last, 0]:
                shown.append(k)
                last = k
        return np.array(shown)

    def _half_pixels(self, n: int) -> tuple[float, Array]:
        """How far points may lie from c, and half a pixel across and up in each frame."""
        if self.reach is None:
            return float(np.sqrt(len(self.scale))), np.full((n, 2), HALF_PIXEL)
        return 1.0, HALF_PIXEL * self.reach / self.scale[0]

    def _directions(self, footage: Footage) -> tuple[Array, Array, Array | None]:
        """w / ||w||, the signed distance of the centre, and v, in units of the picture."""
        w = footage.w * self.scale
        length = np.linalg.norm(w, axis=1)
        safe = np.where(length > 0, length, 1.0)
        across = w / safe[:, None]
        at_centre = np.where(length > 0, (footage.b + footage.w @ self.centre) / safe, np.nan)
        if self.up is None:
            return across, at_centre, None
        cos = across @ self.up.T
        rest = 1.0 - cos**2
        which = np.where(rest[:, 0] >= PARALLEL**2, 0, 1)
        rows = np.arange(len(w))
        v = self.up[which] - cos[rows, which][:, None] * across
        return across, at_centre, v / np.sqrt(np.maximum(rest[rows, which], 1e-300))[:, None]

    # ------------------------------------------------------------------ for the page

    def weights(self, footage: Footage, shown: Array) -> dict[str, Array]:
        """The weights of the frames shown, in the coordinates of `x`."""
        w, b = footage.w[shown], footage.b[shown]
        if self.up is None:
            return {"w": w, "b": b, "visited": footage.x[shown]}
        centred = np.where(footage.row[shown, None] >= 0, footage.x[shown] - self.centre, 0.0)
        return {
            "w": (w if self.basis is None else w @ self.basis).astype(np.float32),
            "b": b + w @ self.centre,
            "upW": w @ self.up.T,
            "reach": np.zeros((len(w), 2)) if self.reach is None else self.reach[shown],
            "visited": np.column_stack([np.einsum("ij,ij->i", centred, w), centred @ self.up.T]),
        }

    def rows(self, problem: Problem) -> dict[str, Array]:
        """The rows drawn."""
        told = {"x": self.x, "row": self.drawn.astype(np.int32)}
        told["y"] = problem.y[self.drawn].astype(np.int8)
        if self.up is None:
            return told
        told["upX"] = (_dense(problem, self.drawn) - self.centre) @ self.up.T
        return {**told, "x": self.x.astype(np.float32)}


def _ends(middle: float, half: float) -> tuple[float, float]:
    return float(middle - half), float(middle + half)


def _dense(problem: Problem, rows: Array) -> Array:
    some = problem.X[rows]
    return np.asarray(some.toarray() if sp.issparse(some) else some, dtype=np.float64)


def _spread(problem: Problem, most: int) -> Array:
    """At most so many rows, evenly spread over the data, each class in its share."""
    if problem.n_rows <= most:
        return np.arange(problem.n_rows)
    chosen = []
    for label in (-1, 1):
        rows = np.flatnonzero(problem.y == label)
        n = max(1, round(most * len(rows) / problem.n_rows))
        chosen.append(rows[np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(int)])
    return np.unique(np.concatenate(chosen))


def _projection(footage: Footage, max_rows: int) -> Flat:
    problem, d = footage.problem, footage.problem.n_features
    drawn = _spread(problem, min(max_rows, _affordable(d, len(footage))))
    x = _dense(problem, drawn)
    centre = x.mean(axis=0)
    x = x - centre
    up = _up(x, footage.w[-1])
    basis = None
    if d > len(drawn):
        basis = np.linalg.qr(x.T)[0]
        x = x @ basis
    flat = Flat("projection", drawn, x, (-1, 1, -1, 1), centre, np.ones(d), up, None, basis)
    reach = _reach(flat, footage)
    right, top = reach.max(axis=0).tolist()
    scale = np.full(d, _radius(flat, footage))
    return replace(flat, box=(-right, right, -top, top), scale=scale, reach=reach)


def _affordable(d: int, n_frames: int) -> int:
    """How many rows keep the page small enough to open at once, 50 or more if memory allows."""
    n = max(MOST_PLACES // d, math.isqrt(MOST_PLACES))  # n rows in min(n, d) coordinates
    if d > MOST_WEIGHTS // n_frames:
        n = min(n, MOST_WEIGHTS // n_frames)
    return max(2, min(max(50, n), MOST_ENTRIES // d))


def _up(x: Array, w: Array) -> Array:
    """The two directions orthogonal to w in which the centred rows x spread most."""
    length = np.linalg.norm(w)
    unit = w / length if length > 0 else np.zeros_like(w)
    rest = x - np.outer(x @ unit, unit)
    found = [*_leading(rest), *np.eye(3, len(w))]  # a few axes, if the rows span too little
    up: list[Array] = []
    for direction in found:
        for other in (unit, *up):
            direction = direction - (direction @ other) * other
        size = np.linalg.norm(direction)
        if size > 1e-6 and len(up) < 2:
            up.append(direction / size)
    signs = [np.sign(v[np.abs(v).argmax()]) for v in up]  # left open by eigenvectors
    return np.array([s * v for s, v in zip(signs, up, strict=True)])


def _leading(x: Array) -> Array:
    """The two leading principal directions of x, from the smaller of its two Gram matrices."""
    wide = x.shape[1] > x.shape[0]
    gram = x @ x.T if wide else x.T @ x
    size = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(0, size - 2), size - 1])
    if not wide:
        return np.asarray(vectors.T[::-1])
    spread = values > 1e-12 * values[-1]
    return np.asarray((vectors[:, spread] / np.sqrt(values[spread])).T[::-1] @ x)


def _radius(flat: Flat, footage: Footage) -> float:
    far = float(np.linalg.norm(flat.x, axis=1).max())
    visited = footage.x[footage.row >= 0] - flat.centre
    if len(visited):
        far = max(far, float(np.linalg.norm(visited, axis=1).max()))
    return far or 1.0


def _reach(flat: Flat, footage: Footage) -> Array:
    """How far rows stand from the centre, across and up, in each frame or any after it."""
    across, _, v = flat._directions(footage)
    assert v is not None
    centred = np.where(footage.row[:, None] >= 0, footage.x - flat.centre, 0.0)
    far = np.empty((len(footage), 2))
    for which, direction in enumerate((across, v)):
        inner = direction if flat.basis is None else direction @ flat.basis
        chunks = np.array_split(inner.astype(np.float32), max(1, len(inner) // 500))
        x = flat.x.T.astype(np.float32)
        drawn = np.concatenate([np.abs(chunk @ x).max(axis=1) for chunk in chunks])
        visited = np.abs(np.einsum("ij,ij->i", centred, direction))
        far[:, which] = np.maximum(drawn, visited)
    later = np.maximum.accumulate(far[::-1])[::-1]
    later[later == 0] = 1.0
    return np.asarray(1.06 * 1.25 ** np.ceil(np.log(later) / np.log(1.25)))
