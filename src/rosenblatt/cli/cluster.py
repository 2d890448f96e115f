"""rosenblatt fit on a cluster: one that runs somewhere, or one of processes of this machine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from rosenblatt.cli.exit_codes import say
from rosenblatt.errors import ClusterError, MissingPackageError, ParameterError

CONNECT = 10  # seconds to find a scheduler
SOON = 1  # seconds for a worker to end by itself


@contextmanager
def client_of(cluster: str | None, workers: int | None, dashboard: bool = False) -> Iterator[Any]:
    """A connection to a scheduler, or to a cluster of processes that ends with the command."""
    from rosenblatt.cluster.futures import distributed_package

    distributed = distributed_package()

    with ExitStack() as stack:
        address: Any = cluster
        if workers is not None:
            address = stack.enter_context(local_cluster(workers, dashboard))
            if dashboard:
                say(f"dashboard: {address.dashboard_link}")
        try:
            client = stack.enter_context(distributed.Client(address, timeout=CONNECT))
        except (OSError, ValueError) as e:
            raise ClusterError(
                f"no scheduler answers at {cluster} ({e}). Start one with `dask scheduler`, and "
                "workers with `dask worker`, or use --workers N."
            ) from e
        yield client


@contextmanager
def local_cluster(workers: int, dashboard: bool = False) -> Iterator[Any]:
    """A cluster of processes of this machine, which only this program can use.

    It listens on 127.0.0.1 and asks for the TLS certificate that it made for itself, because a
    scheduler runs any code that it is sent. Without `dashboard` its web servers have no pages.
    """
    import dask
    import distributed

    try:
        security = distributed.Security.temporary()
    except ImportError as e:
        raise MissingPackageError(
            "--workers needs the package cryptography, for TLS between the processes: "
            "pip install 'rosenblatt[dask]'."
        ) from e
    # else a worker that takes long to come back after it died is given up
    settings: dict[str, Any] = {"distributed.deploy.lost-worker-timeout": "1 h"}
    settings["distributed.worker.http.routes"] = []
    if not dashboard:
        settings["distributed.scheduler.http.routes"] = []
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        loop = stack.enter_context(undisturbed())
        local = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", security=security,
            dashboard_address="127.0.0.1:0", silence_logs="CRITICAL", loop=loop,
            scheduler_kwargs={"dashboard": dashboard},
        )  # fmt: skip
        stack.enter_context(local)
        stack.enter_context(_soon_ended(local))
        yield local


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
    """On Ctrl-C, close the cluster without waiting for the tasks of its workers."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):

        async def end() -> None:
            nannies = local.workers.values()
            await asyncio.gather(*(nanny.close(timeout=SOON) for nanny in nannies))

        with suppress(Exception):  # the cluster closes what is left
            local.sync(end)
        raise


def check_cluster(cluster: str | None, workers: int | None, dashboard: bool) -> None:
    """Refuse options that do not go together."""
    from rosenblatt.cluster.futures import distributed_package

    distributed_package()
    if cluster is not None and workers is not None:
        raise ParameterError("--cluster names one that runs, --workers starts one. Give one.")
    if dashboard and workers is None:
        raise ParameterError("--dashboard is for --workers. Give --workers, or leave it out.")
