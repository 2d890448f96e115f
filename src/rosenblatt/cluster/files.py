"""From files to a model on a cluster: what `rosenblatt fit DIRECTORY --workers N` does.

Every piece is read by one worker, once, with the readers of one machine, and stays in its memory.
What one file cannot know (how wide the others are, whether an index 0 comes in one of them, what
labels there are) is settled when all are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.checkpoint import saved
from rosenblatt.cluster.estimator import DaskPerceptron
from rosenblatt.cluster.futures import (
    PATIENCE,
    client_or_default,
    failed,
    gathered,
    raise_first,
    wait_for,
)
from rosenblatt.cluster.rounds import Round
from rosenblatt.cluster.settings import options_of
from rosenblatt.cluster.shards import Shards
from rosenblatt.data.block import Block, Csr, as_csr, stack
from rosenblatt.data.source import LabelIndex, label_key, typed_labels
from rosenblatt.errors import DataError, RosenblattError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.atomic import check_output
from rosenblatt.io.location import Piece, locate, split
from rosenblatt.io.reader import decoded, open_source
from rosenblatt.io.text_format import Labels, ReadOptions
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.model.linear_model import LinearModel
from rosenblatt.model.model_file import save_model
from rosenblatt.stream.fit import open_table
from rosenblatt.stream.standardized_source import Standardizer

Array = npt.NDArray[Any]
Learned = tuple[TableFeatures | None, Standardizer | None]
BLOCK_BYTES = 1 << 27  # of a plain text file in one piece


class Pieced(NamedTuple):
    """What was read of one piece. `base`: what LIBSVM indices seemed to count from, or None."""

    X: Any
    y: Array | Labels
    weight: Array | None
    base: int | None
    names: tuple[str, ...]
    skipped: int
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ClusterFitted:
    """A model, where it is, and how training on the cluster went."""

    model: LinearModel
    out: Path
    place: str
    shards: int
    rows: int
    history: tuple[Round, ...]
    stop_reason: str
    skipped: int
    workers: int
    reading_seconds: float
    seconds: float
    table: TableFeatures | None = None

    def facts(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can hold it."""
        return {
            "file": self.place,
            "model": str(self.out),
            "rows": self.rows,
            "features": self.model.n_features,
            "classes": self.model.classes.tolist(),
            "skipped_lines": self.skipped,
            "shards": self.shards,
            "workers": self.workers,
            "rounds": len(self.history),
            "mistakes_per_round": [one.mistakes for one in self.history],
            "progressive_error": self.history[-1].error,
            "stop_reason": self.stop_reason,
            "seconds": self.seconds,
            "reading_seconds": self.reading_seconds,
            "seconds_per_round": [one.seconds for one in self.history],
            "columns": None if self.table is None else self.table.facts(),
        }


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
    resume: bool = False,
    verbose: int = 0,
    say: Callable[[str], object] = lambda _: None,
    block_bytes: int = BLOCK_BYTES,
    timeout: float = PATIENCE,
    **reading: Any,
) -> ClusterFitted:
    """Train by parameter mixing on files that the workers can read, and write the model.

    Parameters
    ----------
    place : a folder, a file, or a URL that fsspec knows; LIBSVM, VW text, CSV or Parquet
    out : where the model goes
    client : the cluster; left out, the one in use; or a function that begins one (for `with`),
        which is called when all has been checked that can be
    max_iter : most rounds
    keep, rule, eta0, fit_intercept : as in :class:`~rosenblatt.cluster.DaskPerceptron`
    shuffle : visit the rows of each shard in a random order
    random_state : seed of the order
    scale : centre and scale number columns; None: if others are not numbers
    checkpoint, resume : a folder where every round is saved, and whether to go on from there
    verbose : 1 draws a bar
    say : is told what is worth a line
    block_bytes : of a large plain text file in one piece
    timeout : seconds without any worker before work is given up
    reading : settings of :func:`rosenblatt.read_chunks`
    """
    out = Path(out)
    client = client if callable(client) else client_or_default(client)
    reading = {k: v for k, v in reading.items() if v is not None}
    model = DaskPerceptron(
        max_iter=max_iter, tol=None, keep=keep, rule=resolve(rule), eta0=eta0,
        fit_intercept=fit_intercept, shuffle=shuffle,
        random_state=random_state, checkpoint=checkpoint, resume=resume, verbose=verbose,
        timeout=timeout,
    )  # fmt: skip
    pieces = split(locate(place, reading.get("format")), block_bytes)
    _check(model, out, pieces, reading)
    with client() if callable(client) else nullcontext(client) as cluster:
        began = time.perf_counter()
        tables, learned = _tables(cluster, place, pieces, reading, scale, timeout, say)
        facts = _on_each(cluster, tables, _fact, timeout)
        shards, facts = _shards(cluster, pieces, tables, facts, timeout)
        read = time.perf_counter()
        with cluster.as_current():
            model.fit_shards(shards, say)
        names: tuple[str, ...] = facts[0]["names"]
        spaces: tuple[str, ...] = ()
        coef, intercept, deviations = model.coef_, model.intercept_, None
        table, scaler = learned
        if table is not None:
            names, spaces = table.names()
        if scaler is not None and table is not None:
            coef, intercept = scaler.unscaled(coef, intercept)
            deviations, table.fill = scaler.deviations(table.n_features), scaler.fill()
        linear = LinearModel(
            coef, intercept, model.classes_, names,
            {
                "max_iter": max_iter, "keep": keep, "rule": str(resolve(rule)), "eta0": eta0,
                "fit_intercept": fit_intercept, "mode": "online", "shards": len(shards),
                "shuffle": shuffle, "random_state": random_state,
            },
            facts[0]["settings"],
            training={
                "rows": shards.n_rows, "epochs": model.n_iter_, "mistakes": model.n_mistakes_,
                "updates": model.n_updates_, "stop_reasons": [model.stop_reason_],
            },
            columns=None if table is None or table.is_plain else table.to_dict(),
            namespaces=spaces, deviations=deviations,
        )  # fmt: skip
        save_model(linear, out)
        return ClusterFitted(
            linear, out, place, len(shards), shards.n_rows, model.history_, model.stop_reason_,
            sum(fact["skipped"] for fact in facts), len(cluster.nthreads()), read - began,
            time.perf_counter() - began, table,
        )  # fmt: skip


