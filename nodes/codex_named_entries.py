"""Whom and what a capable model means by a name that the codex does not know in this form, and what else it calls them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recurrentgpt.nodes.codex_changes import called_too, longer_name
from recurrentgpt.nodes.codex_learned import content
from recurrentgpt.prose.shared_runs import tokens, word_set
from recurrentgpt.schema.codex import Change, Codex, Entry, Kind, searched, sign_of
from recurrentgpt.schema.names import (
    ANYBODY,
    CAPITALS,
    OF_HER,
    OF_HIM,
    form_of,
    is_somebodys,
    key_of,
    kin_of,
    parts_of,
    plain,
    without_article,
)
from recurrentgpt.schema.short_names import ANOTHER, QUALITIES, head_of, is_told_anew, words_of_thing

_NOT = frozenset((
    "not", "never", "no", "without", "nicht", "nie", "kein", "keine", "ne", "pas", "jamais", "nunca", "non", "mai", "não",
    "niet", "nooit", "geen", "не",
))  # fmt: skip
_LEAST_SHARED, _MOST_OF = 3, 0.6
"""Words that two names of one question share at least, and the share of the longer one that they are."""

_FIRST_SHARED = 6
"""Words with which two names of one promise begin where what follows is said in other words."""
_JOINS = frozenset(("that", "this"))

_PARTICLES = frozenset((
    "von", "van", "de", "der", "den", "di", "da", "del", "du", "la", "le", "ten", "zu", "bin", "al",
))  # fmt: skip
_CALLS = (
    r"call(?:s|ed|ing)?|known (?:\w+ )?as|go(?:es)? by|went by|name (?:is|was|of)|nicknamed?|dubbed|christened|alias|"
    r"aka|a\.k\.a\.|answer(?:s|ed) to|sign(?:s|ed) (?:himself|herself|itself|as)|register(?:ed)? (?:\w+ )?as|"
    r"nann?ten?|nennt|nennen|genannt|heißt|hieß|taufte|"
    r"appel\w+|surnomm\w+|dite?|llam\w+|apod\w+|conocid[oa] como|chiam\w+|dett[oa]|soprannom\w+|cham\w+|apelid\w+|"
    r"noem(?:t|de|den|en)|genaamd|heet(?:te)?|bijnaam|зв(?:али|ал|ала|ут)|назыв\w+|прозв\w+"
)
_BECOMES = re.compile(
    r"\b(?:becom\w+|became|elected|appointed|crowned|named the|made (?:him|her|the)|new|succe\w+|sworn|promoted|"
    r"replac\w+|instead|"
    r"wurde|wird|neue\w*|gewählt|ernannt|devien\w+|devint|nouve\w+|élue?|nommée?|nuev[oa]|elegid[oa]|diventa\w*|"
    r"divenne|nuov[oa]|"
    r"elett[oa]|tornou|nov[oa]|eleit[oa]|werd|nieuwe|gekozen)\b",
    re.IGNORECASE,
)
"""How it is said that somebody is now what another one was."""


_UNMASKED = frozenset((
    "unmasked", "revealed", "exposed", "known", "recognised", "recognized", "identified", "entlarvt", "erkannt", "démasqué",
    "démasquée", "desenmascarado", "desenmascarada", "smascherato", "smascherata",
))  # fmt: skip
"""What may stand before "as" where two are one."""


def meant_by(name: str, kind: Kind, codex: Codex, passage: str = "") -> Entry | None:
    """Return the only entry that a capable model means by a name; None for none, and for several."""
    found = _meant_by(name, kind, codex, passage)
    if found is None and kind == "person":
        if (bare := _undecorated(name)) != name:
            found = _meant_by(bare, kind, codex, passage)
        elif behind := _BEHIND_ROLE.fullmatch(name):
            other = _meant_by(behind["name"], kind, codex, passage)
            found = other if other is not None and behind["role"] in other.roles else None
    return found


_DECORATED = re.compile(
    r"(?i:(?:the )?(?:late|poor|dear|dead|brave|sweet|blind|wounded|drowned|murdered)) (?=[A-Z])|"
    r"\s*[(\[].*$|, (?:the|an?|his|her|their|now|formerly|aged)\b.*$| the [a-z][\w -]*$|"
    # Silas Harker's body, and what a reply puts before a name or behind a dash
    r"['’]s? (?:(?:dead |lifeless )?(?:body|corpse)|remains)$|^(?:the )?(?:dead |lifeless )?(?:body|corpse|remains) of (?=[A-Z])|"
    r"^(?:character|person|name): (?=[A-Z])|(?: [–—|-] |\s*/\s*)(?:the )?(?!(?:his|her|their|and|not|or)\b)[a-z][\w -]*$"
)
_BEHIND_ROLE = re.compile(rf"(?:the )?(?P<role>[a-z][\w'’ -]*?) (?P<name>[{CAPITALS}].*)")
_INITIAL = re.compile(rf"([{CAPITALS}])\.? ([{CAPITALS}][\w'’-]+)")
_REVERSED = re.compile(r"([A-Z][\w'’-]+), ([A-Z][\w'’-]+)")


def _undecorated(name: str) -> str:
    """Return a name without marks and what else is said of somebody: the late Silas Harker, "Silas Harker (deceased)"."""
    bare = _DECORATED.sub("", re.sub(r"[*_`\"“”«»]", "", name).strip()).strip()
    return _REVERSED.sub(r"\2 \1", bare) or name


def _meant_by(name: str, kind: Kind, codex: Codex, passage: str) -> Entry | None:
    if kind == "person":
        known = _whom(name, codex)
        # The captain is another one where the passage brings one in.
        is_short = known is not None and codex.find(name) is None and codex.by_short_name(name) is known
        return codex.by_short_name(name, passage) if is_short else known
    found = codex.find(name, kind)
    if found is not None or codex.answering(key_of(name), kind):
        return found
    if kind in ("question", "promise"):
        return _asked(name, kind, codex)
    return _which(name, codex, passage) if kind == "thing" else None


def holder_of(name: str, codex: Codex, passage: str = "") -> Entry | None:
    """Return whom, or what, a capable model says has something."""
    return meant_by(name, "person", codex, passage) or codex.find(name)


def also_named(name: str, known: Entry, codex: Codex) -> Change | None:
    """Return that somebody is called by the form of their name in which a model tells of them; None for no new one."""
    if codex.find(name) is not None or _by_role(name, codex) is known or _was(name, known):
        return None
    if _whom(name, codex) is not known:
        return None  # what a reply puts around a name is none of it
    title, words = form_of(name)
    if title and (owner := codex.find(" ".join(words))) is not None and owner is not known:
        # Her husband is Reed, and she Mrs Reed.
        return Change(entry=known.name, kind=known.kind, do="alias", value=name)
    return longer_name(name, known, codex)


def _whom(name: str, codex: Codex) -> Entry | None:
    # A kind that a model does not give is read as a person.
    known = codex.meant(name, "person") or codex.meant(name)
    if known is not None or codex.answering(key_of(name), "person"):
        return known
    if (known := _by_role(name, codex)) is not None:
        return known
    people = [entry for entry in codex.entries.values() if entry.kind == "person"]
    if initial := _INITIAL.fullmatch(name):
        return _only(
            [
                entry
                for entry in people
                if any(map(re.compile(rf"{initial[1]}.* {initial[2]}").fullmatch, entry.own_names))
            ]
        )
    title, words = form_of(name)
    if len(words) != 1:
        return None
    # A surname that somebody has taken is hers, and his who has it from birth is known by it.
    taken = [entry for entry in people if _has_taken(words[0], entry) and _may_be(title, entry)]
    return _only(taken) or (_only([entry for entry in people if _was(name, entry)]) if not title else None)


def _only(entries: Sequence[Entry]) -> Entry | None:
    return entries[0] if len(entries) == 1 else None


def _by_role(name: str, codex: Codex) -> Entry | None:
    """Return who alone has a role that stands as a name: Magpie, Captain."""
    if without_article(name) != plain(name) or name.casefold() in ANYBODY or not name[:1].isupper():
        return None
    found = codex.find(f"the {name}")
    has = found is not None and found.kind == "person" and name.casefold() in map(str.casefold, found.roles)
    return found if has else None


def _has_taken(surname: str, entry: Entry) -> bool:
    return any(len(form_of(alias).words) > 1 and form_of(alias).words[-1] == surname for alias in entry.aliases)


def _may_be(title: str, entry: Entry) -> bool:
    titles = {form_of(name).title for name in entry.own_names} - {""}
    pronouns = entry.value("pronouns")
    if titles - {title} and title:
        return False
    return not ((title in OF_HER and pronouns == "he") or (title in OF_HIM and pronouns == "she"))


def _was(name: str, entry: Entry) -> bool:
    """Return whether a name is a part of what somebody is not called any more."""
    return any(name in parts_of(former) for former in entry.former)


def _asked(name: str, kind: Kind, codex: Codex) -> Entry | None:
    """Return the question or promise that a name says in other words; an open one before a settled one."""
    said = word_set(name)
    alike = [
        (entry, words)
        for entry in codex.entries.values()
        if entry.kind == kind and ((words := word_set(entry.name)) <= said or words > said)
    ]
    same = [entry for entry, words in alike if words == said]
    near = [entry for entry, words in alike if _says_more(said, words)]
    for found in (same, near):
        if chosen := [entry for entry in found if entry.is_open] or found:
            return _only(chosen)
    return None


def settled_by(name: str, kind: Kind, codex: Codex) -> Entry | None:
    """Return the only open promise or question that a name may mean under which one is settled and which nothing has.

    It begins with the same words, and goes on otherwise.
    """
    first = _first_words(name)
    return _only([
        entry
        for entry in codex.entries.values()
        if entry.kind == kind
        and entry.is_open
        and len(first) == _FIRST_SHARED
        and _first_words(entry.name) == first
        and (word_set(entry.name) ^ word_set(name)).isdisjoint(_NOT)
    ])  # fmt: skip


def _first_words(name: str) -> list[str]:
    says = content(name) - _JOINS
    return [word for word in tokens(name) if word in says][:_FIRST_SHARED]


def _says_more(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether of two names one has all words of the other, and hardly any more."""
    fewer, more = sorted((first, second), key=len)
    further = more - fewer
    return fewer < more and len(fewer) >= max(_LEAST_SHARED, _MOST_OF * len(more)) and further.isdisjoint(_NOT)


