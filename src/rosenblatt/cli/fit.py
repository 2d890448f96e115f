"""rosenblatt fit: from rows to a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.ending import explained, show
from rosenblatt.cli.given import (
    AsJson,
    Bits,
    Column,
    FileFormat,
    Header,
    Offset,
    Quiet,
    Skip,
    Where,
    bar,
    kinds,
    on_error,
)
from rosenblatt.cli.pipes import DASH, is_pipe, model_to, rows_from
from rosenblatt.errors import ParameterError

# headings of the help
RAW, SAVED, MANY = "Columns of CSV and Parquet", "Checkpoints", "More than one machine"


@command(
    "rosenblatt fit train.svm --out model.safetensors --passes 5",
    "rosenblatt fit clicks.parquet --target clicked --rule arow",
    "zcat train.vw.gz | rosenblatt fit - --format vw --out m --json",
    "rosenblatt fit train.svm --out m --checkpoint saved --every 300 --resume",
    "rosenblatt fit s3://bucket/clicks --out m --cluster tcp://10.0.0.1:8786",
)
def fit(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Rows and labels: LIBSVM, VW text, CSV, Parquet; a folder; or -."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the model goes, or -. Left out: FILE.safetensors, in this folder."
        ),
    ] = None,
    passes: Annotated[int, typer.Option(help="Most passes over the file.", min=1)] = 1,
    keep: Annotated[str, typer.Option(help="Which weights: average or last.")] = "average",
    rule: Annotated[
        str,
        typer.Option(
            help="perceptron, margin, pa, pa1, pa2, arow, scw, sop, alma; or arow(r=0.1)."
        ),
    ] = "perceptron",
    target: Column = None,
    eta0: Annotated[float, typer.Option(help="The learning rate.")] = 1.0,
    offset: Offset = True,
    header: Header = None,
    format: FileFormat = None,
    bits: Bits = None,
    columns: Annotated[
        str,
        typer.Option(
            help="CSV, Parquet: plain (numbers), raw (any kind), auto (as they are).",
            rich_help_panel=RAW,
        ),
    ] = "auto",
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=number, category, hash or drop: what a column is taken for.",
            rich_help_panel=RAW,
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(help="One more mark of missing values, e.g. -999.", rich_help_panel=RAW),
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option(
            help="Numbers of raw columns: standard, largest or none.", rich_help_panel=RAW
        ),
    ] = None,
    where: Where = None,
    max_categories: Annotated[
        int | None,
        typer.Option(help="Most features of one column of texts (1000).", rich_help_panel=RAW),
    ] = None,
    shuffle: Annotated[
        int | None, typer.Option(help="Visit rows in an order drawn by this seed.", metavar="SEED")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder: save there from time to time, and when stopped.", rich_help_panel=SAVED
        ),
    ] = None,
    every: Annotated[
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
    skip: Skip = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a perceptron on FILE, chunk by chunk, and write the model.

    Rows are visited in order, or shuffled; the file is never held in memory. With more than one
    pass, or shuffled, parsed rows are cached beside the model meanwhile.

    Columns of text, dates or missing values are made numbers as a pass before finds fit; what was
    done to each is part of the model and is shown.

    From a pipe (-) rows are read once and never held, apart from the first 64 MB: where they would
    have to be read again (columns that are no numbers), a longer pipe is refused. With --out - the
    model goes to standard output, and what is said to standard error.

    With --cluster or --workers, FILE may be a folder of any format or a URL; each file is a shard,
    and weights are mixed after every pass (docs/how-to/cluster.md).
    """
    with explained():
        if out is None:
            if is_pipe(file):
                raise ParameterError(f"{file} is a pipe and has no name for a model. Give --out.")
            out = Path(f"{file.resolve().name.split('.')[0] or 'model'}.safetensors")
        if checkpoint is not None and is_pipe(file):
            raise ParameterError(
                f"--checkpoint needs a file that can be read again from some place, and {file} is "
                "a pipe. Write the rows to a file first."
            )
    if cluster is not None or workers is not None:
        with explained(), model_to(out) as place:
            from rosenblatt.cli.cluster import as_written, fit_on_cluster, told

            if is_pipe(file):
                raise ParameterError(f"a cluster cannot read {file}. Give a folder or a URL.")
            mixed = fit_on_cluster(
                as_written(file), place, cluster, workers, quiet=quiet, column=column,
                scaling=scaling, max_categories=max_categories, every=every, rounds=passes,
                keep=keep, rule=rule, eta0=eta0, fit_intercept=offset, shuffle_seed=shuffle,
                columns=columns, checkpoint=checkpoint, resume=resume, target=target, header=header,
                format=format, bits=bits, missing=missing,
                where=where, on_error=on_error(skip),
            )  # fmt: skip
            facts = {**mixed.facts(), "model": str(out)}
        show(json.dumps(facts) if as_json else told(facts), err=out == DASH)
        return
    with explained(), rows_from(file), model_to(out) as place, bar(quiet) as watcher:
        from rosenblatt.show.files import fitted
        from rosenblatt.stream.fit import fit_file

        done = fit_file(
            file, place, passes=passes, keep=keep, rule=rule, eta0=eta0, fit_intercept=offset,
            watcher=watcher, target=target, header=header, format=format, bits=bits,
            on_error=on_error(skip), checkpoint=checkpoint, every=every, resume=resume,
            columns=columns, kinds=kinds(column), missing=missing, scaling=scaling,
            max_categories=max_categories, where=where, shuffle_seed=shuffle,
        )  # fmt: skip
        facts = {**done.to_dict(), "model": str(out)}
    text = json.dumps(facts) if as_json else fitted(facts, done)
    show(text, err=out == DASH)
