"""rosenblatt compare: which rule suits a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import (
    AsJson,
    FitIntercept,
    Quiet,
    RandomState,
    Reading,
    Rows,
    with_reading,
)
from rosenblatt.cli.pipes import check_input


@command(
    "rosenblatt compare train.svm",
    "rosenblatt compare iris.csv --target species --rule arow --rule pa1 --scale --shuffle",
    "head -n 10000 train.vw | rosenblatt compare - --format vw --json",
)
@with_reading()
def compare(
    file: Rows,
    reading: Reading,
    rule: Annotated[
        list[str] | None, typer.Option(help="Only this rule; may be repeated. Left out: all.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="last, average, vote, pocket; may be repeated. Left out: the first two."),
    ] = None,
    max_iter: Annotated[
        list[int] | None, typer.Option(help="Epochs in each fold (2); may be repeated.", min=1)
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)] = 5,
    max_rows: Annotated[
        int, typer.Option(help="Most rows, from the start of FILE.", min=2)
    ] = 100_000,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Shuffle the rows first.")] = False,
    scale: Annotated[
        bool | None,
        typer.Option(
            "--scale/--no-scale",
            help="Divide columns by their deviation, in each fold. Left out: if some are not "
            "numbers.",
        ),
    ] = None,
    fit_intercept: FitIntercept = True,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1: one per core.")] = -1,
    random_state: RandomState = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try all rules and keeps on FILE: accuracy, time, and which to use.

    By cross-validation and by progressive validation, on the rows from the start of FILE.
    """
    with handle_errors():
        check_input(file)
        from rosenblatt.comparison.compare import compare_file

        found = compare_file(
            file, max_rows=max_rows, scale=scale, rules=rule, keeps=keep or ("last", "average"),
            max_iter=max_iter or 2, cv=folds, shuffle=shuffle, n_jobs=n_jobs,
            random_state=random_state, progress=False if quiet else None,
            **reading.settings(), **({} if fit_intercept else {"fit_intercept": False}),
        )  # fmt: skip
        text = json.dumps(found.to_dict()) if as_json else str(found)
    show(text)
