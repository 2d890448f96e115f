"""Real data: the sets that scikit-learn ships, and those of the folder shared/data where it is.

A test on real data has a case on a shipped set, which runs everywhere. Cases on other sets skip
where the folder is not beside the project.
"""

import bz2
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import (
    dump_svmlight_file,
    load_breast_cancer,
    load_digits,
    load_iris,
    load_svmlight_file,
    load_wine,
)

SHIPPED = {
    "breast cancer": load_breast_cancer,  # separable, by a thin margin
    "digits": load_digits,  # "digits parity" is quasi-separable
    "iris": load_iris,  # "iris 1 2" overlap
    "wine": load_wine,  # "wine 1 2" are separable, and columns differ in scale
}
OPENED = {".gz": gzip.open, ".bz2": bz2.open}


def data_folder():
    """The folder shared/data, found beside the project; the test skips where it is absent."""
    for parent in Path(__file__).resolve().parents:
        folder = parent / "shared" / "data"
        if folder.is_dir():
            return folder
    pytest.skip("the folder shared/data with real data sets is not beside the project")


def rows_of(name):
    """(X, y) of a set, shipped or not. "iris 1 2" are two of its classes, "digits parity" two."""
    shipped = next((s for s in SHIPPED if name.startswith(s)), None)
    if shipped is not None:
        return _two_of(*SHIPPED[shipped](return_X_y=True), name.removeprefix(shipped).split())
    folder = data_folder() / name.split()[0]
    if name in ("sonar", "ionosphere", "spambase"):
        rows, y = _comma_separated(folder, header=name == "spambase")
        return np.array([r[:-1] for r in rows], dtype=float), y
    if name == "wpbc":
        rows, y = _comma_separated(folder, label=1)
        return np.array([r[3:33] for r in rows], dtype=float), y
    if name.startswith("mnist"):
        images = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
        return _two_of(X, np.frombuffer(labels, np.uint8, offset=8), name.split()[1:])
    files = sorted(folder.iterdir())
    path = next((p for p in files if "train" in p.name), files[0])
    return load_svmlight_file(str(path), zero_based="auto")


def _two_of(X, y, classes):
    if classes == ["parity"]:
        return X, y % 2
    chosen = np.isin(y, [int(c) for c in classes]) if classes else slice(None)
    return X[chosen], y[chosen]


def _comma_separated(folder, label=-1, header=False):
    path = next(folder.iterdir())
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    rows = [line.strip().split(",") for line in text.splitlines() if "," in line][int(header) :]
    rows = [r for r in rows if "?" not in r]
    return rows, np.array([r[label] for r in rows])


def libsvm_file(name, folder):
    """A LIBSVM file: one of shared/data ("a9a/a9a.svm.gz"), or a shipped set ("digits.svm.gz")."""
    if "/" in name:
        return data_folder() / name
    path = folder / name
    with OPENED.get(path.suffix, open)(path, "wb") as file:
        dump_svmlight_file(*rows_of(name.partition(".")[0]), file, zero_based=False)
    return path


def csv_file(name, folder, header=True):
    """A CSV file: one of shared/data ("sonar/sonar.all-data"), or a shipped set ("iris.csv").

    The labels of a shipped set are its last column, `target`.
    """
    if "/" in name:
        return data_folder() / name
    path = folder / name
    SHIPPED[name.partition(".")[0]](as_frame=True).frame.to_csv(path, index=False, header=header)
    return path


def click_log(name, folder):
    """(CSV file, frame): counts I1, I2, ..., categories C1, C2, ..., missing values, a `Label`.

    "criteo", or one made of the digits: sums of columns of pixels, and shades of pixels.
    """
    path = data_folder() / "criteo" / "train.tiny.csv" if name == "criteo" else folder / "log.csv"
    if name == "digits":
        X, y = rows_of("digits parity")
        counts = X.reshape(-1, 8, 8).sum(axis=1)[:, 1:7]
        made = {f"I{k}": np.where(c % 7 == 3, np.nan, c) for k, c in enumerate(counts.T, 1)}
        pixels = [pixel for pixel in X.T.astype(int) if len(set(pixel.tolist())) > 9]
        made |= {
            f"C{k}": [f"shade{v:x}" if v != 11 else None for v in pixel]
            for k, pixel in enumerate(pixels, 1)
        }
        pd.DataFrame({"Id": np.arange(len(y)), "Label": y, **made}).to_csv(path, index=False)
    texts = {c: str for c in pd.read_csv(path, nrows=0) if c.startswith("C")}
    return path, pd.read_csv(path, dtype=texts)
