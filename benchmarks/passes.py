"""One pass of Perceptron beside one pass of scikit-learn's and `X @ w`, in one run.

    python benchmarks/passes.py [--rounds 5] [--json] [--sonar FILE]

Generated data, the same passes with the same updates for both: labels are those of a
random hyperplane, 1 % flipped unless the name says clean, tol=None. A pass is the time of
ten passes less that of two, divided by eight, each the best of several alternating rounds,
so that validation, copies and compilation do not count; the whole ten-pass fit and the cold
first call are shown apart. `equal` says whether both end with the same weights, up to
rounding.

The second table is what keeping margins up to date (learn/shortcuts.py) is worth: whole
runs with and without it, alternating, where it helps and where it does not. There `equal`
is to the last bit.

The third is what rows rounded to 16 bits (learn/sketch.py) are worth once a run has settled:
a pass is the time of forty passes less that of ten, divided by thirty, with and without the
sketch and by scikit-learn, making the sketch included where that is not done within ten.
Processor time, as all three use one thread.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron as Peer

from rosenblatt import Perceptron
from rosenblatt.learn import shortcuts, sketch

FEW, MANY = 2, 10
SETTLED, LATER = 10, 40


def dense(n, d, dtype, seed=0, flipped=0.01):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
    return X, labels(X, rng, flipped)


def csr(n, per_row, d, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, d, (n, per_row)), axis=1)
    columns += np.arange(per_row) * d  # no duplicates: one block of columns per entry
    indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    data = rng.standard_normal(n * per_row)
    X = sp.csr_matrix((data, columns.ravel().astype(np.int32), indptr), (n, d * per_row))
    return X, labels(X, rng)


def labels(X, rng, flipped=0.01):
    y = X @ rng.standard_normal(X.shape[1]).astype(X.dtype) > 0
    flip = rng.random(len(y)) < flipped
    return np.where(flip, ~y, y)


def thin(n, d, pairs, gap=0.01, seed=0):
    """n normal rows, the last `pairs` of them made two that lie `gap` from the hyperplane."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(d)
    v /= np.linalg.norm(v)
    X = rng.standard_normal((n, d))
    x = X[:pairs] - np.outer(X[:pairs] @ v, v)
    X = np.concatenate([X[pairs:], x - gap * v, x + gap * v])
    return X, X @ v > 0


def sonar(path):
    with open(path) as file:
        rows = [line.strip().split(",") for line in file if line.strip()]
    return np.array([r[:-1] for r in rows], dtype=float), np.array([r[-1] for r in rows])


CASES = {
    "dense 100,000 x 100 float64, clean": lambda: dense(100_000, 100, np.float64, flipped=0),
    "dense 100,000 x 100 float64": lambda: dense(100_000, 100, np.float64),
    "dense 50,000 x 784 float32": lambda: dense(50_000, 784, np.float32),
    "dense 1,000,000 x 30 float32": lambda: dense(1_000_000, 30, np.float32),
    "CSR 400,000 rows, 38 entries each": lambda: csr(400_000, 38, 2_500),
}


# (data, passes): thin margins, a run that is soon over, more mistakes than features
RUNS = {
    "thin, 210 x 60": (lambda: thin(200, 60, 10), 30_000),
    "thin, 1,040 x 200": (lambda: thin(1_000, 200, 40), 10_000),
    "300 x 60, clean": (lambda: dense(300, 60, np.float64, flipped=0), 30_000),
    "1,000 x 20, 10 % flipped": (lambda: dense(1_000, 20, np.float64, flipped=0.1), 2_000),
}


# with flipped labels there are too many mistakes in order: these show that nothing is lost
SKETCHES = {name: make for name, make in CASES.items() if "x 100 " in name or "784" in name}


def seconds(cls, X, y, passes, shuffle):
    clf = cls(max_iter=passes, tol=None, shuffle=shuffle, random_state=0)
    began = time.perf_counter()
    clf.fit(X, y)
    return time.perf_counter() - began, clf


def one_case(name, make, shuffle, rounds):
    X, y = make()
    cold, _ = seconds(Perceptron, X, y, 1, shuffle)
    best = {}
    for _ in range(rounds):
        for cls in (Perceptron, Peer):
            for passes in (FEW, MANY):
                now, clf = seconds(cls, X, y, passes, shuffle)
                if now < best.get((cls, passes), (np.inf,))[0]:
                    best[cls, passes] = now, clf

    def summary(cls):
        (few, _), (many, clf) = best[cls, FEW], best[cls, MANY]
        return (many - few) / (MANY - FEW), many, clf

    w, product = np.ones(X.shape[1], dtype=X.dtype), np.inf
    for _ in range(3 * rounds):
        began = time.perf_counter()
        X @ w
        product = min(product, time.perf_counter() - began)
    ours, peer = summary(Perceptron), summary(Peer)
    scale = np.abs(peer[2].coef_).max()
    equal = bool(np.abs(ours[2].coef_ - peer[2].coef_).max() < 1e-3 * scale)
    return {
        "case": name,
        "order": "shuffled" if shuffle else "in order",
        "ours_ms": 1e3 * ours[0],
        "sklearn_ms": 1e3 * peer[0],
        "product_ms": 1e3 * product,
        "ratio": peer[0] / ours[0],
        "fit_ratio": peer[1] / ours[1],
        "mistakes_per_pass": ours[2].n_mistakes_ / MANY,
        "equal": equal,
        "cold_s": cold,
    }


