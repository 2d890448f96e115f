"""Saved: the rounds of a run in a folder of checkpoints, so that it can go on.

What a round does depends on the weights before it, its number, the seed and the shards. All of it
is saved or known again, so a run that goes on ends with the weights of one that never stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy.typing as npt

from rosenblatt.cluster.rounds import Rounds
from rosenblatt.errors import CheckpointError, ParameterError
from rosenblatt.stream.checkpoint import this_version
from rosenblatt.stream.checkpoint_folder import CheckpointFolder
from rosenblatt.text import plural

FORMAT = 1


class Saved:
    """A folder of checkpoints of rounds.

    Parameters
    ----------
    folder : made if it is not there
    resume : go on from the newest, if there is one
    asked : what was asked for, as JSON can hold it; a run of something else is not gone on with
    say : is told what happened
    """

    def __init__(
        self,
        folder: str | Path,
        resume: bool,
        asked: dict[str, Any],
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.resume, self.say = resume, say
        self.asked = asked
        self.checkpoints = CheckpointFolder(Path(folder), say)

    def __enter__(self) -> Saved:
        self.checkpoints.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.checkpoints.__exit__()

    def begin(self, rounds: Rounds) -> None:
        """Take up a run that was saved, or see that the folder is free for a new one."""
        found = self.checkpoints.newest(lambda facts, arrays: self._taken(rounds, facts, arrays))
        if found is None and self.resume:
            self.say(
                f"there is no checkpoint in {self.checkpoints.folder}: starting from the beginning"
            )
        elif found is not None:
            made = plural(len(rounds.history), "round")
            self.say(f"going on from {self.checkpoints.good}: {made} done")

    def _taken(
        self, rounds: Rounds, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]
    ) -> bool:
        folder = self.checkpoints.folder
        if not self.resume:
            raise CheckpointError(
                f"{folder} has checkpoints of a run before this one. Go on with --resume "
                "(resume=True), or give another folder, or remove this one."
            )
        if facts.get("kind") != "rounds" or facts.get("format") != FORMAT:
            raise CheckpointError(
                f"{folder} has checkpoints of another kind of run. Give another folder."
            )
        before = facts["asked"]
        other = [
            f"{name} was {_brief(before.get(name))}, now {_brief(value)}"
            for name, value in self.asked.items()
            if before.get(name) != value
        ]
        if other:
            raise CheckpointError(
                f"{folder} is of another run: {'; '.join(other)}. Give what it was begun with, or "
                "another folder."
            )
        if facts["made_by"] != this_version():
            self.say(
                f"the checkpoint was made by {facts['made_by']}, this is {this_version()}: the "
                "weights may differ from those of one run"
            )
        rounds.restore(facts["rounds"], arrays)
        return True

    def after(self, rounds: Rounds) -> None:
        """Save where it stands."""
        facts, arrays = rounds.packed()
        self.checkpoints.save(
            {
                "kind": "rounds", "format": FORMAT, "asked": self.asked, "rounds": facts,
                "made_by": this_version(),
            },
            arrays,
        )  # fmt: skip


def saved(
    checkpoint: str | Path | None,
    resume: bool,
    asked: Callable[[], dict[str, Any]],
    say: Callable[[str], object] = lambda _: None,
) -> AbstractContextManager[Saved | None]:
    """Checkpoints in a folder, or none."""
    if checkpoint is not None:
        return Saved(checkpoint, resume, asked(), say)
    if resume:
        raise ParameterError("resume needs checkpoint, the folder where checkpoints are.")
    return nullcontext()


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."
