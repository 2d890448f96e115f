"""Parsers: the compiled loops that read LIBSVM and VW text. Bytes in, arrays out.

Nothing reads past the text: the byte at `stop` is a newline, no loop steps over a newline except
those over lines, and these end at `stop`. Nothing writes past the arrays: an entry takes at least
four bytes of LIBSVM (" 1:1") and two of VW text (" a"), a row at least two, and the callers make
the arrays that large.

Numbers are the nearest double, always. Let the digits be an integer w and the number w * 10**q.

- w <= 2**53 and abs(q) <= 22: both are doubles, and their product or quotient is rounded once
  [Clinger 1990].
- Otherwise w * 5**q is taken from a table of 128 bits; it settles almost every number of up to 19
  digits, and says when it does not [Lemire 2021, arXiv 2101.11408]. Longer ones lie between w and
  w + 1, which mostly round alike.
- What is left (and subnormals) is noted, worked out by Python's float, and looked up in a second
  run.

Every function here calls only functions of this file: numba's disk cache does not notice an edit
made elsewhere.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from rosenblatt.data.compiled import only_linked, quick_to_load

ENTRY: Any = {"nogil": True, "error_model": "numpy"}
# Only parsers call these: no way in from Python to compile, no counting of references.
COMPILED: Any = {"nogil": True, "error_model": "numpy", "_nrt": False} | only_linked()
INLINED = COMPILED | {"forceinline": True}

NEWLINE, SPACE, TAB, RETURN, HASH, QUOTE = 10, 32, 9, 13, 35, 39
PLUS, MINUS, POINT, ZERO, COLON, BAR, LOWER_E = 43, 45, 46, 48, 58, 124, 101

# What a line lacked; the words are in data/lines.py.
FINE, LABEL, INDEX, VALUE, RANGE, RISING, FROM_ONE, WIDE, QUERY, AFTER, NO_BAR = range(11)
WEIGHT, LABELS, NAMESPACE, SCALE, TEXT_VALUE, MIDDLE, TABBED = range(11, 18)
HARD = -1

# Slots of `count`.
ROWS, ENTRIES, LINES, BAD, UNSURE, KNOWN, LARGEST, HAS_ZERO, WEIGHTED = range(9)

STRICT, AUTO = 1, 2  # bases of LIBSVM indices besides 0: from 1; from 1 unless a 0 is met
VW_CONSTANT = 11650396  # where VW puts the feature that is always 1


class Rows(NamedTuple):
    """Where rows go: label and weight of each, where its entries end, and the entries."""

    label: Any
    weight: Any
    indptr: Any
    indices: Any
    values: Any


def entry_point(function: Any) -> Any:
    """Called from Python: njit with the disk cache, or without where there is no place for one."""
    try:
        return quick_to_load(njit(cache=True, **ENTRY)(function))
    except RuntimeError:
        return njit(**ENTRY)(function)


def _powers_of_five() -> Any:
    """The leading 128 bits of 5**q, q = -342 ... 308, rounded up for q < 0 and down otherwise."""
    table = np.empty((651, 2), dtype=np.uint64)
    for q in range(-342, 309):
        five = 5 ** abs(q)
        if q >= 0:
            bits = (five << 128) >> five.bit_length()
        else:
            z = (five - 1).bit_length()
            bits = (1 << (z + 127 if q >= -27 else 2 * z + 128)) // five + 1
            bits >>= max(0, bits.bit_length() - 128)
        table[q + 342] = bits >> 64, bits & 0xFFFFFFFFFFFFFFFF
    return table


FIVES = _powers_of_five()
TENS = np.array([float(10**k) for k in range(23)])  # exact
U = np.uint64
TEN, ONE, ALL = U(10), U(1), U(0xFFFFFFFFFFFFFFFF)
EXACT = U(1 << 53)
MASK32 = U(0xFFFFFFFF)


@intrinsic
def times(typing_context, a, b):
    """The product of two uint64 as (high, low)."""

    def generate(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))
        low = builder.trunc(product, ir.IntType(64))
        return context.make_tuple(builder, signature.return_type, (high, low))

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


@intrinsic
def leading_zeros(typing_context, w):
    """How many bits of a uint64 > 0 lie above its highest 1."""

    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


@intrinsic
def as_double(typing_context, bits):
    """The float64 with these bits."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def byte(typing_context, buf, p):
    """The byte at p of the text that begins at the address `buf`.

    An address, not an array: numba counts references to arrays, which costs more than parsing.
    """

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(builder.add(args[0], args[1]), ir.IntType(8).as_pointer())
        return builder.zext(builder.load(pointer), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def word(typing_context, buf, p):
    """The four bytes from p on as one number, the first of them lowest."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(builder.add(args[0], args[1]), ir.IntType(32).as_pointer())
        read = builder.load(pointer, align=1)
        if sys.byteorder == "big":
            read = builder.bswap(read)
        return builder.zext(read, ir.IntType(64))

    return types.uint64(types.int64, types.int64), generate


@njit(**INLINED)
def is_digit(c):
    return c >= ZERO and c <= ZERO + 9


@njit(**INLINED)
def is_blank(c):
    return c == SPACE or (c >= TAB and c <= RETURN and c != NEWLINE)


@njit(**INLINED)
def ends_row(c):
    return c == NEWLINE or c == HASH


@njit(**INLINED)
def ends_entry(c):
    return is_blank(c) or ends_row(c)


@njit(**COMPILED)
def nearest(w, q):
    """(status, the double nearest to w * 10**q) for w > 0: FINE, RANGE or HARD."""
    if q > 308:
        return RANGE, 0.0
    if q < -342:
        return HARD, 0.0
    zeros = leading_zeros(w)
    w = w << zeros
    high, low = times(w, FIVES[q + 342, 0])
    if (high & U(0x1FF)) == U(0x1FF):  # the bits that decide are not settled: 64 more
        more, _ = times(w, FIVES[q + 342, 1])
        low = low + more
        if more > low:
            high = high + ONE
    if low == ALL and (q < -27 or q > 55):
        return HARD, 0.0
    top = high >> U(63)
    shift = top + U(9)
    mantissa = high >> shift
    power = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if power <= 0:
        return HARD, 0.0
    tie = low <= ONE and q >= -4 and q <= 23 and (mantissa & U(3)) == ONE
    if tie and mantissa << shift == high:
        mantissa = mantissa & ~ONE  # exactly between two doubles: to the even one
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa >= U(1 << 53):
        mantissa = U(1 << 52)
        power += 1
    if power >= 2047:
        return RANGE, 0.0
    return FINE, as_double((mantissa & U((1 << 52) - 1)) | (U(power) << U(52)))


@njit(**COMPILED)
def nearest_of_many(buf, p, end, q):
    """The same for more than 19 digits (with at most one point) in buf[p:end]."""
    w, kept, cut = U(0), 0, False
    for k in range(p, end):
        if byte(buf, k) == POINT:
            continue
        if kept < 19:
            w = w * TEN + U(byte(buf, k) - ZERO)
            if w > U(0):
                kept += 1
        else:
            q += 1
            cut = cut or byte(buf, k) != ZERO
    if w == U(0):
        return FINE, 0.0
    status, value = nearest(w, q)
    if cut:
        above, higher = nearest(w + ONE, q)
        if above != status or higher != value:
            return HARD, 0.0
    return status, value


@njit(**INLINED)
def number(buf, p):
    """(where it ends, status, value) of the number at p: FINE, VALUE, RANGE or HARD."""
    negative = byte(buf, p) == MINUS
    if negative or byte(buf, p) == PLUS:
        p += 1
    first, w = p, U(0)
    while is_digit(byte(buf, p)):
        w = w * TEN + U(byte(buf, p) - ZERO)
        p += 1
    digits, q = p - first, 0
    if byte(buf, p) == POINT:
        p += 1
        after = p
        while is_digit(byte(buf, p)):
            w = w * TEN + U(byte(buf, p) - ZERO)
            p += 1
        q = after - p
        digits -= q
    last = p
    if byte(buf, p) | 32 == LOWER_E and digits > 0:
        p += 1
        down = byte(buf, p) == MINUS
        if down or byte(buf, p) == PLUS:
            p += 1
        if not is_digit(byte(buf, p)):
            digits = 0
        e = 0
        while is_digit(byte(buf, p)):
            e = min(e * 10 + (byte(buf, p) - ZERO), 1 << 50)
            p += 1
        q += -e if down else e
    status, value = FINE, 0.0
    if digits > 0 and digits <= 19 and w <= EXACT and q >= -22 and q <= 22:
        value = np.float64(np.int64(w))
        value = value / TENS[-q] if q < 0 else value * TENS[q]
    elif digits == 0:
        status = VALUE
    elif digits > 19:
        status, value = nearest_of_many(buf, first, last, q)
    elif w > U(0):
        status, value = nearest(w, q)
    return p, status, -value if negative else value


@njit(**COMPILED)
def looked_up(unsure, count, begin, end):
    """What Python found the number at `begin` to be; 1.0 as long as it was not asked."""
    low, high = 0, count[KNOWN]
    if high < 0:
        unsure[count[UNSURE], 0] = begin
        unsure[count[UNSURE], 1] = end
        count[UNSURE] += 1
        value = 1.0
    else:
        while low < high:
            middle = (low + high) // 2
            if unsure[middle, 0] < begin:
                low = middle + 1
            else:
                high = middle
        value = as_double(U(unsure[low, 2]))
    return value


@njit(**COMPILED)
def sure_number(buf, p, unsure, count):
    """(where it ends, FINE, VALUE or RANGE, value) of the number at p."""
    end, status, value = number(buf, p)
    if status == HARD:
        value = looked_up(unsure, count, p, end)
        status = FINE if abs(value) < np.inf else RANGE
    return end, status, value


@njit(**COMPILED)
def note(bad, count, begin, p, lack):
    """A malformed line: its number, where it begins, where reading it ended, what it lacked."""
    k = count[BAD]
    if k < bad.shape[0]:
        bad[k, 0], bad[k, 1], bad[k, 2], bad[k, 3] = count[LINES], begin, p, lack
    count[BAD] = k + 1


@entry_point
def libsvm(buf, stop, base, limit, rows, unsure, bad, count):
    """All lines of the text: `label [qid:n] index:value ... [# comment]`.

    `base` is 0, STRICT or AUTO; `limit` the largest index allowed, as written.
    """
    label, indptr, indices, values = rows.label, rows.indptr, rows.indices, rows.values
    indptr[0] = 0
    p = 0
    while p < stop:
        count[LINES] += 1
        begin = p
        while is_blank(byte(buf, p)):
            p += 1
        if not ends_row(byte(buf, p)):
            p, lack, y = sure_number(buf, p, unsure, count)
            if lack != RANGE and (lack != FINE or not ends_entry(byte(buf, p))):
                lack = LABEL
            if lack == FINE:
                p, lack = query(buf, p)
            if lack == FINE:
                p, lack = entries(buf, p, base, limit, indices, values, unsure, count)
            if lack == FINE:
                label[count[ROWS]] = y
                count[ROWS] += 1
                indptr[count[ROWS]] = count[ENTRIES]
            else:
                note(bad, count, begin, p, lack)
        while byte(buf, p) != NEWLINE:
            p += 1
        p += 1


@njit(**COMPILED)
def query(buf, p):
    """(what follows it, what it lacked) of an optional qid:n, which is not kept."""
    while is_blank(byte(buf, p)):
        p += 1
    if not (
        byte(buf, p) == 113
        and byte(buf, p + 1) == 105
        and byte(buf, p + 2) == 100
        and byte(buf, p + 3) == COLON
    ):
        return p, FINE
    p += 4
    digits = p
    while is_digit(byte(buf, p)):
        p += 1
    return p, FINE if p > digits and ends_entry(byte(buf, p)) else QUERY


@njit(**COMPILED)
def entries(buf, p, base, limit, indices, values, unsure, count):
    """(where they end, what they lacked) of the entries of one row.

    One way out: with more, numba counts references to the arrays all along.
    """
    offset = 0 if base == 0 else 1
    before = 0 if base == STRICT else -1
    first = at = count[ENTRIES]
    zero, lack = 0, FINE
    while True:
        while is_blank(byte(buf, p)):
            p += 1
        if ends_row(byte(buf, p)):
            break
        begin, index = p, 0
        while is_digit(byte(buf, p)):
            index = index * 10 + (byte(buf, p) - ZERO)
            p += 1
        if p == begin or byte(buf, p) != COLON:
            lack = INDEX
            break
        if p - begin > 18:
            index = long_index(buf, begin, p)
        if index <= before or index > limit:
            lack = WIDE if index > limit else FROM_ONE if index == 0 and at == first else RISING
            p = begin
            break
        begin = p + 1
        p, lack, value = number(buf, begin)
        if lack == HARD:
            value = looked_up(unsure, count, begin, p)
            lack = FINE if abs(value) < np.inf else RANGE
        if lack == FINE and not ends_entry(byte(buf, p)):
            lack = AFTER
        if lack != FINE:
            break
        indices[at] = index - offset
        values[at] = value
        at += 1
        before = index
        if index == 0:
            zero = 1
    if lack == FINE:
        count[ENTRIES] = at
        count[LARGEST] = max(count[LARGEST], before)
        count[HAS_ZERO] |= zero
    return p, lack


@njit(**COMPILED)
def long_index(buf, p, end):
    """An index of more than 18 digits: leading zeros, or too large."""
    index = 0
    while p < end:
        index = min(index * 10 + (byte(buf, p) - ZERO), 1 << 40)
        p += 1
    return index


@njit(**COMPILED)
def murmur3(buf, begin, end, seed):
    """MurmurHash3_x86_32 of buf[begin:end] [Appleby, public domain]; 32 bits held in 64."""
    h = seed & MASK32
    whole = begin + (end - begin) // 4 * 4
    for p in range(begin, whole, 4):
        k = word(buf, p)
        h ^= scrambled(k)
        h = (h << U(13) | h >> U(19)) & MASK32
        h = (h * U(5) + U(0xE6546B64)) & MASK32
    k = U(0)
    for p in range(end - 1, whole - 1, -1):
        k = k << U(8) | U(byte(buf, p))
    h ^= scrambled(k)
    h ^= U(end - begin)
    h ^= h >> U(16)
    h = (h * U(0x85EBCA6B)) & MASK32
    h ^= h >> U(13)
    h = (h * U(0xC2B2AE35)) & MASK32
    return h ^ h >> U(16)


@njit(**INLINED)
def scrambled(k):
    k = (k * U(0xCC9E2D51)) & MASK32
    k = (k << U(15) | k >> U(17)) & MASK32
    return (k * U(0x1B873593)) & MASK32


@njit(**COMPILED)
def hashed(buf, begin, end, seed, everything):
    """VW's hash of a name: `--hash all`, or `strings`, where a name of digits is seed + number."""
    if everything:
        return murmur3(buf, begin, end, seed)
    while begin < end and byte(buf, begin) <= SPACE:
        begin += 1
    while begin < end and byte(buf, end - 1) <= SPACE:
        end -= 1
    total = U(0)
    for p in range(begin, end):
        if not is_digit(byte(buf, p)):
            return murmur3(buf, begin, end, seed)
        total = total * TEN + U(byte(buf, p) - ZERO)
    return total + seed


@njit(**INLINED)
def ends_token(c):
    return c == SPACE or c == TAB or c == BAR or c == RETURN or c == NEWLINE


@entry_point
def vw(buf, stop, bits, everything, constant, rows, keys, spare, unsure, bad, count):
    """All lines of buf[:stop]: `[label [weight [base]]] [tag]|namespace feature:value ...`.

    Features get the positions hash mod 2**bits. Rows come out sorted, repeats added up in the order
    in which they stand. `keys` and `spare` are room for sorting.
    """
    p = 0
    rows.indptr[0] = 0
    mask = (ONE << U(bits)) - ONE
    while p < stop:
        count[LINES] += 1
        begin = p
        while byte(buf, p) == SPACE or byte(buf, p) == TAB or byte(buf, p) == RETURN:
            p += 1
        if byte(buf, p) != NEWLINE:
            p, lack = vw_line(buf, begin, mask, everything, constant, rows, unsure, count)
            if lack == FINE:
                lack = gather(rows, keys, spare, count)
            if lack != FINE:
                note(bad, count, begin, p, lack)
        while byte(buf, p) != NEWLINE:
            p += 1
        p += 1


@njit(**COMPILED)
def vw_line(buf, p, mask, everything, constant, rows, unsure, count):
    """(where it ends, what it lacked). The row is complete but for `gather`."""
    row = count[ROWS]
    p, lack = vw_label(buf, p, rows, row, unsure, count)
    if lack != FINE:
        return p, lack
    at = count[ENTRIES]
    while byte(buf, p) == BAR:
        p += 1
        space, scale, unnamed = U(0), 1.0, 0
        if byte(buf, p) == COLON:
            return p, NAMESPACE
        if not ends_token(byte(buf, p)):
            begin = p
            while not ends_token(byte(buf, p)) and byte(buf, p) != COLON:
                p += 1
            space = hashed(buf, begin, p, space, everything)
            if byte(buf, p) == COLON:
                p, lack, scale = sure_number(buf, p + 1, unsure, count)
                if lack != FINE or not ends_token(byte(buf, p)):
                    return p, RANGE if lack == RANGE else SCALE
        while byte(buf, p) == SPACE or byte(buf, p) == TAB:
            p += 1
            if ends_token(byte(buf, p)):
                continue
            begin = p
            while not ends_token(byte(buf, p)) and byte(buf, p) != COLON:
                p += 1
            name, value = p, 1.0
            place = hashed(buf, begin, name, space, everything)
            if byte(buf, p) == COLON:
                p, lack, value, text = vw_value(buf, name + 1)
                if lack == HARD:
                    value = looked_up(unsure, count, name + 1, p)
                    lack = FINE if abs(value) < np.inf else RANGE
                if lack != FINE:
                    return p, lack
                if text:
                    place = hashed(buf, name + 1, p, place, everything)
                elif name == begin:
                    place = space + U(unnamed)
                    unnamed += 1
                value = 1.0 if text else value * scale
            else:
                value = scale
            if not abs(value) < np.inf:
                return p, RANGE
            if value != 0.0:
                rows.indices[at] = np.int64(place & mask)
                rows.values[at] = value
                at += 1
    if byte(buf, p) != NEWLINE and not (byte(buf, p) == RETURN and byte(buf, p + 1) == NEWLINE):
        return p, MIDDLE
    if constant:
        rows.indices[at] = np.int64(U(VW_CONSTANT) & mask)
        rows.values[at] = 1.0
        at += 1
    rows.indptr[row + 1] = at
    return p, FINE


@njit(**COMPILED)
def vw_label(buf, p, rows, row, unsure, count):
    """(the first bar, what was lacking): label, weight, base and tag, all of them optional."""
    rows.label[row], rows.weight[row] = np.nan, 1.0
    words = 0
    while True:
        while byte(buf, p) == SPACE:
            p += 1
        if byte(buf, p) == BAR:
            return p, FINE
        begin = p
        while not ends_token(byte(buf, p)):
            p += 1
        if byte(buf, p) == BAR:
            return p, FINE  # a word that touches the bar is the tag
        if byte(buf, p) != SPACE:
            return p, TABBED if byte(buf, p) == TAB else NO_BAR
        if byte(buf, begin) == QUOTE:
            while byte(buf, p) == SPACE:
                p += 1
            return p, FINE if byte(buf, p) == BAR else NO_BAR
        end, lack, value = sure_number(buf, begin, unsure, count)
        if lack == RANGE:
            return end, RANGE
        if lack != FINE or end != p or words == 3:
            return begin, LABELS
        if words == 0:
            rows.label[row] = value
        elif words == 1:
            if value < 0:
                return begin, WEIGHT
            rows.weight[row] = value
            count[WEIGHTED] = 1
        words += 1


@njit(**COMPILED)
def vw_value(buf, begin):
    """(where it ends, what it lacked or HARD, the number, whether it is text) after a colon."""
    p, lack, value = number(buf, begin)
    if lack != VALUE and ends_token(byte(buf, p)):
        return p, lack, value, False
    if lack != VALUE or like_a_number(buf, begin):
        return p, TEXT_VALUE, 0.0, False
    p = begin
    while not ends_token(byte(buf, p)):
        p += 1
    return p, TEXT_VALUE if byte(buf, p) == BAR else FINE, 1.0, True  # VW reads on over the bar


@njit(**COMPILED)
def like_a_number(buf, p):
    """Whether VW would take this value, which is no number, for one: "3x", "-", ".e5", "info"."""
    plus = byte(buf, p) == PLUS
    if plus or byte(buf, p) == MINUS:
        p += 1
    a, b, c = byte(buf, p), 0, 0
    if not ends_token(a):
        b = byte(buf, p + 1)
        if not ends_token(b):
            c = byte(buf, p + 2)
    if is_digit(a) or (a == POINT and is_digit(b)):
        return True
    a, b, c = a | 32, b | 32, c | 32
    if (a == 110 and b == 97 and c == 110) or (a == 105 and b == 110 and c == 102):  # nan, inf
        return True
    if plus:
        return False
    if byte(buf, p) == POINT:
        p += 1
    if byte(buf, p) | 32 == LOWER_E:
        p += 1
        if byte(buf, p) == MINUS:
            p += 1
        while is_digit(byte(buf, p)):
            p += 1
    return ends_token(byte(buf, p))


@njit(**COMPILED)
def sort(keys, size):
    """By insertion, first among keys far apart [Shell 1959; the gaps are Tokuda's].

    Numba's own sort takes seconds to compile.
    """
    gap = 1
    while size > 64 and gap * 9 // 4 + 1 < size:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for k in range(gap, size):
            key, at = keys[k], k
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key
        gap = gap * 4 // 9


@njit(**COMPILED)
def gather(rows, keys, spare, count):
    """Sort the entries of the row just read, add up repeats, and count the row."""
    row, first = count[ROWS], count[ENTRIES]
    size = rows.indptr[row + 1] - first
    rising = True
    for k in range(first + 1, first + size):
        if rows.indices[k] <= rows.indices[k - 1]:
            rising = False
            break
    at = first + size
    if not rising:
        for k in range(size):  # the place in the row breaks ties, so the sort is stable
            keys[k] = U(rows.indices[first + k]) << U(32) | U(k)
            spare[k] = rows.values[first + k]
        sort(keys, size)
        at = first - 1
        before = -1
        for k in range(size):
            index, value = np.int64(keys[k] >> U(32)), spare[np.int64(keys[k] & MASK32)]
            if index == before:
                rows.values[at] += value
                if not abs(rows.values[at]) < np.inf:
                    return RANGE
            else:
                at += 1
                rows.indices[at], rows.values[at], before = index, value, index
        at += 1
    rows.indptr[row + 1] = at
    count[ROWS] = row + 1
    count[ENTRIES] = at
    return FINE
