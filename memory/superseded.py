"""Which texts say what is no longer so: lines that a later passage ended or replaced, and what was true of the living.

A summary says a line in words of its own, so words decide, in the forms that they share; a passage is only held against the
very sentence that the line rests on, for what else it tells happened.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from recurrentgpt.memory.dead_who_act import dead_who_act
from recurrentgpt.memory.left_out import CUT, LEFT_OUT, marked, without
from recurrentgpt.memory.row_texts import is_quoted
from recurrentgpt.memory.told_of_people import any_of, tells_how_they_live, tells_of_the_living
from recurrentgpt.memory.word_forms import SAME, word_forms
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.codex import Codex, Entry, Superseded, searched, sign_of
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.names import OF_ANYBODY, is_name_part
from recurrentgpt.schema.parts import RowKind

_BEING = frozenset(
    ["liv", "dwell", "resid", "stay", "remain", "sleep", "hid", "wait", "lodg", "sit", "stand", "still", "now"]
)
"""What else says where somebody is, without the endings."""
_WORDS = re.compile(r"\w[\w'’-]*")
_HAS = r"(?:has|wears|carries|holds|keeps|owns|possesses|hides|is (?:wearing|carrying|holding|keeping|hiding))"
"""How it is said that somebody has a thing now."""
_IS_LAID = (
    r"(?:(?:lies?|hangs?|stands?|sits?|rests?|remains?|stays?|leans?)(?: (?:hidden|buried|locked))?|"
    r"(?:is|are) (?:hidden|kept|locked(?: up| away)?|buried|left|stored|stowed))"
)
_IN = r"(?:in|inside|on|at|under|underneath|below|beneath|behind|beside|near|aboard|within|outside)"
"""What tells where a thing is behind a mere "is", by which it may also be in Latin, by a poet or over a hundred years old."""
_NO_PLACE = (
    r"(?!(?:pieces|ruins|use|danger|order)\b|(?:\w+(?:['’]s)? ){0,4}?(?:state|condition|mess|code|cipher|language|tongue|hand|"
    r"handwriting|script|words|subject)\b)"
)
"""What a thing may be in, and is nowhere."""
_WHERE = (
    r"(?:in|inside|on|upon|at|under|underneath|below|beneath|behind|beside|by|near|above|over|against|between|among|aboard|"
    r"within|outside)"
)
"""How it is said that a thing is somewhere now."""


def without_superseded(text: str, over: Collection[Superseded]) -> str:
    """Return a summary, or what is noted of a passage, without the sentences that say again what is over."""
    return without(text, lambda sentence: any(says_again(sentence, line) for line in over)) if over else text


def without_other_holders(text: str, thing: Entry, holder: str) -> str:
    """Return a text of before a thing got lost or changed hands without what it tells in the present: who has it, where it is."""
    if not _has_last_word(text, thing.names):
        return text
    return without(
        text,
        lambda sentence: (
            tells_of_other_holder(sentence, thing.names, holder) or tells_where_it_is(sentence, thing.names)
        ),
    )


def without_living(text: str, names: tuple[str, ...]) -> str:
    """Return a text without the English sentences that tell how somebody of these names lives."""
    if not any(name[1:] in text for name in names):
        return text
    return without(text, lambda sentence: tells_how_they_live(sentence, names))


class StillTrue(NamedTuple):
    """What of a commit that was found is still true; empty where nothing is."""

    summary: str
    piece: str
    """What it was found by, or the summary where nothing of that is left."""
    quoted: bool
    """Whether `piece` is the passage's own words."""


def still_true(codex: Codex, commit: Commit, kind: RowKind, row: int, piece: str) -> StillTrue:
    """Return the summary of a commit, and the text of the row it was found by, without what the codex says is no longer so.

    Of the passage's own words only the sentences go on which a line rests that is over: whatever else it tells happened.
    """
    over = [_with_roles(line, codex) for line in codex.over.get(commit["id"], ())]
    summary = without_superseded(commit["summary"], over)
    if kind in ("summary", "fact"):
        piece = without_superseded(piece, over)
    whole = piece
    for said in _words_of(over):
        piece = _without_words(piece, said)
    piece = piece if piece is whole else marked(piece)
    for entry in (*codex.held, *codex.gone):
        # In nobody's hands is what is lost.
        now = entry.line("holder") or entry.line("status")
        if now and commit["step"] < now.step:
            has = codex.find(entry.value("holder"))
            holder = " ".join((*has.names, *has.roles)) if has else entry.value("holder")
            summary = without_other_holders(summary, entry, holder)
            piece = piece if kind == "sentence" else without_other_holders(piece, entry, holder)
    for entry in codex.dead:
        # In the passage of the death the same sentence may tell how they lived and how they died.
        if (died := entry.line("status")) and commit["step"] != died.step:
            names = codex.called_alone(entry)
            summary = without_living(summary, names)
            piece = piece if kind == "sentence" else without_living(piece, names)
    for one in dead_who_act(codex, commit.get("contradictions", [])):
        summary = one.taken_from(summary)
        if kind == "sentence":
            piece = marked(" ".join(one.left_out_of(piece, commit["passage"])))
        elif kind == "fact":
            piece = without(piece, one.is_untrue)
        else:
            piece = one.taken_from(piece)
    piece = " ".join(piece.split())
    return StillTrue(summary, piece or summary, bool(piece) and is_quoted(kind, row, commit))


def _with_roles(line: Superseded, codex: Codex) -> Superseded:
    """Return a line that is over with the roles of its entry: the brief says them, and no passage."""
    entry = codex.find(line.called[0]) if line.called else None
    return line._replace(roles=tuple(dict.fromkeys([*line.roles, *entry.roles]))) if entry and entry.roles else line


