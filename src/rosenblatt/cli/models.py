"""rosenblatt predict and explain: what a model says, and what is in it."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, show
from rosenblatt.cli.given import (
    AsJson,
    Column,
    FileFormat,
    Header,
    Quiet,
    Skip,
    Where,
    bar,
    on_error,
)
from rosenblatt.cli.pipes import DASH, check_dashes, rows_from, whole_file


@command(
    "rosenblatt predict model.safetensors new.svm --out labels.txt",
    "rosenblatt predict m new.csv --out scored.tsv --scores",
    "cat new.svm | rosenblatt predict m - --format libsvm --out - | sort | uniq -c",
)
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="What `rosenblatt fit` wrote; or -.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rows of the same features; or -.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the labels here, one a line; or -.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write label and score (one a class beyond two): TSV.")
    ] = False,
    target: Column = None,
    header: Header = None,
    format: FileFormat = None,
    where: Where = None,
    skip: Skip = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label the rows of FILE with MODEL, and count the errors if FILE has labels.

    With --out - the labels go to standard output, and what is said about them to standard error.
    """
    with explained(), ExitStack() as stack:
        check_dashes(MODEL=model, FILE=file)
        held = stack.enter_context(whole_file(model))
        stack.enter_context(rows_from(file))
        watcher = stack.enter_context(bar(quiet))
        from rosenblatt.show.files import predicted
        from rosenblatt.stream.predict import predict_file

        done = predict_file(
            held, file, sys.stdout.buffer if out == DASH else out, scores=scores, watcher=watcher,
            target=target, header=header, format=format, where=where, on_error=on_error(skip),
        )  # fmt: skip
        sys.stdout.flush()
    show(json.dumps(done.to_dict()) if as_json else predicted(done.to_dict()), err=out == DASH)


@command(
    "rosenblatt explain model.safetensors",
    "rosenblatt explain model.safetensors --top 20 --json",
)
def explain(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What `rosenblatt fit` or save_model wrote; or -."),
    ],
    top: Annotated[int, typer.Option(help="How many of the largest weights.", min=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """What is inside MODEL: classes, features, largest weights, how it was made.

    Exit code 0: the file is whole and unaltered. 2: it is not, or cannot be read.
    """
    with explained(), whole_file(model) as held:
        from rosenblatt.model_file import read_model
        from rosenblatt.show.explained import explained as told

        found = read_model(held)
        facts = {**found.facts(top), "file": str(model)}
        weights = str(found.model.explain_model(top))
    show(json.dumps(facts) if as_json else told(facts, weights))
