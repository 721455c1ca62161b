"""What the templates of one timestep are filled with, and the texts that ask for its passage.

Nothing of LangChain is imported here: a command that shows what was sent makes no messages of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from recurrentgpt.memory.codex import codex_at
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.dead_who_act import dead_who_act
from recurrentgpt.memory.excerpts import excerpt
from recurrentgpt.memory.path_fold import PathFold
from recurrentgpt.models.meter import CHARACTERS_PER_TOKEN
from recurrentgpt.models.roles import DescribedModel, ResolvedModel
from recurrentgpt.nodes.last_steps import final_step
from recurrentgpt.nodes.prompt_runtime import PromptRuntime
from recurrentgpt.prose.sentences import count_words, last_sentences, sentences
from recurrentgpt.schema.codex import Codex, Contradiction
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.outline import TurnStatus, describe_clues, describe_turns, updated_turns
from recurrentgpt.schema.parts import BY_HAND, KEPT_PLAN, Brief, character_names

if TYPE_CHECKING:
    from recurrentgpt.schema.log import Commit
    from recurrentgpt.schema.state import State

LONGEST = 4
"""Times the most words wanted that a capable model's passage may have: it is kept as long as it is, and prompts stay bounded."""

ENDING_SENTENCES = 3
MOST_PIECE_WORDS = {"full": 120, "small": 30}
"""Of a recalled passage, by tier, the most words that bear on the plan: no prompt grows with the story."""

PAST_SHARE = 8
"""The part of a model's window, one in so many, that earlier passages may take in a prompt: no prompt grows for ever."""

LARGE_WINDOW, USUAL_WINDOW = 131_072, 32_768
TOKENS_PER_SUMMARY = 25
"""About as many as the summary of one passage has at least."""

PLAN_LENGTHS = (
    (150, "one or two sentences, 40 words at most"),
    (500, "two or three sentences, 70 words at most"),
    (1000, "three to five sentences, 120 words at most"),
)
"""How long a plan is for passages of at most so many words."""
LONGEST_PLAN = "five to seven sentences, 180 words at most"

NO_PLAN = "None: the author wrote this passage by hand."


def memory_lines(memory: str) -> list[str]:
    """Return the sentences of a short-term memory."""
    return [line.strip() for line in memory.splitlines() if line.strip()]


def memory_was_edited(state: State) -> bool:
    """Tell whether the short-term memory is another than the passage's conversation leads to."""
    dropped, added = state["rationale"]["dropped"], state["rationale"]["added"]
    before, now = set(memory_lines(state.get("previous_memory", ""))), set(memory_lines(state["short_term_memory"]))
    expected = (before - {item["sentence"] for item in dropped}) | {item["sentence"] for item in added}
    return now != expected or any(why == BY_HAND for why in [item["why"] for item in dropped + added])


def voice(context: Context) -> Mapping[str, Any]:
    """Return what every template may name of how the story is told.

    `examples` tells whether a template's own examples fit: they are in English, and in their mode's person and tense.
    """
    return {
        "language": context.language,
        "person": context.person,
        "tense": context.time,
        "pace": context.pace,
        "style": context.style,
        "note": context.note,
        "banned": context.banned,
        "examples": context.own_voice,
    }


def people(state: State) -> list[str]:
    """Return the names of the main characters."""
    return character_names(state["brief"])


def subjects(state: State, runtime: PromptRuntime) -> list[str]:
    """Return whom plans and notes are about: the main characters, and in fiction the reader first of all."""
    return ["You", *people(state)] if runtime.context.mode == "fiction" else people(state)


def finale(state: State, runtime: PromptRuntime, step: int) -> str:
    """Return how near passage `step` is to the end that was asked for: "", "near" or "last".

    A first passage begins the story, however short that is.
    """
    last = final_step(state, runtime.context, step)
    if not last or step < last - 2:
        return ""
    return "last" if step >= last else "near" if step > 1 else ""


def invited(state: State, runtime: PromptRuntime, step: int) -> bool:
    """Return whether passage `step` should bring in a new character, as the original does now and then."""
    return runtime.chance(state, step, "new character").random() < runtime.context.new_character


