"""sutd: kinds of learning problems, a case study, linear classifiers without and with offset."""

from __future__ import annotations

from rosenblatt.lectures.lecture import Lecture
from rosenblatt.lectures.sutd import case, kinds, linear, offset, update

PARTS = (kinds, case, linear, update, offset)
LECTURE = Lecture(
    "sutd",
    "50.007 Machine Learning, Lecture 2: Perceptron",
    tuple(section for part in PARTS for section in part.SECTIONS),
)
