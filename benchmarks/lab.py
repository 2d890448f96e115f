"""Lab: how long a step, a verdict and a film take, for one person and for twenty at once.

    python benchmarks/lab.py [--sessions 20] [--points 500] [--steps 20] [--pause 1]

The server is a process (`rosenblatt lab`); every session is a thread of this process with its own
connection and its own `points` points (two Gaussian classes that overlap, seed by session). A
session sends the requests of the page: the next 500 steps of its run; then a point is moved, and it
requests the new run and its verdict. First once per second (`--pause`), then without a pause.
Seconds are from the request to the last byte of the answer. Clients and server share the cores.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from report import table

WINDOW = 500
ACTIONS = {
    "run": "a point moved: the new run and its first 500 steps",
    "verdict": "its verdict, proven",
    "steps": "the next 500 steps",
    "film": "the film",
}


class Server:
    """`rosenblatt lab` on a free port, until the block is left."""

    def __enter__(self) -> Server:
        command = [
            sys.executable,
            "-m",
            "rosenblatt",
            "lab",
            "--no-browser",
            "--port",
            "0",
            "--json",
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        address = json.loads(self.process.stdout.readline())["address"]
        self.port = int(address.rstrip("/").rpartition(":")[2])
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)

    def connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for _ in range(200):
            try:
                connection.connect()
            except OSError:
                time.sleep(0.1)
            else:
                return connection
        raise RuntimeError("the server does not answer")

    @property
    def resident_mb(self) -> float:
        """What its process holds in RAM now (Linux)."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def cpu_seconds(self) -> float:
        """What its process has computed so far, in all threads (Linux)."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def get(connection, path):
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


class Session:
    """One person: points of their own, and the seconds of everything they did."""

    def __init__(self, server: Server, seed: int, points: int) -> None:
        self.connection = server.connect()
        self.rng = np.random.default_rng(seed)
        y = self.rng.choice([-1, 1], points)
        X = self.rng.normal(size=(points, 2)) + y[:, None]
        self.points = [[*x, int(label)] for x, label in zip(X.tolist(), y, strict=True)]
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.at = 0

    @property
    def situation(self) -> dict:
        return {"v": 1, "points": self.points, "passes": 100, "segments": [{"order": "shuffle"}]}

    def ask(self, action: str, path: str, body: dict) -> None:
        text = json.dumps(body)
        began = time.perf_counter()
        self.connection.request("POST", path, text)
        answer = self.connection.getresponse()
        raw = answer.read()
        self.seconds[action].append(time.perf_counter() - began)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {raw[:200]!r}")

    def steps(self) -> None:
        window = {"from": self.at, "to": self.at + WINDOW}
        self.ask("steps", "/api/run", {"situation": self.situation, **window})
        self.at += WINDOW

    def moved(self) -> None:
        row = int(self.rng.integers(len(self.points)))
        self.points[row][:2] = self.rng.normal(size=2).tolist()
        self.at = WINDOW
        self.ask("run", "/api/run", {"situation": self.situation, "from": 0, "to": WINDOW})
        self.ask("verdict", "/api/verdict", {"points": self.points, "offset": True})

    def film(self) -> None:
        self.ask("film", "/api/film", {"situation": self.situation})

    def work(self, steps: int, pause: float = 0.0) -> None:
        next_time = time.perf_counter() + pause * self.rng.random()
        for _ in range(steps):
            time.sleep(max(0.0, next_time - time.perf_counter()))
            next_time += pause
            self.moved()
            self.steps()


def seconds_of(sessions: list[Session]) -> dict[str, np.ndarray]:
    names = {name for s in sessions for name in s.seconds}
    return {name: np.concatenate([s.seconds[name] for s in sessions]) for name in names}


def many(server: Server, args: argparse.Namespace, pause: float) -> dict[str, np.ndarray]:
    people = [Session(server, seed, args.points) for seed in range(args.sessions)]
    failed: list[BaseException] = []

    def work(person: Session) -> None:
        try:
            person.work(args.steps, pause)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return seconds_of(people)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.0)
    args = parser.parse_args()
    with Server() as server:
        one = Session(server, 1000, args.points)
        one.work(2)  # first answers import and allocate
        one.film()
        one.seconds.clear()
        before = server.resident_mb
        one.work(args.steps)
        for _ in range(3):
            one.film()
        alone = seconds_of([one])
        together = many(server, args, args.pause)
        first = server.resident_mb
        began = server.cpu_seconds
        pressed = many(server, args, 0.0)
        computed = server.cpu_seconds - began
        second = server.resident_mb

    def told(found: dict[str, np.ndarray], name: str) -> list[str]:
        if name not in found:
            return ["", ""]
        times = 1000 * found[name]
        return [f"{np.median(times):.0f}", f"{times.max():.0f}"]

    header = [
        f"lab, {args.points} points, ms",
        *("one person, median", "worst"),
        *(f"{args.sessions} people, one move per {args.pause:g} s, median", "worst"),
        *(f"{args.sessions} without a pause, median", "worst"),
    ]
    groups = alone, together, pressed
    lines = [[words, *(v for g in groups for v in told(g, k))] for k, words in ACTIONS.items()]
    print(table(header, lines))
    print()
    asked = 3 * args.sessions * args.steps
    sizes = [*(f"{v:.0f}" for v in (before, first, second)), f"{1000 * computed / asked:.1f}"]
    header = [
        "memory of the lab's server, MB",
        f"after {asked:,} requests",
        f"after {2 * asked:,}",
        "CPU ms per request",
    ]
    print(table(header, [sizes]))


if __name__ == "__main__":
    main()
