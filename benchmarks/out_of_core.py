"""Out of core: one pass over a file that is not held in memory, beside River, scikit-learn and VW.

    python benchmarks/out_of_core.py [--megabytes 100] [--rounds 3] [--folder DIR]

Two sets of rows (seed 0). LIBSVM, as in fit.py: 38 entries per row, 100,000 features; the same rows
as VW text. CSV of raw columns: six columns of numbers, one with missing values, and three of texts
(5, 50 and 500 of them), a third of the megabytes.

Every contender runs in its own process, first on 500 rows (imports), then once on the file. Seconds
are those of the best round; contenders take turns. Memory is the peak resident memory of the
process.

- ours: fit_file, reading, learning and writing the model; the head of the file tells the kinds of
  raw columns
- scikit-learn: load_svmlight_file by offset and length, or pandas.read_csv by chunks of 20,000 rows
  and a ColumnTransformer fitted on the first; then Perceptron.partial_fit
- River: stream.iter_libsvm or iter_csv, predict_one and learn_one of linear_model.Perceptron (for
  raw columns after StandardScaler and OneHotEncoder): a dict per row
- Vowpal Wabbit: its text, or its binary cache, which was made before; hinge loss, 2**18 weights

scikit-learn's LIBSVM reader and River take long: they get the first rows only, as the table says.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from report import high_water_mb, number, table, version

NUMBERS = [f"n{k}" for k in range(6)]
TEXTS = {"five": 5, "fifty": 50, "many": 500}
WARM, RIVER_ROWS, SKLEARN_ROWS = 500, 20_000, 60_000
PART = 2 << 20  # bytes of text that scikit-learn reads at a time


# ------------------------------------------------------------------ the files


def write_csv(path, megabytes):
    """Raw columns: numbers, some missing, and texts; labels that depend on both."""
    rng = np.random.default_rng(0)
    effect = {name: rng.standard_normal(n) for name, n in TEXTS.items()}
    with open(path, "w") as file:
        file.write(",".join([*NUMBERS, *TEXTS, "clicked"]) + "\n")
        while file.tell() < megabytes * 1e6:
            X = rng.standard_normal((5000, len(NUMBERS))).round(3)
            texts = {name: rng.integers(0, n, 5000) for name, n in TEXTS.items()}
            score = X[:, 0] - X[:, 1] + sum(effect[name][k] for name, k in texts.items())
            clicked = (score > 0) != (rng.random(5000) < 0.1)
            columns = [list(map(str, c.tolist())) for c in X.T]
            missing = rng.random(5000) < 0.05
            columns[2] = ["" if gone else v for v, gone in zip(columns[2], missing, strict=True)]
            columns += [[f"{name}{k}" for k in v.tolist()] for name, v in texts.items()]
            columns.append(["yes" if c else "no" for c in clicked])
            file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def write_files(folder, megabytes):
    import fit

    fit.write(folder, megabytes)
    write_csv(folder / "train.csv", megabytes / 3)
    for name in ("train.svm", "train.vw", "train.csv"):
        with open(folder / name) as whole:
            (folder / name.replace("train", "warm")).write_text("".join(islice(whole, WARM)))


# ------------------------------------------------------------------ the contenders


def ours(path, **settings):
    from rosenblatt import fit_file

    done = fit_file(path, path.parent / "ours.safetensors", **settings)
    return done.n_rows


def ours_raw(path, **settings):
    return ours(path, target="clicked", **settings)


def sklearn_libsvm(path):
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import Perceptron

    clf, rows, at = Perceptron(), 0, 0
    with open(path, "rb") as file:
        while at < path.stat().st_size and rows < SKLEARN_ROWS:
            file.seek(0)
            X, y = load_svmlight_file(file, n_features=100_000, offset=at, length=PART)
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # it must
            clf.partial_fit(X, y, classes=[-1, 1])
            rows, at = rows + len(y), at + PART
    return rows


def sklearn_raw(path):
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Perceptron
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    clf, made, rows = Perceptron(), None, 0
    for frame in pd.read_csv(path, chunksize=20_000):
        if made is None:
            made = make_column_transformer(
                (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
                (OneHotEncoder(handle_unknown="ignore"), list(TEXTS)),
            ).fit(frame)
        clf.partial_fit(made.transform(frame), frame["clicked"], classes=["no", "yes"])
        rows += len(frame)
    return rows


def _river(stream, model):
    rows = 0
    for x, y in islice(stream, RIVER_ROWS):
        model.predict_one(x)
        model.learn_one(x, y)
        rows += 1
    return rows


def river_libsvm(path):
    from river import linear_model, stream

    rows = stream.iter_libsvm(str(path), target_type=lambda label: label == "+1")
    return _river(rows, linear_model.Perceptron())


def river_raw(path):
    from river import compose, linear_model, preprocessing, stream

    model = (
        (compose.Select(*NUMBERS) | preprocessing.StandardScaler())
        + (compose.Select(*TEXTS) | preprocessing.OneHotEncoder())
    ) | linear_model.Perceptron()
    convert = {name: lambda v: float(v or 0) for name in NUMBERS}
    convert["clicked"] = lambda v: v == "yes"
    return _river(stream.iter_csv(str(path), target="clicked", converters=convert), model)


def wabbit(path, cache=False):
    from vowpalwabbit import Workspace

    read = f"--cache_file {path.with_suffix('.cache')}" if cache else ""
    model = path.with_suffix(".model")
    held = Workspace(f"-d {path} {read} -b 18 --loss_function hinge -f {model} --quiet")
    held.finish()


def make_caches(folder):
    from vowpalwabbit import Workspace

    for text in (folder / "train.vw", folder / "warm.vw"):
        into = text.with_suffix(".cache")
        Workspace(f"-d {text} -k --cache_file {into} -b 18 --quiet").finish()


CONTENDERS = {
    ("LIBSVM", "rosenblatt"): ("train.svm", ours, {}),
    ("LIBSVM", "rosenblatt, shuffled"): ("train.svm", ours, {"shuffle": True}),
    ("VW text", "rosenblatt"): ("train.vw", ours, {}),
    ("VW text", "rosenblatt, hashed"): ("train.vw", ours, {"bits": 18}),
    ("VW text", "Vowpal Wabbit"): ("train.vw", wabbit, {}),
    ("VW cache", "Vowpal Wabbit"): ("train.vw", wabbit, {"cache": True}),
    ("LIBSVM", "scikit-learn"): ("train.svm", sklearn_libsvm, {}),
    ("LIBSVM", "River"): ("train.svm", river_libsvm, {}),
    ("CSV, raw columns", "rosenblatt"): ("train.csv", ours_raw, {}),
    ("CSV, raw columns", "rosenblatt, shuffled"): ("train.csv", ours_raw, {"shuffle": True}),
    ("CSV, raw columns", "scikit-learn"): ("train.csv", sklearn_raw, {}),
    ("CSV, raw columns", "River"): ("train.csv", river_raw, {}),
}
PACKAGES = {"Vowpal Wabbit": "vowpalwabbit", "River": "river", "scikit-learn": "scikit-learn"}


def one(k, folder):
    """The k-th contender, here and now; as JSON."""
    name, run, settings = list(CONTENDERS.values())[k]
    run(folder / name.replace("train", "warm"), **settings)
    began = time.perf_counter()
    rows = run(folder / name, **settings)
    seconds = time.perf_counter() - began
    print(json.dumps({"rows": rows, "seconds": seconds, "memory": high_water_mb()}))


def measured(folder, rounds):
    """The best of several rounds of each, in turns."""
    found = {}
    for _ in range(rounds):
        for k, (what, who) in enumerate(CONTENDERS):
            if who in PACKAGES and version(PACKAGES[who]) is None:
                continue
            command = [sys.executable, __file__, "--one", str(k), "--folder", str(folder)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            now = json.loads(done.stdout.splitlines()[-1])
            best = found.setdefault((what, who), now)
            if now["seconds"] < best["seconds"]:
                found[what, who] = now
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the files go")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one is not None:
        return one(args.one, Path(args.folder))
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        write_files(folder, args.megabytes)
        if version("vowpalwabbit"):
            make_caches(folder)
        report(folder, measured(folder, args.rounds))


def report(folder, found):
    sizes, lines = {}, {}
    for name in ("train.svm", "train.vw", "train.csv"):
        sizes[name] = (folder / name).stat().st_size / 1e6
        with open(folder / name, "rb") as text:
            lines[name] = sum(1 for _ in text) - name.endswith("csv")
    rows = []
    for (what, who), now in found.items():
        file = CONTENDERS[what, who][0]
        n = now["rows"] or lines[file]
        speed = n / now["seconds"]
        first = found["CSV, raw columns" if "CSV" in what else "LIBSVM", "rosenblatt"]
        rows.append([
            what, who, f"{n:,}" if n == lines[file] else f"the first {n:,}",
            number(now["seconds"]), f"{speed:,.0f}",
            number(speed * sizes[file] / lines[file]) if what != "VW cache" else "",
            number(first["rows"] / first["seconds"] / speed, 2), f"{now['memory']:,.0f}",
        ])  # fmt: skip
    head = ["out of core, one pass", "by", "rows", "seconds", "rows per second", "MB per second"]
    print(table([*head, "times as long as ours", "memory, MB"], rows), flush=True)


if __name__ == "__main__":
    main()
