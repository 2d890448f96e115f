"""A second checker of results: slow, short, exact, and sharing nothing with the package.

`false_statements(result, data)` reads a result, in JSON or as it is in memory, and names every
statement in it that is not true of the rows. It uses the standard library only. Numbers are
Fractions, linear programs are solved by the simplex method over the rationals, so the verdict, the
state of a coefficient and the smallest number of rows to remove are also decided from scratch: the
rows should be few.

Write z_i = y_i (x_i, 1), or y_i x_i without an intercept.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
import struct
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = list[Fraction]
STATES = ("finite", "+inf", "-inf", "undetermined", "not identified")


class Falsehood(Exception):
    """A statement that is not true."""


@dataclasses.dataclass
class Data:
    """Rows of floats, one label per row, and the names of the columns if they have any."""

    rows: list[list[float]]
    labels: list[Any]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.classes = sorted(set(self.labels))
        self.signs = [1 if label == self.classes[-1] else -1 for label in self.labels]

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def z(self, intercept: bool) -> list[Row]:
        ones = [1.0] if intercept else []
        return [
            [y * Fraction(v) for v in (*row, *ones)]
            for row, y in zip(self.rows, self.signs, strict=True)
        ]

    def digest(self) -> str:
        """SHA-256 of the rows: leaves of labels, lengths, values and columns."""
        n, d = len(self.rows), self.width
        size = max(64, 2**13 // d)
        whole = hashlib.sha256(struct.pack("<qq", n, d))
        for low in range(0, n, size):
            rows, signs = self.rows[low : low + size], self.signs[low : low + size]
            there = [[(j, v) for j, v in enumerate(row) if v] for row in rows]
            leaf = hashlib.sha256(bytes(y % 256 for y in signs))
            leaf.update(b"".join(struct.pack("<q", len(row)) for row in there))
            leaf.update(b"".join(struct.pack("<d", v) for row in there for _, v in row))
            leaf.update(
                b"".join(struct.pack("<q", j) for row in there if len(row) < d for j, _ in row)
            )
            whole.update(leaf.digest())
        return whole.hexdigest()


def false_statements(result: Any, data: Data, unchecked: tuple[str, ...] = ()) -> list[str]:
    """What is not true in a result; fields in `unchecked` are not looked at.

    `result` is text, or an object with dataclass fields.
    """
    said = json.loads(result) if isinstance(result, (str, bytes)) else plain(result)
    kind = said["kind"]
    check = {
        "coefficients": _coefficients,
        "offenders": _offenders,
        "margin": _max_margin,
    }.get(kind, _certificate)
    try:
        check(said, data, unchecked)
    except Falsehood as e:
        return [str(e)]
    except (ArithmeticError, KeyError, TypeError, ValueError) as e:
        return [f"not of the form of such a result: {type(e).__name__}: {e}"]
    return []


def plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples and arrays as lists, numbers as they are."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"kind": getattr(value, "kind", type(value).__name__), **found}
    if isinstance(value, enum.Enum):
        return value.value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value


def _require(true: bool, otherwise: str) -> None:
    if not true:
        raise Falsehood(otherwise)


def _number(value: Any) -> Fraction:
    _require(not isinstance(value, bool), f"{value!r:.40} is no number")
    if isinstance(value, str):
        p, _, q = value.partition("/")
        _require(max(len(p), len(q)) < 4000, "a number is too long for this checker")
        return Fraction(int(p), int(q or 1))
    return Fraction(value)  # an OverflowError or ValueError for inf and nan


def _index(value: Any, below: int) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below
    _require(good, f"{value!r:.40} is no index below {below}")
    return int(value)


def _dot(a: Row, b: Row) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


# ---------------------------------------------------------------------- exact algebra


def rank(rows: list[Row]) -> int:
    """The rank, by Gauss's elimination."""
    rows, found = [list(row) for row in rows], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((k for k in range(found, len(rows)) if rows[k][j]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for k in range(found + 1, len(rows)):
            factor = rows[k][j] / rows[found][j]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[found], strict=True)]
        found += 1
    return found


