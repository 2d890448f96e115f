"""Result: what a comparison found, and which choice it recommends."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

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
        where the choice cannot learn in parts.
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
        """The rule: its name, or all of it where it is not the rule that name stands for."""
        if self.rule is None:
            return "majority class"
        return rule_name(self.rule)

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
        """Of the mean: the spread over the root of the number of folds."""
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
    def simplicity(self) -> tuple[int, ...]:
        """Smaller is simpler: the rule, then the keep, then fewer epochs."""
        known = self.rule is not None and self.rule.name in PLAIN_FIRST
        place = PLAIN_FIRST.index(self.rule.name) if known and self.rule else len(PLAIN_FIRST)
        return place, KEEPS.index(self.keep), self.max_iter

    def lead(self, other: Trial) -> tuple[float, float]:
        """By how much this one is ahead, and how much that varies from fold to fold."""
        ahead = np.subtract(self.accuracies, other.accuracies)
        return float(ahead.mean()), float(ahead.std(ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
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


@dataclass(frozen=True)
class Refusal:
    """A choice that was not tried to the end, and why."""

    rule: str
    keep: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """As JSON can hold it."""
        return {"rule": self.rule, "keep": self.keep, "reason": self.reason}


def rule_name(rule: Rule) -> str:
    """
    >>> from rosenblatt import Margin
    >>> rule_name(Margin()), rule_name(Margin(tau=2.0))
    ('margin', 'Margin(tau=2.0)')
    """
    plain = rule.name in RULES and rule == RULES[rule.name]()
    return rule.name if plain else repr(rule)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Rules and keeps side by side; printed, a table and a recommendation.

    Attributes
    ----------
    rows : tuple of Trial
        What was tried, the most accurate first.
    floor : Trial
        The majority class: what is right without looking at a feature.
    refused : tuple of Refusal
        What was not tried to the end, with the reason.
    n_rows, n_features, n_classes, n_folds, n_blocks : int
        The data, and how it was cut for cross-validation and for progressive validation.
    remarks : tuple of str
        What one should know about these data before believing the table.

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
    n_blocks: int
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> Trial:
        """The highest mean accuracy; of equal ones the simplest."""
        return min(self.rows, key=lambda t: (-t.accuracy, *t.simplicity))

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
        chosen, best = self.recommended, self.best
        right, floor = (_percent(t.accuracy) for t in (chosen, self.floor))
        lead, varies = chosen.lead(self.floor)
        if lead <= 0:
            return (
                f"No choice is better than the majority class ({floor} %). The closest is "
                f"{chosen.call}, {right} % right on rows held out."
            )
        said = [f"Use {chosen.call}: {right} % right on rows held out."]
        said.append(self._ahead(best) if chosen is best else _close(chosen, best))
        if lead <= varies:
            said.append(
                f"That is {_points(lead)} better than the majority class ({floor} %), which varies "
                f"by {_percent(varies)} between folds: these data do not tell the two apart."
            )
        return " ".join(said)

    def _ahead(self, best: Trial) -> str:
        others = [t for t in self.rows if t is not best]
        if not others:
            return "Nothing else was tried."
        after = min(others, key=lambda t: (-t.accuracy, *t.simplicity))
        lead, varies = best.lead(after)
        if lead == 0:
            return f"{_called(after)} does as well; this is the simpler one."
        leads = f"It leads the next, {_called(after)}, by {_points(lead)}"
        if lead > varies:
            return f"{leads}, more than this varies between folds ({_percent(varies)})."
        return (
            f"{leads}, which varies by {_percent(varies)} between folds: these data do not tell "
            "the two apart."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the cells, as text.

        Returns
        -------
        tuple of list of str and list of list of str
            Names of the columns, and a row for each trial and the majority class.
        """
        several = len({t.max_iter for t in self.rows}) > 1
        header = ["rule", "keep", "accuracy %", "+-", "progressive error %", "seconds"]
        lines = [_cells(t) for t in (*self.rows, self.floor)]
        if several:
            header.insert(2, "epochs")
            for line, t in zip(lines, (*self.rows, self.floor), strict=True):
                line.insert(2, "" if t is self.floor else str(t.max_iter))
        return header, lines

    def notes(self) -> list[str]:
        """Return the sentences around the table.

        Returns
        -------
        list of str
            The data, the remarks, and each refused choice with its reason.
        """
        data = (
            f"{self.n_rows:,} rows, {self.n_features:,} features, {self.n_classes} classes; "
            f"{self.n_folds} folds, progressive in {self.n_blocks} blocks"
        )
        epochs = sorted({t.max_iter for t in self.rows})
        if len(epochs) == 1:
            data += f"; {plural(epochs[0], 'epoch')} a fold"
        refused = [f"not tried: {r.rule}, {r.keep}: {r.reason}" for r in self.refused]
        return [data + ".", *self.remarks, *refused]

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
        told = f"<p><b>{escape(self.recommendation)}</b></p>"
        return data + html_table(*self.table()) + "".join(notes) + told

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types of JSON.

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
            "blocks": self.n_blocks,
            "trials": [t.to_dict() for t in self.rows],
            "majority_class": self.floor.to_dict(),
            "refused": [r.to_dict() for r in self.refused],
            "remarks": list(self.remarks),
            "best": self.best.to_dict(),
            "recommended": self.recommended.to_dict(),
            "recommendation": self.recommendation,
        }


def _cells(t: Trial) -> list[str]:
    progressive = "-" if t.progressive_error is None else _percent(t.progressive_error)
    seconds = "" if t.rule is None else f"{t.seconds:.2g}" if t.seconds < 10 else f"{t.seconds:.0f}"
    return [t.name, t.keep, _percent(t.accuracy), _percent(t.spread), progressive, seconds]


def _close(chosen: Trial, best: Trial) -> str:
    behind, varies = best.lead(chosen)
    return (
        f"It is the simplest within one standard error ({_percent(best.standard_error)} points) of "
        f"the best, {_called(best)}, which is {_points(behind)} ahead; that varies by "
        f"{_percent(varies)} between folds."
    )


def _called(t: Trial) -> str:
    return f"{t.name} with keep={t.keep!r} and {plural(t.max_iter, 'epoch')}"


def _wrapped(text: str, whole: str = "") -> str:
    """Lines for the terminal; `whole`, which is to be pasted, stays in one."""
    lines = fill(
        text.replace(whole, whole.replace(" ", "\0")) if whole else text,
        width=100, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return lines.replace("\0", " ")


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _points(share: float) -> str:
    return f"{_percent(share) if share >= 0.00005 else 'less than 0.01'} points"
