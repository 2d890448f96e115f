"""Command line: parse, call, render. No algorithm lives here.

Exit codes: 0 done (`separable`: separable; `verify`: verified), 1 the answer is no (`separable`:
quasi-separable or overlapping; `verify`: not verified), 2 wrong use or any error, which the message
explains, 130 ended by Ctrl-C, 143 ended by SIGTERM.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import rosenblatt
from rosenblatt.errors import LabelError, ParameterError, RosenblattError

app = typer.Typer(
    help="Perceptrons that prove what they learned.", no_args_is_help=True, add_completion=False
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rosenblatt {rosenblatt.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Perceptrons that prove what they learned."""
    # Importing and compiling make millions of objects that stay; looking through them again and
    # again for garbage takes a fifth of the time.
    gc.set_threshold(200_000, 20, 20)


@app.command()
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Train on Iris, setosa against the rest, and show what happened."""
    if not as_json:
        typer.echo("Iris: 150 flowers, 4 measurements. Is it a setosa? (cisc271's example)")
        typer.echo("Training; the first run on a machine compiles for a few seconds ...\n")
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
    typer.echo(
        "\nThe bound is Novikoff's, with the margin of this very hyperplane, which stopped close\n"
        f"to one flower. rule=Margin(tau=1000) finds a margin of {better.margin:.4g}: with it the\n"
        f"bound is {better.mistakes:.0f} mistakes.\n"
        "\nWhat to try next, in Python:\n"
        "  from rosenblatt import Perceptron\n"
        '  clf = Perceptron(keep="average").fit(X, y)   # your data, scikit-learn\'s habits\n'
        "  print(clf.trace_)                            # mistakes per pass and why it stopped\n"
        "Then README.md for the three jobs, docs/conventions.md for what the lectures do."
    )


Target = Annotated[str, typer.Option(help="Label column: name, or number from 0 (-1: last).")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line holds names.")
]
MOST_CLASSES = 30


@app.command()
def separable(
    file: Annotated[Path, typer.Argument(help="CSV file of numbers and labels.")],
    target: Target,
    offset: Annotated[bool, typer.Option(help="Hyperplanes with an offset.")] = True,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate here, as JSON.")
    ] = None,
    header: Header = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the certificate, or a table of verdicts.")
    ] = False,
    max_seconds: Annotated[
        float | None, typer.Option(help="Give up after about this time, with exit code 2.", min=0)
    ] = None,
) -> None:
    """Can a hyperplane separate the classes in FILE? A verdict with a proof.

    Exit code 0: separable. 1: quasi-separable or overlapping. 2: an error, or no verdict in time.
    With more than two classes: a table of verdicts, every pair and every class against the rest;
    0 if all of them are separable.
    """
    with _explained():
        from rosenblatt.data.chunks import as_rows
        from rosenblatt.data.readers import read_csv
        from rosenblatt.data.written import check_place
        from rosenblatt.prove.multiclass import separability_table
        from rosenblatt.prove.separability import separability

        if certificate is not None:
            check_place(certificate, {"the data file": file})
        table = read_csv(file, target, header)
        if _many_classes(table.y, file, target):
            if certificate is not None:
                raise ParameterError(
                    "a certificate is about two classes, and there are more. Leave --certificate "
                    "out, or keep the rows of two classes."
                )
            verdicts = separability_table(
                table.X, table.y, fit_intercept=offset, max_seconds=max_seconds
            )
            typer.echo(json.dumps(verdicts.verdicts()) if as_json else str(verdicts))
            raise typer.Exit(0 if verdicts.all_separable else 1)
        rows = replace(as_rows(table.X, table.y), feature_names=table.feature_names)
        found = separability(rows, fit_intercept=offset, max_seconds=max_seconds)
        if certificate is not None:
            certificate.write_text(found.to_json(), encoding="ascii")
        typer.echo(found.to_json() if as_json else found.explain())
        raise typer.Exit(0 if found.verdict == "separable" else 1)


@app.command()
def verify(
    certificate: Annotated[Path, typer.Argument(help="What `separable --certificate` wrote.")],
    file: Annotated[Path, typer.Argument(help="The CSV file it speaks of.")],
    target: Target,
    header: Header = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check a certificate against the raw data, exactly.

    Exit code 0: unaltered, made for these data, and true. 1: not so. 2: it cannot be read.
    """
    with _explained():
        from rosenblatt.data.chunks import as_rows
        from rosenblatt.data.readers import read_csv
        from rosenblatt.prove.certificate import from_json

        claim = from_json(certificate.read_bytes())
        table = read_csv(file, target, header)
        said = claim.verify(replace(as_rows(table.X, table.y), feature_names=table.feature_names))
        if as_json:
            typer.echo(
                json.dumps({"verdict": claim.verdict, "verified": bool(said), **asdict(said)})
            )
        else:
            typer.echo(f"{claim.verdict}: {said}")
        raise typer.Exit(0 if said else 1)


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


