"""What a run may be told: who chooses, how long, which models. Described, so that Studio draws a form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recurrentgpt.errors import SettingsError


def _setting(default: Any, description: str) -> Any:
    return field(default=default, metadata={"description": description})


@dataclass(kw_only=True)
class Context:
    """Settings of one run; every field has a default that works without a key or a network."""

    selector: Literal["human", "simulator"] = _setting("human", "Who chooses the next plan at each step")
    steps: int = _setting(0, "Passages to write in this run; 0 means until somebody ends it")
    last_step: int = _setting(0, "Stop after this passage of the story, counted from its first; beats steps")
    ending: bool = _setting(False, "Steer the last passages of a bounded run to a close")
    model: Any = _setting(None, "Model name for every role; the embedded model when empty. Code may pass a chat model")
    models: Any = _setting(None, "Models per role: an object with any of writer, memory, planner, simulator, judge")
    base_url: str | None = _setting(None, "Address of an OpenAI-compatible endpoint")
    tier: Literal["auto", "small", "full"] = _setting("auto", "Prompts for a small or a capable model")
    temperature: float | None = _setting(None, "Sampling temperature of the prose; the tier's own when empty")
    language: str = _setting("English", "Language of the story")
    min_words: int = _setting(200, "Fewest words of a passage")
    max_words: int = _setting(400, "Most words of a passage")
    plans: int = _setting(3, "Plans to propose at each step")
    top_k: int = _setting(3, "Passages to recall from the long-term memory at each step")
    new_character: float = _setting(0.1, "Probability that a step invites a new character, 0 to 1")
    seed: int | None = _setting(None, "Seed of every random decision; made from the story's id when empty")
    timeout: float = _setting(120.0, "Seconds to wait for a model to say something")
    prompts: str | None = _setting(None, "Folder of prompt templates that replace the packaged ones")
    embeddings: Any = _setting(None, "A LangChain Embeddings to use in place of the packaged model")

    def __post_init__(self) -> None:
        for name in ("steps", "last_step"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} cannot be negative; it is {getattr(self, name)}.")
        for name, allowed in (("selector", ("human", "simulator")), ("tier", ("auto", "small", "full"))):
            if getattr(self, name) not in allowed:
                raise SettingsError(f"{name} is one of {', '.join(allowed)}; it is {getattr(self, name)!r}.")
        if self.timeout <= 0:
            raise SettingsError(f"timeout is a number of seconds above 0; it is {self.timeout}.")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise SettingsError(f"temperature is between 0 and 2; it is {self.temperature}.")
        if not self.language.strip():
            raise SettingsError("language is empty; name one, for example English.")
        if self.language.strip().casefold() in ("english", "en"):
            # The one language that prompts have examples in, by its one name.
            self.language = "English"
        if not 1 <= self.plans <= 9:
            raise SettingsError(f"plans must be between 1 and 9; it is {self.plans}.")
        if not 0 <= self.top_k <= 20:
            raise SettingsError(f"top_k must be between 0 and 20; it is {self.top_k}.")
        if not 20 <= self.min_words <= self.max_words <= 2000:
            raise SettingsError(
                f"A passage needs 20 <= min_words <= max_words <= 2000; they are {self.min_words} and {self.max_words}."
            )
        if not 0 <= self.new_character <= 1:
            raise SettingsError(f"new_character is a probability between 0 and 1; it is {self.new_character}.")


STORY_SETTINGS = ("language", "min_words", "max_words", "plans", "top_k", "new_character", "seed")
"""Fields that belong to a story rather than to a run: its record keeps them, and they hold when it is continued."""


def resolve_context(given: object) -> Context:
    """Return the run's context: `given` itself, a mapping's known fields, or the defaults when there is none.

    A host graph passes its own context down unchanged, so fields that are not ours are ignored.
    """
    if isinstance(given, Context):
        return given
    if isinstance(given, Mapping):
        known = {item.name for item in dataclasses.fields(Context)}
        return Context(**{name: value for name, value in given.items() if name in known and value is not None})
    return Context()
