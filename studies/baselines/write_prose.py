"""Prose for the baselines: with shared guards as the engine guards its own, without any as the model says it.

What is done to a text without guards is said here alone, in `as_said`, `unusable` and `own_text`, for every system: it is
cut at a sentence to the length that was asked for, and loses its headings, remarks and what the author has banned.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from recurrentgpt.models.calls import ask, write_stream
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS, WRITE, Decoding, prose_tokens, sampled
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.prompt_messages import prose_sampling
from recurrentgpt.nodes.write import MOST_SAMPLES, READABLE, WARMER, WATCHED
from recurrentgpt.prose.banned import BannedPhrases
from recurrentgpt.prose.emphasis import without_emphasis
from recurrentgpt.prose.gate import REPEATING, ProseGate
from recurrentgpt.prose.quotations import is_balanced
from recurrentgpt.prose.sentence_checks import Examiner
from recurrentgpt.prose.sentences import count_words, end_at_sentence, limit_words, segments
from recurrentgpt.schema.errors import ModelReplyError, ModelTooSlow, ModelUnavailable, ReasoningShown
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.study_context import Guards, Pace

SAMPLES: dict[Guards, int] = {"shared": MOST_SAMPLES, "own": 4, "none": 1}
"""Calls for one passage."""
REFUSALS = 3
"""Replies without a word of a story that are waited for, whatever the guards: a refusal is no draft."""
RUN_UP = 2
"""Sentences to take back where a model had nothing to add."""
LONGEST_TEXT = 600
"""Characters of a text in a small model's form: a summary has 128 tokens, and an event of an outline a sentence or two."""
LONGEST_PROSE = 2000
"""Characters of a passage or a memory in a small model's form; llama.cpp's grammars count no further."""


def system_turns(run: StudyRun, system: str, template: str, **variables: Any) -> list[BaseMessage]:
    """Return the turns of one call: the author's system prompt, which all baselines share, and a system's template."""
    language = run.context.language
    author = run.own("shared").fill("author", language=language)
    return [SystemMessage(author), *run.own(system).turns(template, language=language, **variables)]


def form_sampling(model: ResolvedModel, decoding: Decoding) -> Mapping[str, Any]:
    """Return the keyword arguments of a call that fills a form; a small model's is sampled as recurrentgpt's of that kind.

    It may be longer, since forms of baselines hold more.
    """
    usual = sampled(decoding) if model.tier == "small" else {}
    return {**usual, "max_tokens": FULL_REPLY_TOKENS}


async def fill_form(
    run: StudyRun,
    model: ResolvedModel,
    turns: list[BaseMessage],
    form: type[BaseModel],
    seed: int,
    *,
    decoding: Decoding,
) -> Any:
    """Return a form that a model has filled in; a small model's texts are held to a length, or one of them has no end."""
    return await ask(model, turns, held(form, model), seed=seed, meter=run.meter, **form_sampling(model, decoding))


def held(form: type[BaseModel], model: ResolvedModel, **longest: int) -> Any:
    """Return a form in whose JSON schema a small model's texts have a greatest length, in characters; longer ones are taken, too.

    It is `LONGEST_TEXT`, but for the fields that `longest` names.
    """
    if model.tier != "small":
        return form

    class Held(form):  # type: ignore[misc, valid-type]
        @classmethod
        def model_json_schema(cls, *given: Any, **more: Any) -> dict[str, Any]:
            schema = cast("dict[str, Any]", _with_ends(super().model_json_schema(*given, **more)))
            for name, length in longest.items():
                schema["properties"][name]["maxLength"] = length
            return schema | {"title": form.__name__}

    return Held


def _with_ends(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_ends(item) for item in node]
    if not isinstance(node, dict):
        return node
    ended = {name: _with_ends(value) for name, value in node.items()}
    return ended | {"maxLength": LONGEST_TEXT} if node.get("type") == "string" else ended


async def write_prose(state: Any, run: StudyRun, turns: list[BaseMessage], pace: Pace) -> str:
    """Return a passage of the pace's length, sentence by sentence held to what a story may hold.

    With shared guards it may copy no earlier passage, has as many samples as the engine's, and comes in one piece where they
    bring no usable one; with a system's own that raises ModelReplyError. Without guards it comes in one piece at once.
    """
    guards = run.settings.guards
    if guards == "none":
        return await write_in_one_piece(state, run, turns, pace)
    model = await run.model("writer")
    samples = SAMPLES[guards]
    gate = ProseGate(
        min_words=pace.least,
        max_words=pace.most,
        seen=await watched_texts(state, run, model),
        language=run.context.language,
        finale=pace.finale == "last",
    )
    for sample in range(samples):
        run.meter.resamples += bool(sample)
        onwards = _onwards(gate.text, model, run, max(40, pace.aim - gate.words))
        room = prose_tokens(pace.most - gate.words)
        seed = run.seed(state, "write", sample)
        stream = write_stream(
            model,
            [*turns, *onwards],
            max_tokens=room,
            seed=seed,
            meter=run.meter,
            **prose_sampling(model, run.context, WRITE, warmer=WARMER * sample),
        )
        try:
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    gate.feed(piece)
                    if gate.fault or gate.enough:
                        break
        except ReasoningShown:
            raise
        except (ModelUnavailable, ModelTooSlow):
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
        if guards == "shared":
            return await write_in_one_piece(state, run, turns, pace)
        raise ModelReplyError(
            f"{model.name} wrote no usable passage in {samples} tries: run the plan again to try again, or use a more "
            "capable model. What was written is safe."
        )
    return require_prose(passage, run)


