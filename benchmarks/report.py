"""Report: how the benchmarks take times, and how their numbers get into the documentation.

No number is pasted by hand. A page has places such as

    <!-- passes -->
    ...
    <!-- end -->

and `write_section` replaces what stands between the two lines.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def shared_data() -> Path | None:
    """The folder of real data sets beside the project, if there is one."""
    folders = (parent / "shared" / "data" for parent in ROOT.parents)
    return next((folder for folder in folders if folder.is_dir()), None)


def best_of(rounds: int, runs: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each run, the best of several rounds in which all take turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


# ------------------------------------------------------------------ numbers and tables


def number(value: float | None, digits: int = 3) -> str:
    """A few digits, never an exponent: 0.00123, 1.23, 12.3, 1,234."""
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
    """The Markdown tables in a script's output, each under the line of its header."""
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
    """The names of the places that a page has."""
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
            f"{page.name} needs one place between '<!-- {name} -->' and '<!-- end -->', it has "
            f"{count}. Add it where the text is to stand."
        )
    page.write_text(after)


# ------------------------------------------------------------------ the machine


def processor() -> str:
    """The model of the processor, without anything that names this one machine."""
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
    """How many processes wanted to run in the last minute: more than our own is a busy machine."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def conditions(packages: Sequence[str], load_before: float) -> str:
    """One line about the machine and the versions, to stand under a section's tables."""
    known = [f"{name} {version(name)}" for name in packages if version(name)]
    return (
        f"Measured on {processor()}, {cores()} cores, {platform.system()}, Python "
        f"{platform.python_version()}, {', '.join(known)}. Load average before the run: "
        f"{load_before:.1f}."
    )


# ------------------------------------------------------------------ memory


def high_water_mb() -> float:
    """The most memory this process ever held in RAM, in MB.

    On Linux VmHWM: unlike getrusage's ru_maxrss it does not begin with what the parent held.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024 / 1e6  # type: ignore[index]  # Linux always says it
    except OSError:
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
