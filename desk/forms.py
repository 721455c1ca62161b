"""The settings as a form: what a page needs to draw the fields of `Context`, read from the dataclass itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from recurrentgpt.errors import SettingsError
from recurrentgpt.graph.context import Context
from recurrentgpt.models.roles import ROLES

HIDDEN = ("mode", "selector", "steps", "last_step", "ending", "embeddings", "budget_tokens")
"""Fields of a single run, which the desk fills in itself, and one that code alone can give."""
OF_THE_MACHINE = ("model", "models", "base_url", "tier", "timeout", "prompts")
"""Fields that say where and how to compute; all others belong to a story."""
LONG = ("style", "note")
LONGEST = 10_000
BUDGET = "budget"

_BUDGET = {
    "name": BUDGET,
    "kind": "integer",
    "description": "Most tokens that this story may use in all; writing stops before it. 0 for no limit",
    "default": 0,
    "choices": [],
    "machine": False,
}


@cache
def fields() -> list[dict[str, Any]]:
    """Return each field that a person may set: name, kind, description, default, choices and whether it is the machine's."""
    hints = get_type_hints(Context)
    found = [
        {
            "name": item.name,
            "kind": _kind(item.name, hints[item.name]),
            "description": item.metadata.get("description", ""),
            "default": item.default if isinstance(item.default, (str, int, float, bool)) else None,
            "choices": [*get_args(hints[item.name])] if get_origin(hints[item.name]) is Literal else [],
            "machine": item.name in OF_THE_MACHINE,
        }
        for item in dataclasses.fields(Context)
        if item.name not in HIDDEN
    ]
    return [*found, _BUDGET]


def _kind(name: str, hint: Any) -> str:
    if name == "models":
        return "roles"
    if get_origin(hint) is Literal:
        return "choice"
    plain = [part for part in (hint, *get_args(hint)) if part is not NoneType]
    kinds = {bool: "boolean", int: "integer", float: "number"}
    found = next((kinds[part] for part in plain if part in kinds), "text")
    return "long" if name in LONG else found


def checked(given: Mapping[str, Any], *, machine: bool) -> dict[str, Any]:
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
        raise SettingsError(f"{BUDGET} is a whole number of tokens, 0 or more; it is {budget!r:.60}.")
    context_of(values)
    return values


def context_of(*values: Mapping[str, Any], **run: Any) -> Context:
    """Return the context that kept settings describe, the later ones before the earlier."""
    merged = {name: value for part in values for name, value in part.items() if value is not None and name != BUDGET}
    return Context(**{**merged, **run})


def _check_roles(value: Any) -> None:
    if not isinstance(value, dict) or not all(isinstance(model, str) for model in value.values()):
        raise SettingsError("models maps a role to the name of a model.")
    if unknown := next((role for role in value if role not in ROLES), None):
        raise SettingsError(f"There is no role {unknown[:60]!r}; the roles are {', '.join(ROLES)}.")
