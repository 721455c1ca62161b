"""A state that was changed between two nodes, in Studio or by `update_state`, is looked at before anything is made of it."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.parts import reworded
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Brief, State


@cache
def _form() -> TypeAdapter[Any]:
    return TypeAdapter(State)


def check_state(state: State) -> None:
    """Raise StoryError, with the field, where a state is not of its types or its memory is beyond its ceilings."""
    try:
        # Messages are made what they are by their reducer.
        _form().validate_python({**state, "messages": []}, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        said = fault["msg"][0].lower() + fault["msg"][1:]
        raise StoryError(
            f"The state's `{field}` cannot be used ({said}): put it right in the state, then go on."
        ) from None
    memory = state.get("short_term_memory", "")
    lines, words = len(memory.splitlines()), count_words(memory)
    if lines > MEMORY_SENTENCES or words > MEMORY_WORDS:
        raise StoryError(
            f"The state's `short_term_memory` has {lines} sentences and {words} words; at most {MEMORY_SENTENCES} and "
            f"{MEMORY_WORDS} fit: put it right in the state, then go on."
        )


def edited_brief(state: State, kept: Brief) -> Brief | None:
    """Return the brief as somebody changed it in the state, there or in `title`, `genre` or `premise`; None where nobody did.

    `kept` is the one of the log. Where the log was changed meanwhile, all fields of the state are old alike, and none counts.
    """
    brief = Brief(**{**state["brief"], "title": kept["title"]})
    names: tuple[Literal["title", "genre", "premise"], ...] = ("title", "genre", "premise")
    for name in names:
        seen = visible_text if name == "title" else str
        told: set[str] = {seen(state["brief"][name]), seen(str(state.get(name) or state["brief"][name]))}
        if len(told) > 1 and (new := told - {kept[name]}):
            own = seen(state["brief"][name])
            brief[name] = own if own in new else new.pop()
    return None if brief == kept else reworded(brief, visible_text)
