"""Somebody who is dead and acts in a passage: what of it, and of what was noted of it, tells of them as of the living."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from recurrentgpt.memory.left_out import CUT, LEFT_OUT, without
from recurrentgpt.memory.tenses import is_present
from recurrentgpt.memory.told_of_people import any_of, says_what_they_do, tells_of_the_living, tells_what_they_do
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.codex import Codex, Contradiction, Entry
from recurrentgpt.schema.names import CALENDAR, CAPITALS, LETTER, RANKS, form_of, is_name_part

_DEATH = re.compile(
    r"\b(?:dead|die[sd]?|dying|death|drown\w*|kill\w*|murder\w*|hanged|slain|buried|burial|grave\w*|funeral|coffin|corpse|body|"
    r"mourn\w*|widow\w*|orphan\w*|ghost\w*|late|memory|remember\w*|"
    r"tot|tote[mnrs]?|gestorben|starb\w*|begr[aäu]b\w*|grab\w*|beerdigt\w*|leiche\w*|ertr[au]nk\w*|erm[oö]rdet\w*|witwe\w*|"
    r"morte?s?|mou?r[iu]\w*|décédée?|enterr\w+|tombe|noyée?|tuée?|veuf|veuve|muert\w+|murió|tumba|viud[oa]|"
    r"mort[oai]|sepolt\w|tomba|vedov[oa]|morreu|sepultad\w|viúv[oa]|dood|overled\w+|gestorven|verdronken|weduwe|"
    r"умер\w*|мёртв\w*|погиб\w*|похорон\w*|могил\w*|вдов\w*)\b|[死亡葬]",
    re.IGNORECASE,
)
"""What a sentence has that names the dead as the dead."""
_LONG_BEFORE = re.compile(
    r"\b(?:as an? (?:\w+ )?(?:boy|girl|child|youth|student|apprentice|young (?:man|woman))|when (?:he|she|they) (?:was|were)|"
    r"once|(?:years?|long|months?) (?:ago|before)|used to|had|in (?:his|her|their) (?:youth|childhood))\b"
)
"""What a sentence has that tells of the time before its passage."""
_SOMEBODY = re.compile(rf"(?:[Tt]he [\w'’-]+|[{CAPITALS}][\w'’.-]*(?: [{CAPITALS}][\w'’.-]*)*)")
"""With whom a sentence begins."""
_NEXT_NAME = re.compile(rf" ([{CAPITALS}][\w-]*)(?!['’])")


class DeadWhoActs(NamedTuple):
    """Somebody who is dead and acts in a passage."""

    entry: Entry
    names: tuple[str, ...]
    """What they are called there."""
    others: tuple[str, ...]
    """The names of other people that one of theirs is a part of: Tom Bell, where Tom is dead."""
    said: str
    """The sentence in which they act."""
    was_alive: bool
    """Whether they were alive as the passage was written: whatever names them there is of before their death."""

    def lives_in(self, sentence: str) -> bool:
        """Return whether a sentence of the passage names them, and says nothing of their death.

        Where the dead walk about, they do so in whatever words: no form of a sentence has to show it.
        """
        for other in self.others if any(name[1:] in sentence for name in self.names) else ():
            sentence = sentence.replace(other, "_")
        return _names_as_living(sentence, self.names)

    def acts_in(self, noted: str) -> bool:
        """Return whether a sentence that was noted of the passage tells what they do there."""
        return self.lives_in(noted) if self.was_alive else tells_what_they_do(noted, self.names)

    def is_over(self, fact: str) -> bool:
        """Return whether a fact that was noted of the passage tells what they did there, or what is to come of them.

        Of the time before, or what another is or owes in the present, is so also where they were alive as it was written; what
        it says of them in the present ends with their death, and begins again where an author says that they live.
        """
        if not self.was_alive:
            return says_what_they_do(fact, self.said, self.names)
        if not self.lives_in(fact) or _LONG_BEFORE.search(fact) or tells_of_the_living(fact, self.names):
            return False
        begins = _SOMEBODY.match(fact)
        is_of_another = begins is not None and _named(self.names).match(fact) is None
        is_so = is_of_another and is_present(fact[begins.end() :]) if begins else False
        return not is_so or _to_come(self.names).search(fact) is not None

    def taken_from(self, noted: str) -> str:
        """Return what was noted of the passage without the sentences that tell of them as of the living."""
        return without(noted, self.lives_in)

    def left_out_of(self, text: str) -> list[str]:
        """Return the sentences of the passage's own words with LEFT_OUT in the place of each that tells of them as living."""
        return [LEFT_OUT if self.lives_in(part) else part for part in sentences(text)]

    def marked_in(self, passage: str) -> str:
        """Return the passage with a mark wherever it tells of them as of the living."""
        paragraphs = (groupby(self.left_out_of(paragraph)) for paragraph in passage.split("\n\n"))
        return "\n\n".join(" ".join(CUT if part == LEFT_OUT else part for part, _ in parts) for parts in paragraphs)


