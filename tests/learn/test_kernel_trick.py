"""The kernel perceptron makes the updates of the plain rule, one row at a time, to the bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from rosenblatt.errors import OverflowedError, ParameterError
from rosenblatt.learn import reference
from rosenblatt.learn.kernel_trick import machine as machines
from rosenblatt.learn.kernel_trick.budget import Projectron, RandomBudget, resolve
from rosenblatt.learn.kernel_trick.functions import Kernel
from rosenblatt.learn.kernel_trick.machine import Machine, Rows, Stop, in_order, shuffled
from tests.strategies import integer_rows

SQUARE = Kernel("poly", degree=2, gamma=1.0, coef0=1.0)
LINEAR = Kernel("linear")
PLAIN = {
    LINEAR: lambda x, z: sum(a * b for a, b in zip(x, z, strict=True)),
    SQUARE: lambda x, z: (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2,
}


@st.composite
def several_planes(draw):
    """Small integer rows with one, two or three sets of labels, and weights now and then."""
    X, y = draw(integer_rows())
    label = st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X))
    planes = [y, *draw(st.lists(label, max_size=2))]
    weight = st.lists(st.sampled_from([0, 1, 1, 2]), min_size=len(X), max_size=len(X))
    return X, planes, draw(st.none() | weight)


def rows(X, planes, weights=None, sparse=False):
    A = np.array(X, dtype=np.float64)
    weight = np.ones(len(X)) if weights is None else np.array(weights, dtype=np.float64)
    return Rows(sp.csr_array(A) if sparse else A, np.array(planes, dtype=np.int8), weight)


def trained(data, kernel, passes, budget=None, seed=1, max_iter=4):
    m = Machine.begin(kernel, len(data.y), budget, seed)
    return m, m.train(data, passes, Stop(max_iter, tol=None))


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Corrections inside a block and sums over blocks are both met on a dozen rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machines, "BLOCK", 3)
        yield


@given(several_planes(), st.sampled_from([LINEAR, SQUARE]), st.booleans(), st.none() | st.just(5))
def test_the_compiled_run_is_the_plain_one(data, kernel, sparse, seed):
    X, planes, weights = data
    n = len(X)
    plain = reference.kernel_perceptron(
        X, planes, PLAIN[kernel], weights=weights, max_iter=4,
        passes=None if seed is None else reference.shuffled(n, seed),
    )  # fmt: skip
    passes = in_order(n) if seed is None else shuffled(n, seed)
    m, passed = trained(rows(X, planes, weights, sparse), kernel, passes)
    assert passed.mistakes.sum(axis=1).tolist() == plain.mistakes
    assert str(passed.reason) == plain.stop_reason
    store = m.store
    assert store.numbers[: store.size].tolist() == plain.held
    assert store.coef[: store.size].tolist() == [plain.alpha[i] for i in plain.held]
    found = zip(m.steps.visit, store.numbers[m.steps.support], m.steps.plane, m.steps.amount,
                strict=True)  # fmt: skip
    assert [tuple(map(int, step)) for step in found] == plain.steps
    if store.size:
        held = store.rows()
        np.testing.assert_array_equal(held.toarray() if sparse else held, np.array(X)[plain.held])
    # ||w||^2 = sum_ij alpha_i alpha_j K(x_i, x_j)
    for k in range(len(planes)):
        a = plain.alpha
        squared = sum(a[i][k] * a[j][k] * PLAIN[kernel](X[i], X[j]) for i in a for j in a)
        assert m.squares[k] == squared


@given(several_planes(), st.sampled_from([LINEAR, SQUARE]), st.integers(1, 4))
def test_a_random_budget_drops_what_the_plain_rule_drops(data, kernel, size):
    X, planes, weights = data
    plain = reference.kernel_perceptron(
        X, planes, PLAIN[kernel], weights=weights, max_iter=5, size=size, seed=7
    )
    m, passed = trained(
        rows(X, planes, weights), kernel, in_order(len(X)), RandomBudget(size), 7, 5
    )
    assert passed.mistakes.sum(axis=1).tolist() == plain.mistakes
    store = m.store
    assert store.numbers[: store.size].tolist() == plain.held
    assert store.coef[: store.size].tolist() == [plain.alpha[i] for i in plain.held]
    assert store.size <= size
    if store.size:
        np.testing.assert_array_equal(store.rows(), np.array(X)[plain.held])
    assert np.isnan(passed.norms).all()


@given(st.integers(0, 2**20), st.sampled_from([3, 30]), st.sampled_from([0.0, 0.5, 1.5]))
def test_the_projectron_is_the_one_with_exact_projections(seed, size, eta):
    """Rows in general position, so that no score is 0 and rounding decides nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3)).round(3)
    y = rng.choice([-1, 1], (2, 12)).tolist()
    exact = [[reference.Fraction(str(v)) for v in x] for x in X.tolist()]
    plain = reference.kernel_perceptron(
        exact, y, PLAIN[SQUARE], max_iter=2, size=size, eta=reference.Fraction(eta)
    )
    assume(np.linalg.cond(SQUARE.block(X[plain.held], X[plain.held])) < 1e6)
    m, passed = trained(rows(X, y), SQUARE, in_order(12), Projectron(size, eta), max_iter=2)
    assert m.store.numbers[: m.store.size].tolist() == plain.held
    assert passed.mistakes.sum(axis=1).tolist() == plain.mistakes
    wanted = np.array([plain.alpha[i] for i in plain.held], dtype=float)
    np.testing.assert_allclose(m.store.coef[: m.store.size], wanted, rtol=1e-5, atol=1e-5)
    G = SQUARE.block(m.store.rows(), m.store.rows())
    inverse = m.inverse[: m.store.size, : m.store.size]
    np.testing.assert_allclose(inverse @ G, np.eye(m.store.size), atol=1e-5)


