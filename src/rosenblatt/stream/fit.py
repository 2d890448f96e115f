"""Train on a file or on a stream of chunks, without holding all rows in memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.datasets import files_on_disk, is_dataset, name_of
from rosenblatt.data.file_source import FileSource
from rosenblatt.data.formats import format_of
from rosenblatt.data.labels import as_labels, sorted_classes
from rosenblatt.data.readers import FileChunks, read_chunks
from rosenblatt.data.reading import NotNumbers, ReadAgain, Skipped
from rosenblatt.data.shuffle import Shuffle
from rosenblatt.data.source import ChunkSource, LabelIndex
from rosenblatt.data.written import check_place
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.settings import CHECKS, TrainingSettings
from rosenblatt.learn.trace import StopReason
from rosenblatt.model_file import LinearModel, save_model
from rosenblatt.stream.checkpoint import CheckpointObserver
from rosenblatt.stream.train import Silent, Trained, Watcher, train

if TYPE_CHECKING:  # pyarrow is for raw columns
    from rosenblatt.data.columns.frozen import Columns
    from rosenblatt.data.columns.learning import Wishes

Array = npt.NDArray[Any]
FIRST_BYTES = 1 << 16  # of a CSV file: columns of text mostly show there
EVERY = 30.0  # seconds between checkpoints


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model, and how training on a file or stream went.

    Attributes
    ----------
    model : LinearModel
    n_rows : int
        Rows of one epoch.
    mistakes, updates : arrays of shape (hyperplanes, epochs)
        0 after a hyperplane has stopped.
    progressive_error : float
        Share of rows that were predicted wrongly in the first epoch, each before it was learned
        from. Rows of weight 0 do not count. Only classes that were seen before can be predicted,
        unless all were named; the first row of a class is then an error.
    reasons : tuple of StopReason
        Why each hyperplane stopped.
    seconds : float
        Of the whole call.
    epoch_seconds : tuple of float
        Of each epoch, reading included.
    cache_memory_bytes, cache_file_bytes : int
        Size of the cache of parsed rows, 0 if none was made.
    out : Path or None
        Where the model was written.
    file : Path or None
        What was read.
    file_bytes : int
        Its size on disk.
    skipped : Skipped
        Malformed lines that were left out.
    columns : Columns or None
        What was done to raw columns.
    """

    model: LinearModel
    n_rows: int
    mistakes: npt.NDArray[np.int64]
    updates: npt.NDArray[np.int64]
    progressive_error: float
    reasons: tuple[StopReason, ...]
    seconds: float
    epoch_seconds: tuple[float, ...]
    cache_memory_bytes: int = 0
    cache_file_bytes: int = 0
    out: Path | None = None
    file: Path | None = None
    file_bytes: int = 0
    skipped: Skipped = field(default_factory=Skipped)
    columns: Columns | None = None

    @property
    def n_epochs(self) -> int:
        return len(self.epoch_seconds)

    @property
    def cache_bytes(self) -> int:
        return self.cache_memory_bytes + self.cache_file_bytes

    def to_dict(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can hold it."""
        in_all = sum(self.epoch_seconds)
        return {
            "file": None if self.file is None else str(self.file),
            "model": None if self.out is None else str(self.out),
            "rows": self.n_rows,
            "features": self.model.n_features,
            "classes": self.model.classes.tolist(),
            "skipped_lines": self.skipped.count,
            "passes": self.n_epochs,
            "mistakes_per_pass": self.mistakes.sum(axis=0).tolist(),
            "updates_per_pass": self.updates.sum(axis=0).tolist(),
            "progressive_error": self.progressive_error,
            "stop_reasons": [str(reason) for reason in self.reasons],
            "seconds": self.seconds,
            "seconds_per_pass": list(self.epoch_seconds),
            "file_bytes": self.file_bytes,
            "cache_bytes": self.cache_bytes,
            "megabytes_per_second": self.file_bytes / 1e6 / self.epoch_seconds[0],
            "rows_per_second": self.n_rows * self.n_epochs / in_all,
            "columns": None if self.columns is None else self.columns.facts(),
        }


def settings_for(
    passes: int, keep: str, rule: str | Rule, eta0: float, fit_intercept: bool
) -> tuple[dict[str, Any], TrainingSettings]:
    """Check what was asked for: as a model file has it, and as the engine takes it."""
    is_valid, words = CHECKS["max_iter"]
    if not is_valid(passes):
        raise ParameterError(f"passes must be {words}, got {passes!r}.")
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
    settings = TrainingSettings(
        rule=rule, eta0=float(eta0), fit_intercept=fit_intercept, max_iter=passes,
        keep="last" if keep == "last" else "average",
    )  # fmt: skip
    settings.check_source(resident=False)
    return options, settings


def _result(
    run: Trained,
    began: float,
    feature_names: Sequence[str],
    options: Mapping[str, Any],
    chunks: FileChunks | None = None,
    columns: Columns | None = None,
    **more: Any,
) -> FitResult:
    group = run.group
    coef, intercept = group.kept()
    assert group.learner is not None
    mistakes, updates, reasons = group.mistakes, group.updates, group.reasons
    progressive_error = group.errors / group.n_scored
    model = LinearModel(
        coef, intercept, group.learner.classes, tuple(feature_names), options,
        {} if chunks is None else reader_settings(chunks),
        training={  # no times: the same run gives the same file
            "rows": group.n_rows, "passes": group.n_epochs, "mistakes": int(mistakes.sum()),
            "updates": int(updates.sum()), "progressive_error": progressive_error,
            "stop_reasons": [str(reason) for reason in reasons],
        },
        columns=None if columns is None else columns.to_json(),
    )  # fmt: skip
    return FitResult(
        model, group.n_rows, mistakes, updates, progressive_error, reasons,
        time.perf_counter() - began, run.epoch_seconds, run.cache_memory_bytes,
        run.cache_file_bytes, columns=columns, **more,
    )  # fmt: skip


# ------------------------------------------------------------------------------------- files


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
    checkpoint: str | Path | None = None,
    every: float | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
    **reading: Any,
) -> FitResult:
    """Train on a file that need not fit in memory, and write the model.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=passes, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on the whole file; where columns
    are not numbers, on what is made of them (docs/how-to/columns.md).

    Parameters
    ----------
    file : str, Path or pyarrow dataset
        Rows and labels: LIBSVM, VW text, CSV or Parquet; or a folder of CSV or Parquet files.
    out : str or Path
        Where the model is written. With more than one pass, a cache lies in the same folder until
        the end.
    passes : int
        Most passes over the rows; fewer if a whole pass moves nothing, or the weights return to
        earlier ones.
    keep : "average" or "last"
        The mean of the weights after every visit, or the last weights.
    rule : str or Rule
        A name such as "arow", with parameters if need be, "arow(r=0.1)", or an object.
    eta0 : float
        The learning rate, of rules that have one.
    fit_intercept : bool
        Learn an offset.
    columns : "auto", "plain" or "raw"
        "plain": the columns of CSV and Parquet are numbers. "raw": a first pass over the file
        learns how to make numbers of them. "auto": plain, unless something is no number (with
        ``on_error="skip"``: unless a column of the first block has no number at all) or one of the
        next five is given, or `where` for CSV.
    scaling, max_categories, hash_bits, kinds
        As for :func:`rosenblatt.learn_columns`.
    missing : sequence of str
        Marks of missing values besides the usual ones; see :func:`rosenblatt.read_chunks`.
    shuffle_seed : int or None
        Draws the order of visits, another one in every pass (docs/how-to/out_of_core.md). The rows
        are all cached first, as for more than one pass. The same seed gives the same weights.
    checkpoint : str, Path or None
        Folder in which the run is saved from time to time (docs/how-to/checkpoints.md). Ctrl-C and
        SIGTERM then save and raise :class:`rosenblatt.stream.checkpoint.Interrupted`.
    every : float or None
        Seconds between two checkpoints; 30 if left out, 0 for one after every block.
    resume : bool
        Go on from the newest checkpoint; from the beginning if there is none.
    watcher : Watcher or None
        Receives progress and messages.
    **reading
        Settings of :func:`rosenblatt.read_chunks`.

    Returns
    -------
    FitResult

    Examples
    --------
    >>> from rosenblatt import load_model
    >>> folder = Path(tempfile.mkdtemp())
    >>> size = (folder / "train.svm").write_text("+1 1:2 2:1\\n-1 2:1\\n+1 1:3\\n")
    >>> done = fit_file(folder / "train.svm", folder / "model.safetensors", passes=9, keep="last")
    >>> done.mistakes.tolist(), load_model(folder / "model.safetensors").coef
    ([[2, 1, 0]], array([[ 2., -1.]]))
    """
    began, out = time.perf_counter(), Path(out)
    file, place = opened(file, reading), name_of(file)
    options, settings = settings_for(passes, keep, rule, eta0, fit_intercept)
    shuffle = Shuffle.from_seed(shuffle_seed)
    for path in files_on_disk(file) if is_dataset(file) else [file]:
        check_place(out, {"the data file": path})
    watcher = watcher or Silent()
    wanted: dict[str, Any] = {
        "scaling": scaling, "max_categories": max_categories, "hash_bits": hash_bits,
        "kinds": None if not kinds else dict(kinds),
    }  # fmt: skip
    if missing:
        reading["missing"] = tuple(missing)
    wishes = _wishes(wanted)
    mode = columns_mode(columns, wishes, reading, file)
    asked = {**options, **wanted}
    if shuffle is not None:
        options["shuffle_seed"] = asked["shuffle_seed"] = shuffle_seed
        asked["chunk_bytes"] = reading.get("chunk_bytes")  # blocks must be the same to resume
    with _checkpoints(checkpoint, every, resume, asked, file, watcher) as saves:
        run, chunks = _train_file(
            file, mode, reading, wishes, saves, settings=settings, scratch=out.parent,
            shuffle=shuffle, watcher=watcher,
        )  # fmt: skip
        found: Columns | None = getattr(chunks.format, "columns", None)
        result = _result(
            run, began, chunks.feature_names, options, chunks, found, out=out, file=place,
            file_bytes=chunks.size, skipped=chunks.skipped,
        )  # fmt: skip
        save_model(result.model, out)
        if saves is not None:
            saves.finish()
    return result


def opened(file: Any, reading: dict[str, Any]) -> Any:
    """A path, or a dataset of pyarrow, which is read as if it were Parquet."""
    if not is_dataset(file):
        return Path(file)
    reading["format"] = reading.get("format") or "parquet"
    return file


def _wishes(wanted: Mapping[str, Any]) -> Wishes | None:
    """How raw columns are to be learned; None if no option was given."""
    given = {name: value for name, value in wanted.items() if value is not None}
    if not given:
        return None
    from rosenblatt.data.columns.learning import Wishes

    return Wishes(**given)


def columns_mode(columns: str, wishes: Wishes | None, reading: Mapping[str, Any], file: Any) -> str:
    """plain, raw, or auto: the file decides."""
    if columns not in ("auto", "raw", "plain"):
        raise ParameterError(f"columns must be 'auto', 'raw' or 'plain', got {columns!r}.")
    asked = "missing" in reading or (wishes is not None and wishes != type(wishes)())
    if reading.get("where") is not None and not asked:
        asked = (reading.get("format") or format_of(file)) == "csv"
    if asked and columns == "plain":
        raise ParameterError(
            "columns='plain' leaves the columns as they are: leave out what is asked of them."
        )
    return "raw" if asked else columns


def _train_file(
    file: Any,
    columns: str,
    reading: dict[str, Any],
    wishes: Wishes | None,
    saves: CheckpointObserver | None,
    *,
    watcher: Watcher,
    **training: Any,
) -> tuple[Trained, FileChunks]:
    """Plain columns if they are numbers, else columns that are learned in a pass before."""
    if columns == "auto" and reading.get("on_error") == "skip":
        # lines are left out rather than refused, so nothing would say that a column is text
        from rosenblatt.data.columns.looking import needs_columns

        columns = "raw" if needs_columns(file, **reading) else "plain"
    if columns == "auto" and saves is not None and saves.had_columns:
        columns = "raw"  # as was found out before
    if columns != "raw":
        try:
            if columns == "auto" and (saves is None or saves.saved is None):
                _read_first_lines(file, reading)
            chunks = read_chunks(file, progress=watcher.progress, **reading)
            return _train_chunks(chunks, saves, watcher=watcher, **training)
        except NotNumbers as e:
            if columns == "plain":
                raise
            if saves is not None and saves.chunks is not None:
                saves.begin_again()
            watcher.say(f"{str(e).partition('. ')[0]}: looking at the columns first")
    from rosenblatt.data.columns.learning import Wishes
    from rosenblatt.data.columns.looking import looked_at

    watcher.begin(0)
    chunks = read_chunks(file, progress=watcher.progress, **{**reading, "columns": "raw"})
    chunks = looked_at(chunks, wishes or Wishes())
    for remark in chunks.format.columns.remarks:  # type: ignore[attr-defined]  # a raw format
        watcher.say(remark)
    return _train_chunks(chunks, saves, watcher=watcher, **training)


def _train_chunks(
    chunks: FileChunks,
    saves: CheckpointObserver | None,
    *,
    watcher: Watcher,
    classes: Array | None = None,
    **training: Any,
) -> tuple[Trained, FileChunks]:
    """Train; the file also as it was read in the end.

    Where a later part contradicts what the first led to assume (indices count from 0, labels are
    text), the file is read again from the start, with what is known then.
    """
    if saves is not None:
        chunks = saves.open(chunks)
    while True:
        labels = LabelIndex() if classes is None else LabelIndex(classes, closed=True)
        source = FileSource(chunks, labels)
        try:
            return train(source, watcher=watcher, checkpoint=saves, **training), chunks
        except ReadAgain as e:
            watcher.say(f"{e} Starting again with it")
            chunks = saves.begin_again(e.settings) if saves is not None else chunks._again(e)


def _read_first_lines(file: Any, reading: dict[str, Any]) -> None:
    """`NotNumbers` soon, if it comes at all: of CSV, a whole block is looked at cell by cell."""
    few = min(FIRST_BYTES, reading.get("chunk_bytes", FIRST_BYTES))
    if (reading.get("format") or format_of(file)) == "csv" and (file.is_file() or file.is_dir()):
        next(iter(read_chunks(file, **{**reading, "chunk_bytes": few}).plain))


def _checkpoints(
    folder: str | Path | None,
    every: float | None,
    resume: bool,
    asked: dict[str, Any],
    file: Any,
    watcher: Watcher,
) -> AbstractContextManager[CheckpointObserver | None]:
    if folder is not None and is_dataset(file):
        raise ParameterError(
            "a checkpoint must know its files again, which a dataset of pyarrow does not allow. "
            "Give the folder of its files, with where if need be, or leave checkpoint out."
        )
    if folder is not None:
        every = EVERY if every is None else every
        return CheckpointObserver(Path(folder), every, resume, asked, file, watcher.say)
    if resume or every is not None:
        given = "resume" if resume else "every"
        raise ParameterError(f"{given} needs checkpoint, the folder where checkpoints are.")
    return nullcontext()


def reader_settings(chunks: FileChunks) -> dict[str, Any]:
    """How the file was read, with what had to be found out."""
    name = type(chunks.format).__name__.lower().removesuffix("text").removeprefix("raw")
    name = name.replace("arrowdataset", "parquet")
    format: Any = chunks.format
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
        held["zero_based"] = chunks.counts_from_zero
    return {"format": name, **held}


# ----------------------------------------------------------------------------------- streams


def fit_stream(
    chunks: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    passes: int = 1,
    keep: str = "average",
    rule: str | Rule = "perceptron",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    classes: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    shuffle_seed: int | None = None,
    cache: str | Path | None = None,
    watcher: Watcher | None = None,
) -> FitResult:
    """Train on chunks of rows, of which one is in memory at a time.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=passes, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on all rows as one float64
    matrix.

    Parameters
    ----------
    chunks : iterable or function that returns one
        Of (X, y) or (X, y, sample_weight). X is an array, a sparse matrix or a frame; sparse ones
        may get wider. Also what :func:`rosenblatt.read_chunks` returns, or a
        :class:`rosenblatt.RawStream`. An iterator, such as a generator, can be read only once: with
        more than one pass its rows are cached. Anything else is iterated again for every pass.
    passes : int
        Most passes over the rows; fewer if a whole pass moves nothing, or the weights return to
        earlier ones.
    keep : "average" or "last"
        The mean of the weights after every visit, or the last weights.
    rule : str or Rule
        A name such as "arow", with parameters if need be, "arow(r=0.1)", or an object.
    eta0 : float
        The learning rate, of rules that have one.
    fit_intercept : bool
        Learn an offset.
    classes : sequence or None
        All labels. If left out, they may appear at any time in the first pass.
    feature_names : sequence of str or None
        Names of the columns; those of the frames if left out.
    shuffle_seed : int or None
        Draws the order of visits, another one in every pass (docs/how-to/out_of_core.md). All rows
        are cached first.
    cache : str, Path or None
        Folder for rows that are cached, beyond 32 MiB in memory; that for temporary files if left
        out. If given, later passes read the cache in place of `chunks`.
    watcher : Watcher or None
        Receives progress and messages.

    Returns
    -------
    FitResult

    Examples
    --------
    >>> def chunks():
    ...     yield [[0, 0], [0, 1], [1, 0]], ["no", "no", "no"]
    ...     yield [[1, 1]], ["yes"]
    >>> done = fit_stream(chunks, passes=100, keep="last")
    >>> done.model.coef, done.model.intercept, done.mistakes.sum()
    (array([[3., 2.]]), array([-4.]), np.int64(18))
    >>> done.model.predict([[1, 1], [0, 1]])
    array(['yes', 'no'], dtype='<U3')
    """
    began = time.perf_counter()
    if hasattr(chunks, "get_fragments") or isinstance(chunks, str | Path):
        raise DataError(
            f"chunks is a {type(chunks).__name__}. Read it with read_chunks(..., target=...), or "
            "use fit_file."
        )
    options, settings = settings_for(passes, keep, rule, eta0, fit_intercept)
    shuffle = Shuffle.from_seed(shuffle_seed)
    if shuffle is not None:
        options["shuffle_seed"] = shuffle_seed
    named = None if classes is None else sorted_classes(as_labels(classes, name="classes"))
    training: dict[str, Any] = {
        "settings": settings, "shuffle": shuffle, "watcher": watcher or Silent(),
    }  # fmt: skip
    if isinstance(chunks, FileChunks):
        scratch = _folder(cache) if shuffle is not None or passes > 1 else None
        run, read = _train_chunks(chunks, None, classes=named, scratch=scratch, **training)
        names = _names(feature_names, run.group) or read.feature_names
        columns = getattr(read.format, "columns", None)
        return _result(
            run, began, names, options, read, columns, file=read.path, file_bytes=read.size,
            skipped=read.skipped,
        )  # fmt: skip
    labels = LabelIndex() if named is None else LabelIndex(named, closed=True)
    source = ChunkSource(chunks, labels, copy=passes > 1 or shuffle is not None)
    cached = shuffle is not None or (passes > 1 and (not source.repeatable or cache is not None))
    run = train(source, scratch=_folder(cache) if cached else None, **training)
    columns = _columns_of(chunks)
    found = (source.feature_names or ()) if columns is None else columns.feature_names
    return _result(run, began, _names(feature_names, run.group) or found, options, columns=columns)


def _columns_of(chunks: Any) -> Columns | None:
    """What a RawStream has learned of its columns."""
    if not hasattr(chunks, "batches"):
        return None
    from rosenblatt.data.columns.streams import RawStream

    return chunks.columns if isinstance(chunks, RawStream) else None


def _folder(cache: str | Path | None) -> Path:
    folder = Path(tempfile.gettempdir() if cache is None else cache)
    if not folder.is_dir():
        raise ParameterError(f"cache must be a folder that is there, got {str(folder)!r}.")
    return folder


def _names(given: Sequence[str] | None, group: MachineGroup) -> tuple[str, ...]:
    if given is None:
        return ()
    names, width = tuple(map(str, np.asarray(given).tolist())), group.kept()[0].shape[1]
    if len(names) != width:
        raise ParameterError(
            f"feature_names has {len(names)} names, the rows have {width} features."
        )
    return names
