"""Somebody who is dead and acts in a passage: what of it, and of what was noted of it, tells of them as of the living."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from recurrentgpt.memory.left_out import CUT, LEFT_OUT
from recurrentgpt.memory.tenses import IRREGULAR_PAST, PARTICIPLE, is_present
from recurrentgpt.memory.told_of_people import (
    any_in_sentence,
    any_of,
    says_what_they_do,
    tells_of_the_living,
    tells_what_they_do,
)
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.codex import Codex, Contradiction, Entry
from recurrentgpt.schema.names import (
    ANYBODY,
    CALENDAR,
    CAPITALS,
    FAMILY,
    LETTER,
    OFFICE,
    RANKS,
    form_of,
    is_name_part,
    key_of,
)

_DEATH = re.compile(
    r"\b(?:dead(?! of\b)|died|dies|drown(?:ed|s|ing)|killed(?! the\b)|murder(?:ed|s|er)?|hanged|slain|buried|burial|"
    r"graves?|graveside|gravestone|tomb|tombstone|graveyard|churchyard|cemetery|crypt|morgue|"
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
_NOT_THERE = re.compile(
    r"\b(?:[IiOo]n (?:the|a|an|his|her|my|your|their) (?:\w+ )?(?:dreams?|nightmares?|photographs?|photos?|portraits?|pictures?|"
    r"films?|memor(?:y|ies)|letters?|recordings?)\b|dream(?:s|ed|t) that\b)"
)
"""What begins a sentence in which somebody is seen who is not there."""
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
    r"\b(?:made|built|painted|written|carved|composed|planted|signed|left|begun|designed|founded) by $",
    re.IGNORECASE,
)
"""What stands before the name of somebody of whom is thought, or whose work stands, be they alive or dead."""
_NAMED_SO = re.compile(r"\b(?:[Tt]he|(?:named|called|christened)(?: (?:the \w+|it|him|her))?|[Tt]he late) $")
"""What stands before the name of a ship, a child or the dead."""
_ROLE = re.compile(
    r"(?:(?:the|an?|your|my|our) )?(?:[\w-]+['’]s? )?((?!his\b|her\b|their\b)[a-z-]+(?: [a-z-]+){0,2}?)"
    r"(?: (?:of|who|at|in|from|with)\b.*)?"
)
"""What somebody is said to be, without what tells it apart."""
_OFFICE = re.compile(
    rf"(?!(?:former|deputy|assistant|acting|late|ex|young|old)\b)(?:[a-z-]+ )*?(?:(?!member|other|stranger|lover|elder|younger)"
    rf"[a-z]{{2,}}(?:er|or|ist|ian|smith|wright|man|maid|ton|ess)|{OFFICE})"
)
"""What one alone may be called somewhere."""
_WHOSE = ("my", "our", "your", "his", "her", "their")
_AS_A_NAME = {
    "father": ("Father", "Dad", "Daddy", "Papa", "Pa"),
    "mother": ("Mother", "Mum", "Mom", "Mama", "Mamma", "Ma"),
    "grandfather": ("Grandfather", "Grandpa", "Granddad", "Grandad"),
    "grandmother": ("Grandmother", "Grandma", "Granny", "Gran"),
}
"""What the family calls somebody."""
_WORD = re.compile(rf"{LETTER}+")
_HE, _SHE = r"he|him|his|himself", r"she|her|hers|herself"
_PRONOUN = {
    said: re.compile(rf"\b(?:{forms})\b", re.IGNORECASE)
    for said, forms in (("he", _HE), ("she", _SHE), ("", f"{_HE}|{_SHE}"))
}
"""What means somebody by the pronoun that is said of them; of one of whom that is not known, by either."""
_NEVER = re.compile(r"(?!)")
_OTHER_PRONOUN = {frozenset({"he"}): "she", frozenset({"she"}): "he"}
"""What is said of somebody among people of whom all is said otherwise, as far as anybody knows."""
_RANKS = RANKS | {"king", "queen", "prince", "princess", "count", "countess", "baron", "baroness"}


_BODY = re.compile(
    r"\b(?:body|bodies|bones|ashes|urn|remains|skull|skeleton|bier|shroud|vault|crypt|cemetery|churchyard|morgue|mortuary|"
    r"(?:[Hh]e|[Ss]he|[A-Z]\w+) (?:\w+ly )?(?:lies|lay|(?:is|was|were) (?:lying|laid|carried|borne|brought))|"
    r"(?:carried|bore|brought|laid) (?:him|her|[A-Z]\w+))\b"
)
"""What is told of the body of somebody dead."""


def is_of_body(told: str) -> bool:
    """Return whether a sentence tells of somebody dead as a body, or of their death."""
    return bool(_BODY.search(told) or _DEATH.search(told))


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
    """What they alone are to somebody of the story, and what else they were called: her husband, my husband."""
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

        Of the time before, or what another is or owes in the present, is so also where they were alive as it was written; what
        it says of them in the present ends with their death, and begins again where an author says that they live.
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
        if passage:
            told = sentences(passage)
            # Who is known by what was noted alone is only "he" or "she" there.
            left = self._left_out(passage, is_there=bool(self.said) and self.said not in passage)
            left_out = {part for part, kept in zip(told, left, strict=True) if kept == LEFT_OUT}
            return [LEFT_OUT if part in left_out or self.lives_in(part) else part for part in sentences(text)]
        return self._left_out(text, is_there=False)

    def _left_out(self, text: str, *, is_there: bool) -> list[str]:
        """Return the same of a text in which they may be meant before anybody is named, as it is where they are there unnamed."""
        parts = sentences(text)
        lives = [self.lives_in(part) for part in parts]
        named = [{self.others_are[word] for word in _WORD.findall(part) if word in self.others_are} for part in parts]
        pronoun = self.entry.pronoun or _OTHER_PRONOUN.get(frozenset().union(*named), "")
        rival = [not found.isdisjoint(("", pronoun)) if pronoun else bool(found) for found in named]
        # Who is named first is whom the pronouns before mean, as in a passage that goes on from another.
        first = next((place for place, found in enumerate(zip(lives, rival, strict=True)) if any(found)), 0)
        is_meant = lives[first] and not rival[first] if any(lives) else is_there
        means_them = _PRONOUN.get(pronoun, _NEVER)
        for place, part in enumerate(parts):
            names_rival = rival[place]
            if lives[place]:
                # Of whom nobody knows whether "he" is said, it is not said beside another one.
                is_meant = pronoun != "" or not names_rival
                parts[place] = LEFT_OUT
            elif names_rival:
                is_meant = False
            elif is_meant and means_them.search(part):
                parts[place] = LEFT_OUT
        return parts

    def marked_in(self, passage: str) -> str:
        """Return the passage with a mark wherever it tells of them as of the living."""
        return "\n\n".join(self._marked(paragraph, passage) for paragraph in passage.split("\n\n"))

    def _marked(self, paragraph: str, passage: str) -> str:
        parts = self.left_out_of(paragraph, passage)
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
    names = _once_called(entry, codex) if was_alive else codex.called_alone(entry)
    # By now another may have one of their names.
    names = (*names, *(name for name in entry.names if re.search(rf"\b{re.escape(name)}\b", said)))
    people = (other for other in codex.entries.values() if other.kind == "person" and other is not entry)
    others, words = (name for other in people for name in other.own_names), {name for name in names if " " not in name}
    longer = {name for name in others if " " in name and not words.isdisjoint(name.split())}
    kin = tuple(dict.fromkeys([*_kin(entry, codex), *called])) if was_alive else ()
    return DeadWhoActs(
        entry, tuple(dict.fromkeys(names)), tuple(sorted(longer)), said, was_alive, kin, _others_are(entry, codex)
    )


def _kin(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return what somebody alone is to others of the story, as it is said there: her husband, Anna's husband, my husband."""
    found = list[str]()
    for owner, what, relative in codex.relatives:
        if relative is not person:
            continue
        relatives = ((one, other) for one, said, other in codex.relatives if said == what)
        others = [one for one, other in relatives if person not in (one, other)]
        found += [f"{whose} {what}" for whose in ("my", "your") if not others]
        found += [] if others else _AS_A_NAME.get(what, ())
        for pronoun, whose in (("he", "his"), ("she", "her")):
            if owner.pronoun in ("", pronoun) and all(one.pronoun not in ("", pronoun) for one in others):
                found.append(f"{whose} {what}")
    return tuple(dict.fromkeys(found))


