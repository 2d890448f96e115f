import os
import shutil

import matplotlib as mpl
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(autouse=True)
def no_window():
    """Draw into memory, and close what a test drew."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium; the tests skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed, so no page can be opened")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as p:
        running = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield running
        running.close()
