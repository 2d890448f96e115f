"""Run scikit-learn's own tests and River's checks on our estimators, and write the table of docs.

python docs/make_peer_tests.py [--check | FILE ...]

With names of files, only these tests of scikit-learn are run, and nothing is written.

The test files of the installed scikit-learn are run with the import swapped: `Perceptron` is ours,
`SGDClassifier` and `PassiveAggressiveClassifier` are adapters below that translate parameters. A
test is not applicable if it never makes the swapped class, or asks the adapter for a loss or method
that we do not have. A failure without an explanation in EXPLAINED is an error, and so is an
explanation without a failure.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn
import sklearn.linear_model
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import PassiveAggressiveClassifier, SGDClassifier

from rosenblatt import Perceptron
from rosenblatt.errors import ParameterError

PAGE = Path(__file__).parent / "reference" / "peer_tests.md"
FILES = ("test_perceptron.py", "test_sgd.py", "test_passive_aggressive.py")
TESTS = Path(sklearn.__file__).parent / "linear_model" / "tests"
START, END = "<!-- table: docs/make_peer_tests.py -->", "<!-- end of table -->"
seen = {"made": 0, "refused": ""}

# Tests of scikit-learn that fail with our classes, and why: by file and function.
PRIVATE = "asks for private attributes that hold the averages (`_average_coef`)"
FUTURE = "expects the warning of a deprecation that is scikit-learn's own"
BALANCED = '`class_weight="balanced"` works in `partial_fit` here; the test expects an error'
EXPLAINED = {
    "test_sgd.py::test_plain_has_no_average_attr": PRIVATE,
    "test_sgd.py::test_validation_set_not_used_for_training": (
        "early stopping returns the weights that scored best on the held-out rows, scikit-learn's "
        "the last; the test compares last weights"
    ),
    "test_sgd.py::test_power_t_limits": FUTURE,
    "test_sgd.py::test_partial_fit_weight_class_balanced": BALANCED,
    "test_sgd.py::test_partial_fit_exception": (
        "`classes` may be left out of the first `partial_fit`; the test expects an error"
    ),
    "test_sgd.py::test_validation_mask_correctly_subsets": (
        "replaces a private function of scikit-learn and asks how it was called"
    ),
    "test_sgd.py::test_sgd_error_on_zero_validation_weight": (
        "sample weights that are all zero are refused with another sentence, before rows are held "
        "out"
    ),
    "test_passive_aggressive.py::test_classifier_accuracy": PRIVATE,
    "test_passive_aggressive.py::test_classifier_partial_fit": PRIVATE,
    "test_passive_aggressive.py::test_classifier_correctness": (
        "our rules PA-I and PA-II count the offset as a feature of value 1, so the squared norm of "
        "a row is one larger and steps are shorter; scikit-learn leaves the offset out of the norm"
    ),
    "test_passive_aggressive.py::test_partial_fit_weight_class_balanced": BALANCED,
    "test_passive_aggressive.py::test_class_deprecation": FUTURE,
}


class NotApplicableError(ParameterError):
    """A loss or method that rosenblatt does not have."""


def not_applicable(what):
    """Note why the test does not apply, and end it."""
    seen["refused"] = what
    raise NotApplicableError(f"{what} is not in rosenblatt.")


class Adapter(ClassifierMixin, BaseEstimator):
    """A Perceptron with the parameters of another class."""

    OWN = ("loss", "average", "C", "epsilon")
    METHODS = ("predict_proba", "predict_log_proba")

    def __getattr__(self, name):
        if name in self.METHODS:
            not_applicable(name)
        inner = self.__dict__.get("inner")
        if inner is None or (name.startswith("_") and name != "_skl_callbacks"):
            raise AttributeError(name)
        return getattr(inner, name)

    def __setattr__(self, name, value):
        if name.endswith("_") and "inner" in self.__dict__:
            setattr(self.inner, name, value)
        else:
            super().__setattr__(name, value)

    def prepared(self):
        """The Perceptron with the present parameters."""
        params = self.get_params(deep=False)
        params |= {"rule": self.rule()} | self.changed(params)
        if params["average"] not in (False, True):
            not_applicable("averaging from a later visit on")
        params["keep"] = "average" if params["average"] else "last"
        own = {k: v for k, v in params.items() if k not in self.OWN}
        if "inner" not in self.__dict__:
            self.__dict__["inner"] = Perceptron(**own)
        return self.inner.set_params(**own)

    def changed(self, params):
        return {}

    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        self.prepared().fit(X, y, coef_init, intercept_init, sample_weight)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.prepared().partial_fit(X, y, classes, sample_weight)
        return self

    def predict(self, X):
        return self.prepared().predict(X)

    def decision_function(self, X):
        return self.prepared().decision_function(X)

    def __sklearn_is_fitted__(self):
        return "inner" in self.__dict__ and self.inner.__sklearn_is_fitted__()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def adapter(theirs, rule, changed=lambda self, params: {}):
    """A class with the signature of theirs."""
    signature = inspect.signature(theirs.__init__)
    names = [name for name in signature.parameters if name != "self"]

    def __init__(self, **params):
        seen["made"] += 1
        unknown = set(params) - set(names)
        if unknown:
            raise TypeError(f"unexpected {unknown}")
        for name in names:
            setattr(self, name, params.get(name, signature.parameters[name].default))

    __init__.__signature__ = signature
    body = {"__module__": __name__, "__init__": __init__, "rule": rule, "changed": changed}
    return type(theirs.__name__, (Adapter,), body)


def sgd_rule(self):
    """The rule for a loss of SGDClassifier."""
    if self.loss not in ("hinge", "perceptron"):
        not_applicable(f"loss={self.loss!r}")
    if self.learning_rate in ("pa1", "pa2"):
        return f"{self.learning_rate}(C={float(self.eta0)!r})"
    return "perceptron" if self.loss == "perceptron" else "margin(tau=1.0)"


def sgd_changed(self, params):
    """Parameters that a passive-aggressive rule does not take."""
    if params["learning_rate"] in ("pa1", "pa2"):
        return {"learning_rate": "constant", "eta0": 1.0, "penalty": None}
    return {}


def pa_rule(self):
    """The rule for a loss of PassiveAggressiveClassifier."""
    kinds = {"hinge": "pa1", "squared_hinge": "pa2"}
    if self.loss not in kinds:
        not_applicable(f"loss={self.loss!r}")
    return f"{kinds[self.loss]}(C={float(self.C)!r})"


class Outcomes:
    """A pytest plugin that notes how every test ended."""

    def __init__(self):
        self.found = {}

    def pytest_runtest_setup(self, item):
        seen.update(made=0, refused="")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if report.when != "call" and report.passed:
            return
        name = f"{item.path.name}::{getattr(item, 'originalname', None) or item.name}"
        if seen["refused"]:
            outcome = "not applicable: " + seen["refused"]
        elif not seen["made"]:
            outcome = "not applicable: another class or function"
        else:
            outcome = report.outcome
        detail = str(call.excinfo.value).strip().splitlines()[:1] if call.excinfo else []
        self.found[item.nodeid] = (name, outcome, "".join(detail))


def swap():
    """Put our classes into scikit-learn."""
    ours = type("Perceptron", (Perceptron,), {"__module__": __name__})
    make = ours.__init__

    def counted(self, **params):
        seen["made"] += 1
        make(self, **params)

    counted.__signature__ = inspect.signature(make)
    ours.__init__ = counted
    classes = [
        ours,
        adapter(SGDClassifier, sgd_rule, sgd_changed),
        adapter(PassiveAggressiveClassifier, pa_rule),
    ]
    for cls in classes:
        globals()[cls.__name__] = cls  # where pickle looks for it
        setattr(sklearn.linear_model, cls.__name__, cls)


def run_sklearn(files=FILES):
    """(test function, outcome) of every test of scikit-learn in some files."""
    swap()
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(
            [*(str(TESTS / name) for name in files), "-q", "-p", "no:cacheprovider",
             "-c", "/dev/null", f"--rootdir={TESTS}", "-W", "ignore"],
            plugins=[outcomes],
        )  # fmt: skip
    return [(name, outcome) for name, outcome, _ in outcomes.found.values()]


def run_river():
    """(check, outcome) of every check of River."""
    from river import checks

    from rosenblatt.compat.river import RiverPerceptron

    found = []
    for estimator in (Perceptron(), Perceptron(keep="average"), Perceptron(rule="arow")):
        model = RiverPerceptron(estimator)
        for check in checks.yield_checks(model):
            try:
                check(model.clone())
                found.append((f"River::{check.__name__}", "passed"))
            except Exception:  # of any kind: it is what the table is about
                found.append((f"River::{check.__name__}", "failed"))
    return found


def page(found):
    """The table and the explanations, as Markdown."""
    import river

    counts = Counter((name.split("::")[0], outcome.split(":")[0]) for name, outcome in found)
    failed = Counter(name for name, outcome in found if outcome == "failed")
    if set(failed) != set(EXPLAINED):
        raise SystemExit(f"failures and explanations differ: {set(failed) ^ set(EXPLAINED)}")
    sources = [(f"scikit-learn {sklearn.__version__}, `{name}`", name) for name in FILES]
    sources.append((f"River {river.__version__}, checks of three models", "River"))
    lines = ["| tests | passed | failed | not applicable |", "|---|---:|---:|---:|"]
    for text, name in sources:
        cells = [counts[name, kind] for kind in ("passed", "failed", "not applicable")]
        lines.append(f"| {text} | {cells[0]} | {cells[1]} | {cells[2]} |")
    lines += ["", "| test that fails | cases | why |", "|---|---:|---|"]
    lines += [f"| `{n.split('::')[1]}` ({n.split('::')[0]}) | {failed[n]} | {why} |"
              for n, why in EXPLAINED.items()]  # fmt: skip
    reasons = Counter(o.partition(": ")[2] for _, o in found if o.startswith("not"))
    lines += ["", "| not applicable because the test uses | cases |", "|---|---:|"]
    lines += [f"| {reason} | {count} |" for reason, count in sorted(reasons.items())]
    return "\n".join(lines)


def check(files) -> int:
    """Run some files; 1 if a test fails without an explanation, or none applies."""
    found = run_sklearn(files)
    counts = Counter(outcome.split(":")[0] for _, outcome in found)
    unexplained = {name for name, outcome in found if outcome == "failed"} - set(EXPLAINED)
    print(dict(counts), "not explained:", sorted(unexplained))
    return int(bool(unexplained) or not counts["passed"])


def main() -> int:
    """Write the table, or compare it with the page."""
    if files := [name for name in sys.argv[1:] if name != "--check"]:
        return check(files)
    table = f"{START}\n\n{page(run_sklearn() + run_river())}\n\n{END}"
    text = PAGE.read_text()
    new = re.sub(f"{START}.*{END}", lambda _: table, text, flags=re.DOTALL)
    if "--check" in sys.argv:
        return int(new != text)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
