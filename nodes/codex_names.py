"""What else somebody or a place is called, as an English sentence tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recurrentgpt.nodes.codex_doubts import DOUBTED, is_doubted, is_unreal
from recurrentgpt.schema.codex import Change, Codex, Entry, Kind
from recurrentgpt.schema.names import CALENDAR, FAMILY, form_of, spelled

NOBODY = frozenset((
    "He", "She", "It", "They", "We", "You", "Who", "Nobody", "Somebody", "Someone", "Everyone", "Everybody", "Both",
    "Neither", "Mother", "Father", "God", "The", "That", "This", "What", "Then", "Now", "Once", "One", "Another",
    "Mama", "Papa", "Mum", "Dad", "And", "But", "When", "While", "After", "Before", "As", "If", "So", "Yes", "No", "Oh", "Well",
    "There", "Here", "Even", "Only", "Perhaps", "Still", "Though", "Because", "For", "Or", "Yet", "Nor", "Till", "Until",
))  # fmt: skip
_WORD = r"[A-Z][\w-]*(?:['’](?!s\b)\w+)*"
_NAME = rf"{_WORD}(?: (?:(?:de|von|van|der|du|la) )?{_WORD}){{0,2}}"
_ENDS = r"\b(?!['’-]\w| [A-Z]| of\b)"
"""What follows a name that is whole, and not that of somebody's mother or of the lord of a place."""
_OLD, _NEW = rf"(?P<old>{_NAME})", rf"(?P<new>(?:[Tt]he )?{_NAME}){_ENDS}"
_LATER = _NEW.replace("<new>", "<later>")
_FROM_THEN = (
    r"(?:now\b|from (?:then|that|this) [^.,;]*on\b|ever (?:after|since)\b|since\b|after (?:the|her|his) "
    r"(?:wedding|marriage)\b)"
)
_TITLED = r"(?:Mr|Mrs|Miss|Ms|Dr|Sir|Lady|Lord|King|Queen|Prince|Princess|Emperor|Pope|Count|Countess|President)"
_PLACED = rf"(?!{_TITLED}\b\.?){_NAME}"
_RENAMED = (
    re.compile(rf"\b{_OLD} (?:is|was|has been|had been) (?:renamed|rechristened) (?:to |as )?{_NEW}"),
    re.compile(rf"\b(?:renamed|rechristened) (?:the \w+ )?{_OLD}(?:(?:,| as| to)? {_NEW}|,? [^.;]*\bcalled {_LATER})"),
    re.compile(
        rf"\b{_OLD} (?:is|was|has been) (?:now (?:called|known as|named) {_NEW}|(?:called|known as|named) {_LATER} {_FROM_THEN})"
    ),
    re.compile(
        rf"\b{_OLD} (?:(?:had |has )?(?:changed (?:his|her|its) name to|(?:took|takes|adopted|assumed|received|got|bore) the "
        rf"(?:new )?name(?: of)?)|now goes by|now went by) (?:the name (?:of )?)?{_NEW}"
    ),
    re.compile(
        rf"\b{_OLD} (?:[a-z][\w'’-]* ){{0,8}}?(?:called|calls|styled|named|renamed) (?:himself|herself|"
        rf"itself) {_NEW}(?= now\b|[.,;]|$| {_FROM_THEN})"
    ),
    re.compile(rf"\bgave {_OLD} (?:a|the|its|his|her) new name,? (?:of )?{_NEW}"),
    re.compile(rf"\b{_OLD} (?:was|is|had been) given (?:a|the) (?:new )?name,? (?:of )?{_NEW}"),
    re.compile(
        rf"\b(?P<old>{_PLACED}) (?P<became>became|becomes) (?P<new>{_PLACED})(?= on (?:every|all|the) maps?\b|[.,;]|$)(?! of\b)"
    ),
    re.compile(rf"\bonce called {_OLD}[^.;]*\b(?:now|today) (?:called |known as )?{_NEW}"),
    re.compile(rf"\b{_OLD}['’]s new (?:name|surname|last name) is {_NEW}"),
)
"""How it is told that one has another name from now on."""
_BECOMES = re.compile(
    rf"\b(?P<verb>became|becomes|(?:is|was)(?P<at> now)?) (?P<new>{_NAME}){_ENDS}(?P<now> (?:now|today|since|ever since|"
    rf"from then on)\b)?"
)
"""What somebody becomes, or is now: a name where it has their first name."""
_WED = re.compile(r"\b(?:married|marries|wed|weds|wedding)\b")
_REVEALED = (
    r"(?:turns|turned) out to be|proves to be|proved to be|(?:is|was) (?:really|actually|in (?:truth|reality|fact)|"
    r"none other than|"
    r"revealed (?:to be|as)|unmasked as|secretly)"
)
_TO_BE = r"\b(?:out|proves|proved|revealed|used) to be\b"
_AND_ON = r"(?=[.,;]|$| (?:now|here|in|on|at|among|to|by|these|when|and|for|but|because|who|before|until)\b)"
_CALLED = (
    re.compile(
        rf"\b{_OLD} (?:(?:is|was|has been) (?:also |better |widely |still |\w+ly )?(?:known(?: (?!as\b)[a-z]+){{0,4}} as|called|"
        rf"nicknamed|dubbed|christened)|goes by(?: the name(?: of)?)?|went by the name(?: of)?|"
        rf"answers to(?: the name(?: of)?)?) {_NEW}{_AND_ON}"
    ),
    re.compile(
        rf"\b{_OLD}, (?:alias|aka|a\.k\.a\.|nicknamed|called|dubbed|(?:also |better |"
        rf"otherwise )?known(?: (?!as\b)[a-z]+){{0,3}} as|"
        rf"also called) {_NEW}{_AND_ON}"
    ),
    re.compile(
        rf"\b{_OLD}['’]s (?:(?:real|true|birth|full|stage|pen|code|other|street|battle|secret) ?name|nickname|codename|"
        rf"call ?sign|alias|"
        rf"handle) (?:is|was) {_NEW}"
    ),
    re.compile(
        r"\b(?:everybody|everyone|people|friends|they|children|crew|townsfolk) (?:now )?(?:calls?|called|nicknamed?|dubbed) "
        rf"(?P<old>(?-i:{_WORD} {_WORD}|{_WORD})) (?P<new>(?-i:(?:the )?{_WORD})){_ENDS}",
        re.IGNORECASE,
    ),
)
"""How it is told that somebody is called something else, too."""
_WAS = re.compile(
    rf"\b(?P<new>{_NAME}), (?:n[ée]e|formerly|previously|who (?:was|is) (?:once |formerly |also |really )?(?:called |"
    rf"known as )?|who used "
    rf"to be (?:called |known as )?) ?(?P<old>{_NAME}){_ENDS}{_AND_ON}"
)
"""How it is told what somebody was called before."""
_IS = re.compile(
    rf"(?:^|[,;] |\b(?:and|but|that) )(?P<one>(?:[Tt]he )?{_NAME}) (?:(?P<plain>is|was)|"
    rf"{_REVEALED}) (?P<other>(?:the )?{_NAME}){_ENDS}"
    r"(?=[.,;]|$| (?:in disguise|all along|herself|himself)\b)"
)
"""How it is told that two are one."""
_NO_NAMES = frozenset((
    *NOBODY, *CALENDAR, "I", "Lord", "Catholic", "Christian", "Jewish", "Muslim", "English", "French", "German", "Russian",
    "American", "Irish", "Scottish", "Welsh", "Italian", "Spanish", "Greek", "Roman", "Dutch", "Chinese", "Japanese", "Indian",
    "European",
))  # fmt: skip
"""What in capitals calls nobody."""


