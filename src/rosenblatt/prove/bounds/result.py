"""RunBounds: the number of mistakes of a run beside the bounds on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from rosenblatt.errors import LabelError, ParameterError
from rosenblatt.prove.certificate import Certificate
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.text import TableReport

NAMES = ("Novikoff", "Freund and Schapire", "hinge")


@dataclass(frozen=True)
class Bound:
    """One theorem: at most `most` of what the run counts, or, if that is None, `why` not."""

    name: str
    formula: str
    most: int | None
    why: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class RunBounds(TableReport):
    """What one run was allowed to do, beside what it did.

    `margin` and `certificate` prove what is said of the data: both have `verify` and `to_json`.
    What the run did is known from its trace only.

    Attributes
    ----------
    made : int
        What the run did.
    counted : str
        In which unit: "updates"; "mistakes" for mode="batch", where one step answers many;
        "steps" for mode="batch-mean".
    bounds : tuple of Bound
        Novikoff's; Freund and Schapire's; the hinge form. Each was rounded up before it was
        cut to a whole number, so it holds.
    radius : float or None
        R, rounded up.
    margin : MaxMargin or None
        The largest margin, the offset counted in the norm as it is in R.
    certificate : Certificate or None
        The proof that nothing separates the rows, if so.
    mistakes : int
        Visits that were mistakes.
    visits : int
        Epochs times rows.
    run : str
        The run in words.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> bounds = Perceptron(shuffle=False).fit(X, y).bounds(X, y)
    >>> bounds.made, bounds.best, bounds["Novikoff"].most
    (18, 28, 51)
    """

    made: int
    counted: str
    bounds: tuple[Bound, ...]
    radius: float | None
    margin: MaxMargin | None
    certificate: Certificate | None
    mistakes: int
    visits: int
    run: str

    @property
    def best(self) -> int | None:
        """The smallest bound, or None if none applies."""
        return min((b.most for b in self.bounds if b.most is not None), default=None)

    def __getitem__(self, name: str) -> Bound:
        """The bound of that name: "Novikoff", "Freund and Schapire" or "hinge"."""
        if name not in NAMES:
            raise ParameterError(f"There is no bound {name!r}. The bounds are {list(NAMES)}.")
        return self.bounds[NAMES.index(name)]

    @property
    def title(self) -> str:
        """The run, R and the margin."""
        said = [] if self.radius is None else [f"R = {self.radius:.6g}"]
        if self.margin is not None:
            both = " (both count the offset in the norm)" if self.margin.fit_intercept else ""
            said.append(f"largest margin {interval(self.margin)}{both}")
        if self.certificate is not None:
            said.append(f"no margin: the classes are {self.certificate.verdict}")
        return "\n".join([self.run, ", ".join(said)] if said else [self.run])

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        lines = [[b.name, b.formula, shown(b)] for b in self.bounds]
        lines.append(["made", "", f"{self.made:,}"])
        if self.mistakes != self.made:
            lines.append(["mistakes made", "", f"{self.mistakes:,}"])
        return ["bound", "formula", self.counted], lines

    @property
    def notes(self) -> list[str]:
        """Why there is no number, once for each reason."""
        reasons: dict[str, list[str]] = {}
        for b in self.bounds:
            if b.why:
                reasons.setdefault(b.why, []).append(b.name)
        return [f"{', '.join(names)}: {why}." for why, names in reasons.items()]


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestBounds(TableReport):
    """One set of bounds per class, each class against the rest.

    ``bounds[k]`` is the one of ``classes[k]``, ``bounds.of("setosa")`` the one of a label.
    """

    classes: npt.NDArray[Any]
    each: tuple[RunBounds, ...]

    def __getitem__(self, k: int) -> RunBounds:
        return self.each[k]

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[RunBounds]:
        return iter(self.each)

    def of(self, label: Any) -> RunBounds:
        """The bounds of one class."""
        known = self.classes.tolist()
        if label not in known:
            raise LabelError(f"There is no class {label!r}. The classes are {known[:10]}.")
        position: int = known.index(label)
        return self.each[position]

    @property
    def title(self) -> str:
        return f"{len(self)} classes, each against the rest"

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table, one class a line."""
        lines = []
        for label, one in zip(self.classes.tolist(), self.each, strict=True):
            R = "" if one.radius is None else f"{one.radius:.6g}"
            gap = "none" if one.margin is None else interval(one.margin)
            lines.append([str(label), R, gap, *map(shown, one.bounds), f"{one.made:,}"])
        return ["class", "R", "margin", *NAMES, f"{self.each[0].counted} made"], lines

    @property
    def notes(self) -> list[str]:
        return list(dict.fromkeys(line for one in self.each for line in one.notes))


def shown(bound: Bound) -> str:
    """The number, or the word that there is none."""
    return "none" if bound.most is None else f"{bound.most:,}"


def interval(found: MaxMargin) -> str:
    """The margin, or both ends of its interval where they read differently."""
    low, high = f"{found.lower:.6g}", f"{found.upper:.6g}"
    return low if low == high else f"{low} to {high}"
