"""Hypothesis profiles: `quick` for the wheel, `test` by default, `soak` for the full counts."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the compiler makes many objects and few cycles: a tenth of its time went into looking for them
gc.set_threshold(50_000, 20, 20)

for name, examples in {"quick": 10, "test": 40, "soak": 5000}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


def pytest_collection_modifyitems(items):
    """First a file that trains nothing: two processes would begin by compiling the same rule."""
    items.sort(key=lambda item: item.path.name != "test_readers.py")


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets, found beside the project; tests skip where it is absent."""
    for parent in Path(__file__).resolve().parents:
        folder = parent / "shared" / "data"
        if folder.is_dir():
            return folder
    pytest.skip("the folder shared/data with real data sets is not beside the project")
