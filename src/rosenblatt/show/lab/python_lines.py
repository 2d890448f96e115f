"""Python lines: the run again, without the lab, to the bit.

A run with one set of choices is a fit of a Perceptron. A run whose choices were switched on the way
goes through :func:`rosenblatt.learn.compat.train`, call by call, as the lab itself does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.learn.compat import Update
from rosenblatt.learn.trace import StopReason
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.runs import Call, Run, Stretch

ROW = 100  # characters


def python_lines(run: Run) -> str:
    """A program that prints the weights of the run."""
    situation = run.situation
    if situation.n_rows == 0:
        return "# There are no points yet, so there is nothing to train on.\n"
    if len(run.calls) == 1 and len(np.unique(situation.y)) == 2:
        return _fit(run)
    return _calls(run)


# --------------------------------------------------------------------------- one fit


def _fit(run: Run) -> str:
    situation, segment = run.situation, run.situation.segments[0]
    choices: dict[str, Any] = {"rule": segment.rule, "keep": segment.keep, "mode": segment.mode}
    choices |= {"tie": segment.tie}
    usual = {"rule": "perceptron", "keep": "last", "mode": "online", "tie": "mistake"}
    given = [f"{k}={v!r}" for k, v in choices.items() if v != usual[k]]
    update = run.calls[0].options.update
    if update.eta0 != 1.0:
        given.append(f"eta0={update.eta0!r}")
    if not situation.offset:
        given.append("fit_intercept=False")
    shuffle = {"order": "False", "shuffle": "True", "sample": "'sample'"}[segment.order]
    given.append(f"shuffle={shuffle}")
    if segment.order != "order":
        given.append(f"random_state={segment.seed}")
    given += [f"max_iter={run.calls[0].stop.max_iter}", "tol=None", "record='updates'"]
    assert run.trace is not None
    if run.trace.stop_reason is StopReason.MAX_UPDATES:
        given.append(f"max_updates={limits.UPDATES}")
    start = ["X", "y"]
    if run.w[0].any() or run.b[0]:
        start.append(f"coef_init={[run.w[0].tolist()]!r}")
        start.append(f"intercept_init={[float(run.b[0])]!r}")
    end = "clf.trace_" if segment.keep == "vote" else "clf.coef_, clf.intercept_"
    return "\n".join(
        [
            "import numpy as np",
            "from rosenblatt import Perceptron",
            "",
            *_data(run),
            f"clf = Perceptron({_wrapped(given, 17)})",
            f"clf.fit({_wrapped(start, 9)})",
            f"print({end})",
            *([] if segment.keep == "vote" else ["print(clf.trace_)"]),
            "",
        ]
    )


# ---------------------------------------------------------------------- call by call


def _calls(run: Run) -> str:
    lines = [
        "import numpy as np",
        "from rosenblatt import Problem",
        "from rosenblatt.learn.compat import Schedule, State, Stop, Update, train",
        "from rosenblatt.learn.rules import resolve",
        "",
        *_data(run),
        f"state = State.at({run.w[0].tolist()!r}, [{float(run.b[0])!r}], np.float64)",
        "w, b = state.w, state.b",
        "",
    ]
    for k, stretch in enumerate(run.stretches):
        lines.append(f"# from visit {stretch.begin} on: {stretch.segment.words}")
        lines += _carried(stretch) if k else []
        lines.append(_update(stretch.options.update))
        for call in run.calls:
            lines += _call(call, run.situation.n_rows) if call.segment == k else []
    return "\n".join([*lines, "print(w, b)", ""])


def _call(call: Call, n: int) -> list[str]:
    return [
        f"rows = {_rows(call.rows, n)}",
        "trace, w, b = train(",
        "    Problem.of(X[rows], y[rows], classes=[-1, 1]), update,",
        f"    Schedule({call.schedule.kind!r}, {call.schedule.seed}), {call.options.keep!r},",
        f"    Stop({_stop(call)}), state, record=True,",
        ")",
    ]


def _update(update: Update) -> str:
    given = [f"resolve({str(update.rule)!r})", f"tie={update.tie!r}", f"eta0={update.eta0!r}"]
    given.append(f"mode={update.mode!r}")
    if not update.fit_intercept:
        given.append("fit_intercept=False")
    return f"update = Update({_wrapped(given, 16)})"


def _carried(stretch: Stretch) -> list[str]:
    lines = [
        "before, state = state, State.at(state.w, state.b, np.float64)",
        "w, b = state.w, state.b",
    ]
    return lines + [f"state.{name} = before.{name}" for name in stretch.carried]


def _stop(call: Call) -> str:
    stop = call.stop
    given = [f"max_iter={stop.max_iter}", f"max_updates={stop.max_updates}"]
    if not stop.clean:
        given += ["clean=False", "cycle=False"]
    return ", ".join(given)


def _rows(rows: Any, n: int) -> str:
    """An order of rows, as short as it goes."""
    listed = [int(i) for i in rows]
    if listed == list(range(n)):
        return f"np.arange({n})"
    if listed == np.roll(np.arange(n), -listed[0]).tolist():
        return f"np.roll(np.arange({n}), -{listed[0]})"
    return "[\n" + _lines([f"{i}" for i in listed]) + "\n]"


# ----------------------------------------------------------------------------- layout


def _data(run: Run) -> list[str]:
    X, y = run.situation.X.tolist(), run.situation.y.tolist()
    points = _lines([f"[{a!r}, {b!r}]" for a, b in X])
    return [f"X = np.array([\n{points}\n])", f"y = np.array([\n{_lines([str(v) for v in y])}\n])"]


def _lines(cells: Sequence[str]) -> str:
    """Cells with commas, as many a line as fit."""
    lines, now = [], "   "
    for cell in cells:
        if len(now) + len(cell) + 2 > ROW:
            lines.append(now)
            now = "   "
        now += f" {cell},"
    return "\n".join([*lines, now])


def _wrapped(given: Sequence[str], indent: int) -> str:
    text = ", ".join(given)
    return text if len(text) + indent <= ROW else "\n" + _lines(given) + "\n"
