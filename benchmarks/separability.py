"""`separability`, proof and verification included, beside the full linear program.

    python benchmarks/separability.py [--limit 60]

The peer is scipy.optimize.linprog (HiGHS) on all rows at once: "bounded" is the program that
tells the three verdicts apart, max sum t with Zw >= t and 0 <= t <= 1; "feasible" only asks
for Zw >= 1. Neither proves anything. Programs that reach the limit are shown as > limit.
Generated data: standard normal rows, labels of a random hyperplane (seed 0).
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from rosenblatt import separability


def flipped(n, d):
    """The label of the row farthest from the hyperplane is flipped: overlap."""
    X, y, scores = _labelled(n, d)
    y[np.argmax(np.abs(scores))] ^= True
    return X, y


def thin(n, d):
    """Only rows at least 0.001 from the hyperplane: separable with a thin gap."""
    X, y, scores = _labelled(n, d)
    keep = np.abs(scores) > 0.001
    return X[keep], y[keep]


def noisy(n, d):
    """One label in twenty is flipped."""
    X, y, _ = _labelled(n, d)
    return X, y ^ (np.random.default_rng(1).random(n) < 0.05)


def _labelled(n, d):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    scores = X @ w / np.linalg.norm(w)
    return X, scores > 0, scores


def program(X, y, kind, limit):
    Z = np.where(y, 1, -1)[:, None] * np.c_[X, np.ones(len(X))]
    n, p = Z.shape
    began = time.perf_counter()
    if kind == "feasible":
        A, b, c, bounds = -Z, -np.ones(n), np.zeros(p), (None, None)
    else:
        A = sp.hstack([sp.csr_array(-Z), sp.eye_array(n)], format="csr")
        b, c = np.zeros(n), np.r_[np.zeros(p), -np.ones(n)]
        bounds = [(None, None)] * p + [(0, 1)] * n
    found = linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs", options={"time_limit": limit})
    seconds = time.perf_counter() - began
    return seconds, found.status == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0)
    limit = parser.parse_args().limit
    separability(*noisy(50, 3))  # compile apart
    print("| data | rows x features | verdict | ours, s | bounded program | feasible program |")
    print("|---|---|---|---|---|---|")
    for make in (flipped, thin, noisy):
        for n, d in ((1_000, 20), (10_000, 50), (100_000, 50)):
            X, y = make(n, d)
            ours = np.inf
            for _ in range(3):
                began = time.perf_counter()
                cert = separability(X, y)
                ours = min(ours, time.perf_counter() - began)
            cells = []
            for kind in ("bounded", "feasible"):
                seconds, cut = program(X, y, kind, limit)
                cells.append(f"{'> ' if cut else ''}{seconds:.2f} s, {seconds / ours:.0f} x")
            print(
                f"| {make.__name__} | {len(X):,} x {d} | {cert.verdict} | {ours:.2f} | "
                f"{cells[0]} | {cells[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
