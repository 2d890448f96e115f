"""Bad input: an error of the family that names what was given, and an estimator as it was."""

import pickle
import re
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from rosenblatt import LinearModel, Margin, Perceptron, RosenblattError
from rosenblatt.errors import (
    DataError,
    DataTypeError,
    LabelError,
    NotSupportedError,
    OverflowedError,
    ParameterError,
    RosenblattWarning,
)

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
Y = np.array([0, 0, 1, 1])
THREE = np.array([0, 1, 2, 2])
BIG = 2**53 + 1


def objects(values):
    """An object array of these values, none of them unpacked."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def column(first, second=(1, 2, 3, 4), make=pd.DataFrame):
    return make({"a": first, "b": second})


def refused(error, message, method, *args, **kwargs):
    """The method raises `error`, also a ValueError, and leaves its estimator exactly as it was."""
    clf = method.__self__
    before, content = dict(vars(clf)), pickle.dumps(vars(clf))
    with pytest.raises(RosenblattError, match=message) as caught:
        method(*args, **kwargs)
    assert isinstance(caught.value, error)
    assert isinstance(caught.value, ValueError)
    assert vars(clf).keys() == before.keys()
    assert all(vars(clf)[name] is value for name, value in before.items())
    assert pickle.dumps(vars(clf)) == content
    return str(caught.value)


def fitted(**params):
    return Perceptron(**params).fit(X, Y)


# ----------------------------------------------------------------------- X is no matrix

BAD_X = {
    "NaN": ([[np.nan, 1], [1, 0], [2, 2], [3, 1]], DataError, "X contains NaN.*row 0, column 0"),
    "infinity": (np.where(X == 3, np.inf, X), DataError, "X contains infinity.*row 3, column 0"),
    "too large for float32": (np.where(X == 3, np.float32(np.inf), X), DataError, "infinity"),
    "NaN in CSR": (sp.csr_array(np.where(X == 3, np.nan, X)), DataError, "X contains NaN"),
    "NaN in CSC": (sp.csc_array(np.where(X == 3, np.nan, X)), DataError, "X contains NaN"),
    "a missing value": (column(pd.array([None, 1, 2, 3], "Int64")), DataError, "contains NaN"),
    "a polars null": (column([None, 1, 2, 3], make=pl.DataFrame), DataError, "contains NaN"),
    "None": (None, DataError, "X is None"),
    "a number": (3, DataError, "got 0D"),
    "a vector": ([1, 2, 3, 4], DataError, r"2D array, got 1D.*shape \(4,\)"),
    "a series": (pd.Series([1, 2, 3, 4]), DataError, "got 1D"),
    "a sparse vector": (sp.coo_array(np.ones(4)), DataError, r"1D sparse.*shape \(4,\)"),
    "a cube": (np.zeros((4, 2, 2)), DataError, r"got 3D.*shape \(4, 2, 2\)"),
    "no rows": (np.zeros((0, 2)), DataError, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no rows in CSR": (sp.csr_array((0, 2)), DataError, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no features": (np.zeros((4, 0)), DataError, r"0 feature\(s\) \(shape=\(4, 0\)\)"),
    "no features in CSR": (sp.csr_array((4, 0)), DataError, r"0 feature\(s\)"),
    "no columns": (pd.DataFrame(index=range(4)), DataError, r"0 feature\(s\)"),
    "ragged": ([[1], [1, 2], [1], [2]], DataError, "rows of equal length"),
    "strings": ([["a", "b"]] * 4, DataError, "not a number: .*'a'"),
    "bytes": (np.array([[b"a", b"b"]] * 4), DataError, "not a number: .*'a'"),
    "a text column": (column(list("wxyz")), DataError, "not a number: .*'w'"),
    "a polars text column": (column(list("wxyz"), make=pl.DataFrame), DataError, "'w'"),
    "categories": (column(pd.Categorical(list("wxyz"))), DataTypeError, "categor"),
    "dates": (X.astype("datetime64[s]"), DataTypeError, "datetime64"),
    "a date column": (column(pd.date_range("2020", periods=4)), DataTypeError, "Timestamp|date"),
    "a polars date column": (
        column(pd.date_range("2020", periods=4), make=pl.DataFrame), DataTypeError, "date"),
    "mixed column names": (pd.DataFrame(X, columns=["a", 1]), DataTypeError, "feature name"),
    "complex": (X + 1j, DataError, "Complex data not supported.*complex128"),
    "complex CSR": (sp.csr_array(X + 1j), DataError, "Complex data not supported.*complex128"),
    "objects": (np.array([[{}, 1]] * 4, dtype=object), DataTypeError, "not 'dict'"),
    "rows by name": ([{"a": 1}] * 4, DataTypeError, "list of dicts. learn_one, learn_many"),
    "a path": ("rows.csv", DataTypeError, "'rows.csv', not a table of numbers. .* read it first"),
    "a dict": ({"a": [1, 2]}, DataTypeError, "not 'dict'"),
    "records": (np.zeros(4, dtype=[("a", float)]), DataTypeError, "'a'"),
}  # fmt: skip

BEYOND = {
    "python integers": [[BIG, 0], [1, 1], [2, 2], [3, 3]],
    "python integers beyond 64 bits": [[2**70, 0], [1, 1], [2, 2], [3, 3]],
    "negative": [[-BIG, 0], [1, 1], [2, 2], [3, 3]],
    "int64": np.array([[BIG, 0], [1, 1], [2, 2], [3, 3]]),
    "uint64": np.array([[2**64 - 1, 0], [1, 1], [2, 2], [3, 3]], dtype=np.uint64),
    "objects": np.array([[BIG, 0.5], [1, 1], [2, 2], [3, 3]], dtype=object),
    "numpy objects": np.array([[np.int64(BIG), 0.5]] * 4, dtype=object),
    "CSR": sp.csr_array(np.array([[BIG, 0], [1, 1], [2, 2], [3, 3]])),
    "pandas": column([BIG, 1, 2, 3]),
    "pandas beside floats": column([BIG, 1, 2, 3], [0.5, 1, 2, 3]),
    "pandas nullable": column(pd.array([BIG, 1, 2, 3], "Int64")),
    "polars": column([BIG, 1, 2, 3], make=pl.DataFrame),
    "polars beside floats": column([BIG, 1, 2, 3], [0.5, 1.0, 2.0, 3.0], pl.DataFrame),
}
BAD_X |= {
    f"beyond 2**53: {name}": (value, DataError, r"holds the integer -?\d{16,}, beyond 2\*\*53")
    for name, value in BEYOND.items()
}


@pytest.mark.parametrize("name", BAD_X)
def test_bad_X_is_refused(name):
    value, error, message = BAD_X[name]
    clf = fitted()
    refused(error, message, clf.fit, value, Y)
    refused(error, message, Perceptron().partial_fit, value, Y)
    if "names" not in name:  # that frame is like one without names to a model without them
        refused(error, message, clf.partial_fit, value, Y)
        refused(error, message, clf.predict, value)
        refused(error, message, clf.decision_function, value)


@pytest.mark.parametrize(
    "value",
    [
        [[2**53, -(2**53)], [1, 1], [2, 2], [3, 3]],
        np.array([[Fraction(1, 2), 1]] * 2 + [[2, 3.5]] * 2, dtype=object),
        [[True, False], [True, True], [False, False], [False, True]],
        np.asfortranarray(X),
        X.astype(np.float16),
        sp.lil_array(X),
        sp.dok_array(X),
        sp.csr_array(X > 1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_can_be_meant_is_accepted(value):
    clf = Perceptron().fit(value, Y)
    dense = value.toarray() if sp.issparse(value) else np.array(value, dtype=float)
    np.testing.assert_array_equal(clf.coef_, Perceptron().fit(dense, Y).coef_)


def test_numbers_written_as_text_are_numbers():
    np.testing.assert_array_equal(Perceptron().fit(X.astype(str), Y).coef_, fitted().coef_)


def test_read_only_input_is_enough():
    A, S, y, weight = X.copy(), sp.csr_array(X), Y.copy(), np.ones(4)
    for array in (A, S.data, S.indices, S.indptr, y, weight):
        array.flags.writeable = False
    for data in (A, S):
        Perceptron().fit(data, y, sample_weight=weight).predict(data)
        Perceptron(keep="average").partial_fit(data, y, sample_weight=weight)


# ---------------------------------------------------------------------- sparse matrices


def tampered(form, attribute, position, value):
    A = getattr(sp, f"{form}_array")(X)
    array = A.coords[0] if attribute == "coords" else getattr(A, attribute)
    array[position] = value
    return A


def cut(attribute, value):
    A = sp.csr_array(X)
    setattr(A, attribute, np.array(value, dtype=getattr(A, attribute).dtype))
    return A


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tampered("csr", "indices", 0, 10**6), "indices must be < 2"),
        (lambda: tampered("csr", "indices", 0, -5), "indices must be >= 0"),
        (lambda: tampered("csr", "indptr", 2, 0), "non-decreasing"),
        (lambda: tampered("csr", "indptr", 2, 100), "non-decreasing"),
        (lambda: tampered("csr", "indptr", 0, -3), "start with 0"),
        (lambda: tampered("csr", "indptr", -1, 10**6), "index pointer"),
        (lambda: cut("indptr", [0, 1, 2]), "index pointer size 3"),
        (lambda: cut("data", [1.0]), "same size"),
        (lambda: cut("indices", [1]), "same size"),
    ],
)
def test_a_malformed_csr_matrix_is_refused(make, message):
    clf = fitted()
    refused(DataError, message, clf.fit, make(), Y)
    refused(DataError, message, clf.partial_fit, make(), Y)
    refused(DataError, message, clf.predict, make())


MALFORMED = [
    ("csc", "indices", 10**8),
    ("csc", "indices", -(10**8)),
    ("csc", "indptr", 10**8),
    ("coo", "coords", 10**8),
    ("coo", "coords", -(10**8)),
    ("bsr", "indices", 10**8),
    ("bsr", "indptr", 10**8),
]


@pytest.fixture(scope="module")
def what_became_of_them():
    """In a process of its own: converting one without a look reads memory at random."""
    code = f"""