def largest(objective: Row, above: list[Row], most: list[Row]) -> Fraction:
    """max objective.w with a.w >= 0 for rows `above` and a.w <= 1 for rows `most`, w free.

    The simplex method with Bland's rule, from w = 0. It must be bounded.
    """
    lines = [([-v for v in row], 0) for row in above] + [(row, 1) for row in most]
    m, n = len(lines), 2 * len(objective)
    table = [
        [*row, *(-v for v in row), *(Fraction(int(i == k)) for i in range(m)), Fraction(right)]
        for k, (row, right) in enumerate(lines)
    ]
    top = [*(-v for v in objective), *objective, *[Fraction(0)] * (m + 1)]
    basis = [n + k for k in range(m)]
    while (j := next((j for j, v in enumerate(top[:-1]) if v < 0), None)) is not None:
        ratios = [(row[-1] / row[j], basis[k], k) for k, row in enumerate(table) if row[j] > 0]
        _, _, k = min(ratios)
        table[k] = [v / table[k][j] for v in table[k]]
        for i, row in enumerate(table):
            if i != k and row[j]:
                f = row[j]
                table[i] = [a - f * b for a, b in zip(row, table[k], strict=True)]
        f = top[j]
        top = [a - f * b for a, b in zip(top, table[k], strict=True)]
        basis[k] = j
    return top[-1]


def takes_sign(z: list[Row], j: int, sign: int) -> bool:
    """Whether some w with w.z_i >= 0 for all i has w_j of this sign."""
    e = [Fraction(sign * int(k == j)) for k in range(len(z[0]))]
    return largest(e, z, [e]) > 0


def verdict_of(z: list[Row]) -> str:
    """Which of the three verdicts holds."""
    strict = [[*row, Fraction(-1)] for row in z]
    t = [Fraction(0)] * len(z[0]) + [Fraction(1)]
    if largest(t, strict, [t]) > 0:
        return "separable"
    total = [sum(column) for column in zip(*z, strict=True)]
    return "quasi-separable" if largest(total, z, [total]) > 0 else "overlapping"


# ---------------------------------------------------------------------- verdicts


def _certificate(said: dict[str, Any], data: Data, unchecked: tuple[str, ...]) -> None:
    _about(said, data)
    intercept = said["fit_intercept"]
    z = data.z(intercept)
    _labels(said, data)
    _names(said, data, unchecked)
    _require(said["kind"] == verdict_of(z), "another verdict holds")
    if "w" in said:
        w = _weights(said, data.width, intercept)
        scores = [_dot(w, row) for row in z]
        on = [i for i, s in enumerate(scores) if s == 0]
        split = [i for i, s in enumerate(scores) if s > 0]
        _require(min(scores) >= 0, "a row is on the wrong side")
        if said["kind"] == "separable":
            _require(not on, "a row is on the hyperplane")
            _margin(said, w[: data.width], min(scores))
            return
        _require(said["n_split"] == len(split) > 0, "another number of rows is split off")
    else:
        on = list(range(len(z)))
    for name in ("proof", "witness"):
        rows, _ = _cancelling(said[name], z)
        _require(set(rows) <= set(on), f"a row of the {name} is off the hyperplane")
        if name == "proof":
            span = rank([z[i] for i in rows])
            _require(span == rank([z[i] for i in on]), "the proof does not span the rows")


def _about(said: dict[str, Any], data: Data) -> None:
    _require(isinstance(said["fit_intercept"], bool), "fit_intercept is no truth value")
    sizes = said["n_rows"], said["n_features"]
    _require(sizes == (len(data.rows), data.width), "the data have another size")
    _require(said["data"] == data.digest(), "the data have another digest")


