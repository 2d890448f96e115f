"""Explained: a model file in words, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rosenblatt.data.columns.frozen import Columns
from rosenblatt.errors import DataError
from rosenblatt.learn.contributions import printable

MOST = 10  # classes, columns and names in a line
MOST_COLUMNS = 60  # lines about raw columns


def explained(facts: dict[str, Any], weights: str) -> str:
    """What is in a model file: `facts` as `ModelFile.facts` gives them, then the weights.

    Last what is done to each raw column, if the model was trained on such.
    """
    raw = _raw(facts["columns"])
    lines = [
        ("file", f"{facts['file']}, {facts['bytes']:,} bytes, format {facts['format']}"),
        ("made by", _short(facts["made_by"])),
        ("digest", f"sha256 {facts['digest']}, checked"),
        ("classes", _listed(facts["classes"])),
        ("features", _features(facts)),
        ("weights", f"{facts['hyperplanes']:,} x {facts['features']:,}, {facts['dtype']}"),
        ("preprocessing", _columns(facts["columns"], raw)),
        ("read from", _pairs(facts["reader"]) or "not from a file"),
        ("options", _pairs(facts["options"]) or "not told"),
        ("training", _pairs(facts["training"]) or "not told"),
    ]
    width = max(len(name) for name, _ in lines)
    table = "" if raw is None else f"\n\n{raw.describe(MOST_COLUMNS)}"
    told = "\n".join(f"{name:<{width}}  {value}" for name, value in lines)
    return f"{told}\n\n{weights}{table}"


def _listed(values: list[Any]) -> str:
    more = f", ... ({len(values):,})" if len(values) > MOST else ""
    return ", ".join(_short(v) for v in values[:MOST]) + more


def _features(facts: dict[str, Any]) -> str:
    names = facts["feature_names"]
    return (
        f"{facts['features']:,}: {_listed(names)}" if names else f"{facts['features']:,}, unnamed"
    )


def _raw(columns: Mapping[str, Any] | None) -> Columns | None:
    """What is done to raw columns, if it is told in a way that can be read."""
    try:
        return None if columns is None else Columns.from_json(columns)
    except DataError:
        return None


def _columns(columns: Mapping[str, Any] | None, raw: Columns | None) -> str:
    """How raw columns became features; told as it is stored, in short, if it cannot be read."""
    if columns is None:
        return "none: the features are the columns themselves"
    if raw is None:
        return _pairs(columns)
    return f"{len(raw.entries):,} raw columns to {raw.width:,} features, see below"


def _pairs(told: Mapping[str, Any]) -> str:
    return ", ".join(f"{_short(key)}={_short(value)}" for key, value in told.items())


def _short(value: Any) -> str:
    """A value in a few characters."""
    text = value if isinstance(value, str) else json.dumps(value)
    text = printable(text)
    return text if len(text) <= 200 else f"{text[:200]}..."
