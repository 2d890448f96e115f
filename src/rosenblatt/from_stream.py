"""From a stream to a model: chunks of rows that never need to be in memory together."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data.columns.streams import RawStream
from rosenblatt.data.labels import as_labels, sorted_classes
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.shuffle import Shuffle
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.from_file import model_of, training_asked
from rosenblatt.learn.rules import Rule
from rosenblatt.learn.streaming import Watcher, train_file, train_stream
from rosenblatt.model_file import LinearModel


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
    shuffle_window: int | None = None,
    cache: str | Path | None = None,
    watcher: Watcher | None = None,
) -> LinearModel:
    """Train on chunks of rows, of which one is in memory at a time.

    The weights are, to the bit, those of ``Perceptron(shuffle=False, max_iter=passes, tol=None,
    keep=keep, rule=rule, eta0=eta0, fit_intercept=fit_intercept)`` on all rows as one float64
    matrix.

    Parameters
    ----------
    chunks : an iterable of (X, y) or (X, y, sample_weight), or a function that returns one. X is an
        array, a sparse matrix or a frame; sparse ones may get wider. Also what
        :func:`rosenblatt.read_chunks` gives, or a :class:`rosenblatt.RawStream`. An iterator, such
        as a generator, can be read only once: with more than one pass its rows are cached.
        Anything else is iterated anew for every pass.
    passes : most passes over the rows; fewer if one moves nothing, or the weights come back
    keep : "average" (the mean of the weights after every visit) or "last"
    rule : a name such as "arow", with parameters if need be, "arow(r=0.1)", or an object
    eta0 : the learning rate, of rules that have one
    fit_intercept : learn an offset
    classes : all labels. If left out, those of the first chunk; where a later one has others, all
        chunks are looked at and training starts again, which an iterator does not allow.
    feature_names : names of the columns; those of the frames if left out
    shuffle_seed : draws the order of visits, in every pass another (docs/out_of_core.md). All rows
        are cached first.
    shuffle_window : with a seed, mix so many chunks at a time, as they arrive: nothing is cached
        for that, and a stream need not fit on the disk
    cache : folder for rows that are cached, beyond 64 MiB in memory; that for temporary files if
        left out. If given, later passes read the cache in place of `chunks`.
    watcher : is told how it goes

    Examples
    --------
    >>> def chunks():
    ...     yield [[0, 0], [0, 1], [1, 0]], ["no", "no", "no"]
    ...     yield [[1, 1]], ["yes"]
    >>> model = fit_stream(chunks, passes=100, keep="last")
    >>> model.coef, model.intercept, model.training["mistakes"]
    (array([[3., 2.]]), array([-4.]), 18)
    >>> model.predict([[1, 1], [0, 1]])
    array(['yes', 'no'], dtype='<U3')
    """
    if hasattr(chunks, "get_fragments") or isinstance(chunks, str | Path):
        raise DataError(
            f"chunks is a {type(chunks).__name__}. Read it with read_chunks(..., target=...), or "
            "use fit_file."
        )
    options, training = training_asked(passes, keep, rule, eta0, fit_intercept)
    shuffle = Shuffle.asked(shuffle_seed, shuffle_window)
    if shuffle is not None:
        options |= {"shuffle_seed": shuffle_seed, "shuffle_window": shuffle_window}
    training |= {"shuffle": shuffle, "watcher": watcher}
    if classes is not None:
        training["classes"] = sorted_classes(as_labels(classes, name="classes"))
    by_block = shuffle is not None and not shuffle.arriving
    if isinstance(chunks, FileChunks):
        training["scratch"] = _folder(cache) if by_block or passes > 1 else None
        run, source = train_file(chunks, **training)
        names = _names(feature_names, run.coef.shape[1]) or source.feature_names
        return model_of(run, names, options, source)
    from rosenblatt.data.given import GivenChunks  # scipy.sparse: only if needed

    given = GivenChunks(chunks, held=passes > 1 or shuffle is not None)
    needed = by_block or (passes > 1 and (given.once or cache is not None))
    run = train_stream(given, scratch=_folder(cache) if needed else None, **training)
    learned = chunks.columns if isinstance(chunks, RawStream) else None
    found = given.feature_names if learned is None else learned.feature_names
    names = _names(feature_names, run.coef.shape[1]) or found
    return model_of(run, names, options, columns=learned)


def _folder(cache: str | Path | None) -> Path:
    folder = Path(tempfile.gettempdir() if cache is None else cache)
    if not folder.is_dir():
        raise ParameterError(f"cache must be a folder that is there, got {str(folder)!r}.")
    return folder


def _names(given: Sequence[str] | None, width: int) -> tuple[str, ...]:
    if given is None:
        return ()
    names = tuple(map(str, np.asarray(given).tolist()))
    if len(names) != width:
        raise ParameterError(
            f"feature_names has {len(names)} names, the rows have {width} features."
        )
    return names
