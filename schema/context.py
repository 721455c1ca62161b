"""What a run may be told: who chooses, how long, which models. Described, so that Studio draws a form."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from recurrentgpt.schema.errors import SettingsError

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


LONGEST_NOTE = 600
"""Characters of the notes on style and of the author's note; they stand in every prompt that writes."""

LONGEST_LANGUAGE = 60
"""Characters of a language's name; it stands in every prompt."""

NO_DEFAULTS: Mapping[str, Any] = MappingProxyType({})
"""What a graph changes of the defaults below: nothing."""


def _setting(default: Any, description: str) -> Any:
    return field(default=default, metadata={"description": description})


# In a form, models are names; in code they may be chat models.
Name = Annotated[Any, WithJsonSchema({"type": "string"})]
Names = Annotated[Any, WithJsonSchema({"type": "object"})]


@dataclass(kw_only=True)
class Context:
    """Settings of one run; every field has a default that works without a key or a network.

    Raises SettingsError for a name that is no setting and for a value that cannot be used. A numeral counts as its
    number, because forms and environments know only text.
    """

    mode: Literal["novel", "fiction"] = _setting("novel", "A novel to read, or interactive fiction to play")
    selector: Literal["human", "simulator"] = _setting("human", "Who chooses the next plan at each step")
    steps: int = _setting(0, "Passages to write in this run; 0 means until somebody ends it")
    last_step: int = _setting(0, "Stop after this passage of the story, counted from its first; beats steps")
    ending: bool = _setting(False, "Steer the last passages of a bounded run to a close")
    model: Name = _setting(None, "Model name for every role; the embedded model when empty. Code may pass a chat model")
    models: Names = _setting(None, "Models per role: an object with any of writer, memory, planner, simulator, judge")
    base_url: str | None = _setting(None, "Address of an OpenAI-compatible endpoint")
    tier: Literal["auto", "small", "full"] = _setting("auto", "Prompts for a small or a capable model")
    temperature: float | None = _setting(None, "Sampling temperature of the prose; the tier's own when empty")
    language: str = _setting("English", "Language of the story")
    point_of_view: Literal["auto", "first", "second", "third"] = _setting(
        "auto", "Person of the narrator; the mode's own when auto: third in a novel, second in fiction"
    )
    tense: Literal["auto", "past", "present"] = _setting(
        "auto", "Tense of the story; the mode's own when auto: past in a novel, present in fiction"
    )
    pace: Literal["slow", "steady", "fast"] = _setting("steady", "How much happens in one passage")
    style: str = _setting("", "Notes on style, in every prompt that writes: a manner, a model, what to avoid")
    note: str = _setting(
        "", "The author's note: what the next passages should keep in mind; stands last in their prompts"
    )
    min_words: int = _setting(200, "Fewest words of a passage")
    max_words: int = _setting(400, "Most words of a passage")
    plans: int = _setting(3, "Plans to propose at each step")
    top_k: int = _setting(3, "Passages to recall from the long-term memory at each step")
    new_character: float = _setting(0.1, "Probability that a step invites a new character, 0 to 1")
    seed: int | None = _setting(None, "Seed of every random decision; made from the story's id when empty")
    budget_tokens: int = _setting(0, "Most tokens, read and written, that this run may use; 0 for no limit")
    timeout: float = _setting(120.0, "Seconds to wait for a model to say something")
    prompts: str | None = _setting(None, "Folder of prompt templates that replace the packaged ones")
    embeddings: SkipJsonSchema[Any] = _setting(None, "A LangChain Embeddings to use in place of the packaged model")
    vector_store: SkipJsonSchema[Any] = _setting(
        None, "A LangChain VectorStore to recall from in place of our own index"
    )

    def __new__(cls, **given: Any) -> Self:
        """Refuse unknown names before `__init__` does: LangGraph passes on what a client sent as the run's context."""
        known = [item.name for item in dataclasses.fields(cls)]
        if unknown := next((name for name in given if name not in known), None):
            near = difflib.get_close_matches(unknown, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(known)}."
            raise SettingsError(f"There is no setting {unknown!r}; {hint}")
        made = super().__new__(cls)
        made.__dict__["_named"] = frozenset(given)
        return made

    def __post_init__(self) -> None:
        for name, (kind, check) in _checks().items():
            try:
                setattr(self, name, check.validate_python(getattr(self, name)))
            except ValidationError:
                raise SettingsError(f"{name} is {kind}; it is {getattr(self, name)!r:.60}.") from None
        for name in ("steps", "last_step", "budget_tokens"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} cannot be negative; it is {getattr(self, name)}.")
        for name, hint in _hints().items():
            if get_origin(hint) is Literal and getattr(self, name) not in get_args(hint):
                raise SettingsError(f"{name} is one of {', '.join(get_args(hint))}; it is {getattr(self, name)!r:.60}.")
        for name in ("style", "note"):
            text = " ".join(getattr(self, name).split())
            if len(text) > LONGEST_NOTE:
                raise SettingsError(f"{name} has {len(text):,} characters; at most {LONGEST_NOTE} fit. Shorten it.")
            if not text.isprintable():
                raise SettingsError(f"{name} holds a control character; take it out.")
            setattr(self, name, text)
        if not self.timeout > 0:
            raise SettingsError(f"timeout is a number of seconds above 0; it is {self.timeout}.")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise SettingsError(f"temperature is between 0 and 2; it is {self.temperature}.")
        if not self.language.strip() or not self.language.isprintable() or len(self.language) > LONGEST_LANGUAGE:
            raise SettingsError(
                f"language is the name of one in at most {LONGEST_LANGUAGE} characters, for example English; "
                f"it is {self.language!r:.60}."
            )
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

    @property
    def given(self) -> dict[str, Any]:
        """The settings that somebody chose: named when this was made, or changed since."""
        named: frozenset[str] = self.__dict__.get("_named", frozenset())
        chosen = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        usual = {item.name: item.default for item in dataclasses.fields(self)}
        return {name: value for name, value in chosen.items() if name in named or value != usual[name]}

    @property
    def person(self) -> str:
        """The narrator's person: `first`, `second` or `third`."""
        return (
            {"novel": "third", "fiction": "second"}[self.mode] if self.point_of_view == "auto" else self.point_of_view
        )

    @property
    def time(self) -> str:
        """The story's tense: `past` or `present`."""
        return {"novel": "past", "fiction": "present"}[self.mode] if self.tense == "auto" else self.tense

    @property
    def own_voice(self) -> bool:
        """Tell whether the story is told in its mode's own person and tense, and in the language that has examples."""
        usual = {"novel": ("third", "past"), "fiction": ("second", "present")}[self.mode]
        return (self.person, self.time) == usual and self.language == "English"


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(Context)


