"""The checker: short, exact, and sharing nothing with the code that makes claims.

Every float is a rational number, so a claim about floats can be checked exactly. A row is
first looked at in floating point with a rigorous error bound; rows which that cannot decide
are summed over integers (`limbs.py`). With z_i = y_i (x_i, 1), or y_i x_i without offset:

- a hyperplane (w, b) has the exact sign of w.z_i at every row, and a margin of at least so much;
- weights c_i > 0 on some rows cancel if sum_i c_i z_i = 0 exactly;
- rows span other rows: :mod:`rosenblatt.prove.checker.span`.

It imports no search, no solver and no training (import-linter).
"""

from rosenblatt.prove.checker.combination import cancels, common_point, labels
from rosenblatt.prove.checker.norms import margin_of
from rosenblatt.prove.checker.signs import is_number, plane_of, signs

__all__ = [
    "cancels",
    "common_point",
    "is_number",
    "labels",
    "margin_of",
    "plane_of",
    "signs",
]
