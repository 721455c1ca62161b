"""The codex as of a passage: the fold of what every passage on its path changed, with what the author says of the branch.

Each commit holds the changes of its own passage, so a branch, an undo and an edit with replay need nothing more.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.dead_who_act import DeadWhoActs, dead_who_act, is_of_body
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.looks import MOST_LOOKS, is_part_of, with_look, without_features, without_look
from recurrentgpt.memory.open_promises import bearing
from recurrentgpt.memory.path_fold import KEPT, PathFold
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.superseded import tells_of_other_holder, tells_where_it_is
from recurrentgpt.memory.tenses import is_present_of_them
from recurrentgpt.memory.told_of_people import tells_how_they_live, tells_of_the_living
from recurrentgpt.memory.word_forms import shared_words, word_forms
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens, word_set
from recurrentgpt.schema.codex import (
    LASTING,
    NOBODY_HAS,
    ONE_EACH,
    Aspect,
    Change,
    Codex,
    Entry,
    Line,
    Superseded,
    Told,
    sign_of,
    sign_of_role,
)
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.names import ANYBODY, DEFINITE, FAMILY, HE_IS, SHE_IS, key_of, plain, without_article
from recurrentgpt.schema.parts import Brief

MOST_LINES = 40
"""Lines of one entry of an aspect that may have several; the oldest make room, and are told by what is recalled alone."""
MOST_EARLIER = 400
"""Lines of one entry that made room and can still end, as those that are told."""
MOST_LOOK_WORDS = 36
"""Words of looks that are told as one sentence, which has at most 40 with the name; of few words to tell, a quarter."""
MOST_ENTRIES = 400
"""Entries that passages have made and that are kept; the others stay in the commits. See `_within_bounds`."""
MOST_HELD = 300
"""Of those, people and what is open that things cannot push out: what is new needs places, too."""
MOST_UNTIL_DEATH = 3 * MOST_LINES
"""Lines that are true again of somebody dead if they live after all, the newest."""
_SMALL_WORD = 3
"""Letters of a word that tells no place from another: in, at, the."""
_SAME = 0.6
"""Share of the words of a line that another one has which says the same, or takes it back."""

_GONE = ("dead", "absent", "lost", "destroyed")
_TOLD_FIRST = ("unaware", "status", "holder", "place", "look", "fact", "role", "pronouns")


async def codex_at(log: LogReader, story: str, head: str, overlay: str, brief: Brief) -> Codex:
    """Return the codex after the passage `head` with the corrections `overlay` in force; of an opening, what the brief says."""
    said = (await read_overlay(log, story, overlay)).get("codex", [])
    below = [*of_brief(brief), *said]
    renamed = {change.get("value", "") for change in said if change["do"] == "rename"}
    lead = tuple(sorted({name.casefold() for name in {*renamed, *(change["entry"] for change in below)}}))
    # Whom the author cares for matters only where entries have to go: with another brief it is another fold.
    full: BoundedCache[tuple[str, ...], bool] = log.cache("full codex", KEPT)
    passages = await _CODEX.at(log, story, head, lead if full.get((*log.root, story)) else ())
    if not passages.is_whole and not full.get((*log.root, story)):
        full.put((*log.root, story), True)
        passages = await _CODEX.at(log, story, head, lead)
    # By story, the last codex that was asked for, after the one of its passages and the changes below it.
    latest: BoundedCache[tuple[str, ...], tuple[Codex, list[Change], Codex]] = log.cache("codex", KEPT)
    key = (*log.root, story)
    known = latest.get(key)
    # All that is done for one passage asks for the same codex, and names are looked up in it again and again.
    if known is None or known[0] is not passages or known[1] != below:
        known = passages, below, under(passages, below)
        latest.put(key, known)
    return known[2]


def facts(commit: Commit) -> list[str]:
    """Return what a passage made true of entries, each as a sentence that is not its own: rows of the recall beside those."""
    texts = [
        sentence_of(Entry(change["entry"], change["kind"]), line_of(change))
        for change in commit.get("codex", [])
        if change["do"] == "set" and change.get("aspect") in LASTING
    ]
    return [text for text in dict.fromkeys(texts) if text not in commit["passage"]]


def in_names(codex: Codex, plan: str) -> list[str]:
    """Return what a plan says of people and things under other names and roles, with their names in the place of those."""
    named = plan = plain(plan)
    for start, end, entry in sorted(codex.kin_in(plan), key=lambda kin: -kin[0]):
        if plain(entry.name).casefold() not in plan.casefold():
            named = f"{named[:start]}{entry.name}{named[end:]}"
    for entry in codex.named_in(plan):
        if plain(entry.name).casefold() not in plan.casefold():
            signs = [*map(sign_of, entry.aliases), *map(sign_of_role, codex.own_roles(entry))]
            others = "|".join(sign.source for sign in sorted(signs, key=lambda sign: len(sign.name), reverse=True))
            name = entry.name.replace("\\", r"\\")
            named = re.sub(rf"(?:\b{DEFINITE})?(?:{others})", name, named) if others else named
            for start, end in reversed(codex.short_places(entry, named)):
                before = re.sub(rf"{DEFINITE}$", "", named[:start]) if entry.name[0].isupper() else named[:start]
                named = f"{before}{entry.name}{named[end:]}"
    if named == plan:
        return []
    known = query_parts(plan)
    return [part for part in query_parts(named) if part not in known]


def changed(
    codex: Codex, changes: Iterable[Change], passage: str = "", step: int = 0, lead: Collection[str] = ()
) -> Codex:
    """Return the codex after the changes of a passage; `lead` are the keys of entries that make room for none."""
    for change in changes:
        codex = _with(codex, change, passage, step)
    return _within_bounds(codex, lead) if len(codex.entries) > MOST_ENTRIES else codex


_CODEX = PathFold(
    Codex(),
    lambda codex, commit, lead: changed(codex, _still_so(commit, codex), commit["id"], commit["step"], lead),
)


def _still_so(commit: Commit, codex: Codex) -> list[Change]:
    """Return what a passage changed, without where the dead are and how they look who are no body there.

    Of a passage that was written as somebody lived who is dead now also without what they do in it.
    Whoever else is told of there, and whatever, is an entry all the same.
    """
    changes = _without_life_of_the_dead(commit.get("codex", []), codex) if codex.dead else commit.get("codex", [])
    for one in dead_who_act(codex, commit.get("contradictions", [])):
        if one.was_alive:
            changes = [_without_once_living(change, one) for change in changes]
    return changes


def _without_life_of_the_dead(changes: list[Change], codex: Codex) -> list[Change]:
    """Return what a passage changed without where somebody is, and how they look, who is dead and no body there.

    Who lives after all by the same passage is anywhere.
    """
    back = {change["entry"] for change in changes if change.get("aspect") == "status" and change.get("value") != "dead"}

    def is_of_life(change: Change) -> bool:
        if change["do"] != "set" or change.get("aspect") not in ("place", "look") or change.get("author"):
            return False
        entry = (
            codex.find(change["entry"], "person")
            if change["kind"] == "person" and change["entry"] not in back
            else None
        )
        told = f"{change.get('text', '')} {change.get('rests_on', '')}"
        return entry is not None and entry.is_dead and not is_of_body(told, entry.names)

    return [change for change in changes if not is_of_life(change)]


def _without_once_living(change: Change, one: DeadWhoActs) -> Change:
    """Return a change without what it says of somebody, or where they are, in a passage that was written as they lived."""
    if change["do"] != "set" or change.get("author"):
        return change
    entry = Entry(change["entry"], change["kind"])
    nothing = Change(entry=entry.name, kind=entry.kind, do="alias", value=entry.name)
    is_theirs = entry.name in one.entry.names
    if is_theirs and change.get("aspect") in ("place", "holder", "look", "unaware"):
        return nothing if one.acts_in(f"{entry.name}: {change.get('rests_on', '')}") else change
    if change.get("aspect") == "fact":
        return nothing if one.is_over(change.get("text", "")) else change
    if is_theirs or change.get("aspect") in ("role", "pronouns"):
        return change
    bare: Change = {**change, "text": "", "rests_on": ""}
    said = sentence_of(entry, line_of(bare))
    if one.is_over(said) or (change.get("aspect") == "unaware" and one.acts_in(said)):
        return nothing
    return bare if one.lives_in(change.get("text", "")) else change


def under(codex: Codex, said: Iterable[Change]) -> Codex:
    """Return a codex with what the brief and the author say of the whole branch, where no passage says otherwise.

    Of an entry that was taken out, what passages say after the one that `value` numbers is there again.
    """
    said = list(said)
    named = frozenset(visible_text(change["entry"]).casefold() for change in said)
    for change in said:
        taken_out = _entry_of(codex, change, named) if change["do"] == "remove" else None
        codex = _with(codex, change, named=named)
        since = change.get("value", "")
        if taken_out is not None and since.isdecimal() and len(since) < 9:
            anew = tuple(line for line in taken_out.lines if line.step > int(since))
            if anew:
                codex = codex.with_entry(None, dataclasses.replace(taken_out, lines=anew, keys=(), pinned=False))
    return _with_holders_named(codex)


def _with_holders_named(codex: Codex) -> Codex:
    """Return a codex in which whoever has a thing has the name of their entry, as what they were known when a passage said so."""
    named = dict[str, Entry]()
    for thing in codex.held:
        line = thing.line("holder")
        holder = _holder(codex, line.value) if line is not None else None
        if line is None or holder is None or _bare(holder.name) == _bare(line.value):
            continue
        name = _called(holder)
        now = dataclasses.replace(line, value=name, text=line.text.replace(line.value, name))
        lines = tuple(now if one is line else one for one in thing.lines)
        named[codex.key(thing)] = dataclasses.replace(thing, lines=lines)
    return dataclasses.replace(codex, entries={**codex.entries, **named}) if named else codex


def _bare(name: str) -> str:
    return without_article(name).casefold()


def _within_bounds(codex: Codex, lead: Collection[str]) -> Codex:
    """Return a codex without the entries that are too many.

    Things, places and what is settled go first, then people, then the dead and what is open; of equals, what nobody told of for
    longest. Whom the brief or the author names stays.
    """
    entries = list(codex.entries.values())
    ranks = [3 if entry.pinned or key in lead else _rank(entry) for key, entry in codex.entries.items()]
    held = sorted(
        (place for place, rank in enumerate(ranks) if 0 < rank < 3), key=lambda place: (-ranks[place], -place)
    )
    for place in held[MOST_HELD:]:
        ranks[place] = 0
    order = sorted(range(len(entries)), key=lambda place: (ranks[place], place))
    left = {
        codex.key(entries[place]): entries[place] for place in order[: len(entries) - MOST_ENTRIES] if ranks[place] < 3
    }
    for entry in left.values():
        codex = codex.with_entry(entry, None)
    # Somebody who has the name of a place may have made room before it.
    apart = {
        key if key not in codex.left or codex.left[key].may_be(entry.kind) else f"{key}\n{entry.kind}": entry
        for key, entry in left.items()
    }
    return dataclasses.replace(codex, is_whole=False, left=codex.left.changed(apart))


def _rank(entry: Entry) -> int:
    """Return how much an entry is worth keeping."""
    if entry.kind == "person":
        return 2 if entry.is_dead else 1
    return 2 * entry.is_open


def _entry_of(codex: Codex, change: Change, named: Collection[str] | None) -> Entry | None:
    """Return the entry that a change is of; None for a new one.

    A passage's changes are under the names of entries, which were looked up with all people of the brief beside them: Anna is
    nobody here who has a surname. What lies below them the author says of whoever answers to a name, and the brief of whoever
    is not `named` there otherwise.
    """
    name = visible_text(change["entry"])
    found = codex.find(name, change["kind"], whole=True)
    if found is None and named is not None:
        found = codex.find(name, change["kind"])
        if found is None or change.get("author"):
            return found
        # Sister Agnes is another one than an Agnes of the brief.
        is_told_apart = found.has_epithet and key_of(name) not in found.called_whole
        return None if is_told_apart or found.name.casefold() in named else found
    return found


def _with(
    codex: Codex, change: Change, passage: str = "", step: int = 0, *, named: Collection[str] | None = None
) -> Codex:
    """Return a codex with a change of a passage, or of what lies below all passages, where so many are `named`."""
    name, value, do = visible_text(change["entry"]), visible_text(change.get("value", "")), change["do"]
    old, below = _entry_of(codex, change, named), named is not None
    # A place that has somebody's name is kept under what it is, too.
    keys = (f"{name.casefold()}\n{change['kind']}", name.casefold()) if old is None and not below else ()
    key = next((key for key in keys if key in codex.left and codex.left[key].may_be(change["kind"])), None)
    if key is not None:
        # It is told of again, and comes back with what is known of it; somebody may have died since.
        left = codex.left[key]
        codex = dataclasses.replace(codex, left=codex.left.changed({key: None}))
        ended = [(dead, one) for one in left.true_lines if one.passage and (dead := _dead_of(codex, left, one))]
        left = without_lines(left, [one for _, one in ended])
        codex, old = codex.with_entry(None, left), left
        for dead, one in ended:
            codex = _over_by_death(codex, dead, [(left, one)])
    entry, is_merged = old or Entry(name, change["kind"]), False
    match do:
        case "set":
            line = line_of(change, passage, step)
            if passage and not change.get("author"):
                if line.aspect == "status" and entry.is_dead and line.value != "alive":
                    known = entry.line("status")
                    if known is None or known.value != line.value:
                        return codex
                    return codex.with_entry(
                        old, dataclasses.replace(entry, lines=_said_again(entry.lines, known, line))
                    )
                if (dead := _dead_of(codex, entry, line)) is not None:
                    return _over_by_death(codex.with_entry(old, entry), dead, [(entry, line)])
            untrue = () if below else outdated(entry, line)
            told = tuple(other for other in entry.lines if other not in untrue) if untrue else entry.lines
            entry = _with_line(dataclasses.replace(entry, lines=told), line, below=below)
            if untrue or line.aspect in (*ONE_EACH, "look"):
                codex = _ended(codex, old, entry, line)
            # What only makes room is not over.
            entry = entry if below else bounded(entry)
        case "end":
            # What a passage said stays where the author takes back what lies under it.
            stays = tuple(line for line in entry.lines if below and line.passage)
            lines = tuple(line for line in entry.lines if line not in stays)
            lines, earlier = _without(codex, entry, lines, change)
            earlier = entry.earlier if below else earlier
            entry = dataclasses.replace(entry, lines=_back_from(entry, (*lines, *stays)), earlier=earlier)
            codex = _ended(codex, old, entry)
        case "rename":
            # Whom an author calls otherwise has the old name, too: the brief says it, and so may passages.
            # The stranger is whoever is a stranger next.
            also = (entry.name,) if change.get("author") and _bare(entry.name) not in ANYBODY else ()
            former = (*entry.former, *(() if also else (entry.name,)))
            other = codex.entries.get(value.casefold())
            if other is not None and other is not old and other.may_be(entry.kind):
                is_merged = True
                codex, entry, old = codex.with_entry(other, None), _merged(entry, other), old or other
            entry = dataclasses.replace(
                entry,
                name=value,
                former=tuple(name for name in dict.fromkeys(former) if name != value),
                aliases=tuple(name for name in dict.fromkeys((*entry.aliases, *also)) if name != value),
            )
        case "alias":
            if value.casefold() != entry.name.casefold():
                entry = dataclasses.replace(entry, aliases=tuple(dict.fromkeys([*entry.aliases, value])))
        case "key":
            entry = dataclasses.replace(entry, keys=tuple(dict.fromkeys([*entry.keys, value])))
        case "merge":
            # Whom an author merged has this name; what the brief alone knows is no part of another's in the passages.
            other = codex.find(value, whole=not below and change.get("author", False))
            if other is None or other is old:
                return codex
            is_merged = True
            codex = codex.with_entry(other, None)
            entry = _merged(entry, other)
        case "pin" | "unpin":
            entry = dataclasses.replace(entry, pinned=do == "pin")
        case "hide" | "show":
            entry = dataclasses.replace(entry, hidden=do == "hide")
        case "remove":
            return codex.with_entry(old, None)
    if old is None and do not in ("set", "key", "alias", "pin", "hide", "merge", "rename"):
        return codex
    codex = codex.with_entry(old, entry)
    aspect = change.get("aspect")
    if do == "set" and not below:
        if aspect == "holder" or (aspect == "status" and entry.is_gone):
            codex = _without_untrue_facts(codex, entry, step)
        elif aspect == "place" and entry.kind == "thing":
            was_held = old is not None and old.line("holder") is not None
            is_put = not was_held or entry.line("holder") is not None
            codex = _without_untrue_facts(codex, entry, step, is_put=is_put)
    if is_merged or (do in ("set", "end") and aspect == "status"):
        return _after_death(codex, entry) if entry.is_dead else _alive_again(codex, entry)
    return codex


_NOWHERE = frozenset(
    ("abroad", "away", "elsewhere", "gone", "missing", "nowhere", "somewhere", "unknown", "whereabouts")
)
"""Words of a place that says of nobody that they are back, and of nothing that it is found."""
_WHOSE = re.compile(
    r"(?<!\w)(?:his|her|their|my|our|your|sein(?:e[mnrs]?)?|ihr(?:e[mnrs]?)?|sa|son|ses|leurs?|sus?|suo|sua|suoi|sue|seus?|suas?|"
    r"zijn|haar|hun)(?!\w)"
)
"""Whose a place is, without a name: what is in his pocket is still his."""
_ON_ONE = re.compile(
    r"\b(?:pocket|neck|belt|hands?|fingers?|wrist|sleeve|bosom|shoulders?|coat|cloak|dress|apron|boot|satchel|bag|purse|wallet|"
    r"pouch|pack|knapsack|rucksack|backpack|saddlebag|holster|scabbard)\b(?! (?:of|under|in|beneath|behind)\b)",
    re.IGNORECASE,
)
"""Where somebody has what they have."""
_PUT_AWAY = re.compile(
    r"\b(?:bur(?:y|ies|ied)|hides?|hid|hidden|locks?|locked|puts?|plac(?:e|es|ed)|drops?|dropped|throws?|threw|thrown|fl[iu]ngs?|"
    r"toss(?:es|ed)?|sinks?|sank|sunk|stow(?:s|ed)?|stor(?:e|es|ed)|deposit(?:s|ed)?|forgets?|forgot|forgotten|lays?|laid|"
    r"pawn(?:s|ed)?|abandon(?:s|ed)?|conceal(?:s|ed)?|shuts?|inter(?:s|red)|vergr[aäu]b\w*|versteckt\w*|legte?|gelegt|ließ\w*|"
    r"enterr\w*|cach\w*|laiss\w*|pos(?:a|é|ée)|escond\w*|dej[aóoé]\w*|nascos\w*|seppell\w*|lasci\w*|deix\w*|begr[oa]e?[fv]\w*)\b",
    re.IGNORECASE,
)
"""How it is said that somebody lets go of a thing; what only is somewhere may be theirs there."""


_WHITHER = re.compile(
    r"\b(?:left|leaves|went|goes|gone|set (?:out|off|sail)|sail(?:s|ed)|fled|moved|travel\w+|departed|flew|rode|rowed|drove|"
    r"crossed|headed|emigrated|sent|taken|deported)\b[^.;,]*?\b(?:for|to)\s+"
    r"((?:the\s+)?[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*|the\s+[a-z][\w-]+)"
)
"""Where an English sentence says that somebody went."""


def outdated(entry: Entry, line: Line) -> tuple[Line, ...]:
    """Return the lines of an entry that are true no longer once a passage says a new one, beside the line that it replaces.

    Whoever is said to be somewhere is not absent, whoever has left is not where they were, and whoever is back not where they
    went. Nobody has what is lost, what somebody has or what lies somewhere is not lost, what changes hands is not where it was,
    and what is put somewhere is in nobody's hands, unless that place is somebody's own. Where a thing is and who has it, the same
    passage may say together. Whoever is well is not ill.
    """
    ended: set[Aspect] = set()
    earlier: set[Aspect] = set()
    if entry.kind == "thing":
        if line.aspect == "holder":
            ended, earlier = {"status"} if entry.is_gone else set(), {"place"}
        elif line.aspect == "status" and line.value in ("lost", "destroyed"):
            ended, earlier = {"holder"}, {"place"}
        elif line.aspect == "place" and not _NOWHERE & word_set(line.value):
            earlier = {"status"} if entry.value("status") == "lost" else set()
            earlier |= {"holder"} if _is_let_go(entry, line) else set()
    elif entry.kind == "person":
        if line.aspect == "status" and (line.value == "absent") != (entry.value("status") == "absent"):
            earlier = {"place"}
        elif line.aspect == "place" and entry.value("status") == "absent" and not _NOWHERE & word_set(line.value):
            # Told of again where they went, they are away still.
            gone = entry.line("status")
            told = " ".join(_WHITHER.findall(f"{gone.text} {gone.rests_on}")) if gone else ""
            went = {word for word in word_set(f"{entry.value('place')} {told}") if len(word) > _SMALL_WORD}
            earlier = set() if went & word_set(line.value) else {"status"}
    over = _conditions_ended(entry, line) if entry.kind == "person" else ()
    return tuple(
        other
        for other in entry.lines
        if other.aspect in ended
        or (
            other.passage
            and other.step < line.step
            and (other.aspect in earlier or (over and _condition(entry, other) in over))
        )
    )


_ILL, _WELL = "ill sick unwell wounded injured hurt dying bedridden", "well better recovered healthy healed cured"
_TAKEN, _FREE = "imprisoned jailed captured captive arrested trapped kidnapped", "free freed released"
_MISSING, _FOUND = "missing lost", "found safe"
_OPPOSITES = (
    (_ILL, _WELL),
    (_TAKEN, _FREE),
    (_MISSING, _FOUND),
    ("asleep unconscious", "awake"),
    ("drunk", "sober"),
)
"""Conditions of which each ends those of the other side."""
_ENDS = {
    word: frozenset(other.split())
    for pair in _OPPOSITES
    for these, other in (pair, pair[::-1])
    for word in these.split()
}
_IN_CONDITION = re.compile(
    rf"(?:now |still |very |quite |badly |a |seriously |gravely )?(?P<what>{'|'.join(_ENDS)})(?: again)?\.?"
)


def _condition(entry: Entry, line: Line) -> str:
    """Return in which condition a fact says that somebody is, and nothing else of them: `ill`; "" for none."""
    who, _, said = line.text.partition(" is ") if line.aspect == "fact" else ("", "", "")
    match = _IN_CONDITION.fullmatch(said) if who in entry.names else None
    return match["what"] if match else ""


def _conditions_ended(entry: Entry, line: Line) -> Collection[str]:
    """Return in which conditions somebody is no longer by a new line of theirs; whoever is somewhere, or dead, is not missing."""
    if line.aspect == "place":
        return () if _NOWHERE & word_set(line.value) else _MISSING.split()
    if line.aspect == "status":
        return _MISSING.split() if line.value == "dead" else ()
    return _ENDS.get(_condition(entry, line), ())


def _back_from(entry: Entry, left: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return what is left of the lines of an entry: who is absent no longer is not where they went."""
    gone = entry.line("status")
    if gone is None or gone.value != "absent" or gone in left:
        return left
    return tuple(line for line in left if line.aspect != "place" or not line.passage or line.step > gone.step)


