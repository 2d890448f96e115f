"""Steps: the numbers of a window of a run, visit by visit, and of the charts over all of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prove.bounds import MistakeBound, mistake_bound
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.show.lab import limits, proofs, words
from rosenblatt.show.lab.kept import Kept
from rosenblatt.show.lab.runs import Run
from rosenblatt.text import plural

Array = npt.NDArray[Any]
HALVES = {"mistake": (1.0, 1.0), "positive": (1.0, 0.0), "correct": (0.0, 0.0), "half": (0.5, 0.5)}


@dataclass(frozen=True, eq=False)
class Steps:
    """A run to look at: everything the page draws of it."""

    run: Run

    @cached_property
    def kept(self) -> Kept:
        return Kept(self.run)

    # ------------------------------------------------------------- what is compared with

    @cached_property
    def best(self) -> MaxMargin | None:
        """The hyperplane of largest margin, the offset counted in the norm; None if there is none.

        That is the one the theorem speaks of, and the cosine is taken with.
        """
        situation = self.run.situation
        if len(np.unique(situation.y)) < 2:
            return None
        return proofs.widest(situation.X, situation.y, situation.offset, situation.offset)

    @cached_property
    def novikoff(self) -> MistakeBound | None:
        """How many updates the theorem allows the run, where it speaks of runs like it."""
        run, best = self.run, self.best
        update = run.stretches[0].settings
        if best is None or len(run.stretches) > 1 or not update.rule.has_rate:
            return None
        if run.stretches[0].batch:
            return None
        *w, b = proofs.scaled(best.w, best.b)
        return mistake_bound(
            run.problem, np.array(w), b, intercept=run.situation.offset,
            eta=float(update.etas(1, 1)[0]), start=(run.w[0], float(run.b[0])), tie=update.tie,
            tau=update.tau,
        )  # fmt: skip

    # ------------------------------------------------------------------------ numbers

    def judged(self, visits: Array) -> dict[str, Array]:
        """Losses and the table of right and wrong answers after each of so many visits.

        Computed once for each of the weights, which most visits leave as they are.
        """
        run, y = self.run, self.run.situation.y
        k, which = np.unique(run.update_at(visits), return_inverse=True)
        z = run.w[k] @ run.situation.X.T + run.b[k, None]
        # a score of 0 predicts +1, see docs/explanation/conventions.md
        said, positive = z >= 0, y > 0
        tp, fp = said[:, positive].sum(axis=1), said[:, ~positive].sum(axis=1)
        z *= y
        wrong = np.minimum(z, 0.0, out=z)  # losses are functions of the margin, theory/losses.py
        found = {
            "hard": (wrong < 0).sum(axis=1), "soft": -wrong.sum(axis=1) + 0.0, "tp": tp,
            "tn": (~positive).sum() - fp, "fp": fp, "fn": positive.sum() - tp,
        }  # fmt: skip
        return {name: values[which] for name, values in found.items()}

    def cosine(self, visits: Array) -> Array:
        """The cosine with the best separator, NaN where there is nothing to compare."""
        run, best = self.run, self.best
        k = run.update_at(visits)
        if best is None:
            return np.full(len(k), np.nan)
        mine, other = run.w[k], np.array(proofs.scaled(best.w, best.b))
        if run.situation.offset:
            mine = np.column_stack([mine, run.b[k]])
        other = other[: mine.shape[1]]
        lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(other)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(lengths > 0, np.clip(mine @ other / lengths, -1, 1), np.nan)

    def norm(self, visits: Array) -> Array:
        """||w||, the offset counted if it is trained, as in the theorem."""
        k, run = self.run.update_at(visits), self.run
        square = (run.w[k] ** 2).sum(axis=1) + (run.b[k] ** 2 if run.situation.offset else 0)
        return np.asarray(np.sqrt(square))

    @cached_property
    def update_mistakes(self) -> Array:
        """How much of a mistake each update answered; in batch mode how many. 0 for the start."""
        run, situation = self.run, self.run.situation
        found = np.zeros(len(run.visit))
        for stretch in run.stretches:
            first, last = run.update_at(np.array([stretch.begin, stretch.end])).tolist()
            k = np.arange(first + 1, last + 1)
            if not len(k):
                continue
            update = stretch.settings
            if stretch.batch:
                passes = np.searchsorted(run.ends, run.visit[k])
                found[k] = run.mistakes[passes]
            elif update.rule.name == "perceptron":
                found[k] = np.abs(run.amount[k]) / float(update.etas(1, 1)[0])
            else:
                row = run.row[run.visit[k] - 1]
                x, label = situation.X[row], situation.y[row]
                z = label * ((run.w[k - 1] * x).sum(axis=1) + run.b[k - 1])
                tied = np.where(label < 0, *HALVES[update.tie])
                found[k] = np.where(z < 0, 1.0, np.where(z > 0, 0.0, tied))
        return found

    def mistakes(self, visits: Array) -> Array:
        """Mistakes so far, half ones counted as one, as the engine does."""
        found = self.update_mistakes
        counts = np.cumsum(np.where(found == 0.5, 1.0, found))
        return counts[self.run.update_at(visits)].astype(np.int64)

    # ------------------------------------------------------------------------- window

    def window(self, first: int, last: int) -> dict[str, Any]:
        """Visits first to last, both included."""
        run = self.run
        t = np.arange(first, last + 1)
        k = run.update_at(t)
        before = run.update_at(np.maximum(t - 1, 0))
        row = np.where(t > 0, run.row[np.maximum(t - 1, 0)], -1) if run.total else -np.ones_like(t)
        single = row >= 0
        X, y = run.situation.X, run.situation.y
        score = np.full(len(t), np.nan)
        if single.any():
            x = X[row[single]]
            score[single] = (run.w[before[single]] * x).sum(axis=1) + run.b[before[single]]
        margin = np.where(single, score * (y[row] if len(y) else 0), np.nan)
        moved = k > before
        mistake = np.where(moved, self.update_mistakes[k], 0.0)
        kept_w, kept_b = self.kept.at(t)
        columns = {
            "row": row, "pass": self._passes(t), "score": score, "margin": margin,
            "mistake": mistake, "moved": moved, "w": run.w[k], "b": run.b[k], "kept_w": kept_w,
            "kept_b": kept_b, "norm": self.norm(t), "cosine": self.cosine(t), **self.judged(t),
        }  # fmt: skip
        told = {name: listed(values) for name, values in columns.items()}
        return {"from": first, "to": last, **told, "words": self._words(t, told)}

    def _passes(self, visits: Array) -> Array:
        """The pass of each visit, counted from 1; 0 for the start."""
        return np.where(visits > 0, np.searchsorted(self.run.ends, visits) + 1, 0)

    def _words(self, visits: Array, c: dict[str, list[Any]]) -> list[str]:
        run, offset = self.run, self.run.situation.offset
        labels, n = run.situation.y.tolist(), run.situation.n_rows
        steps = [s.settings.rule.needs_all_rows for s in run.stretches]
        which, said = run.stretch_at(visits).tolist(), []
        for i, t in enumerate(visits.tolist()):
            row, mistake, moves = c["row"][i], c["mistake"][i], None
            if t == 0:
                said.append(f"start: {words.weights(c['w'][i], c['b'][i], offset)}")
                continue
            if c["moved"][i]:
                moves = words.moved(c["w"][i], c["b"][i], offset)
            if row < 0:
                said.append(words.all_rows(n, int(mistake), moves))
            elif steps[which[i]]:
                said.append(
                    words.smallest(row, labels[row], c["margin"][i], moves or "nothing moves")
                )
            else:
                told = row, labels[row], c["score"][i], mistake, moves, c["margin"][i]
                said.append(words.one_row(*told))
        return said

    # -------------------------------------------------------------------- the whole run

    def charts(self) -> dict[str, Any]:
        """Thinned to at most so many places."""
        run = self.run
        places = min(limits.PLACES, run.total + 1)
        t = np.unique(np.linspace(0, run.total, places).round().astype(np.int64))
        found = self.judged(t)
        low, high = self._growth(run.update_at(t))
        columns = {
            "visit": t, "hard": found["hard"], "soft": found["soft"],
            "norm": self.norm(t), "cosine": self.cosine(t), "mistakes": self.mistakes(t),
            "low": low, "high": high,
        }  # fmt: skip
        return {name: listed(values) for name, values in columns.items()}

    def _growth(self, updates: Array) -> tuple[Array, Array]:
        """Between which lines the theorem has ||w|| after so many whole updates from zero.

        eta k gamma <= ||w|| <= eta sqrt(k) R; their quotient bounds the cosine from below.
        """
        nothing = np.full(len(updates), np.nan)
        run, bound, best = self.run, self.novikoff, self.best
        if bound is None or best is None or run.w[0].any() or run.b[0]:
            return nothing, nothing
        update = run.stretches[0].settings
        if update.tie == "half" or update.tau:
            return nothing, nothing
        eta = float(update.etas(1, 1)[0])
        return eta * updates * best.lower, eta * np.sqrt(updates) * bound.radius

    def bound(self) -> dict[str, Any] | None:
        """Novikoff's bound beside what the run did."""
        found, best, made = self.novikoff, self.best, self.run.updates
        if found is None or best is None or not np.isfinite(found.mistakes):
            return None
        most = int(found.mistakes)
        return {
            "low": made, "high": most, "R": found.radius, "gamma": found.margin,
            "sentence": f"{plural(made, 'update')} made; Novikoff's theorem allows {_many(most)} "
            f"(R = {words.number(found.radius)}, gamma = {words.number(found.margin)})",
        }  # fmt: skip

    def told(self, first: int, last: int) -> bytes:
        """The whole answer as JSON; what does not depend on the window is written once."""
        window = json.dumps(self.window(first, last), allow_nan=False, separators=(",", ":"))
        return b'%s,"steps":%s}' % (self._summary_text[:-1], window.encode())

    @cached_property
    def _summary_text(self) -> bytes:
        return json.dumps(self.summary(), allow_nan=False, separators=(",", ":")).encode()

    def summary(self) -> dict[str, Any]:
        """All but the window."""
        run = self.run
        return {
            "total": run.total,
            "passes": len(run.ends),
            "updates": run.updates,
            "mistakes": int(run.mistakes.sum()),
            "stop": {"reason": run.reason, "sentence": run.sentence},
            "cut": run.cut,
            "per_pass": {"mistakes": run.mistakes.tolist(), "ends": run.ends.tolist()},
            "bound": self.bound(),
            "charts": self.charts(),
            "segments": [{"from": s.begin, "words": s.segment.words} for s in run.stretches],
        }


def listed(values: Array) -> list[Any]:
    """As JSON can hold it: None for what is not a number."""
    found: list[Any] = values.tolist()
    if values.dtype.kind != "f":
        return found
    lines = values.reshape(len(values), -1)
    for k in np.flatnonzero(~np.isfinite(lines).all(axis=1)).tolist():
        found[k] = None
    return found


def _many(count: int) -> str:
    """A count for people."""
    return f"{count:,}" if count < 10**12 else f"{float(count):.3g}"
