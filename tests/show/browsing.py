"""What tests of pages share."""

import time


def until(page, condition, seconds=30):
    """Wait for it; the page's policy forbids the `eval` that playwright would wait with."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never came true: {condition}")
