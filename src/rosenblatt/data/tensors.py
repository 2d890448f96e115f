"""Tensors: safetensors files, believed only where every size in them adds up.

    8 bytes    n, the length of the header, little-endian
    n bytes    JSON: {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets"}, ...}
    the rest   the numbers of every tensor, one tensor after the other, little-endian

The library that reads them is safetensors; it is handed nothing whose sizes do not add up to the
size of the file. So the memory that is taken is in proportion to the file, whatever it says.
"""

from __future__ import annotations

import json
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LARGEST_HEADER = 100_000_000  # bytes; safetensors has the same limit
DTYPES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
ABOUT = "__metadata__"


class Damaged(Exception):
    """The bytes are not a whole safetensors file. The caller knows what to tell the user."""


@dataclass(frozen=True, eq=False)
class Tensors:
    """What a file holds: texts by name, and arrays by name (which cannot be written to)."""

    metadata: Mapping[str, str]
    arrays: Mapping[str, Array]
    n_bytes: int


def read_tensors(path: Path) -> Tensors:
    """All of a file; :class:`Damaged` if it is anything but whole, OSError if it cannot be read."""
    from safetensors import SafetensorError, deserialize

    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        header = _header(file, size)
        layout = _layout(header, size - 8 - len(header))
        file.seek(0)
        content = file.read(size)
    if len(content) != size:
        raise Damaged(f"{len(content):,} bytes of {size:,} are there")
    try:
        # safetensors has no type hints here
        found: dict[str, Any] = dict(deserialize(content))  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError) as e:
        raise Damaged(str(e)) from e
    arrays = {}
    for name, (dtype, shape) in layout.tensors.items():
        given = found.get(name)
        if given is None or given["dtype"] != dtype or tuple(given["shape"]) != shape:
            raise Damaged(f"two ways to read its header differ about {name!r}")
        arrays[name] = np.frombuffer(given["data"], DTYPES[dtype]).reshape(shape)
    return Tensors(layout.metadata, arrays, size)


def write_tensors(file: BinaryIO, metadata: dict[str, str], arrays: Mapping[str, Array]) -> None:
    """Write the format, with the numbers of every array in row order, little-endian."""
    from safetensors.numpy import save

    laid = {k: np.asarray(v, v.dtype.newbyteorder("<"), order="C") for k, v in arrays.items()}
    file.write(save(laid, metadata))


def kind_of(array: Array) -> str:
    """The name of its type in such files; KeyError if there is none.

    >>> kind_of(np.zeros(1))
    'F64'
    """
    return NAMES[array.dtype.newbyteorder("<").str]


@dataclass(frozen=True)
class _Layout:
    metadata: dict[str, str]
    tensors: dict[str, tuple[str, tuple[int, ...]]]


def _opened(path: Path) -> BinaryIO:
    """Only a file has a size to compare with; opening a pipe could wait for ever."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Damaged("it is not a file")
    return open(path, "rb")


def _header(file: BinaryIO, size: int) -> bytes:
    """The first eight bytes say how long the header is; believe no length that cannot be."""
    first = file.read(8)
    length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
    if not 2 <= length <= min(LARGEST_HEADER, size - 8):
        raise Damaged(f"a header of {length:,} bytes in a file of {size:,}")
    return file.read(length)


def _layout(header: bytes, data_bytes: int) -> _Layout:
    """Names, types and shapes; the pieces follow each other and fill the file."""
    said = parsed(header, "its header")
    if not isinstance(said, dict):
        raise Damaged("its header is not an object")
    metadata = said.pop(ABOUT, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Damaged("its metadata are not texts")
    tensors, pieces = {}, []
    for name, told in said.items():
        dtype, shape, piece = _told(name, told)
        tensors[name] = dtype, shape
        pieces.append(piece)
    at = 0
    for begin, end in sorted(pieces):
        if begin != at:
            raise Damaged(f"nothing is said of the bytes from {at} to {begin}")
        at = end
    if at != data_bytes:
        raise Damaged(f"its tensors take {at:,} bytes, and there are {data_bytes:,}")
    return _Layout(metadata, tensors)


def _told(name: str, told: Any) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    """Type, shape and place of one tensor, if they agree."""
    if not isinstance(told, dict) or set(told) != {"dtype", "shape", "data_offsets"}:
        raise Damaged(f"it says too little or too much of {name!r}")
    dtype, shape, piece = told["dtype"], told["shape"], told["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise Damaged(f"{name!r} is of the type {dtype!r}")
    if not (_whole(shape, 8) and _whole(piece, 2) and len(piece) == 2):
        raise Damaged(f"the shape or place of {name!r} is not made of whole numbers")
    if prod(shape) * np.dtype(DTYPES[dtype]).itemsize != piece[1] - piece[0]:
        raise Damaged(f"{name!r} of shape {tuple(shape)} does not take {piece[1] - piece[0]} bytes")
    return dtype, tuple(shape), (piece[0], piece[1])


def _whole(values: Any, most: int) -> bool:
    """A short list of whole numbers that no file is too small to hold."""
    fits = isinstance(values, list) and len(values) <= most
    return fits and all(type(v) is int and 0 <= v < 2**63 for v in values)


def parsed(text: bytes | str, what: str) -> Any:
    """JSON in which every name occurs once, or :class:`Damaged`."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:  # UnicodeDecodeError is a ValueError
        raise Damaged(f"{what} is not JSON: {e}") from e


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise ValueError("a name occurs twice")
    return held
