"""Keeper: saves where a run stands, and finds it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from rosenblatt.data.generations import Generations
from rosenblatt.data.identity import Identity
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.reading import Mark
from rosenblatt.data.tensors import Damaged
from rosenblatt.errors import CheckpointError
from rosenblatt.learn.checkpoint import Checkpoint, this_processor, this_version
from rosenblatt.learn.every import Clock, Every
from rosenblatt.learn.stopping import Interrupted, Stopping


class Standing(Protocol):
    """A run, as far as a checkpoint is concerned."""

    classes: npt.NDArray[Any]
    rows: int
    within: bool
    weighed: bool
    mark: Mark
    seconds: list[float]
    waited: float
    planes: Any

    @property
    def elapsed(self) -> float: ...


class Keeper:
    """Saves where a run stands, every now and then and when it is told to end.

    Parameters
    ----------
    folder : where the checkpoints are; made if it is not there
    every : how often, see :class:`Every`; at the end of a chunk
    resume : go on from the newest, if there is one
    settings : what was asked for, as JSON can hold it; another run has others
    path : the file
    say : is told what is worth a line
    """

    def __init__(
        self,
        folder: Path,
        every: str | float,
        resume: bool,
        settings: Mapping[str, Any],
        path: Path,
        say: Callable[[str], object],
    ) -> None:
        self.clock, self.say = Clock(Every.read(every)), say
        self.settings, self.resume = dict(settings), resume
        self.path, self.file = path, Identity.of(path)
        self.source: FileChunks | None = None
        self.reader: dict[str, Any] = {}
        self.settled: dict[str, Any] = {}
        self.folder = Generations(folder, say)
        self.stopping = Stopping()
        self.saved: Checkpoint | None = None
        self.latest: Checkpoint | None = None
        self._rows = 0
        self._run: Standing | None = None

    def __enter__(self) -> Keeper:
        self.folder.__enter__()
        try:
            self.saved = self._found()
            self.stopping.__enter__()
        except BaseException:
            self.folder.__exit__()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        asked = self.stopping.asked
        self.stopping.__exit__()
        self.folder.__exit__()
        if kind is None and asked is not None:
            raise Interrupted("told to end when the run was just done: the model is written", asked)

    def _found(self) -> Checkpoint | None:
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
        """The same run on the same file, else the weights would be those of neither."""
        other = _differences(there.settings, self.settings)
        changed = self.file.differs(there.file)
        if changed is not None:
            other.append(f"{self.path} is another file: {changed}")
        self._refuse(other)
        if self.file.changed_ns != there.file.changed_ns:
            self.say(
                f"{self.path} has another date than before; its size and the pieces that "
                "were compared are the same"
            )
        if (there.made_by, there.processor) != (this_version(), this_processor()):
            self.say(
                f"the checkpoint was made by {there.made_by} on {there.processor}, this is "
                f"{this_version()} on {this_processor()}: the weights may differ in their last "
                "bits from those of one run"
            )

    def _refuse(self, differences: list[str]) -> None:
        if differences:
            raise CheckpointError(
                f"{self.folder.good} is of another run: {'; '.join(differences)}. Give what it was "
                "begun with, or another folder."
            )

    @property
    def had_columns(self) -> bool:
        """Whether the run that was saved had raw columns to make numbers of."""
        return self.saved is not None and bool(self.saved.reader.get("columns"))

    def opened(self, source: FileChunks) -> FileChunks:
        """The file, to be read as asked for, with what had been found out about it."""
        saved, self.source, self.reader = self.saved, source, described(source)
        self.settled = {}
        if saved is None:
            return source
        self._refuse(_differences(saved.reader, self.reader))
        try:
            source = self._settle(saved.settled)
        except TypeError as e:
            raise self._damaged(e) from e
        source.feature_names = tuple(map(str, saved.feature_names))
        source.counts_from_zero, source.skipped = saved.counts_from_zero, saved.skipped
        return source

    def begin_again(self, settled: Mapping[str, Any] | None = None) -> FileChunks:
        """The run starts again, perhaps with other settings of the reader: all learned is void."""
        self.saved, self.stopping.patient = None, False
        return self._settle(settled or {})

    def _settle(self, settings: Mapping[str, Any]) -> FileChunks:
        assert self.source is not None
        self.settled |= settings
        format: Any = replace(self.source.format, **settings)  # type: ignore[type-var]  # a protocol; every format is a dataclass
        self.source = replace(self.source, format=format)
        return self.source

    def restore(self, run: Standing) -> None:
        """The run stands where it was saved."""
        saved = self.saved
        assert saved is not None
        try:
            run.planes.restore(saved.planes, saved.arrays)
            done = len(saved.seconds)
            if not (len(run.planes.mistakes) == done and (done or saved.within)):
                raise Damaged(f"counts of {len(run.planes.mistakes)} passes, times of {done}")
            run.seconds = [float(s) for s in saved.seconds]
        except (Damaged, KeyError, TypeError, ValueError) as e:
            raise self._damaged(e) from e
        run.rows, run.within, run.weighed, run.mark = (
            saved.rows, saved.within, saved.weighed, saved.mark,
        )  # fmt: skip
        run.waited = saved.elapsed
        self.clock.start()
        self._rows = run.rows

    def visited(self, run: Standing) -> None:
        """A chunk was learned from, or a pass is over. Saves if it is time, or told to end."""
        due = self.clock.due(max(0, run.rows - self._rows))
        self._rows = run.rows if run.within else 0
        self.stopping.patient = True
        asked = self.stopping.asked
        if not due and asked is None:
            return
        path = self.save(run)
        if asked is not None:
            assert self.latest is not None
            raise Interrupted(
                f"told to end: saved in {path} ({self.latest.where}). The same command with "
                "--resume (resume=True) goes on from there",
                asked,
            )

    def ended(self, run: Standing) -> None:
        """All passes are done."""
        self._run = run

    def finish(self) -> None:
        """The model is written: mark the run as finished. If that fails, no harm is done."""
        if self._run is None or (self.saved is not None and self.saved.finished):
            return
        try:
            self.save(self._run, finished=True)
        except CheckpointError as e:
            self.say(f"the model is written, but it cannot be noted that the run is finished: {e}")

    def save(self, run: Standing, finished: bool = False) -> Path:
        """Now; where it is."""
        assert self.source is not None
        planes, arrays = run.planes.state()
        self.latest = Checkpoint(
            settings=self.settings,
            reader=self.reader,
            file=self.file,
            finished=finished,
            settled=self.settled,
            feature_names=list(self.source.feature_names),
            counts_from_zero=self.source.counts_from_zero,
            skipped=self.source.skipped,
            classes=run.classes,
            rows=run.rows,
            within=run.within,
            weighed=run.weighed,
            mark=run.mark,
            seconds=run.seconds,
            elapsed=run.elapsed,
            planes=planes,
            arrays=arrays,
        )
        return self.folder.save(*self.latest.packed(), alone=finished)

    def _damaged(self, why: Exception) -> CheckpointError:
        return CheckpointError(
            f"{self.folder.good} is damaged ({why}). Remove it; if another one is in its folder, "
            "--resume (resume=True) goes on from there."
        )


def _differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In words."""
    return [
        f"{name} was {was.get(name)!r}, now {now.get(name)!r}"
        for name in {**was, **now}
        if was.get(name) != now.get(name)
    ]


def described(source: FileChunks) -> dict[str, Any]:
    """How the file is to be read, by name, as JSON can hold it; of larger things, a digest."""
    format: Any = source.format
    held = {f.name: getattr(format, f.name) for f in fields(format)} if is_dataclass(format) else {}
    for name, value in held.items():
        if not isinstance(value, bool | int | float | str | None):
            whole = json.dumps(value.to_json()) if hasattr(value, "to_json") else repr(value)
            held[name] = hashlib.sha256(whole.encode()).hexdigest()
    return {"format": type(format).__name__, **held, "on_error": source.on_error}
