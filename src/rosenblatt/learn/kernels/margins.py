"""Margins: what a mistake is, and who makes the next one."""

from __future__ import annotations

from rosenblatt.learn.kernels.arrays import CORRECT, HALF, POSITIVE, compiled


@compiled()
def mistake(z, y, tie):
    """How much of a mistake the margin z = y (w.x + b) is: 0, 1/2 or 1.

    A score of exactly 0 is decided by `tie`, see docs/conventions.md.
    """
    if z < 0.0:
        return 1.0
    if z > 0.0 or tie == CORRECT:
        return 0.0
    if tie == POSITIVE:
        return 1.0 if y < 0 else 0.0
    if tie == HALF:
        return 0.5
    return 1.0


@compiled()
def push(rule, z, y):
    """How many times eta y x is added at margin z: the mistake, or 1 up to tau."""
    if rule.margin:
        return 1.0 if z <= rule.tau else 0.0
    return mistake(z, y, rule.tie)
