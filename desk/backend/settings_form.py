"""The settings as a form: what a page needs to draw the fields of `Context`, read from those fields alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from recurrentgpt.desk.backend.schemas import SettingField
from recurrentgpt.infrastructure.settings import OPENAI
from recurrentgpt.models.profiles import EMBEDDED
from recurrentgpt.models.roles import ROLES
from recurrentgpt.prompts.check import check_once
from recurrentgpt.schema.context import SETTINGS, Context, Setting
from recurrentgpt.schema.errors import RecurrentGPTError, SettingsError, StoryBusy, StoryNotFound
from recurrentgpt.tool_errors import without_commands

HIDDEN = ("mode", *(name for name, setting in SETTINGS.items() if setting.scope in ("run", "code")))
"""What the desk fills in itself, for a story or for a run, and what code alone can give."""
FIRST = (
    "style",
    "note",
    "banned",
    "author",
    "language",
    "point_of_view",
    "tense",
    "pace",
    "min_words",
    "max_words",
    "plans",
    "top_k",
    "model",
    "base_url",
    "tier",
    "ahead",
    "timeout",
    "prompts",
)
"""What a writer asks for most, before the rest."""
LONG = ("style", "note", "banned")
LONGEST = 10_000
BUDGET = "budget"

_LABELS = {
    "base_url": "Endpoint",
    "min_words": "Fewest words",
    "max_words": "Most words",
    "length": "Passages in all",
    "top_k": "Passages to recall",
    "top_p": "Top P",
    "sampling_top_k": "Top K",
    "min_p": "Min P",
    "author": "Author’s name",
    "note": "Author’s note",
    "banned": "Banned words and phrases",
    "new_character": "New characters",
    "models": "Models by role",
    "tier": "Capability",
    "prompts": "Folder of prompts",
    "ahead": "Passages to write ahead",
}
_FIELDS = (
    ("RECURRENTGPT_MODEL or pass --model with", "the model’s name to"),
    ("RECURRENTGPT_MODEL and --model", "the model’s name"),
    ("RECURRENTGPT_MODEL or --model", "the model’s name"),
    ("OPENAI_API_KEY", "the key"),
    ("OPENAI_BASE_URL", "the endpoint’s address"),
    ("RECURRENTGPT_MODEL", "the model’s name"),
)

_COMMAND_BESIDE = re.compile(r" \(`(?:recurrentgpt edit |--)[^`]*`\)")
"""A command that stands beside words that say the same, and which the page has as a button."""
_VIEWS = {"stories": "the first page", "tree": "the map", "show": "the manuscript"}
"""What shows on the page what a command shows in a shell."""
_COMMAND = re.compile(rf"`recurrentgpt ({'|'.join(_VIEWS)})(?: [^`-][^`]*)?`")


class Place(TypedDict):
    """Where a model may run, and the address that is filled in for it."""

    name: str
    base_url: str
    about: str


PLACES: list[Place] = [
    {
        "name": "This machine, embedded",
        "base_url": "",
        "about": f"Nothing to install, no key; a small model, with a window of {EMBEDDED.context_window:,} tokens.",
    },
    {
        "name": "Ollama",
        "base_url": "http://127.0.0.1:11434/v1",
        "about": "Start Ollama and fetch a model there, for example qwen3:14b. It needs no key.",
    },
    {
        "name": "LM Studio",
        "base_url": "http://127.0.0.1:1234/v1",
        "about": "Load a model in LM Studio and start its server. It needs no key.",
    },
    {
        "name": "llama.cpp",
        "base_url": "http://127.0.0.1:8080/v1",
        "about": "Start llama-server with a GGUF file. It needs no key.",
    },
    {"name": "OpenAI", "base_url": OPENAI, "about": "It needs a key, and every call costs money."},
    {
        "name": "OpenRouter",
        "base_url": "https://openrouter.ai/api/v1",
        "about": "It needs a key, and most models cost money.",
    },
]
"""What the form offers by name; any other address is typed."""
_BUDGET: SettingField = {
    "name": BUDGET,
    "label": "Budget of tokens",
    "kind": "integer",
    "description": "Most tokens that this story may use in all; writing stops before it. 0 for no limit",
    "unit": "tokens",
    "minimum": 0,
    "maximum": None,
    "default": 0,
    "choices": [],
    "machine": False,
}


@cache
def fields() -> list[SettingField]:
    """Return each field that a person may set: name, kind, description, default, choices and whether it is the machine's."""
    found: list[SettingField] = [
        {
            "name": name,
            "label": label(name),
            "kind": _kind(setting),
            "description": setting.description,
            "unit": setting.unit,
            "minimum": setting.above if setting.minimum is None else setting.minimum,
            "maximum": setting.maximum,
            "default": setting.default,
            "choices": [*setting.choices],
            "machine": setting.scope == "machine",
        }
        for name, setting in SETTINGS.items()
        if name not in HIDDEN
    ]
    place = {name: number for number, name in enumerate(FIRST)}
    return [*sorted(found, key=lambda field: place.get(field["name"], len(place))), _BUDGET]