def _check(model: DaskPerceptron, out: Path, pieces: list[Piece], reading: dict[str, Any]) -> None:
    """What can be known to be wrong before there is a cluster."""
    options_of(model.get_params(deep=False))
    if model.checkpoint is None:
        saved(None, model.resume, dict)  # refuses resume alone
    for piece in pieces:
        check_output(out, {"the data file": Path(piece.url)})
    options = ReadOptions.of(reading)
    if pieces[0].format is not None:
        options.check_format(pieces[0].format, str(pieces[0]))


# ------------------------------------------------------------------- what workers do


def _learn_table(place: str, options: ReadOptions, scale: bool | None) -> Learned:
    """Read all files once: the features of their columns, means and deviations."""
    source, scaled = open_table(place, options, scale, lambda _: None)
    table: TableFeatures = source.encoder
    scaler = Standardizer(table) if scaled else None
    for rows, first_row, end in source.rows():
        if scaler is not None:
            y = np.zeros(end.rows - first_row, np.int32)
            scaler.standardized(Block(rows.X, y, None, first_row))
    table.closed = True
    return table, scaler


def _read_piece(
    piece: Piece, options: ReadOptions, learned: Learned = (None, None)
) -> Pieced | None:
    """One piece, whole; None if there are no rows in it."""
    table, scaler = learned
    if table is None:
        source = open_source(piece, options)
    else:
        source = open_source(
            piece, replace(options, kinds=table.kinds), feature_names=list(table.kinds)
        )
        source.encode_with(table)
    blocks, labels, y = [], LabelIndex(), []
    try:
        for rows, first_row, end in source.rows():
            X = rows.X if table is None or table.is_plain else as_csr(rows.X)
            block = Block(X, np.zeros(end.rows - first_row, np.int32), rows.sample_weight)
            blocks.append(block if scaler is None else scaler.standardized(block))
            typed = isinstance(rows.y, Labels) and bool(rows.y.words) and not rows.y.are_texts
            if typed:
                assert isinstance(rows.y, Labels)
                y.append(labels.encode_words(rows.y.words)[rows.y.codes])
            else:
                y.append(decoded(rows.y, labels))
    except DataError as e:
        if piece.length is not None and "has no rows" in str(e):
            return None  # a stretch within one line
        raise
    whole, settings = stack(blocks), source.settings()
    X = source.columns_from(whole.X, source.first_column)
    found: Array | Labels = np.concatenate(y)
    if len(labels):
        found = Labels(np.concatenate(y), labels.words)
    base = source.first_column if settings["format"] == "libsvm" else None
    if settings.get("zero_based") is False:
        base = 1
    return Pieced(
        X.to_scipy() if isinstance(X, Csr) else X, found, whole.sample_weight, base,
        source.format.feature_names, source.skipped.count, settings,
    )  # fmt: skip