def _which(name: str, codex: Codex, passage: str) -> Entry | None:
    """Return the only thing that a name may mean which says less of it, or only what tells it apart from no other."""
    words = words_of_thing(name)
    if not words or is_told_anew(words, passage):
        return None
    head = head_of(words)
    found = [
        entry
        for entry in codex.entries.values()
        if entry.kind == "thing"
        for known in entry.own_names
        if head in known.casefold() and _is_same(words, words_of_thing(known), entry, codex)
    ]
    found = list({entry.name: entry for entry in found}.values())
    if len(found) > 1:
        read = searched(passage)
        found = [entry for entry in found if any(sign.place_in(read) >= 0 for sign in entry.signs)]
    return _only(found)


def _is_same(said: Sequence[str], known: Sequence[str], entry: Entry, codex: Codex) -> bool:
    if not said or not known or head_of(said) != head_of(known):
        return False
    own, held = ({word.casefold() for word in words} for words in (said, known))
    further = [word for word in said if word.casefold() not in held]
    if {word.casefold() for word in further} & ANOTHER or held & ANOTHER - own:
        return False
    if own <= held:
        return True
    # A ring is another one than the emerald ring, and his key than hers.
    holder = codex.find(entry.value("holder")) if entry.line("holder") else None
    owner = [word for word in further if re.search(r"['’]s?$", word)]
    if any(holder is None or codex.find(re.sub(r"['’]s?$", "", word)) is not holder for word in owner):
        return False
    rest = {word.casefold() for word in further if word not in owner}
    return held < own and (
        rest <= QUALITIES or (len(held) > 1 and all(word[0].islower() for word in further if word in rest))
    )