_SAYS_A_NAME = re.compile(
    r"nam(?:e|ing)|christened|call|known|bec(?:ame|omes)|goes by|went by|alias|aka|a\.k\.a\.|nick|dubbed|styled|handle|"
    r"answers to|n[ée]e |formerly|previously|, who |turn|prove|really|actually|in (?:truth|reality|fact)|revealed|unmasked|"
    r"secretly|none other|\b(?:is|was) (?:now )?(?:the )?[A-Z]"
)
"""What every sentence says that one of the patterns finds."""
_STATELY = frozenset(
    ("Sister", "Brother", "Mother", "Father", "Friar", "Abbess", "Abbot", "Dame", "Sir", "Saint", "Empress", "Emperor")
)


def names_in(fact: str, named: Sequence[Entry], known: Codex) -> list[Change]:
    """Return by which other names an English fact calls somebody, or a place, from now on or as well."""
    if not _SAYS_A_NAME.search(fact):
        return []
    found = [*_renamed(fact, known), *_become(fact, named, known), *_called(fact, known)]
    return [] if found and is_unreal(fact) else found


def _renamed(fact: str, known: Codex) -> Iterator[Change]:
    for match in filter(None, (pattern.search(fact) for pattern in _RENAMED)):
        old, new = _bare(match["old"]), match["new"] or match.groupdict().get("later") or ""
        if not old or is_nobodys(new) or _is_denied(fact, match, old, new):
            continue
        entry = known.find(old)
        if entry is None:
            kind: Kind = "person" if re.search(r"\b(?:his|her|himself|herself|he|she)\b", match[0]) else "place"
            yield Change(entry=old, kind=kind, do="rename", value=new)
        elif entry.is_dead or (entry.kind == "person" and "became" in match[0]):
            continue  # a clerk who became Lord Mayor is called what he was called
        elif entry.kind != "person":
            yield Change(entry=entry.name, kind=entry.kind, do="rename", value=new)
        else:
            yield from _called_now(entry, new, known)


