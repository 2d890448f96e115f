"""rosenblatt bench: training speed on this machine."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, say, show
from rosenblatt.cli.given import AsJson


@command("rosenblatt bench", "rosenblatt bench --rows 1000000 --repeats 5 --json")
def bench(
    rows: Annotated[int, typer.Option(help="Rows of each generated set.", min=1000)] = 100_000,
    passes: Annotated[int, typer.Option(help="Passes over them.", min=1)] = 5,
    repeats: Annotated[
        int, typer.Option(help="Number of repeats; the best one counts.", min=1)
    ] = 3,
    seed: Annotated[int, typer.Option(help="Of the generated sets.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """How fast is training here? Ours beside scikit-learn's, on generated rows.

    Both do the same: the perceptron's rule, rows in order, the same number of passes. Where Vowpal
    Wabbit is installed, it and `fit` learn from the same file of VW text, once.
    """
    with explained():
        if sys.stderr.isatty():  # nothing that turns: it would be measured, too
            say("measuring ...")
        from rosenblatt.comparison.bench import as_table, measured

        found = measured(rows=rows, passes=passes, repeats=repeats, seed=seed)
        text = json.dumps([one.facts() for one in found]) if as_json else as_table(found)
    show(text)
