"""The feature index: equal to a dict of pairs, for any cut of a text into blocks."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt._core import FeatureIndex, parse_libsvm, parse_vw, renumber_columns
from tests.io.slow_readers import vw_hash

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.text("ab=^", max_size=3)
PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=40)


def filled(pairs, **limits):
    index = FeatureIndex(**limits)
    return index, [index.add(name, space) for space, name in pairs]


@given(PAIRS)
def test_columns_are_those_of_a_dict(pairs):
    index, columns = filled(pairs)
    expected = {}
    assert columns == [expected.setdefault(pair, len(expected)) for pair in pairs]
    assert [index.pair(k) for k in range(len(index))] == list(expected)
    assert index.names("^") == [f"{s}^{n}" if s else n for s, n in expected]
    assert all(index.find(name, space) == column for (space, name), column in expected.items())
    assert index.find("not there") == -1
    assert index.n_features == len(expected)


@given(PAIRS)
def test_copies_and_saved_indices_are_equal(pairs):
    index, _ = filled(pairs, max_features=30)
    for other in (
        index.copy(),
        pickle.loads(pickle.dumps(index)),
        FeatureIndex.from_arrays(*index.arrays(), max_features=30),
    ):
        assert other.names("\0") == index.names("\0")
        assert other.max_features == 30
        size = len(index)
        other.add("new", "namespace")
        assert len(index) == size


@given(PAIRS, st.integers(0, 12), st.data())
def test_what_gets_no_column_depends_on_the_order_only(pairs, limit, data):
    whole, columns = filled(pairs, max_features=limit)
    kept = list(dict.fromkeys(pairs))[:limit]
    assert columns == [kept.index(p) if p in kept else FeatureIndex.FULL for p in pairs]
    cut = data.draw(st.integers(0, len(pairs)))
    merged = FeatureIndex(max_features=limit)
    for part in (pairs[:cut], pairs[cut:]):
        block, local = filled(part)
        found = merged.add_all(block)
        assert [found[k] for k in local] == [
            kept.index(p) if p in kept else FeatureIndex.FULL for p in part
        ]
    assert merged.names("\0") == whole.names("\0")
    if limit <= len(kept) and ("", "other") not in kept:
        assert whole.add("other", reserved=True) == len(kept)


@given(NAMES, NAMES, st.integers(1, 30))
def test_hashed_columns_are_those_of_vowpal_wabbit(space, name, bits):
    index = FeatureIndex(hash_bits=bits)
    seed = vw_hash(space.encode(), 0, "strings") if space else 0
    expected = vw_hash(name.encode(), seed, "strings") % 2**bits
    assert index.add(name, space) == index.find(name, space) == expected
    assert (index.hash_bits, index.n_features, len(index)) == (bits, 2**bits, 0)
    assert pickle.loads(pickle.dumps(index)).find(name, space) == expected


def test_limits():
    index = FeatureIndex(max_name_bytes=5)
    assert index.add("é" * 3) == index.add("a", "b" * 6) == FeatureIndex.TOO_LONG
    assert index.add("é" * 2) == 0
    for wrong in ({"hash_bits": 31}, {"hash_bits": 0}, {"max_features": -1}):
        with pytest.raises(ValueError, match=r"must be|negative"):
            FeatureIndex(**wrong)
    with pytest.raises(UnicodeEncodeError):
        index.add("\ud800")
    with pytest.raises(IndexError):
        index.pair(1)


@pytest.mark.parametrize(
    ("place", "number", "message"),
    [(1, 9, "offsets"), (2, -1, "offsets"), (3, 9, "namespace"), (3, -5, "namespace")],
)
def test_damaged_arrays_are_refused(place, number, message):
    index, _ = filled([("", "a"), ("n", "b"), ("n", "c")])
    names, offsets, spaces = index.arrays()
    (spaces if place == 3 else offsets)[2] = number
    with pytest.raises(ValueError, match=message):
        FeatureIndex.from_arrays(names, offsets, spaces)


# ------------------------------------------------------------------------- VW text

WORDS = st.text("abc", min_size=1, max_size=2)
FEATURES = st.tuples(WORDS, st.sampled_from([None, "2", "-0.5", "red", "0"]))
ROWS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["", "n", "é"]), st.lists(FEATURES, max_size=4)), max_size=3
    ),
    max_size=8,
)


def spelled(rows):
    lines = []
    for spaces in rows:
        parts = [
            f"|{space} " + " ".join(n if v is None else f"{n}:{v}" for n, v in features)
            for space, features in spaces
        ]
        lines.append("1 " + " ".join(parts or ["|"]) + "\n")
    return "".join(lines).encode()


def named(rows):
    """Each row as {(namespace, name): value}, without zeros."""
    out = []
    for spaces in rows:
        row = {}
        for space, features in spaces:
            for name, value in features:
                key = (space, f"{name}:{value}" if value == "red" else name)
                number = 1.0 if value in (None, "red") else float(value)
                if number:
                    row[key] = row.get(key, 0.0) + number
        out.append(row)
    return out


@given(ROWS, st.data())
def test_vw_names_do_not_depend_on_cuts(rows, data):
    cut = data.draw(st.integers(0, len(rows)))
    index, found = FeatureIndex(), []
    for part in (rows[:cut], rows[cut:]):
        block = FeatureIndex()
        parsed = parse_vw(spelled(part), features=block)
        assert parsed.n_bad_lines == 0
        renumber_columns(parsed.indptr, parsed.indices, parsed.values, index.add_all(block))
        for first, last in zip(parsed.indptr, parsed.indptr[1:], strict=False):
            columns = parsed.indices[first:last]
            assert (np.diff(columns) > 0).all()
            values = parsed.values[first:last].tolist()
            found.append(dict(zip(map(index.pair, columns.tolist()), values, strict=True)))
    expected = named(rows)
    assert found == expected
    order = list(dict.fromkeys(pair for row in expected for pair in row))
    assert [index.pair(k) for k in range(len(index))] == order


def test_malformed_vw_lines_leave_no_names():
    index = FeatureIndex()
    text = b"1 |n a b\n1 |n c d:1x\n1 |n e\n1 |n \xff f\n1 |n :2 :3\n1 |n " + b"x" * 1001 + b"\n"
    parsed = parse_vw(text, features=index)
    assert [bad.line for bad in parsed.bad_lines] == [2, 4, 6]
    assert index.names("^") == ["n^a", "n^b", "n^e", "n^:0", "n^:1"]
    with pytest.raises(ValueError, match="empty index"):
        parse_vw(b"1 |a\n", features=index)


# ------------------------------------------------------------------- large LIBSVM indices


@given(
    st.lists(st.sets(st.sampled_from([0, 1, 5, 9, 10, 11, 2**31, 2**40, 2**59]), max_size=5)),
    st.sampled_from([None, True]), st.integers(0, 9),
)  # fmt: skip
def test_large_indices_get_columns_after_the_plain_ones(rows, zero_based, cut):
    plain, shift = 10, 0 if zero_based else 1
    index, found = FeatureIndex(), []
    for part in (rows[:cut], rows[cut:]):
        text = "".join("1 " + " ".join(f"{k}:2" for k in sorted(r)) + "\n" for r in part)
        block = FeatureIndex()
        parsed = parse_libsvm(text.encode(), zero_based, features=block, plain_columns=plain)
        assert parsed.n_bad_lines == 0
        columns = index.add_all(block)
        renumber_columns(parsed.indptr, parsed.indices, parsed.values, columns, plain - shift)
        for first, last in zip(parsed.indptr, parsed.indptr[1:], strict=False):
            columns = parsed.indices[first:last]
            assert (np.diff(columns) > 0).all()
            found.append(columns.tolist())
    large = list(dict.fromkeys(k for row in rows for k in sorted(row) if k >= plain))
    assert index.names() == [str(k) for k in large]
    assert found == [
        sorted((k if k < plain else plain + large.index(k)) - shift for k in row) for row in rows
    ]


def test_columns_that_do_not_fit_are_refused():
    indptr, indices = np.array([0, 2], np.int32), np.array([0, 3], np.int32)
    with pytest.raises(ValueError, match="fit"):
        renumber_columns(indptr, indices, np.ones(2), np.arange(3, dtype=np.int32))
    assert parse_libsvm(b"1 600000000000000000:1\n", features=FeatureIndex()).n_bad_lines == 1
