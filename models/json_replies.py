"""JSON replies: the schema that a server is given, and the object that is read out of what came back."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from recurrentgpt.prose.model_text import after_thoughts, model_text

_DECODER = json.JSONDecoder(strict=False)

JsonObject: TypeAlias = dict[str, Any]
"""A reply to a JSON schema."""
JsonSchema: TypeAlias = dict[str, Any]
"""A JSON schema of an object."""

MOST_OPENINGS = 100
"""Braces of a reply at which its object is looked for."""

SCHEMA_HEADING = "JSON schema:"


def json_schema(schema: type[BaseModel] | JsonSchema) -> JsonSchema:
    """Return the JSON schema of a Pydantic class as strict servers want it, or the given schema itself.

    Strict means that every property is required and no other is allowed. That of a class is made once: leave it as it is.
    """
    return schema if isinstance(schema, dict) else _schema_of(schema)


@lru_cache(maxsize=64)
def _schema_of(schema: type[BaseModel]) -> JsonSchema:
    # Pydantic takes milliseconds for it, and a step asks for the same ones as the step before.
    return cast(JsonSchema, _strict(schema.model_json_schema()))


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {name: _strict(value) for name, value in node.items() if name != "default"}
    if isinstance(node.get("properties"), dict):
        node["required"] = list(node["properties"])
        node["additionalProperties"] = False
    return node


def describe(messages: Sequence[BaseMessage], schema: JsonSchema) -> list[BaseMessage]:
    """Return the messages with the schema in words at the end of the last one, for a server that takes no schema."""
    *before, last = messages
    request = (
        "Answer with one JSON object and nothing else, no explanation. It must fit this "
        f"{SCHEMA_HEADING}\n{json.dumps(schema, ensure_ascii=False)}"
    )
    return (
        [*before, HumanMessage(f"{last.text}\n\n{request}")]
        if last.type == "human"
        else [*messages, HumanMessage(request)]
    )


def read(reply: str, schema: type[BaseModel] | JsonSchema) -> tuple[Any, str]:
    """Return the object in `reply` and what is wrong with it, one of them empty; fences, talk and reasoning are ignored.

    JSON that breaks off is refused, not completed: half a sentence is not a sentence.
    """
    try:
        found = _gated(_first_object(after_thoughts(reply)))
    except RecursionError:
        return None, "It is nested too deep."
    except _NothingLeft:
        return None, "A text of it holds nothing but tags, or orders to a model: tell of the story."
    if found is None:
        return None, "It holds no complete JSON object."
    if isinstance(schema, dict):
        missing = [name for name in schema.get("required", ()) if name not in found]
        return (None, f"It lacks {', '.join(missing)}.") if missing else (found, "")
    try:
        return schema.model_validate(found), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the object"
        return None, f"In {place}: {first['msg']}."


def is_foreign(reply: str, schema: JsonSchema) -> bool:
    """Tell whether a whole reply is of a form that a server which held its model to the schema would have let nobody write."""
    try:
        found = _first_object(after_thoughts(reply))
    except RecursionError:
        return True
    return found is None or any(name not in found for name in schema.get("required", ()))


class _NothingLeft(ValueError):
    """A text of a reply was nothing but what no reader should meet."""


def _gated(node: Any) -> Any:
    """Return what was read with every text as people may see it and prompts may repeat it."""
    if isinstance(node, str):
        text = model_text(node)
        if node.strip() and not text:
            raise _NothingLeft(node[:60])
        return text
    if isinstance(node, list):
        return [_gated(item) for item in node]
    return {name: _gated(value) for name, value in node.items()} if isinstance(node, dict) else node


def _first_object(text: str) -> JsonObject | None:
    for opening in itertools.islice(re.finditer(r"\{", text), MOST_OPENINGS):
        try:
            found, _ = _DECODER.raw_decode(text, opening.start())
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None
