"""What is true now of the people, places, things, promises and open questions of a story, each line with where it comes from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from recurrentgpt.schema.names import (
    ANYBODY,
    EPITHETS,
    FAMILY,
    HE_IS,
    LETTER,
    NOBODY_KNOWN,
    OF_ANYBODY,
    OF_HER,
    OF_HIM,
    SHE_IS,
    UNSPACED,
    Kin,
    are_told_apart,
    called_as,
    declined_in,
    epithets_of,
    form_of,
    in_return,
    is_anothers,
    is_by_marriage,
    is_same_name,
    is_somebodys,
    key_of,
    kin_of,
    may_be_of,
    parted,
    parts_of,
    plain,
    spelled,
    without_article,
    without_epithets,
)
from recurrentgpt.schema.parts import described
from recurrentgpt.schema.shared_map import SharedMap
from recurrentgpt.schema.short_names import (
    ShortName,
    head_of,
    kind_words,
    rank_of,
    short_name_of_thing,
    short_names_of_person,
    words_of_thing,
)

Kind = Literal["person", "place", "thing", "promise", "question"]
Aspect = Literal["status", "place", "holder", "look", "role", "pronouns", "unaware", "fact"]
Operation = Literal["set", "end", "rename", "alias", "key", "merge", "pin", "unpin", "hide", "show", "remove"]
Rule = Literal["dead", "absent", "lost", "holder", "renamed", "pronouns", "judge"]
"""What found a contradiction: a rule, or the model of the role `judge`."""

ONE_EACH: tuple[Aspect, ...] = ("status", "place", "holder", "pronouns")
"""Aspects of which an entry has one line: a new one takes the place of the old one; of looks, see `memory.looks`."""

LASTING: tuple[Aspect, ...] = ("status", "holder", "look", "role", "unaware", "fact")
"""Aspects that are recalled as facts: where somebody is, is past with the scene."""

NOBODY_HAS = frozenset((
    "nobody", "no one", "none", "niemand", "keiner", "personne", "nadie", "nessuno", "ninguém", "никто", "无人", "誰も",
))  # fmt: skip
"""Who a holder is said to be of what was somebody's and is nobody's now."""

MOST_ROLE_WORDS = 3

_ABBREVIATED = "".join(
    rf"(?<!\b{short})"
    for short in (
        "[A-Z]",
        "[A-Z][b-df-hj-np-tv-z]",
        "[A-Z][b-df-hj-np-tv-z]{2}",
        "Col",
        "Capt",
        "Prof",
        "Mme",
        "Rev",
        "Gen",
        "Maj",
        "Lieut",
        "Insp",
        "Hon",
        "Messrs",
        "Fr",
    )
)
"""What is not before a full stop that ends a sentence: an initial, and Dr, Mrs or St, which have no vowel."""
_NO_LONGER = " is no longer "
_AN_OFFICE = re.compile(
    r"(?:the|an?) (?!(?:woman|man|girl|boy|child|person|lady|gentleman)\b)[a-z][\w'’-]*(?: [\w'’-]+){0,4}"
)
"""What somebody may be no longer, as a description of them says it."""
_ROLE_ENDS = re.compile(rf"\s*[,;:(]\s*|{_ABBREVIATED}\.\s+|\s+(?:who|whose|that|which)\s")
"""What ends a role before what else is told of somebody."""
_BEFORE, _BEHIND = re.compile(r"(?:^|(?<=[\s\"“(—-]))([A-Z][\w'’-]*)\.? $"), re.compile(r" ([A-Z][\w-]*)")
"""The word in capitals before and behind a name."""
_PART = re.compile(rf"{LETTER}+|[{UNSPACED}]+")


@described
class Change(TypedDict):
    """What one passage, or the author, changed in one entry."""

    entry: str
    """Name of the entry; one that is not there yet begins with it."""
    kind: Kind
    """What it is."""
    do: Operation
    """What is done with it."""
    aspect: NotRequired[Aspect]
    """What of it is set or ended."""
    value: NotRequired[str]
    """In a few words: `dead`, who holds it, where it is, the new name, the key, the entry to merge."""
    text: NotRequired[str]
    """The same as a sentence that names it."""
    rests_on: NotRequired[str]
    """The sentence of the passage that says so."""
    author: NotRequired[bool]
    """Whether the author said so, and no passage."""


@described
class Contradiction(TypedDict):
    """A sentence of a passage that cannot be true together with an entry, by a rule or a judge."""

    rule: Rule
    """What found it."""
    entry: str
    """Name of the entry."""
    kind: Kind
    """What the entry is."""
    said: str
    """The sentence of the passage."""
    holds: str
    """What the entry says."""
    rests_on: str
    """The earlier sentence that the entry rests on."""
    passage: str
    """Id of the passage of that sentence; empty where the author or the brief says so."""
    step: int
    """Number of that passage."""
    value: str
    """What the entry says if the passage is meant so."""
    aspect: NotRequired[Aspect]
    """Of the line that a judge named."""
    was_alive: NotRequired[bool]
    """Whether whoever is dead was alive as the passage was written, before an edit."""
    called: NotRequired[list[str]]
    """What they were called then, by the brief and the author, too."""


@described
class Told(TypedDict):
    """An entry as the writer of a passage is told it."""

    name: str
    """Its name."""
    kind: Kind
    """What it is."""
    lines: list[str]
    """What is true of it, a sentence each."""


class Searched(NamedTuple):
    """A text in which names are looked for."""

    text: str
    lower: str
    words: frozenset[str]
    small_words: frozenset[str]
    places: dict[str, int]
    """Where names were found by their patterns, -1 for nowhere: a passage is looked through again after every change."""
    shortened: dict[ShortName, int]
    """Where shorter names were found, -1 for nowhere."""
    wholes: dict[str, list[tuple[int, tuple[str, ...]]]]
    """Where a name was found by its pattern, and each time the longer names that it is a part of there."""


@lru_cache(maxsize=64)
def searched(text: str) -> Searched:
    """Return a text with its words, as they are written and in small letters."""
    text = plain(text)
    return Searched(
        text, text.lower(), frozenset(_PART.findall(text)), frozenset(_PART.findall(text.casefold())), {}, {}, {}
    )


@dataclass(frozen=True)
class Sign:
    """A name, key or role as it is looked for: one in capitals in capitals, any other in whatever letters.

    Its article may be another case of it, in whatever letters. One in a script without spaces stands among its words unmarked,
    and is found anywhere; a single character, which is also part of others' words, only alone.
    """

    name: str
    """Without its article."""
    words: frozenset[str]
    is_capital: bool
    source: str
    """The pattern that finds it as whole words."""
    is_unspaced: bool
    longest: str
    """The longest of its words, by which it is looked up; empty for what may stand among other words unmarked."""
    has_article: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it as whole words; compiling it takes a hundred times as long as finding that a text has not its letters."""
        return re.compile(self.source)

    def place_in(self, text: Searched) -> int:
        """Return where a text has it as whole words, -1 where it has not."""
        if (at := text.places.get(self.source)) is None:
            at = text.places[self.source] = self._look_in(text)
        return at

    def _look_in(self, text: Searched) -> int:
        known = text.words if self.is_capital else text.small_words
        if not self.is_unspaced and not (self.words and self.words <= known):
            return -1
        # Letters are found in a fraction of the time that a pattern takes which may begin anywhere.
        near = text.text.find(self.name) if self.is_capital else text.lower.find(self.name.lower())
        if near < 0:
            return -1
        # A letter that is two in small letters moves all that follows, and an article stands before its name.
        is_there = len(text.lower) == len(text.text) and not self.has_article
        match = self.pattern.search(text.text, near if is_there else 0)
        return match.start() if match else -1


