"""The parsers of the core: equal to the slow readers for any bytes, and within their memory.

Texts lie at the end of a page after which there is no memory, so that a read of one byte too far
ends the process. The fuzz programs in core/fuzz test the same with the sanitizers.
"""

import ctypes
import math
import mmap
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import _core
from rosenblatt._core import LineError
from tests.io import slow_readers as slow

LARGEST = 2**31 - 2
BAD_LINES_KEPT = 10
BASES = {0: True, 1: False, 2: None}  # of the settings below: zero_based of parse_libsvm


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
        """The bytes of `data`, which end where the memory ends."""
        self.memory[self.size - len(data) : self.size] = data
        return memoryview(self.memory)[self.size - len(data) : self.size]

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


def parse(text, fmt, settings_):
    if fmt == "vw":
        how = settings_["how"] == "all"
        return _core.parse_vw(text, settings_["bits"], how)
    base, n = settings_["base"], settings_["n_features"]
    max_index = (LARGEST if n is None else n - 1) + (base > 0)
    return _core.parse_libsvm(text, BASES[base], max_index)


def rows_of(found):
    """Rows as the slow readers give them."""
    n = len(found.labels)
    weights = np.ones(n) if found.weights is None else found.weights
    indptr, indices, values = found.indptr, found.indices, found.values
    rows = []
    for k in range(n):
        part = slice(indptr[k], indptr[k + 1])
        entries = list(zip(indices[part].tolist(), values[part].tolist(), strict=True))
        rows.append((float(found.labels[k]), float(weights[k]), entries))
    return rows


def slowly(data, fmt, settings_):
    if fmt == "vw":
        return slow.vw(data, **settings_)
    base = settings_["base"]
    return slow.libsvm(data, min(base, 1), settings_["n_features"], base != 1)


def same(cliff, data, fmt, settings_):
    with cliff.put(data) as text:
        found = parse(text, fmt, settings_)
    rows, bad = slowly(data, fmt, settings_)
    assert found.n_lines == data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
    assert found.n_bad_lines == len(bad), (data, settings_)
    assert [b.line for b in found.bad_lines] == bad[:BAD_LINES_KEPT], (data, settings_)
    for b in found.bad_lines:
        begin = b.offset - (b.column - 1)
        assert data[:begin].count(b"\n") == b.line - 1
        assert begin == 0 or data[begin - 1 : begin] == b"\n"
        assert b"\n" not in data[begin : b.offset]
        assert b.offset <= len(data)
    assert repr(rows_of(found)) == repr(rows), (data, settings_)
    return found


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
    }


