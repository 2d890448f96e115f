"""Export of linear models: an ONNX graph, or a fitted scikit-learn estimator.

The graph computes

    scores = X @ coef.T + intercept
    label  = classes[scores >= 0]      two classes
    label  = classes[argmax(scores)]   more, the first of equal ones

in float32 or float64, as the model was trained. It has plain operators only (MatMul, Add,
GreaterOrEqual or ArgMax, Gather), so that a score of exactly 0 means the same there.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.errors import MissingPackageError, NotSupportedError
from rosenblatt.io.atomic import replace_file
from rosenblatt.model.linear_model import LinearModel

OPSET, IR = 17, 8  # of 2022: what runtimes of today and of some years ago read
MOST_BYTES = 2**31 - 2**20  # of a protobuf message, with some room for names


def export_onnx(model: Any, path: str | Path, *, encoded: bool = False) -> None:
    """Write an ONNX file with the input `X` and the outputs `label` and `scores`.

    The labels are those of `predict`, except where rounding decides: a runtime may add the products
    in another order. Requires the package onnx (``pip install rosenblatt[onnx]``).

    Parameters
    ----------
    model : LinearModel or fitted classifier
        With `coef_`, `intercept_` and `classes_`.
    path : str or Path
        The file; written atomically.
    encoded : bool
        True confirms that the rows will be encoded, if the model was trained on raw columns.

    Raises
    ------
    NotSupportedError
        If the model has no hyperplanes, is too large, or was trained on raw columns.

    Examples
    --------
    >>> import tempfile
    >>> model = LinearModel(np.array([[1.0, -1.0]]), np.array([0.5]), np.array(["ham", "spam"]))
    >>> file = Path(tempfile.mkdtemp()) / "model.onnx"
    >>> export_onnx(model, file)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(file)
    >>> label, scores = session.run(None, {"X": [[0.0, 0.0], [0.0, 3.0]]})
    >>> label, scores
    (array(['spam', 'ham'], dtype=object), array([ 0.5, -2.5]))
    """
    linear = LinearModel.of(model)
    _check_encoded(linear, encoded)
    if linear.coef.nbytes > MOST_BYTES:
        raise NotSupportedError(
            f"the weights take {linear.coef.nbytes:,} bytes, and an ONNX file holds less than 2 "
            "GiB. Use fewer features, or float32."
        )
    content = _graph(linear).SerializeToString()
    with replace_file(Path(path)) as file:
        file.write(content)


def to_sklearn(model: LinearModel, *, encoded: bool = False) -> Any:
    """A fitted ``sklearn.linear_model.Perceptron``; it can also continue with `partial_fit`.

    It has the parameters of the run where a perceptron of this package made the model.
    """
    from sklearn.linear_model import Perceptron

    _check_encoded(model, encoded)
    known = set(inspect.signature(Perceptron).parameters) - {"n_jobs", "verbose"}
    ours = "keep" in model.options
    shared = {k: v for k, v in model.options.items() if ours and k in known}
    if shared.get("shuffle") == "sample":  # draws with replacement, which scikit-learn lacks
        del shared["shuffle"]
    if isinstance(shared.get("tol"), str):  # "-inf" in a file: JSON has no such number
        shared["tol"] = float(shared["tol"])
    twin = Perceptron(**shared)
    twin.coef_ = model.coef.copy()
    twin.intercept_ = model.intercept.copy()
    twin.classes_ = model.classes.copy()
    twin.n_features_in_ = model.n_features
    twin.n_iter_ = int(model.training.get("epochs", 1))
    twin.t_ = 1.0 + twin.n_iter_ * int(model.training.get("rows", 0))
    if model.feature_names:
        names = [model.name(k) for k in range(model.n_features)]
        twin.feature_names_in_ = np.array(names, dtype=object)
    return twin


def _check_encoded(model: LinearModel, encoded: bool) -> None:
    """An export does not encode raw columns: the caller has to know."""
    if model.columns is not None and not encoded:
        raise NotSupportedError(
            "This model was trained on raw columns, which were encoded first. The export has no "
            "such step, so raw columns would get wrong labels. Use encoded=True if the rows will "
            "be encoded."
        )


def _graph(model: LinearModel) -> Any:
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError as e:
        raise MissingPackageError(
            "export_onnx requires the package onnx: pip install 'rosenblatt[onnx]'."
        ) from e
    two = len(model.coef) == 1
    number = helper.np_dtype_to_tensor_dtype(model.coef.dtype)
    labels = _labels(model)
    values = {
        "coef": np.ascontiguousarray(model.coef[0] if two else model.coef.T),
        "intercept": model.intercept[0] if two else model.intercept,
        "classes": labels,
    }
    node = helper.make_node
    nodes = [
        node("MatMul", ["X", "coef"], ["products"]),
        node("Add", ["products", "intercept"], ["scores"]),
    ]
    if two:
        values["zero"] = np.zeros((), model.coef.dtype)
        nodes.append(node("GreaterOrEqual", ["scores", "zero"], ["is_second"]))
        nodes.append(node("Cast", ["is_second"], ["place"], to=TensorProto.INT64))
    else:
        nodes.append(node("ArgMax", ["scores"], ["place"], axis=1, keepdims=0))
    nodes.append(node("Gather", ["classes", "place"], ["label"]))
    stored = [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items()]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "perceptron",
        [info("X", number, ["rows", model.n_features])],
        [
            info("label", stored[2].data_type, ["rows"]),
            info("scores", number, ["rows"] if two else ["rows", len(labels)]),
        ],
        stored,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    made.producer_name, _, made.producer_version = model.made_by.partition(" ")
    names = json.dumps([model.name(k) for k in range(len(model.feature_names))])
    helper.set_model_props(
        made, {"feature_names": names, "options": json.dumps(dict(model.options))}
    )
    checker.check_model(made)
    return made


def _labels(model: LinearModel) -> Any:
    """The classes in a type that every runtime has: text, int64, or the type they are."""
    kind = model.classes.dtype.kind
    if kind in "UO":
        return model.classes.astype(object)
    if kind == "i" or (kind == "u" and model.classes.dtype.itemsize < 8):
        return model.classes.astype(np.int64)
    return model.classes
