"""Layout of results on the terminal: the lines that a command prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import DataError
from rosenblatt.learn.trace import StopReason
from rosenblatt.text import plural, printable, spelled

if TYPE_CHECKING:
    from rosenblatt.model.linear_model import LinearModel
    from rosenblatt.model.model_file import ModelFile
    from rosenblatt.stream.fit_result import FitResult

MOST = 10  # classes, names and epochs in a line
MOST_COLUMNS = 60  # lines about raw columns


def fit_report(run: FitResult, facts: Mapping[str, Any]) -> str:
    """What training on a file did; `facts` are those of `run.to_dict()`."""
    lines = [
        ("rows", f"{run.n_rows:,}"),
        *_skipped(facts),
        ("features", f"{facts['features']:,}"),
        ("classes", _classes(facts["classes"], ", one hyperplane per class")),
        ("epochs", f"{run.n_epochs} ({_why(run.stop_reasons)})"),
        *_average(run),
        ("mistakes per epoch", _listed(facts["mistakes_per_epoch"])),
        *_next(run, facts),
        ("progressive error", f"{run.progressive_error:.2%}"),
        *_speed(facts["megabytes_per_second"]),
        ("all epochs", f"{facts['rows_per_second']:,.0f} rows/s"),
        ("seconds", f"{run.seconds:.2f}"),
    ]
    if run.cache_bytes:
        in_file = f", {run.cache_file_bytes / 1e6:,.1f} MB in a file" * bool(run.cache_file_bytes)
        lines.append(("cache", f"{run.cache_memory_bytes / 1e6:,.1f} MB in memory{in_file}"))
    lines.append(("model", facts["model"]))
    table = "" if run.table is None else f"\n\n{run.table.describe(MOST_COLUMNS)}"
    return _aligned(lines) + table


def _average(run: FitResult) -> list[tuple[str, str]]:
    """A line that says so where the model is not what training ended with."""
    if run.model.options.get("keep") != "average":
        return []
    return [("weights", "the average over all visits (--keep last: those at the end)")]


def _next(run: FitResult, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A line with advice where training ended at --max-iter and mistakes remained."""
    if StopReason.MAX_ITER not in run.stop_reasons or not facts["mistakes_per_epoch"][-1]:
        return []
    advice = "more epochs may make fewer (--max-iter); rosenblatt separable says if they can end"
    return [("", advice)]


def _speed(value: float) -> list[tuple[str, str]]:
    """How fast the file was read; nothing if its size is not known."""
    rate = f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
    return [("first epoch", f"{rate} MB/s of the file")] if value else []


def predict_report(facts: Mapping[str, Any]) -> str:
    """What predicting a file found; `facts` are those of `PredictResult.to_dict`."""
    error, of = facts["error"], f"{facts['errors']:,} of {facts['labelled_rows']:,} labelled rows"
    return _aligned(
        [
            ("rows", f"{facts['rows']:,}"),
            *_skipped(facts),
            ("error", "no labels of the model" if error is None else f"{error:.2%} ({of})"),
            ("seconds", f"{facts['seconds']:.2f}"),
            ("labels", facts["labels"] or "not written (--out FILE)"),
        ]
    )


def model_report(found: ModelFile, facts: Mapping[str, Any], most: int) -> str:
    """What is in a model file; `facts` are those of `found.to_dict()`."""
    names = facts["feature_names"]
    unnamed = ", unnamed"
    if facts["reader"].get("zero_based") is False:  # LIBSVM text
        unnamed += "; x0 is index 1 of the file"
    columns, table = "none: the features are the columns themselves", ""
    if facts["columns"] is not None:
        columns, table = _columns(found.model)
    lines = [
        ("file", f"{facts['file']}, {facts['bytes']:,} bytes, format {facts['format']}"),
        ("made by", _short(facts["made_by"])),
        ("digest", f"sha256 {facts['digest']}, checked"),
        ("classes", _classes(facts["classes"])),
        ("features", f"{facts['features']:,}{': ' + _listed(names) if names else unnamed}"),
        ("weights", f"{facts['hyperplanes']:,} x {facts['features']:,}, {facts['dtype']}"),
        ("preprocessing", columns),
        ("read from", _pairs(facts["reader"]) or "not known"),
        ("options", _pairs(facts["options"]) or "not known"),
        ("training", _pairs(facts["training"]) or "not known"),
    ]
    return f"{_aligned(lines)}\n\n{found.model.explain_model(most)}{table}"


def _columns(model: LinearModel) -> tuple[str, str]:
    """How columns of a table became features: a line, and a table if it can be made."""
    try:
        table = model.table
    except DataError as e:
        return str(e), ""
    assert table is not None
    about = f"{plural(len(table.kinds), 'column')} to {table.n_features:,} features, see below"
    return about, f"\n\n{table.describe(MOST_COLUMNS)}"


def _aligned(lines: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines)


def _skipped(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    count = facts["skipped_lines"]
    return [("malformed lines", f"{count:,}, skipped")] if count else []


def _classes(classes: list[Any], many: str = "") -> str:
    listed = _listed(list(map(spelled, classes)))
    return f"{listed} ({len(classes)}{many})" if many and len(classes) > 2 else listed


def _listed(values: list[Any]) -> str:
    more = f", ... ({len(values):,})" if len(values) > MOST else ""
    return ", ".join(_short(v) for v in values[:MOST]) + more


def _why(reasons: tuple[StopReason, ...]) -> str:
    if len(set(reasons)) == 1:
        return reasons[0].sentence
    counted = ((r, reasons.count(r)) for r in sorted(set(reasons)))
    return "; ".join(f"{plural(n, 'class', 'classes')}: {r.sentence}" for r, n in counted)


def _pairs(told: Mapping[str, Any]) -> str:
    return ", ".join(f"{_short(key)}={_short(value)}" for key, value in told.items())


def _short(value: Any) -> str:
    """A value in a few characters of one line."""
    number = isinstance(value, int) and not isinstance(value, bool)
    text = f"{value:,}" if number else value if isinstance(value, str) else json.dumps(value)
    text = printable(text)
    return text if len(text) <= 200 else f"{text[:200]}..."