@lru_cache(maxsize=4096)
def sign_of(name: str) -> Sign:
    """Return a name, key or role as it is looked for."""
    name, articles = parted(plain(name))
    parts = _PART.findall(name)
    is_capital = any(part[0].isupper() for part in parts)
    first, last = name[:1], name[-1:]
    first_run, last_run = (len(name) > 1 and bool(re.match(f"[{UNSPACED}]", letter)) for letter in (first, last))
    # Without regard to case for the name alone: with it, the borders take three times as long to compile.
    pattern = re.escape(name) if is_capital else f"(?i:{re.escape(name)})"
    if last.isalnum() or last_run:
        # A letter of the one kind of scripts begins or ends no word of the other kind.
        begin = "" if first_run or articles else rf"(?<!{LETTER})" if re.match(LETTER, first) else r"\b"
        end = "" if last_run else rf"(?!{LETTER})" if re.match(LETTER, last) else r"\b"
        pattern = f"{begin}{pattern}{end}"
    if articles:
        pattern = rf"(?<!{LETTER}){articles}{pattern}"
    words = frozenset(parts if is_capital else map(str.casefold, parts))
    is_unspaced = first_run or last_run
    longest = "" if is_unspaced else max(sorted(words), key=len, default="")
    return Sign(name, words, is_capital, pattern, is_unspaced, longest, bool(articles))


@lru_cache(maxsize=1024)
def sign_of_role(role: str) -> Sign:
    """Return a role as it is looked for where it may mean somebody who is known."""
    sign = sign_of(role)
    return replace(sign, source=f"{NOBODY_KNOWN}{sign.source}")


@dataclass(frozen=True)
class Line:
    """One thing that is true of an entry, and the passage that made it so."""

    aspect: Aspect
    value: str
    text: str
    rests_on: str
    passage: str
    """Id of the passage; empty for what the author or the brief says."""
    step: int
    by_author: bool = False
    """Whether the author said so as of that passage, which need not tell of it."""
    again: tuple[tuple[str, str], ...] = ()
    """Further passages that said the same, each with the sentence that it rests on there."""
    is_meant: bool = False
    """Whether the author said of that passage, which told otherwise than the codex, that it is meant so."""

    @property
    def said_in(self) -> tuple[tuple[str, str], ...]:
        """Every passage that said so, with the sentence that it rests on there; none where the author or the brief alone does."""
        return ((self.passage, self.rests_on), *self.again) if self.passage else self.again


