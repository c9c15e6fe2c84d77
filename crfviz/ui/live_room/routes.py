"""HTTP routes for followers: a page without a Streamlit session, its event stream, and answers.

GET  follow                the box for a code; with ?code=CODE, the way to its page
GET  follow/CODE           the page
GET  follow/CODE/screens   the speaker's screen, as an event stream
GET  follow/CODE/answers   {"question": ..., "answered": ..., "followers": ...}
POST follow/CODE/answers   {"question": ..., "voter": ..., "choice": ..., "text": ...}
GET  follow/stage.js, follow/stage.css
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from hashlib import sha256
from html import escape
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from crfviz.exceptions import StoreError
from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.live_room.rooms import MAX_FOLLOWERS, Room, normalise_code
from crfviz.ui.session.session_store import LRUCache
from crfviz.ui.watching.meters import ANSWERS
from crfviz.views.exports import bundle

OWN = Path(__file__).with_name("web")
MAX_ANSWER_BYTES = 1000
MAX_WRONG_CODES = 60  # wrong codes that an address may try at once
RETRY_DELAY = 10.0  # seconds until a blocked address may try one more code
MAX_ADDRESSES = 10_000  # addresses whose attempts are stored
MAX_KNOWN_CODES = 200  # correct codes stored per address
IPV6_NETWORK = 64  # bits of an IPv6 address that one household shares
NO_STORE = {"Cache-Control": "no-store"}
UNBUFFERED = {"X-Accel-Buffering": "no"}  # makes a proxy forward each event at once
_CLOSED = "This room does not exist or was closed. Ask for its code again."
_NO_SUCH_CODE = "There is no room with this code. Compare it with the code on the screen."
_TOO_MANY_CODES = "Too many wrong codes. Wait a minute, then try again."
_AWAY = "Rooms cannot be reached at the moment."
_INVALID = "This is not a valid answer."

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
_Handler = Callable[[Request, Room | None], Awaitable[Response]]


def routes() -> list[Route]:
    """Return the routes of followers, for `st.App`."""
    return [
        Route("/follow/stage.js", _script, methods=["GET"]),
        Route("/follow/stage.css", _style, methods=["GET"]),
        Route("/follow", _join, methods=["GET"]),
        Route("/follow/", _join, methods=["GET"]),
        Route("/follow/{code}", _page, methods=["GET"]),
        Route("/follow/{code}/screens", _screens, methods=["GET"]),
        Route("/follow/{code}/answers", _turnout, methods=["GET"]),
        Route("/follow/{code}/answers", _answers, methods=["POST"]),
    ]


@dataclass
class _Address:
    """The attempts of one address."""

    left: float  # number of wrong codes that are still allowed
    since: float  # time at which `left` was computed
    known: LRUCache[bool] = field(default_factory=lambda: LRUCache[bool](MAX_KNOWN_CODES))


class CodeRateLimit:
    """Rate limit of wrong codes by address: codes of five characters could be guessed.

    A class may share an address, so a code that was once correct is always allowed. Each server
    process counts separately.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._addresses = LRUCache[_Address](MAX_ADDRESSES)
        self._lock = Lock()

    def allows(self, address: str, code: str) -> bool:
        """Return whether the address may try this code now."""
        with self._lock:
            state = self._state(address)
            return bool(state.known.get(code)) or state.left >= 1

    def record(self, address: str, code: str, *, right: bool) -> None:
        """Record whether a code was correct."""
        with self._lock:
            state = self._state(address)
            if right:
                state.known.add(code, True)
            else:
                state.left -= 1

    def _state(self, address: str) -> _Address:
        now, name = self._clock(), _network(address)
        state = self._addresses.get(name) or _Address(MAX_WRONG_CODES, now)
        state.left = min(MAX_WRONG_CODES, state.left + (now - state.since) / RETRY_DELAY)
        state.since = now
        self._addresses.add(name, state)
        return state


def _network(address: str) -> str:
    """Return the /64 network of an IPv6 address, which one household shares; others unchanged."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or int(parsed) >> (128 - IPV6_NETWORK))


CODE_LIMIT = CodeRateLimit()  # of this process


def _in_room(handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler that looks up the room of the path, and calls `handler`."""

    @wraps(handler)
    async def handle(request: Request) -> Response:
        return await _look_up(request, request.path_params["code"], handler)

    return handle


async def _look_up(request: Request, typed: str, handler: _Handler) -> Response:
    """Look up the room of a typed code, limit wrong codes, and call `handler`."""
    code = normalise_code(typed)
    address = request.client.host if request.client else ""
    if not CODE_LIMIT.allows(address, code):
        headers = NO_STORE | {"Retry-After": f"{RETRY_DELAY:.0f}"}
        return JSONResponse({"message": _TOO_MANY_CODES}, 429, headers)
    try:
        room = await _call(rooms().find, code)
        CODE_LIMIT.record(address, code, right=room is not None)
        return await handler(request, room)
    except StoreError:  # the follower's browser retries
        return JSONResponse({"message": _AWAY}, 503, NO_STORE)


