"""What a failed model call means to the person at the keyboard: which setting to look at, and whether to try again."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.exceptions import ContextOverflowError, ModelAPIError, ModelConnectionError, ModelTimeoutError
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
_UNSUPPORTED = re.compile(
    r"unsupported|(?:not|n['’]t) (?:be )?(?:support|permit|allow|enabled|available|implemented|recogni[sz]ed)|unknown|"
    r"only user and assistant roles|unrecogni[sz]ed|unexpected|cannot find field|deprecated|invalid (?:field|parameter|argument)",
    re.IGNORECASE,
)
_ALSO_CALLED = {
    "response_format": (
        "response format",
        "json_schema",
        "json_object",
        "json mode",
        "structured output",
        "structured outputs",
    ),
    "system role": ("system instruction", "developer instruction", "only user and assistant roles"),
}
_OTHER_FORM = re.compile(r"unavailable|must be|should be|one of|invalid value", re.IGNORECASE)
"""What says of a form that it has to be another: of any other field it says that its value is wrong."""
_NAMES_FORM = re.compile(
    r"response[_ ]format|json[_ ](?:schema|object|mode)|\bschemas?\b|structured outputs?", re.IGNORECASE
)
_OF_CONTENT = re.compile(r"content (?:management |usage )?polic|content[ _]filter|moderation|safety", re.IGNORECASE)
"""What says that a prompt was refused for what it tells."""
_FORBIDDEN = re.compile(r"extra_forbidden['\"], ['\"]loc['\"]: [\[(](?:['\"]body['\"], )?['\"](\w+)")
"""A field in a list of all that a server of Pydantic's does not know."""
_LIMIT = re.compile(r"\bmax_(?:completion_)?tokens\b")
_WINDOW = re.compile(r"context length is (\d{3,8}) tokens")
_PROMPT = re.compile(r"\b(\d{1,8}) (?:tokens )?(?:in the (?:messages|prompt)|input tokens)")
"""Of a refusal, how many tokens the window holds and the prompt has, as vLLM says it in all its versions."""
_PASSING = {408, 409, 425, 429}
_ERRNO = re.compile(r"\[Errno -?\d+\]\s*")
SHORTEST_KEY = 4
_KEYLIKE = re.compile(r"\b(?:sk|pk)-[\w*-]{6,}|\bBearer\s+\S+")


class _Silence(ModelUnavailable):
    """Report a model that said nothing of use within the timeout; each try may cost a whole prompt, so few are made."""


def is_transient(error: BaseException) -> bool:
    """Return whether trying again can help; made for `retry_on` of LangGraph's RetryPolicy."""
    return isinstance(error, ModelUnavailable)


def is_silence(error: BaseException) -> bool:
    """Return whether a model let the timeout pass; made for `retry_on` of LangGraph's RetryPolicy."""
    return isinstance(error, _Silence)


def translate(error: Exception, model: ResolvedModel) -> ModelError | None:
    """Return `error` as one sentence that says what to do, or None when it is not a failure of a model call."""
    causes = list(_causes(error))
    if ours := next((cause for cause in causes if isinstance(cause, ModelError)), None):
        return ours
    status, detail = status_of(error), _detail(error, model)
    if is_context_overflow(error):
        return ModelRefused(
            f"The prompt is longer than {model.name} can read: shorten the brief, lower top_k or past_tokens, or take a model "
            f"with a longer context{detail}."
        )
    if status is not None and 300 <= status < 400:
        asked, following = _following(error)
        if following and following == asked:
            return ModelRefused(f"The server of {model.name} redirects in a circle: check OPENAI_BASE_URL{detail}.")
        destination = f" to {following}" if following else ""
        return ModelRefused(
            f"The server of {model.name} redirects{destination}, an address that nobody named, and nothing was sent "
            "there: set OPENAI_BASE_URL to it if it is the right one."
        )
    if status is not None and status < 400:
        return _unintelligible(model, detail)
    if status is not None and (status in _PASSING or status >= 500):
        why = "is limiting the rate of requests" if status == 429 else f"failed with status {status}"
        return ModelUnavailable(f"The server of {model.name} {why}; wait a little and try again{detail}.")
    if status is not None:
        advice = _ADVICE.get(status, "check the settings of the model")
        return ModelRefused(
            f"The server of {model.name} refused the request with status {status}: {advice}{detail}.", status
        )
    if any(isinstance(cause, (TimeoutError, ModelTimeoutError, *_of_http("TimeoutException"))) for cause in causes):
        model.seen.silences += 1
        seconds = f"{model.timeout:g} seconds" if model.timeout else "the time that its client allows"
        tries = f", {model.seen.silences} times in a row" if model.seen.silences > 1 else ""
        return _Silence(
            f"{model.name} said nothing for too long ({seconds}{tries}): try again, or raise the timeout of the run."
        )
    disconnected = any(
        isinstance(cause, (ConnectionError, ModelConnectionError, *_of_http("TransportError"))) for cause in causes
    ) or _is_openai(error, "APIConnectionError")
    broke_off = isinstance(error, ModelAPIError) or _is_openai(error, "APIError")
    if model.embedded and (disconnected or broke_off):
        why = _root(error) or detail
        return ModelUnavailable(f"The embedded model {model.name} stopped; try again to start it anew{why}.")
    if disconnected:
        return ModelUnavailable(
            f"The connection to the server of {model.name} failed: check that it runs and that OPENAI_BASE_URL is its "
            f"address{_root(error)}."
        )
    if broke_off:
        return ModelUnavailable(f"The server of {model.name} failed while it answered; try again{detail}.")
    if model.speaks_openai and isinstance(error, ValueError | KeyError | TypeError | AttributeError):
        return _unintelligible(model, detail)
    return None


