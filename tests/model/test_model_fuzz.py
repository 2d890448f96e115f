"""Damaged model files: a clean error or the right model, never anything else."""

import hashlib
import json
import random
import re
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import load_model
from rosenblatt.errors import RosenblattError
from rosenblatt.model.model_file import KEY

KEPT = sorted((Path(__file__).parent / "files").glob("model_*.safetensors"))


def fields(model):
    arrays = [model.coef, model.intercept, model.classes]
    arrays += [] if model.deviations is None else [model.deviations]
    rest = (model.feature_names, model.namespaces, model.options, model.reader, model.made_by)
    return (
        [(a.dtype.str, a.shape, a.tobytes()) for a in arrays],
        repr((*rest, model.training, model.columns)),
    )


def damaged(rng, content):
    """One accident: a bit, a byte, a cut, a piece lost, doubled or written over, other digits."""
    at = rng.randrange(len(content))
    end = min(len(content), at + rng.choice([1, 2, 8, 64]))
    kind = rng.randrange(7)
    if kind == 0:
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if kind == 1:
        return content[:at] + rng.randbytes(1) + content[at + 1 :]
    if kind == 2:
        return content[:at]
    if kind == 3:
        return content[:at] + content[end:]
    if kind == 4:
        return content[:end] + content[at:]
    if kind == 5:
        return content[:at] + rng.randbytes(end - at) + content[end:]
    return other_digits(rng, content)


def other_digits(rng, content):
    """A number of the header replaced, and the length of the header mended."""
    length = struct.unpack("<Q", content[:8])[0]
    header, data = content[8 : 8 + length], content[8 + length :]
    number = rng.choice(list(re.finditer(rb"\d+", header)))
    new = str(rng.choice([0, 1, 2, 8, 16, 2**31, 2**40, 2**63, 2**64, 10**30])).encode()
    header = header[: number.start()] + new + header[number.end() :]
    return struct.pack("<Q", len(header)) + header + data


def test_damage_at_a_random_place_is_noticed(tmp_path):
    """10,000 places in a soak, 200 otherwise."""
    rng, path = random.Random(0), tmp_path / "m"
    whole = [(file.read_bytes(), fields(load_model(file))) for file in KEPT]
    refused = 0
    tracemalloc.start()
    try:
        for _ in range(2 * settings.default.max_examples):
            content, meant = rng.choice(whole)
            broken = damaged(rng, content)
            path.write_bytes(broken)
            tracemalloc.reset_peak()
            try:
                found = load_model(path)
            except RosenblattError:
                refused += 1
            else:  # a space of the header, say, or the byte that was there
                assert fields(found) == meant
            assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()
    assert refused > settings.default.max_examples


def test_a_cut_is_noticed_wherever_it_is(tmp_path):
    content, path = KEPT[-1].read_bytes(), tmp_path / "m"
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(RosenblattError, match="damaged"):
            load_model(path)


WORD = st.text(max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
def test_a_forged_description_is_a_model_or_an_error(data, tmp_path_factory):
    """With a digest that fits, nothing but the checks of the contents stands in the way."""
    content = data.draw(st.sampled_from(KEPT)).read_bytes()
    path = tmp_path_factory.getbasetemp() / "forged"
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"][KEY])
    tensor = data.draw(st.none() | st.sampled_from([k for k in header if k != "__metadata__"]))
    name = data.draw(st.sampled_from([k for k in facts if k != "digest"] + ["more"]))
    if tensor is None:
        facts[name] = data.draw(VALUES)
    else:
        field = data.draw(st.sampled_from(["dtype", "shape"]))
        shapes = st.lists(st.sampled_from([0, 1, 2, 3, 4, 2**31, 2**62]), max_size=3)
        dtypes = st.sampled_from(["U8", "I32", "I64", "F64", "F32", "BOOL", "F8"])
        header[tensor][field] = data.draw(dtypes if field == "dtype" else shapes)
    facts["digest"] = "0" * 64
    text = json.dumps(facts, separators=(",", ":"))
    header["__metadata__"][KEY] = text
    written = json.dumps(header).encode()
    forged = struct.pack("<Q", len(written)) + written + content[8 + length :]
    digest = hashlib.sha256(forged).hexdigest().encode()
    path.write_bytes(forged.replace(b"0" * 64, digest, 1))
    try:
        found = load_model(path)
    except RosenblattError as e:
        assert str(path) in str(e)  # noqa: PT017  # or it is a model
    else:
        assert tensor is not None or name != "more"
        assert found.predict(found.coef * 0).shape == (len(found.coef),)
