"""Checkpoints of runs over files or on a cluster: when one is saved, what is in it, how to resume.

What is still to come depends on the rows that are left, the labels seen so far and the state of the
machines, and on nothing else. All of it is in a checkpoint, so a run that was resumed, on any CPU,
ends with the weights of a run that was never interrupted, to the bit (docs/how-to/checkpoints.md).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Position
from rosenblatt.errors import CheckpointError, NotSupportedError, ParameterError
from rosenblatt.io.location import Fingerprint, locate
from rosenblatt.io.safetensors_file import Damaged
from rosenblatt.learn.engine import Progress
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.stream.checkpoint_folder import CheckpointFolder

if TYPE_CHECKING:
    from rosenblatt.stream.train import EpochTimer

Array = npt.NDArray[Any]
FORMAT = 4
SOURCE = "source."  # before the names of arrays of the source
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A run was stopped by a signal, and what it had learned is saved. The message says where.

    Attributes
    ----------
    signal : int
        The number of the signal; a shell calls 128 + that the exit code.
    """

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal


class StopSignals:
    """Within `with`, the first SIGINT or SIGTERM is noted once `can_wait` is true.

    Before that, and the second time, a signal does what it did before, as it does in other threads
    than the main one.

    Attributes
    ----------
    can_wait : bool
        Whether there is something to save.
    received : int or None
        The signal that was noted.
    """

    def __init__(self) -> None:
        self.can_wait = False
        self.received: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                # None: set by something that is not Python, which we could not restore
                if signal.getsignal(number) not in (None, signal.SIG_IGN):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.can_wait and self.received is None:
            self.received = number
            return
        signal.signal(number, self._before.pop(number))
        signal.raise_signal(number)


