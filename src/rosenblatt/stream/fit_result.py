"""Results of training on files and streams: the model, and how training went."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.source import Source
from rosenblatt.errors import ParameterError
from rosenblatt.features.feature_index import pairs_of
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.file_source import FileSource
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace
from rosenblatt.model.linear_model import LinearModel
from rosenblatt.stream.train import Trained

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model, and how training on a file or stream went.

    Attributes
    ----------
    model : LinearModel
        The trained model.
    trace : Trace or OneVsRestTrace
        Mistakes and updates of each epoch, and why training stopped.
    skipped : SkippedLines
        Malformed lines that were left out.
    seconds : float
        Of the whole call.
    epoch_seconds : tuple of float
        Of each epoch, reading included.
    progressive_error : float
        Share of rows that were predicted wrongly in the first epoch, each before it was learned
        from. Rows of weight 0 do not count. Only classes that were seen before can be predicted,
        unless all were named; the first row of a class is then an error.
    cache_memory_bytes, cache_file_bytes : int
        Size of the cache of parsed rows, 0 if none was made.
    out : Path or None
        Where the model was written.
    file : str or None
        What was read.
    file_bytes : int
        Its size on disk.
    table : TableFeatures or None
        Kinds of the columns of a table, their features, and counts of their cells.
    unlabelled : int
        Rows without a label, which were not learned from.

    Examples
    --------
    >>> from rosenblatt import fit_stream
    >>> done = fit_stream([([[0], [1]], ["no", "no"]), ([[2], [3]], ["yes", "yes"])])
    >>> done.n_rows, done.n_epochs, done.progressive_error
    (4, 1, 0.5)
    """

    model: LinearModel
    trace: Trace | OneVsRestTrace
    seconds: float
    epoch_seconds: tuple[float, ...]
    progressive_error: float
    skipped: SkippedLines = field(default_factory=SkippedLines)
    cache_memory_bytes: int = 0
    cache_file_bytes: int = 0
    out: Path | None = None
    file: str | None = None
    file_bytes: int = 0
    table: TableFeatures | None = None
    unlabelled: int = 0

    @property
    def traces(self) -> tuple[Trace, ...]:
        """One trace per hyperplane."""
        return self.trace.traces if isinstance(self.trace, OneVsRestTrace) else (self.trace,)

    @property
    def n_epochs(self) -> int:
        """Number of epochs."""
        return len(self.epoch_seconds)

    @property
    def n_rows(self) -> int:
        """Rows of one epoch."""
        return self.traces[0].n_rows

    @property
    def stop_reasons(self) -> tuple[StopReason, ...]:
        """Why each hyperplane stopped."""
        return tuple(trace.stop_reason for trace in self.traces)

    @property
    def cache_bytes(self) -> int:
        """Size of the cache of parsed rows."""
        return self.cache_memory_bytes + self.cache_file_bytes

    def _per_epoch(self, name: str) -> list[int]:
        """Mistakes or updates of each epoch, over all hyperplanes."""
        totals = np.zeros(self.n_epochs, np.int64)
        for trace in self.traces:
            values = getattr(trace, name)
            totals[: len(values)] += values
        return totals.tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return all but the weights, in types that JSON has.

        Returns
        -------
        dict
            Counts, times and settings of the run.
        """
        in_all = sum(self.epoch_seconds)
        return {
            "file": self.file,
            "model": None if self.out is None else str(self.out),
            "rows": self.n_rows,
            "features": self.model.n_features,
            "classes": self.model.classes.tolist(),
            "skipped_lines": self.skipped.count,
            "rows_without_label": self.unlabelled,
            "epochs": self.n_epochs,
            "mistakes_per_epoch": self._per_epoch("mistakes"),
            "updates_per_epoch": self._per_epoch("updates"),
            "progressive_error": self.progressive_error,
            "stop_reasons": [str(reason) for reason in self.stop_reasons],
            "seconds": self.seconds,
            "seconds_per_epoch": list(self.epoch_seconds),
            "file_bytes": self.file_bytes,
            "cache_bytes": self.cache_bytes,
            "megabytes_per_second": self.file_bytes / 1e6 / self.epoch_seconds[0],
            "rows_per_second": self.n_rows * self.n_epochs / in_all,
            "columns": None if self.table is None else self.table.facts(),
        }


def fit_result(
    run: Trained,
    began: float,
    options: Mapping[str, Any],
    source: Source,
    *,
    given_names: tuple[str, ...] | None = None,
    table: TableFeatures | None = None,
    reader: Mapping[str, Any] | None = None,
    out: Path | None = None,
) -> FitResult:
    """The model of a run that ended, and what there is to say about it."""
    group, read = run.group, source if isinstance(source, FileSource) else None
    coef, intercept = group.kept()
    names, deviations = given_names or tuple(source.feature_names or ()), None
    spaces: tuple[str, ...] = ()
    if read is not None:
        coef, table = coef[:, read.columns(coef.shape[1])], read.format.encoder
    if given_names is not None and len(names) != coef.shape[1]:
        raise ParameterError(
            f"feature_names has {len(names)} names, the rows have {coef.shape[1]} features."
        )
    large = np.zeros(0, np.int64)
    if read is not None and read.format.features is not None:
        if read.format.name == "vw":
            names, spaces = pairs_of(read.format.features)
        else:
            large = np.array(read.format.features.names(), np.int64)
    if table is not None:
        coef = np.pad(coef, ((0, 0), (0, table.n_features - coef.shape[1])))
        names, spaces = pairs_of(table.index)
        if run.scaled is not None:
            coef, intercept = run.scaled.unscaled(coef, intercept)
            deviations = run.scaled.deviations(table.n_features)
            table.fill = run.scaled.fill()
    assert group.learner is not None
    trace = group.trace()
    progressive_error = group.errors / group.n_scored
    model = LinearModel(
        coef, intercept, group.learner.classes, names, options,
        reader or {} if read is None else read.settings(),
        training={  # no times: the same run gives the same file
            "rows": group.n_rows, "epochs": group.n_epochs, "mistakes": trace.n_mistakes,
            "updates": trace.n_updates, "progressive_error": progressive_error,
            "stop_reasons": [str(reason) for reason in group.reasons],
        },
        columns=None if table is None or table.is_plain else table.to_dict(),
        namespaces=spaces, deviations=deviations,
        large_indices=large if len(large) else None,
    )  # fmt: skip
    more: dict[str, Any] = {}
    if read is not None:
        more = {
            "file": read.place, "file_bytes": read.size, "skipped": read.skipped,
            "unlabelled": read.unlabelled,
        }  # fmt: skip
    return FitResult(
        model, trace, seconds=time.perf_counter() - began, epoch_seconds=run.epoch_seconds,
        progressive_error=progressive_error, cache_memory_bytes=run.cache_memory_bytes,
        cache_file_bytes=run.cache_file_bytes, table=table, out=out, **more,
    )  # fmt: skip
