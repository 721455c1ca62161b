"""Texts that contradict themselves in one known sentence, and texts that seem to and do not, to try the rules on."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from recurrentgpt.studies.measures.hidden_world import HiddenWorld

PASSAGES = 8
SPOKEN, FIRST, THEN = 1, 2, 6
"""The passages in which both people speak, in which the one thing is told, and in which the other is."""
KINDS = ("dead", "absent", "lost", "renamed", "holder", "pronouns", "looks")
INNOCENT = "innocent"
PARTS = ("pairs", "fresh", "held_out")
"""The texts that the rules were made for; those that these were mended on later; those that were read when these were ready."""

AMONG = ("harbour", "station")
"""The worlds whose passages are around what is planted: named here, so that a further world leaves these texts as they are."""

_FORMS = {"he": ("he", "him", "his", "himself"), "she": ("she", "her", "her", "herself")}


@dataclass(frozen=True)
class PlantedText:
    """A text in passages that tells two things which cannot be true together, or which can."""

    kind: str
    """What contradicts, or `INNOCENT`."""
    first: str
    then: str
    """The sentence that cannot be true after `first`."""
    passages: list[str]
    part: str = PARTS[0]
    """Which of `PARTS`: those that the rules were made for, or those that were not."""


def planted_texts() -> Iterator[PlantedText]:
    """Return the texts of every kind, each among passages of a hidden world, whose people have other names."""
    data, worlds = _data(), {name: HiddenWorld(name) for name in AMONG}
    people: list[tuple[str, str]] = list(data["people"].items())
    told = [
        (kind, part, number, pair)
        for kind in (*KINDS, INNOCENT)
        for part, pairs in data[kind].items()
        for number, pair in enumerate(pairs)
    ]
    for kind, part, number, (first, then) in told:
        dealer = random.Random(f"{kind} {part != PARTS[0]} {number}")
        (a, pronoun), (b, _) = dealer.sample(people, 2)
        if kind == INNOCENT:
            # Of two people that one can be taken for the other by a pronoun.
            b = dealer.choice([name for name, other in people if other != pronoun])
        slots = _slots(a, b, pronoun)
        spoken = [_filled(dealer.choice(data["speaks"]), {"A": who}) for who in (a, b)]
        first, then = _filled(first, slots), _filled(then, slots)
        world, start = worlds[dealer.choice(AMONG)], dealer.randrange(300, 1000)
        passages = [world.passage(start + step) for step in range(PASSAGES)]
        for step, text in ((SPOKEN, " ".join(spoken)), (FIRST, first), (THEN, then)):
            paragraphs = passages[step].split("\n\n")
            paragraphs.insert(dealer.randrange(1, len(paragraphs)), text)
            passages[step] = "\n\n".join(paragraphs)
        yield PlantedText(kind, first, then, passages, part)


@cache
def _data() -> dict[str, Any]:
    text = resources.files("recurrentgpt.studies").joinpath("data/contradictions.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _slots(a: str, b: str, pronoun: str) -> dict[str, str]:
    he, him, his, _ = _FORMS[pronoun]
    she, _, her, herself = _FORMS["she" if pronoun == "he" else "he"]
    return {"A": a, "B": b, "he": he, "him": him, "his": his, "she": she, "her": her, "self": herself}


def _filled(text: str, slots: dict[str, str]) -> str:
    return re.sub(r"{(\w+)}", lambda slot: slots[slot[1]], text)