import numpy as np, scipy.sparse as sp
from rosenblatt import Perceptron, RosenblattError
for form, attribute, value in {MALFORMED}:
    A = getattr(sp, form + "_array")(np.array({X.tolist()}))
    array = A.coords[0] if attribute == "coords" else getattr(A, attribute)
    array[1] = value
    print(form, attribute, value, end=" ", flush=True)
    try:
        Perceptron().fit(A, [0, 0, 1, 1])
        print("accepted", flush=True)
    except RosenblattError as e:
        print("refused:", e, flush=True)
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("form", "attribute", "value"), MALFORMED)
def test_other_malformed_sparse_matrices_never_crash(form, attribute, value, what_became_of_them):
    run = what_became_of_them
    assert run.returncode == 0, f"exit code {run.returncode}: {run.stdout}{run.stderr[-500:]}"
    assert f"{form} {attribute} {value} refused:" in run.stdout


def messy(index=np.int32):
    """X with entries out of order, entries in halves and a stored zero."""
    number = np.float64 if index is np.int32 else np.float32  # what is compiled anyway
    data = np.array([0.0, 1.0, 0.5, 0.5, 1.5, 1.0, 0.5, 1.0, 3.0], dtype=number)
    indices = np.array([0, 1, 0, 0, 1, 0, 1, 0, 0], dtype=index)
    indptr = np.array([0, 2, 4, 8, 9], dtype=index)
    A = sp.csr_array((data, indices, indptr), shape=(4, 2))
    A.indices, A.indptr = indices, indptr
    A.data[-1] = 3.0
    return A


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("flags", ["honest", "lying"])
def test_duplicate_and_unsorted_entries_give_the_model_of_the_clean_matrix(index, flags):
    A = messy(index)
    clean = A.toarray()
    before = [a.copy() for a in (A.data, A.indices, A.indptr)]
    if flags == "lying":
        A.has_canonical_format = A.has_sorted_indices = True
    clf = Perceptron().fit(A, Y)
    scores = clf.decision_function(A)
    clf_later = Perceptron().partial_fit(A, Y)
    for now, then in zip((A.data, A.indices, A.indptr), before, strict=True):
        assert now.dtype == then.dtype
        np.testing.assert_array_equal(now, then)
    dense = Perceptron().fit(clean, Y)
    np.testing.assert_array_equal(clf.coef_, dense.coef_)
    np.testing.assert_array_equal(clf.intercept_, dense.intercept_)
    np.testing.assert_array_equal(scores, dense.decision_function(clean))
    np.testing.assert_array_equal(clf_later.coef_, Perceptron().partial_fit(clean, Y).coef_)


