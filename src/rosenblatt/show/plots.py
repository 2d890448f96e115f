"""Plots: the front door of the figures. matplotlib is imported when the first one is drawn.

Every display follows scikit-learn's idiom: ``from_...`` computes and draws, ``ax=`` says where, and
the object given back has `ax_`, `figure_` and the artists as attributes; `plot` draws it again.
docs/plots.md shows them all.
"""

from rosenblatt.show.figures.decision import DecisionDisplay

__all__ = ["DecisionDisplay"]
