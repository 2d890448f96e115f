"""Model file: a linear model on disk. It runs no code, and gives back the same bits.

A safetensors file: the tensors `coef`, `intercept` and, where they are numbers, `classes`; the
rest is one JSON text under the metadata key "rosenblatt". A SHA-256 digest of all of it tells
accidents (it is no signature: whoever can write the file can write the digest). The file appears
whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.written import replacing
from rosenblatt.errors import DataError, NotSupportedError

FORMAT = 1
KEY = "rosenblatt"
LARGEST_HEADER = 100_000_000  # bytes; safetensors has the same limit
FACTS: dict[str, type] = {
    "format": int,
    "made_by": str,
    "classes": list,
    "classes_kind": str,
    "feature_names": list,
    "options": dict,
    "reader": dict,
    "digest": str,
}
Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Hyperplanes that label rows.

    Attributes
    ----------
    coef : float32 or float64 array, (1, d) for two classes, (classes, d) for more
    intercept : array of the same type, one number a row of `coef`
    classes : the labels, sorted: numbers or text
    feature_names : one name a column, or empty
    options : how it was trained, as JSON can hold it
    reader : how the file it was trained on was read (format, zero_based, bits, ...)
    made_by : which program made it

    Examples
    --------
    >>> model = LinearModel(np.array([[1.0, -1.0]]), np.array([0.5]), np.array(["ham", "spam"]))
    >>> model.predict(np.array([[0.0, 0.0], [0.0, 3.0]]))
    array(['spam', 'ham'], dtype='<U4')
    """

    coef: Array
    intercept: Array
    classes: Array
    feature_names: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    reader: Mapping[str, Any] = field(default_factory=dict)
    made_by: str = field(default_factory=lambda: _this_version())

    def __post_init__(self) -> None:
        why = self._wrong()
        if why:
            raise DataError(f"this is not a linear model: {why}.")

    @classmethod
    def of(cls, estimator: Any) -> LinearModel:
        """The hyperplanes of a fitted classifier with `coef_`, `intercept_` and `classes_`."""
        try:
            coef, intercept, classes = estimator.coef_, estimator.intercept_, estimator.classes_
        except AttributeError as e:
            raise NotSupportedError(
                f"a model file holds coef_, intercept_ and classes_, and {type(estimator).__name__}"
                f" lacks one: {e}. Fit it first; keep='vote' has no file yet."
            ) from e
        coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
        intercept = np.broadcast_to(np.asarray(intercept, dtype=coef.dtype), len(coef)).copy()
        params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        plain = {k: v for k, v in params.items() if isinstance(v, (bool, int, float, str))}
        names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
        return cls(coef, intercept, np.asarray(classes), names, plain)

    @property
    def n_features(self) -> int:
        return int(self.coef.shape[1])

    def scores(self, X: Any) -> Array:
        """w.x + b of every row: shape (rows,) for two classes, else (rows, classes).

        Sparse rows may be narrower or wider: a feature that was never met has weight 0.
        """
        coef = self.coef
        if hasattr(X, "tocsr") and X.shape[1] != self.n_features:
            X = X.tocsr()[:, : self.n_features]
            coef = coef[:, : X.shape[1]]
        if X.shape[1] != coef.shape[1]:
            raise DataError(
                f"X has {X.shape[1]} features, but the model is expecting {self.n_features} "
                "features as input. Give the columns it was trained on."
            )
        scores: Array = np.asarray(X @ coef.T) + self.intercept
        return scores.ravel() if len(self.coef) == 1 else scores

    def predict(self, X: Any) -> Array:
        """Labels. Two classes: a score >= 0 is the second class, always."""
        scores = self.scores(X)
        number = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: Array = self.classes[number]
        return labels

    def _wrong(self) -> str | None:
        """What keeps these arrays from being a model."""
        coef, intercept, classes = self.coef, self.intercept, self.classes
        if coef.ndim != 2 or coef.dtype not in (np.float32, np.float64) or not coef.size:
            return f"coef is {coef.dtype} of shape {coef.shape}, expected a table of floats"
        if intercept.shape != coef.shape[:1] or intercept.dtype != coef.dtype:
            return f"intercept is {intercept.dtype} of shape {intercept.shape}, coef {coef.shape}"
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            return "a weight is not finite"
        if classes.ndim != 1 or len(classes) < 2 or len(coef) not in (len(classes), 1):
            return f"{len(coef)} hyperplanes and classes of shape {classes.shape}"
        if (len(coef) == 1) != (len(classes) == 2):
            return f"{len(coef)} hyperplanes for {len(classes)} classes"
        if len(np.unique(classes)) != len(classes):
            return "a class occurs twice"
        if self.feature_names and len(self.feature_names) != coef.shape[1]:
            return f"{len(self.feature_names)} names for {coef.shape[1]} features"
        return None


