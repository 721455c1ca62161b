"""What the dead were called while they lived, and of whom else is spoken beside them: names, kinship, rank and trade."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recurrentgpt.schema.codex import Codex, Entry
from recurrentgpt.schema.names import ANYBODY, FAMILY, LETTER, OFFICE, RANKS, TRADE, form_of, key_of

_ROLE = re.compile(
    r"(?:(?:the|an?|your|my|our) )?(?:[\w-]+['’]s? )?((?!his\b|her\b|their\b)[a-z-]+(?: [a-z-]+){0,2}?)"
    r"(?: (?:of|who|at|in|from|with)\b.*)?"
)
"""What somebody is said to be, without what tells it apart."""
_OFFICE = re.compile(
    rf"(?!(?:former|deputy|assistant|acting|late|ex|young|old)\b)(?:[a-z-]+ )*?(?:(?!member|other|stranger|lover|elder|younger)"
    rf"[a-z]{{2,}}(?:er|or|ist|ian|smith|wright|man|maid|ton|ess)|{OFFICE}|{TRADE})"
)
"""What one alone may be called somewhere."""
_TO_THE_TELLER = re.compile(
    rf"(?:[Mm]y|[Yy]our) (?:(?:older|elder|younger|little|big|twin) )?({FAMILY.pattern})(?=[.,;]|$| who\b)"
)
_WHOSE = ("my", "our", "your", "his", "her", "their")
_AS_A_NAME = {
    "father": ("Father", "Dad", "Daddy", "Papa", "Pa"),
    "mother": ("Mother", "Mum", "Mom", "Mama", "Mamma", "Ma"),
    "grandfather": ("Grandfather", "Grandpa", "Granddad", "Grandad"),
    "grandmother": ("Grandmother", "Grandma", "Granny", "Gran"),
}
"""What the family calls somebody."""
_HARDLY_TWO = ("aunt", "uncle", "grandmother", "grandfather", "niece", "nephew", "mother-in-law", "father-in-law")
"""What one is of whom a story hardly has two, so that "the aunt" is she."""
_SURNAMED = {"he": ("", "Mr ", "Mr. "), "she": ("Mrs ", "Mrs. ", "Ms ", "Ms. ", "Miss ")}
"""With what before it a surname means him, and her."""
_RANKS = RANKS | {"king", "queen", "prince", "princess", "count", "countess", "baron", "baroness"}
_WORD = re.compile(rf"[Tt]he [a-z][\w-]*|{LETTER}+")
"""A word, or what is called by a common noun."""


def called_as_kin(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return what somebody alone is to others of the story, as it is said beside them: her husband, my husband, Dad."""
    found = list[str]()
    for owner, what in codex.relations(person):
        relatives = ((one, other) for one, said, other in codex.relatives if said == what)
        others = [one for one, other in relatives if person not in (one, other)]
        if not others:
            found += [f"my {what}", f"your {what}", *_AS_A_NAME.get(what, ())]
            if what in _HARDLY_TWO:
                found.append(f"the {what}")
            # What both do, one of them does no more.
            is_of_two = what in ("brother", "sister") and owner.pronoun == person.pronoun
            if is_of_two and not _has_order(what, codex):
                found.append(f"the {what}s")
        for pronoun, whose in (("he", "his"), ("she", "her")):
            if owner.pronoun in ("", pronoun) and all(one.pronoun not in ("", pronoun) for one in others):
                found.append(f"{whose} {what}")
    for what in _to_the_teller(person):
        if not any(what in _to_the_teller(other) for other in codex.entries.values() if other is not person):
            found += [f"my {what}", f"your {what}", *_AS_A_NAME.get(what, ())]
    return tuple(dict.fromkeys(found))


def _has_order(what: str, codex: Codex) -> bool:
    """Return whether somebody is addressed as a nun or monk is, so that "the sisters" may be those."""
    return any(name.startswith(f"{what.title()} ") for entry in codex.entries.values() for name in entry.names)


def _to_the_teller(person: Entry) -> list[str]:
    """Return what somebody is to whoever tells or plays the story: of "your brother, a fisherman", brother."""
    said = (line.value for line in person.lines if line.aspect == "role") if person.kind == "person" else ()
    return [match[1] for role in said if (match := _TO_THE_TELLER.match(role))]


def _named_by_kin(person: Entry, codex: Codex) -> tuple[str, ...]:
    """Return what somebody alone is called by whose relative they are: Anna's husband, my mother, and Mother, who is no other."""
    owned = (
        f"{name}{mark}s {what}"
        for owner, what in codex.relations(person)
        for name in (*codex.names_of(owner, "person"), *_offices(owner, codex))
        for mark in "'’"
    )
    # Of somebody whose name is not known.
    own = [words for name in person.own_names if len(words := name.casefold().split()) == 2 and words[0] in _WHOSE]
    return (*owned, *(called for words in own for called in (" ".join(words), *_AS_A_NAME.get(words[1], ()))))


def others_are(person: Entry, codex: Codex) -> dict[str, str]:
    """Return the words of the names of other people, and what one is called with an article, each with the pronoun of them.

    It is empty where nobody knows it, or people of both have the word.
    """
    own = {word for name in person.own_names for word in _WORD.findall(name)}
    people = [other for other in codex.entries.values() if other.kind == "person" and other is not person]
    found = dict[str, str]()
    for other in people:
        for name in (*other.own_names, *(f"the {role}" for role in other.roles)):
            for word in _WORD.findall(name):
                if word not in own and (word[0].isupper() or " " in word):
                    found[word] = other.pronoun if found.get(word, other.pronoun) == other.pronoun else ""
    return found


def pronouns_named(sentence: str, others: Mapping[str, str]) -> set[str]:
    """Return the pronouns of the other people whom a sentence names, see `others_are`."""
    words = (f"{word[:1].lower()}{word[1:]}" if " " in word else word for word in _WORD.findall(sentence))
    return {others[word] for word in words if word in others}


def once_called(person: Entry, codex: Codex) -> tuple[str, ...]:
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
    """Return how somebody is called by a surname that only people of the other pronoun have, too.

    Doyle and Mr Doyle are he beside Helen Doyle, and Mrs Doyle is she.
    """
    names = {name.split()[-1] for name in person.own_names if " " in name and not form_of(name).title}
    if person.pronoun not in _SURNAMED or len(names) != 1:
        return ()
    (surname,) = names
    people = [one for one in codex.answering(key_of(surname), "person") if one is not person]
    other = "he" if person.pronoun == "she" else "she"
    if not people or any(one.pronoun != other for one in people):
        return ()
    to_others = {what for _, what in codex.relations(person)}
    is_wed = not to_others.isdisjoint(("wife", "widow"))
    titles = (title for title in _SURNAMED[person.pronoun] if is_wed or not (to_others and title.startswith("Mrs")))
    return tuple(f"{title}{surname}" for title in titles)


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
