"""The helper that runs pages: order, `{eval}`, and what it says when a cell fails."""

import textwrap
import traceback

import matplotlib.pyplot as plt
import pytest

from tests.lectures import pages
from tests.lectures.pages import PageError, run_page

PAGE = """\
---
file_format: mystnb
---
# A page

```{code-cell} python
:tags: [hide-input]
a = 2
```

It is {eval}`a + 1`.

```{code-cell} python
def f():
    return BODY

b = f()
b
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Write a page; the caches of the helper are empty."""

    def write(text):
        (tmp_path / "small.md").write_text(textwrap.dedent(text))
        pages._run.cache_clear()
        return "small"

    monkeypatch.setattr(pages, "pages_folder", lambda: tmp_path)
    yield write
    pages._run.cache_clear()


def test_cells_run_in_order_in_one_namespace(page):
    assert run_page(page(PAGE.replace("BODY", "a + 3")))["b"] == 5


def test_a_page_runs_once(page):
    name = page(PAGE.replace("BODY", "[]"))
    assert run_page(name)["b"] is run_page(name)["b"]


def test_a_failing_cell_is_reported_with_page_and_cell(page):
    with pytest.raises(PageError, match=r"small, cell 4: ZeroDivisionError: division") as failed:
        run_page(page(PAGE.replace("BODY", "1 / 0")))
    assert "return 1 / 0" in str(failed.value)
    last = traceback.extract_tb(failed.value.__cause__.__traceback__)[-1]
    assert (last.filename, last.lineno) == ("small, cell 4", 2)


def test_a_failing_expression_in_the_text_is_reported(page):
    with pytest.raises(PageError, match=r"small, cell 3: NameError: name 'missing'"):
        run_page(page(PAGE.replace("a + 1", "missing").replace("BODY", "1")))


def test_warnings_are_errors(page):
    body = "__import__('warnings').warn('careful')"
    with pytest.raises(PageError, match="UserWarning: careful"):
        run_page(page(PAGE.replace("BODY", body)))


def test_figures_are_closed(page):
    figure = "__import__('matplotlib.pyplot').pyplot.figure().number"
    assert not plt.fignum_exists(run_page(page(PAGE.replace("BODY", figure)))["b"])