def _is_let_go(thing: Entry, line: Line) -> bool:
    """Return whether a line tells that a thing was put where nobody has it."""
    said, last = f"{line.value} {line.text} {line.rests_on}", re.escape(thing.name.split()[-1])
    left = rf"\b(?:left|leaves?|sets?) (?:\w+ ){{0,3}}?(?:{last}|it|them)\b"
    if not (_PUT_AWAY.search(said) or re.search(left, said, re.IGNORECASE)):
        return False
    return not (_ON_ONE.search(line.value) or _is_somebodys(line.value, thing.value("holder")))


def _is_somebodys(place: str, holder: str) -> bool:
    """Return whether a place leaves a thing with its holder: in his pocket, in Tom's chest."""
    names = [part for part in plain(holder).split() if part[0].isupper()]
    return bool(_WHOSE.search(place)) or any(name in plain(place) for name in names or [plain(holder)])


def _without_untrue_facts(codex: Codex, thing: Entry, step: int, *, is_put: bool = False) -> Codex:
    """Return a codex in which no fact says any more that somebody has a thing who has it no longer, or that it is where it was.

    Of a thing that only lies elsewhere now, which `is_put`, nobody else has said anything: its own facts are read alone.
    """
    holder, last = thing.value("holder"), [name.split()[-1].casefold() for name in thing.names]
    if (known := _holder(codex, holder)) is not None:
        holder = " ".join((*known.names, *known.roles))
    for key, entry in [(codex.key(thing), thing)] if is_put else list(codex.entries.items()):
        # Most lines are no facts, and most facts name something else, which is found without a pattern.
        if gone := [
            line
            for line in entry.true_lines
            if line.aspect == "fact"
            and line.passage
            and any(word in line.text.casefold() for word in last)
            and (
                (not is_put and tells_of_other_holder(line.text, thing.names, holder))
                or (line.step < step and tells_where_it_is(line.text, thing.names))
            )
        ]:
            left = without_lines(entry, gone)
            codex = _ended(dataclasses.replace(codex, entries={**codex.entries, key: left}), entry, left)
    return codex


