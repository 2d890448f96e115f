"""Results that anyone can check: verdicts with proofs, and their JSON."""

from rosenblatt.prove.certificate.base import Certificate, Combination, Verification
from rosenblatt.prove.certificate.codec import from_json
from rosenblatt.prove.certificate.coefficients import Coefficients
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.certificate.offenders import Offenders
from rosenblatt.prove.certificate.verdicts import (
    Overlapping,
    QuasiSeparable,
    Separable,
    spoken_of,
)
from rosenblatt.prove.checker.digest import data_digest

__all__ = [
    "Certificate",
    "Coefficients",
    "Combination",
    "MaxMargin",
    "Offenders",
    "Overlapping",
    "QuasiSeparable",
    "Separable",
    "Verification",
    "data_digest",
    "from_json",
    "spoken_of",
]
