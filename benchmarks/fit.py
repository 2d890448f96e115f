"""From a LIBSVM file to a model: `rosenblatt fit` beside Vowpal Wabbit and scikit-learn.

    python benchmarks/fit.py [--megabytes 100 1000] [--rounds 3] [--folder DIR]

Every measurement is a whole process, start-up included. The contenders take turns, and the best of
--rounds counts; scikit-learn runs once, because it takes long. Memory is the peak resident memory
of the process. The file (seed 0) has 38 entries per row, 100,000 features and values of three
digits; labels are those of a random hyperplane, one in ten flipped.

- ours: `rosenblatt fit FILE --out MODEL --max-iter N`
- Vowpal Wabbit: `python -m vowpalwabbit -d FILE -f MODEL --loss_function hinge -b 18`, with
  `--passes N -c` for more than one pass, on the same rows as VW text
- scikit-learn: load_svmlight_file, then Perceptron(shuffle=False, tol=None, max_iter=N).fit

--folder needs space for about five times the largest file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from report import best_processes, interpreter, table, version

FEATURES, ENTRIES = 100_000, 38
SKLEARN = """
import warnings, numpy as np
warnings.simplefilter("ignore")
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
X, y = load_svmlight_file({path!r})
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # Perceptron needs it
Perceptron(shuffle=False, tol=None, max_iter={passes}).fit(X, y)
"""


def write(folder: Path, megabytes: float) -> tuple[Path, Path]:
    """Write the same rows as LIBSVM and as VW text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rng = np.random.default_rng(0)
    plane = rng.standard_normal(FEATURES)
    names = pa.array([str(k) for k in range(FEATURES)])
    numbers = pa.array([f"{k / 1000:.3f}" for k in range(1000)])
    svm, vw = folder / "train.svm", folder / "train.vw"
    width, n = FEATURES // ENTRIES, 5_000
    ends = pa.array(np.arange(0, n * ENTRIES + 1, ENTRIES, dtype=np.int32))
    with open(svm, "wb") as one, open(vw, "wb") as other:
        while one.tell() < megabytes * 1e6:
            # one entry in each block of columns: indices grow and none occurs twice
            index = 1 + rng.integers(0, width, (n, ENTRIES)) + np.arange(ENTRIES) * width
            value = rng.integers(1, 1000, (n, ENTRIES))
            score = np.einsum("ij,ij->i", plane[index], value / 1000)
            positive = (score > 0) != (rng.random(n) < 0.1)
            entries = pc.binary_join_element_wise(
                names.take(pa.array(index.ravel())), numbers.take(pa.array(value.ravel())), ":"
            )
            rows = pc.binary_join(pa.ListArray.from_arrays(ends, entries), " ").to_pylist()
            for file, signs, between in ((one, ("-1", "+1"), " "), (other, ("-1", "1"), " | ")):
                lines = (
                    f"{signs[yes]}{between}{row}\n"
                    for yes, row in zip(positive.tolist(), rows, strict=True)
                )
                file.write("".join(lines).encode())
    return svm, vw


def ours(svm: Path, passes: int, python: str = sys.executable) -> list[str]:
    out = str(svm.with_suffix(".safetensors"))
    command = [python, "-m", "rosenblatt", "fit", str(svm), "--out", out]
    return [*command, "--max-iter", str(passes), "--quiet"]


def vowpal_wabbit(vw: Path, passes: int) -> list[str]:
    command = [sys.executable, "-m", "vowpalwabbit", "-d", str(vw), "-f", f"{vw}.model", "--quiet"]
    command += ["-b", "18", "--loss_function", "hinge"]
    if passes > 1:
        command += ["--passes", str(passes), "--holdout_off", "-k", "--cache_file", f"{vw}.cache"]
    return command


def scikit_learn(svm: Path, passes: int) -> list[str]:
    return [sys.executable, "-c", SKLEARN.format(path=str(svm), passes=passes)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--folder", help="where the files go")
    parser.add_argument(
        "--against", type=interpreter, metavar="PYTHON", help="interpreter of another environment"
    )
    args = parser.parse_args()
    head = ["LIBSVM file to model", "passes", "ours, s", "Vowpal Wabbit, s", "scikit-learn, s"]
    head += ["Vowpal Wabbit / ours", "scikit-learn / ours", "memory, MB: ours", "Vowpal Wabbit"]
    print(table([*head, "scikit-learn", *["other version, s"] * bool(args.against)], []))
    for megabytes in args.megabytes:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            one_size(Path(folder), megabytes, args)


def one_size(folder: Path, megabytes: float, args: argparse.Namespace) -> None:
    """Print the rows of one file size."""
    svm, vw = write(folder, megabytes)
    size = svm.stat().st_size / 1e6
    for passes in args.passes:
        commands = {"ours": ours(svm, passes)}
        if args.against:
            commands["other"] = ours(svm, passes, args.against)
        if version("vowpalwabbit"):
            commands["vw"] = vowpal_wabbit(vw, passes)
        found = best_processes(args.rounds, commands)
        found |= best_processes(1, {"sklearn": scikit_learn(svm, passes)})
        mine = found["ours"].seconds
        peers = [found.get(name) for name in ("vw", "sklearn")]
        cells = [f"{size:,.0f} MB", str(passes), f"{mine:.2f} ({size / mine:,.0f} MB/s)"]
        cells += [f"{one.seconds:.2f}" if one else "not installed" for one in peers]
        cells += [f"{one.seconds / mine:.1f}" if one else "" for one in peers]
        cells += [f"{one.memory_mb:,.0f}" if one else "" for one in (found["ours"], *peers)]
        if args.against:
            cells.append(f"{found['other'].seconds:.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
