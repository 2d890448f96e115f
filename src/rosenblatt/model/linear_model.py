"""Linear models: hyperplanes, the names of classes and features, and how they were made.

Two classes have one hyperplane; a score w.x + b >= 0 is the second class. With more classes there
is one hyperplane per class, and the highest score wins, the first of equal ones.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Csr, core_rows
from rosenblatt.errors import DataError, NotSupportedError, OverflowedError

if TYPE_CHECKING:
    from rosenblatt.features.table_features import TableFeatures
    from rosenblatt.model.explain import Explanation, ModelExplanation

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Hyperplanes that label rows.

    Attributes
    ----------
    coef : float32 or float64 array of shape (1, d) or (n_classes, d)
        The weights: one hyperplane for two classes, else one per class.
    intercept : array of shape (len(coef),)
        The offsets, of the same type.
    classes : array of shape (n_classes,)
        The labels: numbers or text.
    feature_names : tuple of str
        One name per column, or empty. Names are unique within a namespace.
    options : mapping
        The parameters of training, as JSON can hold them.
    reader : mapping
        How the training file was read: format, zero_based, ...
    made_by : str
        The program that made it.
    training : mapping
        What training did: rows, epochs, mistakes, updates, ...
    columns : mapping or None
        The kinds of the columns of a table from which the features were made. The methods take such
        tables (frames, or mappings from columns to values), and arrays of features.
    namespaces : tuple of str
        The namespace of each feature, or empty.
    deviations : float64 array of shape (d,) or None
        The standard deviation of each feature in the training rows. Weights are compared by weight
        times deviation where it is known.
    large_indices : int64 array or None
        LIBSVM: the indices of the last columns, where they are not the columns themselves.

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
    training: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] | None = None
    namespaces: tuple[str, ...] = ()
    deviations: Array | None = None
    large_indices: Array | None = None

    def __post_init__(self) -> None:
        why = self._wrong()
        if why:
            raise DataError(f"This is not a linear model: {why}.")

    @classmethod
    def of(cls, estimator: Any) -> LinearModel:
        """Return the hyperplanes of a fitted linear classifier.

        Parameters
        ----------
        estimator : object
            A fitted classifier with `coef_`, `intercept_` and `classes_`, of this package or of
            scikit-learn. Sparse weights become a dense array. A LinearModel is returned as it is.

        Returns
        -------
        LinearModel

        Raises
        ------
        NotSupportedError
            If it has no hyperplane per class: ``keep="vote"``, or a kernel.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> clf = Perceptron(shuffle=False).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
        >>> LinearModel.of(clf).training["mistakes"]
        18
        """
        if isinstance(estimator, LinearModel):
            return estimator
        if hasattr(estimator, "votes_"):
            raise NotSupportedError(
                f"keep='vote' answers by a vote of {sum(map(len, estimator.votes_)):,} "
                "hyperplanes, and no single hyperplane gives the same answers: it has no weights "
                "to save, export or explain. Train with keep='average', which comes close."
            )
        try:
            coef, intercept, classes = estimator.coef_, estimator.intercept_, estimator.classes_
        except AttributeError as e:
            raise NotSupportedError(
                "A linear model consists of coef_, intercept_ and classes_; this "
                f"{type(estimator).__name__} has not all of them: {e}. Fit it first. A model with "
                "a kernel has no hyperplanes."
            ) from e
        if hasattr(estimator, "decision_function_shape") and len(classes) > 2:  # SVC
            raise NotSupportedError(
                f"{type(estimator).__name__} has a hyperplane for every pair of {len(classes)} "
                "classes, and a linear model one for every class. Use LinearSVC."
            )
        binarizer = getattr(estimator, "_label_binarizer", None)
        if "multilabel" in getattr(binarizer, "y_type_", ""):  # RidgeClassifier
            raise NotSupportedError(
                f"{type(estimator).__name__} was trained on several labels per row, and a linear "
                "model gives one. Train one model per label."
            )
        coef = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)
        coef = coef if coef.dtype == np.float32 else coef.astype(np.float64, copy=False)
        intercept = np.broadcast_to(np.asarray(intercept, dtype=coef.dtype), len(coef)).copy()
        names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
        return cls(
            coef, intercept, np.asarray(classes), names, _options(estimator),
            training=_training(estimator),
        )  # fmt: skip

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return int(self.coef.shape[1])

    def name(self, k: int) -> str:
        """Return the name of feature k for display.

        Parameters
        ----------
        k : int
            Column.

        Returns
        -------
        str
            ``city=Rome`` for a name in a namespace (``city^Rome`` if the rows were VW text), and
            ``x0``, ``x1``, ... for features without names.
        """
        if not self.feature_names:
            return f"x{self._number(k)}"
        space = self.namespaces[k] if self.namespaces else ""
        joint = "^" if self.reader.get("format") == "vw" else "="
        return f"{space}{joint}{self.feature_names[k]}" if space else self.feature_names[k]

    @cached_property
    def table(self) -> TableFeatures | None:
        """What makes features of the columns of a table; None if the columns are the features."""
        if self.columns is None:
            return None
        from rosenblatt.features.table_features import TableFeatures

        spaces = self.namespaces or ("",) * len(self.feature_names)
        pairs = zip(spaces, self.feature_names, strict=True)
        table = TableFeatures.from_dict(self.columns, pairs)
        if table.n_features != self.n_features:
            raise DataError(
                f"the columns of the model make {table.n_features} features, and it has weights "
                f"for {self.n_features}. Train it again."
            )
        return table

    def decision_function(self, X: Any) -> Array:
        """Return the scores w.x + b.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or list of mappings
            Sparse rows may have fewer or more columns. A mapping has numbers and texts by name, as
            in `learn_one`. Features that are not in the model have weight 0. If the model was
            trained on a table, also a dict of columns; what a mapping leaves out is missing.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
            One score per row for two classes, else one per class.

        Raises
        ------
        DataError
            If the columns are not those of the model, or a number is not finite.
        """
        X, d = self._matrix(X), self.n_features
        if X.shape[1] != d:
            raise DataError(
                f"X has {X.shape[1]} features, but the model is expecting {d} features as input. "
                "Give the columns that it was trained on."
            )
        W, b = self.coef.astype(np.float64, order="C"), self.intercept.astype(np.float64)
        scores = _core.scores(core_rows(X), W, b)
        check_scores(scores, X)
        return scores.ravel() if len(self.coef) == 1 else scores

    def predict(self, X: Any) -> Array:
        """Return the labels. With two classes, a score >= 0 is the second class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or list of mappings
            See :meth:`decision_function`.

        Returns
        -------
        array of shape (n_rows,)
            Labels.
        """
        scores = self.decision_function(X)
        labels: Array = self.classes[_core.decide(scores.reshape(len(scores), -1))]
        return labels

    def explain(self, x: Any) -> Explanation:
        """Explain the label of one row: what each feature adds to the score.

        Parameters
        ----------
        x : array, sparse row, row of a frame, or mapping
            One row. A mapping has numbers and texts by name; those left out are 0, and texts that
            the model does not know have no weight.

        Returns
        -------
        Explanation
            A table when printed.

        Examples
        --------
        The advertisement of the lecture sutd: does a user who read reviews and clicked before
        click again?

        >>> names = ("repair", "reviews", "purchase", "clicked")
        >>> ad = LinearModel(
        ...     np.array([[2.0, 8, -15, 5]]), np.array([-9.0]), np.array(["no", "yes"]), names
        ... )
        >>> print(ad.explain({"reviews": 1, "clicked": 1}))
        yes, not no: the score 4 is >= 0
         feature  value  weight  contribution
         reviews      1       8             8
         clicked      1       5             5
          offset                           -9
           score                            4
        """
        from rosenblatt.model.explain import explain_row

        return explain_row(self, x)

    def explain_model(self, most: int = 10) -> ModelExplanation:
        """Return the largest weights of each hyperplane, by name.

        Parameters
        ----------
        most : int
            How many weights of each.

        Returns
        -------
        ModelExplanation
            A table per hyperplane when printed.
        """
        from rosenblatt.model.explain import explain_weights

        return explain_weights(self, most)

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """Return a fitted ``sklearn.linear_model.Perceptron`` with the same weights.

        Its predictions are the same, except where two classes score exactly 0: scikit-learn returns
        the first, this model the second.

        Parameters
        ----------
        encoded : bool
            True confirms that the rows will be encoded, if the model was trained on raw columns.

        Returns
        -------
        sklearn.linear_model.Perceptron
            The fitted estimator.
        """
        from rosenblatt.model.export import to_sklearn

        return to_sklearn(self, encoded=encoded)

    def _number(self, k: int) -> int:
        """What feature k is called where features are whole numbers."""
        large = self.large_indices
        if large is None or k < self.n_features - len(large):
            return k
        return int(large[k - self.n_features])

    def columns_by_name(self) -> dict[tuple[str, Any], int]:
        """Return the column of each (namespace, name).

        Returns
        -------
        dict
            Columns; names for display are in the namespace "", and so are the numbers of features
            without names.
        """
        if not self.feature_names:
            numbers = map(self._number, range(self.n_features))
            return {("", name): k for k, n in enumerate(numbers) for name in (n, f"x{n}")}
        spaces = self.namespaces or ("",) * len(self.feature_names)
        known = {pair: k for k, pair in enumerate(zip(spaces, self.feature_names, strict=True))}
        for k in range(self.n_features):
            known.setdefault(("", self.name(k)), k)
        return known

    def _rows_by_name(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """CSR rows of mappings from names to values."""
        known, indptr = self.columns_by_name(), [0]
        indices: list[int] = []
        values: list[float] = []
        for row in rows:
            found = [entry for name, v in row.items() if (entry := entry_of(known, name, v))]
            indices += [column for column, _ in sorted(found)]
            values += [value for _, value in sorted(found)]
            indptr.append(len(indices))
        data = np.array(values, np.float64)
        return Csr(data, np.array(indices, np.int32), np.array(indptr, np.int32), self.n_features)

    def check_names(self, X: Any) -> None:
        """Check that a frame has the columns of the model, in their order.

        Parameters
        ----------
        X : Any
            Rows; only those with names are checked, if the model has names.

        Raises
        ------
        DataError
            If the columns have other names, or another order.
        """
        names = tuple(getattr(X, "columns", ()))
        named = names and self.feature_names and all(isinstance(c, str) for c in names)
        if named and names != self.feature_names:
            raise DataError(
                f"the columns {list(names[:5])} are not those of the model, "
                f"{list(self.feature_names[:5])}. Give the same ones in the same order."
            )

    def _matrix(self, X: Any) -> Any:
        """Rows in the columns of the model."""
        listed = isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X)
        columns = isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "schema")
        if (listed or columns) and self.table is not None:
            from rosenblatt.features.frames import batch_of_frame

            kinds = self.table.kinds
            if listed:  # what a row leaves out is missing
                X = {name: [row.get(name) for row in X] for name in kinds}
            return self.table.encode(
                batch_of_frame(X, kinds, self.reader.get("missing") or (), kinds)
            )
        if listed:
            return self._rows_by_name(X)
        if isinstance(X, Mapping):
            if missing := [name for name in self.feature_names if name not in X]:
                raise DataError(f"there is no column {missing[0]!r}. Give those of the model.")
            X = np.column_stack([X[name] for name in self.feature_names])
        self.check_names(X)
        plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64)
        if not isinstance(X, Csr) and not (plain and X.flags.c_contiguous and len(X)):
            from rosenblatt.data.matrix import as_matrix  # scipy.sparse: only if needed

            X = as_matrix(X)
        return _with_width(X, self.n_features) if hasattr(X, "indptr") else X

    def _wrong(self) -> str | None:
        """What keeps these arrays from being a model."""
        coef, intercept, classes = self.coef, self.intercept, self.classes
        for name in ("coef", "intercept", "classes"):
            if not isinstance(given := getattr(self, name), np.ndarray):
                return f"{name} is a {type(given).__name__}, expected an array of NumPy"
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
        return self._wrong_names(coef.shape[1])

    def _wrong_names(self, d: int) -> str | None:
        names, spaces, deviations = self.feature_names, self.namespaces, self.deviations
        if names and len(names) != d:
            return f"{len(names)} names for {d} features"
        if spaces and len(spaces) != len(names):
            return f"{len(spaces)} namespaces for {len(names)} names"
        if len(set(zip(spaces, names, strict=True) if spaces else names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            return f"the feature name {twice!r} occurs twice"
        if deviations is not None and not (
            deviations.shape == (d,) and deviations.dtype == np.float64 and (deviations >= 0).all()
        ):
            return f"deviations are {deviations.dtype} of shape {deviations.shape}"
        large = self.large_indices
        if large is not None and not (
            large.dtype == np.int64 and large.ndim == 1 and 0 < len(large) <= d
            and len(np.unique(large)) == len(large) and large.min() >= _core.PLAIN_COLUMNS
        ):  # fmt: skip
            return f"large_indices are {large.dtype} of shape {large.shape}, or not distinct"
        return None


def entry_of(
    known: Mapping[tuple[str, Any], int], name: Any, value: Any
) -> tuple[int, float] | None:
    """Column and value of one feature of a row by name; None if the model does not know it."""
    if isinstance(value, str):
        column = known.get((name, value), known.get(("", f"{name}={value}")))
        return None if column is None else (column, 1.0)
    column = known.get(("", name))
    if column is None:
        return None
    try:
        return column, float(value)
    except (TypeError, ValueError) as e:
        raise DataError(f"{name!r} is {value!r}, expected a number or text.") from e


def _with_width(X: Any, d: int) -> Csr:
    """Sparse rows with d columns: entries of columns beyond have no weight."""
    data, indices, indptr = X.data, X.indices, X.indptr
    if X.shape[1] > d and (there := indices < d).sum() < len(indices):
        before = np.concatenate([[0], np.cumsum(there)])
        data, indices, indptr = data[there], indices[there], before[indptr].astype(indptr.dtype)
    return Csr(data, indices, indptr, d)


def _options(estimator: Any) -> dict[str, Any]:
    """The parameters that JSON can hold; a rule as it is written."""
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    plain = {k: v for k, v in params.items() if isinstance(v, (bool, int, float, str, type(None)))}
    rule = params.get("rule")
    return plain if rule is None or "rule" in plain else {**plain, "rule": repr(rule)}


def _training(estimator: Any) -> dict[str, Any]:
    """What a run of ours did. No times: the same run gives the same file."""
    trace = getattr(estimator, "trace_", None)
    if trace is None:
        return {}
    traces = getattr(trace, "traces", (trace,))
    return {
        "rows": int(traces[0].n_rows),
        "epochs": int(trace.n_epochs),
        "mistakes": int(estimator.n_mistakes_),
        "updates": int(estimator.n_updates_),
        "stop_reasons": [str(t.stop_reason) for t in traces],
    }


def check_scores(scores: Array, X: Any) -> None:
    """Refuse scores that are not finite: because of the rows, or of their size."""
    if _core.all_finite(scores):
        return
    if not isinstance(X, Csr):
        from rosenblatt.data.matrix import as_matrix

        as_matrix(X)
    elif not np.isfinite(X.data).all():
        raise DataError("Input X contains NaN or infinity. Give finite numbers.")
    raise OverflowedError(
        "a score is beyond the range of floating-point numbers. Scale the rows as those that the "
        "model was trained on."
    )


def _this_version() -> str:
    """By name: modules must not import the package, which imports them."""
    return f"rosenblatt {sys.modules['rosenblatt'].__version__}"
