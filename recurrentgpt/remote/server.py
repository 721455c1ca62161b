"""A server of LangGraph's protocol, seen from here: the way to it, what it says when it refuses, and its stories."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from recurrentgpt.remote.response_shapes import FOUND, answered, foreign
from recurrentgpt.schema.context import STORY_SETTINGS
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
        threads = answered(url, FOUND, await client.threads.search(limit=MOST_STORIES))
    return [
        RemoteSummary(
            story=str(about["story"]),
            title=str(about.get("title", "")),
            thread=thread["thread_id"],
            updated=str(thread["updated_at"]),
            settings=_settings(about.get("settings")),
        )
        for thread in threads
        if (about := thread["metadata"] or {}).get("story")
    ]


def _settings(kept: object) -> dict[str, object]:
    """Return the settings that a thread keeps, as far as this version knows them."""
    return {name: kept[name] for name in STORY_SETTINGS if name in kept} if isinstance(kept, dict) else {}


async def client_of(url: str, token: str | None) -> LangGraphClient:
    """Return a client of the server at `url`; raise StoryError where none answers, SettingsError for what is no address."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"The address of a server begins with http:// or https://; this one is {url!r:.100}.")
    with asking(url):
        # The SDK's client tries for eight seconds to reach a server that is not there.
        async with httpx.AsyncClient() as plain, plain.stream("GET", url):
            pass
    client = get_client(url=url, headers={"Authorization": f"Bearer {token}"} if token else None)

    async def look(response: httpx.Response) -> None:
        _check_headers(url, response)

    client.http.client.event_hooks["response"].append(look)
    client.http.client.follow_redirects = True  # as far as that lets them be
    return client


def _check_headers(url: str, response: httpx.Response) -> None:
    """Raise StoryError for an answer that leads to another address, or is a page where events were asked for.

    Stories and the token go to nobody who was not named.
    """
    asked, kind = response.request, response.headers.get("content-type", "")
    if response.has_redirect_location:
        try:
            following = asked.url.join(response.headers["location"])
        except httpx.InvalidURL:
            raise foreign(url) from None
        if (there := _origin(following)) != _origin(asked.url):
            raise StoryError(
                f"The server at {url} redirects to {there}, an address that nobody named, and nothing was sent there: "
                "give it with --remote if it is the right one."
            )
    elif response.is_success and asked.headers["accept"] == "text/event-stream" and "text/event-stream" not in kind:
        raise foreign(url)


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"


@contextmanager
def asking(url: str) -> Iterator[None]:
    """Say in one sentence what a server or the way to it refuses."""
    try:
        yield
    except (httpx.TransportError, httpx.InvalidURL):
        raise StoryError(f"No server answers at {url}; check the address, and that it is running.") from None
    except httpx.TooManyRedirects:
        raise StoryError(f"The server at {url} redirects in a circle: check the address.") from None
    except (httpx.DecodingError, json.JSONDecodeError):
        raise foreign(url) from None
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
    except (ValueError, RecursionError):
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
