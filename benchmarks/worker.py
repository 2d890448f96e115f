"""Worker: one contender in its own process, driven over a pipe.

Its own process shows how much memory it needs; a pipe lets contenders take turns. The child

1. loads the data, with numpy and scipy only, and notes its high-water mark;
2. imports the contender, then converts the data (seconds, not part of training);
3. on each `fit` trains (up to five times within a tenth of a second) and returns the seconds of the
   best; `memory` is the high-water mark since the start minus that of step 1 (taken at the first
   fit, before any `score`), `fit_memory` the rise during this fit (Linux).
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report import high_water_mb, version


class Failed(RuntimeError):
    """The contender is not installed, raised, died or took too long; says which."""


class Worker:
    """The parent's end. An answer that takes longer than `limit` seconds ends the process."""

    def __init__(self, name: str, folder: Path, limit: float):
        self.limit = limit
        command = [sys.executable, str(Path(__file__).resolve()), name, str(folder)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.answers: queue.Queue[str] = queue.Queue()
        self.errors: list[str] = []
        targets = (self._listen, self._overhear)
        self.threads = [threading.Thread(target=target, daemon=True) for target in targets]
        for thread in self.threads:
            thread.start()
        try:
            self.ready = self._answer(10 * limit)  # loading and converting may take their time
        except BaseException:
            self.close()
            raise

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self.answers.put(line)
        self.answers.put("")

    def _overhear(self) -> None:
        for line in self.process.stderr or ():
            self.errors = [*self.errors[-4:], line.strip()]

    def _answer(self, limit: float) -> dict[str, Any]:
        try:
            line = self.answers.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise Failed(f"stopped after {limit:.0f} s") from None
        if not line:
            code = self.process.wait()
            raise Failed(f"died with code {code}: {' '.join(self.errors)[-200:]}")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def ask(self, what: str, passes: int | None = None) -> dict[str, Any]:
        try:
            assert self.process.stdin
            self.process.stdin.write(json.dumps([what, passes]) + "\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise Failed("the process is gone") from None
        return self._answer(self.limit if what == "fit" else 10 * self.limit)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


# ------------------------------------------------------------------ the child's end


def resident_mb() -> float:
    """What is in RAM now; the high-water mark begins again from here (Linux; else NaN)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text().splitlines()
        return next(int(n.split()[1]) for n in status if n.startswith("VmRSS")) * 1024 / 1e6
    except OSError:
        return float("nan")


def shortest(run: Callable[[], object]) -> float:
    """Seconds of a run; the best of up to five where a tenth of a second allows them."""
    best, spent = float("inf"), 0.0
    for _ in range(5):
        began = time.perf_counter()
        run()
        seconds = time.perf_counter() - began
        best, spent = min(best, seconds), spent + seconds
        if spent > 0.1:
            break
    return best


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes elsewhere

    def say(**what: Any) -> None:
        print(json.dumps(what), file=answer, flush=True)

    name, folder = sys.argv[1], Path(sys.argv[2])
    try:
        from contenders import CONTENDERS
        from datasets import Split

        kind = CONTENDERS[name]
        if version(kind.package) is None and kind.package != "rosenblatt":
            return say(failed=f"{kind.package} is not installed")
        own = folder / name.replace(" ", "_")
        own.mkdir(exist_ok=True)
        contender = kind(Split.load(folder), own)
        loaded = high_water_mb()
        contender.start()
        began = time.perf_counter()
        contender.convert()
        say(convert=time.perf_counter() - began, scale=contender.scale)
        for line in sys.stdin:
            what, passes = json.loads(line)
            if what == "fit":
                most, before = high_water_mb(), resident_mb()
                seconds = shortest(lambda passes=passes: contender.fit(passes))
                after = high_water_mb()
                say(
                    seconds=seconds * contender.scale,
                    passes=contender.passes(passes),
                    memory=max(most, after) - loaded,
                    fit_memory=after - before,
                )
            else:
                train, test = contender.accuracy()
                say(train=train, test=test)
    except Exception as error:
        say(failed=f"{type(error).__name__}: {error}"[:200])


if __name__ == "__main__":
    main()
