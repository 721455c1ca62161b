"""Which chat model plays which role, and where it lives.

A model given in code beats a setting of the run, that beats the environment, and with nothing set at all the embedded
model answers. Nothing is ever sent to a paid endpoint that nobody named: a key found in the environment is not a wish.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded import catalogue
from recurrentgpt.models.embedded.adapter import NONE, PACKAGED, Adapter, adapter_in_force
from recurrentgpt.models.embedded.catalogue import Tier, tier_of
from recurrentgpt.models.embedded.fetch import fetch, is_present
from recurrentgpt.models.profiles import EMBEDDED, GENERIC, SPELLINGS, EndpointProfile, profile_of
from recurrentgpt.schema.context import SAMPLING, Context
from recurrentgpt.schema.errors import ModelRefused, RecurrentGPTError, SettingsError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from recurrentgpt.models.embedded.snapshots import Snapshots

logger = logging.getLogger(__name__)

Role = Literal["writer", "memory", "planner", "simulator", "judge"]
ROLES: tuple[Role, ...] = ("writer", "memory", "planner", "simulator", "judge")

SMALL_FILE = 3_000_000_000
"""Bytes below which a GGUF file whose name says nothing is taken for a small model: about 4B parameters in 4 bits."""


@dataclass
class Seen:
    """What calls have shown of an endpoint and its model, known as long as its client lives."""

    refused: set[str] = field(default_factory=set)
    """Fields that it refuses; `json_schema` is that form of `response_format`."""
    ignores_schemas: bool = False
    """Whether a reply fitted a schema only when it was told in words."""
    silences: int = 0
    """Calls in a row that ended at the timeout without a word."""
    thinking_tokens: int | None = None
    """Tokens that its model was seen to need, or to be allowed, for reasoning, whatever its name says; 0 where it gets none."""
    context_window: int | None = None
    """Tokens of prompt and reply together, as a refusal said."""
    begins_reasoning: bool = False
    """Whether a reply in prose begins with reasoning that nothing marks but its end: a prompt template wrote the first mark."""


@dataclass(frozen=True)
class ResolvedModel:
    """A chat model, and what the rest of the program needs to know about it."""

    chat: BaseChatModel
    name: str
    tier: Tier
    embedded: bool
    snapshots: Snapshots | None = None
    """The beginnings of prompts that the embedded server keeps on disk."""
    profile: EndpointProfile = GENERIC
    timeout: float | None = None
    """Seconds to wait for anything of use; None leaves it to a client that was given in code."""
    seen: Seen = field(default_factory=Seen, compare=False)
    adapter: Adapter | None = None
    """What an embedded model wears."""

    @property
    def templates(self) -> str:
        """Return the folder of the prompts that suit it: those of its tier, or those that its adapter was trained on."""
        return _templates(self.tier, self.adapter)

    @property
    def context_window(self) -> int | None:
        """Return the tokens of prompt and reply together; None where nobody has said."""
        return self.seen.context_window or self.profile.context_window

    @property
    def thinking_tokens(self) -> int:
        """Return the tokens to allow for reasoning, beside those of a reply."""
        seen = self.seen.thinking_tokens
        return self.profile.thinking_tokens(self.name) if seen is None else seen

    @property
    def base_url(self) -> str | None:
        """Return the address of an OpenAI-compatible endpoint."""
        return getattr(self.chat, "openai_api_base", None)

    def sampling_fields(self, settings: Mapping[str, float]) -> dict[str, float]:
        """Return a story's settings of sampling as the endpoint calls them, without the temperature, which tiers choose too.

        Raises SettingsError for one that it does not know.
        """
        if self.speaks_openai:
            known = {*self.profile.story_sampling, *(["temperature"] if self.profile.temperature is not None else [])}
        else:
            known = set(type(self.chat).model_fields)
        spelt = {
            name: next((field for field in SPELLINGS.get(name, (name,)) if field in known), "") for name in SAMPLING
        }
        if unknown := [name for name in settings if not spelt[name]]:
            taken = ", ".join(name for name, field in spelt.items() if field) or "none of these settings"
            who = f"An endpoint of the kind {self.profile.name}" if self.speaks_openai else "It"
            raise SettingsError(
                f"{self.name} takes no {' and no '.join(unknown)}, which this story sets: leave it empty, or use another "
                f"model. {who} takes {taken}."
            )
        return {spelt[name]: value for name, value in settings.items() if name != "temperature"}

    @property
    def speaks_openai(self) -> bool:
        """Tell whether calls go through langchain-openai, without importing it to find out."""
        return _speaks_openai(type(self.chat))


def _templates(tier: Tier, adapter: Adapter | None) -> str:
    # No adapter was taught what the nodes of a capable model ask.
    return "storyteller" if adapter and tier == "small" else tier


@cache
def _speaks_openai(client: type) -> bool:
    return any(base.__module__.startswith("langchain_openai.") for base in client.__mro__)


def resolve_model(role: Role, context: Context) -> ResolvedModel:
    """Return the model that plays `role`: `context.models[role]`, else `context.model`, else the environment's, else ours.

    It may start the embedded server and fetch its file, which takes seconds to minutes: in a running event loop use
    `aresolve_model`. Raises SettingsError when the settings contradict each other, ModelRefused when they lead nowhere,
    FetchError when the embedded model cannot be had.
    """
    given = _given(role, context)
    if given is not None and not isinstance(given, str):
        return _instance(given, context)
    name = settings.resolve("model", given).value
    base_url = settings.resolve("base_url", context.base_url).value
    key = settings.resolve("api_key").value
    if base_url is not None:
        if name is None:
            raise SettingsError(
                "OPENAI_BASE_URL is set but no model is named: set RECURRENTGPT_MODEL or pass --model with one that the "
                "endpoint serves."
            )
        return endpoint_model(name, base_url, key, context)
    if name is None or name in catalogue.WRITERS or name.lower().endswith(".gguf"):
        if name is None and key is not None:
            logger.info(
                "OPENAI_API_KEY is set but no model is named, so the embedded model is used and the key is not."
            )
        return _embedded(name, context)
    if key is None:
        raise ModelRefused(
            f"No endpoint is set for the model {name!r}: set OPENAI_BASE_URL (a local server) or OPENAI_API_KEY (OpenAI), "
            "name a .gguf file, or leave RECURRENTGPT_MODEL and --model unset to use the embedded model."
        )
    return endpoint_model(name, None, key, context)


@dataclass(frozen=True)
class DescribedModel:
    """What prompts need to know of a chat model, where none is going to be asked."""

    tier: Tier
    profile: EndpointProfile = GENERIC
    adapter: Adapter | None = None

    @property
    def templates(self) -> str:
        """Return the folder of the prompts that suit it, as `ResolvedModel` does."""
        return _templates(self.tier, self.adapter)

    @property
    def context_window(self) -> int | None:
        """Return the tokens of prompt and reply together; None where that depends on the model."""
        return self.profile.context_window


def describe_model(role: Role, context: Context) -> ResolvedModel | DescribedModel:
    """Return what prompts need to know of the model that plays `role`; nothing is fetched or started, nor a client made."""
    given = _given(role, context)
    if given is not None and not isinstance(given, str):
        return _instance(given, context)
    name, base_url = settings.resolve("model", given).value, settings.resolve("base_url", context.base_url).value
    tier = tier_of_role(role, context)
    if base_url is None and (name is None or name in catalogue.WRITERS or name.lower().endswith(".gguf")):
        return DescribedModel(tier, EMBEDDED, adapter_in_force(context.adapter, own=_is_ours(name, context)))
    return DescribedModel(tier, profile_of(base_url, name or ""))


def describe_writer(context: Context, templates: str) -> ResolvedModel | DescribedModel:
    """Return the same of the writer for whom a prompt was filled from these `templates`: the one of today where it has them.

    What adapter is set today, or is missing, does not matter: the packaged one stands for that of then. Nothing was worn where
    the templates are not known (""), for an earlier edition wrote that.
    """
    bare = describe_model("writer", context.changed(adapter=NONE))
    if templates == "storyteller":
        return DescribedModel("small", EMBEDDED, PACKAGED)
    if templates in ("", bare.templates):
        return bare
    return DescribedModel("full") if templates == "full" else DescribedModel("small", EMBEDDED)


def _is_ours(name: str | None, context: Context) -> bool:
    """Return whether a story is told by our own writer as its adapter was taught.

    That is in English, in its mode's own person and tense, by the small tier's nodes and from our templates.
    """
    ours = name is None or name in catalogue.WRITERS
    english = context.language.strip().casefold() in ("english", "en")
    return ours and english and context.own_narration and context.tier != "full" and not _has_small_alone(context)


def _has_small_alone(context: Context) -> bool:
    """Return whether a story's own prompts are for a small model, and none of them for one that wears an adapter."""
    if not context.prompts:
        return False
    small, storyteller = (
        any((Path(context.prompts) / context.mode / folder).glob("*.md")) for folder in ("small", "storyteller")
    )
    return small and not storyteller


