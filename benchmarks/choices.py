"""Choices: settings tried on training rows alone, and the one that did best there.

Up to 50,000 training rows, a setting is judged by five-fold cross-validation, up to 10,000 rows by
three of them, cut differently; above 50,000 by a held out fifth of the first 60,000. Every fold
has its rows in another random order. The test rows are
never seen here.

Of ours, settings within 0.1 points of the best are taken as equally good, and the cheapest of them
is chosen: fewest passes, then the rule that does least for an update.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Split

FOLDS = 5
CROSS_VALIDATED = 50_000  # rows up to which every fold is held out once
MOST_ROWS = 60_000
FEW, REPEATS = 10_000, 3  # rows up to which so many cross-validations are made
CLOSE = 0.001  # accuracies on held-out rows that are taken as equal


@dataclass(frozen=True)
class Setting:
    """One way to train ours: everything that is chosen."""

    rule: str
    params: tuple[tuple[str, Any], ...] = ()
    keep: str = "last"
    passes: int = 1
    multiclass: str = "ovr"
    shuffle: bool = False  # rows lie in random order: one pass has no use for it

    def estimator(self, n_jobs: int | None = None, seed: int = 0) -> Any:
        from rosenblatt import Perceptron
        from rosenblatt.learn.rules import RULES

        return Perceptron(
            rule=RULES[self.rule](**dict(self.params)),
            keep=self.keep,
            max_iter=self.passes,
            tol=None,
            multiclass=self.multiclass,
            n_jobs=n_jobs,
            shuffle=self.shuffle,
            random_state=seed,
        )

    @property
    def cost(self) -> int:
        """Its rule's place from cheap to dear; a full matrix is the dearest."""
        return len(GRIDS) if ("covariance", "full") in self.params else [*GRIDS].index(self.rule)

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self.params)
        how = ", direct" if self.multiclass == "direct" else ""
        how += ", shuffled" if self.shuffle else ""
        return f"{self.rule}({inside}), {self.keep}{how}"


def grid(**values: Sequence[Any]) -> list[tuple[tuple[str, Any], ...]]:
    """All combinations, as pairs of a name and a value."""
    found: list[tuple[tuple[str, Any], ...]] = [()]
    for name, choices in values.items():
        found = [(*before, (name, value)) for before in found for value in choices]
    return found


GRIDS: dict[str, list[tuple[tuple[str, Any], ...]]] = {  # from cheap to dear
    "perceptron": grid(),
    "margin": grid(tau=(0.1, 1.0, 10.0, 100.0)),
    "pa": grid(),
    "pa1": grid(C=(0.001, 0.01, 0.1, 1.0)),
    "pa2": grid(C=(0.001, 0.01, 0.1, 1.0)),
    "sop": grid(covariance=("diagonal",), a=(0.1, 1.0, 10.0)),
    "arow": grid(covariance=("diagonal",), r=(0.01, 0.1, 1.0, 10.0)),
    "scw": grid(covariance=("diagonal",), C=(0.01, 0.1, 1.0), eta=(0.7, 0.9)),
    "alma": grid(alpha=(0.5, 0.9)),
}
FULL = {"arow": grid(covariance=("full",), r=(0.1, 1.0, 10.0))}
TWO_CLASSES = ("alma",)  # has no form for many classes at once
MANY_CLASSES = ("perceptron", "margin", "pa1", "arow", "scw")  # tried there, for the time it takes
FULL_COLUMNS = 128  # up to which a full matrix of variances is tried


def settings(split: Split, rules: Sequence[str], quick: bool = False) -> list[Setting]:
    """The settings to try on a data set."""
    several = len(np.unique(split.y)) > 2
    ways = ("ovr", "direct") if several else ("ovr",)
    orders = ((1, False), (2, True)) if several else ((1, False), (2, False), (2, True))
    found = []
    for rule in rules:
        if several and rule not in MANY_CLASSES:
            continue
        params = GRIDS[rule][:1] if quick else GRIDS[rule]
        if not quick and split.X.shape[1] <= FULL_COLUMNS:
            params = params + FULL.get(rule, [])
        found += [
            Setting(rule, inside, keep, passes, way, shuffle)
            for inside in params
            for way in (ways if rule not in TWO_CLASSES else ways[:1])
            for keep in ("last", "average")
            for passes, shuffle in orders
        ]
    return found


