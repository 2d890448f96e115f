"""Limits: which one, where, and that the core has the same."""

import pickle

import pytest

from rosenblatt._core import FeatureIndex, parse_csv
from rosenblatt.errors import DataError, LimitError
from rosenblatt.io import limits
from rosenblatt.io.bad_lines import EXPECTED
from rosenblatt.learn.machine_group import MOST_CLASSES

ALL = {name: limit for name, limit in vars(limits).items() if isinstance(limit, limits.Limit)}


@pytest.mark.parametrize("name", ALL)
def test_each_limit_is_named_with_its_place(name):
    limit = ALL[name]
    limit.check(limit.most, "here")
    with pytest.raises(LimitError) as raised:
        limit.check(limit.most + 1, "line 3 of a.csv")
    assert str(raised.value).startswith("line 3 of a.csv: ")
    assert f"{limit.most:,}" in str(raised.value)
    assert limit.words in str(raised.value)
    assert isinstance(raised.value, DataError)


def test_the_core_has_the_same_limits():
    index = FeatureIndex()
    assert (index.max_features, index.max_name_bytes) == (limits.NAMES.most, limits.NAME_BYTES.most)
    assert limits.CLASSES.most == MOST_CLASSES
    words = " ".join(EXPECTED.values())
    for limit in (limits.NAMES, limits.NAME_BYTES, limits.LABEL_CHARS):
        assert f"at most {limit.most:,}" in words
    label = b"a" * limits.LABEL_CHARS.most
    assert not parse_csv(label + b"\n", "l").n_bad_lines
    assert parse_csv(label + b"a\n", "l").n_bad_lines == 1
    cell = b'"' + b"a" * (limits.LINE_BYTES.most - 2) + b'"\n'
    assert not parse_csv(cell, "t").n_bad_lines
    assert parse_csv(b'"aaa' + cell[1:], "t").n_bad_lines == 1


def test_a_limit_error_travels_between_processes():
    sent = pickle.loads(pickle.dumps(LimitError("bytes", 2, 1, "here", "--more")))
    assert str(sent) == "here: 2 bytes, the limit is 1. Raise it with --more."
    assert sent.limit == 1