def _labels(said: dict[str, Any], data: Data) -> None:
    mine, theirs = [said["negative"], said["positive"]], [str(c) for c in data.classes]
    _require(all(isinstance(label, str) for label in mine), "a label is no text")
    forms = [_form(label) for label in theirs]
    same = [_form(label) for label in mine] == forms if len(set(forms)) == 2 else mine == theirs
    _require(same, "other labels")


def _names(said: dict[str, Any], data: Data, unchecked: tuple[str, ...]) -> None:
    names = said["feature_names"]
    if "feature_names" not in unchecked and names is not None:
        _require(data.names is not None and list(names) == list(data.names), "other names")


def _form(label: str) -> Any:
    """A label as a number, if it is one: 1, 1.0 and True are one label."""
    label = {"True": "1", "False": "0"}.get(label, label)
    whole = label.removesuffix(".0")
    return whole if whole.removeprefix("-").isdigit() and whole.isascii() else label


def _weights(said: dict[str, Any], d: int, intercept: bool) -> Row:
    w, b = [_number(v) for v in said["w"]], _number(said["b"])
    _require(len(w) == d, "w has another length")
    _require(intercept or b == 0, "b is not 0")
    return [*w, b] if intercept else w


def _margin(said: dict[str, Any], w: Row, least: Fraction) -> None:
    margin, square = _number(said["margin"]), _dot(w, w)
    _require(margin >= 0 and margin**2 * square <= least**2, "the margin is smaller")


def _cancelling(said: dict[str, Any], z: list[Row]) -> tuple[list[int], Row]:
    """Rows and weights, positive, that sum to 0."""
    rows = [_index(i, len(z)) for i in said["rows"]]
    weights = [_number(c) for c in said["weights"]]
    _require(len(set(rows)) == len(rows) == len(weights) > 0, "rows and weights do not match")
    _require(min(weights) > 0, "a weight is not positive")
    for column in zip(*(z[i] for i in rows), strict=True):
        _require(_dot(list(column), weights) == 0, "the weights do not cancel")
    return rows, weights


# ---------------------------------------------------------------------- coefficients


def _coefficients(said: dict[str, Any], data: Data, unchecked: tuple[str, ...]) -> None:
    certificate = said["certificate"]
    _certificate(certificate, data, unchecked)
    intercept = certificate["fit_intercept"]
    z = data.z(intercept)
    p = len(z[0])
    items = said["items"]
    _require(len(items) == p, "another number of coefficients")
    if "names" not in unchecked:
        names = list(data.names or (f"x{j}" for j in range(data.width)))
        names += ["intercept" if "intercept" not in names else "(intercept)"] * intercept
        _require([item["name"] for item in items] == names, "other names")
    kept = [j for j in range(p) if items[j]["reduced"] is not None]
    spanning = [z[_index(i, len(z))] for i in said["spanning"]]
    _require(rank(spanning) == rank(z), "the rows that span do not span all rows")
    inner = [[row[j] for j in kept] for row in spanning]
    _require(rank(inner) == len(kept) == rank(z), "other columns would have to stay")
    members = [[_number(v) for v in member] for member in said["members"]]
    for member in members:
        _require(all(_dot(member, row) >= 0 for row in z), "a member errs")
        _require(not any(member[j] for j in range(p) if j not in kept), "a member is off")
    for j, item in enumerate(items):
        _coefficient(j, item, z, kept, members, certificate)


