"""What a model of the role `judge` finds in a passage that cannot be true together with the codex, where a capable one is set."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS
from recurrentgpt.models.roles import ResolvedModel, tier_of_role
from recurrentgpt.nodes.continuity import MOST_CONTRADICTIONS, contradiction, contradictions
from recurrentgpt.nodes.prompt_values import codex_before
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Codex, Contradiction, Entry, Line
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import BudgetReached, ModelError
from recurrentgpt.schema.state import State

logger = logging.getLogger(__name__)

SHOWN_WORDS = 600
"""Most words of the lines that a passage is held against, of all entries that it names."""


class ContradictionReply(BaseModel):
    """A sentence of the passage, and the line that it cannot be true together with."""

    sentence: str
    number: int
    instead: str = ""


class JudgeReply(BaseModel):
    """What a judge replies."""

    contradictions: list[ContradictionReply]


def asks_judge(context: Context) -> bool:
    """Return whether a judge is asked of each passage: where one was set that is a capable model, and somebody wants to know."""
    wanted = context.continuity != "off" and context.codex and bool((context.models or {}).get("judge"))
    return wanted and tier_of_role("judge", context) == "full"


async def set_judge(runtime: StoryRuntime) -> ResolvedModel | None:
    """Return the model that was set for the role `judge`; None where none is asked."""
    return await runtime.model("judge") if asks_judge(runtime.context) else None


async def check_passage(
    state: State, runtime: StoryRuntime, passage: str, judge: ResolvedModel | None
) -> list[Contradiction]:
    """Return what of a passage contradicts the codex before it: by rules, and what a judge finds beside that."""
    found = await contradictions(state, runtime, passage)
    if judge is None:
        return found
    by_judge = await judged(judge, state, runtime, passage, await codex_before(state, runtime))
    known = {(one["entry"], one["holds"]) for one in found}
    return [*found, *(one for one in by_judge if (one["entry"], one["holds"]) not in known)][:MOST_CONTRADICTIONS]


async def judged(
    judge: ResolvedModel, state: State, runtime: StoryRuntime, passage: str, codex: Codex
) -> list[Contradiction]:
    """Return the contradictions that a judge finds and can quote; nothing, and a line in the log, where it does not answer."""
    if not (question := Question.about(passage, codex, runtime.prompts(judge))):
        return []
    try:
        return await question.asked(judge, seed=runtime.seed(state, "judge"), meter=runtime.meter)
    except BudgetReached:
        raise
    except ModelError as error:
        # A check that fails must not cost the passage that it was to check.
        logger.warning("The passage was not checked by the judge %s: %s", judge.name, error)
        return []


@dataclass(frozen=True)
class Question:
    """What a judge is asked of a passage; a story is not needed for it."""

    passage: str
    shown: Sequence[tuple[Entry, Line]]
    prompt: str

    @classmethod
    def about(cls, passage: str, codex: Codex, prompts: Prompts) -> Question | None:
        """Return what to ask of a passage; None where the codex before it says nothing of whom and what it names."""
        shown = _lines_to_check(codex, passage)
        lines = [sentence_of(entry, line) for entry, line in shown]
        return cls(passage, shown, prompts.fill("contradictions", lines=lines, passage=passage)) if shown else None

    async def asked(self, judge: ResolvedModel, *, seed: int, meter: Meter) -> list[Contradiction]:
        """Return the contradictions that a judge finds and can quote; raise ModelError where it does not answer."""
        turns = [HumanMessage(self.prompt)]
        reply = await ask(judge, turns, JudgeReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=meter)
        return _quoted(reply.contradictions, self.shown, self.passage)


def _lines_to_check(codex: Codex, passage: str) -> list[tuple[Entry, Line]]:
    """Return the lines of all entries that a passage names, the newest of each first, as many as the judge is shown.

    What two entries say in the same words is shown once.
    """
    entries = codex.named_in(passage)
    newest = [[(entry, line) for line in entry.lines[::-1]] for entry in entries]
    found: dict[str, tuple[Entry, Line]] = {}
    left = SHOWN_WORDS
    for turn in range(max(map(len, newest), default=0)):
        for entry, line in (lines[turn] for lines in newest if turn < len(lines)):
            if (sentence := sentence_of(entry, line)) in found:
                continue
            left -= count_words(sentence)
            if left < 0:
                return list(found.values())
            found[sentence] = (entry, line)
    return list(found.values())


def _quoted(
    findings: Sequence[ContradictionReply], shown: Sequence[tuple[Entry, Line]], passage: str
) -> list[Contradiction]:
    """Return those findings that quote the passage and name a line; a judge makes some up."""
    told, found = f" {' '.join(tokens(passage))} ", list[Contradiction]()
    for finding in findings:
        words = " ".join(tokens(finding.sentence))
        if not words or f" {words} " not in told or not 1 <= finding.number <= len(shown):
            continue
        entry, line = shown[finding.number - 1]
        value = limit_words(" ".join(finding.instead.split()), 40)
        found.append({**contradiction("judge", entry, line, finding.sentence, value), "aspect": line.aspect})
    return found[:MOST_CONTRADICTIONS]