def dead_who_act(codex: Codex, found: Iterable[Contradiction]) -> Iterator[DeadWhoActs]:
    """Yield who is dead and acts in a passage, by its contradictions."""
    for one in found:
        entry = codex.find(one["entry"], "person") if one["rule"] == "dead" else None
        if entry is not None and entry.is_dead:
            yield dead_in(codex, entry, one["said"], was_alive=one.get("was_alive", False))


def dead_in(codex: Codex, entry: Entry, said: str = "", *, was_alive: bool) -> DeadWhoActs:
    """Return somebody dead as one who acts in a sentence of a passage, of which more may be asked."""
    names = [*codex.called_alone(entry), *(_own_ranks(entry, codex) if was_alive else ())]
    # By now another may have one of their names.
    names += [name for name in entry.names if re.search(rf"\b{re.escape(name)}\b", said)]
    people = (other for other in codex.entries.values() if other.kind == "person" and other is not entry)
    others, words = (name for other in people for name in other.own_names), {name for name in names if " " not in name}
    longer = {name for name in others if " " in name and not words.isdisjoint(name.split())}
    return DeadWhoActs(entry, tuple(dict.fromkeys(names)), tuple(sorted(longer)), said, was_alive)


def _own_ranks(person: Entry, codex: Codex) -> list[str]:
    """Return the ranks that nobody else has by name, as somebody is meant by them: the sergeant is Sergeant Wilk."""
    ranks = _ranks(person)
    for other in codex.entries.values() if ranks else ():
        ranks = ranks - _ranks(other) if other.kind == "person" and other is not person else ranks
    return [f"the {rank}" for rank in sorted(ranks)]


def _ranks(person: Entry) -> frozenset[str]:
    titles = (form_of(name).title for name in person.own_names)
    return frozenset("doctor" if title == "dr" else title for title in titles if title in RANKS)


@lru_cache(maxsize=4096)
def _names_as_living(sentence: str, names: tuple[str, ...]) -> bool:
    if not any(name[1:] in sentence for name in names):
        return False
    found = _named(names).finditer(sentence)
    # Tom Bell may be somebody of whom nothing else is known.
    if not any(
        behind is None or not is_name_part(behind[1]) or behind[1] in CALENDAR for behind in map(_behind, found)
    ):
        return False
    return _DEATH.search(sentence) is None or tells_what_they_do(sentence, names)


def _behind(name: re.Match[str]) -> re.Match[str] | None:
    return _NEXT_NAME.match(name.string, name.end())


@lru_cache(maxsize=1024)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, whatever is said of them; the ferryman may stand at the beginning of a sentence."""
    spelled = any_of([*names, *(f"{name[:1].upper()}{name[1:]}" for name in names)])
    return re.compile(rf"(?<![\w'’-])(?:{spelled})(?!{LETTER}|-)")


@lru_cache(maxsize=1024)
def _to_come(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody awaits or means something of people of these names, or that it will be."""
    awaits = r"(?:trusts?|wants?|needs?|expects?|awaits?|waits for|hopes|plans|means|intends|will|shall|must|is (?:going )?to)"
    return re.compile(rf"\b{awaits} (?:[^.;]* )?(?:{any_of(names)})(?!{LETTER})")
