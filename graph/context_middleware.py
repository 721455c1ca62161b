"""Refuse a setting or a field that does not exist: LangGraph's servers leave such names out and say nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from recurrentgpt.schema.context import Context, refuse_unknown, settings_of
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.field_names import is_of_another_graph, refuse_lost_input, refuse_lost_update

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_SETS = re.compile(r"/runs(/stream|/wait|/batch|/crons)?/?$|^/assistants(/[^/]+)?/?$")
_STATE = re.compile(r"/threads/[^/]+/state/?$")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PROTOCOL = re.compile(
    r"(thread|run|assistant|graph|cron|user|checkpoint)_id|checkpoint(_ns|_map)?|(__|langgraph_|langsmith|x-).*"
)
"""What LangGraph, its servers and its clients put beside the settings in `configurable`."""


class RefuseUnknownSettings:
    """ASGI middleware that answers 422 to a request for a run or an assistant of `graphs` with a setting that `context` has not.

    So it does for a run's input and an update of a thread's state with a field that is lost (see `schema.field_names`), where
    `stories` says that the graphs are those of a story. An assistant or a thread that is named by its id may be of any graph,
    and is taken for one of these, unless a field is named that is like none of a story's. Where a request has no context, a
    server takes what its config holds as `configurable` for one, and so does this.
    """

    def __init__(
        self, app: App, graphs: frozenset[str], context: type[Context] = Context, *, stories: bool = True
    ) -> None:
        self.app, self.graphs, self.settings, self.stories = app, graphs, settings_of(context), stories

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a sentence."""
        if (
            scope["type"] != "http"
            or scope["method"] not in ("POST", "PATCH")
            or not (_SETS.search(scope["path"]) or _STATE.search(scope["path"]))
        ):
            return await self.app(scope, receive, send)
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        try:
            self._check(scope["path"], b"".join(message.get("body", b"") for message in messages))
        except SettingsError as error:
            body = json.dumps({"detail": str(error)}).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 422, "headers": headers})
            return await send({"type": "http.response.body", "body": body})
        waiting = iter(messages)

        async def again() -> Message:
            return next(waiting, None) or await receive()

        return await self.app(scope, again, send)

    def _check(self, path: str, body: bytes) -> None:
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            return  # the server's own to refuse
        for asked in given if isinstance(given, list) else [given]:
            if not isinstance(asked, Mapping):
                continue
            if _STATE.search(path):
                given_fields = _named_in(asked.get("values"))
                if self.stories and not is_of_another_graph(given_fields):
                    refuse_lost_update(given_fields)
                continue
            # A change of an assistant names it in the path, and mostly no graph.
            graph = asked.get("assistant_id") or asked.get("graph_id") or path.rstrip("/").rpartition("/")[2]
            if isinstance(graph, str) and (graph in self.graphs or _ID.fullmatch(graph)):
                refuse_unknown(_settings_in(asked), self.settings)
                given_fields = _named_in(asked.get("input"))
                if not self.stories or _is_of_a_host(asked):
                    continue
                if graph in self.graphs or not is_of_another_graph(given_fields):
                    refuse_lost_input(given_fields)


def _settings_in(asked: Mapping[str, Any]) -> list[str]:
    """Return the names of what a request gives as settings."""
    if context := asked.get("context"):
        return list(context) if isinstance(context, Mapping) else []
    config = asked.get("config")
    configurable = config.get("configurable") if isinstance(config, Mapping) else None
    return [name for name in configurable if not _PROTOCOL.fullmatch(name)] if isinstance(configurable, Mapping) else []


def _named_in(values: object) -> list[str]:
    """Return the fields that an input or an update gives a value, which may be of several writes."""
    writes = values if isinstance(values, list) else [values]
    given = (pair for write in writes if isinstance(write, Mapping) for pair in write.items())
    return [name for name, value in given if value not in (None, "", [], {})]


def _is_of_a_host(asked: Mapping[str, Any]) -> bool:
    """Tell whether a node of a host's graph asks, which sends the whole state of its graph: LangGraph says so in the metadata."""
    config = asked.get("config")
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    return isinstance(metadata, Mapping) and "langgraph_node" in metadata
