"""Whatever the bytes are: the compiled parsers agree with the slow ones, and keep to their memory.

The text lies at the end of a page after which there is no memory, so that reading one byte too
far ends the process; the arrays it is parsed into are as small as they may be, with marks after
their ends.
"""

import ctypes
import math
import mmap
import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from rosenblatt.data import parsers, text
from rosenblatt.data.blocks import Block
from rosenblatt.data.libsvm import LARGEST_INDEX
from tests.data import slow_readers as slow

MARK = 77


class Cliff:
    """Memory that ends: texts are put right before its end."""

    def __init__(self, pages=16):
        self.size = pages * mmap.PAGESIZE
        self.memory = mmap.mmap(-1, self.size + mmap.PAGESIZE)
        self.handle = ctypes.c_char.from_buffer(self.memory)
        self.end = ctypes.addressof(self.handle) + self.size
        self.guarded = sys.platform != "win32" and not self._protect(0)

    def _protect(self, rights):
        page = ctypes.c_void_p(self.end)
        return ctypes.CDLL(None).mprotect(page, ctypes.c_size_t(mmap.PAGESIZE), rights)

    def put(self, data):
        self.memory[self.size - len(data) : self.size] = data
        return self.end - len(data)

    def close(self):
        if self.guarded:
            self._protect(3)
        del self.handle
        self.memory.close()


@pytest.fixture(scope="module")
def cliff():
    made = Cliff()
    assert made.guarded or sys.platform != "linux"
    yield made
    made.close()


class TightRoom(text.Room):
    """Every array has marks after its end."""

    def hold(self, size, entry, hashed):
        super().hold(size, entry, hashed)
        self.ends = []
        self.rows = parsers.Rows(*map(self.marked, self.rows))
        self.keys, self.spare = self.marked(self.keys), self.marked(self.spare)

    def marked(self, array):
        longer = np.full(len(array) + 2, MARK, dtype=array.dtype)
        self.ends.append(longer[len(array) :])
        return longer[: len(array)]


def rows_of(found):
    lines = found.content
    weights = np.ones(found.rows) if lines.sample_weight is None else lines.sample_weight
    for k in range(found.rows):
        part = slice(lines.indptr[k], lines.indptr[k + 1])
        entries = zip(lines.indices[part].tolist(), lines.values[part].tolist(), strict=True)
        yield lines.y[k], weights[k], list(entries)


def compiled(cliff, data, fmt, **settings_):
    room = TightRoom()
    room.hold(len(data), 4 if fmt == "libsvm" else 2, fmt == "vw")
    address = cliff.put(data + b"\n")
    if fmt == "libsvm":
        base, n = settings_["base"], settings_["n_features"]
        limit = (LARGEST_INDEX if n is None else n - 1) + (base > 0)

        def kernel(_, count):
            parsers.libsvm(address, len(data), base, limit, room.rows, room.unsure, room.bad, count)

    else:
        wanted = settings_["bits"], settings_["how"] == "all", settings_["constant"]

        def kernel(_, count):
            arrays = room.rows, room.keys, room.spare, room.unsure, room.bad
            parsers.vw(address, len(data), *wanted, *arrays, count)

    found = text.parsed(Block(bytearray(data + b"\n"), len(data), 0), room, kernel)
    assert all((end == MARK).all() for end in room.ends)
    return found


def same(cliff, data, fmt, settings_):
    found = compiled(cliff, data, fmt, **settings_)
    if fmt == "libsvm":
        base = settings_["base"]
        rows, bad = slow.libsvm(data, min(base, 1), settings_["n_features"], base != 1)
    else:
        rows, bad = slow.vw(data, **settings_)
    assert found.n_bad == len(bad), (data, settings_)
    assert [b.line for b in found.bad] == bad[: text.LISTED], (data, settings_)
    assert repr(list(rows_of(found))) == repr([as_numpy(row) for row in rows]), (data, settings_)


def as_numpy(row):
    label, weight, entries = row
    return np.float64(label), np.float64(weight), entries


