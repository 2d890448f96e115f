"""Errors: one family that says what was wrong, what was given and what to do.

Every error the project raises on purpose is a :class:`RosenblattError`. Those about
values are also ``ValueError``, because that is what scikit-learn's users catch.
"""

from __future__ import annotations


class RosenblattError(Exception):
    """The family of every error raised on purpose by this package.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> try:
    ...     Perceptron(rule="arow").fit([[0], [1]], [0, 0])
    ... except RosenblattError as error:
    ...     print(type(error).__name__)
    LabelError
    """


class DataError(RosenblattError, ValueError):
    """The rows or features cannot be learned from as they are."""


class DataTypeError(DataError, TypeError):
    """The data are of a kind that is not numbers at all."""


class LimitError(DataError):
    """Input is larger than a limit that protects memory.

    Parameters
    ----------
    what : str
        What was counted, in words.
    size : int
        The size that was claimed or found.
    limit : int
        The largest size that is accepted.
    place : str
        Where: a file and a line, for example.
    option : str, optional
        The parameter or option that raises the limit.

    Examples
    --------
    >>> print(LimitError("bytes in one line", 20_000_000, 16_777_216, "line 3", "max_line_bytes"))
    line 3: 20,000,000 bytes in one line, the limit is 16,777,216. Raise it with max_line_bytes.
    """

    def __init__(
        self, what: str, size: int, limit: int, place: str, option: str | None = None
    ) -> None:
        self.limit, self.place, self.option = limit, place, option
        advice = f" Raise it with {option}." if option else ""
        super().__init__(f"{place}: {size:,} {what}, the limit is {limit:,}.{advice}")
        self._arguments = what, size, limit, place, option

    def __reduce__(self) -> tuple[type[LimitError], tuple[object, ...]]:
        return type(self), self._arguments


class MalformedLineError(DataError):
    """A line is malformed, and such lines are not skipped.

    Attributes
    ----------
    problem : str
        Where it is, what was expected and what was found.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(
            f"{problem}. Fix the file, or skip such lines: on_error='skip' in Python, "
            "--skip-errors on the command line."
        )

    def __reduce__(self) -> tuple[type[MalformedLineError], tuple[str]]:
        return type(self), (self.problem,)


class NoRowsError(DataError):
    """There is not one row in what was read."""


class FileError(DataError, OSError):
    """A file is not there, or cannot be read."""


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


class UndecidedError(RosenblattError):
    """A limit was reached before anything could be proven. The message says how far the search got.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> try:
    ...     separability([[0], [1], [2]], [0, 1, 0], max_seconds=0)
    ... except UndecidedError as error:
    ...     print(error)
    no verdict within 0 s: stopped before the first pass. Give more time.
    """


class RosenblattWarning(UserWarning):
    """The result is usable, but probably not what was meant.

    Examples
    --------
    >>> import warnings
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0], [1], [2], [3]], [0, 1, 0, 1]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", RosenblattWarning)  # an error in place of a warning
    ...     try:
    ...         Perceptron(keep="vote", max_iter=10_000, tol=None).fit(X, y)
    ...     except RosenblattWarning as warning:
    ...         print(str(warning).partition(".")[0])
    keep='vote' stopped at the most hyperplanes it keeps by default
    """


class MissingPackageError(RosenblattError, ImportError):
    """A package of an extra is not installed. The message has the command that installs it."""


class NothingProvenError(RosenblattError):
    """The run proved nothing about the rows; `separability` may.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> try:
    ...     Perceptron(max_iter=1, tol=None).fit(X, y).certificate(X, y)
    ... except NothingProvenError as error:
    ...     print(str(error).partition(" (")[0])
    the run stopped for another reason
    """
