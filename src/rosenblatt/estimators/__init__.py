"""Estimators: scikit-learn classes. They contain no algorithms."""

from rosenblatt.estimators.perceptron import Perceptron

__all__ = ["Perceptron"]