SEEDS = {
    "libsvm": [
        b"+1 1:0.5 3:2 # comment\n-1 qid:7 2:9.8E-02\n",
        b"0 0:1 5:-3.25e10 2147483646:1\r\n\n# only this\n1\n",
        b"1 1:0.1234567890123456789 2:4.9e-324 3:1.7976931348623157e308 4:1e-5 5:1.\n",
        b"-1.5 1:123456789012345678901234567890 7:.5\n2 3:1 3:2\n1,2 1:1\n",
        b" 3 1:1\t2:2 \n\n\n4 000000000000000000000000001:1 2:00000000000000000000000000.5\n",
        b"1 1:9007199254740993 2:9007199254740992.5 3:0.3 4:5e-324 5:1e309\n",
        b"1 18446744073709551617:1 3:1\n-1 1:1 18446744073709551619:1\n",
    ],
    "vw": [
        b"1 |f a b:2 c:abc 12 :0.5 |g:2 a:3 7\n-1 0.5 tag| 1:2 3:4\n",
        b"1 2 0.5 'tag|x_1 a:1e-2 a\r\n\n| a:0 b:-0.0 z\n",
        b"'tag |12 5 a |99999999999 5\n1|f a\n+1 |f:0.5 x:red y:e5 z:nan\n",
        b"-1 'x |a b |a c |a:2 b:1e400\n1 1 |f :1 :2 :abc\n",
        b"|f 1e:2 \x01a\x02 \xc3\xa9:2e2 b:4.9e-324\n2 3 |:2 a\n",
    ],
}
PIECES = [*b" \t\n\r|:#'+-.eE019aqidnif,\x00\x7f\xff\xc3"]
LONGER = [b"1e400", b"4.9e-324", b"9" * 25, b"0." + b"3" * 30, b"qid:3", b" 1:1", b"|f", b":2.5"]


def mutated(rng, fmt):
    data = bytearray(rng.choice(SEEDS[fmt]))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data[at : at + 1] = bytes([rng.choice(PIECES)])
        elif kind == 1:
            data[at:at] = bytes([rng.choice(PIECES)])
        elif kind == 2:
            del data[at : at + rng.choice((1, 1, 2, 10))]
        elif kind == 3:
            data[at:at] = rng.choice(LONGER)
        elif kind == 4:
            other = rng.choice(SEEDS[fmt])
            data[at:] = other[rng.randrange(len(other)) :]
        else:
            data[at : at + 1] = bytes([rng.randrange(256)])
    return bytes(data)


def some_settings(rng, fmt):
    if fmt == "libsvm":
        return {"base": rng.randrange(3), "n_features": rng.choice((None, None, 1, 3, 5))}
    return {
        "bits": rng.choice((1, 4, 18, 30)),
        "how": rng.choice(("strings", "all")),
        "constant": rng.random() < 0.3,
    }


@pytest.mark.parametrize("fmt", ["libsvm", "vw"])
def test_mutated_files(cliff, fmt):
    """500,000 of each in a soak, a few thousand otherwise."""
    examples = settings().max_examples
    rng = random.Random(examples)
    for _ in range(examples * min(100, 20 + examples // 50)):
        same(cliff, mutated(rng, fmt), fmt, some_settings(rng, fmt))


@pytest.mark.parametrize("fmt", ["libsvm", "vw"])
@given(st.binary(max_size=60) | st.text(alphabet="1 :|\n.e-a#'", max_size=60).map(str.encode))
def test_any_bytes(cliff, fmt, data):
    rng = random.Random(len(data))
    same(cliff, data, fmt, some_settings(rng, fmt))


@pytest.mark.parametrize(
    ("fmt", "data"),
    [
        ("libsvm", b"1\n" * 3000),
        ("libsvm", b"\n".join(b"1" + b"".join(b" %d:1" % k for k in range(10)) for _ in range(99))),
        ("libsvm", b"1" + b"".join(b" %d:1" % k for k in range(3000)) + b" x"),
        ("vw", b"|\n" * 3000),
        ("vw", b"|" + b" a" * 3000),
        ("vw", b"|a" * 3000),
        ("vw", b"\n".join(b"| b a" for _ in range(999))),
    ],
)
@pytest.mark.parametrize("cut", [0, 1, 2])
def test_the_densest_files_fit(cliff, fmt, data, cut):
    data = data[: len(data) - cut]
    wanted = {"base": 0, "n_features": None}
    if fmt == "vw":
        wanted = {"bits": 18, "how": "all", "constant": True}
    same(cliff, data, fmt, wanted)


def nearest(cliff, digits):
    found = compiled(cliff, digits, "libsvm", base=2, n_features=None)
    assert found.rows == 1, digits
    return found.content.y[0]


def exactly(cliff, digits):
    """The label of a row, to the bit and the sign of zero."""
    wanted = float(digits)
    if math.isinf(wanted):
        found = compiled(cliff, digits, "libsvm", base=2, n_features=None)
        assert found.n_bad == 1
        assert "range" in found.bad[0].expected
    else:
        assert repr(nearest(cliff, digits)) == repr(np.float64(wanted)), digits


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back(cliff, value):
    for form in (repr(value), f"{value:.17e}", f"{value:.16e}", f"{value:.40e}", f"{value:.3f}"):
        exactly(cliff, form.encode())


@given(
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,4})?", fullmatch=True
    )
)
def test_every_decimal_is_the_nearest_double(cliff, digits):
    exactly(cliff, digits.encode())


