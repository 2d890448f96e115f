"""Situation: everything that decides what the page shows, read from JSON with nothing trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learn.rules import resolve
from rosenblatt.learn.settings import Keep, Mode, Tie
from rosenblatt.show.lab import limits

Array = npt.NDArray[Any]
KEEPS, MODES, TIES = get_args(Keep), get_args(Mode), get_args(Tie)
ORDERS = ("order", "shuffle", "sample")
STARTS = ("zero", "random", "given")
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Start:
    """The first weights: all zero, drawn from a seed, or given."""

    kind: str = "zero"
    seed: int = 0
    w: tuple[float, float] = (0.0, 0.0)
    b: float = 0.0


@dataclass(frozen=True)
class Segment:
    """The choices that hold from visit `begin` on."""

    begin: int = 0
    rule: str = "perceptron"
    keep: str = "last"
    mode: str = "online"
    tie: str = "mistake"
    eta: float = 1.0
    order: str = "order"
    seed: int = 0

    @property
    def words(self) -> str:
        """In one line."""
        has_rate = resolve(self.rule).has_rate
        said = [self.rule, self.mode, f"keep {self.keep}", f"tie {self.tie}"]
        said += [f"eta {self.eta:g}"] if has_rate else []
        if self.mode == "online" and resolve(self.rule).name != "minover":
            orders = {"order": "in order", "shuffle": "shuffled", "sample": "drawn at random"}
            seed = "" if self.order == "order" else f" (seed {self.seed})"
            said.append(orders[self.order] + seed)
        return ", ".join(said)

    def told(self) -> dict[str, Any]:
        """As the page writes it."""
        values = asdict(self)
        return {"from": values.pop("begin"), **values}


@dataclass(frozen=True, eq=False)
class Situation:
    """Points of two classes, where the weights start, and the choices, segment by segment.

    A run is a pure function of it: same situation, same run, to the bit.
    """

    X: Array
    y: Array
    names: tuple[str, str] = ("x1", "x2")
    classes: tuple[str, str] = ("-1", "+1")
    offset: bool = True
    start: Start = Start()
    segments: tuple[Segment, ...] = (Segment(),)
    passes: int = 100
    at: int = 0
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        decides = [
            self.X.tobytes().hex(), self.y.tobytes().hex(), self.offset, asdict(self.start),
            [asdict(s) for s in self.segments], self.passes,
        ]  # fmt: skip
        text = json.dumps(decides, sort_keys=True)
        object.__setattr__(self, "digest", hashlib.sha256(text.encode()).hexdigest())

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @classmethod
    def read(cls, given: Any) -> Situation:
        """From parsed JSON; whatever is wrong is said by name."""
        found = _record(given, "the situation")
        if found.get("v", 1) != 1:
            raise ParameterError(
                f"the situation is of version {shown(found['v'])}, this lab reads version 1. Use "
                "the lab that wrote it."
            )
        X, y = read_points(found.get("points", []))
        return cls(
            X, y,
            _pair(found.get("names", ["x1", "x2"]), "names"),
            _pair(found.get("classes", ["-1", "+1"]), "classes"),
            flag(found.get("offset", True), "offset"),
            _start(found.get("start", {"kind": "zero"})),
            _segments(found.get("segments", [{}])),
            whole(found.get("passes", 100), "passes", 1, limits.PASSES),
            whole(found.get("at", 0), "at", 0, limits.VISITS),
        )  # fmt: skip

    def told(self) -> dict[str, Any]:
        """As the page writes it."""
        start: dict[str, Any] = {"kind": self.start.kind}
        if self.start.kind == "random":
            start["seed"] = self.start.seed
        elif self.start.kind == "given":
            start |= {"w": list(self.start.w), "b": self.start.b}
        rows = zip(self.X.tolist(), self.y.tolist(), strict=True)
        return {
            "v": 1,
            "points": [[*x, label] for x, label in rows],
            "names": list(self.names),
            "classes": list(self.classes),
            "offset": self.offset,
            "start": start,
            "segments": [s.told() for s in self.segments],
            "passes": self.passes,
            "at": self.at,
        }


def read_points(given: Any) -> tuple[Array, Array]:
    """[[x, y, label], ...] as rows and labels."""
    if not isinstance(given, list):
        raise DataError(f"points must be a list of [x, y, label], got {shown(given)}.")
    if len(given) > limits.POINTS:
        raise DataError(
            f"{len(given)} points are more than the {limits.POINTS} that the lab draws. Leave some "
            "out; rosenblatt itself has no such limit."
        )
    if (found := _as_they_stand(given)) is not None:
        return found
    X, y = np.zeros((len(given), 2)), np.zeros(len(given), dtype=np.int8)
    for k, point in enumerate(given):
        name = f"point {k + 1}"
        if not isinstance(point, list) or len(point) != 3:
            raise DataError(f"{name} must be [x, y, label], got {shown(point)}.")
        X[k] = [number(v, name, limits.LARGEST) for v in point[:2]]
        if ((np.abs(X[k]) < limits.SMALLEST) & (X[k] != 0)).any():
            raise DataError(
                f"{name} has a coordinate nearer to 0 than {limits.SMALLEST:g}, got "
                f"{shown(point[:2])}. Its square would be lost: take 0, or multiply all."
            )
        if isinstance(point[2], bool) or point[2] not in (-1, 1):
            raise DataError(f"{name} must have the label -1 or 1, got {shown(point[2])}.")
        y[k] = int(point[2])
    X += 0.0  # no -0, which is another text for the same point
    return X, y


def _as_they_stand(given: list[Any]) -> tuple[Array, Array] | None:
    """All points at once, if nothing is wrong with any; else they are looked at one by one."""
    try:
        if {type(v) for point in given for v in point} - {int, float}:
            return None
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if table.ndim != 2 or table.shape[1] != 3:
        return None
    X, y = np.ascontiguousarray(table[:, :2]), table[:, 2]
    small = (np.abs(X) < limits.SMALLEST) & (X != 0)
    if small.any() or not (np.abs(X) <= limits.LARGEST).all() or not np.isin(y, (-1, 1)).all():
        return None
    return X + 0.0, y.astype(np.int8)


def _start(given: Any) -> Start:
    found = _record(given, "start")
    kind = _choice(found.get("kind", "zero"), "start", STARTS)
    if kind == "random":
        return Start(kind, whole(found.get("seed", 0), "the seed of start", 0, MOST_SEED))
    if kind == "zero":
        return Start()
    w = found.get("w")
    if not isinstance(w, list) or len(w) != 2:
        raise ParameterError(f"start needs w with two numbers, got {shown(w)}.")
    first, second = (number(v, "w of start", limits.LARGEST) for v in w)
    return Start(kind, 0, (first, second), number(found.get("b", 0), "b of start", limits.LARGEST))


def _segments(given: Any) -> tuple[Segment, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= limits.SEGMENTS:
        raise ParameterError(
            f"segments must be a list of 1 to {limits.SEGMENTS} choices, got {shown(given)}. Start "
            "over to forget earlier choices."
        )
    found = tuple(_segment(one, k) for k, one in enumerate(given))
    begins = [s.begin for s in found]
    if begins[0] != 0 or any(b < a for a, b in pairwise(begins)):
        raise ParameterError(
            f"segments begin at visit 0 and then later and later, got {shown(begins)}."
        )
    return found


def _segment(given: Any, k: int) -> Segment:
    found, plain = _record(given, f"segment {k + 1}"), Segment()
    rule = found.get("rule", plain.rule)
    if not isinstance(rule, str) or len(rule) > limits.RULE:
        raise ParameterError(
            f"rule must be a text such as perceptron or arow(r=0.1), got {shown(rule)}."
        )
    resolve(rule)
    eta = number(found.get("eta", plain.eta), "eta", limits.LARGEST)
    if eta < limits.LEAST_ETA:
        raise ParameterError(f"eta must be at least {limits.LEAST_ETA:g}, got {eta:g}.")
    return Segment(
        whole(found.get("from", 0), f"from of segment {k + 1}", 0, limits.VISITS),
        rule,
        _choice(found.get("keep", plain.keep), "keep", KEEPS),
        _choice(found.get("mode", plain.mode), "mode", MODES),
        _choice(found.get("tie", plain.tie), "tie", TIES),
        eta,
        _choice(found.get("order", plain.order), "order", ORDERS),
        whole(found.get("seed", 0), "seed", 0, MOST_SEED),
    )


# ---------------------------------------------------------------- one value at a time


def shown(value: Any) -> str:
    """What was given, short enough to be read."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _record(given: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise ParameterError(f"{name} must be a JSON object, got {shown(given)}.")
    return given


def number(value: Any, name: str, largest: float) -> float:
    """A finite number that is not too large."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not fits or not abs(value) <= largest:  # nor NaN
        raise ParameterError(
            f"{name} must be a number from {-largest:g} to {largest:g}, got {shown(value)}."
        )
    return float(value)


def whole(value: Any, name: str, low: int, high: int) -> int:
    """A whole number within limits; 3.0 is one, as JavaScript writes 3."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not fits or not (low <= value <= high) or value != int(value):
        raise ParameterError(
            f"{name} must be a whole number from {low} to {high}, got {shown(value)}."
        )
    return int(value)


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be true or false, got {shown(value)}.")
    return value


def _choice(value: Any, name: str, among: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in among:
        raise ParameterError(f"{name} must be one of {', '.join(among)}, got {shown(value)}.")
    return value


def _pair(given: Any, name: str) -> tuple[str, str]:
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(v, str) for v in given):
        raise ParameterError(f"{name} must be two texts, got {shown(given)}.")
    if any(len(v) > limits.NAME for v in given):
        raise ParameterError(f"{name} must have at most {limits.NAME} characters each.")
    return given[0], given[1]
