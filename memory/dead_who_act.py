"""Somebody who is dead and acts in a passage: what of it, and of what was noted of it, tells of them as of the living."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice
from types import MappingProxyType
from typing import NamedTuple

from recurrentgpt.memory.left_out import CUT, LEFT_OUT
from recurrentgpt.memory.names_of_the_dead import called_as_kin, once_called, others_are, pronouns_named
from recurrentgpt.memory.tenses import IRREGULAR_PAST, PARTICIPLE, is_present
from recurrentgpt.memory.told_of_people import (
    NOT_THERE,
    any_in_sentence,
    any_of,
    says_what_they_do,
    tells_of_the_living,
    tells_what_they_do,
)
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.codex import Codex, Contradiction, Entry
from recurrentgpt.schema.names import CALENDAR, CAPITALS, LETTER, form_of, is_name_part

_DEATH = re.compile(
    r"\b(?:dead(?! of\b)|died|dies|drown(?:ed|s|ing)|killed(?! the\b)|murder(?:ed|s|er)?|hanged|slain|buried|burial|"
    r"(?<!was )(?<!is )(?<!were )(?<!looked )(?<!very )(?<!so )(?<!as )graves?|graveside|gravestone|tomb|tombstone|"
    r"graveyard|churchyard|cemetery|crypt|morgue|"
    r"funeral|coffin|corpse|mourn(?:s|ed|ing)?|ghosts?|body of|"
    r"death of|memory of|(?<=the )late|widow of|"
    r"tot|tote[mnrs]?|gestorben|starb(?:en)?|begraben|begrub(?:en)?|(?-i:Grab(?:e?s)?|Gräber|Grabstein)|beerdig(?:t|te|ten|ung)|leiche|"
    r"leichnam|ertr[au]nk(?:en)?|ermordet|"
    r"morte?s?|mour(?:ut|urent|ir)|décédée?|enterr(?:é|ée|ement)|tombe|noyée?|tuée?|"
    r"muert[oae]|murió|tumba|mort[oai]|sepolt[oa]|tomba|morreu|sepultad[oa]|dood|overleden|gestorven|begraven|verdronken|"
    r"умер(?:ла)?|мёртв\w*|погиб(?:ла)?|похорон\w*|могил\w*)\b|[死亡葬]",
    re.IGNORECASE,
)
"""What a sentence has that names the dead as the dead."""
_LONG_BEFORE = re.compile(
    r"\b(?:(?i:as) an? (?:\w+ )?(?:boy|girl|child|youth|student|apprentice|young (?:man|woman))|"
    r"when (?:he|she|they) (?:was|were)|"
    r"(?:years?|long|months?) (?:ago|before)|used to|in (?:his|her|their) (?:youth|childhood)|in (?:1\d|20)\d\d)\b"
)
"""What a sentence has that tells of the time before its passage."""
_HAD = re.compile(
    rf"\b(?:had|['’]d) (?:(?:once|never|always|already|often|long|been|not|\w+ly) )*(?:{PARTICIPLE}|{IRREGULAR_PAST})\b"
)
"""What had happened by then; what else its sentence tells of somebody, happens."""
_SOMEBODY = re.compile(rf"(?:[Tt]he [\w'’-]+|[{CAPITALS}][\w'’.-]*(?: [{CAPITALS}][\w'’.-]*)*)")
"""With whom a sentence begins."""
_NEXT_NAME = re.compile(rf" ([{CAPITALS}][\w-]*)(?![\w'’-])")
_ASKS = re.compile(r" (?:you|they|it|he|she|we|I|there|anybody|anyone)\b")
"""What stands behind a word that begins a question, and is nobody's name there: Will you?"""
_OF_THEIRS = re.compile(
    r"(?:['’]s|(?<=s)['’]) (?!(?:\w+ing|gone|been|here|there|not|got|an?|the|in|at|on)\b|"
    r"(?:\w+ )?(?:hands?|eyes?|voice|face|mouth|arms?|fingers|head|shoulders?|smile|laugh|laughter|breath|steps|"
    r"footsteps|lips|feet|fist|answer|whisper|boots)\b)"
)
"""What stands behind the name of him whose father or wharf it is."""
_WOULD_HAVE = re.compile(r" (?:would|might|could|should) (?:\w+ )?have\b")
_BEGINS = re.compile(r"[\s\"'“”‘’„«»(—–-]*$")
_IN_TIME = re.compile(r"\b(?:[Ii]n|[Oo]n|[Bb]y|[Ss]ince|[Uu]ntil|[Ll]ast|[Nn]ext|[Tt]his|[Ee]very) $")
_THOUGHT_OF = re.compile(
    r"\b(?:(?:think|thinks|thought|thinking|dream|dreams|dreamed|dreamt|spoke|speaks|speaking|spoken|talk|talks|talked|talking|"
    r"reminded|reminds|memor(?:y|ies)|stor(?:y|ies)|tales?|photographs?|portraits?|pictures?|song|words|name) (?:of|about)|"
    r"(?:miss(?:es|ed)?|mourn(?:s|ed)?|griev(?:es|ed|ing) for|remember(?:s|ed)?|forgets?|forgot|forgotten|forgave|forgives|"
    r"lov(?:es|ed)|"
    r"longs? for|longed for|curs(?:es|ed)|"
    r"pray(?:s|ed) for|weeps? for|wept for|cr(?:y|ies|ied) for|named (?:[\w']+ ){0,3}after|inherit(?:s|ed) from|owe[sd]?))"
    r"(?: (?:poor|dear|old|her|his|the late))? $|"
    r"\b(?:made|built|painted|written|carved|composed|planted|signed|begun|designed|founded) by $",
    re.IGNORECASE,
)
"""What stands before the name of somebody of whom is thought, or whose work stands, be they alive or dead."""
_DOES = re.compile(
    rf" (?:\w+ly )?(?:[a-z]{{2,}}ed|{IRREGULAR_PAST}|is|was|has|had|did|does|will|would|can|could|comes|goes)\b"
)
"""What stands behind the name of somebody who does something, and is not only thought of."""
_HAD_OR_WAS = re.compile(r" (?:had|was|were)\b")
_NAMED_SO = re.compile(r"\b(?:[Tt]he|(?:named|called|christened)(?: (?:the \w+|it|him|her))?|[Tt]he late) $")
"""What stands before the name of a ship, a child or the dead."""
_HE, _SHE = r"he|him|his|himself", r"she|her|hers|herself"
_PRONOUN = {
    said: re.compile(rf"\b(?:{forms})\b", re.IGNORECASE)
    for said, forms in (("he", _HE), ("she", _SHE), ("", f"{_HE}|{_SHE}"))
}
"""What means somebody by the pronoun that is said of them; of one of whom that is not known, by either."""
_BEGINS_AS = {
    said: re.compile(rf"(?:{forms})\b")
    for said, forms in (("he", "He|His"), ("she", "She|Her"), ("", "He|His|She|Her"))
}
"""With what a sentence begins that goes on about whom the one before names."""
_NEVER = re.compile(r"(?!)")
_OTHER_PRONOUN = {frozenset({"he"}): "she", frozenset({"she"}): "he"}
"""What is said of somebody among people of whom all is said otherwise, as far as anybody knows."""
_BODY = (
    r"\b(?:body|bodies|bones|ashes|(?:his|her|their|the) remains|skull|skeleton|bier|shroud|mortuary|"
    r"(?:lies|lay|lying) (?:dead|still|motionless|cold|in state)|"
    r"(?:[Hh]e|[Ss]he|[A-Z]\w+) (?:is|was) (?:laid|carried|borne|brought)|(?:carried|carries|bore|brought|laid) (?:him|her|§))\b"
)
"""What is told of the body of somebody dead, who is § in it."""


