"""The shape of a story's id: it is a key of every store, a part of namespaces, and the name of a file."""

from __future__ import annotations

import re

from recurrentgpt.schema.errors import SettingsError

# A dot would divide the namespaces of some stores, a slash is another folder, and what begins with - is an option.
_STORY_ID = re.compile(r"\w[\w-]{0,63}", re.ASCII)


def is_story_id(text: str) -> bool:
    """Tell whether a text can be the id of a story."""
    return _STORY_ID.fullmatch(text) is not None


def check_story_id(story: str) -> str:
    """Return the id of a story; raise SettingsError for a text that cannot be one."""
    if not is_story_id(story):
        shown = story[:64].encode("ascii", "backslashreplace").decode()
        raise SettingsError(
            f"The id of a story is 1 to 64 letters, digits, - and _, and does not begin with -; {shown!r} is not."
        )
    return story
