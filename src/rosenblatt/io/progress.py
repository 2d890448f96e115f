"""Progress of one pass over a file, and who is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a pass over a file has come.

    Attributes
    ----------
    bytes_read, bytes_total : int
        Of the file on disk, compressed or not; `bytes_total` is 0 if it is not known.
    rows, skipped : int
        Rows and malformed lines so far.
    seconds : float
        Since the pass began.

    Examples
    --------
    >>> print(Progress(bytes_read=30, bytes_total=120, rows=1000, skipped=0, seconds=2.0))
    25 %, 1,000 rows, 500 rows/s, 6 s left
    """

    bytes_read: int
    bytes_total: int
    rows: int
    skipped: int
    seconds: float

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """Seconds for the rest at the same speed."""
        left = self.bytes_total - self.bytes_read
        return self.seconds * left / self.bytes_read if self.bytes_read else float("inf")

    def __str__(self) -> str:
        part = 100 * self.bytes_read / self.bytes_total if self.bytes_total else 100
        skipped = f"{self.skipped:,} lines left out, " if self.skipped else ""
        return (
            f"{part:.0f} %, {self.rows:,} rows, {skipped}{self.rows_per_second:,.0f} rows/s, "
            f"{self.seconds_left:.0f} s left"
        )


class Watcher:
    """Receives the progress and the messages of a run, and ignores them: a base of others."""

    def begin(self, epoch: int) -> None:
        """An epoch begins."""

    def progress(self, now: Progress) -> None:
        """Another block was read."""

    def say(self, message: str) -> None:
        """A message of one line."""
