"""write: the next passage, from the plan, the short-term memory and what was recalled (paper, section 2.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Protocol, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from recurrentgpt.models.calls import write_stream
from recurrentgpt.models.decoding import WRITE, WRITE_TAUGHT, prose_tokens, scene_grammar, scene_shape
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.continuity import living
from recurrentgpt.nodes.continuity_judge import check_passage, set_judge
from recurrentgpt.nodes.prompt_messages import prose_sampling, write_turns
from recurrentgpt.nodes.prompt_runtime import PromptRuntime, sent_as
from recurrentgpt.nodes.prompt_values import LONGEST, finale, people
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.nodes.small.reply_patterns import first_name, is_english
from recurrentgpt.nodes.worked_examples import fixed_turns, strangers
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.model_text import without_turns
from recurrentgpt.prose.sentence_checks import in_the_present
from recurrentgpt.prose.sentences import count_words, limit_words, segments
from recurrentgpt.schema.codex import Contradiction
from recurrentgpt.schema.errors import ModelReplyError, ModelTooSlow, ModelUnavailable, ReasoningShown
from recurrentgpt.schema.state import State
from recurrentgpt.schema.stream_buffer import StreamBuffer

MOST_SAMPLES = 8
"""Calls for one passage. Each goes on from the sentences already accepted, so that none of them is written in vain."""

WATCHED = 20
"""Passages before this one that a small model must not copy."""

WARMER = 0.1
"""Added to a small model's temperature with each further sample: from the same words it tends to the same fault."""

PROGRESS = 15
"""Words that a further sample must add, or the next one takes a run-up."""

RUN_UPS = (0, 2, 6, 1_000_000)
"""Sentences to take back before the next sample: after so many without progress, the last time all of them."""

MOST_REWRITES = 2
"""Times that a capable model is asked for its whole passage again, with the reason; then the best one stands."""

MOST_ENDINGS = 2
"""Times that a capable model which met the limit of a reply is asked for the end of its passage; then it ends at a sentence."""

CUT_SHORT = ("length", "content_filter")
"""Why a reply ended that was not whole."""

MOST_MENDS = 2
"""Times that a passage which contradicts the codex is asked for again; of all of them the best one stands."""

MOST_REMINDED_WORDS = 30
"""Words of what holds that a small model is told where its passage contradicted it."""

OTHER_SEEDS = 1000
"""Takes between the seeds of a passage and those of the next try to mend it."""

MOSTLY_PRESENT = 0.2
"""Share of the sentences of the passage before that make a story one that is told in the present, whatever was wanted of it."""

READABLE = 0.75
"""Share of the fewest words wanted with which a passage may stand when the samples are used up."""

WHOLE = 0.1
"""The same of a capable model's passage, on which it insists: it is told, only shorter."""


@node
async def write(state: State, runtime: StoryRuntime) -> Update:
    """Return the next passage, streamed to whoever listens, sentence by sentence checked for what no story should hold."""
    model, judge, plans = await runtime.model("writer"), await set_judge(runtime), await plans_to_come(runtime)
    prompts, step = runtime.prompts(model), state.get("step", 0) + 1
    previous = state.get("passage", "")
    asked = await write_turns(state, runtime, model)
    heard = StreamBuffer()

    def show(text: str, settled: int, why: str = "") -> None:
        for event in heard.become(text, settled, why):
            runtime.emit(event)

    in_one_piece = model.tier == "full" and runtime.context.keeps_whole_passages
    compose = _in_one_piece if in_one_piece else _in_samples
    composing = Composing(state, runtime, model, prompts, asked, step, previous, show)
    gate = await compose(composing)
    passage = gate.finish()
    if not _is_readable(gate, passage):
        faults = "; ".join(str(fault) for fault in gate.refused[-2:]) or "it stopped after a few words"
        tries = MOST_REWRITES + 1 if in_one_piece else MOST_SAMPLES
        raise ModelReplyError(
            f"{model.name} wrote no usable passage in {tries} tries ({faults[:200]}): try again, change the plan, or use a more "
            "capable model. What was written is safe."
        )
    found = await check_passage(state, runtime, passage, judge)
    if found and runtime.context.continuity == "mend":
        passage, found = await _mended(composing, compose, judge, passage, found)
    show(passage, len(passage))
    sent = sent_as(model.templates, [str(turn.text) for turn in asked])
    return cast(Update, {**written(state, passage, state["plan"], found), "sent": sent, **plans})