def due_turn(turns: Sequence[TurnStatus], step: int, last_step: int) -> int:
    """Return the number of the turn that passage `step` belongs to if all take as long; the last one, with all that is left.

    0 where no end is set, and where that turn is told: whoever is ahead is not told to go back.
    """
    due = (len(turns) if step >= last_step else (step - 1) * len(turns) // last_step + 1) if last_step and turns else 0
    return 0 if due and turns[due - 1] == "done" else due


def plan_length(context: Context) -> str:
    """Return how long a plan is, in words for a prompt: what fits into a passage of the length wanted."""
    return next((length for most, length in PLAN_LENGTHS if context.max_words <= most), LONGEST_PLAN)


def with_every_part(brief: Brief) -> Mapping[str, Any]:
    """Return a brief as templates name it: what a story has none of is empty."""
    return {"synopsis": "", "truth": "", "clues": [], "voice": "", **brief}


def variables(state: State, runtime: PromptRuntime, step: int) -> Mapping[str, Any]:
    """Return what every template of passage `step` may name."""
    context, brief = runtime.context, state["brief"]
    turns = updated_turns(state.get("turns", []), {}, len(brief["outline"]))
    ends_at = final_step(state, context, step)
    return {
        **voice(context),
        "brief": with_every_part(brief),
        "turns": describe_turns(turns),
        "clues": describe_clues(_counted_clues(state), step, ends_at),
        "unreached": state.get("unreached", ""),
        "due": due_turn(turns, step, ends_at),
        "min_words": context.min_words,
        "max_words": context.max_words,
        "plan_length": plan_length(context),
        "step": step,
        "last_step": ends_at,
        "finale": finale(state, runtime, step),
        "goes_on": bool(context.length) and step == context.length + 1,
        "invite": invited(state, runtime, step),
    }


def _counted_clues(state: State) -> list[TurnStatus]:
    """Return where each clue stands; none where nobody has kept count, as in stories that are older than the count."""
    counted = state.get("clues", [])
    return updated_turns(counted, {}, len(state["brief"].get("clues", []))) if counted or not state.get("step") else []


async def write_texts(
    state: State, runtime: PromptRuntime, model: ResolvedModel | DescribedModel
) -> list[tuple[str, str]]:
    """Return who says what in the turns that ask for the passage after the state's: `system`, `human` or `ai`, and the text."""
    prompts = runtime.prompts(model)
    shared, given = await write_values(state, runtime, model)
    return [("system", prompts.fill("system", **shared)), *prompts.texts("write", **given)]


async def write_values(
    state: State, runtime: PromptRuntime, model: ResolvedModel | DescribedModel
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what every template of the passage after the state's is filled with, and what the one that asks for it is."""
    previous, step = state.get("passage", ""), state.get("step", 0) + 1
    shared = variables(state, runtime, step)
    most = MOST_PIECE_WORDS[model.tier]
    past = await _past(state, runtime, model) if model.tier == "full" else Past()
    memory = memory_lines(state.get("short_term_memory", ""))
    recalled = [
        {
            **entry,
            "summary": "" if entry["summary"] in memory else entry["summary"],
            "piece": excerpt(entry["piece"], state["plan"], most, runtime.context.language),
            "quoted": entry.get("quoted", False),
        }
        for entry in state.get("recalled", [])
        # What is shown whole is not told again, nor a summary that stands among those of all passages, nor the memory.
        if not (past.earlier and (entry["step"] >= step - 2 or entry["piece"] == entry["summary"]))
        and entry["piece"] not in memory
    ]
    entries = state.get("entries", [])
    # A model that wears an adapter was taught one list of what is true.
    known = [line for entry in entries for line in entry["lines"]] if model.adapter else []
    given = dict(
        **shared,
        memory=[*memory, *known],
        summaries=past.summaries,
        recalled=recalled,
        entries=entries,
        earlier=past.earlier,
        slips=await _previous_slips(state, runtime) if model.tier == "full" else [],
        previous=_last_words(previous, LONGEST * runtime.context.max_words + 100),
        ending=_ending(previous),
        # The plan of a passage that was edited since tells of people and events that may be gone.
        plan=NO_PLAN if state.get("plan_author") == KEPT_PLAN else state["plan"],
    )
    return shared, given


def to_come(state: State, last_step: int) -> str:
    """Return the turn of the outline that the passage after the state's is nearest to; "" after the last one."""
    outline, step = state["brief"]["outline"], state["step"]
    place = step * len(outline) // last_step if last_step else step
    return outline[place] if place < len(outline) else ""


class PassageSummary(NamedTuple):
    """What a passage is told of by, later on."""

    commit: str
    step: int
    summary: str
    slips: tuple[Contradiction, ...] = ()
    """What of it contradicts the codex before it, and was not meant so."""


_SUMMARIES = PathFold[tuple[PassageSummary, ...]](
    (),
    lambda before, commit, _: (
        *before,
        PassageSummary(commit["id"], commit["step"], commit["summary"], tuple(accused(commit))),
    ),
)


async def summaries_of(state: State, runtime: PromptRuntime) -> list[PassageSummary]:
    """Return the summaries of the passages up to the state's, oldest first, as they were corrected for its branch."""
    story, step = state["story"], state.get("step", 0)
    path = await _SUMMARIES.at(runtime.log, story, state.get("head", ""))
    corrected = (await read_overlay(runtime.log, story, state.get("overlay", "")))["summaries"]
    return [
        entry._replace(summary=corrected[entry.commit]) if entry.commit in corrected else entry
        for entry in path
        if 0 < entry.step <= step
    ]


@dataclass(frozen=True)
class Past:
    """What a capable model is told of earlier passages while all of it fits."""

    summaries: Sequence[PassageSummary] = ()
    """Of each passage, oldest first."""
    earlier: str = ""
    """The passage before the previous one."""


async def _past(state: State, runtime: PromptRuntime, model: ResolvedModel | DescribedModel) -> Past:
    """Return the past of the passage after the state's, as long as it fits into its share of the model's window; else nothing."""
    step, chosen = state.get("step", 0), runtime.context.past_tokens
    room = past_tokens(model) if chosen is None else chosen
    if step < 2 or step * TOKENS_PER_SUMMARY > room:
        return Past()
    summaries = await summaries_of(state, runtime)
    if len(summaries) < 2:
        return Past()
    passage = (await runtime.log.remembered(state["story"], summaries[-2].commit))["passage"]
    if runtime.context.codex and any(entry.slips for entry in summaries):
        codex = await codex_before(state, runtime)
        for one in dead_who_act(codex, summaries[-2].slips):
            passage = one.marked_in(passage)
        summaries = [entry._replace(summary=_told_now(entry, codex)) for entry in summaries]
        summaries = [entry for entry in summaries if entry.summary]
    earlier = _last_words(passage, LONGEST * runtime.context.max_words + 100)
    told = len(earlier) + len(state["passage"]) + sum(len(entry.summary) for entry in summaries)
    return Past(summaries, earlier) if told <= room * CHARACTERS_PER_TOKEN else Past()


def _told_now(passage: PassageSummary, codex: Codex) -> str:
    """Return the summary of a passage without what it tells of the dead as of the living."""
    summary = passage.summary
    for one in dead_who_act(codex, passage.slips):
        summary = one.taken_from(summary)
    return summary


async def codex_before(state: State, runtime: PromptRuntime) -> Codex:
    """Return the codex as it was before the passage that is in the making or was just written."""
    return await codex_at(runtime.log, state["story"], state.get("head", ""), state.get("overlay", ""), state["brief"])


async def _previous_slips(state: State, runtime: PromptRuntime) -> list[str]:
    """Return what the previous passage has against the codex where somebody dead acts in it."""
    found = accused(state) if runtime.context.codex else []
    dead = {one.said for one in dead_who_act(await codex_before(state, runtime), found)} if found else ()
    return [slip_of(one) for one in found if one["said"] in dead]


def accused(written: State | Commit) -> list[Contradiction]:
    """Return the contradictions of a passage that are none of its author's: what somebody wrote by hand is meant so.

    Before an edit by which somebody died, nobody could mean it.
    """
    found = written.get("contradictions", [])
    return found if written.get("author") == "model" else [one for one in found if one.get("was_alive")]


def slip_of(one: Contradiction) -> str:
    """Return a contradiction as a model is told of it."""
    return f"{one['holds']} But the passage says: {one['said']}"


def past_tokens(model: ResolvedModel | DescribedModel) -> int:
    """Return the tokens that earlier passages may take in a prompt: their share of its model's window.

    Where nobody has said how large that is, hosts have large ones, and servers at home usual ones.
    """
    return (model.context_window or (LARGE_WINDOW if model.profile.hosts else USUAL_WINDOW)) // PAST_SHARE


@lru_cache(maxsize=1024)
def _ending(passage: str) -> str:
    return last_sentences(passage, ENDING_SENTENCES)


@lru_cache(maxsize=1024)
def _last_words(text: str, most: int) -> str:
    """Return the last sentences of a passage, `most` words at the most: somebody may have made it very long by hand.

    All calls of a timestep tell of the same passages, so what was cut for one is kept for the others.
    """
    kept: list[str] = []
    count = 0
    for sentence in reversed(sentences(text) if count_words(text) > most else [text]):
        count += count_words(sentence)
        if kept and count > most:
            break
        kept.append(sentence)
    return " ".join(reversed(kept))
