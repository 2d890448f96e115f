"""Parameters: numbers, and objects with parameters of their own, reached as `rule__tau`."""

from __future__ import annotations

from dataclasses import fields, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from rosenblatt.errors import ParameterError


def is_number(value: Any, kind: Any = Real) -> bool:
    """Whether a parameter is a number; True and False are not."""
    return isinstance(value, kind) and not isinstance(value, (bool, np.bool_))


class Parameters:
    """A frozen dataclass whose fields are parameters: a rule, or a budget of support rows."""

    name: ClassVar[str]
    kind_of_object: ClassVar[str]  # in messages

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, for scikit-learn's ``rule__tau`` and ``budget__size``.

        Parameters
        ----------
        deep : bool, default=True
            Not used.

        Returns
        -------
        dict
            Parameters by name.
        """
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def with_params(self, **params: Any) -> Self:
        """Return a copy with other parameters.

        Parameters
        ----------
        **params : Any
            New values by name.

        Returns
        -------
        Self
            The copy.

        Raises
        ------
        ParameterError
            If there is no such parameter, or a value is invalid.
        """
        have = list(self.get_params())
        unknown = sorted(set(params) - set(have))
        if unknown:
            raise ParameterError(
                f"{self.kind_of_object} {self.name!r} has no parameter {unknown}; it has "
                f"{have}.{self._hint(unknown)}"
            )
        return replace(self, **params)  # type: ignore[type-var]

    def _hint(self, unknown: list[str]) -> str:
        """Other objects that have these parameters, as a sentence."""
        return ""
