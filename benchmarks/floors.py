"""What a pass cannot beat: reading the rows, and scoring them with fixed weights.

    python benchmarks/floors.py [--rounds 7] [--sonar FILE]

`read`: the bytes of the rows are added up as 8-byte words. `score`: w.x of every row by a plain
compiled loop that changes nothing, the work of a pass without its mistakes. Both on one thread,
and on two that share the rows fairly: what speculation on two threads could reach at best. CSR
also without fetching weights (each entry is multiplied by a constant), and scikit-learn's and
our own pass for comparison, as passes.py measures them. Milliseconds, best of several rounds.

With sonar's file also what one update costs at least when the margins are kept: the first
updates of that run are made again without looking for them, that is, a row is added to w, one
dot product taken for the loss, and the margins of all rows moved by a column of the Gram matrix.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from numba import njit
from passes import CASES, FEW, MANY, Peer, seconds, sonar

from rosenblatt import Perceptron

FAST = {"reassoc", "contract", "nsz"}


@njit(nogil=True, fastmath=FAST)
def add_up(words):
    s = np.uint64(0)
    for k in range(words.size):
        s += words[k]
    return s


@njit(nogil=True, fastmath=FAST)
def score_dense(X, w, out):
    for i in range(X.shape[0]):
        s = 0.0
        for j in range(w.size):
            s += np.float64(X[np.uint64(i), np.uint64(j)]) * w[np.uint64(j)]
        out[i] = s


@njit(nogil=True, fastmath=FAST)
def score_csr(indptr, indices, data, w, out):
    for i in range(indptr.size - 1):
        s = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            s += np.float64(data[k]) * w[np.uint64(indices[k])]
        out[i] = s


@njit(nogil=True, fastmath=FAST)
def stream_csr(indptr, indices, data, w, out):
    for i in range(indptr.size - 1):
        s, t = 0.0, 0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            s += np.float64(data[k]) * w[0]
            t += indices[k]
        out[i] = s + t


@njit(nogil=True, fastmath=FAST)
def replay(X, G, rows, steps, w, q, times, adding, scoring, following):
    s = 0.0
    for _ in range(times):
        for k in range(rows.size):
            i, c = np.uint64(rows[k]), steps[k]
            if scoring:
                z = 0.0
                for j in range(w.size):
                    z += X[i, np.uint64(j)] * w[np.uint64(j)]
                s += z
            if adding:
                for j in range(w.size):
                    w[np.uint64(j)] += c * X[i, np.uint64(j)]
            if following:
                for j in range(q.size):
                    q[np.uint64(j)] += np.float32(c) * G[i, np.uint64(j)]
    return s


def one_update(path, rounds):
    """Nanoseconds an update: parts of it, and all together."""
    X, y = sonar(path)
    record = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y).trace_.record
    G = (X @ X.T + 1).astype(np.float32)
    w, q, times = np.zeros(X.shape[1]), np.zeros(len(X), dtype=np.float32), 50
    ways = {
        "adding a row": (True, False, False),
        "a dot product": (False, True, False),
        "moving all margins": (False, False, True),
        "all three": (True, True, True),
    }
    n = times * len(record)
    return {
        name: 1e6
        / n
        * best(lambda way=way: replay(X, G, record.row, record.amount, w, q, times, *way), rounds)
        for name, way in ways.items()
    }


def halves(X):
    middle = X.shape[0] // 2
    return X[:middle], X[middle:]


def jobs(X, kernel):
    """A function for the whole of X, and two for its halves."""
    w = np.random.default_rng(0).standard_normal(X.shape[1])

    def job(part):
        out = np.empty(part.shape[0])
        if not sp.issparse(part):
            if kernel is add_up:
                words = part.reshape(-1).view(np.uint64)
                return lambda: add_up(words)
            return lambda: kernel(part, w, out)
        indptr, indices, data = part.indptr, part.indices, part.data
        if kernel is add_up:
            views = indices.view(np.uint64), data.view(np.uint64)
            return lambda: [add_up(words) for words in views]
        return lambda: kernel(indptr, indices, data, w, out)

    return job(X), [job(part) for part in halves(X)]


def best(work, rounds):
    work()
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return 1e3 * min(found)


def one_case(X, y, rounds, pool):
    sparse = sp.issparse(X)
    kernels = {"read": add_up, "score": score_csr if sparse else score_dense}
    if sparse:
        kernels["without weights"] = stream_csr
    found = {}
    for name, kernel in kernels.items():
        whole, parts = jobs(X, kernel)
        found[name] = (
            best(whole, rounds),
            best(lambda parts=parts: list(pool.map(lambda part: part(), parts)), rounds),
        )
    for cls in (Perceptron, Peer):
        took = {
            passes: min(seconds(cls, X, y, passes, False)[0] for _ in range(max(3, rounds // 2)))
            for passes in (FEW, MANY)
        }
        found[cls] = 1e3 * (took[MANY] - took[FEW]) / (MANY - FEW)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--sonar", metavar="FILE", help="sonar.all-data of the UCI repository")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rounds = given.rounds
    print(
        "| floor of | read, ms | on two threads | score, ms | on two threads "
        "| without weights, ms | our pass | sklearn's pass | sklearn / score on two |"
    )
    print("|" + "---|" * 9)
    with ThreadPoolExecutor(2) as pool:
        for name, make in CASES.items():
            X, y = make()
            found = one_case(X, y, rounds, pool)
            bare = found.get("without weights")
            cells = [
                name,
                *(f"{v:.1f}" for v in (*found["read"], *found["score"])),
                f"{bare[0]:.1f}, {bare[1]:.1f} on two" if bare else "",
                f"{found[Perceptron]:.1f}",
                f"{found[Peer]:.1f}",
                f"{found[Peer] / found['score'][1]:.1f} x",
            ]
            print("| " + " | ".join(cells) + " |", flush=True)
    if given.sonar:
        parts = one_update(given.sonar, rounds)
        print("\n| an update of sonar at least | " + " | ".join(parts) + " |")
        print("|" + "---|" * (1 + len(parts)))
        print("| ns | " + " | ".join(f"{v:.0f}" for v in parts.values()) + " |")


if __name__ == "__main__":
    main()
