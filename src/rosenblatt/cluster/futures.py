"""Wait for work on a cluster, until it is done or one sentence says why it cannot be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from rosenblatt.errors import ClusterError, MissingPackageError, RosenblattError

LOOK = 1.0  # seconds between two looks at the cluster while nothing comes
FIRST_WAIT = 30.0  # seconds for results to come before we look for workers; then twice that, ...
ENDED = ("finished", "error", "cancelled")
PATIENCE = 60.0  # seconds without any worker before we give up

HOW_TO_START = (
    "Start one with\n"
    "    from distributed import Client\n"
    "    client = Client(n_workers=2, threads_per_worker=1)   # or Client('tcp://...')"
)
GO_ON = "then call again; a fit with checkpoint and resume=True goes on from the last epoch."


def distributed_package() -> Any:
    """The package `distributed`, or what to install."""
    try:
        import distributed
    except ImportError as e:
        raise MissingPackageError(
            "a cluster needs the package dask: pip install 'rosenblatt[dask]'."
        ) from e
    return distributed


def client_or_default(client: Any = None) -> Any:
    """The cluster that was given, or the one in use; an error that says how to start one."""
    if client is not None:
        return client
    distributed = distributed_package()
    try:
        return distributed.default_client()
    except ValueError as e:
        raise ClusterError(f"there is no Dask cluster to work on. {HOW_TO_START}") from e


def wait_for(
    client: Any, futures: Sequence[Any], what: str | Sequence[str], patience: float = PATIENCE
) -> None:
    """Wait until all are done; raise the first error. What dies with a worker is made again.

    `what` they are, or the name of each; errors of work that has a name say it themselves.
    """
    import distributed

    watch = _Watch(client, patience)
    while True:
        try:
            with client.as_current():
                distributed.wait(list(futures), timeout=LOOK)
            if all(future.status in ENDED for future in futures):
                return _raise_first(client, futures, what)
        except TimeoutError:
            pass
        except CancelledError as e:
            raise lost(client) from e
        watch.look()


def gathered(
    client: Any, futures: Sequence[Any], what: str | Sequence[str], patience: float = PATIENCE
) -> list[Any]:
    """The results of all, in their order; the first error with the name of its part."""
    watch, seconds = _Watch(client, patience), FIRST_WAIT
    while True:
        wait_for(client, futures, what, patience)

        async def collect() -> Any:
            return await client.gather(list(futures), asynchronous=True)

        try:
            return list(client.sync(collect, callback_timeout=seconds))
        except TimeoutError:  # on its way, or its worker died and it is made again
            seconds *= 2
        except CancelledError as e:
            if any(future.status == "cancelled" for future in futures):
                raise lost(client) from e
        except Exception as e:
            _raise_first(client, futures, what)
            raise failed(e, what if isinstance(what, str) else "the cluster") from e
        watch.look()


class _Watch:
    """Looks whether there are workers, and gives up if there are none for too long."""

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience = client, patience
        self.since: float | None = None  # when we last began to see none

    def look(self) -> None:
        if _workers(self.client):
            self.since = None
            return
        self.since = time.monotonic() if self.since is None else self.since
        if time.monotonic() - self.since > self.patience:
            raise ClusterError(
                f"the cluster at {address(self.client)} has had no worker for {self.patience:g} s. "
                f"Start workers, {GO_ON}"
            )


def _raise_first(client: Any, futures: Sequence[Any], what: str | Sequence[str]) -> None:
    """Raise the first error among futures, with the name of its part; return if there is none.

    One that is "lost" went with its worker after it was done, and is being made again.
    """
    for k, future in enumerate(futures):
        if future.status == "error":
            error = future.exception()
            if isinstance(what, str):
                raise failed(error, f"{what} {k} of {len(futures)}")
            raise error if isinstance(error, RosenblattError) else failed(error, what[k])
        if future.status == "cancelled":
            raise lost(client)


def failed(error: BaseException, where: str) -> RosenblattError:
    """The error of one part as one of errors.py, with its cause; the caller raises it."""
    from distributed import KilledWorker

    if isinstance(error, RosenblattError):
        made: RosenblattError = ClusterError(f"{where}: {error}")
        with suppress(Exception):  # of the same kind, so that it is caught as on one machine
            made = type(error)(f"{where}: {error}")
    elif isinstance(error, KilledWorker):
        made = ClusterError(
            f"{where}: several workers died while they were at it. It may need more memory than a "
            "worker has: use smaller partitions or larger workers."
        )
    else:
        made = ClusterError(f"{where}: {type(error).__name__}: {error}")
    made.__cause__ = error
    return made


def lost(client: Any) -> ClusterError:
    """The error for a scheduler that has forgotten our work; the caller raises it."""
    return ClusterError(
        f"the cluster at {address(client)} lost the work: its scheduler stopped or was restarted, "
        f"or data that cannot be computed again went with a worker. Start it again, {GO_ON}"
    )


def address(client: Any) -> str:
    """Where the scheduler is, or was."""
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))


def _workers(client: Any) -> int:
    """How many there are; none if the scheduler does not answer."""
    if client.status != "running":
        return 0
    try:
        return len(client.nthreads())
    except (OSError, TimeoutError, ValueError, AttributeError):
        return 0
