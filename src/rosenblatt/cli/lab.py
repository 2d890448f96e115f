"""rosenblatt lab: the page where a perceptron learns under your hands."""

from __future__ import annotations

from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained


@command("rosenblatt lab", "rosenblatt lab --port 8000 --no-browser")
def lab(
    port: Annotated[
        int | None,
        typer.Option(help="On 127.0.0.1; 0: any free one. Left out: 8958 or the next free one."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open a page in the browser: points, rules, every step and the proof, live.

    It is served to this computer only and needs no network.
    """
    with explained():
        from rosenblatt.show.lab.serving import serve

        serve(port, browser, typer.echo)
