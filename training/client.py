"""One chat completion of a local server, without LangChain: what was asked, what came back, and what it took."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from training.product import ModelUnavailable

SECONDS = 1800.0
"""Bound of one reply, on a machine that does other work first."""


class CompletionEndpoint(Protocol):
    """Where an OpenAI-compatible server is."""

    @property
    def base_url(self) -> str:
        """Return the address, with its /v1."""

    @property
    def api_key(self) -> str:
        """Return the key that the server wants."""


@dataclass(frozen=True)
class Completion:
    """One reply of the model."""

    text: str
    finish: str
    """`stop`, or `length` where the limit of tokens cut it off."""
    prompt_tokens: int
    cached_tokens: int
    seconds: float


def complete(server: CompletionEndpoint, messages: Sequence[dict[str, str]], **sampling: Any) -> Completion:
    """Return the reply to `messages`; raise ModelUnavailable where the server gives none."""
    body = json.dumps({"messages": list(messages), **sampling}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.api_key}"}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)  # noqa: S310 - a local server
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    began = time.monotonic()
    try:
        with direct.open(request, timeout=SECONDS) as answer:
            reply = json.load(answer)
    except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError) as error:
        raise ModelUnavailable(
            f"The model's server gave no reply ({error}): start the command again, it goes on."
        ) from error
    chosen, usage = reply["choices"][0], reply.get("usage", {})
    return Completion(
        text=str(chosen["message"]["content"] or "").strip(),
        finish=str(chosen.get("finish_reason") or ""),
        prompt_tokens=int(usage.get("prompt_tokens", 0)),
        cached_tokens=int(usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)),
        seconds=time.monotonic() - began,
    )
