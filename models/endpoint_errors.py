"""What a failed model call means to the person at the keyboard: which setting to look at, and whether to try again."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import SecretStr

from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.schema.errors import ModelError, ModelRefused, ModelUnavailable

DETAIL = 200
"""Most characters of a server's own words that a message repeats."""

_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "context size",
    "prompt is too long",
    "too many tokens",
)
_ADVICE = {
    401: "check OPENAI_API_KEY",
    402: "check the account that OPENAI_API_KEY belongs to",
    403: "check that OPENAI_API_KEY may use this model",
    404: "check RECURRENTGPT_MODEL or --model, and OPENAI_BASE_URL (it often ends in /v1)",
}
_PASSING = {408, 409, 425, 429}
SHORTEST_KEY = 4
_KEYLIKE = re.compile(r"\b(?:sk|pk)-[\w*-]{6,}|\bBearer\s+\S+")


def is_transient(error: BaseException) -> bool:
    """Return whether trying again can help; made for `retry_on` of LangGraph's RetryPolicy."""
    return isinstance(error, ModelUnavailable)


def translate(error: Exception, model: ResolvedModel) -> ModelError | None:
    """Return `error` as one sentence that says what to do, or None when it is not a failure of a model call.

    It knows statuses and kinds rather than classes, so that any provider's client is understood.
    """
    if isinstance(error, ModelError):
        return error
    status = status_of(error)
    detail = _detail(error, model)
    names = {base.__name__ for base in type(error).__mro__}
    if is_context_overflow(error):
        return ModelRefused(
            f"The prompt is longer than {model.name} can read: shorten the brief, lower top_k, or take a model with a longer "
            f"context{detail}."
        )
    if status is not None and status < 400:
        return _unintelligible(model, detail)
    if status is not None and (status in _PASSING or status >= 500):
        why = "is limiting the rate of requests" if status == 429 else f"failed with status {status}"
        return ModelUnavailable(f"The server of {model.name} {why}; wait a little and try again{detail}.")
    if status is not None:
        advice = _ADVICE.get(status, "check the settings of the model")
        return ModelRefused(f"The server of {model.name} refused the request with status {status}: {advice}{detail}.")
    if isinstance(error, TimeoutError) or names & {"APITimeoutError", "TimeoutException", "ModelTimeoutError"}:
        return ModelUnavailable(f"{model.name} said nothing for too long: try again, or raise the timeout of the run.")
    if model.embedded and names & {"APIConnectionError", "APIError"}:
        why = _root(error) or detail
        return ModelUnavailable(f"The embedded model {model.name} stopped; try again to start it anew{why}.")
    if isinstance(error, ConnectionError) or names & {"APIConnectionError", "TransportError", "ModelConnectionError"}:
        return ModelUnavailable(
            f"The connection to the server of {model.name} failed: check that it runs and that OPENAI_BASE_URL is its "
            f"address{_root(error)}."
        )
    if names & {"APIError", "ModelAPIError"}:
        return ModelUnavailable(f"The server of {model.name} failed while it answered; try again{detail}.")
    if model.speaks_openai and isinstance(error, ValueError | KeyError | TypeError | AttributeError):
        return _unintelligible(model, detail)
    return None


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a client's exception carries, if any."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_context_overflow(error: Exception) -> bool:
    """Return whether the server refused because the prompt does not fit."""
    if any(base.__name__ == "ContextOverflowError" for base in type(error).__mro__):
        return True
    return status_of(error) in (400, 413, 422) and any(sign in str(error).lower() for sign in _TOO_LONG)


def _unintelligible(model: ResolvedModel, detail: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"The server of {model.name} sent something that is not a chat completion: try again, and "
        f"check OPENAI_BASE_URL if it stays so{detail}."
    )


def _detail(error: Exception, model: ResolvedModel) -> str:
    """Return the server's own reason in brackets, short and without any key."""
    body = getattr(error, "body", None)
    reason: Any = body.get("message") or body.get("error") if isinstance(body, dict) else None
    if isinstance(reason, dict):
        reason = reason.get("message")
    text = " ".join(str(reason or getattr(error, "message", None) or error).split())
    if "<html" in text.lower() or not text:
        return ""
    return f" ({without_key(text, model)[:DETAIL].rstrip(' .')})"


def _root(error: BaseException) -> str:
    """Return the innermost cause in brackets: `Connection refused` says more than `Connection error`."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    text = " ".join(str(error).split())
    return f" ({text[:DETAIL].rstrip(' .')})" if text else ""


def without_key(text: str, model: ResolvedModel) -> str:
    """Return `text` with the model's key, and whatever looks like one, taken out."""
    key = getattr(model.chat, "openai_api_key", None)
    secret = key.get_secret_value() if isinstance(key, SecretStr) else None
    # Shorter ones are stand-ins for servers that ask for none; a letter taken out of every word would hide what was said.
    if secret and len(secret) >= SHORTEST_KEY:
        spelt = {secret, json.dumps(secret)[1:-1]}
        text = re.sub("|".join(map(re.escape, sorted(spelt))), "[key]", text)
    return _KEYLIKE.sub("[key]", text)
