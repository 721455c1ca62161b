"""JSON replies: the schema that a server is given, and the object that is read out of what came back."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, cast

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import (
    BaseModel,
    BeforeValidator,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from recurrentgpt.prose.machine_talk import machine_talk
from recurrentgpt.prose.model_text import after_thoughts, model_text
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentences import count_words, ends_a_sentence

_DECODER = json.JSONDecoder(strict=False)

JsonObject: TypeAlias = dict[str, Any]
"""A reply to a JSON schema."""
JsonSchema: TypeAlias = dict[str, Any]
"""A JSON schema of an object."""

MOST_OPENINGS = 100
"""Braces of a reply at which its object is looked for."""

PLAIN_WORDS = range(4, 101)
"""Words of a reply that may stand for the object of one text that was asked for."""

_TO_WHOEVER_ASKED = re.compile(r"\b(?:(?-i:I)|you|your|please|user|passage|summary|summari[sz]e)\b", re.IGNORECASE)

SCHEMA_HEADING = "JSON schema:"


def _as_text(said: Any) -> Any:
    """Return a text that was given as a list of texts, or as nothing, as one text; anything else as it is."""
    if said is None:
        return ""
    return " ".join(said) if isinstance(said, list) and all(isinstance(item, str) for item in said) else said


OptionalText = Annotated[str, BeforeValidator(_as_text)]
"""A text of a reply that may be empty: where nothing is to be said, models also give `[]` and `null`."""


class UnusableEntry(NamedTuple):
    """An entry of a reply that does not fit its schema."""

    name: str
    """Of the list that it stands in, or of the text that it is."""
    number: int
    """Its place in that list, from 1; 0 for a text."""
    entry: object
    fault: str


class PartialReply(BaseModel):
    """A reply of lists, of which the entries that fit are kept when others do not: only those need be asked for again.

    A reply of which no entry fits is none.
    """

    _unusable: list[UnusableEntry] = PrivateAttr(default_factory=list)

    @property
    def unusable(self) -> list[UnusableEntry]:
        """What of the reply was left out."""
        return self._unusable

    @model_validator(mode="wrap")
    @classmethod
    def _keep_what_fits(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(given)
        except ValidationError as error:
            kept, unusable = cls._sorted(given, error)
            if not any(entries for entries in kept.values() if isinstance(entries, list)):
                raise
        # A text that it cannot do without is asked for again as an entry is.
        missing = dict.fromkeys((entry.name for entry in unusable if not entry.number), " ")
        reply = handler({**kept, **missing})
        for name in missing:
            setattr(reply, name, "")
        reply._unusable = unusable
        return reply

    @classmethod
    def _sorted(cls, given: Any, error: ValidationError) -> tuple[JsonObject, list[UnusableEntry]]:
        """Return what of a reply fits, and the entries that do not."""
        known = given if isinstance(given, dict) else {}
        kept: JsonObject = {name: known[name] for name in cls.model_fields if name in known}
        faults: dict[tuple[str, int], str] = {}
        for fault in error.errors(include_url=False, include_input=False):
            name, *place = fault["loc"]
            if isinstance(kept.get(str(name)), list) and place and isinstance(place[0], int):
                inside = ".".join(map(str, place[1:]))
                # Pydantic calls it an instance of one of our classes.
                said = "it is an object" if fault["type"] == "model_type" else fault["msg"]
                faults.setdefault((str(name), place[0] + 1), f"{inside}: {said}" if inside else said)
                continue
            kept.pop(str(name), None)
            if cls.model_fields[str(name)].is_required():
                faults.setdefault((str(name), 0), fault["msg"])
        unusable = [
            UnusableEntry(name, number, kept[name][number - 1] if number else "", fault)
            for (name, number), fault in faults.items()
        ]
        for name in {entry.name for entry in unusable if entry.number}:
            kept[name] = [item for number, item in enumerate(kept[name], 1) if (name, number) not in faults]
        return kept, unusable


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
    # Strict servers refuse a schema with the length of a text, which is looked at when the reply is read.
    left_out = ("default", "minLength") if node.get("type") == "string" else ("default",)
    node = {name: _strict(value) for name, value in node.items() if name not in left_out}
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

    Of an object that is one list or one text and nothing else, that alone will do. JSON that breaks off is refused, not
    completed: half a sentence is not a sentence.
    """
    partial = isinstance(schema, type) and issubclass(schema, PartialReply)
    try:
        found = _gated(_object_in(after_thoughts(reply), json_schema(schema)), partial=partial)
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
        if first["type"] == "too_short":
            number = first["ctx"]
            return None, f"It has {number['actual_length']} {place} and needs {number['min_length']} or more."
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


def _gated(node: Any, *, partial: bool) -> Any:
    """Return what was read with every text as people may see it and prompts may repeat it.

    In a `partial` reply one of which nothing is left is None, which fits no schema.
    """
    if isinstance(node, str):
        text = model_text(node)
        if node.strip() and not text:
            if partial:
                return None
            raise _NothingLeft(node[:60])
        return text
    if isinstance(node, list):
        return [_gated(item, partial=partial) for item in node]
    if isinstance(node, dict):
        return {name: _gated(value, partial=partial) for name, value in node.items()}
    return node


def _object_in(text: str, schema: JsonSchema) -> JsonObject | None:
    """Return the first object of a text; of one that holds a list or a text alone, its array or plain words will do."""
    found = _first_object(text)
    properties: dict[str, JsonSchema] = schema.get("properties", {})
    (name, form), *others = properties.items() or [("", {})]
    if others or list(schema.get("required", ())) != [name] or name in (found or ()):
        return found
    if form.get("type") == "string" and found is None and _is_plain(text):
        return {name: text.strip()}
    if form.get("type") != "array":
        return found
    array = _array_in(text, form.get("items", {}))
    return found if array is None else {name: array}


def _is_plain(text: str) -> bool:
    """Tell whether a reply is one paragraph of whole sentences, and none to whoever asked."""
    text = text.strip()
    if count_words(text) not in PLAIN_WORDS or re.search(r"[\n{}\[\]<>`]", text) or not ends_a_sentence(text):
        return False
    return not _TO_WHOEVER_ASKED.search(narration(text, "")) and machine_talk(text, "", finale=False) is None


def _array_in(text: str, item: JsonSchema) -> list[Any] | None:
    """Return the first array in a text of items of this form that is not empty; one inside an object is none."""
    kind = {"string": str, "object": dict}.get(item.get("type", "object" if "$ref" in item else ""), object)
    arrays, end = list[list[Any]](), 0
    before = text.partition("{")[0]
    for opening in itertools.islice(re.finditer(r"\[", before), MOST_OPENINGS):
        if opening.start() < end:
            continue
        try:
            found, past = _DECODER.raw_decode(text, opening.start())
        except ValueError:
            continue
        if all(isinstance(it, kind) for it in found):
            arrays.append(found)
            end = past
    return next(filter(None, arrays), arrays[0] if arrays else None)


def _first_object(text: str) -> JsonObject | None:
    for opening in itertools.islice(re.finditer(r"\{", text), MOST_OPENINGS):
        try:
            found, _ = _DECODER.raw_decode(text, opening.start())
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None
