"""Two threads for one hyperplane: the most that scoring rows ahead could gain.

    python benchmarks/threads.py [--rounds 7]

A pass visits the rows one by one, and an update changes the scores of all rows after it. A second
thread could only score rows ahead, with weights that stay valid until the next update. No such
scheme can be faster than scoring every row once on both threads and updating nothing, so

    one pass / `_core.scores` on two threads

is an upper bound of the gain. 100,000 x 100 float64, rows in order, labels without noise and few
updates (the first case of passes.py); everything in one process, the best of several turns.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from typing import Any

from passes import CASES, rows
from report import THREADS, best_of, table

CASE = "100,000 x 100 float64, few updates"
FEW, MANY = 2, 10


def fits(X: Any, y: Any) -> tuple[dict[str, Callable[[], Any]], dict[str, Any]]:
    """A short and a long fit to time, and the models they made."""
    from rosenblatt import Perceptron

    made: dict[str, Any] = {}

    def fit(name: str, passes: int) -> Callable[[], Any]:
        def run() -> None:
            clf = Perceptron(max_iter=passes, tol=None, shuffle=False)
            made[name] = clf.fit(X, y)

        return run

    return {"few": fit("few", FEW), "many": fit("many", MANY)}, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--smaller", type=int, default=1, metavar="K", help="divide rows by K")
    args = parser.parse_args()
    os.environ |= dict.fromkeys(THREADS, "1")
    warnings.simplefilter("ignore")
    from rosenblatt import _core
    from rosenblatt.data.block import core_rows

    kind, n, d, *rest = CASES[CASE]
    X, y = rows(kind, n // args.smaller, d, *rest)
    runs, made = fits(X, y)
    runs["many"]()
    held, W, b = core_rows(X), made["many"].coef_, made["many"].intercept_
    # a pass is the difference of two fits, so the scores are taken as often
    for threads in (1, 2):
        runs[f"scores {threads}"] = lambda threads=threads: [
            _core.scores(held, W, b, threads) for _ in range(MANY - FEW)
        ]
    seconds = best_of(3 * args.rounds, runs)
    passes = made["many"].n_iter_ - made["few"].n_iter_
    updates = (made["many"].n_updates_ - made["few"].n_updates_) / (passes * len(y))
    one = 1e3 * (seconds["many"] - seconds["few"]) / passes
    scores = [1e3 * seconds[f"scores {threads}"] / (MANY - FEW) for threads in (1, 2)]
    head = ["two threads for one hyperplane", "updates per visit", "one pass, ms"]
    head += ["scores, 1 thread, ms", "scores, 2 threads, ms", "scores, 1 / 2 threads"]
    cells = [CASE, f"{100 * updates:.2f} %", f"{one:.2f}"]
    cells += [f"{scores[0]:.2f}", f"{scores[1]:.2f}", f"{scores[0] / scores[1]:.2f}"]
    print(table([*head, "gain at most"], [[*cells, f"{one / scores[1]:.2f}"]]))


if __name__ == "__main__":
    main()
