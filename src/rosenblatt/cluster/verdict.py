"""Decide whether a hyperplane separates two classes of rows on a cluster."""

from __future__ import annotations

import logging
from typing import Any

from rosenblatt.cluster.source import DaskSource
from rosenblatt.data.cone import Cone
from rosenblatt.data.source import Source
from rosenblatt.prove import separability as one_machine
from rosenblatt.prove.certificate import Certificate

log = logging.getLogger(__name__)


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
    client: Any = None,
) -> Certificate:
    """Decide whether a hyperplane separates two classes of rows on a cluster.

    The verdict is that of :func:`rosenblatt.separability` on all rows in the order of the
    collection, and so are the numbers of rows. The certificate verifies on one machine, and one
    made there verifies here: ``cert.verify(DaskSource.of(X, y))``.

    Parameters
    ----------
    X : dask array (dense blocks or scipy CSR), dask frame, list of delayed blocks, or DaskSource
        Rows of numbers.
    y : dask array, series, list of delayed blocks or array, optional
        Labels of two classes, in the partitions of X. A DaskSource brings them.
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds : float, optional
        Give up after this time, which is looked at between two passes.
    max_bits : int, optional
        Give up when a rational needs more bits.
    client : distributed.Client, optional
        The cluster; None: the one in use.

    Returns
    -------
    Certificate
        The verdict and its proof.

    Raises
    ------
    DataError
        If rows or labels are invalid, or float64 would round them.
    UndecidedError
        If `max_seconds` or `max_bits` does not suffice.
    ClusterError
        If there is no cluster, or it is lost.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> X = da.from_array([[-2.0], [0.0], [0.0], [2.0]], chunks=(2, 1))
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     cert = separability(X, da.from_array([0, 0, 1, 1], chunks=2))
    >>> cert.verdict, cert.witness.rows
    ('quasi-separable', (1, 2))
    """
    rows = X if isinstance(X, Cone | Source) else DaskSource.of(X, y, client=client)
    try:
        return one_machine.separability(
            rows, fit_intercept=fit_intercept, max_seconds=max_seconds, max_bits=max_bits
        )
    finally:
        if isinstance(rows, DaskSource):
            log.info("separability: %d passes, %d rows fetched", rows.passes, rows.n_taken)
