"""rosenblatt predict: label the rows of a file."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson, Quiet, Reading, with_reading
from rosenblatt.cli.pipes import DASH, check_dashes, check_input, whole_file
from rosenblatt.cli.progress_bar import progress_bar


@command(
    "rosenblatt predict model.safetensors new.svm --out labels.txt",
    "rosenblatt predict m new.csv --out scored.tsv --scores",
    "cat new.svm | rosenblatt predict m - --format libsvm --out - | sort | uniq -c",
)
@with_reading("column", "missing", "hash_bits")  # which the model knows
def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A file of `rosenblatt fit`; or -.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Rows of the same features; or -.")],
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option(help="Write the labels to this file, one per line; or -.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write a table of labels and scores, with tabs.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label the rows of FILE with MODEL, and count the errors if FILE has labels.

    A label with a quote, a comma, a tab or a line break is written in quotes, as in CSV. With
    --out - the labels go to standard output, and the report to standard error.
    """
    with handle_errors(), ExitStack() as stack:
        check_dashes(MODEL=model, FILE=file)
        held = stack.enter_context(whole_file(model))
        check_input(file)
        watcher = stack.enter_context(progress_bar(quiet))
        from rosenblatt.cli.report import predict_report
        from rosenblatt.stream.predict import predict_file

        done = predict_file(
            held, file, sys.stdout.buffer if out == DASH else out, scores=scores, watcher=watcher,
            **reading.settings(),
        )  # fmt: skip
        sys.stdout.flush()
        facts = done.to_dict()
    show(json.dumps(facts) if as_json else predict_report(facts), err=out == DASH)
