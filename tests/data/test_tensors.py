"""Tensors: a header is believed only where every size adds up, before memory is taken for it."""

import io
import json
import struct
import tracemalloc

import numpy as np
import pytest

from rosenblatt.data.tensors import Damaged, read_tensors, write_tensors


def file(tmp_path, header, data=b"\0" * 16):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path = tmp_path / "t.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def told(dtype="F64", shape=(2,), begin=0, end=16):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_what_is_written_is_read(tmp_path):
    arrays = {
        "a": np.arange(6, dtype=">f4").reshape(2, 3)[:, ::-1],
        "b": np.array([True, False]),
        "c": np.array(7, dtype=np.uint16),
    }
    held = io.BytesIO()
    write_tensors(held, {"said": "é"}, arrays)
    (tmp_path / "t").write_bytes(held.getvalue())
    found = read_tensors(tmp_path / "t")
    assert found.metadata == {"said": "é"}
    assert found.n_bytes == len(held.getvalue())
    for name, values in arrays.items():
        assert found.arrays[name].dtype == values.dtype.newbyteorder("<")
        assert found.arrays[name].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ([], "not an object"),
        (b"\xff\xff", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a":{},"a":{}}', "twice"),
        ({"__metadata__": 3}, "not texts"),
        ({"__metadata__": {"a": 3}}, "not texts"),
        ({"a": 3}, "too little or too much"),
        ({"a": {**told(), "more": 1}}, "too little or too much"),
        ({"a": told(dtype="F8")}, "type"),
        ({"a": told(dtype=["F64"])}, "type"),
        ({"a": told(shape=[2.0])}, "whole"),
        ({"a": told(shape=[True, 2])}, "whole"),
        ({"a": told(shape=[-1, -2])}, "whole"),
        ({"a": told(shape=[2] + [1] * 8)}, "whole"),
        ({"a": told(shape=[2**62, 4])}, "does not take"),
        ({"a": told(shape=[2**40], end=2**43)}, "take 8,796,093,022,208 bytes, and there are 16"),
        ({"a": told(shape=[1], begin=8)}, "nothing is said of the bytes from 0"),
        ({"a": told(), "b": told()}, "nothing is said"),
        ({"a": told(shape=[1], end=8)}, "take 8 bytes, and there are 16"),
        ({}, "take 0 bytes"),
    ],
)
def test_a_header_that_does_not_add_up_is_refused_without_taking_memory(tmp_path, header, why):
    path = file(tmp_path, header)
    tracemalloc.start()
    try:
        with pytest.raises(Damaged, match=why):
            read_tensors(path)
        assert tracemalloc.get_traced_memory()[1] < 50 * path.stat().st_size + 2**20
    finally:
        tracemalloc.stop()
