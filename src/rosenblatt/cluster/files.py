"""Train on files that the workers of a cluster read: `rosenblatt fit DIRECTORY --workers N`.

Every piece is read by one worker, once, with the readers of one machine, and stays in its memory.
What one file cannot know (how wide the others are, whether an index 0 comes in one of them, which
labels and categories there are, the mean of a column) is settled when all are read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt._core import FeatureIndex, renumber_columns
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

BLOCK_BYTES = 1 << 27  # of a plain text file in one piece


class PieceRows(NamedTuple):
    """What was read of one piece. In a summary, the block has no rows.

    `first_column`: columns before it have no feature, as in LIBSVM files that count from 1.
    `table`, `scaler`: features, and means and deviations, of columns that are not all numbers.
    """

    block: Block
    labels: LabelIndex
    first_column: int
    names: tuple[str, ...]
    skipped: SkippedLines
    unlabelled: int
    settings: dict[str, Any]
    n_rows: int
    table: TableFeatures | None
    scaler: Standardizer | None


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
        opened, scaled = open_table(pieces[0], options, scale, watcher.say)
        kinds = None if opened.format.encoder is None else opened.format.encoder.kinds
        source, table, scaler, read = _read(cluster, pieces, options, kinds, scaled, timeout)
        shards, workers = plural(len(source), "shard"), plural(len(cluster.nthreads()), "worker")
        watcher.say(f"{source.n_rows:,} rows in {shards} on {workers}")
        classes = source.labels.classes
        learner = Learner.begin(classes, source.n_features, source.dtype, settings)
        learner.counts = source.class_rows.sum(axis=0)
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


def _read_piece(
    piece: Piece, options: ReadOptions, kinds: Mapping[str, str] | None, scaled: bool
) -> PieceRows | None:
    """One piece, whole; None if there are no rows in it."""
    table = scaler = None
    if kinds is None:
        source = open_source(piece, options)
    else:
        source = open_source(piece, replace(options, kinds=kinds), feature_names=list(kinds))
        table = TableFeatures(kinds, FeatureIndex(options.bits))
        scaler = Standardizer(table) if scaled else None
        source.format.encoder = table
    blocks = []
    try:
        for block in source.blocks():
            if scaler is not None:
                scaler.standardized(block)  # for its means; other pieces have a part in them
            blocks.append(block)
    except DataError as e:
        if piece.length is not None and "has no rows" in str(e):
            return None  # a stretch within one line
        raise
    if table is not None and not table.is_plain:
        blocks = [block._replace(X=as_csr(block.X)) for block in blocks]
    whole = stack(blocks)
    format = source.format
    return PieceRows(
        whole, source.labels, format.first_column, format.feature_names, source.skipped,
        source.unlabelled, source.settings(), whole.n_rows, table, scaler,
    )  # fmt: skip


def _summary(read: PieceRows | None) -> PieceRows | None:
    return None if read is None else read._replace(block=read.block.rows(0, 0))


class _Place(NamedTuple):
    """Where the rows of a piece are among all: class numbers by code, first row, columns."""

    classes: Any
    first_row: int
    base: int
    width: int
    columns: Any


def _placed(read: PieceRows, place: _Place, scaler: Standardizer | None, is_plain: bool) -> Block:
    """The rows with the columns and the class numbers of all pieces."""
    X, y, weight = read.block[:3]
    X = X if is_plain else as_csr(X)
    if isinstance(X, Csr):
        if X.indices.max(initial=0) - place.base >= place.width:
            raise DataError(
                f"an index is 0 in one file, and {place.width} in another, so there are more than "
                f"n_features={place.width}. Raise n_features or pass zero_based."
            )
        data, indices = X.data.copy(), X.indices - X.indices.dtype.type(place.base)
        if place.columns is not None:
            renumber_columns(X.indptr, indices, data, place.columns)
        X = Csr(data, indices, X.indptr, place.width)
    first, end = place.first_row, Position(rows=place.first_row + len(y))
    block = Block(X, place.classes[y], weight, first, end)
    return block if scaler is None else scaler.standardized(block)


# ---------------------------------------------------------------------------- plumbing


def _read(
    client: Any, pieces: Sequence[Piece], options: ReadOptions,
    kinds: Mapping[str, str] | None, scaled: bool, timeout: float,
) -> tuple[DaskSource, TableFeatures | None, Standardizer | None, list[PieceRows]]:  # fmt: skip
    """All pieces as shards, their features, and what is known of each."""
    names, n = list(map(str, pieces)), len(pieces)
    futures = client.map(_read_piece, pieces, [options] * n, [kinds] * n, [scaled] * n, pure=False)
    wait_for(client, futures, names, timeout)
    found = gathered(client, client.map(_summary, futures, pure=False), names, timeout)
    there = [k for k, one in enumerate(found) if one is not None]
    futures, names = [futures[k] for k in there], [names[k] for k in there]
    read: list[PieceRows] = [found[k] for k in there]
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
    base = min(one.first_column for one in read)
    if "zero_based" in read[0].settings and not isinstance(options.zero_based, bool):
        read[0].settings["zero_based"] = base == 0
    width = max(one.block.X.shape[1] for one in read) - base
    width = options.n_features or width
    table, scaler, columns = None, None, [None for _ in read]
    if kinds is not None:
        table = TableFeatures(kinds, FeatureIndex(options.bits))
        scaler = Standardizer(table) if scaled else None
        columns = [_joined(table, scaler, one) for one in read]
        table.closed, width = True, table.n_features
    firsts = accumulate((one.n_rows for one in read), initial=0)
    numbers = [_numbers(one.labels, labels) for one in read]
    places = [
        _Place(own, first, base, width, new)
        for own, first, new in zip(numbers, firsts, columns, strict=False)
    ]
    is_plain = table is None or table.is_plain
    each = (places, [scaler] * len(read), [is_plain] * len(read))
    blocks = spread(client, futures, _placed, *each)
    source = DaskSource(blocks, labels.classes, client, timeout, feature_names=read[0].names)
    return source, table, scaler, read


def _joined(table: TableFeatures, scaler: Standardizer | None, one: PieceRows) -> Any:
    """Add the features and means of a piece; the columns of its features among all."""
    assert one.table is not None
    columns = table.merge(one.table)
    if scaler is not None and one.scaler is not None:
        scaler.merge(one.scaler, columns)
    return None if table.index.hash_bits else columns


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
