"""cisc271: labels 0 and 1, residuals, the rule in batches, and Iris from four random starts."""

from __future__ import annotations

from rosenblatt.lectures.cisc271.rule import batch, class_30, neuron, pseudocode, table_1, table_2
from rosenblatt.lectures.cisc271.starts import four_starts
from rosenblatt.lectures.lecture import Lecture

LECTURE = Lecture(
    "cisc271",
    "CISC 271, Class 30: Supervised Learning, Perceptron Rule",
    (class_30, neuron, table_1, table_2, pseudocode, batch, four_starts),
)
