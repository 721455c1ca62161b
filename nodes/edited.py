"""A state that was changed between two nodes, in Studio or by `update_state`, is looked at before anything is made of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from recurrentgpt.errors import StoryError
from recurrentgpt.graph.state import State
from recurrentgpt.nodes.answers import check_memory


@cache
def _form() -> TypeAdapter[Any]:
    return TypeAdapter(State)


def check_state(state: State) -> None:
    """Raise StoryError, with the field, where a state is not of its types, and BadAnswer where its memory is too long."""
    try:
        _form().validate_python(state, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        said = fault["msg"][0].lower() + fault["msg"][1:]
        raise StoryError(f"The state's `{field}` cannot be used ({said}): put it right in the state, then go on.") from None
    check_memory(state.get("short_term_memory", ""))
