"""Work: computations in a small pool of threads, a short queue, and a memory of runs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from rosenblatt.errors import RosenblattError
from rosenblatt.show.lab.runs import run_of
from rosenblatt.show.lab.situation import Situation
from rosenblatt.show.lab.steps import Steps

T = TypeVar("T")
AT_ONCE, WAITING = 2, 48
REMEMBERED = 64 * 2**20  # bytes of runs


class Busy(RosenblattError):
    """More was asked for than waits in a short queue."""


class Work:
    """At most `at_once` computations, at most `waiting` more in a queue; others are refused."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self.most = at_once + waiting
        self.under_way = 0
        self.pool = ThreadPoolExecutor(at_once, thread_name_prefix="lab")

    async def do(self, job: Callable[[], T]) -> T:
        """The result of `job`, computed in the pool."""
        if self.under_way >= self.most:
            raise Busy(
                f"the lab is busy: {self.under_way} computations are under way or wait. Try again "
                "in a moment."
            )
        self.under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, job)
        finally:
            self.under_way -= 1

    def close(self) -> None:
        """Whatever still waits is dropped."""
        self.pool.shutdown(wait=False, cancel_futures=True)


class Memory:
    """The runs that were looked at last, by the digest of their situation.

    A run is a function of the situation alone, so it does not matter who asked first.
    """

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most, self.held = most, 0
        self.runs: OrderedDict[str, Steps] = OrderedDict()
        self.lock = Lock()

    def steps(self, situation: Situation) -> Steps:
        """The run of a situation, from memory or made now."""
        with self.lock:
            found = self.runs.get(situation.digest)
            if found is not None:
                self.runs.move_to_end(situation.digest)
                return found
        made = Steps(run_of(situation))
        with self.lock:
            if situation.digest not in self.runs:
                self.runs[situation.digest] = made
                self.held += made.run.nbytes
            while self.held > self.most and len(self.runs) > 1:
                self.held -= self.runs.popitem(last=False)[1].run.nbytes
        return made
