"""Filming: a run of the lab as a film, one HTML page for its own."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from rosenblatt.errors import DataError
from rosenblatt.show.film import film
from rosenblatt.show.lab.runs import Run


def filmed(run: Run) -> bytes:
    """The page. A film is about one rule: of a run with several segments it shows the last."""
    situation, trace = run.situation, run.trace
    if trace is None or trace.record is None or len(np.unique(situation.y)) < 2:
        raise DataError(
            "a film needs points of two classes and a run that visited them. Add points, or make "
            "the last segment longer."
        )
    record, order = trace.record, run.calls[-1].rows
    assert record.setting is not None
    setting = replace(record.setting, problem=run.problem)
    row = np.where(record.row >= 0, order[record.row], -1)
    shown = replace(trace, record=replace(record, row=row, setting=setting))
    title = f"A perceptron learns: {situation.classes[0]} or {situation.classes[1]}"
    if len(run.stretches) > 1:
        title += f" (from visit {run.stretches[run.calls[-1].segment].begin} on)"
    with tempfile.TemporaryDirectory() as folder:
        path = film(
            shown, Path(folder) / "film.html", title=title,
            feature_names=situation.names, class_names=situation.classes,
        )  # fmt: skip
        return path.read_bytes()
