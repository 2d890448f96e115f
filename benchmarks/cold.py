"""Cold: what the first call costs, before any machine code is on disk.

    python benchmarks/run.py cold [--quick]

Processes with a cache folder of their own (NUMBA_CACHE_DIR), 100 rows. "ever" begins with an empty
folder; "a process" finds what the first one left; "again" is the second call within it. Seconds
of the call alone; importing rosenblatt and its Perceptron is a row of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import number, table

CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
began = time.perf_counter()
from rosenblatt import Perceptron, separability
seconds = [time.perf_counter() - began]
import numpy as np, scipy.sparse as sp
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 10))
y = X @ rng.standard_normal(10) + rng.standard_normal(100) > 0
X = {matrix}
for _ in range(2):
    began = time.perf_counter()
    {call}
    seconds.append(time.perf_counter() - began)
print(json.dumps(seconds))
"""

CALLS = {
    "`Perceptron().fit`, dense float64": ("X", "Perceptron().fit(X, y)"),
    "`Perceptron().fit`, dense float32": ("X.astype(np.float32)", "Perceptron().fit(X, y)"),
    "`Perceptron().fit`, CSR": ("sp.csr_matrix(X)", "Perceptron().fit(X, y)"),
    "`Perceptron(keep='average').fit`, dense": ("X", "Perceptron(keep='average').fit(X, y)"),
    "`separability`, dense float64": ("X", "separability(X, y)"),
}


def child(code: str, cache: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:100])
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def command(folder: Path, cache: str) -> float:
    """`rosenblatt fit` on 100 rows, the whole process."""
    path = folder / "small.svm"
    path.write_text("+1 1:0.5 3:2\n-1 2:0.5 3:1\n" * 50)
    arguments = [sys.executable, "-m", "rosenblatt", "fit", str(path), "--out", f"{path}.model"]
    began = time.perf_counter()
    subprocess.run(
        arguments, env=os.environ | {"NUMBA_CACHE_DIR": cache}, capture_output=True, check=True
    )
    return time.perf_counter() - began


def run(quick: bool = False) -> list[list[str]]:
    body, imports = [], []
    for name, (matrix, call) in list(CALLS.items())[: 1 if quick else None]:
        print(f"  {name} ...", file=sys.stderr, flush=True)
        code = CHILD.format(matrix=matrix, call=call)
        with tempfile.TemporaryDirectory() as cache:
            try:
                first = child(code, cache)
                later = [child(code, cache) for _ in range(3)]
            except RuntimeError as error:
                body.append([name, f"failed: {error}", "", ""])
                continue
        imports += [seconds[0] for seconds in later]
        ever, load, again = first[1], min(s[1] for s in later), min(s[2] for s in later)
        body.append([name, number(ever), number(load), number(again)])
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        times = [command(Path(folder), cache) for _ in range(4)]
    body.append(["`rosenblatt fit`, the whole process", number(times[0]), number(min(times)), ""])
    if imports:
        body.append(["`from rosenblatt import Perceptron`", "", number(min(imports)), ""])
    return body


def markdown(body: list[list[str]]) -> str:
    return table(["on 100 rows, seconds", "ever", "a process", "again"], body)
