"""The kernel perceptron on MNIST as Freund and Schapire ran it: last, averaged, voted.

    python benchmarks/freund_schapire.py [--degrees 1 2 3 4] [--epochs 4] [--rows 60000]
    python benchmarks/freund_schapire.py --redraw       the tables of the degrees found last

Pixels / 255, K(x, z) = (1 + x.z)^degree, ten classes, each against the rest, the largest score
wins; rows in the order of the file, no offset. One run of each degree gives all its columns and
all three predictions. Degrees run side by side, one a core, each with one thread of BLAS; seconds
are of the processor. Kernel values are float32, sums of them float64; the last column of the second
table says how many mistakes of the first pass over 10,000 rows are other ones if all is float64.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from datasets import digits
from report import ROOT, cores, number, shared_data, table
from threadpoolctl import threadpool_limits

from rosenblatt.data.block import Block
from rosenblatt.learn.kernel import Kernel
from rosenblatt.learn.kernel_machine import KernelMachine, KernelModel

PARTS = (0.1, 1, 2, 3, 4, 10, 30)  # epochs in the table of Freund and Schapire
KINDS = ("last", "average", "vote")
SOME = 10_000
STORE = ROOT / "build" / "benchmarks" / "freund_schapire"


@dataclass(frozen=True)
class Degree:
    """What the run of one degree gave: errors in %, by kind and epoch; the rest by epoch."""

    degree: int
    epochs: tuple[float, ...]
    errors: dict[str, list[float]]
    mistakes: list[int]
    support: list[int]
    clean: int | None  # the first pass without a mistake
    seconds: float
    scoring: float
    other: int


def trained(
    X: np.ndarray, y: np.ndarray, degree: int, epochs: int
) -> tuple[KernelModel, np.ndarray]:
    model = KernelModel.zero(Kernel("poly", degree, gamma=1.0, coef0=1.0), planes=10)
    machine = KernelMachine(model, clean=False)
    machine.epochs(Block(X, y.astype(np.int32)), epochs)
    return model, np.sum(machine.mistakes, axis=1)


def other_mistakes(X: np.ndarray, y: np.ndarray, degree: int) -> int:
    """Visits of one class that are a mistake in float32 or in float64, but not in both."""
    runs = [trained(X.astype(kind), y, degree, 1)[0].steps for kind in (np.float32, np.float64)]
    return len(set.symmetric_difference(*(set(zip(s.visit, s.plane, strict=True)) for s in runs)))


def run(data: Path, rows: int, epochs: int, degree: int) -> Degree:
    with threadpool_limits(1):
        X, y = (part[:rows] for part in digits(data / "mnist", "train"))
        T, truth = digits(data / "mnist", "t10k")
        began = time.process_time()
        model, mistakes = trained(X, y, degree, epochs)
        seconds = time.process_time() - began
        at = tuple(e for e in PARTS if e <= epochs)
        ends = [round(e * rows) for e in at]
        began = time.process_time()
        scores = model.scores_after(T, ends)
        scoring = time.process_time() - began
        wrong = {kind: getattr(scores, kind).argmax(axis=2) != truth for kind in KINDS}
        steps = model.steps
        clean = np.flatnonzero(mistakes == 0)
        found = Degree(
            degree,
            at,
            {kind: [100 * float(w.mean()) for w in wrong[kind]] for kind in KINDS},
            [int((steps.visit <= end).sum()) for end in ends],
            [len(np.unique(steps.support[steps.visit <= end])) for end in ends],
            int(clean[0]) + 1 if len(clean) else None,
            seconds,
            scoring,
            other_mistakes(X[:SOME], y[:SOME], degree),
        )
        STORE.mkdir(parents=True, exist_ok=True)
        (STORE / f"{degree}.json").write_text(json.dumps(asdict(found)))
        return found


def errors_table(found: list[Degree]) -> str:
    header = ["degree", "test error, % after epoch", *(f"{e:g}" for e in found[0].epochs)]
    lines: list[list[object]] = []
    for one in found:
        words = {"last": "last", "average": "averaged", "vote": "voted"}
        for kind in KINDS:
            lines.append([one.degree, words[kind], *(f"{e:.2f}" for e in one.errors[kind])])
        lines.append([one.degree, "mistakes so far", *(f"{m:,}" for m in one.mistakes)])
        lines.append([one.degree, "support rows", *(f"{m:,}" for m in one.support)])
    return table(header, lines)


def runs_table(found: list[Degree]) -> str:
    header = ["degree", "first clean pass", "training, CPU s", "scoring, CPU s", "other in float64"]
    lines = [
        [d.degree, d.clean or "none", number(d.seconds), number(d.scoring), d.other] for d in found
    ]
    return table(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--degrees", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rows", type=int, default=60_000, help="of the training set, the first")
    parser.add_argument("--redraw", action="store_true", help="print what was found last")
    args = parser.parse_args()
    folder = shared_data()
    if folder is None or not (folder / "mnist").is_dir():
        parser.exit(
            message="MNIST is not beside the project (shared/data/mnist): nothing was run\n"
        )
    if args.redraw:
        found = [Degree(**json.loads(p.read_text())) for p in sorted(STORE.glob("*.json"))]
    else:
        with ProcessPoolExecutor(cores()) as pool:
            found = list(pool.map(partial(run, folder, args.rows, args.epochs), args.degrees))
    print(errors_table(found), runs_table(found), sep="\n\n")


if __name__ == "__main__":
    main()
