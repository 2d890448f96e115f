"""Errors: one family that says what was wrong, what was given and what to do.

Every error the project raises on purpose is a :class:`RosenblattError`. Those about
values are also ``ValueError``, because that is what scikit-learn's users catch.
"""


class RosenblattError(Exception):
    """The family of every error raised on purpose by this package."""


class DataError(RosenblattError, ValueError):
    """The rows or features cannot be learned from as they are."""


class DataTypeError(DataError, TypeError):
    """The data are of a kind that is not numbers at all."""


class LabelError(DataError):
    """The labels cannot be learned from as they are."""


class ParameterError(RosenblattError, ValueError):
    """A parameter has a value, or a combination of values, that has no meaning."""


class OverflowedError(DataError, ArithmeticError):
    """Scores or weights left the range of floating-point numbers."""


class NotSupportedError(ParameterError):
    """A combination that is well defined elsewhere but not offered here."""


class CheckpointError(RosenblattError):
    """A checkpoint cannot be written, cannot be read, or is of another run."""


class ClusterError(RosenblattError):
    """A cluster cannot do the work: it is not there, was lost, or a part of the data failed."""


class Undecided(RosenblattError):
    """A limit was reached before anything could be proven. It says how far it came."""


class RosenblattWarning(UserWarning):
    """The result is usable, but probably not what was meant."""


class MissingPackageError(RosenblattError, ImportError):
    """A package of an extra is not installed. The message has the command that does it."""
