"""A story on a server of LangGraph's protocol, written from here: `recurrentgpt write --remote URL`.

A thread of the server is a story: its metadata hold the story's id and title. Events are those of `Story.astream`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from recurrentgpt.errors import SettingsError, StoryBusy, StoryError, StoryNotFound
from recurrentgpt.events import Event, done_event
from recurrentgpt.graph.state import StoryInput
from recurrentgpt.models.meter import total_usage
from recurrentgpt.nodes.answers import parse_answer

GRAPH = "novel_autonomous"
MOST_STORIES = 1000


@dataclass(frozen=True)
class RemoteSummary:
    """One story of the server."""

    story: str
    title: str
    thread: str
    updated: str


class RemoteStory:
    """One story on a server; made by `new` or `open`, and used in one event loop. Close it, or use it with `async with`."""

    def __init__(
        self, client: LangGraphClient, url: str, thread: str, given: StoryInput, settings: dict[str, Any]
    ) -> None:
        self._client, self._url, self._thread = client, url, thread
        self._given: dict[str, Any] = dict(given)
        self._settings = settings

    @classmethod
    async def new(cls, url: str, given: StoryInput, *, token: str | None = None, **settings: Any) -> RemoteStory:
        """Return a new story on the server at `url`; `settings` are fields of `Context` that JSON can hold."""
        client = _client(url, token)
        with _told(url):
            thread = (await client.threads.create())["thread_id"]
        return cls(client, url, thread, given, settings)

    @classmethod
    async def open(cls, url: str, name: str, *, token: str | None = None, **settings: Any) -> RemoteStory:
        """Return the story of this id, beginning of an id, or title; raise StoryNotFound for none or several."""
        client = _client(url, token)
        wanted = name.strip().casefold()
        found = [
            it for it in await _stories(client, url) if it.story.startswith(wanted) or it.title.casefold() == wanted
        ]
        if not wanted or len(found) != 1:
            await client.aclose()
            raise StoryNotFound(f"{len(found) or 'No'} stories at {url} answer to {name!r}; name one by its id.")
        return cls(client, url, found[0].thread, StoryInput(), settings)

    async def astream(self, steps: int = 1) -> AsyncIterator[Event]:
        """Write `steps` passages there and yield what happens; the simulator chooses where nobody did."""
        if steps < 1:
            raise SettingsError(f"The number of passages to write is 1 or more; it is {steps}.")
        with _told(self._url):
            before = await self._values()
            context = {**self._settings, "selector": "simulator", "last_step": before.get("step", 0) + steps}
            given, self._given = self._given, {}
            written, named = 0, False
            # `update_memory` and `propose_plans` come before `commit`, which is where a passage is safe.
            parts = self._client.runs.stream(
                self._thread, GRAPH, input=given, context=context, stream_mode=["custom", "values"],
                multitask_strategy="reject", on_disconnect="cancel",
            )  # fmt: skip
            async for part in parts:
                if part.event == "error":
                    raise StoryError(f"The server at {self._url} could not go on: {_said(part.data)}")
                if part.event == "custom":
                    yield part.data
                if part.event != "values" or part.data.get("status") not in ("choosing", "finished"):
                    continue
                after = part.data
                if after.get("story") and not named:
                    named = True
                    about = {"story": after["story"], "title": after["title"]}
                    await self._client.threads.update(self._thread, metadata=about)
                    yield {"event": "story", **about, "genre": after["genre"]}
                if after.get("step", 0) > before.get("step", 0) and after.get("head") != before.get("head"):
                    written += 1
                    for event in _passage(after, before):
                        yield event
                    before = after
        yield done_event(before.get("story", ""), written, total_usage([]))

    async def achoose(self, answer: object) -> str:
        """Set the plan of the next passage, as `Story.choose` does; the next `astream` writes from it. Raises BadAnswer."""
        chosen = parse_answer(answer, await self.aplans())
        if chosen.action not in ("choose", "edit", "write"):
            raise SettingsError("Choose, edit or write a plan: everything else is for the server's own interfaces.")
        words = str(chosen.index + 1) if chosen.action == "choose" and chosen.index is not None else chosen.plan
        self._given = {"messages": [{"type": "human", "content": words}]}
        return chosen.plan

    async def aplans(self) -> list[str]:
        """Return the plans to choose from."""
        with _told(self._url):
            return list((await self._values()).get("candidate_plans", []))

    async def _values(self) -> dict[str, Any]:
        values = (await self._client.threads.get_state(self._thread))["values"]
        return dict(values) if isinstance(values, dict) else {}

    async def aclose(self) -> None:
        """Close the connections; the story stays where it is."""
        await self._client.aclose()

    async def __aenter__(self) -> RemoteStory:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


async def astories(url: str, *, token: str | None = None) -> list[RemoteSummary]:
    """Return the stories of a server, the one written last at the end."""
    async with _client(url, token) as client:
        return sorted(await _stories(client, url), key=lambda summary: summary.updated)


async def _stories(client: LangGraphClient, url: str) -> list[RemoteSummary]:
    with _told(url):
        threads = await client.threads.search(limit=MOST_STORIES)
    return [
        RemoteSummary(str(about["story"]), str(about.get("title", "")), thread["thread_id"], str(thread["updated_at"]))
        for thread in threads
        if (about := thread["metadata"] or {}).get("story")
    ]


def _client(url: str, token: str | None) -> LangGraphClient:
    if urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"The address of a server begins with http:// or https://; this one is {url!r:.100}.")
    return get_client(url=url, headers={"Authorization": f"Bearer {token}"} if token else None)


def _passage(after: dict[str, Any], before: dict[str, Any]) -> Iterator[Event]:
    yield {
        "event": "passage",
        "story": after["story"],
        "id": after["head"],
        "parent": before.get("head") if before.get("step") else None,
        "step": after["step"],
        "plan": after["plan"],
        "text": after["passage"],
    }
    yield {
        "event": "memory",
        "step": after["step"],
        "short_term_memory": after["short_term_memory"],
        **after["rationale"],
        "recalled": [{name: entry[name] for name in ("id", "step", "score")} for entry in after["recalled"]],
    }
    yield {
        "event": "plans",
        "step": after["step"],
        "plans": after["candidate_plans"],
        "chosen": None,
        "plan": None,
        "why": "",
    }


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Say in one sentence what a server or the way to it refuses."""
    try:
        yield
    except httpx.TransportError:
        raise StoryError(f"No server answers at {url}; check the address, and that it is running.") from None
    except httpx.HTTPStatusError as error:
        match error.response.status_code:
            case 401 | 403:
                raise SettingsError(
                    f"The server at {url} refuses this token; check RECURRENTGPT_REMOTE_TOKEN."
                ) from None
            case 404:
                raise StoryNotFound(f"The server at {url} has no such story or graph.") from None
            case 409 | 422:
                raise StoryBusy(
                    "Somebody else is writing this story on the server; wait until the passage is done."
                ) from None
        raise StoryError(f"The server at {url} answered {error.response.status_code}; see its log.") from None


def _said(data: object) -> str:
    """Return what an error event says, without the machinery around it."""
    return str(data.get("message") or data.get("error")) if isinstance(data, dict) else str(data)
