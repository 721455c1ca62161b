"""open_story: begin a new story, or put the state of a commit back in place."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping
from textwrap import shorten
from typing import Any, cast

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.config import get_config
from pydantic import BaseModel

from recurrentgpt.models.embeddings import MiniLM
from recurrentgpt.nodes.by_hand import settle
from recurrentgpt.nodes.found_story import FoundingReply, conceive
from recurrentgpt.nodes.human.answers import LONG_WORD, check_memory, check_plan, is_played, parse_answer
from recurrentgpt.nodes.human.chat import asked_again, told_standing
from recurrentgpt.nodes.human.phrases import HELP, NO_PREMISE, is_no_premise
from recurrentgpt.nodes.restored_state import restored
from recurrentgpt.nodes.routes import waiting_plan
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.nodes.server_thread import name_thread
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.nodes.validate_state import ONLY_AT_FIRST
from recurrentgpt.prose.languages import premise_language
from recurrentgpt.prose.model_text import control_character, visible_line, visible_text
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.choice import apply_answer
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError, StoryNotFound
from recurrentgpt.schema.genres import GENRES, named_genre
from recurrentgpt.schema.messages import unanswered
from recurrentgpt.schema.state import Brief, Choice, Rationale, State, StoryInput
from recurrentgpt.schema.story_id import check_story_id

TOO_LATE = (
    "This message was not used, for it came when passage {} was being written from the answer before it: {!r}. Send it again if "
    "it still fits."
)
_I_AM = re.compile(r"^(?:I am|I['’]m|you are) ", re.IGNORECASE)
"""What somebody may begin with who says in English whom they play."""
BEGINS = ("genre", "premise", "player", "title", "short_term_memory")
"""Fields of an input any of which says that a story is to be begun."""
MOST_WORDS = {"genre": 12, "premise": 500, "player": 60, "title": 30, "short_term_memory": 500, "plan": 400}


@node
async def open_story(state: State, runtime: StoryRuntime, form: type[BaseModel] = FoundingReply) -> Update:
    """Return the state at the story's head, or a new story's brief, first memory and first plans.

    A new story's plan and short-term memory are kept where they are given, so that anybody's own story can go on. What a
    chat said last is a new story's premise, and the answer in an open one. `form` is what a capable model fills in.
    """
    # Needed first when there is a passage to remember: too late to say that there is no such model, or to fetch it in the middle
    # of a story.
    embedder = runtime.recall.embeddings
    if isinstance(embedder, MiniLM) and runtime.context.vector_store is None:
        await asyncio.to_thread(embedder.fetched)
    stood = State(**{**state, **state.get("before", {})})  # type: ignore[typeddict-item]
    asked = stood.get("problem", "")
    # Another take is written from the plan that the log has of it.
    retakes = state.get("status") == "retaking" and "before" not in state
    by_id = "before" not in state or bool("story" in state["before"] and state.get("story"))
    state, faults = await _settled(state, stood, runtime)
    # A plan in the input is this run's, be it the same as before; left out, the one that waits goes on waiting.
    plan = "" if retakes else (state["plan"] if "plan" in state else waiting_plan(state)) or ""
    said = "" if plan else unanswered(state.get("messages"))
    update = await _reopen(state, runtime) if state.get("story") else None
    if update is None and said and not state.get("premise") and is_no_premise(said):
        return {"problem": NO_PREMISE, "messages": AIMessage(NO_PREMISE)}
    if update is None:
        update = await _begin({**state, "premise": state.get("premise") or said}, runtime, form)
    else:
        if stood.get("language") and stood.get("story") == update["story"]:
            # What a thread was told of its language, it keeps.
            update["language"] = stood["language"]
        await runtime.tell_as_kept(cast(State, update))
        if runtime.server_thread and (stood.get("story"), stood.get("title")) != (update["story"], update["title"]):
            # Opened by its id, or renamed elsewhere. A new story's thread is named with its first commit.
            await name_thread(runtime.server_thread, update["story"], update["title"])
        problem = _refusal(faults, stood, update) or _of_no_use(state, update)
        if plan and "plan" not in state and (late := _late_message(state)):
            problem = problem or TOO_LATE.format(update["step"] + 1, shorten(late, 200, placeholder=" ..."))
            # It is no answer, and what is written now no answer to it.
            update["messages"] = RemoveMessage(state["messages"][-1].id or "")
        if not plan and (faults or not said) and runtime.context.selector == "human":
            problem = _what_to_do(problem or ("" if by_id else _where_it_stands(stood)), update, runtime)
            if by_id and not retakes and not state.get("messages"):
                # A thread of its own, in which nothing was said of the story yet.
                told: State = {**state, **update}  # type: ignore[typeddict-item]
                update["messages"] = told_standing(told, played=runtime.context.mode == "fiction")
        update["problem"] = problem
        if plan and "plan" in state:
            # What a host passes on may be what its own user typed: a number is a choice.
            update |= await _answered(plan, asked, {**state, **update}, runtime)  # type: ignore[typeddict-item]
        elif plan:
            plan = check_plan(plan)
            update |= {"plan": plan, "next_plan": plan}
        elif said and faults:
            update |= _asked_again(problem, {**state, **update})  # type: ignore[typeddict-item]
        elif said:
            update |= await _answered(said, asked, {**state, **update}, runtime)  # type: ignore[typeddict-item]
    until = runtime.context.steps and update["step"] + runtime.context.steps
    begun = {"until": until, "spent": 0, "dearest": 0, "selector": runtime.context.selector, "problem": ""}
    return {**begun, "player": "", **update}


async def _settled(state: State, stood: State, runtime: StoryRuntime) -> tuple[State, dict[str, str]]:
    """Append what was changed by hand in the state that `stood` before this run's input, and return the state to open.

    With it comes what cannot be changed, by field.
    """
    if not (stood.get("story") and stood.get("head")):
        return state, {}
    settled = await settle(stood, runtime)
    faults = settled.refused
    if stood.get("player"):
        faults.setdefault("player", f"`player` {ONLY_AT_FIRST}")
    if settled.title and runtime.server_thread:
        await name_thread(runtime.server_thread, stood["story"], settled.title)
    # Left empty in a form, they count as not given.
    state = {**state, "story": state.get("story") or stood["story"], "head": state.get("head") or stood["head"]}
    if state["head"] == stood["head"]:
        state["head"] = settled.head
    return {**state, "status": "choosing"} if faults else state, faults


def _refusal(faults: dict[str, str], stood: State, story: Update) -> str:
    """Return that what cannot be changed was put back, and put back what no commit tells of; empty for nothing."""
    if not faults:
        return ""
    if "choice" in faults:
        story["choice"] = Choice(index=None, by="", why="")
    if "usage" in faults:
        story["usage"] = dict.fromkeys(stood["usage"])
    return f"The state's {'; '.join(faults.values())}: put back as it was."


def _of_no_use(state: State, story: Update) -> str:
    """Return why what a run's input says of a story that has begun is of no use; empty where it says nothing new."""
    given: Mapping[str, Any] = {name: value for name, value in state.items() if name in state.get("before", {})}
    new = [
        name.replace("_", " ")
        for name in ("title", "genre", "premise", "player", "short_term_memory")
        if given.get(name) and visible_line(str(given[name])) != visible_line(story.get(name, ""))
    ]
    if not new:
        return ""
    return (
        f"This story has begun: another {' or '.join(new)} in an input begins another story, in a thread of its own, and changes "
        "nothing here. To change this story, edit the state."
    )