async def plans_to_come(runtime: StoryRuntime) -> State:
    """Return what becomes of a state's plans with its next passage.

    A capable model's are made of what the memory's update says of the passage, and wait for it (see `after_write`). So do those
    of a model that wears an adapter: its calls go on from one conversation, which a server that has read it once would read
    again for the second of two at once.
    """
    model = await runtime.model("planner")
    return {"candidate_plans": []} if model.tier == "full" or model.adapter else {}


def written(state: State, passage: str, plan: str, found: list[Contradiction]) -> State:
    """Return what a state becomes with its next passage, and the `found` contradictions in it."""
    return {
        "passage": passage,
        "contradictions": found,
        "sent": "",
        "author": "model",
        "step": state.get("step", 0) + 1,
        "plan": plan,
        "next_plan": "",
        "written_plan": plan,
        "previous_passage": state.get("passage", ""),
        "previous_memory": state.get("short_term_memory", ""),
        "previous_turns": state.get("turns", []),
        "previous_clues": state.get("clues", []),
        "previous_unreached": state.get("unreached", ""),
        "status": "writing",
        "digests": {},
    }


class Show(Protocol):
    """How the calls for a passage tell a listener of it."""

    def __call__(self, text: str, settled: int, why: str = "") -> None:
        """Make what he holds this text, of which so many characters are settled; `why` something of it is taken back."""


@dataclass(frozen=True)
class Composing:
    """What every call for one passage shares."""

    state: State
    runtime: StoryRuntime
    model: ResolvedModel
    prompts: Prompts
    asked: list[BaseMessage]
    step: int
    previous: str
    show: Show


Compose = Callable[[Composing], Awaitable[ProseGate]]


async def _mended(
    first: Composing, compose: Compose, judge: ResolvedModel | None, passage: str, found: list[Contradiction]
) -> tuple[str, list[Contradiction]]:
    """Return the passage of a few that contradicts the codex least, and how.

    A capable model is told the reason; a small one begins anew, and is told what holds.
    """
    state, runtime, context = first.state, first.runtime, first.runtime.context
    for mend in range(1, MOST_MENDS + 1):
        runtime.meter.resamples += 1
        reasons = " ".join(f"It says: {one['said']} But: {one['holds']}" for one in found)
        first.show("", 0, reasons)
        asked = first.asked
        if first.model.tier == "full":
            again = first.prompts.fill(
                "rewrite", reason=reasons, min_words=context.min_words, max_words=context.max_words
            )
            asked = [*asked, AIMessage(passage), HumanMessage(again)]
        else:
            asked = await _reminded(first, found)
        # Other seeds, and another form of the scene, from its beginning.
        retaken: State = {**state, "take": state.get("take", 0) + OTHER_SEEDS * mend, "begun": ""}
        gate = await compose(replace(first, asked=asked, state=retaken))
        other = gate.finish()
        left = await check_passage(state, runtime, other, judge)
        if _is_readable(gate, other) and len(left) < len(found):
            passage, found = other, left
        if not found:
            break
    return passage, found


async def _reminded(first: Composing, found: list[Contradiction]) -> list[BaseMessage]:
    """Return the turns that ask a small model for a passage, with what it contradicted behind the author's note."""
    context = copy(first.runtime.context)
    holds = limit_words(" ".join(dict.fromkeys(one["holds"] for one in found)), MOST_REMINDED_WORDS)
    context.note = f"{context.note} {holds}".strip()
    return await write_turns(first.state, PromptRuntime(context, first.runtime.log), first.model)


async def _in_samples(passage: Composing) -> ProseGate:
    """Return the gate of a passage in samples: each goes on from the sentences that were accepted before it."""
    state, runtime, model = passage.state, passage.runtime, passage.model
    gate = await _begin(passage, small=model.tier == "small")
    # What somebody let stand is no part of a run-up.
    standing = len(segments(gate.text, runtime.context.language))
    reached, stuck = 0, 0
    shaped, acting = model.embedded and not model.adapter, people(state)
    if shaped and state.get("plan_author") != "human":  # of whom a person's own plan tells, the dead may speak
        acting = await living(state, runtime, acting)
    for sample in range(MOST_SAMPLES):
        runtime.meter.resamples += bool(sample)
        turns = [*passage.asked, *_onwards(gate, model, passage.prompts, runtime)]
        form = _form(gate, state, runtime, acting, passage.step + sample) if shaped else {}
        try:
            seed, warmer = runtime.seed(state, "write", sample), WARMER * sample
            await _sample(gate, turns, model, runtime, passage.show, seed=seed, warmer=warmer, form=form)
        except ReasoningShown as error:
            gate = await _begin_again(passage, error)
            continue
        except (ModelUnavailable, ModelTooSlow):
            # A stream that broke off has left sentences to go on from; one that never began is for the retry policy.
            if not gate.cut():
                raise
            continue
        gate.close()
        if gate.complete:
            break
        why = f"It held what no reader should meet ({gate.fault})." if gate.fault else ""
        stuck = stuck + 1 if gate.words < reached + PROGRESS else 0
        reached = max(reached, gate.words)
        sentences = len(segments(gate.cut(), runtime.context.language))
        gate.cut(back=min(RUN_UPS[stuck], sentences - standing))
        if not gate.text or stuck == len(RUN_UPS) - 1:
            reached = stuck = 0
        passage.show(gate.text, gate.settled, why)
    return gate


