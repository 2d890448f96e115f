"""Verdicts on whether a hyperplane separates two classes, and the search for them."""

from rosenblatt.prove.separability.decide import separability

__all__ = ["separability"]
