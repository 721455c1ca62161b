"""The calls of one step as the conversation that a story is written with: the same templates fill it here and there.

It grows, so that a server reads only what is new: the scene is asked for, then its facts, the next plans, the choice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from training.data import Mode, Premise, Scene
from training.product import CLOSING_MOVES, MOVES, READERS_MOVES, Prompts, SettingsError, packaged

MIN_WORDS, MAX_WORDS = 200, 400
"""Words of a scene, as a story has them by default; the prompt names the number half way."""

VOICES: Mapping[str, Mapping[str, str]] = {
    "novel": {"person": "third", "tense": "past"},
    "fiction": {"person": "second", "tense": "present"},
}
"""How a story of each mode is told."""

LESSONS = ("facts", "plans", "facts", "plans", "facts", "plans", "choose")
"""Of so many scenes, the call that each teaches beside the writing of it."""

KNOWN_MOVES = {move["name"]: move for move in (*MOVES, *CLOSING_MOVES, *READERS_MOVES)}


@dataclass(frozen=True)
class Exchange:
    """One call of a step and what the writer should reply; `reply` is empty where it is still to be written."""

    call: str
    """write, facts, plans, choose or open."""
    prompt: str
    reply: str


def prompts(mode: Mode) -> Prompts:
    """Return the storyteller's templates of `mode`."""
    return Prompts("storyteller", mode=mode)


def system(mode: Mode) -> str:
    """Return the system message that every conversation of `mode` begins with."""
    return prompts(mode).fill("system", **_voice(mode))


def writing(scene: Scene) -> Exchange:
    """Return the call that asks for the scene itself, the first of its step."""
    asked = prompts(scene.mode).fill(
        "write",
        **_voice(scene.mode),
        brief=_brief(scene),
        finale=scene.finale,
        memory=scene.memory,
        recalled=[{"summary": summary, "piece": summary} for summary in scene.recalled],
        ending=scene.ending,
        plan=scene.plan,
    )
    return Exchange("write", asked, scene.passage)


def exchanges(scene: Scene) -> list[Exchange]:
    """Return the calls of one step in their order, as far as the scene has their replies; the first is always there."""
    fill = prompts(scene.mode).fill
    found = [writing(scene)]
    if scene.summary:
        found.append(Exchange("facts", fill("facts"), _json({"summary": scene.summary, "facts": scene.facts})))
    if scene.plans:
        found.append(
            Exchange("plans", plans_prompt(scene, scene.moves), _json(dict(zip(scene.moves, scene.plans, strict=True))))
        )
    if scene.choice:
        chosen = {"why": scene.choice.why, "index": scene.choice.index, "plan": scene.choice.plan}
        found.append(Exchange("choose", fill("choose", plans=scene.plans), _json(chosen)))
    return found


def lesson(scene: Scene) -> list[Exchange]:
    """Return the conversation that is learnt from a scene: it is written, and one more call follows from it.

    In a run each of the later calls goes on from the scene alone: neither notes nor plans see the other. Which call a scene
    teaches depends on its story and step, in the shares of LESSONS.
    """
    first, *later = exchanges(scene)
    dealt = int(hashlib.sha256(f"{scene.story} {scene.step}".encode()).hexdigest()[:8], 16) % len(LESSONS)
    taught = [exchange for exchange in later if exchange.call == LESSONS[dealt]]
    return [first, *(taught or later[:1])]


def plans_prompt(scene: Scene, moves: Sequence[str]) -> str:
    """Return the call for plans of the scene after `scene`, one for each of `moves`."""
    left = len(scene.outline) - scene.step - 1
    if unknown := [name for name in moves if name not in KNOWN_MOVES]:
        raise SettingsError(f"{scene.story} scene {scene.step} plans by moves that no story has: {', '.join(unknown)}.")
    return prompts(scene.mode).fill(
        "plans",
        **_voice(scene.mode),
        finale="last" if left <= 0 else "near" if left <= 2 else "",
        coming=" ".join(scene.outline[scene.step : scene.step + 1]),
        moves=[KNOWN_MOVES[name] for name in moves],
    )


def openings(premise: Premise) -> list[Exchange]:
    """Return the calls that found a story, with the story as it was laid out for a reply.

    It is founded from the names that were dealt, from the premise that somebody gave, and from its genre alone.
    """
    people = [dict(zip(("name", "who"), person.split(": ", 1), strict=True)) for person in premise.characters]
    founded = {
        "title": premise.title,
        "premise": premise.premise,
        "characters": people,
        "outline": premise.outline,
        "plan": premise.turns[0].plan,
    }
    player = next((fact[8:-1] for fact in premise.start if re.fullmatch(r"You are [^,]+\.", fact)), "")
    nothing = {"genre": premise.genre, "premise": "", "names": [], "player": ""}
    told: tuple[dict[str, Any], ...] = (
        {"names": [person["name"] for person in people], "player": player},
        {"premise": premise.premise, "player": player},
        {},
    )
    fill = prompts(premise.mode).fill
    return [
        Exchange("open", fill("open", **{**_voice(premise.mode), **nothing, **given}), _json(founded)) for given in told
    ]


def messages(mode: Mode, done: Sequence[Exchange]) -> list[dict[str, str]]:
    """Return a conversation as a chat server takes it, up to the first exchange without a reply."""
    found = [{"role": "system", "content": system(mode)}]
    for exchange in done:
        found.append({"role": "user", "content": exchange.prompt})
        if not exchange.reply:
            break
        found.append({"role": "assistant", "content": exchange.reply})
    return found


@cache
def templates_fingerprint() -> str:
    """Return the first figures of the SHA-256 of all the storyteller's templates, in the order of their names."""
    digest = hashlib.sha256()
    for place, text in packaged().items():
        mode, folder, file = place.split("/")
        if folder == "storyteller":
            digest.update(f"{mode}/{file}\0{text}\0".encode())
    return digest.hexdigest()[:12]


def _brief(scene: Scene) -> dict[str, Any]:
    return scene.model_dump(include={"title", "genre", "premise", "characters", "outline"})


def _voice(mode: Mode) -> dict[str, Any]:
    return {
        "language": "English",
        **VOICES[mode],
        "style": "",
        "pace": "",
        "note": "",
        "invite": False,
        "min_words": MIN_WORDS,
        "max_words": MAX_WORDS,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
