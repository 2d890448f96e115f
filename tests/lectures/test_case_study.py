"""The data of sutd's case study: from scikit-learn, or from the lecture's own file."""

import numpy as np
import pytest

from rosenblatt.errors import DataError, LabelError
from rosenblatt.lectures import tumours

ROW = ",".join("1" * 33)


def test_without_a_file_there_are_569_tumours_of_30_measurements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tumours()
    assert data.X.shape == (569, 30)
    assert data.counts == {"M": 212, "B": 357}
    assert (data.positive, data.words["M"], data.time) == ("M", "malignant", None)
    assert data.names[0] == "mean radius"


def test_the_file_is_found_in_this_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wpbc.data").write_text(f"1,N,{ROW}\n2,R,{ROW}\n")
    assert tumours().counts == {"R": 1, "N": 1}


def test_a_file_of_the_lecture_is_read(tmp_path):
    path = tmp_path / "wpbc.data"
    path.write_text(f"1,N,{ROW}\n2,R,{ROW.replace('1', '?', 2)}\n")
    data = tumours(str(path))
    assert data.X.shape == (2, 32)
    assert data.counts == {"R": 1, "N": 1}
    assert data.time[0] == 1
    assert np.isnan(data.time[1])
    assert np.isnan(data.X).sum() == 1
    assert data.names[-2:] == ("tumour size", "lymph nodes")


@pytest.mark.parametrize("path", ["missing.data", ""])
def test_a_file_that_cannot_be_read_is_an_error_with_advice(path):
    with pytest.raises(DataError, match=r"cannot read .*Give the path of wpbc\.data"):
        tumours(path)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", DataError, "is not wpbc.data of the UCI repository, which has 35 cells"),
        ("1,N,31\n", DataError, "is not wpbc.data of the UCI repository, which has 35 cells"),
        (f"1,X,{ROW}\n", LabelError, r"outcomes must be N and R, got \['X'\]"),
        (f"1,N,z,{ROW[2:]}\n1,R,{ROW}", DataError, "could not convert string to float: '?z'?"),
    ],
)
def test_another_file_is_refused_with_what_to_do(tmp_path, text, error, said):
    path = tmp_path / "other.data"
    path.write_text(text)
    with pytest.raises(error, match=said):
        tumours(path)