@pytest.mark.parametrize("fmt", ["libsvm", "vw"])
def test_mutated_files(cliff, fmt):
    """500,000 of each in a soak, two thousand otherwise."""
    examples = settings().max_examples
    rng = random.Random(examples)
    for _ in range(examples * min(100, 50 + examples // 50)):
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
        wanted = {"bits": 18, "how": "all"}
    same(cliff, data, fmt, wanted)


ENTRIES = [
    "1", "-1", "+.5", "2.", "0.25", "1e5", "3E-7", "-0.0", "4.9e-324", "2.2250738585072011e-308",
    "1.7976931348623157e308", "0.1234567890123456789012345", "123456789012345678901234567890",
    "1e-400", "0e999", "9007199254740993", "9.86899159742946E-02", "0.09868991597429461",
]  # fmt: skip
NUMBERS = st.sampled_from(ENTRIES) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
DAMAGE = st.sampled_from(["1e309", "-", "e5", "1e", "0x1", "nan", "inf", "1.2.3", "", "1_0", "½"])
BLANKS = st.sampled_from([" ", " ", "  ", "\t", " \t "])
LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n"])


@st.composite
def libsvm_lines(draw):
    value = NUMBERS if draw(st.integers(0, 3)) else NUMBERS | DAMAGE
    words = [draw(value)]
    if draw(st.integers(0, 5)) == 0:
        words.append(draw(st.sampled_from(["qid:7", "qid:0", "qid:", "qid:-1", "qid:1.5"])))
    indices = draw(st.lists(st.integers(0, 30) | st.integers(0, 2**31), max_size=6))
    indices = indices if draw(st.integers(0, 5)) == 0 else sorted(set(indices))
    words += [f"{index}:{draw(value)}" for index in indices]
    line = "".join(draw(BLANKS) + word for word in words).removeprefix(" ")
    return line + draw(st.sampled_from(["", "", " ", "#1:1", " # comment"])) + draw(LINE_ENDS)


@st.composite
def vw_lines(draw):
    value = NUMBERS if draw(st.integers(0, 3)) else NUMBERS | DAMAGE
    name = st.sampled_from(["a", "b", "12", "0", "é", "x_1", "price", "a^b"])
    line = " ".join(draw(st.lists(value, max_size=3)))
    line += draw(st.sampled_from([" ", " ", " 'tag ", " tag", "", "\t"]))
    for _ in range(draw(st.integers(0, 3))):
        line += "|" + draw(st.just("") | name)
        line += draw(st.just("") | value.map(lambda v: ":" + v))
        for _ in range(draw(st.integers(0, 5))):
            line += draw(BLANKS) + draw(st.just("") | name)
            line += draw(st.just("") | (value | name).map(lambda v: ":" + v))
        line += draw(st.sampled_from(["", " "]))
    return line + draw(LINE_ENDS)


LINES = {"libsvm": libsvm_lines(), "vw": vw_lines()}


@pytest.mark.parametrize("fmt", ["libsvm", "vw"])
@given(data=st.data(), seed=st.integers(0, 2**32), whole=st.booleans())
def test_lines_and_cuts(cliff, fmt, data, seed, whole):
    """Equal to the slow reader, and to itself where the block is cut after any line."""
    text = "".join(data.draw(st.lists(LINES[fmt], max_size=8))).encode()
    text = text if whole else text.rstrip(b"\r\n")  # no newline after the last line
    wanted = some_settings(random.Random(seed), fmt)
    found = same(cliff, text, fmt, wanted)
    parts = [parse(line, fmt, wanted) for line in re.split(rb"(?<=\n)", text)]
    assert repr([row for part in parts for row in rows_of(part)]) == repr(rows_of(found))
    assert sum(part.n_bad_lines for part in parts) == found.n_bad_lines
    assert max(part.max_index for part in parts) == found.max_index
    assert any(part.has_zero for part in parts) == found.has_zero


@pytest.mark.parametrize("fmt", ["libsvm", "vw"])
def test_line_ends(fmt):
    """CRLF, blank lines and a missing last newline change nothing."""
    line = b"1 3:0.5" if fmt == "libsvm" else b"1 |f 3:0.5"
    wanted = {
        "libsvm": {"base": 0, "n_features": None},
        "vw": {"bits": 18, "how": "all"},
    }[fmt]
    one = rows_of(parse(line, fmt, wanted))
    assert len(one) == 1
    for text in (line + b"\n", line + b"\r\n", b"\n\r\n \n" + line, line + b"\n\n\n"):
        assert rows_of(parse(text, fmt, wanted)) == one
    for end in (b"\n", b"\r\n"):
        assert rows_of(parse(line + end + line, fmt, wanted)) == one * 2


@pytest.mark.parametrize(
    ("fmt", "line", "error", "column"),
    [
        ("libsvm", b"x 1:1", LineError.LABEL, 1),
        ("libsvm", b"1x 1:1", LineError.LABEL, 2),
        ("libsvm", b"1e999 1:1", LineError.OUT_OF_RANGE, 1),
        ("libsvm", b"1 qid:x 1:1", LineError.QUERY, 7),
        ("libsvm", b"1 x:1", LineError.INDEX, 3),
        ("libsvm", b"1 12 3:4", LineError.INDEX, 5),
        ("libsvm", b"1 2:1 2:1", LineError.INDEX_ORDER, 7),
        ("libsvm", b"1 0:1", LineError.INDEX_ZERO, 3),
        ("libsvm", b"1 2147483648:1", LineError.INDEX_TOO_LARGE, 3),
        ("libsvm", b"1 3:x", LineError.VALUE, 5),
        ("libsvm", b"1 3:", LineError.VALUE, 5),
        ("libsvm", b"1 3:1e", LineError.VALUE, 7),
        ("libsvm", b"1 3:-1e999", LineError.OUT_OF_RANGE, 5),
        ("libsvm", b"1 3:4x", LineError.AFTER_VALUE, 6),
        ("vw", b"1\t|a b", LineError.TAB_BEFORE_BAR, 2),
        ("vw", b"1 2", LineError.MISSING_BAR, 4),
        ("vw", b"'tag x |a", LineError.MISSING_BAR, 6),
        ("vw", b"1 2 3 4 |a", LineError.LABEL_WORDS, 7),
        ("vw", b"x |a", LineError.LABEL_WORDS, 1),
        ("vw", b"1 -2 |a", LineError.NEGATIVE_WEIGHT, 3),
        ("vw", b"1e999 |a", LineError.OUT_OF_RANGE, 1),
        ("vw", b"1 |:2 a", LineError.NAMESPACE_NAME, 4),
        ("vw", b"1 |a:x b", LineError.NAMESPACE_SCALE, 6),
        ("vw", b"1 |a b:3x", LineError.FEATURE_VALUE, 9),
        ("vw", b"1 |a b:x|c", LineError.FEATURE_VALUE, 9),
        ("vw", b"1 |a b:1e999", LineError.OUT_OF_RANGE, 8),
        ("vw", b"1 |a b:1e308 b:1e308", LineError.OUT_OF_RANGE, 21),
        ("vw", b"1 |a b\rc", LineError.AFTER_FEATURE, 7),
    ],
)
def test_malformed_lines(cliff, fmt, line, error, column):
    """Where and why, as the first and as the last line of a block."""
    good = b"1 1:1\n" if fmt == "libsvm" else b"1 |a b\n"
    for data, number in ((line, 1), (line + b"\n" + good * 9, 1), (good * 9 + line, 10)):
        with cliff.put(data) as text:
            found = _core.parse_vw(text) if fmt == "vw" else _core.parse_libsvm(text, False)
        assert found.n_bad_lines == 1
        (bad,) = found.bad_lines
        assert (bad.line, bad.column, bad.error) == (number, column, error)
        assert bad.offset == data.index(line) + column - 1
        assert len(found.labels) == data.count(good)


def test_ten_malformed_lines_are_listed():
    found = _core.parse_libsvm(b"x\n" * 25 + b"1 1:1")
    assert (found.n_lines, found.n_bad_lines, len(found.labels)) == (26, 25, 1)
    assert [bad.line for bad in found.bad_lines] == [*range(1, 11)]


def test_base_of_indices():
    text = b"1 0:3 2:4\n1 1:5"
    found = _core.parse_libsvm(text, True)
    assert (found.indices.tolist(), found.max_index, found.has_zero) == ([0, 2, 1], 2, True)
    found = _core.parse_libsvm(text)
    assert (found.indices.tolist(), found.max_index, found.has_zero) == ([-1, 1, 0], 2, True)
    found = _core.parse_libsvm(text, False)
    assert (found.indices.tolist(), found.max_index, found.has_zero) == ([0], 1, False)


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, dtype=np.uint8)]
)
def test_kinds_of_text(kind):
    text = b"1 1:0.5 7:2\n-1 2:3"
    found = _core.parse_libsvm(kind(text))
    assert rows_of(found) == [(1.0, 1.0, [(0, 0.5), (6, 2.0)]), (-1.0, 1.0, [(1, 3.0)])]
    assert found.weights is None
    assert [a.dtype for a in (found.labels, found.indptr, found.indices, found.values)] == [
        np.float64, np.int32, np.int32, np.float64,
    ]  # fmt: skip
    found = _core.parse_vw(kind(b"1 2 |a b\n1 |a b"))
    assert found.weights.tolist() == [2.0, 1.0]


