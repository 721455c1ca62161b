"""update_memory: rewrite the short-term memory, with what was dropped and added and why (paper, section 2.2).

A capable model says what to drop, replace and add, and the program builds the memory. A small one only says what the passage
adds (the input gate) and a rule says what is forgotten (the forget gate); the reasons given are the true ones in both.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, zip_longest
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, BeforeValidator, Field, Strict, create_model, model_validator

from recurrentgpt.memory.codex import changed, open_entries, sentence_of, tell, touched
from recurrentgpt.memory.dead_who_act import dead_who_act
from recurrentgpt.memory.forgetting import admit, forget
from recurrentgpt.memory.nearness import embedded
from recurrentgpt.memory.rows import Matrix
from recurrentgpt.memory.told_of_people import begins_with, says_what_they_do, tells_how_they_live
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FACTS, FULL_REPLY_TOKENS, sampled
from recurrentgpt.models.json_replies import OptionalText, PartialReply, UnusableEntry
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.codex_changes import end_of, end_of_office, from_facts, nearest, with_words
from recurrentgpt.nodes.codex_from_reply import CodexChange, from_reply
from recurrentgpt.nodes.codex_newcomers import newcomers
from recurrentgpt.nodes.continuity import no_longer_gone
from recurrentgpt.nodes.outdated_memory import living_no_longer, outdated_sentences
from recurrentgpt.nodes.prompt_messages import small_turns, written_turns
from recurrentgpt.nodes.prompt_values import (
    accused,
    codex_before,
    finale,
    memory_lines,
    people,
    slip_of,
    subjects,
    variables,
)
from recurrentgpt.nodes.reply_schemas import facts_reply
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.nodes.small.reply_patterns import is_english, without_cuts
from recurrentgpt.nodes.worked_examples import strangers, walks_in
from recurrentgpt.prose.list_marks import without_marks, without_number
from recurrentgpt.prose.sentences import count_words, limit_words, numbered, sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Aspect, Change, Codex, Entry, Line
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.schema.names import CALENDAR
from recurrentgpt.schema.outline import TurnStatus, updated_turns
from recurrentgpt.schema.state import (
    BY_HAND,
    KEPT_PLAN,
    MEMORY_SENTENCES,
    MEMORY_WORDS,
    Added,
    Dropped,
    Rationale,
    State,
)

FORGET_DOWN_TO = 14
"""Sentences that a full memory is cut back to. Between two cuts it only grows at its end, and prompts keep their prefix."""

ASKED_SENTENCES, ASKED_WORDS = 18, 450
"""What a capable model is asked to keep to: a tenth less than the ceilings, so that it need not count exactly."""

MOST_OPEN, MOST_OPEN_WORDS = 20, 160
"""Promises and questions of the codex that a model is shown when it says what a passage changed, the newest, and their words."""

MOST_KNOWN, MOST_KNOWN_WORDS = 16, 40
"""Names of things and places of the codex that it is shown then, and their words: what has a name keeps it."""

MOST_LOOKS_WORDS = 120
"""Words of how those look whom a passage is about, which it is shown then: a rule cannot tell that sober is no longer drunk."""

MOST_FACTS, MOST_FACTS_WORDS = 24, 240
"""Lines of those whom a passage is about, and their words, which it is shown then, to say by their numbers what is over."""

_MAY_BE_OVER: frozenset[Aspect] = frozenset(("fact", "unaware", "role", "place", "holder"))

MOST_UNREACHED = 40
"""Words of what a passage did not reach of its plan."""

NOT_NOW = "the passage tells that it is no longer so"
"""Why a sentence leaves a memory that is kept by rules."""

NOTHING_LEFT: Update = {"unreached": "", "memory_is_behind": False}
"""What an update says of a passage of whose plan nothing is left, or nobody says that something is."""

LONGEST_READER = 60
"""Words of the sentence that says who the reader is."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_LEANING = re.compile(
    r"^(?:he|she|they|his|her|their)\b|\b(?:yesterday|tonight|tomorrow)\b"
    r"|\b(?:the same|that|the next|the following|the previous) (?:day|night|morning|afternoon|evening)\b",
    re.IGNORECASE,
)
"""What a sentence says that leans on the one before it."""
_DATED = re.compile(
    rf"\b(?:{'|'.join(sorted(CALENDAR - {'May'}))}|\d+ May|May \d+|\d+(?:st|nd|rd|th)|1\d{{3}}|20\d\d)\b"
)
"""What says which day or year is meant."""


