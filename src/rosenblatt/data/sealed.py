"""Sealed: a description and arrays in one file that tells whether it is whole.

A safetensors file. Its metadata hold the description, one JSON text under a key of the caller's,
and under "digest" the SHA-256 of that text and of every array: name, type, shape and bytes. The
digest tells accidents; it is no signature, so the caller still checks what the description says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.tensors import Damaged, kind_of, parsed, read_tensors, write_tensors
from rosenblatt.data.written import replacing

Array = npt.NDArray[Any]


def write_sealed(
    path: Path, key: str, facts: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write the file, whole or not at all; it is on disk when this returns.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "a"
    >>> write_sealed(path, "test", {"n": 3}, {"x": np.array([0.1])})
    >>> read_sealed(path, "test")
    ({'n': 3}, {'x': array([0.1])})
    """
    text = json.dumps(facts)
    metadata = {key: text, "digest": _digest(text, arrays)}
    with replacing(path) as file:
        write_tensors(file, metadata, arrays)


def read_sealed(path: Path, key: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Description and arrays; `Damaged` if it is anything else, OSError if it cannot be read."""
    found = read_tensors(path)
    text = found.metadata.get(key)
    if text is None:
        raise Damaged("it is a file of another kind")
    if found.metadata.get("digest") != _digest(text, found.arrays):
        raise Damaged("its digest is not that of its contents")
    facts = parsed(text, "its description")
    if not isinstance(facts, dict):
        raise Damaged("its description is not an object")
    return facts, dict(found.arrays)


def _digest(text: str, arrays: Mapping[str, Array]) -> str:
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        values = arrays[name]
        shape = ",".join(map(str, values.shape))
        hashed.update(f"\n{name} {kind_of(values)} {shape}\n".encode())
        hashed.update(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).data)
    return hashed.hexdigest()