# settings: what was asked for, and how the file was to be read; source: what reading has found;
# closed: no further label may appear; position: where to go on, START between two epochs; labels:
# texts in the order in which they were first seen, None for numbers, which are an array
FACTS: dict[str, Any] = {
    "settings": dict, "file": dict | None, "finished": bool, "source": dict, "closed": bool,
    "position": dict, "epoch_seconds": list, "elapsed": float, "run": dict,
    "labels": list | None, "made_by": str,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run at the end of a block.

    Attributes
    ----------
    facts : dict
        What JSON can hold, see FACTS.
    arrays : dict
        The state of the machines, and arrays of the source.
    file : Fingerprint or None
        Which file it was; None for rows that are no file.
    position : Position
    """

    facts: dict[str, Any]
    arrays: dict[str, Array]
    file: Fingerprint | None
    position: Position

    @property
    def where(self) -> str:
        """The position in words."""
        if self.facts["finished"]:
            return "the end"
        done, rows = len(self.facts["epoch_seconds"]), self.position.rows
        return f"epoch {done + 1}, {rows:,} rows done" if rows else f"epoch {done}, done"

    @classmethod
    def unpacked(cls, facts: dict[str, Any], arrays: dict[str, Array]) -> Checkpoint:
        """A checkpoint from what was read; raises `Damaged` if that is not one."""
        if type(facts.get("format")) is int and facts["format"] != FORMAT:
            raise CheckpointError(
                f"the checkpoint is of format {facts['format']}, and this version of rosenblatt "
                f"reads {FORMAT}. Go on with the version that made it: {facts.get('made_by')}."
            )
        for name, kind in FACTS.items():
            if name not in facts or not isinstance(facts[name], kind):
                raise Damaged(f"its {name} is of another type")
        try:
            file = facts["file"] and Fingerprint(**facts["file"])
            return cls(facts, arrays, file, Position(**facts["position"]))
        except TypeError as e:
            raise Damaged(f"its description does not hold together: {e!r}") from e


class CheckpointObserver:
    """Saves a run from time to time, and when a signal stops it. An observer of the engine.

    Parameters
    ----------
    folder : Path
        Where the checkpoints are; made if it is not there.
    every : float
        Seconds between two checkpoints, which are made at the end of a block; 0: after every one.
    resume : bool
        Go on from the newest, if there is one.
    settings : mapping
        What was asked for, as JSON can hold it; another run has others.
    path : Path or None
        The file. None: rows that are no file, of which `settings` has a checksum.
    say : function
        Called with what is worth a line.
    """

    def __init__(
        self,
        folder: Path,
        every: float,
        resume: bool,
        settings: Mapping[str, Any],
        path: Path | None,
        say: Callable[[str], object],
    ) -> None:
        number = isinstance(every, int | float) and not isinstance(every, bool)
        if not (number and 0 <= every < float("inf")):
            raise ParameterError(
                f"checkpoint_every must be a number of seconds >= 0, got {every!r}."
            )
        self.every, self.say, self.resume = float(every), say, resume
        self.settings = dict(settings)
        self.path = path
        self.file = None if path is None else Fingerprint.of(locate(path))
        self.folder = CheckpointFolder(folder, say)
        self.signals = StopSignals()
        self.saved: Checkpoint | None = None
        self._run: tuple[Any, MachineGroup, EpochTimer] | None = None
        self._last = time.monotonic()

    def __enter__(self) -> CheckpointObserver:
        self.folder.__enter__()
        try:
            self.saved = self._find()
            self.signals.__enter__()
        except BaseException:
            self.folder.__exit__()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        received = self.signals.received
        self.signals.__exit__()
        self.folder.__exit__()
        if kind is None and received is not None:
            raise Interrupted("stopped when the run was just done: the model is written", received)

    # ------------------------------------------------------------------ an earlier run

    def _find(self) -> Checkpoint | None:
        there = self.folder.newest(Checkpoint.unpacked)
        folder = self.folder.folder
        if not self.resume:
            if there is not None and not there.facts["finished"]:
                run = "an earlier run" if self.path is None else "a run that did not finish"
                raise CheckpointError(
                    f"{folder} has a checkpoint of {run} ({there.where}). Go on with --resume "
                    "(resume=True), or give another folder, or remove this one."
                )
            return None
        if there is None:
            self.say(f"there is no checkpoint in {folder}: starting from the beginning")
            return None
        self._check_same(there)
        if there.facts["finished"]:
            self.say(f"the run of {self.folder.good} had finished: there is nothing left to learn")
        else:
            self.say(f"going on from {self.folder.good}: {there.where}")
        return there

    def _check_same(self, there: Checkpoint) -> None:
        """Refuse a checkpoint of another run or of another file."""
        was, now = there.facts["settings"], self.settings
        other = [
            f"{name} was {_brief(was.get(name))}, now {_brief(now.get(name))}"
            for name in {**now, **was}
            if was.get(name) != now.get(name)
        ]
        before, file = there.file, self.file
        if before is not None and file is not None:
            changed = file.difference(before)
            other += [] if changed is None else [f"{self.path} is another file: {changed}"]
        elif before is not file:
            other.append("one of the runs is over a file, the other on a cluster")
        if other:
            raise CheckpointError(
                f"{self.folder.good} is of another run: {'; '.join(other)}. Give what it was begun "
                "with, or another folder."
            )
        if before is not None and file is not None and file.changed_ns != before.changed_ns:
            self.say(
                f"{self.path} has another date than before; its size and the pieces that "
                "were compared are the same"
            )
        if there.facts["made_by"] != this_version():
            self.say(
                f"the checkpoint was made by {there.facts['made_by']}, this is {this_version()}: "
                "the weights may differ from those of one run"
            )

    def attach(self, source: Any, group: MachineGroup, timer: EpochTimer) -> tuple[int, Position]:
        """Observe this run. Returns where it goes on: the epochs that are done, and the position.

        `source`, `group` and `timer` are brought to where the saved run was.
        """
        self._run = source, group, timer
        self._last = time.monotonic()
        saved = self.saved
        if saved is None:
            return 0, START
        facts = saved.facts
        arrays: dict[str, dict[str, Array]] = {"": {}, SOURCE: {}}
        for name, array in saved.arrays.items():
            arrays[SOURCE if name.startswith(SOURCE) else ""][name.removeprefix(SOURCE)] = array
        try:
            texts, numbers = facts["labels"], arrays[""].pop("labels", None)
            values = numbers if texts is None else np.array(list(map(str, texts)))
            source.labels.set_state(values, facts["closed"])
            source.set_state(facts["source"], arrays[SOURCE])
            group.set_state(facts["run"], arrays[""])
            done = len(facts["epoch_seconds"])
            if group.n_epochs != done or not (done or saved.position.rows):
                raise Damaged(f"counts of {group.n_epochs} epochs, times of {done}")
            timer.seconds[:] = [float(s) for s in facts["epoch_seconds"]]
        except (Damaged, KeyError, TypeError, ValueError, IndexError, AttributeError) as e:
            raise CheckpointError(
                f"{self.folder.good} is damaged ({e}). Remove it; if another one is in its folder, "
                "--resume (resume=True) goes on from there."
            ) from e
        timer.before = facts["elapsed"]
        return done, saved.position

    # ------------------------------------------------------------------------ this run

    def begin_epoch(self, epoch: int) -> None:
        """Do nothing."""

    def after_block(self, progress: Progress) -> None:
        """Save if it is time, or if a signal has arrived; but not within an epoch whose blocks
        have no position."""
        if progress.position != START:
            self._save_if_due(progress.position)

    def _save_if_due(self, position: Position) -> None:
        now = time.monotonic()
        self.signals.can_wait = True
        received = self.signals.received
        if now - self._last < self.every and received is None:
            return
        self._last = now
        path, where = self._save(position)
        if received is not None:
            raise Interrupted(
                f"stopped: saved in {path} ({where}). The same command with --resume "
                "(resume=True) goes on from there",
                received,
            )

    def end_epoch(self, progress: Progress) -> bool:
        """Save if it is time, or if a signal has arrived."""
        self._save_if_due(progress.position)
        return False

    def finish(self) -> None:
        """Mark the run as finished, after the model was written. Failures are ignored."""
        if self._run is None or (self.saved is not None and self.saved.facts["finished"]):
            return
        try:
            self._save(START, finished=True)
        except CheckpointError as e:
            self.say(f"the model is written, but it cannot be noted that the run is finished: {e}")

    def _save(self, position: Position, finished: bool = False) -> tuple[Path, str]:
        assert self._run is not None
        source, group, timer = self._run
        run, arrays = group.get_state()
        found, held = source.get_state()
        arrays |= {f"{SOURCE}{name}": array for name, array in held.items()}
        labels, texts = source.labels.values, None
        if labels.dtype.kind in "iufb":
            arrays["labels"] = labels
        else:
            texts = labels.tolist()
            if not all(isinstance(text, str) for text in texts):
                raise NotSupportedError(
                    f"a checkpoint cannot hold labels of dtype {labels.dtype}. Use numbers or text."
                )
        facts = {
            "format": FORMAT, "settings": self.settings,
            "file": None if self.file is None else asdict(self.file),
            "finished": finished, "source": found, "closed": source.labels.closed,
            "position": position._asdict(), "epoch_seconds": timer.seconds,
            "elapsed": timer.elapsed if position.rows else 0.0, "run": run, "labels": texts,
            "made_by": this_version(),
        }  # fmt: skip
        path = self.folder.save(facts, arrays, alone=finished)
        return path, Checkpoint(facts, arrays, self.file, position).where


def check_folder(folder: Any, every: float | None, resume: bool) -> None:
    """Refuse settings of checkpoints without a folder."""
    if folder is None and (resume or every is not None):
        given = "resume" if resume else "checkpoint_every"
        raise ParameterError(f"{given} needs checkpoint, the folder where checkpoints are.")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."


def this_version() -> str:
    """The name and version of this package, looked up, as its modules do not import it."""
    return f"rosenblatt {sys.modules['rosenblatt'].__version__}"