_PLAN = r"(?:it|(?:its|the) (?:whole |entire )?plan)"
_ALL = (
    rf"(?:it all|(?:all|everything|the whole|every part)(?: (?:of|in) {_PLAN})?|(?:its|the) (?:whole|entire|full) plan)"
)
_FULLY = r"(?: (?:fully|completely|entirely|in full))?"
_REACHED = rf"{_FULLY} (?:reached|carried out|covered|completed|fulfilled){_FULLY}"
_LEFT = r"(?:left|missing|unreached|out|open)"
_NOTHING_LEFT = (
    r"(?:none|nothing)(?: (?:is|was|remains|has been))?"
    rf"|(?:none|nothing)(?: of {_PLAN})? (?:remains|remained|(?:(?:is|was|has been) )?{_LEFT})"
)
_CLAUSE = (
    rf"(?:(?:{_NOTHING_LEFT})(?: {_LEFT})*(?: to (?:come|be reached|be done))?(?: of {_PLAN})?"
    rf"|(?:it|the passage)(?: has)?{_REACHED} {_ALL}|(?:{_ALL}|(?:its|the) plan) (?:was|is|has been){_REACHED})"
)
_NOTHING = re.compile(
    r"\W*(?:nichts|rien|nada|niente|nulla|niets|ingenting|ничего|无|無|なし|없음|n/?a|no|empty|null|nil"
    rf"|{_CLAUSE}(?:\W+(?:(?:and|so|as|since|because) )?{_CLAUSE})*)\W*",
    re.IGNORECASE,
)
"""How a model says in words that a passage reached all of its plan, where nothing was to be said."""


_ABOUT_NUMBER = re.compile(r"(?:\((\d{1,3})\)|(\d{1,3})[):])\s+(?=\S)")
"""How a sentence in a list says which one it replaces: "3. März" is a day."""


def _numbers(given: Any) -> Any:
    """Return the numbers that a list names, also where it has words behind them; none for null."""
    if given is None:
        return []
    if not isinstance(given, list):
        return given
    found = [re.match(r"\d{1,3}(?!\d)", item.strip()) if isinstance(item, str) else None for item in given]
    return [int(match[0]) if match else item for item, match in zip(given, found, strict=True)]


Numbers = Annotated[list[Annotated[int, Strict()]], BeforeValidator(_numbers)]
"""Which of the things that a prompt numbers a reply means."""


class Drop(BaseModel):
    """A sentence to drop, by its number."""

    number: int
    why: str


class Replacement(BaseModel):
    """A sentence to replace, by its number."""

    number: int
    sentence: str
    why: str

    @model_validator(mode="before")
    @classmethod
    def _said_alone(cls, given: Any) -> Any:
        """Take "2: Bo has a boat." for the sentence and its number, without a reason."""
        about = _ABOUT_NUMBER.match(given) if isinstance(given, str) else None
        return {"number": about[1] or about[2], "sentence": given[about.end() :], "why": ""} if about else given


class Addition(BaseModel):
    """A sentence to add."""

    sentence: str
    why: str

    @model_validator(mode="before")
    @classmethod
    def _said_alone(cls, given: Any) -> Any:
        """Take a text for the sentence, without a reason."""
        return {"sentence": given, "why": ""} if isinstance(given, str) else given


class MemoryRepair(PartialReply):
    """What a capable model changes in a memory that is not yet as it should be."""

    drop: list[Drop] = Field(default_factory=list)
    replace: list[Replacement] = Field(default_factory=list)


class Turn(BaseModel):
    """Where a turn of the outline stands, by its number."""

    number: int
    now: TurnStatus


class SummaryReply(BaseModel):
    """The passage in one sentence."""

    summary: str = Field(min_length=1)


