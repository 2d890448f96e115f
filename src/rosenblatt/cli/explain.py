"""rosenblatt explain: what is in a model."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson
from rosenblatt.cli.pipes import whole_file


@command(
    "rosenblatt explain model.safetensors",
    "rosenblatt explain model.safetensors --top 20 --json",
)
def explain(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A file of `rosenblatt fit` or save_model; or -."),
    ],
    top: Annotated[int, typer.Option(help="How many of the largest weights.", min=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what is in MODEL: classes, features, largest weights, how it was made.

    Exit code 0: the file is whole and unaltered. 2: it is not, or cannot be read.
    """
    with handle_errors(), whole_file(model) as held:
        from rosenblatt.cli.report import model_report
        from rosenblatt.model.model_file import read_model

        found = read_model(held)
        facts = {**found.to_dict(top), "file": model}
        text = json.dumps(facts) if as_json else model_report(found, facts, top)
    show(text)
