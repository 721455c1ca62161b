"""Refuse a run whose context names no setting: LangGraph's servers leave such names out and say nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from recurrentgpt.schema.context import SETTINGS, refuse_unknown
from recurrentgpt.schema.errors import SettingsError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_RUNS = re.compile(r"/runs(/stream|/wait|/batch|/crons)?/?$")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RefuseUnknownSettings:
    """ASGI middleware that answers 422 to a request for a run of `graphs` with a setting that does not exist.

    An assistant that is named by its id may be of any graph, and is taken for one of these.
    """

    def __init__(self, app: App, graphs: frozenset[str]) -> None:
        self.app, self.graphs = app, graphs

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a sentence."""
        if scope["type"] != "http" or scope["method"] != "POST" or not _RUNS.search(scope["path"]):
            return await self.app(scope, receive, send)
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        try:
            self._check(b"".join(message.get("body", b"") for message in messages))
        except SettingsError as error:
            body = json.dumps({"detail": str(error)}).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 422, "headers": headers})
            return await send({"type": "http.response.body", "body": body})
        waiting = iter(messages)

        async def again() -> Message:
            return next(waiting, None) or await receive()

        return await self.app(scope, again, send)

    def _check(self, body: bytes) -> None:
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            return  # the server's own to refuse
        for run in given if isinstance(given, list) else [given]:
            context = run.get("context") if isinstance(run, Mapping) else None
            if isinstance(context, Mapping) and self._ours(run.get("assistant_id")):
                refuse_unknown(context, SETTINGS)

    def _ours(self, assistant: object) -> bool:
        return isinstance(assistant, str) and (assistant in self.graphs or bool(_ID.fullmatch(assistant)))
