"""Compare the committed stub of the compiled module with nanobind's; `--write` replaces it."""

import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from rosenblatt import _core

path = Path(__file__).parent.parent / "src" / "rosenblatt" / "_core.pyi"
generator = StubGen(_core)
generator.put(_core)
stub = generator.get()
if "--write" in sys.argv:
    path.write_text(stub)
elif path.read_text() != stub:
    sys.exit(f"{path.name} differs from the compiled module; run: make stub")
