"""From files to a model on a cluster: what `rosenblatt fit DIRECTORY --workers N` does.

Every piece is read by one worker, once, with the readers of one machine, and stays in its memory.
What one file cannot know (how wide the others are, whether an index 0 comes in one of them, what
labels there are) is settled when all are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Wishes
from rosenblatt.data.columns.looking import columns_of_file
from rosenblatt.data.readers import all_chunks, all_weights, read_chunks
from rosenblatt.data.reading import NotNumbers
from rosenblatt.data.written import check_place
from rosenblatt.errors import DataError, RosenblattError
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.model_file import LinearModel, save_model
from rosenblatt.scale.asked import options_of
from rosenblatt.scale.dask import DaskPerceptron
from rosenblatt.scale.listed import BLOCK_BYTES, Piece, listed
from rosenblatt.scale.rounds import Round
from rosenblatt.scale.saved import saved
from rosenblatt.scale.shards import Shards
from rosenblatt.scale.waiting import (
    PATIENCE,
    client_or_default,
    failed,
    gathered,
    raise_first,
    wait_for,
)
from rosenblatt.stream.fit import columns_mode, reader_settings

Array = npt.NDArray[Any]


class Pieced(NamedTuple):
    """What was read of one piece. `base`: what LIBSVM indices seemed to count from, or None."""

    X: Any
    y: Array
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
    columns: Columns | None = None

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
            "columns": None if self.columns is None else self.columns.facts(),
        }


def fit_files(
    place: str,
    out: str | Path,
    *,
    client: Any = None,
    rounds: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    shuffle_seed: int | None = None,
    columns: str = "auto",
    wishes: Wishes | None = None,
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
    rounds : most rounds
    keep, rule, eta0, fit_intercept : as :class:`rosenblatt.scale.dask.DaskPerceptron` has them
    shuffle_seed : visit the rows of every shard in an order drawn from it; None: as they stand
    columns : "plain" (numbers), "raw" (any kind; of a folder that all can read) or "auto"
    wishes : how raw columns are to be learned
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
    wishes = wishes or Wishes()
    model = DaskPerceptron(
        max_iter=rounds, tol=None, keep=keep, rule=resolve(rule), eta0=eta0,
        fit_intercept=fit_intercept, shuffle=shuffle_seed is not None,
        random_state=shuffle_seed or 0, checkpoint=checkpoint, resume=resume, verbose=verbose,
        timeout=timeout,
    )  # fmt: skip
    pieces = listed(place, reading.get("format"), block_bytes)
    columns = columns_mode(columns, wishes, {**reading, "format": pieces[0].format}, Path(place))
    _check(model, out, pieces, reading, columns)
    with client() if callable(client) else nullcontext(client) as cluster:
        began = time.perf_counter()
        tables, learned = _tables(cluster, place, pieces, reading, columns, wishes, timeout, say)
        facts = _on_each(cluster, tables, _fact, timeout)
        shards, facts = _shards(cluster, pieces, tables, facts, timeout)
        read = time.perf_counter()
        with cluster.as_current():
            model.fit_shards(shards, say)
        names = facts[0]["names"] if learned is None else learned.feature_names
        linear = LinearModel(
            model.coef_, model.intercept_, model.classes_, names,
            {
                "rounds": rounds, "keep": keep, "rule": str(resolve(rule)), "eta0": eta0,
                "fit_intercept": fit_intercept, "method": "mix", "shards": len(shards),
                "shuffle_seed": shuffle_seed,
            },
            facts[0]["settings"],
            training={
                "rows": shards.n_rows, "passes": model.n_iter_, "mistakes": model.n_mistakes_,
                "updates": model.n_updates_, "stop_reasons": [model.stop_reason_],
            },
            columns=None if learned is None else learned.to_json(),
        )  # fmt: skip
        save_model(linear, out)
        return ClusterFitted(
            linear, out, place, len(shards), shards.n_rows, model.history_, model.stop_reason_,
            sum(fact["skipped"] for fact in facts), len(cluster.nthreads()), read - began,
            time.perf_counter() - began, learned,
        )  # fmt: skip


def _check(
    model: DaskPerceptron, out: Path, pieces: list[Piece], reading: dict[str, Any], columns: str
) -> None:
    """What can be known to be wrong before there is a cluster."""
    options_of(model.get_params(deep=False))
    if model.checkpoint is None:
        saved(None, model.resume, dict)  # refuses resume alone
    for piece in pieces:
        check_place(out, {"the data file": Path(piece.url)})
    if pieces[0].format is not None:
        raw = {"columns": "raw"} if columns == "raw" else {}
        read_chunks(pieces[0].url, **{**reading, "format": pieces[0].format, **raw})


# ------------------------------------------------------------------- what workers do


def _read_piece(piece: Piece, reading: Mapping[str, Any]) -> Pieced | None:
    """One piece, whole; None if there are no rows in it."""
    with piece.here() as path:
        settings = {"threads": 1, **reading}
        settings["format"] = settings.get("format") or piece.format
        source = read_chunks(path, **settings)
        try:
            chunks, source = all_chunks(source)
        except DataError as e:
            part = piece.length is not None or settings.get("where")
            if part and "has no rows" in str(e):
                return None  # a stretch within one line, or a file without a row asked for
            raise _at(e, path, piece) from e
        y = np.concatenate([chunk.y for chunk in chunks])
        held = reader_settings(source)
        zero = held.get("zero_based")
        base = None if held["format"] != "libsvm" else 0 if zero else 1
        return Pieced(
            _whole([chunk.X for chunk in chunks]), y, all_weights(chunks), base,
            source.feature_names, source.skipped.count, held,
        )  # fmt: skip


def _at(error: DataError, path: Path, piece: Piece) -> DataError:
    """The error with the place where the rows really are."""
    made = type(error)(str(error).replace(str(path), str(piece)))
    made.__cause__ = error.__cause__
    return made


def _whole(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import scipy.sparse as sp

    width = max(part.shape[1] for part in parts)
    return sp.vstack([_wider(part, width, 0) for part in parts], format="csr")


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
        "skipped": table.skipped, "settings": table.settings, "text": table.y.dtype.kind in "OUS",
    }  # fmt: skip


def _rows(table: Pieced, width: int, base: int | None) -> Any:
    return _wider(table.X, width, 0 if base is None or table.base is None else table.base - base)


def _labels(table: Pieced) -> Array:
    return table.y


def _weight(table: Pieced) -> Array | None:
    return table.weight


# ---------------------------------------------------------------------------- plumbing


def _tables(
    client: Any,
    place: str,
    pieces: list[Piece],
    reading: dict[str, Any],
    columns: str,
    wishes: Wishes,
    timeout: float,
    say: Callable[[str], object],
) -> tuple[list[Any], Columns | None]:
    """All pieces read, plain if that goes, else with columns that one worker looks at before."""
    if columns != "raw":
        try:
            return _read_all(client, pieces, reading, timeout), None
        except NotNumbers as e:
            if columns == "plain":
                raise
            say(f"{str(e).partition('. ')[0]}: looking at the columns first")
    look = client.submit(
        columns_of_file, Path(place), scaling=wishes.scaling,
        max_categories=wishes.max_categories, hash_bits=wishes.hash_bits, kinds=wishes.kinds,
        **reading, pure=False,
    )  # fmt: skip
    learned: Columns = gathered(client, [look], "columns", timeout)[0]
    for remark in learned.remarks:
        say(remark)
    return _read_all(client, pieces, {**reading, "columns": learned}, timeout), learned


def _read_all(
    client: Any, pieces: list[Piece], reading: dict[str, Any], timeout: float
) -> list[Any]:
    tables = _read_once(client, pieces, reading, timeout)
    if len(tables) > 1 and "labels" not in reading and pieces[0].format == "csv":
        facts = [f for f in _on_each(client, tables, _fact, timeout) if f is not None]
        if len({fact["text"] for fact in facts}) > 1:  # numbers in one file, text in another
            return _read_once(client, pieces, {**reading, "labels": "text"}, timeout)
    return tables


def _read_once(
    client: Any, pieces: list[Piece], reading: dict[str, Any], timeout: float
) -> list[Any]:
    tables = [client.submit(_read_piece, piece, reading, pure=False) for piece in pieces]
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
    y = [client.submit(_labels, table, pure=False) for table in tables]
    weight = [client.submit(_weight, table, pure=False) for table in tables]
    return Shards.of(X, y, weight, client, timeout=timeout), facts


def _some(names: tuple[str, ...]) -> str:
    """
    >>> _some(("a", "b")), _some(tuple("abcdefg"))
    ('a, b', 'a, b, c, d, e, ...')
    """
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "no names"