async def _call(
    work: Callable[_Args, _Result], *args: _Args.args, **options: _Args.kwargs
) -> _Result:
    if rooms().blocking:
        return await run_in_threadpool(work, *args, **options)
    return work(*args, **options)


async def _join(request: Request) -> Response:
    typed = "".join(filter(str.isalnum, request.query_params.get("code", "")))
    if not typed:
        return _join_page(request, "", "")
    return _with_box(request, typed, await _look_up(request, typed, _enter))


async def _enter(request: Request, room: Room | None) -> Response:
    if room is None:
        return JSONResponse({"message": _NO_SUCH_CODE}, 404)
    return RedirectResponse(f"{_up(request)}follow/{room.code}", 303, NO_STORE)


async def _page(request: Request) -> Response:
    code = request.path_params["code"]
    return _with_box(request, code, await _look_up(request, code, _open_page))


async def _open_page(_: Request, room: Room | None) -> Response:
    if room is None:
        return JSONResponse({"message": _NO_SUCH_CODE}, 404)
    page = OWN.joinpath("follow.html").read_text("utf-8")
    return Response(page.replace("{{version}}", _version()), 200, NO_STORE, "text/html")


def _with_box(request: Request, typed: str, answer: Response) -> Response:
    """Return the answer; a message becomes the page with the box for a code, beside its text."""
    if not isinstance(answer, JSONResponse):
        return answer
    message = json.loads(bytes(answer.body))["message"]
    page = _join_page(request, normalise_code(typed), message, answer.status_code)
    if "Retry-After" in answer.headers:
        page.headers["Retry-After"] = answer.headers["Retry-After"]
    return page


def _join_page(request: Request, code: str, message: str, status: int = 200) -> Response:
    fields = {
        "up": _up(request),
        "version": _version(),
        "code": escape(code),
        "message": escape(message),
        "invalid": "true" if message else "false",
    }
    page = OWN.joinpath("join.html").read_text("utf-8")
    for name, value in fields.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return Response(page, status, NO_STORE, "text/html")


def _up(request: Request) -> str:
    """Return the relative path to the folder of `follow`, which may be below a base path."""
    return "" if request.url.path.endswith("/follow") else "../"


@_in_room
async def _screens(_: Request, room: Room | None) -> Response:
    if room is None:  # 204 ends an event stream permanently
        return Response(status_code=204)
    if room.followers >= MAX_FOLLOWERS:
        return JSONResponse({"message": "This room is full."}, 503)
    headers = NO_STORE | UNBUFFERED
    return StreamingResponse(room.screens(), 200, headers, "text/event-stream")


@_in_room
async def _turnout(_: Request, room: Room | None) -> Response:
    if room is None:
        return JSONResponse({"message": _CLOSED}, 404, NO_STORE)
    now = await _call(room.turnout)
    question = now.question.id if now.question else None
    answered = {"question": question, "answered": now.answered, "followers": now.of}
    return JSONResponse(answered, headers=NO_STORE)


@_in_room
async def _answers(request: Request, room: Room | None) -> Response:
    if room is None:
        return JSONResponse({"message": _CLOSED}, 404)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            return JSONResponse({"message": _INVALID}, 413)
    answer = _parse(bytes(body))
    if answer is None:
        return JSONResponse({"message": _INVALID}, 400)
    counts = await _call(room.answer, *answer)
    ANSWERS.labels("counted" if counts else "refused").inc()
    if not counts:
        return JSONResponse({"message": "Voting is closed."}, 409)
    return Response(status_code=204)


def _parse(body: bytes) -> tuple[str, str, int, str] | None:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match answer:
        case {"question": str(question), "voter": str(voter), "choice": int(choice)}:
            typed = answer.get("text", "")
            if isinstance(choice, bool) or not isinstance(typed, str):
                return None
            return question, voter, choice, typed
    return None


async def _script(request: Request) -> Response:
    return _file(request, _code(), "text/javascript")


async def _style(request: Request) -> Response:
    return _file(request, _sheet(), "text/css")


def _file(request: Request, text: str, kind: str) -> Response:
    cached = request.query_params.get("v") == _version()
    headers = {"Cache-Control": f"public, max-age={31536000 if cached else 0}, immutable"}
    return Response(text, 200, headers if cached else NO_STORE, kind)


@cache
def _code() -> str:
    return bundle.bundled(OWN / "follow.js")


@cache
def _sheet() -> str:
    return f"{bundle.style()}\n{OWN.joinpath('follow.css').read_text('utf-8')}"


@cache
def _version() -> str:
    return sha256(f"{_code()}{_sheet()}".encode()).hexdigest()[:12]
