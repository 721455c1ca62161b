"""Which texts say what is no longer so: lines that a later passage ended or replaced, and what was true of the living.

A summary says a line in words of its own, so words decide, in the forms that they share; a passage is only held against the
very sentence that the line rests on, for what else it tells happened. Of a fact it is read in many languages whether it tells of
somebody as of the living, see `memory.tenses`; of a summary, which tells in whatever tense what happened, by a rule for English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache, partial
from itertools import groupby
from typing import NamedTuple

from recurrentgpt.memory.row_texts import is_quoted
from recurrentgpt.memory.tenses import is_present, lives_with
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Codex, Contradiction, Entry, Superseded, searched, sign_of
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.names import CAPITALS, LETTER, OF_ANYBODY, is_anothers, is_name_part
from recurrentgpt.schema.parts import RowKind

SAME = 0.6
"""Share of what a line says that a sentence has which says it again, or of its own words that the line's first sentence has."""

_PLAIN = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her hers him his in into is it its of off on or our own she "
        "so that the their them they this to was were who with",
    )
)
"""Words that tell nothing of what a sentence says."""
_BEING = frozenset(
    ["liv", "dwell", "resid", "stay", "remain", "sleep", "hid", "wait", "lodg", "sit", "stand", "still", "now"]
)
"""What else says where somebody is, without the endings."""
_ENDING = re.compile(r"(?<=..)(?:'s|ing|ied|ies|ed|es|s|e)$")
_WORDS = re.compile(r"\w[\w'’-]*")

_STATES = (
    r"lives|dwells|resides|stays|remains|sleeps|works|serves|keeps|guards|protects|watches|tends|carries|wears|holds|owns|"
    r"possesses|hides|waits|loves|hates|fears|dreads|knows|wants|needs|hopes|plans|means|intends|believes|trusts|distrusts|"
    r"suspects|"
    r"runs|rules|leads|commands|teaches|sings|drinks|limps|dreams|misses|owes|"
    r"has (?:an?|the|his|her|their|no|some|any|many|only|two|three|four|five|several|all|both|every)\b|"
    r"is (?!dead|deceased|buried|gone|killed|murdered|drowned|hanged|slain|mourned|missed|remembered|survived|missing|said|"
    r"believed|thought|presumed|found|laid|lying|executed|assassinated|beheaded|strangled|poisoned|shot|stabbed|known|innocent|"
    r"guilty|responsible|related|to blame|no (?:more|longer)|"
    r"(?:the|an?|one|his|her|their|my|our)\b|[A-Z])"
)
"""What is said of somebody in the present, and of the living alone; who somebody is, is said of the dead, too.

Of these a summary tells as of what is so; what else it tells in the present, happened.
"""


