"""Stopping: told to end by Ctrl-C or SIGTERM, a run finishes what it is at and saves."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A run was told to end, and what it had learned is saved. The message says where.

    Attributes
    ----------
    signal : the number of the signal; a shell calls 128 + that the exit code
    """

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal


class Stopping:
    """Within `with`: the first signal is noted if there is something to save, else acts at once.

    The second acts at once, always. Only the main thread can listen; elsewhere signals do what
    they did before.

    Attributes
    ----------
    patient : whether there is something to save, so that a signal can wait a moment
    asked : the signal that was noted, or None
    """

    def __init__(self) -> None:
        self.patient = False
        self.asked: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                # None: set by something that is not Python, which we could not give back
                if signal.getsignal(number) not in (None, signal.SIG_IGN):
                    self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _heard(self, number: int, _: FrameType | None) -> None:
        if self.patient and self.asked is None:
            self.asked = number
            return
        signal.signal(number, self._before.pop(number))
        signal.raise_signal(number)
