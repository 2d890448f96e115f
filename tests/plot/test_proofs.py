"""Pictures of what is true: certificates and version spaces, checked against their own numbers."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.path import Path

from rosenblatt import CertificateDisplay, Perceptron, VersionSpaceDisplay, separability
from rosenblatt.data.cone import as_cone
from rosenblatt.errors import DataError, LabelError, NotSupportedError
from rosenblatt.prove import checker

SUTD, SIGNS = np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]]), np.array([1, -1, -1])
QUASI = np.array([[0, 0], [1, 1], [2, 2], [0, 2], [3, 0], [4, 1], [0.5, 0.5]])
SIDES = np.array([0, 0, 0, 0, 1, 1, 1])


def legend(shown):
    return [t.get_text() for t in shown.ax_.get_legend().texts]


# ---------------------------------------------------------------------- certificates


def test_overlapping_shows_both_hulls_and_the_common_point():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0.5]]), np.array([0, 0, 1, 1])
    shown = CertificateDisplay.from_data(X, y)
    corners = [{tuple(p) for p in h.get_xydata()} for h in shown.hulls_]
    assert corners == [{(0, 0), (1, 1)}, {(0, 1), (1, 0.5)}]
    witness = shown.certificate.witness
    exact = [float(v) for v in checker.common_point(as_cone(X, y), witness.rows, witness.weights)]
    assert shown.common_point_.get_offsets()[0].tolist() == pytest.approx(exact)
    assert shown.witness_.get_offsets().tolist() == X[list(shown.certificate.witness.rows)].tolist()
    assert len(shown.links_) == 4
    assert shown.hyperplane_ is None
    assert shown.ax_.get_title() == "overlapping with an offset"
    flat = {"hull of 0, flat", "hull of 1, flat"}
    assert flat | {"witness: 4 rows", "in both hulls"} <= set(legend(shown))


def test_a_hull_that_is_one_point_has_no_entry_in_the_legend():
    X, y = np.array([[0, 0], [3, 0], [0, 3], [1, 1]]), np.array([0, 0, 0, 1])
    assert legend(CertificateDisplay.from_data(X, y))[0] == "hull of 0"
    assert "hull of 1" not in "".join(legend(CertificateDisplay.from_data(X, y)))


def rows_of_two_classes(seed):
    """Few rows with small whole numbers: ties, repeats and rows at zero are common."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    return rng.integers(-3, 4, (n, 2)).astype(float), rng.permutation(np.arange(n) % 2 == 0)


@pytest.mark.parametrize("seed", range(12))
def test_the_point_lies_in_both_hulls(seed):
    X, y = rows_of_two_classes(seed)
    shown = CertificateDisplay.from_data(X, y, legend=False)
    certificate, point = shown.certificate, shown.common_point
    assert (point is None) == (certificate.verdict == "separable")
    for label in (False, True) if point is not None else ():
        mine = [k for k in certificate.witness.rows if y[k] == label]
        weights = [
            float(c)
            for k, c in zip(certificate.witness.rows, certificate.witness.weights, strict=True)
            if y[k] == label
        ]
        assert np.average(X[mine], axis=0, weights=weights) == pytest.approx(point)


def test_separable_shows_the_hyperplane_and_its_margin():
    X, y = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 1.0]]), np.array([0, 0, 1])
    shown = CertificateDisplay.from_data(X, y)
    w, b = np.array(shown.certificate.w), shown.certificate.b
    assert shown.hyperplane_.get_xydata() @ w + b == pytest.approx(0, abs=1e-9)
    away = np.concatenate([m.get_xydata() @ w + b for m in shown.margins_]) / np.linalg.norm(w)
    assert np.abs(away) == pytest.approx(shown.certificate.margin)
    assert shown.common_point is None
    assert f"margin {shown.certificate.margin:.4g}" in legend(shown)


def test_quasi_separable_shows_the_face():
    shown = CertificateDisplay.from_data(QUASI, SIDES)
    assert shown.certificate.verdict == "quasi-separable"
    assert shown.on_hyperplane.tolist() == [0, 1, 2, 6]
    assert shown.on_hyperplane_.get_offsets().tolist() == QUASI[shown.on_hyperplane].tolist()
    w, b = np.array(shown.certificate.w, dtype=float), float(shown.certificate.b)
    assert shown.common_point_.get_offsets()[0] @ w + b == pytest.approx(0, abs=1e-9)
    assert shown.margins_ == []


