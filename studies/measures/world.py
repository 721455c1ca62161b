"""A scripted world of planted facts: passages that each state one thing, and plans that need it without saying it.

Everything follows from the number of a passage and the world's seed. Every fact has many like it: the same owner owns other
things and others own the same thing, so that only both together tell which is meant.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


def _words(text: str) -> list[str]:
    return text.split()


_OWNERS = _words(
    "Abernethy Bellweather Castellan Dunmore Eskelund Fairholm Garrick Hollis Ingram Jessop Kessler Lindqvist Marchetti "
    "Northcote Okafor Pemberton Quarles Redfern Sorensen Thackeray Ulrich Vasquez Whitlock Yarrow Zeller Ashdown Brandt "
    "Corrigan Delacroix Ellery Fontaine Grimaldi Hathaway Iversen Jourdain Kovacs Lockhart Montague Novak Oyelaran"
)
_THINGS = _words(
    "strongbox cellar door boat desk clock lantern bridge gate chapel greenhouse trunk wardrobe stable kiln piano "
    "telescope ledger cabinet well mill carriage safe attic pantry workshop organ mirror cradle anvil loom dovecote"
)
_WHO = _words("Mira Tobias Adela Corvin Sunniva Marek Yolanda Piers Nadine Oswin Leoni Ruben")
_DID = _words(
    "buried followed mended counted questioned polished traded guarded measured copied forgot lifted named sold"
)
_WHAT = _words("grey narrow painted borrowed silver crooked frozen hollow foreign scarlet rusted gentle hidden broken")
_OBJECT = _words(
    "kettle orchard letter harbour garden engine violin compass tower coat rope basket coin map stove bucket"
)
_HOW = _words("slowly twice gladly alone badly again quietly today upstairs outside backwards together sideways early")
_ONSETS = _words("b br d dr f g gl k kr l m n p pl r s sk t tr v w z")
_VOWELS = _words("a e i o u ai ou")
_CODAS = _words("l m n r s k nd rt sk")

KINDS = ("code", "name", "colour")


@dataclass(frozen=True)
class Fact:
    """One planted fact."""

    number: int
    """Number of the passage that states it."""
    kind: str
    owner: str
    thing: str
    value: str
    """A word that exists nowhere else."""

    @property
    def sentence(self) -> str:
        """The sentence that states it."""
        match self.kind:
            case "code":
                return f"The code of {self.owner}'s {self.thing} was {self.value}, and it was told only once."
            case "name":
                return f"The man who looked after {self.owner}'s {self.thing} was called {self.value}."
        return f"{self.owner}'s {self.thing} had been painted {self.value}, a colour that nobody else could mix."

    @property
    def plan(self) -> str:
        """A plan that cannot be carried out without it and does not say it."""
        first, second = _WHO[self.number % 12], _WHO[(self.number + 5) % 12]
        match self.kind:
            case "code":
                need = f"{first} stands before {self.owner}'s {self.thing} again and has to give its code."
            case "name":
                need = f"{first} goes back to {self.owner}'s {self.thing} and calls the man who looks after it by his name."
            case _:
                need = (
                    f"{first} has to describe the colour of {self.owner}'s {self.thing} to somebody who never saw it."
                )
        return f"{need} {second} waits outside and grows impatient. In the end something that was closed is open."


class World:
    """The facts and passages of one seed."""

    def __init__(self, seed: int = 1, words: int = 300) -> None:
        self.seed, self.words = seed, words
        pairs = [(owner, thing) for owner in _OWNERS for thing in _THINGS]
        random.Random(f"world {seed}").shuffle(pairs)
        self._pairs = pairs

    @property
    def size(self) -> int:
        """Most passages that a world has facts for."""
        return len(self._pairs)

    def fact(self, number: int) -> Fact:
        """Return the fact of passage `number`, counted from 1."""
        owner, thing = self._pairs[number - 1]
        return Fact(number, KINDS[number % 3], owner, thing, _nonce(number, self.seed))

    def passage(self, number: int) -> str:
        """Return passage `number`: what anybody does, and somewhere in it the fact."""
        dealer = random.Random(f"passage {self.seed} {number}")
        lines = [_filler(dealer) for _ in range(self.words // 9)]
        lines.insert(dealer.randrange(1, len(lines)), self.fact(number).sentence)
        per = max(1, len(lines) // 4)
        return "\n\n".join(" ".join(lines[at : at + per]) for at in range(0, len(lines), per))

    def summary(self, number: int) -> str:
        """Return what an archive would say of a passage: who did what, and not the fact."""
        dealer = random.Random(f"summary {self.seed} {number}")
        fact = self.fact(number)
        return f"{_filler(dealer)[:-1]} near {fact.owner}'s house."


def _nonce(number: int, seed: int) -> str:
    """Return a word of three syllables; different numbers give different words."""
    dealer = random.Random(f"nonce {seed}")
    parts = [f"{onset}{vowel}" for onset in _ONSETS for vowel in _VOWELS]
    dealer.shuffle(parts)
    ends = [f"{vowel}{coda}" for vowel in _VOWELS for coda in _CODAS]
    first, second = divmod(number, len(parts))
    return f"{parts[second]}{parts[(first * 7 + second * 3) % len(parts)]}{ends[first % len(ends)]}".capitalize()


def _filler(dealer: random.Random) -> str:
    who, other = dealer.sample(_WHO, 2)
    what, thing, thing2 = dealer.choice(_WHAT), *dealer.sample(_OBJECT, 2)
    did, how = dealer.choice(_DID), dealer.choice(_HOW)
    form = dealer.randrange(5)
    return (
        f"{who} {did} the {what} {thing} {how}.",
        f"Beside the {thing}, {who} {did} a {what} {thing2} for {other}.",
        f"Nobody saw how {who} {did} the {what} {thing} before {other} came {how}.",
        f"A {what} {thing} stood where {who} {did} the {thing2} {how}.",
        f"{who} and {other} {did} the {thing}, then looked at the {what} {thing2} {how}.",
    )[form]
