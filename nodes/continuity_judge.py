"""What a model of the role `judge` finds in a passage that cannot be true together with the codex, where a capable one is set."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.continuity import MOST_CONTRADICTIONS, contradiction
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Codex, Contradiction, Entry, Line
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


async def set_judge(runtime: StoryRuntime) -> ResolvedModel | None:
    """Return the model that was set for the role `judge`; None where none was, and where it is no capable one."""
    context = runtime.context
    if context.continuity == "off" or not context.codex or not (context.models or {}).get("judge"):
        return None
    model = await runtime.model("judge")
    return model if model.tier == "full" else None


async def judged(
    judge: ResolvedModel, state: State, runtime: StoryRuntime, passage: str, codex: Codex
) -> list[Contradiction]:
    """Return the contradictions that a judge finds and can quote; nothing, and a line in the log, where it does not answer."""
    shown = _lines_to_check(codex, passage)
    if not shown:
        return []
    lines = [sentence_of(entry, line) for entry, line in shown]
    turns = [HumanMessage(runtime.prompts(judge).fill("contradictions", lines=lines, passage=passage))]
    try:
        seed = runtime.seed(state, "judge")
        reply = await ask(judge, turns, JudgeReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=runtime.meter)
    except BudgetReached:
        raise
    except ModelError as error:
        # A check that fails must not cost the passage that it was to check.
        logger.warning("The passage was not checked by the judge %s: %s", judge.name, error)
        return []
    return _quoted(reply.contradictions, shown, passage)


def _lines_to_check(codex: Codex, passage: str) -> list[tuple[Entry, Line]]:
    """Return the lines of all entries that a passage names, the newest of each first, as many as the judge is shown."""
    entries = codex.named_in(passage)
    newest = [[(entry, line) for line in entry.lines[::-1]] for entry in entries]
    found: list[tuple[Entry, Line]] = []
    left = SHOWN_WORDS
    for turn in range(max(map(len, newest), default=0)):
        for entry, line in (lines[turn] for lines in newest if turn < len(lines)):
            left -= count_words(sentence_of(entry, line))
            if left < 0:
                return found
            found.append((entry, line))
    return found


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
