"""What a passage changes in the codex: as a capable model says it, or by rule from the facts that a small one notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, get_args

from pydantic import BaseModel, WithJsonSchema

from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import ONE_EACH, Aspect, Change, Codex, Entry, Kind

MOST_CHANGES = 12
"""Of one passage; each is a row of its commit."""
MOST_NAME_WORDS, MOST_SENTENCE_WORDS = 8, 36

_CLAUSE = re.compile(r"[,;:(]| in | at | on | by ")
"""Where what is said of a status goes on after it."""

STATUSES = ("alive", "dead", "absent", "lost", "destroyed", "kept", "broken", "open", "answered")
"""What the status of an entry may be: of a person, a thing, a promise, a question."""


def _one_of(words: Iterable[str]) -> WithJsonSchema:
    """Return what a server is told of a text that is one of `words`; any other text is read all the same."""
    return WithJsonSchema({"type": "string", "enum": list(words)})


class CodexChange(BaseModel):
    """One thing that the passage made true, or ended."""

    name: str
    kind: Annotated[str, _one_of(get_args(Kind))] = "person"
    change: Annotated[str, _one_of(("set", "end"))] = "set"
    aspect: Annotated[str, _one_of(get_args(Aspect))] = "fact"
    value: str = ""
    sentence: str = ""


def from_reply(reply: Sequence[CodexChange], passage: str, codex: Codex) -> list[Change]:
    """Return what a capable model said as changes: with the names that entries have, and the sentences of the passage."""
    changes, told = [], _with_words(passage)
    for item in reply[:MOST_CHANGES]:
        name, value = _line(item.name, MOST_NAME_WORDS), _line(item.value, MOST_SENTENCE_WORDS)
        if not name or not value:
            continue
        known = codex.find(name)
        for aspect, said in _aspects(item.aspect, name, value):
            change = Change(
                entry=known.name if known else name,
                kind=known.kind if known else _kind(item.kind),
                do="end" if item.change == "end" else "set",
                aspect=aspect,
                value="" if aspect == "fact" else said,
                rests_on=_nearest(item.sentence or value, told),
            )
            if aspect == "fact":
                change["text"] = said
            changes.append(change)
    return changes


def _aspects(aspect: str, name: str, value: str) -> Iterator[tuple[Aspect, str]]:
    """Yield what a change says, by aspect: "dead, buried in Odo's grave" is a status and a fact."""
    if aspect == "status":
        value = value.rstrip(".")
        status = _CLAUSE.split(value, maxsplit=1)[0].casefold()
        known = status in STATUSES
        if known:
            yield "status", status
        if not known or status != value.casefold():
            yield "fact", f"{name} is {value[0].lower()}{value[1:]}."
    elif aspect == "holder":
        yield "holder", value.split(",")[0]
    else:
        yield (aspect if aspect in get_args(Aspect) else "fact"), value  # type: ignore[misc]


def _kind(said: str) -> Kind:
    return next((kind for kind in get_args(Kind) if kind == said), "thing")


def from_facts(summary: str, facts: Iterable[str], passage: str, codex: Codex, language: str) -> list[Change]:
    """Return the changes that a small model's facts tell of, and of its summary what a rule can read.

    What no rule reads of a fact is kept as it is said, with whoever it names first. The rules are for English and leave
    out whatever is doubted, wished or denied.
    """
    people = speakers(passage, codex) if is_english(language) else []
    known = Codex({**codex.entries, **{entry.name.casefold(): entry for entry in people}})
    changes, told, lines = list[Change](), set[str](), _with_words(passage)
    for number, fact in enumerate((summary, *facts)):
        fact = _line(fact, MOST_SENTENCE_WORDS)
        named, rests_on = known.named_in(fact), _nearest(fact, lines)
        told |= {entry.name for entry in named}
        found = list(_by_rule(fact, named, known)) if is_english(language) and not _DOUBTED.search(fact) else []
        if named and not found and number:
            found = [Change(entry=named[0].name, kind=named[0].kind, do="set", aspect="fact")]
        found = [change for change in found if not _revives(change, fact, known)]
        for change in found:
            changes.append(
                {**change, "text": fact, "rests_on": rests_on} if rests_on != fact else {**change, "text": fact}
            )
    changes += [
        change for change in _pronouns(passage, known) if change["entry"] in told or codex.find(change["entry"])
    ]
    return _once(changes)[:MOST_CHANGES]


def _revives(change: Change, fact: str, known: Codex) -> bool:
    """Return whether a change tells of a dead person as of a living one, without saying that they live after all."""
    entry = known.find(change["entry"])
    if (
        entry is None
        or entry.value("status") != "dead"
        or change.get("value") == "dead"
        or re.search(r"\b(?:alive|survived)\b", fact)
    ):
        return False
    acting = rf"\b(?:{'|'.join(map(re.escape, entry.names))}) {ACTS}"
    return change.get("aspect") in ("status", "place") or bool(re.search(acting, fact))


def _once(changes: Iterable[Change]) -> list[Change]:
    """Return the changes without those that only say again what another one says."""
    kept: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        aspect = change.get("aspect", "fact")
        kept.setdefault(
            (change["entry"], aspect, change.get("value", "") if aspect in ONE_EACH else change.get("text", "")), change
        )
    return list(kept.values())


def _line(text: str, most: int) -> str:
    return limit_words(" ".join(text.split()), most)


def _with_words(passage: str) -> list[tuple[str, set[str]]]:
    """Return the sentences of a passage, each with its words: every change is held against them."""
    return [(sentence, set(tokens(sentence))) for sentence in sentences(passage)]


def _nearest(text: str, passage: Sequence[tuple[str, set[str]]]) -> str:
    """Return the sentence of the passage that has most of the words of `text`; empty where none has two of them."""
    wanted = set(tokens(text))
    found, own = max(passage, key=lambda told: _share(wanted, told[1]), default=("", set[str]()))
    return limit_words(" ".join(found.split()), MOST_SENTENCE_WORDS) if len(wanted & own) > 1 else ""


def _share(wanted: set[str], own: set[str]) -> float:
    return len(wanted & own) / (len(own) + len(wanted)) if own else 0.0


# Rules for English

_DOUBTED = re.compile(
    r"\b(?:not|never|no longer|almost|nearly|would|might|may|could|should|if|whether|thinks?|thought|believes?|believed|fears?|"
    r"feared|hopes?|hoped|dream\w*|pretend\w*|seems?|seemed|appears?|appeared|perhaps|maybe|claims?|claimed|wants?|wanted|plans?|"
    r"threat\w*|until|unless)\b|n't\b",
    re.IGNORECASE,
)
_BE = r"(?:is|was|lies|lay|has been|had been)"
_AFTER_NAME: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("dead", re.compile(rf"(?:{_BE} (?:found )?(?:dead|killed|murdered|buried|drowned|hanged|shot dead|"
                        r"stabbed to death)|dies|died|"
                        r"has died|drowned|hanged (?:him|her)self|fell to (?:his|her|their) death|"
                        r"(?:drew|breathed) (?:his|her) last)\b")),
    ("absent", re.compile(rf"(?:{_BE} missing|{_BE} gone(?! (?:for|to bed|in|out|up|down|by|on)\b)|"
                          r"(?:has )?(?:vanished|disappeared)(?! (?:in|into|behind|round|around|through|up|down|inside)\b)|"
                          r"has (?:gone to (?:the|[A-Z]\w+)|left)|fled|left (?:for|town|home|"
                          r"the (?:town|city|country|village|island|valley))|"
                          r"sailed (?:for|to)|went away (?:on the|by the|for good)|went abroad|emigrated|"
                          r"ran (?:away|off)(?! with\b))\b")),
    ("alive", re.compile(rf"(?:{_BE} (?:still )?alive|survived|returned|returns|came back|comes back|has returned|is back)\b")),
)  # fmt: skip
_KILLED = (
    r"(?:kills|killed|murders|murdered|shoots|shot|stabs|stabbed|strangles|strangled|hangs|hanged|poisons|poisoned|executed|"
    r"beheaded|crushed) (?:the )?$"
)
_TAKEN = r"\b(?:took|takes|led|dragged) $"
_AWAY = re.compile(r"(?:away|off) (?:to|in)\b")
_THING = r"(?:(?:the|a|an|his|her|their|its)|\w+['’]s) (?P<thing>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+)"
_END = (
    r"(?=[.,;]|$| (?:of|in|on|at|by|to|from|under|inside|behind|around|with|for|and|but|that|which|who|as|while|when|into|"
    r"out|against|over|onto|across|near|beside|between|among|through|somewhere|there|here|again|away|back)\b)"
)
_HOLDS = re.compile(
    r"(?:now )?(?:carries|carried|holds|has|keeps|kept|pockets|pocketed|steals|stole|wears|owns|hides|hid|found|finds|wins|won|"
    r"buys|bought|inherits|inherited) "
    rf"{_THING}{_END}"
)
_GIVEN = r"(?:gives|gave|hands|handed|passes|passed|sells|sold|lends|lent|returns|returned|entrusts|entrusted)"
_TO = r"(?P<to>[A-Z][\w'’-]+)"
_GIVES = re.compile(rf"{_GIVEN} {_THING} (?:back )?to {_TO}")
_GIVES_FIRST = re.compile(rf"{_GIVEN} {_TO} (?:back )?{_THING}{_END}")
_LOSES = re.compile(
    rf"(?:loses|lost|burns|burned|burnt|destroys|destroyed|smashes|smashed|shattered|tears up|tore up) {_THING}{_END}|"
    r"dropped (?:the|his|her) (?P<broken>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+),? and it (?:broke|shattered|smashed|sank)\b|"
    r"(?:threw|throws|flung|flings|tossed|dropped|drops|fed|feeds) (?:the|his|her) "
    r"(?P<thrown>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+) "
    r"(?:in|into|to|over) (?:the|a) (?:\w+ )?(?:sea|river|lake|well|fire|flames|stove|furnace|water|harbour|canal|abyss|gulf)\b"
)
_ALONE = r"(?P<thing>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+)"
_LOST = re.compile(
    rf"^The {_ALONE} (?:is|was|has been|lies) (?P<how>lost|destroyed|burned|burnt|smashed|sunk)\b|"
    r"^The (?P<sunk>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+) (?:slipped|fell|dropped|slid|rolled) [^.;\"]* (?:sank|was lost)\b|"
    r"^The (?:sea|river|fire|flames|flood|waves|tide) (?:took|swallowed|carried off|consumed|destroyed) the "
    r"(?P<taken>(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+)(?=[.,;]|$)"
)
_BELONGS = re.compile(rf"^The {_ALONE} (?:belongs|belonged|passed) to {_TO}")
_IS_IN = re.compile(
    r"(?:is|stands|waits|lives|sits|hides|stays|remains|sleeps|is locked|is trapped) "
    r"(?P<where>(?:in|at|on|inside|below|under|aboard|behind|near) "
    r"(?:the |a |an |his |her )?[\w'’-]+(?: [\w'’-]+){0,5}?)(?=[.,;]|$| (?:and|with|while|because|but|where|who|when)\b)"
)
_PROMISED = re.compile(r"(?:promises|promised|swears|swore|vows|vowed)\b")
_NO_THING = frozenset((
    "way", "time", "moment", "chance", "idea", "plan", "right", "name", "voice", "hand", "hands", "eyes", "face",
    "head", "breath", "silence", "door", "truth", "look", "word", "words", "life", "mind", "job", "place", "feeling",
    "reason", "secret", "choice", "night", "day", "courage", "strength", "heart", "body", "duty", "game", "match", "battle",
    "war", "bet", "race", "prize", "election", "case", "fight", "soup", "bread", "toast", "dinner", "supper", "fingers", "tongue",
    "thread", "track", "money", "temper", "seat", "eye", "hat",
))  # fmt: skip
"""What one has or keeps and nobody can take out of a pocket."""


def _by_rule(fact: str, named: Sequence[Entry], known: Codex) -> Iterator[Change]:
    for entry in named:
        if entry.kind not in ("person", "thing"):
            continue
        for match in re.finditer(
            "|".join(re.escape(name) for name in sorted(entry.names, key=len, reverse=True)), fact
        ):
            after, before = fact[match.end() :].lstrip(), fact[: match.start()]
            if fact[match.end() : match.end() + 1].strip("., "):
                continue  # part of a longer word, or Mira's
            about = Change(entry=entry.name, kind=entry.kind, do="set")
            for status, pattern in _AFTER_NAME:
                if pattern.match(after.removeprefix(", who ")) and entry.kind == "person":
                    yield {**about, "aspect": "status", "value": status}
            if re.search(_KILLED, before) and entry.kind == "person":
                yield {**about, "aspect": "status", "value": "dead"}
            if re.search(_TAKEN, before) and _AWAY.match(after) and entry.kind == "person":
                yield {**about, "aspect": "status", "value": "absent"}
            if place := _IS_IN.match(after):
                yield {**about, "aspect": "place", "value": place["where"]}
            if entry.kind == "person":
                yield from _possession(entry, after, known)
                if _PROMISED.match(after):
                    yield {
                        **about,
                        "kind": "promise",
                        "entry": _line(fact.rstrip("."), MOST_NAME_WORDS),
                        "aspect": "status",
                        "value": "open",
                    }
    if lost := _LOST.match(fact):
        thing = lost["thing"] or lost["sunk"] or lost["taken"]
        yield Change(entry=thing, kind="thing", do="set", aspect="status", value=_gone(lost["how"] or "lost"))
    if belongs := _BELONGS.match(fact):
        about = Change(entry=belongs["thing"], kind="thing", do="set")
        yield from _held(about, known.find(belongs["to"]), belongs["to"], known)
    yield from _renamed(fact, known)


def _possession(entry: Entry, after: str, known: Codex) -> Iterator[Change]:
    for pattern in (_GIVES, _GIVES_FIRST, _HOLDS, _LOSES):
        match = pattern.match(after)
        thing = match and (match["thing"] or (match["thrown"] or match["broken"] if pattern is _LOSES else ""))
        if match is None or not thing or thing.split()[-1] in _NO_THING or thing.endswith("ly"):
            continue
        about = Change(entry=thing, kind="thing", do="set")
        if pattern is _LOSES:
            yield {**about, "aspect": "status", "value": _gone(after.split()[0])}
        elif pattern is _HOLDS:
            yield from _held(about, entry, entry.name, known)
        else:
            yield from _held(about, known.find(match["to"]), match["to"], known)
        return


def _held(about: Change, holder: Entry | None, name: str, known: Codex) -> Iterator[Change]:
    """Yield who has a thing now; what somebody has is lost no longer."""
    yield {**about, "aspect": "holder", "value": holder.name if holder else name}
    thing = known.find(about["entry"])
    if thing is not None and thing.value("status") in ("lost", "destroyed"):
        yield {**about, "aspect": "status", "value": "kept"}


_NAME = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_FROM_THEN = r"(?:now\b|from (?:then|that|this) [^.,;]*on\b|ever (?:after|since)\b)"
_RENAMED = (
    re.compile(rf"\b(?P<old>{_NAME}) (?:is|was|has been|had been) (?:renamed|rechristened) (?P<new>{_NAME})"),
    re.compile(rf"\brenamed (?P<old>{_NAME}),? [^.;]*\bcalled (?P<new>{_NAME})"),
    re.compile(
        rf"\b(?P<old>{_NAME}) (?:is|was) (?:now called (?P<new>{_NAME})|called (?P<later>{_NAME}) {_FROM_THEN})"
    ),
    re.compile(rf"\b(?P<old>{_NAME}) changed (?:his|her|its) name to (?P<new>{_NAME})"),
    re.compile(rf"\bgave (?P<old>{_NAME}) a new name, (?P<new>{_NAME})"),
)


def _renamed(fact: str, known: Codex) -> Iterator[Change]:
    for match in filter(None, (pattern.search(fact) for pattern in _RENAMED)):
        if match["old"].split()[0] in _NOBODY:
            continue
        entry = known.find(match["old"])
        if entry is None or entry.value("status") != "dead":
            kind = entry.kind if entry else "place"
            yield Change(
                entry=entry.name if entry else match["old"],
                kind=kind,
                do="rename",
                value=match["new"] or match["later"],
            )


def _gone(how: str) -> str:
    return "lost" if how.startswith(("los", "sunk")) else "destroyed"


_LIFELESS = (
    "died|killed|buried|drowned|hanged|murdered|passed|vanished|disappeared|looked|seemed|appeared|remained|rested|stared|floated|"
    "drifted|rotted|smelled|belonged|mattered|haunted|owned|lived|loved|hated|used|wanted|needed|deserved|called|named|covered|"
    "wrapped|dressed|stretched|lived|resembled|failed|existed|ended|turned|feared|followed|wished|intended|promised|inherited|"
    "slumped|sprawled|weighed|stiffened|dangled|stayed|sagged|lolled|swayed|collapsed|occupied|"
    "received|suffered|tended|indeed|supposed|expected|appeared|proved|engaged|married|related|attended|surrounded|reduced"
)
"""What is also said of the dead, or of the living as of another time."""
ACTS = (
    r"(?:\w+ly )?(?:said|says|asks|answers|replies|whispers|shook|shakes|nods|turns|turned (?:to|round|around|away|the)|"
    r"walks|ran|runs|stood|stands|sat|sits|steps|came|comes|went|goes|took|takes|opens|closes|looks|looked (?:up|at|down|round)|"
    r"points|reaches|held|knelt|put|drank|ate|drew|gave|cut|threw|wrote|got|caught|bent|swept|rose|spoke|sang|rode|drove|"
    r"blew|hung up|dealt|spread|set|lit|wound|laid|paid|woke|shut|sent|began|slept|"
    rf"(?!(?:{_LIFELESS})\b)[a-z]{{3,}}(?<!e)ed)\b"
)
"""What only the living do, after a name."""

_SPEAKS = (
    r"(?:said|says|asked|asks|whispered|whispers|replied|replies|answered|answers|called|calls|shouted|muttered|cried|told|"
    r"tells)"
)
_NEW = re.compile(
    rf"\b{_SPEAKS} ([A-Z][a-z]{{2,}}(?: [A-Z][a-z]{{2,}})?)\b|\b([A-Z][a-z]{{2,}}(?: [A-Z][a-z]{{2,}})?) {_SPEAKS}\b"
)
_NOBODY = frozenset((
    "He", "She", "It", "They", "We", "You", "Who", "Nobody", "Somebody", "Someone", "Everyone", "Everybody", "Both",
    "Neither", "Mother", "Father", "God", "The", "That", "This", "What", "Then", "Now", "Once", "One", "Another",
    "Mama", "Papa", "Mum", "Dad", "And", "But",
))  # fmt: skip


def speakers(passage: str, codex: Codex) -> list[Entry]:
    """Return the people who speak in a passage and are no entry yet."""
    names = {first or second for first, second in _NEW.findall(passage)}
    return [
        Entry(name, "person") for name in sorted(names) if name.split()[0] not in _NOBODY and codex.find(name) is None
    ]


_OWN = (
    r"(?:shook|shakes|shaking|nodded|nodding|bowed|scratched) (?P<a>his|her) head|"
    r"(?:cleared|clears|clearing) (?P<b>his|her) throat|"
    r"(?:held|holds|holding|caught) (?P<c>his|her) breath|"
    r"(?:bit|bites|biting|licked|pursed) (?P<d>his|her) (?:lips?|tongue|nails)|"
    r"(?:narrowed|narrows|rolled|rolling|lowered|rubbed|rubbing) (?P<e>his|her) eyes|"
    r"(?:clenched|set|gritted|ground) (?P<f>his|her) (?:jaw|teeth)|(?:lowered|raised|lowering|raising) (?P<g>his|her) voice|"
    r"(?:shrugged|squared) (?P<h>his|her) shoulders|(?:folded|folding|crossed|crossing) (?P<j>his|her) (?:arms|legs)|"
    r"(?:lifted|raised|lifting|raising) (?P<k>his|her) (?:chin|eyebrows?)|"
    r"(?:got|rose|jumped|sprang|struggled) to (?P<l>his|her) feet|"
    r"(?:wrung|wringing) (?P<m>his|her) hands|turned on (?P<n>his|her) heel"
)
OF_ONESELF = re.compile(rf"\b(?P<name>[A-Z][\w'’-]+)(?:,)? (?:slowly |only |just )?(?:{_OWN}|(?P<i>himself|herself)\b)")
"""Somebody, and what one does with nobody's head, throat or breath but one's own."""


def pronoun_of(match: re.Match[str]) -> str:
    """Return which of `he` and `she` a match of OF_ONESELF says."""
    return "he" if (match[match.lastgroup or 0] or "").startswith("hi") else "she"


def _pronouns(passage: str, codex: Codex) -> Iterator[Change]:
    said: dict[str, set[str]] = {}
    for match in OF_ONESELF.finditer(passage):
        entry = codex.find(match["name"])
        if entry is not None and entry.kind == "person" and not entry.value("pronouns"):
            said.setdefault(entry.name, set()).add(pronoun_of(match))
    for name, found in said.items():
        if len(found) == 1:
            yield Change(entry=name, kind="person", do="set", aspect="pronouns", value=found.pop())