async def _in_one_piece(passage: Composing) -> ProseGate:
    """Return the gate of a capable model's passage, which is whole: asked for again with the reason, never cut.

    A reply that broke off, met its limit or is too short is gone on with, until that brings nothing; of several whole ones the
    best stands. A last passage that came to its end has nothing after it: one that is far too short is asked for again, longer.
    """
    state, runtime, model = passage.state, passage.runtime, passage.model
    gate = await _begin(passage, small=False)
    first = [*passage.asked, *_onwards(gate, model, passage.prompts, runtime)]
    best, turns, rewrites, endings = gate, first, 0, 0
    shorter: ProseGate | None = None
    last = finale(state, runtime, passage.step) == "last"
    for sample in range(MOST_SAMPLES):
        runtime.meter.resamples += bool(sample)
        seed = runtime.seed(state, "write", sample)
        try:
            await _sample(gate, turns, model, runtime, passage.show, seed=seed, warmer=0, form={})
        except ReasoningShown as error:
            gate = best = await _begin_again(passage, error)
            turns, shorter = first, None
            continue
        except (ModelUnavailable, ModelTooSlow):
            if not gate.cut():
                raise
            if gate.words >= gate.max_words:
                # As long as was wanted: a stream that breaks off again and again would make it ever longer.
                return gate
            turns = [*passage.asked, *_onwards(gate, model, passage.prompts, runtime)]
            continue
        gate.close(whole=runtime.meter.finish_reason not in CUT_SHORT)
        if shorter and (gate.objection or gate.words < shorter.words + PROGRESS):
            # It had been told, and what came after it is talk, or said again.
            return shorter
        best = min(best, gate, key=_shortcomings)
        ended = last and runtime.meter.finish_reason not in CUT_SHORT
        reason = gate.objection
        if not reason and ended and gate.words < READABLE * gate.min_words:
            reason = f"It has {gate.words} words, and the end of the novel needs more room."
        if reason and rewrites < (1 if gate.may_be_meant else MOST_REWRITES):
            rewrites += 1
            again = passage.prompts.fill("rewrite", reason=reason, min_words=gate.min_words, max_words=gate.max_words)
            # Where sentences stand already, only what follows is asked for again.
            turns = (
                first
                if state.get("begun")
                else [*passage.asked, AIMessage(without_turns(gate.reply)), HumanMessage(again)]
            )
            passage.show("", 0, reason)
            gate = await _begin(passage, small=False)
        elif runtime.meter.finish_reason in CUT_SHORT and endings < MOST_ENDINGS and gate.cut():
            endings += 1
            turns = [*passage.asked, *_onwards(gate, model, passage.prompts, runtime)]
        elif best.complete or (ended and (best.words >= READABLE * best.min_words or rewrites >= MOST_REWRITES)):
            break
        elif reason and not best.finish():
            # A refusal that stays has no text to go on from.
            break
        else:
            gate, shorter = best, deepcopy(best)
            gate.cut()
            turns = [*passage.asked, *_onwards(gate, model, passage.prompts, runtime)]
    return best


async def _begin(passage: Composing, *, small: bool) -> ProseGate:
    """Return the gate of a passage: empty, or with the sentences that stand of one whose writing was stopped."""
    gate = await _gate(passage, small=small)
    if begun := passage.state.get("begun"):
        gate.feed(begun)
        gate.close()
        gate.cut()
        passage.show(gate.text, gate.settled)
    return gate


async def _begin_again(passage: Composing, error: ReasoningShown) -> ProseGate:
    """Return the gate of a passage whose first words were reasoning: nobody can tell which sentences of it are the story's."""
    passage.show("", 0, str(error))
    return await _begin(passage, small=passage.model.tier == "small")


def _is_readable(gate: ProseGate, passage: str) -> bool:
    """Tell whether a gate's finished passage is long enough to stand: a capable model's repeats are left out only of that."""
    if gate.keeps_all:
        return count_words(passage) >= WHOLE * gate.min_words
    return gate.words >= READABLE * gate.min_words