def tier_of_role(role: Role, context: Context) -> Tier:
    """Return the tier of the model that plays `role`, without starting or fetching one."""
    given = _given(role, context)
    if given is not None and not isinstance(given, str):
        return _instance(given, context).tier
    name = settings.resolve("model", given).value
    if settings.resolve("base_url", context.base_url).value is not None:
        return _tier(context, tier_of(name or ""))
    if name is None or name in catalogue.WRITERS:
        return _tier(context, catalogue.WRITERS[name or catalogue.DEFAULT_WRITER].tier)
    return _tier(context, _tier_of_file(Path(name).expanduser()) if name.lower().endswith(".gguf") else tier_of(name))


def _tier_of_file(path: Path) -> Tier:
    return "small" if path.is_file() and path.stat().st_size < SMALL_FILE else tier_of(path.stem)


async def aresolve_model(role: Role, context: Context) -> ResolvedModel:
    """Return what `resolve_model` returns, without holding up the event loop."""
    given = _given(role, context)
    if given is not None and not isinstance(given, str):
        # Nothing of it is read, fetched or started: another thread would cost more than the work.
        return _instance(given, context)
    return await asyncio.to_thread(resolve_model, role, context)


def start_ahead(chosen: Mapping[str, Any], premise: str = "") -> None:
    """Start the embedded server of a new story in the background, if its settings lead to our writer and its file is there.

    A command does so before it imports the engine. What goes wrong here is said by the call that needs the model.
    """

    def start() -> None:
        from recurrentgpt.prose.languages import premise_language
        from recurrentgpt.prose.model_text import visible_line

        with contextlib.suppress(RecurrentGPTError):
            context = Context(**chosen)
            if not context.has_language:
                context = context.over({"language": premise_language(visible_line(premise)) or None})
            resolve_model("writer", context)

    named = (settings.resolve(name, chosen.get(name)).value for name in ("model", "base_url"))
    if not (any(named) or chosen.get("models")) and is_present(catalogue.WRITERS[catalogue.DEFAULT_WRITER]):
        threading.Thread(target=start, daemon=True).start()


