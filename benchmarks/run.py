"""Run the benchmarks and write their numbers into the documentation.

    python benchmarks/run.py                    everything (make bench)
    python benchmarks/run.py passes peers       only these
    python benchmarks/run.py peers --only a9a   this set again, the others as they were
    python benchmarks/run.py --copies           pages under build/benchmarks, not the real ones
    python benchmarks/run.py --quick            the same with small sizes and one round
    python benchmarks/run.py --redraw peers     tables and plots again, from the last run's numbers

A job that fails is named at the end; the others are written all the same, each when it is done.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from report import (
    DOCS,
    ROOT,
    conditions,
    load,
    shared_data,
    tables_in,
    write_section,
)

STORE = ROOT / "build" / "benchmarks"
PEERS = ("numpy", "numba", "scikit-learn", "liblinear-official", "vowpalwabbit", "river")


@dataclass(frozen=True)
class Script:
    """A script that prints Markdown tables, and where each goes: header pattern -> page, place."""

    file: str
    options: tuple[str, ...]
    quick: tuple[str, ...] | None  # None: there is no small form of it
    places: dict[str, tuple[str, str]]
    packages: tuple[str, ...] = ("numpy", "numba", "scikit-learn")

    def run(self, pages: Path, quick: bool, redraw: bool) -> None:
        options = self.quick if quick else self.options
        if options is None or redraw:
            print("  left out: it has no such form")
            return
        before = load()
        command = [sys.executable, str(ROOT / "benchmarks" / self.file), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        self.write(done.stdout, pages, before)
        if done.returncode:
            raise RuntimeError(f"{self.file} ended with code {done.returncode}")

    def write(self, output: str, pages: Path, load_before: float) -> None:
        """Put each table into its place; the last one of a page has the conditions under it."""
        written: dict[str, tuple[str, str]] = {}
        for header, text in tables_in(output).items():
            place = next((p for key, p in self.places.items() if re.search(key, header)), None)
            if place is None:
                print(f"  no place for the table that begins with {header!r}", file=sys.stderr)
                continue
            write_section(pages / place[0], place[1], text)
            written[place[0]] = place[1], text
        for page, (name, text) in written.items():
            line = conditions(self.packages, load_before)
            write_section(pages / page, name, f"{text}\n\n{line}")


PAGE = "benchmarks.md"


def sonar() -> tuple[str, ...]:
    folder = shared_data()
    path = folder / "sonar" / "sonar.all-data" if folder else None
    return ("--sonar", str(path)) if path and path.exists() else ()


SCRIPTS = {
    "passes": Script(
        "passes.py",
        ("--rounds", "5", *sonar()),
        ("--rounds", "1"),
        {
            r"sketch": (PAGE, "sketch"),
            r"order": (PAGE, "passes"),
            r"shortcut": (PAGE, "kept-margins"),
        },
    ),
    "floors": Script(
        "floors.py",
        ("--rounds", "7", *sonar()),
        None,
        {r"floor of": (PAGE, "floors"), r"an update of sonar": (PAGE, "floor-update")},
    ),
    "files": Script(
        "files.py",
        ("--rounds", "5"),
        ("--rounds", "1", "--megabytes", "2"),
        {
            r"entries such as": ("files.md", "reading"),
            r"other formats": ("files.md", "reading-other"),
            r"compressed": ("files.md", "reading-compressed"),
            r"resident": ("files.md", "reading-memory"),
        },
        ("numba", "scikit-learn", "pyarrow"),
    ),
    "fit": Script(
        "fit.py",
        ("--rounds", "3", "--memory"),
        ("--rounds", "1", "--megabytes", "2"),
        {
            r"to a model": ("files.md", "fit"),
            r"whole process": ("files.md", "fit-process"),
            r"resident": ("files.md", "fit-memory"),
        },
        ("numba", "scikit-learn", "vowpalwabbit"),
    ),
    "learn_one": Script(
        "learn_one.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--rows", "400"),
        {r"rows per second": (PAGE, "learn-one"), r"to River's": (PAGE, "learn-one-ratio")},
        ("numpy", "scikit-learn", "river"),
    ),
    "endless": Script(
        "endless.py",
        ("--millions", "50"),
        ("--millions", "1"),
        {r"endless stream": (PAGE, "endless")},
        ("numpy", "numba"),
    ),
    "out_of_core": Script(
        "out_of_core.py",
        ("--rounds", "3"),
        ("--rounds", "1", "--megabytes", "2"),
        {r"out of core": (PAGE, "out-of-core")},
        ("numba", "pyarrow", "scikit-learn", "vowpalwabbit", "river"),
    ),
    "cluster": Script(
        "cluster.py",
        (),
        ("--quick",),
        {
            r"method='mix'": (PAGE, "cluster"),
            r"sent in a round": (PAGE, "cluster-communication"),
            r"of labels turned": (PAGE, "cluster-dask-ml"),
            r"verdict, ": (PAGE, "cluster-separability"),
            r"accuracy on test rows, average": (PAGE, "cluster-accuracy"),
        },
        ("numba", "scikit-learn", "dask", "distributed", "dask-ml"),
    ),
    "separability": Script(
        "separability.py",
        ("--limit", "15"),
        ("--limit", "1", "--only", "generated"),
        {
            r"bounded program": (PAGE, "separability"),
            r"verified again": (PAGE, "separability-real"),
            r"extra memory": (PAGE, "separability-large"),
        },
        ("numpy", "numba", "scipy", "highspy", "python-flint"),
    ),
    "lab": Script(
        "lab.py",
        (),
        ("--sessions", "4", "--points", "100", "--steps", "3"),
        {r"lab, \d+ points": (PAGE, "lab"), r"the lab's server": (PAGE, "lab-memory")},
        ("numpy", "numba", "starlette", "uvicorn"),
    ),
    "libol": Script(
        "libol.py",
        (),
        ("--permutations", "5"),
        {r"published": (PAGE, "libol")},
        ("numpy", "numba"),
    ),
    "coefficients": Script(
        "coefficients.py",
        (),
        None,
        {r"columns to drop": ("logistic.md", "coefficients")},
        ("numpy", "numba", "highspy", "python-flint"),
    ),
    "freund_schapire": Script(
        "freund_schapire.py",
        (),
        ("--degrees", "1", "4", "--epochs", "1", "--rows", "2000"),
        {
            r"after epoch": ("kernel.md", "freund-schapire"),
            r"other in float64": ("kernel.md", "freund-schapire-runs"),
        },
        ("numpy", "numba"),
    ),
}


# ------------------------------------------------------------------ jobs that keep their numbers


def cold_job(pages: Path, quick: bool, redraw: bool) -> None:
    import cold

    before = load()
    body = stored("cold", lambda: cold.run(quick), redraw)
    line = conditions(("numba", "llvmlite", "scikit-learn"), before)
    write_section(pages / PAGE, "cold", f"{cold.markdown(body)}\n\n{line}")


def peers_job(pages: Path, quick: bool, redraw: bool, only: Sequence[str] = ()) -> None:
    import figures
    import peers

    before = load()

    def run() -> dict:
        rows, about = peers.run(quick, only)
        kept = kept_rows("peers", only)
        line = conditions(PEERS, before)
        return {
            "rows": kept["rows"] + [asdict(row) for row in rows],
            "about": kept["about"] | about,
            "line": line,
        }

    found = stored("peers", run, redraw)
    rows = [peers.Row(**row) for row in found["rows"]]
    page = pages / PAGE
    write_section(page, "peers-seconds", peers.summary(rows))
    write_section(page, "peers-accuracy", f"{peers.accuracies(rows)}\n\n{found['line']}")
    write_section(page, "peers", peers.markdown(rows, found["about"]))
    figures.time_against_accuracy(rows, pages / "images" / "time_against_accuracy.svg")


def accuracy_job(
    pages: Path, quick: bool, redraw: bool, only: Sequence[str] = (), chosen: bool = False
) -> None:
    import accuracy
    import accuracy_tables as tables
    from choices import Memory

    before = load()
    memory = Memory(None if quick else STORE / "choices.json", use=chosen)

    def run() -> dict:
        rows, about = accuracy.run(quick, only, memory)
        kept = kept_rows("accuracy", only)
        return {
            "rows": kept["rows"] + [asdict(row) for row in rows],
            "about": kept["about"] | about,
            "line": conditions(PEERS[:-1], before),
        }

    found = stored("accuracy", run, redraw)
    rows = [accuracy.Row(**row) for row in found["rows"]]
    text = f"{tables.summary(rows)}\n\n{found['line']}"
    write_section(pages / PAGE, "accuracy-summary", text)
    write_section(pages / PAGE, "accuracy", tables.markdown(rows, found["about"]))


def scaling_job(pages: Path, quick: bool, redraw: bool) -> None:
    import figures
    import scaling

    before = load()

    def run() -> dict:
        return {"curves": scaling.run(quick), "line": conditions(PEERS, before)}

    found = stored("scaling", run, redraw)
    text = f"{scaling.markdown(found['curves'])}\n\n{found['line']}"
    write_section(pages / PAGE, "scaling", text)
    figures.scaling(found["curves"], pages / "images" / "scaling.svg")


def stored(name: str, run: Callable, redraw: bool):
    """The numbers of a run, kept as JSON so that tables and plots can be made again."""
    path = STORE / f"{name}.json"
    if not redraw:
        found = run()
        STORE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1))
    return json.loads(path.read_text())


def kept_rows(name: str, only: Sequence[str]) -> dict:
    """What the last run found of the sets that are not run now."""
    path = STORE / f"{name}.json"
    if not only or not path.exists():
        return {"rows": [], "about": {}}
    before = json.loads(path.read_text())
    rows = [row for row in before["rows"] if row["data"] not in only]
    return {"rows": rows, "about": before["about"]}


JOBS: dict[str, Callable[..., None]] = {
    "passes": SCRIPTS["passes"].run,
    "floors": SCRIPTS["floors"].run,
    "cold": cold_job,
    "peers": peers_job,
    "accuracy": accuracy_job,
    "scaling": scaling_job,
    "files": SCRIPTS["files"].run,
    "fit": SCRIPTS["fit"].run,
    "out_of_core": SCRIPTS["out_of_core"].run,
    "learn_one": SCRIPTS["learn_one"].run,
    "endless": SCRIPTS["endless"].run,
    "cluster": SCRIPTS["cluster"].run,
    "separability": SCRIPTS["separability"].run,
    "coefficients": SCRIPTS["coefficients"].run,
    "lab": SCRIPTS["lab"].run,
    "libol": SCRIPTS["libol"].run,
    "freund_schapire": SCRIPTS["freund_schapire"].run,
}


def pages_for(copies: bool) -> Path:
    """The documentation itself, or copies of its pages."""
    if not copies:
        return DOCS
    folder = STORE / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    for page in DOCS.glob("*.md"):
        shutil.copy(page, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("jobs", nargs="*", metavar="job", help=", ".join(JOBS))
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--copies", action="store_true", help="leave the documentation alone")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="DATA", help="sets of peers, accuracy"
    )
    parser.add_argument(
        "--chosen", action="store_true", help="accuracy: with the settings that the last run chose"
    )
    parser.add_argument("--redraw", action="store_true", help="from the numbers of the last run")
    args = parser.parse_args()
    unknown = set(args.jobs) - set(JOBS)
    if unknown:
        parser.error(f"there is no job {', '.join(sorted(unknown))}; there are {', '.join(JOBS)}")
    pages, failed = pages_for(args.quick or args.copies), []
    for name in args.jobs or JOBS:
        began = time.perf_counter()
        print(f"{name} ...", flush=True)
        try:
            more = {"only": args.only} if name in ("peers", "accuracy") else {}
            more |= {"chosen": args.chosen} if name == "accuracy" else {}
            JOBS[name](pages, args.quick, args.redraw, **more)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
