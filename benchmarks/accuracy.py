"""Accuracy: our rules after one or two passes beside LIBLINEAR with tuned C, VW and SGD.

    python benchmarks/run.py accuracy [--quick] [--only a9a w8a]

choices.py says how settings are chosen, on training rows alone; datasets.py and texts.py where the
rows come from. The chosen setting is trained again on all training rows and scored on test rows.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from typing import Any

import choices
import datasets
import numpy as np
import texts
from choices import Judged, Memory, Setting
from contenders import Liblinear, Sgd, VowpalWabbit
from datasets import Split
from report import shared_data

SETS: dict[str, tuple[str, Callable[[Path], Split]]] = {
    "a9a": ("a9a", datasets.REAL["a9a"]),
    "w8a": ("w8a", datasets.REAL["w8a"]),
    "mnist": ("mnist", datasets.REAL["mnist"]),
    "reuters": ("reuters", datasets.REAL["reuters"]),
    "sms-spam": ("sms-spam", texts.sms_spam),
    "polarity": ("polarity", texts.polarity),
    "20news": ("20news", texts.news),
    "covtype": ("covtype", datasets.forest),
    "covtype, 2 against the rest": ("covtype", datasets.covtype),
}
QUICK = ("sms-spam", "polarity")
CS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
LONG = 5.0  # seconds after which a fit is not made again
SEEDS = 5
ROUNDS, MOST = 5, 40  # turns that all take; fits of one turn of what takes milliseconds
SVM, VW, SGD, OURS = "LIBLINEAR", "Vowpal Wabbit", "SGDClassifier", "rosenblatt"


@dataclass
class Row:
    """One fit on all training rows."""

    data: str
    contender: str
    setting: str
    passes: int | None
    test: float
    seconds: float
    spread: float | None = None  # deviation of `test`, which is a mean over seeds
    one_thread: float | None = None
    convert: float | None = None  # making the contender's own form of the data
    chosen_in: float | None = None  # seconds of all fits that chose the setting
    held_out: float | None = None  # accuracy where it was chosen
    chosen: bool = False  # ours: the best of all rules on held-out rows


# ------------------------------------------------------------------ fits and their time


class Timed:
    """A fit whose best time is kept."""

    def __init__(self, row: Row, fit: Callable[[], Any]):
        self.row, self.fit = row, fit

    def turn(self) -> None:
        """Once, or several times if it is a matter of milliseconds; not again if it is long."""
        if self.row.seconds != float("inf") and self.row.seconds > LONG:
            return
        spent, fits = 0.0, 0
        while not fits or (spent < 0.1 and fits < MOST):
            began = time.perf_counter()
            self.fit()
            took = time.perf_counter() - began
            self.row.seconds = min(self.row.seconds, took)
            spent, fits = spent + took, fits + 1


def accuracy(predict: Callable[[Any], Any], split: Split) -> float:
    return float(np.mean(np.asarray(predict(split.X_test)) == split.y_test))


def over_seeds(fitted: Callable[[int], Callable[[Any], Any]], split: Split) -> tuple[float, float]:
    """Mean and deviation of the test accuracy over orders of the rows."""
    found = [accuracy(fitted(seed), split) for seed in range(SEEDS)]
    return float(np.mean(found)), float(np.std(found, ddof=1))


def bits(split: Split) -> int:
    """Room for every weight four times over, so that VW's hashing costs it nothing."""
    return max(18, 2 + ceil(log2(split.X.shape[1] * len(np.unique(split.y)))))


def peers_of(name: str, split: Split, folder: Path) -> list[Timed]:
    """SGD and VW with their defaults, VW with hinge loss too, at one and two passes."""
    found = []
    kinds: list[tuple[str, str, type, dict[str, Any]]] = [
        (SGD, "defaults", Sgd, {}),
        (VW, "defaults", VowpalWabbit, {"loss": "squared", "bits": bits(split)}),
        (VW, "hinge loss", VowpalWabbit, {"loss": "hinge", "bits": bits(split)}),
    ]
    for contender, setting, kind, options in kinds:
        place = folder / setting.replace(" ", "-") / contender.replace(" ", "-")
        place.mkdir(parents=True)
        one = type(kind.__name__, (kind,), options)(split, place)
        began = time.perf_counter()
        one.convert()
        convert = time.perf_counter() - began if contender == VW else None
        for passes in (1, 2):

            def fitted(seed: int, one: Any = one, passes: int = passes) -> Callable[[Any], Any]:
                one.seed = seed  # of SGD; VW visits the rows in order
                one.fit(passes)
                return one.predict  # type: ignore[no-any-return]

            row = Row(name, contender, setting, passes, 0.0, float("inf"), convert=convert)
            if contender == SGD:
                row.test, row.spread = over_seeds(fitted, split)
            else:
                row.test = accuracy(fitted(0), split)
            found.append(Timed(row, lambda one=one, passes=passes: one.fit(passes)))
    return found


def liblinear(split: Split, solver: int, C: float) -> Liblinear:
    one = type("Liblinear", (Liblinear,), {"solver": solver, "C": C})(split, Path())
    one.convert()
    return one