def _given(role: Role, context: Context) -> Any:
    if role not in ROLES:
        raise SettingsError(f"There is no role {role!r}; the roles are {', '.join(ROLES)}.")
    if context.models:
        if not isinstance(context.models, Mapping):
            raise SettingsError(f"models must map roles to models; it is {type(context.models).__name__}.")
        if unknown := [str(name) for name in context.models if name not in ROLES]:
            raise SettingsError(f"There is no role {unknown[0]!r}; the roles are {', '.join(ROLES)}.")
        if given := context.models.get(role):
            return given
    return context.model or None


def _instance(chat: Any, context: Context) -> ResolvedModel:
    from langchain_core.language_models import BaseChatModel

    if not isinstance(chat, BaseChatModel):
        raise SettingsError(f"A model is a name or a LangChain chat model, not {type(chat).__name__}.")
    named = next((value for key in ("model_name", "model") if isinstance(value := getattr(chat, key, None), str)), None)
    declared = getattr(chat, "tier", None)
    tier = declared if declared in ("small", "full") else tier_of(named or "")
    model = ResolvedModel(chat, named or type(chat).__name__, _tier(context, tier), embedded=False)
    if not model.speaks_openai:
        return model
    return replace(model, profile=profile_of(model.base_url, model.name), seen=_seen_of(chat))


