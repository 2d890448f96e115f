"""rosenblatt bench: training speed on this machine."""

from __future__ import annotations

import json
from functools import partial
from timeit import repeat
from typing import Annotated

import typer

from rosenblatt.cli.app import command
from rosenblatt.cli.exit_codes import handle_errors, show
from rosenblatt.cli.options import AsJson, RandomState


@command("rosenblatt bench", "rosenblatt bench --rows 1000000 --repeats 5 --json")
def bench(
    rows: Annotated[int, typer.Option(help="Rows of each generated set.", min=1000)] = 100_000,
    max_iter: Annotated[int, typer.Option(help="Epochs.", min=1)] = 5,
    repeats: Annotated[int, typer.Option(help="Fits, of which the fastest counts.", min=1)] = 3,
    random_state: RandomState = 0,
    as_json: AsJson = False,
) -> None:
    """Compare training speed with scikit-learn's Perceptron on generated rows.

    Both visit the same rows in the same order.
    """
    with handle_errors():
        import numpy as np
        import scipy.sparse as sp
        from sklearn.linear_model import Perceptron as Theirs

        from rosenblatt import Perceptron
        from rosenblatt.text import text_table

        rng, found = np.random.default_rng(random_state), []
        X = rng.standard_normal((rows, 30))
        y = X @ rng.standard_normal(30) + rng.standard_normal(rows) > 0
        sparse = sp.csr_matrix(np.where(rng.random(X.shape) < 0.1, X, 0))
        for data, table in (("dense, 30 features", X), ("CSR, a tenth of them", sparse)):
            for trainer, made in (("rosenblatt", Perceptron), ("scikit-learn", Theirs)):
                clf = made(shuffle=False, tol=None, max_iter=max_iter).fit(table, y)
                seconds = min(repeat(partial(clf.fit, table, y), number=1, repeat=repeats))
                found.append({
                    "data": data, "trainer": trainer, "rows": rows, "epochs": max_iter,
                    "seconds": seconds, "rows_per_second": rows * max_iter / seconds,
                })  # fmt: skip
        cells = [
            [f"{v:,.4g}" if isinstance(v, float) else str(v) for v in f.values()] for f in found
        ]
    show(json.dumps(found) if as_json else text_table(list(found[0]), cells))