def test_text_that_is_refused():
    with pytest.raises(TypeError, match="bytes-like"):
        _core.parse_libsvm("1 1:1")
    with pytest.raises(ValueError, match="contiguous"):
        _core.parse_libsvm(np.frombuffer(b"1 1:1", dtype=np.uint8)[::2])
    with pytest.raises(ValueError, match="max_index"):
        _core.parse_libsvm(b"", None, 2**31 + 1)
    with pytest.raises(ValueError, match="bits"):
        _core.parse_vw(b"", 31)


def test_nothing_at_all():
    for found in (_core.parse_libsvm(b""), _core.parse_vw(b""), _core.parse_vw(b"\n")):
        assert found.labels.size == found.indices.size == found.values.size == 0
        assert found.indptr.tolist() == [0]


def test_threads_parse_side_by_side():
    """Each thread has its own memory; the arrays stay as they are when it is used again."""
    texts = [b"%d %d:%d\n" % (k % 7, k + 1, k) * (1 + 37 * k % 500) for k in range(200)]
    alone = [rows_of(_core.parse_libsvm(text)) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert [rows_of(f) for f in threads.map(_core.parse_libsvm, texts)] == alone


def exactly(cliff, digits):
    """The label of a row, to the bit and the sign of zero."""
    wanted = float(digits)
    with cliff.put(digits) as text:
        found = _core.parse_libsvm(text)
    if math.isinf(wanted):
        assert [bad.error for bad in found.bad_lines] == [LineError.OUT_OF_RANGE]
    else:
        assert repr(found.labels.tolist()) == repr([wanted]), digits


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
        with cliff.put(b"\n".join(block)) as text:
            found = _core.parse_libsvm(text)
        wanted = [v for v in map(float, block) if math.isfinite(v)]
        assert repr(found.labels.tolist()) == repr(wanted)


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
def test_murmur3(key, seed, hash_):
    assert _core.murmur3(key, seed) == hash_
    assert slow.murmur3(key, seed) == hash_


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
def test_out_of_memory_is_an_error():
    """The rows of this text need six times its size; nothing is lost but the call."""
    code = """
import resource, numpy
from rosenblatt import _core
tries = (_core.parse_libsvm, b"1\\n"), (_core.parse_vw, b"|\\n")
texts = [line * (1 << 24) for _, line in tries]
used = 4096 * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26), resource.RLIM_INFINITY))
for (parse, line), text in zip(tries, texts):
    try:
        parse(text)
    except MemoryError:
        print("refused", len(parse(line).labels))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "refused 1\nrefused 1\n", done
