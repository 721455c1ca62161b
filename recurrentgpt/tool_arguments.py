"""Arguments of tools as models send them, and what a model is told of those that cannot be used."""

from __future__ import annotations

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


def wrong_arguments(tool: str, problem: ValidationError) -> str:
    """Return in a sentence what is wrong with the arguments of a call."""
    wrong = [f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in problem.errors()]
    return f"{tool} cannot use these arguments. {'; '.join(wrong)}."
