"""Prose for the baselines, guarded as the engine guards its own, except that no text is watched for copies."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from recurrentgpt.models.calls import ask, write_stream
from recurrentgpt.models.decoding import prose_tokens
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.prompt_messages import FULL_REPLY_TOKENS
from recurrentgpt.nodes.write import READABLE
from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.sentences import end_at_sentence, limit_words
from recurrentgpt.schema.errors import ModelReplyError, ModelUnavailable
from recurrentgpt.studies.baselines.runtime import StudyRun, prose_sampling
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.study_context import Pace

MOST_SAMPLES = 4
RUN_UP = 2
"""Sentences to take back where a model had nothing to add."""
LONGEST_TEXT = 600
"""Characters of a text in a small model's form: a summary has 128 tokens, and an event of an outline a sentence or two."""


def system_turns(run: StudyRun, system: str, template: str, **variables: Any) -> list[BaseMessage]:
    """Return the turns of one call: the author's system prompt, which all baselines share, and a system's template."""
    language = run.context.language
    author = run.own("shared").fill("author", language=language)
    return [SystemMessage(author), *run.own(system).turns(template, language=language, **variables)]


async def fill_form(
    run: StudyRun, model: ResolvedModel, turns: list[BaseMessage], form: type[BaseModel], seed: int
) -> Any:
    """Return a form that a model has filled in; a small model's texts are held to a length, or one of them has no end."""
    held = _held(form) if model.tier == "small" else form
    return await ask(model, turns, held, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=run.meter)


def _held(form: type[BaseModel]) -> type[BaseModel]:
    """Return a form in whose JSON schema every text has a greatest length; one that is longer all the same is taken."""

    class Held(form):  # type: ignore[misc, valid-type]
        @classmethod
        def model_json_schema(cls, *given: Any, **more: Any) -> dict[str, Any]:
            return cast("dict[str, Any]", _with_ends(super().model_json_schema(*given, **more))) | {
                "title": form.__name__
            }

    return Held


def _with_ends(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_ends(item) for item in node]
    if not isinstance(node, dict):
        return node
    ended = {name: _with_ends(value) for name, value in node.items()}
    return ended | {"maxLength": LONGEST_TEXT} if node.get("type") == "string" else ended


async def write_prose(
    state: Any, run: StudyRun, turns: list[BaseMessage], pace: Pace, *, purpose: str = "write"
) -> str:
    """Return a passage of the pace's length, sentence by sentence held to what a story may hold.

    Raises ModelReplyError when some samples bring no usable one.
    """
    model = await run.model("writer")
    last = pace.finale == "last"
    gate = ProseGate(min_words=pace.least, max_words=pace.most, language=run.context.language, finale=last)
    for sample in range(MOST_SAMPLES):
        run.meter.resamples += bool(sample)
        onwards = _onwards(gate.text, model, run, max(40, pace.aim - gate.words))
        room = prose_tokens(pace.most - gate.words)
        seed = run.seed(state, purpose, sample)
        stream = write_stream(
            model, [*turns, *onwards], max_tokens=room, seed=seed, meter=run.meter, **prose_sampling(model, run)
        )
        try:
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    gate.feed(piece)
                    if gate.fault or gate.enough:
                        break
        except ModelUnavailable:
            # Asked to go on from words that end well, a model may send nothing: it goes on from a little before them. A reply
            # that never began is for the retry policy.
            if not gate.cut(back=RUN_UP):
                raise
            continue
        gate.close()
        if gate.complete:
            break
        gate.cut()
    passage = gate.finish()
    if gate.words < READABLE * pace.least:
        raise ModelReplyError(
            f"{model.name} wrote no usable passage in {MOST_SAMPLES} tries: run the plan again to try again, or use a more "
            "capable model. What was written is safe."
        )
    return require_prose(passage, run)


async def write_raw(
    state: Any, run: StudyRun, turns: list[BaseMessage], most: int, *, purpose: tuple[object, ...]
) -> str:
    """Return what one call writes, cut at a sentence to `most` words; faults are left for those who compare drafts."""
    model = await run.model("writer")
    seed = run.seed(state, *purpose)
    stream = write_stream(
        model, turns, max_tokens=prose_tokens(most), seed=seed, meter=run.meter, **prose_sampling(model, run)
    )
    async with aclosing(stream) as pieces:
        text = "".join([piece async for piece in pieces]).strip()
    return end_at_sentence(limit_words(text, most, run.context.language))


def require_prose(text: str, run: StudyRun) -> str:
    """Return the story's own text of what a model wrote; raise ModelReplyError where nothing is left of it."""
    if not (own := strip_markup(text, run.context.language)):
        raise ModelReplyError(
            "The model wrote headings and remarks, and no story: run the plan again, or use another model."
        )
    return own


def _onwards(text: str, model: ResolvedModel, run: StudyRun, words: int) -> list[BaseMessage]:
    """Return the turns that ask to go on after what was accepted; llama.cpp goes on from a reply that has begun."""
    if not text:
        return []
    if model.embedded:
        return [AIMessage(text)]
    return [AIMessage(text), HumanMessage(run.own("shared").fill("onwards", words=words))]
