"""A LIBSVM file to a model: `rosenblatt fit` beside scikit-learn and Vowpal Wabbit.

    python benchmarks/fit.py [--megabytes 100] [--rounds 3] [--memory] [--folder DIR]

The file (seed 0): 38 entries a row, indices up to 100,000, three digits; labels by a random
hyperplane, one in ten turned round, so that no pass is clean. Each figure is the best of several
rounds taken in turn, in one process that has compiled before. "ours" streams and writes the model;
scikit-learn reads with load_svmlight_file, then fits Perceptron(shuffle=False, tol=None), once;
Vowpal Wabbit reads the same rows as VW text, where it is installed. Then whole processes on 100
rows, compiled before and, once, for the first time ever (with an empty disk cache): seconds by the
clock and of processor, which differ where others keep the machine busy. --memory also streams a
file ten times as large in a fresh process and reports its largest resident size (Linux only).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rosenblatt.stream.fit import fit_file

FEATURES = 100_000
PEAK = "print(next(n.split()[1] for n in open('/proc/self/status') if n.startswith('VmHWM')))"


def write(folder, megabytes):
    """The same rows as LIBSVM and as VW text."""
    rng = np.random.default_rng(0)
    plane = rng.standard_normal(FEATURES)
    svm, vw = folder / "train.svm", folder / "train.vw"
    with open(svm, "w") as one, open(vw, "w") as other:
        while one.tell() < megabytes * 1e6:
            for _ in range(2000):
                index = np.unique(rng.integers(1, FEATURES, 38))
                value = rng.random(len(index)).round(3)
                sign = 1 if (plane[index] @ value > 0) != (rng.random() < 0.1) else -1
                pairs = zip(index.tolist(), value.tolist(), strict=True)
                entries = " ".join(f"{k}:{v:.3f}" for k, v in pairs)
                one.write(f"{sign:+d} {entries}\n")
                other.write(f"{sign:d} | {entries}\n")
    return svm, vw


def ours(path, passes):
    def run():
        fit_file(path, path.parent / "model.safetensors", passes=passes, keep="average")

    return run


def sklearns(path, passes):
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import Perceptron

    def run():
        X, y = load_svmlight_file(str(path))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # it must
        Perceptron(shuffle=False, tol=None, max_iter=passes).fit(X, y)

    return run


def wabbits(path, passes):
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        return None

    def run():
        out = path.parent / "vw"
        many = (
            f"--passes {passes} -c -k --cache_file {out}.cache --holdout_off" if passes > 1 else ""
        )
        Workspace(f"-d {path} -b 18 --loss_function hinge -f {out}.model --quiet {many}").finish()

    return run


def best(rounds, runs):
    seconds = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    return seconds


def peak_megabytes(path, passes):
    out = path.parent / "model.safetensors"
    code = (
        "from rosenblatt.stream.fit import fit_file\n"
        f"fit_file({str(path)!r}, {str(out)!r}, passes={passes})\n{PEAK}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000


def small(folder):
    """Whole processes on 100 rows, the command as people call it: (by the clock, of processor)."""
    path = folder / "small.svm"
    with open(folder / "train.svm") as rows:
        path.write_text("".join(next(rows) for _ in range(100)))
    out = str(folder / "small.safetensors")
    fit = [sys.executable, "-m", "rosenblatt.cli", "fit", str(path), "--out", out]
    bare = [sys.executable, "-c", "import typer, numpy, numba"]
    found = {}
    for _ in range(5):
        for name, command in {"compiled before": fit, "importing typer, numba": bare}.items():
            now = process(command)
            found[name] = tuple(map(min, now, found.get(name, now)))
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        found["the first time ever"] = process(fit, NUMBA_CACHE_DIR=empty)
    return found


def process(command, **environment):
    """Seconds of one process: by the clock, and of processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, capture_output=True, check=True, env=os.environ | environment)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        svm, vw = write(folder, args.megabytes)
        ours(svm, 2)()  # compiles
        size = svm.stat().st_size / 1e6
        print(f"| {size:,.0f} MB to a model | ours | scikit-learn | ratio | VW | ratio |")
        print("|---|---|---|---|---|---|")
        for passes in (1, 5):
            runs = {"ours": ours(svm, passes), "vw": wabbits(vw, passes)}
            seconds = best(args.rounds, {k: run for k, run in runs.items() if run})
            seconds |= best(1, {"sklearn": sklearns(svm, passes)})
            cells = [f"{seconds['ours']:.2f} s ({size / seconds['ours']:,.0f} MB/s)"]
            for peer in ("sklearn", "vw"):
                known = peer in seconds
                cells.append(f"{seconds[peer]:.2f} s" if known else "not installed")
                cells.append(f"{seconds[peer] / seconds['ours']:.1f} x" if known else "")
            print(
                f"| {passes} pass{'es' if passes > 1 else ''} | {' | '.join(cells)} |", flush=True
            )
        print("\n| whole process on 100 rows | seconds | of processor |\n|---|---|---|")
        for what, (seconds, processor) in small(folder).items():
            print(f"| {what} | {seconds:.2f} | {processor:.2f} |", flush=True)
        if args.memory:
            memory(folder, svm, size)


def memory(folder, svm, size):
    block, large = svm.read_bytes(), folder / "large.svm"
    with open(large, "wb") as file:
        for _ in range(10):
            file.write(block)
    print("\n| resident memory at most | 1 pass | 2 passes |\n|---|---|---|")
    for path, megabytes in ((svm, size), (large, 10 * size)):
        one, two = peak_megabytes(path, 1), peak_megabytes(path, 2)
        print(f"| file of {megabytes:,.0f} MB | {one:,.0f} MB | {two:,.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
