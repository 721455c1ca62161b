"""Where a study's models are asked, and with whose key.

The generator's key is for the generator's address. A judge at another one gets a key of its own, or none.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded import catalogue
from recurrentgpt.models.roles import ResolvedModel, aresolve_model, endpoint_model, resolve_model
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.runs.plan import Judge, Plan
from recurrentgpt.studies.study_context import StudyContext


def asks_paid_model(plan: Plan, live: Collection[str] = ()) -> bool:
    """Tell whether a run of the plan asks a model that is not the embedded one: its generator or a judge.

    From recorded calls it asks the judges named in `live` alone.
    """
    if not plan.replay and not _embedded(plan.model, plan.base_url):
        return True
    asked = [judge for judge in plan.judges if judge.model in live or not plan.replay]
    return any(not _embedded(judge.model, judge.base_url or plan.base_url) for judge in asked)


def judge_model(judge: Judge, plan: Plan) -> ResolvedModel:
    """Return the model of a judge; one without an address is asked at the generator's.

    Raises StudyError where the variable of its key is not set, and what `resolve_model` raises. It may take seconds.
    """
    context = StudyContext(models={"judge": judge.model}, base_url=judge.base_url or plan.base_url)
    if has_key(judge, plan) and not judge.api_key_env:
        return resolve_model("judge", context)
    address = settings.resolve("base_url", context.base_url).value
    return endpoint_model(judge.model, address, _key(judge), context)


async def aresolve_judge(judge: Judge, plan: Plan, chat: Any = None) -> ResolvedModel:
    """Return what `judge_model` returns, without holding up the event loop; `chat` is a chat model in the judge's place."""
    if chat is not None:
        return await aresolve_model("judge", StudyContext(models={"judge": chat}))
    return await asyncio.to_thread(judge_model, judge, plan)


def has_key(judge: Judge, plan: Plan) -> bool:
    """Tell whether a judge is asked with a key: its own, or the generator's at the generator's address."""
    if judge.api_key_env or judge.base_url is None:
        return True
    return _address(judge.base_url) == _address(settings.resolve("base_url", plan.base_url).value or settings.OPENAI)


def check_keys(plan: Plan) -> None:
    """Raise StudyError where a judge's key is not there, before anything is paid for."""
    for judge in plan.judges:
        _key(judge)


def _key(judge: Judge) -> str | None:
    if judge.api_key_env is None:
        return None
    if key := os.environ.get(judge.api_key_env, "").strip():
        return key
    raise StudyError(
        f"The key of the judge {judge.model} is to be in the environment variable {judge.api_key_env}, which is not set: "
        "set it, or correct `api_key_env` in the plan."
    )


def _embedded(model: str, base_url: str | None) -> bool:
    """Tell whether settings lead to the model on this machine, as `resolve_model` follows them."""
    name = settings.resolve("model", model).value
    address = settings.resolve("base_url", base_url).value
    return address is None and (name is None or name in catalogue.WRITERS or name.lower().endswith(".gguf"))


def _address(url: str) -> tuple[str, str, int | None, str]:
    """Return what makes two addresses the same."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port or usual, parts.path.rstrip("/")
