"""A run of the lab is the reference's, visit for visit, whatever is switched on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import ParameterError
from rosenblatt.learn import reference
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.choices import seed_of
from rosenblatt.show.lab.orders import visited
from rosenblatt.show.lab.runs import run_of
from rosenblatt.show.lab.situation import Situation
from rosenblatt.show.lab.steps import Steps
from tests.show.lab.situations import situations

ALL_KEEPS = ("last", "average", "pocket", "vote")


def test_the_orders_are_the_reference_s():
    for n in (1, 2, 7):
        for seed in (0, 1, 12345):
            for kind, oracle in (("shuffle", reference.shuffled), ("sample", reference.sampled)):
                passes = oracle(n, seed)
                wanted = [i for _ in range(4) for i in next(passes)]
                assert visited(kind, n, seed, 4 * n - 1).tolist() == wanted[:-1]


def one_segment(X, y, choices, w, b, passes, offset, segment):
    """The reference's whole history of one segment, its rows in the order that is given."""
    if choices.mode == "batch":
        return reference.batch(
            X, y, w=w, b=b, eta=lambda k: choices.eta, tie=choices.tie, intercept=offset,
            max_iter=passes,
        )  # fmt: skip
    order = {"shuffle": reference.shuffled, "sample": reference.sampled}.get(choices.order)
    return reference.train(
        X, y, w=w, b=b, eta=choices.eta, tie=choices.tie, intercept=offset, max_iter=passes,
        tau=1 if choices.rule == "margin" else None,
        passes=None if order is None else order(len(X), seed_of(choices)),
        with_replacement=choices.order == "sample",
    )  # fmt: skip


def oracle(situation):
    """(start, visits, the reference's run of each segment)."""
    X, y = situation.X.astype(int).tolist(), situation.y.tolist()
    w, b = [int(v) for v in situation.start.w], int(situation.start.b) * situation.offset
    n, following, history, runs = len(y), 0, [], []
    start = (w, b)
    for k, choices in enumerate(situation.segments):
        last = k + 1 == len(situation.segments)
        wanted = None if last else max(0, situation.segments[k + 1].begin - len(history))
        roll = following if choices.order == "order" and choices.mode == "online" else 0
        rows = [(i + roll) % n for i in range(n)]
        passes = situation.passes if last else wanted // (n if choices.mode == "online" else 1) + 1
        run = one_segment(
            [X[i] for i in rows], [y[i] for i in rows], choices, w, b, passes, situation.offset, k
        )
        visits = run.visits[:wanted]
        visits = [v._replace(row=rows[v.row] if v.row >= 0 else -1) for v in visits]
        runs.append(reference.Run((w, b), visits, run.stop_reason))
        history += visits
        if visits:
            w, b = visits[-1].w, visits[-1].b
            following = (visits[-1].row + 1) % n if visits[-1].row >= 0 else following
    return start, history, runs


def known_to_the_reference(text):
    """The lesson has no batch rule with a margin."""
    return not any(s["mode"] == "batch" and s["rule"] == "margin" for s in text["segments"])


def learns_nothing(situation, runs):
    """Whether the perceptron rule is at w = 0 somewhere, with ties that count as correct."""
    return any(
        choices.tie == "correct"
        and choices.rule == "perceptron"
        and not any((*run.start[0], run.start[1]))
        for choices, run in zip(situation.segments, runs, strict=True)
    )


def refused(situation):
    """Where a run would learn nothing, ever, it is refused."""
    with pytest.raises(ParameterError, match="tie='correct'"):
        run_of(situation)


@given(situations().filter(known_to_the_reference))
def test_a_run_is_the_reference_s_visit_for_visit(text):
    situation = Situation.read(text)
    start, visits, runs = oracle(situation)
    if learns_nothing(situation, runs):
        refused(situation)
    else:
        check_visits(situation, run_of(situation), start, visits, runs)


