"""Label the rows of a file with a model."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rosenblatt.data.datasets import files_on_disk, is_dataset, name_of
from rosenblatt.data.file_source import block_rows
from rosenblatt.data.formats import format_of
from rosenblatt.data.readers import FileChunks, read_chunks
from rosenblatt.data.reading import Skipped
from rosenblatt.data.written import check_place, replacing
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.model_file import LinearModel, load_model
from rosenblatt.stream.fit import opened
from rosenblatt.stream.train import Silent, Watcher

if TYPE_CHECKING:  # pyarrow is for raw columns
    from rosenblatt.data.columns.frozen import Columns

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PredictResult:
    """How predicting a file went.

    Attributes
    ----------
    file : Path
    out : Path or None
        Where the labels were written.
    rows : int
    labelled : int
        Rows whose label is known. If no label of the file is a class of the model, it has no
        labels.
    errors : int
        Labelled rows that were predicted wrongly.
    skipped : Skipped
        Malformed lines that were left out.
    seconds : float
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

    def to_dict(self) -> dict[str, Any]:
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


def predict_file(
    model: str | Path,
    file: Any,
    out: str | Path | BinaryIO | None = None,
    *,
    scores: bool = False,
    watcher: Watcher | None = None,
    **reading: Any,
) -> PredictResult:
    """Label the rows of a file, chunk by chunk; count the errors if it has labels.

    Parameters
    ----------
    model : str or Path
        What :func:`fit_file` or :func:`save_model` wrote.
    file : str, Path or pyarrow dataset
        Rows of the same features, read as the file of the model was where that is not said.
    out : str, Path, open file or None
        Where the labels go, one per line.
    scores : bool
        Write a table instead, with a header and tabs: the label and the score w.x + b, which is
        >= 0 for the second class; with more than two classes, one score per class.
    watcher : Watcher or None
        Receives progress and messages.
    **reading
        Settings of :func:`rosenblatt.read_chunks`.

    Returns
    -------
    PredictResult

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from rosenblatt import fit_file
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
    file, place = opened(file, reading), name_of(file)
    out = Path(out) if isinstance(out, str) else out
    if scores and out is None:
        raise ParameterError(
            "scores are written to `out` (--out). Say where; --out - is standard output."
        )
    if isinstance(out, Path):
        for path in files_on_disk(file) if is_dataset(file) else [file]:
            check_place(out, {"the data file": path})
        check_place(out, {"the model": Path(model)})
    watcher = watcher or Silent()
    source = read_chunks(file, progress=watcher.progress, **_same_reading(held, place, reading))
    watcher.begin(1)
    with replacing(out) if isinstance(out, Path) else nullcontext(out) as labels:
        counts = _labelled(held, source, labels, scores)
    where = out if isinstance(out, Path) or out is None else Path("-")
    return PredictResult(place, where, *counts, source.skipped, time.perf_counter() - began)


def _labelled(
    model: LinearModel, source: FileChunks, out: BinaryIO | None, with_scores: bool
) -> tuple[int, int, int]:
    """How many rows there are, how many have a label, how many of these were predicted wrongly."""
    rows, labelled, errors, known = 0, 0, 0, False
    texts = np.array([written(label) for label in model.classes.tolist()], dtype=object)
    if out is not None and with_scores:
        names = [f"score:{text}" for text in texts] if len(texts) > 2 else ["score"]
        out.write(("\t".join(["label", *names]) + "\n").encode())
    for X, y, _ in source.plain:
        if source.feature_names and model.feature_names not in ((), source.feature_names):
            raise DataError(
                f"the columns of {source.path} are not those of the model: "
                f"{_first_difference(source.feature_names, model.feature_names)}. Give the same "
                "columns in the same order."
            )
        scores = model.scores(block_rows(X))
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
    from rosenblatt.data.columns.frozen import Columns

    columns = Columns.from_json(model.columns)
    if columns.width != model.n_features:
        raise DataError(
            f"the columns of the model make {columns.width} features, and it has weights for "
            f"{model.n_features}. Train it again."
        )
    if name not in ("csv", "parquet"):
        raise DataError(
            f"the model was trained on columns, and {file} is read as {name}. Give CSV or Parquet."
        )
    return columns
