"""scikit-learn's own tests of its Perceptron, run on ours; the script runs more of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt import Perceptron

SCRIPT = Path(__file__).parents[2] / "docs" / "make_peer_tests.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the documentation is not here")
def test_the_tests_of_scikit_learns_perceptron_pass():
    done = subprocess.run(
        [sys.executable, SCRIPT, "test_perceptron.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'passed'" in done.stdout


def test_perceptron_has_the_methods_of_scikit_learns():
    from sklearn.linear_model import Perceptron as Theirs

    methods = {name for name in dir(Theirs) if not name.startswith("_")}
    left_over = {"loss_function", "loss_functions"}  # of SGDClassifier
    assert methods - left_over <= set(dir(Perceptron))