def test_duplicates_in_coo_are_summed():
    A = messy().tocoo()
    np.testing.assert_array_equal(
        Perceptron().fit(A, Y).coef_, Perceptron().fit(messy().toarray(), Y).coef_
    )


# ------------------------------------------------------------------------------- labels

BAD_Y = {
    "None": (None, "y is None"),
    "NaN": ([0, np.nan, 1, 1], "y contains NaN"),
    "infinity": ([0, np.inf, 1, 1], "y contains infinity"),
    "None among words": (["a", None, "b", "a"], "y contains NaN or None"),
    "NaN among words": (objects(["a", np.nan, "b", "a"]), "y contains NaN or None"),
    "missing words": (pd.Series(["a", None, "b", "a"], dtype="string"), "y contains NaN"),
    "missing numbers": (pd.Series([0, None, 1, 1], dtype="Int64"), "y contains NaN"),
    "polars nulls": (pl.Series([0, None, 1, 1]), "y contains NaN"),
    "no time": (np.array(["2020", "NaT", "2021", "2020"], dtype="datetime64[s]"), "Na[NT]"),
    "continuous": ([0.5, 1, 2, 1], "continuous .*0.5"),
    "mixed in a list": ([0, "a", 1, "b"], "mixes text and numbers"),
    "mixed objects": (objects([0, "a", 1, "b"]), "mixes text and numbers"),
    "bytes and numbers": (objects([b"a", 1, b"a", 1]), "y mixes|y holds"),
    "complex": ([1j, 0, 1, 1], "Complex data not supported"),
    "ragged": ([[1], [1, 2], [1], [2]], "label"),
    "dicts": ([{}, {}, {}, {}], "y holds"),
    "two columns": ([[0, 1]] * 4, r"1d array, got .*shape \(4, 2\)"),
    "a number": (3, "1d array, got"),
    "too few": ([0, 1], "4 rows in X, 2 labels in y"),
    "too many": ([0, 1, 0, 1, 1], "4 rows in X, 5 labels in y"),
    "none at all": ([], "4 rows in X, 0 labels in y"),
}


