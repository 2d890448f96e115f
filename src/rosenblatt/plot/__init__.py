"""plot: Displays of perceptrons and proofs, one module per subject."""

from rosenblatt.plot.cosine import CosineDisplay
from rosenblatt.plot.decision import DecisionDisplay, OracleDisplay
from rosenblatt.plot.losses import LossesDisplay
from rosenblatt.plot.proofs import CertificateDisplay, VersionSpaceDisplay
from rosenblatt.plot.run import HyperplanesDisplay, MistakesDisplay, WeightsDisplay
from rosenblatt.plot.style import axes, colors
from rosenblatt.plot.svg import Picture, picture
from rosenblatt.plot.update import UpdateDisplay

__all__ = [
    "CertificateDisplay",
    "CosineDisplay",
    "DecisionDisplay",
    "HyperplanesDisplay",
    "LossesDisplay",
    "MistakesDisplay",
    "OracleDisplay",
    "Picture",
    "UpdateDisplay",
    "VersionSpaceDisplay",
    "WeightsDisplay",
    "axes",
    "colors",
    "picture",
]