def refused_fields(error: Exception, fields: Iterable[str]) -> set[str]:
    """Return which of a request's fields the server calls unsupported: all of a list, or the first that a sentence names.

    The form of the reply is among them where the refusal speaks of it at all, and of nothing else as unsupported.
    """
    if status_of(error) not in (400, 422) or is_context_overflow(error):
        return set()
    fields, said = list(fields), str(error)
    if listed := set(fields).intersection(_FORBIDDEN.findall(said)):
        return listed
    for sentence in re.split(r"(?<=[.!?])\s|\\n|\n", said):
        unsupported, other_form = _UNSUPPORTED.search(sentence), _OTHER_FORM.search(sentence)
        for field in fields:
            if unsupported or (other_form and field == "response_format"):
                spellings = "|".join(map(re.escape, (field, *_ALSO_CALLED.get(field, ()))))
                if re.search(rf"(?<![\w-])(?:{spellings})(?![\w-])", sentence, re.IGNORECASE):
                    return {field}
    # Of a form, to be named is enough: refusals of it are worded in every way, and a reply can do without one.
    formal = _NAMES_FORM.search(said) and not _OF_CONTENT.search(said)
    return {"response_format"}.intersection(fields) if formal else set()


def refuses_limit(error: Exception) -> bool:
    """Return whether a server that took a request refuses it with a higher limit of the reply, for that limit."""
    named = status_of(error) in (400, 422) and _LIMIT.search(str(error)) is not None
    return named or is_context_overflow(error)


def window_told(error: Exception) -> int | None:
    """Return the tokens of prompt and reply together that a refusal says a window holds; None where it does not say."""
    window = _WINDOW.search(str(error)) if refuses_limit(error) else None
    return int(window[1]) if window else None


def room_left(error: Exception) -> int | None:
    """Return the tokens that a refusal says a window has left beside the prompt; None where it does not say both."""
    window, prompt = window_told(error), _PROMPT.search(str(error))
    return window - int(prompt[1]) if window and prompt else None


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a client's exception carries, if any."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_context_overflow(error: Exception) -> bool:
    """Return whether the server refused because the prompt does not fit."""
    if isinstance(error, ContextOverflowError):
        return True
    return status_of(error) in (400, 413, 422) and any(sign in str(error).lower() for sign in _TOO_LONG)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__


def _of_http(kind: str) -> list[type[BaseException]]:
    """Return the classes of this name of those HTTP libraries that are loaded; a client that failed has loaded its own."""
    return [getattr(sys.modules[name], kind) for name in ("httpx", "httpx2") if name in sys.modules]


def _is_openai(error: Exception, kind: str) -> bool:
    """Tell whether an error is one of the OpenAI client's, which is not loaded where another is used."""
    openai = sys.modules.get("openai")
    return openai is not None and isinstance(error, getattr(openai, kind))


def _following(error: Exception) -> tuple[str, str]:
    """Return where a request went and where a redirect that nobody followed leads, without the paths; empty for none."""
    response = getattr(error, "response", None)
    following = getattr(response, "next_request", None)
    if response is None or following is None:
        return "", ""
    asked, other = (f"{url.scheme}://{url.netloc.decode()}" for url in (response.request.url, following.url))
    return asked, other


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
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return f" ({os.strerror(error.errno)})"
    text = " ".join(_ERRNO.sub("", str(error)).split())
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
