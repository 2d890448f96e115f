"""rosenblatt: perceptrons that prove what they learned.

>>> from rosenblatt import Perceptron
>>> clf = Perceptron(tol=None).fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
>>> clf.predict([[1, 1]]), clf.stop_reason_
(array(['yes'], dtype='<U3'), 'separated')
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# name -> module; imported on first use, so that `import rosenblatt` stays quick
_PUBLIC = {
    "Perceptron": "rosenblatt.estimators.perceptron",
    "KernelPerceptron": "rosenblatt.estimators.kernel_perceptron",
    "Projectron": "rosenblatt.learn.kernel_machine",
    "RandomBudget": "rosenblatt.learn.kernel_machine",
    "Hashing": "rosenblatt.features.feature_index",
    "TableEncoder": "rosenblatt.estimators.table_encoder",
    "Progressive": "rosenblatt.estimators._online",
    "Regret": "rosenblatt.estimators._online",
    "Margin": "rosenblatt.learn.rules",
    "MinOver": "rosenblatt.learn.rules",
    "ALMA": "rosenblatt.learn.rules",
    "AROW": "rosenblatt.learn.rules",
    "PA": "rosenblatt.learn.rules",
    "PA1": "rosenblatt.learn.rules",
    "PA2": "rosenblatt.learn.rules",
    "SCW": "rosenblatt.learn.rules",
    "SOP": "rosenblatt.learn.rules",
    "Trace": "rosenblatt.learn.trace",
    "OneVsRestTrace": "rosenblatt.learn.trace",
    "GaussianPair": "rosenblatt.theory.gaussian_pair",
    "Explanation": "rosenblatt.model.explain",
    "LinearModel": "rosenblatt.model.linear_model",
    "ModelExplanation": "rosenblatt.model.explain",
    "Problem": "rosenblatt.data.problem",
    "Certificate": "rosenblatt.prove.certificate",
    "Overlapping": "rosenblatt.prove.certificate",
    "QuasiSeparable": "rosenblatt.prove.certificate",
    "Separable": "rosenblatt.prove.certificate",
    "export_onnx": "rosenblatt.model.export",
    "film": "rosenblatt.show.film",
    "CertificateDisplay": "rosenblatt.plot",
    "CosineDisplay": "rosenblatt.plot",
    "DecisionDisplay": "rosenblatt.plot",
    "HyperplanesDisplay": "rosenblatt.plot",
    "LossesDisplay": "rosenblatt.plot",
    "MistakesDisplay": "rosenblatt.plot",
    "OracleDisplay": "rosenblatt.plot",
    "UpdateDisplay": "rosenblatt.plot",
    "VersionSpaceDisplay": "rosenblatt.plot",
    "WeightsDisplay": "rosenblatt.plot",
    "Comparison": "rosenblatt.comparison.result",
    "compare": "rosenblatt.comparison.compare",
    "compare_file": "rosenblatt.comparison.compare",
    "FitResult": "rosenblatt.stream.fit_result",
    "fit_file": "rosenblatt.stream.fit",
    "fit_stream": "rosenblatt.stream.fit",
    "load_model": "rosenblatt.model.model_file",
    "predict_file": "rosenblatt.stream.predict",
    "read": "rosenblatt.io.reader",
    "read_chunks": "rosenblatt.io.reader",
    "save_model": "rosenblatt.model.model_file",
    "separability": "rosenblatt.prove.separability",
    "infinite_coefficients": "rosenblatt.prove.coefficients",
    "max_margin": "rosenblatt.prove.margin",
    "offenders": "rosenblatt.prove.offenders",
    "MaxMargin": "rosenblatt.prove.margin",
    "NotSeparableError": "rosenblatt.prove.margin",
    "NothingProvenError": "rosenblatt.errors",
    "RunBounds": "rosenblatt.prove.bounds.result",
    "separability_table": "rosenblatt.prove.separability.verdict_table",
    "soft_minimum": "rosenblatt.theory.soft_minimum",
    "versus_oracle": "rosenblatt.theory.oracle_comparison",
    "RosenblattError": "rosenblatt.errors",
    "UndecidedError": "rosenblatt.errors",
    "RosenblattWarning": "rosenblatt.errors",
}

__all__ = [
    "ALMA",
    "AROW",
    "PA",
    "PA1",
    "PA2",
    "SCW",
    "SOP",
    "Certificate",
    "CertificateDisplay",
    "Comparison",
    "CosineDisplay",
    "DecisionDisplay",
    "Explanation",
    "FitResult",
    "GaussianPair",
    "Hashing",
    "HyperplanesDisplay",
    "KernelPerceptron",
    "LinearModel",
    "LossesDisplay",
    "Margin",
    "MaxMargin",
    "MinOver",
    "MistakesDisplay",
    "ModelExplanation",
    "NotSeparableError",
    "NothingProvenError",
    "OneVsRestTrace",
    "OracleDisplay",
    "Overlapping",
    "Perceptron",
    "Problem",
    "Progressive",
    "Projectron",
    "QuasiSeparable",
    "RandomBudget",
    "Regret",
    "RosenblattError",
    "RosenblattWarning",
    "RunBounds",
    "Separable",
    "TableEncoder",
    "Trace",
    "UndecidedError",
    "UpdateDisplay",
    "VersionSpaceDisplay",
    "WeightsDisplay",
    "__version__",
    "compare",
    "compare_file",
    "export_onnx",
    "film",
    "fit_file",
    "fit_stream",
    "infinite_coefficients",
    "load_model",
    "max_margin",
    "offenders",
    "predict_file",
    "read",
    "read_chunks",
    "save_model",
    "separability",
    "separability_table",
    "soft_minimum",
    "versus_oracle",
]

if TYPE_CHECKING:
    from rosenblatt.comparison.compare import compare, compare_file
    from rosenblatt.comparison.result import Comparison
    from rosenblatt.data.problem import Problem
    from rosenblatt.errors import RosenblattError, RosenblattWarning, UndecidedError
    from rosenblatt.estimators._online import Progressive, Regret
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron
    from rosenblatt.estimators.perceptron import Perceptron
    from rosenblatt.estimators.table_encoder import TableEncoder
    from rosenblatt.features.feature_index import Hashing
    from rosenblatt.io.reader import read, read_chunks
    from rosenblatt.learn.kernel_machine import Projectron, RandomBudget
    from rosenblatt.learn.rules import ALMA, AROW, PA, PA1, PA2, SCW, SOP, Margin, MinOver
    from rosenblatt.learn.trace import OneVsRestTrace, Trace
    from rosenblatt.model.explain import Explanation, ModelExplanation
    from rosenblatt.model.export import export_onnx
    from rosenblatt.model.linear_model import LinearModel
    from rosenblatt.model.model_file import load_model, save_model
    from rosenblatt.plot import (
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
    from rosenblatt.prove.bounds.result import RunBounds
    from rosenblatt.prove.certificate import (
        Certificate,
        Overlapping,
        QuasiSeparable,
        Separable,
    )
    from rosenblatt.prove.certificate.margin import MaxMargin
    from rosenblatt.prove.coefficients import infinite_coefficients
    from rosenblatt.prove.margin import NotSeparableError, max_margin
    from rosenblatt.prove.offenders import offenders
    from rosenblatt.prove.separability import separability
    from rosenblatt.prove.separability.verdict_table import separability_table
    from rosenblatt.show.film import film
    from rosenblatt.stream.fit import fit_file, fit_stream
    from rosenblatt.stream.fit_result import FitResult
    from rosenblatt.stream.predict import predict_file
    from rosenblatt.theory.gaussian_pair import GaussianPair
    from rosenblatt.theory.oracle_comparison import versus_oracle
    from rosenblatt.theory.soft_minimum import soft_minimum


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
