"""rosenblatt fit: from rows to a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import (
    AsJson,
    FitIntercept,
    Quiet,
    RandomState,
    Reading,
    Rows,
    Scale,
    with_reading,
)
from rosenblatt.cli.pipes import DASH, check_input, model_to
from rosenblatt.cli.progress_bar import progress_bar
from rosenblatt.errors import ParameterError
from rosenblatt.io.location import is_pipe

if TYPE_CHECKING:
    from rosenblatt.stream.fit_result import FitResult

# headings of the help
SAVED, MANY = "Checkpoints", "More than one machine"


@command(
    "rosenblatt fit train.svm --out model.safetensors --max-iter 5",
    "rosenblatt fit clicks.parquet --target clicked --rule arow",
    "zcat train.vw.gz | rosenblatt fit - --format vw --out m --json",
    "rosenblatt fit train.svm --out m --checkpoint saved --checkpoint-every 300 --resume",
    "rosenblatt fit s3://bucket/clicks --out m --cluster tcp://10.0.0.1:8786",
)
@with_reading()
def fit(
    file: Rows,
    reading: Reading,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the model to this file, or -. Left out: a new file FILE.safetensors in "
            "this folder."
        ),
    ] = None,
    max_iter: Annotated[int, typer.Option(help="Most epochs over the file.", min=1)] = 1,
    keep: Annotated[str, typer.Option(help="Which weights: average or last.")] = "average",
    rule: Annotated[
        str,
        typer.Option(
            help="perceptron, margin, pa, pa1, pa2, arow, scw, sop, alma; or arow(r=0.1)."
        ),
    ] = "perceptron",
    eta0: Annotated[float, typer.Option(help="The learning rate.")] = 1.0,
    fit_intercept: FitIntercept = True,
    scale: Scale = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Visit the rows in a random order.")
    ] = False,
    random_state: RandomState = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder: save there from time to time, and when stopped.", rich_help_panel=SAVED
        ),
    ] = None,
    checkpoint_every: Annotated[
        float | None,
        typer.Option(
            help="Seconds between checkpoints (30); 0: after every block.", rich_help_panel=SAVED
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the newest checkpoint, if there is one.",
            rich_help_panel=SAVED,
        ),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Train on a Dask cluster: the address of its scheduler, tcp://...",
            metavar="ADDRESS",
            rich_help_panel=MANY,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Train on this many processes of this machine.", min=1, rich_help_panel=MANY
        ),
    ] = None,
    dashboard: Annotated[
        bool,
        typer.Option(
            "--dashboard",
            help="With --workers: serve Dask's dashboard on 127.0.0.1.",
            rich_help_panel=MANY,
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a perceptron on FILE, block by block, and write the model.

    The rows are visited in order, or shuffled; the file is never held in memory. With more than one
    epoch, or --shuffle, the parsed rows are cached beside the model during training.

    Columns of text, dates or missing values become features by name, and numbers are then centred
    and scaled while learning; the model holds all of it. A pipe (-) may be of any length. With
    --out - the model goes to standard output, and the report to standard error.

    With --cluster or --workers, FILE may be a folder of any format or a URL; each file is a shard,
    and weights are mixed after each epoch (docs/how-to/cluster.md).
    """
    with handle_errors():
        place = _output(file, out)
        training = {
            "max_iter": max_iter, "keep": keep, "rule": rule, "eta0": eta0,
            "fit_intercept": fit_intercept, "shuffle": shuffle, "random_state": random_state,
            "scale": scale, "checkpoint": checkpoint, "resume": resume,
            **reading.settings(),
        }  # fmt: skip
    with handle_errors(), model_to(place) as written, progress_bar(quiet) as watcher:
        check_input(file)
        training |= {"watcher": watcher, "checkpoint_every": checkpoint_every}
        if cluster is not None or workers is not None or dashboard:
            done = _on_cluster(file, written, cluster, workers, dashboard, training)
        else:
            from rosenblatt.stream.fit import fit_file

            done = fit_file(file, written, **training)
        from rosenblatt.cli.report import fit_report

        facts = {**done.to_dict(), "model": str(place)}
        text = json.dumps(facts) if as_json else fit_report(done, facts)
    show(text, err=place == DASH)


def _on_cluster(
    file: str, out: Path, cluster: str | None, workers: int | None, dashboard: bool,
    training: dict[str, Any],
) -> FitResult:  # fmt: skip
    from rosenblatt.cli.cluster import check_cluster, client_of

    check_cluster(cluster, workers, dashboard)
    from rosenblatt.cluster.files import fit_files

    if is_pipe(file):
        raise ParameterError(f"A cluster cannot read {file}. Give a folder or a URL.")
    return fit_files(file, out, client=lambda: client_of(cluster, workers, dashboard), **training)


def _output(file: str, out: Path | None) -> Path:
    """The place of the model. Only a file that --out names is replaced."""
    if out is not None:
        return out
    if is_pipe(file):
        raise ParameterError(f"{file} is a pipe, so the model has no name. Give --out.")
    place = Path(f"{Path(file).resolve().name.split('.')[0] or 'model'}.safetensors")
    if place.exists():
        raise ParameterError(f"{place} exists. Give --out {place} to replace it, or another name.")
    return place