def _holder(codex: Codex, name: str) -> Entry | None:
    """Return who has a thing, by the name that a passage gave them."""
    return codex.find(name, "person", whole=True) or codex.find(name, whole=True)


def _after_death(codex: Codex, dead: Entry) -> Codex:
    """Return a codex in which nothing of what is true of the living alone is true of somebody dead.

    Where they are, what they do not know and what they hold ends, and of the facts, their own and others', those that tell of
    them in the present. What they did, who they were and how they looked stays, and what the author says of the whole branch.
    """
    entries, ended = dict(codex.entries), list[tuple[Entry, Line]]()
    names = codex.called_alone(dead)
    for own, entry in codex.entries.items():
        if own == codex.key(dead):
            gone = [line for line in entry.true_lines if line.passage and _ends_with_life(dead, line)]
        else:
            gone = [line for line in entry.true_lines if line.passage and _is_of_life(entry, dead, line, names)]
            if (line := entry.line("holder")) and line.passage and _holder(codex, line.value) is dead:
                gone.append(line)
        if gone:
            entries[own] = without_lines(entry, gone)
            ended += [(entry, line) for line in gone]
    return _over_by_death(dataclasses.replace(codex, entries=entries), dead, ended) if ended else codex


def _dead_of(codex: Codex, entry: Entry, line: Line) -> Entry | None:
    """Return who is dead and said by a line to live, or to have a thing; None for nobody.

    Where somebody dead is, a line may say of the body.
    """
    if line.aspect == "holder":
        holder = _holder(codex, line.value)
        return holder if holder is not None and holder.is_dead else None
    if entry.is_dead and line.aspect != "place" and _ends_with_life(entry, line):
        return entry
    if line.aspect != "fact":
        return None
    return next(
        (one for one in codex.dead if one is not entry and _is_of_life(entry, one, line, codex.called_alone(one))),
        None,
    )


