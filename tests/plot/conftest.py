import matplotlib as mpl
import pytest


@pytest.fixture(autouse=True)
def no_window():
    """Draw into memory, and close what a test drew."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
