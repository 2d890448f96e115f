"""rosenblatt lectures and exercise: five lectures as notebooks, and their exercises."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli.app import command, program
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson
from rosenblatt.cli.pipes import DASH
from rosenblatt.cli.progress_bar import spinner
from rosenblatt.errors import ParameterError

if TYPE_CHECKING:
    from rosenblatt.lectures.exercises import Exercise

WRONG, UNREADABLE = 1, 2


@command(
    "rosenblatt lectures",
    "rosenblatt lectures sutd",
    "rosenblatt lectures sutd --out sutd.ipynb",
)
def lectures(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A lecture. Left out: list them all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the notebook of the lecture here (.ipynb); or -.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an older file, and what was changed in it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Five lectures on the perceptron: list them, show one, or write its notebook.

    Writing takes 5 to 15 seconds, because the code of the page is run for the numbers in its text.
    The notebook runs in Jupyter, in the environment of the package that wrote it.
    """
    with handle_errors():
        from rosenblatt.lectures.notebook import LECTURES, headings, notebook, write_notebook

        if force and (out is None or out == DASH):
            raise ParameterError("--force replaces a file: name it with --out FILE.ipynb.")
        if name is None:
            if out is not None:
                raise ParameterError(f"--out needs a lecture: one of {', '.join(LECTURES)}.")
            titles = {known: headings(known)[0] for known in LECTURES}
            show(json.dumps(titles) if as_json else _all_lectures(titles))
        elif out is None:
            show(json.dumps(_about(name)) if as_json else _one_lecture(**_about(name)))
        elif out == DASH:
            if as_json:
                raise ParameterError(
                    "--out - prints the notebook, which is JSON already. Leave out --json."
                )
            with progress_of(name):
                text = notebook(name)
            show(text)
        else:
            if out.is_file() and not force:
                raise ParameterError(
                    f"{out} exists, and work in it would be lost. Give another name, or replace "
                    "it with --force."
                )
            with progress_of(name):
                write_notebook(name, out)
            words = f"Wrote {out}: {headings(name)[0]}."
            opened = f"Open it with {path_of('jupyter')} lab {out}. {how_to_get_jupyter()}"
            show(json.dumps({"notebook": str(out)}) if as_json else f"{words}\n{opened}")


def path_of(tool: str) -> str:
    """A program of this environment as it has to be typed here, such as .venv/bin/pip."""
    return str(Path(program()).with_name(tool))


def how_to_get_jupyter() -> str:
    """How to get Jupyter, which the package does not install."""
    return f"To get Jupyter: {path_of('pip')} install jupyterlab."


def progress_of(name: str) -> AbstractContextManager[None]:
    """Show on a terminal that the code of a lecture is running."""
    return spinner(f"running the code of {name} for the numbers in its text, 5 to 15 seconds")


@command(
    "rosenblatt exercise",
    "rosenblatt exercise sutd-1",
    'rosenblatt exercise sutd-1 --answer "1, -0.8"',
    "rosenblatt exercise sutd-1 --hint",
)
def exercise(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An exercise. Left out: list them all.")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Check this answer.")] = None,
    hint: Annotated[bool, typer.Option("--hint", help="Show a hint.")] = False,
    as_json: AsJson = False,
) -> None:
    """Exercises of the five lectures. Answers are checked by computation.

    On a terminal, it asks for answers until one is right. With --answer, exit code 0: right. 1:
    wrong. 2: the answer cannot be read.
    """
    with handle_errors():
        from rosenblatt.lectures.exercises import exercise as find
        from rosenblatt.lectures.exercises import exercises

        if answer is not None and hint:
            raise ParameterError("--hint shows a hint and --answer checks an answer: give one.")
        if name is None:
            if answer is not None or hint:
                raise ParameterError(f"which exercise? Name one of {', '.join(exercises())}.")
            titles = {one.name: one.title for one in exercises().values()}
            how = f"{program()} exercise NAME shows one and checks answers."
            show(json.dumps(titles) if as_json else f"{_table(titles)}\n\n{how}")
            return
        chosen = find(name)
        if answer is not None:
            feedback = chosen.check(answer)
            show(json.dumps({"name": name, **asdict(feedback)}) if as_json else str(feedback))
            if not feedback.correct:
                raise typer.Exit(WRONG if feedback.readable else UNREADABLE)
        elif as_json:
            facts = {key: getattr(chosen, key) for key in ("name", "title", "question", "form")}
            show(json.dumps({**facts, "hint": chosen.hint()} if hint else facts))
        elif hint:
            show(chosen.hint())
        elif _on_terminal():
            _ask(chosen)
        else:
            how = f'{program()} exercise {name} --answer "..."'
            show(f"{chosen}\n\nCheck an answer with {how}; --hint shows a hint.")


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask(exercise: Exercise) -> None:
    """Ask for answers until one is right, or the user quits."""
    show(f"{exercise}\n")
    while True:
        try:
            answer = input("Your answer (h: hint, q: quit): ").strip()
        except EOFError:
            return
        if answer.lower() in ("q", "quit"):
            return
        if answer.lower() in ("h", "hint"):
            show(f"{exercise.hint()}\n")
        elif answer:
            feedback = exercise.check(answer)
            show(f"{feedback}\n")
            if feedback.correct:
                return


def _all_lectures(titles: dict[str, str]) -> str:
    from rosenblatt.lectures.notebook import LECTURES

    lines = [
        line
        for name, title in titles.items()
        for line in (f"{name:<10} {title}", f"{'':<10} {LECTURES[name]}")
    ]
    how = f"{program()} lectures NAME --out FILE.ipynb writes the notebook of a lecture."
    lines += ["", how, how_to_get_jupyter()]
    return "\n".join(lines)


def _about(name: str) -> dict[str, Any]:
    from rosenblatt.lectures.exercises import exercises
    from rosenblatt.lectures.notebook import LECTURES, headings

    title, sections = headings(name)
    titles = {e.name: e.title for e in exercises().values() if e.name.startswith(f"{name}-")}
    return {
        "name": name,
        "title": title,
        "summary": LECTURES[name],
        "headings": sections,
        "exercises": titles,
    }


def _one_lecture(
    name: str, title: str, summary: str, headings: list[str], exercises: dict[str, str]
) -> str:
    return "\n".join(
        (
            title,
            summary,
            "",
            *(f"  {heading}" for heading in headings),
            "",
            "Exercises",
            _table(exercises),
            "",
            f"{program()} lectures {name} --out {name}.ipynb writes the notebook.",
            how_to_get_jupyter(),
        )
    )


def _table(pairs: dict[str, str]) -> str:
    width = max(map(len, pairs))
    return "\n".join(f"  {name:<{width}}  {words}" for name, words in pairs.items())
