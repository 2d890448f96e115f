"""Time the functions that prove something, beside another version of this package.

    python benchmarks/proofs.py --against OTHER_ENVIRONMENT/bin/python
    python benchmarks/proofs.py readings offenders --seconds 60

Tables: verdicts (beside the full linear program), margin, coefficients, offenders, readings. Every
measurement is a process of its own; the interpreters take turns, and the best of --rounds counts.
`offenders` runs once for --seconds, and its bounds are compared, not its time. Readings are counted
on chunks that count how often they are read from the start.

Generated rows have standard normal entries. Real sets are read from the folder shared/data beside
the project, and left out where it is absent.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings

import numpy as np
import separability
from report import check_packages, interpreter, number, run_child, shared_data, table

SUFFIXES = (".data", ".all-data", ".gz")


def apart(n, d):
    """All rows moved by 0.02 away from the hyperplane."""
    rng = np.random.default_rng(n)
    w = rng.normal(size=d)
    X = rng.normal(size=(n, d))
    w /= np.linalg.norm(w)
    y = X @ w > 0
    return X + 0.02 * np.where(y, 1, -1)[:, None] * w, y


def comma_separated(name, label=-1, header=0, drop=()):
    (path,) = (p for p in (shared_data() / name).iterdir() if p.suffix in SUFFIXES)
    cells = np.loadtxt(path, dtype=str, delimiter=",", skiprows=header)
    cells = cells[(cells != "?").all(axis=1)]
    y = cells[:, label]
    return np.delete(cells, [label % cells.shape[1], *drop], axis=1).astype(float), y


def libsvm(name):
    from sklearn.datasets import load_svmlight_file

    (path,) = (p for p in sorted((shared_data() / name).iterdir()) if p.name == f"{name}.svm.gz")
    X, y = load_svmlight_file(str(path))
    return X.tocsr(), y


def mnist():
    return separability.digits(shared_data() / "mnist", (0, 1))


def small(kind):
    """4,000 x 6 whole numbers: separable, quasi-separable or overlapping."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (4000, 6)).astype(float)
    s = X @ [1, -2, 3, 1, 0, 2] + 1
    if kind == "separable":
        return X[s != 0], s[s != 0] > 0
    if kind == "quasi-separable":
        return X, np.where(s == 0, rng.random(4000) < 0.5, s > 0)
    return X, np.where(np.arange(4000) < 30, s < 0, s > 0)


CASES = {
    "verdicts": {
        "100,000 x 50, one label flipped": (separability.flipped, 100_000, 50),
        "100,000 x 50, thin gap": (separability.thin, 100_000, 50),
    },
    "margin": {"5,000 x 200": (apart, 5_000, 200), "4,000 x 600": (apart, 4_000, 600)},
    "coefficients": {
        "3,000 x 60, separable": (separability.clean, 3_000, 60),
        "MNIST, 0 and 1": (mnist,),
    },
    "offenders": {
        "sonar": (comma_separated, "sonar"),
        "ionosphere": (comma_separated, "ionosphere"),
        "wpbc": (comma_separated, "wpbc", 1, 0, (0,)),
        "spambase": (comma_separated, "spambase", -1, 1),
        "a9a": (libsvm, "a9a"),
    },
    "readings": {kind: (small, kind) for kind in ("separable", "quasi-separable", "overlapping")},
}
REAL = ("MNIST", "sonar", "ionosphere", "wpbc", "spambase", "a9a")


# ------------------------------------------------------------------ in a process of its own


def measure(job, case, seconds, smaller, limit):
    """What one version does in one case; imports and a small call come first."""
    warnings.simplefilter("ignore")
    make, *given = CASES["verdicts" if job == "program" else job][case]
    X, y = make(*given)
    X, y = X[::smaller], y[::smaller]
    if job == "program":
        return {"seconds": separability.program(X, y, "bounded", limit)[0]}
    import rosenblatt

    functions = {
        "verdicts": rosenblatt.separability,
        "margin": rosenblatt.max_margin,
        "coefficients": rosenblatt.infinite_coefficients,
        "offenders": lambda X, y: rosenblatt.offenders(X, y, max_seconds=seconds),
    }
    if job == "readings":
        found = readings(X, y)
    else:
        first, labels = small("separable")
        functions[job](first[:100], labels[:100])
        began = time.perf_counter()
        result = functions[job](X, y)
        found = {"seconds": time.perf_counter() - began, "result": described(job, result)}
    return found | {"package": rosenblatt.__file__, "size": list(X.shape)}


