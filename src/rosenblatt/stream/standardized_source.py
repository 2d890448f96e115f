"""Number columns of a table, centred and scaled while a model learns from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import standardize_csr, standardize_dense
from rosenblatt.data.block import START, Block, Csr, Position
from rosenblatt.data.source import Source
from rosenblatt.errors import DataError
from rosenblatt.features.table_features import TableFeatures

Array = npt.NDArray[np.float64]


class Standardizer:
    """Means and deviations of the number columns of a table, row by row, fixed once all were seen.

    Numbers farther than 10 deviations from the mean count as that far.

    Parameters
    ----------
    table : TableFeatures
    """

    def __init__(self, table: TableFeatures) -> None:
        if table.index.hash_bits:
            raise DataError(
                "columns that are hashed cannot be standardized. Use scale=False, or leave "
                "hash_bits out."
            )
        self.table = table
        self.columns = table.number_columns()
        self.n_seen = 0
        self.count, self.mean, self.squares = np.zeros((3, len(self.columns)))
        self.entries = np.zeros(0)  # rows with each feature

    @property
    def deviation(self) -> Array:
        """The deviation of each number column; 0 for a constant one."""
        return np.sqrt(self.squares / np.maximum(self.count, 1.0))

    def standardized(self, block: Block) -> Block:
        """A block with its numbers standardized; rows that are new count."""
        X = block.X
        first_new = max(0, self.n_seen - block.first_row)
        place = np.full(X.shape[1], -1, np.int32)
        place[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        moments = (self.count, self.mean, self.squares)
        values = np.array(X.data if isinstance(X, Csr) else X, np.float64)
        if isinstance(X, Csr):
            self._widen(X.n_features)
            bad = standardize_csr(
                X.indptr, X.indices, values, place, first_new, *moments, self.entries
            )
            X = X._replace(data=values)
        else:
            bad = standardize_dense(values, place, first_new, *moments)
            X = values
        if bad >= 0:
            raise DataError(
                f"row {block.first_row + bad} has numbers too large to be standardized. Leave it "
                "out, or use scale=False."
            )
        self.n_seen = max(self.n_seen, block.first_row + block.n_rows)
        return block._replace(X=X)

    def merge(self, other: Standardizer, columns: npt.NDArray[np.int32]) -> None:
        """Count the rows of another one too, whose features have these columns here."""
        count = self.count + other.count
        delta, share = other.mean - self.mean, other.count / np.maximum(count, 1.0)
        self.squares += other.squares + delta * delta * self.count * share
        self.mean += delta * share
        self.count, self.n_seen = count, self.n_seen + other.n_seen
        entries = np.zeros(max(len(self.entries), int(columns.max(initial=-1)) + 1))
        entries[: len(self.entries)] = self.entries
        entries[columns[: len(other.entries)]] += other.entries
        self.entries = entries

    def unscaled(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """The weights for the numbers as they are.

        w (x - m) / s = (w / s) x - w m / s; a row without the number has the feature that says so,
        which makes up for the constant.
        """
        coef, intercept = coef.copy(), intercept.copy()
        instead = self.table.instead()
        for column, mean, deviation in zip(
            self.columns.tolist(), self.mean, self.deviation, strict=True
        ):
            coef[:, column] = coef[:, column] / deviation if deviation > 0 else 0.0
            constant = coef[:, column] * mean
            intercept -= constant
            for other in instead[column]:
                coef[:, other] += constant
        return coef, intercept

    def fill(self) -> dict[str, float]:
        """The mean of each number column, for :class:`TableFeatures`."""
        return dict(zip(self.table.number_names, self.mean.tolist(), strict=True))

    def deviations(self, n_features: int) -> Array:
        """The deviation of each feature in the rows that were seen.

        sqrt(p (1 - p)) for a category that a share p of the rows has.
        """
        self._widen(n_features)
        share = np.minimum(self.entries / max(1, self.n_seen), 1.0)
        found = np.sqrt(share * (1.0 - share))
        found[self.columns] = self.deviation
        return found

    def _widen(self, width: int) -> None:
        """Have a count of entries for so many features at least."""
        self.entries = np.append(self.entries, np.zeros(max(0, width - len(self.entries))))

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint needs: facts as JSON can hold them, and arrays."""
        moments = {"count": self.count, "mean": self.mean, "squares": self.squares}
        seen = np.array([float(self.n_seen)])
        return {}, {**moments, "seen": seen, "entries": self.entries}

    def set_state(self, facts: dict[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.n_seen = int(arrays["seen"][0])
        names = ("count", "mean", "squares", "entries")
        found = [np.array(arrays[name], np.float64) for name in names]
        if any(len(values) != len(self.columns) for values in found[:3]):
            raise ValueError("means of other columns")
        self.count, self.mean, self.squares, self.entries = found


class StandardizedSource(Standardizer, Source):
    """The rows of a table, with numbers minus their mean, divided by their deviation.

    Parameters
    ----------
    source : Source
        Of the features of `table`, as :class:`TableFeatures` encodes them.
    table : TableFeatures
    origin : FileSource, optional
        The source below `source` whose state a checkpoint holds too.
    """

    def __init__(self, source: Any, table: TableFeatures, origin: Any = None) -> None:
        super().__init__(table)
        self.source, self.origin = source, origin
        self.labels = source.labels
        self.repeatable, self.same_order = source.repeatable, source.same_order

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The blocks of an epoch, from a position on."""
        for block in self.source.blocks(epoch, after):
            yield self.standardized(block)
        self.n_rows = self.source.n_rows

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint needs: facts as JSON can hold them, and arrays."""
        facts, arrays = ({}, {}) if self.origin is None else self.origin.get_state()
        return facts, arrays | super().get_state()[1]

    def set_state(self, facts: dict[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        if self.origin is not None:
            self.origin.set_state(facts, arrays)
        super().set_state(facts, arrays)
