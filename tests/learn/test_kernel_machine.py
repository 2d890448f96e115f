"""The kernel machine makes the updates of the plain rule, one row at a time, to the bit."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from rosenblatt import _core
from rosenblatt.data.block import Block
from rosenblatt.errors import OverflowedError, ParameterError
from rosenblatt.learn import kernel_machine, reference
from rosenblatt.learn.kernel import Kernel
from rosenblatt.learn.kernel_machine import (
    KernelMachine,
    KernelModel,
    Projectron,
    RandomBudget,
    resolve_budget,
)
from rosenblatt.learn.trace import StopReason
from tests.oracle import kernel as kernel_oracle
from tests.strategies import integer_rows

SQUARE = Kernel("poly", degree=2, gamma=1.0, coef0=1.0)
LINEAR = Kernel("linear")
PLAIN = {
    LINEAR: lambda x, z: sum(a * b for a, b in zip(x, z, strict=True)),
    SQUARE: lambda x, z: (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2,
}


@st.composite
def labelled_rows(draw):
    """Small integer rows of two or three classes, sometimes with weights."""
    X, _ = draw(integer_rows())
    n_classes = draw(st.integers(2, 3))
    size = {"min_size": len(X), "max_size": len(X)}
    y = draw(st.lists(st.integers(0, n_classes - 1), **size))
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 1, 2]), **size))
    return X, y, n_classes, weights


def planes_of(y, n_classes):
    """Labels -1 and +1 of each hyperplane."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [[1 if label == k else -1 for label in y] for k in positive]


def block(X, y, weights=None, sparse=False):
    A = np.array(X, dtype=np.float64)
    weight = None if weights is None else np.array(weights, dtype=np.float64)
    return Block(sp.csr_array(A) if sparse else A, np.array(y, dtype=np.int32), weight)


def trained(rows, n_classes, kernel, budget=None, seed=None, max_iter=4):
    model = KernelModel.zero(kernel, 1 if n_classes == 2 else n_classes, budget, seed or 1)
    machine = KernelMachine(model, shuffle=seed is not None, seed=seed or 0)
    machine.epochs(rows, max_iter)
    machine.reason = machine.reason or StopReason.MAX_ITER
    return model, machine


def row_numbers(model):
    return model.store.row_numbers[: model.store.size].tolist()


def mistakes(machine):
    return [int(m.sum()) for m in machine.mistakes]


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Test corrections inside a block and sums over blocks with a dozen rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_machine, "GRAM_ROWS", 3)
        yield


@given(labelled_rows(), st.sampled_from([LINEAR, SQUARE]), st.booleans(), st.none() | st.just(5))
def test_the_compiled_run_is_the_plain_one(data, kernel, sparse, seed):
    X, y, n_classes, weights = data
    planes = planes_of(y, n_classes)
    plain = kernel_oracle.kernel_perceptron(
        X, planes, PLAIN[kernel], weights=weights, max_iter=4,
        passes=None if seed is None else reference.shuffled(len(X), seed),
    )  # fmt: skip
    model, machine = trained(block(X, y, weights, sparse), n_classes, kernel, seed=seed)
    assert mistakes(machine) == plain.mistakes
    assert str(machine.reason) == plain.stop_reason
    store, steps = model.store, model.steps
    assert row_numbers(model) == plain.held
    assert model.coefficients().tolist() == [plain.alpha[i] for i in plain.held]
    found = zip(steps.visit, store.row_numbers[steps.support], steps.plane, steps.amount,
                strict=True)  # fmt: skip
    assert [tuple(map(int, step)) for step in found] == plain.steps
    if store.size:
        rows = store.rows()
        np.testing.assert_array_equal(rows.toarray() if sparse else rows, np.array(X)[plain.held])
    # ||w||^2 = sum_ij alpha_i alpha_j K(x_i, x_j)
    for k in range(len(planes)):
        a = plain.alpha
        squared = sum(a[i][k] * a[j][k] * PLAIN[kernel](X[i], X[j]) for i in a for j in a)
        assert model.square_norm[k] == squared


@given(labelled_rows(), st.sampled_from([LINEAR, SQUARE]), st.integers(1, 4))
def test_a_random_budget_drops_what_the_plain_rule_drops(data, kernel, size):
    X, y, n_classes, weights = data
    plain = kernel_oracle.kernel_perceptron(
        X, planes_of(y, n_classes), PLAIN[kernel], weights=weights, max_iter=5, size=size, seed=7
    )
    model = KernelModel.zero(kernel, len(planes_of(y, n_classes)), RandomBudget(size), seed=7)
    machine = KernelMachine(model)
    machine.epochs(block(X, y, weights), 5)
    assert mistakes(machine) == plain.mistakes
    assert row_numbers(model) == plain.held
    assert model.coefficients().tolist() == [plain.alpha[i] for i in plain.held]
    assert model.store.size <= size
    if model.store.size:
        np.testing.assert_array_equal(model.store.rows(), np.array(X)[plain.held])
    assert np.isnan(machine.norms).all()


