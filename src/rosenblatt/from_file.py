"""From file to model: what `rosenblatt fit` and `rosenblatt predict` do, for Python too."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Wishes
from rosenblatt.data.columns.looking import looked_at, needs_columns
from rosenblatt.data.datasets import files_on_disk, is_dataset, name_of
from rosenblatt.data.formats import format_of
from rosenblatt.data.readers import FileChunks, read_chunks
from rosenblatt.data.reading import NotNumbers, Skipped
from rosenblatt.data.shuffle import Shuffle
from rosenblatt.data.written import check_place, replacing
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learn.keeper import Keeper
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.streaming import Nobody, Streamed, Watcher, train_file
from rosenblatt.learn.update import Update
from rosenblatt.model_file import LinearModel, load_model, save_model

Array = npt.NDArray[Any]
FIRST_BYTES = 1 << 16  # of a CSV file: columns of text mostly show there


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, where it is, and how training on the file went."""

    model: LinearModel
    out: Path
    file: Path
    file_bytes: int
    training: Streamed
    skipped: Skipped
    seconds: float
    columns: Columns | None = None

    def facts(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can hold it."""
        run = self.training
        return {
            "file": str(self.file),
            "model": str(self.out),
            "rows": run.n_rows,
            "features": self.model.n_features,
            "classes": run.classes.tolist(),
            "skipped_lines": self.skipped.count,
            "passes": run.n_passes,
            "mistakes_per_pass": run.mistakes.sum(axis=0).tolist(),
            "updates_per_pass": run.updates.sum(axis=0).tolist(),
            "progressive_error": run.progressive_error,
            "stop_reasons": [str(reason) for reason in run.reasons],
            "seconds": self.seconds,
            "seconds_per_pass": list(run.seconds),
            "compile_seconds": run.compile_seconds,
            "file_bytes": self.file_bytes,
            "cache_bytes": run.cache_bytes,
            "megabytes_per_second": self.file_bytes / 1e6 / run.seconds[0],
            "rows_per_second": run.n_rows * run.n_passes / sum(run.seconds),
            "columns": None if self.columns is None else self.columns.facts(),
        }


@dataclass(frozen=True, eq=False)
class Predicted:
    """How predicting a file went.

    `labelled` counts the rows whose label is known, and `errors` those of them that were predicted
    otherwise. If no label of the file is a class of the model, it has no labels.
    """

    file: Path
    out: Path | None
    rows: int
    labelled: int
    errors: int
    skipped: Skipped
    seconds: float

    @property
    def error(self) -> float | None:
        return self.errors / self.labelled if self.labelled else None

    def facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "file": str(self.file),
            "labels": None if self.out is None else str(self.out),
            "rows": self.rows,
            "skipped_lines": self.skipped.count,
            "labelled_rows": self.labelled,
            "errors": self.errors,
            "error": self.error,
            "seconds": self.seconds,
        }


def fit_file(
    file: Any,
    out: str | Path,
    *,
    passes: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    columns: str = "auto",
    scaling: str | None = None,
    max_categories: int | None = None,
    hash_bits: int | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Sequence[str] | None = None,
    shuffle_seed: int | None = None,
    shuffle_window: int | None = None,
    checkpoint: str | Path | None = None,
    every: str | float | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    **reading: Any,
) -> Fitted:
    """Train on a file without holding it, and write the model.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=passes, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on the whole file; on its
    columns made numbers, where they are not (docs/columns.md).

    Parameters
    ----------
    file : the rows and labels: LIBSVM, VW text, CSV or Parquet; or a folder of CSV or Parquet
        files; or a dataset of pyarrow
    out : where the model goes; with more than one pass, a cache lies in the same folder meanwhile
    passes : most passes over the file; fewer if one moves nothing, or the weights come back
    keep : "average" (the mean of the weights after every visit) or "last"
    rule : a name such as "arow", with parameters if need be, "arow(r=0.1)", or an object; those
        that need no more than a few numbers for each feature
    eta0 : the learning rate, of rules that have one
    fit_intercept : learn an offset
    columns : "plain": the columns of CSV and Parquet are numbers. "raw": a first pass over the file
        learns how to make numbers of them. "auto": plain, unless something is no number (with
        ``on_error="skip"``: unless a column of the first block has no number at all) or one of the
        next five is given, or `where` for CSV.
    scaling, max_categories, hash_bits, kinds : as for :func:`rosenblatt.learn_columns`
    missing : marks of missing values besides the usual ones; see :func:`rosenblatt.read_chunks`
    shuffle_seed : draws the order of visits, in every pass another (docs/out_of_core.md). The
        rows are all cached first, as for more than one pass. The same seed gives the same weights.
    shuffle_window : with a seed, mix so many chunks at a time, in the order of the file
    checkpoint : folder in which the run is saved every now and then (docs/checkpoints.md). Ctrl-C
        and SIGTERM then save and raise :class:`rosenblatt.learn.stopping.Interrupted`.
    every : how often: "30s" (if left out), "5m", "1000000rows"; a number is seconds
    resume : go on from the newest checkpoint; from the beginning if there is none
    watcher : is told how it goes
    reading : settings of :func:`rosenblatt.read_chunks`

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> size = (folder / "train.svm").write_text("+1 1:2 2:1\\n-1 2:1\\n+1 1:3\\n")
    >>> done = fit_file(folder / "train.svm", folder / "model.safetensors", passes=9, keep="last")
    >>> done.training.mistakes.tolist(), load_model(folder / "model.safetensors").coef
    ([[2, 1, 0]], array([[ 2., -1.]]))
    """
    began, out = time.perf_counter(), Path(out)
    file, place = _opened(file, reading), name_of(file)
    options, training = training_asked(passes, keep, rule, eta0, fit_intercept)
    shuffle = Shuffle.asked(shuffle_seed, shuffle_window)
    for path in files_on_disk(file) if is_dataset(file) else [file]:
        check_place(out, {"the data file": path})
    watcher = watcher or Nobody()
    asked: dict[str, Any] = {
        "scaling": scaling, "max_categories": max_categories, "hash_bits": hash_bits,
        "kinds": None if not kinds else dict(kinds),
    }  # fmt: skip
    wishes = Wishes(**{k: v for k, v in asked.items() if v is not None})
    if missing:
        reading["missing"] = tuple(missing)
    if shuffle is not None:
        options |= {"shuffle_seed": shuffle_seed, "shuffle_window": shuffle_window}
        asked["chunk_bytes"] = reading.get("chunk_bytes")  # blocks must be the same to resume
    with _keeper(checkpoint, every, resume, {**options, **asked}, file, watcher) as keeper:
        run, source = _trained(
            file,
            decided(columns, wishes, reading, file),
            reading,
            wishes,
            keeper,
            scratch=out.parent,
            shuffle=shuffle,
            watcher=watcher,
            **training,
        )
        model = model_of(run, source.feature_names, options, source)
        save_model(model, out)
        if keeper is not None:
            keeper.finish()
    seconds = time.perf_counter() - began
    learned: Columns | None = getattr(source.format, "columns", None)
    return Fitted(model, out, place, source.size, run, source.skipped, seconds, learned)


def training_asked(
    passes: int, keep: str, rule: str | Rule, eta0: float, fit_intercept: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was asked for, as a model file has it, and as `train_stream` takes it."""
    if passes < 1:
        raise ParameterError(f"passes must be at least 1, got {passes}.")
    if keep not in ("average", "last"):
        raise ParameterError(f"keep must be 'average' or 'last' for a file, got {keep!r}.")
    if not 0 < eta0 < np.inf:
        raise ParameterError(f"eta0 must be a finite number > 0, got {eta0!r}.")
    rule = resolve(rule)
    if eta0 != 1 and not rule.has_rate:
        raise ParameterError(
            f"rule={rule.name!r} finds the size of its steps itself, got eta0={eta0!r}. Leave eta0 "
            "out."
        )
    options = {
        "passes": passes, "keep": keep, "rule": str(rule), "eta0": eta0,
        "fit_intercept": fit_intercept,
    }  # fmt: skip
    update = Update(rule=rule, eta0=eta0, fit_intercept=fit_intercept)
    return options, {"passes": passes, "keep": keep, "update": update}


def model_of(
    run: Streamed,
    feature_names: tuple[str, ...],
    options: Mapping[str, Any],
    source: FileChunks | None = None,
    columns: Columns | None = None,
) -> LinearModel:
    """The model that training gave; with how its file was read, or its columns, if it had any."""
    if source is not None:
        columns = getattr(source.format, "columns", None)
    return LinearModel(
        run.coef,
        run.intercept,
        run.classes,
        feature_names,
        options,
        {} if source is None else settings_of(source),
        training=_summary(run),
        columns=None if columns is None else columns.to_json(),
    )


def _opened(file: Any, reading: dict[str, Any]) -> Any:
    """A path, or a dataset of pyarrow, which is read as if it were Parquet."""
    if not is_dataset(file):
        return Path(file)
    reading["format"] = reading.get("format") or "parquet"
    return file


def decided(columns: str, wishes: Wishes, reading: Mapping[str, Any], file: Any) -> str:
    """plain, raw, or auto: to be seen."""
    if columns not in ("auto", "raw", "plain"):
        raise ParameterError(f"columns must be 'auto', 'raw' or 'plain', got {columns!r}.")
    asked = wishes != Wishes() or "missing" in reading
    if reading.get("where") is not None and not asked:
        asked = (reading.get("format") or format_of(file)) == "csv"
    if asked and columns == "plain":
        raise ParameterError(
            "columns='plain' leaves the columns as they are: leave out what is asked of them."
        )
    return "raw" if asked else columns


def _trained(
    file: Any,
    columns: str,
    reading: dict[str, Any],
    wishes: Wishes,
    keeper: Keeper | None,
    *,
    watcher: Watcher,
    **training: Any,
) -> tuple[Streamed, FileChunks]:
    """Plain if that goes, else with columns that are learned in a pass before."""
    if columns == "auto" and reading.get("on_error") == "skip":
        # lines are left out rather than refused, so nothing would say that a column is text
        columns = "raw" if needs_columns(file, **reading) else "plain"
    if columns == "auto" and keeper is not None and keeper.had_columns:
        columns = "raw"  # as was found out before
    if columns != "raw":
        try:
            if columns == "auto" and (keeper is None or keeper.saved is None):
                _look_at_first_lines(file, reading)
            source = read_chunks(file, progress=watcher.progress, **reading)
            return train_file(source, watcher=watcher, keeper=keeper, **training)
        except NotNumbers as e:
            if columns == "plain":
                raise
            if keeper is not None and keeper.source is not None:
                keeper.begin_again()
            watcher.say(f"{str(e).partition('. ')[0]}: looking at the columns first")
    watcher.begin(0)
    source = read_chunks(file, progress=watcher.progress, **{**reading, "columns": "raw"})
    source = looked_at(source, wishes)
    for remark in source.format.columns.remarks:  # type: ignore[attr-defined]  # a raw format
        watcher.say(remark)
    return train_file(source, watcher=watcher, keeper=keeper, **training)


def _look_at_first_lines(file: Any, reading: dict[str, Any]) -> None:
    """`NotNumbers` soon, if it comes at all: of CSV, a whole block is looked at cell by cell."""
    few = min(FIRST_BYTES, reading.get("chunk_bytes", FIRST_BYTES))
    if (reading.get("format") or format_of(file)) == "csv" and (file.is_file() or file.is_dir()):
        next(iter(read_chunks(file, **{**reading, "chunk_bytes": few}).plain))


def _keeper(
    checkpoint: str | Path | None,
    every: str | float | None,
    resume: bool,
    options: dict[str, Any],
    file: Any,
    watcher: Watcher,
) -> AbstractContextManager[Keeper | None]:
    if checkpoint is not None and is_dataset(file):
        raise ParameterError(
            "a checkpoint must know its files again, which a dataset of pyarrow does not allow. "
            "Give the folder of its files, with where if need be, or leave checkpoint out."
        )
    if checkpoint is not None:
        every = "30s" if every is None else every
        return Keeper(Path(checkpoint), every, resume, options, file, watcher.say)
    if resume or every is not None:
        given = "resume" if resume else "every"
        raise ParameterError(f"{given} needs checkpoint, the folder where checkpoints are.")
    return nullcontext()


def predict_file(
    model: str | Path,
    file: Any,
    out: str | Path | BinaryIO | None = None,
    *,
    scores: bool = False,
    watcher: Watcher | None = None,
    **reading: Any,
) -> Predicted:
    """Label the rows of a file, chunk by chunk; count the errors if it has labels.

    Parameters
    ----------
    model : what :func:`fit_file` wrote
    file : rows of the same features (a path or a dataset of pyarrow), read as the file of the model
        was where that is not said
    out : where the labels go, one a line: a name, or a file that is open; None: nowhere
    scores : write a table instead, with a line of names and tabs between: the label and the score
        w.x + b, which is >= 0 for the second class; of more than two classes, one score a class
    watcher : is told how it goes
    reading : settings of :func:`rosenblatt.read_chunks`

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> size = (folder / "train.svm").write_text("+1 1:2 2:1\\n-1 2:1\\n+1 1:3\\n")
    >>> done = fit_file(folder / "train.svm", folder / "model", passes=9, keep="last")
    >>> told = predict_file(
    ...     folder / "model", folder / "train.svm", folder / "labels.tsv", scores=True
    ... )
    >>> told.error, (folder / "labels.tsv").read_text().splitlines()
    (0.0, ['label\\tscore', '1\\t2.0', '-1\\t-2.0', '1\\t5.0'])
    """
    began, held = time.perf_counter(), load_model(model)
    file, place = _opened(file, reading), name_of(file)
    out = Path(out) if isinstance(out, str) else out
    if scores and out is None:
        raise ParameterError(
            "scores are written to `out` (--out). Say where; --out - is standard output."
        )
    if isinstance(out, Path):
        for path in files_on_disk(file) if is_dataset(file) else [file]:
            check_place(out, {"the data file": path})
        check_place(out, {"the model": Path(model)})
    watcher = watcher or Nobody()
    source = read_chunks(file, progress=watcher.progress, **_same_reading(held, place, reading))
    watcher.begin(1)
    with replacing(out) if isinstance(out, Path) else nullcontext(out) as labels:
        counts = _labelled(held, source, labels, scores)
    where = out if isinstance(out, Path) or out is None else Path("-")
    return Predicted(place, where, *counts, source.skipped, time.perf_counter() - began)


def _labelled(
    model: LinearModel, source: FileChunks, out: BinaryIO | None, with_scores: bool
) -> tuple[int, int, int]:
    """How many rows there are, how many have a label, how many of these were predicted wrongly."""
    rows, labelled, errors, known = 0, 0, 0, False
    texts = np.array([written(label) for label in model.classes.tolist()], dtype=object)
    if out is not None and with_scores:
        names = [f"score:{text}" for text in texts] if len(texts) > 2 else ["score"]
        out.write(("\t".join(["label", *names]) + "\n").encode())
    for X, y, _ in source:
        if source.feature_names and model.feature_names not in ((), source.feature_names):
            raise DataError(
                f"the columns of {source.path} are not those of the model: "
                f"{_first_difference(source.feature_names, model.feature_names)}. Give the same "
                "columns in the same order."
            )
        scores = model.scores(X)
        predicted = model.decided(scores)
        rows += len(predicted)
        there = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
        labelled += int(there.sum())
        errors += int((predicted != y)[there].sum())
        known = known or bool(np.isin(y, model.classes).any())
        if out is not None:
            lines = texts[np.searchsorted(model.classes, predicted)]
            told = _with_scores(lines, scores) if with_scores else lines.tolist()
            out.write(("\n".join(told) + "\n").encode())
    return (rows, labelled, errors) if known else (rows, 0, 0)


def _with_scores(labels: Array, scores: Array) -> list[str]:
    """Lines of a table; every number as short as it can be read back to the bit."""
    rows = scores.reshape(len(labels), -1).tolist()
    return ["\t".join([label, *map(repr, row)]) for label, row in zip(labels, rows, strict=True)]


def written(label: Any) -> str:
    """A label as a line of text: 1.0 as 1."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def _first_difference(found: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    pairs = zip(chain(found, [None]), chain(wanted, [None]), strict=False)
    for k, (one, other) in enumerate(pairs):
        if one != other:
            return f"column {k} is {one!r}, the model has {other!r}"
    return f"there are {len(found)}, the model has {len(wanted)}"


def _summary(run: Streamed) -> dict[str, Any]:
    """What training did, for the model file. No times: the same run gives the same file."""
    return {
        "rows": run.n_rows,
        "passes": run.n_passes,
        "mistakes": int(run.mistakes.sum()),
        "updates": int(run.updates.sum()),
        "progressive_error": run.progressive_error,
        "stop_reasons": [str(reason) for reason in run.reasons],
    }


def settings_of(source: FileChunks) -> dict[str, Any]:
    """How the file was read, with what had to be found out."""
    name = type(source.format).__name__.lower().removesuffix("text").removeprefix("raw")
    name = name.replace("arrowdataset", "parquet")
    format: Any = source.format
    held = {f.name: getattr(format, f.name) for f in fields(format)}
    held = {
        k: v for k, v in held.items() if v is not None and k not in ("columns", "kinds", "where")
    }
    for key in ("dropped", "dataset"):
        held.pop(key, None)
    if "missing" in held:
        held["missing"] = list(held["missing"])
    held.pop("n_features", None)
    if name == "libsvm":
        held["zero_based"] = source.counts_from_zero
    return {"format": name, **held}


def _same_reading(model: LinearModel, file: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Settings of the file of the model, where they apply to this one and no others are given."""
    given = {k: v for k, v in given.items() if v is not None}
    name = given.get("format") or format_of(file)
    was = {k: v for k, v in model.reader.items() if k not in ("format", "delimiter", "labels")}
    trained = model.reader.get("format")
    if trained and (trained == "vw") != (name == "vw"):
        raise DataError(
            f"the model was trained on {trained}, and {file} is read as {name}: features of VW "
            "text are hashed, so those of one are not those of the other. Give the same format."
        )
    if name != model.reader.get("format"):
        was = {"target": was["target"]} if "target" in was and name in ("csv", "parquet") else {}
    if model.columns is not None:
        was["columns"] = _columns(model, file, name)
    elif name in ("csv", "parquet") and "target" not in given:
        was["n_features"] = model.n_features  # as many columns: no labels
    if name == "csv":
        kinds = {"U": "text", "i": "integers", "u": "integers", "f": "numbers"}
        was["labels"] = kinds.get(model.classes.dtype.kind)
    return {**was, **given}


def _columns(model: LinearModel, file: Path, name: str) -> Columns:
    """What the model does to raw columns, if the file has any."""
    columns = Columns.from_json(model.columns)
    if columns.width != model.n_features:
        raise DataError(
            f"the columns of the model make {columns.width} features, and it has weights for "
            f"{model.n_features}. Make it anew."
        )
    if name not in ("csv", "parquet"):
        raise DataError(
            f"the model was trained on columns, and {file} is read as {name}. Give CSV or Parquet."
        )
    return columns
