"""Film: one HTML file that plays a training run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import ParameterError, RosenblattError
from rosenblatt.learn.run_context import RunContext
from rosenblatt.prove.bounds.result import RunBounds
from rosenblatt.show.flat import Flat
from rosenblatt.show.footage import Footage
from rosenblatt.show.pages import write_page
from rosenblatt.text import plural

Array = npt.NDArray[Any]
STYLES = ("colours.css", "film.css")
SCRIPTS = ("geometry.js", "plot.js", "views.js", "chart.js", "film.js")


def film(
    trace: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    feature_names: Sequence[Any] | None = None,
    class_names: Sequence[Any] | None = None,
    max_rows: int = 1000,
    bound: bool = True,
) -> Path:
    """Write a page that plays a run of two classes, update by update.

    The file holds everything it needs, opens from disk and makes no connection. It shows the
    rows, the hyperplane, the weight vector, the example of each update with its margin, the
    counters, and the mistakes beside the bound. One or two features are drawn as they are, more
    in a plane that contains w (docs/how-to/film.md).

    Parameters
    ----------
    trace : Trace or fitted Perceptron
        Of a fit with ``record='updates'``. More than two classes: one of the traces of a
        one-against-the-rest fit, ``clf.trace_[k]``.
    path : str or path
        The file to write. An older one is replaced when the new one is whole.
    X, y : optional
        The rows and labels of the run. The trace remembers them; they are needed only after it
        was pickled or copied, which leaves the rows out.
    title : str, default=None
        The heading. None: a sentence about the run.
    feature_names, class_names : sequences, default=None
        How features and the two classes (negative first) are called on the page. None: the
        columns of X, or the model's ``feature_names_in_``; the labels.
    max_rows : int, default=1000
        Draw at most so many rows, spread evenly over each class. Examples of updates are always
        drawn. With very many features fewer are drawn; the page says how many.
    bound : bool, default=True
        Look for the largest margin, for Novikoff's bound and the cosine to the best separator.
        False: the cosine is to the last weights. Worth it if there are very many rows.

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron, film
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = film(clf.trace_, f"{folder}/and.html")
    ...     written.name, written.stat().st_size < 60_000
    ('and.html', True)
    """
    if isinstance(max_rows, bool) or not isinstance(max_rows, (int, np.integer)) or max_rows < 2:
        raise ParameterError(f"max_rows must be a whole number of at least 2, got {max_rows!r}.")
    names = _columns(X) if X is not None else getattr(trace, "feature_names_in_", None)
    footage = Footage.of(getattr(trace, "trace_", trace), X, y)
    features = _names(feature_names, names, footage.problem.n_features)
    classes = _class_names(class_names, footage)
    where = Path(path)
    data = _told(footage, Flat.of(footage, int(max_rows)), features, classes, bound)
    heading = (
        str(title) if title is not None else f"A perceptron learns: {classes[0]} or {classes[1]}"
    )
    data["title"] = heading
    write_page(where, "film_page", heading, STYLES, SCRIPTS, data)
    return where


def _told(
    footage: Footage, flat: Flat, features: list[str], classes: list[str], bound: bool
) -> dict[str, Any]:
    """Everything the page needs to know."""
    trace, record, update = footage.trace, footage.record, footage.setting.settings
    cycle = footage.came_back()
    shown = flat.thinned(footage, set(cycle or ()))
    limits, separator, against = _bound(footage, bound)
    cosine = footage.cosines(*separator)[shown]
    frames = {
        "update": shown.astype(np.int32),
        "pass": footage.epoch[shown].astype(np.int32),
        "visit": footage.visit[shown],
        "mistakes": footage.mistakes[shown].astype(np.int32),
        "row": footage.row[shown].astype(np.int32),
        "label": np.where(footage.row >= 0, footage.problem.y[footage.row], 0)[shown].astype(
            np.int8
        ),
        "before": footage.before[shown],
        "after": footage.after[shown],
        "offset": footage.b[shown],
        "norm": np.linalg.norm(footage.w[shown], axis=1),
        "cosine": cosine,
        **flat.weights(footage, shown),
    }
    average = footage.averages()
    if average is not None and flat.up is None:
        frames["averageW"], frames["averageB"] = average[0][shown], average[1][shown]
    back = None if cycle is None else [int(np.searchsorted(shown, k)) for k in cycle]
    return {
        "kind": flat.kind,
        "box": flat.box,
        "classes": classes,
        "features": features[:2],
        "frames": frames,
        "rows": {**flat.rows(footage.problem), "held": _held(footage)[flat.drawn]},
        "totals": {
            "updates": trace.n_updates,
            "recorded": len(record),
            "frames": len(shown),
            "passes": trace.n_epochs,
            "visits": None if footage.batch else trace.n_epochs * trace.n_rows,
            "mistakes": trace.n_mistakes,
            "rows": footage.problem.n_rows,
            "features": footage.problem.n_features,
        },
        "batch": footage.batch,
        "tie": update.tie,
        "tau": update.tau,
        "bound": limits,
        "against": against,
        "cycle": back,
        "words": _words(footage, len(shown)),
    }


def _words(footage: Footage, n_shown: int) -> dict[str, str]:
    """What the page says about the run as a whole."""
    trace, record, update = footage.trace, footage.record, footage.setting.settings
    rule = f"Rule {update.rule}"
    if update.rule.name in ("perceptron", "margin"):
        rule = f"Margin rule, tau {update.tau:g}" if update.tau else "Perceptron"
    order = {"order": "in order", "shuffle": "shuffled each pass", "sample": "drawn at random"}
    visited = "all rows at once" if footage.batch else order[footage.setting.schedule]
    notes = []
    if footage.batch or update.penalty is not None or len(footage) > n_shown:
        notes.append("Every frame is an update.")
    else:
        notes.append("Every frame is an update; the visits between two frames moved nothing.")
    if not record.complete:
        notes.append(
            f"Only the first {len(record):,} of {record.n_updates:,} updates are recorded."
        )
    left_out = len(footage) - n_shown
    if left_out:
        notes.append(
            f"{n_shown - 1:,} of {len(record):,} updates are shown. The other {left_out:,} move "
            "nothing in the picture by more than half a pixel; the counters count them."
        )
    if update.penalty is not None:
        notes.append("A penalty shrinks w at every visit; shown is w right after each update.")
    return {
        "run": f"{rule}, {update.mode}, {visited}, tie {update.tie}. "
        f"{plural(trace.n_epochs, 'epoch')} over {plural(trace.n_rows, 'row')}, "
        f"{plural(trace.n_mistakes, 'mistake')}, {plural(trace.n_updates, 'update')}. "
        f"It stopped with {trace.stop_reason}: {trace.stop_reason.sentence}.",
        "end": _sentence(trace.stop_reason.sentence)
        if record.complete
        else "The record ends here; the run went on.",
        "kept": trace.returned,
        "cycle": _sentence(str(trace.cycle or "")),
        "notes": " ".join(notes),
    }


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _bound(
    footage: Footage, wanted: bool
) -> tuple[dict[str, Any] | None, tuple[Array, float], str]:
    """The bound, a separator to compare the weights with, and its name."""
    last = (footage.w[-1], float(footage.b[-1]))
    name = "the last weights" + ("" if footage.record.complete else " recorded")
    if not wanted:
        return None, last, name
    from rosenblatt.prove.bounds.run_bounds import run_bounds  # flint and highspy: only if asked

    setting, problem = footage.setting, footage.problem
    began = RunContext.of(problem, [setting.start], setting.settings)
    try:
        found = run_bounds(problem, began, footage.trace, [(last[0][None], np.array(last[1:]))])
    except RosenblattError as e:
        return {"most": None, "why": str(e).split("\n")[0]}, last, name
    assert isinstance(found, RunBounds)
    novikoff = found["Novikoff"]
    told: dict[str, Any] = {
        "most": novikoff.most,
        "why": novikoff.why,
        "name": novikoff.name,
        "formula": novikoff.formula,
        "counted": found.counted,
        "radius": found.radius,
        "gamma": None if found.margin is None else found.margin.lower,
    }
    others = [b for b in found.bounds[1:] if b.most is not None]
    if novikoff.most is None and others:
        best = min(others, key=lambda b: b.most or 0)
        told |= {"most": best.most, "name": best.name, "formula": best.formula}
        told["why"] = f"Novikoff's does not apply: {novikoff.why}"
    if found.margin is None or found.margin.lower <= 0:
        return told, last, name
    w = np.array([float(v) for v in found.margin.w])
    return told, (w, float(found.margin.b)), "the separator of largest margin"


def _held(footage: Footage) -> Array:
    held, n = footage.setting.held_out, footage.problem.n_rows
    if held is None or len(held) != n:
        return np.zeros(n, dtype=np.int8)
    return held.astype(np.int8)


# ------------------------------------------------------------------------- names


def _columns(X: Any) -> Any:
    return list(X.columns) if hasattr(X, "columns") else None


def _names(given: Any, known: Any, n_features: int) -> list[str]:
    names = given if given is not None else known
    if names is None:
        return [f"x{k + 1}" for k in range(min(2, n_features))]
    names = [str(name) for name in names]
    if len(names) != n_features:
        raise ParameterError(
            f"feature_names has {plural(len(names), 'name')} for {plural(n_features, 'feature')}. "
            "Give one name per feature."
        )
    return names


def _class_names(given: Any, footage: Footage) -> list[str]:
    if given is None:
        return [str(label) for label in footage.problem.classes.tolist()]
    names = [str(name) for name in given]
    if len(names) != 2:
        raise ParameterError(
            f"class_names has {plural(len(names), 'name')}. Give two, the negative class first."
        )
    return names
