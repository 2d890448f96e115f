"""decision_function of a fitted model beside scikit-learn's, on one thread and on two.

    python benchmarks/decision_function.py [--rounds 7] [--against OTHER_ENVIRONMENT/bin/python]

Every measurement is a process of its own; the contenders take turns, and the best of --rounds
counts. scikit-learn multiplies dense rows with BLAS, which uses as many threads as it is given;
scipy's product with CSR rows always uses one. Our `decision_function` uses one thread; the columns
"core" are the same scores from `_core.scores`, without validation, with n_threads 1 and 2.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from typing import Any

from report import check_packages, interpreter, run_child, table

# kind, rows, columns (CSR: entries per row of 95,000 columns), type, classes
CASES = {
    "100,000 x 100 float64, 2 classes": ("dense", 100_000, 100, "float64", 2),
    "50,000 x 784 float32, 10 classes": ("dense", 50_000, 784, "float32", 10),
    "CSR 400,000 x 38 entries, 2 classes": ("csr", 400_000, 38, "float64", 2),
}


def fitted(case: str, which: str, smaller: int) -> tuple[Any, Any]:
    """Rows of a case and a model that was fitted to some of them."""
    import numpy as np
    from passes import rows

    kind, n, d, dtype, classes = CASES[case]
    X, _ = rows(kind, n // smaller, d, dtype, 0.0, 0.0)
    few = X[:2000]
    y = np.argmax(few @ np.random.default_rng(1).standard_normal((X.shape[1], classes)), axis=1)
    if which == "sklearn":
        from sklearn.linear_model import Perceptron
    else:
        from rosenblatt import Perceptron
    return X, Perceptron(max_iter=1, tol=None, random_state=0).fit(few, y)


def measure(case: str, which: str, smaller: int) -> dict[str, Any]:
    """Seconds of one call, the best of several, in this process."""
    warnings.simplefilter("ignore")
    X, clf = fitted(case, which, smaller)
    package = sys.modules[type(clf).__module__.split(".")[0]].__file__
    if which.startswith("core"):
        import numpy as np

        from rosenblatt import _core
        from rosenblatt.data.block import core_rows

        W, b = clf.coef_.astype(np.float64, order="C"), clf.intercept_.astype(np.float64)
        held = core_rows(X)

        def call() -> Any:
            return _core.scores(held, W, b, int(which[-1]))
    else:

        def call() -> Any:
            return clf.decision_function(X)

    best = float("inf")
    for _ in range(10):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return {"seconds": best, "package": package}


def compare(case: str, rounds: int, against: str | None, smaller: int) -> dict[str, float]:
    """Milliseconds of each contender."""
    runs = {
        "ours": ("ours", sys.executable, 1),
        "sklearn 1": ("sklearn", sys.executable, 1),
        "core 1": ("core 1", sys.executable, 1),
        "core 2": ("core 2", sys.executable, 2),
        "sklearn 2": ("sklearn", sys.executable, 2),
    }
    if against:
        runs["other"] = ("ours", against, 1)
    found: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name, (which, python, threads) in runs.items():
            options = ("--child", case, "--which", which, "--smaller", str(smaller))
            new = run_child(__file__, *options, python=python, threads=threads)
            old = found.setdefault(name, new)
            old["seconds"] = min(old["seconds"], new["seconds"])
    if against:
        check_packages(found["ours"]["package"], found["other"]["package"])
    return {name: 1e3 * one["seconds"] for name, one in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--against", type=interpreter, metavar="PYTHON", help="interpreter of another environment"
    )
    parser.add_argument("--smaller", type=int, default=1, metavar="K", help="divide rows by K")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--which", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, args.which, args.smaller)))
        return
    head = ["`decision_function`, ms", "ours, 1 thread", "scikit-learn, 1 thread"]
    head += ["ours / scikit-learn", "core, 1 thread", "core, 2 threads"]
    head += ["scikit-learn, 2 threads", "core / scikit-learn, 2 threads"]
    print(table(head + ["other version, 1 thread", "ours / other"] * bool(args.against), []))
    for case in CASES:
        ms = compare(case, args.rounds, args.against, args.smaller)
        values = [ms["ours"], ms["sklearn 1"], ms["ours"] / ms["sklearn 1"]]
        values += [ms["core 1"], ms["core 2"], ms["sklearn 2"], ms["core 2"] / ms["sklearn 2"]]
        if args.against:
            values += [ms["other"], ms["ours"] / ms["other"]]
        print("| " + " | ".join([case, *(f"{v:.2f}" for v in values)]) + " |", flush=True)


if __name__ == "__main__":
    main()
