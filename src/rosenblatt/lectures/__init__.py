"""Lectures: five lectures, one script each, every number and figure of it computed anew.

A lecture is a module of this folder with a `LECTURE`: its name, its title, and one short
function for each of its headings, in its order. `rosenblatt lectures chan --out DIR` runs one.
"""

from __future__ import annotations

import importlib

from rosenblatt.errors import ParameterError
from rosenblatt.lectures.case_study import Tumours, tumours
from rosenblatt.lectures.exercises import exercise
from rosenblatt.lectures.lecture import Lecture

__all__ = ["NAMES", "Tumours", "exercise", "lecture", "tumours"]
NAMES = ("radivojac", "chan", "sutd", "online", "cisc271")


def lecture(name: str) -> Lecture:
    """The lecture of that name, one of NAMES."""
    if name not in NAMES:
        raise ParameterError(f"there is no lecture {name!r}. There are: {', '.join(NAMES)}.")
    found = importlib.import_module(f"rosenblatt.lectures.{name}").LECTURE
    assert isinstance(found, Lecture)
    return found