def check_visits(situation, run, start, visits, runs):
    assert run.total == len(visits)
    told = Steps(run).window(0, run.total)
    assert [tuple(w) for w in told["w"]] == [tuple(w) for w in [start[0], *(v.w for v in visits)]]
    assert told["b"] == [start[1], *(v.b for v in visits)]
    assert told["row"] == [-1, *(v.row for v in visits)]
    assert told["moved"] == [False, *(bool(v.step) for v in visits)]
    assert told["mistake"] == [0, *(v.mistake for v in visits)]
    if runs[-1].visits and len(situation.segments) == 1:
        assert run.reason == runs[-1].stop_reason
    assert sum(run.mistakes) == sum(v.mistake if v.row < 0 else v.mistake > 0 for v in visits)
    for k in (0, run.total // 2, run.total):
        check_losses(situation.X, situation.y, k, told)


def check_losses(X, y, k, told):
    z = y * (X @ told["w"][k] + told["b"][k])
    assert told["hard"][k] == (z < 0).sum()
    assert told["soft"][k] == np.maximum(-z, 0).sum()
    said = np.where(y * z >= 0, 1, -1)
    assert told["tp"][k] == ((said > 0) & (y > 0)).sum()
    assert told["fn"][k] == ((said < 0) & (y > 0)).sum()
    assert told["tn"][k] + told["fp"][k] == (y < 0).sum()
    assert told["tn"][k] == ((said < 0) & (y < 0)).sum()


@given(situations(most_segments=1, modes=("online",), keeps=ALL_KEEPS))
def test_what_is_kept_is_the_reference_s(text):
    situation = Situation.read(text)
    start, visits, runs = oracle(situation)
    if learns_nothing(situation, runs):
        refused(situation)
    else:
        check_kept(situation, run_of(situation), start, visits)


def check_kept(situation, run, start, visits):
    told = Steps(run).window(0, run.total)
    X, y = situation.X.astype(int).tolist(), situation.y.tolist()
    keep = situation.segments[0].keep
    for t in [0, *run.ends.tolist()] if keep == "pocket" else range(run.total + 1):
        part = reference.Run(start, visits[:t], "")
        w, b = {
            "last": lambda part=part: part.weights,
            "average": lambda part=part: reference.average(part) if part.visits else start,
            "pocket": lambda part=part: reference.pocket(X, y, part),
            "vote": lambda: (None, None),
        }[keep]()
        if keep == "vote":
            assert told["kept_w"][t] is None
            assert told["kept_b"][t] is None
        else:
            np.testing.assert_allclose([*told["kept_w"][t], told["kept_b"][t]], [*w, b], atol=1e-12)


@given(situations(most_segments=2, keeps=("average",), modes=("online",)))
def test_an_average_goes_on_through_a_switch(text):
    """Of everything but the keep: it is the mean over all visits since it began."""
    situation = Situation.read(text)
    if learns_nothing(situation, oracle(situation)[2]):
        refused(situation)
    else:
        check_average(run_of(situation))


def check_average(run):
    told = Steps(run).window(0, run.total)
    assert len(told["w"]) == run.total + 1
    if run.total:
        mean = np.mean(told["w"][1:], axis=0)
        np.testing.assert_allclose(told["kept_w"][-1], mean, atol=1e-9)
        np.testing.assert_allclose(run.stretches[-1].kept[0], mean, atol=1e-9)


SUTD = {
    "points": [[1, 2, 1], [-1, 2, -1], [0, -1, -1]],
    "offset": False,
    "start": {"kind": "given", "w": [1, -0.8]},
}


def test_the_words_of_sutd_s_example():
    told = Steps(run_of(Situation.read(SUTD))).window(0, 4)
    assert told["words"] == [
        "start: w = (1, -0.8)",
        "example 1 (+1) scored -0.6: mistake; w moves to (2, 1.2)",
        "example 2 (-1) scored 0.4: mistake; w moves to (3, -0.8)",
        "example 3 (-1) scored 0.8: mistake; w moves to (3, 0.2)",
        "example 1 (+1) scored 3.4: right; nothing moves",
    ]


def test_words_of_ties_batches_and_minover():
    def said(**choices):
        text = {"points": [[1, 2, 1], [-1, 1, -1]], "segments": [choices]}
        return Steps(run_of(Situation.read(text))).window(0, 2)["words"][1]

    tie = "example 1 (+1) scored 0: a tie, which counts as a mistake; w moves to (1, 2), b to 1"
    assert said() == tie
    half = "example 1 (+1) scored 0: a tie, which counts as half a mistake; w moves to (0.5, 1), b"
    assert said(tie="half").startswith(half)
    assert said(mode="batch").startswith("all 2 examples at once: 2 mistakes; w moves to (2, 1)")
    least = "example 1 (+1) has the smallest margin, 0: w moves to (1, 2), b to 1"
    assert said(rule="minover") == least


def test_minover_ends_where_its_margin_is_proven():
    points = [[2, 0, 1], [-1, 0, -1]]
    run = run_of(Situation.read({"points": points, "segments": [{"rule": "minover(gap=0.1)"}]}))
    assert run.reason == "separated"
    assert run.sentence == "its margin is proven to be 0.9 of the largest or more"
    assert run.ends.tolist() == [run.total]
    assert run.mistakes.sum() == run.trace.n_mistakes


def test_a_switch_carries_the_variances_and_drops_what_does_not_fit():
    text = {
        "points": [[1, 2, 1], [-1, 2, -1], [2, -1, 1], [0, -1, -1]],
        "segments": [{"rule": "arow"}, {"rule": "arow", "from": 3, "keep": "average"}],
    }
    once = run_of(Situation.read({**text, "segments": [{"rule": "arow"}]}))
    twice = run_of(Situation.read(text))
    assert twice.w[:5].tolist() == once.w[:5].tolist()
    assert twice.stretches[1].carried == ("variance", "updates")
    assert twice.stretches[1].since == 3
    other = run_of(Situation.read({**text, "segments": [{"rule": "arow"}, {"from": 3}]}))
    assert other.stretches[1].carried == ()


def test_what_the_engine_refuses_is_said_in_its_words():
    for choices, said in (
        ({"rule": "minover", "keep": "pocket"}, "keep='pocket'"),
        ({"rule": "pa", "mode": "batch"}, "mode='batch'"),
        ({"tie": "correct"}, "tie='correct'"),
    ):
        with pytest.raises(ParameterError, match=said):
            run_of(Situation.read({"points": [[1, 1, 1]], "segments": [choices]}))
    late = [{"rule": "perceptron"}, {"rule": "minover", "from": 1}]
    with pytest.raises(ParameterError, match="starts from w = 0"):
        run_of(Situation.read({"points": [[1, 1, 1], [2, 1, -1]], "segments": late}))


def test_limits_cut_a_run_and_it_says_so(monkeypatch):
    text = {"points": [[0, 0, -1], [1, 1, -1], [0, 1, 1], [1, 0.5, 1]], "passes": 1000}
    text["segments"] = [{"order": "shuffle"}]
    whole = run_of(Situation.read(text))
    monkeypatch.setattr(limits, "UPDATES", 7)
    cut = run_of(Situation.read(text))
    assert (cut.updates, cut.reason) == (7, "max_updates")
    assert "first 7 updates" in cut.cut
    assert cut.w.tolist() == whole.w[:8].tolist()
    monkeypatch.setattr(limits, "UPDATES", 10_000)
    monkeypatch.setattr(limits, "VISITS", 42)
    cut = run_of(Situation.read(text))
    assert (cut.total, cut.reason) == (40, "max_iter")
    assert "first 42 visits" in cut.cut


def test_no_points_and_one_class():
    empty = Steps(run_of(Situation.read({"points": []})))
    assert empty.summary()["total"] == 0
    assert empty.summary()["stop"]["reason"] == "empty"
    assert empty.window(0, 0)["words"] == ["start: w = (0, 0), b = 0"]
    alone = Steps(run_of(Situation.read({"points": [[1, 1, 1], [2, 2, 1]]})))
    assert alone.summary()["stop"]["reason"] == "separated"
    assert alone.summary()["bound"] is None


@given(st.integers(0, 100))
def test_novikoff_holds_for_runs_on_separable_points(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (8, 2))
    y = np.where(X[:, 0] - 2 * X[:, 1] + 0.5 > 0, 1, -1)
    points = [[*x, label] for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    steps = Steps(run_of(Situation.read({"points": points, "passes": 1000})))
    told = steps.summary()
    if len(set(y.tolist())) == 2:
        assert told["stop"]["reason"] in ("separated", "max_iter")
        assert told["updates"] <= told["bound"]["high"]
        charts = told["charts"]
        for norm, low, high in zip(charts["norm"], charts["low"], charts["high"], strict=True):
            assert low <= norm * (1 + 1e-9)
            assert norm <= high * (1 + 1e-9)
