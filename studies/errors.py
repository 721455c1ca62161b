"""What can go wrong in a study, told to the person at the keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from recurrentgpt.schema.errors import RecurrentGPTError

if TYPE_CHECKING:
    from pydantic import ValidationError

_MESSAGES = {
    "extra_forbidden": "is no setting",
    "missing": "is missing",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "too_short": "must not be empty",
    "too_long": "is too long",
    "string_too_short": "must not be empty",
}
_KINDS = {
    "string": "text", "int": "a whole number", "float": "a number", "finite": "a number", "bool": "true or false",
    "list": "a list", "dict": "a table", "model": "a table",
}  # fmt: skip
NOTHING: Mapping[str, str] = MappingProxyType({})


class StudyError(RecurrentGPTError):
    """Report a plan, a run or a recording that cannot be used, and what to do."""


class RunStopped(StudyError):
    """Report that none of a run's novels can be gone on with for now."""


def first_error(error: ValidationError, meanings: Mapping[str, str] = NOTHING) -> str:
    """Return in plain words the first thing that is wrong with what was read; `meanings` say what fields of a form have."""
    first = error.errors(include_url=False, include_input=False)[0]
    known = next((at for at, part in enumerate(first["loc"]) if part in meanings), None)
    loc = first["loc"] if known is None else first["loc"][: known + 1]
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in loc)
    if known is not None and first["type"] != "missing":
        return f"`{place}` {meanings[str(loc[-1])]}"
    usual = f"must be {_KINDS.get(first['type'].partition('_')[0], 'something else')}"
    return f"`{place}` {_MESSAGES.get(first['type'], usual).format_map(first.get('ctx', {}))}"
