"""Model file: a linear model on disk. It runs no code, and gives back the same bits.

A safetensors file: the tensors `coef`, `intercept` and, where they are numbers, `classes`; the
rest is one JSON text in its metadata, beside the number of the format and a SHA-256 digest of all
of it. The digest tells accidents (it is no signature: whoever can write the file can write the
digest). docs/how-to/models.md describes the file byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.tensors import Damaged, Tensors, kind_of, parsed, read_tensors, write_tensors
from rosenblatt.data.written import replacing
from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.learn.linear import LinearModel

__all__ = ["FORMAT", "KEY", "LinearModel", "ModelFile", "load_model", "read_model", "save_model"]

Array = npt.NDArray[Any]
FORMAT = 2
KEY = "rosenblatt"  # one metadata key: safetensors writes several in any order
DEEPEST = 32  # lists within objects within lists ... in what describes a model
_FIRST: dict[str, Any] = {
    "format": int,
    "made_by": str,
    "classes": list,
    "classes_kind": str,
    "feature_names": list,
    "options": dict,
    "reader": dict,
}
FACTS: dict[int, dict[str, Any]] = {
    1: {**_FIRST, "digest": str},
    2: {**_FIRST, "digest": str, "training": dict, "columns": (dict, type(None))},
}
# a description from format 2 on: checked before it is parsed
BEGINS = re.compile(r'\A\{"digest":"([0-9a-f]{64})","format":([0-9]{1,9}),')
_NO_DIGEST = rf'{{"digest":"{"0" * 64}","format":\2,'


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model and the file it came from: its format, its SHA-256 digest, its size."""

    model: LinearModel
    path: Path
    format: int
    digest: str
    n_bytes: int

    def facts(self, most: int = 10) -> dict[str, Any]:
        """All but the weights, of these the `most` largest of each class; as JSON can hold it."""
        model = self.model
        return {
            "file": str(self.path),
            "bytes": self.n_bytes,
            "format": self.format,
            "digest": self.digest,
            "made_by": model.made_by,
            "classes": model.classes.tolist(),
            "features": model.n_features,
            "feature_names": list(model.feature_names),
            "hyperplanes": len(model.coef),
            "dtype": str(model.coef.dtype),
            "columns": model.columns,
            "reader": _jsonable(model.reader, "reader"),
            "options": _jsonable(model.options, "options"),
            "training": _jsonable(model.training, "training"),
            "largest_weights": model.explain_model(most).facts()["planes"],
        }


def save_model(model: Any, path: str | Path) -> None:
    """Write a model file, whole or not at all. The same model gives the same bytes.

    Parameters
    ----------
    model : LinearModel, or a fitted classifier with `coef_`, `intercept_` and `classes_`
        keep='vote' has no weights to save.
    path : str or Path
        A file that is there is replaced in one step; the new one is on disk by then. (The two
        arguments may come in either order.)

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "m.safetensors"
    >>> save_model(LinearModel(np.array([[0.1]]), np.zeros(1), np.array([-1, 1])), file)
    >>> load_model(file).coef
    array([[0.1]])
    """
    if isinstance(model, (str, Path)):  # the order of the first version
        model, path = path, model
    facts, tensors = _packed(LinearModel.of(model))
    written = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = f'{{"digest":"{"0" * 64}","format":{FORMAT},{written[1:]}'
    text = text.replace("0" * 64, _digest(text, tensors), 1)
    with replacing(Path(path)) as file:
        write_tensors(file, {KEY: text}, tensors)


def load_model(path: str | Path) -> LinearModel:
    """Read a model file; anything that is not a whole, unaltered one is a DataError.

    No code in the file is run, and no more memory is taken than in proportion to its size.

    Parameters
    ----------
    path : str or Path
        What :func:`save_model` or `rosenblatt fit` wrote, with this version or an earlier one.
        See there for an example.
    """
    return read_model(path).model


def read_model(path: str | Path) -> ModelFile:
    """The same with what is known of the file itself."""
    path = Path(path)
    try:
        found = read_tensors(path)
        facts, digest = _facts(path, found)
        model = _unpacked(facts, found.arrays)
    except Damaged as e:
        raise _malformed(path, str(e)) from e
    except OSError as e:
        raise DataError(f"cannot read {path}: {e}. Give a model file that is there.") from e
    return ModelFile(model, path, facts["format"], digest, found.n_bytes)


def _packed(model: LinearModel) -> tuple[dict[str, Any], dict[str, Array]]:
    tensors = {"coef": model.coef, "intercept": model.intercept}
    kind, listed = model.classes.dtype.kind, []
    if kind in "iufb" and model.classes.dtype.itemsize <= 8:
        tensors["classes"] = model.classes
    elif all(isinstance(c, str) for c in model.classes.tolist()):
        listed, kind = model.classes.tolist(), "U"
        if _too_long(listed):
            raise NotSupportedError("the class names are too long for a model file. Shorten them.")
    else:
        raise NotSupportedError(
            f"classes of dtype {model.classes.dtype} have no place in a model file. Use numbers or "
            "text."
        )
    facts = {
        "made_by": model.made_by,
        "classes": listed,
        "classes_kind": kind,
        "feature_names": list(model.feature_names),
        "options": _jsonable(model.options, "options"),
        "reader": _jsonable(model.reader, "reader"),
        "training": _jsonable(model.training, "training"),
        "columns": None if model.columns is None else _exactly(model.columns),
    }
    return facts, tensors


