"""Any run: what a shortcut of the online rule must find too, against the reference."""

import numpy as np
from hypothesis import strategies as st

from rosenblatt.learn import reference
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import Margin, Rosenblatt
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.learn.update import Update
from tests.learn.test_against_reference import PASSES, same
from tests.strategies import TIES, integer_rows, problem

ANY_RUN = {
    "rows": integer_rows(),
    "tie": st.sampled_from(TIES),
    "schedule": st.sampled_from(list(PASSES)),
    "seed": st.integers(0, 2**31 - 1),
    "eta": st.sampled_from([0.25, 1.0, 4.0]),
    "intercept": st.booleans(),
    "margin": st.sampled_from([None, 0.0, 2.0]),
    "max_updates": st.sampled_from([None, 20]),
    "keep": st.sampled_from(["last", "average", "pocket"]),
}


def assert_as_the_reference(
    rows, tie, schedule, seed, kind, eta, intercept, margin, max_updates, keep
):
    """Train as things are set now; mistakes, weights and what is kept are the reference's."""
    X, y = rows
    run = reference.train(
        X, y, w=[0] * len(X[0]), b=0, eta=eta, tie=tie, tau=margin, intercept=intercept,
        passes=PASSES[schedule](len(X), seed), with_replacement=schedule == "sample",
        max_iter=12, max_updates=max_updates or np.inf,
    )  # fmt: skip
    rule = Rosenblatt() if margin is None else Margin(margin)
    update = Update(rule=rule, tie=tie, eta0=eta, fit_intercept=intercept)
    state = State.at([0] * len(X[0]), [0], kind[1])
    stop = Stop(max_iter=12, max_updates=max_updates)
    order = Schedule(schedule, seed)
    trace, w, b = train(problem(X, y, *kind), update, order, keep, stop, state)
    assert trace.stop_reason == run.stop_reason
    assert trace.mistakes[: len(run.mistakes)].tolist() == run.mistakes
    same((state.w, state.b), run.weights)
    if keep == "average" and run.visits:
        mean = reference.average(run)
        same((w, b), ([kind[1](v) for v in mean[0]], kind[1](mean[1])))
    if keep == "pocket":
        same((w, b), reference.pocket(X, y, run))
