"""Columns: raw columns (numbers, text, dates, missing values) to numbers, frozen once learned."""

from rosenblatt.data.columns.entries import (
    Boolean,
    Category,
    Dropped,
    Entry,
    Hashed,
    Moment,
    Number,
)
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Learner, learn_columns

__all__ = [
    "Boolean",
    "Category",
    "Columns",
    "Dropped",
    "Entry",
    "Hashed",
    "Learner",
    "Moment",
    "Number",
    "learn_columns",
]
