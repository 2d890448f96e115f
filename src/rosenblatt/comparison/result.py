"""Results of a comparison, and its recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.estimators import Perceptron
from rosenblatt.learn.rules import RULES, Rule
from rosenblatt.text import html_table, plural, text_table

# From the plainest to the one with most machinery: first those that hold nothing but weights and
# have nothing to set, then those with a parameter, then those that hold a variance a feature.
PLAIN_FIRST = (
    "perceptron", "pa", "margin", "pa1", "pa2", "alma", "minover", "arow", "scw", "sop"
)  # fmt: skip
KEEPS = ("last", "average", "pocket", "vote")


@dataclass(frozen=True)
class Trial:
    """One choice of rule, keep and number of epochs, and how it did.

    Attributes
    ----------
    rule : Rule, or None for the majority class
    keep : str
        "last", "average", "pocket" or "vote"; "" for the majority class.
    max_iter : int
        Epochs in each fold.
    accuracies : tuple of float
        Share of held-out rows that were right, fold by fold; the folds are the same in all trials.
    progressive_error : float or None
        Share of rows that were wrong when predicted before they were learned, in one epoch; None
        where the choice cannot learn one row at a time, or rows have different weights.
    seconds : float
        Time of one training run, the quickest of the folds.
    settings : dict
        What else `Perceptron` was given.
    """

    rule: Rule | None
    keep: str
    max_iter: int
    accuracies: tuple[float, ...]
    progressive_error: float | None
    seconds: float
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The rule by its name, or with its parameters where they are not the defaults."""
        if self.rule is None:
            return "majority class"
        plain = self.rule.name in RULES and self.rule == RULES[self.rule.name]()
        return self.rule.name if plain else repr(self.rule)

    @property
    def accuracy(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """The standard deviation of the accuracy between folds."""
        return float(np.std(self.accuracies, ddof=1))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean: the spread over the root of the number of folds."""
        return self.spread / float(np.sqrt(len(self.accuracies)))

    @property
    def params(self) -> dict[str, Any]:
        """What `Perceptron` takes to train on all rows as in one fold."""
        rule: dict[str, Any] = {}
        if self.rule is not None and self.name != "perceptron":
            rule["rule"] = self.name if self.name in RULES else self.rule
        keep = {} if self.keep == "last" else {"keep": self.keep}
        return {**rule, **keep, "max_iter": self.max_iter, "tol": None, **self.settings}

    def model(self, random_state: int) -> Perceptron:
        """A Perceptron with these parameters."""
        return Perceptron(**{**self.params, "random_state": random_state})

    @property
    def call(self) -> str:
        """The line to paste."""
        return f"Perceptron({', '.join(f'{k}={_quoted(v)}' for k, v in self.params.items())})"

    @property
    def words(self) -> str:
        """The choice in words."""
        return f"{self.name} with keep={self.keep!r} and {plural(self.max_iter, 'epoch')}"

    @property
    def simplicity(self) -> tuple[int, ...]:
        """Smaller is simpler: the rule, then the keep, then fewer epochs."""
        known = self.rule is not None and self.rule.name in PLAIN_FIRST
        place = PLAIN_FIRST.index(self.rule.name) if known and self.rule else len(PLAIN_FIRST)
        return place, KEEPS.index(self.keep), self.max_iter

    def lead(self, other: Trial) -> tuple[float, float]:
        """The mean lead over another trial, and its standard deviation between folds."""
        ahead = np.subtract(self.accuracies, other.accuracies)
        return float(ahead.mean()), float(ahead.std(ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the trial in types that JSON has."""
        return {
            "rule": self.name,
            "keep": self.keep,
            "max_iter": self.max_iter,
            "accuracy": self.accuracy,
            "spread": self.spread,
            "accuracies": list(self.accuracies),
            "progressive_error": self.progressive_error,
            "seconds": self.seconds,
            "call": None if self.rule is None else self.call,
        }


class Refusal(NamedTuple):
    """A choice that was not tried to the end, and why."""

    rule: str
    keep: str
    reason: str


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Results of :func:`compare`. It prints as a table with a recommendation.

    Attributes
    ----------
    rows : tuple of Trial
        What was tried, the most accurate first.
    floor : Trial
        The majority class: what is right without looking at a feature.
    refused : tuple of Refusal
        What was not tried to the end, with the reason.
    n_rows, n_features, n_classes, n_folds : int
        Size of the data, and number of folds.
    remarks : tuple of str
        Properties of the data that limit what the figures mean.

    Examples
    --------
    >>> from rosenblatt import compare
    >>> from rosenblatt.data.toy_datasets import versicolor
    >>> found = compare(*versicolor(), rules="perceptron", cv=3, shuffle=True)
    >>> found.recommended.keep, round(found.floor.accuracy, 3), len(found.rows)
    ('average', 0.667, 2)
    """

    rows: tuple[Trial, ...]
    floor: Trial
    refused: tuple[Refusal, ...]
    n_rows: int
    n_features: int
    n_classes: int
    n_folds: int
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> Trial:
        """The highest mean accuracy; of equal ones the simplest."""
        return self._ranked[0]

    @property
    def _ranked(self) -> list[Trial]:
        return sorted(self.rows, key=lambda t: (-t.accuracy, *t.simplicity))

    @property
    def recommended(self) -> Trial:
        """The simplest whose accuracy is within one standard error of the best."""
        best = self.best
        enough = best.accuracy - best.standard_error
        near = [t for t in self.rows if t is best or t.accuracy >= enough]
        return min(near, key=lambda t: (*t.simplicity, -t.accuracy))

    @property
    def recommendation(self) -> str:
        """What to use and how sure that is, in plain sentences."""
        chosen, (best, *others) = self.recommended, self._ranked
        right, floor = _percent(chosen.accuracy), _percent(self.floor.accuracy)
        if chosen.accuracy <= self.floor.accuracy:
            return (
                f"No choice is better than the majority class ({floor} %). The closest is "
                f"{chosen.call}, {right} % right on rows held out."
            )
        sentences = [f"Use {chosen.call}: {right} % right on rows held out."]
        if chosen is not best:
            sentences.append(
                "It is the simplest within one standard error "
                f"({_percent(best.standard_error)} points) of the best, {best.words}, which leads "
                f"it by {_points(best, chosen)}."
            )
        elif others:
            sentences.append(
                f"It leads the next, {others[0].words}, by {_points(best, others[0])}."
            )
        sentences.append(
            f"It leads the majority class ({floor} %) by {_points(chosen, self.floor)}."
        )
        return " ".join(sentences)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the cells, as text.

        Returns
        -------
        header : list of str
            Names of the columns.
        cells : list of list of str
            A row for each trial, and the last for the majority class.
        """
        header = ["rule", "keep", "epochs", "accuracy %", "+-", "progressive error %", "seconds"]
        return header, [_cells(trial) for trial in (*self.rows, self.floor)]

    def notes(self) -> list[str]:
        """Return the sentences around the table.

        Returns
        -------
        list of str
            The data, the remarks, and each refused choice with its reason.
        """
        data = (
            f"{self.n_rows:,} rows, {self.n_features:,} features, {self.n_classes} classes; "
            f"{self.n_folds} folds."
        )
        refused = [f"not tried: {r.rule}, {r.keep}: {r.reason}" for r in self.refused]
        return [data, *self.remarks, *refused]

    def __str__(self) -> str:
        data, *notes = self.notes()
        header, lines = self.table()
        parts = [data, text_table(header, lines)]
        parts += ["\n".join(_wrapped(note) for note in notes)] if notes else []
        return "\n\n".join([*parts, _wrapped(self.recommendation, self.recommended.call)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        data, *notes = (f"<p>{escape(note)}</p>" for note in self.notes())
        advice = f"<p><b>{escape(self.recommendation)}</b></p>"
        return data + html_table(*self.table()) + "".join(notes) + advice

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in types that JSON has.

        Returns
        -------
        dict
            The data, trials, refused choices, remarks and the recommendation.
        """
        return {
            "rows": self.n_rows,
            "features": self.n_features,
            "classes": self.n_classes,
            "folds": self.n_folds,
            "trials": [t.to_dict() for t in self.rows],
            "majority_class": self.floor.to_dict(),
            "refused": [r._asdict() for r in self.refused],
            "remarks": list(self.remarks),
            "best": self.best.to_dict(),
            "recommended": self.recommended.to_dict(),
            "recommendation": self.recommendation,
        }


def _cells(t: Trial) -> list[str]:
    progressive = "-" if t.progressive_error is None else _percent(t.progressive_error)
    accuracy = [_percent(t.accuracy), _percent(t.spread), progressive]
    if t.rule is None:
        return [t.name, "", "", *accuracy, ""]
    return [t.name, t.keep, str(t.max_iter), *accuracy, f"{t.seconds:.2g}"]


def _wrapped(text: str, whole: str = "") -> str:
    """Lines for the terminal; `whole`, which is to be pasted, stays in one."""
    lines = fill(
        text.replace(whole, whole.replace(" ", "\0")) if whole else text,
        width=100, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return lines.replace("\0", " ")


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _points(first: Trial, second: Trial) -> str:
    """The lead of the first over the second, and how much it varies."""
    lead, deviation = first.lead(second)
    points = _percent(lead) if lead == 0 or lead >= 0.00005 else "less than 0.01"
    words = f"{points} points, which varies by {_percent(deviation)} between folds"
    return words + (": these data do not tell the two apart" if lead <= deviation else "")
