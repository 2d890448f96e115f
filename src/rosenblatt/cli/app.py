"""The program: the object that all commands are added to, and its help."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import rosenblatt
from rosenblatt.cli.exit_codes import handle_interrupt

ORDER = (
    "fit", "predict", "explain", "separable", "verify", "compare", "lectures", "exercise", "lab",
    "demo", "bench",
)  # fmt: skip
EPILOG = """A file may be -, which is standard input, or standard output after --out.

[bold]Exit codes[/bold]
    0  done, or the answer is yes
    1  the answer is no: not separable, not verified, not the solution
    2  wrong use or an error, which a line on standard error explains
  130  ended by Ctrl-C
  141  the output pipe was closed
  143  ended by SIGTERM"""


class Commands(TyperGroup):
    """All commands, in a fixed order. Ctrl-C has one meaning from the start."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=ORDER.index)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # COMMAND --help needs no look at other arguments, for which typer imports pydantic
        if len(args) > 1 and args[0] in self.commands and "--help" in (args[1], args[-1]):
            command = self.commands[args[0]]
            typer.echo(command.get_help(type(ctx)(command, info_name=args[0], parent=ctx)))
            raise typer.Exit()
        with handle_interrupt():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with handle_interrupt():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False
)


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command. Its help is its docstring and these examples."""
    shown = "\n".join(f"  $ [cyan]{example}[/cyan]" for example in examples)

    def add(work: Callable[..., None]) -> Callable[..., None]:
        paragraphs = (work.__doc__ or "").split("\n\n")
        about = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return app.command(help=about, epilog=f"[bold]Examples[/bold]\n{shown}")(work)

    return add


def program() -> str:
    """The command as it has to be typed here, such as rosenblatt or .venv/bin/rosenblatt."""
    started = Path(sys.argv[0])
    if started.stem != "rosenblatt":  # python -m rosenblatt.cli
        return f"{Path(sys.executable).name} -m rosenblatt.cli"
    found = shutil.which("rosenblatt")
    if found is not None and os.path.realpath(found) == os.path.realpath(started):
        return "rosenblatt"
    return os.path.relpath(started)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rosenblatt {rosenblatt.__version__}")
        raise typer.Exit()


@app.callback(epilog=EPILOG)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Perceptrons that prove what they learned."""