def test_without_offset_the_origin_lies_in_the_hull_of_the_yx():
    X, y = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 3.0], [4.0, 3.0]]), np.array([0, 0, 1, 1])
    assert CertificateDisplay.from_data(X, y).certificate.verdict == "separable"
    shown = CertificateDisplay.from_data(X, y, fit_intercept=False)
    assert shown.certificate.verdict == "overlapping"
    assert shown.points.X.tolist() == [[-1, -1], [-2, -1], [3, 3], [4, 3]]
    assert len(shown.hulls_) == 1
    assert shown.common_point_.get_offsets()[0].tolist() == [0, 0]
    assert Path(shown.hulls[0]).contains_point((0, 0))
    assert shown.ax_.get_title() == "overlapping through the origin"


def test_a_certificate_of_a_run_is_drawn_and_a_wrong_one_is_not():
    clf = Perceptron(shuffle=False, fit_intercept=False).fit(SUTD, SIGNS)
    earned = clf.certificate(SUTD, SIGNS)
    shown = CertificateDisplay.from_certificate(earned, SUTD, SIGNS, legend=False)
    assert shown.w.tolist() == clf.coef_[0].tolist()
    assert shown.ax_.get_legend() is None
    with pytest.raises(DataError, match=r"does not hold for these rows.*digest differs"):
        CertificateDisplay.from_certificate(earned, SUTD + 1, SIGNS)
    lie = replace(earned, margin=9.0).resealed()
    with pytest.raises(DataError, match=r"margin of its hyperplane is less than 9"):
        CertificateDisplay.from_certificate(lie, SUTD, SIGNS)
    with pytest.raises(DataError, match="2 features, got 3"):
        CertificateDisplay.from_data(np.eye(3), [0, 1, 1])


# --------------------------------------------------------------------- version space


def test_the_version_space_of_the_worked_example_is_a_cone_the_run_ends_in():
    clf = Perceptron(
        fit_intercept=False, shuffle=False, init=[1, -0.8], record="updates", tol=None
    ).fit(SUTD, SIGNS)
    shown = VersionSpaceDisplay.from_estimator(clf, SUTD, SIGNS)
    reach = shown.window.right
    drawn = shown.space_.get_xy()[:-1]
    assert sorted(map(tuple, drawn)) == [(0, 0), (reach, 0), (reach, reach / 2)]
    assert shown.path_.get_xydata() == pytest.approx(
        np.array([[1, -0.8], [2, 1.2], [3, -0.8], [3, 0.2]])
    )
    assert Path(drawn).contains_points(shown.path).tolist() == [False, False, False, True]
    assert len(shown.edges_) == 3
    for line, x in zip(shown.edges_, SUTD, strict=True):
        assert line.get_xydata() @ x == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_inside_is_right_on_every_row(seed):
    X, y = rows_of_two_classes(seed)
    shown = VersionSpaceDisplay.from_data(X, y, legend=False)
    if len(shown.corners):
        assert (np.where(y, 1, -1) * (X @ shown.corners.mean(axis=0)) > 0).all()
        assert shown.ax_.get_title() == ""
    else:  # a cone with whole numbers for edges is not too narrow to be seen
        assert separability(X, y, fit_intercept=False).verdict != "separable"
        assert shown.ax_.get_title() == "no weights in this window are right on all rows"


def test_one_feature_with_its_offset_is_drawn_whole():
    X, y = np.array([[-1.0], [0.0], [2.0]]), np.array([0, 0, 1])
    shown = VersionSpaceDisplay.from_data(X, y)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("$w$", "$b$")
    w, b = shown.corners.mean(axis=0)
    assert (np.where(y, 1, -1) * (X[:, 0] * w + b) > 0).all()


def test_three_weights_are_refused():
    clf = Perceptron(shuffle=False, record="updates").fit(SUTD, SIGNS)
    with pytest.raises(NotSupportedError, match=r"are three weights.*fit_intercept=False"):
        VersionSpaceDisplay.from_estimator(clf, SUTD, SIGNS)


def test_bad_calls_say_what_to_do():
    with pytest.raises(DataError, match=r"2 features, got 3. Fit on two columns"):
        VersionSpaceDisplay.from_data(np.eye(3), [0, 1, 1])
    with pytest.raises(LabelError, match="two classes, y has 3"):
        VersionSpaceDisplay.from_data(SUTD, [0, 1, 2])