def described(job, result):
    if job == "verdicts":
        return result.verdict
    if job == "margin":
        return f"{result.lower:.9g} to {result.upper:.9g}"
    if job == "coefficients":
        return result.certificate.verdict
    return f"{result.lower_bound:,} to {len(result.rows):,}"


def readings(X, y):
    """How often each function reads chunks from the start."""
    from rosenblatt import infinite_coefficients, max_margin, separability

    count = [0]

    def chunks():
        count[0] += 1
        for k in range(0, len(y), 1000):
            yield X[k : k + 1000], y[k : k + 1000]

    def counted(function, *given):
        count[0] = 0
        result = function(*given)
        return result, count[0]

    certificate, found = counted(separability, chunks)
    out = {"separability": found, "verify": counted(certificate.verify, chunks)[1]}
    if certificate.verdict == "separable":
        out["max_margin"] = counted(max_margin, chunks)[1]
    coefficients, out["infinite_coefficients"] = counted(infinite_coefficients, chunks)
    out["its verify"] = counted(coefficients.verify, chunks)[1]
    return {"counts": out}


# ------------------------------------------------------------------ side by side


def compare(job, case, args):
    """The best run of each version, which take turns."""
    pythons = {"ours": sys.executable} | ({"other": args.against} if args.against else {})
    found = {}
    for _ in range(1 if job in ("offenders", "readings") else args.rounds):
        for name, python in pythons.items():
            options = ["--child", job, "--case", case, "--seconds", str(args.seconds)]
            options += ["--smaller", str(args.smaller)]
            new = run_child(__file__, *options, python=python)
            old = found.get(name)
            if old is None or new.get("seconds", 0) < old["seconds"]:
                found[name] = new
    if args.against:
        check_packages(found["ours"]["package"], found["other"]["package"])
    return found


def lines(job, case, args):
    """Rows of the table of a job."""
    found = compare(job, case, args)
    ours, other = found["ours"], found.get("other")
    if job == "readings":
        for name, count in ours["counts"].items():
            yield [case, name, count, *([other["counts"][name]] if other else [])]
        return
    n, d = ours["size"]
    row = [case, f"{n:,} x {d:,}", ours["result"]]
    if job == "offenders":
        yield [*row, *([other["result"]] if other else [])]
        return
    row.append(number(ours["seconds"]))
    if other:
        row += [number(other["seconds"]), number(other["seconds"] / ours["seconds"])]
    if job == "verdicts" and args.limit:
        options = ["--child", "program", "--case", case, "--smaller", str(args.smaller)]
        options += ["--limit", str(args.limit)]
        seconds = run_child(__file__, *options)["seconds"]
        row += [number(seconds), number(seconds / ours["seconds"])]
    yield row


def header(job, against, limit):
    other = ["other version, s", "other / ours"] if against else []
    if job == "readings":
        return ["rows", "readings by", "ours", *(["other version"] if against else [])]
    if job == "offenders":
        return [job, "rows x features", "to remove", *(["other version"] if against else [])]
    program = ["full linear program, s", "program / ours"] if job == "verdicts" and limit else []
    return [job, "rows x features", "result", "ours, s", *other, *program]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="job", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="time of each run of offenders")
    parser.add_argument(
        "--limit", type=float, default=600, help="seconds of the full program; 0: it is left out"
    )
    parser.add_argument("--smaller", type=int, default=1, metavar="K", help="one row in K")
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument(
        "--against", type=interpreter, metavar="PYTHON", help="interpreter of another environment"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure(args.child, args.case, args.seconds, args.smaller, args.limit)))
        return
    unknown = set(args.jobs) - set(CASES)
    if unknown:
        parser.error(f"unknown job: {', '.join(sorted(unknown))}. Known jobs: {', '.join(CASES)}")
    for job in args.jobs or CASES:
        print(table(header(job, args.against, args.limit), []))
        for case in CASES[job]:
            if args.only and args.only not in case:
                continue
            if shared_data() is None and case.startswith(REAL):
                print(f"  {case}: no folder shared/data beside the project", file=sys.stderr)
                continue
            for row in lines(job, case, args):
                print("| " + " | ".join(map(str, row)) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
