"""Viewers of the app without browsers: they edit, type and upload, and say how long that took.

An edit that is not answered is sent once more, as the browser's outbox does.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import urllib.request
import uuid
from collections.abc import Callable
from urllib.parse import parse_qsl

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit_session import PATIENCE, Session

RESEND = 3.0  # seconds, as in `outbox.js`
TAGS = ("NOUN", "VERB", "DET", "PRON", "ADJ", "ADV")
SETTINGS = {"STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false"}  # every viewer is a visitor


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
        return f"$$STREAMLIT_INTERNAL_KEY_{self._component}__events"

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
        async with asyncio.timeout(PATIENCE):
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
        urllib.request.urlopen(request, timeout=PATIENCE).close()

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