def label(name: str) -> str:
    """Return what a page calls a setting."""
    return _LABELS.get(name, name.replace("_", " ").capitalize())


def page_message(error: Exception) -> str:
    """Return a failure in words for the page, where a command is a button and the variables of a shell are settings."""
    text = _COMMAND_BESIDE.sub("", str(error))
    text = _COMMAND.sub(lambda found: _VIEWS[found[1]], text)
    if isinstance(error, StoryBusy):
        return "This story is being written at this moment, here or by another program: wait until it is done, or stop it first."
    if any(name in text for name in ("OPENAI_", "RECURRENTGPT_MODEL", "--model")):
        return f"{in_the_form(text)} See Settings, Model and endpoint."
    return text


def client_message(error: RecurrentGPTError) -> str:
    """Return a failure in words for a client of the endpoint, which has neither a shell nor the desk."""
    lost = isinstance(error, StoryNotFound)
    elsewhere = "Give what a reply names, or begin another chat." if lost else "Whoever runs this endpoint can mend it."
    return without_commands(error, {}, elsewhere)


def in_the_form(text: str) -> str:
    """Return words about the variables of a shell as words about the fields of this form."""
    begins = text.startswith(tuple(name for name, _ in _FIELDS))
    for name, field in _FIELDS:
        text = text.replace(name, field)
    # Any other first word may be a name: of a model, as its server writes it.
    return text[:1].upper() + text[1:] if begins else text


def _kind(setting: Setting) -> str:
    if setting.name == "models":
        return "roles"
    if setting.choices:
        return "choice"
    if setting.name in LONG:
        return "long"
    return {bool: "boolean", int: "integer", float: "number"}.get(setting.kind or str, "text")


def checked_settings(given: Mapping[str, Any], *, machine: bool) -> Mapping[str, Any]:
    """Return settings as they may be kept; None means the default. Raises SettingsError for what cannot be used."""
    allowed = {field["name"]: field for field in fields() if field["machine"] == machine}
    for name, value in given.items():
        if name not in allowed:
            raise SettingsError(f"{name[:60]!r} is not a setting of {'the machine' if machine else 'a story'}.")
        if isinstance(value, str) and len(value) > LONGEST:
            raise SettingsError(f"{name} is too long: at most {LONGEST:,} characters.")
        if name == "models" and value is not None:
            _check_roles(value)
    values = {name: None if value in ("", {}) else value for name, value in given.items()}
    budget = values.get(BUDGET)
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise SettingsError(f"{label(BUDGET)} is a whole number of tokens, 0 or more; it is {budget!r:.60}.")
    check_endpoint(values.get("base_url"))
    if values.get("prompts"):
        check_once(values["prompts"])
    try:
        make_context(values)
    except SettingsError as error:
        raise SettingsError(_labelled(str(error), values)) from error
    return values


def _labelled(text: str, values: Mapping[str, Any]) -> str:
    if text.startswith("min_words is at most"):
        return "A passage has 20 to 2,000 words, and its fewest words are no more than its most."
    name = next((name for name in values if text.startswith(f"{name} ")), "")
    return f"{label(name)}{text[len(name) :]}" if name else text


def check_endpoint(address: Any) -> None:
    """Raise SettingsError for an address that is none, or that holds a password; None is no address."""
    if address is None:
        return
    try:
        parts = urlsplit(str(address).strip())
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good or any(letter.isspace() for letter in str(address)):
        raise SettingsError(
            f"The endpoint is an address that begins with http:// or https://, such as http://127.0.0.1:11434/v1; it is "
            f"{str(address)[:60]!r}."
        )
    if parts.username or parts.password:
        # It is shown in this form, and a key never is.
        raise SettingsError(
            "The endpoint's address holds a name or a password: leave them out, the key has its own field."
        )


def make_context(*values: Mapping[str, Any], **run: Any) -> Context:
    """Return the context that kept settings describe, the later ones before the earlier."""
    merged = {name: value for part in values for name, value in part.items() if value is not None and name != BUDGET}
    return Context(**{**merged, **run})


def _check_roles(value: Any) -> None:
    if not isinstance(value, dict) or not all(isinstance(model, str) for model in value.values()):
        raise SettingsError("models maps a role to the name of a model.")
    if unknown := next((role for role in value if role not in ROLES), None):
        raise SettingsError(f"There is no role {unknown[:60]!r}; the roles are {', '.join(ROLES)}.")
