"""Python lines: the run again, without the lab, to the bit.

A run with one set of choices is a fit of a Perceptron. A run whose choices were switched on the way
goes through :func:`rosenblatt.learn.in_memory.train`, call by call, as the lab itself does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.trace import StopReason
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.runs import Call, Run, Stretch

ROW = 100  # characters
SWITCHES = ("fit_intercept", "clean", "cycle")  # on unless they are turned off


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
    settings = run.calls[0].settings
    if settings.eta0 != 1.0:
        given.append(f"eta0={settings.eta0!r}")
    if not situation.offset:
        given.append("fit_intercept=False")
    shuffle = {"order": "False", "shuffle": "True", "sample": "'sample'"}[segment.order]
    given.append(f"shuffle={shuffle}")
    if segment.order != "order":
        given.append(f"random_state={segment.seed}")
    given += [f"max_iter={settings.max_iter}", "tol=None", "record='updates'"]
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
        "from rosenblatt.learn.in_memory import train",
        "from rosenblatt.learn.rules import resolve",
        "from rosenblatt.learn.settings import TrainingSettings",
        "from rosenblatt.learn.state import State",
        "",
        *_data(run),
        f"state = State.at({run.w[0].tolist()!r}, [{float(run.b[0])!r}])",
        "w, b = state.w[0], state.b",
        "",
    ]
    for k, stretch in enumerate(run.stretches):
        lines.append(f"# from visit {stretch.begin} on: {stretch.segment.words}")
        lines += _carried(stretch) if k else []
        for call in run.calls:
            lines += _call(call, run.situation.n_rows) if call.segment == k else []
    return "\n".join([*lines, "print(w, b)", ""])


def _call(call: Call, n: int) -> list[str]:
    return [
        f"rows = {_rows(call.rows, n)}",
        "problem = Problem.of(X[rows], y[rows], classes=[-1, 1])",
        _settings(call.settings),
        f"trace, w, b = train(problem, settings, state=state, seed={call.seed})",
    ]


def _settings(settings: TrainingSettings) -> str:
    given = [f"rule=resolve({str(settings.rule)!r})"]
    for name in ("tie", "eta0", "mode", "order", "keep", "max_iter", "max_updates"):
        given.append(f"{name}={getattr(settings, name)!r}")
    given += [f"{name}=False" for name in SWITCHES if not getattr(settings, name)]
    return f"settings = TrainingSettings({_wrapped([*given, 'record=True'], 28)})"


def _carried(stretch: Stretch) -> list[str]:
    lines = [
        "before, state = state, State.at(state.w, state.b)",
        "w, b = state.w[0], state.b",
    ]
    return lines + [f"state.{name} = before.{name}" for name in stretch.carried]


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
