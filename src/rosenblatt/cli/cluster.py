"""rosenblatt fit on a cluster: one that runs somewhere, or one of processes of this machine."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rosenblatt.cli.ending import say
from rosenblatt.cli.given import kinds
from rosenblatt.errors import ClusterError, ParameterError

CONNECT = 10  # seconds to find a scheduler
SOON = 1  # seconds for a worker to end by itself


def as_written(path: Path) -> str:
    """A place as it was given: of the slashes of a URL, a path keeps one.

    >>> [as_written(Path(given)) for given in ("s3://bucket/rows", "file:///rows", "a/b")]
    ['s3://bucket/rows', 'file:///rows', 'a/b']
    """
    for given in sys.argv:
        if "://" in given and Path(given) == path:
            return given
    scheme, parted, rest = str(path).partition(":/")
    if not (parted and len(scheme) > 1 and scheme.isalnum()):  # C:/ is a disk
        return str(path)
    return f"{scheme}://{'/' if scheme in ('file', 'local') else ''}{rest}"


@contextmanager
def client_of(cluster: str | None, workers: int | None) -> Iterator[Any]:
    """A connection to a scheduler, or to a cluster of processes that ends with the command."""
    from rosenblatt.scale.waiting import engine

    distributed = engine()
    import dask

    with ExitStack() as stack:
        address: Any = cluster
        if workers is not None:
            # else a worker that takes long to come back after it died is given up
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1 h"}))
            local = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0",
                silence_logs="CRITICAL", loop=stack.enter_context(undisturbed()),
            )  # fmt: skip
            address = stack.enter_context(local)
            stack.enter_context(_soon_ended(local))
        try:
            client = stack.enter_context(distributed.Client(address, timeout=CONNECT))
        except (OSError, ValueError) as e:
            raise ClusterError(
                f"no scheduler answers at {cluster} ({e}). Start one with `dask scheduler`, and "
                "workers with `dask worker`, or use --workers N."
            ) from e
        yield client


@contextmanager
def undisturbed() -> Iterator[Any]:
    """A loop that starts processes which do not hear Ctrl-C: we do, and end them.

    A terminal sends it to all. Which signals are blocked goes from a thread to those it starts,
    and on to processes; so also to a worker that is started again.
    """
    from multiprocessing import resource_tracker

    from distributed.utils import LoopRunner

    resource_tracker.ensure_running()  # which unblocks Ctrl-C in the thread that first asks
    runner, mask = LoopRunner(), getattr(signal, "pthread_sigmask", None)  # not on Windows
    before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        runner.start()
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def _soon_ended(local: Any) -> Iterator[None]:
    """Interrupted, nobody waits for what the workers are at."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):

        async def end() -> None:
            nannies = local.workers.values()
            await asyncio.gather(*(nanny.close(timeout=SOON) for nanny in nannies))

        with suppress(Exception):  # the cluster closes what is left
            local.sync(end)
        raise


def fit_on_cluster(
    place: str,
    out: Path,
    cluster: str | None,
    workers: int | None,
    *,
    quiet: bool,
    column: list[str] | None,
    scaling: str | None,
    max_categories: int | None,
    every: float | None,
    **asked: Any,
) -> Any:
    """What fit does where --cluster or --workers is given."""
    from rosenblatt.scale.waiting import engine

    engine()
    from rosenblatt.data.columns.learning import Wishes
    from rosenblatt.scale.from_files import fit_files

    if cluster is not None and workers is not None:
        raise ParameterError("--cluster names one that runs, --workers starts one. Give one.")
    if every is not None:
        raise ParameterError("--every: on a cluster every round is saved. Leave it out.")
    given: dict[str, Any] = {
        "scaling": scaling,
        "max_categories": max_categories,
        "kinds": kinds(column) or None,
    }
    wishes = Wishes(**{k: v for k, v in given.items() if v is not None})
    try:
        return fit_files(
            place, out, client=lambda: client_of(cluster, workers), wishes=wishes,
            verbose=int(not quiet and sys.stderr.isatty()), say=(lambda _: None) if quiet else say,
            **asked,
        )  # fmt: skip
    except KeyboardInterrupt as e:
        if asked["checkpoint"] is None:
            raise
        raise KeyboardInterrupt(
            f"stopped: rounds that were done are saved in {asked['checkpoint']}. The same "
            "command with --resume (resume=True) goes on from there"
        ) from e


def told(facts: dict[str, Any]) -> str:
    """A few lines about training on a cluster."""
    from rosenblatt.learn.trace import StopReason, plural

    mistakes = ", ".join(f"{m:,}" for m in facts["mistakes_per_round"][:10])
    more = ", ..." if facts["rounds"] > 10 else ""
    reason = StopReason(facts["stop_reason"]).sentence
    reason = reason.replace("epoch", "round")
    names = [f"{c:g}" if isinstance(c, float) else str(c) for c in facts["classes"][:10]]
    shards, workers = plural(facts["shards"], "shard"), plural(facts["workers"], "worker")
    lines = [
        ("rows", f"{facts['rows']:,} in {shards} on {workers}"),
        ("features", f"{facts['features']:,}"),
        ("classes", ", ".join(names) + (", ..." if len(facts["classes"]) > 10 else "")),
        ("rounds", f"{facts['rounds']} ({reason})"),
        ("mistakes per round", mistakes + more),
        ("progressive error", f"{facts['progressive_error']:.2%}"),
        ("seconds", f"{facts['seconds']:.2f}, of these {facts['reading_seconds']:.2f} reading"),
        ("model", facts["model"]),
    ]
    if facts["skipped_lines"]:
        lines.insert(1, ("malformed lines", f"{facts['skipped_lines']:,}, left out"))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines)
