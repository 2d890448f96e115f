"""A checker of verdicts and margins, written from docs/reference/certificate_format.md alone.

It uses the standard library only. `check(text, rows, labels)` returns True or False; rows are
lists of floats. It is slow: everything is a Fraction.
"""

import hashlib
import json
import re
import struct
from fractions import Fraction

STRING_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
RATIONAL = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:/([1-9][0-9]*))?")
SHARED = ["fit_intercept", "n_rows", "n_features", "data", "positive", "negative", "feature_names"]
PROOF = ["proof", "witness"]
FIELDS = {
    "separable": [*SHARED, "w", "b", "margin"],
    "overlapping": [*SHARED, *PROOF],
    "quasi-separable": [*SHARED, *PROOF, "w", "b", "n_split"],
    "margin": [*SHARED, "w", "b", "lower", "upper", "augmented", "rtol", "square", "proof"],
}


class Wrong(Exception):
    """The certificate does not hold."""


def need(condition, what="?"):
    if not condition:
        raise Wrong(what)


def check(text, rows, labels):
    try:
        said = read(text)
        verify(said, [[Fraction(v) for v in row] for row in rows], rows, labels)
    except (Wrong, ValueError, TypeError, KeyError, ZeroDivisionError, OverflowError):
        return False
    return True


def read(text):
    said = json.loads(text)
    need(list(said)[:3] == ["format", "digest", "kind"] and said["kind"] in FIELDS, "entries")
    need(said["format"] == "rosenblatt-certificate-1", "format")
    need(list(said)[3:] == FIELDS[said["kind"]], "entries")
    packed = STRING_OR_SPACE.sub(lambda m: m.group(1) or "", text)
    need(packed == json.dumps(said, separators=(",", ":")), "spelling")
    rest = {name: value for name, value in said.items() if name != "digest"}
    packed = json.dumps(rest, separators=(",", ":"))
    need(hashlib.sha256(packed.encode()).hexdigest() == said["digest"], "digest")
    return said


def number(value):
    need(isinstance(value, str), "a number is text")
    found = RATIONAL.fullmatch(value)
    need(found, "not a rational")
    p, q = int(found[1]), int(found[2] or 1)
    exact = Fraction(p, q)
    need((exact.numerator, exact.denominator) == (p, q) and (q > 1 or not found[2]), "lowest terms")
    return exact


def float64(value):
    """A field that is a float64: a rational that a float holds."""
    exact = number(value)
    need(Fraction(float(exact)) == exact, "no float64")
    return exact


