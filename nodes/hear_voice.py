"""The voice of somebody's own story, heard from its first passage by a capable model."""

from __future__ import annotations

import logging

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prose.sentences import limit_words
from recurrentgpt.schema.errors import BudgetReached, ModelError

logger = logging.getLogger(__name__)

HEARD_WORDS = 600
"""Words of a first passage that its voice is heard from."""

MOST_VOICE_WORDS = 80


class VoiceReply(BaseModel):
    """How a story is told."""

    voice: str = Field(min_length=1)


async def hear_voice(runtime: StoryRuntime, passage: str) -> str:
    """Return how a passage is told, in a sentence; "" from a small model, and with a line in the log where none answers."""
    model = await runtime.model("memory")
    if model.tier == "small":
        # No prompt of that tier tells it.
        return ""
    told = runtime.prompts(model).fill(
        "voice", language=runtime.context.language, passage=limit_words(passage, HEARD_WORDS)
    )
    seed = runtime.seed({}, "voice")
    try:
        reply = await ask(
            model, [HumanMessage(told)], VoiceReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=runtime.meter
        )
    except BudgetReached:
        raise
    except ModelError as error:
        # Somebody's book is not kept out for want of a line that can be written by hand.
        logger.warning("How the story is told was not heard from its first passage: %s", error)
        return ""
    return limit_words(" ".join(reply.voice.split()), MOST_VOICE_WORDS)