def _coefficient(
    j: int,
    item: dict[str, Any],
    z: list[Row],
    kept: list[int],
    members: list[Row],
    certificate: Any,
) -> None:
    tied = rank(z) == rank([row[:j] + row[j + 1 :] for row in z])
    bound = item["bound"]
    if j not in kept:
        _require(item["reduced"] is None and bound is None, "a dropped column has a state")
        _require(item["state"] == "not identified", "a dropped column is identified")
        return
    inner = [[row[k] for k in kept] for row in z]
    signs = takes_sign(inner, kept.index(j), 1), takes_sign(inner, kept.index(j), -1)
    state = STATES[signs[0] + 2 * signs[1]]
    _require(item["reduced"] == state, f"coefficient {j} is {state} after dropping")
    _require(item["state"] == ("not identified" if tied else state), f"{j} has another state")
    for sign in (1, -1):
        shown = any(sign * member[j] > 0 for member in members)
        _require(shown == signs[sign < 0], f"no member shows a sign of {j}")
    _require((bound is not None) == (signs[0] != signs[1]), f"weights of {j} are there or missing")
    if bound is not None:
        rows = [z[_index(i, len(z))] for i in bound["rows"]]
        weights = [_number(c) for c in bound["weights"]]
        _require(len(rows) == len(weights) and min(weights, default=0) >= 0, "bad weights")
        total = [_dot(list(c), weights) for c in zip(*rows, strict=True)]
        total[j] -= 1 if signs[0] else -1
        face = [[row[k] for k in kept] for row in _face(certificate, z)]
        left = [total[k] for k in kept]  # a combination of the rows that overlap
        _require(rank([*face, left]) == rank(face), "the weights do not bound it")


def _face(certificate: dict[str, Any], z: list[Row]) -> list[Row]:
    """The rows that all of the cone is orthogonal to."""
    if certificate["kind"] == "overlapping":
        return z
    w = [*certificate["w"], certificate["b"]] if certificate["fit_intercept"] else certificate["w"]
    return [row for row in z if _dot([_number(v) for v in w], row) == 0]


# ---------------------------------------------------------------------- offenders


def _offenders(said: dict[str, Any], data: Data, unchecked: tuple[str, ...]) -> None:
    _about(said, data)
    _labels(said, data)
    _names(said, data, unchecked)
    intercept = said["fit_intercept"]
    z = data.z(intercept)
    removed = [_index(i, len(z)) for i in said["rows"]]
    _require(removed == sorted(set(removed)), "the rows are not in order")
    w = _weights(said, data.width, intercept)
    stays = [i for i in range(len(z)) if i not in set(removed)]
    _require(all(_dot(w, z[i]) > 0 for i in stays), "a row that stays is not on its side")
    for part in said["witnesses"]:
        _cancelling(part, z)
        _require(_number(part["share"]) >= 0, "a share is negative")
    mass = _copies(said["copies"], z)
    _bound(said, z, mass)
    labels = [str(data.labels[i]) for i in removed]
    _require(list(said["labels"]) == labels, "other labels of the removed rows")
    square = _dot(w[: data.width], w[: data.width])
    _require(len(said["distances"]) == len(removed), "another number of distances")
    for i, far in zip(removed, said["distances"], strict=True):
        _require(isinstance(far, float | str), "a distance is no number")
        _require(_is_distance(_dot(w, z[i]), square, far), "another distance")


def _copies(groups: Any, z: list[Row]) -> dict[int, tuple[int, ...]]:
    """For every row of a group, the group."""
    found: dict[int, tuple[int, ...]] = {}
    for group in groups:
        rows = tuple(_index(i, len(z)) for i in group)
        for i in rows:
            _require(i not in found, "a row is in two groups")
            found[i] = rows
            first = z[rows[0]]
            pairs = zip(first, z[i], strict=True)
            factor = next((a / b for a, b in pairs if b), None)
            same = not any(first) if factor is None else factor > 0
            same = same and first == [(factor or 0) * v for v in z[i]]
            _require(same, "rows of a group are not multiples")
    return found


