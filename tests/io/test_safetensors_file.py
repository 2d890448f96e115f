"""safetensors files: what is written is read, and a header is believed only where it adds up."""

import json
import struct
import tracemalloc

import numpy as np
import pytest

from rosenblatt.errors import LimitError
from rosenblatt.io.safetensors_file import ZEROS, Damaged, read, write


def test_what_is_written_is_read(tmp_path):
    arrays = {
        "a": np.arange(6, dtype=">f4").reshape(2, 3)[:, ::-1],
        "b": np.array([True, False]),
        "c": np.array(7, dtype=np.uint16),
        "d": np.zeros((0, 3)),
    }
    facts = {"said": 'é "quoted" \\ \u2028', "digest of": ZEROS}
    write(tmp_path / "t", "key", 3, facts, arrays)
    found = read(tmp_path / "t", "key")
    assert (found.facts, found.format) == (facts, 3)
    assert found.n_bytes == (tmp_path / "t").stat().st_size
    for name, values in arrays.items():
        assert found.arrays[name].dtype == values.dtype.newbyteorder("<")
        assert found.arrays[name].shape == values.shape
        assert found.arrays[name].tolist() == values.tolist()
    with pytest.raises(Damaged, match="another program"):
        read(tmp_path / "t", "other")


def test_the_header_has_a_limit(tmp_path):
    facts = {"said": "x" * 2000}
    with pytest.raises(LimitError, match="the limit is 1,000"):
        write(tmp_path / "t", "key", 1, facts, {}, header_bytes=1000)
    assert not (tmp_path / "t").exists()
    write(tmp_path / "t", "key", 1, facts, {})
    with pytest.raises(Damaged, match="the limit is 1,000"):
        read(tmp_path / "t", "key", header_bytes=1000)


def told(dtype="F64", shape=(2,), begin=0, end=16):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    "tensors",
    [
        {"a": 3},
        {"a": told(dtype="F8")},
        {"a": told(dtype=["F64"])},
        {"a": told(shape=[2.0])},
        {"a": told(shape=[-1, -2])},
        {"a": told(shape=[2**62, 4])},
        {"a": told(shape=[0, 2**62], end=0)},
        {"a": told(shape=[2**40], end=2**43)},
        {"a": told(shape=[1], begin=8)},
        {"a": told(), "b": told()},
        {"a": told(shape=[1], end=8)},
        {},
    ],
)
def test_a_header_that_does_not_add_up_is_refused_without_taking_memory(tmp_path, tensors):
    """With a digest that fits."""
    import hashlib

    text = f'{{"digest":"{ZEROS}","format":1,"a":1}}'
    header = json.dumps({"__metadata__": {"key": text}, **tensors}).encode()
    content = struct.pack("<Q", len(header)) + header + b"\0" * 16
    digest = hashlib.sha256(content).hexdigest().encode()
    path = tmp_path / "t"
    path.write_bytes(content.replace(ZEROS.encode(), digest, 1))
    tracemalloc.start()
    try:
        with pytest.raises(Damaged) as refused:
            read(path, "key")
        assert tracemalloc.get_traced_memory()[1] < 50 * path.stat().st_size + 2**20
    finally:
        tracemalloc.stop()
    assert "digest" not in str(refused.value)