def _become(fact: str, named: Sequence[Entry], known: Codex) -> Iterator[Change]:
    """Yield the names of those who marry, are crowned or take a veil: they keep their first name, or get a title."""
    for match in _BECOMES.finditer(fact):
        new, is_now = match["new"], match["verb"].startswith("bec") or match["at"] or match["now"]
        words = new.split()
        before = [entry for entry in named if entry.kind == "person" and _is_before(entry, fact, match.start())]
        own = [entry for entry in before if entry.name.split()[0] in words]
        if len(words) < 2 or not is_now or is_doubted(fact, match.start(), match.end()):
            continue
        if len(own) == 1:
            yield from _called_now(own[0], new, known)
            continue
        title = form_of(new).title
        # Whoever begins the sentence, and not whom they marry.
        is_one = bool(before) and not own and (len(before) == 1 or bool(_WED.search(fact)))
        if is_one and (words[0] in _STATELY or (title and before[0].may_be_called(title))):
            yield from _also(before[0], new, known, sure=False)


def _called(fact: str, known: Codex) -> Iterator[Change]:
    for match in filter(None, (pattern.search(fact) for pattern in _CALLED)):
        entry, other = _person(match["old"], known), _person(match["new"], known)
        if not _is_denied(fact, match, match["old"], match["new"]):
            if entry is not None:
                yield from _also(entry, match["new"], known, sure=False)
            elif other is not None:
                yield from _also(other, match["old"], known, sure=False)
    if (was := _WAS.search(fact)) and not _is_denied(fact, was, was["old"], was["new"]):
        entry, now = _person(was["old"], known), _person(was["new"], known)
        if entry is not None and now is None:
            yield from _called_now(entry, was["new"], known)
        elif entry is None and now is not None and " who " not in was[0]:
            yield from _also(now, was["old"], known, sure=False)
        elif entry is not None and now is not None and entry is not now:
            yield from _also(now, entry.name, known, sure=False)
    if (both := _IS.search(fact)) and not _is_denied(fact, both, both["one"], both["other"]):
        sure = not both["plain"]
        one, other = _person(both["one"], known), _person(both["other"], known)
        # Whoever is told of by a longer name is the one who is unmasked.
        if one is not None and (other is None or len(both["one"].split()) > len(both["other"].split())):
            if sure or other is not None:
                yield from _also(one, both["other"], known, sure=sure)
        elif other is not None:
            yield from _also(other, both["one"], known, sure=sure)


