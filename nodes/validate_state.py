"""A state that was changed between two nodes, in Studio or by `update_state`, is looked at before anything is made of it.

`FIELDS` says of every field what becomes of such a change. What is a correction is appended to the log by `nodes.by_hand`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import ormsgpack
from pydantic import TypeAdapter, ValidationError

from recurrentgpt.nodes.human.answers import MOST_PLAN_CHARACTERS, MOST_PLAN_WORDS
from recurrentgpt.nodes.routes import plan_in_hand, waiting_plan
from recurrentgpt.prose.model_text import control_character, visible_line, visible_text
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.choice import MOST_PASSAGES
from recurrentgpt.schema.errors import StateError
from recurrentgpt.schema.log import Commit, recalled_id
from recurrentgpt.schema.parts import KEPT_PLAN, MOST_TITLE_CHARACTERS, reworded
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Brief, State

Change = Literal["passage", "branch", "none", "run"]
"""What a change by hand becomes: a correction of the passage in the log, a correction of the branch and its record, nothing,
for the field tells what the engine did, so that it is refused, or a word to the run, which is no part of the story."""

FIELDS: Mapping[str, Change] = MappingProxyType(
    {
        "passage": "passage",
        "summary": "passage",
        "short_term_memory": "passage",
        "rationale": "passage",
        "candidate_plans": "passage",
        "turns": "passage",
        "clues": "passage",
        "unreached": "passage",
        "brief": "branch",
        "title": "branch",
        "genre": "branch",
        "premise": "branch",
        "story": "none",
        "head": "none",
        "overlay": "none",
        "step": "none",
        "player": "none",
        "plan_author": "none",
        "written_plan": "none",
        "author": "none",
        "recalled": "none",
        "entries": "none",
        "codex": "none",
        "contradictions": "none",
        "sent": "none",
        "previous_passage": "none",
        "previous_memory": "none",
        "previous_turns": "none",
        "previous_clues": "none",
        "previous_unreached": "none",
        "memory_is_behind": "none",
        "digests": "none",
        "language": "run",
        "plan": "run",
        "next_plan": "run",
        "begun": "run",
        "before": "run",
        "until": "run",
        "choice": "run",
        "take": "run",
        "selector": "run",
        "autopilot": "run",
        "usage": "run",
        "spent": "run",
        "dearest": "run",
        "status": "run",
        "messages": "run",
        "problem": "run",
    }
)
"""What a change by hand of each field becomes. In the middle of a step see `made_by`."""

BUILT_ON = ("short_term_memory", "turns", "clues")
"""Fields of a passage that the memory of the next one is made from."""
REPLACED: Mapping[str, str] = MappingProxyType(
    {
        "summary": "update_memory",
        "rationale": "update_memory",
        "unreached": "update_memory",
        "candidate_plans": "propose_plans",
    }
)
"""Fields that tell of the passage before while a new one is not yet remembered, and the node that makes each anew."""
_PACKED = ormsgpack.OPT_SORT_KEYS | ormsgpack.OPT_SERIALIZE_NUMPY
_ENGINES = tuple(name for name, change in FIELDS.items() if change == "none" and name != "digests")

ONLY_AT_FIRST = "is read when a story begins, and is empty afterwards"

MOST_WORDS = {"passage": 4000, "summary": 120, "candidate_plans": MOST_PLAN_WORDS}
"""Words of what somebody writes by hand; of plans those of each."""
MOST_PLANS = 9

_WORDS = {"author": ("model", "human", "edited"), "plan_author": ("", "model", "simulator", "human", KEPT_PLAN)}
"""The words that a field may hold."""
_COUNTS = {"until": (0, 1_000_000), "autopilot": (-1, MOST_PASSAGES), "take": (0, 1_000_000)}
"""The least and the most that a field may count."""


@cache
def _form() -> TypeAdapter[Any]:
    return TypeAdapter(State)


def check_state(state: State) -> None:
    """Raise StateError, with the field, where a state is not of its types or its memory is beyond its ceilings."""
    refuse(unusable(state))


def refuse(faults: Mapping[str, str]) -> None:
    """Raise StateError for the first of the `faults` of a state, if there is one."""
    for fault in faults.values():
        raise StateError(f"The state's {fault}: put it right in the state, then go on.")


def unusable(state: State) -> dict[str, str]:
    """Return what is wrong with fields of a state, by name: those not of their types, beyond their ceilings or without a word."""
    found: dict[str, str] = {}
    try:
        # Messages are made what they are by their reducer.
        _form().validate_python({**state, "messages": []}, strict=True)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            place = ".".join(map(str, fault["loc"]))
            said = fault["msg"][0].lower() + fault["msg"][1:]
            found.setdefault(str(fault["loc"][0]), f"`{place}` cannot be used ({said})")
    for name, known in _WORDS.items():
        if name in state and name not in found and state.get(name) not in known:
            found[name] = f"`{name}` cannot be used (it is one of {', '.join(filter(None, known))})"
    for name, (least, most) in _COUNTS.items():
        if name not in found and not least <= state.get(name, 0) <= most:  # type: ignore[operator]
            found[name] = f"`{name}` cannot be used (it is from {least} to {most:,})"
    offered = [*([] if "candidate_plans" in found else state.get("candidate_plans", [])), state.get("written_plan")]
    for name in ("plan", "next_plan"):
        # What a model offered is taken as it is; anything else is held to what an answer is held to.
        if name not in found and (text := state.get(name)) and text not in offered and (wrong := _no_plan(str(text))):
            found[name] = f"`{name}` {wrong}"
    if "short_term_memory" not in found:
        memory = state.get("short_term_memory", "")
        lines, words = len(memory.splitlines()), count_words(memory)
        if lines > MEMORY_SENTENCES or words > MEMORY_WORDS:
            found["short_term_memory"] = (
                f"`short_term_memory` has {lines} sentences and {words} words; at most {MEMORY_SENTENCES} and "
                f"{MEMORY_WORDS} fit"
            )
    return found | _of_the_brief({name: value for name, value in state.items() if name not in found})


def _no_plan(text: str) -> str:
    """Return why no prompt should carry a text as a plan; empty for one that may."""
    if odd := control_character(text):
        return f"holds the control character {odd!r}"
    if len(text) > MOST_PLAN_CHARACTERS:
        return f"has {len(text):,} characters; at most {MOST_PLAN_CHARACTERS:,} fit"
    words = count_words(text)
    return f"has {words:,} words; at most {MOST_PLAN_WORDS} fit" if words > MOST_PLAN_WORDS else ""


def _of_the_brief(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return what no brief can be, by field."""
    found: dict[str, str] = {}
    brief: Mapping[str, Any] = fields.get("brief") or {}
    for name in ("title", "genre", "premise"):
        for place, text in ((name, fields.get(name)), (f"brief.{name}", brief.get(name))):
            if isinstance(text, str) and not text.strip():
                found.setdefault(place.partition(".")[0], f"`{place}` needs some words")
            elif name == "title" and isinstance(text, str) and len(text) > MOST_TITLE_CHARACTERS:
                found.setdefault(
                    place.partition(".")[0],
                    f"`{place}` has {len(text):,} characters; at most {MOST_TITLE_CHARACTERS:,} fit",
                )
    if unknown := sorted(brief.keys() - Brief.__annotations__.keys()):
        found.setdefault("brief", f"`brief` has no part {', '.join(unknown)}")
    return found