@given(st.floats(min_value=0, max_value=1e308), st.integers(-1, 1), st.integers(0, 800))
def test_halfway_between_two_doubles(cliff, value, step, zeros):
    """Exactly between two doubles, and one unit in a far digit beside it."""
    above = math.nextafter(value, math.inf)
    numerator, denominator = value.as_integer_ratio()
    other, below = above.as_integer_ratio()
    top, bottom = numerator * below + other * denominator, 2 * denominator * below
    places = bottom.bit_length() - 1  # bottom is a power of 2
    digits = str(top * 5**places).zfill(places + 1)
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :]
    text_ = f"{whole}.{part}{'0' * zeros}"
    if step > 0:
        text_ += "1"
    elif step < 0:
        text_ = str(int(whole + part + "0" * zeros) * 10 - 1).zfill(len(text_))
        text_ = f"{text_[: -places - zeros - 1]}.{text_[-places - zeros - 1 :]}"
    exactly(cliff, text_.encode())


@given(st.integers(-4, 23), st.integers(0, 10**6), st.integers(0, 63), st.integers(-1, 1))
def test_halfway_in_few_digits(cliff, q, k, twos, step):
    """w * 10**q of 54 bits, the last of them 1, times a power of 2, and the w beside it."""
    five = 5 ** abs(q)
    if q >= 0:
        w = -(-(2**53) // five) + k % max(1, 2**53 // five) | 1
    else:
        w = (2**53 + 2 * k + 1) * five
    w <<= max(0, min(twos, 64 - w.bit_length()))
    exactly(cliff, f"{w + step}e{q}".encode())


def test_random_digits_many_times(cliff):
    """500,000 in a soak; most of 17 to 20 digits, where the table of powers has to decide."""
    rng = random.Random(settings().max_examples)
    for _ in range(10 * settings().max_examples):
        block = [
            f"{rng.randrange(10 ** rng.randrange(1, 24))}e{rng.randrange(-345, 310)}".encode()
            for _ in range(10)
        ]
        found = compiled(cliff, b"\n".join(block), "libsvm", base=2, n_features=None)
        wanted = [np.float64(v) for v in map(float, block) if math.isfinite(v)]
        assert repr(found.content.y.tolist()) == repr([float(v) for v in wanted])


@njit
def murmur3(address, begin, end, seed):
    return parsers.murmur3(address, begin, end, seed)


@pytest.mark.parametrize(
    ("key", "seed", "hash_"),
    [  # MurmurHash3_x86_32, from several published lists of test vectors
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"!Ce\x87", 0, 0xF55B516B),
        (b"!Ce\x87", 0x5082EDEE, 0x2362F9DE),
        (b"!Ce", 0, 0x7E4A8634),
        (b"!C", 0, 0xA0F7B07A),
        (b"!", 0, 0x72661CF4),
        (b"\x00\x00\x00\x00", 0, 0x2362F9DE),
        (b"\x00", 0, 0x514E28B7),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
        (b"The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD),
    ],
)
def test_murmur3(cliff, key, seed, hash_):
    address = cliff.put(key)
    assert murmur3(address, 0, len(key), np.uint64(seed)) == hash_
    assert slow.murmur3(key, seed) == hash_
