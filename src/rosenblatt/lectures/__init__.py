"""Lectures: notebooks of five lectures, their exercises, and the data of a case study.

The lectures themselves are the pages of docs/lectures, which the site executes.
"""

from rosenblatt.lectures.case_study import Tumours, tumours
from rosenblatt.lectures.exercises import exercise

__all__ = ["Tumours", "exercise", "tumours"]
