"""online: every inequality of its proof, on a real run."""

import numpy as np

from tests.lectures.shown import shown


def test_online_numbers():
    setting, algorithm = shown("online")
    assert setting.numbers["verdict"] == "separable"
    n = algorithm.numbers
    M = np.arange(1, n["mistakes"] + 1)
    along, norm = np.array(n["along"]), np.array(n["norm"])
    assert n["mistakes"] >= 2
    assert (along >= M * n["gamma"] * (1 - 1e-12)).all()
    assert (norm <= np.sqrt(M) * n["radius"] * (1 + 1e-12)).all()
    assert (along <= norm).all()
    assert n["mistakes"] <= n["bound"] == (n["radius"] / n["gamma"]) ** 2