def _jsonable(value: Any, what: str, depth: int = 0) -> Any:
    """Plain lists, objects, texts and numbers; infinite ones, which JSON has not, as text."""
    if depth > DEEPEST:
        raise NotSupportedError(f"{what} of the model are nested more than {DEEPEST} deep.")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(k): _jsonable(v, what, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(v, what, depth + 1) for v in value]
    raise NotSupportedError(
        f"{what} of the model hold {value!r} of type {type(value).__name__}, which JSON has not. "
        "Use numbers, texts, lists and dicts."
    )


def _exactly(columns: Mapping[str, Any]) -> Any:
    """How columns are encoded: what comes back has to be what was given, so nothing is mended."""
    plain = _jsonable(columns, "columns")
    if plain != columns:
        raise NotSupportedError(
            "columns of the model do not come back from JSON as they are. Use finite numbers, "
            "texts, lists and dicts with texts as keys."
        )
    return plain


def _unpacked(facts: dict[str, Any], tensors: Mapping[str, Array]) -> LinearModel:
    text = facts["classes_kind"] == "U"
    expected = {"coef", "intercept"} | (set() if text else {"classes"})
    if set(tensors) != expected:
        raise Damaged(f"it holds {sorted(tensors)}, expected {sorted(expected)}")
    for name in ("classes", "feature_names"):
        if not all(isinstance(v, str) for v in facts[name]):
            raise Damaged(f"{name} are not text")
    if not text and (facts["classes"] or facts["classes_kind"] != tensors["classes"].dtype.kind):
        raise Damaged("it says two things about its classes")
    if _too_long(facts["classes"]):
        raise Damaged("its class names are too long")
    classes = np.array(facts["classes"], dtype=str) if text else tensors["classes"]
    try:
        return LinearModel(
            tensors["coef"], tensors["intercept"], classes, tuple(facts["feature_names"]),
            facts["options"], facts["reader"], facts["made_by"],
            facts.get("training", {}), facts.get("columns"),
        )  # fmt: skip
    except DataError as e:
        raise Damaged(str(e)) from e


def _too_long(names: list[str]) -> bool:
    """numpy gives every text the room of the longest: a small file could ask for terabytes."""
    return len(names) * max(map(len, names), default=0) > 2**24


def _facts(path: Path, found: Tensors) -> tuple[dict[str, Any], str]:
    """The description, once the digest says that all is as it was written."""
    text = found.metadata.get(KEY)
    if text is None:
        raise Damaged("a safetensors file of another program")
    if set(found.metadata) != {KEY}:
        raise Damaged(f"its metadata are {sorted(found.metadata)}, expected one")
    begins = BEGINS.match(text)
    if begins is None:
        return _first_facts(path, text, found.arrays)
    digest, number = begins.groups()
    if int(number) != FORMAT:
        raise _unknown_format(path, number)
    if digest != _digest(text, found.arrays):
        raise Damaged("its digest is not that of its contents")
    return _checked(text, FORMAT), digest


def _first_facts(path: Path, text: str, tensors: Mapping[str, Array]) -> tuple[dict[str, Any], str]:
    """Format 1 has its digest somewhere in the description."""
    facts = parsed(text, "its description")
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise Damaged("it does not say its format")
    if facts["format"] != 1:
        raise _unknown_format(path, facts["format"])
    facts = _checked(text, 1)
    if facts["digest"] != _first_digest(facts, tensors):
        raise Damaged("its digest is not that of its contents")
    return facts, facts["digest"]


def _checked(text: str, number: int) -> dict[str, Any]:
    """A description that holds what the format says, and nothing else."""
    facts = parsed(text, "its description")
    expected = FACTS[number]
    if not isinstance(facts, dict) or set(facts) != set(expected) or facts["format"] != number:
        raise Damaged(f"its description is not that of format {number}")
    for name, kind in expected.items():
        if not isinstance(facts[name], kind):
            raise Damaged(f"its description has {name} of another type")
    return facts


def _digest(text: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of the description, then of every tensor by name: name, type, shape, bytes.

    The digest within the description counts as 64 zeros. Only bytes of the file go in, none that
    Python writes its own way, so that any program can check it.
    """
    hashed = hashlib.sha256(BEGINS.sub(_NO_DIGEST, text).encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        values = tensors[name]
        shape = ",".join(map(str, values.shape))
        hashed.update(f"\n{name} {kind_of(values)} {shape}\n".encode())
        hashed.update(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).data)
    return hashed.hexdigest()


def _first_digest(facts: Mapping[str, Any], tensors: Mapping[str, Array]) -> str:
    """The digest of format 1, which is of the description written anew by Python."""
    said = {k: v for k, v in facts.items() if k != "digest"}
    hashed = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(tensors):
        values = tensors[name]
        hashed.update(f"\n{name} {values.dtype.str} {values.shape}\n".encode())
        hashed.update(np.ascontiguousarray(values).tobytes())
    return hashed.hexdigest()


def _unknown_format(path: Path, number: Any) -> DataError:
    return DataError(
        f"{path} is a model file of format {number}; this version of rosenblatt reads formats "
        f"{', '.join(map(str, FACTS))}. Install a newer version, or make the model anew."
    )


def _malformed(path: Path, why: str) -> DataError:
    return DataError(
        f"{path} is not a model file of rosenblatt, or is damaged: {why.rstrip('.')}. Give what "
        "`rosenblatt fit` or save_model wrote, or make it anew."
    )
