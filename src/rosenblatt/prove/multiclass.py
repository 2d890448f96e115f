"""Verdicts for many classes: every pair, and every class against the rest, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem
from rosenblatt.errors import LabelError
from rosenblatt.learn.trace import html_table, text_table
from rosenblatt.prove.certificate import Certificate
from rosenblatt.prove.separability import separability


@dataclass(frozen=True, eq=False)
class VerdictTable:
    """One certificate per pair of classes, and one per class against the rest.

    A certificate of a pair speaks of the rows of these two classes, in their order.
    """

    classes: npt.NDArray[Any]
    pairs: dict[tuple[Any, Any], Certificate]
    versus_rest: dict[Any, Certificate]

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines: a class a line, its verdict against each other and the rest."""
        labels = self.classes.tolist()
        lines = []
        for a in labels:
            cells = [
                "" if a == b else self.pairs[(a, b) if (a, b) in self.pairs else (b, a)].verdict
                for b in labels
            ]
            lines.append([str(a), *cells, self.versus_rest[a].verdict])
        return ["class", *map(str, labels), "the rest"], lines

    def __str__(self) -> str:
        return text_table(*self.rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self.rows())


def separability_table(X: Any, y: Any, *, fit_intercept: bool = True) -> VerdictTable:
    """Which classes a hyperplane separates from which, each verdict with its certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> print(separability_table(*load_iris(return_X_y=True)))
    class            0            1            2     the rest
        0                 separable    separable    separable
        1    separable               overlapping  overlapping
        2    separable  overlapping               overlapping
    """
    problem = Problem.of(X, y)
    if len(problem.classes) < 2:
        raise LabelError(f"there is one class, {problem.classes.tolist()[0]!r}. Add another.")
    labels, number = problem.classes.tolist(), problem.class_numbers()
    pairs = {}
    for a, b in combinations(range(len(labels)), 2):
        both = np.flatnonzero((number == a) | (number == b))
        pairs[labels[a], labels[b]] = separability(
            problem.X[both], problem.classes[number[both]], fit_intercept=fit_intercept
        )
    rest = {
        label: separability(problem.X, number == k, fit_intercept=fit_intercept)
        for k, label in enumerate(labels)
    }
    return VerdictTable(problem.classes, pairs, rest)