def _late_message(state: State) -> str:
    """Return what this run's input says in a chat whose plan waits since an earlier answer; empty for nothing new."""
    stood, said = state.get("before", {}), unanswered(state.get("messages"))
    return said if "messages" in stood and said != unanswered(stood["messages"]) else ""


def _where_it_stands(stood: State) -> str:
    """Return what an input that says nothing has come upon."""
    now = "had ended, and is open again" if stood.get("status") == "finished" else "has begun, and waits for a choice"
    return f"This story {now}."


def _what_to_do(problem: str, story: Update, runtime: StoryRuntime) -> str:
    """Return a problem with how to answer; empty for none."""
    return f"{problem} {HELP.format(len(story['candidate_plans']) or runtime.context.plans)}" if problem else ""


def _asked_again(problem: str, state: State) -> Update:
    return {"problem": problem, "messages": asked_again(state["head"], problem, state["candidate_plans"])}


async def _answered(said: object, asked: str, state: State, runtime: StoryRuntime) -> Update:
    """Return what a chat's answer changes in an open story, or why it cannot be used."""
    try:
        played = is_played(runtime.context.mode, state.get("step", 0))
        answer = parse_answer(said, state["candidate_plans"], played=played, asked=asked)
        update: Update = dict(apply_answer(answer, take=state.get("take", 0)))
        if answer.action == "another_take":
            taken = await _reopen({**state, **update}, runtime)  # type: ignore[typeddict-item]
            return {**taken, "language": state.get("language") or taken["language"]} if taken else {}
    except (BadAnswer, StoryError) as fault:
        return _asked_again(str(fault), state)
    return update


def check_input(given: StoryInput) -> None:
    """Raise SettingsError for an input that no prompt should carry, too long or with control characters, and for a bad id."""
    check_story_id(given.get("story") or "new")
    for name, most in MOST_WORDS.items():
        text = given.get(name) or ""
        if not isinstance(text, str):
            raise SettingsError(f"The {name.replace('_', ' ')} is text; it is {text!r:.60}.")
        if len(text) > most * LONG_WORD:
            raise SettingsError(
                f"The {name.replace('_', ' ')} has {len(text):,} characters; at most {most * LONG_WORD:,} fit. Shorten it."
            )
        if count_words(text) > most:
            raise SettingsError(
                f"The {name.replace('_', ' ')} has {count_words(text):,} words; at most {most} fit. Shorten it."
            )
        if odd := control_character(text):
            raise SettingsError(f"The {name.replace('_', ' ')} holds the control character {odd!r}; take it out.")


