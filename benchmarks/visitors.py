"""Visitors of the app without browsers: they speak Streamlit's own protocol over a websocket.

A session keeps of what arrives only what it needs: the live component with its data, buttons and
boxes. An edit that is not answered is sent once more, as the browser's outbox does.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # the widget that carries a component's triggers
RERUNS = ForwardMsg.FINISHED_EARLY_FOR_RERUN
TIMEOUT = 120.0  # seconds
RESEND = 3.0  # seconds, as in `outbox.js`
TAGS = ("NOUN", "VERB", "DET", "PRON", "ADJ", "ADV")
SETTINGS = {"STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false"}  # every viewer is a visitor


class Session:
    """One visitor of one page; `async with` connects and leaves.

    Args:
        url: of the app, without a slash at the end.
        page: its path.
        params: of the address.
    """

    def __init__(self, url: str, page: str, params: Mapping[str, str]) -> None:
        self.url = url
        self.page = page
        self.query = urlencode(params)
        self.data: dict[str, Any] | None = None  # of the live component; None: none is drawn
        self.bytes_received = 0
        self.headers: dict[str, str] = {}  # of the request that opens the connection
        self.protocols = ["streamlit"]  # that it asks for; the second is a token against forgery
        self._component = self._fragment = self._script = ""

    async def __aenter__(self) -> Self:
        stream = f"{self.url.replace('http', 'ws', 1)}/_stcore/stream"
        self._socket: ClientConnection = await connect(
            stream,
            subprotocols=[Subprotocol(each) for each in self.protocols],
            additional_headers=self.headers,
            max_size=None,
            compression=None,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._socket.close()

    async def open(self) -> None:
        """Load the page, until its script has run to the end."""
        message = self._message()
        message.rerun_script.page_name = self.page
        await self._run(message, lambda: False)

    async def send(self, event: Mapping[str, object]) -> None:
        """Hand an event to the component's Python side, until the answer is there.

        That is new data that acknowledges the event, or a run that draws the component no more:
        then `data` is None. Data that does not acknowledge it has it sent again, as in a browser.
        """
        self.data = None
        while self.data is None or self.data["ack"] < event["seq"]:
            await self._send(event)
            if self.data is None:
                return

    async def _send(self, event: Mapping[str, object]) -> None:
        message = self._message()
        message.rerun_script.page_script_hash = self._script
        message.rerun_script.fragment_id = self._fragment
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id = TRIGGERS.format(self._component)
        widget.json_trigger_value = json.dumps([{"event": "events", "value": [dict(event)]}])
        self.data = None
        await self._run(message, lambda: self.data is not None and self.data["ack"] >= event["seq"])

    def _message(self) -> BackMsg:
        message = BackMsg()
        message.rerun_script.query_string = self.query
        context = message.rerun_script.context_info
        context.timezone, context.locale = "UTC", "en-US"
        context.url = f"{self.url}/{self.page}"
        return message

    async def _run(self, message: BackMsg, answered: Callable[[], bool]) -> None:
        """Send a message, and take in what comes until it is answered or its run has ended."""
        await self._socket.send(message.SerializeToString())
        begun = False  # before, the end of the last run may still arrive
        async with asyncio.timeout(TIMEOUT):
            while not answered():
                frame = await self._socket.recv(decode=False)
                self.bytes_received += len(frame)
                message_back = ForwardMsg.FromString(frame)
                begun = begun or message_back.WhichOneof("type") == "new_session"
                if self._take(message_back) and begun:
                    return

    def _take(self, message: ForwardMsg) -> bool:
        """Note what a message says; whether a run has ended with it, and no other follows."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._script = message.new_session.page_script_hash
        elif kind == "navigation":  # which page it is, where the address named one
            self._script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.new_element.HasField("bidi_component"):
            component = message.delta.new_element.bidi_component
            data = json.loads(component.json)
            if "ack" in data:  # another one keeps the frame of the page
                self._component, self._fragment = component.id, message.delta.fragment_id
                self.data = data
        return kind == "script_finished" and message.script_finished != RERUNS


