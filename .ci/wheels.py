"""Build an sdist, a wheel from it for each Python found, and test each wheel where it is alone.

With --oldest, test the wheel for the oldest Python with the oldest dependencies that it allows.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "wheels"
VERSIONS = ("3.11", "3.12", "3.13")
TESTS = ("tests/core", "tests/data/test_csr_form.py")
DROP_IN = ("tests/estimators/test_contract.py", "tests/estimators/test_from_sklearn.py")
EXAMPLE = """
from rosenblatt import Perceptron
clf = Perceptron(tol=None).fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
assert clf.stop_reason_ == "separated", clf.stop_reason_
"""


def run(*command, cwd=ROOT):
    """Run a command and stop if it fails."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def interpreter(version):
    """The path of Python 3.x, on the PATH or installed by pyenv; None if there is none."""
    found = [shutil.which(f"python{version}")]
    if shutil.which("pyenv"):
        root = Path(subprocess.check_output(["pyenv", "root"], text=True).strip())
        found += sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    for path in filter(None, found):
        command = [str(path), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if told.strip() == version:
            return path
    return None


def build(version, python, sdist):
    """A wheel from the sdist."""
    out = FOLDER / version
    run(python, "-m", "venv", out / "build")
    run(out / "build/bin/python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, sdist)
    (wheel,) = out.glob("*.whl")
    run(sys.executable, ROOT / ".ci" / "same_files.py", wheel, ROOT)
    return wheel


def test(wheel, python, folder, tests, *packages):
    """Install the wheel and packages into an empty environment and run tests there."""
    run(python, "-m", "venv", folder / "venv")
    inside = folder / "venv/bin/python"
    run(inside, "-m", "pip", "install", "-q", wheel, "pytest", "hypothesis", *packages)
    shutil.copytree(ROOT / "tests", folder / "tests")
    pytest = (inside, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "--rootdir=.")
    run(*pytest, *tests, cwd=folder)
    run(inside, "-c", EXAMPLE, cwd=folder)
    run(folder / "venv/bin/rosenblatt", "--version", cwd=folder)


def oldest(wheel):
    """The lower bound of each dependency, as a constraint."""
    with ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    return re.findall(r"^Requires-Dist: ([\w.-]+)>=([\w.]+)$", metadata, re.MULTILINE)


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
run(sys.executable, "-m", "build", "--sdist", "--outdir", FOLDER)
(sdist,) = FOLDER.glob("*.tar.gz")
found = {version: python for version in VERSIONS if (python := interpreter(version))}
print("found Python", ", ".join(found) or "nowhere")
if "--oldest" in sys.argv:
    version, python = next(iter(found.items()))
    wheel = build(version, python, sdist)
    constraints = FOLDER / "oldest.txt"
    constraints.write_text("".join(f"{name}=={bound}\n" for name, bound in oldest(wheel)))
    (FOLDER / "oldest").mkdir()
    packages = ("pandas", "polars==1.20", "pytest<9", "-c", constraints)
    test(wheel, python, FOLDER / "oldest", (*TESTS, *DROP_IN), *packages)
else:
    for version, python in found.items():
        test(build(version, python, sdist), python, FOLDER / version, TESTS)