@pytest.mark.parametrize("name", BAD_Y)
def test_bad_labels_are_refused(name):
    y, message = BAD_Y[name]
    clf = fitted()
    refused(LabelError, message, clf.fit, X, y)
    refused(LabelError, message, clf.partial_fit, X, y)
    refused(LabelError, message, Perceptron().partial_fit, X, y)


@pytest.mark.parametrize("label", [7, "spam", True, 2.0])
def test_one_class_alone_is_refused_by_name(label):
    clf = fitted()
    one = [label] * 4
    refused(LabelError, f"got 1 class .*{label}", clf.fit, X, one)
    classes = [label]
    refused(LabelError, f"got 1 class .*{label}", Perceptron().partial_fit, X, one, classes=classes)


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        clf = Perceptron().fit(X, Y[:, None])
    np.testing.assert_array_equal(clf.coef_, fitted().coef_)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([0, 0, 1, 5], [0, 1], r"labels \[5\] that are not among classes \[0, 1\]"),
        (["a", "a", "b", "b"], [0, 1], r"\['a', 'b'\].*not among classes \[0, 1\]|kind"),
        (Y, ["0", "1"], r"\[0, 1\].*not among classes \['0', '1'\]|kind"),
        (Y, [0, np.nan], "classes contains NaN"),
        (Y, [], "classes"),
        (Y, [[0, 1], [1, 2]], r"classes should be a 1d array.*\(2, 2\)"),
        (Y, 3, "classes should be a 1d array"),
    ],
)
def test_labels_that_do_not_match_classes_are_refused(y, classes, message):
    refused(LabelError, message, Perceptron().partial_fit, X, y, classes=classes)


def test_classes_once_named_are_closed():
    clf = Perceptron().partial_fit(X, Y, classes=[0, 1])
    refused(
        LabelError,
        r"labels \[2\].*among the classes \[0, 1\].*close the list",
        clf.partial_fit,
        X,
        THREE,
    )
    refused(
        LabelError, r"classes=\[0, 1, 2\].*not the same", clf.partial_fit, X, Y, classes=[0, 1, 2]
    )
    refused(LabelError, r"labels \[2\]", fitted().partial_fit, X, THREE)


@pytest.mark.parametrize("first", [Y, np.array(["no", "no", "yes", "yes"])], ids=["int", "str"])
def test_a_late_class_of_another_kind_is_refused(first):
    late = ["a", "a", "b", "b"] if first is Y else Y
    clf = Perceptron().partial_fit(X, first)
    refused(LabelError, "kind|mixes", clf.partial_fit, X, late)


# ------------------------------------------------------------------------------ weights


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        ([-1, 1, 1, 1], DataError, r"Negative values in sample_weight \(-1\)"),
        (-2.0, DataError, r"Negative values in sample_weight \(-2\)"),
        ([np.nan, 1, 1, 1], DataError, "sample_weight contains NaN"),
        ([1, np.inf, 1, 1], DataError, "sample_weight contains infinity"),
        ([1, 1], DataError, r"sample_weight.shape == \(2,\), expected \(4,\)"),
        (np.ones((4, 1)), DataError, "got 2D array"),
        ([0, 0, 0, 0], DataError, "at least one non-zero.*all are 0"),
        (0, DataError, "at least one non-zero"),
        (["a"] * 4, DataTypeError, "sample_weight has dtype <U1"),
        ([None, 1, 1, 1], DataTypeError, "sample_weight has dtype object"),
        ([1j] * 4, DataTypeError, "sample_weight has dtype complex"),
        ([[1], [1, 2], 1, 1], DataError, "sample_weight"),
    ],
)
def test_bad_sample_weights_are_refused(weight, error, message):
    clf = fitted()
    refused(error, message, clf.fit, X, Y, sample_weight=weight)
    refused(error, message, clf.partial_fit, X, Y, sample_weight=weight)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"coef_init": np.ones(7)}, r"coef_init .*shape is \(7,\), expected"),
        ({"coef_init": np.ones((4, 2))}, r"coef_init .*shape is \(4, 2\), expected"),
        ({"coef_init": np.full(2, np.nan)}, "coef_init (holds NaN|does not match)"),
        ({"coef_init": ["a", "b"]}, "coef_init"),
        ({"coef_init": [[1], [1, 2]]}, "coef_init"),
        ({"intercept_init": np.ones(2)}, r"intercept_init .*shape is \(2,\), expected"),
        ({"intercept_init": [np.inf]}, "intercept_init (holds|does not match)"),
        ({"intercept_init": "a"}, "intercept_init"),
        ({"intercept_init": object}, "intercept_init"),
    ],
    ids=str,
)
def test_a_bad_start_is_refused(given, message, y):
    refused(DataError, message, fitted().fit, X, y, **given)


