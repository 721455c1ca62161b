"""rework: other words for a part of one passage, in the place that it has there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from recurrentgpt.infrastructure.telemetry import observed
from recurrentgpt.models.calls import write_stream
from recurrentgpt.models.decoding import WRITE, WRITE_TAUGHT, prose_tokens
from recurrentgpt.nodes.prompt_messages import prose_sampling
from recurrentgpt.nodes.prompt_values import LONGEST, memory_lines, voice, with_every_part
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prose.banned import BannedPhrases
from recurrentgpt.prose.emphasis import lies_inside, one_form, plain, uncut, without_emphasis
from recurrentgpt.prose.model_text import model_text, without_turns
from recurrentgpt.prose.sentences import count_words, segments
from recurrentgpt.prose.unwrap import strip_opening
from recurrentgpt.schema.errors import BadAnswer, ModelReplyError
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import Rework
from recurrentgpt.schema.state import Brief

REWORKS: tuple[Rework, ...] = get_args(Rework)

MOST_SELECTED_WORDS = 800
AROUND = {"full": 6000, "small": 1500}
"""Characters before the selection, and after it, that a model of each tier is shown."""

MOST_TRIES = 3
"""Times that a model is asked for words without a banned phrase; then the sentences that hold one are left out."""

_LENGTHS = {"expand": (2.0, 30), "shorten": (0.5, 0), "describe": (1.5, 40)}
"""How many times the words of the selection are asked for, and how many more."""
_QUOTES = '"“”'


async def rework(runtime: StoryRuntime, brief: Brief, commit: Commit, part: slice, how: str, take: int) -> str:
    """Return what may stand in a passage in the place of its characters `part`.

    Raises BadAnswer for a part that holds no words or too many, or one asterisk of an emphasis, and for a `how` that is none.
    """
    passage = commit["passage"]
    if how not in REWORKS:
        raise BadAnswer(f"There is no way {how!r} to work on a selection; there are {', '.join(REWORKS)}.")
    if not 0 <= part.start < part.stop <= len(passage) or not passage[part].strip():
        raise BadAnswer(f"Nothing is selected: the selection holds words of the passage's {len(passage):,} characters.")
    if (whole := uncut(passage, part)) != part:
        raise BadAnswer(
            f"The part cuts an emphasis apart: give characters {whole.start} to {whole.stop}, which hold all of it."
        )
    selected = passage[part]
    selection, count = selected.strip(), count_words(selected)
    if count > MOST_SELECTED_WORDS:
        raise BadAnswer(f"{count:,} words are selected; at most {MOST_SELECTED_WORDS} can be worked on at once.")
    model = await runtime.model("writer")
    banned = BannedPhrases(runtime.context.banned_phrases)
    prompts, small, around = runtime.prompts(model), model.tier == "small", AROUND[model.tier]
    factor, more = _LENGTHS.get(how, (1.0, 0))
    words = max(1, round(factor * count) + more)
    shared: Mapping[str, Any] = {**voice(runtime.context), "brief": with_every_part(brief)}
    lead = selected[: len(selected) - len(selected.lstrip())]
    asked = prompts.fill(
        "rework",
        **shared,
        memory=memory_lines(commit["short_term_memory"]),
        before=(passage[: part.start] + lead)[-around:],
        selection=selection,
        after=(selected[len(lead) + len(selection) :] + passage[part.stop :])[:around],
        how=how,
        words=words,
    )
    decoding = WRITE_TAUGHT if model.adapter else WRITE
    runtime.meter.allowance = runtime.context.budget_tokens or None
    turns: list[BaseMessage] = [SystemMessage(prompts.fill("system", **shared)), HumanMessage(asked)]
    with observed("rework", commit["story"], commit["step"], lambda: runtime.meter.usage):
        for _ in range(MOST_TRIES):
            stream = write_stream(
                model,
                turns,
                max_tokens=prose_tokens((1 if small else LONGEST) * max(words, 40)),
                seed=runtime.chance(
                    {"story": commit["story"]}, "rework", commit["id"], part.start, part.stop, how, take
                ).getrandbits(31),
                meter=runtime.meter,
                **prose_sampling(model, runtime.context, decoding),
            )
            reply = ""
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    reply += piece
            text = _fitted(reply, selection, keeps_all=not small)
            # As in a passage: a capable model's emphasis in one form, a small one's left out.
            text = without_emphasis(text) if small else one_form(text)
            if lies_inside(passage, part):
                # It is emphasised as it stands, on one line.
                text = " ".join(plain(text).split())
            if not (phrase := banned.find(without_emphasis(text))):
                break
            again = f"It holds what the author has banned: {phrase}. Write the part again without it, and reply with that alone."
            turns = [*turns, AIMessage(without_turns(reply)), HumanMessage(again)]
        else:
            kept = [it for it in segments(text, runtime.context.language) if not banned.find(without_emphasis(it))]
            text = "".join(kept).strip()
    if not text:
        raise ModelReplyError(f"{model.name} gave no words for the selection: try again, or use a more capable model.")
    return selected.replace(selection, text, 1)


_HERE = re.compile(r"\s*here(?:['’]s| is) (?:the|your) (?:\w+ ){0,2}part\b[^\n:]{0,60}:\s*\n+", re.IGNORECASE)


def _fitted(reply: str, selection: str, *, keeps_all: bool) -> str:
    """Return a reply without what a model puts around it: announcements, the brackets of the prompt, quotation marks."""
    text = strip_opening(_HERE.sub("", model_text(reply), count=1), final=True, keeps_all=keeps_all) or ""
    text = text.strip().removeprefix("[[").removesuffix("]]").strip()
    inside = text[1:-1]
    if len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES and selection[0] not in _QUOTES:
        text = inside if not any(quote in inside for quote in _QUOTES) else text
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