def is_name(value: str) -> bool:
    """Return whether a text may be somebody's or something's name, and not what they are."""
    words = without_article(value).split()
    return bool(words) and not words[-1][0].islower() and not is_somebodys(value) and kin_of(value) is None


def is_called(value: str, entry: Entry, told: str) -> bool:
    """Return whether what a model says that somebody is, is a name: they keep their first name, or are called so."""
    words = form_of(value).words
    if not is_name(value) or not all(word[0].isupper() or word in _PARTICLES for word in words):
        return False
    if parts_of(value) and words[0] in {(*parts_of(name), name)[0] for name in entry.own_names}:
        return True
    # Who called the Mayor is not called so.
    bare = rf"(?<!\w)(?<!\bthe )(?<!\ban )(?<!\ba ){re.escape(plain(without_article(value)))}(?!\w)"
    return bool(re.search(rf"\b(?:{_CALLS})\b[^.;!?\n]{{0,30}}?{bare}", plain(told)))


def named_too(entry: Entry, value: str, codex: Codex, told: str, *, sure: bool) -> tuple[list[Change], Codex] | None:
    """Return that an entry has another name, or is one with whoever has it, and the codex after that; None for no name.

    Unless a model is `sure`, by saying that it is a name, two are one only where its sentence names both and neither has become
    what the other was.
    """
    other = codex.find(value)
    if other is entry and key_of(value) in map(key_of, entry.names):
        return [], codex
    if other is None or other is entry:
        alias = Change(entry=entry.name, kind=entry.kind, do="alias", value=value)
        return [alias], codex.with_entry(
            entry if entry.name.casefold() in codex.entries else None, called_too(entry, value)
        )
    if other.kind != entry.kind or not _is_whole(value, other):
        return None
    if not _are_one(entry, other, value, told, sure=sure):
        return None
    main, other = _by_rank(entry, other)
    merge = Change(entry=main.name, kind=main.kind, do="merge", value=other.name)
    # Where only the brief has the other one, so far, there is nothing to merge.
    alias = Change(entry=main.name, kind=main.kind, do="alias", value=other.name)
    if without_article(other.name).casefold() in ANYBODY:
        # The stranger of a later passage is another one.
        return [merge], codex.with_entry(other, None)
    codex = codex.with_entry(other, None)
    known = main if main.name.casefold() in codex.entries else None
    return [merge, alias], codex.with_entry(known, called_too(main, other.name))


