"""`infinite_coefficients`, the verdict and all proofs included.

    python benchmarks/coefficients.py

Real sets are read as benchmarks/separability.py reads them. Generated: standard normal rows, labels
of a random hyperplane (seed 0), 5 % of them flipped, or only rows at least 0.01 from it.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
from report import shared_data
from separability import _labelled, digits, first, noisy

from rosenblatt import infinite_coefficients, read


def sets():
    data = shared_data()
    if data is not None:
        for name in ("a9a", "w8a"):
            table = read(first(data / name), format="libsvm")
            yield name, table.X, table.y
        yield "MNIST, 0 and 1", *digits(data / "mnist", (0, 1))
    yield "normal columns, noise", *noisy(1_000_000, 20)
    X, y, scores = _labelled(1_000_000, 20)
    keep = np.abs(scores) > 0.01
    yield "normal columns, a gap", X[keep], y[keep]


def main():
    infinite_coefficients(*noisy(50, 3))  # imports
    print("| data | rows x columns | verdict | columns to drop | after that | s |")
    print("|---|---|---|---|---|---|")
    for name, X, y in sets():
        began = time.perf_counter()
        found = infinite_coefficients(X, y)
        seconds = time.perf_counter() - began
        states = Counter(str(state) for state in found.reduced.values())
        after = ", ".join(f"{count} {state}" for state, count in states.most_common())
        n, d = X.shape
        print(
            f"| {name} | {n:,} x {d} | {found.certificate.verdict} | {len(found.drop)} | {after} | "
            f"{seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