_STATE = re.compile(rf" (?:(?:still|now|always|often|also|secretly|alone|\w+ly) )?(?:{_STATES})")
_AND = "and|und|et|y|e|en|i|og|och|и|і"
_GHOST = r"(?:\w+ )?(?:ghost|spirit|spect(?:re|er)|wraith|revenant|vampire|zombie|apparition)"
_A_GHOST = re.compile(
    rf"(?:, (?:now |only |no more than )?|\bas |\b(?:is|are|becomes?) (?:now |only )?)(?:an?|the) {_GHOST}"
    r"(?=[.,;]|$| (?:and|who|that)\b)",
    re.IGNORECASE,
)
"""What somebody dead does as a ghost."""
_NOT_THERE = re.compile(
    r"(?:\b(?:in|on|from|by|through) (?:(?:(?:[\w-]+['’]s|his|her|their|an?|the|its) )?(?:\w+ ){0,2}?)"
    r"(?:dreams?|nightmares?|visions?|letters?|will|testament|diary|diaries|journals?|notes?|tapes?|recordings?|films?|videos?|"
    r"portraits?|photographs?|memoirs?|messages?|memory|memories)(?: (?:to|from|of|for) [^,.;]{1,40})?,? |"
    r"\b(?:dreams?|dreamt|dreamed|imagines?|imagined|remembers?|pretends?|pretended) (?:that|how|of) )$",
    re.IGNORECASE,
)
"""What stands before somebody who is told of and is not there: a dream, or what they left behind them."""
_DIED = re.compile(
    r" (?:\w+ly )?(?:died|dies|drowned|drowns|perished|fell|had|(?:is|was|were|has been|lies|lay) (?:\w+ly )?(?:dead|killed|"
    r"buried|drowned|murdered|hanged|found|mourned|missed|remembered|laid|in (?:the|his|her) grave))\b"
)
"""What is told of the dead, behind their name."""
_DEATH = re.compile(
    r"\b(?:dead|die[sd]?|dying|death|drown\w*|kill\w*|murder\w*|hanged|slain|buried|burial|grave\w*|funeral|coffin|corpse|body|"
    r"mourn\w*|widow\w*|orphan\w*|ghost\w*|late|memory|remember\w*)\b"
)
"""What a sentence has that names the dead as the dead."""
_BEFORE_SUBJECT = re.compile(
    r"(?:^|[.,;:!?(\"“”„«»—–]\s*|(?<!\w)(?i:and|but|that|because|while|when|where|if|since|so|then|whether|how|why|which|"
    r"whom|now|today|"
    r"here|there|the|old|young|poor|late|und|aber|dass|wenn|weil|wo|der|die|das|et|mais|que|quand|si|y|o|pero|cuando|e|ma|che|"
    r"quando|mas|en|maar|dat|och|og|и|но|что|когда|где)\s|(?<!\w)(?i:every|each|jede[nrs]?|chaque|cada|ogni|elke|каждый|"
    r"каждую)\s\w+\s|"
    rf"(?P<capital>(?<![\w'’-])[{CAPITALS}][\w'’.-]*)\s)$",
)
"""What stands before somebody of whom a sentence says something."""

_CUT = "…"
"""What `limit_words` puts in the place of the words that are too many, and a quoted passage has where it is not quoted."""
_LEFT_OUT = "\0"
"""What stands there until all is left out: a text may have the mark itself."""

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
    return _without(text, lambda sentence: any(says_again(sentence, line) for line in over)) if over else text


def without_other_holders(text: str, thing: Entry, holder: str) -> str:
    """Return a text of before a thing got lost or changed hands without what it tells in the present: who has it, where it is."""
    if not _has_last_word(text, thing.names):
        return text
    return _without(
        text,
        lambda sentence: (
            tells_of_other_holder(sentence, thing.names, holder) or tells_where_it_is(sentence, thing.names)
        ),
    )


def without_living(text: str, names: tuple[str, ...]) -> str:
    """Return a text without the English sentences that tell how somebody of these names lives."""
    if not any(name[1:] in text for name in names):
        return text
    return _without(text, lambda sentence: tells_how_they_live(sentence, names))


def without_dead_as_living(text: str, names: tuple[str, ...]) -> str:
    """Return what is noted of a passage in which the dead of these names act without what tells of them as of the living."""
    return _without(text, partial(tells_of_as_living, names=names))


def with_marks_for_dead(passage: str, names: tuple[str, ...]) -> str:
    """Return a passage in which the dead of these names act with a mark wherever it tells of them as of the living."""
    marked = (_left_out_of_living(paragraph, names) for paragraph in passage.split("\n\n"))
    return "\n\n".join(" ".join(_CUT if part == _LEFT_OUT else part for part, _ in groupby(parts)) for parts in marked)


def _left_out_of_living(text: str, names: tuple[str, ...]) -> list[str]:
    return [_LEFT_OUT if tells_of_as_living(part, names) else part for part in sentences(text)]


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
    piece = piece if piece is whole else _marked(piece)
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
    for said, names in dead_who_act(codex, commit.get("contradictions", [])):
        summary = without_dead_as_living(summary, names)
        if kind == "sentence":
            piece = _marked(" ".join(_left_out_of_living(piece, names)))
        elif kind == "fact":
            piece = _without(piece, partial(says_what_they_do, said=said, names=names))
        else:
            piece = without_dead_as_living(piece, names)
    piece = " ".join(piece.split())
    return StillTrue(summary, piece or summary, bool(piece) and is_quoted(kind, row, commit))


