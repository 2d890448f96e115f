"""Train on a file or on a stream of chunks, without holding all rows in memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import FeatureIndex
from rosenblatt.data.labels import as_labels, sorted_classes
from rosenblatt.data.source import ChunkSource, LabelIndex
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.atomic import check_output
from rosenblatt.io.file_source import FileSource, open_source
from rosenblatt.io.location import is_pipe, is_url
from rosenblatt.io.parquet import dataset_files, is_dataset
from rosenblatt.io.progress import Watcher
from rosenblatt.io.reader import FileChunks
from rosenblatt.io.text_format import ReadOptions, is_whole
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.settings import CHECKS, TrainingSettings, check_params
from rosenblatt.model.model_file import save_model
from rosenblatt.stream.checkpoint import CheckpointObserver, check_folder
from rosenblatt.stream.fit_result import FitResult, fit_result
from rosenblatt.stream.table_chunks import TableChunks
from rosenblatt.stream.train import train
from rosenblatt.text import printable, repeated

Array = npt.NDArray[Any]
EVERY = 30.0  # seconds between checkpoints


def settings_for(
    max_iter: int,
    keep: str,
    rule: str | Rule,
    eta0: float,
    fit_intercept: bool,
    shuffle: bool,
    random_state: int,
) -> tuple[dict[str, Any], TrainingSettings]:
    """What was asked for, checked: as a model file has it, and as the engine takes it."""
    rule = resolve(rule)
    options: dict[str, Any] = {
        "max_iter": max_iter, "keep": keep, "rule": str(rule), "eta0": eta0,
        "fit_intercept": fit_intercept,
    }  # fmt: skip
    check_params(options, {name: CHECKS[name] for name in ("max_iter", "fit_intercept")}, "fit")
    if keep not in ("average", "last"):
        raise ParameterError(f"keep must be 'average' or 'last' for a file, got {keep!r}.")
    if not 0 < eta0 < np.inf:
        raise ParameterError(f"eta0 must be a finite number > 0, got {eta0!r}.")
    if eta0 != 1 and not rule.has_rate:
        raise ParameterError(
            f"rule={rule.name!r} finds the size of its steps itself, got eta0={eta0!r}. Leave eta0 "
            "out."
        )
    if shuffle:
        if not (is_whole(random_state) and 0 <= random_state < 2**32):
            raise ParameterError(
                "random_state must be a whole number from 0 to 4,294,967,295, got "
                f"{random_state!r}."
            )
        options |= {"shuffle": True, "random_state": int(random_state)}
    settings = TrainingSettings(
        rule=rule, eta0=float(eta0), fit_intercept=fit_intercept, max_iter=max_iter,
        keep="last" if keep == "last" else "average",
    )  # fmt: skip
    settings.check_source(resident=False)
    return options, settings


# ------------------------------------------------------------------------------------- files


def fit_file(
    file: Any,
    out: str | Path,
    *,
    max_iter: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    scale: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Sequence[str] | None = None,
    shuffle: bool = False,
    random_state: int = 0,
    checkpoint: str | Path | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    **reading: Any,
) -> FitResult:
    """Train on a file that need not fit in memory, and write the model.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=max_iter, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on the whole file, if its
    columns are numbers. Of columns of text, dates or missing values features are made
    (docs/how-to/columns.md).

    Parameters
    ----------
    file : str, Path or pyarrow dataset
        Rows and labels: LIBSVM, VW text, CSV or Parquet; a file, a folder of files of one format,
        a URL, a named pipe, or "-", which is standard input.
    out : str or Path
        Where the model is written. With more than one epoch, a cache of the rows is kept in the
        same folder during training.
    max_iter : int
        The most epochs. Training stops earlier after an epoch without an update, or when the
        weights return to earlier ones.
    keep : "average" or "last"
        The mean of the weights after every visit, or the last weights.
    rule : str or Rule
        A name such as "arow", with parameters if need be, "arow(r=0.1)", or an object.
    eta0 : float
        The learning rate, of rules that have one.
    fit_intercept : bool
        Learn an offset.
    scale : bool or None
        Centre and scale number columns of a table while learning; the weights are those for the
        numbers as they are. None: if the head of the file has anything but numbers.
    kinds : mapping or None
        "number", "category", "date" or "drop" for some columns of a table. The others have the kind
        that the head of the file shows, or the schema.
    missing : sequence of str
        Marks of missing values besides the usual ones; see :func:`rosenblatt.read_chunks`.
    shuffle : bool
        Visit the rows in a random order, a new one in each epoch (docs/how-to/out_of_core.md). All
        rows are cached first, as with more than one epoch.
    random_state : int
        Seed of the order, with `shuffle`. The same seed gives the same weights.
    checkpoint : str, Path or None
        Folder in which the run is saved from time to time (docs/how-to/checkpoints.md). Ctrl-C and
        SIGTERM then save and raise :class:`rosenblatt.stream.checkpoint.Interrupted`.
    checkpoint_every : float or None
        Seconds between two checkpoints, 30 by default; 0 saves one after each block.
    resume : bool
        Go on from the newest checkpoint; from the beginning if there is none.
    watcher : Watcher or None
        Receives progress and messages.
    **reading
        Settings of :func:`rosenblatt.read_chunks`.

    Returns
    -------
    FitResult
        The model and how training went.

    Examples
    --------
    >>> from rosenblatt import load_model
    >>> folder = Path(tempfile.mkdtemp())
    >>> size = (folder / "train.svm").write_text("+1 1:2 2:1\\n-1 2:1\\n+1 1:3\\n")
    >>> done = fit_file(folder / "train.svm", folder / "model.safetensors", max_iter=9, keep="last")
    >>> done.trace.mistakes, load_model(folder / "model.safetensors").coef
    (array([2, 1, 0]), array([[ 2., -1.]]))
    """
    began, out = time.perf_counter(), Path(out)
    options, settings = settings_for(
        max_iter, keep, rule, eta0, fit_intercept, shuffle, random_state
    )
    for path in local_files(file):
        check_output(out, {"the data file": path})
    watcher = watcher or Watcher()
    reading.setdefault("progress", watcher.progress)
    read = ReadOptions.of({**reading, "kinds": kinds or None, "missing": missing or None})
    check_scale(scale)
    _check_checkpoint(checkpoint, checkpoint_every, resume, file)
    source, scaled = open_table(file, read, scale, watcher.say)
    saved: AbstractContextManager[CheckpointObserver | None] = nullcontext()
    if checkpoint is not None:
        asked = {**options, "scale": scale, **source.described()}
        if shuffle:
            asked["chunk_bytes"] = reading.get("chunk_bytes")  # blocks must be the same to resume
        every = EVERY if checkpoint_every is None else checkpoint_every
        saved = CheckpointObserver(Path(checkpoint), every, resume, asked, file, watcher.say)
    with saved as saves:
        run = train(
            source, settings, scratch=out.parent, shuffle=options.get("random_state"),
            watcher=watcher, checkpoint=saves, scaled=source.format.encoder if scaled else None,
        )  # fmt: skip
        result = fit_result(run, began, options, source, out=out)
        save_model(result.model, out)
        if saves is not None:
            saves.finish()
    for remark in () if result.table is None else result.table.remarks():
        watcher.say(remark)
    return result


def open_table(
    file: Any, options: ReadOptions, scale: bool | None, say: Callable[[str], object]
) -> tuple[FileSource, bool]:
    """A file to train on, with an encoder if not all columns are numbers; whether to scale."""
    source = open_source(file, options, features=FeatureIndex())
    return source, encode_table(source, scale, say)


def check_scale(scale: Any) -> None:
    """Refuse what is not True, False or None."""
    if scale is not None and not isinstance(scale, bool):
        raise ParameterError(f"scale must be True, False or None, got {scale!r}.")


def encode_table(source: FileSource, scale: bool | None, say: Callable[[str], object]) -> bool:
    """Encode the columns of a table unless all are plain numbers. Returns whether to scale."""
    layout, options = source.format.layout, source.options
    if layout is None:
        if scale:
            raise ParameterError(
                f"scale is for columns of tables; {source.place} is read as {source.format.name}, "
                "where a feature that is absent is 0. Leave it out."
            )
        return False
    kinds = options.kinds or {}
    if not layout.features:
        raise DataError(f"no column of {source.place} can be used. Give one besides the labels.")
    for name in kinds:
        if name not in layout.names:
            raise ParameterError(
                f"there is no column {name!r}; there are {list(layout.names[:20])}."
            )
    scaled = (not layout.has_only_numbers and not options.bits) if scale is None else scale
    asked = set(kinds.values()) - {"drop"} or options.missing or options.bits
    if layout.has_only_numbers and not scaled and not asked:
        return False
    for name, text in layout.mixed.items():
        say(
            f"column {printable(name)} has numbers, and texts such as {printable(text)!r}: each "
            f"value is a category. --column {printable(name)}=number (kinds=) takes it for numbers."
        )
    source.format.encoder = TableFeatures(layout.features, FeatureIndex(options.bits))
    return scaled


def local_files(place: Any) -> list[Path]:
    """The files and folders of this machine that are read."""
    if is_dataset(place):
        return dataset_files(place)
    return [] if is_url(place) or is_pipe(place) else [Path(place)]


def _check_checkpoint(folder: Any, every: float | None, resume: bool, file: Any) -> None:
    """Refuse what cannot go on from a checkpoint, before anything is read."""
    check_folder(folder, every, resume)
    if folder is not None and (is_dataset(file) or is_url(file) or is_pipe(file)):
        raise ParameterError(
            "a checkpoint needs a file or folder of this machine, which can be read again from any "
            f"place, got {file}. Give one, or leave checkpoint out."
        )


# ----------------------------------------------------------------------------------- streams


def fit_stream(
    chunks: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    max_iter: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    classes: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    shuffle: bool = False,
    random_state: int = 0,
    scale: bool | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    cache: str | Path | None = None,
    watcher: Watcher | None = None,
) -> FitResult:
    """Train on chunks of rows, of which one is in memory at a time.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=max_iter, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on all rows as one float64
    matrix, if they are numbers. Of other columns features are made (docs/how-to/columns.md).

    Parameters
    ----------
    chunks : iterable or function that returns one
        Of (X, y) or (X, y, sample_weight). X is an array, a sparse matrix, a frame, an Arrow table
        or a dict of columns; sparse matrices may get wider. Also what
        :func:`rosenblatt.read_chunks` returns. An iterator, such as a generator, can be read only
        once: with more than one epoch its rows are cached. Anything else is iterated again for each
        epoch.
    max_iter : int
        The most epochs. Training stops earlier after an epoch without an update, or when the
        weights return to earlier ones.
    keep : "average" or "last"
        The mean of the weights after every visit, or the last weights.
    rule : str or Rule
        A name such as "arow", with parameters if need be, "arow(r=0.1)", or an object.
    eta0 : float
        The learning rate, of rules that have one.
    fit_intercept : bool
        Learn an offset.
    classes : sequence or None
        All labels. If left out, they may appear at any time in the first epoch.
    feature_names : sequence of str or None
        Names of the columns; those of the frames if left out.
    shuffle : bool
        Visit the rows in a random order, a new one in each epoch (docs/how-to/out_of_core.md). All
        rows are cached first.
    random_state : int
        Seed of the order, with `shuffle`. The same seed gives the same weights.
    scale : bool or None
        Centre and scale number columns while learning; the weights are those for the numbers as
        they are. None: if a column of the first chunk is not of numbers.
    kinds : mapping or None
        "number", "category", "date" or "drop" for some columns of frames. The others have the kind
        that the first chunk shows.
    missing : sequence of str
        Texts that mean that a value is missing in a frame, besides None and NaN.
    cache : str, Path or None
        Folder for rows that are cached, beyond 32 MiB in memory; that for temporary files if left
        out. If given, later epochs read the cache in place of `chunks`.
    watcher : Watcher or None
        Receives progress and messages.

    Returns
    -------
    FitResult
        The model and how training went.

    Examples
    --------
    >>> def chunks():
    ...     yield [[0, 0], [0, 1], [1, 0]], ["no", "no", "no"]
    ...     yield [[1, 1]], ["yes"]
    >>> done = fit_stream(chunks, max_iter=100, keep="last")
    >>> done.model.coef, done.model.intercept, done.trace.n_mistakes
    (array([[3., 2.]]), array([-4.]), 18)
    >>> done.model.predict([[1, 1], [0, 1]])
    array(['yes', 'no'], dtype='<U3')
    """
    began = time.perf_counter()
    if hasattr(chunks, "get_fragments") or isinstance(chunks, str | Path):
        raise DataError(
            f"chunks is a {type(chunks).__name__}. Read it with read_chunks(..., target=...), or "
            "use fit_file."
        )
    options, settings = settings_for(
        max_iter, keep, rule, eta0, fit_intercept, shuffle, random_state
    )
    check_scale(scale)
    names = _unique(feature_names)
    labels = LabelIndex()
    if classes is not None:
        labels = LabelIndex(sorted_classes(as_labels(classes, name="classes")), closed=True)
    watcher, table, reader = watcher or Watcher(), None, {}
    if isinstance(chunks, FileChunks):
        source: Any = chunks.source(labels)
        scaled = encode_table(source, scale, watcher.say)
        scaler, cached = source.format.encoder if scaled else None, max_iter > 1
    else:
        tables = TableChunks(chunks, kinds, missing, scale)
        table, reader = tables.table, {"missing": list(missing)} if missing else {}
        if table is not None and names is not None:
            raise ParameterError(
                "feature_names is for arrays; these columns have names. Leave it out."
            )
        source = ChunkSource(tables, labels, copy=max_iter > 1 or shuffle)
        source.repeatable = not isinstance(chunks, Iterator)
        scaler = table if tables.scaled else None
        cached = max_iter > 1 and (not source.repeatable or cache is not None)
    run = train(
        source, settings, scratch=_folder(cache) if cached or shuffle else None,
        shuffle=options.get("random_state"), watcher=watcher, scaled=scaler,
    )  # fmt: skip
    return fit_result(run, began, options, source, given_names=names, table=table, reader=reader)


def _folder(cache: str | Path | None) -> Path:
    folder = Path(tempfile.gettempdir() if cache is None else cache)
    if not folder.is_dir():
        raise ParameterError(f"cache must be a folder that is there, got {str(folder)!r}.")
    return folder


def _unique(names: Any) -> tuple[str, ...] | None:
    """Names of features as texts, none twice."""
    if names is None:
        return None
    if isinstance(names, str) or np.ndim(names) != 1:
        raise ParameterError(f"feature_names must be a list of names, got {names!r}.")
    texts = tuple(map(str, np.asarray(names).tolist()))
    if (twice := repeated(texts)) is not None:
        raise ParameterError(f"feature_names has {twice!r} twice. Give each feature its own name.")
    return texts
