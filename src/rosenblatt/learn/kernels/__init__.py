"""Kernels: the only compiled learning loops. Arrays in, arrays out.

One body per algorithm serves dense and CSR data alike. A row is reached through
`dot`, `add` and `square`, which numba resolves at compile time from the type of
`rows` (:class:`Dense` or :class:`Sparse`); which algorithm runs is resolved from the
type of `rule` (:class:`Online`, :class:`Penalised`, :class:`Batch`, :class:`Direct`,
:class:`Adaptive`, :class:`Alma`, :class:`MinOver`): each is an overload of `one_pass` in a
file of its own.

The order of additions inside a dot product is left to the compiler (`reassoc`), so
scores carry rounding errors unless the sums are exact; no flag assumes finite values.
The plain-Python twin of everything here is :mod:`rosenblatt.learn.reference`.

Numba's disk cache looks at one file, so what is cached is stamped with all files of this
folder (`entry_point`); a kernel calls only kernels of this folder.
"""

from rosenblatt.learn.kernels.arrays import *
from rosenblatt.learn.kernels.stream import visit as visit
