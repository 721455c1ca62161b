"""Whether a sentence tells of somebody as of the living: how they live, what they do, and not that they are dead.

Of a fact it is read in many languages, see `memory.tenses`; of a summary, which tells in whatever tense what happened, by a rule
for English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from recurrentgpt.memory.tenses import is_present, lives_with
from recurrentgpt.memory.word_forms import SAME, word_forms
from recurrentgpt.schema.names import CAPITALS, LETTER, is_anothers, is_name_part

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
NOT_THERE = re.compile(
    r"(?:\b(?:in|on|from|by|through) (?:(?:(?:[\w-]+['’]s|his|her|their|an?|the|its) )?(?:\w+ ){0,2}?)"
    r"(?:dreams?|nightmares?|visions?|letters?|will|testament|diary|diaries|journals?|notes?|tapes?|recordings?|films?|videos?|"
    r"portraits?|photographs?|memoirs?|messages?|memory|memories)(?: (?:to|from|of|for) [^,.;]{1,40})?,? |"
    r"\b(?:dreams?|dreamt|dreamed|imagines?|imagined|remembers?|pretends?|pretended) (?:that|how|of) )$",
    re.IGNORECASE,
)
"""What stands before somebody who is told of and is not there: a dream, or what they left behind them."""
_DIED = re.compile(
    r" (?:\w+ly )?(?:died|dies|drowned|drowns|perished|fell|had|(?:is|was|were|has been|lies|lay) (?:\w+ly )?(?:dead|killed|"
    r"buried|drowned|murdered|hanged|found|mourned|missed|remembered|laid|"
    r"in (?:the|his|her) (?:grave|churchyard|cemetery|crypt|vault)))\b"
)
"""What is told of the dead, behind their name."""
_BEFORE_SUBJECT = re.compile(
    r"(?:^|[.,;:!?(\"“”„«»—–]\s*|(?<!\w)(?i:and|but|that|because|while|when|where|if|since|so|then|whether|how|why|which|"
    r"whom|now|today|"
    r"here|there|the|old|young|poor|late|und|aber|dass|wenn|weil|wo|der|die|das|et|mais|que|quand|si|y|o|pero|cuando|e|ma|che|"
    r"quando|mas|en|maar|dat|och|og|и|но|что|когда|где)\s|(?<!\w)(?i:every|each|jede[nrs]?|chaque|cada|ogni|elke|каждый|"
    r"каждую)\s\w+\s|"
    rf"(?P<capital>(?<![\w'’-])[{CAPITALS}][\w'’.-]*)\s)$",
)
"""What stands before somebody of whom a sentence says something."""


@lru_cache(maxsize=4096)
def tells_of_the_living(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact tells in the present what somebody of these names does, has, feels or is about, in whatever language.

    What they did, who they are and what is said of the dead, of ghosts and in dreams is nothing of the kind.
    """
    if not any(name[1:] in sentence for name in names):
        return False
    return any(is_present(said) for said in _said_of(sentence, names)) or lives_with(sentence, any_of(names))


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


def says_what_they_do(fact: str, said: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact says again what somebody of these names does in a sentence, and nothing that lasts."""
    words = word_forms(fact) - word_forms(" ".join(names))
    is_said = bool(words) and len(words & word_forms(said)) >= SAME * len(words)
    return is_said and tells_what_they_do(fact, names) and not tells_of_the_living(fact, names)


def begins_with(fact: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact begins with what somebody of these names does, alone or with another one, and not what they were."""
    other = r"(?:[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)? and )?"
    return re.match(rf"{other}(?:{any_in_sentence(names)})\b(?! (?:was|were|had)\b)", fact) is not None


_NEAR = 200
"""Letters before a name in which is read whether it is somebody's who is there."""


def _said_of(sentence: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield what a sentence goes on to say where it has names of somebody, and says it of them in the flesh."""
    if _A_GHOST.search(sentence):
        return
    for match in _subject(names).finditer(sentence):
        near = sentence[max(0, match.start() - _NEAR) : match.start()]
        before = _BEFORE_SUBJECT.search(near)
        # Ada Reed is not Reed, and Young Reed not Old Reed.
        is_part = before is not None and " " not in match["name"] and is_name_part(before["capital"] or "")
        is_there = NOT_THERE.search(near) is None
        if before and not is_part and is_there and not is_anothers(sentence, match.start(), names):
            yield sentence[match.end() :]


@lru_cache(maxsize=1024)
def _subject(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, with others beside them and what else is said of them before a verb."""
    beside = rf"(?:,? (?:{_AND}) (?:(?:his|her|their) \w+|[{CAPITALS}][\w'’-]*(?: [{CAPITALS}][\w'’-]*)*))"
    end = rf"(?!{LETTER}|[-'’])"
    return re.compile(rf"(?<![\w'’-])(?P<name>{any_in_sentence(names)}){end}{beside}*(?:,[^,.;]+,)?")


def any_in_sentence(names: Collection[str]) -> str:
    """Return a pattern of any of some names, also as the ferryman stands at the beginning of a sentence."""
    return any_of([*names, *(f"{name[:1].upper()}{name[1:]}" for name in names)])


def any_of(names: Collection[str]) -> str:
    """Return a pattern of any of some names, the longest first."""
    return "|".join(map(re.escape, sorted(set(names), key=lambda name: (-len(name), name))))
