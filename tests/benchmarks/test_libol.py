"""LIBOL's published table for svmguide3, with five permutations; the script has twenty."""

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks"
if not (SCRIPTS / "libol.py").exists():
    pytest.skip("the folder benchmarks is not beside the tests", allow_module_level=True)
sys.path.append(str(SCRIPTS))  # scripts import each other by name, as they do when they are run

import libol  # noqa: E402  # it is found only now

from rosenblatt.learn.rules import RULES  # noqa: E402


@pytest.mark.parametrize("known", libol.TABLE, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # one pass is few
def test_published_errors_come_out_within_the_deviation(known, shared_data):
    X, y = libol.rows_of(shared_data / "svmguide3" / "svmguide3.csv")
    assert X.shape == (1243, 21)
    found = libol.reproduced(X, y, RULES[known.rule](**dict(known.params)), 5)
    # where the manual's deviation is not known to us, that of the five permutations
    allowed = known.deviation or found.errors.std(ddof=1)
    assert abs(found.errors.mean() - known.error) <= allowed
    if known.updates is not None:
        assert abs(found.updates.mean() - known.updates) <= found.updates.std(ddof=1)
    assert "yes" in libol.line(known, found)
