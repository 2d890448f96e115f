"""Build the core where no C++ compiler is found, and compare what it computes with this build.

A copy of the project is built with a PATH that has no compiler. `pip install .` must say what to
install; `make` must fetch the ziglang package and use it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "without_compiler"
PROJECT = FOLDER / "project"
TOOLS = (
    "sh",
    "make",
    "env",
    "cat",
    "rm",
    "cp",
    "mv",
    "ls",
    "mkdir",
    "touch",
    "uname",
    "sed",
    "grep",
)


def run(*command, check=True):
    """Run a command of the copy, without a compiler on the PATH; return what it printed."""
    env = {k: v for k, v in os.environ.items() if k not in ("CXX", "CC", "MAKEFLAGS", "MAKELEVEL")}
    env |= {"PATH": str(FOLDER / "bin"), "PYTHONPATH": "src"}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=PROJECT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if check and result.returncode:
        sys.exit(f"{result.stdout}\n{command} failed")
    return result.stdout


shutil.rmtree(FOLDER, ignore_errors=True)
for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
    target = PROJECT / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / name, target)
(FOLDER / "bin").mkdir()
for tool in TOOLS:
    (FOLDER / "bin" / tool).symlink_to(shutil.which(tool))

run(sys.executable, "-m", "venv", FOLDER / "plain")
pip = (FOLDER / "plain" / "bin" / "python", "-m", "pip", "install", "--quiet")
run(*pip, "scikit-build-core", "nanobind", "cmake", "ninja")
printed = run(*pip, "--no-deps", "--no-build-isolation", ".", check=False)
if "no C++ compiler was found" not in printed or "pip install ziglang" not in printed:
    sys.exit(f"{printed}\npip install . did not say that a compiler is missing")

run("make", f"PYTHON={sys.executable}", ".venv/.core")
python = PROJECT / ".venv" / "bin" / "python"
run(python, "-m", "pip", "install", "--quiet", "numpy")
found = run(python, ".ci/hash_core.py")
expected = subprocess.check_output([sys.executable, ROOT / ".ci" / "hash_core.py"], text=True)
if found != expected:
    sys.exit(f"zig: {found}this build: {expected}the two builds compute different bits")
print("the build without a compiler computes the same bits")