@dataclass(frozen=True)
class Entry:
    """A person, place, thing, promise or open question, and what is true of it."""

    name: str
    kind: Kind
    lines: tuple[Line, ...] = ()
    """The oldest first."""
    aliases: tuple[str, ...] = ()
    """Other names and roles: `the ferryman`."""
    former: tuple[str, ...] = ()
    """Names that it does not go by any more."""
    keys: tuple[str, ...] = ()
    """Words of a plan or passage that bring it to the writer, beside its names."""
    pinned: bool = False
    """Whether the writer is always told it."""
    hidden: bool = False
    """Whether a reader is not shown it."""
    earlier: tuple[Line, ...] = ()
    """Lines that made room for newer ones: still true, and told by what is recalled alone."""

    @property
    def true_lines(self) -> tuple[Line, ...]:
        """All that is true of it, the lines that made room first."""
        return (*self.earlier, *self.lines)

    def line(self, aspect: Aspect) -> Line | None:
        """Return the line of an aspect, the newest where it has several; None where nothing is known of it."""
        return self._by_aspect.get(aspect)

    def value(self, aspect: Aspect) -> str:
        """Return what is known of an aspect in a few words; empty for nothing."""
        return line.value if (line := self.line(aspect)) else ""

    @cached_property
    def is_dead(self) -> bool:
        """Whether it is a person who is dead."""
        return self.kind == "person" and self.value("status") == "dead"

    @cached_property
    def is_gone(self) -> bool:
        """Whether it is a thing that is lost or destroyed."""
        return self.kind == "thing" and self.value("status") in ("lost", "destroyed")

    @cached_property
    def is_away(self) -> bool:
        """Whether a passage said that it is a person who is absent, or a thing that is lost."""
        line = self.line("status")
        away = {"person": "absent", "thing": "lost"}.get(self.kind)
        return line is not None and line.passage != "" and line.value == away

    @cached_property
    def is_open(self) -> bool:
        """Whether it is a promise or a question that nothing has settled yet."""
        return self.kind in ("promise", "question") and self.value("status") in ("", "open")

    @cached_property
    def clause(self) -> str:
        """What a promise or question is called, and is said of it."""
        return " ".join(dict.fromkeys((self.name, *(line.text for line in self.lines))))

    @cached_property
    def _by_aspect(self) -> Mapping[Aspect, Line]:
        """The newest line of each aspect."""
        return {line.aspect: line for line in self.lines}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All that it is called now: its name, a person's first and last name, its aliases."""
        longer = [alias for alias in self.aliases if self.kind == "person" and is_same_name(self.name, alias)]
        parts = [part for name in (self.name, *longer) for part in parts_of(name)] if self.kind == "person" else []
        return tuple(dict.fromkeys([self.name, *parts, *self.aliases]))

    @property
    def own_names(self) -> tuple[str, ...]:
        """All that it is called now, without parts of names."""
        return (self.name, *self.aliases)

    def may_be_called(self, title: str) -> bool:
        """Return whether a person may have a title: nobody has two, and Mrs Cole is she."""
        if self.titles or not title:
            return not title or title in self.titles
        return self.pronoun == "she" if title in OF_HER else self.pronoun != "she" or title not in OF_HIM

    @cached_property
    def titles(self) -> frozenset[str]:
        """The titles before its names, and the epithets where these tell it apart: Uncle Cole is not Mr Cole."""
        titles = frozenset(form_of(name).title for name in self.own_names) - {""}
        return titles | frozenset(chain.from_iterable(map(epithets_of, self.own_names))) if self.has_epithet else titles

    @cached_property
    def has_epithet(self) -> bool:
        """Whether it is a person who is told apart by it from whoever has the same name behind another one: Old Tom."""
        return self.kind == "person" and are_told_apart(self.own_names)

    @cached_property
    def may_be_before(self) -> tuple[str, ...]:
        """The words that may stand before a person's names and make nobody else of them: old Tom is Tom, and not Young Tom."""
        is_told_apart = self.has_epithet
        return tuple(word for word in OF_ANYBODY if word not in EPITHETS or not is_told_apart or word in self.titles)

    @cached_property
    def pronoun(self) -> str:
        """Whether a person is `he` or `she`, by what is known of that, or by what they are; empty where nothing says so."""
        if known := self.value("pronouns"):
            return known
        heads = {head_of(words_of_thing(role)) for role in self._first_roles}
        said = {called_as(title) for title in self.titles} - {""}
        said |= {"she"} if heads & SHE_IS else set()
        said |= {"he"} if heads & HE_IS else set()
        return said.pop() if len(said) == 1 else ""

    def is_another_at(self, text: str, start: int) -> bool:
        """Return whether a name of it that stands in a text from `start` is another's: Young Tom is not Old Tom."""
        return self.has_epithet and is_anothers(text, start, self.own_names)

    def is_called_behind_epithet(self, called: str) -> bool:
        """Return whether a key of names that it answers to is only a part of its name behind an epithet: Tom, of Old Tom."""
        return self.kind == "person" and bool(epithets_of(self.name)) and called not in self.called_whole

    def has_first_name(self, called: str) -> bool:
        """Return whether a key of names is a person's whole name, or what it begins with behind a title, and no surname alone."""
        return self.kind == "person" and any(
            key_of(name) == called or (words[:1] == (called,) and (len(words) > 1 or not title))
            for name in self.own_names
            for title, words in [form_of(name.casefold())]
        )

    def can_be_called(self, title: str) -> bool:
        """Return whether nothing that is known of a person speaks against a title."""
        said = called_as(title)
        return (not self.titles or title in self.titles) and (not said or self.pronoun in ("", said))

    def has_rank(self, title: str) -> bool:
        """Return whether a person has a title, or what it says for a role: Dr Cole is the doctor, Mrs Cole a wife or mother."""
        is_mrs = is_by_marriage(title) and not self.kinds.isdisjoint(("wife", "widow", "mother", "grandmother"))
        return is_mrs or title in self.titles or rank_of(title) in self.kinds

    @cached_property
    def called(self) -> frozenset[str]:
        """All that it is called now or was before, in the form in which names are looked up."""
        return frozenset(map(key_of, (*self.names, *self.former)))

    @cached_property
    def called_whole(self) -> frozenset[str]:
        """The same without parts of names."""
        return frozenset(map(key_of, (*self.own_names, *self.former)))

    def may_be(self, kind: Kind | None) -> bool:
        """Return whether what is told of as of a `kind` may be it: a place is nobody, and other kinds are told apart loosely."""
        return kind in (None, self.kind) or {kind, self.kind} != {"person", "place"}

    @cached_property
    def signs(self) -> tuple[Sign, ...]:
        """What of a text means it: its names and keys."""
        return tuple(map(sign_of, (*self.names, *self.keys)))

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """What else it may be meant by, without an article: `ferryman`; "a woman" and long descriptions call nobody."""
        bare = [without_article(role) for role in (*self._first_roles, *self._offices) if not is_somebodys(role)]
        # The harbour master of Skerry is the harbour master; of another head, the short names say so.
        kinds = (role.partition(" of ")[0] for role in bare if " of " in role and not self.is_dead)
        bare += [kind for kind in kinds if kind.endswith((" master", " mistress"))]
        roles = (role for role in bare if 0 < len(role.split()) <= MOST_ROLE_WORDS)
        return tuple(dict.fromkeys(role for role in roles if role.casefold() not in ANYBODY))

    @cached_property
    def former_roles(self) -> Mapping[str, Line]:
        """The facts by which it has a role no longer, see `no_longer`, by that role in small letters and without an article.

        Whoever has the role again by what a passage or the author says later has it.
        """
        found = dict[str, Line]()
        for line in self.true_lines:
            name, _, role = line.text.partition(_NO_LONGER)
            if role and line.aspect == "fact" and name in (*self.names, *self.former):
                found[without_article(role.removesuffix(".")).casefold()] = line
        for line in self.true_lines if found else ():
            if line.aspect == "role" and line.passage:
                for part in _ROLE_ENDS.split(line.value):
                    if (said := found.get(without_article(part).casefold())) is not None and said.step <= line.step:
                        del found[without_article(part).casefold()]
        return found

    def is_former(self, line: Line) -> bool:
        """Return whether a line is a role of the brief or the author that it has no longer."""
        roles = [part.strip(" .") for part in _ROLE_ENDS.split(line.value)]
        return line.aspect == "role" and not line.passage and not self._held(roles)

    def no_longer(self, role: str) -> str:
        """Return the fact that it has a role no longer, which the brief goes on to tell."""
        return f"{self.name}{_NO_LONGER}{role}."

    @cached_property
    def offices_of_brief(self) -> tuple[str, ...]:
        """What the brief or the author says that somebody is, in a few English words, but for kin and what they are no longer."""
        if self.kind != "person" or self.name.casefold() == "you":
            return ()
        lines = (line.value for line in self.lines if line.aspect == "role" and not line.passage)
        parts = [part.strip(" .") for line in lines for part in _ROLE_ENDS.split(line)]
        return tuple(
            part for part in self._held(parts) if _AN_OFFICE.fullmatch(part) and not FAMILY.match(without_article(part))
        )

    def offices_called(self, role: str) -> list[str]:
        """Return which of `offices_of_brief` a role means that is said whole, or that of which alone it can be a part."""
        said = without_article(role).casefold()
        offices = {office: without_article(office).casefold() for office in self.offices_of_brief}
        whole = [office for office, bare in offices.items() if bare == said]
        parts = [office for office, bare in offices.items() if bare.partition(" of ")[0] == said]
        return whole or (parts if len(parts) == 1 else [])

    @cached_property
    def short_names(self) -> Mapping[str, ShortName]:
        """By which words, in small letters, a thing or person may be meant where no other entry is of that kind."""
        if self.kind == "thing":
            found = [short for name in self.own_names if (short := short_name_of_thing(name)) is not None]
        else:
            # The doctor of after a doctor's death is another one.
            is_meant = self.kind == "person" and not self.is_dead
            found = short_names_of_person(self.own_names, self._first_roles) if is_meant else []
        return {short.head.casefold(): short for short in reversed(found)}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The words, in small letters, that say what it is: by the shorter name of which of them another one may not be meant."""
        if self.kind == "person":
            return frozenset((*self.short_names, *(head_of(words_of_thing(role)) for role in self._first_roles)))
        names = self.own_names if self.kind in ("thing", "place") else ()
        return frozenset(word.casefold() for name in names for word in kind_words(words_of_thing(name)))

    @property
    def _first_roles(self) -> list[str]:
        return self._held(_ROLE_ENDS.split(line.value)[0].strip(" .") for line in self.lines if line.aspect == "role")

    def _held(self, roles: Iterable[str]) -> list[str]:
        """Return the roles that it has still."""
        return [role for role in roles if without_article(role).casefold() not in self.former_roles]

    @property
    def _offices(self) -> list[str]:
        """What else its descriptions say that it alone is: of "her brother, the ferryman", the ferryman."""
        said = [part for line in self.lines if line.aspect == "role" for part in _ROLE_ENDS.split(line.value)[1:]]
        parts = (part.strip(" .") for part in said if part.startswith("the "))
        return self._held(part for part in parts if _AN_OFFICE.fullmatch(part))

    @cached_property
    def kin(self) -> tuple[Kin, ...]:
        """What it is to others."""
        said = [part for line in self.lines if line.aspect == "role" for part in _ROLE_ENDS.split(line.value)]
        return tuple(dict.fromkeys(kin for part in (*said, *self.aliases) if (kin := kin_of(part.strip()))))


class Superseded(NamedTuple):
    """A line of an entry that a later passage ended or replaced."""

    sentence: str
    rests_on: str
    """The sentence of the passage that said so; empty where that tells what happened, and stays."""
    called: tuple[str, ...]
    """What the entry was called."""
    instead: str = ""
    """The line that took its place."""
    roles: tuple[str, ...] = ()
    """What else the entry may have been meant by."""
    is_place: bool = False
    """Whether it says where somebody was: what else happened there, happened."""
    by_death: bool = False
    """Whether somebody's death ended it: what they did before, they did."""


