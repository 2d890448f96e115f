"""Given: options that several commands have, and what is made of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rosenblatt.cli.ending import say
from rosenblatt.errors import ParameterError

Target = Annotated[str, typer.Option(help="Label column: name, or number from 0 (-1: last).")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line holds names.")
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format", help="libsvm, vw, csv or parquet; by name or first bytes if left out."
    ),
]
Column = Annotated[
    str | None,
    typer.Option(help="CSV, Parquet: label column, by name or number from 0 (-1: last)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Skip = Annotated[bool, typer.Option("--skip-errors", help="Leave malformed lines out.")]
Where = Annotated[
    str | None,
    typer.Option(help="CSV, Parquet: only such rows: \"delay > 15 and city = 'Rome'\"."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Offset = Annotated[bool, typer.Option(help="Hyperplanes with an offset.")]
Bits = Annotated[int | None, typer.Option(help="VW text: 2**bits positions.")]


def kinds(given: list[str] | None) -> dict[str, str]:
    """NAME=KIND as pairs; a name may hold = itself."""
    pairs = [one.rpartition("=") for one in given or []]
    for name, _, kind in pairs:
        if not name:
            raise ParameterError(f"--column takes NAME=KIND, got {kind!r}.")
    return {name: kind for name, _, kind in pairs}


def on_error(skip: bool) -> str:
    """What readers call it."""
    return "skip" if skip else "raise"


@contextmanager
def bar(quiet: bool) -> Iterator[Any]:
    """Somebody who tells of progress, on standard error and only on a terminal."""
    from rosenblatt.show.files import Bar

    seen = not quiet and sys.stderr.isatty()
    with Bar((lambda _: None) if quiet else say, seen) as drawn:
        yield drawn


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Something turns on a terminal while work goes on that cannot say how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    # standard output is left alone: it may go elsewhere
    with Live(
        Spinner("dots", f"{what} ..."), console=Console(stderr=True), transient=True,
        refresh_per_second=5, redirect_stdout=False, redirect_stderr=False,
    ):  # fmt: skip
        yield