@cache
def _checks() -> dict[str, tuple[str, TypeAdapter[Any]]]:
    """Return for each field of a plain type what it is in words, and what checks it."""
    checks = {}
    for name, hint in _hints().items():
        kinds = [_KINDS[part] for part in (hint, *get_args(hint)) if part in _KINDS]
        if kinds:
            checks[name] = (kinds[0], TypeAdapter(hint))
    return checks


STORY_SETTINGS = (
    "mode",
    "language",
    "point_of_view",
    "tense",
    "pace",
    "style",
    "note",
    "min_words",
    "max_words",
    "plans",
    "top_k",
    "new_character",
    "seed",
)
"""Fields that belong to a story rather than to a run: its record keeps them, and they hold when it is continued."""


def resolve_context(given: object, defaults: Mapping[str, Any] = NO_DEFAULTS) -> Context:
    """Return the run's context: `given` itself, a mapping's known fields, or the defaults when there is none.

    A host graph passes its own context down unchanged, so fields that are not ours are ignored. `defaults` are those of the
    graph, for what nobody has chosen.
    """
    if isinstance(given, Context):
        return Context(**{**defaults, **given.given}) if defaults else given
    chosen: dict[str, Any] = {}
    if isinstance(given, Mapping):
        known = {item.name for item in dataclasses.fields(Context)}
        chosen = {name: value for name, value in given.items() if name in known and value is not None}
    return Context(**{**defaults, **chosen})


def context_schema(defaults: Mapping[str, Any]) -> type[Context]:
    """Return `Context` with other defaults, for a graph whose form shall show them; what no form can hold is left out."""
    shown = {name: value for name, value in defaults.items() if isinstance(value, str | int | float)}
    if not shown:
        return Context
    changed = [
        (item.name, item.type, field(default=shown[item.name], metadata=item.metadata))
        for item in dataclasses.fields(Context)
        if item.name in shown
    ]
    namespace = {"__module__": Context.__module__, "__doc__": Context.__doc__}
    made: type[Context] = dataclasses.make_dataclass(
        "Context", changed, bases=(Context,), namespace=namespace, kw_only=True
    )
    return made
