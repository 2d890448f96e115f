"""Certificates: what they are digests of, how they are written, what they say."""

import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import separability
from rosenblatt.data.cone import as_cone
from rosenblatt.errors import DataError
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    data_digest,
    from_json,
)

OVERLAP = ([[0.0, 0], [1, 1], [0, 1], [1, 0]], ["a", "a", "b", "b"])
QUASI = ([[-2.0, 1], [0, 1], [0, 1], [2, 1]], ["a", "a", "b", "b"])
SEPARABLE = ([[-2.0, 1], [-1, 0], [1, 0], [3, 2]], ["a", "a", "b", "b"])
ALL = [OVERLAP, QUASI, SEPARABLE]


def arrays(data):
    return np.array(data[0]), np.array(data[1])


# ---------------------------------------------------------------------- the data's digest


@given(
    entries=st.lists(st.sampled_from([0.0, -0.0, 1.5, -2.0]), min_size=24, max_size=24),
    cuts=st.lists(st.integers(0, 8), max_size=3),
    gaps=st.booleans(),
)
def test_the_digest_is_of_the_numbers_not_of_their_storage(entries, cuts, gaps):
    X, y = np.array(entries).reshape(8, 3), np.arange(8) % 2
    X = X if gaps else X + 5
    stored = sp.csr_matrix(np.ones((8, 3)))
    stored.data[:] = X.ravel()  # zeros that are stored
    single, ends = X.astype(np.float32), [0, *sorted(cuts), 8]
    chunks = [(sp.csr_array(X[a:b]) if a else single[a:b], y[a:b]) for a, b in pairwise(ends)]
    forms = (X, single, np.asfortranarray(X), sp.csr_array(single), stored, abs(X) * np.sign(X))
    digests = {data_digest(as_cone(A, y)) for A in forms} | {data_digest(as_cone(chunks))}
    assert len(digests) == 1
    k = int(np.flatnonzero(X.ravel())[0]) if X.any() else 0
    for other in (np.nextafter(X.ravel()[k], 9), X.ravel()[k] + 1):
        moved = X.copy()
        moved.ravel()[k] = other
        assert data_digest(as_cone(moved, y)) not in digests
    assert data_digest(as_cone(X, 1 - y)) not in digests
    assert data_digest(as_cone(X[:, ::-1], y)) not in digests or (X[:, ::-1] == X).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_chunks_verify_like_the_whole(intercept):
    X, y = arrays(QUASI)
    cert = separability(X, y, fit_intercept=intercept)
    chunks = [(X[:1], y[:1]), (X[1:3], y[1:3]), (sp.csr_array(X[3:]), y[3:])]
    assert cert.verify(chunks)
    assert not cert.verify(chunks[::-1]).integrity
    moved = [(X[:1] - 1, y[:1]), *chunks[1:]]
    assert not cert.verify(moved).integrity


# ---------------------------------------------------------------------- the seal


@pytest.mark.parametrize("data", ALL, ids=["overlap", "quasi", "separable"])
def test_what_was_altered_fails_integrity(data):
    X, y = arrays(data)
    cert = separability(X, y)
    assert cert.verify(X, y)
    moved = X.copy()
    moved[0, 0] = np.nextafter(moved[0, 0], 9)
    assert not cert.verify(moved, y).integrity
    assert not cert.verify(X, y[::-1]).integrity
    altered = replace(cert, n_rows=5)
    assert not altered.verify(X, y).integrity
    assert not altered.verify(X, y).truth
    assert altered.resealed().sealed == altered.digest
    assert not from_json(cert.to_json().replace('"n_rows": 4', '"n_rows": 5')).verify(X, y)


@pytest.mark.parametrize("data", ALL, ids=["overlap", "quasi", "separable"])
def test_every_field_is_under_the_seal(data):
    cert = separability(*arrays(data))
    other = {
        bool: False,
        int: 7,
        float: 0.1234,
        str: "other",
        Combination: Combination((0,), (Fraction(1),)),
        type(None): ("p", "q"),
    }
    for f in fields(cert):
        if f.name != "sealed":
            value = getattr(cert, f.name)
            changed = replace(cert, **{f.name: () if value == () else other.get(type(value), ())})
            if changed != cert:
                assert changed.sealed != changed.digest, f.name


