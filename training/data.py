"""The training data: stories laid out in advance, and their scenes, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from training.product import SettingsError, last_sentences, sentences

DATA = Path(__file__).parent / "data"
MEMORY_SENTENCES = 12
"""Sentences that the memory of a training context holds at most; the oldest give way."""
ENDING_SENTENCES = 3
"""Sentences of the last scene that the next one is shown, as when a story is written."""

Mode = Literal["novel", "fiction"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Turn(_Record):
    """One scene of a story as it was laid out: its plan, and what is true after it."""

    plan: str
    facts: list[str]


class Premise(_Record):
    """A story laid out by hand from its first scene to its last."""

    story: str
    """A name that no other story has, in any file."""
    mode: Mode
    genre: str
    title: str
    premise: str
    characters: list[str]
    """`Name: who they are and what they want`, one string each."""
    start: list[str]
    """What is true before the first scene."""
    turns: list[Turn]

    @property
    def outline(self) -> list[str]:
        """Return the turns in a sentence each, as the brief of a story has them."""
        return [sentences(turn.plan)[0] for turn in self.turns]

    def memory(self, step: int) -> list[str]:
        """Return what is true before scene `step`, counted from 1: the newest MEMORY_SENTENCES sentences."""
        told = [*self.start, *(fact for turn in self.turns[: step - 1] for fact in turn.facts)]
        return told[-MEMORY_SENTENCES:]

    def context(self, step: int, before: Scene | None = None) -> Scene:
        """Return scene `step` without its text; `before` is the scene before it, where there is one that is fit to follow.

        Without one it follows from what was laid out: what a model wrote badly it writes again when it sees it.
        """
        if before is not None:
            memory = [*before.memory, *before.facts][-MEMORY_SENTENCES:]
            ending = last_sentences(before.passage, ENDING_SENTENCES)
        else:
            memory, ending = self.memory(step), " ".join(self.turns[step - 2].facts) if step > 1 else ""
        return Scene(
            story=self.story,
            step=step,
            mode=self.mode,
            title=self.title,
            genre=self.genre,
            premise=self.premise,
            characters=self.characters,
            outline=self.outline,
            memory=memory,
            ending=ending,
            plan=self.turns[step - 1].plan,
        )


class ChosenPlan(_Record):
    """The plan that the next scene carries out, and why it is the best of those proposed."""

    index: int = Field(ge=1)
    """Its number among the plans, from 1."""
    why: str
    plan: str
    """The chosen plan, made more definite."""


class Source(_Record):
    """Where a text comes from."""

    hand: Literal["model", "mended", "written"]
    """The model alone; a draft of the model mended by an editor; an author."""
    seed: int | None = None
    temperature: float | None = None
    model: str = ""
    """The first figures of the SHA-256 of the model's file."""
    adapter: str = ""
    """The same of the adapter it wore, and its strength."""
    templates: str = ""
    """Fingerprint of the prompt templates."""
    example: str = ""
    """The story of the scene that the model was shown as an example."""
    finish: str = ""
    """Why generation ended: `stop`, or `length` where the text is cut off."""
    seconds: float | None = None


class Scene(_Record):
    """One scene: what the writer was told, what it wrote, and what followed from it."""

    story: str
    step: int = Field(ge=1)
    mode: Mode = "novel"
    title: str
    genre: str
    premise: str
    characters: list[str]
    outline: list[str]
    memory: list[str] = []
    recalled: list[str] = []
    """Summaries of scenes further back that bear on the plan."""
    ending: str = ""
    """The last sentences of the scene before, word for word; empty at the first."""
    plan: str
    draft: str = ""
    """What the model wrote by itself, where `passage` is its mended form."""
    passage: str = ""
    summary: str = ""
    facts: list[str] = []
    moves: list[str] = []
    plans: list[str] = []
    """What may happen next, one plan for each of `moves`; none where the story ends."""
    choice: ChosenPlan | None = None
    source: Source = Source(hand="written")

    @property
    def key(self) -> tuple[str, int, int | None]:
        """Return what makes this scene a different line from another of the same story."""
        return self.story, self.step, self.source.seed

    @property
    def finale(self) -> str:
        """Return how near the story's end this scene is: "", "near" or "last"."""
        left = len(self.outline) - self.step
        return "last" if left <= 0 else "near" if left <= 2 and self.step > 1 else ""


R = TypeVar("R", bound=_Record)


def read_premises(places: Iterable[Path]) -> list[Premise]:
    """Return every story laid out in `places` (files or folders); raise SettingsError with the line that is wrong."""
    found = list(_read(places, Premise))
    _each_once([item.story for item in found])
    return found


def read_scenes(places: Iterable[Path]) -> list[Scene]:
    """Return every scene of `places` (files or folders); raise SettingsError with the line that is wrong."""
    return list(_read(places, Scene))


def append(file: Path, record: _Record) -> None:
    """Add one line to `file` and see it on the disk, for hours of sampling stand in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(line(record))
        out.flush()
        os.fsync(out.fileno())


def line(record: _Record) -> str:
    """Return `record` as one line of JSON, without what it leaves at its default."""
    return json.dumps(record.model_dump(exclude_defaults=True), ensure_ascii=False) + "\n"


def files(places: Iterable[Path]) -> list[Path]:
    """Return the .jsonl files of `places`, in order of their names; raise SettingsError where there is no such place."""
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            found += sorted(place.rglob("*.jsonl"))
        elif place.is_file():
            found.append(place)
        else:
            raise SettingsError(f"There is no file or folder {place}: name one that exists.")
    return found


def _read(places: Iterable[Path], kind: type[R]) -> Iterator[R]:
    for file in files(places):
        with file.open(encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                if not text.strip():
                    continue
                try:
                    yield kind.model_validate_json(text)
                except ValidationError as error:
                    fault = error.errors()[0]
                    where = ".".join(str(part) for part in fault["loc"])
                    raise SettingsError(f"{file}, line {number}: {where or 'the line'}: {fault['msg']}.") from error


def _each_once(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SettingsError(f"Two stories are called {name}: each needs a name of its own.")
        seen.add(name)
