"""Texts of the comparison: posts, messages and reviews, with one tf-idf for all contenders.

scikit-learn's `TfidfVectorizer(sublinear_tf=True, min_df=2)`, everything else as it
is by default: words of two characters or more, in lower case, rows of length 1. It learns its
vocabulary and its weights from the training texts alone. Splits are those of datasets.py: 20news
has a test folder (split by date), of the others every fifth text of a shuffle (seed 0) is a test.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
from datasets import SEED, Split

VECTORIZER = {"sublinear_tf": True, "min_df": 2}
Labelled = tuple[list[str], np.ndarray]


def vectorised(train: Labelled, test: Labelled, file: str) -> Split:
    """Rows of tf-idf; what is in the test texts alone is not seen."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(**VECTORIZER)
    X = vectorizer.fit_transform(train[0])
    return Split(X, train[1], vectorizer.transform(test[0]), test[1], file)


def parted(texts: list[str], y: np.ndarray, file: str) -> Split:
    """Every fifth of a shuffle is a test."""
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = order[::5], np.delete(order, np.s_[::5])
    parts = [([texts[i] for i in rows], y[rows]) for rows in (train, test)]
    return vectorised(parts[0], parts[1], file)


def members(path: Path) -> list[tuple[list[str], str]]:
    """The files of an archive: the parts of the path, and the text; sorted by path."""
    with tarfile.open(path) as archive:
        files = sorted((m for m in archive if m.isfile()), key=lambda m: m.name)
        read = [(m.name.split("/"), archive.extractfile(m)) for m in files]
        return [(parts, file.read().decode("latin-1")) for parts, file in read if file]


def sms_spam(folder: Path) -> Split:
    path = folder / "SMSSpamCollection"
    lines = path.read_text(encoding="utf-8").splitlines()
    labels, _, texts = zip(*(line.partition("\t") for line in lines if line), strict=True)
    return parted(list(texts), (np.array(labels) == "spam").astype(int), str(path))


def polarity(folder: Path) -> Split:
    path = folder / "review_polarity.tar.gz"
    found = [(parts, text) for parts, text in members(path) if parts[0] == "txt_sentoken"]
    y = np.array([int(parts[-2] == "pos") for parts, _ in found])
    return parted([text for _, text in found], y, str(path))


def news(folder: Path) -> Split:
    """Twenty newsgroups, headers and quotes and all, split by date."""
    path = folder / "20news-bydate.tar.gz"
    found = members(path)
    groups = sorted({parts[1] for parts, _ in found})

    def part(name: str) -> Labelled:
        mine = [(parts[1], text) for parts, text in found if parts[0].endswith(name)]
        order = np.random.default_rng(SEED).permutation(len(mine))
        y = np.array([groups.index(mine[i][0]) for i in order])
        return [mine[i][1] for i in order], y

    return vectorised(part("train"), part("test"), str(path))
