"""Drafts of a passage, compared: how Re3 and DOC choose among several.

A model grades all drafts of a passage in one call; what is plainly wrong with a draft is counted in code.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import Field, create_model

from recurrentgpt.models.decoding import CHOOSE, FACTS
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentence_checks import find_fault
from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.prose.shared_runs import ngrams, tokens
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.baselines.text_windows import first_tokens
from recurrentgpt.studies.baselines.write_prose import (
    fill_form,
    system_turns,
    without_banned,
    without_repetition,
    write_raw,
)
from recurrentgpt.studies.study_context import Pace

REPEATED_RUN, REPEATED_RUN_COST = 5, 0.3
NEAR_DUPLICATE, NEAR_DUPLICATE_COST = 0.8, 1.0
HEADING_COST = PERSON_COST = 10.0
FAULTS_WEIGHT = 5.0
SUMMARY_TOKENS = 128
TAIL_TOKENS = 256

_OTHER_PERSON = re.compile(
    r"(?<![\w'’])(?:I(?:['’](?:m|ve|d|ll))?|(?:[Ww]e|[Yy]ou)(?:['’](?:re|ve|d|ll))?"
    r"|[Mm]y(?:self)?|[Mm]e|[Uu]s|[Oo]urs?|[Oo]urselves|[Yy]ours?|[Yy]oursel(?:f|ves))(?![\w'’])"
)
_NUMERAL = re.compile(r"(?<=\w )([A-Z][a-z]+) I(?![\w'’])")
"""A king or a war: behind a name that does not begin its sentence, as "Then" does in "Then I went"."""
_DOUBLE_QUOTED = re.compile(r'"[^"]*(?:"|$)|“[^”]*(?:”|$)')
_SINGLE_QUOTED = re.compile(r"(?<!\w)['‘](?=\S).*?[,.!?…—–-]['’](?!\w)|^\s*['‘](?=[A-Z]).*$")
"""What ends at a stop and its mark, for an apostrophe ends nothing; or a paragraph whose quotation goes on in the next."""


@dataclass(frozen=True)
class PassageGoal:
    """What the next passage is to do, for those who grade drafts of it."""

    item: str
    tail: str
    move: str = ""
    entering: list[str] = field(default_factory=list)
    told: str = ""
    """What the story has told of the item so far, with which a draft is graded; empty where it is graded alone."""


def draft_penalty(draft: str, before: str) -> float:
    """Return what is wrong with a draft after the text `before`: runs said twice, sentences nearly so, headings, I and you."""
    words = tokens(draft)
    known = ngrams(tokens(before), REPEATED_RUN)
    own = [tuple(words[at : at + REPEATED_RUN]) for at in range(len(words) - REPEATED_RUN + 1)]
    seen: set[tuple[str, ...]] = set()
    repeated = 0
    for run in own:
        repeated += run in known or run in seen
        seen.add(run)
    total = REPEATED_RUN_COST * repeated
    earlier = sentences(before)
    for sentence in sentences(draft):
        total += NEAR_DUPLICATE_COST * any(_near_duplicates(sentence, other) for other in earlier)
        earlier.append(sentence)
    fault = find_fault(draft, finale=True)
    total += HEADING_COST * (fault is not None and fault.kind in ("heading", "meta", "script", "role", "code"))
    total += PERSON_COST * any(_OTHER_PERSON.search(_narrated(line)) for line in draft.splitlines())
    return total


def _narrated(line: str) -> str:
    """Return a paragraph without what people say in it, in whichever marks, and without numerals that look like "I"."""
    unsaid = _SINGLE_QUOTED.sub("", _DOUBLE_QUOTED.sub("", line))
    return _NUMERAL.sub(r"\1", narration(unsaid))


def _near_duplicates(first: str, second: str) -> bool:
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    # The cheap bounds first: most pairs are far apart.
    if matcher.real_quick_ratio() <= NEAR_DUPLICATE or matcher.quick_ratio() <= NEAR_DUPLICATE:
        return False
    return matcher.ratio() > NEAR_DUPLICATE


async def drafts(
    state: Any, run: StudyRun, turns: list[BaseMessage], count: int, pace: Pace, purpose: tuple[object, ...]
) -> list[str]:
    """Return `count` drafts from one prompt; those without a sentence are left out, and all without one are an error.

    With shared guards they come without the sentences that say again what was written before.
    """

    async def draft(number: int) -> str:
        text = await write_raw(state, run, turns, pace.most, purpose=(*purpose, number))
        return without_banned(await without_repetition(text, state, run, pace.least), run)

    found = await asyncio.gather(*map(draft, range(count)), return_exceptions=True)
    for error in found:
        # What an endpoint refuses is tried again: fewer drafts would be another system.
        if isinstance(error, BaseException) and not isinstance(error, ModelReplyError):
            raise error
    usable = [
        text for text in found if isinstance(text, str) and count_words(strip_markup(text, run.context.language)) >= 5
    ]
    if usable:
        return usable
    for error in found:
        if isinstance(error, BaseException):
            raise error
    raise ModelReplyError(f"None of {count} drafts holds a sentence: run the plan again, or use a more capable model.")


async def score_drafts(state: Any, run: StudyRun, goal: PassageGoal, texts: list[str], purpose: str) -> list[float]:
    """Return the score of every draft: relevance + coherence + 0.5 move + 0.2 entering - 5 faults, grades from 0 to 1."""
    order = list(range(len(texts)))
    # A grader favours places: which draft comes first is left to chance.
    run.chance(state, state["step"], purpose, "order").shuffle(order)
    names = ["relevance", "coherence"] + ["move"] * bool(goal.move) + ["entering"] * bool(goal.entering)
    each: Any = (list[int], Field(min_length=len(texts), max_length=len(texts)))
    schema: Any = create_model("Grades", **dict.fromkeys(names, each))
    model = await run.model("judge")
    turns = system_turns(
        run,
        "shared",
        "grade",
        tail=goal.tail,
        item=goal.item,
        told=goal.told,
        move=goal.move,
        entering=goal.entering,
        drafts=[texts[at] for at in order],
    )
    seed = run.seed(state, purpose, "grade")
    reply = await fill_form(run, model, turns, schema, seed, decoding=CHOOSE)
    weights = {"relevance": 1.0, "coherence": 1.0, "move": 0.5, "entering": 0.2}
    found = [0.0] * len(texts)
    for place, at in enumerate(order):
        grades = sum(weights[name] * min(10, max(0, getattr(reply, name)[place])) / 10 for name in names)
        found[at] = grades - FAULTS_WEIGHT * draft_penalty(texts[at], goal.tail)
    return found


async def update_summary(state: Any, run: StudyRun, text: str) -> str:
    """Return the summary of what precedes the story's end, at most 128 tokens, from the old one and `text`."""
    if not text.strip():
        return str(state["summary"])
    model = await run.model("memory")
    schema: Any = create_model("Summary", summary=(str, Field(min_length=1)))
    turns = system_turns(run, "shared", "summary", summary=state["summary"], text=text, words=90)
    seed = run.seed(state, "summary")
    reply = await fill_form(run, model, turns, schema, seed, decoding=FACTS)
    said = " ".join(reply.summary.split())
    return first_tokens(said, SUMMARY_TOKENS) or said[: SUMMARY_TOKENS * 4]
