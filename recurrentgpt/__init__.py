"""RecurrentGPT on LangGraph: novels and interactive stories of any length that never forget where they have been.

    from recurrentgpt import Story
    story = Story.new(genre="fantasy")
    print(story.step().text)

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recurrentgpt.graph.story import build_step_graph, build_story_graph
    from recurrentgpt.library import Library, StorySummary
    from recurrentgpt.schema.codex import Contradiction, Entry
    from recurrentgpt.schema.context import Context
    from recurrentgpt.schema.errors import (
        BadAnswer,
        BookError,
        BudgetReached,
        EntryNotFound,
        ExtensionError,
        FetchError,
        MissingExtra,
        ModelError,
        ModelRefused,
        ModelReplyError,
        ModelTooSlow,
        ModelUnavailable,
        PromptError,
        ReasoningShown,
        RecurrentGPTError,
        SettingsError,
        StateError,
        StorageError,
        StoryBusy,
        StoryError,
        StoryNotFound,
    )
    from recurrentgpt.schema.events import Event
    from recurrentgpt.schema.state import State, StoryInput, StoryOutput
    from recurrentgpt.story import AsyncStory, Passage, Story, StorySnapshot
    from recurrentgpt.story_protocol import StoryProtocol

_HOMES = {
    **dict.fromkeys(
        (
            "BadAnswer",
            "BookError",
            "BudgetReached",
            "ExtensionError",
            "FetchError",
            "MissingExtra",
            "ModelError",
            "ModelRefused",
            "ModelReplyError",
            "ModelTooSlow",
            "ModelUnavailable",
            "PromptError",
            "ReasoningShown",
            "RecurrentGPTError",
            "SettingsError",
            "StorageError",
            "StoryBusy",
            "StateError",
            "StoryError",
            "StoryNotFound",
            "EntryNotFound",
        ),
        "recurrentgpt.schema.errors",
    ),
    "Context": "recurrentgpt.schema.context",
    **dict.fromkeys(("Contradiction", "Entry"), "recurrentgpt.schema.codex"),
    **dict.fromkeys(("State", "StoryInput", "StoryOutput"), "recurrentgpt.schema.state"),
    **dict.fromkeys(("build_step_graph", "build_story_graph"), "recurrentgpt.graph.story"),
    **dict.fromkeys(("Library", "StorySummary"), "recurrentgpt.library"),
    "Event": "recurrentgpt.schema.events",
    **dict.fromkeys(("AsyncStory", "Passage", "Story", "StorySnapshot"), "recurrentgpt.story"),
    "StoryProtocol": "recurrentgpt.story_protocol",
}

__all__ = [
    "AsyncStory",
    "BadAnswer",
    "BookError",
    "BudgetReached",
    "Context",
    "Contradiction",
    "Entry",
    "EntryNotFound",
    "Event",
    "ExtensionError",
    "FetchError",
    "Library",
    "MissingExtra",
    "ModelError",
    "ModelRefused",
    "ModelReplyError",
    "ModelTooSlow",
    "ModelUnavailable",
    "Passage",
    "PromptError",
    "ReasoningShown",
    "RecurrentGPTError",
    "SettingsError",
    "State",
    "StateError",
    "StorageError",
    "Story",
    "StoryBusy",
    "StoryError",
    "StoryInput",
    "StoryNotFound",
    "StoryOutput",
    "StoryProtocol",
    "StorySnapshot",
    "StorySummary",
    "__version__",
    "build_step_graph",
    "build_story_graph",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("recurrentgpt")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
