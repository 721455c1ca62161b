"""Which line of an entry a capable model means by an end that it words in its own way.

What is close by words or by meaning may be another thing of the same kind, which no embedder tells apart: the right arm and the
left one, a debt to Lena and one to Otto. So an end that is worded as a line is, but for what it is about, ends nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.memory.looks import without_look
from recurrentgpt.memory.superseded import SAME, shared_words, word_forms
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.schema.codex import Aspect, Change, Codex, Entry, Line
from recurrentgpt.schema.names import plain, spelled

logger = logging.getLogger(__name__)

NEAR, MARGIN = 0.6, 0.2
"""Cosine from which on an end may mean a line, and by how much the next one has to be farther."""
MOST_ASKED = 40
"""Lines of one entry that are held against an end by meaning, the newest."""

_WORDED: tuple[Aspect, ...] = ("fact", "look", "unaware")
"""Aspects that are said in any words, and of which a model may take one for another."""
_WORD = re.compile(r"\w[\w-]*(?:n['’]t)?|['’]s?\b|['’](?=\s)|§")
_NO_LONGER = re.compile(r"\b(?:is |was |are )?(?:no longer|no more|not any ?more)\b|\bany ?more\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|no|never|nobody|nothing|none|cannot|without|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_BEFORE_NOUN = frozenset((
    "the", "a", "an", "his", "her", "their", "its", "this", "that", "of", "in", "on", "at", "by", "for", "from", "with", "to",
    "under", "behind", "beside", "inside", "near", "'s", "'",
))  # fmt: skip
"""Words before what a sentence is about: the ferry of "for the ferry"."""
_TRANSITIVE = frozenset(("owes", "has", "suspects", "trusts", "hates", "loves", "fears", "wants", "owns", "knows"))
"""Verbs behind which stands what they are about without any such word."""
_SIDES = frozenset(("left", "right", "north", "south", "east", "west", "upper", "lower"))


async def meant_ends(changes: Sequence[Change], known: Codex, runtime: StoryRuntime) -> list[Change]:
    """Return the changes of a reply, its ends in the words of the lines that they mean.

    One that means none is left out, and told.
    """
    if not is_english(runtime.context.language):
        return [*changes]
    found, set_too = list[Change](), {change["entry"] for change in changes if change["do"] == "set"}
    for change in changes:
        entry = known.find(change["entry"], change["kind"], whole=True)
        said = change.get("text") or change.get("value", "")
        if change["do"] != "end" or change.get("aspect") not in _WORDED or not said or entry is None:
            found.append(change)
        elif (line := await meant_line(entry, change.get("aspect", "fact"), said, runtime)) is not None:
            found.append(_ending(change, line, said))
        elif entry.name in set_too and not _of_words(entry):
            found.append(change)  # what the same passage has only just made so
        else:
            logger.warning("Nothing of %s ended: no fact of it is clearly meant by %r.", entry.name, said)
    return found


async def meant_line(entry: Entry, aspect: Aspect, said: str, runtime: StoryRuntime) -> Line | None:
    """Return the line of an entry that an end means, by its words and else by its meaning; None for an unclear one."""
    if aspect == "look" and (look := _look(entry, said)) is not None:
        return look
    lines = _of_words(entry)
    if (line := by_words(entry, aspect, lines, said)) is not None:
        return line
    texts = {_bare(sentence_of(entry, line), entry): line for line in lines[-MOST_ASKED:]}
    asked = _bare(said, entry)
    if not texts or not asked:
        return None
    near = await runtime.recall.nearness(asked, texts)
    best, *others = sorted(texts, key=lambda text: -near[text])
    line, next_one = texts[best], max((near[text] for text in others), default=0.0)
    is_near = near[best] >= NEAR and near[best] - next_one >= MARGIN
    held = line.text or line.value
    return (
        line
        if is_near and _topics(said, entry) & _topics(held, entry) and not is_of_another(said, held, entry)
        else None
    )


def _topics(text: str, entry: Entry) -> frozenset[str]:
    """Return the words of a text that are nobody's name: what is told of one person alike may be love, or anger."""
    return word_forms(" ".join(word for word in _words(text, entry) if word[0].islower()))


