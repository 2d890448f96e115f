"""Validate the docstrings of public functions and classes with numpydoc.

Public: the names in `__all__` of rosenblatt and rosenblatt.cluster, the class of
rosenblatt.compat.river, and their public methods. Any finding fails.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys

from numpydoc.validate import validate

LEFT_OUT = {"ES01", "SA01", "SA04"}  # extended summary and See Also are not asked for
OF_METHODS = {"EX01"}  # nor an example for each method


def public():
    """The path of every public name, and whether it is a method."""
    import rosenblatt
    import rosenblatt.cluster
    from rosenblatt.compat.river import RiverPerceptron

    packages = (rosenblatt, rosenblatt.cluster)
    things = [RiverPerceptron, *(getattr(p, name) for p in packages for name in p.__all__)]
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
    """Print the findings; 1 if there are any."""
    failures = 0
    names = dict(public())
    results = {path for path, is_method in names.items() if not is_method and is_result(path)}
    for path, is_method in names.items():
        left_out = LEFT_OUT | (OF_METHODS if is_method else set())
        if path in results:  # a dataclass that users do not make: its fields are Attributes
            left_out |= {"PR01"}
        for code, text in validate(path)["errors"]:
            if code in left_out:
                continue
            failures += 1
            print(f"{path}: {code} {text}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
