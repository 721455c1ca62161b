"""Look at an endpoint before anybody writes with it: which models it has, and whether one of them answers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal
from urllib.parse import urlsplit

from langchain_core.messages import HumanMessage

from recurrentgpt.models.calls import write_stream
from recurrentgpt.models.meter import Meter
from recurrentgpt.models.roles import endpoint_model
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import ModelUnavailable

PATIENCE, PATIENCE_TO_LOAD = 10.0, 60.0
"""Seconds to wait for a list of models, and for a model that its server may have to load first."""
TRIAL_TOKENS = 200
MOST_LISTED = 1000

WINDOW_FIELDS = ("context_length", "max_model_len", "max_context_length", "context_window")
"""What a model's window is called in the lists of OpenRouter, vLLM, Mistral and Groq."""
LARGEST_WINDOW = 1_000_000_000
MILLION = 1_000_000

Fault = Literal["", "unreachable", "key", "foreign", "unlisted"]


@dataclass(frozen=True)
class ModelFacts:
    """What a list of models says of one of them, as far as it does."""

    context_window: int | None = None
    """Tokens of prompt and reply together."""
    input_price: float | None = None
    """US dollars for a million tokens read; 0 where they are free."""
    output_price: float | None = None


@dataclass(frozen=True)
class Listing:
    """The models that an endpoint says it has, or what keeps it from saying so."""

    models: tuple[str, ...] = ()
    facts: Mapping[str, ModelFacts] = field(default_factory=dict)
    """By model, of those of which the list says anything."""
    fault: Fault = ""
    """`foreign`: what answers does not speak as OpenAI's API does. `unlisted`: it lists no models, and may have some."""
    why: str = ""


async def list_models(address: str, key: str | None) -> Listing:
    """Ask an endpoint for its models: that costs nothing, and proves the address and mostly the key."""
    from recurrentgpt.models.http_client import LoopClient, http, is_loopback

    if key and not (key.isascii() and key.isprintable()):
        # Refused here: the error of a header that cannot be sent tells the key.
        return Listing(fault="key", why="it holds characters that no request can carry")
    client = LoopClient(timeout=PATIENCE, trust_env=not is_loopback(address))
    try:
        asked = client.build_request(
            "GET", f"{address.rstrip('/')}/models", headers={"authorization": f"Bearer {key or 'none'}"}
        )
        async with asyncio.timeout(PATIENCE):
            response = await client.send(asked, stream=True)
            try:
                body = await response.aread()
            finally:
                await response.aclose()
    except ModelUnavailable as error:
        return Listing(fault="foreign", why=str(error))
    except (TimeoutError, http.TimeoutException):
        return Listing(fault="unreachable", why=f"nothing came in {PATIENCE:g} seconds")
    except (OSError, ValueError, http.HTTPError, http.InvalidURL) as error:
        return Listing(fault="unreachable", why=_why(error, address))
    finally:
        await client.aclose()
    return _read(response.status_code, body)


def _why(error: Exception, address: str) -> str:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, socket.gaierror):
        # httpcore raises its own error without naming the cause of it.
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return f"the name {urlsplit(address).hostname} is not known to the network"
    return " ".join(str(error).split()) or type(error).__name__


def _read(status: int, body: bytes) -> Listing:
    if status == 401:  # 403 is of a key that may not list models, and may well write
        return Listing(fault="key", why=str(status))
    if 300 <= status < 400:
        return Listing(fault="foreign", why=f"it redirects to an address that nobody named ({status})")
    if status >= 400:
        return Listing(fault="unlisted", why=str(status))
    try:
        listing: Any = json.loads(body)
    except ValueError:
        return Listing(fault="foreign", why="its list of models is not JSON")
    entries = listing.get("data") if isinstance(listing, dict) else None
    known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    named = {entry["id"]: _facts(entry) for entry in known if isinstance(entry.get("id"), str) and entry["id"]}
    names = tuple(named)[:MOST_LISTED]
    return Listing(names, {name: named[name] for name in names if named[name] != ModelFacts()})


def _facts(entry: dict[str, Any]) -> ModelFacts:
    windows = (entry.get(name) for name in WINDOW_FIELDS)
    window = next((size for size in windows if type(size) is int and 0 < size <= LARGEST_WINDOW), None)
    pricing = entry.get("pricing")
    prices = pricing if isinstance(pricing, dict) else {}
    return ModelFacts(window, _a_million(prices.get("prompt")), _a_million(prices.get("completion")))


def _a_million(price: object) -> float | None:
    """Return OpenRouter's price of a token as one of a million; what varies is -1 there, and no price."""
    try:
        found = float(price) * MILLION if isinstance(price, str) else -1.0
    except ValueError:
        return None
    return found if isfinite(found) and found >= 0 else None


async def try_model(name: str, address: str, key: str | None) -> None:
    """Ask a model for a word, which costs a few tokens; raise ModelError where none comes."""
    model = endpoint_model(name, address, key, Context(timeout=PATIENCE_TO_LOAD))
    asked = [HumanMessage("Reply with the one word: yes")]
    async with aclosing(write_stream(model, asked, max_tokens=TRIAL_TOKENS, meter=Meter())) as pieces:
        async for _ in pieces:
            return