def _ends_with_life(dead: Entry, line: Line) -> bool:
    if line.aspect == "fact":
        is_named = any(name[1:] in line.text for name in dead.names)
        return _tells_of_life(dead, line, dead.names) if is_named else is_present_of_them(line.text)
    return line.aspect in ("place", "unaware", "holder")


def _is_of_life(entry: Entry, dead: Entry, line: Line, names: tuple[str, ...]) -> bool:
    """Return whether a fact of another entry tells as of the living of somebody who is dead.

    What is promised or asked names them beside others, and stays: an oath holds for as long as it is open.
    """
    is_said = entry.kind not in ("promise", "question") or line.text.removeprefix("The ").startswith(names)
    return is_said and _tells_of_life(dead, line, names)


def _tells_of_life(dead: Entry, line: Line, names: tuple[str, ...]) -> bool:
    """Return whether a fact tells as of the living of somebody who is dead."""
    if line.aspect != "fact" or not any(name[1:] in line.text for name in names):
        return False
    died = dead.line("status")
    # The passage that somebody dies in tells how they die, in whatever tense.
    tells = tells_how_they_live if died and died.passage == line.passage else tells_of_the_living
    return tells(line.text, names)


def _over_by_death(codex: Codex, dead: Entry, ended: Iterable[tuple[Entry, Line]]) -> Codex:
    """Return a codex that knows which lines of its entries are not true because somebody is dead."""
    over = dict[str, tuple[Superseded, ...]]()
    for entry, line in ended:
        for passage, one in _superseded(entry, line, dead) if line.aspect in LASTING else ():
            known = over.get(passage, codex.over.get(passage, ()))
            over[passage] = known if one in known else (*known, one)
    key = codex.key(dead)
    until = (*codex.until_death.get(key, ()), *((codex.key(entry), line) for entry, line in ended))
    return codex.with_over(over, {**codex.until_death, key: until[-MOST_UNTIL_DEATH:]})


