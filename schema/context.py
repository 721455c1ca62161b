"""What a run may be told: who chooses, how long, which models. Described, so that Studio draws a form."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore
    from pydantic import TypeAdapter

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}

NO_DEFAULTS: Mapping[str, Any] = MappingProxyType({})
"""What a graph changes of the defaults below: nothing."""

Scope = Literal["story", "run", "machine", "code"]
"""Whose a setting is: a story keeps it; it holds for one run; it says where and how to compute; only code can give it."""


def setting(
    default: Any,
    description: str,
    *,
    scope: Scope = "story",
    unit: str = "",
    nodes: Sequence[str] = (),
    prompt: bool = False,
    **bounds: float,
) -> Any:
    """Say on the field all that Python, the command line, Studio's form and the desk's show of a setting and refuse.

    `bounds` are pydantic's: ge, gt, le, and max_length in characters. Pydantic reads them and the description from here.
    LangGraph Studio shows a setting at its `nodes`, and one that is words of a `prompt` with an editor.
    """
    extra: dict[str, object] = {"unit": unit} if unit else {}
    if nodes:
        extra["langgraph_nodes"] = list(nodes)
    if prompt:
        extra["langgraph_type"] = "prompt"
    about = {"description": description, "scope": scope, "unit": unit, "json_schema_extra": extra, **bounds}
    return field(default=default, metadata=about)


class _InForms:
    """What a form shows of a field that in code may hold an object: a plain type, or nothing at all."""

    def __init__(self, kind: str = "") -> None:
        self.kind = kind

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        if not self.kind:
            from pydantic_core import PydanticOmit

            raise PydanticOmit
        return {"anyOf": [{"type": self.kind}, {"type": "null"}]}


# In a form, models are names; in code they may be chat models.
Name = Annotated[Any, _InForms("string")]
Names = Annotated[Any, _InForms("object")]
CodeOnly = Annotated[Any, _InForms()]


SAMPLING = (
    "temperature",
    "top_p",
    "sampling_top_k",
    "min_p",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
)
"""Settings of how prose is sampled; not every endpoint knows all of them."""

_ASKING = ("open_story", "write", "update_memory", "propose_plans", "simulator")
"""Nodes that ask a model."""


@dataclass(kw_only=True)
class Context:
    """Settings of one run; every field has a default that works without a key or a network.

    Raises SettingsError for a name that is no setting and for a value that cannot be used. A numeral counts as its
    number, because forms and environments know only text, and None as a field that was left out, because forms send it for
    one that is empty.
    """

    keeps_whole_passages: ClassVar[bool] = True
    """Whether a capable model's passage is kept however long it is; where lengths are compared, it is not."""

    mode: Literal["novel", "fiction"] = setting("novel", "A novel to read, or interactive fiction to play")
    selector: Literal["human", "simulator"] = setting("human", "Who chooses the next plan at each step", scope="run")
    steps: int = setting(
        0, "Passages to write in this run; 0 means until somebody ends it", scope="run", unit="passages", ge=0
    )
    last_step: int = setting(
        0,
        "Stop after this passage of the story, counted from its first; beats steps",
        scope="run",
        unit="passages",
        ge=0,
    )
    ending: bool = setting(False, "Steer the last passages of a bounded run to a close", scope="run")
    model: Name = setting(
        None,
        "Model of every role: its name at the endpoint, or the path of a GGUF file; the embedded model when empty",
        scope="machine",
        nodes=_ASKING,
    )
    models: Names = setting(
        None,
        "Models per role: an object with any of writer, memory, planner, simulator, judge",
        scope="machine",
        nodes=_ASKING,
    )
    base_url: str | None = setting(
        None, "Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1", scope="machine"
    )
    adapter: str | None = setting(
        None,
        "LoRA adapter of the embedded model: storyteller (ours) or a GGUF file, either with @STRENGTH (0 to 2), or none; unset: "
        "ours for the embedded writer in English",
        scope="machine",
    )
    tier: Literal["auto", "small", "full"] = setting(
        "auto", "Prompts for a small or a capable model; by the model's name when auto", scope="machine"
    )
    temperature: float | None = setting(
        None, "Sampling temperature of the prose; the tier's own when empty", ge=0, le=2
    )
    top_p: float | None = setting(
        None, "Choose each token of the prose only among the likeliest whose probabilities add up to this", gt=0, le=1
    )
    sampling_top_k: int | None = setting(
        None, "Likeliest tokens of the prose to choose from; 0 for all", unit="tokens", ge=0, le=1000
    )
    min_p: float | None = setting(
        None, "Least probability of a token of the prose, as a share of the likeliest one's", ge=0, le=1
    )
    frequency_penalty: float | None = setting(
        None, "Penalty on tokens of the prose for each time that they were used", ge=-2, le=2
    )
    presence_penalty: float | None = setting(None, "Penalty on tokens of the prose that were used at all", ge=-2, le=2)
    repetition_penalty: float | None = setting(
        None, "Factor by which tokens of the prose that were used are less likely; 1 for none", gt=0, le=2
    )
    language: str = setting(
        "English",
        "Language of the story; where none is given, the one that its premise asks for or is written in",
        unit="characters",
        max_length=60,
    )
    point_of_view: Literal["auto", "first", "second", "third"] = setting(
        "auto", "Person of the narrator; the mode's own when auto: third in a novel, second in fiction"
    )
    tense: Literal["auto", "past", "present"] = setting(
        "auto", "Tense of the story; the mode's own when auto: past in a novel, present in fiction"
    )
    pace: Literal["slow", "steady", "fast"] = setting("steady", "How much happens in one passage")
    style: str = setting(
        "",
        "Notes on style, in every prompt that writes: a manner, a model, what to avoid",
        unit="characters",
        nodes=("open_story", "write"),
        prompt=True,
        max_length=600,
    )
    note: str = setting(
        "",
        "The author's note: what the next passages should keep in mind; stands last in their prompts",
        unit="characters",
        nodes=("open_story", "write", "propose_plans"),
        prompt=True,
        max_length=600,
    )
    banned: str = setting(
        "",
        "Words and phrases that no passage may hold, with semicolons between them",
        unit="characters",
        max_length=1000,
    )
    min_words: int = setting(200, "Fewest words of a passage", unit="words", ge=20, le=2000)
    max_words: int = setting(400, "Most words of a passage", unit="words", ge=20, le=2000)
    length: int = setting(
        0,
        "Passages of the whole story, of which the last bring it to a close; set by a run with an ending; 0 for an open end",
        unit="passages",
        ge=0,
        le=10_000,
    )
    plans: int = setting(3, "Plans to propose at each step", unit="plans", ge=1, le=9)
    top_k: int = setting(3, "Passages to recall from the long-term memory at each step", unit="passages", ge=0, le=20)
    past_tokens: int | None = setting(
        None,
        "Most tokens of a capable model's prompt for the last two passages in full and a line on every earlier one; an eighth of "
        "its window when empty, 0 for recalled passages alone",
        unit="tokens",
        ge=0,
        le=1_000_000,
    )
    codex: bool = setting(
        True, "Note what passages change of people and things, and tell the writer what is true by now"
    )
    continuity: Literal["off", "note", "mend"] = setting(
        "note",
        "What contradicts the codex, by rules, and by a capable model where one is named for the role `judge`: let be, noted "
        "with its passage, or asked for again with the reason",
    )
    author: str = setting(
        "", "Who wrote it, as its books say; an imported book brings its own", unit="characters", max_length=200
    )
    new_character: float = setting(0.1, "Probability that a step invites a new character", ge=0, le=1)
    seed: int | None = setting(
        None, "Seed of every random decision; made from the story's id when empty", ge=0, le=2**63 - 1
    )
    budget_tokens: int = setting(
        0, "Most tokens, read and written, that this run may use; 0 for no limit", scope="run", unit="tokens", ge=0
    )
    ahead: Annotated[int, _InForms()] = setting(
        0,
        "While somebody reads, write the passages of so many of the first plans: one of them is there at once when it is chosen, "
        "and what the others cost is lost",
        scope="machine",
        unit="passages",
        ge=0,
        le=3,
    )
    timeout: float = setting(
        120.0, "Seconds to wait for a model to say something", scope="machine", unit="seconds", gt=0, le=86_400
    )
    prompts: str | None = setting(None, "Folder of prompt templates that replace the packaged ones", scope="machine")
    embeddings: CodeOnly = setting(None, "A LangChain Embeddings to use in place of the packaged model", scope="code")
    vector_store: CodeOnly = setting(
        None, "A LangChain VectorStore to recall from in place of our own index", scope="code"
    )

    def __new__(cls, **given: Any) -> Self:
        """Refuse unknown names before `__init__` does: LangGraph passes on what a client sent as the run's context."""
        refuse_unknown(given, settings_of(cls))
        made = super().__new__(cls)
        made.__dict__["_given_names"] = frozenset(name for name, value in given.items() if value is not None)
        return made

    def __post_init__(self) -> None:
        for name, known in settings_of(type(self)).items():
            value = getattr(self, name)
            setattr(self, name, known.default if value is None else known.checked(value))
        self._check_words()
        self.__dict__["_named"] = self.__dict__.pop("_given_names")

    def __setattr__(self, name: str, value: object) -> None:
        """Set a setting; from then on somebody chose it, also where it is the default."""
        super().__setattr__(name, value)
        if (named := self.__dict__.get("_named")) is not None:
            self.__dict__["_named"] = named | {name}

    def _check_words(self) -> None:
        if self.min_words > self.max_words:
            raise SettingsError(f"min_words is at most max_words; they are {self.min_words:,} and {self.max_words:,}.")

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings that somebody chose: named when this was made, or changed since."""
        return {name: getattr(self, name) for name in settings_of(type(self)) if self._is_chosen(name)}

    def _is_chosen(self, name: str) -> bool:
        if name in self.__dict__.get("_named", ()):
            return True
        usual = self._of_graph.get(name, settings_of(type(self))[name].default)
        return bool(getattr(self, name) != usual)

    @property
    def _of_graph(self) -> Mapping[str, Any]:
        """What a graph changes of the defaults."""
        defaults: Mapping[str, Any] = self.__dict__.get("_defaults", NO_DEFAULTS)
        return defaults

    @property
    def has_language(self) -> bool:
        """Whether somebody chose the language, or the graph has one of its own; else it is the premise's."""
        return "language" in self._of_graph or self._is_chosen("language")

    def changed(self, **settings: Any) -> Self:
        """Return the context with other settings; to `dataclasses.replace`, somebody has chosen all the rest, too."""
        made = type(self)(**{**self._of_graph, **self.given, **settings})
        # Somebody chose None, too, where it was set to that.
        made.__dict__["_named"] |= self.__dict__["_named"] | settings.keys()
        return made

    def over(self, kept: Mapping[str, Any]) -> Self:
        """Return the context with the settings that a story keeps, where nobody chose otherwise.

        Raises SettingsError for one that cannot be used.
        """
        told = {
            name: SETTINGS[name].checked(value)
            for name in STORY_SETTINGS
            # The cheapest first: at every node, mostly nothing is kept otherwise.
            if (value := kept.get(name)) is not None and value != getattr(self, name) and not self._is_chosen(name)
        }
        if not told:
            return self
        made = copy(self)
        vars(made).update(told)
        made._check_words()
        return made

    @property
    def sampling(self) -> Mapping[str, float]:
        """The settings that say how prose is sampled, as far as somebody chose them; the rest is the tier's or the server's."""
        chosen = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in chosen.items() if value is not None}

    @property
    def banned_phrases(self) -> list[str]:
        """The words and phrases that no passage may hold."""
        return _phrases(self.banned)

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
    def own_narration(self) -> bool:
        """Tell whether the story is told in its mode's own person and tense."""
        return (self.person, self.time) == {"novel": ("third", "past"), "fiction": ("second", "present")}[self.mode]

    @property
    def own_voice(self) -> bool:
        """Tell whether the story is told in its mode's own person and tense, and in the language that has examples."""
        return self.own_narration and self.language == "English"

    @property
    def checks_plans(self) -> bool:
        """Tell whether plans are asked for again that are alike, tell what has happened, or bring strangers or the dead."""
        return True