@dataclass(frozen=True)
class Codex:
    """All entries as of one passage, by their names in lower case."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    over: SharedMap[tuple[Superseded, ...]] = field(default_factory=SharedMap)
    """By passage, the lines that it made true and that hold no more."""
    until_death: Mapping[str, tuple[tuple[str, Line], ...]] = field(default_factory=dict)
    """By the key of somebody dead, what was true until then, each with its entry's key: it is again if they live after all."""
    is_whole: bool = True
    """Whether no entry had to make room for others."""
    left: SharedMap[Entry] = field(default_factory=SharedMap)
    """The entries that had to, by their keys: each comes back with what is known of it when it is told of again."""

    def key(self, entry: Entry) -> str:
        """Return the key of an entry: its name, and of a place that has somebody's name, or the reverse, what it is, too."""
        return _key(self.entries, entry)

    def with_entry(self, old: Entry | None, new: Entry | None) -> Codex:
        """Return a codex with `new`, as what was told of last, in the place of `old`; every entry that stays is shared."""
        entries, until = dict(self.entries), self.until_death
        former = self.key(old) if old is not None else None
        if former is not None:
            entries.pop(former, None)
        now = _key(entries, new) if new is not None else None
        if new is not None and now is not None:
            entries[now] = new
        if now is not None and former != now and former in until:
            until = {now if key == former else key: told for key, told in until.items()}
        changed = replace(self, entries=entries, until_death=until)
        # Who answers to a name is asked for every change of a passage, and hardly any of them changes a name.
        if (called := self.__dict__.get("_called")) is not None:
            # What was there under the new name goes, too; `old` may have gone before.
            gone = {key: self.entries[key] for key in (former, now) if key is not None and key in self.entries}
            there = {now: new} if now is not None and new else {}
            changed.__dict__["_called"] = _index_after(called, gone, there, _names)
            if (kinds := self.__dict__.get("_kinds")) is not None:
                changed.__dict__["_kinds"] = _index_after(kinds, gone, there, _kinds)
        return changed

    def with_over(
        self,
        over: Mapping[str, tuple[Superseded, ...] | None],
        until_death: Mapping[str, tuple[tuple[str, Line], ...]] | None = None,
    ) -> Codex:
        """Return a codex with other lines that are over, by passage, None for none, and what was true until somebody's death."""
        until = self.until_death if until_death is None else until_death
        changed = replace(self, over=self.over.changed(over), until_death=until)
        if (called := self.__dict__.get("_called")) is not None:
            changed.__dict__["_called"] = called
        if (kinds := self.__dict__.get("_kinds")) is not None:
            changed.__dict__["_kinds"] = kinds
        return changed

    @cached_property
    def held(self) -> tuple[Entry, ...]:
        """The things of which it is known who has them."""
        return tuple(entry for entry in self.entries.values() if entry.kind == "thing" and entry.line("holder"))

    @cached_property
    def held_by(self) -> Mapping[str, tuple[Entry, ...]]:
        """What each entry has, by its name."""
        found = defaultdict[str, tuple[Entry, ...]](tuple)
        for entry in self.entries.values():
            if (line := entry.line("holder")) and (holder := self.find(line.value)):
                found[holder.name] += (entry,)
        return dict(found)

    @cached_property
    def gone(self) -> tuple[Entry, ...]:
        """The things that are lost or destroyed, and in nobody's hands."""
        return tuple(entry for entry in self.entries.values() if entry.is_gone and not entry.line("holder"))

    @cached_property
    def dead(self) -> tuple[Entry, ...]:
        """The people who are dead."""
        return tuple(entry for entry in self.entries.values() if entry.is_dead)

    def find(self, name: str, kind: Kind | None = None, *, whole: bool = False) -> Entry | None:
        """Return the only entry that answers to a name; None for none and for several.

        Of a `kind`, nobody is a place and no place is somebody, and a part of somebody's name is theirs alone. Where the `whole`
        name is asked for, nothing is meant by a part of its name, or by a role.
        """
        name = " ".join(name.split())
        if (entry := self.entries.get(name.casefold())) is not None and entry.may_be(kind):
            return entry
        if entry is not None and (other := self.entries.get(f"{name.casefold()}\n{kind}")) is not None:
            return other
        key = key_of(name)
        bare = key.removeprefix("the ")
        keys = [key, f"the {key}"] if key == bare else [key]
        # Al and Lo may be somebody's names.
        if key != bare and (name[0].islower() or key == plain(name).casefold()):
            keys.append(bare)
        for called in keys:
            if found := self.answering(called, kind, whole=whole):
                return found[0] if len(found) == 1 else None
        found_by_role = self._has_role.get(bare) if key != bare and not whole else None
        return found_by_role if found_by_role is not None and found_by_role.may_be(kind) else None

    def answering(self, called: str, kind: Kind | None, *, whole: bool = False) -> list[Entry]:
        """Return the entries that answer to a key of names; see `find`.

        Annie is Annie Reed, and Little Annie only where it is nobody's first name without an epithet.
        """
        found = [self.entries[key] for key in self._called.get(called, ())]
        if kind is not None or whole:
            found = [
                entry
                for entry in found
                if entry.may_be(kind) and ((kind in (None, "person") and not whole) or called in entry.called_whole)
            ]
        if len(found) < 2 or not any(entry.has_first_name(called) for entry in found):
            return found
        return [entry for entry in found if not entry.is_called_behind_epithet(called)]

    def names_of(self, entry: Entry, kind: Kind | None = None) -> tuple[str, ...]:
        """Return what an entry is called that nothing else is, of a `kind` for which see `find`: Agnes of two people, neither."""
        return tuple(
            name
            for name in entry.names
            if self.find(name, kind) is entry and not (entry.kind == "person" and self._may_be_told_apart(name))
        )

    def called_alone(self, person: Entry) -> tuple[str, ...]:
        """Return all that means one person alone: names, what they were called before, and roles that nobody else has."""
        former = [name for name in person.former if self.find(name) is person]
        return tuple(dict.fromkeys([*self.names_of(person, "person"), *former, *self.own_roles(person)]))

    def _may_be_told_apart(self, name: str) -> bool:
        """Return whether of several people who answer to a name one does so behind an epithet: Agnes may be Sister Agnes."""
        called = key_of(name)
        people = [one for key in self._called.get(called, ()) if (one := self.entries[key]).kind == "person"]
        return len(people) > 1 and any(one.is_called_behind_epithet(called) for one in people)

    def meant(self, name: str, kind: Kind | None = None) -> Entry | None:
        """Return the only entry that a name of a passage means, in a form that is not known yet, too: None for none and several.

        Mr Cole is the only person who is called Cole and not otherwise titled, and Bastian Cole who was only Bastian so far. Of a
        `kind`, see `find`; only people have names in several forms.
        """
        if (found := self.find(name, kind)) is not None or self.answering(key_of(name), kind):
            return found
        if (found := self.by_short_name(name)) is not None and kind in (None, found.kind):
            return found
        if kind not in (None, "person"):
            return None
        if (kin := kin_of(name)) is not None:
            owner = self.meant(kin.whose)
            own = [entry for whose, what, entry in self.relatives if what == kin.what and whose is owner]
            return own[0] if len(own) == 1 else None
        title, words = form_of(name)
        found = self._titled(title, " ".join(words)) if title else None
        if found is None and len(words) > 1:
            first = self.answering(key_of(without_epithets(" ".join(words)).split()[0]), "person")
            found = first[0] if len(first) == 1 else None
            known = [one for one in found.own_names if form_of(one).words[:1] == words[:1]] if found else []
            found = found if known and all(is_same_name(one, name) for one in known) else None
        return found if found is not None and found.kind == "person" and found.may_be_called(title) else None

    def _titled(self, title: str, name: str) -> Entry | None:
        """Return the only person who may be meant by a name behind a title: of a couple, who is called so, or has that rank."""
        people = self.answering(key_of(name), "person")
        if len(people) > 1:
            # Of several sisters each may be Miss Cole, as long as nobody knows that they are not.
            people = [one for one in people if one.can_be_called(title)]
        if len(people) > 1:
            ranked = [one for one in people if one.has_rank(title)]
            if not all(one.is_dead for one in people):
                # Ranks and husbands are had after the dead, and so where none of the living has one, it may be any of them.
                ranked = [one for one in ranked if not one.is_dead]
            people = ranked
        return people[0] if len(people) == 1 and people[0].may_be_called(title) else None

    def titled(self, entry: Entry, text: str) -> list[str]:
        """Return with which titles a plain text means somebody by a name that others have, too: Dr. Cole, of two Coles."""
        found = dict[str, None]()
        for name in entry.names if entry.kind == "person" else ():
            if name not in text or not self._is_shared(name):
                continue
            for match in sign_of(name).pattern.finditer(text):
                before = _BEFORE.search(text, max(0, match.start() - 20), match.start())
                if (
                    before
                    and form_of(called := text[before.start() : match.end()]).title
                    and self.meant(called) is entry
                ):
                    found[called] = None
        return list(found)

    def _is_shared(self, name: str) -> bool:
        return len(self._called.get(key_of(name), ())) > 1

    def _own_place(self, entry: Entry, sign: Sign, read: Searched, at: int) -> int:
        """Return from `at` on where a text means a person by a name that others have, too, and not one of those; -1 for nowhere.

        Mrs Cole and Hanna Cole are not Mr Cole.
        """
        for start, whole in _wholes(sign, read):
            owners = [owner for name in whole if (owner := self._whose(name)) is not None]
            is_own = any(owner is entry for owner in owners)
            if start >= at and (is_own or (not owners and not entry.is_another_at(read.text, start))):
                return start
        return -1

    def _whose(self, name: str) -> Entry | None:
        if name not in self._owners:
            self._owners[name] = self.meant(name) if form_of(name).title else self.find(name, "person")
        return self._owners[name]

    def short_names(self, entry: Entry) -> list[ShortName]:
        """Return by which shorter names an entry alone may be meant."""
        return [short for head, short in entry.short_names.items() if self._alone_is(head) is entry]

    def short_places(self, entry: Entry, text: str) -> list[tuple[int, int]]:
        """Return where a plain text means an entry by a shorter name that can mean no other one, without its article."""
        return sorted({place for short in self.short_names(entry) for place in short.places_in(text)})

    def by_short_name(self, name: str, passage: str = "") -> Entry | None:
        """Return the only thing or person that a shorter name may mean; None for none and several.

        A `passage` may have brought in another one before.
        """
        words = words_of_thing(name)
        entry = self._alone_is(head) if (head := head_of(words)) else None
        short = entry.short_names.get(head) if entry is not None else None
        if short is None:
            return None
        read = searched(passage)
        if head in read.small_words and _first_place(short, read) < 0:
            return None
        # As a text would say it that has nothing else.
        return entry if any(short.places_in(f"the {' '.join(words)}")) else None

    def _alone_is(self, head: str) -> Entry | None:
        """Return the only entry of a kind, where nothing else has that for its name; None for several and for none."""
        keys = self._kinds.get(head, ())
        if not keys or any(self._called.get(name, keys) != keys for name in (head, f"the {head}")):
            return None
        return _who_is([self.entries[key] for key in keys])

    def named_in(self, text: str, within: str = "") -> list[Entry]:
        """Return the entries that a text names, in the order in which it does.

        People and places by names in capitals, everything else by its words; by a role where one entry alone has it, and by a
        shorter name where it alone can be meant, and the text that this one is `within` has brought in no other one.
        """
        read = searched(text)
        in_capitals, in_any_letters = self._signs
        found: dict[int, int] = {}
        entries = list(self.entries.values())
        for signs, words in ((in_capitals, read.words), (in_any_letters, read.small_words)):
            for place, sign in chain.from_iterable(signs[word] for word in signs.keys() & {*words, ""}):
                # Most have a word that the text has not, which is told before anything is asked.
                if (sign.words <= words or sign.is_unspaced) and (at := sign.place_in(read)) >= 0:
                    if entries[place].has_epithet or (entries[place].kind == "person" and self._is_shared(sign.name)):
                        at = self._own_place(entries[place], sign, read, at)
                    if at >= 0:
                        found[place] = min(at, found.get(place, at))
        others = (
            *((at, entry) for at, _, entry in self.kin_in(read.text)),
            *self._declined_in(read),
            *self._shortened_in(read, searched(within) if within else read),
        )
        for at, entry in others:
            place = next(place for place, one in enumerate(entries) if one is entry)
            found[place] = min(at, found.get(place, at))
        return [entries[place] for place in sorted(found, key=lambda place: (found[place], place))]

    def _declined_in(self, read: Searched) -> list[tuple[int, Entry]]:
        """Return where a text has a name in another case that can be nobody else's."""
        found = []
        for at, word, names in declined_in(read.text, read.small_words):
            if key_of(word) not in self._called:
                meant = [entry for name in names if (entry := self.find(name)) is not None and name in entry.names]
                found += [(at, meant[0])] if len(meant) == 1 else []
        return found

    def _shortened_in(self, read: Searched, within: Searched) -> list[tuple[int, Entry]]:
        """Return where a text means an entry by a shorter name; a step asks it of one passage several times."""
        if (known := self._shortened.get((read.text, within.text))) is not None:
            return known
        found = self._shortened.setdefault((read.text, within.text), [])
        for head in self._kinds.keys() & read.small_words:
            entry = self._alone_is(head)
            short = entry.short_names.get(head) if entry is not None else None
            if entry is None or short is None:
                continue
            if within is not read and head in within.small_words and _first_place(short, within) < 0:
                continue
            if (at := _first_place(short, read)) >= 0:
                found.append((at, entry))
        return found

    def kin_in(self, text: str) -> list[tuple[int, int, Entry]]:
        """Return where a plain text says "his sister" of somebody whose only known sister that is, and of nobody else."""
        found = []
        words = frozenset(_PART.findall(text)) if self.relatives else frozenset[str]()
        for owner, what, entry in self.relatives:
            if what not in text:
                continue
            # A text names whose sister it is, or by their role, and that it does not is found without a pattern.
            roles = [role for role in self.own_roles(owner) if f"he {role}" in text]
            if not roles and words.isdisjoint(_PART.findall(plain(" ".join(owner.names)))):
                continue
            names = frozenset(word for name in owner.names for word in plain(name).split())
            own = [*(name for name in owner.names if self.find(name) is owner), *self.titled(owner, text)]
            called = "|".join(map(spelled, own))
            pattern = rf"\b(?:(?i:(?P<whose>his|her) (?:own |dear |poor )?)|(?:{called or '(?!)'})'s? ){re.escape(what)}(?![\w-])"
            for match in re.finditer(pattern, text):
                whose = (match["whose"] or "").casefold()
                known = owner.value("pronouns")
                if not whose or (
                    known in ("", {"his": "he", "her": "she"}[whose])
                    and (
                        text[: match.start()].endswith(tuple(f"he {role} and " for role in roles))
                        or may_be_of(text[: match.start()], whose, names)
                    )
                ):
                    found.append((match.start(), match.end(), entry))
        return found

    @cached_property
    def relatives(self) -> list[tuple[Entry, str, Entry]]:
        """Whose, what and who: of what two are to somebody, neither; an older sister is a sister, too."""
        found: dict[tuple[str, str], list[tuple[Entry, str, Entry]]] = {}
        for entry in self.entries.values():
            for whose, what in entry.kin:
                if (owner := self._relative(whose, entry)) is None:
                    continue
                back = in_return(what.split()[-1], owner.pronoun)
                for one, said, other in (
                    *((owner, said, entry) for said in dict.fromkeys((what, what.split()[-1]))),
                    *([(entry, back, owner)] if back else []),
                ):
                    those = found.setdefault((one.name, said), [])
                    those += [(one, said, other)] if all(other is not known for *_, known in those) else []
        return [those[0] for those in found.values() if len(those) == 1]

    def relations(self, person: Entry) -> list[tuple[Entry, str]]:
        """Return to whom a person alone is what, as `relatives` has it."""
        return [(owner, what) for owner, what, entry in self.relatives if entry is person]

    def _relative(self, whose: str, entry: Entry) -> Entry | None:
        """Return whose relative somebody is: who else is called so, where both have that name."""
        owner = self.meant(whose) if kin_of(whose) is None else None
        if owner is None:
            others = [one for one in self.answering(key_of(whose), "person") if one is not entry]
            owner = others[0] if len(others) == 1 else None
        return owner if owner is not None and owner.kind == "person" and owner is not entry else None

    def own_roles(self, entry: Entry) -> list[str]:
        """Return the roles of an entry that no other one has."""
        return [role for role in entry.roles if self._has_role.get(role.casefold()) is entry]

    @cached_property
    def _signs(self) -> tuple[Mapping[str, list[tuple[int, Sign]]], Mapping[str, list[tuple[int, Sign]]]]:
        """The signs in capitals and the others by their longest words, each with the place of the entry that it means."""
        in_capitals: dict[str, list[tuple[int, Sign]]] = {}
        in_any_letters: dict[str, list[tuple[int, Sign]]] = {}
        for place, entry in enumerate(self.entries.values()):
            for sign in (*entry.signs, *map(sign_of_role, self.own_roles(entry) if entry.roles else ())):
                (in_capitals if sign.is_capital else in_any_letters).setdefault(sign.longest, []).append((place, sign))
        return in_capitals, in_any_letters

    @cached_property
    def _has_role(self) -> Mapping[str, Entry | None]:
        """The entry of each role that one alone has; None for a role of several, and for what is somebody's name."""
        found = defaultdict[str, list[Entry]](list)
        for entry in self.entries.values():
            for role in {role.casefold() for role in entry.roles} if entry.roles else ():
                if role not in self._called and f"the {role}" not in self._called:
                    found[role].append(entry)
        return {role: _who_is(those) for role, those in found.items()}

    @cached_property
    def _called(self) -> Mapping[str, tuple[str, ...]]:
        return _index(self.entries, _names)

    @cached_property
    def _owners(self) -> dict[str, Entry | None]:
        return {}

    @cached_property
    def _shortened(self) -> dict[tuple[str, str], list[tuple[int, Entry]]]:
        return {}

    @cached_property
    def _kinds(self) -> Mapping[str, tuple[str, ...]]:
        """By each word that says what something is, the keys of all that are so."""
        return _index(self.entries, _kinds)