def test_a_start_too_large_for_float32_is_refused():
    big = np.full(2, 1e300)
    refused(DataError, "coef_init holds", fitted().fit, X.astype("f4"), Y, coef_init=big)


# --------------------------------------------------------------------------- parameters

NAN, INF, RNG = float("nan"), float("inf"), np.random.default_rng(0)
BAD_PARAMETERS = {
    "penalty": ["l3", True, 0],
    "alpha": [-1.0, NAN, INF, "a", None],
    "l1_ratio": [-0.1, 1.1, NAN],
    "learning_rate": ["pa1", None, 0.1],
    "power_t": [NAN, INF, "a", None],
    "fit_intercept": ["yes", 1, None],
    "max_iter": [0, -1, 1.5, "a", None],
    "tol": [-1.0, NAN, "a"],
    "shuffle": ["order", None, 1],
    "verbose": [-1, 1.5, "a", None],
    "eta0": [0, -1.0, NAN, INF, "a", None, True, [1.0, 2.0]],
    "n_jobs": [0, 1.5, "a"],
    "random_state": ["a", 1.5, -1, 2**32, RNG],
    "early_stopping": ["yes", 1, None],
    "validation_fraction": [0.0, 1.0, -0.5, 1.5, NAN, "a", None],
    "n_iter_no_change": [0, -1, 2.5, None],
    "class_weight": ["auto", [1, 2], 3, np.array([1, 2]), {0: -1.0}, {0: NAN}, {1: INF},
                     {0: "a"}, {1: None}, {7: 2.0}, {0: 0.0, 1: 0.0}],
    "warm_start": ["yes", 1, None],
    "rule": ["avg", None, 3, Margin],
    "keep": ["mean", None, True],
    "mode": ["stream", None],
    "tie": ["never", None],
    "init": ["ones", None, 3, {}, ["a", "b"], [1.0, 2.0, 3.0, 4.0], [NAN, 1.0], [[1.0], [1, 2]]],
    "weighting": ["times", None],
    "multiclass": ["ovo", None],
    "max_updates": [0, -1, 1.5, "a"],
    "record": ["all", True, 1],
}  # fmt: skip


def test_every_parameter_is_tried():
    assert set(BAD_PARAMETERS) == set(Perceptron().get_params())


@pytest.mark.parametrize(
    ("name", "value"), [(name, v) for name, vs in BAD_PARAMETERS.items() for v in vs]
)
def test_bad_parameters_are_refused_by_name(name, value):
    said = refused(RosenblattError, name, fitted().set_params(**{name: value}).fit, X, Y)
    if not isinstance(value, dict | list | np.random.Generator):
        assert repr(value) in said
    if name != "early_stopping":  # which partial_fit refuses whatever it is
        refused(RosenblattError, name, Perceptron(**{name: value}).partial_fit, X, Y)


@pytest.mark.parametrize(
    "eta0",
    [[], [0.0], [1.0, -1.0], [NAN], ["a"], [None], [[1.0]], [[1.0], [1.0, 2.0]], "a", {}, None],
    ids=str,
)
def test_bad_step_sizes_of_the_batch_rule_are_refused(eta0):
    clf = fitted().set_params(mode="batch", eta0=eta0)
    refused(ParameterError, "eta0", clf.fit, X, Y)


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, INF, "a", None])
def test_bad_values_of_a_step_size_function_are_refused(value):
    clf = fitted()
    before = dict(vars(clf.set_params(mode="batch", eta0=lambda k: 1.0 if k < 2 else value)))
    with pytest.raises(ParameterError, match=rf"eta0 .*{value!r}.* epoch 2"):
        clf.fit(X, Y)
    assert vars(clf) == before


