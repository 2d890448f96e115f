"""The lines that reproduce a run do so, to the bit."""

import contextlib
import io
import warnings

import numpy as np
import pytest

from rosenblatt.show.lab.presets import preset
from rosenblatt.show.lab.python_lines import python_lines
from rosenblatt.show.lab.runs import run_of
from rosenblatt.show.lab.situation import Situation

IRIS = preset("iris-versicolor-virginica").told()["points"]
SMALL = [[1, 2, 1], [-1, 2.5, -1], [0.1, -1, -1], [0.3, 0.7, 1], [-0.2, 1.1, 1]]
CASES = {
    "plain": {"points": SMALL},
    "start": {"points": SMALL, "offset": False, "start": {"kind": "given", "w": [1, -0.8]}},
    "random": {"points": IRIS, "start": {"kind": "random", "seed": 3}, "passes": 7},
    "average": {
        "points": IRIS,
        "passes": 9,
        "segments": [{"keep": "average", "order": "shuffle", "seed": 5, "eta": 0.1}],
    },
    "pocket": {"points": IRIS, "passes": 9, "segments": [{"keep": "pocket", "order": "sample"}]},
    "rule": {"points": IRIS, "passes": 9, "segments": [{"rule": "arow(r=0.1)", "tie": "half"}]},
    "batch": {"points": IRIS, "passes": 9, "segments": [{"mode": "batch-mean", "tie": "positive"}]},
    "one class": {"points": [p for p in SMALL if p[2] > 0]},
    "switched": {
        "points": IRIS,
        "passes": 4,
        "segments": [
            {"keep": "average", "order": "shuffle", "seed": 1},
            {"keep": "average", "from": 130, "eta": 0.5},
            {"rule": "arow", "from": 301, "keep": "average", "order": "sample"},
            {"rule": "arow", "from": 333, "keep": "last"},
        ],
    },
    "switched twice at one visit": {
        "points": SMALL,
        "segments": [{"rule": "arow"}, {"from": 7}, {"from": 7, "tie": "half"}],
    },
    "switched to the batch": {
        "points": SMALL,
        "segments": [{}, {"from": 3, "mode": "batch"}, {"from": 5, "keep": "pocket"}],
    },
}


@pytest.mark.parametrize("name", CASES)
def test_the_lines_give_the_same_weights(name):
    run = run_of(Situation.read(CASES[name]))
    lines = python_lines(run)
    assert max(map(len, lines.splitlines())) <= 100
    found = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # passes that were not enough are meant here
        exec(lines, found)
    if "clf" in found:
        w, b = found["clf"].coef_[0], found["clf"].intercept_
    else:
        w, b = found["w"], found["b"]
    kept = run.stretches[-1].kept
    assert np.asarray(w).tolist() == kept[0].tolist()
    assert np.asarray(b).tolist() == kept[1].tolist()
    assert "clf" in lines or len(CASES[name].get("segments", [])) > 1 or name == "one class"


def test_no_points_no_lines():
    assert python_lines(run_of(Situation.read({"points": []}))).startswith("#")
