"""Limits: which one, where and how to raise it."""

import pickle
from dataclasses import fields

import pytest

from rosenblatt.errors import DataError, LimitError
from rosenblatt.io.limits import DEFAULT, WORDS, Limits


@pytest.mark.parametrize("name", [f.name for f in fields(Limits)])
def test_each_limit_is_named_with_its_place_and_option(name):
    limit = getattr(DEFAULT, name)
    DEFAULT.check(name, limit, "here")
    with pytest.raises(LimitError) as raised:
        DEFAULT.check(name, limit + 1, "line 3 of a.csv", "--more")
    message = str(raised.value)
    assert message.startswith("line 3 of a.csv: ")
    assert message.endswith("Raise it with --more.")
    assert f"{limit:,}" in message
    assert WORDS[name] in message
    assert isinstance(raised.value, DataError)


def test_a_limit_error_travels_between_processes():
    sent = pickle.loads(pickle.dumps(LimitError("bytes", 2, 1, "here", "--more")))
    assert str(sent) == "here: 2 bytes, the limit is 1. Raise it with --more."
    assert sent.limit == 1
