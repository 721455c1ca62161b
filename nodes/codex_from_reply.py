"""What a passage changes in the codex, as a capable model says it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, get_args

from pydantic import BaseModel, WithJsonSchema

from recurrentgpt.models.json_replies import OptionalText
from recurrentgpt.nodes.codex_changes import (
    MOST_CHANGES,
    MOST_CLAUSE_WORDS,
    MOST_NAME_WORDS,
    MOST_SENTENCE_WORDS,
    acts,
    called_too,
    end_of,
    end_of_office,
    nearest,
    new_holder,
    shortened,
    with_words,
)
from recurrentgpt.nodes.codex_learned import content, learned
from recurrentgpt.nodes.codex_named_entries import (
    also_named,
    holder_of,
    is_called,
    is_name,
    meant_by,
    named_too,
    settled_by,
)
from recurrentgpt.nodes.codex_names import is_told_as_kin
from recurrentgpt.nodes.codex_statuses import is_foreign, is_of_another_kind, status_of
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import NOBODY_HAS, Aspect, Change, Codex, Entry, Kind
from recurrentgpt.schema.names import key_of, parts_of, plain, without_article

MOST_NAME = 5
"""Words of another name that somebody has, or something."""
LEAST_QUOTED = 3
"""Words from which on a sentence that a model quotes word for word is taken as it is."""
_ASPECTS = (*get_args(Aspect), "name")
"""What a model may say of an entry: beside what an entry has, that it has another name."""


def _one_of(words: Iterable[str]) -> WithJsonSchema:
    """Return what a server is told of a text that is one of `words`; any other text is read all the same."""
    return WithJsonSchema({"type": "string", "enum": list(words)})


class CodexChange(BaseModel):
    """One thing that the passage made true, or ended."""

    name: str
    kind: Annotated[str, _one_of(get_args(Kind))] = "person"
    change: Annotated[str, _one_of(("set", "end"))] = "set"
    aspect: Annotated[str, _one_of(_ASPECTS)] = "fact"
    value: OptionalText = ""
    sentence: OptionalText = ""


_NOBODYS_NAMES = frozenset((
    "he", "she", "they", "it", "we", "him", "her", "them", "us", "his", "their", "everybody", "everyone", "somebody", "someone",
    "nobody", "no one", "anybody", "anyone", "the", "a", "an", "unknown", "n/a", "none",
))  # fmt: skip
"""What stands for a name, and says of nobody who they are."""


def from_reply(reply: Sequence[CodexChange], passage: str, codex: Codex, language: str = "English") -> list[Change]:
    """Return what a capable model said as changes: with the names that entries have, and the sentences of the passage."""
    changes, told = list[Change](), with_words(passage)
    reply = _ends_first(reply[:MOST_CHANGES])
    settled = {item.name for item in reply if _settles(item)}
    things = {key_of(item.name) for item in reply if _kind(item.kind) == "thing"}
    unaware = [entry for entry in codex.entries.values() if entry.kind == "person" and entry.line("unaware")]
    for item in reply:
        kind = _kind_of(item, things)
        most = MOST_CLAUSE_WORDS if kind in ("promise", "question") else MOST_NAME_WORDS
        name, value = shortened(item.name, most), shortened(item.value, MOST_SENTENCE_WORDS)
        if not name or not value or name.casefold() in _NOBODYS_NAMES:
            continue
        known = meant_by(name, kind, codex, passage)
        if known is None and kind == "promise" and is_english(language) and _NAMES_A_THING.fullmatch(name):
            thing = meant_by(name, "thing", codex, passage)
            known, kind = (thing, "thing") if thing is not None and thing.kind == "thing" else (known, kind)
        if known is not None and codex.find(name) is None and _is_a_relative(item.name, known, reply, passage):
            known = None
        if known is None and item.name in settled:
            known = settled_by(name, kind, codex)
        if known is None:
            # What follows may call it by a part of its name.
            known = Entry(name, kind)
            codex = codex.with_entry(None, known)
        elif known.kind == "person" and (longer := also_named(name, known, codex)):
            changes.append(longer)
            codex, known = _called(known, longer["value"], codex)
        rests_on = _rests_on(item, known, told)
        is_death = item.aspect == "status" and item.change != "end" and status_of(value, known.kind)[0] == "dead"
        if is_death and not rests_on and _is_invented(item.sentence, passage):
            continue
        if item.aspect in ("name", "role") and item.change != "end":
            said = f"{item.sentence or ''} {rests_on}" if item.aspect == "role" else passage
            if (named := _named(item, known, value, codex, said)) is not None:
                found, codex = named
                found = _instead(found, known, reply, codex) if item.aspect == "name" else found
                changes += [{**change, "rests_on": rests_on} for change in found]
                continue
            if item.aspect == "name" and codex.find(value) not in (None, known):
                continue  # a name of somebody else is no role
        elif item.aspect == "name":
            continue  # what it is called instead says more
        for aspect, said in _aspects(item.aspect, name, value, known.kind, language):
            ended = (
                item.change == "end"
                or (aspect == "holder" and said.casefold() in NOBODY_HAS)
                or (aspect == "status" and said == "found")
            )
            if aspect == "holder" and (holder := holder_of(said, codex, passage)) is not None:
                said = holder.name
            if aspect == "place" and known.is_dead and acts(known, rests_on):
                continue  # where a body is, is no deed of theirs
            change = Change(
                entry=known.name,
                kind=known.kind,
                do="end" if ended else "set",
                aspect=aspect,
                value="" if aspect == "fact" else said,
                rests_on=rests_on,
            )
            if (new := new_holder(change, passage, codex)) is not None:
                changes.append({**new, "rests_on": rests_on})
                codex = codex.with_entry(None, Entry(new["entry"], new["kind"]))
            if aspect == "role" and is_english(language):
                changes += [{**one, "rests_on": rests_on} for one in _of_office(known, said, ended=ended)]
            if aspect == "fact":
                change["text"] = said = _by_name(said, known, codex)
                if not ended:
                    changes += [{**end, "rests_on": rests_on} for end in learned(unaware, said)]
            changes.append(change)
    return changes


def _of_office(known: Entry, role: str, *, ended: bool) -> Iterator[Change]:
    """Yield what else the end of a role changes that the brief goes on to tell, or a role that somebody has again."""
    said = without_article(role).casefold()
    if ended:
        whole = any(line.value == role for line in known.lines if line.aspect == "role" and not line.passage)
        offices = known.offices_of_brief if whole else known.offices_called(role)
        yield from (end_of_office(known, one) for one in offices)
    elif said in known.former_roles:
        yield end_of(known, known.former_roles[said])


def _is_a_relative(name: str, known: Entry, reply: Sequence[CodexChange], passage: str) -> bool:
    """Return whether a passage, or a reply by a role, tells of a name as of a relative of whom it would mean."""
    roles = (f"{name}, {item.value}" for item in reply if item.name == name and item.aspect == "role")
    return known.kind == "person" and any(is_told_as_kin(name, known, text) for text in (passage, *roles))


def _ends_first(reply: Sequence[CodexChange]) -> list[CodexChange]:
    """Return a reply with what it ends of somebody's looks before what it sets of them: a healed arm is no arm in a sling."""
    first = dict[str, int]()
    for at, item in enumerate(reply):
        if item.aspect == "look":
            first.setdefault(item.name, at)

    def order(numbered: tuple[int, CodexChange]) -> tuple[int, bool]:
        at, item = numbered
        return (first[item.name], item.change != "end") if item.aspect == "look" else (at, False)

    return [item for _, item in sorted(enumerate(reply), key=order)]


