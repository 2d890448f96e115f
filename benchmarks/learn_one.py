"""One row at a time: rows per second of predict_one and learn_one, beside River and scikit-learn.

    python benchmarks/learn_one.py [--rounds 5] [--rows 20000]

Generated rows (seed 0): 30 features, all of them in every row, as dicts by name and as arrays; and
30 words of 2,000 in every row, as dicts whose features differ from row to row. Labels of a random
hyperplane. Each program predicts every row, then learns from it, in one Python loop; scikit-learn
does so with partial_fit on a table of one row. River takes no arrays: it gets the dicts. Each
figure is the best of several rounds; the programs take turns.
"""

from __future__ import annotations

import argparse
import time
from contextlib import suppress

import numpy as np
from report import best_of, table
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as Sklearn

from rosenblatt import Perceptron

FEATURES, WORDS = 30, 2000


def generated(n):
    """The same rows written in every way, and their labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, FEATURES))
    y = X @ rng.standard_normal(FEATURES) > 0
    names = [f"feature{k}" for k in range(FEATURES)]
    words = [f"word{k}" for k in range(WORDS)]
    texts = [rng.choice(WORDS, FEATURES, replace=False).tolist() for _ in range(n)]
    weights = rng.standard_normal(WORDS)
    return {
        "dicts of 30": ([dict(zip(names, x, strict=True)) for x in X.tolist()], y.tolist()),
        "arrays of 30": (list(X), y.tolist()),
        "dicts of 30 words of 2,000": (
            [{words[k]: 1.0 for k in text} for text in texts],
            [bool(weights[text].sum() > 0) for text in texts],
        ),
    }


def one_by_one(make, rows, labels):
    """The loop of all who have predict_one and learn_one."""

    def run():
        model = make()
        predict, learn = model.predict_one, model.learn_one
        for x, y in zip(rows, labels, strict=True):
            predict(x)
            learn(x, y)

    return run


def partial_fits(rows, labels):
    """scikit-learn's, on a part of the rows: it is slow."""

    def run():
        model = Sklearn()
        for x, y in zip(rows, labels, strict=True):
            row = x.reshape(1, -1)
            with suppress(NotFittedError):  # before the first row
                model.predict(row)
            model.partial_fit(row, [y], classes=[False, True])

    return run


def contenders(data, rounds):
    from river import linear_model

    peers = {
        "River Perceptron": linear_model.Perceptron,
        "River LogisticRegression": linear_model.LogisticRegression,
        "River PAClassifier": linear_model.PAClassifier,
    }
    ours = {
        "rosenblatt": Perceptron,
        "rosenblatt, average": lambda: Perceptron(keep="average"),
        "rosenblatt, arow": lambda: Perceptron(rule="arow"),
        "rosenblatt, pa1": lambda: Perceptron(rule="pa1"),
    }
    found = {}
    for kind, (rows, labels) in data.items():
        for_river = data["dicts of 30"][0] if kind == "arrays of 30" else rows
        runs, sizes = {}, {}
        for name, make in ours.items():
            runs[name], sizes[name] = one_by_one(make, rows, labels), len(rows)
        part = max(1, len(rows) // 4)
        for name, make in peers.items():
            runs[name] = one_by_one(make, for_river[:part], labels[:part])
            sizes[name] = part
        if kind == "arrays of 30":
            few = max(1, len(rows) // 20)
            runs["scikit-learn partial_fit"] = partial_fits(rows[:few], labels[:few])
            sizes["scikit-learn partial_fit"] = few
            many = np.array(rows), labels
            runs["rosenblatt, learn_many"] = lambda many=many: Perceptron().learn_many(*many)
            sizes["rosenblatt, learn_many"] = len(rows)
        seconds = best_of(rounds, runs)
        found[kind] = {name: sizes[name] / seconds[name] for name in runs}
        print(f"{kind}: done at {time.strftime('%H:%M:%S')}", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    args = parser.parse_args()
    found = contenders(generated(args.rows), args.rounds)
    names = dict.fromkeys(name for rates in found.values() for name in rates)
    cells = [
        [name] + [f"{rates[name]:,.0f}" if name in rates else "" for rates in found.values()]
        for name in names
    ]
    print("\n" + table(["rows per second", *found], cells))
    best = {
        kind: rates["rosenblatt"] / max(v for k, v in rates.items() if k.startswith("River"))
        for kind, rates in found.items()
    }
    ratios = [f"{ratio:.1f} x" for ratio in best.values()]
    print("\n" + table(["ours to River's fastest", *best], [["rosenblatt", *ratios]]))


if __name__ == "__main__":
    main()
