"""Offenders: few rows whose removal makes two classes separable, and how many must go at least."""

from rosenblatt.prove.offenders.search import offenders

__all__ = ["offenders"]
