"""Time one pass of the perceptron beside `X @ w`, scikit-learn and another version of this package.

    python benchmarks/passes.py
    python benchmarks/passes.py --against OTHER_ENVIRONMENT/bin/python

Every measurement is a process of its own under one interpreter; the interpreters take turns, and
the best of --rounds counts. A pass is the difference of a fit of ten passes and one of two, divided
by eight, so that validation and start-up do not count. BLAS and our core use one thread.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

CASES = {
    "100,000 x 100 float64, clean": ("dense", 100_000, 100, "float64", 0.0),
    "100,000 x 100 float64": ("dense", 100_000, 100, "float64", 0.01),
    "1,000,000 x 30 float32, clean": ("dense", 1_000_000, 30, "float32", 0.0),
    "1,000,000 x 30 float32": ("dense", 1_000_000, 30, "float32", 0.01),
    "50,000 x 784 float32, clean": ("dense", 50_000, 784, "float32", 0.0),
    "50,000 x 784 float32": ("dense", 50_000, 784, "float32", 0.01),
    "CSR 400,000 x 38 entries, clean": ("csr", 400_000, 38, "float64", 0.0),
    "CSR 400,000 x 38 entries": ("csr", 400_000, 38, "float64", 0.01),
}
FEW, MANY = 2, 10
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


def rows(kind, n, d, dtype, flipped):
    """Normal rows, labels of a hyperplane through the origin, some of them flipped."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    if kind == "csr":
        blocks = 2_500  # of columns per entry: no row has a column twice
        columns = np.sort(rng.integers(0, blocks, (n, d)), axis=1) + np.arange(d) * blocks
        indptr = np.arange(0, n * d + 1, d, dtype=np.int32)
        data = rng.standard_normal(n * d)
        X = sp.csr_matrix((data, columns.ravel().astype(np.int32), indptr), (n, d * blocks))
    else:
        X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
    y = X @ rng.standard_normal(X.shape[1]).astype(X.dtype) > 0
    flip = rng.random(n) < flipped
    return X, np.where(flip, ~y, y)


def measure(case, shuffle, repeats, which):
    """Seconds of one pass and updates per visit, in this process."""
    warnings.simplefilter("ignore")
    X, y = rows(*CASES[case])
    if which == "product":
        import numpy as np

        w, best = np.ones(X.shape[1], dtype=X.dtype), float("inf")
        for _ in range(5 * repeats):
            began = time.perf_counter()
            X @ w
            best = min(best, time.perf_counter() - began)
        return {"pass": best}
    if which == "sklearn":
        from sklearn.linear_model import Perceptron
    else:
        from rosenblatt import Perceptron
    best, clf = {}, None
    Perceptron(max_iter=1, tol=None, shuffle=shuffle).fit(X, y)  # imports, or a compiler
    for _ in range(repeats):
        for passes in (FEW, MANY):
            clf = Perceptron(max_iter=passes, tol=None, shuffle=shuffle, random_state=0)
            began = time.perf_counter()
            clf.fit(X, y)
            best[passes] = min(best.get(passes, float("inf")), time.perf_counter() - began)
    updates = getattr(clf, "n_updates_", None)
    share = None if updates is None else updates / (clf.n_iter_ * len(y))
    done = clf.n_iter_
    return {"pass": (best[MANY] - best[FEW]) / (MANY - FEW), "share": share, "n_iter": done}


def in_turns(python, case, shuffle, repeats, which):
    """The same in a process of its own, with one thread."""
    command = [python, __file__, "--child", case, "--shuffle", str(int(shuffle)), "--which", which]
    command += ["--rounds", str(repeats)]
    done = subprocess.run(
        command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def compare(case, shuffle, rounds, against):
    runs = {"product": sys.executable, "sklearn": sys.executable, "ours": sys.executable}
    if against:
        runs["other"] = against
    found = {}
    for _ in range(rounds):
        for name, python in runs.items():
            which = "ours" if name == "other" else name
            made = in_turns(python, case, shuffle, 2, which)
            if made["pass"] < found.get(name, {"pass": float("inf")})["pass"]:
                found[name] = made
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--against", metavar="PYTHON", help="interpreter of another environment")
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--shuffle", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--which", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, bool(args.shuffle), args.rounds, args.which)))
        return
    if not args.json:
        print(
            "| rows | order | updates per visit | ours, ms | other version | `X @ w` | "
            "scikit-learn | ours / other | ours / `X @ w` | scikit-learn / ours |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if args.only and args.only not in case:
            continue
        for shuffle in (False, True):
            found = compare(case, shuffle, args.rounds, args.against)
            if args.json:
                print(json.dumps({"case": case, "shuffle": shuffle, **found}), flush=True)
                continue
            ms = {name: 1e3 * made["pass"] for name, made in found.items()}
            other = f"{ms['other']:.2f}" if "other" in ms else "-"
            ratio = f"{ms['ours'] / ms['other']:.2f}" if "other" in ms else "-"
            print(
                f"| {case} | {'shuffled' if shuffle else 'in order'} | "
                f"{100 * found['ours']['share']:.1f} % | {ms['ours']:.2f} | {other} | "
                f"{ms['product']:.2f} | {ms['sklearn']:.2f} | {ratio} | "
                f"{ms['ours'] / ms['product']:.2f} | {ms['sklearn'] / ms['ours']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
