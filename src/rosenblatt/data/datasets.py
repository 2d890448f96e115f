"""Datasets: those of pyarrow: folders, partitions, lists of files or tables, perhaps filtered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rosenblatt.data.where import parse_where
from rosenblatt.errors import ParameterError


def is_dataset(given: Any) -> bool:
    """Whether it is a pyarrow dataset, without importing pyarrow."""
    return hasattr(given, "get_fragments") and hasattr(given, "to_batches")


def name_of(given: Any) -> Path:
    """What stands in messages where the name of a file would: the path itself, if it is one."""
    if not is_dataset(given):
        return Path(given)
    files = getattr(given, "files", None)
    return Path("dataset" if files is None else f"dataset of {len(files)} files")


def files_on_disk(given: Any) -> list[Path]:
    """The files of a dataset, as far as they are on this machine."""
    found = map(Path, getattr(given, "files", ()))
    return [path for path in found if path.is_file()]


def check_where(where: Any) -> None:
    """Text of our own language, or an expression of pyarrow."""
    import pyarrow.compute as pc

    if isinstance(where, str):
        parse_where(where)
    elif where is not None and not isinstance(where, pc.Expression):
        raise ParameterError(
            f"where must be text or a pyarrow expression, got a {type(where).__name__}."
        )
