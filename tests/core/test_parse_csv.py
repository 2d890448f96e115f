"""The CSV grammar of the core: equal to Python's strict csv reader where that is strict enough.

`slow_records` is the grammar byte by byte; it is compared with Python's csv module, and the core
with it. The fuzz program core/fuzz/fuzz_csv.cpp tests memory with the sanitizers.
"""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt._core import LineError, csv_first_record, csv_records_end, parse_csv

ANY = 1 << 24


def slow_records(text, delimiter=",", longest=ANY):
    """(line, cells or the name of an error) of every record that is not an empty line."""
    p, line, records = 0, 1, []
    while p < len(text):
        begin, cells, error = p, [], None
        while error is None:
            if text[p : p + 1] == '"':
                q, cell = p + 1, ""
                while True:
                    if q >= len(text) or q - p >= longest:
                        error = ("QUOTE_OPEN", p)
                        break
                    if text[q] != '"':
                        cell += text[q]
                        q += 1
                    elif text[q + 1 : q + 2] == '"':
                        cell += '"'
                        q += 2
                    else:
                        break
                if error:
                    break
                p, cells = q + 1, [*cells, cell]
                rest = text[p : p + 2]
                if rest[:1] not in ("", delimiter, "\n") and rest != "\r\n":
                    error = ("AFTER_QUOTE", p)
                    break
            else:
                q = p
                while q < len(text) and text[q] not in (delimiter, "\n", "\r", '"'):
                    q += 1
                if text[q : q + 1] == '"':
                    error = ("BARE_QUOTE", q)
                elif text[q : q + 1] == "\r" and text[q : q + 2] != "\r\n":
                    error = ("LONE_CR", q)
                if error:
                    break
                p, cells = q, [*cells, text[p:q]]
            if text[p : p + 1] != delimiter:
                break
            p += 1
        if error:
            end = text.find("\n", error[1])
            p = len(text) if end < 0 else end + 1
            at = line + text.count("\n", begin, error[1])
            records.append((at, error[0]))
        else:
            p += 2 if text[p : p + 1] == "\r" else 1
            if cells != [""] or text[begin : begin + 1] == '"':
                records.append((line, cells))
        line += text.count("\n", begin, p)
    return records


def fast_records(data, n_cells, delimiter=",", longest=ANY):
    """Rows of n_cells texts, and (line, error) of the others."""
    table = parse_csv(data, "t" * n_cells, delimiter, longest_cell=longest)
    rows = [
        [None if c < 0 else words[c] for c, words in zip(codes, table.words, strict=True)]
        for codes in table.codes.tolist()
    ]
    return rows, [(bad.line, bad.error.name) for bad in table.bad_lines], table


CELLS = st.text(alphabet='ab1.,;"\n\r é\0', max_size=6) | st.text(alphabet='a,"é', max_size=20)


@st.composite
def tables(draw):
    """A table as CSV text, quoted where needed and now and then where not, with its cells."""
    n_cells = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(CELLS, min_size=n_cells, max_size=n_cells), max_size=8))
    text = ""
    for row in rows:
        spelled = []
        for cell in row:
            needed = any(c in cell for c in ',"\n\r') or (n_cells == 1 and not cell)
            escaped = cell.replace('"', '""')
            spelled.append(f'"{escaped}"' if needed or draw(st.booleans()) else cell)
        text += ",".join(spelled) + draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.removesuffix("\n").removesuffix("\r")
    return n_cells, rows, text


@given(tables())
def test_tables_of_any_quoting_and_line_ends_come_back(table):
    n_cells, rows, text = table
    assert [cells for _, cells in slow_records(text)] == rows
    strict = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert [record for record in strict if record] == rows
    found, bad, parsed = fast_records(text.encode(), n_cells)
    blank = [[cell if cell.strip(" \t") else None for cell in row] for row in rows]
    assert found == blank
    assert bad == []
    assert parsed.n_lines == len(text.splitlines()) or any(c in text for c in "\r\x0b\x0c\x1c\x85")


