"""Run the benchmarks and write their numbers into the documentation.

    python benchmarks/run.py                    everything (make bench)
    python benchmarks/run.py passes peers       only these jobs
    python benchmarks/run.py peers --only a9a   this data set again, the others as they were
    python benchmarks/run.py --copies           write to build/benchmarks/pages, not to docs
    python benchmarks/run.py --quick            small sizes and one round, into copies
    python benchmarks/run.py --redraw peers     tables and plots from the numbers of the last run
    python benchmarks/run.py passes --against OTHER_ENVIRONMENT/bin/python

A job that fails is named at the end. Each job writes its tables when it is done. Detailed tables
of peers and accuracy go to build/benchmarks.
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

from report import DOCS, ROOT, conditions, load, tables_in, write_section

STORE = ROOT / "build" / "benchmarks"
PEERS = ("numpy", "scikit-learn", "liblinear-official", "vowpalwabbit", "river")
PAGE = "reference/benchmarks.md"


@dataclass(frozen=True)
class Script:
    """A script that prints Markdown tables; header pattern -> page and section of each table."""

    file: str
    options: tuple[str, ...]
    quick: tuple[str, ...] | None  # None: it has no small form
    places: dict[str, tuple[str, str]]
    packages: tuple[str, ...] = ("numpy", "scikit-learn")
    compares: bool = False  # has --against

    def run(self, pages: Path, quick: bool, redraw: bool, against: str | None = None) -> None:
        options = self.quick if quick else self.options
        if options is None or redraw:
            print(f"  left out: {'its numbers are not kept' if redraw else 'it has no small form'}")
            return
        if against and self.compares:
            options = (*options, "--against", against)
        before = load()
        command = [sys.executable, str(ROOT / "benchmarks" / self.file), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        if done.returncode:  # the tables of the last run stay
            raise RuntimeError(f"{self.file} ended with code {done.returncode}")
        self.write(done.stdout, pages, before)

    def write(self, output: str, pages: Path, load_before: float) -> None:
        """Write each table into its section; the last one of a page gets the conditions."""
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


SCRIPTS = {
    "cold": Script(
        "cold.py",
        ("--rounds", "7", "--fresh"),
        ("--rounds", "1", "--rules", "perceptron"),
        {
            r"first fit": (PAGE, "cold"),
            r"on Iris": (PAGE, "cold-iris"),
            r"whole process": (PAGE, "cold-process"),
        },
    ),
    "passes": Script(
        "passes.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--smaller", "20"),
        {r"one pass": (PAGE, "passes")},
        compares=True,
    ),
    "threads": Script(
        "threads.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--smaller", "10"),
        {r"scored in vain": (PAGE, "threads")},
        ("numpy",),
    ),
    "decision_function": Script(
        "decision_function.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--smaller", "20"),
        {r"decision_function": (PAGE, "decision-function")},
        compares=True,
    ),
    "files": Script(
        "files.py",
        ("--rounds", "5"),
        ("--rounds", "1", "--megabytes", "2"),
        {
            r"entries such as": ("how-to/files.md", "reading"),
            r"other formats": ("how-to/files.md", "reading-other"),
            r"compressed": ("how-to/files.md", "reading-compressed"),
            r"resident": ("how-to/files.md", "reading-memory"),
        },
        ("scikit-learn", "pyarrow"),
    ),
    "columns": Script(
        "columns.py",
        (),
        ("--rows", "600", "--splits", "1"),
        {r"moved: difference": ("how-to/columns.md", "columns")},
        ("numpy", "pandas"),
        compares=True,
    ),
    "fit": Script(
        "fit.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--megabytes", "2"),
        {r"file to model": ("how-to/files.md", "fit")},
        ("scikit-learn", "vowpalwabbit"),
        compares=True,
    ),
    "learn_one": Script(
        "learn_one.py",
        ("--rounds", "7"),
        ("--rounds", "1", "--rows", "400"),
        {r"rows per second": (PAGE, "learn-one"), r"divided by": (PAGE, "learn-one-ratio")},
        ("numpy", "scikit-learn", "river"),
    ),
    "endless": Script(
        "endless.py",
        ("--millions", "50"),
        ("--millions", "1"),
        {r"endless stream": (PAGE, "endless")},
        ("numpy",),
    ),
    "out_of_core": Script(
        "out_of_core.py",
        ("--rounds", "3"),
        ("--rounds", "1", "--megabytes", "2"),
        {r"out of core": (PAGE, "out-of-core")},
        ("pyarrow", "scikit-learn", "vowpalwabbit", "river"),
    ),
    "checkpoints": Script(
        "checkpoints.py",
        ("--megabytes", "200", "--rounds", "5"),
        ("--megabytes", "5", "--rounds", "1", "--bits", "10"),
        {
            r"one pass over": ("how-to/checkpoints.md", "checkpoints"),
            r"one checkpoint": ("how-to/checkpoints.md", "checkpoints-size"),
        },
        ("numpy", "safetensors"),
    ),
    "cluster": Script(
        "cluster.py",
        (),
        ("--quick",),
        {
            r"mode='online'": (PAGE, "cluster"),
            r"sent per epoch": (PAGE, "cluster-communication"),
            r"of labels flipped": (PAGE, "cluster-dask-ml"),
            r"verdict, ": (PAGE, "cluster-separability"),
            r"accuracy on test rows, average": (PAGE, "cluster-accuracy"),
        },
        ("scikit-learn", "dask", "distributed", "dask-ml"),
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
        ("numpy", "scipy", "highspy", "python-flint"),
    ),
    "proofs": Script(
        "proofs.py",
        (),
        ("--rounds", "1", "--seconds", "1", "--smaller", "20"),
        {
            r"verdicts \|": (PAGE, "proofs-verdicts"),
            r"margin \|": (PAGE, "proofs-margin"),
            r"coefficients \|": (PAGE, "proofs-coefficients"),
            r"offenders \|": (PAGE, "proofs-offenders"),
            r"readings by": (PAGE, "proofs-readings"),
        },
        ("numpy", "scipy", "highspy", "python-flint"),
        compares=True,
    ),
    "lab": Script(
        "lab.py",
        (),
        ("--sessions", "4", "--points", "100", "--steps", "3"),
        {r"lab, \d+ points": (PAGE, "lab"), r"the lab's server": (PAGE, "lab-memory")},
        ("numpy", "starlette", "uvicorn"),
    ),
    "libol": Script(
        "libol.py",
        (),
        ("--permutations", "5"),
        {r"published": (PAGE, "libol")},
        ("numpy",),
    ),
    "coefficients": Script(
        "coefficients.py",
        (),
        None,
        {r"columns to drop": ("how-to/logistic.md", "coefficients")},
        ("numpy", "highspy", "python-flint"),
    ),
    "freund_schapire": Script(
        "freund_schapire.py",
        (),
        ("--degrees", "1", "4", "--epochs", "1", "--rows", "2000"),
        {
            r"after epoch": ("how-to/kernel.md", "freund-schapire"),
            r"other in float64": ("how-to/kernel.md", "freund-schapire-runs"),
        },
        ("numpy",),
    ),
    "size": Script(
        "size.py",
        (),
        (),
        {r"installed size": (PAGE, "size")},
        (),
    ),
}


# ------------------------------------------------------------------ jobs that keep their numbers


def peers_job(pages: Path, quick: bool, redraw: bool, only: Sequence[str] = ()) -> None:
    import figures
    import peers

    before = load()

    def run() -> dict:
        rows, about = peers.run(quick, only)
        kept = kept_rows("peers", only)
        return {
            "rows": kept["rows"] + [asdict(row) for row in rows],
            "about": kept["about"] | about,
            "line": conditions(PEERS, before),
        }

    found = stored("peers", run, quick, redraw)
    rows = [peers.Row(**row) for row in found["rows"]]
    image = "images/time_against_accuracy.svg"
    figures.time_against_accuracy(rows, pages / image)
    shown = f"![Test accuracy against seconds of training, one panel per data set](../{image})"
    write_section(pages / PAGE, "peers-seconds", peers.summary(rows))
    text = f"{peers.accuracies(rows)}\n\n{shown}\n\n{found['line']}"
    write_section(pages / PAGE, "peers-accuracy", text)
    write_details("peers", peers.markdown(rows, found["about"]), quick)


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

    found = stored("accuracy", run, quick, redraw)
    rows = [accuracy.Row(**row) for row in found["rows"]]
    write_section(pages / PAGE, "accuracy", f"{tables.summary(rows)}\n\n{found['line']}")
    write_details("accuracy", tables.markdown(rows, found["about"]), quick)


def scaling_job(pages: Path, quick: bool, redraw: bool) -> None:
    import figures
    import scaling

    before = load()

    def run() -> dict:
        return {"curves": scaling.run(quick), "line": conditions(PEERS, before)}

    found = stored("scaling", run, quick, redraw)
    image = "images/scaling.svg"
    figures.scaling(found["curves"], pages / image)
    shown = f"![Seconds against rows, columns and entries per row, logarithmic](../{image})"
    text = f"{scaling.markdown(found['curves'])}\n\n{shown}\n\n{found['line']}"
    write_section(pages / PAGE, "scaling", text)


def stored(name: str, run: Callable, quick: bool, redraw: bool):
    """The numbers of a run, kept as JSON so that tables and plots can be made again."""
    path = STORE / f"{name}{'-quick' if quick else ''}.json"
    if not redraw:
        found = run()
        STORE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1))
    return json.loads(path.read_text())


def kept_rows(name: str, only: Sequence[str]) -> dict:
    """The numbers of the last run for data sets that are not run now."""
    path = STORE / f"{name}.json"
    if not only or not path.exists():
        return {"rows": [], "about": {}}
    before = json.loads(path.read_text())
    rows = [row for row in before["rows"] if row["data"] not in only]
    return {"rows": rows, "about": before["about"]}


def write_details(name: str, text: str, quick: bool) -> None:
    """Write the detailed tables of a job, which are too long for the documentation."""
    path = STORE / f"{name}{'-quick' if quick else ''}.md"
    path.write_text(text)
    print(f"  details: {path.relative_to(ROOT)}")


JOBS: dict[str, Callable[..., None]] = {
    **{name: SCRIPTS[name].run for name in ("cold", "passes", "threads", "decision_function")},
    "peers": peers_job,
    "accuracy": accuracy_job,
    "scaling": scaling_job,
}
JOBS |= {name: script.run for name, script in SCRIPTS.items() if name not in JOBS}


def pages_for(copies: bool) -> Path:
    """The folder of the documentation, or a folder with copies of its pages."""
    if not copies:
        return DOCS
    folder = STORE / "pages"
    for page in {PAGE, *(page for s in SCRIPTS.values() for page, _ in s.places.values())}:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / page, folder / page)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("jobs", nargs="*", metavar="job", help=", ".join(JOBS))
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--copies", action="store_true", help="do not change docs")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="DATA", help="data sets of peers and accuracy"
    )
    parser.add_argument(
        "--chosen", action="store_true", help="accuracy: use the settings that the last run chose"
    )
    parser.add_argument("--redraw", action="store_true", help="use the numbers of the last run")
    parser.add_argument(
        "--against", metavar="PYTHON", help="also measure another version, in its environment"
    )
    args = parser.parse_args()
    unknown = set(args.jobs) - set(JOBS)
    if unknown:
        parser.error(f"unknown job: {', '.join(sorted(unknown))}. Known jobs: {', '.join(JOBS)}")
    pages, failed = pages_for(args.quick or args.copies), []
    for name in args.jobs or JOBS:
        began = time.perf_counter()
        print(f"{name} ...", flush=True)
        try:
            more = {"only": args.only} if name in ("peers", "accuracy") else {}
            more |= {"chosen": args.chosen} if name == "accuracy" else {}
            more |= {"against": args.against} if name in SCRIPTS else {}
            JOBS[name](pages, args.quick, args.redraw, **more)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
