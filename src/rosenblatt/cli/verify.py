"""rosenblatt verify: check a certificate against the data."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson, Reading, with_reading
from rosenblatt.cli.pipes import check_dashes, check_input, whole_file
from rosenblatt.cli.progress_bar import spinner
from rosenblatt.cli.separable import NUMBERS_ONLY, read_numbers


@command(
    "rosenblatt verify proof.json iris.csv --target species",
    "curl -s https://example.org/proof.json | rosenblatt verify - iris.csv --target species",
)
@with_reading(*NUMBERS_ONLY)
def verify(
    certificate: Annotated[
        str,
        typer.Argument(metavar="CERTIFICATE", help="A file of `separable --certificate`; or -."),
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file that it was made for; or -.")
    ],
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the raw data, exactly.

    Exit code 0: unaltered, made for these data, and true. 1: not so. 2: it cannot be read.
    """
    with handle_errors(), ExitStack() as stack:
        check_dashes(CERTIFICATE=certificate, FILE=file)
        held = stack.enter_context(whole_file(certificate))
        check_input(file)
        stack.enter_context(spinner("verifying"))
        from rosenblatt.data.cone import as_cone

        claim = _read(held, certificate)
        found = claim.verify(as_cone(read_numbers(file, reading)))
        facts = {"kind": claim.kind, "verified": bool(found), **asdict(found)}
    show(json.dumps(facts) if as_json else f"{claim.kind}: {found}")
    raise typer.Exit(0 if found else 1)


def _read(held: Path, name: str) -> Any:
    """The certificate in a file."""
    from rosenblatt.errors import DataError
    from rosenblatt.prove.certificate import from_json

    try:
        return from_json(held.read_bytes())
    except OSError as e:
        raise DataError(
            f"cannot read {name}: {e.strerror or e}. Give a file of `separable --certificate`."
        ) from e
    except DataError as e:
        raise DataError(
            f"{name}: {e} The command takes the certificate first, then the file of data."
        ) from e
