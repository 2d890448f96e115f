"""Atomic replacement: the whole file or the old one, with its mode."""

import os
from pathlib import Path

import pytest

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.atomic import check_output, replace_file


def write(path, content=b"new"):
    with replace_file(path) as file:
        file.write(content)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o400])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_bytes() == b"new"


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replace_file(path) as file:
        file.write(b"secret")
        beside = [p for p in tmp_path.iterdir() if p != path]
        assert [p.stat().st_mode & 0o077 for p in beside] == [0]


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    write(path)
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


def test_a_link_is_followed(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(path)
    write(link)
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_links_in_a_circle_are_reported(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(DataError, match="leads back to itself"):
        write(one)
    with pytest.raises(DataError, match="leads back to itself"):
        check_output(one, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "other"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail():
        with replace_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_input_is_never_the_output(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_bytes(b"rows")
    link.symlink_to(path)
    with pytest.raises(ParameterError, match="it would be lost"):
        check_output(link, {"the file with the rows": path})
    with pytest.raises(DataError, match="is a folder"):
        check_output(tmp_path, {})
    with pytest.raises(DataError, match="no folder"):
        check_output(tmp_path / "absent" / "a", {})
    check_output(tmp_path / "new", {"the file with the rows": Path("-")})


def test_a_certificate_keeps_the_mode_of_the_file_it_replaces(tmp_path):
    from typer.testing import CliRunner

    from rosenblatt.cli import app

    rows, out = tmp_path / "rows.csv", tmp_path / "proof.json"
    rows.write_text("x,y\n1,a\n2,b\n")
    out.write_text("old")
    out.chmod(0o600)
    command = ["separable", rows, "--target", "y", "--certificate", out]
    assert CliRunner().invoke(app, [str(word) for word in command]).exit_code == 0
    assert out.stat().st_mode & 0o777 == 0o600
    assert "separable" in out.read_text()
