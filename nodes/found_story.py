"""Conceive a new story: its title, premise, people, outline, first memory and first plans."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, BeforeValidator, Field, create_model

from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS, OPEN, PLANS_TAUGHT, sampled
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.prompt_values import plan_length, voice
from recurrentgpt.nodes.reply_schemas import (
    DealtReply,
    OpeningReply,
    Person,
    PlayReply,
    TaughtReply,
    dealt_reply,
    joined_texts,
    opening_reply,
    plan_of,
    play_reply,
    taught_reply,
)
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.small.plot_moves import deal
from recurrentgpt.nodes.small.premise_people import misspelled, told_of
from recurrentgpt.nodes.small.reply_patterns import first_name, is_english, without_cuts
from recurrentgpt.nodes.small.seed_ideas import deal_names, deal_readers, deal_spark, names_somebody
from recurrentgpt.prose.list_marks import without_marks
from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.prose.sentences import count_words, segments
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.genres import NEUTRAL_GENRE
from recurrentgpt.schema.state import StoryInput

MOST_GENRE_WORDS = 5
"""Words of what a model says as a genre; more are a sentence about it."""

# Where no server holds a model to the form, some give an object for each person, turn or plan.
_Line = Annotated[str, BeforeValidator(joined_texts)]


class FoundingReply(BaseModel):
    """A capable model's new story."""

    title: str = Field(min_length=1)
    premise: str = Field(min_length=1)
    characters: list[_Line] = Field(min_length=1)
    truth: str = ""
    outline: list[_Line]
    clues: list[_Line] = []
    voice: str = ""
    short_term_memory: list[_Line]
    plans: list[Annotated[str, BeforeValidator(plan_of)]] = Field(min_length=1)


MOST_DEALT = 30
"""Names that are dealt to choose from: no more, for there are some forty first names of each kind."""

_STRING = r'"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)'
_BEGUN = re.compile(rf'[^{{]{{0,200}}\{{\s*"title"\s*:\s*{_STRING}"(?:\s*,\s*"premise"\s*:\s*{_STRING}("?))?')
"""The beginning of a founding: its title, its premise as far as it is there, and the mark that closes it."""
MOST_HEARD = 6000
"""Characters of a founding after which nothing more is told of it: by then its premise is there, or has no end."""
_PLAYER = re.compile(r"\bYou are ([A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)")
"""Who plays, where a premise says it."""

FOUNDING_TOKENS = 800
"""Tokens that nearly every founding of a taught model has room in."""


@dataclass(frozen=True)
class Founding:
    """What a story starts from."""

    title: str
    genre: str
    premise: str
    characters: list[str]
    outline: list[str]
    memory: list[str]
    plans: list[str]
    synopsis: str = ""
    """What a capable model made of a premise that somebody gave."""
    truth: str = ""
    clues: list[str] = field(default_factory=list)
    voice: str = ""
    reader: str = ""
    """Who the reader of a story to play is, where it was said and the model has told it."""
    first: str = ""
    """What happens first, where a model was taught to say so: a plan of whoever plays begins with it."""


async def conceive(
    runtime: StoryRuntime, given: StoryInput, seed: int, form: type[BaseModel] = FoundingReply
) -> Founding:
    """Return a new story made from what is given; what the model should keep is in its prompt.

    `form` is what a capable model fills in: FoundingReply, or the same without a memory. It is asked for the genre, too, where
    none is given; a small model is not, and tells a story of none in particular.
    """
    if runtime.context.sampling:
        # What the writer does not take is said before anything is paid for.
        (await runtime.model("writer")).sampling_fields(runtime.context.sampling)
    model = await runtime.model("planner")
    if model.tier == "small":
        # What somebody's own beginning says, no model was taught to go on from.
        taught = model.adapter and is_english(runtime.context.language) and not given["short_term_memory"]
        found = _taught if taught else _dealt
        return await found(runtime, model, {**given, "genre": given["genre"] or NEUTRAL_GENRE}, seed)
    return await _asked(runtime, model, given, seed, form)


