"""No run does more than its bounds allow, and a run without a bound is told why."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from rosenblatt import Margin, Perceptron
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.prove.bounds import multinomial_rows
from rosenblatt.prove.bounds.result import NAMES, OneVsRestBounds
from tests.strategies import TIES, integer_rows, separable_rows


def fitted(X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short runs end before they have settled
        return Perceptron(**{"tol": None, "max_iter": 12, **params}).fit(X, y)


@st.composite
def labelled_rows(draw):
    if draw(st.booleans()):
        return draw(integer_rows(max_rows=10, max_features=3))
    X, y, *_ = draw(separable_rows())
    assume(len(set(y)) == 2)
    return X, y


@given(
    rows=labelled_rows(),
    tie=st.sampled_from(TIES),
    mode=st.sampled_from(["online", "batch", "batch-mean"]),
    rule=st.sampled_from(["perceptron", Margin(0.0), Margin(1.0), Margin(20.0)]),
    eta=st.sampled_from([0.25, 1.0, 3.0]),
    start=st.lists(st.integers(-9, 9), min_size=4, max_size=4),
    zero=st.booleans(),
    intercept=st.booleans(),
    shuffle=st.sampled_from([False, True, "sample"]),
)
def test_no_run_exceeds_its_bounds(rows, tie, mode, rule, eta, start, zero, intercept, shuffle):
    X, y = rows
    start = start[: len(X[0]) + intercept]
    assume(any(start))
    clf = fitted(
        X, y, tie=tie, mode=mode, rule=rule, eta0=eta, fit_intercept=intercept, shuffle=shuffle,
        init="zero" if zero and tie != "correct" else start, max_iter=40,
    )  # fmt: skip
    told = clf.bounds(X, y)
    assert told.made == (clf.n_mistakes_ if mode == "batch" else clf.n_updates_)
    assert (told.margin is None) != (told.certificate is None)
    for bound in told.bounds:
        assert (bound.most is None) == bool(bound.why)
        assert bound.most is None or told.made <= bound.most
        if mode == "online":
            assert bound.most is None or clf.n_mistakes_ <= bound.most
    assert (told["Novikoff"].most is None) == (told.margin is None)
    drawn = shuffle == "sample" and mode == "online"
    assert (told["hinge"].most is None) == (mode == "batch-mean" or drawn)


@given(rows=labelled_rows(), passes=st.integers(1, 9), intercept=st.booleans())
def test_the_numbers_are_those_of_the_formulas(rows, passes, intercept):
    """From zero, against floating-point arithmetic: the least Novikoff, and a good soft bound."""
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    clf = fitted(X, y, fit_intercept=intercept, max_iter=passes, shuffle=False)
    told = clf.bounds(X, y)
    Z = y[:, None] * (np.c_[X, np.ones(len(X))] if intercept else X)
    R = np.linalg.norm(Z, axis=1).max()
    assert told.radius == pytest.approx(R)
    if told.margin is not None:
        u, _ = nnls(np.vstack([Z.T, np.ones(len(Z))]), np.append(np.zeros(Z.shape[1]), 1.0))
        expected = (R * u.sum() / np.linalg.norm(Z.T @ u)) ** 2
        assert abs(told["Novikoff"].most - expected) <= 1 + 1e-5 * expected
        assert told["Freund and Schapire"].most <= told["Novikoff"].most + 1
    v = np.append(clf.coef_, clf.intercept_)[: Z.shape[1]]
    for t in np.logspace(-3, 3, 50):
        d = np.maximum(0, 1 - Z @ (t * v))
        a, P = R * np.linalg.norm(t * v), clf.n_iter_
        soft = (a + np.sqrt(P * d @ d)) ** 2
        assert told["Freund and Schapire"].most <= 1.03 * soft + 1
        hinge = P * d.sum() + a * np.sqrt(P * d.sum()) + a * a
        assert told["hinge"].most <= 1.1 * hinge + 1


@given(rows=integer_rows(max_rows=6, max_features=2), classes=st.just(3), zero=st.booleans())
def test_kesler(rows, classes, zero):
    X, y = rows[0], [k % classes for k in range(len(rows[0]))]
    assume(len(set(y)) == classes)
    d = len(X[0])
    start = "zero" if zero else np.arange(classes * (d + 1.0)).reshape(classes, d + 1)
    clf = fitted(X, y, multiclass="direct", init=start, shuffle=False)
    told = clf.bounds(X, y)
    assert told.best is not None
    assert all(b.most is None or clf.n_updates_ <= b.most for b in told.bounds)


def test_kesler_doubles_the_square_of_the_radius(monkeypatch):
    X, y = [[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]], ["a", "b", "c"]
    clf = fitted(X, y, multiclass="direct", fit_intercept=False, shuffle=False)
    told = clf.bounds(X, y)
    assert told.radius == 4.0  # 2 R^2 = 16
    assert told["Novikoff"].most >= clf.n_mistakes_
    assert "Kesler" in str(told)
    monkeypatch.setattr(multinomial_rows, "MOST_NUMBERS", 3)
    assert "more than the 3 allowed" in clf.bounds(X, y).notes[0]


# ----------------------------------------------------------------------- what has none

IRIS, SPECIES = load_iris(return_X_y=True)
SETOSA = SPECIES == 0


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"penalty": "l2"}, "a penalty moves the weights"),
        ({"class_weight": "balanced"}, "updates of different sizes"),
        ({"mode": "batch", "eta0": [1.0, 0.5]}, "learning rate changes"),
        ({"learning_rate": "invscaling"}, "learning rate changes"),
    ],
)
def test_no_theorem_at_all(params, why):
    told = fitted(IRIS, SETOSA, **params).bounds(IRIS, SETOSA)
    assert told.best is None
    assert all(b.most is None and why in b.why for b in told.bounds)
    assert len(told.notes) == 1
    assert why in str(told)


def test_weights():
    weight = np.where(SETOSA, 3.0, 1.0)
    clf = Perceptron(weighting="repeat").fit(IRIS, SETOSA, sample_weight=weight)
    told = clf.bounds(IRIS, SETOSA)
    assert clf.n_updates_ <= told["Novikoff"].most
    assert "how often a row is visited" in told["hinge"].why
    clf.fit(IRIS, SETOSA, sample_weight=weight / 2)
    assert "different sizes" in clf.bounds(IRIS, SETOSA)["Novikoff"].why
    clf.set_params(weighting="scale").fit(IRIS, SETOSA, sample_weight=np.ones(150))
    assert clf.bounds(IRIS, SETOSA).best is not None


def test_an_offset_that_is_never_trained():
    clf = fitted(IRIS, SETOSA, fit_intercept=False)
    clf.fit(IRIS, SETOSA, intercept_init=[1.0])
    assert "never trained" in clf.bounds(IRIS, SETOSA)["Novikoff"].why


def test_partial_fit():
    clf = Perceptron().partial_fit(IRIS, SETOSA, classes=[False, True])
    assert clf.bounds(IRIS, SETOSA).best >= clf.n_updates_
    clf.partial_fit(IRIS[:50], SETOSA[:50])
    assert "2 calls" in clf.bounds(IRIS, SETOSA)["Novikoff"].why
    clf.fit(IRIS, SETOSA)
    assert clf.bounds(IRIS, SETOSA).best is not None


# ------------------------------------------------------------- what the estimator keeps


def test_a_start_elsewhere_is_remembered():
    zero = Perceptron(shuffle=False).fit(IRIS, SETOSA)
    far = Perceptron(shuffle=False, init=[100.0, 100, 100, 100, 0]).fit(IRIS, SETOSA)
    near, told = zero.bounds(IRIS, SETOSA), far.bounds(IRIS, SETOSA)
    assert "w0" in told.run
    assert "w0" not in near.run
    assert told["Novikoff"].most > near["Novikoff"].most
    warm = Perceptron(shuffle=False, warm_start=True).fit(IRIS, SETOSA).fit(IRIS, SETOSA)
    again = warm.bounds(IRIS, SETOSA)
    assert (warm.n_updates_, again.made) == (0, 0)
    assert "w0" in again.run


def test_it_speaks_of_the_run_not_of_later_parameters():
    clf = Perceptron(shuffle=False, rule=Margin(2.0)).fit(IRIS, SETOSA)
    before = str(clf.bounds(IRIS, SETOSA))
    clf.set_params(rule="perceptron", penalty="l2", eta0=7.0)
    assert str(clf.bounds(IRIS, SETOSA)) == before
    assert str(pickle.loads(pickle.dumps(clf)).bounds(IRIS, SETOSA)) == before


@pytest.mark.parametrize("keep", ["last", "average", "vote", "pocket"])
def test_what_is_kept_does_not_matter(keep):
    clf = fitted(IRIS, SPECIES == 1, keep=keep, shuffle=False)
    assert clf.bounds(IRIS, SPECIES == 1).best >= clf.n_updates_


def test_early_stopping_and_other_kinds_of_rows():
    clf = fitted(IRIS, SETOSA, early_stopping=True)
    assert clf.bounds(IRIS, SETOSA).made == clf.n_updates_
    clf = fitted(IRIS, SETOSA, shuffle=False)
    one = clf.bounds(IRIS, SETOSA)
    other = clf.sparsify().bounds(sp.csr_matrix(IRIS), SETOSA)
    assert one["Novikoff"].most == other["Novikoff"].most


def test_what_time_ends_still_holds():
    X, species = load_iris(return_X_y=True)
    clf = fitted(X, species == 1, shuffle=False)
    told = clf.bounds(X, species == 1, max_seconds=0)
    assert told["Novikoff"].why == "no margin was found within 0 s"
    assert told.margin is told.certificate is None
    assert told.made <= told.best <= told.visits


def test_one_against_the_rest():
    clf = fitted(IRIS, SPECIES)
    told = clf.bounds(IRIS, SPECIES)
    assert isinstance(told, OneVsRestBounds)
    assert [one.made for one in told] == [t.n_updates for t in clf.trace_.traces]
    assert told.of(0) is told[0]
    assert len(told) == 3
    assert told[0].margin is not None
    assert told[1].certificate.verdict == "overlapping"
    lines = str(told).splitlines()
    assert lines[0] == "3 classes, each against the rest"
    assert all(name in lines[1] for name in NAMES)
    assert lines[-1] == "Novikoff: no margin, the classes are overlapping."
    assert told._repr_html_().count("<tr>") == 4


def test_words():
    told = Perceptron(shuffle=False).fit(IRIS, SETOSA).bounds(IRIS, SETOSA)
    assert str(told).startswith(
        "perceptron, online, tie mistake, eta 1: 4 epochs over 150 rows\n"
        "R = 11.1562, largest margin 0.749117 (both count the offset in the norm)\n"
    )
    assert "offset" not in str(fitted(IRIS, SETOSA, fit_intercept=False).bounds(IRIS, SETOSA))
    assert "made" in told._repr_html_()
    assert repr(told) == str(told)
    wide = fitted(IRIS, SETOSA, rule=Margin(5.0)).bounds(IRIS, SETOSA)
    assert "mistakes made" in str(wide)
    assert "2 tau/eta" in str(wide)
    with pytest.raises(AttributeError):
        told.made = 0


def test_bad_input():
    clf = Perceptron()
    with pytest.raises(NotFittedError):
        clf.bounds(IRIS, SETOSA)
    clf.fit(IRIS, SETOSA)
    with pytest.raises(ParameterError, match=r"no bound 'Novikov'\. The bounds are"):
        clf.bounds(IRIS, SETOSA)["Novikov"]
    with pytest.raises(LabelError, match=r"no class 9. The classes are \[0, 1, 2\]"):
        fitted(IRIS, SPECIES).bounds(IRIS, SPECIES).of(9)
    with pytest.raises(DataError, match="149 rows, the model was trained on 150"):
        clf.bounds(IRIS[1:], SETOSA[1:])
    with pytest.raises(DataError, match="features"):
        clf.bounds(IRIS[:, :2], SETOSA)
    with pytest.raises(DataError, match="one class"):
        Perceptron().partial_fit([[1.0]], [1]).bounds([[1.0]], [1])


def test_extreme_scales():
    for factor in (1e-150, 1e150):
        X = IRIS * factor
        for y in (SETOSA, SPECIES == 1):
            clf = fitted(X, y, fit_intercept=False)
            told = clf.bounds(X, y)
            assert told.best >= told.made
    assert Fraction(told.radius) ** 2 >= max(sum(Fraction(v) ** 2 for v in x) for x in X.tolist())
