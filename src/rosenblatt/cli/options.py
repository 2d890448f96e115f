"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any

import typer

from rosenblatt.errors import ParameterError

Rows = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Rows and labels: LIBSVM, VW text, CSV, Parquet; a folder; or -."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
FitIntercept = Annotated[
    bool, typer.Option("--fit-intercept/--no-fit-intercept", help="Hyperplanes with an offset.")
]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        help="CSV, Parquet: centre and scale number columns. Left out: if others are not numbers.",
    ),
]
RandomState = Annotated[int, typer.Option(help="Seed of what is drawn at random.", min=0)]


@dataclass(frozen=True)
class Reading:
    """How the rows of a file are read: the shared options that were given."""

    format: str | None = None
    target: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    zero_based: bool | None = None
    column: list[str] | None = None
    missing: list[str] | None = None
    hash_bits: int | None = None
    skip_errors: bool = False

    @property
    def kinds(self) -> dict[str, str]:
        """The pairs of --column NAME=KIND; a name may contain =."""
        pairs = [one.rpartition("=") for one in self.column or []]
        for name, _, kind in pairs:
            if not name:
                raise ParameterError(f"--column must be NAME=KIND, got {kind!r}.")
        return {name: kind for name, _, kind in pairs}

    def settings(self) -> dict[str, Any]:
        """Settings of :func:`rosenblatt.read_chunks`, and the kinds of columns."""
        return {
            "format": self.format, "target": self.target, "header": self.header,
            "delimiter": self.delimiter and self.delimiter.replace("\\t", "\t"),
            "zero_based": self.zero_based, "missing": self.missing or None,
            "kinds": self.kinds or None, "bits": self.hash_bits,
            "on_error": "skip" if self.skip_errors else "raise",
        }  # fmt: skip


def _option(kind: Any, help: str, *names: str, metavar: str | None = None) -> Any:
    return Annotated[
        kind, typer.Option(*names, help=help, metavar=metavar, rich_help_panel="Reading FILE")
    ]


MANY = list[str] | None
OPTIONS: dict[str, Any] = {
    "format": _option(
        str | None, "libsvm, vw, csv or parquet. Left out: by name or first bytes."
    ),
    "target": _option(
        str | None, "CSV, Parquet: label column, a name or a number from 0 (-1: last)."
    ),
    "header": _option(
        bool | None, "CSV: whether the first line holds names.", "--header/--no-header"
    ),
    "delimiter": _option(
        str | None, "CSV: what separates the cells; a comma, or \\t in .tsv files."
    ),
    "zero_based": _option(
        bool | None, "LIBSVM: whether indices count from 0. Left out: if an index is 0.",
        "--zero-based/--one-based",
    ),
    "column": _option(
        MANY, "A column is a number, category, date or drop; may be repeated.",
        metavar="NAME=KIND",
    ),
    "missing": _option(
        MANY, "Another mark of missing values, e.g. -999; may be repeated.", metavar="TEXT"
    ),
    "hash_bits": _option(
        int | None, "VW text, CSV, Parquet: hash names to 2**N positions.", metavar="N"
    ),
    "skip_errors": _option(bool, "Skip malformed lines and count them.", "--skip-errors"),
}  # fmt: skip


def with_reading(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `reading` of a command by the shared options, except some."""
    names = [name for name in OPTIONS if name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        before = inspect.signature(command, eval_str=True)
        parameters: list[Parameter] = []
        for parameter in before.parameters.values():
            if parameter.name != "reading":
                parameters.append(parameter)
                continue
            parameters += [
                Parameter(
                    name, Parameter.POSITIONAL_OR_KEYWORD, default=getattr(Reading, name),
                    annotation=OPTIONS[name],
                )
                for name in names
            ]  # fmt: skip

        @functools.wraps(command)
        def called(**given: Any) -> None:
            reading = Reading(**{name: given.pop(name) for name in names})
            command(**given, reading=reading)

        del called.__wrapped__  # its signature would be taken
        called.__signature__ = before.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return decorate
