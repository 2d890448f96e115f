"""What a pass cannot beat: reading the rows, and scoring them with fixed weights.

    python benchmarks/floors.py [--rounds 7]

`read`: the bytes of the rows are added up as 8-byte words. `score`: w.x of every row by a plain
compiled loop that changes nothing, the work of a pass without its mistakes. Both on one thread,
and on two that share the rows fairly: what speculation on two threads could reach at best. CSR
also without fetching weights (each entry is multiplied by a constant), and scikit-learn's and
our own pass for comparison, as passes.py measures them. Milliseconds, best of several rounds.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from numba import njit
from passes import CASES, FEW, MANY, Peer, seconds

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
    rounds = options.parse_args().rounds
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


if __name__ == "__main__":
    main()
