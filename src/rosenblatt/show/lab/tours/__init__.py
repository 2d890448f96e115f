"""tours: a guided tour through each of the five lectures, in the plane of the lab.

A tour is a module of this folder with a `TITLE`, the title of its `LECTURE` and a function `tour`.
Its texts are filled with the numbers of the very runs they are about.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from rosenblatt.errors import ParameterError
from rosenblatt.show.lab.tours.step import Step, Tour

NAMES = ("radivojac", "chan", "sutd", "online", "cisc271")
__all__ = ["NAMES", "Step", "Tour", "listed", "told", "tour"]


@cache
def tour(name: str) -> Tour:
    """The tour through the lecture of that name, one of NAMES."""
    if name not in NAMES:
        raise ParameterError(f"there is no tour {name!r}. There are: {', '.join(NAMES)}.")
    found = _module(name).tour()
    assert isinstance(found, Tour)
    return found


def _module(name: str) -> Any:
    return importlib.import_module(f"rosenblatt.show.lab.tours.{name}")


@cache
def _filled(name: str) -> dict[str, Any]:
    return tour(name).told()


def told(name: str) -> dict[str, Any]:
    """The tour as the page reads it: `name`, `title`, `lecture` and `steps`.

    >>> found = told("sutd")
    >>> found["title"], len(found["steps"]), found["steps"][3]["goal"]
    ('sutd: a test example by hand', 10, {'kind': 'at_least', 'visits': 1})
    """
    return _filled(name)


def listed() -> list[dict[str, str]]:
    """Name, title and lecture of every tour; none is made for that.

    >>> [tour["name"] for tour in listed()]
    ['radivojac', 'chan', 'sutd', 'online', 'cisc271']
    """
    return [
        {"name": name, "title": module.TITLE, "lecture": module.LECTURE}
        for name, module in zip(NAMES, map(_module, NAMES), strict=True)
    ]
