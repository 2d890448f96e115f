"""Reading LIBSVM, VW and CSV files beside scikit-learn's reader and beside reading the bytes.

    python benchmarks/files.py [--megabytes 100] [--rounds 5] [--folder DIR]

Generated files (seed 0): 38 entries per row, indices up to 100,000, values written in several ways.
Ours reads the file chunk by chunk; "parser" is the parser of the core alone, on one thread, on
bytes that are in memory; "bytes" reads the file and does nothing with it. The contenders take
turns, and the best of --rounds counts. scikit-learn gets a tenth of the file, because it is slower.
Memory is the peak resident memory of a process that only reads the file.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import sys
import tempfile
from pathlib import Path

import numpy as np
from report import best_of, measure_process

from rosenblatt import read_chunks

WRITTEN = {
    "12345:0.123": lambda v: f"{v:.3f}",
    "12345:1": lambda v: "1",
    "12345:9.86899159742946E-02": lambda v: f"{v:.14E}",
    "12345:0.09868991597429461": repr,
}


def libsvm(written, megabytes, path):
    """Write 2,000 rows again and again until the file is large enough."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(2000):
        index = np.unique(rng.integers(1, 100_000, 38)).tolist()
        entries = zip(index, rng.random(len(index)).tolist(), strict=True)
        rows.append(
            f"{rng.choice([-1, 1]):+d} " + " ".join(f"{k}:{written(v)}" for k, v in entries)
        )
    block = ("\n".join(rows) + "\n").encode()
    with open(path, "wb") as file:
        for _ in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block)
    return path


def vw(megabytes, path):
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(2000):
        words = " ".join(f"word{k}:{v:.3f}" for k, v in zip(
            rng.integers(1, 100_000, 38).tolist(), rng.random(38).tolist(), strict=True
        ))  # fmt: skip
        rows.append(f"{rng.choice([-1, 1])} |text {words}")
    block = ("\n".join(rows) + "\n").encode()
    path.write_bytes(block * max(1, round(megabytes * 1e6 / len(block))))
    return path


def table(megabytes, path):
    rng = np.random.default_rng(0)
    X = rng.random((2000, 38)).tolist()
    rows = [",".join(f"{v:.3f}" for v in x) + f",{rng.integers(2)}" for x in X]
    block = ("\n".join(rows) + "\n").encode()
    path.write_bytes(block * max(1, round(megabytes * 1e6 / len(block))))
    return path


def stream(path, threads=2, **settings):
    rows = 0
    for X, _, _ in read_chunks(path, threads=threads, **settings):
        rows += X.shape[0]
    return rows


def parser(path):
    """A function that parses the blocks of a file, which are in memory."""
    from rosenblatt.io.byte_stream import ByteStream, text_blocks
    from rosenblatt.io.libsvm import Libsvm
    from rosenblatt.io.location import Piece
    from rosenblatt.io.text_format import ReadOptions

    options = ReadOptions()
    with ByteStream(Piece(str(path))) as stream:
        held = list(text_blocks(stream, options.chunk_bytes, options.max_line_bytes))
    reading = Libsvm(options)

    def run():
        for block in held:
            reading.parse(block)

    return run


def only_bytes(path):
    room = bytearray(1 << 22)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(room):
            pass


def peer(path):
    from sklearn.datasets import load_svmlight_file

    load_svmlight_file(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        stream(libsvm(WRITTEN["12345:1"], 0.1, folder / "first.svm"))  # imports
        formats(folder, args)
        compressed(folder, args)
        memory(folder, args)


def formats(folder, args):
    print(
        "| reading entries such as | ours, 2 threads | 1 thread | parser | bytes | "
        "scikit-learn | ours / scikit-learn |"
    )
    print("|---|---|---|---|---|---|---|")
    for shown, written in WRITTEN.items():
        path = libsvm(written, args.megabytes, folder / "data.svm")
        small = libsvm(written, args.megabytes / 10, folder / "small.svm")
        runs = {
            "two": lambda path=path: stream(path, 2),
            "one": lambda path=path: stream(path, 1),
            "parser": parser(path),
            "bytes": lambda path=path: only_bytes(path),
            "peer": lambda small=small: peer(small),
        }
        seconds = best_of(args.rounds, runs)
        size = path.stat().st_size / 1e6
        speed = {k: size / v for k, v in seconds.items()}
        speed["peer"] = small.stat().st_size / 1e6 / seconds["peer"]
        cells = " | ".join(
            f"{speed[k]:,.0f} MB/s" for k in ("two", "one", "parser", "bytes", "peer")
        )
        print(f"| `{shown}` | {cells} | {speed['two'] / speed['peer']:.0f} |", flush=True)
    print("\n| other formats | ours, 2 threads | 1 thread |\n|---|---|---|")
    for shown, path, settings in (
        (
            "VW text, `word12345:0.123`, `bits=18`",
            vw(args.megabytes, folder / "data.vw"),
            {"bits": 18},
        ),
        ("VW text, `word12345:0.123`, by name", folder / "data.vw", {}),
        ("CSV, 38 columns of `0.123`", table(args.megabytes, folder / "data.csv"), {"target": -1}),
    ):
        runs = {
            "two": lambda path=path, settings=settings: stream(path, 2, **settings),
            "one": lambda path=path, settings=settings: stream(path, 1, **settings),
        }
        seconds = best_of(args.rounds, runs)
        size = path.stat().st_size / 1e6
        print(
            f"| {shown} | {size / seconds['two']:,.0f} MB/s | {size / seconds['one']:,.0f} MB/s |"
        )


def compressed(folder, args):
    import pyarrow as pa

    path = libsvm(WRITTEN["12345:0.123"], args.megabytes / 4, folder / "data.svm")
    text = path.read_bytes()
    packs = {
        "zstd": lambda: pa.compress(text, "zstd", asbytes=True),
        "gzip": lambda: gzip.compress(text, 6),
        "bzip2": lambda: bz2.compress(text),
    }
    print("\n| compressed | size | ours, 2 threads, MB of text per second |\n|---|---|---|")
    for name, pack in packs.items():
        packed = folder / "packed"
        packed.write_bytes(pack())
        seconds = best_of(max(1, args.rounds // 2), {"ours": lambda packed=packed: stream(packed)})
        part = packed.stat().st_size / len(text)
        print(f"| {name} | {part:.0%} | {len(text) / 1e6 / seconds['ours']:,.0f} |", flush=True)


def memory(folder, args):
    print("\n| peak resident memory of reading | MB |\n|---|---|")
    codes = {"importing what reading needs": "import rosenblatt.io.reader"}
    for factor in (1, 10):
        path = libsvm(WRITTEN["12345:0.123"], args.megabytes * factor, folder / f"{factor}.svm")
        code = f"from rosenblatt import read_chunks\nfor chunk in read_chunks({str(path)!r}): pass"
        codes[f"reading a file of {path.stat().st_size / 1e6:,.0f} MB"] = code
    for name, code in codes.items():
        found = measure_process([sys.executable, "-c", code])
        print(f"| {name} | {found.memory_mb:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
