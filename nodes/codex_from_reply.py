"""What a passage changes in the codex, as a capable model says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, get_args

from pydantic import BaseModel, WithJsonSchema

from recurrentgpt.models.json_replies import OptionalText
from recurrentgpt.nodes.codex_changes import (
    MOST_CHANGES,
    MOST_NAME_WORDS,
    MOST_SENTENCE_WORDS,
    acts,
    called_too,
    longer_name,
    nearest,
    shortened,
    with_words,
)
from recurrentgpt.schema.codex import Aspect, Change, Codex, Entry, Kind

STATUSES = ("alive", "dead", "absent", "lost", "destroyed", "kept", "broken", "open", "answered")
"""What the status of an entry may be: of a person, a thing, a promise, a question."""
_OTHER_WORDS: Mapping[Kind, Mapping[str, str]] = {
    "person": {
        **dict.fromkeys(
            ("deceased", "killed", "slain", "murdered", "executed", "assassinated", "hanged", "beheaded"), "dead"
        ),
        **dict.fromkeys(
            ("drowned", "perished", "died", "passed away", "shot dead", "found dead", "no longer alive"), "dead"
        ),
        **dict.fromkeys(("living", "still alive", "survived", "not dead", "revived", "resurrected", "undead"), "alive"),
        "missing": "absent",
    },
    "thing": {"missing": "lost"},
    "promise": {"fulfilled": "kept"},
    "question": {"resolved": "answered", "solved": "answered"},
}
"""Other words for a status, by what an entry is."""
_GOES_ON = re.compile(
    r"\s*(?:$|[,;:(–—]|- | -|\b(?:in|at|on|by|of|from|and|since|after|before|when|while|during|with|near|beside|under)\b)"
)
"""What may follow a status: nothing that makes another of it, as of "dead tired" and "killed Odo"."""
_NOBODY_HAS = frozenset(("nobody", "no one", "none"))


def _one_of(words: Iterable[str]) -> WithJsonSchema:
    """Return what a server is told of a text that is one of `words`; any other text is read all the same."""
    return WithJsonSchema({"type": "string", "enum": list(words)})


class CodexChange(BaseModel):
    """One thing that the passage made true, or ended."""

    name: str
    kind: Annotated[str, _one_of(get_args(Kind))] = "person"
    change: Annotated[str, _one_of(("set", "end"))] = "set"
    aspect: Annotated[str, _one_of(get_args(Aspect))] = "fact"
    value: OptionalText = ""
    sentence: OptionalText = ""


def from_reply(reply: Sequence[CodexChange], passage: str, codex: Codex) -> list[Change]:
    """Return what a capable model said as changes: with the names that entries have, and the sentences of the passage."""
    changes, told = [], with_words(passage)
    for item in reply[:MOST_CHANGES]:
        name, value = shortened(item.name, MOST_NAME_WORDS), shortened(item.value, MOST_SENTENCE_WORDS)
        if not name or not value:
            continue
        kind = _kind(item.kind)
        known = codex.meant(name) if kind == "person" else codex.find(name)
        if known is None:
            # What follows may call it by a part of its name.
            codex = codex.with_entry(None, Entry(name, kind))
        elif codex.find(name) is None and (longer := longer_name(name, known, codex)):
            changes.append(longer)
            codex = codex.with_entry(known, called_too(known, longer["value"]))
        kind, rests_on = known.kind if known else kind, nearest(item.sentence or value, told)
        for aspect, said in _aspects(item.aspect, name, value, kind):
            ended = item.change == "end" or (aspect == "holder" and said.casefold() in _NOBODY_HAS)
            if aspect == "holder" and (holder := codex.meant(said) or codex.find(said)) is not None:
                said = holder.name
            if aspect == "place" and known is not None and known.is_dead and acts(known, rests_on):
                continue  # where a body is, is no deed of theirs
            change = Change(
                entry=known.name if known else name,
                kind=kind,
                do="end" if ended else "set",
                aspect=aspect,
                value="" if aspect == "fact" else said,
                rests_on=rests_on,
            )
            if aspect == "fact":
                change["text"] = said
            changes.append(change)
    return changes


def _aspects(aspect: str, name: str, value: str, kind: Kind) -> Iterator[tuple[Aspect, str]]:
    """Yield what a change says, by aspect: "dead, buried in Odo's grave" is a status and a fact."""
    if aspect == "status":
        value = value.rstrip(".")
        status = _status(value.casefold(), kind)
        if status:
            yield "status", status
        if status != value.casefold():
            verb = "" if value.split()[0].casefold() in ("died", "perished", "passed", "survived") else "is "
            yield "fact", f"{name} {verb}{value[0].lower()}{value[1:]}."
    elif aspect == "holder":
        if (holder := value.split(",")[0]).casefold() != name.casefold():
            yield "holder", holder
    else:
        yield (aspect if aspect in get_args(Aspect) else "fact"), value  # type: ignore[misc]


def _status(said: str, kind: Kind) -> str:
    """Return the status with which begins what is said of one; empty for none."""
    words = {**{status: status for status in STATUSES}, **_OTHER_WORDS.get(kind, {})}
    return next(
        (status for word, status in words.items() if said.startswith(word) and _GOES_ON.match(said[len(word) :])), ""
    )


def _kind(said: str) -> Kind:
    return next((kind for kind in get_args(Kind) if kind == said), "thing")
