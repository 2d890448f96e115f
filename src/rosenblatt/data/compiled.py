"""Compiled: loops that numba has compiled before come from disk without waiting for its compiler.

Before it looks into its disk cache, numba imports all that it can compile, scipy.linalg among it:
0.3 s of the second that a short command takes. A loop that is found there has no use for that, and
if none is found, numba imports it when it begins to compile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def quick_to_load(dispatcher: Any) -> Any:
    """The same compiled function; what it has on disk is loaded without those imports.

    It changes nothing where numba's insides are not as they are in 0.68.
    """
    try:
        from numba.core.runtime.nrt import rtsys

        cache = dispatcher._cache
        load, guard = cache._load_overload, cache._guard_against_spurious_io_errors
        initialize = rtsys.initialize
    except (ImportError, AttributeError):
        return dispatcher

    def load_overload(signature: Any, target_context: Any) -> Any:
        initialize(target_context)  # the runtime that compiled code may call
        with guard():
            return load(signature, target_context)

    cache.load_overload = load_overload
    return dispatcher


def stamped(dispatcher: Any, folder: Path) -> Any:
    """The same compiled function; what it has on disk is valid until a file of `folder` changes.

    Numba looks at the file of the function alone, and does not see that one it calls was edited.
    It changes nothing where numba's insides are not as they are in 0.68.
    """
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        stats = [file.stat() for file in sorted(folder.glob("*.py"))]
        cache_file._source_stamp = tuple((s.st_mtime, s.st_size) for s in stats)
    return dispatcher
