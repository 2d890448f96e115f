"""Checkpoint: where a run over a file stands, saved so that nothing is lost.

What is still to come depends on the rows that are left and on the state of the hyperplanes, and on
nothing else. Both are in a checkpoint, so a run that goes on from there ends with the weights of a
run that was never interrupted, to the bit (docs/checkpoints.md).
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.identity import Identity
from rosenblatt.data.reading import BadLine, Mark, Skipped
from rosenblatt.data.tensors import Damaged
from rosenblatt.errors import CheckpointError, NotSupportedError

Array = npt.NDArray[Any]
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where a run stands.

    Attributes
    ----------
    settings : what was asked for: the rule, the passes
    reader : how the file was to be read, see `described`
    file : which file it was
    finished : whether nothing is left to do
    settled : settings of the reader that a later part of the file has settled
    feature_names, counts_from_zero, skipped : what reading had found
    classes : the labels, sorted
    rows, within, weighed : rows visited in this pass or, between two, in the one before
    mark : where to go on reading
    seconds, elapsed : of the passes before, and of this one
    planes, arrays : the state of the hyperplanes
    random_state : None; an order that is drawn depends on the seed and the pass only
    made_by, processor : the same ones give the same bits
    """

    settings: dict[str, Any]
    reader: dict[str, Any]
    file: Identity
    finished: bool
    settled: dict[str, Any]
    feature_names: list[str]
    counts_from_zero: bool | None
    skipped: Skipped
    classes: Array
    rows: int
    within: bool
    weighed: bool
    mark: Mark
    seconds: list[float]
    elapsed: float
    planes: dict[str, Any]
    arrays: dict[str, Array]
    random_state: None = None
    made_by: str = field(default_factory=lambda: this_version())
    processor: str = field(default_factory=lambda: this_processor())

    @property
    def where(self) -> str:
        """In words."""
        if self.finished:
            return "the end"
        done = len(self.seconds)
        return f"pass {done + 1}, {self.rows:,} rows done" if self.within else f"pass {done}, done"

    def packed(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """As JSON and arrays."""
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays = {**facts.pop("arrays")}
        for name in ("file", "skipped", "mark"):
            facts[name] = asdict(facts[name])
        if self.classes.dtype.kind in "iufb":
            facts["classes"], arrays["classes"] = None, self.classes
        else:
            facts["classes"] = self.classes.tolist()
            if not all(isinstance(c, str) for c in facts["classes"]):
                raise NotSupportedError(
                    f"labels of dtype {self.classes.dtype} have no place in a checkpoint. Use "
                    "numbers or text."
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
            held = {name: facts[name] for name in NAMES}
            held["file"] = Identity(**held["file"])
            held["skipped"] = _skipped(held["skipped"])
            held["mark"] = Mark(**{**held["mark"], "skipped": _skipped(held["mark"]["skipped"])})
            texts, held["arrays"] = held["classes"], dict(arrays)
            numbers = held["arrays"].pop("classes", None)
            held["classes"] = numbers if texts is None else np.array(list(map(str, texts)))
            for name, kind in KINDS.items():
                if not isinstance(held[name], kind):
                    raise Damaged(f"its {name} is of another type")
            return cls(**held)
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise Damaged(f"its description does not hold together: {e!r}") from e


NAMES = [f.name for f in fields(Checkpoint) if f.name != "arrays"]
KINDS: dict[str, Any] = {
    "settings": dict, "reader": dict, "finished": bool, "settled": dict, "feature_names": list,
    "classes": np.ndarray, "rows": int, "within": bool, "weighed": bool, "seconds": list,
    "elapsed": float, "planes": dict, "made_by": str, "processor": str,
}  # fmt: skip


def _skipped(held: dict[str, Any]) -> Skipped:
    return Skipped(held["count"], tuple(BadLine(**line) for line in held["first"]))


def this_version() -> str:
    """By name: rooms do not import the front door, which imports them."""
    return f"rosenblatt {sys.modules['rosenblatt'].__version__}"


def this_processor() -> str:
    """Dot products are summed in as many lanes as it has."""
    from llvmlite.binding import get_host_cpu_name

    return str(get_host_cpu_name())
