"""Warm-up: compile ahead what people meet first, so that no command has to do it later."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# kind: name of a file, what is in it, how it is read
FILES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "LIBSVM": ("rows.svm", "-1 1:1\n+1 2:1\n", {}),
    "VW text": ("rows.vw", "-1 | a\n1 | b\n", {}),
    "CSV and Parquet": ("rows.csv", "1,0\n2,1\n", {"target": -1}),
}


def warmup(say: Callable[[str], Any]) -> None:
    """Compile the loops for files and for arrays; `say` hears how long each took.

    What was compiled before is loaded from disk, which shows that the disk cache works.
    """
    from rosenblatt.stream.fit import fit_file

    with TemporaryDirectory() as name:
        out = Path(name) / "model"
        for kind, (file, text, reading) in FILES.items():
            path = Path(name) / file
            path.write_text(text)
            _timed(say, f"{kind} files", partial(fit_file, path, out, **reading))
    import numpy as np
    import scipy.sparse as sp

    from rosenblatt.estimators import Perceptron

    for dtype in ("float64", "float32"):
        X = np.array([[0.0], [1.0]], dtype=dtype)
        for what, rows in {"dense": X, "sparse": sp.csr_matrix(X)}.items():
            _timed(say, f"{what} arrays, {dtype}", partial(Perceptron().fit, rows, [0, 1]))


def _timed(say: Callable[[str], Any], what: str, work: Callable[[], Any]) -> None:
    began = time.perf_counter()
    work()
    say(f"{what}: {time.perf_counter() - began:.1f} s")