class MemoryChanges(MemoryRepair, SummaryReply):
    """What a capable model changes in the memory after a passage, where no codex is kept."""

    add: list[Addition] = []
    turns: list[Turn] = []
    clues: Numbers = []
    unreached: OptionalText = ""


class MemoryReply(MemoryChanges):
    """What a capable model changes in the memory after a passage: what it does not name stays as it is."""

    codex: list[CodexChange] = []


class ReplyOnFacts(MemoryReply):
    """What a capable model changes in the memory after a passage, and which of the facts that it is shown are over."""

    over: Numbers = []


@node
async def update_memory(state: State, runtime: StoryRuntime) -> Update:
    """Return the new short-term memory, the rationale, and the passage's summary for the long-term memory."""
    model = await runtime.model("memory")
    if model.tier == "small":
        return await _gated(state, runtime, model)
    # What goes on after its end remembers its last passage like any other.
    last = finale(state, runtime, state["step"]) == "last" and not state.get("memory_is_behind")
    return await (_summarised if last else _changed)(state, runtime, model)


def _with_edits(made: Rationale, new: list[str], state: State) -> Rationale:
    """Return why a memory became what it is after somebody edited, behind the passage, the one that it is made from."""
    before, edited = memory_lines(state["previous_memory"]), memory_lines(state["short_term_memory"])
    if edited == before:
        return made
    added = [entry for entry in made["added"] if entry["sentence"] not in before]
    dropped = [entry for entry in made["dropped"] if entry["sentence"] in before]
    return Rationale(
        added=added + [Added(sentence=line, why=BY_HAND) for line in edited if line in new and line not in before],
        dropped=dropped
        + [Dropped(sentence=line, why=BY_HAND) for line in before if line not in edited and line not in new],
    )


async def _summarised(state: State, runtime: StoryRuntime, model: ResolvedModel) -> Update:
    """Return the summary alone, and the memory as it was: nothing is written from it after a last passage."""
    request = HumanMessage(runtime.prompts(model).fill("summary", **variables(state, runtime, state["step"])))
    turns = [*await written_turns(state, runtime, model), request]
    seed = runtime.seed(state, "update_memory")
    reply = await ask(model, turns, SummaryReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=runtime.meter)
    memory = state["short_term_memory"]
    rationale = _with_edits(Rationale(dropped=[], added=[]), memory_lines(memory), state)
    unchanged = {"short_term_memory": memory, "rationale": rationale}
    summary = " ".join(reply.summary.split())
    turns_then = _turns_at_the_end(state, runtime)
    return {**unchanged, **NOTHING_LEFT, "summary": summary, "turns": turns_then, "codex": []}


def _turns_at_the_end(state: State, runtime: StoryRuntime) -> list[TurnStatus]:
    """Return where the turns stand after a last passage: a novel that is told has its last turn behind it, and none under way."""
    turns = updated_turns(state.get("turns", []), {}, len(state["brief"]["outline"]))
    if runtime.context.mode == "fiction":
        # What waited there, and was not met, waits on.
        return turns
    told = [number for number, turn in enumerate(turns, 1) if turn == "under way" or number == len(turns)]
    return updated_turns(turns, dict.fromkeys(told, "done"), len(turns))


