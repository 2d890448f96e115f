"""The verdict of the lab: exact, proven, and flipped by one unit in the last place."""

from fractions import Fraction
from math import nextafter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.prove.certificate import from_json
from rosenblatt.prove.separability import separability
from rosenblatt.show.lab.presets import preset, presets
from rosenblatt.show.lab.verdict import verdict_of
from tests.show.lab.situations import POINT


def told(points, offset=True):
    X = np.array([p[:2] for p in points], dtype=float).reshape(-1, 2)
    return verdict_of(X, np.array([p[2] for p in points], dtype=np.int8), offset)


def test_one_unit_in_the_last_place_flips_it():
    names = ("ulp-above", "ulp-on", "ulp-below")
    made = [preset(name) for name in names]
    found = [verdict_of(s.X, s.y, s.offset)["verdict"] for s in made]
    assert found == ["separable", "quasi-separable", "overlapping"]
    heights = [float(s.X[3, 1]) for s in made]
    assert heights == [nextafter(2.0, 3), 2.0, nextafter(2.0, 1)]
    for s in made[1:]:
        moved = np.flatnonzero((s.X != made[0].X).any(axis=1))
        assert moved.tolist() == [3]


@given(st.lists(POINT, min_size=1, max_size=7), st.booleans())
def test_what_is_drawn_proves_what_is_said(points, offset):
    X, y = np.array([p[:2] for p in points]), np.array([p[2] for p in points])
    found = told(points, offset)
    assert found["verified"]
    if len(set(y.tolist())) == 1:
        assert found["verdict"] == "one class"
    else:
        assert found["verdict"] == separability(X, y, fit_intercept=offset).verdict
        check_separator(found, points, X, y)
        check_common(found, points, offset)


def check_separator(found, points, X, y):
    line = found["separator"]
    assert (line is None) == (found["verdict"] == "overlapping")
    if line is not None:
        w, b = [Fraction(v) for v in line["exact"]["w"]], Fraction(line["exact"]["b"])
        sides = [p[2] * (w[0] * p[0] + w[1] * p[1] + b) for p in points]
        assert min(sides) >= 0
        assert (min(sides) > 0) == (found["verdict"] == "separable")
        drawn = y * (X @ line["w"] + line["b"])
        assert drawn.min() > -1e-9
    if found["verdict"] == "separable":
        size = np.linalg.norm(line["w"])
        np.testing.assert_allclose(drawn.min() / size, line["margin"], rtol=1e-5)
        assert line["support"]


def check_common(found, points, offset):
    """What the hulls have in common; without an offset, what the cones have."""
    common, sums = found["common"], {}
    assert (common is None) == (found["verdict"] == "separable")
    for side in ("positive", "negative") if common is not None else ():
        parts = [(points[p["row"]], Fraction(p["weight"])) for p in common[side]]
        assert all(p[2] == (1 if side == "positive" else -1) and c > 0 for p, c in parts)
        sums[side] = [sum((c * p[j] for p, c in parts), Fraction(0)) for j in (0, 1)]
        if offset:
            assert sum(c for _, c in parts) == 1
    if common is not None and offset:
        point = [Fraction(v) for v in common["exact"]]
        assert sums["positive"] == sums["negative"] == point
        assert len(common["positive"]) + len(common["negative"]) <= 4  # Caratheodory
    elif common is not None:
        assert common["kind"] == "origin"
        assert sums["positive"] == sums["negative"]


def test_the_certificate_can_be_checked_elsewhere():
    import json

    s = preset("xor")
    found = verdict_of(s.X, s.y, True)
    again = from_json(json.dumps(found["certificate"]))
    assert again.verify(s.X, s.y)
    assert found["exact"] == (
        "(1/2, 1/2) lies in both hulls: (1/2 of example 2 + 1/2 of example 3) of class +1, and "
        "(1/2 of example 1 + 1/2 of example 4) of class -1."
    )
    assert found["proof"] == f"{found['exact']} Checked without rounding."


def test_what_is_rounded_in_the_proof_says_so_and_stands_there_in_full():
    s = preset("ulp-below")
    found = verdict_of(s.X, s.y, True)
    assert "≈1.11e-16 of example 5" in found["proof"]
    shares = [p["weight"] for side in ("positive", "negative") for p in found["common"][side]]
    assert all(share == "1" or f"{share} of example" in found["exact"] for share in shares)


def test_nothing_and_one_class():
    assert told([])["verdict"] == "empty"
    assert told([[1, 1, 1]])["verdict"] == "one class"


def test_every_preset_is_what_it_is_called():
    verdicts = {
        "separable": "separable", "and": "separable", "xor": "overlapping",
        "quasi": "quasi-separable", "sutd": "separable", "sutd-crossed": "overlapping",
        "margins": "separable", "oracle-1": "separable", "oracle-2": "overlapping",
        "iris-setosa-versicolor": "separable", "iris-setosa-virginica": "separable",
        "iris-versicolor-virginica": "overlapping",
    }  # fmt: skip
    for name, one in presets().items():
        made = one.make()
        assert set(made.y.tolist()) == {-1, 1}
        if name in verdicts:
            assert verdict_of(made.X, made.y, made.offset)["verdict"] == verdicts[name], name
