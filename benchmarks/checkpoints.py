"""What checkpoints cost: training with and without them, saving one, resuming from one.

    python benchmarks/checkpoints.py [--megabytes 200] [--rounds 5] [--bits 10 18 24]

The tables of docs/how-to/checkpoints.md. Takes 400 MB of a temporary folder.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rosenblatt import fit_file
from rosenblatt.data.block import Block, Csr
from rosenblatt.data.source import LabelIndex
from rosenblatt.io.progress import Watcher
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.stream.checkpoint import FORMAT
from rosenblatt.stream.checkpoint_folder import CheckpointFolder


class Stopped(Exception):
    """Training reached the part of the file where it should stop."""


class Until(Watcher):
    """Stop training at a part of the file."""

    def __init__(self, part: float) -> None:
        self.part = part

    def progress(self, now) -> None:
        if now.bytes_read >= self.part * now.bytes_total:
            raise Stopped


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def write_rows(path: Path, megabytes: int) -> None:
    """LIBSVM text: 12 of 200 features per row, the same 10,000 rows again and again."""
    rng = np.random.default_rng(0)
    w, lines = rng.normal(size=200), []
    for _ in range(10_000):
        k, v = np.sort(rng.choice(200, 12, replace=False)), rng.normal(size=12).round(3)
        label = 1 if v @ w[k] + rng.normal() > 0 else -1
        lines.append(f"{label} " + " ".join(f"{i + 1}:{x}" for i, x in zip(k, v, strict=True)))
    text = "\n".join(lines) + "\n"
    with open(path, "w") as file:
        for _ in range(megabytes * 10**6 // len(text)):
            file.write(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bits", type=int, nargs="+", default=[10, 18, 24])
    args = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows, out, saved = folder / "rows.svm", folder / "model", folder / "saved"
        write_rows(rows, args.megabytes)
        settings = {
            "no checkpoints": {},
            "every second": {"checkpoint": saved, "checkpoint_every": 1},
            "every block": {"checkpoint": saved, "checkpoint_every": 0},
        }
        best = dict.fromkeys(settings, float("inf"))
        for _ in range(args.rounds):
            for kind, more in settings.items():
                shutil.rmtree(saved, ignore_errors=True)
                best[kind] = min(best[kind], seconds(lambda more=more: fit_file(rows, out, **more)))
        print(f"| one pass over {rows.stat().st_size / 1e6:.0f} MB of text | seconds |\n|---|---|")
        for kind, least in best.items():
            print(f"| {kind} | {least:.2f} |")
        shutil.rmtree(saved, ignore_errors=True)
        more = settings["every block"]
        try:
            fit_file(rows, out, watcher=Until(0.9), **more)
        except Stopped:
            rest = seconds(
                lambda: fit_file(rows, out, resume=True, **{**more, "checkpoint_every": 30})
            )
            print(f"| the last tenth, after --resume | {rest:.2f} |")
        print("\n| one checkpoint | MB | seconds |\n|---|---|---|")
        for bits in args.bits:
            labels = LabelIndex([0, 1], closed=True)
            group = MachineGroup(TrainingSettings(keep="average"), labels)
            row = Csr(np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32), 1 << bits)
            group.visit(Block(row, np.zeros(1, np.int32)))
            with CheckpointFolder(saved / str(bits)) as files:
                facts, arrays = group.get_state()
                save = partial(files.save, {"format": FORMAT, **facts}, arrays)
                least = min(seconds(save) for _ in range(args.rounds))
            size = sum(a.nbytes for a in arrays.values()) / 1e6
            print(f"| 2**{bits} features, averaged | {size:.2f} | {least:.3f} |")


if __name__ == "__main__":
    main()