async def _asked(
    runtime: StoryRuntime, model: ResolvedModel, given: StoryInput, seed: int, form: type[BaseModel]
) -> Founding:
    prompts, context = runtime.prompts(model), runtime.context
    request = prompts.fill("open", **_variables(context, given))
    system = prompts.fill("system", brief={"genre": given["genre"]}, **voice(context))
    turns = [SystemMessage(system), HumanMessage(request)]
    if not given["genre"]:
        form = create_model(form.__name__, __base__=form, genre=(str, ""))
    hear = _listener(runtime, given)
    reply = await ask(model, turns, form, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=runtime.meter, hear=hear)
    fields: dict[str, Any] = {
        name: " ".join(said.split())
        if isinstance(said, str)
        else without_marks([" ".join(line.split()) for line in said])
        for name, said in reply.model_dump().items()
    }
    memory, told_genre = fields.pop("short_term_memory", []), visible_line(fields.pop("genre", "")).strip(" .")
    is_genre = told_genre and count_words(told_genre) <= MOST_GENRE_WORDS
    genre = given["genre"] or (told_genre if is_genre else NEUTRAL_GENRE)
    # In another language nobody can know how a sentence speaks to the reader: the first one was asked to.
    told = bool(given["player"] and memory) and (memory[0].startswith("You are") or not is_english(context.language))
    return Founding(genre=genre, memory=memory, synopsis=fields["premise"], reader=memory[0] if told else "", **fields)


async def _dealt(runtime: StoryRuntime, model: ResolvedModel, given: StoryInput, seed: int) -> Founding:
    """Return a story built on dealt names and a dealt trouble: a small model left alone tells of Dr. Elara in 2050."""
    # What its adapter was not taught to found is asked for as of any small model.
    prompts, context = runtime.prompts(replace(model, adapter=None)), runtime.context
    schema, dealt = (_to_play if context.mode == "fiction" else _to_read)(context, given, seed)
    turns = prompts.turns("open", **_variables(context, given) | dealt)
    system = prompts.fill("system", brief={"genre": given["genre"]}, **voice(context))
    asked, hear = [SystemMessage(system), *turns], _listener(runtime, given)
    reply = await ask(model, asked, schema, **sampled(OPEN), seed=seed, meter=runtime.meter, hear=hear)
    known = list[str]()
    if isinstance(reply, DealtReply):
        if given["premise"]:
            # The reader's premise stays as it is; what is wanted is known beside it.
            known = [f"{first_name(dealt['names'][0])} {reply.want.partition(' ')[2]}"]
        reply = reply.opening(dealt["names"], dealt["spark"])
    people = [f"{person.name}: {person.who.rstrip('. ')}" for person in reply.characters]
    plans = reply.plans if isinstance(reply, OpeningReply) else reply.readers
    memory = [*(f"{person}." for person in people), *known]
    return Founding(reply.title, given["genre"], reply.premise, people, reply.outline, memory, plans)


async def _taught(runtime: StoryRuntime, model: ResolvedModel, given: StoryInput, seed: int) -> Founding:
    """Return a story as a model founds it that was taught to: what it is about and who is in it, then how it begins."""
    prompts, context = runtime.prompts(model), runtime.context
    names = [] if names_somebody(given["premise"]) else deal_names(_key(given, seed))
    player = given["player"] or (found[1] if (found := _PLAYER.search(given["premise"])) else "")
    asked = prompts.turns("open", **_variables(context, given) | {"names": names, "player": player})
    turns = [SystemMessage(prompts.fill("system", brief={"genre": given["genre"]}, **voice(context))), *asked]
    decoding = {**sampled(PLANS_TAUGHT), "max_tokens": FOUNDING_TOKENS}
    hear = _listener(runtime, given)
    founded = await ask(model, turns, taught_reply(names), **decoding, seed=seed, meter=runtime.meter, hear=hear)
    if given["premise"] and is_english(context.language):
        founded = _held_to(given["premise"], founded)
    people = [f"{person.name}: {person.who.rstrip('. ')}" for person in founded.characters]
    founded.plan, founded.outline = without_cuts(founded.plan), [without_cuts(turn) for turn in founded.outline]
    plans = [founded.plan]
    if context.mode == "fiction" and not given["player"]:
        # Whom the reader plays is asked. What they are the premise says, so that a name is all that is dealt.
        readers = (
            [player] if player else _others(_key(given, seed), context.plans, " ".join([given["premise"], *people]))
        )
        plans = [f"You are {name}. {founded.plan}" for name in readers]
    memory = [f"{person}." for person in people]
    return Founding(
        founded.title, given["genre"], founded.premise, people, founded.outline, memory, plans, first=founded.plan
    )