class Viewer(Session):
    """Somebody with a page open, whose live component is a stage.

    Args:
        url: of the app.
        page: its path, with the query of its address if it has one.
    """

    def __init__(self, url: str, page: str = "") -> None:
        path, _, query = page.partition("?")
        super().__init__(url, path, dict(parse_qsl(query)))
        self.seconds: list[float] = []  # from each edit to its answer
        self.resent = 0
        self.code = ""  # the last text to be copied
        self._edits = 0
        self._id = ""  # of the session
        self._widgets: dict[str, str] = {}  # ids by label
        self._urls: tuple[str, str, str] | None = None

    async def opened(self) -> Viewer:
        """Connect and load the page."""
        await self.__aenter__()
        await self.open()
        return self

    async def saw(self) -> float:
        """Connect and open the page; the seconds to the first picture's data."""
        begin = time.perf_counter()
        await self.__aenter__()
        message = self._message()
        message.rerun_script.page_name = self.page
        await self._run(message, lambda: bool(self.data))
        return time.perf_counter() - begin

    async def edit(self) -> None:
        """Change a transition, as the stage does, and wait for Python's answer."""
        self._edits += 1
        event = {"kind": "transition", "from": random.choice(TAGS), "to": random.choice(TAGS)}
        if self.data is not None:
            event["has"] = self.data.get("since") or self.data["whole"]  # its last whole picture
        told = json.dumps(
            [
                {
                    "event": "events",
                    "value": [{"seq": self._edits, **event, "score": random.uniform(-3, 3)}],
                }
            ]
        )
        message = self._of_widget(self._trigger, json_trigger_value=told)
        message.rerun_script.fragment_id = self._fragment
        message.rerun_script.widget_states.widgets.append(
            WidgetState(id=self._component, json_value="{}")  # or Streamlit forgets the component
        )
        begin = time.perf_counter()
        await self._tell(message, lambda: bool(self.data) and self.data["ack"] >= self._edits)
        self.seconds.append(time.perf_counter() - begin)

    async def every(self, seconds: float, end: float) -> None:
        """Edit at that pace, from a random moment on, until the clock says `end`."""
        due = time.perf_counter() + random.uniform(0, seconds)
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await self.edit()
            due = max(due + seconds, time.perf_counter())

    async def type(self, label: str, text: str) -> None:
        """Fill a box, and wait until the page is drawn."""
        await self._run(self._of_widget(self._widgets[label], string_value=text), lambda: False)

    async def press(self, label: str) -> None:
        """Press a button, and wait until the page is drawn."""
        await self._run(self._of_widget(self._widgets[label], trigger_value=True), lambda: False)

    async def upload(self, label: str, name: str, content: bytes) -> None:
        """Give a file to an uploader, and wait until the page is drawn."""
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self._id
        self._urls = None
        await self._run(message, lambda: self._urls is not None)
        file, put, delete = self._urls or ("", "", "")
        await asyncio.to_thread(self._put, put, name, content)
        message = self._of_widget(self._widgets[label])
        state = message.rerun_script.widget_states.widgets[0].file_uploader_state_value
        info = state.uploaded_file_info.add(file_id=file, name=name, size=len(content))
        info.file_urls.file_id, info.file_urls.upload_url, info.file_urls.delete_url = (
            file,
            put,
            delete,
        )
        await self._run(message, lambda: False)

    @property
    def _trigger(self) -> str:
        return TRIGGERS.format(self._component)

    def _of_widget(self, widget: str, **value: str | bool) -> BackMsg:
        message = self._message()
        message.rerun_script.page_script_hash = self._script
        message.rerun_script.widget_states.widgets.append(WidgetState(id=widget, **value))
        return message

    async def _tell(self, message: BackMsg, answered: Callable[[], bool]) -> None:
        """Send, once more if nothing is heard of it, and take in what comes up to the answer."""
        told = message.SerializeToString()
        await self._socket.send(told)
        patience: float | None = RESEND
        async with asyncio.timeout(TIMEOUT):
            while not answered():
                try:
                    async with asyncio.timeout(patience):
                        frame = await self._socket.recv(decode=False)
                except TimeoutError:
                    patience = None
                    self.resent += 1
                    await self._socket.send(told)
                    continue
                self._take(ForwardMsg.FromString(frame))

    def _put(self, path: str, name: str, content: bytes) -> None:
        mark = uuid.uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=body,
            method="PUT",
            headers={"Content-Type": f"multipart/form-data; boundary={mark}"},
        )
        urllib.request.urlopen(request, timeout=TIMEOUT).close()

    def _take(self, message: ForwardMsg) -> bool:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._id = message.new_session.initialize.session_id
        elif kind == "file_urls_response":
            urls = message.file_urls_response.file_urls[0]
            self._urls = (urls.file_id, urls.upload_url, urls.delete_url)
        elif kind == "delta":
            element = message.delta.new_element
            if element.WhichOneof("type") == "code":
                self.code = element.code.code_text
            widget = getattr(element, element.WhichOneof("type") or "", None)
            if hasattr(widget, "label") and hasattr(widget, "id"):
                self._widgets[widget.label] = widget.id
        return super()._take(message)
