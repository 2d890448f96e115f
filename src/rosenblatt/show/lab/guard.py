"""Guard: which requests are let in, and what every answer carries.

The lab is for the person at this computer. A page of somebody else's, open in the same browser,
can send requests to localhost, so a request must name this server as its host (which stops names
that resolve to 127.0.0.1) and must come from a page of this server or from nowhere (`Origin`,
`Sec-Fetch-Site`).
"""

from __future__ import annotations

import re
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
FROM_HERE = ("same-origin", "none")
CARRIED = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Around the application."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no websockets here

        async def carrying(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in CARRIED.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        why = refused(Headers(scope=scope), scope)
        if why is not None:
            await JSONResponse({"error": why}, 403)(scope, receive, carrying)
            return
        await self.app(scope, receive, carrying)


def refused(headers: Headers, scope: Any) -> str | None:
    """Why a request is not let in, or None."""
    host = headers.getlist("host")
    if len(host) != 1 or not HOST.fullmatch(host[0]):
        return "the lab answers on localhost and 127.0.0.1 only. Open the address it printed."
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope.get('scheme', 'http')}://{host[0]}":
        return "the lab answers its own page only, and this request comes from another."
    site = headers.get("sec-fetch-site")
    follows = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
    page = scope["path"] == "/"
    if site is not None and site not in FROM_HERE and not (follows and page):
        return "the lab answers its own page only, and this request comes from another."
    return None
