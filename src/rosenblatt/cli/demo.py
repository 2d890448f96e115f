"""rosenblatt demo: a perceptron learns in the terminal, and files to go on with."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from rosenblatt.cli.app import command, program
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.lectures import how_to_get_jupyter, progress_of
from rosenblatt.cli.options import AsJson
from rosenblatt.errors import MissingPackageError, ParameterError

FEATURES = ("sepal_length_above_5", "sepal_width_above_3")  # in cm
OTHER, SETOSA = "other", "setosa"
LECTURE = "cisc271"
FRAME_SECONDS = 0.35
STYLES = {"o": "bold green", "x": "red", "·": "bold yellow", "@": "bold reverse"}
INTRODUCTION = """Fisher's Iris data: 150 flowers, setosas and others, two measurements.
The perceptron starts at w = 0 and moves its boundary at every mistake. Rows are counted from 0.
"""
SYMBOLS = "o: setosa, x: other, ·: the boundary, @: the mistake.\n"


class Files(NamedTuple):
    """Files that the demo writes."""

    film: Path
    notebook: Path
    flowers: Path
    proof: Path


@command("rosenblatt demo", "rosenblatt demo --out demo --json")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files that it writes.")] = Path(
        "rosenblatt-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Watch a perceptron learn, prove the result, and write a film and a notebook."""
    with handle_errors():
        from rosenblatt import Perceptron, film, separability
        from rosenblatt.data.cone import as_cone
        from rosenblatt.data.toy_datasets import sepals
        from rosenblatt.io.reader import read
        from rosenblatt.lectures.notebook import write_notebook

        if out.exists() and not out.is_dir():
            raise ParameterError(f"{out} is a file. Give a folder with --out.")
        out.mkdir(parents=True, exist_ok=True)
        files = Files(*(out / name for name in _names()))
        X, y = sepals()
        clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
        if not as_json:
            show(INTRODUCTION)
            _play(clf, X, y)

        _write(files.flowers, _as_csv(X, y))
        table = read(files.flowers, target="species")
        rows = as_cone(table)
        proof = separability(rows)
        verified = proof.verify(rows)
        _write(files.proof, proof.to_json())
        film(clf, files.film, feature_names=FEATURES, class_names=(OTHER, SETOSA))
        existed, missing = files.notebook.exists(), None
        try:
            if not existed:  # otherwise it may hold work
                with progress_of(LECTURE):
                    write_notebook(LECTURE, files.notebook)
        except MissingPackageError as e:
            missing = str(e)

        if as_json:
            facts = {
                "stop_reason": clf.stop_reason_,
                "mistakes": clf.n_mistakes_,
                "mistakes_per_epoch": clf.trace_.mistakes.tolist(),
                "coef": clf.coef_[0].tolist(),
                "intercept": float(clf.intercept_[0]),
                "verdict": proof.verdict,
                "verified": bool(verified),
                **{name: str(path) for name, path in files._asdict().items()},
            }
            show(json.dumps({**facts, "notebook": None} if missing else facts))
            return
        trace = clf.trace_
        show(
            f"\nStopped after {trace.n_epochs} epochs and {trace.n_mistakes} mistakes: "
            f"{trace.stop_reason.sentence}.\n\n"
            f"The proof that a line separates them:\n{proof.explain(rows)}\n"
            f"Checked against the file in exact arithmetic; {verified}.\n"
        )
        show(_afterwards(files, existed, missing))


def _names() -> tuple[str, str, str, str]:
    return "film.html", f"{LECTURE}.ipynb", "flowers.csv", "proof.json"


def _play(clf: Any, X: Any, y: Any) -> None:
    """Show every update: as a moving picture on a terminal, otherwise as a line."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from rosenblatt.show.text import drawn

    record, console = clf.trace_.record, Console()
    lines = [
        f"update {k:>2} of {len(record)}, epoch {u.epoch}: row {u.row:>3} is a mistake, "
        f"w = ({u.w[0]:.1f}, {u.w[1]:.1f}), b = {u.b[0]:g}"
        for k, u in enumerate(record, 1)
    ]
    if not console.is_terminal:
        show("\n".join(lines))
        return
    show(SYMBOLS)
    size = {"width": min(72, console.width - 1), "height": max(4, min(18, console.height - 6))}
    with Live(console=console, auto_refresh=False) as live:
        for update, line in zip(record, lines, strict=True):
            picture = Text(drawn(X, y, update.w, float(update.b[0]), marked=update.row, **size))
            for mark, style in STYLES.items():
                picture.highlight_words([mark], style)
            live.update(Text.assemble(picture, "\n\n", line), refresh=True)
            time.sleep(FRAME_SECONDS)


def _as_csv(X: Any, y: Any) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow((*FEATURES, "species"))
    rows.writerows(
        (*x, SETOSA if label > 0 else OTHER) for x, label in zip(X.tolist(), y, strict=True)
    )
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    from rosenblatt.io.atomic import replace_file

    with replace_file(path) as file:
        file.write(text.encode())


def _afterwards(files: Files, existed: bool, missing: str | None) -> str:
    """Where the files are, and what to try next, as it has to be typed here."""
    start = program()
    lecture = f"a lecture with these flowers: open it in Jupyter. {how_to_get_jupyter()}"
    older = " It existed before and was not changed." if existed else ""
    written = [
        (files.film, "the run, update by update: open it in a browser"),
        (files.notebook, missing or f"{lecture}{older}"),
    ]
    commands = [
        (f"verify {files.proof} {files.flowers} --target species", "check the proof again"),
        (
            f"fit {files.flowers} --target species --out {files.flowers.parent / 'model'}",
            "train on a file",
        ),
        ("exercise sutd-1", "an exercise that checks your answer"),
        ("lectures", "five lectures, each a notebook"),
        ("--help", "everything else"),
    ]
    return "\n".join(
        (
            "Written:",
            *_lines(written),
            "",
            "What to try next:",
            *_lines([(f"{start} {command}", about) for command, about in commands]),
            *_activation(start),
        )
    )


def _lines(pairs: list[tuple[Any, str]]) -> list[str]:
    return [line for what, about in pairs for line in (f"  {what}", f"      {about}")]


def _activation(start: str) -> list[str]:
    """How to type `rosenblatt` alone, where the environment is not active."""
    script = Path(start).parent / "activate"
    if sys.platform == "win32" or not script.is_file():
        return []
    return ["", f"After `source {script}`, type rosenblatt instead of {start}."]