def says(text: str, over: Collection[Superseded]) -> bool:
    """Return whether a text holds a sentence that is over, word for word."""
    return any(said.removesuffix(CUT) in text for said in _words_of(over))


def _words_of(over: Collection[Superseded]) -> list[str]:
    return [said for line in over for said in (line.sentence, line.rests_on) if said]


def _without_words(text: str, said: str) -> str:
    """Return a text with a mark in the place of what was said; of a sentence that is not known whole, its beginning is."""
    if said in text:
        return text.replace(said, f" {LEFT_OUT} ")
    if not said.endswith(CUT):
        return text
    began = said.removesuffix(CUT)
    parts = [LEFT_OUT if part.strip().startswith(began) else part for part in sentences(text)]
    return " ".join(parts) if LEFT_OUT in parts else text


def says_again(sentence: str, line: Superseded) -> bool:
    """Return whether a sentence says a line that is over, in whatever words, and not what has taken its place."""
    if not _names(sentence, (*line.called, *line.roles)):
        return False
    if line.by_death and not tells_of_the_living(sentence, (*line.called, *line.roles)):
        return False
    own, called = _said(sentence), word_forms(" ".join(line.called))
    own_words = frozenset().union(*own) - called
    if line.is_place:
        where = own_words - _BEING
        return bool(where) and where <= word_forms(line.sentence)
    if line.instead and _share(line.instead, own_words, called) >= SAME:
        return False
    if _share(line.sentence, own_words, called) >= SAME:
        return True
    shared = own_words & word_forms(line.rests_on)
    return len(shared) > 1 and len(shared) >= SAME * len(own_words)


def tells_of_other_holder(sentence: str, names: tuple[str, ...], holder: str) -> bool:
    """Return whether an English sentence tells in the present that another than `holder` has a thing of these names.

    `holder` is all that they are called, with their roles.
    """
    if not _has_last_word(sentence, names):
        return False
    has = _holding(names).search(sentence)
    if has is None:
        return False
    if has["role"]:
        return has["role"].casefold().split()[-1] not in holder.casefold().split()
    # Ansel Rook is not Tilda Rook.
    first, called = (has["first"] or "").strip(), holder.split()
    if has["last"] not in called or has["last"] == called[0]:
        return has["last"] not in called
    return is_name_part(first) and first.casefold() not in OF_ANYBODY and first not in called


def _has_last_word(text: str, names: Collection[str]) -> bool:
    """Return whether a text has the last word of a name, in whatever letters: the tin whistle is the Tin Whistle."""
    text = text.casefold()
    return any(name.split()[-1].casefold() in text for name in names)


def tells_where_it_is(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether an English sentence tells in the present where a thing of these names is."""
    if not _has_last_word(sentence, names):
        return False
    return _lying(names).search(sentence) is not None


@lru_cache(maxsize=1024)
def _lying(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that a thing of these names, or the deed of a mill, is somewhere."""
    thing = rf"(?:(?:the|an?|his|her|their|this|that) )?(?:{any_of(names)})(?: of [^,.;]{{1,40}}?)?"
    adverb = r"(?:(?:still|now|also|already|always|safe|\w+ly) )?"
    return re.compile(
        rf"^{thing} {adverb}(?:{_IS_LAID} {adverb}{_WHERE} {_NO_PLACE}|(?:is|are) {adverb}{_IN} {_NO_PLACE}"
        r"(?=(?:(?:the|an?|his|her|their|my|our|its|this|that)\b|(?-i:[A-Z])\w+['’]s )))",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1024)
def _holding(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody has a thing of these names; after "her" its last word alone may be of another one."""
    last = any_of([name.split()[-1] for name in names])
    thing = rf"(?i:(?:(?:the|an?|his|her|their|this|that) )?(?:{any_of(names)})|the (?:{last}))"
    who = r"(?:^[Tt]he (?P<role>[a-z][\w-]+(?: [a-z][\w-]+)?)|\b(?P<first>[A-Z][\w'’.-]* )?(?P<last>[A-Z][\w'’-]+))"
    return re.compile(rf"{who},? (?:(?:still|now|always|also|\w+ly) )?{_HAS} (?:{thing})\b")


def _names(sentence: str, called: Collection[str]) -> bool:
    """Return whether a sentence names an entry: by any part of a name in capitals, by the last of its words in any letters."""
    read = searched(sentence)
    for name in called:
        parts = name.split()
        capitals = [part for part in parts if part[0].isupper() and part != "The"]
        if any(sign_of(part).place_in(read) >= 0 for part in (*capitals, parts[-1].lower())):
            return True
    return False


def _share(said: str, words: frozenset[str], called: frozenset[str]) -> float:
    """Return the share of what a sentence says, beside whom it is about, that others have; a name is one thing said."""
    groups = [group - called for group in _said(said)]
    groups = [group for group in groups if group]
    return sum(not group.isdisjoint(words) for group in groups) / len(groups) if groups else 0.0


@lru_cache(maxsize=4096)
def _said(sentence: str) -> tuple[frozenset[str], ...]:
    """Return what a sentence says, in one form of each word: the words of a name together, every other one alone."""
    found: list[set[str]] = []
    end = -1
    for match in _WORDS.finditer(sentence):
        forms = word_forms(match[0])
        is_name = match[0][0].isupper()
        if is_name and end >= 0 and sentence[end : match.start()] == " " and forms:
            found[-1] |= forms
        elif forms:
            found.append(set(forms))
        end = match.end() if is_name and forms else -1
    return tuple(map(frozenset, found))