def _superseded(entry: Entry, line: Line, dead: Entry) -> Iterator[tuple[str, Superseded]]:
    """Yield each passage that said a line which a death has ended, with what of it is over."""
    for passage, rests_on in line.said_in:
        # What it rests on mostly tells what somebody did, and that is not undone.
        lived = rests_on if tells_how_they_live(rests_on, dead.names) else ""
        yield (
            passage,
            Superseded(sentence_of(entry, line), lived, _ever_called(entry), roles=entry.roles, by_death=True),
        )


def _ever_called(entry: Entry) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*entry.names, *entry.former]))


def _alive_again(codex: Codex, entry: Entry) -> Codex:
    """Return a codex in which what ended with somebody's death is true again, where nothing took its place: they live."""
    key = codex.key(entry)
    if key not in codex.until_death:
        return codex
    entries, over = dict(codex.entries), dict[str, tuple[Superseded, ...] | None]()
    for own, line in codex.until_death[key]:
        holds = entries.get(own)
        now = holds.line(line.aspect) if holds is not None and line.aspect in ONE_EACH else None
        if holds is None or (now is not None and now.value != line.value):
            continue
        again = dataclasses.replace(holds, lines=(*holds.lines, line))
        if any(line in outdated(again, other) for other in holds.lines if other.step > line.step):
            continue
        for passage, true in _superseded(holds, line, entry):
            known = over.get(passage, codex.over.get(passage)) or ()
            # They may have another name or role by now.
            over[passage] = tuple(one for one in known if one[:2] != true[:2]) or None
        same = now or next((other for other in holds.lines if _says_same(other, line)), None)
        lines = _said_again(holds.lines, same, line) if same else (*holds.lines, line)
        entries[own] = bounded(dataclasses.replace(holds, lines=tuple(sorted(lines, key=lambda line: line.step))))
    until = {other: ended for other, ended in codex.until_death.items() if other != key}
    return dataclasses.replace(codex, entries=entries, over=codex.over.changed(over), until_death=until)


def line_of(change: Change, passage: str = "", step: int = 0) -> Line:
    """Return what a change of a passage sets, as a line."""
    text, rests_on = change.get("text", ""), change.get("rests_on", "")
    is_authors = change.get("author", False)
    return Line(
        change.get("aspect", "fact"),
        change.get("value", ""),
        text,
        rests_on,
        passage,
        step,
        by_author=is_authors and not rests_on,
        is_meant=is_authors and bool(rests_on),
    )


def _ended(codex: Codex, old: Entry | None, new: Entry, by: Line | None = None) -> Codex:
    """Return a codex that knows which lines of an entry hold no more, so that no recall tells them as true.

    In the place of looks is the line that ended them, if one did.
    """
    # A fact is a sentence and has no value; the same value in other words goes on.
    true = {(line.aspect, line.value or line.text) for line in new.true_lines}
    before = old.true_lines if old else ()
    # Where a thing was put is told until it lies elsewhere, and so is where somebody lived.
    lasting = [line for line in before if line.said_in and line.aspect in (*LASTING, "place")]
    ended = [line for line in lasting if (line.aspect, line.value or line.text) not in true]
    if not ended:
        return codex
    over: dict[str, tuple[Superseded, ...]] = {}
    for line in ended:
        after = new.line(line.aspect) if line.aspect in ONE_EACH else None
        if line.aspect == "look":
            # An end of one feature leaves the others of the same line.
            after = by or next((one for one in new.true_lines if is_part_of(one, line)), None)
        now = sentence_of(new, after) if after else ""
        # What the passage says of several roles is true of those that stay.
        cut = _cut_from(line, new) if line.aspect == "role" else None
        for passage, said in line.said_in:
            # That they left is what somebody did, and stays told as that.
            is_place = line.aspect == "place" and new.kind == "person"
            rests_on = "" if line.value == "absent" or is_place or cut is not None else said
            one = Superseded(sentence_of(new, cut or line), rests_on, _ever_called(new), now, new.roles, is_place)
            known = over.get(passage, codex.over.get(passage, ()))
            over[passage] = known if one in known else (*known, one)
    return codex.with_over(over)


def _cut_from(line: Line, entry: Entry) -> Line | None:
    """Return what of a line of several roles an entry has no more; None where it has none of them."""
    parts = line.value.split(", ")
    for left in entry.true_lines:
        kept = left.value.split(", ") if left.aspect == "role" and left.said_in == line.said_in else []
        if kept and set(kept) < set(parts):
            return dataclasses.replace(line, value=", ".join(part for part in parts if part not in kept), text="")
    return None


def _with_line(entry: Entry, line: Line, *, below: bool) -> Entry:
    """Return an entry with one more line, in place of those that it replaces; nothing makes room for it yet."""
    lines, earlier = entry.lines, entry.earlier
    alike = [other for other in lines if other.aspect == line.aspect]
    if line.aspect in ONE_EACH:
        if below and alike:
            return entry
        alike = [other for other in alike if other.value == line.value]
        before = [said for other in alike for said in other.said_in]
        is_meant = line.is_meant or any(other.is_meant or other.by_author for other in alike)
        line = dataclasses.replace(line, again=(*line.again, *before), is_meant=is_meant) if alike else line
        return dataclasses.replace(entry, lines=(*(other for other in lines if other.aspect != line.aspect), line))
    if line.aspect == "look" and line.by_author and not below:
        # An author says how they look, a passage only what it tells of that.
        return dataclasses.replace(
            entry,
            lines=(*(other for other in lines if other.aspect != "look" or other.step > line.step), line),
            earlier=tuple(other for other in earlier if other.aspect != "look"),
        )
    if same := next((other for other in alike if _says_same(other, line)), None):
        return dataclasses.replace(entry, lines=_said_again(lines, same, line))
    if same := next((other for other in earlier if _says_same(other, line)), None):
        line = dataclasses.replace(line, again=(*same.said_in, *line.again))
        earlier = tuple(other for other in earlier if other is not same)
    if line.aspect == "look" and not below:
        instead = tuple(other for other in with_look(earlier, line, entry) if other is not line)
        return dataclasses.replace(entry, lines=with_look(lines, line, entry), earlier=instead)
    if below:
        for other in alike:
            left = without_features((line,), other, entry) if line.aspect == "look" and other.passage else (line,)
            if not left:
                return entry
            (line,) = left
        # What the author says stands before all that passages say, in its own order.
        own = [other for other in lines if not other.passage]
        return dataclasses.replace(
            entry, lines=(*own, line, *(other for other in lines if other.passage)), earlier=earlier
        )
    return dataclasses.replace(entry, lines=(*lines, line), earlier=earlier)


