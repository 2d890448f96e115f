"""Waiting for something to happen, without a guess at how long it takes."""

import time

PATIENCE = 600.0  # seconds: only a test that hangs waits that long


def wait_until(condition, seconds=PATIENCE):
    """Wait until `condition()` is true; after `seconds` the test fails."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not true after {seconds:g} s"
        time.sleep(0.002)
