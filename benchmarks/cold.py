"""First call: time to import and fit once in a fresh process, beside scikit-learn.

    python benchmarks/cold.py [--rounds 7] [--fresh]

Every measurement is a process of its own; ours and scikit-learn take turns, and the best of
--rounds counts. Bytecode is compiled before, as pip does. "Import and first fit" is measured from
the first line of the process; the start of Python itself is the same for both and not included.
The rows are 100 x 10 and separable; scikit-learn always fits its Perceptron.

--fresh builds a wheel, installs it into a new environment without write permission, runs there, and
checks that no file of the environment changed. Without it the present environment is used.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from report import ROOT, best_processes, environment, number, run_child, table

FIRST = """
import time
began = time.perf_counter()
from {package} import Perceptron
imported = time.perf_counter()
import json, warnings
import numpy as np
warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((100, 10))
y = X[:, 0] > X[:, 1]
if {sparse}:
    import scipy.sparse
    X = scipy.sparse.csr_matrix(X)
Perceptron({options}).fit(X, y)
print(json.dumps({{"import": imported - began, "total": time.perf_counter() - began}}))
"""
IRIS = """
import json, time
from sklearn.datasets import load_iris
from {package} import Perceptron
X, y = load_iris(return_X_y=True)
seconds = []
for _ in range(30):
    began = time.perf_counter()
    Perceptron().fit(X, y)
    seconds.append(time.perf_counter() - began)
print(json.dumps({{"second": seconds[1], "later": min(seconds[2:])}}))
"""
SKLEARN, OURS = "sklearn.linear_model", "rosenblatt"
Files = dict[Path, tuple[int, int]]


# ------------------------------------------------------------------ the environment


def make_environment(folder: Path) -> Path:
    """Install a wheel of this package into a new environment; return its interpreter."""
    quiet = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, *quiet, *build], env=environment(), check=True)
    wheel = next(folder.glob("rosenblatt-*.whl"))
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    subprocess.run([python, *quiet, "install", str(wheel)], env=environment(), check=True)
    return python


def compile_bytecode(python: str) -> None:
    """Write the bytecode of all installed packages, where it is missing."""
    code = "import rosenblatt, sysconfig; print(sysconfig.get_paths()['purelib'])"
    code += "; print(rosenblatt.__path__[0])"
    done = subprocess.run(
        [python, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    command = [python, "-m", "compileall", "-q", "-j", "0", *done.stdout.split("\n")[:2]]
    # templates that are no valid Python are skipped with an error
    subprocess.run(command, env=environment(), capture_output=True, check=False)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away write permission; raise if a file changed all the same (root may write)."""
    before, modes = files_of(folder), {}
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            modes[path] = path.stat().st_mode
            path.chmod(modes[path] & ~0o222)
    try:
        yield
        changed = set(files_of(folder).items()) ^ set(before.items())
        if changed:
            names = sorted({str(path.relative_to(folder)) for path, _ in changed})
            raise RuntimeError(f"files of the installation changed: {', '.join(names[:5])}")
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def files_of(folder: Path) -> Files:
    """Size and time of change of every file."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            state = path.stat()
            found[path] = state.st_size, state.st_mtime_ns
    return found


# ------------------------------------------------------------------ measurements


def best_children(rounds: int, python: str, codes: dict[str, str]) -> dict[str, dict[str, float]]:
    """The least of every number that the codes print; the codes take turns."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for k, code in enumerate(codes.values()):
            Path(folder, f"{k}.py").write_text(code)
        for _ in range(rounds):
            for k, name in enumerate(codes):
                new = run_child(f"{folder}/{k}.py", python=python, threads=None)
                old = found.get(name, new)
                found[name] = {key: min(new[key], old[key]) for key in new}
    return found


def first_fits(rounds: int, python: str, rules: list[str]) -> str:
    """Import and first fit of each rule, dense and CSR."""
    codes = {}
    for sparse in (False, True):
        codes[f"scikit-learn {sparse}"] = FIRST.format(package=SKLEARN, sparse=sparse, options="")
        for rule in rules:
            options = f"rule={rule!r}"
            codes[f"{rule} {sparse}"] = FIRST.format(package=OURS, sparse=sparse, options=options)
    found = best_children(rounds, python, codes)
    body = []
    for name in ["scikit-learn", *rules]:
        cells = []
        for sparse in (False, True):
            seconds = found[f"{name} {sparse}"]
            longer = seconds["total"] - found[f"scikit-learn {sparse}"]["total"]
            cells += [f"{seconds['import']:.3f}", f"{seconds['total']:.3f}"]
            cells.append("" if name == "scikit-learn" else f"{longer:+.3f}")
        body.append([name, *cells])
    head = ["first fit, s", "import", "import and fit, dense", "minus scikit-learn"]
    return table([*head, "import", "import and fit, CSR", "minus scikit-learn"], body)


def later_fits(rounds: int, python: str) -> str:
    """The second fit of a process, on Iris, and the best of 28 more."""
    codes = {name: IRIS.format(package=name) for name in (SKLEARN, OURS)}
    found = best_children(rounds, python, codes)
    body = []
    for name, key in (("second", "second"), ("best of the next 28", "later")):
        ours, theirs = 1e3 * found[OURS][key], 1e3 * found[SKLEARN][key]
        body.append([name, number(ours), number(theirs), f"{ours / theirs:.2f}"])
    return table(["`fit` on Iris", "ours, ms", "scikit-learn, ms", "ours / scikit-learn"], body)


def commands(rounds: int, python: str) -> str:
    """Whole processes: the command line, and the start of Python for comparison."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.svm")
        rows.write_text("+1 1:0.5 3:2\n-1 2:0.5 3:1\n" * 50)
        script = Path(python).with_name("rosenblatt")
        ours = [str(script)] if script.exists() else [python, "-m", "rosenblatt"]
        found = best_processes(
            rounds,
            {
                "`python -c pass`": [python, "-c", "pass"],
                "`python -c 'import numpy'`": [python, "-c", "import numpy"],
                "`rosenblatt --help`": [*ours, "--help"],
                "`rosenblatt fit`, 100 rows": [*ours, "fit", str(rows), "--out", f"{folder}/model"],
            },
        )
    body = [
        [name, f"{one.seconds:.3f}", f"{one.cpu_seconds:.3f}", f"{one.memory_mb:,.0f}"]
        for name, one in found.items()
    ]
    return table(["whole process", "seconds", "CPU seconds", "memory, MB"], body)


def main() -> None:
    from rosenblatt.learn.rules import RULES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--fresh", action="store_true", help="build and install a wheel first")
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=list(RULES))
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        python = sys.executable
        if args.fresh:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            print("building and installing a wheel ...", file=sys.stderr, flush=True)
            python = str(make_environment(folder))
        compile_bytecode(python)
        if args.fresh:
            stack.enter_context(read_only(folder / "env"))
            print("environment: a wheel, installed without write permission\n", flush=True)
        print(first_fits(args.rounds, python, args.rules), end="\n\n", flush=True)
        print(later_fits(args.rounds, python), end="\n\n", flush=True)
        print(commands(args.rounds, python), flush=True)


if __name__ == "__main__":
    main()
