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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt._core import PLAIN_COLUMNS, FeatureIndex, renumber_columns
from rosenblatt.cluster.futures import PATIENCE, client_or_default
from rosenblatt.cluster.machine import ClusterMachine, check_mixing
from rosenblatt.cluster.source import DaskSource, joined, summed_up
from rosenblatt.cluster.train import train
from rosenblatt.data.block import Block, Csr, as_csr, stack
from rosenblatt.data.source import LabelIndex
from rosenblatt.errors import DataError, LimitError, NoRowsError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.atomic import check_output
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.file_source import FileSource, open_source
from rosenblatt.io.location import Piece, locate, split
from rosenblatt.io.progress import Watcher
from rosenblatt.io.text_format import ReadOptions
from rosenblatt.learn.multiclass import Learner
from rosenblatt.learn.rules import Rule
from rosenblatt.learn.schedule import MAX_INT, generator
from rosenblatt.model.model_file import save_model
from rosenblatt.stream.checkpoint import check_folder
from rosenblatt.stream.fit import open_table, settings_for
from rosenblatt.stream.fit_result import FitResult, fit_result
from rosenblatt.stream.standardized_source import Standardizer
from rosenblatt.stream.train import Trained
from rosenblatt.text import plural

BLOCK_BYTES = 1 << 27  # of a plain text file in one piece


class PieceRows(NamedTuple):
    """What was read of one piece. In a summary, the block has no rows.

    `used`: the columns up to the last with an entry. `features`: by name, with columns of this
    piece. `table`, `scaler`: features, and means and deviations, of columns of a table.
    """

    block: Block
    labels: LabelIndex
    n_rows: int
    place: str
    used: int
    first_column: int
    names: tuple[str, ...]
    skipped: SkippedLines
    unlabelled: int
    features: FeatureIndex | None
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
        whole, scaled = open_table(place, options, scale, watcher.say)
        source, scaler = _read(cluster, pieces, whole, scaled, timeout)
        shards, workers = plural(len(source), "shard"), plural(len(cluster.nthreads()), "worker")
        watcher.say(f"{source.n_rows:,} rows in {shards} on {workers}")
        classes = source.labels.classes
        learner = Learner.begin(classes, source.n_features, source.dtype, settings)
        learner.counts = source.class_rows.sum(axis=0)
        described["shards"] = len(source)
        seed = int(generator(random_state).randint(MAX_INT))
        machine = ClusterMachine(settings, learner, source, seed=seed, progressive=True)
        asked = {**described, "scale": scale, **whole.described()}
        del asked["max_iter"]
        seconds = train(
            machine, asked=asked, checkpoint=checkpoint, every=checkpoint_every or 0.0,
            resume=resume, watcher=watcher, seconds=time.perf_counter() - began,
        )  # fmt: skip
        run = Trained(machine, seconds, scaled=scaler)
        result = fit_result(run, began, described, whole, out=out)
        save_model(result.model, out)
    for remark in () if result.table is None else result.table.remarks():
        watcher.say(remark)
    return result


# ------------------------------------------------------------------- what workers do


def _read_piece(
    piece: Piece, options: ReadOptions, kinds: Mapping[str, str] | None, scaled: bool
) -> PieceRows | None:
    """One piece, whole; None if there are no rows in it."""
    table = scaler = None
    if kinds is None:
        source = open_source(piece, options, features=FeatureIndex())
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
    except NoRowsError:
        if piece.length is not None:
            return None  # it lies within one long line
        raise
    if table is not None and not table.is_plain:
        blocks = [block._replace(X=as_csr(block.X)) for block in blocks]
    whole, format = stack(blocks), source.format
    used = int(whole.X.indices.max(initial=-1)) + 1 if isinstance(whole.X, Csr) else 0
    return PieceRows(
        whole, source.labels, whole.n_rows, str(piece), used, format.first_column,
        format.feature_names, source.skipped, source.unlabelled,
        format.features if table is None else table.index, table, scaler,
    )  # fmt: skip


def _prepared(
    block: Block, width: int, columns: Any, first: int, scaler: Standardizer | None, dense: bool
) -> Block:
    """The rows of a piece with the columns of all: its own from `first` on are renumbered."""
    X = block.X if dense else as_csr(block.X)
    if isinstance(X, Csr):
        data, indices = X.data.copy(), X.indices.copy()
        if columns is not None and len(columns):
            renumber_columns(X.indptr, indices, data, columns, first)
        X = Csr(data, indices, X.indptr, width)
    block = block._replace(X=X)
    return block if scaler is None else scaler.standardized(block)


# ---------------------------------------------------------------------------- plumbing


def _read(
    client: Any, pieces: Sequence[Piece], whole: FileSource, scaled: bool, timeout: float
) -> tuple[DaskSource, Standardizer | None]:
    """All pieces as shards; `whole` is brought to where reading all of them would have left it."""
    format, options = whole.format, whole.options
    table, n = format.encoder, len(pieces)
    each = ([options] * n, [None if table is None else table.kinds] * n, [scaled] * n)
    futures = client.map(_read_piece, pieces, *each, pure=False)
    rows, read = summed_up(client, futures, list(map(str, pieces)), timeout)
    if not read:
        raise DataError("there are no rows in any file. Give at least one.")
    for one in read:
        if format.layout is not None and one.names != read[0].names:
            raise DataError(
                f"files have different columns: {read[0].place} has {_some(read[0].names)}, and "
                f"{one.place} has {_some(one.names)}. Give files with the same ones."
            )
        whole.skipped = whole.skipped.plus(one.skipped.count, one.skipped.first)
        whole.unlabelled += one.unlabelled
    format.first_column = min(one.first_column for one in read)
    most = options.n_features
    if most is not None and not format.first_column and max(one.used for one in read) > most:
        raise DataError(
            f"an index is 0 in one file, and {most} in another, so there are more than "
            f"n_features={most}. Raise n_features or pass zero_based."
        )
    scaler = Standardizer(table) if table is not None and scaled else None
    index = format.features if table is None else table.index
    columns = [_join(table, scaler, index, one) for one in read]
    first = PLAIN_COLUMNS - (options.zero_based is False) if format.name == "libsvm" else 0
    width = max(one.block.X.shape[1] for one in read)
    if index is not None and (first == 0 or len(index)):
        width = max(width, first + index.n_features)
    dense = table is None or table.is_plain
    prepare = [partial(_prepared, width=width, columns=own, first=first, scaler=scaler, dense=dense)
               for own in columns]  # fmt: skip
    blocks, classes = joined(client, rows, read, prepare, as_words=True)
    return DaskSource(blocks, classes, client, timeout), scaler


def _join(
    table: TableFeatures | None, scaler: Standardizer | None, index: FeatureIndex | None,
    one: PieceRows,
) -> Any:  # fmt: skip
    """Add the features and means of a piece; the columns of its features among all."""
    if index is None or one.features is None:
        return None
    columns = index.add_all(one.features)
    if (columns < 0).any():
        count, option = index.max_features, "bits (--hash-bits)"
        raise LimitError("names of features", count + 1, count, "The folder", option)
    if table is not None and one.table is not None:
        table.count(one.table)
        if scaler is not None and one.scaler is not None:
            scaler.merge(one.scaler, columns)
    return None if index.hash_bits else columns


def _some(names: tuple[str, ...]) -> str:
    """
    >>> _some(("a", "b")), _some(tuple("abcdefg"))
    ('a, b', 'a, b, c, d, e, ...')
    """
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "no names"