@pytest.mark.parametrize("tau", [-1.0, NAN, INF, "a", None, [1.0]])
def test_a_bad_margin_is_refused_at_once(tau):
    with pytest.raises(ParameterError, match="tau must be a number >= 0, got"):
        Margin(tau=tau)
    with pytest.raises(ParameterError, match="tau must be a number >= 0, got"):
        Perceptron(rule="margin").set_params(rule__tau=tau)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"keep": "vote", "penalty": "l2"}, "keep='vote'.*penalty"),
        ({"keep": "pocket", "penalty": "l1"}, "keep='pocket'.*penalty"),
        ({"mode": "batch", "penalty": "l2"}, "mode='batch' has no penalty"),
        ({"weighting": "repeat", "rule": "margin"}, r"weighting='repeat'.*Margin\(tau=1.0\)"),
        ({"weighting": "repeat", "penalty": "l2"}, "weighting='repeat'.*[Pp]enalty"),
        ({"weighting": "repeat", "learning_rate": "optimal"}, "weighting='repeat'.*'optimal'"),
        ({"mode": "batch", "learning_rate": "adaptive"}, "learning_rate='adaptive'.*mode='batch'"),
        ({"rule": "pa1", "learning_rate": "invscaling"}, "rule='pa1'.*='invscaling'"),
        ({"rule": "alma", "learning_rate": "optimal"}, "rule='alma'.*='optimal'"),
    ],
    ids=str,
)
def test_combinations_without_a_meaning_are_refused(params, message):
    clf = fitted().set_params(**params)
    refused(NotSupportedError, message, clf.fit, X, Y)


@pytest.mark.parametrize(
    "params",
    [
        {"tie": "positive"},
        {"tie": "half"},
        {"penalty": "l2"},
        {"mode": "batch"},
        {"learning_rate": "optimal"},
    ],
    ids=str,
)
def test_what_the_direct_rule_cannot_do_is_refused_for_many_classes_only(params):
    clf = fitted(multiclass="direct").set_params(**params)
    [(name, value)] = params.items()
    message = f"{name}={value!r}" if name != "penalty" else "penalty"
    refused(NotSupportedError, message, clf.fit, X, THREE)
    clf.fit(X, Y)


def test_the_optimal_rate_needs_an_alpha():
    clf = fitted().set_params(learning_rate="optimal", alpha=0.0)
    refused(ParameterError, "alpha must be > 0 with learning_rate='optimal'", clf.fit, X, Y)


def test_the_pocket_has_no_partial_fit():
    for clf in (fitted(keep="pocket"), Perceptron(keep="pocket"), Perceptron(rule="minover")):
        assert not hasattr(clf, "partial_fit")
        with pytest.raises(AttributeError, match="partial_fit") as caught:
            clf.partial_fit(X, Y)
        assert isinstance(caught.value.__cause__, NotSupportedError)
        assert re.search("keep='pocket' needs the whole|rule='minover' compares all rows",
                         str(caught.value.__cause__))  # fmt: skip
    assert hasattr(Perceptron(keep="mean", rule="x"), "partial_fit")  # which names the parameter


def test_elastic_net_needs_its_share_of_l1():
    clf = fitted().set_params(penalty="elasticnet", l1_ratio=None)
    refused(ParameterError, "l1_ratio must be set", clf.fit, X, Y)
    np.testing.assert_array_equal(
        Perceptron(penalty="l1", l1_ratio=None).fit(X, Y).coef_,
        Perceptron(penalty="l1").fit(X, Y).coef_,
    )


def test_partial_fit_has_no_early_stopping():
    clf = fitted().set_params(early_stopping=True)
    refused(ParameterError, "early_stopping should be False", clf.partial_fit, X, Y)


def test_early_stopping_needs_rows_to_hold_out():
    clf = fitted().set_params(early_stopping=True)
    refused(DataError, "holds out 10% of 4 rows", clf.fit, X, Y)
    rows = np.repeat(X, 5, axis=0), np.repeat(Y, 5)
    weight = np.zeros(20)
    weight[-1] = 1
    refused(
        DataError, "weights for validation set are all zero", clf.fit, *rows, sample_weight=weight
    )


@pytest.mark.parametrize("limit", ["max_iter", "max_updates", "n_iter_no_change"])
def test_a_limit_beyond_64_bits_is_no_limit(limit):
    np.testing.assert_array_equal(fitted(**{limit: 10**25}).coef_, fitted().coef_)


def test_votes_that_do_not_fit_in_memory_are_refused():
    clf = fitted().set_params(keep="vote", max_updates=10**15)
    refused(ParameterError, f"max_updates={10**15} .*memory", clf.fit, X, Y)


# ---------------------------------------------------------------- a score of exactly 0


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_ties_taken_as_right_learn_nothing_from_zero(mode):
    clf = fitted().set_params(tie="correct", mode=mode)
    refused(ParameterError, "tie='correct'.*nothing would ever be learned", clf.fit, X, Y)
    fresh = Perceptron(tie="correct", mode=mode)
    refused(ParameterError, "tie='correct'", fresh.partial_fit, X, Y)
    zeros = np.zeros((3, 2))
    refused(ParameterError, "tie='correct'", clf.fit, X, THREE, coef_init=zeros)
    assert Perceptron(tie="correct", init="random", mode=mode).fit(X, Y).score(X, Y) > 0


def test_ties_taken_as_right_warn_when_training_comes_to_zero():
    with pytest.warns(RosenblattWarning, match="ended at w = 0"):
        clf = Perceptron(tie="correct", init=[-1.0], fit_intercept=False).fit(
            [[1.0], [-1.0]], [1, 0]
        )
    assert not clf.coef_.any()


