"""Serving: localhost, a free port, the browser, Ctrl-C, and a kind word without the extra."""

import socket
import sys
import threading
import urllib.request

import pytest
import uvicorn
from typer.testing import CliRunner

from rosenblatt.cli import app
from rosenblatt.errors import ParameterError
from rosenblatt.show.lab import serving
from tests.waiting import PATIENCE


def test_the_next_port_if_one_is_taken(monkeypatch):
    with serving.free_socket(0) as one:
        one.listen()
        host, taken = one.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(ParameterError, match="taken"):
            serving.free_socket(taken)
        monkeypatch.setattr(serving, "PORT", taken)
        with serving.free_socket(None) as two:
            host, port = two.getsockname()
            assert host == "127.0.0.1"
            assert taken < port < taken + serving.TRIED
    with pytest.raises(ParameterError, match="from 0 to 65535"):
        serving.free_socket(70_000)


@pytest.mark.threads
def test_it_serves_and_ends_quietly(monkeypatch):
    """A real server on a real socket, which Ctrl-C (here: the event) ends."""
    told, opened, servers, there = [], [], [], threading.Event()
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)  # of this whole process
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or there.set())
    run = uvicorn.Server.run

    def kept(self, sockets=None):
        servers.append(self)
        run(self, sockets)
        raise KeyboardInterrupt  # as uvicorn does at the end of its own clearing up

    monkeypatch.setattr(uvicorn.Server, "run", kept)
    serve = threading.Thread(target=serving.serve, args=(0, True, told.append))
    serve.start()
    assert there.wait(PATIENCE)
    address = opened[0]
    assert told == [address]
    with urllib.request.urlopen(address + "api/choices", timeout=PATIENCE) as answer:
        assert answer.status == 200
        assert "uvicorn" not in str(answer.headers)
    servers[0].should_exit = True
    serve.join(PATIENCE)
    assert not serve.is_alive()
    with socket.socket() as again:  # the port is free again
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", int(address.rstrip("/").rpartition(":")[2])))


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = CliRunner().invoke(app, ["lab", "--no-browser"])
    assert found.exit_code == 2
    assert "pip install 'rosenblatt[lab]'" in found.output
