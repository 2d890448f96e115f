"""`import rosenblatt` is quick, its names are loaded when asked for, and the command runs."""

import importlib
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt

HEAVY = ["sklearn", "matplotlib", "scipy", "scipy.sparse", "pandas", "polars", "numpy", "pyarrow"]


def python(*args):
    """What a fresh interpreter prints."""
    run = subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def loaded_by(code):
    """The modules that a fresh interpreter has after running `code`, and had not before."""
    return set(
        json.loads(
            python(
                "-c",
                "import json, sys; before = set(sys.modules)\n"
                f"{code}\nprint(json.dumps(sorted(set(sys.modules) - before)))",
            )
        )
    )


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import rosenblatt", set()),
        ("import rosenblatt; rosenblatt.__version__, dir(rosenblatt)", set()),
        ("from rosenblatt import RosenblattError", set()),
        ("from rosenblatt import Margin", {"numpy"}),
        ("from rosenblatt import Problem", {"numpy", "scipy", "scipy.sparse"}),
        ("import rosenblatt.cli", set()),
        (
            "import rosenblatt.stream.fit, rosenblatt.stream.predict, rosenblatt.cli.report",
            {"numpy"},
        ),
        ("import rosenblatt.io.reader", {"numpy"}),
        ("import rosenblatt.learn.engine, rosenblatt.learn.multiclass", {"numpy"}),
    ],
)
def test_nothing_heavy_is_imported_until_it_is_needed(code, allowed):
    loaded = loaded_by(code)
    assert loaded.isdisjoint(set(HEAVY) - allowed)
    if code == "import rosenblatt":
        assert len(loaded) < 30, sorted(loaded)


def test_plots_are_not_needed_to_train():
    loaded = loaded_by(
        "from rosenblatt import Perceptron; Perceptron().fit([[0.0], [1.0]], [0, 1]).predict([[2]])"
    )
    assert "sklearn" in loaded
    assert loaded.isdisjoint({"matplotlib", "typer"})


def test_every_public_name_is_there():
    assert dir(rosenblatt) == sorted(rosenblatt.__all__)
    assert {"Margin", "Perceptron", "Problem", "RosenblattError", "Trace"} <= set(dir(rosenblatt))
    for name in dir(rosenblatt):
        assert getattr(rosenblatt, name) is not None
    assert rosenblatt.Perceptron.__module__ == "rosenblatt.estimators.perceptron"
    with pytest.raises(AttributeError, match="module 'rosenblatt' has no attribute 'perceptron'"):
        rosenblatt.perceptron  # noqa: B018 (the access is the test)


def test_every_module_is_imported():
    """A module may lack its extra, and nothing else."""
    extras = {"panel", "bokeh", "dask", "distributed"}
    for module in pkgutil.walk_packages(rosenblatt.__path__, "rosenblatt."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as e:
                if not extras & set(re.findall(r"\w+", str(e))):
                    raise


def test_the_version_is_one_and_the_command_says_it():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", rosenblatt.__version__)
    assert python("-m", "rosenblatt.cli", "--version") == f"rosenblatt {rosenblatt.__version__}\n"


def test_the_package_is_typed():
    assert (Path(rosenblatt.__file__).parent / "py.typed").exists()


def test_the_command_is_installed():
    command = shutil.which("rosenblatt", path=str(Path(sys.executable).parent))
    assert command, "the environment has no command `rosenblatt`"
    run = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in run.stdout


def test_wrong_use_of_the_command_ends_with_2():
    run = subprocess.run(
        [sys.executable, "-m", "rosenblatt.cli", "dance"], capture_output=True, check=False
    )
    assert run.returncode == 2
