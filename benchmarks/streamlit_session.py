"""A session of the app without a browser: it speaks Streamlit's own protocol over a websocket.

It keeps of what arrives only what a client of the page Annotate needs: the live component with its
data, and the buttons. Widgets that it does not mention keep what they have, as in a browser that
shows them unchanged.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # the widget that carries a component's triggers
RERUNS = ForwardMsg.FINISHED_EARLY_FOR_RERUN
PATIENCE = 120.0  # seconds


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
        async with asyncio.timeout(PATIENCE):
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
