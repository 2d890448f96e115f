"""Rows of a multinomial model: many classes as one hyperplane in a larger space.

The weights of all classes, each with its offset, are one long vector W. Row i of class c beats
class r if w_c.x_i > w_r.x_i, that is Z.W > 0 for the row Z with x_i in the place of c and -x_i in
the place of r [Kesler]. The direct rule is the perceptron on these rows, and ||Z||^2 is
2 ||x_i||^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem

MOST_NUMBERS = 50_000_000


def too_large(problem: Problem) -> str:
    """Why these rows will not be written out, or nothing."""
    n = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
    numbers = 2 * (len(problem.classes) - 1) * (n + problem.n_rows)
    if numbers <= MOST_NUMBERS:
        return ""
    return f"Kesler's rows would hold {numbers:,} numbers, more than the {MOST_NUMBERS:,} allowed"


def multinomial_rows(problem: Problem, intercept: bool) -> tuple[Any, npt.NDArray[np.int8]]:
    """A row for each row and each class that is not its own, as CSR with labels.

    Every second row is negated and labelled -1, which changes no y x: two classes are there.

    >>> X, y = multinomial_rows(Problem.of([[5.0], [7.0]], [0, 1], classes=[0, 1, 2]), False)
    >>> (y[:, None] * X.toarray()).astype(int).tolist()
    [[5, -5, 0], [-7, 7, 0], [5, 0, -5], [0, 7, -7]]
    """
    X = sp.csr_array(problem.X, dtype=np.float64)
    if intercept:
        X = sp.hstack([X, np.ones((X.shape[0], 1))], format="csr")
    classes, own = len(problem.classes), problem.class_numbers()
    blocks = []
    for step in range(classes - 1):
        rival = step + (step >= own)  # the classes other than its own, in order
        places = [(own == k) * 1.0 - (rival == k) for k in range(classes)]
        blocks.append(sp.hstack([sp.diags_array(place) @ X for place in places]))
    rows = sp.csr_array(sp.vstack(blocks))
    y = np.where(np.arange(rows.shape[0]) % 2, -1, 1).astype(np.int8)
    rows = sp.csr_array(sp.diags_array(y.astype(np.float64)) @ rows)
    rows.eliminate_zeros()
    return rows, y
