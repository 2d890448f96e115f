"""Take the pictures of the lab for the documentation, into docs/images/lab.

    python docs/make_lab_shots.py

starts a lab of its own and looks at it with a headless Chromium: the main states, in light and
dark, on a laptop, on a projector and on a phone. Needs the extra [lab], playwright, Chromium and
Pillow.
"""

import io
import os
import shutil
import threading
import time
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from rosenblatt.show.lab.server import application
from rosenblatt.show.lab.serving import free_socket

HERE = Path(__file__).parent / "images" / "lab"
SIZES = {"laptop": (1280, 720), "projector": (1920, 1080), "phone": (390, 844)}
STATES = {
    "and": ["preset and"],
    "separable": ["preset separable", *["press ArrowRight"] * 13],
    "overlapping": ["preset xor", "keep average", *["press ArrowRight"] * 7],
    "tour": ["tour sutd", *["click #tour-next"] * 4],
}


def settle(page: Page) -> None:
    """Until all answers are drawn."""
    while not page.evaluate("Boolean(window.lab) && !lab.busy"):
        page.wait_for_timeout(20)


def act(page: Page, order: str) -> None:
    """One order of STATES."""
    what, which = order.split(" ", 1)
    if what == "press":
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(which)
    elif what == "click":
        page.click(which)
    else:
        page.select_option(f"#{what}", which)
    settle(page)


def shoot(page: Page, path: Path) -> None:
    """A PNG of its 256 most frequent colours, which is a third of the size."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(600)  # what scrolls has arrived
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    counts = picture.getcolors(picture.width * picture.height) or []
    colours = [colour for _, colour in sorted(counts, reverse=True)[:256]]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in colours for part in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """All of them."""
    HERE.mkdir(parents=True, exist_ok=True)
    bound = free_socket(0)
    server = uvicorn.Server(uvicorn.Config(application(), log_level="warning", ws="none"))
    threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/"
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if root else [])
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                for state, orders in STATES.items():
                    page.goto("about:blank")
                    page.goto(address)
                    settle(page)
                    for order in orders:
                        act(page, order)
                    shoot(page, HERE / f"{state}_{size}_{scheme}.png")
                page.close()
        browser.close()
    server.should_exit = True


if __name__ == "__main__":
    main()
