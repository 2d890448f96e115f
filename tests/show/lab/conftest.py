import pytest

from rosenblatt.show.lab import limits
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True, scope="session")
def proofs_take_as_long_as_they_take():
    """On a slow machine the lab gives a proof up that these tests need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "SECONDS", PATIENCE)
        yield
