"""A server of LangGraph's protocol, seen from here: the way to it, what it says when it refuses, and its stories."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from recurrentgpt.schema.errors import SettingsError, StoryBusy, StoryError, StoryNotFound

MOST_STORIES = 1000
"""What is asked for at once."""
LONGEST_REASON = 300
_SHOWN = re.compile(r"""[A-Za-z_]\w*\((["'].*["'])\)""", re.DOTALL)


@dataclass(frozen=True)
class RemoteSummary:
    """One story of the server."""

    story: str
    title: str
    thread: str
    updated: str
    settings: Mapping[str, object] = field(default_factory=dict)
    """How it is told: the fields of `Context` that it was begun with."""


async def astories(url: str, *, token: str | None = None) -> list[RemoteSummary]:
    """Return the stories of a server, the one written last at the end."""
    async with await client_of(url, token) as client:
        return sorted(await stories_of(client, url), key=lambda summary: summary.updated)


async def stories_of(client: LangGraphClient, url: str) -> list[RemoteSummary]:
    """Return the stories of a server in its own order."""
    with asking(url):
        threads = await client.threads.search(limit=MOST_STORIES)
    return [
        RemoteSummary(
            story=str(about["story"]),
            title=str(about.get("title", "")),
            thread=thread["thread_id"],
            updated=str(thread["updated_at"]),
            settings=cast("dict[str, object]", about.get("settings") or {}),
        )
        for thread in threads
        if (about := thread["metadata"] or {}).get("story")
    ]


async def client_of(url: str, token: str | None) -> LangGraphClient:
    """Return a client of the server at `url`; raise StoryError where none answers, SettingsError for what is no address."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"The address of a server begins with http:// or https://; this one is {url!r:.100}.")
    with asking(url):
        # The SDK's client tries for eight seconds to reach a server that is not there.
        async with httpx.AsyncClient() as plain:
            await plain.get(url)
    return get_client(url=url, headers={"Authorization": f"Bearer {token}"} if token else None)


@contextmanager
def asking(url: str) -> Iterator[None]:
    """Say in one sentence what a server or the way to it refuses."""
    try:
        yield
    except (httpx.TransportError, httpx.InvalidURL):
        raise StoryError(f"No server answers at {url}; check the address, and that it is running.") from None
    except httpx.HTTPStatusError as error:
        match error.response.status_code:
            case 401:
                raise SettingsError(f"The server at {url} refuses this; check RECURRENTGPT_REMOTE_TOKEN.") from None
            case 403:
                raise SettingsError(f"The server at {url} refuses this{_why(error.response)}.") from None
            case 404:
                raise StoryNotFound(f"The server at {url} has no such story or graph.") from None
            case 409:
                raise StoryBusy(
                    "Somebody else is writing this story on the server; wait until the passage is done."
                ) from None
        raise StoryError(f"The server at {url} answered {error.response.status_code}; see its log.") from None


def _why(response: httpx.Response) -> str:
    """Return what a server says of its refusal, ready to follow ours; nothing where it says no more than that it refuses."""
    try:
        told = response.json()
    except ValueError:
        return ""
    # LangGraph's servers say it as `detail`, Aegra as `message`.
    why = str(told.get("detail") or told.get("message") or "").strip() if isinstance(told, dict) else ""
    return f": {why[:LONGEST_REASON].rstrip('.')}" if why and why.casefold() != "forbidden" else ""


def error_text(data: object) -> str:
    """Return what an error event or a failed task says, without the machinery around it."""
    text = str(data.get("message") or data.get("error")) if isinstance(data, dict) else str(data)
    # Servers tell of a failed task as Python shows its exception.
    if shown := _SHOWN.fullmatch(text):
        with suppress(ValueError, SyntaxError):
            sentence = ast.literal_eval(shown[1])
            return sentence if isinstance(sentence, str) else text
    return text