def _wholes(sign: Sign, read: Searched) -> list[tuple[int, tuple[str, ...]]]:
    """Return where a text has a name, and each time the longer names that it is a part of there."""
    if (known := read.wholes.get(sign.source)) is None:
        known = read.wholes[sign.source] = []
        for match in sign.pattern.finditer(read.text):
            start, end = match.span()
            before, behind = _BEFORE.search(read.text, max(0, start - 20), start), _BEHIND.match(read.text, end)
            longer = [read.text[before.start() : end]] if before else []
            longer += [read.text[start : behind.end()]] if behind else []
            known.append((start, tuple(longer)))
    return known


def _who_is(those: Sequence[Entry]) -> Entry | None:
    """Return who alone of those with one role has it now: an office of the dead is of whoever has it after them."""
    living = [entry for entry in those if not entry.is_dead] if len(those) > 1 else those
    return living[0] if len(living) == 1 else None


def _names(entry: Entry) -> frozenset[str]:
    return entry.called


def _kinds(entry: Entry) -> frozenset[str]:
    return entry.kinds


def _index(entries: Mapping[str, Entry], words_of: Callable[[Entry], frozenset[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the keys of entries by words of theirs."""
    found = defaultdict[str, tuple[str, ...]](tuple)
    for key, entry in entries.items():
        for word in words_of(entry):
            found[word] += (key,)
    return dict(found)


def _first_place(short: ShortName, read: Searched) -> int:
    """Return where a text first means something by a shorter name, -1 where it does not."""
    if (at := read.shortened.get(short)) is None:
        at = read.shortened[short] = next((begins for begins, _ in short.places_in(read.text)), -1)
    return at


def _key(entries: Mapping[str, Entry], entry: Entry) -> str:
    name = entry.name.casefold()
    apart = f"{name}\n{entry.kind}"
    if apart in entries:
        return apart
    return name if (there := entries.get(name)) is None or there.kind == entry.kind else apart


def _index_after(
    index: Mapping[str, tuple[str, ...]],
    gone: Mapping[str, Entry],
    new: Mapping[str, Entry],
    words_of: Callable[[Entry], frozenset[str]],
) -> Mapping[str, tuple[str, ...]]:
    """Return an index of entries once what is `new` stands in the place of those that are `gone`, each with its key."""
    if [(key, words_of(entry)) for key, entry in gone.items()] == [
        (key, words_of(entry)) for key, entry in new.items()
    ]:
        return index
    changed = dict(index)
    for own, entry in gone.items():
        for word in words_of(entry):
            left = tuple(key for key in changed.get(word, ()) if key != own)
            changed.pop(word, None) if not left else changed.update({word: left})
    for own, entry in new.items():
        changed |= {word: (*changed.get(word, ()), own) for word in words_of(entry)}
    return changed
