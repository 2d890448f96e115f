"""Bounds on the mistakes of a training run, and the certificate of what the run proved."""

from rosenblatt.prove.bounds.theorems import MistakeBound, mistake_bound

__all__ = ["MistakeBound", "mistake_bound"]
