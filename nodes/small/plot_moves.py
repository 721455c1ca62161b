"""Deal story moves from seeded decks: a small model left alone always plans the same scene.

Every deal depends on nothing but the step and the seed, so a run can be repeated, and a fork deals like its original.
"""

from __future__ import annotations

import random
from typing import TypedDict


class Move(TypedDict):
    """One thing that a scene can do to a story."""

    name: str
    """The key of its plan in a reply."""
    instruction: str
    verbs: list[str]
    """How an English plan may go on after the name it begins with. Free to choose, a small model writes
    "decides to investigate" or "is unable to" into every plan."""


def _move(name: str, instruction: str, *verbs: str) -> Move:
    return Move(name=name, instruction=instruction, verbs=list(verbs))


MOVES = (
    _move(
        "danger",
        "somebody is hunted, hurt or trapped and has to act at once",
        "runs from",
        "hides from",
        "fights",
        "climbs out of",
        "is attacked by",
    ),
    _move("secret", "somebody finds out what another person has hidden", "finds out that", "overhears", "reads"),
    _move(
        "arrival",
        "somebody comes whom nobody expected, and wants something",
        "opens the door to",
        "meets",
        "returns to",
    ),
    _move(
        "choice", "somebody gives up one thing they need to keep another", "gives up", "burns", "refuses", "lets go of"
    ),
    _move("reversal", "a person or a thing turns out to be the opposite of what it seemed", "learns that", "sees that"),
    _move(
        "journey",
        "people leave for another place, and the way costs them something",
        "travels to",
        "rides to",
        "crosses",
    ),
    _move(
        "bargain",
        "somebody makes a deal with a person they do not trust",
        "makes a deal with",
        "sells",
        "trades",
        "pays",
    ),
    _move("loss", "a thing or a person they relied on is taken away or broken", "loses", "breaks", "buries", "watches"),
    _move("clue", "a small object or remark answers a question nobody had asked", "notices", "recognises", "picks up"),
    _move(
        "quarrel", "two people on the same side turn against each other", "accuses", "strikes", "shouts at", "threatens"
    ),
    _move("trap", "somebody sets a trap, and the wrong person walks into it", "sets a trap for", "lures", "waits for"),
    _move("confession", "somebody admits what they did, and to whom", "confesses to", "tells", "shows"),
    _move(
        "rescue", "somebody goes back for a person who was left behind", "goes back for", "frees", "carries", "pulls"
    ),
    _move("theft", "somebody steals a thing they need and is seen", "steals", "takes", "copies"),
    _move("deadline", "the time they thought they had is cut short", "hears that", "is told that", "has one hour to"),
    _move("failure", "a plan is carried out and makes things worse", "tries to", "drops", "wakes", "breaks"),
    _move("promise", "somebody gives their word and at once has to pay for it", "promises", "swears to", "gives"),
    _move("disguise", "somebody pretends to be another person", "pretends to be", "dresses as", "lies to"),
    _move(
        "witness", "somebody who saw everything is found, and names a price", "finds the one person who", "questions"
    ),
    _move("refuge", "people hide in a place that belongs to somebody else", "hides in", "breaks into", "climbs into"),
    _move(
        "message", "a message comes from a person who should not be able to send one", "receives", "finds a letter from"
    ),
)
"""The deck of an open-ended story."""

CLOSING_MOVES = (
    _move("showdown", "the two who want opposite things meet, and one gives way", "faces", "stops", "disarms"),
    _move(
        "sacrifice", "somebody gives up what they wanted most to save another", "gives up", "stays behind for", "gives"
    ),
    _move(
        "truth", "what was hidden from the start is said aloud before everybody", "tells everybody that", "reads aloud"
    ),
    _move("homecoming", "somebody goes back to where the story began", "returns to", "walks back to", "opens"),
    _move(
        "debt", "an old promise is paid in full, and it costs what was feared", "pays", "keeps the promise to", "hands"
    ),
    _move(
        "farewell", "two people part, and one keeps something of the other", "says goodbye to", "leaves", "parts from"
    ),
)
"""The deck of the last scenes of a story that ends."""


READERS_MOVES = (
    _move("bold", "act at once, and risk something that cannot be had again"),
    _move("talk", "speak to somebody who wants something else, and get it out of them"),
    _move("trick", "lie, hide or pretend"),
    _move("give", "give up something of your own for it"),
    _move("use", "use a thing that is at hand in a way nobody expects"),
    _move("follow", "go after somebody or something, and leave this place"),
    _move("refuse", "stand against what is asked of you"),
    _move("search", "find out what is hidden here before it is too late"),
    _move("side", "take the side of one person against another"),
    _move("bargain", "offer a deal to a person you do not trust"),
    _move("break", "break a rule or a thing that keeps everybody else safe"),
    _move("return", "go back for what was left behind"),
)
"""The deck of what a reader can do; the instruction alone leads, for the reader acts in every one of them."""


def deal(step: int, seed: int, count: int, finale: str = "", *, mode: str = "novel") -> list[Move]:
    """Return `count` moves for the plans made at `step`; no move comes back before the deck is used up.

    `finale` ("near" or "last") deals a novel from the closing deck, as far as it reaches.
    """
    deck: tuple[Move, ...] = CLOSING_MOVES if finale else MOVES
    if finale and count > len(deck):
        deck = (*CLOSING_MOVES, *MOVES)
    if mode == "fiction":
        deck, finale = READERS_MOVES, ""
    count = min(count, len(deck))
    rotation, turn = divmod(max(step, 0), len(deck) // count)
    order = random.Random(f"moves {seed} {bool(finale)} {rotation}").sample(deck, len(deck))
    return order[turn * count :][:count]
