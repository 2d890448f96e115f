"""The formats once more, slowly and plainly: what the compiled readers are compared with.

Each function takes the bytes of a file and gives (rows, bad): a row is (label, weight, entries as
(index, value) pairs); bad holds the numbers of the malformed lines, from 1.
"""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NO_TEXT = re.compile(rb"[+-]?([0-9]|\.[0-9]|nan|inf)|-?\.?([eE]-?[0-9]*)?$", re.I | re.S)
LARGEST = 2**31 - 2


class MalformedError(Exception):
    pass


def expect(truth):
    if not truth:
        raise MalformedError


def number(text):
    expect(NUMBER.fullmatch(text))
    value = float(text)
    expect(math.isfinite(value))
    return value


def by_line(data, parse):
    lines = data.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    rows, bad = [], []
    for k, line in enumerate(lines, start=1):
        try:
            row = parse(line)
        except MalformedError:
            bad.append(k)
        else:
            rows += [] if row is None else [row]
    return rows, bad


def libsvm(data, base=1, n_features=None, zero_allowed=True):
    """base 1 with zero_allowed is "auto" before anything is decided: index 0 becomes -1."""

    def parse(line):
        words = line.partition(b"#")[0].split()
        if not words:
            return None
        label, entries, before = number(words[0]), [], -1
        words = words[1:]
        if words and words[0].startswith(b"qid:"):
            expect(re.fullmatch(rb"qid:[0-9]+", words[0]))
            words = words[1:]
        for word in words:
            index, colon, value = word.partition(b":")
            expect(colon and re.fullmatch(rb"[0-9]+", index))
            index = int(index)
            expect(index > before and (index > 0 or zero_allowed or base == 0))
            expect(index - base <= (LARGEST if n_features is None else n_features - 1))
            entries.append((index - base, number(value)))
            before = index
        return label, 1.0, entries

    return by_line(data, parse)


def murmur3(key, seed):
    """MurmurHash3_x86_32, after Appleby's description."""

    def rotate(x, r):
        return (x << r | x >> (32 - r)) & 0xFFFFFFFF

    h = seed & 0xFFFFFFFF
    for k in range(0, len(key), 4):
        piece = key[k : k + 4]
        word = int.from_bytes(piece, "little") * 0xCC9E2D51 & 0xFFFFFFFF
        h ^= rotate(word, 15) * 0x1B873593 & 0xFFFFFFFF
        if len(piece) == 4:
            h = (rotate(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= len(key)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def vw_hash(name, seed, how):
    if how == "strings":
        name = name.strip(bytes(range(33)))
        if re.fullmatch(rb"[0-9]*", name):
            return int(name or b"0") + seed
    return murmur3(name, seed)


def vw(data, bits=18, how="strings", constant=False):
    def parse(line):
        if not line.strip(b" \t\r"):
            return None
        line = line.removesuffix(b"\r")
        before, bar, after = line.partition(b"|")
        expect(bar and not re.search(rb"[\t\r]", before))
        words = before.split(b" ")
        tag = words.pop()  # what touches the bar: a tag or nothing
        words = [w for w in words if w]
        if not tag and words and words[-1].startswith(b"'"):
            words.pop()
        numbers = [number(w) for w in words]
        expect(len(numbers) <= 3)
        label, weight, _ = numbers + [math.nan, 1.0, 0.0][len(numbers) :]
        expect(weight >= 0)
        spaces = after.split(b"|")
        entries = {}
        for k, space in enumerate(spaces):
            expect(b"\r" not in space and not space.startswith(b":"))
            for position, value in features(space, k + 1 == len(spaces)):
                if value != 0:
                    position %= 2**bits
                    entries[position] = entries.get(position, 0.0) + value
                    expect(math.isfinite(entries[position]))
        if constant:
            position = 11650396 % 2**bits
            entries[position] = entries.get(position, 0.0) + 1.0
        return label, weight, sorted(entries.items())

    def features(space, last):
        head, *words = re.split(rb"[ \t]", space)
        name, colon, scale = head.partition(b":")
        scale = number(scale) if colon else 1.0
        base = vw_hash(name, 0, how) if name else 0
        unnamed = 0
        for k, word in enumerate(words):
            if not word:
                continue
            name, colon, value = word.partition(b":")
            position = vw_hash(name, base, how)
            if not colon:
                yield position, scale
            elif NUMBER.fullmatch(value):
                if not name:
                    position, unnamed = base + unnamed, unnamed + 1
                product = number(value) * scale
                expect(math.isfinite(product))
                yield position, product
            else:
                expect(not NO_TEXT.match(value))
                expect(last or k + 1 < len(words))  # text that touches the next bar
                yield vw_hash(value, position, how), 1.0

    return by_line(data, parse)