def _named_by_kin(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return what somebody alone is called by whose relative they are: Anna's husband, my mother, and Mother, who is no other."""
    owners = [(owner, what) for owner, what, relative in codex.relatives if relative is person]
    owned = (
        f"{name}{mark}s {what}"
        for owner, what in owners
        for name in (*codex.names_of(owner, "person"), *_offices(owner, codex))
        for mark in "'’"
    )
    # Of somebody whose name is not known.
    own = [words for name in person.own_names if len(words := name.casefold().split()) == 2 and words[0] in _WHOSE]
    return (*owned, *(called for words in own for called in (" ".join(words), *_AS_A_NAME.get(words[1], ()))))


def _others_are(person: Entry, codex: Codex) -> dict[str, str]:
    """Return the words of the names of other people, each with the pronoun that is said of them."""
    own = {word for name in person.own_names for word in _WORD.findall(name)}
    people = [other for other in codex.entries.values() if other.kind == "person" and other is not person]
    words = ((word, other.pronoun) for other in people for name in other.own_names for word in _WORD.findall(name))
    return {word: pronoun for word, pronoun in words if word[0].isupper() and word not in own}


def _once_called(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return what somebody was called as they lived: their names, and what nobody else is: the king is the king of Aran."""
    former = [name for name in person.former if codex.find(name) is person]
    names = (*codex.names_of(person, "person"), *_surname(person, codex), *_named_by_kin(person, codex), *former)
    return (*names, *_offices(person, codex))


def _offices(person: Entry, codex: Codex) -> list[str]:
    """Return by what rank or trade somebody alone is meant: the king, the Colonel."""
    heads = _heads(person)
    for other in codex.entries.values() if heads else ():
        heads = heads - _heads(other) if other.kind == "person" and other is not person else heads
    return [f"the {spelled}" for head in sorted(heads) for spelled in (head, f"{head[:1].upper()}{head[1:]}")]


def _surname(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return the surname of a man where women alone have it beside him: Doyle is he, and Helen Doyle is Helen."""
    names = {name.split()[-1] for name in person.own_names if " " in name and not form_of(name).title}
    if person.pronoun != "he" or len(names) != 1:
        return ()
    (surname,) = names
    people = [one for one in codex.answering(key_of(surname), "person") if one is not person]
    return (surname,) if people and all(one.pronoun == "she" for one in people) else ()


def _heads(person: Entry) -> frozenset[str]:
    """Return what somebody is, in a word or as it is said whole: by their roles, and by the rank in their name."""
    titles = {form_of(name).title for name in person.own_names} & _RANKS
    found = {"doctor" if title == "dr" else title for title in titles}
    found |= {role for role in person.roles if "'" not in role and "’" not in role}
    for line in person.lines if person.kind == "person" else ():
        for part in re.split(r"\s*[,;:(]\s*", line.value) if line.aspect == "role" else ():
            if (role := _ROLE.fullmatch(part)) and (_OFFICE.fullmatch(role[1]) or role[1] in _RANKS):
                found |= {role[1], role[1].split()[-1]}
    return frozenset(head for head in found if head.split()[-1] not in ANYBODY and not FAMILY.fullmatch(head))


def _is_of_before(sentence: str, names: tuple[str, ...]) -> bool:
    """Return whether a sentence tells of people of these names as of the time before its passage."""
    if _LONG_BEFORE.search(sentence):
        return True
    return _HAD.search(sentence) is not None and not tells_what_they_do(sentence, names)


@lru_cache(maxsize=4096)
def _names_as_living(sentence: str, names: tuple[str, ...]) -> bool:
    if not any(name[1:] in sentence for name in names):
        return False
    if not any(_is_meant(match) for match in _named(names).finditer(sentence)):
        return False
    return _DEATH.search(sentence) is None or tells_what_they_do(sentence, names)


def _is_meant(name: re.Match[str]) -> bool:
    """Return whether somebody is meant by their name in a sentence: not by a part of another, by a ship's, or by "Will you?"."""
    sentence, end = name.string, name.end()
    further = _NEXT_NAME.match(sentence, end)
    # Tom Bell may be somebody of whom nothing else is known.
    is_part = further is not None and is_name_part(further[1]) and further[1] not in CALENDAR
    before = sentence[max(0, name.start() - 40) : name.start()]
    is_date = name[0] in CALENDAR and _IN_TIME.search(before) is not None
    is_of_thing = name[0][0].isupper() and _NAMED_SO.search(before) is not None
    asks = _BEGINS.fullmatch(before) is not None and _ASKS.match(sentence, end) is not None
    is_thought_of = _THOUGHT_OF.search(before) is not None or _NOT_THERE.search(sentence[: name.start()]) is not None
    return not (
        is_part
        or is_date
        or is_of_thing
        or asks
        or is_thought_of
        or _WOULD_HAVE.match(sentence, end)
        or _OF_THEIRS.match(sentence, end)
    )


@lru_cache(maxsize=1024)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names of somebody, whatever is said of them."""
    return re.compile(rf"(?<![\w'’-])(?:{any_in_sentence(names)})(?!{LETTER}|-)")


@lru_cache(maxsize=1024)
def _to_come(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds that somebody awaits or means something of people of these names, or that it will be."""
    awaits = r"(?:trusts?|wants?|needs?|expects?|awaits?|waits for|hopes|plans|means|intends|will|shall|must|is (?:going )?to)"
    return re.compile(rf"\b{awaits} (?:[^.;]* )?(?:{any_of(names)})(?!{LETTER})")
