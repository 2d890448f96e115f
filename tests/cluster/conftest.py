"""A real cluster of two processes, one for all tests of this folder."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")  # its threads draw random numbers, which disturbs other tests
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    dask = pytest.importorskip("dask")
    with (
        # else a worker that takes long to answer, or to come back after it was killed, is given up
        dask.config.set(
            {
                "distributed.comm.timeouts.connect": "1 hour",
                "distributed.deploy.lost-worker-timeout": "1 hour",
            }
        ),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client
