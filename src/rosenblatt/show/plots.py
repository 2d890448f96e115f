"""Plots: the front door of the figures. matplotlib is imported when the first one is drawn.

Every display follows scikit-learn's idiom: ``from_...`` computes and draws, ``ax=`` says where, and
the object given back has `ax_`, `figure_` and the artists as attributes; `plot` draws it again.
"""

from rosenblatt.show.figures.certificate import CertificateDisplay
from rosenblatt.show.figures.cosine import CosineDisplay
from rosenblatt.show.figures.decision import DecisionDisplay
from rosenblatt.show.figures.losses import LossesDisplay
from rosenblatt.show.figures.mistakes import MistakesDisplay
from rosenblatt.show.figures.oracle import OracleDisplay
from rosenblatt.show.figures.update import UpdateDisplay
from rosenblatt.show.figures.version_space import VersionSpaceDisplay
from rosenblatt.show.figures.weights import HyperplanesDisplay, WeightsDisplay

__all__ = [
    "CertificateDisplay",
    "CosineDisplay",
    "DecisionDisplay",
    "HyperplanesDisplay",
    "LossesDisplay",
    "MistakesDisplay",
    "OracleDisplay",
    "UpdateDisplay",
    "VersionSpaceDisplay",
    "WeightsDisplay",
]