@app.command()
def fit(
    file: Annotated[
        Path, typer.Argument(help="Rows and labels: LIBSVM, VW text, CSV, Parquet; or a folder.")
    ],
    out: Annotated[Path, typer.Option(help="Where the model goes, e.g. model.safetensors.")],
    passes: Annotated[int, typer.Option(help="Most passes over the file.", min=1)] = 1,
    keep: Annotated[str, typer.Option(help="Which weights: average or last.")] = "average",
    rule: Annotated[
        str, typer.Option(help="perceptron, margin, pa, pa1, pa2, arow, scw, sop; or arow(r=0.1).")
    ] = "perceptron",
    target: Column = None,
    eta0: Annotated[float, typer.Option(help="The learning rate.")] = 1.0,
    offset: Annotated[bool, typer.Option(help="Hyperplanes with an offset.")] = True,
    header: Header = None,
    format: FileFormat = None,
    bits: Annotated[int | None, typer.Option(help="VW text: 2**bits positions.")] = None,
    columns: Annotated[
        str,
        typer.Option(help="CSV, Parquet: plain (numbers), raw (any kind), auto (as they are)."),
    ] = "auto",
    column: Annotated[
        list[str] | None,
        typer.Option(help="NAME=number, category, hash or drop: what a column is taken for."),
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="One more mark of missing values, e.g. -999.")
    ] = None,
    scaling: Annotated[
        str | None, typer.Option(help="Numbers of raw columns: standard, largest or none.")
    ] = None,
    where: Where = None,
    max_categories: Annotated[
        int | None, typer.Option(help="Most features of one column of texts (1000).")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder: save there every now and then, and when stopped.")
    ] = None,
    every: Annotated[
        str | None, typer.Option(help="How often: 30s (if left out), 5m, 1000000rows.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint, if there is one.")
    ] = False,
    skip: Skip = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a perceptron on FILE, chunk by chunk, and write the model.

    Rows are visited in order; the file is never held in memory. With more than one pass, parsed
    rows are cached beside the model meanwhile.

    Columns of text, dates or missing values are made numbers as a pass before finds fit; what was
    done to each is part of the model and is shown.
    """
    with _explained(), _bar(quiet) as bar:
        from rosenblatt.from_file import fit_file
        from rosenblatt.show.files import fitted

        done = fit_file(
            file, out, passes=passes, keep=keep, rule=rule, eta0=eta0, fit_intercept=offset,
            watcher=bar, target=target, header=header, format=format, bits=bits,
            on_error=_on_error(skip), checkpoint=checkpoint, every=every, resume=resume,
            columns=columns, kinds=_kinds(column), missing=missing, scaling=scaling,
            max_categories=max_categories, where=where,
        )  # fmt: skip
    shown = json.dumps if as_json else lambda facts: fitted(facts, done.training, done.columns)
    _print(shown(done.facts()))


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="What `rosenblatt fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="Rows of the same features.")],
    out: Annotated[Path | None, typer.Option(help="Write the labels here, one a line.")] = None,
    target: Column = None,
    header: Header = None,
    format: FileFormat = None,
    where: Where = None,
    skip: Skip = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label the rows of FILE with MODEL, and count the errors if FILE has labels."""
    with _explained(), _bar(quiet) as bar:
        from rosenblatt.from_file import predict_file
        from rosenblatt.show.files import predicted

        done = predict_file(
            model, file, out, watcher=bar,
            target=target, header=header, format=format, where=where, on_error=_on_error(skip),
        )  # fmt: skip
    _print(json.dumps(done.facts()) if as_json else predicted(done.facts()))


