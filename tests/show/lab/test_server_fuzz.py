"""The server answers any JSON with a result or an error in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.show.lab.server import application
from rosenblatt.show.lab.work import Work
from tests.show.lab.test_server import XOR, Client

POSTS = ("/api/run", "/api/verdict", "/api/film", "/api/python")
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALAR | st.sampled_from([10**400, -1, 1e308, "perceptron", "arow(r=", "margin(tau=nan)"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["points", "start", "kind", "segments", "rule", "w", "from"]), inner
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from([*XOR, "view"])
IN_SEGMENT = st.sampled_from([*XOR["segments"][0]])


class Inline(Work):
    """Work in the thread that asks for it, so that hypothesis has its process for itself."""

    async def do(self, job):
        return job()


@pytest.fixture(scope="module")
def lab():
    return Client(application(work=Inline()))


def answered(lab, path, body):
    """Never an error of the server's own."""
    text = json.dumps(body)  # with NaN and Infinity, which are not JSON
    answer = lab.post(path, content=text)
    assert answer.status_code in (200, 400), (answer.status_code, answer.text)
    if answer.status_code == 400:
        assert len(answer.json()["error"]) < 2000


@given(JSON, KEYS, IN_SEGMENT, st.sampled_from(POSTS))
def test_garbage_is_refused_in_words(lab, garbage, key, inner, path):
    answered(lab, path, garbage)
    answered(lab, path, {"situation": garbage, "points": garbage})
    segments = [{**XOR["segments"][0], inner: garbage}]
    points = [*XOR["points"], garbage]
    answered(lab, path, {"situation": {**XOR, key: garbage}, "points": points})
    answered(lab, path, {"situation": {**XOR, "segments": segments}, "from": garbage})
