"""Report: time runs and processes, and write the numbers into the documentation.

No number is pasted by hand. A page has sections such as

    <!-- passes -->
    ...
    <!-- end -->

and `write_section` replaces what is between the two lines.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def shared_data() -> Path | None:
    """The folder of real data sets beside the project, if there is one."""
    folders = (parent / "shared" / "data" for parent in ROOT.parents)
    return next((folder for folder in folders if folder.is_dir()), None)


def best_of(rounds: int, runs: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each run, the best of several rounds in which the runs take turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


# ------------------------------------------------------------------ processes


def environment(threads: int | None = None) -> dict[str, str]:
    """Variables of a measured process: it imports its own packages and caches their bytecode.

    `threads` limits BLAS and OpenMP; None leaves them as they are.
    """
    dropped = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    limits = {} if threads is None else dict.fromkeys(THREADS, str(threads))
    return kept | limits


def run_child(
    script: str, *options: str, python: str = sys.executable, threads: int | None = 1
) -> dict[str, Any]:
    """Run a script under an interpreter and return the JSON that it prints last."""
    done = subprocess.run(
        [python, script, *options],
        env=environment(threads),
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join([python, script, *options])} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def interpreter(path: str) -> str:
    """The absolute path of an interpreter, with its symbolic links: they name its environment."""
    if not os.path.isfile(path):
        raise ValueError(path)
    return os.path.abspath(path)


def check_packages(ours: str, other: str) -> None:
    """Stop if two interpreters import the same copy of rosenblatt."""
    if ours == other:
        sys.exit(f"Both interpreters import {ours}. Give --against one that has another version.")


@dataclass(frozen=True)
class Process:
    """One process from start to end: seconds by the clock, CPU seconds, peak resident memory."""

    seconds: float
    cpu_seconds: float
    memory_mb: float


# A small process starts the command, because Linux counts the memory that the parent held at the
# time of the fork into the peak of the child.
LAUNCHER = """
import json, os, sys, time
null = os.open(os.devnull, os.O_WRONLY)
began = time.perf_counter()
quiet = [(os.POSIX_SPAWN_DUP2, null, 1)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - began
cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, cpu, memory]))
"""


def measure_process(command: Sequence[str], threads: int | None = None) -> Process:
    """Run a command and measure it as a whole, start-up included."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, *command],
        env=environment(threads),
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    code, seconds, cpu, memory = json.loads(done.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} ended with code {code}:\n{done.stderr[-2000:]}")
    unit = 1 if platform.system() == "Darwin" else 1024
    return Process(seconds, cpu, memory * unit / 1e6)


def best_processes(rounds: int, commands: Mapping[str, Sequence[str]]) -> dict[str, Process]:
    """The fastest run of each command; the commands take turns. Memory is the largest seen."""
    found: dict[str, Process] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            new = measure_process(command)
            old = found.get(name, new)
            found[name] = Process(
                min(old.seconds, new.seconds),
                min(old.cpu_seconds, new.cpu_seconds),
                max(old.memory_mb, new.memory_mb),
            )
    return found


# ------------------------------------------------------------------ numbers and tables


def number(value: float | None, digits: int = 3) -> str:
    """Format with a few digits and no exponent: 0.00123, 1.23, 12.3, 1,234."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if whole:
        return f"{value:,.{max(0, digits - whole)}f}"
    zeros = 0
    while abs(value) * 10 ** (zeros + 1) < 1:
        zeros += 1
    return f"{value:.{zeros + digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def tables_in(text: str) -> dict[str, str]:
    """The Markdown tables in a script's output, by the line of their header."""
    found: dict[str, list[str]] = {}
    header = ""
    for line in text.splitlines():
        if not line.startswith("|"):
            header = ""
        elif header:
            found[header].append(line)
        else:
            header = line
            found[header] = [line]
    return {header: "\n".join(lines) for header, lines in found.items()}


# ------------------------------------------------------------------ pages


def sections_of(page: Path) -> list[str]:
    """The names of the sections of a page."""
    return re.findall(
        r"^<!-- (?!end -->)([\w-]+) -->\n.*?^<!-- end -->$", page.read_text(), re.M | re.S
    )


def write_section(page: Path, name: str, text: str) -> None:
    """Put text between `<!-- name -->` and the next `<!-- end -->` of a page."""
    place = re.compile(rf"(^<!-- {re.escape(name)} -->\n).*?(^<!-- end -->$)", re.M | re.S)
    before = page.read_text()
    after, count = place.subn(lambda m: f"{m[1]}{text.strip()}\n{m[2]}", before)
    if count != 1:
        raise LookupError(
            f"{page.name} has {count} sections between '<!-- {name} -->' and '<!-- end -->'; it "
            "needs one. Add the two lines where the text should be."
        )
    page.write_text(after)


# ------------------------------------------------------------------ the machine


def processor() -> str:
    """The model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def load() -> float:
    """Load average of the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def conditions(packages: Sequence[str], load_before: float) -> str:
    """One line about the machine and the versions, for the end of a section."""
    known = [f"Python {platform.python_version()}"]
    known += [f"{name} {version(name)}" for name in packages if version(name)]
    return (
        f"Measured on {processor()}, {cores()} cores, {platform.system()}, {', '.join(known)}. "
        f"Load average before the run: {load_before:.1f}."
    )


# ------------------------------------------------------------------ memory


def high_water_mb() -> float:
    """Peak resident memory of this process, in MB.

    On Linux this is VmHWM: ru_maxrss of getrusage would include what the parent held.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024 / 1e6  # type: ignore[index]  # Linux always says it
    except OSError:
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
