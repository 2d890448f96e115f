"""Validate the docstrings of public functions and classes with numpydoc.

python .ci/docstrings.py [PACKAGE ...]

Public: the names in `__all__` of rosenblatt, the classes of rosenblatt.compat.river and
rosenblatt.cluster, and their public methods. A finding in a package of VALIDATED fails; of the
others the number is printed, and the findings of each PACKAGE that is named.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
from collections import Counter

from numpydoc.validate import validate

VALIDATED = (
    "rosenblatt.comparison", "rosenblatt.compat", "rosenblatt.errors", "rosenblatt.estimators",
    "rosenblatt.learn", "rosenblatt.cluster.estimator",
)  # fmt: skip
LEFT_OUT = {"ES01", "SA01", "SA04"}  # extended summary and See Also are not asked for
OF_METHODS = {"EX01"}  # nor an example for each method
MORE = ("rosenblatt.compat.river.RiverPerceptron", "rosenblatt.cluster.estimator.DaskPerceptron")


def public():
    """The path of every public name, and whether it is a method."""
    import rosenblatt

    things = [getattr(rosenblatt, name) for name in rosenblatt.__all__]
    for path in MORE:
        module, _, name = path.rpartition(".")
        things.append(getattr(importlib.import_module(module), name))
    for thing in things:
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        path = f"{thing.__module__}.{thing.__qualname__}"
        yield path, False
        for name in dir(thing) if inspect.isclass(thing) else ():
            owner = next((c for c in thing.__mro__ if name in vars(c)), object)
            value = vars(owner).get(name)
            is_method = callable(value) or isinstance(value, (property, classmethod, staticmethod))
            is_method |= hasattr(value, "check")  # available_if
            inherits = any(getattr(vars(c).get(name), "__doc__", None) for c in owner.__mro__[1:])
            if inherits and not value.__doc__:
                continue  # help() shows the docstring of the method it overrides
            if not name.startswith("_") and is_method and owner.__module__.startswith("rosenblatt"):
                yield f"{path}.{name}", True


def is_result(path):
    """Whether this is a frozen dataclass."""
    module, _, name = path.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    return dataclasses.is_dataclass(thing) and thing.__dataclass_params__.frozen


def main() -> int:
    """Print the findings; 1 if a validated package has any."""
    failures, others = 0, Counter()
    names = dict(public())
    results = {path for path, is_method in names.items() if not is_method and is_result(path)}
    for path, is_method in names.items():
        left_out = LEFT_OUT | (OF_METHODS if is_method else set())
        if path in results:  # a dataclass that users do not make: its fields are Attributes
            left_out |= {"PR01"}
        for code, text in validate(path)["errors"]:
            if code in left_out:
                continue
            validated = path.startswith(VALIDATED)
            failures += validated
            others[".".join(path.split(".")[:2])] += not validated
            if validated or path.startswith(tuple(sys.argv[1:]) or ("-",)):
                print(f"{path}: {code} {text}")
    print("docstrings not validated yet:", dict(+others))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
