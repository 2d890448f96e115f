"""The data of sutd's case study: from scikit-learn, or from the lecture's own file."""

from collections import Counter

import numpy as np
import pytest

from rosenblatt.errors import DataError
from rosenblatt.lectures import tumours

ROW = ",".join("1" * 33)


def test_without_a_file_there_are_569_tumours_of_30_measurements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tumours()
    assert data.X.shape == (569, 30)
    assert Counter(data.outcome.tolist()) == {"M": 212, "B": 357}
    assert (list(data.meaning.values()), data.time) == (["malignant", "benign"], None)
    assert data.names[0] == "mean radius"


def test_the_file_is_found_in_this_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wpbc.data").write_text(f"1,N,{ROW}\n2,R,{ROW}\n")
    assert tumours().outcome.tolist() == ["N", "R"]


def test_a_file_of_the_lecture_is_read(tmp_path):
    path = tmp_path / "wpbc.data"
    path.write_text(f"1,N,{ROW}\n2,R,{ROW.replace('1', '?', 2)}\n")
    data = tumours(str(path))
    assert data.X.shape == (2, 32)
    assert data.outcome.tolist() == ["N", "R"]
    assert data.time[0] == 1
    assert np.isnan(data.time[1])
    assert np.isnan(data.X).sum() == 1
    assert data.names[-2:] == ("tumour size", "lymph nodes")


@pytest.mark.parametrize("path", ["missing.data", ""])
def test_a_file_that_cannot_be_read_is_an_error_with_advice(path):
    with pytest.raises(DataError, match=r"cannot read .*Give the path of wpbc\.data"):
        tumours(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not wpbc.data of the UCI repository, which has 35 cells"),
        ("1,N,31\n", "is not wpbc.data of the UCI repository, which has 35 cells"),
        (f"1,X,{ROW}\n", r"outcome \(N or R\)"),
        (f"1,N,z,{ROW[2:]}\n1,R,{ROW}", "could not convert string to float"),
        (f"1,N,1\n1,R,{ROW}", "cannot read"),
    ],
)
def test_another_file_is_refused_with_what_to_do(tmp_path, text, message):
    path = tmp_path / "other.data"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        tumours(path)