async def watched_texts(state: Any, run: StudyRun, model: ResolvedModel) -> list[str]:
    """Return what the next passage must not copy; nothing without shared guards.

    It is what the engine watches: the earlier text that is in the prompt, and for a small model the last passages.
    """
    if run.settings.guards != "shared" or not state["step"]:
        return []
    texts = [state["passage"], state.get("tail", ""), *state.get("related", [])]
    texts += [entry.get("piece", "") for entry in state.get("recalled", [])]
    if model.tier == "small":
        texts += [commit["passage"] for commit in await run.log.latest(state["story"], state["head"], WATCHED)]
    return [text for text in texts if text]


async def without_repetition(text: str, state: Any, run: StudyRun, least: int) -> str:
    """Return a passage that came in one piece without what it says again of itself or of an earlier one.

    It stays as it is without shared guards, and where less than half of `least` words would be left.
    """
    if run.settings.guards != "shared":
        return text
    seen = await watched_texts(state, run, await run.model("writer"))
    examiner, kept = Examiner(seen=seen, language=run.context.language), ""
    for piece in segments(text, run.context.language):
        fault = examiner.examine(piece, kept) if piece.strip() and is_balanced(piece) else None
        repeated = fault is not None and fault.kind in REPEATING
        kept = kept.rstrip() + piece[len(piece.rstrip()) :] if repeated else kept + piece
    return kept.strip() if count_words(kept) >= least / 2 else text


async def write_in_one_piece(state: Any, run: StudyRun, turns: list[BaseMessage], pace: Pace) -> str:
    """Return a passage that one call tells, as it is but for what shared guards keep out; raise what `write_whole` does."""
    # Where samples have failed, none of their seeds: the same words would come again.
    purpose = "write" if run.settings.guards == "none" else "in one piece"
    said = await write_whole(state, run, turns, pace.most, purpose=purpose)
    return await without_repetition(said, state, run, pace.least)


async def write_whole(state: Any, run: StudyRun, turns: list[BaseMessage], most: int, *, purpose: str = "write") -> str:
    """Return what one call tells, as it is, without guards; what tells no story ("I'm sorry, but I can't") is asked for again.

    Raises ModelReplyError when none of `REFUSALS` replies tells one.
    """
    said = ""
    for sample in range(REFUSALS):
        run.meter.resamples += bool(sample)
        said = await write_raw(state, run, turns, most, purpose=(purpose, sample))
        if story := own_text(said, run):
            return story
    raise _no_story(said)


async def write_raw(
    state: Any, run: StudyRun, turns: list[BaseMessage], most: int, *, purpose: tuple[object, ...]
) -> str:
    """Return what one call writes, cut at a sentence to `most` words; faults are left for those who compare drafts."""
    model = await run.model("writer")
    seed = run.seed(state, *purpose)
    stream = write_stream(
        model,
        turns,
        max_tokens=prose_tokens(most),
        seed=seed,
        meter=run.meter,
        **prose_sampling(model, run.context, WRITE),
    )
    async with aclosing(stream) as pieces:
        text = "".join([piece async for piece in pieces]).strip()
    return as_said(text, most, run)


def as_said(text: str, most: int, run: StudyRun) -> str:
    """Return a text as the model said it, cut at a sentence to `most` words."""
    return end_at_sentence(limit_words(text, most, run.context.language))


def unusable(text: str, least: int, run: StudyRun, *, field: str) -> str | None:
    """Return what to tell a model whose text, a `field` of its form, tells no story or is far too short.

    Without guards every length stands.
    """
    if not own_text(text, run):
        return f"{field} tells no story: write the scene itself."
    words = count_words(text)
    if run.settings.guards == "none" or words >= READABLE * least:
        return None
    return f"{field} has {words} words of prose; at least {least} are asked for."


def own_text(text: str, run: StudyRun) -> str:
    """Return the story's own text of what a model wrote, without what is banned; nothing where it tells no story."""
    return strip_markup(without_banned(text, run), run.context.language)


def require_prose(text: str, run: StudyRun) -> str:
    """Return `own_text`; raise ModelReplyError where nothing is left."""
    if not (own := own_text(text, run)):
        raise _no_story(text)
    return own


def _no_story(said: str) -> ModelReplyError:
    shown = textwrap.shorten(said, 80, placeholder="…")
    return ModelReplyError(
        f"The model told no story, and said {shown!r}: run the plan again, with other `seeds` where the model always says "
        "the same, or use another model."
    )


def without_banned(text: str, run: StudyRun) -> str:
    """Return a text without the sentences that hold a phrase which the author has banned."""
    banned, kept = BannedPhrases(run.context.banned_phrases), ""
    for piece in segments(text, run.context.language) if run.context.banned else [text]:
        if not banned.find(without_emphasis(piece), without_emphasis(kept)):
            kept += piece
        else:
            # A paragraph that ends with the sentence still ends.
            kept = kept.rstrip() + piece[len(piece.rstrip()) :]
    return kept.strip() if run.context.banned else text


def _onwards(text: str, model: ResolvedModel, run: StudyRun, words: int) -> list[BaseMessage]:
    """Return the turns that ask to go on after what was accepted; llama.cpp goes on from a reply that has begun."""
    if not text:
        return []
    if model.embedded:
        return [AIMessage(text)]
    return [AIMessage(text), HumanMessage(run.own("shared").fill("onwards", words=words))]
