"""Shown: every section of a lecture, computed once for all tests of a process."""

import functools

from rosenblatt.lectures import lecture


@functools.cache
def shown(name):
    return tuple(lecture(name).run())