def by_words(entry: Entry, aspect: Aspect, lines: Sequence[Line], said: str) -> Line | None:
    """Return the line that an end says in the same words, or in some of them and no others."""
    called, names = entry.names, word_forms(" ".join(entry.names))
    for line in lines:
        if said.rstrip(".").casefold() == (line.text or line.value).rstrip(".").casefold():
            return line
    own = word_forms(said) - names
    fitting = [
        line
        for line in lines
        if own
        and ((held := word_forms(line.text or line.value) - names) <= own or own <= held)
        and shared_words(said, line.text or line.value, called) >= SAME
        and not is_of_another(said, line.text or line.value, entry)
    ]
    fitting = [line for line in fitting if line.aspect == aspect] or fitting
    # Of several, words alone do not tell which one is meant.
    return fitting[0] if len(fitting) == 1 else None


def is_of_another(said: str, held: str, entry: Entry) -> bool:
    """Return whether an end tells in the words of a line of another thing, person or side, or denies what the line says."""
    said, held = _NO_LONGER.sub(" ", said), held.rstrip(".")
    if bool(_DENIES.search(said)) != bool(_DENIES.search(held)):
        return True
    first, second = _words(said, entry), _words(held, entry)
    sides = [_SIDES.intersection(words) for words in (first, second)]
    if all(sides) and sides[0] != sides[1]:
        return True
    for what, begins, ends, other, until in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        before, instead = first[max(0, begins - 2) : begins], (first[begins:ends], second[other:until])
        if what == "delete" and begins and before[-1] != "§" and instead[0][0] == "'s":
            return True  # the notary's clerk is not the notary
        if what != "replace" or any(_BEFORE_NOUN.issuperset(words) for words in instead):
            continue
        if _BEFORE_NOUN.intersection(before) or _TRANSITIVE.intersection(before[-1:]):
            return True
        if all(any(word[0].isupper() for word in words) for words in instead):
            return True
        # The stables of the inn are not its roof.
        if not before and instead[0][0] == instead[1][0] and instead[0][0] in _BEFORE_NOUN:
            return True
    return False


def _words(text: str, entry: Entry) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(_named(text, entry, "§"))]


@lru_cache(maxsize=512)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    own = {part for name in names for part in (name, *name.split()[:1]) if part[0].isupper()}
    called = "|".join(map(spelled, sorted({*names, *own}, key=lambda name: (-len(name), name))))
    return re.compile(rf"\b(?:[Tt]he )?(?:{called})\b")


def _named(text: str, entry: Entry, name: str) -> str:
    return _names(entry.names).sub(name, plain(text))


def _bare(text: str, entry: Entry) -> str:
    """Return a text with a pronoun for the entry: its name makes any two of its lines alike."""
    who = {"person": entry.value("pronouns") or "she"}.get(entry.kind, "it")
    said = _NO_LONGER.sub("is", text)
    whose = {"he": "his", "she": "her", "they": "their"}.get(who, "its")
    return re.sub(rf"\b{who}['’]s?(?!\w)", whose, _named(said, entry, who)).strip()


def _of_words(entry: Entry) -> list[Line]:
    """Return the lines of an entry that are said in words, the oldest first; of looks those that tell of one feature."""
    lines = (*entry.earlier, *entry.lines)
    return [
        line
        for line in lines
        if line.aspect in _WORDED and not (line.aspect == "look" and re.search(r"[,;]| and ", line.value))
    ]


def _look(entry: Entry, said: str) -> Line | None:
    """Return the line of looks of which an end names a feature."""
    lines = [line for line in (*entry.lines, *entry.earlier) if line.aspect == "look"]
    return next((line for line in lines if without_look([line], said, entry) != (line,)), None)


def _ending(change: Change, line: Line, said: str) -> Change:
    """Return an end in the words of the line that it means; of looks the features that it names, where it names any."""
    if change.get("aspect") == line.aspect == "look":
        return change
    about = Change(entry=change["entry"], kind=change["kind"], do="end", aspect=line.aspect, value=line.value)
    about = {**about, "text": line.text} if line.text else about
    return {**about, "rests_on": change["rests_on"]} if "rests_on" in change else about
