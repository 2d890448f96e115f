"""Estimators: scikit-learn classes. Parameters in, attributes out; no algorithm lives here."""

from rosenblatt.estimators.perceptron import Perceptron

__all__ = ["Perceptron"]