TEXTS = st.text(alphabet='a1,"\n\r é', max_size=40)


@given(TEXTS, st.integers(1, 3), st.sampled_from([ANY, 3, 8]))
@example('1,2\n"open,3\n4,5\n', 2, ANY)
@example('"a"b\n1\n', 1, ANY)
@example('5" disc\n1\n', 1, ANY)
@example("a\rb\n1\n", 1, ANY)
@example('"\n""\n""\n', 1, 3)
def test_malformed_lines_are_those_of_the_slow_grammar(text, n_cells, longest):
    records = slow_records(text, longest=longest)
    if all(isinstance(cells, list) for _, cells in records):
        try:  # what the grammar takes, Python's strict reader takes as well, and reads alike
            strict = [r for r in csv.reader(io.StringIO(text, newline=""), strict=True) if r]
        except csv.Error as e:
            pytest.fail(f"Python refuses it: {e}")
        assert strict == [cells for _, cells in records if cells != [""]] or '""' in text
    data = text.encode()
    sizes = {len(c.encode()) for c in text}
    if longest < ANY and sizes > {1}:
        return  # the limit counts bytes
    rows, bad, table = fast_records(data, n_cells, longest=longest)
    wanted = [
        (line, "CELL_COUNT" if isinstance(cells, list) else cells)
        for line, cells in records
        if not (isinstance(cells, list) and len(cells) == n_cells)
    ]
    assert table.n_bad_lines == len(wanted)
    for (line, error), (slow_line, slow_error) in zip(bad, wanted[:10], strict=True):
        assert error == slow_error
        assert line == slow_line or error == "CELL_COUNT"
    good = [c for _, c in records if isinstance(c, list) and len(c) == n_cells]
    assert rows == [[cell if cell.strip(" \t") else None for cell in row] for row in good]


@given(TEXTS, st.lists(st.integers(0, 60), max_size=5), st.sampled_from([ANY, 4]))
def test_rows_do_not_depend_on_the_cuts(text, places, longest):
    data, n_cells = text.encode(), 2
    whole, bad, table = fast_records(data, n_cells, longest=longest)
    rows, errors, lines, start = [], [], 0, 0
    for place in [*sorted(places), None]:
        stop = len(data) if place is None else min(place, len(data))
        part = data[start:stop]
        end = len(part) if place is None else csv_records_end(part, ",", longest)
        found, wrong, parsed = fast_records(part[:end], n_cells, longest=longest)
        rows += found
        errors += [(line + lines, error) for line, error in wrong]
        lines += parsed.n_lines
        start += end
        if stop < start:
            break
    assert rows == whole
    assert errors[:10] == bad
    assert lines == table.n_lines


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from(["{!r}", " {!r}\t", '"{!r}"', "{:.17e}"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_numbers_are_the_nearest_floats(rows, spelling, end):
    text = end.join(",".join(spelling.format(v) for v in row) for row in rows)
    table = parse_csv(text.encode(), "nnn")
    assert table.numbers.tobytes() == np.array(rows).tobytes()
    assert table.n_bad_lines == 0


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("x", LineError.NOT_A_NUMBER),
        ("", LineError.NOT_A_NUMBER),
        ("nan", LineError.NOT_A_NUMBER),
        ("inf", LineError.NOT_A_NUMBER),
        ("1.5x", LineError.NOT_A_NUMBER),
        ("1 2", LineError.NOT_A_NUMBER),
        ("0x10", LineError.NOT_A_NUMBER),
        ("1e999", LineError.OUT_OF_RANGE),
        ("9007199254740993", LineError.INTEGER_TOO_LARGE),
        ("-09007199254740993", LineError.INTEGER_TOO_LARGE),
        ('"9007199254740993"', LineError.INTEGER_TOO_LARGE),
    ],
)
@pytest.mark.parametrize("rest", ["", "\n", "\n1,2\n1,2\n1,2\n1,2\n"])
def test_cells_that_are_no_numbers_are_malformed(cell, error, rest):
    table = parse_csv(f"1,2\n3,{cell}{rest}".encode(), "nn")
    (bad,) = table.bad_lines
    assert (bad.line, bad.column, bad.cell, bad.error) == (2, 3, 1, error)
    assert len(table.numbers) == 1 + rest.count("2")


