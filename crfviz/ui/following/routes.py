"""The routes for those who follow: a page that needs no session, its one event stream, and answers.

GET  follow/CODE           the page
GET  follow/CODE/screens   the lecturer's screen, as an event stream
POST follow/CODE/answers   {"question": ..., "voter": ..., "choice": ...}
GET  follow/stage.js, follow/stage.css
"""

import json
from collections.abc import Awaitable, Callable
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from crfviz.exceptions import StoreError
from crfviz.ui.following.homes import rooms
from crfviz.ui.following.rooms import MOST_FOLLOWERS, Room, code_of
from crfviz.ui.following.tries import AGAIN, Tries
from crfviz.ui.watching.meters import ANSWERS
from crfviz.views.exports import bundle

OWN = Path(__file__).with_name("web")
LONGEST_ANSWER = 1000  # bytes
NO_STORE = {"Cache-Control": "no-store"}
UNBUFFERED = {"X-Accel-Buffering": "no"}  # a proxy hands each event on at once
TRIES = Tries()  # of this process
_GONE = "This room does not exist or was closed. Ask for its code again."
_ENOUGH = "Too many wrong codes. Wait a minute, then try again."


def routes() -> list[Route]:
    """What `st.App` is to answer beside Streamlit's own routes."""
    return [
        Route("/follow/stage.js", _script, methods=["GET"]),
        Route("/follow/stage.css", _style, methods=["GET"]),
        Route("/follow/{code}", _page, methods=["GET"]),
        Route("/follow/{code}/screens", _screens, methods=["GET"]),
        Route("/follow/{code}/answers", _answers, methods=["POST"]),
    ]


_AWAY = "Rooms cannot be reached at the moment."
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Answer = Callable[[Request, Room | None], Awaitable[Response]]


def _in_room(answer: _Answer) -> Callable[[Request], Awaitable[Response]]:
    """An answer to who names a room, and the same refusal for all who guess."""

    @wraps(answer)
    async def answering(request: Request) -> Response:
        code = code_of(request.path_params["code"])
        address = request.client.host if request.client else ""
        if not TRIES.may(address, code):
            headers = NO_STORE | {"Retry-After": f"{AGAIN:.0f}"}
            return JSONResponse({"message": _ENOUGH}, 429, headers)
        try:
            room = await _asked(rooms().find, code)
            TRIES.heard(address, code, right=room is not None)
            return await answer(request, room)
        except StoreError:  # who follows asks again
            return JSONResponse({"message": _AWAY}, 503, NO_STORE)

    return answering


async def _asked(
    work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
) -> _Result:
    """What rooms say; where that may take a while, in a thread."""
    if rooms().waits:
        return await run_in_threadpool(work, *given, **named)
    return work(*given, **named)


@_in_room
async def _page(_: Request, room: Room | None) -> Response:
    page = OWN.joinpath("follow.html").read_text("utf-8")
    text = page.replace("{{version}}", _version())
    return Response(text, 404 if room is None else 200, NO_STORE, "text/html")


@_in_room
async def _screens(_: Request, room: Room | None) -> Response:
    if room is None:  # 204 ends an event stream for good
        return Response(status_code=204)
    if room.followers >= MOST_FOLLOWERS:
        return JSONResponse({"message": "This room is full."}, 503)
    headers = NO_STORE | UNBUFFERED
    return StreamingResponse(room.screens(), 200, headers, "text/event-stream")


@_in_room
async def _answers(request: Request, room: Room | None) -> Response:
    if room is None:
        return JSONResponse({"message": _GONE}, 404)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_ANSWER:
            return JSONResponse({"message": "This is not a valid answer."}, 413)
    told = _read(bytes(body))
    if told is None:
        return JSONResponse({"message": "This is not a valid answer."}, 400)
    counts = await _asked(room.answer, *told)
    ANSWERS.labels("counted" if counts else "refused").inc()
    if not counts:
        return JSONResponse({"message": "Voting is closed."}, 409)
    return Response(status_code=204)


def _read(body: bytes) -> tuple[str, str, int] | None:
    """The question, the voter and the choice of an answer; None where it is none."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match told:
        case {"question": str(question), "voter": str(voter), "choice": int(choice)}:
            return None if isinstance(choice, bool) else (question, voter, choice)
    return None


async def _script(request: Request) -> Response:
    return _file(request, _code(), "text/javascript")


async def _style(request: Request) -> Response:
    return _file(request, _sheet(), "text/css")


def _file(request: Request, text: str, kind: str) -> Response:
    """A file whose address names its content: a browser may keep it."""
    kept = request.query_params.get("v") == _version()
    headers = {"Cache-Control": f"public, max-age={31536000 if kept else 0}, immutable"}
    return Response(text, 200, headers if kept else NO_STORE, kind)


@cache
def _code() -> str:
    return bundle.bundled(OWN / "follow.js")


@cache
def _sheet() -> str:
    return f"{bundle.style()}\n{OWN.joinpath('follow.css').read_text('utf-8')}"


@cache
def _version() -> str:
    return sha256(f"{_code()}{_sheet()}".encode()).hexdigest()[:12]