def beyond(changes: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with what somebody changed of a passage, by field; what a model wrote may be longer."""
    found: dict[str, str] = {}
    for name, value in changes.items():
        if isinstance(value, str) and (odd := control_character(value)):
            found[name] = f"`{name}` holds the control character {odd!r}"
    for name in ("passage", "summary"):
        if name not in changes:
            continue
        if (words := count_words(changes[name])) > MOST_WORDS[name]:
            found[name] = f"`{name}` has {words:,} words; at most {MOST_WORDS[name]:,} fit"
        elif name == "passage" and not words:
            found[name] = "`passage` needs some words"
    plans, most = changes.get("candidate_plans", []), MOST_WORDS["candidate_plans"]
    if len(plans) > MOST_PLANS or any(not 1 <= count_words(plan) <= most for plan in plans):
        found["candidate_plans"] = f"`candidate_plans` are at most {MOST_PLANS} plans, each of 1 to {most} words"
    return found


def corrections(state: State, kept: Commit) -> Mapping[str, Any]:
    """Return what somebody changed of a passage in the state, by the fields of its commit, which is `kept` in the log."""
    now: Mapping[str, Any] = state
    names = [name for name, change in FIELDS.items() if change == "passage" and name in now]
    # What is empty, a commit may leave out.
    return {name: now[name] for name in names if (now[name] or None) != (kept.get(name) or None)}


def unchangeable(state: State, kept: Commit, before: Commit | None, *, recalled: bool) -> dict[str, str]:
    """Return what was changed of what tells what the engine did, by field; the commit `kept` in the log follows `before`.

    `recalled` says whether what was recalled is that of the passage, and not yet that of the next one.
    """
    now: dict[str, Any] = {**state}
    if "recalled" in now:
        now["recalled"] = [recalled_id(one) for one in now["recalled"]]
    stood: dict[str, Any] = {name: kept.get(name) for name in ("author", "codex", "contradictions", "sent")}
    if before is not None:
        stood |= {
            "previous_passage": before["passage"],
            "previous_memory": before["short_term_memory"],
            "previous_turns": before.get("turns"),
            "previous_clues": before.get("clues"),
            "previous_unreached": before.get("unreached"),
        }
        waits = waiting_plan(state)
        stood |= {} if waits and not state.get("written_plan") else {"written_plan": kept["plan"]}
        # Else it is that of the plan that waits.
        stood |= {} if waits else {"plan_author": kept["plan_author"]}
        if recalled:
            stood["digests"] = None
            stood["recalled"] = kept["recalled"]
            # Of a story that was opened at this passage they are left out.
            stood |= {"entries": kept.get("told")} if state.get("entries") else {}
        if kept["candidate_plans"] and not kept["amends"]:
            stood["memory_is_behind"] = False
    changed = [name for name, was in stood.items() if name in now and (now[name] or None) != (was or None)]
    found = {name: f"`{name}` tells what was done, and was changed" for name in changed}
    if (step := state.get("step", 0)) != kept["step"]:
        found = {"step": f"`step` is {step}, and the story stands at passage {kept['step']}", **found}
    return found


def made_by(node: str, before: State, update: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of what is to stay, once a node has written `update`, until the step is committed.

    That is what tells what the engine did, from the passage on all of it, the passage, whose author is another once somebody
    edits it, and what the next nodes replace.
    """
    after, known = {**before, **update}, dict(before.get("digests", {}))
    match node:
        case "retrieve":
            return _digests(after, update.keys() & set(_ENGINES))
        case "write":
            return _digests(after, [*_ENGINES, "passage", *REPLACED])
        case "update_memory":
            kept = {name: digest for name, digest in known.items() if name not in REPLACED}
            return {**kept, **_digests(after, update.keys() & kept.keys() - {"passage"})}
    return known


def _digests(state: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    return {name: _digest(state.get(name)) for name in names}


def _digest(value: object) -> str:
    """Return a digest of plain JSON that is the same after a checkpoint, for what is empty as for what is not there."""
    if not value:
        return ""
    # As checkpoints are written: an encoder of JSON in Python takes ten times as long.
    packed = value.encode() if isinstance(value, str) else ormsgpack.packb(value, default=str, option=_PACKED)
    return f"{zlib.crc32(packed):08x}"


def passage_was_edited(state: State) -> bool:
    """Return whether somebody edited the passage of a step in flight."""
    return state.get("digests", {}).get("passage") not in (None, _digest(state.get("passage")))


def is_to_be_remembered(state: State) -> bool:
    """Return whether a step in flight has its passage and not yet the memory of it."""
    return not state.get("digests", {}).keys().isdisjoint(REPLACED)


def refused_in_flight(state: State) -> dict[str, str]:
    """Return what was changed in the middle of a step and cannot be, by field."""
    found: dict[str, str] = {}
    now: Mapping[str, Any] = state
    changed = [name for name, digest in state.get("digests", {}).items() if _digest(now.get(name)) != digest]
    for name in changed:
        if node := REPLACED.get(name):
            found[name] = (
                f"`{name}` still tells of the passage before, and is made anew by `{node}`: edit it after that"
            )
        elif FIELDS.get(name) == "none":
            found[name] = f"`{name}` tells what was done, and was changed"
    if "passage" in changed:
        found |= beyond({"passage": state.get("passage", "")})
    if "written_plan" in state.get("digests", {}) and plan_in_hand(state) != state.get("written_plan", ""):
        name = "plan" if state.get("plan") else "next_plan"
        found.setdefault(
            name, f"`{name}` was changed after the passage was written: edit it before `write`, or at the question"
        )
    return found


def edited_brief(state: State, kept: Brief) -> Brief | None:
    """Return the brief as somebody changed it in the state, there or in `title`, `genre` or `premise`; None where nobody did.

    `kept` is the one of the log. Where the log was changed meanwhile, all fields of the state are old alike, and none counts;
    where they differ, the field that stands by itself was changed.
    """
    brief = Brief(**{**state["brief"], "title": kept["title"]})
    names: tuple[Literal["title", "genre", "premise"], ...] = ("title", "genre", "premise")
    for name in names:
        seen = visible_text if name == "title" else str
        by_itself, within = seen(str(state.get(name) or state["brief"][name])), seen(state["brief"][name])
        if by_itself != within:
            brief[name] = visible_line(within if by_itself == kept[name] else by_itself)
    return None if brief == kept else reworded(brief, visible_text)
