"""Result: what a comparison found, and which choice it recommends."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from rosenblatt.comparison.trial import Refusal, Trial
from rosenblatt.learn.trace import html_table, plural, text_table


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
        """Header and cells, as text."""
        several = len({t.passes for t in self.rows}) > 1
        header = ["rule", "keep", "accuracy %", "+-", "progressive error %", "seconds"]
        lines = [_cells(t) for t in (*self.rows, self.floor)]
        if several:
            header.insert(2, "passes")
            for line, t in zip(lines, (*self.rows, self.floor), strict=True):
                line.insert(2, "" if t is self.floor else str(t.passes))
        return header, lines

    def notes(self) -> list[str]:
        """What stands around the table: the data before it, what was refused after it."""
        data = (
            f"{self.n_rows:,} rows, {self.n_features:,} features, {self.n_classes} classes; "
            f"{self.n_folds} folds, progressive in {self.n_blocks} blocks"
        )
        passes = sorted({t.passes for t in self.rows})
        if len(passes) == 1:
            data += f"; {plural(passes[0], 'pass', 'passes')} a fold"
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
        """All of it, as JSON can hold it."""
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
    return f"{t.name} with keep={t.keep!r} and {plural(t.passes, 'pass', 'passes')}"


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