def tuned_liblinear(name: str, split: Split, quick: bool, memory: Memory) -> list[Timed]:
    """C by the primal solver, then the quicker of both solvers at that C (both, if it is close)."""
    folds = list(choices.parts(split))

    def judge(C: float, solver: int = 2) -> Judged:
        def fit(fold: Split) -> Any:
            one = liblinear(fold, solver, C)
            began = time.perf_counter()
            one.fit(None)
            spent.append(time.perf_counter() - began)
            return one.predict

        spent: list[float] = []
        found = choices.judged(C, folds, fit)
        return Judged(C, found.accuracy, sum(spent))

    tried, dual = memory.get(f"{name}, LIBLINEAR") or (None, None)
    if tried is None:
        tried = choices.rising(CS[4:8] if quick else CS, judge)
        dual = judge(choices.best(tried).setting, 1).seconds
        memory.put(f"{name}, LIBLINEAR", (tried, dual))
    C = choices.best(tried).setting
    seconds = {2: choices.best(tried).seconds, 1: dual}
    found = []
    for solver in (s for s in (1, 2) if seconds[s] < 2 * min(seconds.values())):
        began = time.perf_counter()
        one = liblinear(split, solver, C)
        convert = time.perf_counter() - began
        began = time.perf_counter()
        one.fit(None)
        spent = time.perf_counter() - began
        row = Row(
            name, SVM, f"-s {solver} -c {C:g} -B 1", None, accuracy(one.predict, split), spent
        )
        row.convert, row.held_out = convert, choices.best(tried).accuracy
        row.chosen_in = sum(j.seconds for j in tried) + seconds[1]
        found.append(Timed(row, lambda one=one: one.fit(None)))
    return found


def ours(name: str, split: Split, rules: Sequence[str], quick: bool, memory: Memory) -> list[Timed]:
    """The best setting of each rule, and which of them is the best of all."""
    tried = memory.get(f"{name}, rosenblatt")
    if tried is None:
        tried = choices.judge_ours(split, choices.settings(split, rules, quick))
        memory.put(f"{name}, rosenblatt", tried)
    top = choices.cheapest(tried)
    several = len(np.unique(split.y)) > 2
    found = []
    for rule in rules:
        mine = [j for j in tried if j.setting.rule == rule]
        if not mine:
            continue
        chosen = top if top in mine else choices.cheapest(mine)
        setting: Setting = chosen.setting
        jobs = 2 if several and setting.multiclass == "ovr" else None

        def fitted(seed: int, setting: Setting = setting, jobs: int | None = jobs) -> Any:
            order = np.arange(len(split.y))
            if seed:
                np.random.default_rng(seed).shuffle(order)
            return setting.estimator(jobs, seed).fit(split.X[order], split.y[order]).predict

        test, spread = over_seeds(fitted, split)
        model = setting.estimator(jobs)
        row = Row(name, OURS, str(setting), setting.passes, test, float("inf"), spread)
        row.held_out, row.chosen = chosen.accuracy, chosen is top
        row.chosen_in = sum(j.seconds for j in mine)
        if jobs:
            began = time.perf_counter()
            setting.estimator().fit(split.X, split.y)
            row.one_thread = time.perf_counter() - began
        found.append(Timed(row, lambda m=model: m.fit(split.X, split.y)))
    return found


def compare(
    name: str,
    split: Split,
    rules: Sequence[str],
    quick: bool = False,
    memory: Memory | None = None,
) -> list[Row]:
    memory = memory or Memory(None)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: two passes are few
        fits = tuned_liblinear(name, split, quick, memory)
        fits += peers_of(name, split, Path(folder))
        fits += ours(name, split, rules, quick, memory)
        take_turns(fits, 1 if quick else ROUNDS)
        return [fit.row for fit in fits]


def take_turns(fits: Sequence[Timed], rounds: int) -> None:
    for _ in range(rounds):
        for fit in fits:
            fit.turn()


def known_rules() -> list[str]:
    """The rules of the grid that the library has; what it lacks is said."""
    from rosenblatt.learn.rules import RULES

    for rule in choices.GRIDS:
        if rule not in RULES:
            print(f"  no rule {rule!r} in this version: left out", file=sys.stderr)
    return [rule for rule in choices.GRIDS if rule in RULES]


def load(name: str) -> Split:
    folder, make = SETS[name]
    data = shared_data()
    if data is None or not (data / folder).is_dir():
        raise LookupError(f"{name}: no folder shared/data/{folder} beside the project")
    return make(data / folder)


def run(
    quick: bool = False, only: Sequence[str] = (), memory: Memory | None = None
) -> tuple[list[Row], dict[str, str]]:
    """All sets, and a line about each."""
    from accuracy_tables import details
    from peers import described

    rows: list[Row] = []
    about: dict[str, str] = {}
    rules = known_rules()
    for name in only or (QUICK if quick else SETS):
        print(f"  {name} ...", file=sys.stderr, flush=True)
        try:
            split = load(name)
        except LookupError as error:
            about[name] = f"Not run: {error}"
            continue
        about[name] = described(split)
        rows += compare(name, split, rules, quick, memory)
        print(details(rows, name), file=sys.stderr, flush=True)
    return rows, about
