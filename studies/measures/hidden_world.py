"""Worlds of hidden facts about people who are in every passage, asked for in other words than they are told in.

Beside `world`, where a rare name decides: here a dozen people are everywhere, each told of in twelve kinds of facts that another
person shares word for word but for the name, every third by a pronoun alone; and what is asked has no word of the fact but who
it is about, or only a role. Some things change three times. What the people do otherwise shares no word with either.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any, Literal

WORLDS = ("harbour", "station", "newsroom")
PLANTED = 200
"""Passages that plant a fact, at the beginning of a world; what follows holds none."""
SENTENCES = 22
PRONOUN_EVERY = 3

Sort = Literal["person", "role", "plan", "once", "once in a plan", "changed"]
SORTS: tuple[Sort, ...] = ("person", "role", "plan", "once", "once in a plan", "changed")

_PRONOUNS = {"she": ("she", "her", "her"), "he": ("he", "him", "his")}


@dataclass(frozen=True)
class Probe:
    """A question, and the passage that answers it."""

    sort: Sort
    query: str
    at: int
    """Number of the passage, counted from 1; of a fact that changed, the newest."""
    sentence: str
    """The sentence that tells it."""
    fact: str
    """The same with the name of whom it is about."""
    old: tuple[str, ...] = ()
    """Sentences that told what is no longer so."""


@dataclass(frozen=True)
class Planted:
    """A fact that a passage tells."""

    at: int
    about: str
    """Name of the person or thing."""
    fact: str
    """A sentence that says it with that name."""
    sentence: str
    """The sentence as it stands in the passage."""
    text: str
    """With the sentence before it that names the person, where it has a pronoun alone."""
    over: tuple[str, ...] = ()
    """The facts that are no longer so from here on."""


class HiddenWorld:
    """The facts, passages and questions of one of `WORLDS`, by a seed."""

    def __init__(self, name: str, seed: int = 1) -> None:
        text = resources.files("recurrentgpt.studies").joinpath(f"data/worlds/{name}.toml").read_text(encoding="utf-8")
        self.name, self.seed = name, seed
        self._data: dict[str, Any] = tomllib.loads(text)
        self._slots: dict[str, list[str]] = {
            slot: words.split("|") for slot, words in self._data["filler"]["words"].items()
        }
        self.people = list(self._data["people"])
        self.roles = [role for _, role in self._data["people"].values()]

    @property
    def planted(self) -> Sequence[Planted]:
        """Every fact that is told."""
        return self._told[0]

    @cached_property
    def probes(self) -> list[Probe]:
        """Every question of the world."""
        return self._told[1]

    def passage(self, number: int) -> str:
        """Return passage `number`: what the people do, and among it what is planted there."""
        dealer = random.Random(f"{self.name} {self.seed} {number}")
        lines = [self.filler(dealer) for _ in range(SENTENCES)]
        for planted in self._told[0]:
            if planted.at == number:
                lines.insert(dealer.randrange(1, len(lines)), planted.text)
        return "\n\n".join(" ".join(lines[first : first + 5]) for first in range(0, len(lines), 5))

    def summary(self, number: int) -> str:
        """Return what an archive would say of a passage, and not what is planted there."""
        return self.filler(random.Random(f"summary {self.name} {self.seed} {number}"))

    def telling_summary(self, number: int) -> str:
        """Return what an honest archive says of a passage: the last of the facts that are planted there."""
        planted = [told.fact for told in self.planted if told.at == number]
        return planted[-1] if planted else self.summary(number)

    def filler(self, dealer: random.Random, pattern: str = "") -> str:
        """Return a sentence that tells nothing of what is asked for."""
        first, second = dealer.sample(self.people, 2)
        pattern = pattern or dealer.choice(self._data["filler"]["patterns"])
        pronoun, role = self._data["people"][first]
        slots = {
            "A": first,
            "B": second,
            "role": role,
            **dict(zip(("he", "him", "his"), _PRONOUNS[pronoun], strict=True)),
        }
        return _sentence(re.sub(r"{(\w+)}", lambda slot: slots.get(slot[1]) or self._word(slot[1], dealer), pattern))

    def _word(self, slot: str, dealer: random.Random) -> str:
        words = self._slots[slot] if slot in self._slots else self._slots[slot.rstrip("2")]
        return dealer.choice(words)

    @cached_property
    def _told(self) -> tuple[list[Planted], list[Probe]]:
        dealer = random.Random(f"facts {self.name} {self.seed}")
        places = list(range(1, PLANTED + 1))
        dealer.shuffle(places)
        planted: list[Planted] = []
        probes: list[Probe] = []
        for number, (person, kind) in enumerate(
            (person, kind) for person in self.people for kind in self._data["kinds"]
        ):
            at, which = places.pop(), self.people.index(person) % len(kind["facts"])
            fact, question = kind["facts"][which], kind["questions"][which]
            sentence = text = named = self._of(fact, person)
            if number % PRONOUN_EVERY == 0:
                lead = dealer.choice(
                    [line for line in self._data["filler"]["patterns"] if re.match(r"{A} [^{]*\.$", line)]
                )
                sentence = self._of(fact, person, pronoun=True)
                text = f"{lead.replace('{A}', person)} {sentence}"
            planted.append(Planted(at, person, named, sentence, text))
            asked = self._of(question, person)
            by_role = self._of(question, self._data["people"][person][1], like=person)
            probes += [
                Probe("person", asked, at, sentence, named),
                Probe("role", by_role, at, sentence, named),
                Probe("plan", self._plan(asked, person, dealer), at, sentence, named),
            ]
        names = [
            f"{a} {b}"
            for b in self._data["once_names"]["last"].split()
            for a in self._data["once_names"]["first"].split()
        ]
        for at, name, once in zip(places, names, self._data["once"] * len(names), strict=False):
            sentence, asked = _named(once["fact"], name), _named(once["question"], name)
            planted.append(Planted(at, name, sentence, sentence, sentence))
            probes += [
                Probe("once", asked, at, sentence, sentence),
                Probe("once in a plan", self._plan(asked, "", dealer), at, sentence, sentence),
            ]
        for about, question, versions in self._changes(dealer):
            days = sorted(dealer.sample(range(1, PLANTED + 1), len(versions)))
            planted += [
                Planted(at, about, text, text, text, tuple(versions[:number]))
                for number, (at, text) in enumerate(zip(days, versions, strict=True))
            ]
            probes.append(Probe("changed", question, days[-1], versions[-1], versions[-1], tuple(versions[:-1])))
        return planted, probes

    def _changes(self, dealer: random.Random) -> list[tuple[str, str, list[str]]]:
        """Return what changes three times: whom it is about, the question, and what is told of it from first to last."""
        lodging, owner = self._data["changing"]["lodging"], self._data["changing"]["owner"]
        found: list[tuple[str, str, list[str]]] = []
        for person in self.people[: len(owner["things"])]:
            values = dealer.sample(lodging["values"], len(lodging["facts"]))
            told = [
                self._of(fact, person).replace("{V}", value)
                for fact, value in zip(lodging["facts"], values, strict=True)
            ]
            found.append((person, self._of(lodging["question"], person), told))
        for thing in owner["things"]:
            holders = dealer.sample(self.people, len(owner["facts"]))
            told = [
                self._of(fact, who).replace("{T}", thing) for fact, who in zip(owner["facts"], holders, strict=True)
            ]
            found.append((thing, owner["question"].replace("{T}", thing), told))
        return found

    def _plan(self, asked: str, person: str, dealer: random.Random) -> str:
        """Return a plan that has the question among three sentences about other people."""
        lines: list[str] = []
        while len(lines) < 3:
            line = self.filler(dealer, dealer.choice(self._data["plan"]["patterns"]))
            if not person or person not in line:
                lines.append(line)
        lines.insert(dealer.randrange(4), asked)
        return " ".join(lines)

    def _of(self, text: str, who: str, *, pronoun: bool = False, like: str = "") -> str:
        """Return a sentence about somebody, called by a name, a role or a pronoun."""
        he, him, his = _PRONOUNS[self._data["people"][like or who][0]]
        forms: Mapping[str, str] = {"P": who, "Po": who, "Ps": f"{who}'s"}
        forms = {"P": he, "Po": him, "Ps": his} if pronoun else forms
        slots = {**forms, "he": he, "him": him, "his": his}
        return _sentence(re.sub(r"{(\w+)}", lambda slot: slots.get(slot[1], slot[0]), text))


def _named(text: str, name: str) -> str:
    return text.replace("{Ns}", f"{name}'s").replace("{N}", name)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
