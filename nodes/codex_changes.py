"""What a passage changes in the codex, by rule from the facts that a small model notes."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from recurrentgpt.memory.codex import changed, open_entries, sentence_of
from recurrentgpt.memory.word_forms import word_forms
from recurrentgpt.nodes.codex_deaths import (
    is_of_another,
    is_told_dead,
    may_tell_of_death,
    pronouns_of_the_dead,
    verbs_of,
)
from recurrentgpt.nodes.codex_doubts import DOUBTED, is_doubted, is_unreal
from recurrentgpt.nodes.codex_holders import held_by, things_in
from recurrentgpt.nodes.codex_names import NOBODY, names_in
from recurrentgpt.nodes.codex_newcomers import newcomers
from recurrentgpt.nodes.codex_verbs import ACTS, PLACE_LEFT, SPEAKS
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import ONE_EACH, Change, Codex, Entry, Line, searched
from recurrentgpt.schema.names import (
    ANYBODY,
    CALENDAR,
    FAMILY,
    OFFICE,
    PLACES,
    RANKS,
    RELATIVE,
    TRADE,
    form_of,
    is_behind_setting,
    is_name_part,
    is_title,
    key_of,
    kin_of,
    plain,
    spelled,
    without_article,
    without_epithets,
)

MOST_CHANGES = 12
"""Of one passage; each is a row of its commit."""
MOST_NAME_WORDS, MOST_CLAUSE_WORDS, MOST_SENTENCE_WORDS = 8, 24, 36
"""A promise or question is called by a clause: cut like a name, it would not say what was promised, and two would be one."""

SPOKEN = re.compile(r"[\"“][^\"“”]*(?:[\"”]|$)", re.MULTILINE)
"""What people say in a passage."""


def longer_name(name: str, known: Entry, codex: Codex) -> Change | None:
    """Return that somebody is called by a longer form of their name, too; None for one that is only titled, or a role."""
    alias = " ".join(form_of(name).words)
    if kin_of(name) or codex.find(alias) is not None or codex.by_short_name(name) is known:
        return None
    return Change(entry=known.name, kind=known.kind, do="alias", value=alias)


def called_too(entry: Entry, alias: str) -> Entry:
    """Return an entry with another name."""
    return dataclasses.replace(entry, aliases=(*entry.aliases, alias))


def from_facts(summary: str, facts: Sequence[str], passage: str, codex: Codex, language: str) -> list[Change]:
    """Return the changes that a small model's facts tell of, and of its summary what a rule can read.

    What no rule reads of a fact is kept as it is said, with whoever it names first. The rules are for English and leave
    out whatever is doubted, wished or denied. Whoever comes into the story is an entry, whether a fact tells of them or not.
    """
    people = newcomers(passage, (summary, *facts), codex) if is_english(language) else []
    changes = _from_told(summary, facts, passage, codex, language, people, noted=True)
    if is_english(language) and may_tell_of_death(passage):
        changes = _with_deaths(changes, passage, _with_people(codex, people))
    return _with_introduced(changes, people)


def _with_deaths(changes: Sequence[Change], passage: str, known: Codex) -> list[Change]:
    """Return changes with the deaths that a passage tells in so many words, which the notes of a small model may pass over.

    Those that were noted rest on the sentence that tells them.
    """
    told = {entry.name: (entry, sentence) for entry, sentence in _told_dead(passage, known)}
    noted = list[Change]()
    for change in changes:
        is_death = change.get("value") == "dead" and change["entry"] in told
        noted.append({**change, "rests_on": told[change["entry"]][1]} if is_death else change)
    decided = {change["entry"] for change in changes if change.get("value") in ("alive", "dead")}
    passed_over = [
        Change(entry=name, kind="person", do="set", aspect="status", value="dead", text=sentence)
        for name, (entry, sentence) in told.items()
        if name not in decided and _is_said_for_certain(sentence, entry, passage)
    ]
    spare = max(0, len(noted) + len(passed_over) - MOST_CHANGES)
    dropped = [change for change in reversed(noted) if change.get("aspect") == "fact"][:spare]
    # What ends with a death is noted before it.
    return [*(change for change in noted if change not in dropped), *passed_over][:MOST_CHANGES]


_SOME_TIME = (
    r"(?:(?:By|At|Before|On|In|That|The next) (?:the )?(?:next |same )?(?:\w+ )?(?:morning|noon|night|midnight|dawn|daybreak|day|"
    r"evening|dusk|afternoon|sunrise|sunset|\w+day|end|spring|summer|autumn|winter),? )?"
)
"""When something happens, before who it happens to."""
_TAKEN_BACK = re.compile(
    r"\b(?:not dead|alive|asleep|false|a lie|(?:opened|opens) (?:his|her) eyes|woke|awoke|lived|breath(?:ed|ing|es)?|coughed|"
    r"stirred|sat up|"
    r"play|curtain|scene|game|dream\w*|lie|story|rumou?r|news|letter|rehears\w+|suppos\w+|imagin\w+|pretend\w*)\b"
)
"""What stands beside a death that is none."""


def _is_said_for_certain(sentence: str, entry: Entry, passage: str) -> bool:
    """Return whether a sentence that tells of a death begins with who dies, and nothing beside it takes that back."""
    if not re.match(rf"{_SOME_TIME}(?:{'|'.join(map(spelled, entry.names))})\b", sentence):
        return False
    before, _, after = passage.partition(sentence)
    around = [*sentences(before)[-1:], *sentences(after)[:2]]
    return not any(_TAKEN_BACK.search(one) for one in around) and not _SAID_OR_THOUGHT.search(sentence)


def _with_introduced(changes: Sequence[Change], new: Iterable[Entry]) -> list[Change]:
    """Return changes and, of what is new and none of them tells of, that there is an entry."""
    named = {change["entry"] for change in changes}
    bare = [
        Change(entry=entry.name, kind=entry.kind, do="alias", value=entry.name)
        for entry in new
        if entry.name not in named
    ]
    return [*changes, *bare[: max(0, MOST_CHANGES - len(changes))]]


def _with_people(codex: Codex, people: Sequence[Entry]) -> Codex:
    for entry in people:
        # One at a time: what is known of names stays.
        codex = codex.with_entry(None, entry)
    return codex


_SAID_OR_THOUGHT = re.compile(r"^\s*'|'\s*$|[.,!?]'\s|\b(?:imagin|pictur|fear|dream|thought|suppos)\w*")
"""In straight single quotation marks, or in somebody's mind."""


def from_text(passage: str, codex: Codex) -> list[Change]:
    """Return what an English passage says for certain of the people and things of a codex, outside of what is said in it."""
    changes, known = list[Change](), codex
    for paragraph in passage.split("\n"):
        for sentence in with_names(_told_in(paragraph), codex):
            found = [
                change
                for change in _from_told("", [sentence], paragraph, known, "English", [])
                if change.get("aspect") != "fact"
                and not (change.get("value") == "dead" and _SAID_OR_THOUGHT.search(sentence))
            ]
            changes += found
            # What is lost or handed over may be found or given back before the passage ends.
            if followed := [change for change in found if change["kind"] == "thing" and _is_followed(change)]:
                known = changed(known, followed)
    return without_returned(changes, passage, codex, gone=("absent", "dead"))


