"""rosenblatt separable: can a hyperplane separate the classes? A verdict with a proof."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import FitIntercept, Reading, with_reading
from rosenblatt.cli.pipes import DASH, check_input
from rosenblatt.cli.progress_bar import spinner
from rosenblatt.errors import DataError, LabelError, MalformedLineError, ParameterError

MOST_CLASSES = 30
NUMBERS_ONLY = ("column", "skip_errors")  # options that do not apply: all rows are numbers


@command(
    "rosenblatt separable iris.csv --target species",
    "rosenblatt separable iris.csv --target species --certificate proof.json",
    "cut -d, -f1,2,5 iris.csv | rosenblatt separable - --target -1 --json",
)
@with_reading(*NUMBERS_ONLY)
def separable(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Numbers and labels: CSV, Parquet, LIBSVM, VW text; a folder; or -.",
        ),
    ],
    reading: Reading,
    fit_intercept: FitIntercept = True,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate to this file, as JSON; or -.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop after about this time, with exit code 2.", min=0)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the certificate, or a table of verdicts.")
    ] = False,
) -> None:
    """Can a hyperplane separate the classes in FILE? A verdict with a proof.

    Exit code 0: separable. 1: quasi-separable or overlapping. 2: an error, or no verdict in time.
    With more than two classes: a table of verdicts, every pair and every class against the rest;
    0 if all of them are separable.
    """
    with handle_errors(), spinner("deciding"):
        check_input(file)
        from rosenblatt.data.cone import as_cone
        from rosenblatt.io.atomic import check_output, replace_file
        from rosenblatt.prove.separability import separability
        from rosenblatt.prove.separability.verdict_table import separability_table

        if certificate is not None and certificate != DASH:
            check_output(certificate, {"the data file": Path(file)})
        table = read_numbers(file, reading)
        limits: dict[str, Any] = {"fit_intercept": fit_intercept, "max_seconds": max_seconds}
        if _many_classes(table.y, file, reading.target):
            if certificate is not None:
                raise ParameterError(
                    "A certificate is about two classes, and the file has more. Leave "
                    "--certificate out, or keep the rows of two classes."
                )
            verdicts = separability_table(table.X, table.y, **limits)
            show(json.dumps(verdicts.verdicts()) if as_json else str(verdicts))
            raise typer.Exit(0 if verdicts.all_separable else 1)
        rows = as_cone(table)
        found = separability(rows, **limits)
        if certificate == DASH:
            typer.echo(found.to_json())
        elif certificate is not None:
            with replace_file(certificate) as written:
                written.write(found.to_json().encode("ascii"))
        text = found.to_json() if as_json else found.explain(rows)
        if not as_json and re.search(r"\brows? \d", text):
            text += "\nRows are counted from 0, without the header."
    if not (as_json and certificate == DASH):
        show(text, err=certificate == DASH)
    raise typer.Exit(0 if found.verdict == "separable" else 1)


def read_numbers(file: str, reading: Reading) -> Any:
    """All rows of a file of numbers."""
    from rosenblatt.io.reader import read

    try:
        return read(file, **reading.settings())
    except MalformedLineError as e:
        raise DataError(
            f"{e.problem}. A proof is about numbers, with a decimal point, in every line of the "
            "file: fix or remove the line, turn columns of text into numbers, or name another "
            "label column with --target."
        ) from e


def _many_classes(y: Any, file: str, target: str | None) -> bool:
    from rosenblatt.data.labels import as_labels, sorted_classes

    n = len(sorted_classes(as_labels(y)))
    if n > MOST_CLASSES:
        column = "" if target is None else f"column {target} of "
        raise LabelError(
            f"{column}{file} has {n} different labels, more than {MOST_CLASSES} classes. Is it a "
            "measurement rather than a label?"
        )
    return n > 2
