"""Compiled: loops that numba has compiled before come from disk without waiting for its compiler.

Before it looks into its disk cache, numba imports all that it can compile, scipy.linalg among it:
0.3 s of the second that a short command takes. A loop that is found there has no use for that, and
if none is found, numba imports it when it begins to compile.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

TRIED = "0.68."  # of numba, whose insides `only_linked` reaches into


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


def only_linked() -> Any:
    """Options of njit for a function that none but other compiled functions call.

    Numba makes machine code of every function, and a wrapper for calls from C, though a caller
    takes the intermediate code alone: a quarter of the time that a kernel takes to compile.
    That reaches into numba, so it is done for the versions it was tried with; another one makes
    all of it, which takes longer and gives the same.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if not import_module("numba").__version__.startswith(TRIED):
        return options
    Library: Any = import_module("numba.core.codegen").JITCodeLibrary
    Compiler: Any = import_module("numba.core.compiler").Compiler

    class NoMachine:
        """Environments are told to machine code, and here is none."""

        def set_env(self, name: str, env: Any) -> None:
            pass

    class Linked(Library):  # type: ignore[misc]  # numba has no types
        """Code that is optimised and then linked into that of its callers."""

        @property
        def codegen(self) -> Any:
            return NoMachine()

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # as where there is no wrapper

    class Linking(Compiler):  # type: ignore[misc]  # the same
        def define_pipelines(self) -> Any:
            state = self.state
            if state.library is None:
                state.library = Linked(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().define_pipelines()

    return options | {"pipeline_class": Linking}
