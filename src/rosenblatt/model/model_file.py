"""Model files: save a linear model and load it again.

A safetensors file, which runs no code. The tensors are `coef`, `intercept`, `classes`, the names of
the features and, if they are known, their deviations. A JSON text in the metadata describes the
rest; see rosenblatt.io.safetensors_file, and docs/how-to/models.md for the file byte by byte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.io.limits import CLASSES, LABEL_CHARS, LINE_BYTES
from rosenblatt.io.safetensors_file import Damaged, read, write
from rosenblatt.model.linear_model import LinearModel

Array = npt.NDArray[Any]
FORMAT = 1
KEY = "rosenblatt"
DEEPEST = 32  # lists within objects within lists ... in the description
FACTS = {"made_by": str, "options": dict, "reader": dict, "training": dict}
TENSORS = {"coef", "intercept", "classes"}
NAMES = {"names", "name_offsets", "name_spaces"}
OPTIONAL = NAMES | {"class_offsets", "columns", "deviations", "large_indices"}


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model, and the file that it was read from: its SHA-256 digest and its size."""

    model: LinearModel
    path: Path
    digest: str
    n_bytes: int

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """All but the weights; the `most` largest weights of each hyperplane."""
        model = self.model
        return {
            "file": str(self.path),
            "bytes": self.n_bytes,
            "format": FORMAT,
            "digest": self.digest,
            "made_by": model.made_by,
            "classes": model.classes.tolist(),
            "features": model.n_features,
            "feature_names": [model.name(k) for k in range(len(model.feature_names))],
            "hyperplanes": len(model.coef),
            "dtype": str(model.coef.dtype),
            "columns": model.columns,
            "reader": dict(model.reader),
            "options": dict(model.options),
            "training": dict(model.training),
            "largest_weights": model.explain_model(most).to_dict()["planes"],
        }


def save_model(model: Any, path: str | Path) -> None:
    """Write a model file atomically. The same model gives the same bytes.

    Parameters
    ----------
    model : LinearModel or fitted classifier
        With `coef_`, `intercept_` and `classes_`: of this package or a linear one of scikit-learn.
    path : str or Path
        An existing file is replaced in one step and keeps its mode.

    Raises
    ------
    NotSupportedError
        If the model has no hyperplanes (``keep="vote"``, kernels), or classes that are neither
        numbers nor text.
    LimitError
        If there are too many classes, or a class or the description is too long.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "m.safetensors"
    >>> save_model(LinearModel(np.array([[0.1]]), np.zeros(1), np.array([-1, 1])), file)
    >>> load_model(file).coef
    array([[0.1]])
    """
    linear = LinearModel.of(model)
    described = {
        "made_by": linear.made_by,
        "options": jsonable(linear.options, "options"),
        "reader": jsonable(linear.reader, "reader"),
        "training": jsonable(linear.training, "training"),
    }
    write(Path(path), KEY, FORMAT, described, _tensors(linear))


def load_model(path: str | Path) -> LinearModel:
    """Read a model file. No code in the file is run.

    Parameters
    ----------
    path : str or Path
        A file that :func:`save_model` or `rosenblatt fit` wrote.

    Returns
    -------
    LinearModel
        The model.

    Raises
    ------
    DataError
        If the file cannot be read, or is not a complete and unaltered model file.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron, save_model
    >>> file = Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save_model(Perceptron().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"]), file)
    >>> load_model(file).predict([[0], [3]])
    array(['no', 'yes'], dtype='<U3')
    """
    return read_model(path).model


def read_model(path: str | Path) -> ModelFile:
    """Read a model file, with its digest and size."""
    path = Path(path)
    try:
        found = read(path, KEY)
        if found.format != FORMAT:
            raise DataError(
                f"{path} is a model file of format {found.format}; this version of rosenblatt "
                f"reads format {FORMAT}. Install another version, or train the model again."
            )
        model = _model(found.facts, found.arrays)
    except Damaged as e:
        raise DataError(
            f"{path} is not a model file of rosenblatt, or is damaged: {str(e).rstrip('.')}. Give "
            "a file that `rosenblatt fit` or save_model wrote, or train the model again."
        ) from e
    except OSError as e:
        raise DataError(
            f"cannot read {path}: {e.strerror or e}. Give an existing model file."
        ) from e
    return ModelFile(model, path, found.digest, found.n_bytes)


# --------------------------------------------------------------------------------- writing


def _tensors(model: LinearModel) -> dict[str, Array]:
    tensors = {"coef": model.coef, "intercept": model.intercept, **_class_tensors(model.classes)}
    if model.feature_names:
        spaces = model.namespaces or ("",) * len(model.feature_names)
        places = {space: k for k, space in enumerate(dict.fromkeys(spaces))}
        tensors["names"], tensors["name_offsets"] = _joined([*places, *model.feature_names])
        numbers = [-1] * len(places) + [places[space] for space in spaces]
        tensors["name_spaces"] = np.array(numbers, np.int32)
    if model.deviations is not None:
        tensors["deviations"] = model.deviations
    if model.large_indices is not None:
        tensors["large_indices"] = model.large_indices
    if model.columns is not None:
        plain = jsonable(model.columns, "columns")
        if plain != model.columns:
            raise NotSupportedError(
                "The columns of the model cannot be stored as JSON without a change. Use finite "
                "numbers, texts, lists and dicts with texts as keys."
            )
        tensors["columns"] = np.frombuffer(json.dumps(plain, sort_keys=True).encode(), np.uint8)
    return tensors


