"""Regular expressions that give the small tier's replies their alphabet, their length and their shape.

llama.cpp makes a grammar of them, so that the model cannot reply otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recurrentgpt.nodes.small.plot_moves import Move
from recurrentgpt.prose.sentences import is_cut, language_code

_LETTERS = {
    **dict.fromkeys(("ru", "bg", "uk"), "А-Яа-яЁёЇїІіЄєҐґ"),
    "el": "Α-Ωα-ωΆ-ώ", "he": "א-ת", "ar": "ء-ي", "fa": "ء-ی", "hi": "ऀ-ॿ", "bn": "ঀ-৿", "zh": "一-龥", "ja": "ぁ-ヿ一-龥ー",
    "ko": "가-힣", "th": "ก-๛", "lo": "ກ-ໝ", "km": "ក-៿", "my": "က-႟",
}  # fmt: skip
LATIN = "A-Za-zÀ-ÖØ-öø-ɏ"

LONGEST = 180
"""Characters of a plan's sentence, after the words that it has to begin with."""


def letters(language: str) -> str:
    """Return the letters of a language as the inside of a character class."""
    return _LETTERS.get(language_code(language), LATIN)


_TITLE = r"(Mrs?|Ms|Dr|St)\."


def sentences_pattern(language: str, fewest: int, most: int, longest: int = 220, *, titles: bool = False) -> str:
    """Return the pattern of `fewest` to `most` sentences in the letters of a language, each of at most `longest` characters.

    With `titles`, the full stop of "Mrs. Reed" ends none: where it may not be said, a model that was taught to say it writes
    "Mrs, Reed".
    """
    inside = f"[{letters(language)}0-9 ,;'’—-]"
    if language_code(language) in ("zh", "ja"):
        inside = f"[{letters(language)}0-9、，「」『』]"
        return f"^({inside}{{4,{longest}}}[。！？]){{{fewest},{most}}}$"
    capital = f"[{letters(language)}]"
    if letters(language) == LATIN:
        capital = "[A-ZÀ-ÖØ-Þ]"
    if titles:
        inside, capital = f"({inside}|{_TITLE})", f"({capital}|{_TITLE})"
    sentence = f"{capital}{inside}{{15,{longest}}}\\."
    return f"^{sentence}( {sentence}){{{fewest - 1},{most - 1}}}$" if most > 1 else f"^{sentence}$"


def phrase_pattern(language: str, shortest: int, longest: int) -> str:
    """Return the pattern of a phrase without a full stop."""
    return f"^[{letters(language)}][{letters(language)}0-9 ,'’—-]{{{shortest},{longest}}}$"


def is_english(language: str) -> bool:
    """Return whether a language is the one that people, moves and beginnings are dealt in."""
    return language.strip().casefold() in ("english", "en")


def who_pattern(drive: str) -> str:
    """Return the pattern that says what somebody is, and what drives them."""
    # Two words to say what somebody is: given more room, the model says "a friend who helps her who hates him".
    word = "[a-zà-öø-ÿ]{3,12}"
    # The model evades what it may not write: without an "of" it says "the wife ofaleb", for another drive "the mailman whohid".
    of = f"of ((the|a|an|his|her) {word}|[A-Z]{word})"
    second = "[a-vx-zà-öø-ÿ][a-zà-öø-ÿ]{2,11}"
    return f"(a|an|the|her|his) {word}( {second}| {of})? who {drive} {words_pattern(2, 12)}"


def words_pattern(fewest: int, most: int) -> str:
    """Return the pattern of so many words, with a comma here and there: a text that must end does not end inside a word."""
    return f"[{LATIN}0-9’'-]{{1,16}}(,? [{LATIN}0-9’'-]{{1,16}}){{{fewest - 1},{most - 1}}}"


def plan_patterns(moves: Sequence[Move], people: Sequence[str], step: int = 0, *, brief: bool = False) -> list[str]:
    """Return the pattern of a plan for each of `moves`, each about another of `people`; `brief` ones have two short sentences."""
    inside = f"[{LATIN}0-9 ,;'’—-]"
    end = f"{inside}{{15,{LONGEST}}}\\.( [A-Z]{inside}{{15,{LONGEST}}}\\.)?"
    if people[0] == "You":
        return [f"^You {inside}{{12,{LONGEST}}}\\.( [A-Z]{inside}{{15,{LONGEST}}}\\.)?$"] * len(moves)
    if brief:
        inside, end = words_pattern(3, 18), f"{words_pattern(3, 18)}\\."
    else:
        inside = f"{inside}{{12,{LONGEST}}}"
    return [
        f"^{literal(first_name(people[(step + place) % len(people)]))} ({'|'.join(move['verbs'])}) {inside}\\. "
        f"{_TURNS[place % len(_TURNS)]} {end}$"
        for place, move in enumerate(moves)
    ]


def whole(plan: str) -> str:
    """Return a plan whose sentences of LONGEST characters end with a clause: the pattern ended them inside one.

    "They reach the bridge, but the gate is shut and they-." is then "They reach the bridge, but the gate is shut."
    """
    return " ".join(
        _at_clause(sentence, 40) if len(sentence) > LONGEST else sentence for sentence in _SENTENCES.split(plan)
    )


def without_cuts(text: str) -> str:
    """Return the text of an English reply whose sentences that a full stop cut in their middle end with the clause before."""
    return " ".join(_at_clause(sentence, 20) if is_cut(sentence) else sentence for sentence in _SENTENCES.split(text))


def _at_clause(sentence: str, least: int) -> str:
    """Return a sentence up to its last clause that begins behind `least` characters; as it is where there is none."""
    clauses = [match.start() for match in _CLAUSE.finditer(sentence, least)]
    return f"{sentence[: clauses[-1]]}." if clauses else sentence


_SENTENCES = re.compile(r"(?<=\.)(?<!\bMrs\.)(?<!\b(?:Mr|Ms|Dr|St)\.) ")
_CLAUSE = re.compile(r"[,;]? (?:and|but|because|while|when|where|until|so|before|after|then) |[,;] ")


# People who want the same make no story. None of these is in the template's example, or everybody would owe a life.
DRIVES = ("(needs|follows|protects)", "(fears|envies|mistrusts)", "(lost|hates|betrayed)")
# What the second sentence of a plan begins with: a plan that only goes on is no plan.
_TURNS = ("But", "Then", "Now")


_NO_NAMES = frozenset((
    "a", "an", "the", "mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "captain", "professor", "father", "mother",
    "sister", "brother", "old", "young",
))  # fmt: skip


def first_name(name: str) -> str:
    """Return what somebody is called: the first name, or all of "The Lighthouse Keeper" and "Dr. Vance"."""
    first = name.split()[0]
    return name if first.rstrip(".").casefold() in _NO_NAMES else first


def literal(text: str) -> str:
    """Return a text without what would mean something in a pattern."""
    return re.sub(r"[^\w '’,-]", "", text)
