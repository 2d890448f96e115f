"""Accuracy tables: what accuracy.py found, for people."""

from __future__ import annotations

from accuracy import SETS, SGD, SVM, VW, Row
from report import number, table


def svm_of(rows: list[Row], data: str) -> tuple[float, float]:
    """Test accuracy and seconds to be measured by: the best of its solvers in each."""
    mine = [r for r in rows if (r.data, r.contender) == (data, SVM)]
    return max(r.test for r in mine), min(r.seconds for r in mine)


def points(difference: float) -> str:
    return f"{100 * difference:+.2f}"


def details(rows: list[Row], data: str) -> str:
    test, seconds = svm_of(rows, data)
    body = []
    for r in (r for r in rows if r.data == data):
        mark = "**" if r.chosen else ""
        more = f" ({number(r.one_thread)} on one thread)" if r.one_thread else ""
        body.append(
            [
                f"{mark}{r.contender}{mark}",
                r.setting,
                "" if r.passes is None else r.passes,
                f"{number(r.seconds)}{more}",
                number(r.seconds / seconds, 2),
                f"{mark}{r.test:.4f}{mark}"
                + (f" ± {r.spread:.4f}" if r.spread is not None else ""),
                points(r.test - test),
                "" if r.held_out is None else f"{r.held_out:.4f}",
                number(r.chosen_in, 2),
                number(r.convert, 2),
            ]
        )
    header = ["", "setting", "passes", "seconds", "of LIBLINEAR's", "test", "points"]
    return table([*header, "held out", "choosing, s", "conversion, s"], body)


def at(rows: list[Row], data: str, contender: str, setting: str, passes: int | None) -> Row:
    return next(
        r
        for r in rows
        if (r.data, r.contender, r.setting, r.passes) == (data, contender, setting, passes)
    )


def verdict(rows: list[Row], data: str) -> list[object]:
    """The chosen rule of ours against the others, in one line."""
    mine = next(r for r in rows if r.data == data and r.chosen)
    test, seconds = svm_of(rows, data)
    sgd = at(rows, data, SGD, "defaults", mine.passes).test
    vw = at(rows, data, VW, "defaults", mine.passes).test
    yes = {True: "yes", False: "**no**"}
    return [
        data,
        mine.setting,
        mine.passes,
        f"{mine.test:.4f}",
        f"{test:.4f}",
        f"{sgd:.4f}",
        f"{vw:.4f}",
        f"{number(mine.seconds)} : {number(seconds)}",
        f"{yes[mine.test >= test - 0.002]} ({points(mine.test - test)})",
        f"{yes[mine.seconds <= seconds / 5]} (1/{number(seconds / mine.seconds, 2)})",
        yes[mine.test > max(sgd, vw)],
    ]


def summary(rows: list[Row]) -> str:
    header = ["data", "chosen", "passes", "ours", SVM, SGD, VW, "seconds, ours : LIBLINEAR"]
    header += ["within 0.2 points", "in a fifth of the time", "ahead of SGD and VW"]
    return table(header, [verdict(rows, data) for data in dict.fromkeys(r.data for r in rows)])


def markdown(rows: list[Row], about: dict[str, str]) -> str:
    found = []
    for data in SETS:
        if data in about:
            found.append(f"#### {data}\n\n{about[data]}.\n")
        if any(r.data == data for r in rows):
            found.append(details(rows, data) + "\n")
    return "\n".join(found)