async def _changed(state: State, runtime: StoryRuntime, model: ResolvedModel) -> Update:
    prompts, old = runtime.prompts(model), memory_lines(state["short_term_memory"])
    asked = await written_turns(state, runtime, model)
    # Templates of somebody's own may show the memory without the numbers by which it is changed.
    is_as_it_was = old == memory_lines(state["previous_memory"])
    listed = is_as_it_was and any(numbered(old) in str(turn.text) for turn in asked)
    shared = variables(state, runtime, state["step"])
    size = {
        "limit": {"sentences": ASKED_SENTENCES, "words": ASKED_WORDS},
        "held": {"sentences": len(old), "words": count_words("\n".join(old))},
    }
    told = prompts.fill("update_memory", memory=[] if listed else old, **size, **shared)
    form, request = MemoryChanges, HumanMessage(told)
    known = await codex_before(state, runtime) if runtime.context.codex else Codex()
    facts: Facts = {}
    if runtime.context.codex:
        # What was told of last is settled soonest.
        newest = [entry.name for entry in reversed(open_entries(known))]
        still_open = _first(newest, MOST_OPEN, MOST_OPEN_WORDS)[::-1]
        about = _about(state, known)
        asked_of = [one for one in open_entries(known) if one.name in still_open and one not in about]
        facts = _facts(about, asked_of, offices=is_english(runtime.context.language))
        shown = {
            "open": still_open,
            "looks": _looks(about),
            "facts": [*facts],
            "known": _known_names(state, known, about),
            "slips": _slips(state),
        }
        told = f"{told}\n{prompts.fill('codex', **shown)}"
        # A template of somebody's own may show none.
        facts = facts if all(fact in told for fact in facts) else {}
        form, request = ReplyOnFacts if facts else MemoryReply, HumanMessage(told)
    seed, meter = runtime.seed(state, "update_memory"), runtime.meter
    reply = await ask(model, [*asked, request], form, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=meter)
    changes = Changes()
    new = changes.apply(old, reply, reply.add)
    # Of a passage whose memory is behind, its author may have had a word on the codex.
    said = state.get("codex", []) if state.get("memory_is_behind") else []
    said = [change for change in said if change.get("author")]
    codex = [*_told(reply, facts, state, runtime, known), *said]
    after = changed(known, codex, "the passage", state["step"])
    ghosts = [*dead_who_act(known, accused(state))]

    def acts() -> list[str]:
        return [line for line in new if line not in old and any(one.acts_in(line) for one in ghosts)]

    stray = _of_no_sentence(reply, len(old))
    objections = [
        _objection(new, old, runtime.context.language),
        _objection_to_the_living(new, [*living_no_longer(new, old, known, after), *acts()], after),
        *map(_put_right, [*reply.unusable, *stray]),
    ]
    if problem := "\n".join(filter(None, objections)):
        meter.resamples += 1
        lacking = {entry.name for entry in reply.unusable} | ({"add"} if stray else set())
        lacking -= MemoryRepair.model_fields.keys()
        again = HumanMessage(prompts.fill("repair_memory", memory=new, problem=problem, parts=sorted(lacking)))
        with contextlib.suppress(ModelReplyError):
            # What it still holds too much is dropped by the rule below: a model that cannot be short must not stop the story.
            turns = [*asked, request, AIMessage(_as_said(reply)), again]
            part = _repair_form(form, frozenset(lacking))
            repair = await ask(model, turns, part, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=meter)
            new = changes.apply(new, repair, getattr(repair, "add", ()))
            reply = _with_repair(reply, repair)
            if lacking:
                codex = [*_told(reply, facts, state, runtime, known), *said]
                after = changed(known, codex, "the passage", state["step"])
    if not reply.summary:
        raise ModelReplyError(f"{model.name} did not sum the passage up: try again. What was written is safe.")
    summary = " ".join(reply.summary.split())
    # What else it insists on may have happened.
    dead = [after.called_alone(entry) for entry in after.dead]
    lived = living_no_longer(new, old, known, after)
    over_now = [*acts(), *(line for line in lived if any(tells_how_they_live(line, names) for names in dead))]
    lines = [line for line in new if line not in over_now] or [summary]
    kept, over = await _within_ceilings(lines, state, runtime, reader=_reader(lines, state, runtime, model))
    changes.why_dropped |= dict.fromkeys(over_now, NOT_NOW)
    dropped = [Dropped(sentence=line, why=changes.why_dropped.get(line, "")) for line in old if line not in lines]
    added = [Added(sentence=line, why=changes.why_added.get(line, "")) for line in kept if line not in old]
    standing = {turn.number: turn.now for turn in reply.turns}
    if state.get("memory_is_behind"):
        summary = state["summary"]  # the one in the archive
    # A plan that the author's own passage was not written from is history.
    unreached = "" if state.get("plan_author") == KEPT_PLAN else _unreached(reply.unreached)
    return {
        **NOTHING_LEFT,
        "unreached": unreached,
        "short_term_memory": "\n".join(kept),
        "rationale": _with_edits(Rationale(dropped=dropped + over, added=added), kept, state),
        "summary": summary,
        "turns": updated_turns(state.get("turns", []), standing, len(state["brief"]["outline"])),
        "clues": clues_after(state, reply),
        "codex": codex,
    }


