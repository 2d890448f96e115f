"""Server: the addresses of the lab. It keeps nothing about anybody.

A situation comes with every request and lives in the page and its address, so that people who use
one server cannot see each other's data.
"""

from __future__ import annotations

import contextlib
import json
import logging
import mimetypes
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any, NoReturn

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rosenblatt.errors import ParameterError, RosenblattError
from rosenblatt.learn.rules import RULES
from rosenblatt.show.lab import limits, tours
from rosenblatt.show.lab.filming import filmed
from rosenblatt.show.lab.guard import Guard
from rosenblatt.show.lab.presets import preset, presets
from rosenblatt.show.lab.python_lines import python_lines
from rosenblatt.show.lab.situation import (
    KEEPS,
    MODES,
    ORDERS,
    STARTS,
    TIES,
    Situation,
    flag,
    read_points,
    shown,
    whole,
)
from rosenblatt.show.lab.table import Table
from rosenblatt.show.lab.verdict import verdict_of
from rosenblatt.show.lab.words import for_page
from rosenblatt.show.lab.work import Busy, Memory, Work

Answer = Callable[[Request], Awaitable[Response]]
SHARED = ("geometry.js", "colours.css")  # with the film
STATIC = ("css", "js", "svg", "png", "ico", "html", "webmanifest", "woff2")
log = logging.getLogger("rosenblatt.lab")


class TooLarge(RosenblattError):
    """A body beyond the limit."""


class NotThere(RosenblattError):
    """An address without anything behind it."""


def application(work: Work | None = None) -> Starlette:
    """The lab as an ASGI application."""
    lab = _Lab(work or Work())
    routes = [
        Route("/", lab.page),
        Route("/static/{path:path}", lab.static),
        Route("/api/choices", lab.choices),
        Route("/api/preset/{name}", lab.preset),
        Route("/api/tour/{name}", lab.tour),
        Route("/api/run", lab.run, methods=["POST"]),
        Route("/api/verdict", lab.verdict, methods=["POST"]),
        Route("/api/table", lab.table, methods=["POST"]),
        Route("/api/film", lab.film, methods=["POST"]),
        Route("/api/python", lab.python, methods=["POST"]),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        lab.work.close()

    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard)],
        exception_handlers={404: _no_such, 405: _no_such},
        lifespan=lifespan,
    )


async def _no_such(request: Request, _: Exception) -> Response:
    said = f"there is nothing at {request.method} {request.url.path[:100]}."
    return JSONResponse({"error": said}, 404)


