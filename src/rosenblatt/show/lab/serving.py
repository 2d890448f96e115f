"""Serving: the lab on localhost, until Ctrl-C."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

from rosenblatt.errors import MissingPackageError, ParameterError

PORT = 8958  # 1958, the year of the perceptron, where ports are free
TRIED = 20


def free_socket(port: int | None) -> socket.socket:
    """A socket bound to 127.0.0.1: the port asked for, or the first free one from PORT on."""
    if port is not None and not 0 <= port <= 65535:
        raise ParameterError(f"a port is a number from 0 to 65535, got {port}.")
    for wanted in range(PORT, PORT + TRIED) if port is None else (port,):
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(("127.0.0.1", wanted))
        except (OSError, OverflowError):
            bound.close()
            continue
        return bound
    said = f"ports {PORT} to {PORT + TRIED - 1} are" if port is None else f"port {port} is"
    raise ParameterError(f"{said} taken or not allowed. Give another with --port, or --port 0.")


def serve(
    port: int | None = None, browser: bool = True, say: Callable[[str], object] = print
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    port : int, optional
        On 127.0.0.1; 0 is any free one. Left out: the first free one from 8958 on.
    browser : bool, default=True
        Open the page in the browser.
    say : function
        Is told the address, as soon as the port is taken.
    """
    try:
        import uvicorn

        from rosenblatt.show.lab.server import application
    except ImportError as e:
        raise MissingPackageError(
            f"the lab needs starlette and uvicorn ({e}). Install them: "
            "pip install 'rosenblatt[lab]'"
        ) from e
    bound = free_socket(port)
    sys.setswitchinterval(0.001)  # so that answers are sent while others are computed
    address = f"http://127.0.0.1:{bound.getsockname()[1]}/"
    config = uvicorn.Config(
        application(), log_level="critical", access_log=False, server_header=False, ws="none",
        timeout_graceful_shutdown=1, timeout_keep_alive=30, limit_concurrency=200,
    )  # fmt: skip
    server = uvicorn.Server(config)
    say(address)
    if browser:
        opening = threading.Timer(0.5, webbrowser.open, [address])
        opening.daemon = True
        opening.start()
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:  # uvicorn has ended in good order and raises it once more
        pass
    finally:
        bound.close()
