"""Multiclass: more than two classes, one against the rest or all at once.

Also how a model grows when a class appears that it has not seen. One against the rest, a
class that was never there has had every row so far as a negative one; `spare` is that
run, so a class that appears late starts where it would stand had it been known from the
first row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rosenblatt.learn.keep import State

Array = npt.NDArray[Any]
T = TypeVar("T")


def in_threads(jobs: Sequence[Callable[[], T]], n_jobs: int | None) -> list[T]:
    """Run the jobs, in threads if asked to; the kernels release the GIL."""
    import os

    cores = os.cpu_count() or 1
    workers = 1 if n_jobs is None else n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
    if workers == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: job(), jobs))


def grown(
    old: Array, new: Array, states: Sequence[State], spare: State, direct: bool
) -> list[State]:
    """The states for classes `new` (sorted, a superset of `old`).

    One or two classes share one state, whose positive class is the second; more have
    one state each, or, for the direct rule, one state with a row per class.
    """
    number = {label: k for k, label in enumerate(old.tolist())}
    each: dict[Any, State] = {}
    if len(old) == 1:
        each = {old[0].item(): spare.mirrored()}
    elif len(old) == 2:
        each = {old[0].item(): states[0].mirrored(), old[1].item(): states[0].copy()}
    elif not direct:
        each = {label: states[k].copy() for label, k in number.items()}
    if len(new) == 2:
        return [each.get(new[1].item(), spare.copy())]
    if not direct:
        return [each.get(label, spare.copy()) for label in new.tolist()]
    if len(old) <= 2:
        rows = [each.get(label) for label in new.tolist()]
        sources = [(s.w, s.b[0], s.u, s.ub) if s else None for s in rows]
        base = states[0] if states else spare
    else:
        base = states[0]
        sources = [
            (base.w[k], base.b[k], base.u[k] if base.u.size else base.u, base.ub[k : k + 1])
            if (k := number.get(label)) is not None
            else None
            for label in new.tolist()
        ]
    d = base.w.shape[-1]
    wide = State(np.zeros((len(new), d), base.w.dtype), np.zeros(len(new), base.b.dtype))
    wide.visits, wide.updates, wide.mistakes = base.visits, base.updates, base.mistakes
    if base.u.size:
        wide.u, wide.ub = np.zeros((len(new), d)), np.zeros(len(new))
    for row, source in enumerate(sources):
        if source is not None:
            wide.w[row], wide.b[row] = source[0], source[1]
            if base.u.size:
                wide.u[row], wide.ub[row] = source[2], source[3][0]
    return [wide]