async def language_of(premise: str) -> str:
    """Return the language that a premise asks for, or is written in; empty where that is in doubt, and for no premise."""
    return await asyncio.to_thread(premise_language, premise) if premise.strip() else ""


async def _reopen(state: State, runtime: StoryRuntime) -> Update | None:
    """Return the LSTM state of the commit to reopen, or None where the story is new to the log."""
    story, head = state["story"], state.get("head")
    if not head:
        known = await runtime.log.head(story)
        if known is None:
            return None
        head = known["head"]
    record, commit = await runtime.log.record(story), await runtime.log.get(story, head)
    if state.get("status") == "retaking":
        retaken = await restored(runtime.log, record, commit, retake=True)
        return {**retaken, "take": state.get("take", 0), "until": state.get("until", 0)}
    return {**await restored(runtime.log, record, commit)}


def _check_begins(state: State, given: Mapping[str, object]) -> None:
    """Raise StoryNotFound for the id of a story that is not there, unless the input says that one is to be begun.

    So does what a chat says first, for a host may keep a story under the id of its chat, and the id of the run's own thread.
    """
    story = state.get("story")
    if not story or any(str(given[name]).strip() for name in BEGINS):
        return
    if story != get_config().get("configurable", {}).get("thread_id"):
        raise StoryNotFound(
            f"There is no story {story!r}: give the id of one that there is, or leave it out to begin one. With a premise beside "
            "it a story of this id is begun."
        )


async def _begin(state: State, runtime: StoryRuntime, form: type[BaseModel]) -> Update:
    """Return a new story: its brief, what is known on its first page, and plans for its first passage."""
    # A form sends null for what was not filled in.
    given = cast(StoryInput, {name: state.get(name) or "" for name in MOST_WORDS})
    check_story_id(state.get("story") or "new")
    _check_begins(state, given)
    check_input({**given, "story": state.get("story") or ""})
    named = named_genre(given["premise"])
    # One line: a template's own lines are its structure.
    given["premise"], given["player"] = visible_line(given["premise"]), _I_AM.sub("", visible_line(given["player"]))
    story = state.get("story") or uuid.uuid4().hex[:12]
    if not runtime.context.has_language and (language := await language_of(given["premise"])):
        runtime.context = runtime.context.over({"language": language})
    genre = given["genre"].strip() or named
    if not genre and not given["premise"]:
        genre = runtime.chance({"story": story}, "genre").choice(GENRES)
    opening = await conceive(runtime, {**given, "genre": genre}, runtime.deck({"story": story}), form)
    memory = check_memory(given["short_term_memory"]) if given["short_term_memory"].strip() else ""
    plan, plans, known = " ".join(given["plan"].split()), opening.plans, opening.memory
    played = runtime.context.mode == "fiction"
    if played and given["player"]:
        if not opening.reader:
            known = [f"You are {given['player'].rstrip('.')}.", *known]
        begins = opening.first or ("The story begins." if is_english(runtime.context.language) else "")
        plans = [f"{known[0]} {begins}".rstrip(), *([] if opening.first else plans)]
    elif played and memory:
        plans = plans or ["The story goes on."]
    # A given plan is kept among the candidates, so that the log alone still has it.
    plans = [*([plan] if plan else []), *plans][: runtime.context.plans]
    # A novel opens with the first plan; whoever plays chooses first who to be.
    asked = played and not (given["player"] or memory)
    first = plan or ("" if asked else plans[0])
    brief = Brief(
        title=visible_text(given["title"]).strip() or opening.title,
        genre=opening.genre,
        premise=given["premise"].strip() or opening.premise,
        characters=opening.characters,
        outline=opening.outline,
    )
    if opening.synopsis not in ("", brief["premise"]):
        brief["synopsis"] = opening.synopsis
    if opening.truth:
        brief |= {"truth": opening.truth, "clues": opening.clues}
    if opening.voice:
        brief["voice"] = opening.voice
    return {
        "story": story,
        "title": brief["title"],
        "genre": brief["genre"],
        "premise": brief["premise"],
        "language": runtime.context.language,
        "brief": brief,
        "head": "",
        "step": 0,
        "plan": first,
        "next_plan": first,
        "plan_author": "human" if plan else "model",
        "written_plan": "",
        "passage": "",
        "summary": "",
        "short_term_memory": memory or "\n".join(known),
        "rationale": Rationale(dropped=[], added=[]),
        "candidate_plans": plans,
        "recalled": [],
        "status": "writing",
        "digests": {},
    }
