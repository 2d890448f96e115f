"""Workers die, stall and go; schedulers are restarted. The weights stay the same, or one error."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra [dask] is not installed")
import dask
import distributed

from rosenblatt.cluster import DaskPerceptron, DaskSource
from rosenblatt.errors import ClusterError
from rosenblatt.stream.checkpoint import Interrupted
from tests.strategies import SOAKED
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.threads

FITS = 20 if SOAKED else 2
ASKED: dict[str, Any] = {"tol": None, "max_iter": 25, "keep": "average"}


def source(parts: int = 6) -> tuple[list[Any], list[Any]]:
    """Rows that can be made again: a worker that dies takes its own with it."""

    def rows(k: int) -> Any:
        return np.random.default_rng(k).normal(size=(2000, 20))

    def labels(X: Any) -> Any:
        noise = np.random.default_rng(9).normal(size=len(X))
        return X[:, 0] + 0.5 * noise > 0

    Xs = [dask.delayed(rows)(k) for k in range(parts)]
    return Xs, [dask.delayed(labels)(X) for X in Xs]


def pids(client: Any) -> list[int]:
    """Of the worker processes that this test's own cluster has started."""
    return [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]


def during(fit: Callable[[], Any], act: Callable[[], None]) -> Any:
    """What `fit` gives while `act` goes on beside it."""
    beside = threading.Thread(target=act)
    beside.start()
    try:
        return fit()
    finally:
        beside.join()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_slow_worker_changes_nothing(client: Any) -> None:
    client.wait_for_workers(2, timeout=PATIENCE)
    shards = DaskSource.of(*source(4))
    calm = DaskPerceptron(**ASKED).fit(shards)
    slow = pids(client)[0]

    def stall() -> None:
        for _ in range(3):
            os.kill(slow, signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(slow, signal.SIGCONT)
            time.sleep(0.05)

    model = during(lambda: DaskPerceptron(**ASKED).fit(shards), stall)
    assert np.array_equal(model.coef_, calm.coef_)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_workers_killed_at_random_change_nothing(client: Any) -> None:
    calm = DaskPerceptron(**ASKED).fit(*source())
    began = time.monotonic()
    DaskPerceptron(**ASKED).fit(*source())
    longest = 0.8 * (time.monotonic() - began)  # from the start of a fit until the kill
    seed = time.time_ns()
    draw = random.Random(seed)
    killed = 0
    while killed < FITS:
        client.wait_for_workers(2, timeout=PATIENCE)
        victim, after = draw.choice(pids(client)), draw.uniform(0, longest)
        ended = threading.Event()

        def fit(ended: threading.Event = ended) -> Any:
            try:
                return DaskPerceptron(**ASKED).fit(*source())
            finally:
                ended.set()

        def kill(
            victim: int = victim, after: float = after, ended: threading.Event = ended
        ) -> None:
            nonlocal killed, longest
            if ended.wait(after):  # faster than the one that was timed
                longest /= 2
            else:
                os.kill(victim, signal.SIGKILL)
                killed += 1

        model = during(fit, kill)
        assert np.array_equal(model.coef_, calm.coef_), (seed, after)
        assert np.array_equal(model.intercept_, calm.intercept_), (seed, after)
        assert np.array_equal(model.trace_.mistakes, calm.trace_.mistakes)


def test_without_workers_it_gives_up_with_an_error() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
        pytest.raises(ClusterError, match=r"has had no worker for 0\.5 s"),
    ):
        DaskSource.of(*source(1), client=alone, timeout=0.5)


def test_a_scheduler_that_goes_is_one_error_and_resume_goes_on(client: Any, tmp_path: Path) -> None:
    saving = {**ASKED, "checkpoint": tmp_path / "saved", "resume": True}
    cluster = distributed.LocalCluster(
        n_workers=1, processes=False, threads_per_worker=1, dashboard_address=":0"
    )
    with distributed.Client(cluster) as short:
        shards = DaskSource.of(*source(2), client=short)

        def end() -> None:
            wait_until(lambda: list((tmp_path / "saved").glob("checkpoint.*")))
            cluster.close()

        with pytest.raises(ClusterError, match="resume=True"):
            during(lambda: DaskPerceptron(**{**saving, "max_iter": 10**6}).fit(shards), end)
    with client.as_current():
        model = DaskPerceptron(**saving).fit(*source(2))
        # the scheduler may have gone after more rounds than are asked for now
        assert model.n_iter_ >= ASKED["max_iter"]
        calm = DaskPerceptron(**{**ASKED, "max_iter": model.n_iter_}).fit(*source(2))
    assert np.array_equal(model.coef_, calm.coef_)
    assert np.array_equal(model.intercept_, calm.intercept_)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_saves_the_epoch_and_resume_goes_on(
    client: Any, tmp_path: Path, interruptible: None
) -> None:
    saving = {**ASKED, "checkpoint": tmp_path / "saved", "resume": True}
    shards = DaskSource.of(*source(2))

    def press() -> None:
        wait_until(lambda: list((tmp_path / "saved").glob("checkpoint.*")))
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match=r"stopped: saved in .*, done\)"):
        during(lambda: DaskPerceptron(**{**saving, "max_iter": 10**6}).fit(shards), press)
    model = DaskPerceptron(**saving).fit(shards)
    calm = DaskPerceptron(**{**ASKED, "max_iter": model.n_iter_}).fit(shards)
    assert np.array_equal(model.coef_, calm.coef_)
    assert np.array_equal(model.trace_.mistakes, calm.trace_.mistakes)