def _told_in(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph without what people say in them.

    They are told apart before that is cut out: the full stop of what is said ends a sentence that names the speaker, too.
    """
    told = narration("\n".join(sentences(paragraph))).split("\n")
    return [sentence.strip() for sentence in told if sentence.strip()]


def from_manuscript(passage: str, codex: Codex, named: Codex) -> list[Change]:
    """Return what an English passage says for certain, and whom and what it is the first to name of all that are `named`.

    Those of a whole text are known for sure, where one passage may tell too little of them.
    """
    new = [entry for entry in named.named_in(passage) if codex.meant(entry.name) is None]
    return _with_introduced(_once(from_text(passage, _with_people(codex, new))), new)


def _from_told(
    summary: str,
    facts: Sequence[str],
    passage: str,
    codex: Codex,
    language: str,
    people: Sequence[Entry],
    *,
    noted: bool = False,
) -> list[Change]:
    """Return what facts and a summary tell of a codex with these `people` beside it.

    Where they were `noted` of a passage, "the comb" is the only comb, and "the ferryman" the only ferryman.
    """
    known = _with_people(codex, people)
    longer = list(_longer_names((summary, *facts), known)) if is_english(language) else []
    for change in longer:
        old = known.entries[change["entry"].casefold()]
        known = known.with_entry(old, called_too(old, change["value"]))
    changes, told, lines = longer, set[str](), with_words(passage)
    of_death = [line for line in lines if may_tell_of_death(line[0])]
    promises = [entry.name for entry in open_entries(codex) if entry.kind == "promise"] if noted else []
    for number, fact in enumerate(
        with_names((summary, *facts), known) if people or codex.entries else (summary, *facts)
    ):
        fact = shortened(fact, MOST_SENTENCE_WORDS)
        named, rests_on = known.named_in(fact, passage), nearest(fact, lines)
        told |= {entry.name for entry in named}
        found = list[Change]()
        if is_english(language):
            whole = _with_whole_names(fact, passage, known) if noted else fact
            found = list(_by_rule(whole, named, known)) or (list(_of_newcomer(whole, known)) if noted else [])
            if noted:
                made = [change["entry"] for change in changes if change["kind"] == "promise"]
                found += _settled(fact, named, [*dict.fromkeys([*promises, *made])], known)
                found += _who_they_are(whole, named, known)
        if named and number and all(change["do"] == "end" for change in found):
            found.append(Change(entry=named[0].name, kind=named[0].kind, do="set", aspect="fact"))
        found = [change for change in found if not _revives(change, fact, known)]
        found = [*filter(None, (new_holder(change, passage, known) for change in found)), *found]
        for change in found:
            change = {**change, "text": change.get("text", fact)}
            death = change.get("value") == "dead" and (nearest(fact, of_death) or _only_of(change["entry"], of_death))
            on = death or rests_on
            changes.append({**change, "rests_on": on} if on != change["text"] else change)
        if is_english(language):
            changes += [{**change, "rests_on": rests_on} for entry in named for change in _ended_by(fact, entry, named)]
            # What follows calls people by their new names, and tells who has or finds a thing after that.
            if followed := [change for change in found if _is_followed(change)]:
                known = changed(known, followed)
    changes += [
        change for change in _pronouns(passage, known) if change["entry"] in told or codex.find(change["entry"])
    ]
    changes = _with_one_name(_without_repeated(changes, promises), codex) if noted else changes
    return _once(without_returned(changes, passage, known))[:MOST_CHANGES]


def _who_they_are(fact: str, named: Sequence[Entry], known: Codex) -> Iterator[Change]:
    """Yield what a fact says that somebody is, by trade or to another, or how their head looks, and nothing else."""
    if not named or named[0].kind != "person":
        return
    end = next((end for start, end in _named_at(fact, named[0], known) if start == 0), len(fact))
    about = Change(entry=named[0].name, kind="person", do="set")
    if role := _IS_ROLE.fullmatch(fact, end):
        trade = role["trade"] or ""
        if trade not in ANYBODY and not re.fullmatch(RELATIVE, trade):
            yield {**about, "aspect": "role", "value": role["role"]}
    elif looks := _HAS_A_LOOK.fullmatch(fact, end):
        yield {**about, "aspect": "look", "value": looks["look"]}


def _only_of(name: str, of_death: Sequence[tuple[str, set[str]]]) -> str:
    """Return the only sentence of death that can tell of somebody: by a word of their name, or by a pronoun."""
    words = {*tokens(name), "he", "she", "his", "her", "him"}
    found = [sentence for sentence, said in of_death if not said.isdisjoint(words)]
    return shortened(found[0], MOST_SENTENCE_WORDS) if len(found) == 1 else ""


def new_holder(change: Change, passage: str, known: Codex) -> Change | None:
    """Return that whoever has a thing by a change is an entry, too, where nobody knows them and they have a person's name.

    Of one word it may be a town's, unless a title stands before it or the passage tells what they do.
    """
    name = change.get("value", "")
    if (
        change.get("aspect") != "holder"
        or change["do"] != "set"
        or known.meant(name)
        or known.answering(key_of(name), None)
    ):
        return None
    title, words = form_of(name)
    if not words or without_article(name) != plain(name) or words[-1] in PLACES:
        return None
    if not (
        words[0][0].isupper() and words[-1][0].isupper() and all(is_name_part(word) or word.islower() for word in words)
    ):
        return None
    about = Change(entry=name, kind="person", do="alias", value=name)
    return about if title or len(words) > 1 or acts(Entry(name, "person"), passage) else None


def _is_followed(change: Change) -> bool:
    """Return whether what a passage tells later rests on a change: on a name, or on who has a thing, or that it is lost."""
    aspect = change.get("aspect")
    return aspect in (None, "holder") or (aspect == "status" and change["kind"] == "thing")


def _longer_names(told: Iterable[str], known: Codex) -> Iterator[Change]:
    """Yield by which longer forms of their names English sentences begin with somebody who is known."""
    seen = set[str]()
    for sentence in told:
        match = _BEGINS.match(sentence)
        if match is None or match[0].split()[-1] in PLACES or match[0] in seen:
            continue
        seen.add(match[0])
        entry = known.meant(match[0]) if known.find(match[0]) is None else None
        if entry is not None and (longer := longer_name(match[0], entry, known)):
            yield longer


def deaths(passage: str, known: Codex) -> set[str]:
    """Return the names of those of whom an English passage tells, outside of what is said in it, that they are dead."""
    return {entry.name for entry, _ in _told_dead(passage, known)}


def _told_dead(passage: str, known: Codex) -> Iterator[tuple[Entry, str]]:
    """Yield of whom an English passage tells, outside of what is said in it, that they are dead, with the sentence."""
    told = [sentence for part in passage.split("\n") for sentence in sentences(SPOKEN.sub('""', part))]
    for sentence in told:
        for entry in known.named_in(sentence) if not sentence.endswith("?") else ():
            if (
                entry.kind == "person"
                and any(is_told_dead(sentence, start, end, entry) for start, end in _named_at(sentence, entry, known))
                and not _returns(Change(entry=entry.name, kind="person", do="set", text=sentence), passage, known)
            ):
                yield entry, sentence


def with_names(told: Sequence[str], known: Codex) -> list[str]:
    """Return sentences with a name in place of the pronoun of whoever dies, where only one person can be meant.

    That is the only one whom the same sentence names before it, or with whom the one before that begins and whom alone it names.
    """
    named, before = list[str](), list[Entry]()
    for sentence in told:
        own = [entry for entry in known.named_in(sentence) if entry.kind == "person"]
        for match in pronouns_of_the_dead(sentence):
            pronoun = match[1].casefold()
            near = [entry for entry in own if any(name in sentence[: match.start()] for name in entry.names)]
            meant = near or ([] if own else before)
            if len(meant) == 1 and meant[0].value("pronouns") in ("", pronoun):
                sentence = f"{sentence[: match.start()]}{meant[0].name}{sentence[match.end(1) :]}"
                break
        named.append(sentence)
        before = own if len(own) == 1 and sentence.startswith(own[0].names) else []
    return named


_HAS = re.compile(
    r"(?P<who>[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,2}) (?:now )?(?:has|holds|keeps|carries|owns|wears) "
    r"(?:the|his|her) (?P<thing>[a-z][\w -]*?)(?: now)?\.?"
)


def _of_newcomer(fact: str, known: Codex) -> Iterator[Change]:
    """Yield that somebody whom nobody knows yet has a thing that is known: who they are, their having it says."""
    match = _HAS.fullmatch(fact)
    thing = known.find(match["thing"], "thing") if match else None
    if match and thing and known.meant(match["who"]) is None and not known.answering(key_of(match["who"]), None):
        yield Change(entry=thing.name, kind="thing", do="set", aspect="holder", value=match["who"])


_GOES_ON = (
    r"(?=[.,;:!?)]|$| (?:is|was|has|had|who|and|but|now|no|never|lies|lives|died|fell|drowned|will|in|on|at|to|from|of (?=the\b)|"
    rf"with|by|{ACTS})\b)"
)
"""What follows somebody who is named as known; the guard dog and the captain of the Petrel are others."""


def _with_whole_names(fact: str, passage: str, known: Codex) -> str:
    """Return a fact with names in the place of what else it means somebody or something by: the comb, the ferryman, his sister.

    Not where its passage brings in another one: "a ferryman", "her captain".
    """
    fact, around = plain(fact), plain(passage)
    for start, end, entry in sorted(known.kin_in(fact), key=lambda kin: -kin[0]):
        if not any(name in fact for name in entry.names):
            fact = f"{fact[:start]}{entry.name}{fact[end:]}"
    for entry in known.named_in(fact, passage):
        if any(name in fact for name in entry.names):
            continue
        said = {fact[start:end] for start, end in known.short_places(entry, fact)}
        roles = [role for role in known.own_roles(entry) if role.islower()]
        for called in sorted({*said, *roles}, key=len, reverse=True):
            there = rf"\b[Tt]he {re.escape(called)}{_GOES_ON}"
            others = rf"(?<!\bthe )(?<!\bThe )\b{re.escape(called)}\b|\b{re.escape(called)} (?:of\b|[A-Z])"
            if not re.search(others, "" if called in said and entry.kind == "thing" else around):
                fact = re.sub(there, entry.name if entry.kind == "person" else f"the {entry.name}", fact)
    return fact


def _revives(change: Change, fact: str, known: Codex) -> bool:
    """Return whether a change tells of a dead person as of a living one, without saying that they live after all."""
    entry = known.find(change["entry"])
    if (
        entry is None
        or not entry.is_dead
        or change.get("value") == "dead"
        or re.search(r"\b(?:alive|survived)\b", fact)
    ):
        return False
    return change.get("aspect") in ("status", "place") or acts(entry, fact)


def acts(entry: Entry, sentence: str) -> bool:
    """Return whether an English sentence tells what somebody does."""
    return bool(re.search(rf"\b(?:{'|'.join(map(spelled, entry.names))}) {ACTS}", sentence))


def without_returned(
    changes: Sequence[Change], passage: str, known: Codex, *, gone: Sequence[str] = ("absent",)
) -> list[Change]:
    """Return the changes without the absence of whoever acts in the same passage after it: they were out of the room.

    What else makes nobody act, `gone` names.
    """
    return [change for change in changes if change.get("value") not in gone or not _returns(change, passage, known)]


def _returns(change: Change, passage: str, known: Codex) -> bool:
    entry, told = known.find(change["entry"]), change.get("rests_on") or change.get("text", "")
    after = passage.partition(told)[2].lstrip() if told else ""
    names = "|".join(map(spelled, entry.names)) if entry else ""
    return bool(after and names) and bool(
        re.search(
            rf"(?:^|[,.;!?\"”] |\n|\b(?:and|but|when|as) )(?:{names}) {ACTS}|[\"”] {SPEAKS} (?:{names})\b(?!['’]| [A-Z])",
            after,
        )
    )


def _once(changes: Iterable[Change]) -> list[Change]:
    """Return the changes without those that only say again what another one says.

    Of what an entry has one line, the last one holds: what is lost, found and lost again is lost.
    """
    kept, last = list[Change](), dict[tuple[str, ...], tuple[str, str]]()
    for change in changes:
        do, aspect = change["do"], change.get("aspect", "fact")
        is_of_line = do in ("set", "end")
        is_one = is_of_line and aspect in ONE_EACH
        said = change.get("text", "") if is_of_line and not is_one else change.get("value", "")
        about: tuple[str, ...] = (change["entry"], aspect) if is_one else (change["entry"], do, aspect, said)
        if last.get(about) != (do, said):
            kept.append(change)
            last[about] = (do, said)
    return kept


def shortened(text: str, most: int) -> str:
    """Return the first words of a text, in one line."""
    return limit_words(" ".join(text.split()), most)


def with_words(passage: str) -> list[tuple[str, set[str]]]:
    """Return the sentences of a passage, each with its words: every change is held against them."""
    return [(sentence, set(tokens(sentence))) for sentence in sentences(passage)]


def nearest(text: str, passage: Sequence[tuple[str, set[str]]]) -> str:
    """Return the sentence of the passage that has most of the words of `text`; empty where none has two of them."""
    wanted = set(tokens(text))
    found, own = max(passage, key=lambda told: _share(wanted, told[1]), default=("", set[str]()))
    return limit_words(" ".join(found.split()), MOST_SENTENCE_WORDS) if len(wanted & own) > 1 else ""


def _share(wanted: set[str], own: set[str]) -> float:
    return len(wanted & own) / (len(own) + len(wanted)) if own else 0.0


# Rules for English

_BE = r"(?:is|was|lies|lay|has been|had been|were)"
_SHIP = r"(?:train|ferry|boat|ship|steamer|packet|coach|stage|bus|plane|flight|tram|mail|barge|schooner|liner|carriage|express)"
_BACK_SOON = (
    r"(?! (?:for|to (?!(?:the|sea|war|prison)\b|[A-Z])|in|out|up|down|by the|on|over|through|towards?|from (?:his|"
    r"her) (?:mind|thoughts|face))\b)"
)
_CLAUSE_ENDS = (
    r"(?=[.,;]|$| (?:and|but|with|without|by|for|in|at|on|before|after|to|over|through|across|because|when|while|as|last|that|"
    r"yesterday|alone|together|forever|again|\w+ly)\b)"
)
"""Where a place ends that somebody leaves: the country house is no country."""
_LONG_AGO = re.compile(
    r"[^.;]*?\b(?:in (?:his|her|their) (?:youth|childhood|boyhood|girlhood|day|prime|(?:twen|thir|for|fif)ties)|"
    r"as an? (?:young )?(?:boy|girl|child|youth|man|woman|student|apprentice)|"
    r"(?:years|decades|long|months) (?:ago|before|earlier)|"
    r"when (?:he|she|they) (?:was|were)|in (?:those|the old) days|in 1\d{3})\b"
)
"""What tells of an absence that it was of another time."""
_AFTER_NAME: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("absent", re.compile(
        rf"(?:{_BE} (?:reported )?missing\b(?! (?:a|an|the|his|her|from (?:the|his|her) (?:room|table))\b)|"
        rf"{_BE} gone{_BACK_SOON}|{_BE} (?:far )?away (?:in|at) (?=[A-Z])|"
        r"(?:had |has )?(?:vanished|disappeared)(?! (?:in|into|behind|round|around|through|up|down|inside|under|below|"
        r"over|for)\b|, (?:\w+ly )?\w+ing\b)|"
        r"(?:had |has )(?:gone (?:to (?:the|[A-Z]\w+)|abroad|overseas|away for good)|"
        r"left(?=[.,;]| (?:by|before|without|with|already|yesterday|for)\b))|(?:had |has )?fled(?: (?:to|from|for) (?=[A-Z])|"
        rf" (?:the (?:country|city|town|island|village|province|valley){_CLAUSE_ENDS}|"
        r"abroad|over the|across the|in the night|by night|into (?:exile|the (?:mountains|hills|"
        r"forest|woods|desert|"
        r"night))|to the (?:mountains|coast|hills|north|south|east|west|border|continent|capital))|(?=[.;]|$))|"
        r"(?:had |has )?left (?:for (?!the (?:kitchen|night|day|bathroom|moment))|"
        r"(?:on|by|aboard) the (?:\w+ ){0,2}(?:train|ferry|boat|ship|coach|stage|bus|plane)\b|at (?:dawn|daybreak|first light)|"
        r"that (?:night|day|week|year)|for good|for ever|forever|without (?:a word|saying (?:goodbye|farewell))|"
        r"and (?:never|did not) "
        r"(?:came?|return\w*)|town|home|the (?:town|city|country|village|island|valley))|"
        r"(?:had |has )?(?:sailed (?:for|to)|went away (?:on the|by the|for good)|went (?:abroad|overseas)|emigrated|"
        r"absconded|eloped|"
        r"deserted\b(?! (?:the|his|her|him|by)\b)|escaped from (?:the )?(?:prison|jail|country|island|asylum)|"
        r"set (?:off|out|sail) for|departed for|moved (?:away )?to (?=[A-Z])|moved away|(?:flew|travelled|traveled) to (?=[A-Z])|"
        r"went (?:(?:away|off|north|south|east|west) )?with the (?:ships|fleet|army|caravan)"
        r"(?=[.,;]|$| (?:(?:that|last) \w+|at (?:dawn|daybreak|first light|noon)|on \w+day|in (?:the )?(?:spring|summer|autumn|"
        r"winter)|(?:to|for|in) (?=[A-Z])|north|south|east|west|across|over|into|beyond)\b)|"
        r"enlisted|joined the (?:army|navy|regiment|legion|expedition|crusade)|went to sea|"
        rf"(?:boarded|took|caught|takes|boards|catches) (?:the|a) (?:\w+ ){{0,2}}{_SHIP} (?:for|to|out of|north|south|"
        rf"east|west|home)|"
        r"ran (?:away|off) (?:to sea|from (?:home|school|the (?:orphanage|convent|farm|school|regiment))|in the night|that night|"
        r"one night|to (?=[A-Z])|with a(?:n|nother)? (?:\w+ )?(?:sailor|soldier|man|woman|lover|circus)))|"
        r"was (?:never (?:seen|heard of) (?:again|there again)|deported|exiled|banished|extradited|jailed|imprisoned|"
        r"transported to|abducted|kidnapped|press-ganged|"
        r"arrested|taken (?:away|prisoner|captive|to (?:the |a )?(?:prison|jail|gaol|hospital|asylum|camp|madhouse))|"
        r"sent (?:away|abroad|"
        r"overseas|to (?:the |a )?(?:prison|jail|gaol|front|colonies|asylum|convent|camp|galleys)))|"
        r"(?:has|had) been (?:deported|exiled|banished|jailed|imprisoned|abducted|kidnapped|arrested))\b"
    )),
    ("alive", re.compile(
        rf"(?:{_BE} (?:still )?alive|{_BE} (?:released|freed|set free|acquitted|let go|home again)|survived|"
        r"(?:returned|returns)(?! (?:the|an?|his|her|their|its|it|them|[A-Z][\w-]*['’]s)\b)|came back|comes back|has returned|"
        r"is back)\b"
    )),
)  # fmt: skip
_LEFT_PLACE = re.compile(
    rf"(?:had |has )?(?:left|leaves) {PLACE_LEFT}(?: (?:on|in|at|one|that|last) \w+)?"
    r"(?: (?:for (?:good\b|ever\b|(?=[A-Z]))|forever\b|and (?:never|did not) (?:came?|return\w*)\b|"
    rf"(?:on|by|aboard) (?:the|a) (?:\w+ ){{0,2}}{_SHIP}\b)|"
    r",? and (?:sail\w+|row\w+|travel\w+|mov\w+|crosse[sd]|rode|rides|drove|drives|flew|flies) (?:\w+ )?(?:to|for) "
    r"(?:the (?:mainland|continent|coast|city|capital|colonies|north|south|east|west)\b|(?=[A-Z])))"
    r"(?![^.;]*\b(?:back|again|return\w*)\b)"
)
"""What makes of the place that somebody left one where they are no longer; the place alone they may leave for an hour."""
_WHOLE_PLACES = frozenset(
    ("Island", "Bay", "Point", "Harbour", "Harbor", "Town", "City", "Village", "County", "Valley")
)
"""How places are called that are more than a house or a street."""
_UNSEEN = re.compile(
    r"\b(?:nobody|no one|none of them|no living soul) (?:had |has |have |ever )*(?:saw|seen|heard (?:of|from)) $",
    re.IGNORECASE,
)
_EVER = re.compile(r" (?:since|again|after that|any more|for (?:weeks|months|years|days))\b")
_ROLE = re.compile(
    r", the (?P<role>(?!(?:first|last|only|same|other|one|more|better|very|next|"
    r"way)\b)(?:[a-z][\w-]+ ){0,2}[a-z][\w-]+(?<!ing)(?<!est)),"
)
_IS_ROLE = re.compile(
    rf" is (?:now )?(?P<role>(?:the (?:(?!young|old|good|bad|great|poor|real|born|former|better|best|would-be)"
    rf"[a-z][\w-]+ )?|an? )(?P<trade>{OFFICE}|{TRADE})(?: (?:of|in|at) [^.;,]{{1,40}})?|"
    rf"(?:my|your|[A-Z][\w-]*(?: [A-Z][\w-]*)?['’]s?) (?:[a-z]+ )?{FAMILY.pattern})\.?"
)
_HAS_A_LOOK = re.compile(
    r" has (?:now )?(?P<look>(?:(?!(?:for|on|in|of|with|no|his|her|their)\b)[a-z-]+,? ){1,3}(?:hair|beard|mou?stache|eyes)"
    r"(?: (?:down|to|over|about|tied|cut|worn)\b[a-z ]*)?)\.?"
)
_FOR_NOW = re.compile(
    r"\b(?:when|after|while|till|until|as soon as|now that|once|before|since|(?:scarcely|hardly|"
    r"no sooner) had) (?:\w+ )?$",
    re.IGNORECASE,
)
_KIN = (
    r"(?:Uncle|Aunt|Great-aunt|Mrs|Madame|Miss|Mother|Father|Grandmother|Grandfather|Granny|"
    r"Cousin|Lady|Brother|Sister|Widow|Little)"
)
_OTHER_NAME = re.compile(
    rf"(?:\w[^.!?\"”]* (?!(?:Mr|Dr|Captain|Sir|Lord|Old|Poor|Young|Doctor|Professor|Sergeant|The)\b)[A-Z][\w]*|\b{_KIN})\.? "
    r"(?:d[eu] |von |van |du |la |le )?$"
)
"""What ends in another name, or a title that is no part of the name after it."""
_TAKEN = r"\b(?:took|takes|led|dragged|shipped|sent|marched|hauled) $"
_AWAY = re.compile(r"(?:away|off|abroad|overseas)(?: (?:to|in|for)\b|(?=[.,;]|$))|"
                   r"to (?:the |a )?(?:prison|jail|gaol|hospital|asylum|"
                   r"cells|camp|front|galleys|madhouse)\b")  # fmt: skip
_NO_PLACE = (
    r"(?:(?:place|edge|death|an? (?:[a-z-]+ )?(?:state|condition))\b|"
    r"(?:(?:the|an?|his|her|their|its|such|[A-Z]\w*['’]s) )?(?:[a-z-]+ ){0,2}?(?:regard|esteem|contempt|honou?r|awe|check|line|"
    r"suspense|reserve|readiness|trust|thrall|fear|terror|dread|hopes?|sin|poverty|luxury|comfort|peace|silence|secret|secrecy|"
    r"shame|misery|debt|exile|hiding|disguise|style|squalor|danger|love|mourning|isolation|solitude|ignorance|uncertainty|doubt|"
    r"need|pain|agony|anguish|despair|grief|sorrow|anger|rage|trouble|charge|command|control|power|service|touch|tears|mind|"
    r"memory|memories|dreams?|thoughts?|past|future|present|arms|embrace|grip|grasp|hands?|spirits|mood|shape|shock|way|"
    r"custody|captivity|dark|darkness|hurry|vain|orders?|agreement|favou?r|"
    r"guard|trial|duty|watch|strike|leave|bail|terms|alert|run|course|schedule|time|hold|foot|verge|brink|"
    r"odds|ease|rest|war|large|risk|bay|stake|loss|mercy|length|pressure|suspicion|arrest|observation|protection|spell|oath|"
    r"threat|curse|impression|thumb|collapse|times)"
    r"(?=[.,;]|$| (?:of|for|with|and|about|by|from|to|because|while|but|where|who|when|that|over|after|until|since|as|at|on|"
    r"in)\b))"
)
"""What somebody may be in, on, at or under, and is nowhere."""
_IS_IN = re.compile(
    r"(?:is|stands|waits|lives|sits|hides|stays|remains|sleeps|lodges|is (?:locked|trapped|hiding|staying|living|sleeping|"
    r"sitting|waiting|lodging|hidden|held|kept)) "
    rf"(?P<where>(?:in|at|on|inside|below|under|aboard|behind|near) (?!{_NO_PLACE})"
    r"(?:the |a |an |his |her )?[\w'’-]+(?: [\w'’-]+){0,5}?)(?=[.,;]|$| (?:and|with|while|because|but|where|who|when|"
    r"from|about|by|for|until|since)\b)"
)
_PLACE_ENDS = (
    r"(?=[.,;]|$| (?:and|with|while|because|but|where|who|when|from|about|by|for|until|since|over|of|near|after|"
    r"in|to)\b)"
)
_MOVES = re.compile(
    r"(?:has |had )?(?:(?:moved|moves) (?:(?:up|down|out|back|over|away) )?(?:from [A-Z]\w+ )?(?:in)?to|"
    r"(?:went|goes|gone) to live (?:in|at)|"
    r"(?:settled|settles) (?:down )?(?:in|at)|took (?:up )?lodgings (?:in|at)) "
    r"(?P<where>(?:(?:the|an?|his|her|their|two|three|[A-Z][\w-]*['’]s) (?:[a-z-]+ ){0,2}?(?:attic|cellar|basement|loft|garret|"
    r"rooms?|house|cottage|flat|apartment|lodgings?|inn|hotel|farm|farmhouse|village|town|city|capital|country|coast|island|hut|cabin|"
    r"tower|mill|castle|palace|manor|parsonage|vicarage|rectory|monastery|convent|abbey|barracks|houseboat|caravan|suburbs?|"
    rf"hills|mountains)|(?!(?:{'|'.join(sorted(CALENDAR))})\b)[A-Z][\w-]+(?: [A-Z][\w-]+)*(?!['’]))"
    rf"{_PLACE_ENDS})"
)
"""How somebody goes to live somewhere else."""
_ROLE_SAID = r"(?:the |an? |his |her |their )?(?P<{name}>[a-z][\w'’ -]*?)"
_ROLE_IS_WHOLE = r"(?=[.,;]|$| (?:and|but|after|before|because|since|today|now)\b)"
"""What stands behind a role and makes no other of it."""
_OFFICE_LEFT = re.compile(
    rf"(?:is no longer {_ROLE_SAID.format(name='role')}{_ROLE_IS_WHOLE}|(?:has |had )?(?:"
    r"(?:gives? up|given up|gave up|laid down|lays down|resign(?:ed|s)(?: from)?|retire[ds] from|lost|surrender(?:ed|s)|"
    r"step(?:ped|s) down from|(?:was|is|been) (?:stripped of|dismissed from|removed from)) "
    r"(?:the|his|her|their) (?:office|post|position) (?:of|as)|"
    r"(?:resign(?:ed|s)|retire[ds]|step(?:ped|s) down|stood down|(?:was|is|been) (?:dismissed|removed|deposed|replaced)) as) "
    rf"{_ROLE_SAID.format(name='left')}(?:{_ROLE_IS_WHOLE}|(?= to [A-Z]| (?:by|on|in|at)\b)))"
)
"""What somebody does who has a role no longer."""
_SETTLES = re.compile(
    r"(?:has |had )?(?:(?P<broken>broke|broken|breaks|betrayed|betrays|went back on)|kept|keeps|fulfil(?:s|ls|led)|"
    r"honou?r(?:s|ed)) (?P<whose>his|her) (?:promise|vow|oath|word|pledge)(?=[.,;]|$| (?:to|and|by|when|that)\b)"
)
"""What somebody does who keeps or breaks a promise of theirs."""
_PROMISING = word_forms("promise promises promised swear swears swore vow vows vowed")
_TO_THEM = re.compile(r"\b(?:him|her|them|me|us|you)\b")
_NOT = re.compile(r"\b(?:(?:do|does|did) )?(?:no longer|not|never)\b|(?:\b(?:do|does|did))?n['’]t\b")
_DENIED = frozenset(("not", "never", "no", "nobody", "nothing"))
"""What makes of a promise another one."""
_PROMISED = re.compile(r"(?:promises|promised|swears|swore|vows|vowed)\b")


def _by_rule(fact: str, named: Sequence[Entry], known: Codex) -> Iterator[Change]:
    for entry in named:
        if entry.kind not in ("person", "thing"):
            continue
        for start, end in _named_at(fact, entry, known):
            yield from _of_name(fact, start, end, entry, known)
    yield from things_in(fact, known)
    yield from names_in(fact, named, known)


def _is_a_whole_place(name: str, known: Codex) -> bool:
    """Return whether whoever leaves a place is away: a town, and no house, street, day or person."""
    first, last = name.split()[0], name.split()[-1]
    return not (
        first in ("The", "the")
        or is_title(first)
        or CALENDAR.intersection(name.split())
        or (last in PLACES and last not in _WHOLE_PLACES)
        or known.meant(name, "person") is not None
    )


def _named_at(fact: str, entry: Entry, known: Codex) -> Iterator[tuple[int, int]]:
    """Yield from where to where a fact names an entry, and nobody else."""
    # What two are called by means neither.
    own = [name for name in (*entry.names, *entry.former) if known.find(name) is entry] + known.titled(
        entry, plain(fact)
    )
    for match in re.finditer("|".join(map(spelled, sorted(own, key=len, reverse=True))), fact) if own else ():
        before, _, title = fact[: match.start()].rstrip().rpartition(" ")
        # Corporal Ned Ivers is Ned Ivers, by his whole name.
        before = f"{before} " if " " in match[0] and title.rstrip(".").casefold() in RANKS else fact[: match.start()]
        # Lady Maud is Lady Maud Estcourt.
        is_titled = title != "" and form_of(f"{title} {match[0]}").title in entry.titles
        is_part = (not is_titled and _OTHER_NAME.search(before)) or entry.is_another_at(fact, match.start())
        if not is_part or is_behind_setting(fact, match.start(), match[0], entry.name.split()[0]):
            yield match.span()  # of Uncle March nothing is told by what Aunt March does


def _of_name(fact: str, start: int, end: int, entry: Entry, known: Codex) -> Iterator[Change]:
    """Yield what a fact tells of an entry that it names from `start` to `end`."""
    rest, before = fact[end:], fact[:start]
    about = Change(entry=entry.name, kind=entry.kind, do="set")
    if entry.kind == "person" and is_told_dead(fact, start, end, entry):
        yield {**about, "aspect": "status", "value": "dead"}
    if rest[:1].strip("., ") or (entry.kind == "person" and is_of_another(before, rest)):
        return  # part of a longer word, or Mira's, or the wife of Mira
    verbs, is_aside = verbs_of(fact, end)
    after = fact[verbs[0] :]
    if entry.kind == "person":
        for begins in verbs:
            for status, pattern in _AFTER_NAME:
                match = pattern.match(fact, begins)
                doubted = match is None or is_doubted(fact, verbs[0] if is_aside else start, match.end())
                is_past = match is not None and (_FOR_NOW.search(before) or _LONG_AGO.match(fact, match.end()))
                if not doubted and not (status == "absent" and (is_past or _goes_to_somebody(fact, match, known))):
                    yield {**about, "aspect": "status", "value": status}
            left = _LEFT_PLACE.match(fact, begins)
            if left and _is_a_whole_place(left["place"], known) and not is_doubted(fact, start, left.end()):
                yield {**about, "aspect": "status", "value": "absent"}
        if _UNSEEN.search(before) and _EVER.match(rest) and not is_doubted(fact, start, end):
            yield {**about, "aspect": "status", "value": "absent"}
        if role := _ROLE.match(rest):
            yield {**about, "aspect": "role", "value": role["role"]}
        left = None if before or is_unreal(fact) else _OFFICE_LEFT.match(after)
        if left and not is_doubted(fact, start, verbs[0] + left.end()):
            yield from (end_of_office(entry, office) for office in entry.offices_called(left["role"] or left["left"]))
            had = (line for line in entry.lines if line.aspect == "role" and line.passage)
            # The mayor of Brack is the mayor.
            said = {role for group in left.groups() if group for role in (group, group.partition(" of ")[0])}
            yield from (end_of(entry, line) for line in had if without_article(line.value) in said)
        if (
            re.search(r"\b(?:let|set) $", before)
            and re.match(r" (?:go|free)\b", rest)
            and not is_doubted(fact, start, end)
        ):
            yield {**about, "aspect": "status", "value": "alive"}
        if re.search(_TAKEN, before) and _AWAY.match(rest.lstrip()) and not is_doubted(fact, start, end):
            yield {**about, "aspect": "status", "value": "absent"}
    if (place := _IS_IN.match(after)) and not is_doubted(fact, start, end):
        yield {**about, "aspect": "place", "value": place["where"]}
    moved = _MOVES.match(after)
    if moved and not is_doubted(fact, start, end) and not _is_somebody(moved["where"], known):
        yield {**about, "aspect": "place", "value": f"in {moved['where']}"}
    if entry.kind == "person" and not is_doubted(fact, start, end):
        yield from held_by(entry, after, known)
        if _PROMISED.match(after):
            name = shortened(fact.rstrip("."), MOST_CLAUSE_WORDS)
            yield {**about, "kind": "promise", "entry": name, "aspect": "status", "value": "open"}


def _is_somebody(name: str, known: Codex) -> bool:
    """Return whether a place that somebody moves to is a person, known or by a title."""
    first = name.split()[0]
    return first in ("God", "His", "Her") or is_title(first) or known.find(name, "person") is not None


def _goes_to_somebody(fact: str, match: re.Match[str] | None, known: Codex) -> bool:
    """Return whether somebody goes to another one, who is no place."""
    name = _NAMES.match(fact, match.end()) if match is not None and match[0].endswith(" to ") else None
    return name is not None and (known.meant(name[0], "person") or known.find(name[0], "person")) is not None


def _begins_with(text: str, entry: Entry, known: Codex) -> int:
    """Return where the name of an entry ends with which a text begins; 0 where it begins with none."""
    return next((end for start, end in _named_at(text, entry, known) if start == 0), 0)


def _settled(fact: str, named: Sequence[Entry], promises: Sequence[str], known: Codex) -> Iterator[Change]:
    """Yield that somebody keeps or breaks the only one of `promises` that an English fact can mean, which begins with their name.

    What the fact says behind that has to be in the promise: all of its clause, whom it is made to, or a word of what follows.
    """
    begun = ((one, _begins_with(fact, one, known)) for one in named if one.kind == "person")
    entry, end = next((one for one in begun if one[1]), (None, 0))
    settles = _SETTLES.match(fact, end + 1) if entry is not None else None
    if entry is None or settles is None or fact.endswith("?") or is_unreal(fact):
        return
    pronoun = {"his": "he", "her": "she"}[settles["whose"]]
    if entry.value("pronouns") not in ("", pronoun) or is_doubted(fact, 0, settles.end()):
        return
    names = "|".join(spelled(name) for one in named if one.kind == "person" for name in one.names)
    clause, further = _parted(fact[settles.end() :])
    own = [promise for promise in promises if _begins_with(promise, entry, known)]
    if _TO_THEM.search(clause):
        return
    if said := word_forms(re.sub(rf"\b(?:{names})\b", "", clause)):
        own = [promise for promise in own if said <= word_forms(promise)]
    elif whom := re.search(rf"\b(?:{names})\b", clause):
        own = [promise for promise in own if re.search(rf"{_PROMISED.pattern} (?:to )?{re.escape(whom[0])}\b", promise)]
    elif told := word_forms(re.sub(rf"\b(?:{names})\b", "", further)):
        own = [promise for promise in own if not told.isdisjoint(word_forms(promise))]
    if len(own) == 1:
        value = "broken" if settles["broken"] else "kept"
        yield Change(entry=own[0], kind="promise", do="set", aspect="status", value=value)


def _parted(text: str) -> tuple[str, str]:
    """Return the rest of a clause, and what a sentence says behind it."""
    clause, *further = re.split(r"[,;]| and\b", text.rstrip("."), maxsplit=1)
    return clause, " ".join(further)


def _without_repeated(changes: Sequence[Change], promises: Collection[str]) -> list[Change]:
    """Return the changes of a passage without promises that are open, or settled in it, or told in it at more length."""
    of_promises = [change for change in changes if change["kind"] == "promise"]
    made = {change["entry"] for change in of_promises if change.get("value") == "open"}
    settled = {change["entry"] for change in of_promises if change.get("value") != "open"} & {*promises}
    again = {name for name in made - {*promises} if any(_words_of(name) == _words_of(other) for other in promises)}
    again |= {name for name in made for other in made - {name} if _is_part(_words_of(name), _words_of(other))}
    return [
        change
        for change in changes
        if change["entry"] not in again and not (change["entry"] in settled and change.get("value") == "open")
    ]


def _is_part(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether words are all others but one between them, in their order: to guard the visor, the old visor."""
    rest = iter(others)
    has_one_more = len(words) + 1 == len(others) and (words[:1], words[-1:]) == (others[:1], others[-1:])
    return has_one_more and not _DENIED.intersection({*others} - {*words}) and all(word in rest for word in words)


@lru_cache(maxsize=1024)
def _words_of(promise: str) -> tuple[str, ...]:
    """Return the words of a promise in their order, but those that say that it is one."""
    words = [next(iter(word_forms(word)), word if word in _DENIED else "") for word in tokens(promise)]
    return tuple(word for word in words if word and word not in _PROMISING)


def _with_one_name(changes: Sequence[Change], known: Codex) -> list[Change]:
    """Return changes in which a new thing of which the same is noted under a longer name has that: the silver locket."""
    new = defaultdict[str, set[tuple[str, str]]](set)
    for one in changes:
        if one["kind"] == "thing" and known.find(one["entry"], "thing") is None:
            new[one["entry"]].add((one.get("aspect", ""), one.get("value", "")))
    longer = {
        name: [other for other in new if other.endswith(f" {name}") and said <= new[other]]
        for name, said in new.items()
    }
    return [
        {**change, "entry": longer[change["entry"]][0]} if len(longer.get(change["entry"], ())) == 1 else change
        for change in changes
    ]


_ADVERB = r"(?:now|finally|already|at last|at once|today|again|also|too|has|had|\w+ly)"
_KNOWS = re.compile(
    rf"(?P<who>.+?) (?:{_ADVERB} )*(?:knows|knew|learns|learned|learnt|discovers|discovered|finds out|found out|understands|"
    rf"understood|"
    rf"reali[sz]e[sd]|sees through|works out|worked out|figures out|figured out|is aware|hears|heard|(?:is|was) (?:\w+ )?told"
    rf"(?: by [^,.;]+?)?)(?: {_ADVERB})*(?: from [^,.;]+?)? (?P<what>(?:that|whether|if|who|whose|whom|what|where|when|why|how|"
    rf"which|about|of|the|"
    r"his|her|their)\b.+)"
)
_TOLD = re.compile(
    rf"(?P<by>.+?) (?:{_ADVERB} )*(?:tells|told|informs|informed|reveal(?:s|ed) to|confess(?:es|ed) to|explain(?:s|ed) to|"
    rf"admit(?:s|ted) to|"
    rf"shows|showed) (?P<who>[A-Z][^,.;]*?)(?: {_ADVERB})* (?P<what>(?:that|whether|who|whose|whom|what|where|when|why|how|"
    rf"which)\b.+)"
)
_HE = re.compile(r"(that )?(?:he|she|they)\b")
_UNTRUE = re.compile(r"\b(?:falsely|wrongly|lied|lying|nobody|no one|nothing)\b", re.IGNORECASE)
_KNOWS_NOT = re.compile(
    r"(?P<who>.+?) (?:still )?(?:(?:does not|doesn['’]t) (?:yet )?know(?: yet)?|(?:is|was) (?:still )?(?:unaware|not aware)|"
    r"has no idea) (?P<what>.+)"
)
_ASKS = re.compile(r"(?:that|whether|if) ")
_VERBS = (
    "take took taken steal stole stolen rob robbed", "kill killed murder murdered slew slain", "give gave given",
    "write wrote written", "hide hid hidden", "break broke broken", "sell sold", "buy bought", "find found", "lose lost",
    "leave left", "know knew known", "die died dead death", "tell told", "send sent", "see saw seen", "make made",
    "burn burnt burned", "keep kept", "bring brought", "go went gone", "come came", "throw threw thrown", "hang hung hanged",
    "shoot shot",
)  # fmt: skip
_SAME_VERBS = {form: forms.split()[0] for forms in _VERBS for form in word_forms(forms)}
_ASKING = word_forms("who whose whom what where when why how which")
_IS_SOMEWHERE = re.compile(
    r"\b(?:is|are|was|were|lies|lay|stands|stood|hangs|hung|sits|sat|hid|hidden|buried|kept|locked) (?:\w+ )?"
    r"(?:in|inside|on|at|under|underneath|below|beneath|behind|beside|near|above|over|between|among|aboard|within|with|by) "
    rf"(?!{_NO_PLACE})"
)
_FINDS = re.compile(
    r"(?P<who>.+?) (?:\w+ly )?(?:has|holds|found|finds|discovered|took|picked up|pulled out|recovered|came upon) "
    r"(?:the|an?|his|her|their) (?P<thing>[^,.;]+)"
)
_QUESTION_WORD = re.compile(r"(?:who(?:se|m)?|what|where|when|why|how|which)\b")
_NAMES = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_SOMEBODY = re.compile(r"(?:[Tt]he )?(?:[A-Z][\w'’-]+ ){1,3}")


def end_of(entry: Entry, line: Line) -> Change:
    """Return the change that ends a line: by its sentence where that is what it says, else by its value."""
    change = Change(entry=entry.name, kind=entry.kind, do="end", aspect=line.aspect)
    is_said = line.text and line.aspect in ("fact", "unaware")
    return {**change, "text": line.text} if is_said else {**change, "value": line.value}


def end_of_office(entry: Entry, role: str) -> Change:
    """Return the change by which somebody is no longer what the brief, which no passage changes, says that they are."""
    return Change(entry=entry.name, kind=entry.kind, do="set", aspect="fact", value="", text=entry.no_longer(role))


def _ended_by(fact: str, entry: Entry, named: Sequence[Entry]) -> Iterator[Change]:
    """Yield the ends of those lines of an entry that an English fact takes back in the line's own words."""
    said = fact.rstrip(".")
    known = _learned(said, entry, named)
    for line in entry.lines:
        if line.passage and line.aspect in ("fact", "unaware"):
            held = sentence_of(entry, line).rstrip(".")
            if _denies(said, held) or any(_is_known(what, held, entry) for what in known):
                yield end_of(entry, line)


@lru_cache(maxsize=4096)
def _denies(said: str, held: str) -> bool:
    """Return whether one of two English sentences says that it is not so, and both say the same else."""
    if bool(_NOT.search(said)) == bool(_NOT.search(held)):
        return False
    first, second = ([*map(word_forms, tokens(_NOT.sub(" ", text)))] for text in (said, held))
    return [*filter(None, first)] == [*filter(None, second)]


def _learned(said: str, entry: Entry, named: Sequence[Entry]) -> list[str]:
    """Return what somebody knows now as a fact says it, in the words in which it may have been said that they do not."""
    if (knows := _KNOWS.fullmatch(said)) and knows["who"] in entry.names:
        return [knows["what"]]
    if (finds := _FINDS.match(said)) and finds["who"] in entry.names:
        return [f"where the {finds['thing']} is"]
    told = _TOLD.fullmatch(said)
    if told is None or told["who"] not in entry.names or DOUBTED.search(told["by"]) or _UNTRUE.search(told["by"]):
        return []
    # She is her mother, says the widow: that the widow is.
    by = f"{told['by'][0].lower()}{told['by'][1:]}" if told["by"].startswith("The ") else told["by"]
    tellers = dict.fromkeys([by, *(name for one in named if by in one.names for name in one.names)])
    return [
        told["what"],
        *(_HE.sub(rf"\g<1>{name}", told["what"], count=1) for name in tellers if _HE.match(told["what"])),
    ]


def _is_known(what: str, held: str, entry: Entry) -> bool:
    """Return whether a line says of an entry that it does not know, in the same words, what it knows now."""
    unknown = _KNOWS_NOT.fullmatch(held)
    if unknown is None or key_of(unknown["who"]).removeprefix("the ") not in {
        key.removeprefix("the ") for key in entry.called
    }:
        return False
    asked, known = _ASKS.sub("", unknown["what"], count=1), _ASKS.sub("", what, count=1)
    if known == asked:
        return True
    if bool(_NOT.search(asked)) != bool(_NOT.search(known)) or is_doubted(known, 0, len(known)):
        return False
    return _answers(asked, known, word_forms(" ".join(entry.names)))


def _answers(asked: str, known: str, knower: frozenset[str]) -> bool:
    """Return whether what somebody knows is what was asked, in other forms of its words, beside those for themselves."""
    first, second = ([_same_words(name) - knower for name in _NAMES.findall(text)] for text in (asked, known))
    names, others = [forms for forms in first if forms], [forms for forms in second if forms]
    rest, own = (_same_words(text) - _ASKING - knower for text in (asked, known))
    rest, own = rest.difference(*names), own.difference(*others)
    question, answer = (found[0] if (found := _QUESTION_WORD.match(text)) else "" for text in (asked, known))
    if not (names or rest) or not rest <= own:
        return False
    if answer == "who" and not question:
        return bool(names and rest) and not others
    if len(names) > len(others) or any(one.isdisjoint(other) for one, other in zip(names, others, strict=False)):
        return False
    if question == answer:
        return len(names) == len(others) and len(names) + len(rest) > (0 if question else 1)
    if answer:
        return False
    if question == "who":
        return (_SOMEBODY.match(known) or _HE.match(known)) is not None
    return question == "where" and len(names) == len(others) and _IS_SOMEWHERE.search(known) is not None


@lru_cache(maxsize=4096)
def _same_words(text: str) -> frozenset[str]:
    """Return the words of a text in one form, of verbs that change theirs, too, and of those that say the same."""
    return frozenset(_SAME_VERBS.get(word, word) for word in word_forms(text))


_BEGINS = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+(?:['’][A-Z]\w+)?){1,2}(?=['’]s?\b|,? [a-z])")
"""A name of two words or three with which a sentence begins that goes on about it."""
_HIS = r"(?:his|her)(?= (?:own )?(?:\w+ )?"
"""Whose it is, looking ahead to what it is: with another word before it at most."""
_OWN = (
    # what one does with one's own body, and with nobody else's
    rf"(?:shook|shakes|shaking|nodded|nodding|nods|bowed|scratched|scratching|cocked|tilted|bent|hung|"
    rf"ducked) (?P<a>{_HIS}head\b))|"
    rf"(?:cleared|clears|clearing) (?P<b>{_HIS}throat\b))|(?:held|holds|holding|caught|caught up) (?P<c>{_HIS}breath\b))|"
    rf"(?:bit|bites|biting|licked|licks|licking|pursed|pursing|moistened|smacked|pressed) (?P<d>{_HIS}(?:lips?|tongue|nails)\b))|"
    rf"(?:narrowed|narrows|rolled|rolling|rolls|lowered|rubbed|rubbing|closed|closing|shut|opened|opening|averted|"
    rf"screwed up|squeezed|"
    rf"blinked|shaded|shielded|strained) (?P<e>{_HIS}eyes\b))|"
    rf"(?:clenched|set|gritted|ground|clenching|gritting|tightened) (?P<f>{_HIS}(?:jaw|teeth)\b))|"
    rf"(?:lowered|raised|lowering|raising|dropped) (?P<g>{_HIS}voice\b))|"
    rf"(?:shrugged|shrugging|squared|squaring|hunched|hunching) (?P<h>{_HIS}shoulders\b))|"
    rf"(?:folded|folding|crossed|crossing|uncrossed|stretched|stretching) (?P<j>{_HIS}(?:arms|legs)\b))|"
    rf"(?:lifted|raised|lifting|raising|knit|knitted|furrowed|wrinkled) (?P<k>{_HIS}(?:chin|eyebrows?|brows?|nose|forehead)\b))|"
    rf"(?:got|rose|jumped|sprang|struggled|leapt|scrambled|came|climbed|staggered) to (?P<l>{_HIS}feet\b))|"
    rf"(?:wrung|wringing|clapped|clapping|clasped|dried|drying|rubbed|rubbing|washed|washing|wiped|threw up|spread) "
    rf"(?P<m>{_HIS}hands\b))|turned on (?P<n>{_HIS}heel\b))|"
    rf"(?:tapped|tapping|stamped|stamping|shuffled|shuffling|dragged|wiped|kicked) (?P<o>{_HIS}(?:foot|feet)\b))|"
    rf"(?:made up|changed|lost|came to|spoke|crossed) (?P<p>{_HIS}(?:mind|senses|temper|balance|footing|nerve|way)\b))|"
    rf"(?:put on|putting on|took off|taking off|pulled on|pulling on|tugged on|slipped on|buttoned|buttoning|unbuttoned|hung up|"
    rf"shrugged on|shrugged off|threw off) (?P<q>{_HIS}(?:coat|overcoat|cloak|jacket|hat|cap|gloves?|boots?|shoes?|scarf|"
    rf"shawl|spectacles|"
    r"glasses|apron|gown|bonnet|raincoat|cardigan|sweater|waistcoat)\b))|"
    rf"(?:wiped|wiping|mopped|mopping|rubbed|rubbing) (?P<r>{_HIS}(?:brow|forehead|mouth|nose|spectacles|glasses)\b))|"
    rf"(?:looked at|glanced at|checked|consulted|wound|checking|consulting) (?P<s>{_HIS}(?:wrist)?watch\b))|"
    rf"(?:took|resumed|regained) (?P<t>{_HIS}(?:seat|composure)\b))|"
    rf"(?:scratched|scratching) (?P<x>{_HIS}(?:beard|stubble|whiskers|mou?stache)\b))|"
    rf"ran (?:a hand|(?:his|her) (?:fingers|hand)) through (?P<u>{_HIS}hair\b))|"
    rf"(?:put|thrust|shoved|plunged|dug|stuck) (?:both )?(?P<v>{_HIS}hands) (?:in|into|deep))|"
    rf"(?:muttered|cursed|swore|murmured|hummed|whistled|said|laughed) under (?P<w>{_HIS}breath\b))"
)
OF_ONESELF = re.compile(
    rf"\b(?P<name>[A-Z][\w'’-]+)(?:,| {SPEAKS}(?: \w+ly)?,)? (?:slowly |only |just |\w+ly )?(?:{_OWN}|(?P<i>himself|herself)\b|"
    r"(?!told|saw|met|asked|with|and|or|to|for|like|by|that|than)[a-z]+(?:ed|[^aeiou]t|ut|ound|ew|ught|aw|ve|oke) "
    r"(?!(?:was|were|to|by|than|that)\b)(?:upright |down |up |in |on |at |for )?(?P<z>himself|herself)(?= (?:to|on|in|"
    r"into|at|with|against|from|up|down|off|"
    r"by|out|over|for|behind|across|a|an|the)\b|[.,;]|$))"
)
"""Somebody, and what one does with nobody's head, throat or breath but one's own, or to oneself."""


def pronoun_of(match: re.Match[str]) -> str:
    """Return which of `he` and `she` a match of OF_ONESELF says."""
    return "he" if (match[match.lastgroup or 0] or "").startswith("hi") else "she"


_GOVERNED = re.compile(
    r"\b(?:to|with|of|at|for|from|by|upon|on|beside|near|behind|against|towards?|about|after|before|than|over|round|saw|"
    r"told|and|or) $"
)
"""What ends in a word after which a name is not whoever does something."""


def is_alone(match: re.Match[str], entry: Entry) -> bool:
    """Return whether a match of OF_ONESELF names an entry and no relative: by their surname alone it may be either."""
    *first, last = entry.name.split()
    before = match.string[: match.start()]
    is_whole = before.endswith(f"{' '.join(first)} ")
    if _GOVERNED.search(before) or (_OTHER_NAME.search(before) and not is_whole):
        return False
    if entry.is_another_at(match.string, match.start()):
        return False
    return is_whole or match["name"] != last or match["name"] == without_epithets(entry.name)


HE, SHE = r"\b(?:he|him|his|himself)\b", r"\b(?:she|hers?|herself)\b"
PERSON = (
    r"(?:\w*(?:man|men|boys?|girls?|lady|ladies)|people|"
    rf"{FAMILY.pattern}|"
    r"(?:fellow|lad|lass|guy|king|queen|prince|princess|lord|sir|stranger|guest|visitor|guard|soldier|sailor|doctor|nurse|priest|"
    r"corpse|body|bodies|patient|wounded|prisoner|invalid|victim|captain|driver|clerk|child|children|baby|kid|twin|"
    r"friend|lover|neighbo[u]?r|servant|maid|cook|teacher|pupil|student|"
    r"officer|inspector|detective|sergeant|thief|killer|boss|dog|cat|horse|ghost|figure|voice|other|both|two|together|"
    r"\w+(?:keeper|maker|smith|master|wright|herd|person|folk))s?)"
)
"""What somebody is called who is told of without a name."""
_NOT_HE = (
    r"(?:\w*wom[ae]n|girls?|lady|ladies|(?:god|grand)?(?:mother|sister|daughter|aunt|niece)s?|wife|wives|lass|queen|"
    r"princess)"
)
_NOT_SHE = (
    r"(?:\w*(?<!wo)m[ae]n|boys?|(?:god|grand)?(?:father|brother|son|uncle|nephew|husband)s?|lads?|guys?|king|prince|lord|"
    r"sir)"
)
_MEANT = {
    pronoun: re.compile(rf"(?!{others}$)(?:{PERSON}|we|us|our|they|them|their|(?:some|any|every)(?:body|one))")
    for pronoun, others in (("he", _NOT_HE), ("she", _NOT_SHE))
}
"""Whom a pronoun may mean who has no name; each is one word, in small letters."""
_WORDS = {"he": frozenset(("he", "him", "his", "himself")), "she": frozenset(("she", "her", "hers", "herself"))}
_IS_SAID = {"he": re.compile(HE, re.IGNORECASE), "she": re.compile(SHE, re.IGNORECASE)}
_TO_SOMEBODY = re.compile(r"\byou(?:rs?)?\b", re.IGNORECASE)
_ACTING = re.compile(rf"\b[A-Z][\w'’-]+(?= {ACTS})")
_CAPITAL = re.compile(r"\b(?!I\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][\w'’-]*")
_NAMED = re.compile(rf"(?<=[a-z,;:] )(?<!\bin ){_CAPITAL.pattern}")
"""A word in capitals inside a sentence: somebody's name, as far as nobody knows better."""
_SOME_DOER = re.compile(
    r"\b(?:the|an?|my|our|this|that) (?:[a-z-]+ ){0,2}?(?:[a-z]+(?:er|or|ist|ian|eon|ee)|sheriff|judge|mayor|merchant|vicar|monk|"
    r"pilot|clown|chief|animal|beast|creature|mare|stallion|pony|mule|donkey|hound|pup|puppy|bull|goat|bird|parrot|raven|hawk|"
    r"wolf|fox|bear|lion|dragon|colt|foal|grey|bay)s?\b"
)
"""Who may do what is told next, by what they do for a living, and an animal."""
FEWEST_TOLD = 3
"""Sentences of a passage that call somebody by a pronoun, before it is known to be theirs."""


class ToldSentence(NamedTuple):
    """A sentence of a passage."""

    said: str
    plain: str
    """Without what people say in it."""
    paragraph: int


@lru_cache(maxsize=8)
def told_sentences(passage: str) -> tuple[ToldSentence, ...]:
    """Return the sentences of a passage, what is said and who says it together."""
    joined: list[tuple[str, int]] = []
    for number, paragraph in enumerate(passage.split("\n")):
        for sentence in sentences(paragraph):
            if joined and joined[-1][0].count('"') % 2:
                joined[-1] = (f"{joined[-1][0]} {sentence}", joined[-1][1])
            else:
                joined.append((sentence, number))
    return tuple(ToldSentence(said, SPOKEN.sub('""', said), number) for said, number in joined)


def calling(pronoun: str, entry: Entry, told: Sequence[ToldSentence], codex: Codex) -> list[ToldSentence]:
    """Return the sentences of a passage in which `he` or `she` can mean nobody but one person.

    Each says who speaks, or follows one that tells of them by their name. Whom the first pronoun of a passage means, later ones
    may mean too; and nowhere is anybody else whom it may mean, or who is called by the other pronoun.
    """
    plain, other = " ".join(sentence.plain for sentence in told), "she" if pronoun == "he" else "he"
    # Words are looked up in a fraction of the time that a pattern takes, and most passages have both pronouns or none.
    words = searched(plain).small_words
    if pronoun not in words or not words.isdisjoint(_WORDS[other]):
        return []
    found = _behind_name(pronoun, entry, told, codex)
    if not found or may_mean_another(pronoun, entry, plain, codex):
        return []
    *before, first = told[: told.index(found[0]) + 1]
    spoken = " ".join(said for sentence in (*before, first) for said in SPOKEN.findall(sentence.said))
    if (
        _TO_SOMEBODY.search(spoken)
        or _IS_SAID[pronoun].search(spoken)
        or may_mean_another(pronoun, entry, spoken, codex)
    ):
        return []
    heard = " ".join([*(sentence.plain for sentence in before), _IS_SAID[pronoun].split(first.plain)[0]])
    known = NOBODY | {word for one in (entry, *codex.named_in(heard)) for name in one.names for word in name.split()}
    # With a name speech may begin, of whom it tells and to whom.
    named = [*_NAMED.findall(heard), *_CAPITAL.findall(spoken)]
    is_another_named = any(_without_genitive(name) not in known for name in named)
    return [] if is_another_named or _SOME_DOER.search(heard) else found


def names_pattern(entry: Entry, codex: Codex) -> str:
    """Return a pattern of the names that an entry alone has; one that fits nothing for none."""
    return "|".join(map(spelled, codex.names_of(entry))) or "(?!)"


def _behind_name(pronoun: str, entry: Entry, told: Sequence[ToldSentence], codex: Codex) -> list[ToldSentence]:
    """Return which sentences say a pronoun behind somebody's name; none where the first pronoun of a passage stands elsewhere."""
    called = names_pattern(entry, codex)
    speaks = rf"\"\" (?:{SPEAKS} (?:{called})|(?:{called}) {SPEAKS})\b"
    begins = re.compile(rf"(?:{called})(?! (?:and|or|with|to|of|in)\b) [a-z]|{speaks}")
    goes_on = re.compile(rf"{speaks}[^;:\"]*, (?:and|but) {pronoun}")
    found = list[ToldSentence]()
    for before, sentence in pairwise((ToldSentence("", "", -1), *told)):
        if (said := _IS_SAID[pronoun].search(sentence.plain)) is None:
            continue
        until = sentence.plain[: said.end()]
        is_next = before.paragraph == sentence.paragraph and until.casefold() == pronoun
        # Somebody hears what a sentence ends in, and may be the next to act.
        if goes_on.fullmatch(until) or (is_next and begins.match(before.plain) and not before.plain.endswith('"')):
            found.append(sentence)
        elif not found:
            return []
    return found


def may_mean_another(pronoun: str, entry: Entry, text: str, codex: Codex) -> bool:
    """Return whether a text tells of anybody but an entry whom a pronoun may mean: by a name, as who acts, or without one."""
    for name in sorted(entry.own_names, key=len, reverse=True):
        text = text.replace(name, " ")  # Signe Orrin is no other Orrin
    people = [one for one in codex.named_in(text) if one.kind == "person"]
    if any(one is not entry and one.value("pronouns") in ("", pronoun) for one in people):
        return True
    if any(_MEANT[pronoun].fullmatch(word) for word in searched(text).small_words):
        return True
    known = {word for one in (entry, *people) for name in one.names for word in name.split()} | NOBODY
    return any(_without_genitive(name) not in known for name in _ACTING.findall(text))


def _without_genitive(name: str) -> str:
    return re.sub(r"['’]s?$", "", name)


def _pronouns(passage: str, codex: Codex) -> Iterator[Change]:
    said: dict[str, set[str]] = {}
    for match in OF_ONESELF.finditer(passage):
        entry = codex.find(match["name"])
        if entry and entry.kind == "person" and not entry.value("pronouns") and is_alone(match, entry):
            said.setdefault(entry.name, set()).add(pronoun_of(match))
    words = searched(passage).small_words
    if len(only := [pronoun for pronoun, forms in _WORDS.items() if not words.isdisjoint(forms)]) == 1:
        unknown = [one for one in codex.named_in(passage) if one.kind == "person" and not one.value("pronouns")]
        if len(unknown) == 1 and len(calling(only[0], unknown[0], told_sentences(passage), codex)) >= FEWEST_TOLD:
            said.setdefault(unknown[0].name, set()).add(only[0])
    for name, found in said.items():
        if len(found) == 1:
            yield Change(entry=name, kind="person", do="set", aspect="pronouns", value=found.pop())