def test_it_comes_back_to_the_bit():
    huge = Fraction(-(3**40_000), 7**4)  # 19,000 digits; Python's own int(text) stops at 4,300
    base = separability(*arrays(QUASI))
    w = (5e-324, huge)
    long = replace(base, w=w, b=-0.0, feature_names=("α", '"\\\n'), sealed=None)
    again = from_json(long.to_json())
    assert again == long
    assert again.sealed == long.sealed == again.digest
    assert again.b == 0
    assert again.to_json() == long.to_json()
    assert isinstance(Certificate.from_json(long.to_json().encode()), type(long))
    assert str(long)
    assert repr(Combination((0, 3), (huge, huge))) == "<Combination of rows 0, 3>"


@cache
def cert():
    """Not made when this file is imported: each process would compile for it."""
    return separability(*arrays(SEPARABLE)).to_json()


def test_white_space_is_no_alteration_anything_else_is():
    X, y = arrays(SEPARABLE)
    packed = json.dumps(json.loads(cert()), separators=(",", ":"))
    assert from_json(packed).verify(X, y)
    assert from_json(cert().replace("\n", "\r\n\t")).verify(X, y)
    for k in range(len(packed)):
        for new in ("", "1", " 7"):
            text = packed[:k] + new + packed[k + 1 :]
            try:
                found = from_json(text)
            except DataError:
                continue
            assert text == packed or not found.verify(X, y).integrity


@given(st.data())
def test_no_edit_passes_unnoticed(data):
    lines = cert().splitlines()
    k = data.draw(st.integers(0, len(lines) - 1))
    edit = data.draw(st.sampled_from(["drop", "twice", "swap", "digit"]))
    if edit == "drop":
        changed = lines[:k] + lines[k + 1 :]
    elif edit == "twice":
        changed = lines[: k + 1] + lines[k:]
    elif edit == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        changed = lines.copy()
        changed[k], changed[other] = lines[other], lines[k]
    else:
        digit = data.draw(st.sampled_from("0123456789abcdef.e-"))
        changed = lines.copy()
        changed[k] = re.sub(r"[0-9]", digit, lines[k], count=1)
    text = "\n".join(changed)
    assume(text != cert())
    try:
        noticed = not from_json(text).verify(*arrays(SEPARABLE)).integrity
    except DataError:
        noticed = True
    assert noticed


@pytest.mark.parametrize(
    "text",  # or what is written over what
    [
        "",
        "{}",
        "[1]",
        "null",
        "1" * 5000,
        '{"format": "rosenblatt-certificate-1"}',
        "[" * 100_000,
        '{"format": "rosenblatt-certificate-1", "digest": ' + "[" * 100_000,
        ("certificate-1", "certificate-2"),
        ("{", "\ufeff{"),
        b"\xff\xfe",
        ('"b": ', '"b": NaN, "b": '),
        ('"b": ', '"b": "1e999999999", "c": '),
        ('"b": ', '"b": 1e400, "c": '),
        ('"b": ', '"b": "1/0", "c": '),
        ('"n_rows": 4', '"n_rows": 4.0'),
        ('"n_rows": 4', '"n_rows": ' + "4" * 5000),
        ('"n_rows": 4', '"n_rows": true'),
        ('"n_rows": 4', '"n_rows": 4, "n_rows": 4'),
        ('"n_rows": 4', '"n_rows": 4, "more": 4'),
        ('"positive": "b"', '"positive": "\\u0062"'),
        ('"positive": "b"', '"positive": ["b"]'),
        ('"kind": "separable"', '"kind": "perhaps"'),
        ('"kind": "separable"', '"kind": ["separable"]'),
        ('"kind": "separable"', '"kind": "overlapping"'),
        ('"w": [', '"w": ["2/4", '),
        ('"w": [', '"w": ["1/' + "9" * 200_000 + '", '),
        ('"w": [', '"w": ["' + "9" * 1_000_001 + '", '),
    ],
    ids=lambda text: str(text)[-30:] if len(str(text)) > 60 else str(text),
)
def test_what_is_no_certificate_is_refused(text):
    if isinstance(text, tuple):
        assert text[0] in cert()
        text = cert().replace(*text, 1)
    with pytest.raises(DataError, match=r"not a certificate.*Give the JSON"):
        from_json(text)


# ---------------------------------------------------------------------- names and words


