"""plot: Displays of perceptrons and proofs, one picture per module."""

from rosenblatt.plot.style import axes, colors
from rosenblatt.plot.svg import Picture, picture
from rosenblatt.show.plots import (
    CertificateDisplay,
    CosineDisplay,
    DecisionDisplay,
    HyperplanesDisplay,
    LossesDisplay,
    MistakesDisplay,
    OracleDisplay,
    UpdateDisplay,
    VersionSpaceDisplay,
    WeightsDisplay,
)

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