def test_integers_up_to_2_to_53_and_larger_floats_are_numbers():
    table = parse_csv(b"9007199254740992,-9007199254740992,1e300,9007199254740993.5\n", "nnnn")
    assert table.numbers.tolist() == [[2.0**53, -(2.0**53), 1e300, 9007199254740993.5]]


def test_mixed_columns_keep_texts_apart_from_numbers():
    text = b"1,a\n?,b\nV27,a\n,b\n250,a\nV27,c\n"
    table = parse_csv(text, "mt", missing=["?"])
    values = table.numbers[:, 0].tolist()
    assert [v for v in values if not math.isnan(v)] == [1.0, 250.0]
    rows, codes, words = table.odd[0]
    assert (rows.tolist(), codes.tolist(), words) == ([2, 5], [0, 0], ["V27"])
    assert table.codes[:, 0].tolist() == [0, 1, 0, 1, 0, 2]
    assert table.words == [["a", "b", "c"]]


def test_words_of_malformed_lines_are_not_kept():
    table = parse_csv(b"a,1\nb,x\nc,2\n", "ln")
    assert table.words == [["a", "c"]]
    assert table.codes.tolist() == [[0], [1]]


def test_labels_are_not_missing_and_not_long():
    text = ",".join(["1", "y" * 1001])
    table = parse_csv(f"1,a\n2,\n3,?\n4,NA\n{text}\n5,{'z' * 1000}\n".encode(), "nl",
                      missing_labels=["?"])  # fmt: skip
    errors = [(bad.line, bad.error.name) for bad in table.bad_lines]
    assert errors == [(2, "MISSING_LABEL"), (3, "MISSING_LABEL"), (5, "LABEL_TOO_LONG")]
    assert table.words == [["a", "NA", "z" * 1000]]


@pytest.mark.parametrize(
    "label", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"]
)
@pytest.mark.parametrize("kind", "tl-")
def test_text_that_is_not_utf8_is_malformed(label, kind):
    with pytest.raises(UnicodeDecodeError):
        label.decode()
    table = parse_csv(b'1,a\n2,"' + label + b'"\n', "n" + kind)
    assert [(bad.line, bad.error) for bad in table.bad_lines] == [(2, LineError.NOT_UTF8)]


@given(st.binary(max_size=8))
def test_utf8_is_what_python_takes_for_it(data):
    if any(c in data for c in b'",\r\n'):
        return
    table = parse_csv(b"x" + data + b"\n", "t")
    try:
        assert table.words == [[("x" + data.decode())]]
    except UnicodeDecodeError:
        assert table.bad_lines[0].error == LineError.NOT_UTF8


def test_an_open_quote_costs_one_line():
    text = b'1,"open\n' + b"2,x\n" * 5000 + b'3,"y"\n'
    table = parse_csv(text, "nt", longest_cell=1000)
    assert [(b.line, b.column, b.error) for b in table.bad_lines] == [(1, 3, LineError.QUOTE_OPEN)]
    assert len(table.codes) == 5001


def test_first_record():
    assert csv_first_record(b'a,"b,""c""",\r\n1,2,3\n') == (["a", 'b,"c"', ""], 14)
    assert csv_first_record(b'a"b\n1,2\n') == (None, 4)
    assert csv_first_record(b"x") == (["x"], 1)


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "\r"])
def test_odd_delimiters_are_refused(delimiter):
    with pytest.raises(ValueError, match="delimiter"):
        parse_csv(b"1\n", "n", delimiter)


def test_odd_kinds_are_refused():
    with pytest.raises(ValueError, match="kinds"):
        parse_csv(b"1\n", "nx")
    with pytest.raises(ValueError, match="kinds"):
        parse_csv(b"1\n", "")