def dead_who_act(codex: Codex, found: Iterable[Contradiction]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield of the contradictions of a passage the sentences in which somebody dead acts, each with what they are called."""
    for one in found:
        entry = codex.find(one["entry"], "person") if one["rule"] == "dead" else None
        if entry is not None and entry.is_dead:
            yield one["said"], codex.called_alone(entry)


def _with_roles(line: Superseded, codex: Codex) -> Superseded:
    """Return a line that is over with the roles of its entry: the brief says them, and no passage."""
    entry = codex.find(line.called[0]) if line.called else None
    return line._replace(roles=tuple(dict.fromkeys([*line.roles, *entry.roles]))) if entry and entry.roles else line


def says(text: str, over: Collection[Superseded]) -> bool:
    """Return whether a text holds a sentence that is over, word for word."""
    return any(said.removesuffix(_CUT) in text for said in _words_of(over))


def _words_of(over: Collection[Superseded]) -> list[str]:
    return [said for line in over for said in (line.sentence, line.rests_on) if said]


def _without_words(text: str, said: str) -> str:
    """Return a text with a mark in the place of what was said; of a sentence that is not known whole, its beginning is."""
    if said in text:
        return text.replace(said, f" {_LEFT_OUT} ")
    if not said.endswith(_CUT):
        return text
    began = said.removesuffix(_CUT)
    parts = [_LEFT_OUT if part.strip().startswith(began) else part for part in sentences(text)]
    return " ".join(parts) if _LEFT_OUT in parts else text


def _marked(text: str) -> str:
    """Return a text with one mark between two sentences that did not stand beside each other, and none around it."""
    parts = (" ".join(part.split()) for part in text.split(_LEFT_OUT))
    return f" {_CUT} ".join(part for part in parts if part)


def says_again(sentence: str, line: Superseded) -> bool:
    """Return whether a sentence says a line that is over, in whatever words, and not what has taken its place."""
    if not _names(sentence, (*line.called, *line.roles)):
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


@lru_cache(maxsize=4096)
def tells_of_the_living(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact tells in the present what somebody of these names does, has, feels or is about, in whatever language.

    What they did, who they are and what is said of the dead, of ghosts and in dreams is nothing of the kind.
    """
    if not any(name[1:] in sentence for name in names):
        return False
    return any(is_present(said) for said in _said_of(sentence, names)) or lives_with(sentence, _any(names))


@lru_cache(maxsize=4096)
def tells_how_they_live(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether an English sentence tells in the present how somebody of these names is or lives, and not what happens."""
    if not any(name[1:] in sentence for name in names):
        return False
    return any(_STATE.match(said) for said in _said_of(sentence, names))


@lru_cache(maxsize=4096)
def tells_what_they_do(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a sentence tells, in whatever tense, what somebody of these names does, and not that they are dead."""
    if not any(name[1:] in sentence for name in names):
        return False
    return any(said[:2].strip()[:1].islower() and not _DIED.match(said) for said in _said_of(sentence, names))


@lru_cache(maxsize=4096)
def tells_of_as_living(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a sentence of a passage in which somebody dead acts names them, and says nothing of their death.

    There whoever is dead walks about in whatever words: no form of a sentence has to show it.
    """
    if not any(name[1:] in sentence for name in names) or _named(names).search(sentence) is None:
        return False
    return _DEATH.search(sentence) is None or tells_what_they_do(sentence, names)


def says_what_they_do(fact: str, said: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact says again what somebody of these names does in a sentence, and nothing that lasts."""
    words = word_forms(fact) - word_forms(" ".join(names))
    is_said = bool(words) and len(words & word_forms(said)) >= SAME * len(words)
    return is_said and tells_what_they_do(fact, names) and not tells_of_the_living(fact, names)


def begins_with(fact: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact begins with what somebody of these names does, alone or with another one, and not what they were."""
    other = r"(?:[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)? and )?"
    begun = [*names, *(f"{name[:1].upper()}{name[1:]}" for name in names)]
    return re.match(rf"{other}(?:{_any(begun)})\b(?! (?:was|were|had)\b)", fact) is not None


def _said_of(sentence: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield what a sentence goes on to say where it has names of somebody, and says it of them in the flesh."""
    if _A_GHOST.search(sentence):
        return
    for match in _subject(names).finditer(sentence):
        before = _BEFORE_SUBJECT.search(sentence[: match.start()])
        # Ada Reed is not Reed, and Young Reed not Old Reed.
        is_part = before is not None and " " not in match["name"] and is_name_part(before["capital"] or "")
        is_there = _NOT_THERE.search(sentence[: match.start()]) is None
        if before and not is_part and is_there and not is_anothers(sentence, match.start(), names):
            yield sentence[match.end() :]


@lru_cache(maxsize=1024)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, whatever is said of them; the ferryman may stand at the beginning of a sentence."""
    spelled = _any([*names, *(f"{name[:1].upper()}{name[1:]}" for name in names)])
    return re.compile(rf"(?<![\w'’-])(?P<name>{spelled})(?!{LETTER}|-)")


@lru_cache(maxsize=1024)
def _subject(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, with others beside them and what else is said of them before a verb."""
    beside = rf"(?:,? (?:{_AND}) (?:(?:his|her|their) \w+|[{CAPITALS}][\w'’-]*(?: [{CAPITALS}][\w'’-]*)*))"
    end = rf"(?!{LETTER}|[-'’])"
    # The ferryman may stand at the beginning of a sentence.
    spelled = _any([*names, *(f"{name[:1].upper()}{name[1:]}" for name in names)])
    return re.compile(rf"(?<![\w'’-])(?P<name>{spelled}){end}{beside}*(?:,[^,.;]+,)?")


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
    thing = rf"(?:(?:the|an?|his|her|their|this|that) )?(?:{_any(names)})(?: of [^,.;]{{1,40}}?)?"
    adverb = r"(?:(?:still|now|also|already|always|safe|\w+ly) )?"
    return re.compile(
        rf"^{thing} {adverb}(?:{_IS_LAID} {adverb}{_WHERE} {_NO_PLACE}|(?:is|are) {adverb}{_IN} {_NO_PLACE}"
        r"(?=(?:(?:the|an?|his|her|their|my|our|its|this|that)\b|(?-i:[A-Z])\w+['’]s )))",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1024)
def _holding(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody has a thing of these names; after "her" its last word alone may be of another one."""
    last = _any([name.split()[-1] for name in names])
    thing = rf"(?i:(?:(?:the|an?|his|her|their|this|that) )?(?:{_any(names)})|the (?:{last}))"
    who = r"(?:^[Tt]he (?P<role>[a-z][\w-]+(?: [a-z][\w-]+)?)|\b(?P<first>[A-Z][\w'’.-]* )?(?P<last>[A-Z][\w'’-]+))"
    return re.compile(rf"{who},? (?:(?:still|now|always|also|\w+ly) )?{_HAS} (?:{thing})\b")


def _any(names: Collection[str]) -> str:
    """Return a pattern of any of some names, the longest first."""
    return "|".join(map(re.escape, sorted(set(names), key=lambda name: (-len(name), name))))


def _without(text: str, is_over: Callable[[str], bool]) -> str:
    parts = sentences(text)
    kept = [part for part in parts if not is_over(part)]
    return text if len(kept) == len(parts) else " ".join(kept)


def _names(sentence: str, called: Collection[str]) -> bool:
    """Return whether a sentence names an entry: by any part of a name in capitals, by the last of its words in any letters."""
    read = searched(sentence)
    for name in called:
        parts = name.split()
        capitals = [part for part in parts if part[0].isupper() and part != "The"]
        if any(sign_of(part).place_in(read) >= 0 for part in (*capitals, parts[-1].lower())):
            return True
    return False


def shared_words(said: str, line: str, called: Collection[str]) -> float:
    """Return the share of the fewer words of two texts that the other one has, beside the names of whom they are about."""
    if said.casefold() == line.casefold():
        return 1.0
    names = word_forms(" ".join(called))
    first, second = (word_forms(text) - names or word_forms(text) or frozenset(tokens(text)) for text in (said, line))
    return len(first & second) / max(1, min(len(first), len(second)))


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


@lru_cache(maxsize=4096)
def word_forms(text: str) -> frozenset[str]:
    """Return the words of a text that say something, without their endings."""
    return frozenset(_ENDING.sub("", word) for word in tokens(text) if word not in _PLAIN)