def endpoint_model(name: str, base_url: str | None, key: str | None, context: Context) -> ResolvedModel:
    """Return a model at an OpenAI-compatible endpoint, asked with this key and no other; no address is OpenAI's."""
    if base_url is not None and urlsplit(base_url).scheme not in ("http", "https"):
        raise SettingsError(
            f"The address of an endpoint (base_url, OPENAI_BASE_URL) begins with http:// or https://; {base_url!r} does not."
        )
    profile = profile_of(base_url, name)
    chat = _chat(name, base_url, key or "none", context.timeout, profile)
    return ResolvedModel(
        chat,
        name,
        _tier(context, tier_of(name)),
        embedded=False,
        profile=profile,
        timeout=context.timeout,
        seen=_seen_of(chat),
    )


def _embedded(name: str | None, context: Context) -> ResolvedModel:
    from recurrentgpt.models.embedded.server import embedded_server

    adapter = adapter_in_force(context.adapter, own=_is_ours(name, context))
    if name is None or name in catalogue.WRITERS:
        entry = catalogue.WRITERS[name or catalogue.DEFAULT_WRITER]
        path, name, tier = fetch(entry), entry.id, entry.tier
    else:
        path = Path(name).expanduser()
        name, tier = path.stem, _tier_of_file(path)
    # The client takes a second to import and the server two to load: side by side.
    threading.Thread(target=importlib.import_module, args=["langchain_openai"], daemon=True).start()
    endpoint = embedded_server(path, adapter)
    chat = _chat(name, endpoint.base_url, endpoint.api_key, context.timeout, EMBEDDED)
    tier = _tier(context, tier)
    return ResolvedModel(chat, name, tier, True, endpoint.snapshots, EMBEDDED, context.timeout, adapter=adapter)


def _tier(context: Context, otherwise: Tier) -> Tier:
    return otherwise if context.tier == "auto" else context.tier


_seen: WeakKeyDictionary[object, Seen] = WeakKeyDictionary()


def _seen_of(chat: Any) -> Seen:
    """Return what was seen of the endpoint of a chat model so far; it is forgotten with its HTTP client."""
    return _seen.setdefault(chat.root_async_client, Seen())


_making = threading.Lock()


def _chat(name: str, base_url: str | None, key: str, timeout: float, profile: EndpointProfile) -> BaseChatModel:
    """Return one client per endpoint and model, so that its connections are used again."""
    # Nodes that run side by side ask at once, and of two clients that were made the cache would keep one.
    with _making:
        return _new_chat(name, base_url, key, timeout, profile)


# Large, since a client that is dropped leaves its connections to the garbage collector, which warns of each.
@lru_cache(maxsize=1024)
def _new_chat(name: str, base_url: str | None, key: str, timeout: float, profile: EndpointProfile) -> BaseChatModel:
    """Make a client.

    Retries are off: LangGraph's retry policy is the one place for them. The Responses API is off: only OpenAI has it.
    """
    import openai
    from pydantic import SecretStr

    from recurrentgpt.models.endpoint_chat import EndpointChat
    from recurrentgpt.models.http_client import LoopClient, is_loopback, limits_for, trusted_certificates

    # Its warning about a stalled stream repeats the error that we raise; without a handler it would reach the terminal.
    logging.getLogger("langchain_openai").addHandler(logging.NullHandler())
    patience, trust_env = openai.Timeout(timeout, connect=min(10.0, timeout)), not is_loopback(base_url)
    certificates, limits = trusted_certificates(trust_env), limits_for(base_url)
    return EndpointChat(
        model=name,
        # Named, for the client would read OPENAI_BASE_URL by itself, and take an empty one for an address.
        base_url=base_url or settings.OPENAI,
        api_key=SecretStr(key),
        timeout=patience,
        stream_chunk_timeout=timeout,
        max_retries=0,
        stream_usage=profile.stream_usage,
        reasoning_fields=profile.reasoning,
        use_responses_api=False,
        http_socket_options=(),
        http_client=openai.DefaultHttpxClient(
            timeout=patience, limits=limits, trust_env=trust_env, verify=certificates
        ),
        http_async_client=LoopClient(timeout=patience, limits=limits, trust_env=trust_env),
    )
