"""What a study runs: systems x genres x premises x seeds, read from a TOML file or one of the presets."""

from __future__ import annotations

import re
import tomllib
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictInt,
    ValidationError,
    field_validator,
)

from recurrentgpt.models.embedded.adapter import NONE, Adapter
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.studies.baselines.catalogue import all_systems, find_system
from recurrentgpt.studies.errors import StudyError, first_error
from recurrentgpt.studies.runs.premises import GENRES, premises
from recurrentgpt.studies.study_context import Guards

PRESETS = ("toy", "table1", "table2", "long", "sessions", "plays")
CRITERIA = ("interesting", "coherent")
PEOPLE_ONLY = frozenset({"control"})
"""Criteria by which people alone compare: what passages make of choices, judges are asked plan by plan (`study adherence`)."""
LENGTHS = (200, 1_000_000)
"""Fewest and most words of a novel."""
LONGEST_ID = 64
FIELD_MEANINGS = {
    "name": "must be 1 to 40 letters, digits, - and _",
    "premises": "must be how many of each genre, or a list of their numbers",
    "words": "must be a whole number, or a table with one for each genre",
    "criteria": "must be a list of words",
    "api_key_env": "must be the name of an environment variable, and not a key",
}
"""What fields hold of which a type says too little."""


def slug(genre: str) -> str:
    """Return a genre as it stands in names of novels, files and threads: letters of ASCII, digits, - and _.

    Accents are left out. Where other letters are, their hash tells genres apart.
    """
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", genre) if not unicodedata.combining(letter))
    kept = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-")
    if kept and all(letter.isascii() or not letter.isalnum() for letter in plain):
        return kept
    return f"{kept}-{zlib.crc32(genre.encode()):08x}".lstrip("-")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        known = False
    if url and not known:
        raise StudyError(f"A `base_url` is an address that begins with http:// or https://; {url!r:.100} is none.")
    return url


Address = Annotated[str, AfterValidator(_address)]


class Judge(BaseModel):
    """A model that compares novels."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(min_length=1)
    base_url: Address | None = None
    family: str = ""
    """Who made the model; what a judge of the generator's own family says is not counted."""
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    """Environment variable of the judge's key; the generator's key is sent to no address but the generator's."""
    added: bool = False
    """Whether a command named it and no plan, so that it stays a run's when the plan is run again."""

    @property
    def file(self) -> str:
        """Return the name of the file of its calls."""
        name = re.sub(r"[^\w.-]", "_", self.model)
        return f"judge-{name}.jsonl"


class Options(BaseModel):
    """What one system is told beside what all are."""

    model_config = ConfigDict(extra="forbid")

    candidates: int = Field(default=0, ge=0, le=20)
    published: bool = False
    """Whether the system is run as its authors ran it, where that costs more than what it is by default."""
    adapter: str = NONE
    """What an embedded model wears; the packaged one was trained for recurrentgpt's own prompts."""


