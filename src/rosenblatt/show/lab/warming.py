"""Warming: the kernels of the rules are compiled, or read from disk, before somebody waits."""

from __future__ import annotations

import time
from threading import Event, Thread

import numpy as np

from rosenblatt.learn.rules import RULES
from rosenblatt.show.lab.runs import run_of
from rosenblatt.show.lab.situation import Segment, Situation
from rosenblatt.show.lab.verdict import verdict_of

SAME = {"margin": "perceptron", "pa1": "pa", "pa2": "pa", "arow": "pa", "scw": "pa", "sop": "pa"}


class Warming:
    """A thread that trains once with each kind of rule, the perceptron first.

    `now` is what is being compiled, or None; `ready` what is.
    """

    def __init__(self) -> None:
        self.now: str | None = None
        self.ready: list[str] = []
        self.seconds: dict[str, float] = {}
        self._stop = Event()
        self._thread = Thread(target=self._all, name="lab-warming", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._stop.set()

    def _all(self) -> None:
        kinds = ["perceptron", "verdict", "batch", *(r for r in RULES if r not in SAME)]
        for kind in dict.fromkeys(kinds):
            if self._stop.is_set():
                break
            self.now = kind
            began = time.perf_counter()
            try:
                _once(kind)
            except Exception:  # whoever asks for it is told
                continue
            self.seconds[kind] = time.perf_counter() - began
            self.ready += [kind, *(r for r, like in SAME.items() if like == kind)]
        self.now = None


def _once(kind: str) -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]), np.array([1, -1, 1], dtype=np.int8)
    if kind == "verdict":
        verdict_of(X, y, True)
        return
    segment = Segment(mode="batch") if kind == "batch" else Segment(rule=kind)
    run_of(Situation(X, y, segments=(segment,), passes=2))