def _settles(item: CodexChange) -> bool:
    """Return whether a promise is kept or broken by what a model says, or a question answered."""
    kind = _kind(item.kind)
    if kind not in ("promise", "question") or item.aspect != "status":
        return False
    return item.change == "end" or status_of(item.value or "", kind)[0] in ("kept", "broken", "answered")


def _called(entry: Entry, alias: str, codex: Codex) -> tuple[Codex, Entry]:
    now = called_too(entry, alias)
    return codex.with_entry(entry, now), now


def _named(item: CodexChange, known: Entry, value: str, codex: Codex, told: str) -> tuple[list[Change], Codex] | None:
    """Return that an entry has another name, with the codex after that; None where what a model says is no name."""
    value = value.strip(" .\"“”«»„'’")
    if not is_name(value) or len(value.split()) > MOST_NAME:
        return None
    if item.aspect == "name":
        return named_too(known, value, codex, told, sure=True)
    if known.kind != "person":
        return None
    if is_called(value, known, told):
        return named_too(known, value, codex, told, sure=False)
    other = codex.find(value)
    # Nobody else is meant by what only somebody has for a role: that is two people with one office.
    return named_too(known, value, codex, told, sure=False) if other is not None and other is not known else None


def _instead(found: list[Change], known: Entry, reply: Sequence[CodexChange], codex: Codex) -> list[Change]:
    """Return the changes of a name, as the new name where the reply says that the old one is no longer it."""
    ended = any(
        item.aspect == "name" and item.change == "end" and shortened(item.value, 99).casefold() == known.name.casefold()
        for item in reply
    )
    if not ended or [change["do"] for change in found] != ["alias"]:
        return found
    now = found[0].get("value", "")
    # Whoever was Mara Voss is Mara to her friends.
    first = [
        part
        for part in parts_of(known.name)[:1]
        if part not in now.split() and codex.find(part) is codex.find(known.name)
    ]
    also = [Change(entry=now, kind=known.kind, do="alias", value=part) for part in first if known.kind == "person"]
    return [Change(entry=known.name, kind=known.kind, do="rename", value=now), *also]


