"""Offenders: rows to remove, and the proof of how many must go at least."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from html import escape

from rosenblatt.data.cone import Cone
from rosenblatt.prove.certificate.base import DataResult
from rosenblatt.prove.certificate.codec import kind_of_result
from rosenblatt.prove.certificate.explain import rows_words
from rosenblatt.prove.checker.removal import removal_problems
from rosenblatt.text import plural

Number = float | Fraction
SHOWN = 10


@dataclass(frozen=True)
class Witness:
    """Rows of which at least one must go: with these positive weights their z_i cancel.

    `share` is how much the witness counts in the lower bound: 1 if it shares no row with
    others, less if it does, more if its rows occur several times.
    """

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    share: Fraction

    def __len__(self) -> int:
        return len(self.rows)


@kind_of_result("offenders")
@dataclass(frozen=True, kw_only=True, repr=False)
class Offenders(DataResult):
    """Rows to remove, and the proof of how many must go.

    Attributes
    ----------
    rows : the rows to remove, in order; the others are strictly separable
    lower_bound : proven: no smaller number of rows is enough
    minimum : whether `rows` is proven to be as small as possible, lower_bound == len(rows)
    witnesses : cancelling sets that prove the bound
    copies : groups of rows, of those in witnesses, with the same z
    by_search : whether the bound needs a search over all witnesses, or adding shares is enough
    w, b : a hyperplane that has every row that stays strictly on its side
    labels : the label of each removed row
    distances : how far each removed row is from the hyperplane, negative on the wrong side, the
        nearest float; nan if w = 0
    seconds : how long the search took
    """

    rows: tuple[int, ...]
    lower_bound: int
    witnesses: tuple[Witness, ...]
    copies: tuple[tuple[int, ...], ...]
    by_search: bool
    w: tuple[Number, ...]
    b: Number
    labels: tuple[str, ...]
    distances: tuple[float, ...]
    seconds: float = field(default=0.0, compare=False, metadata={"apart": True})

    @property
    def minimum(self) -> bool:
        return self.lower_bound == len(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _named_rows(self) -> list[int]:
        return [i for part in self.witnesses for i in part.rows if 0 <= i < self.n_rows]

    def _checked(self, cone: Cone) -> tuple[list[str], str]:
        return removal_problems(self, cone)

    # ------------------------------------------------------------------ for people

    def __str__(self) -> str:
        return self.explain()

    __repr__ = __str__

    def explain(self) -> str:
        """The answer in plain words, with the place of each row (the first ten)."""
        if not self.rows:
            return f"separable {self.where}: none of the {self.n_rows} rows has to go."
        return "\n".join([*self._summary(), *self._places()])

    def _summary(self) -> list[str]:
        k, low = len(self.rows), self.lower_bound
        first = (
            f"without {plural(k, 'row')} of {self.n_rows} the classes are separable {self.where}: "
            f"{rows_words(self.rows)}."
        )
        sets = plural(len(self.witnesses), "cancelling set")
        how = "fewer rows cannot meet all of them" if self.by_search else "each must lose a row"
        proof = f"{sets} {'proves' if len(self.witnesses) == 1 else 'prove'} it; {how}"
        if not low:
            second = "No proof that any must go was found in time."
        elif self.minimum:
            second = f"Fewer are not enough ({proof}): this is a smallest such set."
        else:
            second = (
                f"At least {plural(low, 'row')} must go ({proof}): the smallest number is between "
                f"{low} and {k}."
            )
        return [first, second]

    def _places(self) -> list[str]:
        lines = []
        for i, label, far in list(zip(self.rows, self.labels, self.distances, strict=True))[:SHOWN]:
            if far != far:
                place = "is of the class that went altogether"
            elif far < 0:
                place = f"lies {-far:.4g} beyond the hyperplane of the others"
            elif far > 0:
                place = f"lies {far:.4g} on its own side of the hyperplane of the others"
            else:
                place = "lies on the hyperplane of the others"
            lines.append(f"row {i} ({label}) {place}")
        if len(self.rows) > SHOWN:
            lines.append(f"and {len(self.rows) - SHOWN} more")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"
