"""Every: how often something is due, in time or in rows."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from rosenblatt.errors import ParameterError

WRITTEN = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,2})?) *([a-z]*)", re.IGNORECASE)
SECONDS = {
    unit: seconds
    for units, seconds in {
        "ms millisecond milliseconds": 0.001,
        "s sec secs second seconds": 1.0,
        "m min mins minute minutes": 60.0,
        "h hour hours": 3600.0,
    }.items()
    for unit in units.split()
} | {"": 1.0}


@dataclass(frozen=True)
class Every:
    """So many seconds, or so many rows; the other is None.

    Examples
    --------
    >>> Every.read("5m"), Every.read("1,000,000 rows")
    (Every(seconds=300.0, rows=None), Every(seconds=None, rows=1000000))
    """

    seconds: float | None = None
    rows: int | None = None

    @classmethod
    def read(cls, said: str | float) -> Every:
        """From text such as 30s, 5m, 2h or 1000000rows; a bare number is seconds."""
        found = WRITTEN.fullmatch(str(said).strip())
        if found is not None:
            number, unit = float(re.sub("[_,]", "", found[1])), found[2].lower()
            if unit in ("row", "rows") and number >= 1 and number.is_integer():
                return cls(rows=int(number))
            if unit in SECONDS and number > 0:
                return cls(seconds=number * SECONDS[unit])
        raise ParameterError(
            f"every must be a time or a number of rows > 0, such as 30s, 5m, 2h or 1000000rows, "
            f"got {said!r}."
        )


class Clock:
    """Says when it is due again.

    >>> clock = Clock(Every(rows=10))
    >>> [clock.due(rows=6) for _ in range(4)]
    [False, True, False, True]
    """

    def __init__(self, every: Every) -> None:
        self.every = every
        self.start()

    def start(self) -> None:
        """It was done just now."""
        self._since, self._rows = time.monotonic(), 0

    def due(self, rows: int) -> bool:
        """After so many rows more; if so, the clock starts again."""
        self._rows += rows
        if self.every.rows is not None:
            due = self._rows >= self.every.rows
        else:
            assert self.every.seconds is not None
            due = time.monotonic() - self._since >= self.every.seconds
        if due:
            self.start()
        return due