def save_model(path: str | Path, model: Any) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    path : str or Path
        A file that is there is replaced in one step; the new one is on disk by then.
    model : LinearModel, or a fitted classifier with coef_, intercept_ and classes_

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "m.safetensors"
    >>> save_model(file, LinearModel(np.array([[0.1]]), np.zeros(1), np.array([-1, 1])))
    >>> load_model(file).coef
    array([[0.1]])
    """
    from safetensors.numpy import save

    model = model if isinstance(model, LinearModel) else LinearModel.of(model)
    facts, tensors = _packed(model)
    facts["digest"] = _digest(facts, tensors)
    with replacing(Path(path)) as file:
        file.write(save(tensors, {KEY: json.dumps(facts)}))


def load_model(path: str | Path) -> LinearModel:
    """Read a model file; anything that is not a whole, unaltered one is a DataError.

    Parameters
    ----------
    path : str or Path
        What :func:`save_model` or `rosenblatt fit` wrote. See there for an example.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    try:
        _check_header(path)
        with safe_open(path, "np") as file:
            facts = _facts(path, file.metadata())
            # `file` is no mapping: it cannot be iterated itself
            tensors = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError) as e:
        raise _malformed(path, str(e)) from e
    except OSError as e:
        raise DataError(f"cannot read {path}: {e}. Give a model file that is there.") from e
    if facts["digest"] != _digest(facts, tensors):
        raise _malformed(path, "its digest is not that of its contents")
    return _unpacked(path, facts, tensors)


def _packed(model: LinearModel) -> tuple[dict[str, Any], dict[str, Array]]:
    tensors = {"coef": model.coef, "intercept": model.intercept}
    kind, listed = model.classes.dtype.kind, []
    if kind in "iufb":
        tensors["classes"] = model.classes
    elif all(isinstance(c, str) for c in model.classes.tolist()):
        listed, kind = model.classes.tolist(), "U"
    else:
        raise NotSupportedError(
            f"classes of dtype {model.classes.dtype} have no place in a model file. Use numbers or "
            "text."
        )
    facts = {
        "format": FORMAT,
        "made_by": model.made_by,
        "classes": listed,
        "classes_kind": kind,
        "feature_names": list(model.feature_names),
        "options": dict(model.options),
        "reader": dict(model.reader),
    }
    small = {k: np.ascontiguousarray(v, v.dtype.newbyteorder("<")) for k, v in tensors.items()}
    return facts, small


def _unpacked(path: Path, facts: dict[str, Any], tensors: dict[str, Array]) -> LinearModel:
    text = facts["classes_kind"] == "U"
    expected = {"coef", "intercept"} | (set() if text else {"classes"})
    if set(tensors) != expected:
        raise _malformed(path, f"it holds {sorted(tensors)}, expected {sorted(expected)}")
    for name in ("classes", "feature_names"):
        if not all(isinstance(v, str) for v in facts[name]):
            raise _malformed(path, f"{name} are not text")
    classes = np.array(facts["classes"], dtype=str) if text else tensors["classes"]
    try:
        return LinearModel(
            tensors["coef"], tensors["intercept"], classes, tuple(facts["feature_names"]),
            facts["options"], facts["reader"], facts["made_by"],
        )  # fmt: skip
    except DataError as e:
        raise _malformed(path, str(e)) from e


def _check_header(path: Path) -> None:
    """The first eight bytes say how long the header is; believe no length that cannot be."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        first = file.read(8)
    length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
    if not 2 <= length <= min(LARGEST_HEADER, size - 8):
        raise _malformed(path, f"a header of {length:,} bytes in a file of {size:,}")


def _facts(path: Path, metadata: dict[str, str] | None) -> dict[str, Any]:
    if not metadata or KEY not in metadata:
        raise _malformed(path, "a safetensors file of another program")
    try:
        facts = json.loads(metadata[KEY])
    except (ValueError, RecursionError) as e:
        raise _malformed(path, f"its description is not JSON: {e}") from e
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise _malformed(path, "it does not say its format")
    if facts["format"] != FORMAT:
        raise DataError(
            f"{path} is a model file of format {facts['format']}; this version of rosenblatt reads "
            f"format {FORMAT}. Install the version that made it: {facts.get('made_by')}."
        )
    for name, kind in FACTS.items():
        if not isinstance(facts.get(name), kind):
            raise _malformed(path, f"its description has no {name}")
    return facts


def _digest(facts: Mapping[str, Any], tensors: Mapping[str, Array]) -> str:
    """SHA-256 of the description but for the digest, then of every tensor: name, type, bytes."""
    said = {k: v for k, v in facts.items() if k != "digest"}
    hashed = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(tensors):
        values = tensors[name]
        hashed.update(f"\n{name} {values.dtype.str} {values.shape}\n".encode())
        hashed.update(np.ascontiguousarray(values).tobytes())
    return hashed.hexdigest()


def _this_version() -> str:
    """By name: rooms do not import the front door, which imports them."""
    return f"rosenblatt {sys.modules['rosenblatt'].__version__}"


def _malformed(path: Path, why: str) -> DataError:
    return DataError(
        f"{path} is not a model file of rosenblatt, or is damaged: {why.rstrip('.')}. Give what "
        "`rosenblatt fit` or save_model wrote, or make it anew."
    )
