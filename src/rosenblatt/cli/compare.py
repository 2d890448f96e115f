"""rosenblatt compare: which rule suits a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, show
from rosenblatt.cli.given import (
    AsJson,
    Bits,
    Column,
    FileFormat,
    Header,
    Offset,
    Quiet,
    Skip,
    on_error,
)
from rosenblatt.cli.pipes import rows_from


@command(
    "rosenblatt compare train.svm",
    "rosenblatt compare iris.csv --target species --rule arow --rule pa1 --scale --shuffle",
    "head -n 10000 train.vw | rosenblatt compare - --format vw --json",
)
def compare(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Rows and labels: LIBSVM, VW text, CSV, Parquet; or -."
        ),
    ],
    target: Column = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Only this rule; may be given again. Else all.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="last, average, vote, pocket; may be given again. Else the first two."),
    ] = None,
    passes: Annotated[
        list[int] | None, typer.Option(help="Passes a fold; may be given again.", min=1)
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)] = 5,
    rows: Annotated[int, typer.Option(help="Most rows, from the start of FILE.", min=2)] = 100_000,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Mix the rows first.")] = False,
    scale: Annotated[
        bool, typer.Option("--scale", help="Divide columns by their deviation (in each fold).")
    ] = False,
    offset: Offset = True,
    header: Header = None,
    format: FileFormat = None,
    bits: Bits = None,
    skip: Skip = False,
    jobs: Annotated[int, typer.Option(help="Threads; -1: one a core.")] = -1,
    seed: Annotated[int, typer.Option(help="Of folds and order of visits.", min=0)] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try all rules and keeps on FILE: accuracy, time, and which to use.

    By cross-validation and by progressive validation, on the rows from the start of FILE.
    """
    with explained(), rows_from(file):
        from rosenblatt.comparison.compare import compare_file

        found = compare_file(
            file, rows=rows, scale=scale, rules=rule, keeps=keep or ("last", "average"),
            passes=passes or 2, cv=folds, shuffle=shuffle, n_jobs=jobs, random_state=seed,
            progress=False if quiet else None, **({} if offset else {"fit_intercept": False}),
            reading={
                "target": target, "header": header, "format": format, "bits": bits,
                "on_error": on_error(skip),
            },
        )  # fmt: skip
    show(json.dumps(found.to_dict()) if as_json else str(found))
