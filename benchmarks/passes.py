"""Time one pass of the perceptron beside `X @ w`, scikit-learn and another version of this package.

    python benchmarks/passes.py
    python benchmarks/passes.py --against OTHER_ENVIRONMENT/bin/python

Every measurement is a process of its own under one interpreter; the interpreters take turns, and
the best of --rounds counts. A pass is the difference of a fit of ten passes and one of two, divided
by eight, so that validation and start-up do not count. BLAS and our core use one thread.

Rows are standard normal, labels are those of a hyperplane through the origin. Either 1 % of the
labels are flipped, or the rows closest to the hyperplane are left out, so that few visits update.
"""

import argparse
import json
import sys
import time
import warnings

from report import check_packages, interpreter, run_child, table

# kind, rows, columns (CSR: entries per row), type, share of labels flipped, of rows left out
CASES = {
    "100,000 x 100 float64, few updates": ("dense", 100_000, 100, "float64", 0.0, 0.05),
    "100,000 x 100 float64": ("dense", 100_000, 100, "float64", 0.01, 0.0),
    "1,000,000 x 30 float32, few updates": ("dense", 1_000_000, 30, "float32", 0.0, 0.02),
    "1,000,000 x 30 float32": ("dense", 1_000_000, 30, "float32", 0.01, 0.0),
    "50,000 x 784 float32, few updates": ("dense", 50_000, 784, "float32", 0.0, 0.1),
    "50,000 x 784 float32": ("dense", 50_000, 784, "float32", 0.01, 0.0),
    "CSR 400,000 x 38 entries, few updates": ("csr", 400_000, 38, "float64", 0.0, 0.3),
    "CSR 400,000 x 38 entries": ("csr", 400_000, 38, "float64", 0.01, 0.0),
}
FEW, MANY = 2, 10


def rows(kind, n, d, dtype, flipped, left_out):
    """Rows and labels of a case (seed 0)."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    made = round(n / (1 - left_out))
    if kind == "csr":
        blocks = 2_500  # of columns per entry: no row has a column twice
        columns = rng.integers(0, blocks, (made, d)) + np.arange(d) * blocks
        indptr = np.arange(0, made * d + 1, d, dtype=np.int32)
        data = rng.standard_normal(made * d)
        X = sp.csr_matrix((data, columns.ravel().astype(np.int32), indptr), (made, d * blocks))
    else:
        X = rng.standard_normal((made, d), dtype=np.float32).astype(dtype)
    score = X @ rng.standard_normal(X.shape[1]).astype(X.dtype)
    far = np.sort(np.argsort(abs(score))[made - n :]) if left_out else slice(None)
    X, y = X[far], score[far] > 0
    return X, np.where(rng.random(n) < flipped, ~y, y)


def measure(case, shuffle, repeats, which, smaller):
    """Seconds of short and long fits and their updates, in this process."""
    warnings.simplefilter("ignore")
    kind, n, d, *rest = CASES[case]
    X, y = rows(kind, n // smaller, d, *rest)
    if which == "product":
        import numpy as np

        w, best = np.ones(X.shape[1], dtype=X.dtype), float("inf")
        for _ in range(5 * repeats):
            began = time.perf_counter()
            X @ w
            best = min(best, time.perf_counter() - began)
        return {"few": [0, 0, 0], "many": [1, best, 0], "rows": len(y)}
    if which == "sklearn":
        from sklearn.linear_model import Perceptron
    else:
        from rosenblatt import Perceptron
    found = {"rows": len(y), "package": sys.modules[Perceptron.__module__.split(".")[0]].__file__}
    Perceptron(max_iter=1, tol=None, shuffle=shuffle).fit(X, y)  # what is imported on first use
    for name, passes in {"few": FEW, "many": MANY}.items():
        best = float("inf")
        for _ in range(repeats):
            clf = Perceptron(max_iter=passes, tol=None, shuffle=shuffle, random_state=0)
            began = time.perf_counter()
            clf.fit(X, y)
            best = min(best, time.perf_counter() - began)
        found[name] = [clf.n_iter_, best, getattr(clf, "n_updates_", 0)]
    return found


def compare(case, shuffle, rounds, against, smaller):
    """Milliseconds of a pass and updates per visit of each contender; they take turns."""
    runs = {"product": sys.executable, "sklearn": sys.executable, "ours": sys.executable}
    if against:
        runs["other"] = against
    found = {}
    for _ in range(rounds):
        for name, python in runs.items():
            which = "ours" if name == "other" else name
            options = ["--child", case, "--shuffle", str(int(shuffle)), "--which", which]
            options += ["--rounds", "2", "--smaller", str(smaller)]
            new = run_child(__file__, *options, python=python)
            old = found.setdefault(name, new)
            for fit in ("few", "many"):
                old[fit][1] = min(old[fit][1], new[fit][1])
    if against:
        check_packages(found["ours"]["package"], found["other"]["package"])
    return {name: one_pass(fits) for name, fits in found.items()}


def one_pass(fits):
    """Milliseconds of a pass and updates per visit, from a short and a long fit."""
    passes, seconds, updates = (b - a for a, b in zip(fits["few"], fits["many"], strict=True))
    if passes == 0:  # separated within the first passes
        return {"ms": float("nan"), "share": float("nan")}
    return {"ms": 1e3 * seconds / passes, "share": updates / (passes * fits["rows"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--against", type=interpreter, metavar="PYTHON", help="interpreter of another environment"
    )
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--smaller", type=int, default=1, metavar="K", help="divide rows by K")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--shuffle", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--which", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        shuffle = bool(args.shuffle)
        found = measure(args.child, shuffle, args.rounds, args.which, args.smaller)
        print(json.dumps(found))
        return
    if not args.json:
        head = ["one pass", "order", "updates per visit", "ours, ms", "`X @ w`, ms"]
        head += ["scikit-learn, ms", "ours / `X @ w`", "scikit-learn / ours"]
        print(table(head + ["other version, ms", "ours / other"] * bool(args.against), []))
    for case in CASES:
        if args.only and args.only not in case:
            continue
        for shuffle in (False, True):
            found = compare(case, shuffle, args.rounds, args.against, args.smaller)
            if args.json:
                print(json.dumps({"case": case, "shuffle": shuffle, **found}), flush=True)
                continue
            ms = {name: made["ms"] for name, made in found.items()}
            cells = [case, "shuffled" if shuffle else "in order"]
            cells.append(f"{100 * found['ours']['share']:.2f} %")
            cells += [f"{ms[name]:.2f}" for name in ("ours", "product", "sklearn")]
            cells.append(f"{ms['ours'] / ms['product']:.2f}")
            cells.append(f"{ms['sklearn'] / ms['ours']:.1f}")
            if args.against:
                cells += [f"{ms['other']:.2f}", f"{ms['ours'] / ms['other']:.2f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