def _class_tensors(classes: Array) -> dict[str, Array]:
    check_classes(classes, "The model")
    if classes.dtype.kind in "iufb":
        return {"classes": classes}
    joined, offsets = _joined(classes.tolist())
    return {"classes": joined, "class_offsets": offsets}


def check_classes(classes: Array, place: str) -> None:
    """Refuse classes that a model file cannot hold."""
    if classes.dtype.kind in "iufb" and classes.dtype.itemsize <= 8:
        return
    texts = classes.tolist()
    odd = next((text for text in texts if not isinstance(text, str)), None)
    if odd is not None:
        raise NotSupportedError(
            f"{place} has the class {odd!r} of type {type(odd).__name__}. A model file holds "
            "classes that are numbers or text. Convert the labels to text."
        )
    # numpy stores each text at the length of the longest
    CLASSES.check(len(texts), place)
    LABEL_CHARS.check(max(map(len, texts), default=0), place)


def _joined(texts: Sequence[str]) -> tuple[Array, Array]:
    """Texts as UTF-8 bytes, and where each begins and ends."""
    try:
        parts = [text.encode() for text in texts]
    except UnicodeEncodeError as e:
        raise NotSupportedError(f"A name is not valid Unicode: {e}. Rename it.") from e
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), offsets


def jsonable(value: Any, what: str, depth: int = 0) -> Any:
    """Plain lists, dicts, texts and numbers; infinite ones, which JSON lacks, as text."""
    if depth > DEEPEST:
        raise NotSupportedError(f"The {what} of the model are nested more than {DEEPEST} deep.")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(k): jsonable(v, what, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(v, what, depth + 1) for v in value]
    raise NotSupportedError(
        f"The {what} of the model hold {value!r} of type {type(value).__name__}, which JSON lacks. "
        "Use numbers, texts, lists and dicts."
    )


# --------------------------------------------------------------------------------- reading


def _model(facts: dict[str, Any], tensors: dict[str, Array]) -> LinearModel:
    """A model from unchecked contents."""
    if set(facts) != set(FACTS) or any(not isinstance(facts[k], t) for k, t in FACTS.items()):
        raise Damaged(f"its description is not that of format {FORMAT}")
    held = set(tensors)
    if not TENSORS <= held <= TENSORS | OPTIONAL or held & NAMES not in (set(), NAMES):
        raise Damaged(f"it holds {sorted(held)}")
    names, spaces = _names(tensors) if "names" in held else ((), ())
    try:
        return LinearModel(
            tensors["coef"], tensors["intercept"], _classes(tensors), names,
            made_by=facts["made_by"], options=facts["options"], reader=facts["reader"],
            training=facts["training"], columns=_columns(tensors), namespaces=spaces,
            deviations=tensors.get("deviations"), large_indices=tensors.get("large_indices"),
        )  # fmt: skip
    except DataError as e:
        raise Damaged(str(e)) from e


def _classes(tensors: Mapping[str, Array]) -> Array:
    classes = tensors["classes"]
    if "class_offsets" not in tensors:
        return classes
    texts = _texts(classes, tensors["class_offsets"], "class")
    check_classes(np.array(texts, dtype=object), "The model")
    found = np.array(texts, dtype=str)
    if found.tolist() != texts:
        raise Damaged("a class ends in a null character")
    return found


def _names(tensors: Mapping[str, Array]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the features and their namespaces, which come first and have the space -1."""
    texts, spaces = (
        _texts(tensors["names"], tensors["name_offsets"], "name"),
        tensors["name_spaces"],
    )
    if spaces.dtype != np.int32 or spaces.shape != (len(texts),):
        raise Damaged("the namespaces do not fit the names")
    n = int(np.argmax(spaces >= 0))  # 0 if there is no name
    numbers = spaces[n:]
    if not n or (spaces[:n] != -1).any() or (numbers < 0).any() or (numbers >= n).any():
        raise Damaged("a name has a namespace that is not there")
    if texts[:n] == [""]:
        return tuple(texts[n:]), ()
    return tuple(texts[n:]), tuple(texts[k] for k in numbers.tolist())


def _texts(content: Array, offsets: Array, what: str) -> list[str]:
    """Texts of unchecked bytes: offsets rise from 0 to the end, and all is UTF-8."""
    if content.dtype != np.uint8 or offsets.dtype != np.int64 or content.ndim != 1:
        raise Damaged(f"the {what}s are not bytes")
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or offsets[-1] != len(content):
        raise Damaged(f"the offsets of the {what}s do not fit")
    if (offsets[1:] < offsets[:-1]).any():
        raise Damaged(f"the offsets of the {what}s do not rise")
    whole, ends = content.tobytes(), offsets.tolist()
    try:
        return [whole[a:b].decode() for a, b in pairwise(ends)]
    except UnicodeDecodeError as e:
        raise Damaged(f"a {what} is not UTF-8") from e


def _columns(tensors: Mapping[str, Array]) -> Any:
    content = tensors.get("columns")
    if content is None:
        return None
    LINE_BYTES.check(content.nbytes, "the columns of the model")
    try:
        found = json.loads(content.tobytes())
    except (ValueError, RecursionError) as e:
        raise Damaged(f"its columns are not JSON: {e}") from e
    if not isinstance(found, dict):
        raise Damaged("its columns are not an object")
    return found
