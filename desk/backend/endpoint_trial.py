"""Whether a model can be reached as the form of the settings names it, in a sentence for who fills it in."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from recurrentgpt.desk.backend.disk_store import checked_key
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.settings_form import check_endpoint, in_the_form
from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded.catalogue import WRITERS
from recurrentgpt.models.endpoint_check import Listing, ModelFacts, list_models, try_model
from recurrentgpt.models.profiles import profile_of
from recurrentgpt.schema.errors import ModelError, ModelRefused

_NO_SUCH_MODEL = re.compile(
    r"\bmodel\b[^().;]{0,80}\b(?:not|unknown|no such)\b|\b(?:unknown|invalid|no such) model\b", re.IGNORECASE
)
SOME = 5
"""Models that a sentence names."""


class Trial(TypedDict):
    """Whether a model answers, in a sentence, which models its endpoint lists, and what is known of them."""

    works: bool
    said: str
    models: list[str]
    known: dict[str, str]
    """The window and the price of a model, in a sentence, where they are known."""


async def try_endpoint(desk: Desk, model: str, base_url: str, key: str) -> Trial:
    """Return whether a model answers at an address; what is empty is as it would be if the form were kept so."""
    given = desk.given_by_code()
    chosen = model or given.get("model")
    if chosen is not None and not isinstance(chosen, str):
        if not base_url:
            return _said("The program that runs the desk gives the model: there is nothing to test.", works=True)
        chosen = None
    name = settings.resolve("model", chosen).value
    address = settings.resolve("base_url", base_url or given.get("base_url")).value
    if address is None:
        return _without_address(name)
    listing, problem = await _listed(desk, address, key)
    if problem:
        return _said(problem)
    models, known = list(listing.models), _known(listing, address, [*listing.models, name or ""])
    if name is None:
        return _said(
            f"No model is named yet. {address} has {_some(models)}." if models else "No model is named yet.",
            models,
            known,
        )
    try:
        await try_model(name, address, _key(desk, address, key))
    except ModelError as error:
        if models and name not in models and _is_unknown(error):
            return _said(f"{address} has no model {name!r}: it has {_some(models)}.", models, known)
        return _said(in_the_form(str(error)), models, known)
    return _said(f"It works: {name} answers at {address}.", models, known, works=True)


def _is_unknown(error: ModelError) -> bool:
    """Return whether a server refuses a model that it has not: some say so with the status of a bad request."""
    if not isinstance(error, ModelRefused):
        return False
    return error.status == 404 or (error.status in (400, 422) and bool(_NO_SUCH_MODEL.search(str(error))))


async def models_of(desk: Desk, base_url: str, key: str) -> Trial:
    """Return which models an address lists."""
    address = settings.resolve("base_url", base_url or desk.given_by_code().get("base_url")).value
    if address is None:
        return _said("Choose where the model runs first, or type the address of an endpoint.")
    listing, problem = await _listed(desk, address, key)
    if listing.fault == "unlisted" and (passing := _passing(int(listing.why))):
        return _said(f"{address} {passing}: wait a little, and list its models again.")
    if problem or not listing.models:
        return _said(problem or f"{address} lists no models; type the name of one that it has.")
    models = list(listing.models)
    return _said(f"{address} has {_some(models)}.", models, _known(listing, address, models), works=True)


async def _listed(desk: Desk, address: str, typed: str) -> tuple[Listing, str]:
    """Return the models that an endpoint lists, and what is wrong with it, if that is sure already."""
    check_endpoint(address)
    key = _key(desk, address, typed)
    listing = await list_models(address, key)
    match listing.fault:
        case "unreachable":
            return listing, f"Nothing answers at {address} ({listing.why}): {_how_to_reach(address)}."
        case "key" if key is None and settings.resolve("api_key").value:
            return (
                listing,
                f"{address} asks for a key. The one you have is another endpoint's and was not sent: type its own.",
            )
        case "key":
            return listing, f"{address} refuses the key ({listing.why}): type a key of this endpoint."
        case "foreign":
            return listing, (
                f"What answers at {address} is not OpenAI-compatible: {listing.why.rstrip('.')}. The address mostly ends in /v1."
            )
        case _:
            return listing, ""


def _passing(status: int) -> str:
    """Return what a server did that answers otherwise a little later; nothing for a refusal that stays."""
    if status == 429:
        return f"limits the rate of requests ({status})"
    return f"failed with status {status}" if status >= 500 else ""


def _how_to_reach(address: str) -> str:
    from recurrentgpt.models.http_client import is_loopback

    # Only a server on this machine is surely one that its reader can start.
    if is_loopback(address):
        return "start that server, or correct the address"
    return "check that this machine is online, that the address is right, and that its server runs"


def _key(desk: Desk, address: str, typed: str) -> str | None:
    """Return the key for an address: the one that was typed, or the one in force if that is where it is in force."""
    if key := checked_key(typed):
        return key
    here = settings.resolve("base_url", desk.given().get("base_url")).value or settings.OPENAI
    return settings.resolve("api_key").value if _origin(address) == _origin(here) else None


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port


def _without_address(name: str | None) -> Trial:
    if name is not None and name.lower().endswith(".gguf") and not Path(name).expanduser().is_file():
        return _said(f"There is no file {name}.")
    if name is None or name in WRITERS or name.lower().endswith(".gguf"):
        return _said(
            "No endpoint is set: the embedded model writes on this machine, and nothing is sent anywhere.",
            works=True,
        )
    return _said(f"No endpoint is set for {name}: choose where it runs, or type its address.")


def _known(listing: Listing, address: str, models: list[str]) -> dict[str, str]:
    """Return what the list says of each model, and else how a server of this kind is set by itself."""
    known = {}
    for model in filter(None, models):
        facts, usual = listing.facts.get(model, ModelFacts()), profile_of(address, model).context_window
        said = _sentence(facts)
        if facts.context_window is None and usual is not None:
            said = f"Its window is {usual:,} tokens unless its server is told otherwise. {said}".strip()
        if said:
            known[model] = said
    return known


def _sentence(facts: ModelFacts) -> str:
    said = []
    if facts.context_window is not None:
        said.append(f"Its window is {facts.context_window:,} tokens.")
    if facts.input_price is not None and facts.output_price is not None:
        free = not facts.input_price and not facts.output_price
        prices = f"{_dollars(facts.input_price)} for a million tokens read, {_dollars(facts.output_price)} written"
        said.append("It is free of charge." if free else f"It costs {prices}.")
    return " ".join(said)


def _dollars(price: float) -> str:
    return f"${price:.2g}" if 0 < price < 0.1 else f"${price:,.2f}"


def _some(models: list[str]) -> str:
    rest = len(models) - SOME
    return ", ".join(models[:SOME]) + (f" and {rest} more" if rest > 0 else "")


def _said(
    said: str, models: list[str] | None = None, known: dict[str, str] | None = None, *, works: bool = False
) -> Trial:
    return {"works": works, "said": said, "models": models or [], "known": known or {}}
