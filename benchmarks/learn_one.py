"""One row at a time: rows per second of predict_one, then learn_one, beside River.

    python benchmarks/learn_one.py [--rounds 7] [--rows 20000]

Generated rows (seed 0): 30 features in every row, as dicts by name and as arrays; and 30 words of
2,000 in every row, as dicts whose features change from row to row. Labels are those of a random
hyperplane. In one Python loop every row is first predicted, then learned from; scikit-learn does so
with predict and partial_fit on an array of one row. River takes dicts only, so it gets the dicts
where ours gets arrays. The contenders take turns, and the best of --rounds counts. River gets a
quarter of the rows and scikit-learn a twentieth, because they are slower.
"""

from __future__ import annotations

import argparse
from contextlib import suppress

import numpy as np
from report import best_of, table
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as Sklearn

from rosenblatt import Perceptron

FEATURES, WORDS = 30, 2000


def generated(n):
    """The rows of each kind and their labels."""
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
        "words that change": (
            [{words[k]: 1.0 for k in text} for text in texts],
            [bool(weights[text].sum() > 0) for text in texts],
        ),
    }


def one_by_one(make, rows, labels):
    """The loop for models that have predict_one and learn_one."""

    def run():
        model = make()
        predict, learn = model.predict_one, model.learn_one
        for x, y in zip(rows, labels, strict=True):
            predict(x)
            learn(x, y)

    return run


def partial_fits(rows, labels):
    """The same loop for scikit-learn."""

    def run():
        model = Sklearn()
        for x, y in zip(rows, labels, strict=True):
            row = x.reshape(1, -1)
            with suppress(NotFittedError):  # before the first row
                model.predict(row)
            model.partial_fit(row, [y], classes=[False, True])

    return run


def measure(data, rounds):
    """Rows per second of each contender on each kind of rows."""
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
            one_by_one(make, rows[:50], labels[:50])()  # what is imported on first use
        part = max(1, len(rows) // 4)
        for name, make in peers.items():
            runs[name] = one_by_one(make, for_river[:part], labels[:part])
            sizes[name] = part
        if kind == "arrays of 30":
            few = max(1, len(rows) // 20)
            runs["scikit-learn partial_fit"] = partial_fits(rows[:few], labels[:few])
            sizes["scikit-learn partial_fit"] = few
            many = np.array(rows), labels
            Perceptron().learn_many(many[0][:50], labels[:50])
            runs["rosenblatt, learn_many"] = lambda many=many: Perceptron().learn_many(*many)
            sizes["rosenblatt, learn_many"] = len(rows)
        seconds = best_of(rounds, runs)
        found[kind] = {name: sizes[name] / seconds[name] for name in runs}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=20_000)
    args = parser.parse_args()
    found = measure(generated(args.rows), args.rounds)
    names = dict.fromkeys(name for rates in found.values() for name in rates)
    cells = [
        [name] + [f"{rates[name]:,.0f}" if name in rates else "" for rates in found.values()]
        for name in names
    ]
    print("\n" + table(["rows per second", *found], cells))
    body = []
    for name in ("Perceptron", ""):
        ratios = [
            rates["rosenblatt"] / max(v for k, v in rates.items() if k.startswith(f"River {name}"))
            for rates in found.values()
        ]
        peer = f"River's {name}" if name else "the fastest of River"
        body.append([peer, *[f"{ratio:.1f}" for ratio in ratios]])
    print("\n" + table(["ours, divided by", *found], body))


if __name__ == "__main__":
    main()
