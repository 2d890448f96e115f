"""rosenblatt compare, lectures and demo: perceptrons to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, say, show
from rosenblatt.cli.given import (
    AsJson,
    Bits,
    Column,
    FileFormat,
    Header,
    Offset,
    Quiet,
    Skip,
    on_error,
)
from rosenblatt.cli.pipes import rows_from
from rosenblatt.errors import ParameterError

AFTERWARDS = """
The bound is Novikoff's, with the margin of this very hyperplane, which stopped close
to one flower. rule=Margin(tau=1000) finds a margin of {margin:.4g}: with it the
bound is {mistakes:.0f} mistakes.

What to try next, in Python:
  from rosenblatt import Perceptron
  clf = Perceptron(keep="average").fit(X, y)   # your data, scikit-learn's habits
  print(clf.trace_)                            # mistakes per epoch and why it stopped
Then README.md for the three jobs, docs/explanation/conventions.md for what the lectures do."""


@command(
    "rosenblatt compare train.svm",
    "rosenblatt compare iris.csv --target species --rule arow --rule pa1 --scale --shuffle",
    "head -n 10000 train.vw | rosenblatt compare - --format vw --json",
)
def compare(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Rows and labels: LIBSVM, VW text, CSV, Parquet; or -."
        ),
    ],
    target: Column = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Only this rule; may be given again. Else all.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="last, average, vote, pocket; may be given again. Else the first two."),
    ] = None,
    passes: Annotated[
        list[int] | None, typer.Option(help="Passes a fold; may be given again.", min=1)
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)] = 5,
    rows: Annotated[int, typer.Option(help="Most rows, from the start of FILE.", min=2)] = 100_000,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Mix the rows first.")] = False,
    scale: Annotated[
        bool, typer.Option("--scale", help="Divide columns by their deviation (in each fold).")
    ] = False,
    offset: Offset = True,
    header: Header = None,
    format: FileFormat = None,
    bits: Bits = None,
    skip: Skip = False,
    jobs: Annotated[int, typer.Option(help="Threads; -1: one a core.")] = -1,
    seed: Annotated[int, typer.Option(help="Of folds and order of visits.", min=0)] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try all rules and keeps on FILE: accuracy, time, and which to use.

    By cross-validation and by progressive validation, on the rows from the start of FILE.
    """
    with explained(), rows_from(file):
        from rosenblatt.comparison.compare import compare_file

        found = compare_file(
            file, rows=rows, scale=scale, rules=rule, keeps=keep or ("last", "average"),
            passes=passes or 2, cv=folds, shuffle=shuffle, n_jobs=jobs, random_state=seed,
            progress=False if quiet else None, **({} if offset else {"fit_intercept": False}),
            reading={
                "target": target, "header": header, "format": format, "bits": bits,
                "on_error": on_error(skip),
            },
        )  # fmt: skip
    show(json.dumps(found.to_dict()) if as_json else str(found))


@command(
    "rosenblatt lectures",
    "rosenblatt lectures cisc271 --section 1",
    "rosenblatt lectures all --out pages",
)
def lectures(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which lecture, or `all`. Left out: a list of them."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write NAME.html and its figures into this folder.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="sutd: the prognostic tumour data, wpbc.data.")
    ] = None,
    spread: Annotated[
        str, typer.Option(help="chan: what the 2 of N(0, 2) is, deviation or variance.")
    ] = "deviation",
    section: Annotated[
        int | None, typer.Option(help="Only this section, from 1; docs/lectures.md lists them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Five lectures on the perceptron: run one, heading by heading, and see its figures."""
    with explained():
        from rosenblatt.lectures import NAMES, lecture
        from rosenblatt.lectures.lecture import Given, as_text
        from rosenblatt.lectures.page import write_page

        if name is None:
            titles = {known: lecture(known).title for known in NAMES}
            if out is not None or section is not None:
                raise ParameterError(f"which lecture? Name one of {', '.join(NAMES)}, or all.")
            listed = "\n".join(f"{known:<10}  {title}" for known, title in titles.items())
            typer.echo(json.dumps(titles) if as_json else listed)
            return
        if name == "all" and section is not None:
            raise ParameterError("--section is of one lecture, and `all` is five. Name one.")
        if out is not None and out.exists() and not out.is_dir():
            raise ParameterError(f"{out} is a file. Give a folder for the page and its figures.")
        if data is not None and not data.is_file():
            raise ParameterError(f"there is no file {data}. Give wpbc.data of the UCI repository.")
        given, numbers = Given(data, spread), {}
        for chosen in NAMES if name == "all" else (name,):
            found = lecture(chosen)
            sections = []
            for done in found.run(given, section):
                sections.append(done)
                if not as_json:
                    typer.echo(as_text(done) + "\n")
            numbers[chosen] = [{"heading": s.title, **s.numbers} for s in sections]
            if out is not None:
                page = write_page(found, sections, out)
                say(f"wrote {page}")
        if as_json:
            typer.echo(json.dumps(numbers))


@command("rosenblatt demo", "rosenblatt demo --json")
def demo(
    as_json: AsJson = False,
) -> None:
    """Train on Iris, setosa against the rest, and show what happened."""
    with explained():
        if not as_json:
            typer.echo("Iris: 150 flowers, 4 measurements. Is it a setosa? (cisc271's example)\n")
        from sklearn.datasets import load_iris

        from rosenblatt import Margin, Perceptron, Problem
        from rosenblatt.prove.bounds import mistake_bound
        from rosenblatt.show.text import learned

        X, species = load_iris(return_X_y=True)
        y = species == 0
        clf = Perceptron(shuffle=False, tol=None).fit(X, y)
        bound = mistake_bound(Problem.of(X, y), clf.coef_, clf.intercept_)
        wide = Perceptron(rule=Margin(tau=1000), shuffle=False, tol=None).fit(X, y)
        better = mistake_bound(Problem.of(X, y), wide.coef_, wide.intercept_)
        if as_json:
            facts = {
                "stop_reason": clf.stop_reason_,
                "mistakes_per_pass": clf.trace_.mistakes.tolist(),
                "mistakes": clf.n_mistakes_,
                "margin": bound.margin,
                "radius": bound.radius,
                "bound": bound.mistakes,
                "bound_of_wider_margin": better.mistakes,
                "coef": clf.coef_[0].tolist(),
                "intercept": float(clf.intercept_[0]),
            }
            typer.echo(json.dumps(facts))
            return
        typer.echo(learned(clf.trace_, bound))
        typer.echo(AFTERWARDS.format(margin=better.margin, mistakes=better.mistakes))