def _wider(X: Any, width: int, shift: int) -> Any:
    """The same rows with all columns; `shift` of them come before the first."""
    if isinstance(X, np.ndarray):
        return X
    return type(X)((X.data, X.indices + X.indices.dtype.type(shift), X.indptr), (X.shape[0], width))


def _fact(table: Pieced | None) -> dict[str, Any] | None:
    if table is None:
        return None
    return {
        "width": table.X.shape[1], "base": table.base, "names": table.names,
        "skipped": table.skipped, "settings": table.settings,
        "text": _labels(table, as_texts=False).dtype.kind in "OUS",
    }  # fmt: skip


def _rows(table: Pieced, width: int, base: int | None) -> Any:
    return _wider(table.X, width, 0 if base is None or table.base is None else table.base - base)


def _labels(table: Pieced, as_texts: bool) -> Array:
    """The labels; texts in all pieces if there are texts in one."""
    if not isinstance(table.y, Labels):
        return table.y
    words = list(table.y.words)
    values = np.array(words) if as_texts else typed_labels(words, [*map(label_key, words)])
    return values[table.y.codes]


def _weight(table: Pieced) -> Array | None:
    return table.weight


# ---------------------------------------------------------------------------- plumbing


def _tables(
    client: Any,
    place: str,
    pieces: list[Piece],
    reading: dict[str, Any],
    scale: bool | None,
    timeout: float,
    say: Callable[[str], object],
) -> tuple[list[Any], Learned]:
    """All pieces read, plain if the first has only numbers, else as features found before."""
    options = ReadOptions.of({"threads": 1, **reading})
    learned: Learned = (None, None)
    if open_table(pieces[0], options, scale, say)[0].encoder is not None:
        say(f"{pieces[0]} has columns that are not numbers: looking at them first")
        look = client.submit(_learn_table, place, options, scale, pure=False)
        learned = gathered(client, [look], "columns", timeout)[0]
    return _read_all(client, pieces, options, learned, timeout), learned


def _read_all(
    client: Any,
    pieces: list[Piece],
    options: ReadOptions,
    learned: Learned,
    timeout: float,
) -> list[Any]:
    tables = [client.submit(_read_piece, piece, options, learned, pure=False) for piece in pieces]
    wait_for(client, tables, timeout)
    for piece, table in zip(pieces, tables, strict=True):
        if table.status == "error":
            error = table.exception()
            if isinstance(error, RosenblattError):
                raise error  # it names the file
            raise failed(error, str(piece))
    raise_first(tables, "piece")
    return tables


def _on_each(client: Any, tables: list[Any], function: Any, timeout: float) -> list[Any]:
    asked = [client.submit(function, table, pure=False) for table in tables]
    return gathered(client, asked, "piece", timeout)


def _shards(
    client: Any, pieces: list[Piece], tables: list[Any], facts: list[Any], timeout: float
) -> tuple[Shards, list[dict[str, Any]]]:
    there = [k for k, fact in enumerate(facts) if fact is not None]
    tables, facts, pieces = ([of[k] for k in there] for of in (tables, facts, pieces))
    if not tables:
        raise DataError("there are no rows in any file. Give at least one.")
    bases = [fact["base"] for fact in facts if fact["base"] is not None]
    base = min(bases, default=None)
    for piece, fact in zip(pieces, facts, strict=True):
        if fact["names"] != facts[0]["names"]:
            raise DataError(
                f"files have different columns: {pieces[0]} has {_some(facts[0]['names'])}, and "
                f"{piece} has {_some(fact['names'])}. Give files with the same ones."
            )
        if base is not None:
            fact["settings"]["zero_based"] = base == 0
    width = max(fact["width"] + (0 if base is None else fact["base"] - base) for fact in facts)
    X = [client.submit(_rows, table, width, base, pure=False) for table in tables]
    texts = any(fact["text"] for fact in facts)
    y = [client.submit(_labels, table, texts, pure=False) for table in tables]
    weight = [client.submit(_weight, table, pure=False) for table in tables]
    return Shards.of(X, y, weight, client, timeout=timeout), facts


def _some(names: tuple[str, ...]) -> str:
    """
    >>> _some(("a", "b")), _some(tuple("abcdefg"))
    ('a, b', 'a, b, c, d, e, ...')
    """
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "no names"
