"""Label the rows of a file with a model."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.features.feature_index import closed_index
from rosenblatt.io.atomic import check_output, replace_file
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.file_source import FileSource, identify, open_source
from rosenblatt.io.formats import FORMATS
from rosenblatt.io.location import STANDARD_INPUT
from rosenblatt.io.progress import Watcher
from rosenblatt.io.text_format import ReadOptions
from rosenblatt.model.linear_model import LinearModel
from rosenblatt.model.model_file import load_model
from rosenblatt.stream.fit import local_files
from rosenblatt.text import spelled

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PredictResult:
    """How predicting a file went.

    Attributes
    ----------
    file : str
        What was read.
    out : Path or None
        Where the labels were written.
    rows : int
    labelled : int
        Rows whose label is known. If no label of the file is a class of the model, it has no
        labels.
    errors : int
        Labelled rows that were predicted wrongly.
    skipped : SkippedLines
        Malformed lines that were left out.
    seconds : float
    """

    file: str
    out: Path | None
    rows: int
    labelled: int
    errors: int
    skipped: SkippedLines
    seconds: float

    @property
    def error(self) -> float | None:
        return self.errors / self.labelled if self.labelled else None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts in types that JSON has."""
        return {
            "file": self.file,
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
        Where the labels go: one CSV field per line, in quotes where a label has a quote, a comma, a
        tab or a line break.
    scores : bool
        Write a table instead, with a header and tabs between the fields: the label and the score
        w.x + b, which is >= 0 for the second class; with more than two classes, one score per
        class.
    watcher : Watcher or None
        Receives progress and messages.
    **reading
        Settings of :func:`rosenblatt.read_chunks`.

    Returns
    -------
    PredictResult
        Number of rows and, if the file has labels, of errors.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from rosenblatt import fit_file
    >>> folder = Path(mkdtemp())
    >>> size = (folder / "train.svm").write_text("+1 1:2 2:1\\n-1 2:1\\n+1 1:3\\n")
    >>> done = fit_file(folder / "train.svm", folder / "model", max_iter=9, keep="last")
    >>> told = predict_file(
    ...     folder / "model", folder / "train.svm", folder / "labels.tsv", scores=True
    ... )
    >>> told.error, (folder / "labels.tsv").read_text().splitlines()
    (0.0, ['label\\tscore', '1\\t2.0', '-1\\t-2.0', '1\\t5.0'])
    """
    began, held = time.perf_counter(), load_model(model)
    out = Path(out) if isinstance(out, str) else out
    if scores and out is None:
        raise ParameterError(
            "scores are written to `out` (--out). Say where; --out - is standard output."
        )
    if isinstance(out, Path):
        for path in local_files(file):
            check_output(out, {"the data file": path})
        check_output(out, {"the model": Path(model)})
    watcher = watcher or Watcher()
    reading.setdefault("progress", watcher.progress)
    source = _opened(held, file, reading)
    watcher.begin(1)
    with replace_file(out) if isinstance(out, Path) else nullcontext(out) as labels:
        counts = _labelled(held, source, labels, scores)
    where = out if isinstance(out, Path) or out is None else Path(STANDARD_INPUT)
    seconds = time.perf_counter() - began
    return PredictResult(source.place, where, *counts, source.skipped, seconds)


def _labelled(
    model: LinearModel, source: FileSource, out: BinaryIO | None, with_scores: bool
) -> tuple[int, int, int]:
    """How many rows there are, how many have a label, how many of these were predicted wrongly."""
    rows, labelled, errors, known = 0, 0, 0, False
    texts = np.array([csv_field(spelled(label)) for label in model.classes.tolist()], dtype=object)
    if out is not None and with_scores:
        labels = map(spelled, model.classes.tolist())
        names = [csv_field(f"score:{text}") for text in labels] if len(texts) > 2 else ["score"]
        out.write(("\t".join(["label", *names]) + "\n").encode())
    for X, y, _ in source.settled_rows():
        scores = model.decision_function(X)
        predicted = _core.decide(scores.reshape(len(scores), -1))
        numbers = y.numbers_of(model.classes)
        rows += len(predicted)
        labelled += int(np.count_nonzero(numbers >= 0))
        errors += int(np.count_nonzero((predicted != numbers) & (numbers >= 0)))
        known = known or bool(((numbers >= 0) & (numbers < len(model.classes))).any())
        if out is not None:
            lines = texts[predicted]
            told = _with_scores(lines, scores) if with_scores else lines.tolist()
            out.write(("\n".join(told) + "\n").encode())
    return (rows, labelled, errors) if known else (rows, 0, 0)


def _with_scores(labels: Array, scores: Array) -> list[str]:
    """Lines of a table; every number as short as it can be read back to the bit."""
    rows = scores.reshape(len(labels), -1).tolist()
    return ["\t".join([label, *map(repr, row)]) for label, row in zip(labels, rows, strict=True)]


def csv_field(text: str) -> str:
    """A text as one field of CSV or TSV, in quotes where they are needed.

    >>> print(csv_field("plain"), csv_field('5" disc'), csv_field("a,b"), csv_field(""))
    plain "5"" disc" "a,b" ""
    """
    if text and not any(c in text for c in '",\t\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _opened(model: LinearModel, file: Any, given: dict[str, Any]) -> FileSource:
    """The file, read as that of the model where nothing else is said."""
    given = {k: v for k, v in given.items() if v is not None}
    options = ReadOptions.of(given)
    found = identify(file, options.format)
    name, trained, was = found.format, model.reader.get("format"), dict(model.reader)
    if trained and (trained == "vw") != (name == "vw"):
        raise DataError(
            f"the model was trained on {trained}, and {file} is read as {name}: features of VW "
            "text have names or are hashed, so those of one are not those of the other. Give the "
            "same format."
        )
    if model.columns is not None and not FORMATS[name].is_table:
        raise DataError(
            f"the model was trained on columns, and {file} is read as {name}. Give CSV or Parquet."
        )
    if name != trained:
        was = {"target": was["target"]} if "target" in was else {}
    was.pop("delimiter", None)
    kept = {k: v for k, v in was.items() if k in FORMATS[name].settings and k not in given}
    options = replace(options, optional_label="target" not in given, **kept)
    if model.table is not None:
        options = replace(options, kinds=model.table.kinds)
        source = open_source(found, options, feature_names=list(model.table.kinds))
        source.format.encoder = model.table
        return source
    if FORMATS[name].is_table:
        return open_source(found, options, feature_names=list(model.feature_names) or None)
    features = None
    if name == "vw" and model.feature_names:
        features = closed_index(model.feature_names, model.namespaces)
    elif model.large_indices is not None:
        features = closed_index(list(map(str, model.large_indices.tolist())))
    return open_source(found, options, features=features)
