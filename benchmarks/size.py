"""Installed size of this package with its required dependencies, beside scikit-learn with its own.

    python benchmarks/size.py

The dependencies are those that the metadata of the installed packages require, without extras. The
size of a package is the sum of the files that its installation lists (RECORD); that of ours is the
folder of the package, which an editable install does not list. Bytecode, which pip writes too, is
compiled first and counted only in the last rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

from cold import compile_bytecode
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from report import table

OURS, PEER = "rosenblatt", "scikit-learn"


def required(name: str) -> set[str]:
    """A package and everything it requires, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        package = canonicalize_name(waiting.pop())
        if package in found:
            continue
        found.add(package)
        for line in importlib.metadata.requires(package) or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
    return found


def files_of(package: str) -> set[Path]:
    """The installed files of a package, without bytecode."""
    if package == OURS:
        spec = importlib.util.find_spec(OURS)
        assert spec is not None
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        files = {path for folder in folders for path in folder.rglob("*")}
    else:
        listed = importlib.metadata.files(package)
        if listed is None:
            raise LookupError(f"{package} does not list its files. Install it again with pip.")
        files = {Path(str(file.locate())).resolve() for file in listed}
    return {path for path in files if path.suffix != ".pyc" and path.is_file()}


def megabytes(files: set[Path]) -> float:
    return sum(path.stat().st_size for path in files) / 1e6


def bytecode_of(files: set[Path]) -> set[Path]:
    """The bytecode that belongs to source files."""
    sources = (path for path in files if path.suffix == ".py")
    compiled = (Path(importlib.util.cache_from_source(str(path))) for path in sources)
    return {path for path in compiled if path.exists()}


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    compile_bytecode(sys.executable)
    packages = {OURS: required(OURS), PEER: required(PEER)}
    files = {package: files_of(package) for package in packages[OURS] | packages[PEER]}
    body, small = [], dict.fromkeys(packages, 0.0)
    for package in sorted(files, key=lambda package: -megabytes(files[package])):
        size = megabytes(files[package])
        if size < 1:
            for name, of in packages.items():
                small[name] += size * (package in of)
            continue
        cells = [f"{size:,.1f}" if package in of else "" for of in packages.values()]
        body.append([f"{package} {importlib.metadata.version(package)}", *cells])
    body.append(["packages under 1 MB", *(f"{size:,.1f}" for size in small.values())])
    body += totals("all", [sum(megabytes(files[one]) for one in of) for of in packages.values()])
    compiled = {package: bytecode_of(found) | found for package, found in files.items()}
    whole = [sum(megabytes(compiled[one]) for one in of) for of in packages.values()]
    body += totals("all, with bytecode", whole)
    print(table(["installed size, MB", f"{OURS} requires", f"{PEER} requires"], body))


def totals(name: str, sizes: list[float]) -> list[list[str]]:
    """The rows of a total and of the difference."""
    ours, theirs = sizes
    return [
        [name, f"{ours:,.0f}", f"{theirs:,.0f}"],
        [f"{name}: difference", f"{ours - theirs:+,.0f}", ""],
    ]


if __name__ == "__main__":
    main()