def _shortcomings(gate: ProseGate) -> tuple[bool, int, int]:
    """Return what tells the better of two whole passages: the smaller one is."""
    return not gate.complete, len(gate.refused), -gate.words


async def _sample(
    gate: ProseGate,
    turns: list[BaseMessage],
    model: ResolvedModel,
    runtime: StoryRuntime,
    show: Show,
    *,
    seed: int,
    warmer: float,
    form: dict[str, str],
) -> None:
    """Feed the gate from one call, until it has enough or finds a fault."""
    decoding = WRITE_TAUGHT if model.adapter else WRITE
    most = runtime.context.max_words
    # A capable model's passage may be longer than it should, and is kept: only a runaway meets this end.
    left = max(LONGEST * most - gate.words, most) if gate.keeps_all else most - gate.words
    stream = write_stream(
        model,
        turns,
        max_tokens=prose_tokens(left),
        seed=seed,
        meter=runtime.meter,
        **prose_sampling(model, runtime.context, decoding, warmer=warmer, form=form),
    )
    prefill = gate.text if isinstance(turns[-1], AIMessage) else ""
    echoed = ""
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            if prefill:
                # A server that goes on from a begun reply may first repeat it.
                echoed += piece
                if len(echoed) < len(prefill) and prefill.startswith(echoed):
                    continue
                piece, prefill = echoed.removeprefix(prefill), ""
            gate.feed(piece)
            show(gate.text, gate.settled)
            if gate.fault or gate.enough:
                break


def _form(gate: ProseGate, state: State, runtime: StoryRuntime, acting: list[str], deal: int) -> dict[str, str]:
    """Return the grammar of the scene, or of what is missing of it; there is none for a voice that is not the mode's own.

    `acting` are the people who may speak, and `deal` numbers the form: another sample goes on in another one.
    """
    if not runtime.context.own_voice:
        return {}
    first_names = [first_name(name) for name in acting]
    names = [name for name in first_names if name in state["plan"]] or first_names
    # All that fits: a scene that ends too short, after what it repeats is left out, costs another call; one that is long enough
    # is cut at a paragraph.
    words = runtime.context.max_words - gate.words
    played = runtime.context.mode == "fiction"
    shape = scene_shape(deal, runtime.deck(state), max(words, 60))
    return {"grammar": scene_grammar(shape, names, deal, going_on=bool(gate.text), played=played)}


async def _gate(passage: Composing, *, small: bool) -> ProseGate:
    """Return a gate that refuses what was copied from earlier passages.

    Memory and plan are no such texts: they say what passages said, or shall say. A small model is watched over the last
    passages, for it says the same things in the same words; the log is only read here.
    """
    state, context = passage.state, passage.runtime.context
    seen = [passage.previous, *(entry["piece"] for entry in state.get("recalled", []))]
    unknown: list[str] = []
    if small:
        log = passage.runtime.log
        seen += [commit["passage"] for commit in await log.latest(state["story"], state["head"], WATCHED)]
        unknown = strangers(passage.asked, passage.prompts, seen)
        seen += [str(turn.text) for turn in passage.asked[: fixed_turns(passage.asked)]]
    return ProseGate(
        min_words=context.min_words,
        max_words=context.max_words,
        seen=[text for text in seen if text],
        language=context.language,
        finale=finale(state, passage.runtime, passage.step) == "last",
        third_person=small and context.person != "first",
        past_tense=passage.model.adapter is not None and _is_past(passage),
        keeps_all=not small and context.keeps_whole_passages,
        banned=context.banned_phrases,
        strangers=unknown,
    )


def _is_past(passage: Composing) -> bool:
    """Tell whether a passage is to be told in the past, as a novel is, unless what stands of it or the one before is not."""
    context, begun = passage.runtime.context, passage.state.get("begun", "")
    if context.mode != "novel" or not context.own_narration or not is_english(context.language):
        return False
    return not in_the_present(begun) and in_the_present(passage.previous) < MOSTLY_PRESENT


def _onwards(gate: ProseGate, model: ResolvedModel, prompts: Prompts, runtime: StoryRuntime) -> list[BaseMessage]:
    """Return the turns that ask to go on after the accepted sentences: none at the start."""
    if not gate.text:
        return []
    begun = AIMessage(gate.text)
    if model.embedded:
        # llama.cpp goes on from a reply that has begun.
        return [begun]
    words = max(50, (runtime.context.min_words + runtime.context.max_words) // 2 - gate.words)
    return [begun, HumanMessage(prompts.fill("continue", words=words))]