def explained(answer: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
    """Whatever goes wrong becomes a sentence for the page, and the next request is answered."""

    async def wrapped(lab: _Lab, request: Request) -> Response:
        try:
            return await answer(lab, request)
        except TooLarge as e:
            return JSONResponse({"error": str(e)}, 413)
        except NotThere as e:
            return JSONResponse({"error": str(e)}, 404)
        except Busy as e:
            return JSONResponse({"error": str(e)}, 503, {"Retry-After": "1"})
        except RosenblattError as e:
            return JSONResponse({"error": for_page(str(e))}, 400)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as e:
            log.exception("not foreseen")
            said = f"the lab made an error that was not foreseen: {type(e).__name__}."
            return JSONResponse({"error": f"{said} The page can be used further."}, 500)

    return wrapped


class _Lab:
    """One method for each address."""

    def __init__(self, work: Work) -> None:
        self.work, self.memory = work, Memory()

    @explained
    async def page(self, request: Request) -> Response:
        return _file("index.html")

    @explained
    async def static(self, request: Request) -> Response:
        return _file(request.path_params["path"])

    @explained
    async def choices(self, request: Request) -> Response:
        known = await self.work.do(tours.listed)
        return JSONResponse(
            {
                "rules": list(RULES),
                "keeps": list(KEEPS),
                "modes": list(MODES),
                "ties": list(TIES),
                "orders": list(ORDERS),
                "starts": list(STARTS),
                "without_eta": [name for name, rule in RULES.items() if not rule.has_rate],
                "presets": [
                    {"name": p.name, "title": p.title, "group": p.group} for p in presets().values()
                ],
                "tours": known,
                "limits": limits.told(),
                "version": sys.modules["rosenblatt"].__version__,
            }
        )

    @explained
    async def preset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in presets():
            raise NotThere(f"there is no preset {shown(name)}. /api/choices lists them.")
        made = await self.work.do(lambda: preset(name))
        return JSONResponse(made.told())

    @explained
    async def tour(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in tours.NAMES:
            raise NotThere(f"there is no tour {shown(name)}. /api/choices lists them.")
        return JSONResponse(await self.work.do(lambda: tours.told(name)))

    @explained
    async def run(self, request: Request) -> Response:
        asked = await _json(request)
        situation = Situation.read(asked.get("situation"))
        first = whole(asked.get("from", 0), "from", 0, limits.VISITS)
        last = whole(asked.get("to", first), "to", 0, limits.VISITS)
        if last - first > limits.STEPS:
            raise ParameterError(
                f"steps {first} to {last} are more than {limits.STEPS} at once. Ask for fewer."
            )

        def job() -> bytes:
            steps = self.memory.steps(situation)
            to = min(last, steps.run.total)
            return steps.told(min(first, to), to)

        return _json_response(await self.work.do(job))

    @explained
    async def verdict(self, request: Request) -> Response:
        asked = await _json(request)
        X, y = read_points(asked.get("points"))
        offset = flag(asked.get("offset", True), "offset")
        return _json_response(await self.work.do(lambda: _written(verdict_of(X, y, offset))))

    @explained
    async def table(self, request: Request) -> Response:
        raw, asked = await _body(request, limits.TABLE), request.query_params

        def job() -> bytes:
            table = Table.read(raw)
            if not asked:
                return _written(table.told())
            wanted = [asked.get(name, "")[:1000] for name in ("x", "y", "label", "positive")]
            made, note = table.situation(*wanted)
            return _written({"situation": made.told(), "note": note})

        return _json_response(await self.work.do(job))

    @explained
    async def film(self, request: Request) -> Response:
        situation = Situation.read((await _json(request)).get("situation"))
        page = await self.work.do(lambda: filmed(self.memory.steps(situation).run))
        named = {"Content-Disposition": 'attachment; filename="perceptron.html"'}
        return Response(page, media_type="text/html", headers=named)

    @explained
    async def python(self, request: Request) -> Response:
        situation = Situation.read((await _json(request)).get("situation"))

        def job() -> bytes:
            return _written({"python": python_lines(self.memory.steps(situation).run)})

        return _json_response(await self.work.do(job))


# ----------------------------------------------------------------- reading and writing


def _file(name: str) -> Response:
    """A file of the page; no name leads out of its folder."""
    parts = name.split("/")
    known = (
        len(name) <= 100
        and name.rpartition(".")[2] in STATIC
        and all(p and p.strip(".") for p in parts)
    )
    place = files("rosenblatt.show") / ("film_page" if name in SHARED else "lab/page")
    for part in parts if known and "\\" not in name else ["?"]:
        place = place / part
    if not known or not place.is_file():
        raise NotThere(f"the page has no file {shown(name)}.")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if name.endswith(".js"):
        kind = "text/javascript"
    return Response(place.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})


async def _body(request: Request, most: int) -> bytes:
    """The body, read no further than the limit."""
    too_large = TooLarge(f"the request is larger than {most:,} bytes. Give less at once.")
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length[:20]) > most:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_large
        parts.append(part)
    return b"".join(parts)


async def _json(request: Request) -> dict[str, Any]:
    """A JSON object."""
    text = await _body(request, limits.BODY)
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as e:
        raise ParameterError(f"the request is not JSON that can be read: {str(e)[:100]}.") from e
    if not isinstance(found, dict):
        raise ParameterError(f"the request must be a JSON object, got {shown(found)}.")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _written(told: dict[str, Any]) -> bytes:
    return json.dumps(told, allow_nan=False, separators=(",", ":")).encode()


def _json_response(text: bytes) -> Response:
    return Response(text, media_type="application/json")