@given(st.integers(0, 2**20))
def test_a_projectron_with_eta_0_is_the_perceptron_in_as_many_rows_as_dimensions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 4)), rng.choice([-1, 1], (1, 40))
    free, one = trained(rows(X, y), LINEAR, in_order(40), max_iter=3)
    assume(np.linalg.cond(free.store.rows()[:4]) < 1e3)  # those that span, clearly
    few, other = trained(rows(X, y), LINEAR, in_order(40), Projectron(100, 0.0), max_iter=3)
    np.testing.assert_array_equal(one.mistakes, other.mistakes)
    assert few.store.size <= 4
    np.testing.assert_allclose(few.scores(X), free.scores(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(few.scores(X, True), free.scores(X, True), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.norms, other.norms, rtol=1e-6)


@given(several_planes(), st.sampled_from([LINEAR, SQUARE]), st.data())
def test_last_average_and_vote_are_those_of_every_visit(data, kernel, more):
    """The slow way: all hyperplanes after each visit, one by one."""
    X, planes, weights = data
    plain = reference.kernel_perceptron(X, planes, PLAIN[kernel], weights=weights, max_iter=2)
    m, _ = trained(rows(X, planes, weights), kernel, in_order(len(X)), max_iter=2)
    ends = more.draw(st.lists(st.integers(1, m.visits), min_size=1, max_size=3).map(sorted))
    new = more.draw(st.lists(st.integers(-4, 4), min_size=len(X[0]), max_size=len(X[0])))
    found = m.scores_after(np.array([new, new], dtype=float), ends)
    for k in range(len(planes)):

        def score(visit, k=k):
            return sum(plain.after(visit, i, k) * PLAIN[kernel](X[i], new) for i in plain.held)

        scores = [score(t) for t in range(1, m.visits + 1)]
        for e, end in enumerate(ends):
            assert found.last[e, 0, k] == scores[end - 1]
            assert found.average[e, 0, k] == pytest.approx(sum(scores[:end]) / end, rel=1e-12)
            votes = sum(1 if s >= 0 else -1 for s in scores[:end])
            assert found.vote[e, 1, k] == pytest.approx(votes / end, rel=1e-12)
    assert m.scores(np.array([new]))[0].tolist() == [
        sum(plain.alpha[i][k] * PLAIN[kernel](X[i], new) for i in plain.held)
        for k in range(len(planes))
    ]
    whole = m.scores_after(np.array([new], dtype=float), [m.visits]).average[0]
    np.testing.assert_allclose(m.scores(np.array([new]), average=True), whole, atol=1e-9)


def test_kernels_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    A[A < 0] = 0
    for kind in (np.asarray, sp.csr_array, sp.csr_matrix):
        for degree in (1, 2, 3, 5, 8):
            ours = Kernel.of("poly", degree, 0.3, 0.7, A).block(kind(A), B)
            np.testing.assert_allclose(ours, polynomial_kernel(A, B, degree, 0.3, 0.7))
        ours = Kernel.of("rbf", 3, "auto", 0, A).block(kind(A), kind(B))
        np.testing.assert_allclose(ours, rbf_kernel(A, B))
        scale = Kernel.of("rbf", 3, "scale", 0, kind(A))
        assert scale.gamma == pytest.approx(1 / (3 * A.var()))
        np.testing.assert_allclose(Kernel("linear").block(kind(A), kind(B)), A @ B.T)
    assert Kernel.of("rbf", 3, "scale", 0, np.ones((4, 2))).gamma == 1.0
    assert Kernel("rbf").block(A.astype(np.float32), A.astype(np.float32)).dtype == np.float32


def test_what_leaves_the_range_is_an_error():
    X = np.full((3, 2), 1e30, dtype=np.float32)
    with pytest.raises(OverflowedError, match="float32"):
        Kernel("poly", 4).block(X, X)
    data = Rows(np.array([[1e154], [-1e154]]), np.array([[1, 1]], np.int8), np.ones(2) * 1e10)
    with pytest.raises(OverflowedError):
        trained(data, LINEAR, in_order(2), max_iter=5)


def test_budgets_are_named_or_objects():
    assert resolve(None) is None
    assert resolve("projectron") == Projectron(1000, 0.1)
    assert resolve(RandomBudget(3)).with_params(size=4) == RandomBudget(4)
    for wrong in ("forgetron", 3, RandomBudget):
        with pytest.raises(ParameterError, match="budget must be"):
            resolve(wrong)
    for make in (lambda: RandomBudget(0), lambda: Projectron(size=True), lambda: RandomBudget(2.5)):
        with pytest.raises(ParameterError, match="size must be"):
            make()
    with pytest.raises(ParameterError, match="eta must be"):
        Projectron(eta=-1)
    with pytest.raises(ParameterError, match=r"no parameter \['eta'\]"):
        RandomBudget().with_params(eta=1)
