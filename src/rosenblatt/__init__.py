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
    "Hashing": "rosenblatt.data.hashing",
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
    "GaussianPair": "rosenblatt.prove.oracle",
    "Columns": "rosenblatt.data.columns.frozen",
    "RawStream": "rosenblatt.data.columns.streams",
    "columns_of_file": "rosenblatt.data.columns.looking",
    "learn_columns": "rosenblatt.data.columns.learning",
    "Explanation": "rosenblatt.learn.contributions",
    "LinearModel": "rosenblatt.learn.linear",
    "ModelExplanation": "rosenblatt.learn.heaviest",
    "Problem": "rosenblatt.data.problem",
    "Certificate": "rosenblatt.prove.certificate",
    "Overlapping": "rosenblatt.prove.certificate",
    "QuasiSeparable": "rosenblatt.prove.certificate",
    "Separable": "rosenblatt.prove.certificate",
    "export_onnx": "rosenblatt.export",
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
    "FitResult": "rosenblatt.stream.fit",
    "fit_file": "rosenblatt.stream.fit",
    "fit_stream": "rosenblatt.stream.fit",
    "load_model": "rosenblatt.model_file",
    "predict_file": "rosenblatt.stream.predict",
    "read": "rosenblatt.data.readers",
    "read_chunks": "rosenblatt.data.readers",
    "save_model": "rosenblatt.model_file",
    "separability": "rosenblatt.prove.separability",
    "infinite_coefficients": "rosenblatt.prove.coefficients",
    "max_margin": "rosenblatt.prove.margin",
    "offenders": "rosenblatt.prove.offenders",
    "MaxMargin": "rosenblatt.prove.margin",
    "NotSeparable": "rosenblatt.prove.margin",
    "NothingProven": "rosenblatt.prove.runs.earned",
    "RunBounds": "rosenblatt.prove.runs.run_bounds",
    "separability_table": "rosenblatt.prove.multiclass",
    "soft_minimum": "rosenblatt.prove.losses",
    "versus_oracle": "rosenblatt.prove.oracle",
    "RosenblattError": "rosenblatt.errors",
    "Undecided": "rosenblatt.errors",
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
    "Columns",
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
    "NotSeparable",
    "NothingProven",
    "OneVsRestTrace",
    "OracleDisplay",
    "Overlapping",
    "Perceptron",
    "Problem",
    "Progressive",
    "Projectron",
    "QuasiSeparable",
    "RandomBudget",
    "RawStream",
    "Regret",
    "RosenblattError",
    "RosenblattWarning",
    "RunBounds",
    "Separable",
    "Trace",
    "Undecided",
    "UpdateDisplay",
    "VersionSpaceDisplay",
    "WeightsDisplay",
    "__version__",
    "columns_of_file",
    "compare",
    "compare_file",
    "export_onnx",
    "film",
    "fit_file",
    "fit_stream",
    "infinite_coefficients",
    "learn_columns",
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
    from rosenblatt.data.columns.frozen import Columns
    from rosenblatt.data.columns.learning import learn_columns
    from rosenblatt.data.columns.looking import columns_of_file
    from rosenblatt.data.columns.streams import RawStream
    from rosenblatt.data.hashing import Hashing
    from rosenblatt.data.problem import Problem
    from rosenblatt.data.readers import read, read_chunks
    from rosenblatt.errors import RosenblattError, RosenblattWarning, Undecided
    from rosenblatt.estimators._online import Progressive, Regret
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron
    from rosenblatt.estimators.perceptron import Perceptron
    from rosenblatt.export import export_onnx
    from rosenblatt.learn.contributions import Explanation
    from rosenblatt.learn.heaviest import ModelExplanation
    from rosenblatt.learn.kernel_machine import Projectron, RandomBudget
    from rosenblatt.learn.linear import LinearModel
    from rosenblatt.learn.rules import ALMA, AROW, PA, PA1, PA2, SCW, SOP, Margin, MinOver
    from rosenblatt.learn.trace import OneVsRestTrace, Trace
    from rosenblatt.model_file import load_model, save_model
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
    from rosenblatt.prove.certificate import (
        Certificate,
        Overlapping,
        QuasiSeparable,
        Separable,
    )
    from rosenblatt.prove.coefficients import infinite_coefficients
    from rosenblatt.prove.losses import soft_minimum
    from rosenblatt.prove.margin import MaxMargin, NotSeparable, max_margin
    from rosenblatt.prove.multiclass import separability_table
    from rosenblatt.prove.offenders import offenders
    from rosenblatt.prove.oracle import GaussianPair, versus_oracle
    from rosenblatt.prove.runs.earned import NothingProven
    from rosenblatt.prove.runs.run_bounds import RunBounds
    from rosenblatt.prove.separability import separability
    from rosenblatt.show.film import film
    from rosenblatt.stream.fit import FitResult, fit_file, fit_stream
    from rosenblatt.stream.predict import predict_file


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
