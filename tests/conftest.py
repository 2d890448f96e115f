"""Profiles of hypothesis, tests that take long or start threads, signal handlers, real data.

The profiles are `quick` for the wheel, `test` by default, `soak` for the full counts. With CI set,
the first two try the same examples every time: a failure there is caused by the change.
CONTRIBUTING.md says what a test may rely on.
"""

import gc
import os
import signal
import threading

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# the compiler makes many objects and few cycles: a tenth of its time went into looking for them
gc.set_threshold(50_000, 20, 20)

for name, examples in {"quick": 10, "test": 40, "soak": 5000}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=name != "soak" and bool(os.environ.get("CI")),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


# what takes long by its nature: processes that are killed, large real sets, notebooks. `make long`
# runs these, after `make test`, and CI runs both
LONG = (
    "benchmarks/test_benchmarks.py::test_peers_in_processes_of_their_own",
    "stream/test_checkpoint.py::test_a_run_that_crashed_ends_as_one_that_did_not",
    "prove/test_coefficients.py::test_adult_incomes",
    "prove/test_coefficients.py::test_mushrooms",
    "prove/test_separability.py::test_real_sets[agaricus",
    "cluster/test_estimator.py::test_frames_with_categories",
    "cluster/test_faults.py",
    "cluster/test_files.py::test_what_one_file_cannot_know_is_settled_by_all",
    "cluster/test_separability.py::test_a_worker_that_dies_changes_nothing",
    "cli/test_fit.py::test_a_full_disk_is_an_error_in_a_line",
    "cli/test_fit.py::test_told_to_end_it_clears_away_what_it_began",
    "cli/test_person.py::test_a_model_goes_through_a_pipe_and_labels_come_out",
    "test_imports.py::test_plots_are_not_needed_to_train",
    "stream/test_kill.py::test_told_to_end_the_command_saves_and_says_where",
)


# fixtures that start a cluster, a server or a browser, and documentation that starts a cluster:
# tests with these are marked `threads`, as are others with `pytest.mark.threads`
THREADED_FIXTURES = {"client", "browser"}
THREADED_DOCTESTS = ("docs/how-to/cluster.md", "src/rosenblatt/cluster/")


def pytest_collection_modifyitems(items):
    """Mark tests, and order them: tests that start threads come last.

    `make test` runs these in separate processes; in a run with one process no property test comes
    after them.
    """
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(LONG):
            item.add_marker(pytest.mark.long)
        if THREADED_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.threads)
        if item.nodeid.startswith(THREADED_DOCTESTS):
            item.add_marker(pytest.mark.threads)
        if item.get_closest_marker("threads") and is_hypothesis_test(getattr(item, "obj", None)):
            raise pytest.UsageError(
                f"{item.nodeid} is a property test and starts threads. Hypothesis seeds the random "
                "numbers of the whole process, which threads disturb: take the threads out of it."
            )
    items.sort(key=lambda item: item.get_closest_marker("threads") is not None)


@pytest.fixture
def interruptible():
    """The default handlers of SIGINT and SIGTERM, in this process and in programs it starts.

    Tests that were started in the background have SIGINT ignored, and pass that on to programs.
    Programs do not inherit a handler: where the parent has one, they start with the default.
    """
    wanted = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(request):
    """Check that a test restores signal handlers, and ends its threads if it is not marked."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers, threads = [signal.getsignal(n) for n in numbers], set(threading.enumerate())
    yield
    assert [signal.getsignal(n) for n in numbers] == handlers
    if request.node.get_closest_marker("threads") is None:
        ended = [t for t in threading.enumerate() if t not in threads]
        if ended:
            gc.collect()  # an exception may still hold a reader, and that a thread
        for thread in ended:
            thread.join(60)
            assert not thread.is_alive(), f"end {thread.name}, or mark this test with threads"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets, for what only one of them shows; see tests/real_data.py."""
    from tests.real_data import data_folder

    return data_folder()
