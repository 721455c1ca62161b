"""Arguments of tools as models send them, and what a model is told of those that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BeforeValidator, ValidationError
from pydantic_core import PydanticCustomError


def _no_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "This is true or false, and no number")
    return value


def _as_text(value: object) -> object:
    """Return a whole number as text; replies tell numbers as numbers, and a model sends them back so."""
    value = _no_boolean(value)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    return value


Whole = Annotated[int, BeforeValidator(_no_boolean)]
"""A whole number."""
TextOrNumber = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int)]
"""A text that may be a number, and then is taken as a number, too."""


def unknown_argument(tool: str, arguments: Iterable[str], takes: Sequence[str]) -> str:
    """Return that an argument is none of those that a tool or a prompt takes; empty where all are."""
    unknown = next((it for it in arguments if it not in takes), None)
    return "" if unknown is None else f"{tool} has no argument {unknown!r:.60}: it takes {', '.join(takes)}."


def wrong_arguments(tool: str, problem: ValidationError, takes: Sequence[str]) -> str:
    """Return in a sentence what is wrong with the arguments of a call to a tool that takes these."""
    extra = [str(it["loc"][0]) for it in problem.errors() if it["type"] == "extra_forbidden"]
    if unknown := unknown_argument(tool, extra, takes):
        return unknown
    wrong = [f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in problem.errors()]
    return f"{tool} cannot use these arguments. {'; '.join(wrong)}."