class Price(BaseModel):
    """What a million tokens cost, in any one currency."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)


@dataclass(frozen=True)
class Job:
    """One novel to write."""

    system: str
    genre: str
    number: int
    """Which premise of the genre, from 1."""
    seed: int
    premise: str
    words: int

    @property
    def unit(self) -> str:
        """Return what the novels of one comparison share: genre, premise and seed."""
        return f"{slug(self.genre)}-{self.number:02d}-s{self.seed}"

    @property
    def id(self) -> str:
        """Return the novel's name, which is its story's id too."""
        return f"{self.system}-{self.unit}"


class Plan(BaseModel):
    """A study."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[\w-]{1,40}$")
    systems: list[str] = Field(min_length=1)
    genres: list[str] = Field(default=list(GENRES), min_length=1)
    premises: int | list[int] = 20
    """How many of each genre, from the first; or their numbers."""
    premises_file: Path | None = None
    seeds: list[StrictInt] = Field(default=[1], min_length=1)
    words: int | dict[str, int] = 3000
    parallel: int = Field(default=1, ge=1, le=64)
    model: str = ""
    base_url: Address | None = None
    tier: Literal["auto", "small", "full"] = "auto"
    family: str = ""
    temperature: float | None = Field(default=None, ge=0, le=2)
    embedder: Literal["default", "hash-256"] = "default"
    guards: Guards = "own"
    """Which guards systems have; with `shared` and `none` all are alike in that."""
    banned: str = Field(default="", max_length=1000)
    """Words and phrases that no passage of any system may hold, with semicolons between them."""
    record_prompts: bool = True
    replay: str = ""
    """Folder of recorded calls that answer in place of the model."""
    replay_in_order: bool = False
    """Whether a prompt that was not recorded gets the next reply of its role and step, as in the program's own toy."""
    criteria: list[Annotated[str, Field(pattern=r"\S")]] = Field(default=list(CRITERIA), min_length=1)
    judges: list[Judge] = []
    compare: Literal["first", "all"] = "first"
    """Which systems are compared: the first with every other, or all with each other."""
    rivals: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,24}$")], Path] = {}
    """Folders of other runs by the name of a rival: that run's first system, with which this one's is compared too."""
    options: dict[str, Options] = {}
    price: Price | None = None
    recall: int = Field(default=0, ge=0, le=1024)
    """Greatest distance at which the recall of planted facts is measured, with a scripted author; 0 measures none."""
    _premises: dict[str, dict[int, str]] = PrivateAttr(default_factory=dict)
    """What premises say, by genre and number; those that are not held are read."""

    @property
    def judged_criteria(self) -> list[str]:
        """Return the criteria by which judges compare novels."""
        return [criterion for criterion in self.criteria if criterion not in PEOPLE_ONLY]

    @field_validator("guards", mode="before")
    @classmethod
    def _switched(cls, guards: Any) -> Any:
        """Read plans in which guards were a switch."""
        return {True: "own", False: "none"}[guards] if isinstance(guards, bool) else guards

    @field_validator("systems")
    @classmethod
    def _known_systems(cls, names: list[str]) -> list[str]:
        for name in names:
            find_system(name)
        return list(dict.fromkeys(names))

    @field_validator("genres", "seeds", "criteria")
    @classmethod
    def _each_once(cls, values: list[Any]) -> list[Any]:
        return list(dict.fromkeys(values))

    @field_validator("premises")
    @classmethod
    def _premises_once(cls, numbers: int | list[int]) -> int | list[int]:
        wrong = [number for number in (numbers if isinstance(numbers, list) else [numbers]) if number < 1]
        if wrong or not numbers:
            raise StudyError(
                f"`premises` {FIELD_MEANINGS['premises']}, from 1; it is {wrong[0] if wrong else 'empty'}."
            )
        return list(dict.fromkeys(numbers)) if isinstance(numbers, list) else numbers

    @field_validator("words")
    @classmethod
    def _possible_lengths(cls, words: int | dict[str, int]) -> int | dict[str, int]:
        least, most = LENGTHS
        for length in words.values() if isinstance(words, dict) else [words]:
            if not least <= length <= most:
                raise StudyError(f"A novel of a study has {least} to {most:,} words, not {length:,}: correct `words`.")
        return words

    @field_validator("judges")
    @classmethod
    def _different_judges(cls, judges: list[Judge]) -> list[Judge]:
        kept: dict[str, Judge] = {}
        for judge in judges:
            if kept.setdefault(judge.file, judge) != judge:
                raise StudyError(f"Two judges are called {judge.model}: their verdicts could not be told apart.")
        return list(kept.values())

    @field_validator("rivals")
    @classmethod
    def _other_names(cls, rivals: dict[str, Path]) -> dict[str, Path]:
        if taken := next((name for name in rivals if name in all_systems()), None):
            raise StudyError(f"`rivals.{taken}`: there is a system of that name, call the rival otherwise.")
        return rivals

    @field_validator("options")
    @classmethod
    def _known_options(cls, options: dict[str, Options]) -> dict[str, Options]:
        for name in options:
            find_system(name)
        return options

    def compared(self) -> list[tuple[str, str]]:
        """Return the pairs of systems, and rivals, that are compared."""
        first, *others = self.systems
        pairs = [(first, other) for other in others]
        if self.compare == "all":
            pairs = list(combinations(self.systems, 2))
        return pairs + [(first, rival) for rival in self.rivals]

    def jobs(self) -> Iterator[Job]:
        """Yield every novel of the study, the systems of one premise next to each other."""
        for seed in self.seeds:
            for genre in self.genres:
                for number, premise in self.chosen_premises(genre):
                    for system in self.systems:
                        yield Job(system, genre, number, seed, premise, self.length(genre))

    def chosen_premises(self, genre: str) -> list[tuple[int, str]]:
        """Return the premises of a genre that the study uses, with their numbers."""
        numbers = range(1, self.premises + 1) if isinstance(self.premises, int) else self.premises
        held = self._premises.get(genre, {})
        if not all(number in held for number in numbers):
            held = dict(enumerate(premises(genre, self.premises_file), start=1))
        if wrong := next((number for number in numbers if number not in held), None):
            raise StudyError(
                f"The plan asks for premise number {wrong} of {genre}, which has {len(held)}: correct `premises`."
            )
        return [(number, held[number]) for number in numbers]

    def with_premises(self, said: dict[str, dict[int, str]]) -> Plan:
        """Return this plan with what its premises say, by genre and number, so that they need not be read."""
        plan = self.model_copy()
        plan._premises = said
        return plan

    def length(self, genre: str) -> int:
        """Return how many words a novel of a genre has."""
        if isinstance(self.words, int):
            return self.words
        if genre not in self.words:
            raise StudyError(f"The plan's `words` has no length for {genre}: add one, or give one number for all.")
        return self.words[genre]