# ------------------------------------------------------------------ judging


class Memory:
    """What was judged, on disk: choosing takes long, and times are better taken apart from it."""

    def __init__(self, path: Path | None, use: bool = False) -> None:
        self.path, self.use = path, use
        found = path is not None and path.exists()
        self.found = json.loads(path.read_text()) if path is not None and found else {}

    def get(self, name: str) -> Any:
        return _read(self.found.get(name)) if self.use else None

    def put(self, name: str, judged: Any) -> None:
        self.found[name] = _written(judged)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.found))


def _written(thing: Any) -> Any:
    if isinstance(thing, (list, tuple)):
        return [_written(one) for one in thing]
    if isinstance(thing, Judged):
        setting = thing.setting
        inside = {"ours": vars(setting)} if isinstance(setting, Setting) else {"value": setting}
        return {**inside, "accuracy": thing.accuracy, "seconds": thing.seconds}
    return thing


def _read(thing: Any) -> Any:
    if isinstance(thing, list):
        return [_read(one) for one in thing]
    if isinstance(thing, dict):
        if "ours" in thing:
            params = tuple((name, value) for name, value in thing["ours"].pop("params"))
            setting: Any = Setting(params=params, **thing["ours"])
        else:
            setting = thing["value"]
        return Judged(setting, thing["accuracy"], thing["seconds"])
    return thing


def parts(split: Split) -> Iterator[Split]:
    """Folds of the training rows."""
    n = min(len(split.y), MOST_ROWS)
    for cut in range(REPEATS if n <= FEW else 1):
        number = np.arange(n) % FOLDS
        if cut:
            number = np.random.default_rng(cut).permutation(number)
        for fold in range(FOLDS if n <= CROSS_VALIDATED else 1):
            train, test = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
            np.random.default_rng([cut, fold]).shuffle(train)
            yield Split(split.X[train], split.y[train], split.X[test], split.y[test])


@dataclass(frozen=True)
class Judged:
    """How a setting did on the rows that were held out, and the seconds of its fits."""

    setting: Any
    accuracy: float
    seconds: float


def judged(setting: Any, folds: Sequence[Split], fit: Callable[[Split], Any]) -> Judged:
    """`fit` gives back what predicts."""
    right = rows = 0
    spent = 0.0
    for fold in folds:
        began = time.perf_counter()
        predict = fit(fold)
        spent += time.perf_counter() - began
        right += int(np.sum(predict(fold.X_test) == fold.y_test))
        rows += len(fold.y_test)
    return Judged(setting, right / rows, spent)


def best(found: Sequence[Judged]) -> Judged:
    """The most accurate, of equals the one tried first."""
    return max(found, key=lambda j: j.accuracy)


def cheapest(found: Sequence[Judged], close: float = CLOSE) -> Judged:
    """Of ours that are as good as the best: fewest passes, cheapest rule, then most accurate.

    Not by the seconds they took: the choice would be another one on another day.
    """
    least = best(found).accuracy - close
    equals = [j for j in found if j.accuracy >= least]
    return min(
        equals, key=lambda j: (j.setting.passes, j.setting.shuffle, j.setting.cost, -j.accuracy)
    )


def judge_ours(split: Split, tried: Sequence[Setting]) -> list[Judged]:
    folds = list(parts(split))

    def one(setting: Setting) -> Judged:
        def fit(fold: Split) -> Any:
            return setting.estimator(2).fit(fold.X, fold.y).predict

        return judged(setting, folds, fit)

    return [one(setting) for setting in tried]


def rising(values: Sequence[float], judge: Callable[[float], Judged]) -> list[Judged]:
    """Judge growing values until two in a row are worse than the best before them."""
    found: list[Judged] = []
    for value in values:
        found.append(judge(value))
        if len(found) > 2 and best(found[:-2]).accuracy > best(found[-2:]).accuracy:
            break
    return found