def test_ties_taken_as_right_learn_nothing_from_equal_weights_either():
    """The direct rule compares classes: equal weights are its zero. An error or a warning."""
    clf = Perceptron(tie="correct", multiclass="direct", init=np.ones((3, 2)))
    with pytest.raises((RosenblattError, RosenblattWarning), match="tie='correct'"):
        clf.fit(X, THREE)


def test_a_stream_under_tie_positive_must_know_the_second_class():
    refused(
        ParameterError,
        "tie='positive'.*Name all classes",
        Perceptron(tie="positive").partial_fit,
        X,
        Y,
    )
    Perceptron(tie="positive").partial_fit(X, Y, classes=[0, 1])


# ------------------------------------------------------------------------------ overflow

OVERFLOWING = [
    {}, {"keep": "average"}, {"keep": "vote"}, {"keep": "pocket"}, {"mode": "batch"},
    {"mode": "batch-mean"}, {"penalty": "elasticnet"}, {"rule": "margin"}, {"shuffle": "sample"},
    {"weighting": "repeat"}, {"multiclass": "direct"}, {"early_stopping": True},
]  # fmt: skip
NOISE = np.random.RandomState(0).randn(40, 3)
LABELS = {"two": np.arange(40) % 2, "three": np.arange(40) % 3}


@pytest.mark.parametrize("params", OVERFLOWING, ids=str)
@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_scores_beyond_the_range_of_floats_are_an_error(params, y):
    clf = fitted(keep=params.get("keep", "last")).set_params(**params)
    message = "overflow occurred at epoch #[12].*range of float64"
    refused(OverflowedError, message, clf.fit, 1e300 * NOISE, y)


@pytest.mark.parametrize("params", OVERFLOWING[:10], ids=str)
def test_weights_beyond_the_range_of_floats_are_an_error_at_the_last_row_too(params):
    clf = Perceptron(eta0=1e10, max_iter=1, tol=None, **params)
    rows = np.array([[1e300, 0.0], [0.0, 1e300]])
    refused(OverflowedError, "overflow", clf.fit, rows, [0, 1])
    refused(OverflowedError, "overflow", clf.fit, sp.csr_array(rows), [0, 1])


def test_float32_overflows_where_float32_ends():
    clf = fitted().set_params(eta0=1e38, tol=None, max_iter=10)
    refused(OverflowedError, "range of float32", clf.fit, np.float32(9 * NOISE), LABELS["two"])
    assert clf.fit(9 * NOISE, LABELS["two"]).coef_.any()


