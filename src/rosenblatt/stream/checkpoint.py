"""Save a run over a file, and resume it.

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
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Position
from rosenblatt.data.source import LabelIndex
from rosenblatt.errors import CheckpointError, NotSupportedError, ParameterError
from rosenblatt.io.location import Fingerprint, locate
from rosenblatt.io.safetensors_file import Damaged
from rosenblatt.learn.engine import Progress
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.stream.checkpoint_folder import CheckpointFolder

Array = npt.NDArray[Any]
FORMAT = 3
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


class Timer(Protocol):
    """The seconds of each epoch, and of the current one."""

    seconds: list[float]
    before: float

    @property
    def elapsed(self) -> float: ...


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run at the end of a block.

    Attributes
    ----------
    settings : dict
        What was asked for: the rule, max_iter.
    reader : dict
        How the file was to be read, see `FileSource.described`.
    file : Fingerprint
        Which file it was.
    finished : bool
        Whether nothing is left to do.
    source : dict
        What reading has found, see `FileSource.get_state`.
    closed : bool
        Whether no further label may appear.
    position : Position
        Where to go on reading; START between two epochs.
    epoch_seconds, elapsed
        Seconds of the epochs that are done, and of this one.
    run, arrays
        The state of the machines, see `MachineGroup.get_state`, and arrays of the source.
    labels : array
        In the order in which they were first seen.
    made_by : str
        The version that wrote it.
    """

    settings: dict[str, Any]
    reader: dict[str, Any]
    file: Fingerprint
    finished: bool
    source: dict[str, Any]
    closed: bool
    position: Position
    epoch_seconds: list[float]
    elapsed: float
    run: dict[str, Any]
    arrays: dict[str, Array]
    labels: Array
    made_by: str

    @property
    def where(self) -> str:
        """The position in words."""
        if self.finished:
            return "the end"
        done, rows = len(self.epoch_seconds), self.position.rows
        return f"epoch {done + 1}, {rows:,} rows done" if rows else f"epoch {done}, done"

    def packed(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The checkpoint as JSON and arrays."""
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays = {**facts.pop("arrays")}
        facts["file"], facts["position"] = asdict(self.file), self.position._asdict()
        if self.labels.dtype.kind in "iufb":
            facts["labels"], arrays["labels"] = None, self.labels
        else:
            facts["labels"] = self.labels.tolist()
            if not all(isinstance(label, str) for label in facts["labels"]):
                raise NotSupportedError(
                    f"a checkpoint cannot hold labels of dtype {self.labels.dtype}. Use numbers or "
                    "text."
                )
        return {"format": FORMAT, **facts}, arrays

    @classmethod
    def unpacked(cls, facts: dict[str, Any], arrays: dict[str, Array]) -> Checkpoint:
        """From these; `Damaged` if they do not make one."""
        if type(facts.get("format")) is int and facts["format"] != FORMAT:
            raise CheckpointError(
                f"the checkpoint is of format {facts['format']}, and this version of rosenblatt "
                f"reads {FORMAT}. Go on with the version that made it: {facts.get('made_by')}."
            )
        try:
            held = {f.name: facts[f.name] for f in fields(cls) if f.name != "arrays"}
            held["file"] = Fingerprint(**held["file"])
            held["position"] = Position(**held["position"])
            texts, held["arrays"] = held["labels"], dict(arrays)
            numbers = held["arrays"].pop("labels", None)
            held["labels"] = numbers if texts is None else np.array(list(map(str, texts)))
            for name, kind in KINDS.items():
                if not isinstance(held[name], kind):
                    raise Damaged(f"its {name} is of another type")
            return cls(**held)
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise Damaged(f"its description does not hold together: {e!r}") from e


KINDS: dict[str, Any] = {
    "settings": dict, "reader": dict, "finished": bool, "source": dict,
    "closed": bool, "epoch_seconds": list, "elapsed": float, "run": dict, "labels": np.ndarray,
    "made_by": str,
}  # fmt: skip


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
    path : Path
        The file.
    say : function
        Called with what is worth a line.
    """

    def __init__(
        self,
        folder: Path,
        every: float,
        resume: bool,
        settings: Mapping[str, Any],
        path: Path,
        say: Callable[[str], object],
    ) -> None:
        number = isinstance(every, int | float) and not isinstance(every, bool)
        if not (number and 0 <= every < float("inf")):
            raise ParameterError(
                f"checkpoint_every must be a number of seconds >= 0, got {every!r}."
            )
        self.every, self.say, self.resume = float(every), say, resume
        self.settings = dict(settings)
        self.path, self.file = path, Fingerprint.of(locate(path))
        self.reader: dict[str, Any] = {}
        self.folder = CheckpointFolder(folder, say)
        self.signals = StopSignals()
        self.saved: Checkpoint | None = None
        self._run: tuple[Any, MachineGroup, Timer] | None = None
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
            if there is not None and not there.finished:
                raise CheckpointError(
                    f"{folder} has a checkpoint of a run that did not finish ({there.where}). Go "
                    "on with --resume (resume=True), or give another folder, or remove this one."
                )
            return None
        if there is None:
            self.say(f"there is no checkpoint in {folder}: starting from the beginning")
            return None
        self._check_same(there)
        if there.finished:
            self.say(f"the run of {self.folder.good} had finished: there is nothing left to learn")
        else:
            self.say(f"going on from {self.folder.good}: {there.where}")
        return there

    def _check_same(self, there: Checkpoint) -> None:
        """Refuse a checkpoint of another run or of another file."""
        other = _differences(there.settings, self.settings)
        changed = self.file.difference(there.file)
        if changed is not None:
            other.append(f"{self.path} is another file: {changed}")
        self._refuse(other)
        if self.file.changed_ns != there.file.changed_ns:
            self.say(
                f"{self.path} has another date than before; its size and the pieces that "
                "were compared are the same"
            )
        if there.made_by != this_version():
            self.say(
                f"the checkpoint was made by {there.made_by}, this is {this_version()}: the "
                "weights may differ from those of one run"
            )

    def _refuse(self, differences: list[str]) -> None:
        if differences:
            raise CheckpointError(
                f"{self.folder.good} is of another run: {'; '.join(differences)}. Give what it was "
                "begun with, or another folder."
            )

    def check_reader(self, reader: dict[str, Any]) -> None:
        """Refuse a checkpoint of a run that read the file otherwise."""
        self.reader = reader
        if self.saved is not None:
            self._refuse(_differences(self.saved.reader, reader))

    def attach(self, source: Any, group: MachineGroup, timer: Timer) -> tuple[int, Position]:
        """Observe this run. Returns where it goes on: the epochs that are done, and the position.

        `source`, `group` and `timer` are brought to where the saved run was.
        """
        self._run = source, group, timer
        self._last = time.monotonic()
        saved = self.saved
        if saved is None:
            return 0, START
        labels: LabelIndex = source.labels
        try:
            labels.set_state(saved.labels, saved.closed)
            arrays = saved.arrays.items()
            held = {name[len(SOURCE) :]: a for name, a in arrays if name.startswith(SOURCE)}
            source.set_state(saved.source, held)
            others = {name: a for name, a in arrays if not name.startswith(SOURCE)}
            group.set_state(saved.run, others)
            done = len(saved.epoch_seconds)
            if group.n_epochs != done or not (done or saved.position.rows):
                raise Damaged(f"counts of {group.n_epochs} epochs, times of {done}")
            timer.seconds[:] = [float(s) for s in saved.epoch_seconds]
        except (Damaged, KeyError, TypeError, ValueError, IndexError) as e:
            raise self._damaged(e) from e
        timer.before = saved.elapsed
        return done, saved.position

    # ------------------------------------------------------------------------ this run

    def begin_epoch(self, epoch: int) -> None:
        """Nothing."""

    def after_block(self, progress: Progress) -> None:
        """Save if it is time, or if a signal has arrived."""
        now = time.monotonic()
        self.signals.can_wait = True
        received = self.signals.received
        if now - self._last < self.every and received is None:
            return
        self._last = now
        path, where = self._save(progress.position)
        if received is not None:
            raise Interrupted(
                f"stopped: saved in {path} ({where}). The same command with --resume "
                "(resume=True) goes on from there",
                received,
            )

    def end_epoch(self, progress: Progress) -> bool:
        """Save if it is time, or if a signal has arrived."""
        self.after_block(progress)
        return False

    def finish(self) -> None:
        """Mark the run as finished, after the model was written. Failures are ignored."""
        if self._run is None or (self.saved is not None and self.saved.finished):
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
        saved = Checkpoint(
            settings=self.settings,
            reader=self.reader,
            file=self.file,
            finished=finished,
            source=found,
            closed=source.labels.closed,
            position=position,
            epoch_seconds=timer.seconds,
            elapsed=timer.elapsed if position.rows else 0.0,
            run=run,
            arrays=arrays,
            labels=source.labels.values,
            made_by=this_version(),
        )
        return self.folder.save(*saved.packed(), alone=finished), saved.where

    def _damaged(self, why: Exception) -> CheckpointError:
        return CheckpointError(
            f"{self.folder.good} is damaged ({why}). Remove it; if another one is in its folder, "
            "--resume (resume=True) goes on from there."
        )


def _differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences in words."""
    return [
        f"{name} was {was.get(name)!r}, now {now.get(name)!r}"
        for name in {**now, **was}
        if was.get(name) != now.get(name)
    ]


def this_version() -> str:
    """By name: modules of the package do not import the package itself."""
    return f"rosenblatt {sys.modules['rosenblatt'].__version__}"
