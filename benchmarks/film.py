"""How long a film takes to write and to open: 10,000 updates, in headless Chromium.

    python benchmarks/film.py [--repeat 5]

"first frame" is counted by the page, from the start of navigation until the first picture has
been drawn and shown; "script" is the part of it spent in the page's own code. Every opening is
a fresh browser context.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from rosenblatt import Perceptron, film
from rosenblatt.text import text_table


def overlapping(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y = X @ rng.normal(size=features) + np.sqrt(features) * rng.normal(size=rows) > 0
    return X, y


def far_off(rows: int, features: int) -> tuple[dict, np.ndarray, np.ndarray]:
    """A start far off and a small learning rate: most updates turn the line by very little."""
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(rows, features)), rng.normal(size=features)
    return {"init": -300 * u, "eta0": 0.03, "fit_intercept": False}, X, X @ u > 0


def runs() -> dict[str, Perceptron]:
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, features in ((500, 2), (1000, 2), (500, 30), (1000, 100), (1000, 1000)):
            model = Perceptron(tol=None, max_iter=2000, max_updates=10_000, record="updates")
            found[f"{rows} x {features}"] = model.fit(*overlapping(rows, features))
        choices, X, y = far_off(500, 2)
        model = Perceptron(tol=None, max_iter=2000, max_updates=10_000, record="updates")
        found["500 x 2, small steps"] = model.set_params(**choices).fit(X, y)
    return found


def opening(browser, path: Path) -> tuple[float, float]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    while not page.evaluate("Boolean(window.film && window.film.firstFrame)"):
        page.wait_for_timeout(20)
    first, script = page.evaluate("[film.firstFrame, film.script]")
    context.close()
    return float(first), float(script)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no Chromium is installed")
    lines = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        browser = p.chromium.launch(executable_path=chromium, args=sandbox)
        for name, model in runs().items():
            began = time.perf_counter()
            path = film(model, Path(folder) / "film.html", bound=False)
            wrote = time.perf_counter() - began
            times = [opening(browser, path) for _ in range(repeat)]
            text = path.read_text("utf-8")
            frames = int(text.split('"frames":', 2)[2].split(",")[0])
            size = f"{path.stat().st_size / 1e6:.1f} MB"
            record = len(model.trace_.record)
            both = [f"{min(t):.0f} to {max(t):.0f} ms" for t in zip(*times, strict=True)]
            lines.append([name, str(record), str(frames), size, f"{wrote:.2f} s", *both])
        browser.close()
    header = ["rows", "updates", "frames", "file", "written in", "first frame", "script"]
    print(text_table(header, lines))


if __name__ == "__main__":
    main()
