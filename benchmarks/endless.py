"""Endless: a stream of generated rows that are not kept, with the memory it takes.

    python benchmarks/endless.py [--millions 50] [--features 30]

Rows come in chunks of 10,000 from one generator (seed 0): standard normal features, labels of a
random hyperplane, 5 % of them flipped. learn_many learns from each chunk. After every million rows
it prints the resident memory, the progressive error and the rows per second, generating included.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from report import table

from rosenblatt import Perceptron

CHUNK = 10_000
SEED = 0


def resident_mb():
    """What this process holds in RAM now (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def chunks(millions, features):
    rng = np.random.default_rng(SEED)
    w = rng.standard_normal(features)
    for _ in range(millions * (1_000_000 // CHUNK)):
        X = rng.standard_normal((CHUNK, features))
        yield X, (X @ w > 0) ^ (rng.random(CHUNK) < 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=int, default=50)
    parser.add_argument("--features", type=int, default=30)
    args = parser.parse_args()
    clf = Perceptron(rule="arow", keep="average")
    began, memory, learning = time.perf_counter(), [], 0.0
    for k, (X, y) in enumerate(chunks(args.millions, args.features), start=1):
        before = time.perf_counter()
        clf.learn_many(X, y)
        learning += time.perf_counter() - before
        if k * CHUNK % 1_000_000 == 0:
            memory.append(resident_mb())
            rate = k * CHUNK / (time.perf_counter() - began)
            print(
                f"{k * CHUNK:>12,} rows  {memory[-1]:7.1f} MB  progressive error "
                f"{clf.progress_.error:.4f}  {rate:,.0f} rows per second",
                flush=True,
            )
    total = time.perf_counter() - began
    rows = clf.progress_.n_rows
    cells = [
        f"{rows:,}", f"{memory[0]:.1f}", f"{max(memory):.1f}", f"{memory[-1]:.1f}",
        f"{clf.progress_.error:.4f}", f"{total:.0f}", f"{rows / learning:,.0f}",
    ]  # fmt: skip
    header = [
        "rows of an endless stream", "MB after the first million", "at most", "at the end",
        "progressive error", "seconds", "rows per second, learning alone",
    ]  # fmt: skip
    print("\n" + table(header, [cells]))


if __name__ == "__main__":
    main()
