"""What tests of pages share."""


def until(page, condition):
    """Wait for it; the page's policy forbids the `eval` that playwright would wait with."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never came true: {condition}")
