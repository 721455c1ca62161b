"""What a long text keeps: sentences that contradict earlier ones, and facts that are told for the first time.

The rules of the engine's continuity read both, and those of `entities` eyes, hair, ages and hands. They are for English, miss
much and invent little, and are the same for every system, whatever it keeps of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import mean

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.codex_changes import from_text
from recurrentgpt.nodes.codex_names import NOBODY
from recurrentgpt.nodes.codex_verbs import SPEAKS
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.codex import Aspect, Change, Codex, Contradiction, Entry
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.entities import entities, named_in
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord

FEWEST_PASSAGES = 8
"""Passages of a novel below which it has no last quarter to speak of."""
LOOKS = "looks"
"""Eyes, hair, age, height and hands, which `entities` reads of the whole text."""


@dataclass(frozen=True)
class Evidence:
    """One sentence that cannot be true after what was told before, and what it contradicts."""

    passage: int
    """Number of its passage, from 1."""
    rule: str
    sentence: str
    entry: str
    """Name of whom or what it is about."""
    holds: str
    """What was told of that before."""


@dataclass(frozen=True)
class LongRange:
    """What a text in passages contradicts, and how much news each passage has."""

    evidence: list[Evidence]
    """The contradictions, those of looks last."""
    new_facts: list[int]
    """Of each passage: names told for the first time, and what a rule reads of people and things for the first time."""
    before: list[Codex]
    """The codex before each passage, as the rules read it."""

    @property
    def contradictions(self) -> list[str]:
        """Return the sentences that cannot be true after what was told before; of looks, what changes."""
        return [one.holds if one.rule == LOOKS else one.sentence for one in self.evidence]


def long_range(passages: Sequence[str]) -> LongRange:
    """Return what the passages of one text contradict, and what is new in each."""
    return _read(tuple(passages))


@lru_cache(maxsize=256)
def _read(passages: tuple[str, ...]) -> LongRange:
    """Return the same of passages that can be told from others: a report asks for all figures, and then for all evidence."""
    codex, known, found = _people("\n\n".join(passages)), set[tuple[str, ...]](), list[Evidence]()
    news, before = list[int](), list[Codex]()
    for step, (passage, names) in enumerate(zip(passages, named_in(passages), strict=True), start=1):
        before.append(codex)
        against = find_contradictions(passage, codex)
        found += [Evidence(step, one["rule"], one["said"], one["entry"], one["holds"]) for one in against]
        # From there the text holds what it says now: the same is not told of every later passage.
        codex = changed(codex, [meant for one in against if (meant := _as_told(one))], step=step)
        # A sentence at a time: a passage's changes are counted in full, where a model's facts are held to a few.
        codex = changed(codex, from_text(passage, codex), step=step)
        told: set[tuple[str, ...]] = {(name,) for name in names}
        told |= {
            (entry.name, line.aspect, line.value)
            for entry in codex.entries.values()
            for line in entry.lines
            if line.value
        }
        news.append(len(told - known))
        known |= told
    return LongRange(found + _looks(passages), news, before)


def _looks(passages: Sequence[str]) -> list[Evidence]:
    """Return the sentences by which somebody looks otherwise than before."""
    read = entities("\n\n".join(passages))
    return [
        Evidence(
            passage=next((at for at, text in enumerate(passages, start=1) if sentence.strip() in text), 0),
            rule=LOOKS,
            sentence=sentence.strip(),
            entry=conflict.partition(" of ")[2].partition(" is ")[0],
            holds=conflict,
        )
        for conflict, sentence in zip(read.conflicts, read.sentences, strict=True)
    ]


def _as_told(one: Contradiction) -> Change | None:
    """Return what a text says of an entry that it contradicts; None where its name is all that it contradicts."""
    aspects: dict[str, Aspect] = {
        "dead": "status", "absent": "status", "lost": "status", "holder": "holder", "pronouns": "pronouns"
    }  # fmt: skip
    if one["rule"] not in aspects:
        return None
    aspect = aspects[one["rule"]]
    return Change(entry=one["entry"], kind=one["kind"], do="set", aspect=aspect, value=one["value"])


_NAME = r"([A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})?)"
_SPEAKER = re.compile(rf"\b{SPEAKS} {_NAME}\b|\b{_NAME} {SPEAKS}\b")


def _people(text: str) -> Codex:
    """Return who speaks anywhere in a text, by the longest of their names, with nothing told of them.

    The figures of earlier reports were measured with these: whoever only acts is left out.
    """
    found = sorted({name for names in _SPEAKER.findall(text) for name in names if name.split()[:1]})
    names = [name for name in found if name.split()[0] not in NOBODY]
    within = {part for name in names for part in name.split()[:-1] + name.split()[1:]}
    return Codex({name.casefold(): Entry(name, "person") for name in names if name not in within})


def evidence(novel: NovelRecord) -> list[Evidence]:
    """Return the contradictions of a novel, each with what it contradicts."""
    return long_range(_passages(novel)).evidence


def _passages(novel: NovelRecord) -> list[str]:
    return [text for passage in novel["passages"] if (text := passage.get("text", ""))]


def _compute(novel: NovelRecord, system: System) -> dict[str, float | None]:
    passages = _passages(novel)
    words = sum(map(count_words, passages))
    if not words:
        return dict.fromkeys(MEASURE.columns)
    found = long_range(passages)
    late = found.new_facts[-(len(passages) // 4) :] if len(passages) >= FEWEST_PASSAGES else []
    people = len(found.before[0].entries)
    return {
        "people_read": people,
        "contradictions_per_10000": round(10_000 * len(found.contradictions) / words, 3) if people else None,
        "new_facts": round(mean(found.new_facts), 3),
        "new_facts_per_1000": round(1000 * sum(found.new_facts) / words, 3),
        "new_facts_late": round(mean(late), 3) if late else None,
    }


MEASURE = Measure(
    name="long range",
    description="What a long text keeps: `contradictions per 10000` words are sentences that cannot be true after what was "
    "told (the dead who act, things that are lost and at hand, people who change their pronouns, eyes, hair or age). Rules for "
    "English find them, and of people those who are named beside a verb of speech, `people read`: where there are none, "
    "nothing was measured, and the cell is blank. Of contradictions in made-up phrasing that nobody thought of when they were "
    "written they find 27 of 57, and of a reviewer's they found 13 of 63: none found is not none there, and even with rules "
    "that missed nothing, none in n words would leave room for 30,000 / n per 10,000. Of innocent passages that strangers wrote "
    "to be hard for them (flashbacks, dreams, namesakes) they accused 8 of 34, 26 of 31 and 13 of 30 when they first read them, "
    "and few of these since they were mended. `contradictions.csv` has each sentence "
    "with what it contradicts. `new facts` are names (a person's first name and surname are one) and states of people and "
    "things told for the first time, per passage and per 1,000 words (passages of one_shot, re3 and doc have lengths of their "
    "own), and `new facts late` those per passage of "
    f"the last quarter of novels of {FEWEST_PASSAGES} passages or more: a text that goes in circles has none.",
    columns=("people_read", "contradictions_per_10000", "new_facts", "new_facts_per_1000", "new_facts_late"),
    compute=_compute,
)