def read_plan(name: str) -> Plan:
    """Return the plan of a preset's name or a TOML file; raise StudyError where there is none or it cannot be used."""
    if name in PRESETS:
        text = (resources.files("recurrentgpt.studies") / "data" / f"{name}.toml").read_text(encoding="utf-8")
        return parse_plan(text, name, Path())
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise StudyError(
            f"There is no plan {name!r} to read ({why}): name a TOML file, or one of {', '.join(PRESETS)}."
        ) from error
    return parse_plan(text, name, path.parent)


def with_guards(plan: Plan, guards: str) -> Plan:
    """Return a plan with other guards; raise StudyError for unknown ones."""
    known = get_args(Guards)
    if guards not in known:
        raise StudyError(f"Guards are {', '.join(known[:-1])} or {known[-1]}, not {guards!r:.40}.")
    return plan.model_copy(update={"guards": guards})


def with_systems(plan: Plan, systems: list[str]) -> Plan:
    """Return a plan of other systems; raise StudyError for unknown ones."""
    for name in systems:
        find_system(name)
    return plan.model_copy(update={"systems": list(dict.fromkeys(systems))})


def replays_in_order(plan: Plan) -> bool:
    """Tell whether prompts that have changed since they were recorded are answered all the same."""
    return plan.replay == "packaged" or plan.replay_in_order


def recordings_folder(plan: Plan) -> Path | None:
    """Return the folder of recordings that a plan is answered from, if it is; those of the program lie there by guards."""
    if plan.replay == "packaged":
        return Path(str(resources.files("recurrentgpt.studies"))) / "data" / plan.name / plan.guards
    return Path(plan.replay) if plan.replay else None


def parse_plan(text: str, name: str, folder: Path) -> Plan:
    """Return the plan that `text` describes; paths in it are relative to `folder`."""
    try:
        plan = Plan.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"The plan {name} is not TOML ({error}): correct it there.") from error
    except ValidationError as error:
        raise StudyError(f"The plan {name} cannot be used: {first_error(error, FIELD_MEANINGS)}.") from error
    changes: dict[str, Any] = {}
    if plan.premises_file is not None:
        changes["premises_file"] = (folder / plan.premises_file).resolve()
    changes["rivals"] = {name: (folder / path).resolve() for name, path in plan.rivals.items()}
    if plan.replay and plan.replay != "packaged":
        changes["replay"] = str((folder / plan.replay).resolve())
    plan = plan.model_copy(update=changes)
    plan = plan.with_premises({genre: dict(plan.chosen_premises(genre)) for genre in plan.genres})
    _check(plan)
    return plan


def _check(plan: Plan) -> None:
    """Raise StudyError for what would be found out when calls have been paid for, or a folder made."""
    from recurrentgpt.nodes.open_story import check_input

    known: dict[str, str] = {}
    for genre in plan.genres:
        if (other := known.setdefault(slug(genre).casefold(), genre)) != genre:
            raise StudyError(f"The genres {other!r} and {genre!r} would have the same files: give one another name.")
    for name, options in plan.options.items():
        if options.candidates and not find_system(name).drafts:
            drafting = " and ".join(system.name for system in all_systems().values() if system.drafts)
            raise StudyError(f"`options.{name}.candidates`: {name} compares no drafts, {drafting} do.")
        if options.published and find_system(name).published_cost is None:
            having = " and ".join(system.name for system in all_systems().values() if system.published_cost)
            raise StudyError(f"`options.{name}.published`: {name} is one way alone, {having} has two: leave it out.")
        if options.adapter != NONE:
            if plan.base_url is not None:
                raise StudyError(
                    f"`options.{name}.adapter`: only the embedded model wears one: leave out it or `base_url`."
                )
            try:
                Adapter.read(options.adapter)
            except SettingsError as error:
                raise StudyError(f"`options.{name}.adapter`: {error}") from error
    for job in plan.jobs():
        if len(job.id) > LONGEST_ID:
            raise StudyError(f"{job.id} is too long a name for a novel: shorten the genre, or its seed.")
        if find_system(job.system).recurrent:
            try:
                check_input({"genre": job.genre, "premise": job.premise})
            except SettingsError as error:
                raise StudyError(f"{job.id} cannot be written. {error}") from error