def is_of_body(told: str, names: Collection[str]) -> bool:
    """Return whether a text tells of somebody dead of these names as a body, or of their death."""
    return _body(tuple(names)).search(told) is not None or _DEATH.search(told) is not None


@lru_cache(maxsize=1024)
def _body(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that people of these names are told of as bodies."""
    return re.compile(_BODY.replace("§", any_of(names)))


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
    kin: tuple[str, ...] = ()
    """What they alone are to somebody who is there, and what the brief called them as the passage was marked: her husband."""
    others_are: Mapping[str, str] = MappingProxyType({})
    """The words of the names of other people, each with the pronoun that is said of them; empty where that is not known."""

    def lives_in(self, sentence: str) -> bool:
        """Return whether a sentence of the passage means them by name, role or kinship, and says nothing of their death.

        Where the dead walk about, they do so in whatever words: no form of a sentence has to show it.
        """
        return self._lives_in(sentence, (*self.names, *self.kin))

    def is_named_living_in(self, sentence: str) -> bool:
        """Return the same of a sentence that means them by name or role alone: another one may have a husband, too."""
        return self._lives_in(sentence, self.names)

    def _lives_in(self, sentence: str, names: tuple[str, ...]) -> bool:
        if not any(name[1:] in sentence for name in names):
            return False
        for other in self.others:
            sentence = sentence.replace(other, "_")
        sentence = self._without_namesakes(sentence)
        return _names_as_living(sentence, names) and not (self.was_alive and _is_of_before(sentence, names))

    def _without_namesakes(self, sentence: str) -> str:
        """Return a sentence without those who have their surname behind another name or title: Greta Moss, Mrs Moss."""
        own = {word for name in self.entry.own_names for word in name.split()}
        surnames = [name.split()[-1] for name in self.entry.own_names if " " in name]

        def is_another(name: re.Match[str]) -> bool:
            if name[1] in own or name[1].endswith("ly"):
                return False
            title = form_of(name[0]).title
            return not self.entry.may_be_called(title) if title else is_name_part(name[1])

        for surname in surnames:
            pattern = rf"(?<![\w'’-])([{CAPITALS}][\w-]*)\.? {re.escape(surname)}(?![\w-])"
            sentence = re.sub(pattern, lambda name: "_" if is_another(name) else name[0], sentence)
        return sentence

    def acts_in(self, noted: str) -> bool:
        """Return whether a sentence that was noted of the passage tells what they do there."""
        return self.lives_in(noted) if self.was_alive else tells_what_they_do(noted, self.names)

    def is_over(self, fact: str) -> bool:
        """Return whether a fact that was noted of the passage tells what they did there, or what is to come of them.

        Of the time before, or what another is or owes in the present, is so also where they were alive as it was written. What
        it says by their name in the present the codex itself ends with their death, and begins again where an author says that
        they live; of a role that the passages do not know it cannot tell.
        """
        if not self.was_alive:
            return says_what_they_do(fact, self.said, self.names)
        called = (*self.names, *self.kin)
        if not self.lives_in(fact) or tells_of_the_living(fact, self.entry.names):
            return False
        if tells_of_the_living(fact, called):
            return True
        begins = _SOMEBODY.match(fact)
        is_of_another = begins is not None and _named(called).match(fact) is None
        is_so = is_of_another and is_present(fact[begins.end() :]) if begins else False
        return not is_so or _to_come(called).search(fact) is not None

    def is_untrue(self, fact: str) -> bool:
        """Return whether a fact that was noted of the passage is over, or tells of them in the present, which no codex has."""
        is_of_life = self.was_alive and self.lives_in(fact) and tells_of_the_living(fact, self.names)
        return is_of_life or self.is_over(fact)

    def taken_from(self, noted: str) -> str:
        """Return what was noted of the passage without the sentences that tell of them as of the living."""
        parts = self.left_out_of(noted)
        return " ".join(part for part in parts if part != LEFT_OUT) if LEFT_OUT in parts else noted

    def left_out_of(self, text: str, passage: str = "") -> list[str]:
        """Return the sentences of a text with LEFT_OUT in the place of each that tells of them as of the living.

        Behind such a one "he" means them, until another man is named, and so before it where they are named first; of a part of
        a `passage`, as it is read there.
        """
        parts = sentences(text)
        if not passage:
            return self._left_out(parts, is_there=False)
        told = sentences(passage)
        left = self._left_out(told, is_there=self._is_there_unnamed(passage))
        at = next((at for at in range(len(told)) if told[at : at + len(parts)] == parts), None)
        if at is not None:
            return left[at : at + len(parts)]
        # Of a piece that is no longer the passage's own words in full.
        left_out = {part for part, kept in zip(told, left, strict=True) if kept == LEFT_OUT}
        return [LEFT_OUT if part in left_out or self.lives_in(part) else part for part in parts]

    def _is_there_unnamed(self, passage: str) -> bool:
        """Return whether they are in a passage by what was noted of it alone: there they are only "he" or "she"."""
        return bool(self.said) and self.said not in passage

    def _left_out(self, parts: Sequence[str], *, is_there: bool) -> list[str]:
        """Return sentences in which they may be meant before anybody is named, as they are where they are there unnamed."""
        parts = list(parts)
        lives = [self.lives_in(part) for part in parts]
        named = [pronouns_named(part, self.others_are) for part in parts]
        pronoun = self.entry.pronoun or _OTHER_PRONOUN.get(frozenset().union(*named), "")
        rival = [not found.isdisjoint(("", pronoun)) if pronoun else bool(found) for found in named]
        # Who is named first is whom the pronouns before mean, as in a passage that goes on from another.
        first = next((place for place, found in enumerate(zip(lives, rival, strict=True)) if any(found)), 0)
        is_meant = lives[first] and not rival[first] if any(lives) else is_there
        means_them, begins_as_them = _PRONOUN.get(pronoun, _NEVER), _BEGINS_AS.get(pronoun, _NEVER)
        for place, part in enumerate(parts):
            names_rival = rival[place]
            if lives[place]:
                # Of whom nobody knows whether "he" is said, it is not said beside another one.
                is_meant = pronoun != "" or not names_rival
                parts[place] = LEFT_OUT
            elif place and lives[place - 1] and begins_as_them.match(part):
                # Whoever it means was named in what is left out.
                is_meant = is_meant and not names_rival
                parts[place] = LEFT_OUT
            elif names_rival:
                is_meant = False
            elif is_meant and means_them.search(part):
                parts[place] = LEFT_OUT
        return parts

    def marked_in(self, passage: str) -> str:
        """Return the passage with a mark wherever it tells of them as of the living."""
        paragraphs = passage.split("\n\n")
        parts = [sentences(paragraph) for paragraph in paragraphs]
        left = iter(self._left_out([*chain.from_iterable(parts)], is_there=self._is_there_unnamed(passage)))
        return "\n\n".join(
            _marked(paragraph, [*islice(left, len(told))]) for paragraph, told in zip(paragraphs, parts, strict=True)
        )


def _marked(paragraph: str, parts: list[str]) -> str:
    """Return a paragraph with one mark in the place of each run of sentences that are left out; as it is where none is."""
    if LEFT_OUT not in parts:
        return paragraph
    runs = groupby(parts, key=lambda part: part == LEFT_OUT)
    return " ".join(CUT if is_out else " ".join(run) for is_out, run in runs)


def dead_who_act(codex: Codex, found: Iterable[Contradiction]) -> Iterator[DeadWhoActs]:
    """Yield who is dead and acts in a passage, by its contradictions."""
    for one in found:
        entry = codex.find(one["entry"], "person") if one["rule"] == "dead" else None
        if entry is not None and entry.is_dead:
            found_as = one.get("called", ())
            yield dead_in(codex, entry, one["said"], found_as, was_alive=one.get("was_alive", False))


def dead_in(codex: Codex, entry: Entry, said: str = "", called: Iterable[str] = (), *, was_alive: bool) -> DeadWhoActs:
    """Return somebody dead as one who acts in a sentence of a passage, of which more may be asked, and is `called` so there."""
    names = once_called(entry, codex) if was_alive else codex.called_alone(entry)
    # By now another may have one of their names.
    names = (*names, *(name for name in entry.names if re.search(rf"\b{re.escape(name)}\b", said)))
    people = (other for other in codex.entries.values() if other.kind == "person" and other is not entry)
    others, words = (name for other in people for name in other.own_names), {name for name in names if " " not in name}
    longer = {name for name in others if " " in name and not words.isdisjoint(name.split())}
    kin = tuple(dict.fromkeys([*called_as_kin(entry, codex), *called])) if was_alive else ()
    return DeadWhoActs(
        entry, tuple(dict.fromkeys(names)), tuple(sorted(longer)), said, was_alive, kin, others_are(entry, codex)
    )


def _is_of_before(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a sentence tells of people of these names as of the time before its passage.

    What they tell of it they tell in the passage, as what is said aloud there.
    """
    told = narration(sentence)
    told = told if any(name in told for name in names) else sentence
    telling = _telling(names).search(told)
    if any(telling is None or match.start() < telling.end() for match in _LONG_BEFORE.finditer(told)):
        return True
    if _for_all_times(names).search(told):
        return True
    had = _HAD.search(sentence)
    if had is None or tells_what_they_do(sentence, names):
        return False
    return not any(
        _DOES.match(sentence, name.end()) and not _HAD_OR_WAS.match(sentence, name.end())
        for name in _named(names).finditer(sentence, 0, had.start())
    )


@lru_cache(maxsize=4096)
def _names_as_living(sentence: str, names: tuple[str, ...]) -> bool:
    if not any(name[1:] in sentence for name in names):
        return False
    if not any(_is_meant(match) for match in _named(names).finditer(sentence)):
        return False
    return _DEATH.search(sentence) is None or tells_what_they_do(sentence, names)


def _is_meant(name: re.Match[str]) -> bool:
    """Return whether somebody is meant by their name in a sentence: not a ship or another, and not only in thought."""
    sentence, end = name.string, name.end()
    further = _NEXT_NAME.match(sentence, end)
    # Tom Bell may be somebody of whom nothing else is known.
    is_part = further is not None and is_name_part(further[1]) and further[1] not in CALENDAR
    before = sentence[max(0, name.start() - 40) : name.start()]
    is_date = name[0] in CALENDAR and _IN_TIME.search(before) is not None
    is_of_thing = name[0][0].isupper() and _NAMED_SO.search(before) is not None
    asks = _BEGINS.fullmatch(before) is not None and _ASKS.match(sentence, end) is not None
    is_thought_of = _THOUGHT_OF.search(before) is not None and _DOES.match(sentence, end) is None
    is_not_there = NOT_THERE.search(sentence[: name.start()]) is not None
    is_another = is_part or is_date or is_of_thing or asks or _OF_THEIRS.match(sentence, end)
    return not (is_another or is_thought_of or is_not_there or _WOULD_HAVE.match(sentence, end))


@lru_cache(maxsize=1024)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, whatever is said of them."""
    return re.compile(rf"(?<![\w'’-])(?:{any_in_sentence(names)})(?!{LETTER}|-)")


@lru_cache(maxsize=1024)
def _telling(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody of these names tells something."""
    tells = r"(?:tells|told|says|said|(?:confess|explain|admit|whisper|recall|claim)(?:s|es|ed|ted))"
    return re.compile(rf"(?:{any_in_sentence(names)}) (?:\w+ly )?{tells}(?: \w+){{0,3}}? that (?!in\b)")


@lru_cache(maxsize=1024)
def _for_all_times(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody of these names once said what holds for all times."""
    said = r"(?:always (?:said|told|used)|(?:said|told (?:me|us|him|her|them|[A-Z]\w+)) (?:never|always) to)"
    return re.compile(rf"(?:{any_in_sentence(names)}) {said}\b")


@lru_cache(maxsize=1024)
def _to_come(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody awaits or means something of people of these names, or that it will be."""
    awaits = r"(?:trusts?|wants?|needs?|expects?|awaits?|waits for|hopes|plans|means|intends|will|shall|must|is (?:going )?to)"
    on_the_way = r"is on (?:his|her|their) way to (?:see |meet |visit |join )?"
    return re.compile(rf"\b(?:{awaits} (?:[^.;]* )?|{on_the_way})(?:{any_of(names)})(?!{LETTER})")
