"""Check that the variants of the row operations share no symbols.

An inline function of the standard library is a weak symbol. The linker keeps one copy of it, which
may be the one compiled for AVX-512, and other processors would then run it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

objects = sorted(Path(sys.argv[1]).glob("CMakeFiles/row_ops_*.dir/**/*.o"))
if not objects:
    sys.exit(f"no objects row_ops_* in {sys.argv[1]}")
if not shutil.which("nm"):
    sys.exit("nm is needed to list the symbols of the objects; install binutils")
for path in objects:
    listed = subprocess.run(
        ["nm", "--demangle", path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    shared = [line for line in listed if line[17:18] not in "trdb" and "::row_ops(" not in line]
    if shared:
        sys.exit(f"{path}: symbols that other variants may share:\n" + "\n".join(shared))
print(f"{len(objects)} variants share no symbols")