def _phrases(text: str) -> list[str]:
    """Return the phrases of a text, each once; a line ends one as a semicolon does."""
    found = (" ".join(phrase.split()) for line in text.splitlines() for phrase in line.split(";"))
    return list(dict.fromkeys(filter(None, found)))


def refuse_unknown(names: Iterable[str], known: Mapping[str, Setting]) -> None:
    """Raise SettingsError for a name that is no setting, with the nearest one that is."""
    if unknown := next((name for name in names if name not in known), None):
        near = difflib.get_close_matches(unknown, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(known)}."
        raise SettingsError(f"There is no setting {unknown[:60]!r}; {hint}")


@dataclass(frozen=True)
class Setting:
    """A field of `Context` as everything that shows or refuses settings reads it."""

    name: str
    description: str
    scope: Scope
    unit: str
    default: Any
    kind: type | None
    """int, float, bool or str; None for what only code can give and for names of models."""
    choices: tuple[str, ...]
    minimum: float | None
    above: float | None
    """A bound that the value may not reach."""
    maximum: float | None
    most_characters: int | None
    optional: bool
    """Whether it may be left empty (None)."""

    @property
    def allowed(self) -> str:
        """What a value may be, in words: `a whole number between 1 and 9 (plans)`."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        bounds = (self.minimum, self.above, self.maximum)
        low, above, high = ("" if bound is None else f"{bound:,}" for bound in bounds)
        if low and high:
            span = f" between {low} and {high}"
        elif low:
            span = f", {low} or more"
        else:
            span = " and".join(part for part in (above and f" above {above}", high and f" at most {high}") if part)
        unit = f" ({self.unit})" if span and self.unit not in ("", *self.name.split("_")) else ""
        return f"{_KINDS.get(self.kind or str, 'text')}{span}{unit}"

    def checked(self, value: Any) -> Any:
        """Return a value as it is kept; raise SettingsError where it is not allowed."""
        if self._adapter is None:
            return value
        from pydantic import ValidationError

        if isinstance(value, str) and self.kind is str:
            if self.name == "banned":
                value = "; ".join(_phrases(value))
            # One line: a template's own lines are its structure.
            value = " ".join(value.split()) if self.most_characters else value
            if not value.isprintable():
                raise SettingsError(f"{self.name} holds a control character; take it out.")
        try:
            value = self._adapter.validate_python(value)
        except ValidationError:
            if isinstance(value, str) and self.most_characters and len(value) > self.most_characters:
                raise SettingsError(
                    f"{self.name} has {len(value):,} characters; at most {self.most_characters} fit. Shorten it."
                ) from None
            raise SettingsError(f"{self.name} is {self.allowed}; it is {value!r:.60}.") from None
        if self.name == "language":
            if not value:
                raise SettingsError("language is the name of one, for example English; it is empty.")
            # The one language that prompts have examples in, by its one name.
            return "English" if value.casefold() in ("english", "en") else value
        return value

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        if self.kind is None and not self.choices:
            return None
        from pydantic import Field, TypeAdapter

        limits = {"ge": self.minimum, "gt": self.above, "le": self.maximum, "max_length": self.most_characters}
        bounds: Any = {name: bound for name, bound in limits.items() if bound is not None}
        plain: Any = Literal[self.choices] if self.choices else self.kind
        kept = Annotated[plain, Field(**bounds)]
        return TypeAdapter(kept | None if self.optional else kept)


def _read(item: dataclasses.Field[Any], hint: Any) -> Setting:
    parts = [part for part in (hint, *get_args(hint)) if part in _KINDS]
    about = item.metadata
    return Setting(
        name=item.name,
        description=about["description"],
        scope=about["scope"],
        unit=about["unit"],
        default=item.default,
        kind=parts[0] if parts else None,
        choices=get_args(hint) if get_origin(hint) is Literal else (),
        minimum=about.get("ge"),
        above=about.get("gt"),
        maximum=about.get("le"),
        most_characters=about.get("max_length"),
        optional=NoneType in get_args(hint),
    )


def settings_of(context: type[Context]) -> Mapping[str, Setting]:
    """Return every setting of a class of contexts by its name, in the order of the fields."""
    if context not in _SETTINGS_OF:
        hints = get_type_hints(context, include_extras=True)
        found = {item.name: _read(item, hints[item.name]) for item in dataclasses.fields(context)}
        _SETTINGS_OF[context] = MappingProxyType(found)
    return _SETTINGS_OF[context]


_SETTINGS_OF: dict[type[Context], Mapping[str, Setting]] = {}

SETTINGS = settings_of(Context)
"""Every setting of a story by its name."""

STORY_SETTINGS = tuple(name for name, setting in SETTINGS.items() if setting.scope == "story")
"""Settings that belong to a story rather than to a run: its record keeps them, and they hold when it is continued."""


def resolve_context(given: object, defaults: Mapping[str, Any] = NO_DEFAULTS) -> Context:
    """Return the run's context: `given` itself, a mapping's known fields, or the defaults when there is none.

    A host graph passes its own context down unchanged, so fields that are not ours are ignored. `defaults` are those of the
    graph, for what nobody has chosen.
    """
    chosen: Mapping[str, Any] = {}
    if isinstance(given, Context):
        if not defaults:
            return given
        chosen = given.given
    elif isinstance(given, Mapping):
        chosen = {name: value for name, value in given.items() if name in SETTINGS and value is not None}
    made = Context(**{**defaults, **chosen})
    # A default is nobody's choice: what a story keeps holds over it.
    made.__dict__.update(_named=frozenset(chosen), _defaults=dict(defaults))
    return made


GRAPH_DEFAULTS = "__recurrentgpt_defaults"
"""Under this name a compiled graph's config keeps what it changes of the defaults, for its nodes and edges; like every name
that begins so, it stays out of the metadata of checkpoints."""


def graph_defaults(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the graph of a config changes of the defaults."""
    found = config.get("configurable", {}).get(GRAPH_DEFAULTS)
    return found if isinstance(found, Mapping) else NO_DEFAULTS


GRAPH_STORE = "__recurrentgpt_store"
"""Under this name a compiled graph's config keeps the store that it was compiled with, which LangGraph leaves out where the
graph runs inside another one."""


@dataclass(frozen=True)
class OwnStore:
    """A graph's own store, in its config."""

    store: BaseStore

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: a copy of a config means the same store."""
        return self


def graph_store(config: Mapping[str, Any]) -> BaseStore | None:
    """Return the store that the graph of a config was compiled with; None where it was compiled without."""
    found = config.get("configurable", {}).get(GRAPH_STORE)
    return found.store if isinstance(found, OwnStore) else None


def context_schema(defaults: Mapping[str, Any]) -> type[Context]:
    """Return `Context` with other defaults, for a graph whose form shall show them; what no form can hold is left out.

    Raises SettingsError for defaults that no run could use.
    """
    if not isinstance(defaults, Mapping):
        raise SettingsError(
            f'`defaults` is a mapping of settings, {{"mode": "fiction"}}; this is {type(defaults).__name__}.'
        )
    if defaults:
        Context(**defaults)
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
