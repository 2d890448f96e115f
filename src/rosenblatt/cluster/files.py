"""Train on files that the workers of a cluster read: `rosenblatt fit DIRECTORY --workers N`.

Every piece is read by one worker, once, with the readers of one machine, and stays in its memory.
What one file cannot know (how wide the others are, whether an index 0 comes in one of them, what
labels there are) is settled when all are read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.cluster.futures import PATIENCE, client_or_default, gathered, wait_for
from rosenblatt.cluster.machine import ClusterMachine, check_mixing
from rosenblatt.cluster.source import DaskSource, spread
from rosenblatt.cluster.train import train
from rosenblatt.data.block import Block, Csr, Position, as_csr, stack
from rosenblatt.data.labels import check_two_classes
from rosenblatt.data.source import LabelIndex
from rosenblatt.errors import DataError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.atomic import check_output
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.location import Piece, locate, split
from rosenblatt.io.progress import Watcher
from rosenblatt.io.reader import open_source
from rosenblatt.io.text_format import ReadOptions
from rosenblatt.learn.multiclass import Learner
from rosenblatt.learn.rules import Rule
from rosenblatt.learn.schedule import MAX_INT, generator
from rosenblatt.model.model_file import save_model
from rosenblatt.stream.checkpoint import check_folder
from rosenblatt.stream.fit import FitResult, fit_result, open_table, settings_for
from rosenblatt.stream.standardized_source import Standardizer
from rosenblatt.stream.train import Trained
from rosenblatt.text import plural

Learned = tuple[TableFeatures | None, Standardizer | None]
BLOCK_BYTES = 1 << 27  # of a plain text file in one piece


class PieceRows(NamedTuple):
    """What was read of one piece. In a summary, the block has no rows.

    `first_column`: columns before it have no feature, as in LIBSVM files that count from 1.
    """

    block: Block
    labels: LabelIndex
    first_column: int
    names: tuple[str, ...]
    skipped: SkippedLines
    unlabelled: int
    settings: dict[str, Any]


def fit_files(
    place: str,
    out: str | Path,
    *,
    client: Any = None,
    max_iter: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    shuffle: bool = False,
    random_state: int = 0,
    scale: bool | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    block_bytes: int = BLOCK_BYTES,
    timeout: float = PATIENCE,
    **reading: Any,
) -> FitResult:
    """Train by parameter mixing on files that the workers can read, and write the model.

    Parameters
    ----------
    place : str
        A folder, a file, or a URL that fsspec knows; LIBSVM, VW text, CSV or Parquet.
    out : str or Path
        Where the model is written.
    client : distributed.Client, function or None
        The cluster; None: the one in use; or a function that begins one (for `with`), which is
        called when all has been checked that can be.
    max_iter, keep, rule, eta0, fit_intercept, scale, resume, watcher
        As in :func:`rosenblatt.fit_file`.
    shuffle : bool
        Visit the rows of each shard in a random order.
    random_state : int
        Seed of the order.
    checkpoint, checkpoint_every
        A folder where the run is saved, and the seconds between two checkpoints; None: after every
        epoch.
    block_bytes : int
        Of a large plain text file in one piece.
    timeout : float
        Seconds without any worker before work is given up.
    **reading
        Settings of :func:`rosenblatt.read_chunks`.
    """
    out, watcher = Path(out), watcher or Watcher()
    begin = client if callable(client) else lambda: nullcontext(client_or_default(client))
    options = ReadOptions.of({"threads": 1, **{k: v for k, v in reading.items() if v is not None}})
    pieces = split(locate(place, options.format), block_bytes)
    if pieces[0].format == "vw" and options.bits is None:  # an index of names is not shared
        options = replace(options, bits=18)
    described, settings = settings_for(
        max_iter, keep, rule, eta0, fit_intercept, shuffle, random_state
    )
    check_mixing(settings, "uniform")
    check_folder(checkpoint, checkpoint_every, resume)
    for piece in pieces:
        check_output(out, {"the data file": Path(piece.url)})
    if pieces[0].format is not None:
        options.check_format(pieces[0].format, str(pieces[0]))
    settings = replace(settings, order="shuffle" if shuffle else "order")
    with begin() as cluster:
        began = time.perf_counter()
        learned = _learned(cluster, place, pieces[0], options, scale, timeout, watcher)
        source, read = _read(cluster, pieces, options, learned, timeout)
        shards, workers = plural(len(source), "shard"), plural(len(cluster.nthreads()), "worker")
        watcher.say(f"{source.n_rows:,} rows in {shards} on {workers}")
        classes = source.labels.classes
        learner = Learner.begin(classes, source.n_features, source.dtype, settings)
        learner.counts = source.class_rows.sum(axis=0)
        table, scaler = learned
        described["shards"] = len(source)
        seed = int(generator(random_state).randint(MAX_INT))
        machine = ClusterMachine(settings, learner, source, seed=seed, progressive=True)
        seconds = train(
            machine, asked={k: v for k, v in described.items() if k != "max_iter"},
            checkpoint=checkpoint, every=checkpoint_every or 0.0, resume=resume, watcher=watcher,
            seconds=time.perf_counter() - began,
        )  # fmt: skip
        result = replace(
            fit_result(
                Trained(machine, seconds, scaled=scaler), began, described, source, table=table,
                reader=read[0].settings, out=out,
            ),
            file=Path(place), file_bytes=sum(piece.size for piece in pieces),
            skipped=_skipped(read), unlabelled=sum(one.unlabelled for one in read),
        )  # fmt: skip
        save_model(result.model, out)
    return result


def _skipped(read: Sequence[PieceRows]) -> SkippedLines:
    total = SkippedLines()
    for one in read:
        total = total.plus(one.skipped.count, one.skipped.first)
    return total


# ------------------------------------------------------------------- what workers do


def _learn_table(place: str, options: ReadOptions, scale: bool | None) -> Learned:
    """Read all files once: the features of their columns, means and deviations."""
    source, scaled = open_table(place, options, scale, lambda _: None)
    table = source.format.encoder
    assert table is not None
    scaler = Standardizer(table) if scaled else None
    for block in source.blocks():
        if scaler is not None:
            scaler.standardized(block)
    table.closed = True
    return table, scaler


def _read_piece(piece: Piece, options: ReadOptions, learned: Learned) -> PieceRows | None:
    """One piece, whole; None if there are no rows in it."""
    table, scaler = learned
    if table is None:
        source = open_source(piece, options)
    else:
        source = open_source(
            piece, replace(options, kinds=table.kinds), feature_names=list(table.kinds)
        )
        source.format.encoder = table
    blocks = []
    try:
        for block in source.blocks():
            if table is not None and not table.is_plain:
                block = block._replace(X=as_csr(block.X))
            blocks.append(block if scaler is None else scaler.standardized(block))
    except DataError as e:
        if piece.length is not None and "has no rows" in str(e):
            return None  # a stretch within one line
        raise
    return PieceRows(
        stack(blocks), source.labels, source.format.first_column, source.format.feature_names,
        source.skipped, source.unlabelled, source.settings(),
    )  # fmt: skip


def _summary(read: PieceRows | None) -> PieceRows | None:
    return None if read is None else read._replace(block=read.block.rows(0, 0))


def _n_rows(read: PieceRows) -> int:
    return read.block.n_rows


def _placed(read: PieceRows, classes: Any, first_row: int, base: int, width: int) -> Block:
    """The rows with the columns and the class numbers of all pieces."""
    X, y, weight = read.block[:3]
    if isinstance(X, Csr):
        if X.indices.max(initial=0) - base >= width:
            raise DataError(
                f"an index is 0 in one file, and {width} in another, so there are more than "
                f"n_features={width}. Raise n_features or pass zero_based."
            )
        X = Csr(X.data, X.indices - X.indices.dtype.type(base), X.indptr, width)
    return Block(X, classes[y], weight, first_row, Position(rows=first_row + len(y)))


# ---------------------------------------------------------------------------- plumbing


def _learned(
    client: Any, place: str, first: Piece, options: ReadOptions, scale: bool | None,
    timeout: float, watcher: Watcher,
) -> Learned:  # fmt: skip
    """The features of columns, if the first piece has others than numbers."""
    if open_table(first, options, scale, watcher.say)[0].format.encoder is None:
        return None, None
    watcher.say(f"{first} has columns that are not numbers: looking at them first")
    look = client.submit(_learn_table, place, options, scale, pure=False)
    learned: Learned = gathered(client, [look], ["columns"], timeout)[0]
    return learned


def _read(
    client: Any, pieces: Sequence[Piece], options: ReadOptions, learned: Learned, timeout: float
) -> tuple[DaskSource, list[PieceRows]]:
    """All pieces as shards, and what is known of each."""
    names = list(map(str, pieces))
    each = ([options] * len(pieces), [learned] * len(pieces))
    futures = client.map(_read_piece, pieces, *each, pure=False)
    wait_for(client, futures, names, timeout)
    read = gathered(client, client.map(_summary, futures, pure=False), names, timeout)
    there = [k for k, one in enumerate(read) if one is not None]
    futures, read, names = ([of[k] for k in there] for of in (futures, read, names))
    if not read:
        raise DataError("there are no rows in any file. Give at least one.")
    for name, one in zip(names, read, strict=True):
        if one.names != read[0].names:
            raise DataError(
                f"files have different columns: {names[0]} has {_some(read[0].names)}, and "
                f"{name} has {_some(one.names)}. Give files with the same ones."
            )
    labels = LabelIndex()
    texts = [one.labels.values.dtype.kind in "OUS" for one in read if len(one.labels)]
    for one in read:  # texts in all pieces if there are texts in one
        if any(texts) and not all(texts):
            labels.encode_words(one.labels.words)
        else:
            labels.encode(one.labels.values)
    check_two_classes(labels.classes)
    numbers = [_numbers(one.labels, labels) for one in read]
    base = min(one.first_column for one in read)
    if "zero_based" in read[0].settings and not isinstance(options.zero_based, bool):
        read[0].settings["zero_based"] = base == 0
    width = max(one.block.X.shape[1] for one in read) - base
    if options.n_features is not None:
        width = options.n_features
    rows = gathered(client, client.map(_n_rows, futures, pure=False), names, timeout)
    firsts, n = list(accumulate(rows, initial=0))[:-1], len(futures)
    blocks = spread(client, futures, _placed, numbers, firsts, [base] * n, [width] * n)
    names = read[0].names
    return DaskSource(blocks, labels.classes, client, timeout, feature_names=names), read


def _numbers(own: LabelIndex, labels: LabelIndex) -> Any:
    """The class number of each code of a piece; then -1, for rows without a label."""
    if not len(own):
        return np.full(1, -1, np.int32)
    mixed = own.values.dtype.kind != labels.values.dtype.kind and labels.values.dtype.kind in "OUS"
    codes = labels.encode_words(own.words) if mixed else labels.encode(own.values)
    return labels.class_numbers[np.append(codes, -1)]


def _some(names: tuple[str, ...]) -> str:
    """
    >>> _some(("a", "b")), _some(tuple("abcdefg"))
    ('a, b', 'a, b, c, d, e, ...')
    """
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "no names"
