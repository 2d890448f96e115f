"""Every notebook of examples/ runs from top to bottom."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_is_one_notebook_for_each_job():
    if not EXAMPLES.is_dir():
        pytest.skip("the notebooks are in the source tree only")
    assert {"train", "prove", "see"} <= {path.stem for path in NOTEBOOKS}


@pytest.fixture(scope="module")
def kernel():
    """One process for all: what a notebook defines is forgotten, what it imports stays loaded."""
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# the notebook client's own sockets, threads and event loops
@pytest.mark.threads
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs(path, kernel, interruptible):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # small files, clean diffs
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    run = client(notebook, timeout=600, km=kernel)
    run.execute()
    run.kc.stop_channels()
