"""Deal story moves, names and openings from seeded decks: a small model left alone always plans the same scene.

Every deal depends on nothing but the step and the seed, so a run can be repeated, and a fork deals like its original.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypedDict


class Move(TypedDict):
    """One thing that a scene can do to a story: a name for the reply's key, and an instruction."""

    name: str
    instruction: str


def _deck(**moves: str) -> tuple[Move, ...]:
    return tuple(Move(name=name, instruction=instruction) for name, instruction in moves.items())


MOVES = _deck(
    danger="somebody is hunted, hurt or trapped and has to act at once",
    secret="somebody finds out a thing that another person has hidden",
    arrival="somebody comes whom nobody expected, and wants something",
    choice="somebody gives up one thing they need to keep another",
    reversal="a person or a thing turns out to be the opposite of what it seemed",
    journey="people leave for another place, and the way there costs them something",
    bargain="somebody makes a deal with a person they do not trust",
    loss="a thing or a person they relied on is taken away or broken",
    clue="a small object or remark answers a question nobody had asked",
    quarrel="two people on the same side turn against each other",
    trap="somebody sets a trap, and the wrong person walks into it",
    confession="somebody admits what they did, and to whom they did it",
    rescue="somebody goes back for a person who was left behind",
    theft="somebody steals a thing they need and is seen",
    deadline="the time they thought they had is suddenly cut short",
    failure="a plan is carried out and fails in a way that makes things worse",
    promise="somebody gives their word and at once has to pay for it",
    disguise="somebody pretends to be another person to get through a door",
    witness="somebody who saw everything is found, and names a price",
    refuge="people hide in a place that belongs to somebody else",
    message="a message comes from a person who should not be able to send one",
)
"""The deck of an open-ended story."""

CLOSING_MOVES = _deck(
    showdown="the two who want opposite things meet face to face, and one of them gives way",
    sacrifice="somebody gives up what they wanted most so that another person is safe",
    truth="the thing that was hidden from the start is said aloud before everybody",
    return_="somebody goes back to where the story began and does there what they could not do before",
    debt="an old promise is paid in full, and it costs what was feared",
    farewell="two people part, and one of them keeps something of the other",
)
"""The deck of the last scenes of a story that ends."""


def deal(step: int, seed: int, count: int, finale: str = "") -> list[Move]:
    """Return `count` moves for the plans made at `step`; no move comes back before the deck is used up.

    `finale` ("near" or "last") deals from the closing deck. A count beyond a deck's size is cut to it.
    """
    deck = CLOSING_MOVES if finale else MOVES
    count = min(count, len(deck))
    turns = len(deck) // count
    rotation, turn = divmod(max(step, 0), turns)
    order = random.Random(f"moves {seed} {bool(finale)} {rotation}").sample(deck, len(deck))
    return [
        Move(name=move["name"].rstrip("_"), instruction=move["instruction"]) for move in order[turn * count :][:count]
    ]


_FIRST_NAMES = [
    "Ines",
    "Tomas",
    "Maren",
    "Jonah",
    "Adaeze",
    "Rufus",
    "Lena",
    "Casimir",
    "Nadia",
    "Owen",
    "Sabine",
    "Idris",
    "Halla",
    "Pavel",
    "Greta",
    "Emeka",
    "Ruth",
    "Anselm",
    "Yusra",
    "Bram",
    "Oriel",
    "Teodor",
    "Wren",
    "Mateo",
    "Ottilie",
    "Caspian",
    "Noor",
    "Silas",
    "Imke",
    "Desmond",
    "Zofia",
    "Kofi",
    "Freya",
    "Lucan",
    "Amara",
    "Piet",
]
_LAST_NAMES = [
    "Okafor",
    "Vrabel",
    "Lindqvist",
    "Hale",
    "Castellan",
    "Brandt",
    "Moreau",
    "Tarrow",
    "Ibarra",
    "Kessler",
    "Dunmore",
    "Achterberg",
    "Sorrel",
    "Petrov",
    "Quill",
    "Marchetti",
    "Osei",
    "Rowe",
    "Halloran",
    "Nakata",
    "Strand",
    "Voss",
    "Abara",
    "Fenwick",
    "Galloway",
    "Rask",
    "Tolliver",
    "Mbeki",
    "Sandoval",
    "Pryce",
    "Ullman",
    "Kerr",
]


def deal_names(seed: int, count: int = 3) -> list[str]:
    """Return names for the people of a new story, no first or last name twice; models of all sizes love the same five."""
    dealer = random.Random(f"names {seed}")
    first, last = dealer.sample(_FIRST_NAMES, count), dealer.sample(_LAST_NAMES, count)
    return [f"{given} {family}" for given, family in zip(first, last, strict=True)]


_PEOPLE = (
    "a ferry pilot", "a map engraver", "a night nurse", "a lock keeper", "a bell founder", "a gravedigger's daughter",
    "a cook on her last wages", "a translator of letters", "a beekeeper", "a clerk of lost property", "a well digger",
    "a piano tuner", "a guard who cannot sleep", "a seed merchant", "a glass blower", "a bookkeeper",
)  # fmt: skip
_FINDS = (
    "finds a familiar name in a stranger's will", "is paid to destroy a thing and keeps it", "sees a dead man buy a ticket",
    "hears somebody knock from inside a wall", "is handed a child and told to run", "recognises the voice of the enemy",
    "finds a door that was not there yesterday", "opens a parcel that was posted nine years ago",
    "is asked to swear that a false thing is true", "finds the one page that was cut from the record",
    "is mistaken for the person everybody fears", "loses the only key to a place that must stay shut",
)  # fmt: skip


def deal_spark(seed: int) -> str:
    """Return one concrete trouble to build a story on where the reader gave no premise."""
    dealer = random.Random(f"spark {seed}")
    return f"{dealer.choice(_PEOPLE)} who {dealer.choice(_FINDS)}"


def shuffled(plans: Sequence[str], step: int, seed: int) -> tuple[list[str], list[int]]:
    """Return the plans in a seeded order, and for each the place it came from: small models favour the last."""
    order = list(range(len(plans)))
    random.Random(f"plans {seed} {step}").shuffle(order)
    return [plans[place] for place in order], order
