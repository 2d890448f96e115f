"""Scaling: seconds as rows, columns and density grow by factors of ten, ours and peers.

    python benchmarks/run.py scaling [--quick]

Generated data of datasets.py. Five passes where passes can be set; LIBLINEAR until it stops. A
contender that took more than five seconds is left out at the next size, and so are LIBLINEAR and
Vowpal Wabbit, which copy the data, above thirty million entries.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from contenders import CONTENDERS, Contender
from datasets import Split, dense, sparse
from report import best_of, number, table

PASSES = 5
ENOUGH = 5.0  # seconds
COPIED = 30_000_000  # entries
COPIES = ("LIBLINEAR", "Vowpal Wabbit")
NAMES = [name for name in CONTENDERS if name not in ("rosenblatt, average", "bytes of the file")]

SWEEPS: dict[str, tuple[Callable[[int], Split], tuple[int, ...]]] = {
    "rows (30 columns, dense float32)": (
        lambda n: dense(n, 30, np.float32),
        (1_000, 10_000, 100_000, 1_000_000),
    ),
    "columns (10,000 rows, dense float32)": (
        lambda d: dense(10_000, d, np.float32),
        (10, 100, 1_000, 10_000),
    ),
    "entries per row (20,000 x 1,000, CSR)": (
        lambda k: sparse(20_000, 1_000, k),
        (1, 10, 100, 1_000),
    ),
}

Curve = dict[str, list[tuple[int, float]]]


def ready(name: str, split: Split, folder: Path) -> Contender:
    folder.mkdir()
    contender = CONTENDERS[name](split, folder)
    contender.start()
    contender.convert()
    return contender


def one_size(
    split: Split, names: list[str], rounds: int
) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds of each contender that could be run, and why the others could not."""
    runs, scales, failed = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(names):
            if name in COPIES and split.entries > COPIED:
                failed[name] = f"{split.entries:,} entries"
                continue
            try:
                contender = ready(name, split, Path(folder) / str(k))
                contender.fit(PASSES)  # what is imported on first use
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"
                continue
            runs[name] = lambda contender=contender: contender.fit(PASSES)
            scales[name] = contender.scale
        seconds = best_of(rounds, runs)
    return {name: seconds[name] * scales[name] for name in runs}, failed


def run(quick: bool = False) -> dict[str, Curve]:
    found: dict[str, Curve] = {}
    for sweep, (make, sizes) in SWEEPS.items():
        curve: Curve = {name: [] for name in NAMES}
        left = list(NAMES)
        for size in sizes[: 2 if quick else None]:
            print(f"  {sweep}: {size:,} ...", file=sys.stderr, flush=True)
            seconds, failed = one_size(make(size), left, 1 if quick else 3)
            for name, why in failed.items():
                print(f"    {name}: {why}", file=sys.stderr)
            for name, value in seconds.items():
                curve[name].append((size, value))
            real = {n: v for n, v in seconds.items() if n != "River"}  # its seconds are scaled
            left = [n for n in left if n not in failed and real.get(n, 0) < ENOUGH]
        found[sweep] = curve
    return found


def markdown(found: dict[str, Curve]) -> str:
    parts = []
    for sweep, curve in found.items():
        sizes = sorted({size for points in curve.values() for size, _ in points})
        body = []
        for size in sizes:
            values = [dict(curve[name]).get(size) for name in curve]
            body.append([f"{size:,}", *[number(value, 2) for value in values]])
        parts.append(table([sweep, *curve], body))
    return "\n\n".join(parts)