def _listener(runtime: StoryRuntime, given: StoryInput) -> Callable[[str], None]:
    """Return what tells of a story in the making, as its founding comes in, but for what was given."""
    told = ("", "")

    def hear(reply: str) -> None:
        nonlocal told
        begun = _BEGUN.match(reply) if len(reply) <= MOST_HEARD else None
        if begun is None:
            return
        premise = "" if given["premise"] else _line(begun[2] or "")
        if not begun[3] and premise:
            # The last sentence may go on.
            premise = "".join(segments(premise, runtime.context.language)[:-1]).strip()
        known = (given["title"] or _line(begun[1]), premise)
        if known[0] and known != told:
            told = known
            runtime.emit({"event": "founding", "title": known[0], "premise": known[1]})

    return hear


def _line(text: str) -> str:
    """Return the inside of a string of JSON as a line."""
    try:
        return visible_line(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return ""


def _held_to(premise: str, founded: TaughtReply) -> TaughtReply:
    """Return a founding in which those whom the premise names are spelled as there, and are who it says."""
    wrong = misspelled([person.name for person in founded.characters], premise)
    either = re.compile(rf"\b(?:{'|'.join(map(re.escape, wrong)) or '(?!)'})\b")

    def spelled(text: str) -> str:
        return either.sub(lambda word: wrong[word[0]], text)

    people = [
        Person(name=(name := spelled(person.name)), who=told_of(name, spelled(person.who), premise))
        for person in founded.characters
    ]
    return TaughtReply(
        title=spelled(founded.title),
        premise=spelled(founded.premise),
        characters=people,
        outline=[spelled(turn) for turn in founded.outline],
        plan=spelled(founded.plan),
    )


def _others(key: str, count: int, told: str) -> list[str]:
    """Return so many dealt names of people whose first names are not in what is told."""
    dealt = deal_names(key, MOST_DEALT)[::-1]
    return [name for name in dealt if first_name(name) not in told][:count]


def _variables(context: Context, given: StoryInput) -> dict[str, Any]:
    """Return what the template `open` may name, with nothing dealt."""
    return {
        **voice(context),
        "genre": given["genre"],
        "premise": given["premise"],
        "title": given["title"],
        "player": given["player"],
        "memory": given["short_term_memory"],
        "plans": context.plans,
        "plan_length": plan_length(context),
        "min_words": context.min_words,
        "max_words": context.max_words,
        # Without an ending in view, a run is as long as somebody feels like today.
        "last_step": context.length or ((context.last_step or context.steps) if context.ending else 0),
        "names": [],
        "spark": "",
        "moves": [],
        "readers": [],
    }


def _to_read(context: Context, given: StoryInput, seed: int) -> tuple[type[OpeningReply | DealtReply], dict[str, Any]]:
    """Return the form of a new novel, and what is dealt for it: people where the premise names none, a trouble without one.

    Only in English: the sentences that are dealt are.
    """
    if names_somebody(given["premise"]) or not is_english(context.language):
        return opening_reply(context.language, context.plans), {}
    key, moves = _key(given, seed), deal(0, seed, context.plans)
    names = deal_names(key)
    spark = "" if given["premise"] else f"{names[0]}, {deal_spark(key, given['genre'])}"
    return dealt_reply(names, moves), {"names": names, "spark": spark, "moves": moves}


def _to_play(context: Context, given: StoryInput, seed: int) -> tuple[type[PlayReply], dict[str, Any]]:
    """Return the form of a new story to play, and what is dealt for it."""
    free = not given["premise"]
    # Whom the reader plays is asked, unless it was said, or the story goes on from somebody's own beginning.
    count = 0 if given["player"] or given["short_term_memory"] else context.plans
    key = _key(given, seed)
    names = deal_names(key, 3 + count) if free else []
    readers, others = deal_readers(key, names[3:], given["genre"]), names[:3]
    schema = play_reply(context.language, others, readers, count)
    # Who it happens to is for the reader to say.
    spark = f"somebody {deal_spark(key, given['genre']).partition(', ')[2]}" if free else ""
    return schema, {"names": others, "readers": readers, "spark": spark}


def _key(given: StoryInput, seed: int) -> str:
    """Return what people and trouble are dealt by: two genres with one seed are two stories."""
    return f"{given['genre'].casefold()} {seed}"
