"""Re3's edit: facts that a passage states, compared with what was stated before, and put right where they contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from recurrentgpt.models.calls import write_stream
from recurrentgpt.models.decoding import FACTS, prose_tokens
from recurrentgpt.nodes.prompt_messages import prose_sampling
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.write_prose import fill_form, system_turns

MOST_FACTS = 6
"""Of one passage."""
KEPT_FACTS = 1000
"""More than a novel of 30,000 words states: the limit is for the store's sake, and costs the newest."""
LEAST_ALIKE = 0.6
"""Likeness below which an edit is a rewriting, and the passage stays as it was."""


class Fact(TypedDict):
    """One thing that the story has stated."""

    entity: str
    attribute: str
    value: str
    quote: str


class Conflict(TypedDict):
    """A fact of the store and what the passage says instead."""

    entity: str
    attribute: str
    old: str
    new: str
    quote: str


class FactReply(BaseModel):
    """A fact as the model notes it."""

    entity: str
    attribute: str
    value: str
    quote: str


def described(facts: Sequence[Fact], *, without: Sequence[str]) -> list[str]:
    """Return a line on each entity that the story has stated facts of, the plan's own people left out."""
    planned = {part.casefold() for name in without for part in name.split()}
    stated: dict[str, list[str]] = {}
    for fact in facts:
        if not planned & set(fact["entity"].casefold().split()):
            stated.setdefault(fact["entity"], []).append(f"{fact['attribute']} {fact['value']}")
    return [f"{entity}: {', '.join(dict.fromkeys(said))}" for entity, said in stated.items()]


async def extract_facts(state: Any, run: StudyRun, passage: str) -> list[Fact]:
    """Return the facts that a passage states; a fact whose quote is not in the passage is not believed."""
    schema: Any = create_model("Facts", facts=(list[FactReply], Field(max_length=MOST_FACTS)))
    model = await run.model("memory")
    turns = system_turns(run, "re3", "facts", passage=passage, most=MOST_FACTS)
    seed = run.seed(state, "facts")
    reply = await fill_form(run, model, turns, schema, seed, decoding=FACTS)
    said = " ".join(tokens(passage))
    return [
        Fact(entity=fact.entity, attribute=fact.attribute, value=fact.value, quote=fact.quote)
        for fact in reply.facts
        if (quote := " ".join(tokens(fact.quote))) and quote in said and tokens(fact.value)
    ]


def find_conflicts(known: list[Fact], new: list[Fact]) -> list[Conflict]:
    """Return where `new` gives another value to an attribute than `known` does."""
    values = {_fact_key(fact): fact["value"] for fact in known}
    return [
        Conflict(
            entity=fact["entity"],
            attribute=fact["attribute"],
            old=values[_fact_key(fact)],
            new=fact["value"],
            quote=fact["quote"],
        )
        for fact in new
        if _fact_key(fact) in values and tokens(values[_fact_key(fact)]) != tokens(fact["value"])
    ]


def merge_facts(known: list[Fact], new: list[Fact]) -> list[Fact]:
    """Return the store with what it did not hold; what was stated first stays."""
    places = {_fact_key(fact) for fact in known}
    return [*known, *(fact for fact in new if _fact_key(fact) not in places)][:KEPT_FACTS]


async def confirm_contradictions(state: Any, run: StudyRun, found: list[Conflict]) -> list[Conflict]:
    """Return those clashes that a model finds impossible: another value may be the same in other words."""
    if not found:
        return []
    schema: Any = create_model("Contradictions", numbers=(list[int], ...))
    model = await run.model("memory")
    turns = system_turns(run, "re3", "contradictions", pairs=found)
    seed = run.seed(state, "contradictions")
    reply = await fill_form(run, model, turns, schema, seed, decoding=FACTS)
    return [found[number - 1] for number in sorted(set(reply.numbers)) if 1 <= number <= len(found)]


async def edit_passage(state: Any, run: StudyRun, passage: str, found: list[Conflict]) -> str:
    """Return the passage with what was told before put back; the passage itself where the edit would be a rewriting."""
    model = await run.model("writer")
    room = prose_tokens(round(1.2 * count_words(passage)))
    turns = system_turns(run, "re3", "edit", passage=passage, pairs=found)
    stream = write_stream(
        model,
        turns,
        max_tokens=room,
        seed=run.seed(state, "edit"),
        meter=run.meter,
        # What is right is to stay word for word.
        **prose_sampling(model, run.context, FACTS),
    )
    text = "".join([piece async for piece in stream]).strip()
    alike = SequenceMatcher(None, tokens(passage), tokens(text), autojunk=False).ratio()
    return text if alike >= LEAST_ALIKE else passage


def _fact_key(fact: Fact) -> tuple[str, str]:
    return " ".join(tokens(fact["entity"])), " ".join(tokens(fact["attribute"]))
