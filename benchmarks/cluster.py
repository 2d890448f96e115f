"""Cluster: DaskPerceptron on one worker and on two, beside Dask-ML, and the bytes sent.

    python benchmarks/run.py cluster [--quick]

Every worker is a process with one thread; both clusters are on one machine. Rows are made on the
workers and stay there. Seconds are those of the epochs, the best of several, in turns. The same
epochs in processes joined by pipes separate the cost of Dask, whose scheduler uses the same cores,
from what two processes lose by sharing caches and memory.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import dask
import numpy as np
from datasets import REAL, Split, make
from report import number, table

from rosenblatt import Perceptron
from rosenblatt import separability as separability_of_one
from rosenblatt.cluster import DaskPerceptron, DaskSource, separability
from rosenblatt.data.block import Block

SHARDS = 8


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def block(k: int, n: int, d: int, flipped: float, classes: int = 2) -> tuple[Any, Any]:
    """n rows, float32, of the class whose hyperplane is highest, some drawn; the same for k."""
    X = np.random.default_rng(k + 1).standard_normal((n, d), dtype=np.float32)
    W = np.random.default_rng(0).standard_normal((d, classes)).astype(np.float32)
    rng = np.random.default_rng(10_000 + k)
    y, other = (X @ W).argmax(axis=1), rng.integers(1, classes, n)
    return X, np.where(rng.random(n) < flipped, (y + other) % classes, y)


def source(
    n: int, d: int, flipped: float, classes: int = 2, blocks: int = SHARDS
) -> tuple[list[Any], list[Any]]:
    rows = n // blocks
    made = [dask.delayed(block, nout=2)(k, rows, d, flipped, classes) for k in range(blocks)]
    return [X for X, _ in made], [y for _, y in made]


def cpu_seconds(client: Any) -> list[float]:
    """CPU seconds of every worker so far."""
    return list(client.run(time.process_time).values())


def timed(model: Any, shards: DaskSource) -> float:
    """Seconds of all epochs."""
    return float(model.fit(shards).trace_.seconds)


# ------------------------------------------------------------------ processes without Dask


class PipedSource(DaskSource):
    """The shards of another source, made again in processes that are joined to this by pipes."""

    def __init__(self, like: DaskSource, processes: int, *rows: Any) -> None:
        vars(self).update(vars(like))
        spawn, each = multiprocessing.get_context("spawn"), len(like) // processes
        self.pipes, self.processes = [], []
        for first in range(0, len(like), each):
            here, there = spawn.Pipe()
            args = (there, range(first, first + each), *rows)
            process = spawn.Process(target=serve, args=args, daemon=True)
            process.start()
            there.close()  # so that `recv` ends if the process does
            self.pipes.append(here)
            self.processes.append(process)
        for pipe in self.pipes:
            pipe.recv()

    def reduce(self, function: Callable[..., Any], combine: Callable[..., Any], *args: Any) -> Any:
        for pipe in self.pipes:
            pipe.send((function, args))
        return combine([result for pipe in self.pipes for result in pipe.recv()])

    def close(self) -> None:
        for pipe in self.pipes:
            with suppress(OSError):  # the process has ended
                pipe.send(None)
            pipe.close()
        for process in self.processes:
            process.join()


def serve(pipe: Any, which: range, n: int, d: int, flipped: float, classes: int) -> None:
    """Answer questions about some shards until None comes."""
    blocks = []
    for k in which:
        X, y = block(k, n, d, flipped, classes)
        blocks.append(Block(X, y.astype(np.int32), None, k * n))
    pipe.send("ready")
    while (question := pipe.recv()) is not None:
        function, args = question
        pipe.send([function(shard, *args) for shard in blocks])


def without_dask(model: Any, like: DaskSource, processes: int, *rows: Any) -> float:
    """Seconds of all epochs in processes of their own; they end with the same weights."""
    shards = PipedSource(like, processes, *rows)
    try:
        return min(timed(model, shards) for _ in range(2))
    finally:
        shards.close()


# --------------------------------------------------------------------- one worker and two


def speed(one: Any, two: Any, quick: bool) -> str:
    cases: list[tuple[str, int, int, int, dict[str, Any], int]] = [
        ("ten classes", 3_200_000, 100, 10, {}, 6),
        ("two classes", 3_200_000, 100, 2, {}, 30),
    ]
    body = []
    for name, n, d, classes, asked, epochs in cases:
        n, epochs = (n // 50, 2) if quick else (n, epochs)
        parts = source(n, d, 0.1, classes)
        held = {client: DaskSource.of(*parts, client=client) for client in (one, two)}
        model = DaskPerceptron(max_iter=epochs, tol=None, **asked)
        for shards in held.values():
            DaskPerceptron(max_iter=1, tol=None, **asked).fit(shards)  # imports
        best, busy, weights = dict.fromkeys(held, np.inf), {}, {}
        for _ in range(1 if quick else 2):
            for client, shards in held.items():
                before = cpu_seconds(client)
                seconds = timed(model, shards)
                if seconds < best[client]:
                    best[client] = seconds
                    used = [
                        now - then for now, then in zip(cpu_seconds(client), before, strict=True)
                    ]
                    busy[client] = " and ".join(f"{u:.1f}" for u in used)
                weights[client] = model.coef_
        del parts
        shards = held.pop(two)
        held.clear()  # memory for the same rows in processes of their own
        shards.futures = (None,) * SHARDS
        plain = [without_dask(model, shards, k, n // SHARDS, d, 0.1, classes) for k in (1, 2)]
        same = all(np.array_equal(weights[client], model.coef_) for client in (one, two))
        body.append(
            [name, f"{n:,} x {d}", epochs, number(best[one]), number(best[two]),
             f"{best[one] / best[two]:.2f}", *map(number, plain), f"{plain[0] / plain[1]:.2f}",
             busy[one], busy[two], "yes" if same else "no"]
        )  # fmt: skip
        print(body[-1], file=sys.stderr, flush=True)
    header = [
        "mode='online'", "rows", "epochs", "one worker, s", "two workers, s", "times as fast",
        "one process without Dask, s", "two processes, s", "times as fast, no Dask",
        "CPU s, one worker", "CPU s, two workers", "same bits",
    ]  # fmt: skip
    return table(header, body)


# ------------------------------------------------------------------------- bytes sent


def travelled(client: Any) -> int:
    """Bytes that workers have sent so far, by their own counters."""
    sent = client.run(lambda dask_worker: int(dask_worker.transfer_outgoing_bytes_total))
    return sum(sent.values())


def communication(two: Any, quick: bool) -> str:
    body = []
    sizes = [(20_000, 20_000), (40_000, 20_000), (20_000, 80_000)]
    if not quick:
        sizes += [(80_000, 20_000), (20_000, 160_000)]
    for n, d in sorted(sizes):
        n, d = (n // 20, d) if quick else (n, d)
        shards = DaskSource.of(*wide(n, d), client=two)
        model = DaskPerceptron(max_iter=1, tol=None, shuffle=False).fit(shards)
        epochs, before = 10, travelled(two)
        model = DaskPerceptron(max_iter=epochs, tol=None, shuffle=False).fit(shards)
        sent = (travelled(two) - before) / model.n_iter_
        body.append(
            [f"{n:,}", f"{d:,}", number(shards.nbytes / 1e6), number(sent / 1e6),
             f"{sent / (8 * d):.1f}"]
        )  # fmt: skip
        print(body[-1], file=sys.stderr, flush=True)
    header = [
        "rows (8 shards, 2 workers)", "features d", "rows, MB", "sent per epoch, MB",
        "of 8 d bytes",
    ]  # fmt: skip
    return table(header, body)


def wide(n: int, d: int) -> tuple[list[Any], list[Any]]:
    """Rows of 20 entries among d, labels that overlap."""

    def rows(k: int) -> Any:
        import scipy.sparse as sp

        rng, m = np.random.default_rng(k), n // SHARDS
        columns = rng.integers(0, d // 20, (m, 20)) + np.arange(20) * (d // 20)
        starts = np.arange(0, 20 * m + 1, 20, dtype=np.int32)
        values = rng.standard_normal(20 * m)
        return sp.csr_matrix((values, columns.ravel().astype(np.int32), starts), (m, d))

    def labels(X: Any, k: int) -> Any:
        return np.random.default_rng(99 + k).integers(0, 2, X.shape[0])

    Xs = [dask.delayed(rows)(k) for k in range(SHARDS)]
    return Xs, [dask.delayed(labels)(X, k) for k, X in enumerate(Xs)]


# -------------------------------------------------------------------------- beside Dask-ML


def beside_dask_ml(two: Any, quick: bool) -> str:
    """Both read the same persisted blocks; Incremental passes them to partial_fit one by one."""
    import dask.array as da
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import Perceptron as Theirs

    n, d = (40_000, 50) if quick else (1_600_000, 100)
    Xs, ys = source(n, d, 0.1)
    X_test, y_test = block(777, 100_000, d, 0.0)
    body = []
    with two.as_current():
        X = da.concatenate([da.from_delayed(x, (n // SHARDS, d), np.float32) for x in Xs])
        y = da.concatenate([da.from_delayed(v, (n // SHARDS,), np.int64) for v in ys])
        X, y = dask.persist(X, y)
        other = Incremental(Theirs(random_state=1), shuffle_blocks=False)  # for imports
        other.partial_fit(X, y, classes=[0, 1])
        theirs = Incremental(Theirs(), shuffle_blocks=False)
        seconds = 0.0
        for passes in range(1, 4):
            began = time.perf_counter()
            theirs.partial_fit(X, y, classes=[0, 1])
            seconds += time.perf_counter() - began
            accuracy = theirs.estimator_.score(X_test, y_test)
            name = "Incremental(sklearn Perceptron)"
            body.append([name, passes, number(seconds), f"{accuracy:.4f}"])
        for keep, passes in (("last", 1), ("last", 3), ("average", 1), ("average", 3)):
            asked = {"max_iter": passes, "tol": None, "keep": keep}
            DaskPerceptron(**{**asked, "max_iter": 1}).fit(X, y)  # imports
            began = time.perf_counter()
            model = DaskPerceptron(**asked).fit(X, y)  # with the checks of all rows
            whole = time.perf_counter() - began
            accuracy = np.mean(model.predict(X_test) == y_test)
            body.append([f"DaskPerceptron, {keep}", passes, number(whole), f"{accuracy:.4f}"])
    header = [
        f"two workers, {n:,} x {d}, 10 % of labels flipped", "passes", "seconds",
        "accuracy on clean labels",
    ]  # fmt: skip
    return table(header, body)


# ---------------------------------------------------------------------------- separability


def verdicts(two: Any, quick: bool) -> str:
    """What a verdict and its check cost on a cluster, and how long one process takes for it."""
    n, d = (40_000 if quick else 1_000_000), 20
    body = []
    for name in ("separable", "quasi-separable", "overlapping"):
        parts = [decided(k, n // SHARDS, d, name) for k in range(SHARDS)]
        X = np.concatenate([x for x, _ in parts])
        y = np.concatenate([v for _, v in parts])
        made = [dask.delayed(decided, nout=2)(k, n // SHARDS, d, name) for k in range(SHARDS)]
        best = {"there": np.inf, "here": np.inf}
        for _ in range(2):
            rows = DaskSource.of([x for x, _ in made], [v for _, v in made], client=two)
            began = time.perf_counter()
            certificate = separability(rows)
            best["there"] = min(best["there"], time.perf_counter() - began)
            cost = f"{rows.passes} passes; {rows.n_taken} rows fetched"
            began = time.perf_counter()
            here = separability_of_one(X, y)
            best["here"] = min(best["here"], time.perf_counter() - began)
        assert certificate.verdict == here.verdict == name
        passes = rows.passes
        assert certificate.verify(rows)
        body.append(
            [name, number(best["there"]), number(best["here"]),
             f"{best['there'] / best['here']:.1f}", cost, rows.passes - passes]
        )  # fmt: skip
        print(body[-1], file=sys.stderr, flush=True)
    header = [
        f"verdict, {n:,} x {d}", "two workers, s", "one process, s", "times as long",
        "what it cost", "passes of verify",
    ]  # fmt: skip
    return table(header, body)


def decided(k: int, n: int, d: int, verdict: str) -> tuple[Any, Any]:
    """Rows on their side of a hyperplane; the first 50 on it, or the first 50 on the other side."""
    X = np.random.default_rng(k).standard_normal((n, d)).round(3)
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 0.01, -0.01)
    if verdict == "quasi-separable":
        X[:50, 0] = 0.0
        y[:50] = np.arange(50) % 2 == 0
    if verdict == "overlapping":
        y[:50] = ~y[:50]
    return X, y.astype(np.int64)


# ------------------------------------------------------------------------------- accuracy


def accuracies(two: Any, quick: bool) -> str:
    body = []
    for name in REAL:
        if quick and name not in ("spambase", "a9a"):
            continue
        try:
            split = make(name)
        except LookupError as e:
            print(e, file=sys.stderr)
            continue
        body.append([name, *compared(two, split)])
        print(body[-1], file=sys.stderr, flush=True)
    header = [
        "accuracy on test rows, average", "one machine, 10 passes", "40", "mixed, 10 epochs", "40",
        "points, 40 epochs to 10 passes",
    ]  # fmt: skip
    return table(header, body)


def compared(client: Any, split: Split) -> list[str]:
    asked: dict[str, Any] = {"keep": "average", "tol": None}
    one = [
        Perceptron(max_iter=n, **asked).fit(split.X, split.y).score(split.X_test, split.y_test)
        for n in (10, 40)
    ]
    cuts = [len(split.y) * k // SHARDS for k in range(SHARDS + 1)]
    pairs = list(itertools.pairwise(cuts))
    with client.as_current(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the blocks are large to send: that is meant here
        Xs = [client.submit(same, split.X[a:b], pure=False) for a, b in pairs]
        ys = [client.submit(same, split.y[a:b], pure=False) for a, b in pairs]
        shards = DaskSource.of(Xs, ys, client=client)
    mixed = []
    for n in (10, 40):
        model = DaskPerceptron(max_iter=n, **asked).fit(shards)
        mixed.append(float(np.mean(model.predict(split.X_test) == split.y_test)))
    return [*[f"{score:.4f}" for score in (*one, *mixed)], f"{100 * (mixed[1] - one[0]):+.2f}"]


def same(block: Any) -> Any:
    return block


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=())
    args = parser.parse_args()
    with cluster(1) as one, cluster(2) as two:
        jobs = {
            "speed": lambda: speed(one, two, args.quick),
            "communication": lambda: communication(two, args.quick),
            "dask-ml": lambda: beside_dask_ml(two, args.quick),
            "separability": lambda: verdicts(two, args.quick),
            "accuracy": lambda: accuracies(two, args.quick),
        }
        for name, job in jobs.items():
            if not args.only or name in args.only:
                print(job(), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