def _says_same(line: Line, other: Line) -> bool:
    return (line.aspect, line.text, line.value) == (other.aspect, other.text, other.value)


def bounded(entry: Entry) -> Entry:
    """Return an entry of whose lines the oldest have made room, where passages tell too many of one aspect."""
    if len(entry.lines) <= MOST_LOOKS:
        return entry
    room: list[Line] = []
    for aspect in sorted({line.aspect for line in entry.lines} - {*ONE_EACH}):
        alike = [line for line in entry.lines if line.aspect == aspect and line.passage and not line.by_author]
        room += alike[: -(MOST_LOOKS if aspect == "look" else MOST_LINES)]
    if not room:
        return entry
    earlier = sorted((*entry.earlier, *room), key=lambda line: line.step)
    return dataclasses.replace(without_lines(entry, room), earlier=tuple(earlier[-MOST_EARLIER:]))


def without_lines(entry: Entry, gone: Collection[Line]) -> Entry:
    """Return an entry without some of its lines."""
    return dataclasses.replace(
        entry,
        lines=tuple(line for line in entry.lines if line not in gone),
        earlier=tuple(line for line in entry.earlier if line not in gone),
    )


def _said_again(lines: tuple[Line, ...], known: Line, line: Line) -> tuple[Line, ...]:
    """Return lines in which a known one is said by one more passage: with it, what that says ends."""
    both = dataclasses.replace(known, again=(*known.again, *line.said_in))
    return tuple(both if other is known else other for other in lines)