def _called_now(entry: Entry, new: str, known: Codex) -> Iterator[Change]:
    """Yield that somebody is called by another name from now on; with a title before their own it is one more."""
    if form_of(new).title or new.split()[0] in _STATELY:
        yield from _also(entry, new, known, sure=False)
    elif not is_nobodys(new) and not entry.is_dead and _may_take(entry, new, known):
        yield Change(entry=entry.name, kind=entry.kind, do="rename", value=new)
        first = entry.name.split()[0]
        if first not in new.split() and first != entry.name and known.find(first) is entry:
            yield Change(entry=new, kind=entry.kind, do="alias", value=first)


def _also(entry: Entry, other: str, known: Codex, *, sure: bool) -> Iterator[Change]:
    """Yield that somebody is called something else, too, and is whom the codex knows as another one by that."""
    held = known.find(other)
    if held is entry or is_nobodys(other):
        return
    if held is None or not _is_told_of(held):
        if known.meant(other) is not entry:
            yield Change(entry=entry.name, kind=entry.kind, do="alias", value=other)
    elif (sure or " " not in other.removeprefix("The ").removeprefix("the ")) and _may_be_one(entry, held):
        yield Change(entry=entry.name, kind=entry.kind, do="merge", value=held.name)


def _person(name: str, known: Codex) -> Entry | None:
    entry = known.meant(bare) if (bare := _bare(name)) else None
    return entry if entry is not None and entry.kind == "person" and _is_told_of(entry) else None


def _bare(name: str) -> str:
    """Return a name without what a sentence begins with before it: When Mara Voss."""
    words = name.split()
    while len(words) > 1 and words[0] in NOBODY - {"Mother", "Father", "The"}:
        words = words[1:]
    return "" if words[0] in NOBODY - {"Mother", "Father", "The"} else " ".join(words).removeprefix("The ")


def is_told_as_kin(name: str, entry: Entry, text: str) -> bool:
    """Return whether an English text tells of a name as of somebody's relative: Mr Hale is not Gregory Hale, his son."""
    own, other = "|".join(map(spelled, sorted(entry.names, key=len, reverse=True))), spelled(name)
    kin = rf"(?:\w+ )?{FAMILY.pattern}"
    return name in text and bool(
        re.search(
            rf"\b(?:{own})['’]s? {kin},? {other}\b|"
            rf"\b{other},? (?:(?:is|was|who is|who was) )?(?:the )?(?:(?:{own})['’]s? {kin}|{kin} of (?:{own}))\b",
            text,
        )
    )


def is_nobodys(name: str) -> bool:
    """Return whether a name is a day, a people or a mere title."""
    words = name.removeprefix("the ").removeprefix("The ").split()
    return all(word in _NO_NAMES or form_of(f"{word} X").title for word in words)


def _is_denied(fact: str, match: re.Match[str], *names: str) -> bool:
    said = re.sub(_TO_BE, "", match[0])
    for name in names:
        said = said.replace(name, "")
    return bool(DOUBTED.search(said)) or is_doubted(fact, match.start(), match.end())


def _is_before(entry: Entry, fact: str, end: int) -> bool:
    return any(re.search(rf"\b{spelled(name)}\b(?!['’])", fact[:end]) for name in entry.names)


def _is_told_of(entry: Entry) -> bool:
    """Return whether more is known of an entry than that it speaks in this passage."""
    return bool(entry.lines or entry.aliases or entry.kind != "person")


def _may_take(entry: Entry, new: str, known: Codex) -> bool:
    """Return whether nobody else is called so."""
    held = known.find(new)
    return held is None or held is entry or not _is_told_of(held)


def _may_be_one(entry: Entry, other: Entry) -> bool:
    """Return whether two people may be one: none of them he, and the other she."""
    said = {entry.value("pronouns"), other.value("pronouns")} - {""}
    return other.kind == "person" and len(said) < 2