def whole(value):
    need(type(value) is int, "no integer")
    return value


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def data_digest(rows, signs):
    n, d = len(rows), len(rows[0])
    size = max(64, 8192 // d)
    total = hashlib.sha256(struct.pack("<qq", n, d))
    for start in range(0, n, size):
        part = rows[start : start + size]
        entries = [[(j, v) for j, v in enumerate(row) if v != 0] for row in part]
        leaf = hashlib.sha256(struct.pack(f"{len(part)}b", *signs[start : start + size]))
        for row in entries:
            leaf.update(struct.pack("<q", len(row)))
        for row in entries:
            leaf.update(b"".join(struct.pack("<d", v) for _, v in row))
        for row in entries:
            if len(row) < d:
                leaf.update(b"".join(struct.pack("<q", j) for j, _ in row))
        total.update(leaf.digest())
    return total.hexdigest()


def verify(said, X, raw, labels):
    offset = said["fit_intercept"]
    need(type(offset) is bool, "fit_intercept")
    need((whole(said["n_rows"]), whole(said["n_features"])) == (len(X), len(X[0])), "size")
    classes = sorted(set(labels))
    need(len(classes) == 2, "classes")
    mine, theirs = [said["negative"], said["positive"]], [str(c) for c in classes]
    forms = [form(label) for label in theirs]
    need([form(v) for v in mine] == forms if forms[0] != forms[1] else mine == theirs, "labels")
    names = said["feature_names"]
    need(names is None or (len(names) == len(X[0]) and all(type(n) is str for n in names)), "names")
    signs = [1 if label == classes[1] else -1 for label in labels]
    need(said["data"] == data_digest(raw, signs), "data")
    ones = [Fraction(1)] if offset else []
    z = [[y * v for v in [*row, *ones]] for row, y in zip(X, signs, strict=True)]
    scores = hyperplane(said, z, len(X[0]), offset) if "w" in said else None
    if said["kind"] == "margin":
        check_margin(said, X, signs, scores)
    elif said["kind"] == "separable":
        need(min(scores) > 0, "a row is not on its side")
        w, margin = [number(v) for v in said["w"]], float64(said["margin"])
        need(margin >= 0 and min(scores) ** 2 >= margin**2 * dot(w, w), "margin")
    else:
        on = [i for i in range(len(z)) if scores is None or scores[i] == 0]
        if scores is not None:
            need(min(scores) >= 0, "a row is on the wrong side")
            need(whole(said["n_split"]) == len(z) - len(on) > 0, "n_split")
        for name in PROOF:
            used, weights = combination(said[name], len(z))
            need(set(used) <= set(on), "a row is off the hyperplane")
            need(not any(total([z[i] for i in used], weights)), "the rows do not cancel")
        spanning = [z[i] for i in said["proof"]["rows"]]
        need(rank(spanning) == rank([z[i] for i in on]), "the proof does not span")


def form(label):
    """1, 1.0 and True are one label."""
    need(type(label) is str, "a label is text")
    label = {"True": "1", "False": "0"}.get(label, label).removesuffix(".0")
    return label


def hyperplane(said, z, d, offset):
    w, b = [number(v) for v in said["w"]], number(said["b"])
    need(len(w) == d and (offset or b == 0), "w or b")
    return [dot([*w, b] if offset else w, row) for row in z]


def combination(said, n):
    need(list(said) == ["rows", "weights"], "entries")
    used, weights = [whole(i) for i in said["rows"]], [number(c) for c in said["weights"]]
    need(0 < len(used) == len(set(used)) == len(weights), "rows")
    need(all(0 <= i < n for i in used) and min(weights) > 0, "rows and weights")
    return used, weights


def total(rows, weights):
    return [dot(column, weights) for column in zip(*rows, strict=True)]


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for j in range(len(rows[0])):
        pivot = next((k for k in range(found, len(rows)) if rows[k][j]), None)
        if pivot is not None:
            rows[found], rows[pivot] = rows[pivot], rows[found]
            for k in range(found + 1, len(rows)):
                f = rows[k][j] / rows[found][j]
                rows[k] = [a - f * b for a, b in zip(rows[k], rows[found], strict=True)]
            found += 1
    return found


def check_margin(said, X, signs, scores):
    augmented, offset = said["augmented"], said["fit_intercept"]
    need(type(augmented) is bool and (offset or not augmented), "augmented")
    float64(said["rtol"])
    if said["lower"] != "-inf":
        v = [number(c) for c in said["w"]] + ([number(said["b"])] if augmented else [])
        lower, least = float64(said["lower"]), min(scores)
        need(any(v) and least * abs(least) >= lower * abs(lower) * dot(v, v), "lower")
    ones = [Fraction(1)] if augmented else []
    z = [[y * v for v in [*row, *ones]] for row, y in zip(X, signs, strict=True)]
    used, weights = combination(said["proof"], len(z))
    groups = [(1,), (-1,)] if offset and not augmented else [(1, -1)]
    for group in groups:
        need(sum(c for i, c in zip(used, weights, strict=True) if signs[i] in group) == 1, "sum")
    p = total([z[i] for i in used], weights)
    square = dot(p, p) / len(groups) ** 2
    if said["upper"] != "inf":
        upper = float64(said["upper"])
        need(upper >= 0 and upper**2 >= square, "upper")
    if said["square"] is not None:
        need(number(said["square"]) == square, "square")
        ends = [
            min(dot(p, row) for row, y in zip(z, signs, strict=True) if y in group)
            for group in groups
        ]
        need(sum(ends) == dot(p, p), "the point is not the smallest")
