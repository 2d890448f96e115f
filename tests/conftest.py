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


# what takes long by its nature: processes that are killed, large real sets, notebooks. `make long`
# runs these, after `make test`, and CI runs both
LONG = (
    "benchmarks/test_benchmarks.py::test_peers_in_processes_of_their_own",
    "stream/test_checkpoint.py::test_a_run_that_crashed_ends_as_one_that_did_not",
    "learn/test_heaviest.py::test_a_penalty_is_part_of_the_distances",
    "learn/test_heaviest.py::test_the_rows_times_their_amounts_are_the_weights",
    "prove/test_coefficients.py::test_adult_incomes",
    "prove/test_coefficients.py::test_mushrooms",
    "prove/test_separability.py::test_real_sets[agaricus",
    "scale/test_dask.py::test_frames_with_categories",
    "scale/test_faults.py",
    "scale/test_from_files.py::test_what_one_file_cannot_know_is_settled_by_all",
    "scale/test_proofs.py::test_a_worker_that_dies_changes_nothing",
    "test_cli_fit.py::test_a_full_disk_is_an_error_in_a_line",
    "test_cli_fit.py::test_told_to_end_it_clears_away_what_it_began",
    "test_cli_fit.py::test_warmup_says_what_it_compiled",
    "test_cli_person.py::test_a_model_goes_through_a_pipe_and_labels_come_out",
    "test_imports.py::test_plots_are_not_needed_to_train",
    "stream/test_kill.py::test_told_to_end_the_command_saves_and_says_where",
    "test_notebooks.py::test_a_notebook_runs[categories]",
    "test_notebooks.py::test_a_notebook_runs[text]",
)


def pytest_collection_modifyitems(items):
    """First a file that trains nothing: two processes would begin by compiling the same rule."""
    items.sort(key=lambda item: item.path.name != "test_readers.py")
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(LONG):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets, found beside the project; tests skip where it is absent."""
    for parent in Path(__file__).resolve().parents:
        folder = parent / "shared" / "data"
        if folder.is_dir():
            return folder
    pytest.skip("the folder shared/data with real data sets is not beside the project")
