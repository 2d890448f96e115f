"""Peers: training time, accuracy and memory beside other libraries.

    python benchmarks/run.py peers [--quick]

Every contender has its own process; they take turns. datasets.py says where the data come from,
contenders.py what each contender gets and what counts as its training.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
from contenders import CONTENDERS
from datasets import Split
from report import number, table
from worker import Failed, Worker

NAMES = [*datasets.REAL, *datasets.GENERATED]
PASSES = 5  # of the rows that are compared
OURS = "rosenblatt, last"
MORE = {"spambase", "a9a", "w8a", "reuters"}  # small enough for 20 passes
OWN_STOP = {OURS, "rosenblatt, average", "scikit-learn Perceptron", "scikit-learn SGDClassifier"}
LONG = 8.0  # seconds; slower fits are not repeated
LIMIT = 20.0  # seconds; slower fits are stopped


@dataclass(frozen=True)
class Row:
    """One contender on one data set; `asked` is None for its default number of passes."""

    data: str
    contender: str
    asked: int | None
    passes: int | None = None
    seconds: float | None = None
    runs: int = 0
    convert: float | None = None
    scale: float = 1.0
    train: float | None = None
    test: float | None = None
    memory: float | None = None
    fit_memory: float | None = None
    failed: str | None = None

    @property
    def stopped(self) -> bool:
        """Whether it reached the time limit."""
        return (self.failed or "").startswith("stopped after")


def grid(contender: str, data: str) -> list[int | None]:
    """The numbers of passes to ask for, the compared one first."""
    if CONTENDERS[contender].default_only:
        return [None]
    if not CONTENDERS[contender].learns:
        return [PASSES]
    asked: list[int | None] = [PASSES, 1]
    if data in MORE and contender != "River":
        asked.append(20)
    own = contender in OWN_STOP and data != "mnist"  # half a minute per fit
    return [*asked, None] if own else asked


def compare(data: str, split: Split, rounds: int, limit: float, names: Iterable[str]) -> list[Row]:
    """All contenders on one set, taking turns."""
    found: dict[tuple[str, int | None], dict[str, Any]] = {}
    workers: dict[str, Worker] = {}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        split.save(folder)
        try:
            for contender in names:
                try:
                    workers[contender] = Worker(contender, folder, limit)
                except Failed as error:
                    failed[contender] = str(error)
            for round_ in range(rounds):
                for contender in [c for c in workers if c not in failed]:
                    try:
                        one_round(data, contender, workers[contender], round_, found)
                    except Failed as error:
                        failed[contender] = str(error)
        finally:
            for worker in workers.values():
                worker.close()
    rows = [Row(data, contender, asked, **numbers) for (contender, asked), numbers in found.items()]
    known = {row.contender for row in rows}
    return rows + [Row(data, c, None, failed=f) for c, f in failed.items() if c not in known]


def one_round(
    data: str, contender: str, worker: Worker, round_: int, found: dict[Any, dict[str, Any]]
) -> None:
    for asked in grid(contender, data):
        before = found.get((contender, asked))
        if round_ and (before is None or before["seconds"] / worker.ready["scale"] > LONG):
            continue
        told = worker.ask("fit", asked)
        if before:
            before["seconds"] = min(before["seconds"], told["seconds"])
            before["runs"] += 1
            continue
        found[contender, asked] = told | worker.ready | {"runs": 1}
        if CONTENDERS[contender].learns:
            found[contender, asked] |= worker.ask("score")


def run(quick: bool = False, only: Sequence[str] = ()) -> tuple[list[Row], dict[str, str]]:
    """All data sets, and a line about each; a missing data set is one row that says why."""
    rows: list[Row] = []
    about: dict[str, str] = {}
    names = ["spambase", "reuters"] if quick else NAMES
    for data in only or names:
        print(f"  {data} ...", file=sys.stderr, flush=True)
        try:
            split = datasets.make(data)
        except LookupError as error:
            rows.append(Row(data, "", None, failed=str(error)))
            continue
        about[data] = described(split)
        rows += compare(data, split, 1 if quick else 3, LIMIT, CONTENDERS)
    return rows, about


def described(split: Split) -> str:
    n, d = split.X.shape
    stored = f", {split.entries:,} entries" if "CSR" in split.kind else ""
    return (
        f"{n:,} training rows, {split.X_test.shape[0]:,} test rows, {d:,} columns, "
        f"{len(set(split.y.tolist()))} classes, {split.kind}{stored}"
    )


# ------------------------------------------------------------------ tables


def of(rows: list[Row], data: str, contender: str) -> Row | None:
    """The fit that is compared: the same passes for all that have a number of passes."""
    asked = None if CONTENDERS[contender].default_only else PASSES
    mine = [r for r in rows if (r.data, r.contender) == (data, contender)]
    return next((r for r in mine if r.asked == asked or r.failed), None)


def sets_of(rows: list[Row]) -> list[str]:
    found = {row.data for row in rows}
    return [data for data in NAMES if data in found] + sorted(found - set(NAMES))


def cell(row: Row | None, ours: Row | None) -> str:
    if row is None or ours is None or ours.seconds is None:
        return ""
    if row.stopped:
        return f"> {number(LIMIT / ours.seconds, 2)} x"
    if row.seconds is None:
        return "failed"
    return f"{number(row.seconds / ours.seconds, 2)} x"


def summary(rows: list[Row]) -> str:
    """Seconds of ours, and those of the others divided by ours."""
    others = [c for c in CONTENDERS if c not in (OURS, "bytes of the file")]
    body = []
    for data in sets_of(rows):
        ours = of(rows, data, OURS)
        if ours is None or ours.seconds is None:
            why = next((r.failed for r in rows if r.data == data and r.failed), "")
            body.append([data, why, *[""] * len(others)])
            continue
        cells = [cell(of(rows, data, c), ours) for c in others]
        body.append([data, f"{number(ours.seconds)} s", *cells])
    return table(["data", "rosenblatt, last", *others], body)


def accuracies(rows: list[Row]) -> str:
    """Test accuracy of the same fits."""
    learners = [c for c, kind in CONTENDERS.items() if kind.learns]
    body = []
    for data in sets_of(rows):
        chosen = [of(rows, data, c) for c in learners]
        if any(chosen):
            body.append([data, *[f"{r.test:.4f}" if r and r.test else "" for r in chosen]])
    return table(["data", *learners], body)


def details(rows: list[Row], data: str) -> str:
    ours = of(rows, data, OURS)
    body = []
    for r in (r for r in rows if r.data == data and r.asked in (PASSES, None)):
        if r.seconds is None:
            why = r.failed if r.stopped else f"not run: {r.failed}"
            body.append([r.contender, "", why, cell(r, ours) if r.stopped else "", *[""] * 5])
            continue
        star = "*" if r.scale > 1 else ""
        once = f" ({r.runs} run{'s' if r.runs > 1 else ''})" if r.runs < 3 else ""
        passes = "" if r.passes is None else str(r.passes)
        if r.asked is None and CONTENDERS[r.contender].learns:
            passes = f"{passes} (default)".strip()
        body.append(
            [
                r.contender,
                passes,
                f"{number(r.seconds)}{star}{once}",
                cell(r, ours),
                f"{r.train:.4f}{star}" if r.train is not None else "",
                f"{r.test:.4f}{star}" if r.test is not None else "",
                f"{r.memory:,.0f}" if r.memory is not None else "",
                f"{max(0.0, r.fit_memory):,.1f}" if r.fit_memory is not None else "",
                number(r.convert, 2) if (r.convert or 0) > 0.0005 else "",
            ]
        )
    header = ["", "passes", "seconds", "ratio", "training", "test", "memory, MB", "fit, MB"]
    return table([*header, "conversion, s"], body)


def markdown(rows: list[Row], about: dict[str, str]) -> str:
    parts = []
    for data in sets_of(rows):
        parts.append(f"### {data}\n")
        if data in about:
            parts.append(f"{about[data]}.\n")
        parts.append(details(rows, data) + "\n")
    return "\n".join(parts)
