"""The executed pages of docs/ run from top to bottom. Those of lectures have their own tests."""

import ast
import itertools
import os
import re
import sys
from pathlib import Path

import pytest

import rosenblatt

DOCS = Path(__file__).parents[1] / "docs"
LECTURES = DOCS / "lectures"
PAGES = sorted(
    page
    for page in DOCS.glob("*/*.md")
    if page.parent != LECTURES and "file_format: mystnb" in page.read_text(encoding="utf-8")[:99]
)

BEGIN = """
```{{code-cell}}
%reset -f
import os
os.chdir({!r})
```
"""

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the pages are in the source tree only")


def test_the_tutorial_and_a_page_for_each_person_are_executed():
    names = {page.stem for page in PAGES}
    assert names >= {"first_perceptron", "big_log", "diverging_regression", "prepare_a_class"}


def test_the_tutorial_can_be_pasted_into_a_terminal():
    """A line at the margin ends a block only after an empty line."""
    text = (DOCS / "tutorial" / "first_perceptron.md").read_text(encoding="utf-8")
    for cell in re.findall(r"^```\{code-cell\} python\n(.*?)^```", text, re.M | re.S):
        body = [] if "%%" in cell else ast.parse(re.sub(r"\A:tags:", "#", cell)).body
        lines = cell.splitlines()
        for node, after in itertools.pairwise(body):
            if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.FunctionDef):
                assert lines[after.lineno - 2].strip() == "", cell


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    of_modules = re.split(r"^\.\. currentmodule:: (.*)$", text, flags=re.M)[1:]
    lines = [
        line
        for module, part in zip(of_modules[::2], of_modules[1::2], strict=True)
        if module == "rosenblatt"  # others are of subpackages
        for line in part.splitlines()
    ]
    listed = [line.strip() for line in lines if line.startswith("   ") and ":" not in line]
    public = [name for name in listed if "." not in name]
    assert sorted(public) == sorted(set(rosenblatt.__all__) - {"__version__"})


@pytest.fixture(scope="module")
def kernel():
    """One process for all: what a page defines is forgotten, what it imports stays loaded."""
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
# the notebook client's own sockets, threads and event loops
@pytest.mark.threads
@pytest.mark.filterwarnings("ignore")
def test_a_page_runs(page, kernel, interruptible, monkeypatch, tmp_path):
    jupytext = pytest.importorskip("jupytext")
    client = pytest.importorskip("nbclient").NotebookClient
    # pages run the command `rosenblatt`
    commands = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", commands)
    *_, text = page.read_text(encoding="utf-8").split("---\n", 2)
    notebook = jupytext.reads(f"{BEGIN.format(str(tmp_path))}\n{text}", fmt="md:myst")
    run = client(notebook, timeout=600, km=kernel)
    run.execute()
    run.kc.stop_channels()
