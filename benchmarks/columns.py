"""Test error on raw tables: features that are made while learning, beside fitted encoders.

    python benchmarks/columns.py [--rows 60000] [--splits 10] [--against PYTHON] [--only covtype]

Tables are covtype (class 2 against the rest), kddcup99 (attacks), spambase and a synthetic set of
years, latitudes and timestamps, which are numbers whose mean is far larger than their deviation.
Each split is a seeded permutation; two thirds of the rows are for training, in one epoch, with the
averaged perceptron, the average of pa1, and arow. "Moved": a thousand times every number, plus ten
times the largest, which should make no difference. --against is a Python with the version that
fitted encoders to the columns in a first pass (9203a45); it gets the same splits. The table shows
the mean test error in percent, mean differences, and their standard errors over the splits.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RULES = {"perceptron": "average", "pa1": "average", "arow": "last"}
Table = tuple[list[str], list[Any], Any]  # names, one array per column, class numbers


def gzipped(path: Path, **reading: Any) -> Any:
    import pandas as pd

    with gzip.open(path) as file:
        return pd.read_csv(io.BytesIO(file.read()), **reading)


def as_table(frame: Any, y: Any) -> Table:
    columns = [frame[name].to_numpy() for name in frame]
    return list(map(str, frame)), columns, np.asarray(y).astype(np.int64)


def covtype() -> Table:
    frame = gzipped(next((DATA / "covtype").glob("*.gz")))
    *_, label = frame
    return as_table(frame.drop(columns=label), frame[label] == 2)


def kddcup99() -> Table:
    frame = gzipped(DATA / "kddcup99" / "kddcup.data_10_percent.gz", header=None)
    *_, label = frame
    rest = frame.drop(columns=label).rename(columns=lambda k: f"f{k}")
    return as_table(rest, frame[label] != "normal.")


def spambase() -> Table:
    frame = gzipped(DATA / "spambase" / "spambase.csv.gz")
    return as_table(frame.drop(columns="class"), frame["class"])


def synthetic() -> Table:
    rng, n = np.random.default_rng(0), 60_000
    year = rng.integers(2010, 2020, n).astype(float)
    latitude = 52.5 + 0.1 * rng.standard_normal(n)
    time = 1.7e9 + 1e6 * rng.random(n)
    score = 0.8 * (year - 2014.5) / 2.9 + (latitude - 52.5) / 0.1 - (time - 1.7005e9) / 0.29e6
    return ["year", "latitude", "time"], [year, latitude, time], score + rng.logistic(size=n) > 0


SETS: dict[str, Callable[[], Table]] = {
    "covtype": covtype, "kddcup99": kddcup99, "spambase": spambase, "synthetic": synthetic
}  # fmt: skip


def wrong(model: Any, X: Any, y: Any) -> float:
    """Test error in percent."""
    return 100 * float(np.mean(model.predict(X) != y))


def learned(names: Sequence[str], train: list[Any], y: Any, rule: str, keep: str) -> Any:
    """A model of the columns of a table."""
    from rosenblatt import fit_stream

    return fit_stream(
        [(dict(zip(names, train, strict=True)), y)], rule=rule, keep=keep, scale=True
    ).model


def moved(column: Any) -> Any:
    """Numbers in another unit, plus a constant."""
    if column.dtype.kind in "OU":
        return column
    return 1000.0 * column + 10.0 * np.abs(column).max()


def errors(data: str, rows: int, splits: int, old: bool) -> list[dict[str, float]]:
    """Test error of each rule in each split."""
    names, columns, y = SETS[data]()
    columns = [c if c.dtype.kind in "OU" else c.astype(np.float64) for c in columns]
    others = list(map(moved, columns))
    found: list[dict[str, float]] = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(y))[:rows]
        n = 2 * len(order) // 3
        train, test = order[:n], order[n:]
        found.append({})
        if old:
            import pyarrow as pa

            from rosenblatt import Perceptron, learn_columns  # type: ignore[attr-defined]

            X, Z = (pa.table({k: c[part] for k, c in zip(names, columns, strict=True)})
                    for part in (train, test))  # fmt: skip
            encoders = learn_columns(X)
            X, Z = encoders.transform(X), encoders.transform(Z)
        for rule, keep in RULES.items():
            if old:
                clf = Perceptron(rule=rule, keep=keep, shuffle=False, max_iter=1, tol=None)
                found[-1][rule] = wrong(clf.fit(X, y[train]), Z, y[test])
                continue
            for kind, table in (("", columns), (" moved", others)):
                model = learned(names, [c[train] for c in table], y[train], rule, keep)
                rows_of_test = dict(zip(names, [c[test] for c in table], strict=True))
                found[-1][rule + kind] = wrong(model, rows_of_test, y[test])
    return found


def difference(here: Any, there: Any) -> list[str]:
    """Mean difference and its standard error."""
    change = np.asarray(here) - np.asarray(there)
    spread = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else np.nan
    return [f"{change.mean():+.2f}", f"{spread:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--against", help="Python with the version to compare with")
    parser.add_argument("--only", nargs="*", default=list(SETS))
    parser.add_argument("--as-old", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_old:
        print(json.dumps(errors(args.only[0], args.rows, args.splits, old=True)))
        return
    from report import table

    lines = []
    for data in args.only:
        new = errors(data, args.rows, args.splits, old=False)
        old = None
        if args.against:
            command = [args.against, __file__, "--as-old", "--only", data]
            command += ["--rows", str(args.rows), "--splits", str(args.splits)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            old = json.loads(done.stdout.splitlines()[-1])
        for rule in RULES:
            here = np.array([split[rule] for split in new])
            line = [data, rule, f"{here.mean():.2f}"]
            line += difference([split[f"{rule} moved"] for split in new], here)
            if old is not None:
                before = np.array([split[rule] for split in old])
                line += [f"{before.mean():.2f}", *difference(here, before)]
            lines.append(line)
            print(*line, file=sys.stderr, flush=True)
    titles = ["table", "rule", "test error in %", "moved: difference", "standard error"]
    titles += ["fitted encoders", "difference", "standard error"] if args.against else []
    print(table(titles, lines))


if __name__ == "__main__":
    main()