def test_frames_are_remembered_by_their_names():
    frame = pd.DataFrame(QUASI[0], columns=["dose", "sex"])
    cert = separability(frame, QUASI[1])
    assert cert.feature_names == ("dose", "sex")
    assert cert.verify(frame, QUASI[1])
    assert cert.verify(frame.to_numpy(), QUASI[1])
    assert from_json(cert.to_json()).feature_names == ("dose", "sex")
    assert "dose" in str(cert)
    said = cert.verify(frame.rename(columns={"dose": "age"}), QUASI[1])
    assert said.truth
    assert not said.integrity
    assert "column 0 of these data is called age, in the certificate dose" in str(said)
    other = cert.verify(frame[["sex", "dose"]], QUASI[1])
    assert not other.integrity
    assert "another order" in str(other)


def test_labels_have_names_too():
    X, y = arrays(OVERLAP)
    cert = separability(X, y == "b")
    assert cert.verify(X, (y == "b").astype(int))  # 1, 1.0 and True are one label
    assert cert.verify(X, (y == "b").astype(float))
    said = cert.verify(X, y)
    assert said.integrity
    assert not said.truth
    assert "it calls the labels False and True, these are a and b" in str(said)


def test_the_words_of_an_overlap():
    cert = separability(*arrays(OVERLAP))
    assert cert.explain(*arrays(OVERLAP), feature_names=["u", "v"]).splitlines() == [
        "overlapping with an offset: every hyperplane has some row on the wrong side, unless all "
        "rows lie on it.",
        "4 rows prove it: with positive weights they cancel exactly, and they span all 4 rows "
        "(rows 0, 1, 2, 3).",
        "To look at: a point lies in both convex hulls, (u 1/2, v 1/2): 1/2 row 0 + 1/2 row 1 of "
        "label a and 1/2 row 2 + 1/2 row 3 of label b.",
    ]
    assert cert.split_rows(*arrays(OVERLAP)).tolist() == []
    assert repr(cert) == "<Overlapping: 4 rows, 2 features, with an offset>"
    with pytest.raises(DataError, match="3 names for 2 features"):
        cert.explain(feature_names=["u", "v", "w"])


def test_the_words_of_quasi_separation():
    X, y = arrays(QUASI)
    cert = separability(X, y)
    assert cert.split_rows(X, y).tolist() == [0, 3]
    said = cert.explain(X, y, feature_names=["dose", "sex"])
    assert "Split off" not in str(cert)
    assert "splits off 2 of 4 rows, and the other 2 lie on it" in said
    assert "Split off: rows 0, 3." in said
    assert "(dose 0, sex 1): row 1 of label a and row 2 of label b." in said
    assert "w.x + b is positive for label b, negative for label a." in said
    assert "Weights: dose 1; offset 0." in said


def test_the_words_of_separation():
    X, y = arrays(SEPARABLE)
    cert = separability(X, y)
    assert cert.split_rows(X, y).tolist() == [0, 1, 2, 3]
    assert "Its margin is 0.447214 (max_margin finds the largest)." in str(cert)
    assert "Its margin is positive" in str(separability([[1e308], [-1e308], [1]], [0, 1, 0]))
    assert "label b" in str(cert)


def test_through_the_origin_the_words_are_about_the_origin():
    X, y = [[1.0, 1], [2, 2], [1, 0], [0, 1]], [0, 1, 1, 0]
    cert = separability(X, y, fit_intercept=False)
    said = cert.explain(X, y)
    assert cert.verdict == "quasi-separable"
    assert "the origin lies in the hull of the y*x: -2/3 row 0 + 1/3 row 1 = 0." in said
    assert "both" not in said
    assert "offset" not in said


def test_the_table_is_escaped_and_lines_stay_lines():
    frame = pd.DataFrame(SEPARABLE[0], columns=["<b>x", "\x1b[31m"])
    cert = separability(frame, ["<i>", "<i>", "j\nk", "j\nk"])
    assert "<table>" in cert._repr_html_()
    assert "<i>" not in cert._repr_html_()
    assert "<b>" not in cert._repr_html_()
    assert "\x1b" not in str(cert)
    assert "j\\nk" in str(cert)


def test_long_weights_are_scaled_not_spelled_out():
    base = separability(*arrays(QUASI))
    long = replace(base, w=(Fraction(10**400), Fraction(-(10**400), 4)), b=Fraction(10**800))
    assert "Weights, the largest scaled to 1: x0 1, x1 -0.25; offset inf" in str(long)


def test_false_descriptions_fail_truth():
    X, y = arrays(QUASI)
    cert = separability(X, y)
    for lie in (
        replace(cert, feature_names=("one",)),
        replace(cert, positive="a", negative="b"),
    ):
        said = lie.resealed().verify(X, y)
        assert said.integrity
        assert not said.truth
    assert isinstance(separability(*arrays(OVERLAP)), Overlapping)