@given(st.integers(0, 2**20), st.sampled_from([3, 30]), st.sampled_from([0.0, 0.5, 1.5]))
def test_the_projectron_is_the_one_with_exact_projections(seed, size, eta):
    """Rows in general position: no score is 0, so rounding decides nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3)).round(3)
    y = rng.integers(3, size=12)
    exact = [[Fraction(str(v)) for v in x] for x in X.tolist()]
    plain = kernel_oracle.kernel_perceptron(
        exact, planes_of(y, 3), PLAIN[SQUARE], max_iter=2, size=size, eta=Fraction(eta)
    )
    assume(np.linalg.cond(SQUARE.matrix(X[plain.held], X[plain.held])) < 1e6)
    model, machine = trained(block(X, y), 3, SQUARE, Projectron(size, eta), max_iter=2)
    assert row_numbers(model) == plain.held
    assert mistakes(machine) == plain.mistakes
    wanted = np.array([plain.alpha[i] for i in plain.held], dtype=float)
    np.testing.assert_allclose(model.coefficients(), wanted, rtol=1e-5, atol=1e-5)
    rows, side = model.store.rows(), model.store.size
    product = model.inverse[:side, :side] @ SQUARE.matrix(rows, rows)
    np.testing.assert_allclose(product, np.eye(side), atol=1e-5)


@given(st.integers(0, 2**20))
def test_a_projectron_with_eta_0_is_the_perceptron_in_as_many_rows_as_dimensions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 4)), rng.integers(2, size=40)
    free, one = trained(block(X, y), 2, LINEAR, max_iter=3)
    assume(np.linalg.cond(free.store.rows()[:4]) < 1e3)  # clearly of full rank
    few, other = trained(block(X, y), 2, LINEAR, Projectron(100, 0.0), max_iter=3)
    assert mistakes(one) == mistakes(other)
    assert few.store.size <= 4
    np.testing.assert_allclose(few.scores(X), free.scores(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(few.scores(X, True), free.scores(X, True), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.norms, other.norms, rtol=1e-6)


@given(labelled_rows(), st.sampled_from([LINEAR, SQUARE]), st.data())
def test_last_average_and_vote_are_those_of_every_visit(data, kernel, more):
    """Compare with the slow way: all hyperplanes after each visit, one by one."""
    X, y, n_classes, weights = data
    planes = planes_of(y, n_classes)
    plain = kernel_oracle.kernel_perceptron(X, planes, PLAIN[kernel], weights=weights, max_iter=2)
    model, _ = trained(block(X, y, weights), n_classes, kernel, max_iter=2)
    ends = more.draw(st.lists(st.integers(1, model.visits), min_size=1, max_size=3).map(sorted))
    new = more.draw(st.lists(st.integers(-4, 4), min_size=len(X[0]), max_size=len(X[0])))
    found = model.scores_after(np.array([new, new], dtype=float), ends)
    for k in range(len(planes)):

        def score(visit, k=k):
            return sum(plain.after(visit, i, k) * PLAIN[kernel](X[i], new) for i in plain.held)

        scores = [score(t) for t in range(1, model.visits + 1)]
        for e, end in enumerate(ends):
            assert found.last[e, 0, k] == scores[end - 1]
            assert found.average[e, 0, k] == pytest.approx(sum(scores[:end]) / end, rel=1e-12)
            votes = sum(1 if s >= 0 else -1 for s in scores[:end])
            assert found.vote[e, 1, k] == pytest.approx(votes / end, rel=1e-12)
    assert model.scores(np.array([new]))[0].tolist() == [
        sum(plain.alpha[i][k] * PLAIN[kernel](X[i], new) for i in plain.held)
        for k in range(len(planes))
    ]
    whole = model.scores_after(np.array([new], dtype=float), [model.visits]).average[0]
    np.testing.assert_allclose(model.scores(np.array([new]), average=True), whole, atol=1e-9)


@given(labelled_rows(), st.sampled_from([None, RandomBudget(2), Projectron(3, 0.0)]), st.data())
def test_blocks_and_unlabelled_rows_do_not_change_the_run(data, budget, more):
    """Several blocks per epoch are one; rows of class -1 are not visited."""
    X, y, n_classes, weights = data
    whole, one = trained(block(X, y, weights), n_classes, SQUARE, budget, max_iter=3)
    cut = more.draw(st.integers(0, len(X)))
    model = KernelModel.zero(SQUARE, len(whole.mistakes), budget)
    machine = KernelMachine(model)
    # one more row of class -1 at the start of the second block
    first = block(X[:cut], y[:cut], weights and weights[:cut])
    second = block([X[0], *X[cut:]], [-1, *y[cut:]], weights and [1, *weights[cut:]])
    while machine.reason is None and len(machine.mistakes) < 3:
        if cut:
            machine.visit(first)
        machine.visit(second._replace(first_row=cut))
        machine.end_epoch()
    assert mistakes(machine) == mistakes(one)
    np.testing.assert_allclose(model.coefficients(True), whole.coefficients(True), atol=1e-6)
    shifted = [i + (i >= cut) for i in row_numbers(whole)]
    assert row_numbers(model) == shifted


def test_kernels_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    A[A < 0] = 0
    for kind in (np.asarray, sp.csr_array, sp.csr_matrix):
        for degree in (1, 2, 3, 5, 8):
            ours = Kernel.from_params("poly", degree, 0.3, 0.7, A).matrix(kind(A), B)
            np.testing.assert_allclose(ours, polynomial_kernel(A, B, degree, 0.3, 0.7))
        ours = Kernel.from_params("rbf", 3, "auto", 0, A).matrix(kind(A), kind(B))
        np.testing.assert_allclose(ours, rbf_kernel(A, B))
        scale = Kernel.from_params("rbf", 3, "scale", 0, kind(A))
        assert scale.gamma == pytest.approx(1 / (3 * A.var()))
        np.testing.assert_allclose(Kernel("linear").matrix(kind(A), kind(B)), A @ B.T)
    assert Kernel.from_params("rbf", 3, "scale", 0, np.ones((4, 2))).gamma == 1.0
    assert Kernel("rbf").matrix(A.astype(np.float32), A.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("budget", [None, RandomBudget(2), Projectron(2)], ids=str)
def test_overflow_is_an_error(budget):
    X = np.full((3, 2), 1e30, dtype=np.float32)
    with pytest.raises(OverflowedError, match="float32"):
        Kernel("poly", 4).matrix(X, X)
    rows = block([[1e154], [-1e154]], [1, 1], [1e10, 1e10])
    with pytest.raises(OverflowedError, match="coefficients"):
        trained(rows, 2, LINEAR, budget, max_iter=5)


def test_arrays_that_do_not_fit_together_are_refused():
    """The core checks what it indexes."""
    rows = _core.GramBlock(np.eye(2), np.zeros(2, np.int32), np.ones(2), np.arange(2), 0)
    zeros, totals = np.zeros((4, 1)), (np.zeros(1, np.int64), np.zeros(1))

    def support(places=2, size=0):
        return _core.SupportRows(
            zeros, zeros, np.zeros(4, np.int64), np.full(places, -1, np.int64), 0, size
        )

    _core.kernel_visit(rows, support(), np.zeros((1, 2)), *totals)
    for arguments, words in (
        ((rows, support(1), np.zeros((1, 2)), *totals), "index"),
        ((rows, support(2, 3), np.zeros((1, 2)), *totals), "no room"),
        ((rows, support(), np.zeros((2, 2)), *totals), "scores"),
        ((rows, support(), np.zeros((1, 2)), np.zeros(3, np.int64), totals[1]), "mistakes"),
    ):
        with pytest.raises(ValueError, match=words):
            _core.kernel_visit(*arguments)
    with pytest.raises(ValueError, match="gram"):
        _core.GramBlock(np.eye(3), np.zeros(2, np.int32), np.ones(2), np.arange(2), 0)
    with pytest.raises(TypeError, match="float32 or float64"):
        _core.GramBlock(np.eye(2, dtype=int), np.zeros(2, np.int32), np.ones(2), np.arange(2), 0)
    with pytest.raises(ValueError, match="place"):
        _core.SupportRows(zeros, zeros, np.zeros(4, np.int64), np.full(1, 7), 0, 2)
    for values, limit in ((np.zeros((2, 1)), 2), (np.zeros((1, 2)), 2), (np.zeros((2, 2)), 1)):
        with pytest.raises(ValueError, match="values"):
            _core.kernel_visit_dropping(rows, support(), values, limit, 1, totals[0])
    with pytest.raises(ValueError, match="inverse"):
        _core.kernel_visit_projecting(rows, support(), np.zeros((2, 2)), 2, 0.1, np.eye(3), *totals)
    one = np.ones(1, np.int64)
    with pytest.raises(ValueError, match="support"):
        _core.kernel_replay(np.zeros((1, 2)), one, one, np.ones(1), one)


def test_budgets_are_named_or_objects():
    assert resolve_budget(None) is None
    assert resolve_budget("projectron") == Projectron(1000, 0.1)
    assert resolve_budget(RandomBudget(3)).with_params(size=4) == RandomBudget(4)
    for wrong in ("forgetron", 3, RandomBudget):
        with pytest.raises(ParameterError, match="budget must be"):
            resolve_budget(wrong)
    for make in (lambda: RandomBudget(0), lambda: Projectron(size=True), lambda: RandomBudget(2.5)):
        with pytest.raises(ParameterError, match="size must be"):
            make()
    with pytest.raises(ParameterError, match="eta must be"):
        Projectron(eta=-1)
    with pytest.raises(ParameterError, match=r"no parameter \['eta'\]"):
        RandomBudget().with_params(eta=1)
