"""Run: the trace of a perceptron on two classes, and its updates one by one."""

from __future__ import annotations

from rosenblatt.estimators import Perceptron
from rosenblatt.learn.trace import Record, Trace


def trace(clf: Perceptron) -> Trace:
    """What the run did."""
    assert isinstance(clf.trace_, Trace)
    return clf.trace_


def updates(clf: Perceptron) -> Record:
    """All updates of a run that was recorded."""
    record = trace(clf).record
    assert record is not None
    assert record.complete
    return record
