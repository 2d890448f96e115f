"""Checkpoint folder: the last two checkpoints of a run, so that a good one is always there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from rosenblatt.errors import CheckpointError, DataError
from rosenblatt.io.safetensors_file import Damaged, read, write

NEWEST, PREVIOUS = "checkpoint.safetensors", "checkpoint.previous.safetensors"
BEGUN = "checkpoint.begun.safetensors"
KEY = "rosenblatt-checkpoint"
HEADER_BYTES = 1 << 24

T = TypeVar("T")


class CheckpointFolder:
    """A folder of checkpoints, used by one process at a time.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    say : function
        Receives messages about damaged files.

    Attributes
    ----------
    good : Path or None
        The checkpoint that was read or written last.
    """

    def __init__(self, folder: Path, say: Callable[[str], object] = lambda _: None) -> None:
        self.folder, self.say = folder, say
        self.good: Path | None = None
        self._lock: Any = None

    def __enter__(self) -> CheckpointFolder:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.folder / "lock")
            for begun in self.folder.glob(f"*{BEGUN}*"):  # by a run that was killed
                begun.unlink()
        except OSError as e:
            self.__exit__()
            why = "another run uses it" if isinstance(e, BlockingIOError) else str(e)
            raise CheckpointError(
                f"cannot keep checkpoints in {self.folder}: {why}. Give a folder of its own that "
                "can be written to."
            ) from e
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def newest(self, made: Callable[[dict[str, Any], dict[str, npt.NDArray[Any]]], T]) -> T | None:
        """What `made` makes of the newest that is whole; None if there is none at all."""
        damaged = []
        for path in (self.folder / NEWEST, self.folder / PREVIOUS):
            try:
                held = read(path, KEY, HEADER_BYTES)
                found = made({"format": held.format, **held.facts}, held.arrays)
            except FileNotFoundError:
                continue
            except (Damaged, OSError) as e:
                damaged.append(f"{path} is damaged ({e})")
                continue
            self.good = path
            if damaged:
                self.say(f"{damaged[0]}: using the one before, {path.name}")
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
        """Write a new checkpoint and keep the good one before it, unless this is to be `alone`."""
        begun, path, previous = (self.folder / name for name in (BEGUN, NEWEST, PREVIOUS))
        try:
            described = {k: v for k, v in facts.items() if k != "format"}
            write(begun, KEY, facts["format"], described, arrays, HEADER_BYTES)
            if self.good == path:
                os.replace(path, previous)
                self.good = previous
            os.replace(begun, path)
        except (OSError, DataError) as e:
            there = "no checkpoint is there"
            if self.good is not None and self.good.exists():
                there = f"{self.good} is good"
            raise CheckpointError(
                f"cannot write a checkpoint in {self.folder}: {e}; {there}. Make room or mend the "
                "folder, then run the same command with --resume (resume=True)."
            ) from e
        if alone or self.good is None:
            with suppress(OSError):
                previous.unlink(missing_ok=True)
        self.good = path
        return path


def _locked(path: Path) -> Any:
    """An open file that no other process has; it is free again when this one ends, however."""
    file = open(path, "ab")  # noqa: SIM115  # open as long as the folder is used
    try:
        import fcntl
    except ImportError:  # no such thing on this system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    except OSError:  # some network folders have no locks
        pass
    return file
