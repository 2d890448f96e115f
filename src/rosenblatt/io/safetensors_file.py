"""safetensors files with a description and a digest.

    8 bytes    n, the length of the header, little-endian
    n bytes    JSON: {"__metadata__": {key: text}, name: {"dtype", "shape", "data_offsets"}, ...}
    the rest   the numbers of each tensor, one tensor after the other, little-endian

The text is a JSON object, the description. Its first two fields are `digest` and `format`. The
digest is the SHA-256 of all bytes of the file, with 64 zeros in place of the digest. It detects
accidents; it is no signature, so the caller checks what the description says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import LimitError
from rosenblatt.io.atomic import replace_file
from rosenblatt.io.limits import HEADER_BYTES

Array = npt.NDArray[Any]
DTYPES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
ZEROS = "0" * 64
# JSON within JSON: the quotes of the description are escaped
BEGINS = re.compile(rb'\{\\"digest\\":\\"([0-9a-f]{64})\\",\\"format\\":([0-9]{1,9}),')


class Damaged(Exception):
    """The bytes are not a whole file of this kind. The caller adds the path and what to do."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds: the description, arrays that cannot be written to, digest and size."""

    facts: dict[str, Any]
    arrays: dict[str, Array]
    format: int
    digest: str
    n_bytes: int


def write(
    path: Path,
    key: str,
    format: int,
    facts: Mapping[str, Any],
    arrays: Mapping[str, Array],
    header_bytes: int = HEADER_BYTES.most,
) -> None:
    """Write a file atomically; it is on disk when this returns.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "a"
    >>> write(path, "test", 1, {"n": 3}, {"x": np.array([0.1])})
    >>> found = read(path, "test")
    >>> found.facts, found.arrays
    ({'n': 3}, {'x': array([0.1])})
    """
    from safetensors.numpy import save

    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    text = f'{{"digest":"{ZEROS}","format":{format},{text[1:]}'
    laid = {k: np.asarray(v, v.dtype.newbyteorder("<"), order="C") for k, v in arrays.items()}
    content = memoryview(save(laid, {key: text}))
    header = 8 + struct.unpack("<Q", content[:8])[0]
    if header - 8 > header_bytes:
        raise LimitError(HEADER_BYTES.words, header - 8, header_bytes, str(path))
    begins = BEGINS.search(content[:header])
    assert begins is not None
    digest = hashlib.sha256(content).hexdigest()
    with replace_file(path) as file:
        file.write(content[: begins.start(1)])
        file.write(digest.encode())
        file.write(content[begins.end(1) :])


def read(path: Path, key: str, header_bytes: int = HEADER_BYTES.most) -> Contents:
    """Read a file; `Damaged` if it is not whole and unaltered, OSError if it cannot be read."""
    from safetensors import SafetensorError, deserialize

    content, n = _content(path, header_bytes)
    begins = BEGINS.search(content, 8, 8 + n)
    said = _parsed(content[8 : 8 + n], "its header")
    metadata = said.get("__metadata__") if isinstance(said, dict) else None
    text = metadata.get(key) if isinstance(metadata, dict) and set(metadata) == {key} else None
    if not isinstance(text, str) or begins is None or not text.startswith('{"digest":"'):
        raise Damaged("it is a file of another program")
    hashed = hashlib.sha256(memoryview(content)[: begins.start(1)])
    hashed.update(ZEROS.encode())
    hashed.update(memoryview(content)[begins.end(1) :])
    number, digest = int(begins.group(2)), begins.group(1).decode()
    facts = _parsed(text, "its description") if hashed.hexdigest() == digest else None
    if facts is None:
        raise Damaged("its digest is not that of its contents")
    if not isinstance(facts, dict) or [facts.pop(k, None) for k in ("digest", "format")] != [
        digest, number,
    ]:  # fmt: skip
        raise Damaged("its description is not an object with a digest and a format")
    try:
        # safetensors has no type hints here
        tensors: dict[str, Any] = dict(deserialize(content))  # type: ignore[no-untyped-call]
        arrays = {
            name: np.frombuffer(told["data"], DTYPES[told["dtype"]]).reshape(told["shape"])
            for name, told in tensors.items()
        }
    except (SafetensorError, ValueError, KeyError, OverflowError) as e:
        raise Damaged(str(e)) from e
    return Contents(facts, arrays, number, digest, len(content))


def _content(path: Path, header_bytes: int) -> tuple[bytes, int]:
    """All bytes of a file, and the length of its header, which is checked before reading on."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe could wait for ever
        raise Damaged("it is not a file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(8)
        n = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        if not 2 <= n <= min(header_bytes, size - 8):
            raise Damaged(
                f"a header of {n:,} bytes in a file of {size:,}; the limit is {header_bytes:,}"
            )
        content = first + file.read(size - 8)
    if len(content) != size:
        raise Damaged(f"{len(content):,} bytes of {size:,} are there")
    return content, n


def _parsed(text: bytes | str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:  # UnicodeDecodeError is a ValueError
        raise Damaged(f"{what} is not JSON: {e}") from e