def _told(reply: MemoryChanges, facts: Facts, state: State, runtime: StoryRuntime, known: Codex) -> list[Change]:
    """Return what a passage changed in the codex, by a reply and by rules."""
    # First who is back, for a passage may go on to tell that they leave again.
    told = [*_no_longer_gone(state, runtime, known)]
    if isinstance(reply, ReplyOnFacts):
        told += _over(reply.over, facts, state["passage"])
    if isinstance(reply, MemoryReply):
        told += from_reply(reply.codex, state["passage"], known, runtime.context.language)
    return _without_slips(told, state, known)


def _without_slips(told: Sequence[Change], state: State, known: Codex, *, all_deeds: bool = False) -> list[Change]:
    """Return changes without the facts that say in the past what somebody dead does in a sentence of a model's passage.

    With `all_deeds` also those that begin with them: a small model notes what happens, and seldom what somebody did as a boy.
    What is told of them in the present is noted, and true once an author says that they live.
    """
    slips = [one for one in dead_who_act(known, accused(state)) if not one.was_alive]

    def is_slip(text: str) -> bool:
        return any(
            says_what_they_do(text, text if all_deeds and begins_with(text, one.names) else one.said, one.names)
            for one in slips
        )

    return [change for change in told if change["do"] != "set" or not is_slip(change.get("text", ""))]


def _no_longer_gone(state: State, runtime: StoryRuntime, known: Codex) -> list[Change]:
    if not is_english(runtime.context.language):
        return []
    return no_longer_gone(state["passage"], known, state["plan"], state.get("previous_passage", ""))


def _known_names(state: State, known: Codex, about: Sequence[Entry]) -> Sequence[str]:
    """Return what the codex calls the things and places that a passage is about, and those of whom it or the plan names."""
    all_told = (*touched(known, state["plan"], state["passage"], fewest=0), *about)
    names = dict.fromkeys(entry.name for entry in all_told if entry.kind in ("thing", "place"))
    return _first([*names], MOST_KNOWN, MOST_KNOWN_WORDS)


def _about(state: State, known: Codex) -> list[Entry]:
    """Return whom and what the passage names, then what only its plan does, and the oar-bells where it tells of bells."""
    named = {entry.name: entry for text in (state["passage"], state["plan"]) for entry in known.named_in(text)}
    words = set(tokens(state["passage"]))
    joined = (one for one in known.entries.values() if one.kind == "thing" and "-" in one.name.split()[-1])
    named |= {entry.name: entry for entry in joined if entry.name.lower().rsplit("-", maxsplit=1)[-1] in words}
    return list(named.values())


def _looks(about: Sequence[Entry]) -> list[str]:
    """Return how those look whom the passage is about, as the codex says it."""
    seen = [replace(entry, lines=tuple(line for line in entry.lines if line.aspect == "look")) for entry in about]
    return [line for told in tell(seen, words=MOST_LOOKS_WORDS) for line in told["lines"]]


Facts = dict[str, list[tuple[Entry, Line]]]
"""Sentences that are true so far, and the lines that say each."""


def _facts(about: Sequence[Entry], also: Sequence[Entry], *, offices: bool) -> Facts:
    """Return what was told of those whom a passage is about, the newest of each before the second of any, then that of others.

    With `offices` also what the brief says that somebody is, for which English has a sentence.
    """
    told: Facts = {}
    for entries in (about, also):
        held = [
            [
                *((entry, line) for line in reversed(entry.true_lines) if line.passage and line.aspect in _MAY_BE_OVER),
                *((entry, Line("role", role, "", "", "", 0)) for role in (entry.offices_of_brief if offices else ())),
            ]
            for entry in entries
        ]
        for entry, line in (fact for facts in zip_longest(*held) for fact in facts if fact is not None):
            told.setdefault(sentence_of(entry, line), []).append((entry, line))
    return {sentence: told[sentence] for sentence in _first([*told], MOST_FACTS, MOST_FACTS_WORDS)}


