"""rosenblatt lab: an interactive page on which a perceptron learns."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson


@command("rosenblatt lab", "rosenblatt lab --port 8000 --no-browser")
def lab(
    port: Annotated[
        int | None,
        typer.Option(help="On 127.0.0.1; 0: any free one. Left out: 8958 or the next free one."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Open a page in the browser: points, rules, every step and the proof, live.

    It is served to this computer only and needs no network.
    """
    with handle_errors():
        from rosenblatt.show.lab.serving import serve

        def say(address: str) -> None:
            words = f"The lab is at {address} and on this computer only. Ctrl-C ends it."
            show(json.dumps({"address": address}) if as_json else words)

        serve(port, browser, say)
