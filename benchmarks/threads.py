"""Two threads for one hyperplane: what scoring rows ahead gains.

    python benchmarks/threads.py [--rounds 7]

Compiles and runs two_threads.cpp, which explains the method, with the core of this checkout.
100,000 x 100 float64, rows in order; the fewer rows are close to the hyperplane, the fewer updates.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from report import ROOT, table

ROWS = 100_000


def build() -> Path:
    """Compile the program; return its path."""
    folder = ROOT / "build" / "benchmarks" / "core"
    tools = Path(sys.executable).parent
    cmake = shutil.which("cmake", path=str(tools)) or "cmake"
    ninja = shutil.which("ninja", path=str(tools)) or "ninja"
    configure = [cmake, "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += ["-DROSENBLATT_BINDINGS=OFF", "-DROSENBLATT_BENCHMARKS=ON"]
    for command in (configure, [cmake, "--build", str(folder)]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "two_threads"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--smaller", type=int, default=1, metavar="K", help="divide rows by K")
    args = parser.parse_args()
    command = [str(build()), str(ROWS // args.smaller), str(3 * args.rounds)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    cells = []
    for line in done.stdout.splitlines():
        share, one, two, in_vain = map(float, line.split())
        cells.append(
            [f"{share:.2%}", f"{one:.2f}", f"{two:.2f}", f"{in_vain:.0%}", f"{one / two:.2f}"]
        )
    head = ["updates per visit", "one thread, ms", "two threads, ms", "rows scored in vain", "gain"]
    print(table(head, cells))


if __name__ == "__main__":
    main()