@app.command()
def compare(
    file: Annotated[Path, typer.Argument(help="Rows and labels: LIBSVM, VW text, CSV, Parquet.")],
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
    offset: Annotated[bool, typer.Option(help="Hyperplanes with an offset.")] = True,
    header: Header = None,
    format: FileFormat = None,
    bits: Annotated[int | None, typer.Option(help="VW text: 2**bits positions.")] = None,
    skip: Skip = False,
    jobs: Annotated[int, typer.Option(help="Threads; -1: one a core.")] = -1,
    seed: Annotated[int, typer.Option(help="Of folds and order of visits.", min=0)] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try all rules and keeps on FILE: accuracy, time, and which to use.

    By cross-validation and by progressive validation, on the rows from the start of FILE.
    """
    with _explained():
        from rosenblatt.comparison.compare import compare_file

        found = compare_file(
            file, rows=rows, scale=scale, rules=rule, keeps=keep or ("last", "average"),
            passes=passes or 2, cv=folds, shuffle=shuffle, n_jobs=jobs, random_state=seed,
            progress=False if quiet else None, **({} if offset else {"fit_intercept": False}),
            reading={
                "target": target, "header": header, "format": format, "bits": bits,
                "on_error": _on_error(skip),
            },
        )  # fmt: skip
    _print(json.dumps(found.to_dict()) if as_json else str(found))


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="What `rosenblatt fit` or save_model wrote.")],
    top: Annotated[int, typer.Option(help="How many of the largest weights.", min=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """What is inside MODEL: classes, features, largest weights, how it was made.

    Exit code 0: the file is whole and unaltered. 2: it is not, or cannot be read.

    Example: rosenblatt explain model.safetensors --top 20
    """
    with _explained():
        from rosenblatt.model_file import read_model
        from rosenblatt.show.explained import explained

        found = read_model(model)
        facts = found.facts(top)
        weights = str(found.model.explain_model(top))
    _print(json.dumps(facts) if as_json else explained(facts, weights))


@app.command()
def lectures(
    name: Annotated[
        str | None, typer.Argument(help="Which lecture, or `all`. Left out: a list of them.")
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
    with _explained():
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
                _say(f"wrote {page}")
        if as_json:
            typer.echo(json.dumps(numbers))


@app.command()
def warmup() -> None:
    """Compile ahead: `fit` and `predict` on files, Perceptron on arrays. A minute, once a machine.

    Penalties, batch mode and Kesler's rule are compiled when first used.

    Compiled loops are kept on disk (in NUMBA_CACHE_DIR if that is set).
    """
    with _explained():
        from rosenblatt.warmup import warmup

        warmup(typer.echo)


def _kinds(given: list[str] | None) -> dict[str, str]:
    """NAME=KIND as pairs; a name may hold = itself."""
    pairs = [one.rpartition("=") for one in given or []]
    for name, _, kind in pairs:
        if not name:
            raise ParameterError(f"--column takes NAME=KIND, got {kind!r}.")
    return {name: kind for name, _, kind in pairs}


def _on_error(skip: bool) -> str:
    return "skip" if skip else "raise"


@contextmanager
def _bar(quiet: bool) -> Iterator[Any]:
    """Somebody who tells of progress, on standard error, the bar only on a terminal."""
    from rosenblatt.show.files import Bar

    with Bar((lambda _: None) if quiet else _say, not quiet and sys.stderr.isatty()) as bar:
        yield bar


def _many_classes(y: Any, file: Path, target: str) -> bool:
    from rosenblatt.data.problem import as_labels, sorted_classes

    n = len(sorted_classes(as_labels(y)))
    if n > MOST_CLASSES:
        raise LabelError(
            f"column {target} of {file} holds {n} different labels, more than {MOST_CLASSES} "
            "classes. Is it a measurement rather than a label?"
        )
    return n > 2


def _print(text: str) -> None:
    with _explained():
        typer.echo(text)


@contextmanager
def _explained() -> Iterator[None]:
    """Whatever goes wrong: a message and exit code 2, never one that means an answer.

    Being told to end (SIGTERM) is like being interrupted: what was begun is cleared away.
    """
    before = _on_termination(_terminated)
    try:
        yield
    except typer.Exit:
        raise
    except (RosenblattError, OSError, UnicodeError) as e:
        _say(str(e))
        raise typer.Exit(2) from e
    except KeyboardInterrupt as e:
        _say(str(e) or "interrupted")
        raise typer.Exit(128 + getattr(e, "signal", signal.SIGINT)) from e
    except Exception as e:
        _say(f"an error that was not foreseen: {type(e).__name__}: {e}")
        raise typer.Exit(2) from e
    finally:
        _on_termination(before)


def _on_termination(handler: Any) -> Any:
    """What happens at SIGTERM; and what did. Only the main thread may say so."""
    with suppress(ValueError):
        return signal.signal(signal.SIGTERM, handler)
    return signal.SIG_DFL


def _terminated(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _say(message: str) -> None:
    with suppress(Exception):  # standard error may be closed, or unable to write a character
        typer.echo(f"rosenblatt: {message}", err=True)


if __name__ == "__main__":
    app()
