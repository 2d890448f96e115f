"""Linear: a model that is nothing but hyperplanes, names and how it came to be.

Two classes: one hyperplane, and a score w.x + b >= 0 is the second class. More: one hyperplane a
class, and the highest score wins, the first of equal ones.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Csr, core_rows
from rosenblatt.errors import DataError, NotSupportedError, OverflowedError

if TYPE_CHECKING:
    from rosenblatt.learn.contributions import Explanation
    from rosenblatt.learn.heaviest import ModelExplanation

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Hyperplanes that label rows.

    Attributes
    ----------
    coef : float32 or float64 array, (1, d) for two classes, (classes, d) for more
    intercept : array of the same type, one number per row of `coef`
    classes : the labels, sorted: numbers or text
    feature_names : one name per column, or empty
    options : how it was trained, as JSON can hold it
    reader : how the file it was trained on was read (format, zero_based, bits, ...)
    made_by : which program made it
    training : what training did (rows, passes, mistakes, updates, stop_reason, ...)
    columns : how raw columns became these features, or None. The methods here take the features
        that come out of it, not raw columns.

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

    def __post_init__(self) -> None:
        why = self._wrong()
        if why:
            raise DataError(f"this is not a linear model: {why}.")

    @classmethod
    def of(cls, estimator: Any) -> LinearModel:
        """The hyperplanes of a fitted classifier with `coef_`, `intercept_` and `classes_`.

        Weights that are a sparse matrix become a dense array. A model of ours is given back as it
        is. ``keep="vote"`` has no hyperplane to give.

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
                f"a linear model is made of coef_, intercept_ and classes_, and "
                f"{type(estimator).__name__} lacks one: {e}. Fit it first, or use a model of "
                "hyperplanes: one of kernels has none."
            ) from e
        if hasattr(estimator, "decision_function_shape") and len(classes) > 2:  # SVC
            raise NotSupportedError(
                f"{type(estimator).__name__} has a hyperplane for every pair of {len(classes)} "
                "classes, and a linear model one for every class. Use LinearSVC."
            )
        coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
        coef = coef if coef.dtype == np.float32 else coef.astype(np.float64, copy=False)
        intercept = np.broadcast_to(np.asarray(intercept, dtype=coef.dtype), len(coef)).copy()
        names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
        return cls(
            coef, intercept, np.asarray(classes), names, _options(estimator),
            training=_training(estimator),
        )  # fmt: skip

    @property
    def n_features(self) -> int:
        return int(self.coef.shape[1])

    def name(self, k: int) -> str:
        """The name of feature k; x0, x1, ... where they have none."""
        return self.feature_names[k] if self.feature_names else f"x{k}"

    def scores(self, X: Any) -> Array:
        """w.x + b of every row: shape (rows,) for two classes, else (rows, classes).

        Sparse rows may be narrower or wider: a feature that was never met has weight 0.
        """
        X, d = self._matrix(X), self.n_features
        if hasattr(X, "indptr"):
            X = _with_width(X, d)
        if X.shape[1] != d:
            raise DataError(
                f"X has {X.shape[1]} features, but the model is expecting {d} features as input. "
                "Give the columns it was trained on."
            )
        W, b = self.coef.astype(np.float64, order="C"), self.intercept.astype(np.float64)
        scores = _core.scores(core_rows(X), W, b)
        check_scores(scores, X)
        return scores.ravel() if len(self.coef) == 1 else scores

    def predict(self, X: Any) -> Array:
        """Labels. Two classes: a score >= 0 is the second class, always."""
        return self.decided(self.scores(X))

    def decided(self, scores: Array) -> Array:
        """The labels that :meth:`scores` mean."""
        number = _core.decide(scores.reshape(len(scores), -1))
        labels: Array = self.classes[number]
        return labels

    def explain(self, x: Any) -> Explanation:
        """Why one row gets its label: what every feature adds to the score.

        Parameters
        ----------
        x : one row: an array, a sparse row, or a dict of features by name (0 if left out)

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
        from rosenblatt.learn.contributions import explain_row

        return explain_row(self, x)

    def explain_model(self, most: int = 10) -> ModelExplanation:
        """The largest weights of every hyperplane, by name.

        Parameters
        ----------
        most : how many weights of each
        """
        from rosenblatt.learn.heaviest import explain_weights

        return explain_weights(self, most)

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """A fitted ``sklearn.linear_model.Perceptron`` with the same weights and predictions.

        One exception: where two classes score exactly 0, scikit-learn says the first and this
        model the second.

        Parameters
        ----------
        encoded : it is known that raw columns have to be encoded before (see `columns`)
        """
        from rosenblatt.learn.sklearn_twin import sklearn_twin

        return sklearn_twin(self, encoded=encoded)

    def check_leaves(self, encoded: bool) -> None:
        """What is handed to other programs does without `columns`: only if that is known."""
        if self.columns is not None and not encoded:
            raise NotSupportedError(
                "this model was trained on raw columns that were scaled and encoded first, and "
                "that step is not exported: raw columns would get wrong labels. Give encoded=True "
                "if the rows will come encoded."
            )

    def _matrix(self, X: Any) -> Any:
        """Arrays and sparse matrices as they are; frames, if their columns are ours; lists."""
        names = tuple(getattr(X, "columns", ()))
        named = names and self.feature_names and all(isinstance(c, str) for c in names)
        if named and names != self.feature_names:
            raise DataError(
                f"the columns {list(names[:5])} are not those of the model, "
                f"{list(self.feature_names[:5])}. Give the same ones in the same order."
            )
        if isinstance(X, Csr):
            return X
        plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64)
        if plain and X.flags.c_contiguous and len(X):
            return X
        from rosenblatt.data.problem import as_matrix  # scipy.sparse: only if needed

        return as_matrix(X)

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
        "passes": int(trace.n_epochs),
        "mistakes": int(estimator.n_mistakes_),
        "updates": int(estimator.n_updates_),
        "stop_reasons": [str(t.stop_reason) for t in traces],
    }


def check_scores(scores: Array, X: Any) -> None:
    """Refuse scores that are not finite: because of the rows, or of their size."""
    if _core.all_finite(scores):
        return
    if not isinstance(X, Csr):
        from rosenblatt.data.problem import as_matrix

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
