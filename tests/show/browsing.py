"""What tests of pages share."""

import time

from tests.waiting import PATIENCE


def until(page, condition, seconds=PATIENCE):
    """Wait for it; the page's policy forbids the `eval` that playwright would wait with."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never came true: {condition}"
        page.wait_for_timeout(20)