def _is_whole(value: str, entry: Entry) -> bool:
    """Return whether a text is a name of an entry, and no part of one."""
    bare = key_of(value).removeprefix("the ")
    return any(key_of(name).removeprefix("the ") == bare for name in entry.own_names)


def _has(told: str, name: str) -> bool:
    return sign_of(without_article(name)).place_in(searched(told)) >= 0


def _are_one(entry: Entry, other: Entry, value: str, told: str, *, sure: bool) -> bool:
    if not _has(told, value) or _plays(value, told):
        return False
    is_told = any(_has(told, name) for name in entry.names)
    if sure:
        # A mask may be off before anybody says whose it was; two who have names of their own are both told of.
        return is_told or any(without_article(one.name) != plain(one.name) for one in (entry, other))
    return is_told and not other.is_dead and not _BECOMES.search(told)


def _plays(value: str, told: str) -> bool:
    """Return whether somebody is somebody else only in a play, or goes as them."""
    name = re.escape(plain(without_article(value)))
    goes = re.search(
        rf"(\w+)\s+(?:as|als|comme|como|come)\s+(?:(?:the|der|die|le|la|el|il)\s+)?{name}(?!\w)", plain(told)
    )
    return bool(goes and goes[1].casefold() not in _UNMASKED)


def _by_rank(entry: Entry, other: Entry) -> tuple[Entry, Entry]:
    """Return of two that are one first the one whose name the entry keeps: a first name and a surname before "the Magpie"."""

    def rank(one: Entry) -> tuple[bool, int]:
        return without_article(one.name) == plain(one.name), len(form_of(one.name).words)

    return (other, entry) if entry.kind == "person" and rank(other) > rank(entry) else (entry, other)