def one_run(name, make, passes, rounds):
    X, y = make()
    best, plainly = {}, {"MOST_ROWS": 0}
    for _ in range(rounds):
        for constants in ({}, plainly):
            with patch.multiple(shortcuts, BLAS=shortcuts.BLAS, **constants):
                now, clf = seconds(Perceptron, X, y, passes, False)
            if now < best.get(len(constants), (np.inf,))[0]:
                best[len(constants)] = now, clf
    (short, a), (plain, b) = best[0], best[1]
    same = a.coef_.tobytes() == b.coef_.tobytes() and a.n_mistakes_ == b.n_mistakes_
    return {
        "case": name,
        "passes": int(a.n_iter_),
        "mistakes_per_pass": a.n_mistakes_ / a.n_iter_,
        "shortcut_s": short,
        "plain_s": plain,
        "ratio": plain / short,
        "equal": bool(same),
    }


def one_sketch(name, make, shuffle, rounds):
    X, y = make()
    best, models, off = {}, {}, {"SMALLEST": 2**62}
    ways = {"sketch": (Perceptron, {}), "plain": (Perceptron, off), "sklearn": (Peer, {})}
    for _ in range(rounds):
        for way, (cls, constants) in ways.items():
            for passes in (SETTLED, LATER):
                with patch.multiple(sketch, PAD=sketch.PAD, **constants):
                    now, models[way] = seconds(cls, X, y, passes, shuffle)
                best[way, passes] = min(now, best.get((way, passes), np.inf))
    ms = {w: 1e3 * (best[w, LATER] - best[w, SETTLED]) / (LATER - SETTLED) for w in ways}
    a, b = models["sketch"], models["plain"]
    return {
        "case": name,
        "order": "shuffled" if shuffle else "in order",
        "mistakes": int(a.trace_.mistakes[-1]),
        **{f"{way}_ms": value for way, value in ms.items()},
        "equal": a.coef_.tobytes() == b.coef_.tobytes() and a.n_mistakes_ == b.n_mistakes_,
    }


def show_sketches(rounds, as_json):
    if not as_json:
        print(
            "\n| data | order | mistakes in the last pass | sketch, ms | plain, ms | sklearn, ms | "
            "plain / sketch | sklearn / sketch | equal |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
    for name, make in SKETCHES.items():
        for shuffle in (False, True):
            r = one_sketch(name, make, shuffle, rounds)
            if as_json:
                print(json.dumps(r), flush=True)
                continue
            print(
                f"| {name} | {r['order']} | {r['mistakes']:,} | {r['sketch_ms']:.1f} | "
                f"{r['plain_ms']:.1f} | {r['sklearn_ms']:.1f} | "
                f"{r['plain_ms'] / r['sketch_ms']:.1f} x | "
                f"{r['sklearn_ms'] / r['sketch_ms']:.1f} x | {'yes' if r['equal'] else 'NO'} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sonar", metavar="FILE", help="sonar.all-data of the UCI repository")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if not args.json:
        print(
            "| data | order | mistakes a pass | ours, ms | `X @ w`, ms | sklearn, ms | ratio | "
            "10-pass fit | equal | cold, s |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
    for name, make in CASES.items():
        for shuffle in (False, True):
            r = one_case(name, make, shuffle, args.rounds)
            if args.json:
                print(json.dumps(r), flush=True)
                continue
            # scikit-learn scales the offset's updates on CSR, so weights cannot be equal there
            equal = "yes" if r["equal"] else "no (its offset)" if "CSR" in name else "NO"
            print(
                f"| {name} | {r['order']} | {r['mistakes_per_pass']:,.0f} | {r['ours_ms']:.1f} | "
                f"{r['product_ms']:.1f} | {r['sklearn_ms']:.1f} | "
                f"{r['ratio']:.1f} x | {r['fit_ratio']:.1f} x | {equal} | {r['cold_s']:.1f} |",
                flush=True,
            )
    runs = dict(RUNS)
    if args.sonar:
        runs = {"sonar, 208 x 60": (lambda: sonar(args.sonar), 300_000)} | runs
    if not args.json:
        print("\n| data | passes | mistakes a pass | shortcut, s | plain, s | ratio | equal |")
        print("|---|---|---|---|---|---|---|")
    for name, (make, passes) in runs.items():
        r = one_run(name, make, passes, args.rounds)
        if args.json:
            print(json.dumps(r), flush=True)
            continue
        print(
            f"| {name} | {r['passes']:,} | {r['mistakes_per_pass']:.1f} | {r['shortcut_s']:.3f} | "
            f"{r['plain_s']:.3f} | {r['ratio']:.1f} x | {'yes' if r['equal'] else 'NO'} |",
            flush=True,
        )
    show_sketches(args.rounds, args.json)


if __name__ == "__main__":
    main()