def _slips(state: State) -> list[str]:
    """Return what a model's passage has against what is true: who is dead acts, or what a judge found."""
    found = (one for one in accused(state) if one["rule"] in ("dead", "judge"))
    return [slip_of(one) for one in found]


def _over(numbers: Sequence[int], facts: Facts, passage: str) -> list[Change]:
    """Return the ends of the facts that have these numbers; one that none of them has ends nothing."""
    told = [*facts]
    ended = [told[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(told)]
    said = with_words(passage) if ended else []
    return [
        {**(end_of(entry, line) if line.passage else end_of_office(entry, line.value)), "rests_on": nearest(fact, said)}
        for fact in ended
        for entry, line in facts[fact]
    ]


def _first(names: Sequence[str], most: int, most_words: int) -> Sequence[str]:
    """Return the first of names, at most so many and with so many words together."""
    words = list(accumulate(map(count_words, names)))
    return names[: min(most, bisect_right(words, most_words))]


def clues_after(state: State, reply: MemoryChanges) -> list[TurnStatus]:
    """Return where the clues stand; nothing where nobody has kept count from the first passage on."""
    counted = state.get("clues", [])
    if not counted and state["step"] > 1:
        return []
    return updated_turns(counted, dict.fromkeys(reply.clues, "done"), len(state["brief"].get("clues", [])))


@dataclass
class Changes:
    """Why sentences left a memory and why others entered it."""

    why_dropped: dict[str, str] = field(default_factory=dict)
    why_added: dict[str, str] = field(default_factory=dict)

    def apply(self, lines: list[str], reply: MemoryRepair, add: Sequence[Addition] = ()) -> list[str]:
        """Return the sentences as a reply changes them; a number that none of them has changes nothing."""
        drops = {item.number: item.why for item in reply.drop}
        replacements = {item.number: item for item in reply.replace if item.sentence.strip()}
        new: list[str] = []
        for number, line in enumerate(lines, 1):
            # A sentence that is replaced and dropped is dropped for what takes its place.
            if other := replacements.get(number):
                self.why_dropped[line] = other.why
                self._admit(without_number(other.sentence.strip(), number), other.why, new)
            elif number in drops:
                self.why_dropped[line] = drops[number]
            else:
                new.append(line)
        # Into a memory that holds nothing yet, what replaces something comes as new.
        add = add if lines else [*(Addition(sentence=item.sentence, why=item.why) for item in reply.replace), *add]
        for item, sentence in zip(add, without_marks([item.sentence.strip() for item in add]), strict=True):
            self._admit(sentence, item.why, new)
        return new

    def _admit(self, sentence: str, why: str, new: list[str]) -> None:
        line = " ".join(sentence.split())
        if line and line not in new:
            new.append(line)
            self.why_added[line] = why


def _of_no_sentence(reply: MemoryRepair, held: int) -> list[UnusableEntry]:
    """Return the replacements of a reply whose number no sentence of the memory has."""
    fault = f"number: the memory held {held} sentences, and what is new belongs under add"
    return [
        UnusableEntry("replace", at, item.model_dump(), fault)
        for at, item in enumerate(reply.replace, 1)
        if held and item.sentence.strip() and not 1 <= item.number <= held
    ]


def _as_said(reply: MemoryChanges) -> str:
    """Return a reply as its model gave it, with the entries that could not be used in their places."""
    said = reply.model_dump()
    for entry in sorted(reply.unusable, key=lambda entry: entry.number):
        if entry.number:
            said[entry.name].insert(entry.number - 1, entry.entry)
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def _unreached(said: str) -> str:
    """Return what a passage did not reach of its plan; "" where a model says in words that nothing is left."""
    left = " ".join(said.split())
    return "" if _NOTHING.fullmatch(left) or not re.search(r"\w", left) else limit_words(left, MOST_UNREACHED)


def _put_right(entry: UnusableEntry) -> str:
    """Return what a model is to do about an entry of its reply that could not be used."""
    if not entry.number:
        return f"Your reply lacks its {entry.name} ({entry.fault}): give it."
    said = json.dumps(entry.entry, ensure_ascii=False)
    return (
        f"Number {entry.number} under {entry.name} of your reply cannot be used ({entry.fault}): {said}. The others are kept: "
        f"give this one again under {entry.name}, put right."
    )


@lru_cache(maxsize=32)
def _repair_form(form: type[MemoryChanges], lacking: frozenset[str]) -> type[MemoryRepair]:
    """Return the form of a repair with those parts of the whole reply that are to be given again."""
    parts = {name: form.model_fields[name] for name in sorted(lacking)}
    if not parts:
        return MemoryRepair
    given: dict[str, Any] = {name: (part.annotation, part) for name, part in parts.items()}
    return create_model("MemoryRepair", __base__=MemoryRepair, **given)


def _with_repair(reply: MemoryChanges, repair: MemoryRepair) -> MemoryChanges:
    """Return a reply with what its repair gives again beside the sentences of the memory."""
    fields = type(reply).model_fields.keys() & type(repair).model_fields.keys() - MemoryRepair.model_fields.keys()
    given = {name: getattr(repair, name) for name in fields if getattr(repair, name)}
    added = {name: [*getattr(reply, name), *more] if isinstance(more, list) else more for name, more in given.items()}
    return reply.model_copy(update=added)


def _objection(new: list[str], old: list[str], language: str) -> str:
    """Return what a model is to put right in a memory; "" for one that can stay as it is."""
    words = count_words("\n".join(new))
    problems = []
    if len(new) > MEMORY_SENTENCES or words > MEMORY_WORDS:
        problems.append(
            f"That is {len(new)} sentences and {words} words, and it keeps to {ASKED_SENTENCES} sentences and {ASKED_WORDS} "
            "words: drop what the story needs least, or say it shorter."
        )
    fresh = [number for number, line in enumerate(new, 1) if line not in old]
    if language == "English" and (unclear := [number for number in fresh if _leans(new[number - 1])]):
        which = ", ".join(map(str, unclear))
        problems.append(
            f"Read alone, number {which} does not say who or when: replace it by a sentence with names and dates."
        )
    return "\n".join(problems)


def _leans(sentence: str) -> bool:
    """Return whether a sentence read alone does not say who or when; "that day" may be one that it has named."""
    told = _QUOTED.sub("", sentence)
    return any(
        not (match[0].lower().startswith(("that", "the same")) and _DATED.search(told, 0, match.start()))
        for match in _LEANING.finditer(told)
    )


def _objection_to_the_living(new: list[str], untrue: Sequence[str], after: Codex) -> str:
    """Return what a model is to put right where sentences of a memory tell of the dead as of the living; "" for none."""
    if not untrue:
        return ""
    which = ", ".join(str(number) for number, line in enumerate(new, 1) if line in untrue)
    dead = [entry.name for entry in after.dead if any(name in line for line in untrue for name in entry.names)]
    whom = f"{', '.join(dead)}, dead by now," if dead else "somebody who is dead now"
    return f"Number {which} tells of {whom} as of the living: drop it, or replace it by what is still true."


async def _gated(state: State, runtime: StoryRuntime, model: ResolvedModel) -> Update:
    prompts = runtime.prompts(model)
    shared = variables(state, runtime, state["step"])
    asked = prompts.turns("facts", passage=state["passage"], **shared)
    known = await codex_before(state, runtime)
    turns = [*await small_turns(state, runtime, model, shared), *asked]
    reply = await ask(
        model,
        turns,
        # A model that wears an adapter was taught whom a note is about.
        facts_reply(
            runtime.context.language,
            people=[] if model.adapter else subjects(state, runtime),
            others=_others(state, runtime, known),
            taught=bool(model.adapter),
        ),
        **sampled(FACTS),
        seed=runtime.seed(state, "update_memory"),
        meter=runtime.meter,
    )
    old = memory_lines(state["short_term_memory"])
    unknown = strangers(asked, prompts, [state["plan"], *old, *people(state)])
    summary, *noted = (" ".join(line.split()) for line in (reply.summary, *reply.facts))
    if is_english(runtime.context.language):
        summary, *noted = map(without_cuts, (summary, *noted))
    facts = [fact for fact in noted if not walks_in(fact, unknown)]
    if walks_in(summary, unknown):
        summary = next(iter([*facts, *sentences(state["passage"], runtime.context.language)]))
    # What the dead do in a passage is a slip, which the memory does not take over.
    ghosts = [*dead_who_act(known, accused(state))]
    told = [line for line in (summary, *facts) if not any(one.acts_in(line) for one in ghosts)]
    new = await asyncio.to_thread(
        admit,
        told,
        old,
        lambda fact, held: _similarity(runtime, [fact], list(held))[0].tolist(),
    )
    codex = [
        *_no_longer_gone(state, runtime, known),
        *_without_slips(
            from_facts(summary, facts, state["passage"], known, runtime.context.language), state, known, all_deeds=True
        ),
    ]
    over = list[str]()
    if runtime.context.codex:
        after = changed(known, codex, "the passage", state["step"])
        over = outdated_sentences(old, codex, known, after, step=state["step"])
        untrue = living_no_longer(new, (), known, after)
        new = [line for line in new if line not in untrue]
    old = [line for line in old if line not in over]
    reader = _reader([*old, *new], state, runtime, model)
    kept, dropped = await _within_ceilings(
        [*old, *new], state, runtime, reader=reader, protect=len(new), down_to=FORGET_DOWN_TO
    )
    added = [Added(sentence=line, why="the passage tells it, and the memory did not hold it") for line in new]
    return {
        **NOTHING_LEFT,
        "short_term_memory": "\n".join(kept),
        "rationale": _with_edits(
            Rationale(dropped=[*(Dropped(sentence=line, why=NOT_NOW) for line in over), *dropped], added=added),
            kept,
            state,
        ),
        "summary": summary,
        "codex": codex,
    }


def _others(state: State, runtime: StoryRuntime, known: Codex) -> list[str]:
    """Return the names of the people of a passage whom the brief does not name: those who come in, and who came in before."""
    if not is_english(runtime.context.language):
        return []
    main = [entry for name in people(state) if (entry := known.find(name)) is not None]
    there = [entry for entry in known.named_in(state["passage"]) if entry.kind == "person" and entry not in main]
    return [entry.name for entry in (*there, *newcomers(state["passage"], (), known))]


async def _within_ceilings(
    lines: list[str],
    state: State,
    runtime: StoryRuntime,
    *,
    reader: str,
    protect: int = 0,
    down_to: int | None = None,
) -> tuple[list[str], list[Dropped]]:
    """Return the sentences that stay within the ceilings, first who the `reader` is, and those that do not with the reason."""
    about = [state["brief"]["premise"], state["plan"]]
    lines = [line for line in lines if line != reader]

    def relevance(sentences: list[str]) -> list[float]:
        return [float(best) for best in _similarity(runtime, sentences, about).max(axis=1)]

    kept, dropped = await asyncio.to_thread(
        lambda: forget(
            lines,
            relevance,
            most_sentences=MEMORY_SENTENCES - bool(reader),
            most_words=MEMORY_WORDS - count_words(reader),
            protect=protect,
            down_to=down_to,
        )
    )
    return [*([reader] if reader else []), *kept], [
        Dropped(sentence=item["sentence"], why=item["why"]) for item in dropped
    ]


def _reader(lines: list[str], state: State, runtime: StoryRuntime, model: ResolvedModel) -> str:
    """Return the sentence that says who the reader is, which a story to play never forgets; "" in a novel.

    In another language than English a capable model is asked to keep it first.
    """
    if runtime.context.mode != "fiction":
        return ""
    told = [*memory_lines(state["short_term_memory"]), *lines, *sentences(state["plan"])]
    first = lines[0] if model.tier == "full" and not is_english(runtime.context.language) else ""
    first = first if count_words(first) <= LONGEST_READER else ""
    return limit_words(next((line for line in told if line.startswith("You are ")), first), LONGEST_READER)


def _similarity(runtime: StoryRuntime, first: list[str], second: list[str]) -> Matrix:
    """Return the cosines of every sentence of `first` with every one of `second`, shape (len(first), len(second))."""
    vectors = embedded(runtime.recall.embeddings, [*first, *second])
    similar: Matrix = vectors[: len(first)] @ vectors[len(first) :].T
    return similar