@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_an_average_whose_sum_overflows_is_an_error_or_right(penalty):
    """The weights stay within range here; their sum over all visits does not."""

    def scaled(eta0):
        clf = Perceptron(keep="average", tol=None, max_iter=200, eta0=eta0, penalty=penalty)
        clf.set_params(alpha=1e-4 / eta0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clf.fit(NOISE / 64, LABELS["two"]).coef_ / eta0

    right = scaled(1.0)
    try:
        found = scaled(2.0**1013)
    except OverflowedError as e:
        assert "overflow" in str(e)  # noqa: PT017  # or it is right
    else:
        np.testing.assert_allclose(found, right, rtol=1e-6)


def test_a_stream_that_overflows_keeps_what_it_had():
    clf = Perceptron(keep="average").partial_fit(X, Y)
    scores = clf.decision_function(X)
    for _ in range(2):
        refused(OverflowedError, "overflow", clf.partial_fit, 1e300 * X, 1 - Y)
    np.testing.assert_array_equal(clf.decision_function(X), scores)
    other = Perceptron(keep="average").partial_fit(X, Y).partial_fit(X, Y)
    np.testing.assert_array_equal(clf.partial_fit(X, Y).coef_, other.coef_)


# ---------------------------------------------------------------------------- prediction


@pytest.mark.parametrize("keep", ["last", "vote"])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, pl.DataFrame])
def test_the_wrong_number_of_features_is_refused(keep, kind):
    clf = fitted(keep=keep)
    message = "has 3 features, but Perceptron is expecting 2 features"
    wide = kind(np.ones((4, 3)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names")
        refused(DataError, message, clf.predict, wide)
        refused(DataError, message, clf.decision_function, wide)
        refused(DataError, message, clf.partial_fit, wide, Y)


def test_columns_by_other_names_are_refused():
    clf = Perceptron().fit(column([0, 1, 2, 3]), Y)
    for wrong in (column([0, 1, 2, 3])[["b", "a"]], pd.DataFrame(X, columns=["a", "c"])):
        refused(DataError, "feature names should match", clf.predict, wrong)
        refused(DataError, "feature names should match", clf.decision_function, wrong)
        refused(DataError, "feature names should match", clf.partial_fit, wrong, Y)


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_a_failed_fit_leaves_a_model_that_goes_on(keep):
    """After any failure, predictions and further training are those of an untouched twin."""
    clf, twin = (Perceptron(keep=keep).fit(X, THREE) for _ in range(2))
    for bad in (X * np.nan, X[:2], np.ones((4, 5)) * 1e308):
        with pytest.raises(RosenblattError):
            clf.fit(bad, THREE)
    with pytest.raises(RosenblattError):
        clf.partial_fit(X, ["a", "b", "c", "c"])
    for model in (clf, twin):
        model.partial_fit(X[::-1], THREE[::-1])
    np.testing.assert_array_equal(clf.decision_function(X), twin.decision_function(X))
    assert (clf.t_, clf.n_updates_, clf.n_iter_) == (twin.t_, twin.n_updates_, twin.n_iter_)


def test_big_integers_beside_floats_in_a_list_are_refused():
    refused(DataError, r"2\*\*53", fitted().fit, [[2**53 + 1, 0.5], [1, 2.0]], [0, 1])


def test_masked_entries_are_refused():
    masked = np.ma.masked_array(X, mask=np.eye(len(X), X.shape[1], dtype=bool))
    refused(DataError, "masked", fitted().fit, masked, Y)


def test_continuous_labels_as_objects_are_refused_too():
    labels = np.array([0.5, 1.0, 2.5, 1.0] * len(X), dtype=object)[: len(X)]
    refused(LabelError, "continuous", fitted().fit, X, labels)


def test_a_missing_value_is_named_by_row_and_column():
    import pandas as pd
    import scipy.sparse as sp

    holes = X.astype(float)
    holes[2, 1] = np.nan
    refused(DataError, "row 2, column 1", fitted().fit, sp.csr_matrix(holes), Y)
    frame = pd.DataFrame(holes, columns=["size", "age"])
    refused(DataError, "row 2, column 'age'", Perceptron().fit, frame, Y)


def test_the_training_loop_checks_what_it_is_given():
    from rosenblatt import Problem
    from rosenblatt.learn.in_memory import train
    from rosenblatt.learn.settings import TrainingSettings
    from rosenblatt.learn.state import State

    two, three = Problem.of(X, Y), Problem.of(X, THREE)

    def go(problem, w, b=(0,), dtype=float):
        return train(problem, TrainingSettings(direct=True), state=State.at(w, b, dtype))

    for arguments in (
        (two, [0]),
        (two, [0, 0], [0, 0]),
        (three, [0, 0]),
        (three, np.zeros((2, 2)), [0, 0]),
        (two, [0, 0], [0], np.float32),
    ):
        with pytest.raises(ParameterError):
            go(*arguments)
    for wrong in ({"tie": "no"}, {"order": "ordr"}, {"mode": "x"}, {"keep": "lst"}):
        with pytest.raises(ParameterError):
            TrainingSettings(**wrong)


@pytest.mark.parametrize("eta0", [lambda: 1, lambda k: 1 / 0])
def test_a_step_size_function_that_raises_is_named(eta0):
    with pytest.raises(ParameterError, match="eta0, called with the epoch 1"):
        Perceptron(mode="batch", eta0=eta0).fit(X, Y)


def test_votes_have_no_coef_and_say_so():
    clf = Perceptron(keep="vote").fit(X, Y)
    with pytest.raises(AttributeError, match="votes_"):
        clf.coef_  # noqa: B018 (the access is the test)


def test_the_reference_wants_its_own_labels():
    from rosenblatt.learn import reference

    for rows, labels, tie in (
        ([[1]], [0], "mistake"),
        ([[1]], [1, -1], "mistake"),
        ([[1]], [1], "x"),
    ):
        with pytest.raises(RosenblattError):
            reference.train(rows, labels, tie=tie)


def test_integer_classes_are_not_rounded_to_floats():
    clf = Perceptron().partial_fit([[1.0], [2.0], [3.0]], [2**53 + 1, 2**53, 5])
    with pytest.raises(LabelError, match=r"mixes floats with the integer 9007199254740993"):
        clf.partial_fit([[1.0]], [5.0])
    assert clf.classes_.tolist() == [5, 2**53, 2**53 + 1]


def test_the_trace_of_a_class_that_is_not_there():
    clf = Perceptron().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(LabelError, match=r"no class 9. The classes are \[0, 1, 2\]"):
        clf.trace_.of(9)


def test_no_rows_for_a_model():
    model = LinearModel(np.array([[1.0, 0.0]]), np.zeros(1), np.array([0, 1]))
    with pytest.raises(DataError, match="at least one row"):
        model.predict(np.empty((0, 2)))


def test_a_sparse_frame_whose_missing_entries_are_not_zero():
    X = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0, 0.0])})
    with pytest.raises(DataError, match="fill value"):
        Perceptron().fit(X, [0, 1, 0])
