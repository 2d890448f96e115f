"""Kills training at random moments and lets it go on, again and again: kill_driver.py DIR N SEED.

A process of its own with one thread, so that it may fork: children have everything imported. Prints
one line of JSON: how many were killed, in which states, how many runs came to their end, and
whether the weights of each were those of a run that was never killed.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from rosenblatt.stream.fit import fit_file

RUNS = [
    {"max_iter": 3, "keep": "average"},
    {"max_iter": 1, "rule": "arow"},
    {"max_iter": 2, "rule": "alma"},
    {"max_iter": 3, "keep": "last", "rule": "scw"},
    {"max_iter": 2, "rule": "pa1", "target": "y"},
]


def write_rows(folder, n=12_000, d=40):
    """The same rows as LIBSVM and as CSV of three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).round(2) * (rng.random((n, d)) < 0.25)
    y = (X @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3))).argmax(axis=1)
    with open(folder / "rows.svm", "w") as svm, open(folder / "rows.csv", "w") as table:
        table.write(",".join([f"f{j}" for j in range(d)] + ["y"]) + "\n")
        for x, k in zip(X.tolist(), y, strict=True):
            svm.write(f"{k > 0:d} {' '.join(f'{j + 1}:{v}' for j, v in enumerate(x) if v)}\n")
            table.write(f"{','.join(map(str, x))},c{k}\n")


def train(folder, settings, out, **more):
    """One run; small chunks, so that there are many checkpoints."""
    file = folder / ("rows.csv" if "target" in settings else "rows.svm")
    return fit_file(file, folder / out, chunk_bytes=1 << 15, **settings, **more)


def counts(done):
    counted = [(t.mistakes.tolist(), t.updates.tolist()) for t in done.traces], done.n_rows
    return *counted, done.progressive_error, done.stop_reasons


def child(folder, settings):
    """Train with checkpoints in a process that may be killed; its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        train(
            folder, settings, "m", checkpoint=folder / "saved", checkpoint_every=0.001, resume=True
        )
        code = 0
    finally:
        os._exit(code)


def main(folder, wanted, seed):
    rng, folder = random.Random(seed), Path(folder)
    write_rows(folder)
    expected = {}
    for k, settings in enumerate(RUNS):
        done = train(folder, settings, f"whole{k}")
        expected[k] = (folder / f"whole{k}").read_bytes(), counts(done)
    killed = finished = same = begun = 0
    k = rng.randrange(len(RUNS))
    while killed < wanted or begun:
        number, began = child(folder, RUNS[k]), time.monotonic()
        end = began + rng.expovariate(1 / 0.25) if killed < wanted else float("inf")
        status = None
        while status is None:
            if time.monotonic() >= end:
                os.kill(number, signal.SIGKILL)
                end = float("inf")
            there, found = os.waitpid(number, os.WNOHANG)
            status = found if there else None
            time.sleep(0.001)
        if os.WIFSIGNALED(status):
            killed, begun = killed + 1, 1
            continue
        assert status == 0, status
        finished, begun = finished + 1, 0
        again = train(folder, RUNS[k], "m", checkpoint=folder / "saved", resume=True)
        same += ((folder / "m").read_bytes(), counts(again)) == expected[k]
        shutil.rmtree(folder / "saved")
        (folder / "m").unlink()
        k = (k + 1) % len(RUNS)
    print(json.dumps({"killed": killed, "finished": finished, "same": same}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
