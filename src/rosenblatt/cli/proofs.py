"""rosenblatt separable and verify: a verdict with a proof, and a second look at it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, show
from rosenblatt.cli.given import AsJson, Header, Offset, Target, busy
from rosenblatt.cli.pipes import DASH, check_dashes, rows_from, whole_file
from rosenblatt.errors import LabelError, ParameterError

MOST_CLASSES = 30


@command(
    "rosenblatt separable iris.csv --target species",
    "rosenblatt separable iris.csv --target species --certificate proof.json",
    "cut -d, -f1,2,5 iris.csv | rosenblatt separable - --target -1 --json",
)
def separable(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV file of numbers and labels; or -.")
    ],
    target: Target,
    offset: Offset = True,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate here, as JSON; or -.")
    ] = None,
    header: Header = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the certificate, or a table of verdicts.")
    ] = False,
    max_seconds: Annotated[
        float | None, typer.Option(help="Give up after about this time, with exit code 2.", min=0)
    ] = None,
) -> None:
    """Can a hyperplane separate the classes in FILE? A verdict with a proof.

    Exit code 0: separable. 1: quasi-separable or overlapping. 2: an error, or no verdict in time.
    With more than two classes: a table of verdicts, every pair and every class against the rest;
    0 if all of them are separable.
    """
    with explained(), rows_from(file), busy("deciding"):
        from rosenblatt.data.chunks import as_rows
        from rosenblatt.data.readers import read_csv
        from rosenblatt.data.written import check_place
        from rosenblatt.prove.multiclass import separability_table
        from rosenblatt.prove.separability import separability

        if certificate is not None and certificate != DASH:
            check_place(certificate, {"the data file": file})
        table = read_csv(file, target, header)
        if _many_classes(table.y, file, target):
            if certificate is not None:
                raise ParameterError(
                    "a certificate is about two classes, and there are more. Leave --certificate "
                    "out, or keep the rows of two classes."
                )
            verdicts = separability_table(
                table.X, table.y, fit_intercept=offset, max_seconds=max_seconds
            )
            show(json.dumps(verdicts.verdicts()) if as_json else str(verdicts))
            raise typer.Exit(0 if verdicts.all_separable else 1)
        rows = replace(as_rows(table.X, table.y), feature_names=table.feature_names)
        found = separability(rows, fit_intercept=offset, max_seconds=max_seconds)
        if certificate == DASH:
            typer.echo(found.to_json())
        elif certificate is not None:
            certificate.write_text(found.to_json(), encoding="ascii")
    text = found.to_json() if as_json else found.explain()
    if not (as_json and certificate == DASH):
        show(text, err=certificate == DASH)
    raise typer.Exit(0 if found.verdict == "separable" else 1)


@command(
    "rosenblatt verify proof.json iris.csv --target species",
    "curl -s https://example.org/proof.json | rosenblatt verify - iris.csv --target species",
)
def verify(
    certificate: Annotated[
        Path,
        typer.Argument(metavar="CERTIFICATE", help="What `separable --certificate` wrote; or -."),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The CSV file it speaks of; or -.")],
    target: Target,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the raw data, exactly.

    Exit code 0: unaltered, made for these data, and true. 1: not so. 2: it cannot be read.
    """
    with explained(), ExitStack() as stack:
        check_dashes(CERTIFICATE=certificate, FILE=file)
        held = stack.enter_context(whole_file(certificate))
        stack.enter_context(rows_from(file))
        stack.enter_context(busy("verifying"))
        from rosenblatt.data.chunks import as_rows
        from rosenblatt.data.readers import read_csv
        from rosenblatt.prove.certificate import from_json

        claim = from_json(held.read_bytes())
        table = read_csv(file, target, header)
        said = claim.verify(replace(as_rows(table.X, table.y), feature_names=table.feature_names))
    facts = {"verdict": claim.verdict, "verified": bool(said), **asdict(said)}
    show(json.dumps(facts) if as_json else f"{claim.verdict}: {said}")
    raise typer.Exit(0 if said else 1)


def _many_classes(y: Any, file: Path, target: str) -> bool:
    from rosenblatt.data.problem import as_labels, sorted_classes

    n = len(sorted_classes(as_labels(y)))
    if n > MOST_CLASSES:
        raise LabelError(
            f"column {target} of {file} holds {n} different labels, more than {MOST_CLASSES} "
            "classes. Is it a measurement rather than a label?"
        )
    return n > 2