def _bound(said: dict[str, Any], z: list[Row], groups: dict[int, tuple[int, ...]]) -> None:
    low = said["lower_bound"]
    _require(isinstance(low, int) and 0 <= low <= len(said["rows"]), "no such bound")
    _require(isinstance(said["by_search"], bool), "by_search is no truth value")
    drawn: dict[tuple[int, ...], Fraction] = {}
    sets = []
    for part in said["witnesses"]:
        mine = {groups.get(i, (i,)) for i in part["rows"]}
        sets.append(mine)
        for group in mine:
            drawn[group] = drawn.get(group, Fraction(0)) + _number(part["share"])
    _require(all(v <= len(g) for g, v in drawn.items()), "the shares draw too much")
    total = sum((_number(part["share"]) for part in said["witnesses"]), Fraction(0))
    if low > math.ceil(total):
        _require(said["by_search"], "the shares do not add up")
        known = set().union(*sets)
        for k in range(low):
            for few in combinations(known, k):
                if sum(map(len, few)) < low:
                    _require(not all(s & set(few) for s in sets), "fewer rows meet all witnesses")
    t = [Fraction(0)] * len(z[0]) + [Fraction(1)]
    for k in range(low):
        for few in combinations(range(len(z)), k):
            rest = [[*row, Fraction(-1)] for i, row in enumerate(z) if i not in few]
            _require(bool(rest) and largest(t, rest, [t]) <= 0, "fewer rows are enough")


def _is_distance(score: Fraction, square: Fraction, far: Any) -> bool:
    """Whether far is score / root(square) to within one unit of its last place."""
    if isinstance(far, str):
        far = float(far) if far in ("inf", "-inf", "nan") else float(Fraction(far))
    if square == 0:
        return far is None or math.isnan(far)
    if far is None or math.isnan(far):
        return False
    low, high = math.nextafter(far, -math.inf), math.nextafter(far, math.inf)
    exact = score * abs(score) / square  # signed square
    below = low == -math.inf or Fraction(low) * abs(Fraction(low)) <= exact
    above = high == math.inf or exact <= Fraction(high) * abs(Fraction(high))
    return below and above


# ---------------------------------------------------------------------- margins


def _max_margin(said: dict[str, Any], data: Data, unchecked: tuple[str, ...]) -> None:
    """Both bounds of the interval, from the hyperplane and from the weights of the proof."""
    _about(said, data)
    _labels(said, data)
    _names(said, data, unchecked)
    augmented, intercept = said["augmented"], said["fit_intercept"]
    _require(isinstance(augmented, bool), "augmented is no truth value")
    _require(intercept or not augmented, "there is no offset to count")
    v = _weights(said, data.width, intercept)
    z = data.z(intercept)
    if said["lower"] not in ("-inf", -math.inf):
        square = _dot(v, v) if augmented else _dot(v[: data.width], v[: data.width])
        least, lower = min(_dot(v, row) for row in z), _number(said["lower"])
        _require(square > 0, "all weights are 0")
        reached = lower * abs(lower) * square <= least * abs(least)
        _require(reached, "the hyperplane has a smaller margin")
    groups = 2 if intercept and not augmented else 1
    rows = [_index(i, len(z)) for i in said["proof"]["rows"]]
    weights = [_number(c) for c in said["proof"]["weights"]]
    _require(len(set(rows)) == len(rows) == len(weights) > 0, "rows and weights do not match")
    _require(min(weights) > 0, "a weight is not positive")
    for signs in [(1, -1)] if groups == 1 else [(1,), (-1,)]:
        mine = [c for i, c in zip(rows, weights, strict=True) if data.signs[i] in signs]
        _require(sum(mine) == 1, "the weights do not sum to 1")
    z = data.z(augmented)
    point = [_dot(list(column), weights) for column in zip(*(z[i] for i in rows), strict=True)]
    best = _dot(point, point) / groups**2
    if said["upper"] not in ("inf", math.inf):
        upper = _number(said["upper"])
        _require(upper >= 0 and upper**2 >= best, "the rows do not bound the margin")
    if said["square"] is not None:
        _require(_number(said["square"]) == best, "the square is another")
        scores = [
            min(_dot(point, row) for row, y in zip(z, data.signs, strict=True) if y in signs)
            for signs in ([(1, -1)] if groups == 1 else [(1,), (-1,)])
        ]
        _require(sum(scores) == _dot(point, point), "a margin may be smaller")
