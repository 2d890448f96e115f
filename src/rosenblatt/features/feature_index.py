"""Names of features and their columns: limits of the index in the core, and hashed names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rosenblatt._core import FeatureIndex
from rosenblatt.errors import DataTypeError, LimitError, ParameterError


def check_bits(bits: Any, name: str = "bits") -> None:
    """Refuse what is not a number of bits to hash names to."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise ParameterError(f"{name} must be a whole number from 1 to 30, got {bits!r}.")


def closed_index(names: Sequence[str], spaces: Sequence[str] = ()) -> FeatureIndex:
    """The index of the features of a model, which takes no others."""
    index = FeatureIndex(max_features=len(names))
    for name, space in zip(names, spaces or [""] * len(names), strict=True):
        index.add(name, space, reserved=True)
    return index


def pairs_of(index: FeatureIndex) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and namespaces of the features; none if they are hashed."""
    pairs = [index.pair(column) for column in range(len(index))]
    return tuple(name for _, name in pairs), tuple(space for space, _ in pairs)


def check_features(index: FeatureIndex, n_new: int, entries: Iterable[tuple[Any, Any]]) -> None:
    """Raise if an index has no room for new features, or if a name in these entries is too long."""
    size = len(index) + n_new
    if size > index.max_features:
        raise LimitError("names of features", size, index.max_features, "The rows")
    for text in (part for entry in entries for part in entry if isinstance(part, str)):
        size = len(text.encode())
        if size > index.max_name_bytes:
            place = f"The name {text[:20]!r}..."
            raise LimitError("bytes in the name of a feature", size, index.max_name_bytes, place)


@dataclass(frozen=True)
class Hashing:
    """Turns a row of named features into one of numbered columns, with constant memory.

    The column of a feature is that of Vowpal Wabbit: the low bits of the MurmurHash3 of its name,
    the same in every process. The values of names that share a column are added. Two names share a
    column with probability 2**-bits.

    Parameters
    ----------
    bits : int, default=18
        There are 2**bits columns, from 1 to 30 bits.

    Examples
    --------
    >>> hashed = Hashing(bits=10)
    >>> hashed({"cheap": 1, "city": "Rome"})
    {69: 1.0, 953: 1.0}
    """

    bits: int = 18

    def __post_init__(self) -> None:
        check_bits(self.bits)

    def __call__(self, row: Mapping[str, Any]) -> dict[int, float]:
        """A row for `learn_one`, `predict_one` or, in a list, `learn_many`.

        Parameters
        ----------
        row : dict
            Names, and their values: numbers, or texts for categories.

        Returns
        -------
        dict
            Columns and values.

        Raises
        ------
        DataError
            If a name is not text, or a value is neither text nor a finite number.
        """
        from rosenblatt.features.row_encoder import as_row

        plain = as_row(row) if isinstance(row, Mapping) else row
        if not isinstance(plain, dict) or not all(isinstance(name, str) for name in plain):
            raise DataTypeError(
                f"A row to hash is a dict of names and values, got a {type(row).__name__}. "
                "For a list of words use dict.fromkeys(words, 1)."
            )
        index = FeatureIndex(self.bits)
        columns: dict[int, float] = {}
        for name, value in plain.items():
            text = isinstance(value, str)
            column = index.find(value, name) if text else index.find(name)
            columns[column] = columns.get(column, 0.0) + (1.0 if text else value)
        return columns
