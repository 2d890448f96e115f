"""Test error on raw tables: features by name with running standardization, beside fitted encoders.

    python benchmarks/columns.py [--rows 60000] [--splits 10] [--old PYTHON] [--only covtype]

Tables are covtype (class 2 against the rest), kddcup99 (attacks), spambase and a synthetic set of
years, latitudes and timestamps, which are numbers whose mean is far larger than their deviation.
Each split is a seeded permutation; two thirds of the rows are for training, in one epoch, with the
averaged perceptron, the average of pa1, and arow. --old is a Python with the version that fitted
encoders to the columns in a first pass (9203a45); it gets the same splits. The table shows the mean
test error in percent, the mean difference, and its standard error over the splits.
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
import scipy.sparse as sp

from rosenblatt import Perceptron

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
Encoded = tuple[Any, Any, Callable[[Any], tuple[Any, Any]]]


def by_name(names: Sequence[str], train: list[Any], test: list[Any]) -> Encoded:
    """Training rows as they are learned from, raw test rows, and weights for raw rows."""
    from rosenblatt.data.block import START, Block, Position
    from rosenblatt.features.column_batch import ColumnBatch, NumberColumn, TextColumn
    from rosenblatt.data.source import BaseSource, LabelIndex
    from rosenblatt.features.table_features import TableFeatures
    from rosenblatt.stream.standardized_source import StandardizedSource

    def batch(columns: list[Any]) -> ColumnBatch:
        made: list[Any] = []
        for column in columns:
            if column.dtype.kind in "OU":
                words, codes = np.unique(column.astype(str), return_inverse=True)
                made.append(TextColumn(codes.astype(np.int32), tuple(words.tolist())))
            else:
                made.append(NumberColumn(column.astype(np.float64)))
        return ColumnBatch(tuple(names), tuple(made), None, len(columns[0]))

    class OneBatch(BaseSource):
        labels = LabelIndex([0, 1])

        def blocks(self, epoch: int = 1, after: Position = START) -> Any:
            X = table.encode(batch(train))
            yield Block(X, np.zeros(X.shape[0], np.int32))

    table = TableFeatures.of_batch(batch(train))
    source = StandardizedSource(OneBatch(), table)
    X = matrix(next(source.blocks()).X)
    return X, matrix(table.encode(batch(test), grow=False)), source.unscaled


def matrix(X: Any) -> Any:
    return sp.csr_matrix((X.data, X.indices, X.indptr), X.shape) if hasattr(X, "indptr") else X


def by_fitted_encoders(names: Sequence[str], train: list[Any], test: list[Any]) -> Encoded:
    """The same with the encoders that 9203a45 fitted to the training rows."""
    import pyarrow as pa

    from rosenblatt import learn_columns

    tables = [pa.table(dict(zip(names, columns, strict=True))) for columns in (train, test)]
    columns = learn_columns(tables[0])
    X, Z = (sp.csr_matrix(columns.transform(t)) for t in tables)
    return X, Z, lambda coef, intercept: (coef, intercept)


def errors(data: str, rows: int, splits: int, old: bool) -> list[dict[str, float]]:
    """Test error of each rule in each split."""
    names, columns, y = SETS[data]()
    found = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(y))[:rows]
        n = 2 * len(order) // 3
        train, test = ([c[part] for c in columns] for part in (order[:n], order[n:]))
        X, Z, unscaled = (by_fitted_encoders if old else by_name)(names, train, test)
        found.append({})
        for rule, keep in RULES.items():
            clf = Perceptron(rule=rule, keep=keep, shuffle=False, max_iter=1, tol=None)
            clf.fit(X, y[order[:n]])
            coef, intercept = unscaled(clf.coef_, clf.intercept_)
            answers = Z @ coef[0] + intercept[0] >= 0
            found[-1][rule] = 100 * float(np.mean(answers != y[order[n:]]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--old", help="Python with the version to compare with")
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
        if args.old:
            command = [args.old, __file__, "--as-old", "--only", data]
            command += ["--rows", str(args.rows), "--splits", str(args.splits)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            old = json.loads(done.stdout.splitlines()[-1])
        for rule in RULES:
            here = np.array([split[rule] for split in new])
            line = [data, rule, f"{here.mean():.2f}"]
            if old is not None:
                before = np.array([split[rule] for split in old])
                change = here - before
                spread = change.std(ddof=1) / np.sqrt(len(change))
                line += [f"{before.mean():.2f}", f"{change.mean():+.2f}", f"{spread:.2f}"]
            lines.append(line)
            print(*line, file=sys.stderr, flush=True)
    titles = ["table", "rule", "test error in %"]
    titles += ["fitted encoders", "difference", "standard error"] if args.old else []
    print(table(titles, lines))


if __name__ == "__main__":
    main()