def _without(
    codex: Codex, entry: Entry, lines: tuple[Line, ...], change: Change
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return lines, and the entry's earlier ones, without the one that a change ends.

    That is one of its aspect, and says what the change says, if that says anything.
    """
    aspect, said = change.get("aspect", "fact"), change.get("value") or change.get("text", "")
    earlier = entry.earlier
    if aspect == "look" and said:
        return without_look(lines, said, entry), without_look(earlier, said, entry)
    if aspect in (*ONE_EACH, "look"):
        gone = [line for line in lines if line.aspect == aspect and (not said or _is_said(codex, entry, line, said))]
        return (
            tuple(line for line in lines if line not in gone),
            tuple(line for line in earlier if line.aspect != aspect),
        )
    alike = [line for line in (*lines, *earlier) if line.aspect == aspect]
    # Without names nothing may be left to compare: "Edith Carrick" is a false role of hers.
    over = [line for line in alike if _is_word_for_word(entry, line, said)]
    if not over and (shorter := {line: left for line in alike if (left := _without_part(line, said)) is not None}):
        return tuple(shorter.get(line, line) for line in lines), tuple(shorter.get(line, line) for line in earlier)
    if not over:
        # Her arm may be the left one that a line tells of, and her right arm is not; a deputy mayor is no mayor.
        names, words = word_forms(" ".join(entry.names)), word_forms(said)
        over = [line for line in alike if words - names and words - names <= word_forms(line.text or line.value)]
        over = over if len(over) == 1 else []
    return tuple(line for line in lines if line not in over), tuple(line for line in earlier if line not in over)


def _without_part(line: Line, said: str) -> Line | None:
    """Return a line of several roles without the one that a text says; None where it is none of them."""
    parts = line.value.split(", ") if line.aspect == "role" else []
    left = ", ".join(part for part in parts if tokens(_bare(part.removeprefix("and "))) != tokens(_bare(said)))
    if not left or left == line.value:
        return None
    return dataclasses.replace(
        line, value=left, text=line.text.replace(line.value, left) if line.value in line.text else ""
    )


def _is_word_for_word(entry: Entry, line: Line, said: str) -> bool:
    """Return whether a text has the words of a line, as it is noted or as it is told, and no others."""
    words = tokens(said)
    return bool(words) and any(words == tokens(text) for text in (line.value, line.text, sentence_of(entry, line)))


def _is_said(codex: Codex, entry: Entry, line: Line, said: str) -> bool:
    """Return whether a text says what a line of one aspect says, in whatever words."""
    if line.aspect == "holder":
        if said.casefold() in NOBODY_HAS:
            return True
        if (known := _holder(codex, said)) is not None and (holder := _holder(codex, line.value)) is not None:
            return known is holder
    if line.aspect == "status" and said == "found":
        # So logs of before say that a thing which was lost is there after all.
        return line.value in ("lost", "destroyed")
    return any(shared_words(said, text, entry.names) >= _SAME for text in (line.value, line.text) if text)


def _merged(entry: Entry, other: Entry) -> Entry:
    merged = dataclasses.replace(
        entry, earlier=tuple(sorted((*entry.earlier, *other.earlier), key=lambda line: line.step)[-MOST_EARLIER:])
    )
    for line in sorted(other.lines, key=lambda line: line.step):
        if line.aspect == "look":
            newer = [own for own in entry.lines if own.aspect == "look" and own.step > line.step]
            left: tuple[Line, ...] = (line,)
            for own in newer:
                left = without_features(left, own, entry)
        else:
            own_one = merged.line(line.aspect) if line.aspect in ONE_EACH else None
            left = () if own_one is not None and own_one.step >= line.step else (line,)
            if own_one is not None and not left and own_one.value == line.value:
                merged = dataclasses.replace(merged, lines=_said_again(merged.lines, own_one, line))
        for one in left:
            merged = _with_line(merged, one, below=False)
    lines = merged.lines
    for line in sorted(lines, key=lambda line: line.step):
        untrue = outdated(dataclasses.replace(entry, lines=lines), line) if line.passage and line in lines else ()
        lines = tuple(own for own in lines if own not in untrue or own.step >= line.step)
    # The stranger is whoever is a stranger next.
    known = [] if _bare(other.name) in ANYBODY else [other.name]
    for line in merged.earlier:
        if same := next((own for own in lines if _says_same(own, line)), None):
            lines = _said_again(lines, same, line)
            merged = without_lines(merged, [line])
    merged = dataclasses.replace(
        merged,
        lines=tuple(sorted(lines, key=lambda line: line.step)),
        aliases=tuple(dict.fromkeys([*entry.aliases, *known, *other.aliases])),
        former=tuple(dict.fromkeys([*entry.former, *other.former])),
        keys=tuple(dict.fromkeys([*entry.keys, *other.keys])),
        pinned=entry.pinned or other.pinned,
        hidden=entry.hidden or other.hidden,
    )
    return bounded(merged)


_WHO = re.compile(
    r"(?:^|, )(?:(?:an?|the|his|her|their|your) )?(?:(?!(?:his|her|their|your) )[\w'’-]+ ){0,2}?"
    rf"(?:(?P<he>{'|'.join(sorted(HE_IS))})|(?P<she>{'|'.join(sorted(SHE_IS))}))\b(?!['’])",
    re.IGNORECASE,
)
_SAID_OF = re.compile(r"(?:^|[;.] )(he|she)\b", re.IGNORECASE)
"""How a clause begins that is told of them; any other "he" may be whom they wait for."""
_OTHERS = re.compile(rf"(?i:\b(?:{'|'.join(sorted(HE_IS | SHE_IS))})\b)|(?<=\s)[A-Z]")
"""Whom a later clause may be of: a relative, or somebody with a name."""


_PRONOUNS_OF = {
    "he": re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE),
    "she": re.compile(r"\b(?:she|hers?|herself)\b", re.IGNORECASE),
}


def _pronoun_in(who: str) -> str:
    """Return by which pronoun a brief tells of somebody; empty where it does not say."""
    if match := _WHO.search(who):
        return "he" if match["he"] else "she"
    match = _SAID_OF.search(who)
    if match is None or _OTHERS.search(who, 0, match.start()):
        return ""
    said = match[1].lower()
    # Where two are told of, it may be the other one.
    return "" if _PRONOUNS_OF["he" if said == "she" else "she"].search(who) else said


def of_brief(brief: Brief) -> list[Change]:
    """Return the people of the brief as changes: who they are, and whether `he` or `she` where a word says so.

    "Her brother" is the brother of her who alone stands before him, who is she.
    """
    changes: list[Change] = []
    pronouns = dict[str, Change]()
    # Bastian Cole is nobody who is called Bastian, where that is another one of them.
    for character in sorted(brief["characters"], key=lambda one: len(one.partition(":")[0].split())):
        name, _, who = (part.strip() for part in character.partition(":"))
        if not name:
            continue
        about = Change(entry=name, kind="person", do="set")
        roles, owner, theirs = _whose_kin(who, name, brief["characters"])
        changes += (
            [{**about, "aspect": "role", "value": role, "text": character} for role in roles]
            if who
            else [{**about, "do": "alias", "value": name}]
        )
        # A ship that somebody is the captain of may be called something, too.
        found = (called for called in _CALLED.finditer(who) if not _OF_A_THING.search(who, 0, called.start()))
        changes += [{**about, "do": "alias", "value": called[1]} for called in found]
        if name.casefold() != "you" and _DEAD_AT_FIRST.search(who) and not _ACTS_AFTER_ALL.search(who):
            changes.append({**about, "aspect": "status", "value": "dead", "text": character})
        if pronoun := _pronoun_in(who):
            pronouns[name] = {**about, "aspect": "pronouns", "value": pronoun, "text": character}
        if owner:
            of_owner: Change = {**about, "entry": owner, "aspect": "pronouns", "value": theirs, "text": character}
            pronouns.setdefault(owner, of_owner)
    return [*changes, *pronouns.values()]


_CALLED = re.compile(
    r"(?:^|, |\b(?:who is|also|better|man|woman|boy|girl) )(?:called|known as|nicknamed) (?:by \w+ )?[\"'“‘]?"
    r"([A-Z][\w’-]*(?: [A-Z][\w’-]*){0,2})(?=[\"'”’.,;)]|$| by\b)"
)
"""What else somebody is called, by the brief."""
_DEAD_AT_FIRST = re.compile(
    r"(?:^|[a-z-],? )(?:who|and (?:he|she)) (?:has been dead (?:for|since)\b|is dead(?=[.,;]|$| (?:for|since)\b)"
    r"|(?:was (?:found )?(?:dead|murdered|killed)|(?:has )?died)(?=[.,;]|$"
    r"| (?:in|on|at|last|before|two|three|ten|years|yesterday|long|under|near|of)\b))"
    rf"|^(?:the|an?|his|her|their|[A-Z][\w’-]*['’]s) (?:dead|murdered|late) {FAMILY.pattern}(?!['’])\b"
)
"""By what a brief tells of somebody that they are dead as the story begins."""
_ACTS_AFTER_ALL = re.compile(
    r"\b(?:whose|widow(?:er)?|orphan|ghosts?|spirits?|spectre|phantom|undead|vampire|zombie|revenant|haunts?|believed|thought|said|"
    r"presumed|supposed|pretends?|not|until|almost|nearly|surviv\w+|lived|lives|back|reborn|returns?|wakes?|woke|speaks?|must|stage|"
    r"every|act|evening|feast|end|paper|grave)\b|\bof [A-Z][\w’-]*(?: [A-Z][\w’-]*)*, who\b",
    re.IGNORECASE,
)
"""By what it tells that they act all the same, that it may not be so, or that it is of somebody else."""
_OF_A_THING = re.compile(r"\b(?:of|on|at|in|with|from|near|aboard)\b")
_THEIR_KIN = re.compile(
    rf"(?P<whose>his|her|their) (?P<what>(?:(?:older|elder|younger|little|big|late|twin) )?{FAMILY.pattern})(?=[.,;]|$| who\b)",
    re.IGNORECASE,
)


def _whose_kin(who: str, name: str, characters: Sequence[str]) -> tuple[list[str], str, str]:
    """Return who somebody of a cast is, with a name in the place of "his" or "her" where one alone stands before who may be.

    Also that name and whether it is of `he` or `she`; both are empty where nobody is sure. "Their son" is the son of both where
    two stand before him.
    """
    kin = _THEIR_KIN.match(who)
    if kin is None:
        return [who], "", ""
    if kin["whose"].lower() == "their":
        cast = [[part.strip() for part in character.partition(":")[::2]] for character in characters]
        earlier = cast[: [other for other, _ in cast].index(name)]
        parents = [
            other for other, role in earlier if other.casefold() != "you" and not role.lower().startswith("their ")
        ]
        rest = f"{kin['what']}{who[kin.end() :]}"
        return [f"{parent}'s {rest}" for parent in parents] if len(parents) == 2 else [who], "", ""
    pronoun, before = "he" if kin["whose"].lower() == "his" else "she", list[str]()
    for character in characters:
        other, _, role = (part.strip() for part in character.partition(":"))
        if other == name:
            break
        if _pronoun_in(role) in ("", pronoun):
            before.append(other)
    is_sure = len(before) == 1 and before[0].casefold() != "you"
    return ([f"{before[0]}'s {kin['what']}{who[kin.end() :]}"], before[0], pronoun) if is_sure else ([who], "", "")


_NAMES_A_PLACE = re.compile(r"(?:the|an?|his|her|its|their|my|your|our)\b|[A-Z]")
"""What a place begins with that is named without saying whether somebody is in it, on it or under it."""


_HAS_ARTICLE = re.compile(r"(?:an?|his|her|its|their|my|your|our|this|that|some|no) |[^ ]+['’]s? ")
"""How what is called by a common noun begins where it needs no article."""


def _called(entry: Entry) -> str:
    """Return the name of an entry as a sentence has it: a common noun with its article."""
    name = entry.name
    is_noun = entry.kind in ("person", "place", "thing") and name[:1].islower() and without_article(name) == plain(name)
    return f"the {name}" if is_noun and not _HAS_ARTICLE.match(name) else name


_BEHIND_NOUN = re.compile(
    r" (?:of|from|in|into|on|onto|at|to|with|without|for|under|over|behind|by|beside|between|about|near|who|whose|that|which|"
    r"he|she|they|it|you|we|I)\b"
)
_PLURAL = re.compile(
    r"(?:(?:the|some|his|her|its|their|these|those|[\w-]+['’]s|[a-z-]+) ){0,3}"
    r"(?!(?:\w*stairs|always|overseas|indoors|outdoors|lens|news|summons|series|species|means|gallows|barracks|headquarters|"
    r"works|crossroads|molasses|chess|temps|corps)$)[a-z-]{2,}(?<![suiao])s"
)


def _is_plural(entry: Entry) -> bool:
    """Return whether the common noun that an entry is called by means several in English: the stolen barrels, keys to a mill."""
    is_told = entry.kind in ("person", "place", "thing")
    return is_told and _PLURAL.fullmatch(_BEHIND_NOUN.split(entry.name, maxsplit=1)[0]) is not None


def sentence_of(entry: Entry, line: Line) -> str:
    """Return a line as a sentence that names its entry."""
    if line.text:
        return line.text
    name, are_several = _called(entry), _is_plural(entry)
    verb = "are" if are_several else "is"
    begins = f"{name[:1].upper()}{name[1:]}"
    forms = {
        "status": f"{f'The question “{entry.name}”' if entry.kind == 'question' else begins} {verb} {line.value}.",
        "place": f"{begins} {verb} {'at ' * bool(_NAMES_A_PLACE.match(line.value))}{line.value}.",
        "holder": f"{line.value} has {name}.",
        "unaware": f"{begins} {'do' if are_several else 'does'} not know {line.value}.",
        "pronouns": f"{begins} {verb} spoken of as {line.value}.",
    }
    return forms.get(line.aspect, f"{entry.name}: {line.value}")


def without_names(text: str, entry: Entry) -> str:
    """Return a text without what an entry is called, as far as anything is left."""
    called = sorted((*entry.names, *(f"the {role}" for role in entry.roles)), key=len, reverse=True)
    bare = re.sub(rf"\b(?:{'|'.join(map(re.escape, called))})\b(?:['’]s\b)?", " ", text)
    return " ".join(bare.split()) if re.search(r"\w", bare) else text


def open_entries(codex: Codex) -> list[Entry]:
    """Return the promises and questions that nothing has settled yet."""
    return [entry for entry in codex.entries.values() if entry.is_open]


def touched(codex: Codex, plan: str, passage: str, also: Sequence[Entry] = (), *, fewest: int = 1) -> list[Entry]:
    """Return what a writer is told of: `also`, all that the plan and the last passage name, what they hold, what is pinned.

    Of what is open, what they bear on comes, too, by so many words that it shares with the plan; with 0 none that is not named.
    """
    pinned = [entry for entry in codex.entries.values() if entry.pinned]
    planned, before = codex.named_in(plan), codex.named_in(passage)
    people = [entry for entry in _once([*planned, *before]) if entry.kind == "person"] if fewest else []
    signs = [sign for one in people for sign in (*one.signs, *map(sign_of_role, codex.own_roles(one)))]
    open_too = bearing(open_entries(codex), signs, plan, passage, fewest) if signs else []
    named = _once([*also, *planned, *pinned, *open_too, *before])
    return _once([*named, *(thing for entry in named for thing in codex.held_by.get(entry.name, ()))])


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries without those that come again."""
    # By their names: comparing entries compares all their lines.
    return list({entry.name: entry for entry in entries}.values())


def tell(
    entries: Sequence[Entry], *, words: int, known: Sequence[str] = (), nearness: Mapping[str, float] | None = None
) -> list[Told]:
    """Return what the writer is told of entries, in at most so many `words`.

    The first line of each entry goes before the second of any; `known` are sentences that the prompt holds anyway. Of facts
    those come first that are nearest to what is asked for, by their sentences, and else the newest.
    """
    held = [word_set(sentence) for sentence in known]
    most_look_words = min(MOST_LOOK_WORDS, words // 4)
    waiting = [(entry, _to_tell(entry, held, nearness or {}, most_look_words)) for entry in entries]
    chosen: dict[str, list[str]] = {}
    for turn in range(max((len(lines) for _, lines in waiting), default=0)):
        for entry, lines in waiting:
            if turn >= len(lines) or count_words(lines[turn]) > words:
                continue
            if any(lines[turn] in others for others in chosen.values()):
                continue
            words -= count_words(lines[turn])
            chosen.setdefault(entry.name, []).append(lines[turn])
    return [
        Told(name=entry.name, kind=entry.kind, lines=chosen[entry.name]) for entry in entries if entry.name in chosen
    ]


def _to_tell(
    entry: Entry, held: Sequence[frozenset[str]], nearness: Mapping[str, float], most_look_words: int
) -> list[str]:
    """Return the sentences of an entry that a prompt does not hold yet, what matters most first."""
    lines = sorted(
        entry.lines,
        key=lambda line: (
            _TOLD_FIRST.index(line.aspect),
            -nearness.get(line.text, 0) if line.aspect == "fact" else 0,
            -line.step,
        ),
    )
    found = []
    if gone := entry.line("status") if entry.value("status") in _GONE else None:
        lines = [line for line in lines if line.step >= gone.step or line.aspect == "role"]  # true of the living
    looks = [line for line in lines if line.aspect == "look" and not line.text]
    if len(looks) > 1:
        # All in one that fit: other lines have their turn beside them, and the older looks behind those.
        fit = 1
        while fit < len(looks) and sum(count_words(line.value) for line in looks[: fit + 1]) <= most_look_words:
            fit += 1
        newest = dataclasses.replace(looks[0], value="; ".join(line.value for line in looks[:fit]))
        lines = [newest if line is looks[0] else line for line in lines if line is looks[0] or line not in looks]
        lines += looks[fit:]
    for line in lines:
        # Who somebody is, and that they are alive, the brief says or nobody doubts.
        if line.aspect in ("pronouns",) or (line.aspect == "role" and not line.step and not line.rests_on):
            continue
        sentence = limit_words(sentence_of(entry, line), 40)
        own = word_set(sentence)
        is_worth_telling = line.value != "alive" or line.by_author or line.is_meant
        # That one knows of another's death has all the words of the death, and that of another tells nobody's.
        is_held = any(own == other if line.aspect == "status" else own <= other for other in held)
        if is_worth_telling and not is_held:
            found.append(sentence)
    return list(dict.fromkeys(found))
