"""`separability`, proof and verification included, beside the full linear program.

    python benchmarks/separability.py [--limit 60] [--only generated|real|large]

The peer is scipy.optimize.linprog (HiGHS) on all rows at once: "bounded" is the program that
tells the three verdicts apart, max sum t with Zw >= t and 0 <= t <= 1; "feasible" only asks
for Zw >= 1. Neither proves anything. Programs that reach the limit are shown as > limit.
Generated data: standard normal rows, labels of a random hyperplane (seed 0). Real sets are read
from the folder shared/data beside the project, and left out where it is absent. "large" is a
memory map of 5,000,000 x 20 float32, with the memory that is taken besides.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import gzip
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from report import shared_data
from scipy.optimize import linprog

from rosenblatt import read, separability


def clean(n, d):
    """The labels of the hyperplane."""
    return _labelled(n, d)[:2]


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


def best(X, y, rounds=3):
    seconds, cert = np.inf, None
    for _ in range(rounds):
        began = time.perf_counter()
        cert = separability(X, y)
        seconds = min(seconds, time.perf_counter() - began)
    return seconds, cert


def generated(limit):
    print("| data | rows x features | verdict | ours, s | bounded program | feasible program |")
    print("|---|---|---|---|---|---|")
    for make in (flipped, thin, noisy):
        for n, d in ((1_000, 20), (10_000, 50), (100_000, 50)):
            X, y = make(n, d)
            ours, cert = best(X, y)
            cells = []
            for kind in ("bounded", "feasible"):
                seconds, cut = np.inf, False
                for _ in range(3 if n <= 10_000 else 1):
                    once, cut = program(X, y, kind, limit)
                    seconds = min(seconds, once)
                ratio = seconds / ours
                shown = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
                cells.append(f"{'> ' if cut else ''}{seconds:.3g} s, {shown} x")
            print(
                f"| {make.__name__} | {len(X):,} x {d} | {cert.verdict} | {ours:.3f} | "
                f"{cells[0]} | {cells[1]} |",
                flush=True,
            )


# ------------------------------------------------------------------ real sets


def digits(folder, pair):
    images = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    y = np.frombuffer(labels, np.uint8, offset=8)
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)
    chosen = np.isin(y, pair)
    return X[chosen].astype(np.float32), y[chosen]


def first(folder):
    files = sorted(p for p in folder.iterdir() if p.suffix not in (".md", ".names"))
    return next((p for p in files if "train" in p.name), files[0])


def real_sets(data):
    for name in ("sonar", "ionosphere"):
        table = read(first(data / name), format="csv", target="-1", header=False)
        yield name, table.X, table.y
    table = read(first(data / "spambase"), format="csv", target="class")
    yield "spambase", table.X, table.y
    for name in ("agaricus", "a9a", "w8a", "reuters"):
        table = read(first(data / name), format="libsvm")
        yield name, table.X, table.y
    for pair in ((0, 1), (3, 5), (4, 9)):
        yield f"MNIST {pair[0]} and {pair[1]}", *digits(data / "mnist", pair)


def real():
    data = shared_data()
    if data is None:
        print("no folder shared/data beside the project: real sets are left out")
        return
    print("| set | rows x features | verdict | found and proven, s | verified again, s |")
    print("|---|---|---|---|---|")
    for name, X, y in real_sets(data):
        seconds, cert = best(X, y)
        began = time.perf_counter()
        assert cert.verify(X, y)
        checked = time.perf_counter() - began
        n, d = X.shape
        print(f"| {name} | {n:,} x {d:,} | {cert.verdict} | {seconds:.2f} | {checked:.2f} |")


# ------------------------------------------------------------------ larger than a cache


class Watch(threading.Thread):
    """The most memory of its own that the process held (Linux: mapped files do not count)."""

    def __init__(self):
        super().__init__(daemon=True)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what is free already must not hide what is taken
        self.before = self.most = self.now()

    @staticmethod
    def now():
        status = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 2**20

    def run(self):
        while True:
            self.most = max(self.most, self.now())
            time.sleep(0.02)


def large(n=5_000_000, d=20):
    rng = np.random.default_rng(0)
    w = rng.standard_normal(d)
    print("| 5,000,000 x 20 float32 | verdict | s | extra memory, GiB |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        X = np.memmap(Path(folder) / "rows", np.float32, "w+", shape=(n, d))
        scores = np.empty(n)
        for k in range(0, n, 500_000):
            X[k : k + 500_000] = rng.standard_normal((500_000, d), dtype=np.float32)
            scores[k : k + 500_000] = X[k : k + 500_000] @ w
        X.flush()
        X = np.memmap(Path(folder) / "rows", np.float32, "r", shape=(n, d))
        y = scores > 0
        turned = y.copy()
        turned[np.argmax(np.abs(scores))] ^= True

        def chunks():
            for k in range(0, n, 500_000):
                yield X[k : k + 500_000], y[k : k + 500_000]

        for name, given in (("mapped", (X, y)), ("one flip", (X, turned)), ("chunks", (chunks,))):
            watch = Watch()
            watch.start()
            began = time.perf_counter()
            cert = separability(*given)
            seconds = time.perf_counter() - began
            print(f"| {name} | {cert.verdict} | {seconds:.1f} | {watch.most - watch.before:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", choices=["generated", "real", "large"])
    given = parser.parse_args()
    for dtype in (np.float64, np.float32):  # imports
        X, y = noisy(50, 3)
        separability(X.astype(dtype), y)
    separability(sp.csr_array(X), y)
    for name, run in (
        ("generated", lambda: generated(given.limit)),
        ("real", real),
        ("large", large),
    ):
        if given.only in (None, name):
            run()
            print()


if __name__ == "__main__":
    main()