def _rests_on(item: CodexChange, entry: Entry, told: Sequence[tuple[str, set[str]]]) -> str:
    """Return the sentence of the passage that says a change; empty where none says more of it than names."""
    quote = " ".join((item.sentence or "").split())
    if count_words(quote) >= LEAST_QUOTED and (found := _quoted(quote, told)):
        return found
    quoted = set(tokens(item.sentence or ""))
    found = nearest(item.sentence or "", told)
    if found and 2 * len(quoted & set(tokens(found))) > len(quoted):
        return found
    names = {word for name in (*entry.names, item.name) for word in content(name)}
    says = content(item.value or "") - names
    # What has no name in it may go on about whom the one before it names.
    fitting = [
        (sentence, words)
        for sentence, words in told
        if (words & names and words & says) or (item.aspect != "holder" and len(words & says) > 1)
    ]
    return nearest(f"{item.name} {item.value}", fitting)


def _quoted(quote: str, told: Sequence[tuple[str, set[str]]]) -> str:
    """Return the sentence of the passage that has these words, of a speech that is too long the words alone; "" for none."""
    said = plain(quote)
    having = [whole for whole in (" ".join(sentence.split()) for sentence, _ in told) if said in plain(whole)]
    whole = min(having, key=len, default="")
    if count_words(whole) <= MOST_SENTENCE_WORDS:
        return whole
    start = plain(whole).find(said)
    # One form of a letter may be longer than another; then the model's own has to do.
    own = whole[start : start + len(said)] if len(plain(whole)) == len(whole) else quote
    return limit_words(own, MOST_SENTENCE_WORDS)


def _by_name(fact: str, known: Entry, codex: Codex) -> str:
    """Return a fact of somebody whom it calls by their role with their name: no passage tells later what that role was."""
    roles = "|".join(map(re.escape, codex.own_roles(known))) if known.kind == "person" else ""
    return re.sub(rf"^[Tt]he (?:{roles})(?= [a-z])(?! of\b)", lambda _: known.name, fact) if roles else fact


def _is_invented(sentence: str | None, passage: str) -> bool:
    """Return whether a sentence was named as one of a passage that has it not; with dots in it, each part of it counts."""
    text = " ".join(plain(passage).split())
    parts = [" ".join(part.split()) for part in re.split(r"\.{2,}|…", plain(sentence or ""))]
    return any(part.strip(" .") not in text for part in parts)


def _aspects(aspect: str, name: str, value: str, kind: Kind, language: str) -> Iterator[tuple[Aspect, str]]:
    """Yield what a change says, by aspect: "dead, buried in Odo's grave" is a status and a fact."""
    if aspect == "status":
        value = value.rstrip(".。")
        if is_of_another_kind(value, kind):
            return
        status, word = status_of(value, kind)
        if status:
            yield "status", status
        if value and value.casefold() != (word if status and is_foreign(word, kind) else status):
            yield "fact", _sentence(name, value, is_english(language) and not (status and is_foreign(word, kind)))
    elif aspect == "holder":
        if (holder := value.split(",")[0]).casefold() != name.casefold():
            yield "holder", holder
    elif aspect == "name":
        yield ("role" if len(value.split()) <= MOST_NAME else "fact"), value  # what is no name of theirs alone
    else:
        yield (aspect if aspect in get_args(Aspect) else "fact"), value  # type: ignore[misc]


def _sentence(name: str, value: str, english: bool) -> str:
    if not english:
        return f"{name}: {value}."
    first = value.split()[0].casefold()
    verb = "" if first in ("died", "perished", "passed", "survived", "is", "was", "has") else "is "
    return f"{name} {verb}{value[0].lower()}{value[1:]}."


_NAMES_A_THING = re.compile(
    r"(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z-]+ )?"
    r"(?!(?:promise|oath|vow|word|pledge|debt|bet|wager|deal|bargain|pact|agreement|contract|treaty|truce|engagement|bond|favou?r|"
    r"question|mystery|riddle|secret|truth|reason|murder|death|disappearance|theft|fate|plan|meeting|visit|payment|duel|"
    r"task|errand|quest|mission|rescue|revenge|return|wedding|marriage|why|who|what|where|when|how)s?$)[a-z-]+"
)
"""The seal: what is promised or asked has more words, or a noun that says so."""


def _kind_of(item: CodexChange, things: Collection[str]) -> Kind:
    """Return what a change is of: of a thing of the same reply is no promise made."""
    kind = _kind(item.kind)
    return "thing" if kind == "promise" and key_of(item.name) in things else kind


def _kind(said: str) -> Kind:
    return next((kind for kind in get_args(Kind) if kind == said), "thing")
