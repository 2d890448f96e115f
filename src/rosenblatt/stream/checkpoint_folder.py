"""Checkpoint folder: the last two checkpoints of a run, so that a good one is always there.

A new one is written beside the others, whole or not at all, and only then is the oldest removed.
If the newest cannot be read, the one before is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from rosenblatt.errors import CheckpointError, DataError
from rosenblatt.io.safetensors_file import Damaged, read, write

NAMED = re.compile(r"checkpoint-([0-9]{1,18})\.safetensors")
BEGUN = re.compile(r"\.checkpoint-[0-9]{1,18}\.safetensors\.[0-9a-f]{8}")  # see `replace_file`
KEY = "rosenblatt-checkpoint"
HEADER_BYTES = 1 << 24

T = TypeVar("T")


class CheckpointFolder:
    """A folder of checkpoints, used by one process at a time.

    Parameters
    ----------
    folder : made if it is not there
    say : receives messages about damaged files
    """

    def __init__(self, folder: Path, say: Callable[[str], object] = lambda _: None) -> None:
        self.folder, self.say = folder, say
        self._lock: Any = None
        self._good: int | None = None  # the newest that was written or read
        self._last = 0

    def __enter__(self) -> CheckpointFolder:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.folder / "lock")
            numbers = self._numbers()
            for name in os.listdir(self.folder):
                if BEGUN.fullmatch(name):  # what a run that was killed had begun
                    with suppress(OSError):
                        os.unlink(self.folder / name)
        except OSError as e:
            self.__exit__()
            why = "another run uses it" if isinstance(e, BlockingIOError) else str(e)
            raise CheckpointError(
                f"cannot keep checkpoints in {self.folder}: {why}. Give a folder of its own that "
                "can be written to."
            ) from e
        self._last = max(numbers, default=0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def path(self, number: int) -> Path:
        return self.folder / f"checkpoint-{number:06d}.safetensors"

    @property
    def good(self) -> Path | None:
        """The newest that is known to be good."""
        return None if self._good is None else self.path(self._good)

    def newest(self, made: Callable[[dict[str, Any], dict[str, npt.NDArray[Any]]], T]) -> T | None:
        """What `made` makes of the newest that is whole; None if there is none at all."""
        damaged = []
        for number in sorted(self._numbers(), reverse=True):
            path = self.path(number)
            try:
                held = read(path, KEY, HEADER_BYTES)
                found = made({"format": held.format, **held.facts}, held.arrays)
            except (Damaged, OSError) as e:
                damaged.append(f"{path} is damaged ({e})")
                continue
            self._good = number
            for what in damaged:
                self.say(f"{what}: using the one before, {path.name}")
            return found
        if damaged:
            raise CheckpointError(
                f"{'; '.join(damaged)}, and there is no other. Remove the folder, and start from "
                "the beginning."
            )
        return None

    def save(
        self, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], alone: bool = False
    ) -> Path:
        """Write a new checkpoint. If that fails, all stay; else only the previous one does.

        alone : remove the previous one too
        """
        number = self._last + 1
        path = self.path(number)
        try:
            described = {k: v for k, v in facts.items() if k != "format"}
            write(path, KEY, facts["format"], described, arrays, HEADER_BYTES)
        except (OSError, DataError) as e:
            there = "no checkpoint is there"
            if self.good is not None and self.good.exists():
                there = f"{self.good} is good"
            raise CheckpointError(
                f"cannot write a checkpoint in {self.folder}: {e}; {there}. Make room or mend the "
                "folder, then run the same command with --resume (resume=True)."
            ) from e
        kept = {number} if alone else {number, self._good}
        self._good = self._last = number
        with suppress(OSError):
            for old in self._numbers():
                if old not in kept:
                    os.unlink(self.path(old))
        return path

    def _numbers(self) -> list[int]:
        return list(_numbered(os.listdir(self.folder)))


def _numbered(names: list[str]) -> Iterator[int]:
    for name in names:
        if found := NAMED.fullmatch(name):
            yield int(found[1])


def _locked(path: Path) -> Any:
    """An open file that no other process has; it is free again when this one ends, however."""
    file = open(path, "ab")  # noqa: SIM115  # open as long as the folder is used
    try:
        import fcntl
    except ImportError:  # no such thing on this system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        if isinstance(e, BlockingIOError):
            file.close()
            raise
        # some network folders have no locks
    return file
