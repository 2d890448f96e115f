"""Trial: one rule and keep on the user's data, how often it was right and how long it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.learn.rules import RULES, Rule

# From the plainest to the one with most machinery: first those that hold nothing but weights and
# have nothing to set, then those with a parameter, then those that hold a variance a feature.
PLAIN_FIRST = (
    "perceptron", "pa", "margin", "pa1", "pa2", "alma", "minover", "arow", "scw", "sop"
)  # fmt: skip
KEEPS = ("last", "average", "pocket", "vote")


@dataclass(frozen=True)
class Trial:
    """One choice of rule, keep and number of passes, and how it did.

    Attributes
    ----------
    rule : Rule, or None for the majority class
    keep : str
        "last", "average", "pocket" or "vote"; "" for the majority class.
    passes : int
        Passes over the rows in each fold.
    accuracies : tuple of float
        Share of held-out rows that were right, fold by fold; the folds are the same in all trials.
    progressive_error : float or None
        Share of rows that were wrong when predicted before they were learned, in one pass; None
        where the choice cannot learn in parts.
    seconds : float
        Processor time of one training run, the quickest of the folds.
    settings : dict
        What else `Perceptron` was given.
    """

    rule: Rule | None
    keep: str
    passes: int
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
        return {**rule, **keep, "max_iter": self.passes, "tol": None, **self.settings}

    @property
    def call(self) -> str:
        """The line to paste."""
        return f"Perceptron({', '.join(f'{k}={_quoted(v)}' for k, v in self.params.items())})"

    @property
    def simplicity(self) -> tuple[int, ...]:
        """Smaller is simpler: the rule, then the keep, then fewer passes."""
        known = self.rule is not None and self.rule.name in PLAIN_FIRST
        place = PLAIN_FIRST.index(self.rule.name) if known and self.rule else len(PLAIN_FIRST)
        return place, KEEPS.index(self.keep), self.passes

    def lead(self, other: Trial) -> tuple[float, float]:
        """By how much this one is ahead, and how much that varies from fold to fold."""
        ahead = np.subtract(self.accuracies, other.accuracies)
        return float(ahead.mean()), float(ahead.std(ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "rule": self.name,
            "keep": self.keep,
            "passes": self.passes,
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
