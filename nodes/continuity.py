"""What the writer is told of people and things, and what in its passage contradicts that.

Rules would rather miss than accuse. A rule speaks only where a passage itself, outside of what its people say, names somebody
or something and tells of them what cannot be: memories, dreams and doubts are let pass, and so is whoever is found or comes
back in the same passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recurrentgpt.memory.codex import codex_at, open_entries, sentence_of, tell, touched
from recurrentgpt.models.roles import tier_of_role
from recurrentgpt.nodes.codex_changes import ACTS, OF_ONESELF, pronoun_of
from recurrentgpt.nodes.prompt_messages import finale
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.schema.codex import Codex, Contradiction, Entry, Line, Rule, Told
from recurrentgpt.schema.state import State

TOLD_WORDS = {"small": 45, "full": 260}
"""Most words that a writer of a tier is told of entries: about 80 and 400 tokens, with their names."""

MOST_COMPARED = 40
"""Facts of one entry that are held against the plan, the newest."""

MOST_CONTRADICTIONS = 6
"""Of one passage."""

_QUOTED = re.compile(r"[\"“][^\"“”]*(?:[\"”]|$)", re.MULTILINE)
_ELSEWHEN = re.compile(
    r"\b(?:had(?! to\b)|hadn't|remember\w*|recall\w*|memory|memories|dream\w*|ghost\w*|spirit\w*|once|used to|would|"
    r"could have|might|"
    r"as if|as though|years ago|before (?:he|she|they) died|grave|tomb|coffin|corpse|body|dead|lifeless|morgue|"
    r"portrait|photograph|picture|"
    r"statue|imagin\w*|"
    r"echo\w*|voice of|like|if|never|no longer|not|without|instead of|"
    r"(?:in|by|of) (?:\w+ )?(?:letters?|diary)|wrote|written)\b|n't\b",
    re.IGNORECASE,
)
"""What makes a sentence one of another time, or of nobody in the flesh."""

_WHEN = (
    r"^(?:Then|Now|Later|Soon|Meanwhile|Outside|Inside|Upstairs|Downstairs|"
    r"(?:At|On|In|That|This|Next)(?: (?!(?:of|with|by|to|for|from|than|and)\b)[\w'’-]+){1,5}),?"
)
"""What a sentence may begin with before whoever does something in it."""
_IS_BACK = re.compile(
    r"\b(?:return\w*|back|found|find\w*|arriv\w*|appear\w*|emerg\w*|enter\w*|came|comes|stepped (?:in|out)|door|alive|"
    r"at last|again)\b",
    re.IGNORECASE,
)
_ALIVE = re.compile(r"\b(?:alive|survived|resurrected|not dead|from the dead)\b", re.IGNORECASE)
_IS_FOUND = re.compile(
    r"\b(?:found|finds?|another|new|second|recover\w*|mended|repaired|rebuilt|spare|copy|again|back)\b", re.IGNORECASE
)
_HANDLES = (
    r"(?:took|takes|held|holds|held up|drew|draws|lifts|raises|opens|carries|hands|lit|lights|turns|read|reads|swung|swings|"
    r"wound|winds|drank from|drinks from|put on|puts on|wore|laid|spread|set up|"
    r"(?!(?:missed|mourned|regretted|remembered|wanted|needed|described|mentioned|destroyed|burned|smashed|searched|replaced|"
    r"loved|imagined|dropped|recovered|passed|called|named|followed)\b)[a-z]{2,}(?<!e)ed(?: (?:up|on|down|out))?)"
)


_OWN_POCKET = (
    r"(?:from|out of) (?:under )?(?:his|her|their) (?:\w+ )?"
    r"(?:pocket|belt|coat|bag|sleeve|purse|satchel|cloak|apron|boot|waistcoat|jacket)"
)


async def codex_before(state: State, runtime: StoryRuntime) -> Codex:
    """Return the codex as it was before the passage that is in the making or was just written."""
    return await codex_at(runtime.log, state["story"], state.get("head", ""), state.get("overlay", ""), state["brief"])


async def told_entries(state: State, runtime: StoryRuntime, known: Sequence[str]) -> list[Told]:
    """Return what the writer of the next passage is told of everybody and everything in the plan and the last passage.

    `known` are sentences that the prompt holds beside the memory.
    """
    if not runtime.context.codex:
        return []
    held = [*state.get("short_term_memory", "").splitlines(), *state["brief"]["characters"], *known]
    codex, tier = await codex_before(state, runtime), tier_of_role("writer", runtime.context)
    # What the story has left open, it settles before it ends.
    ends = tier == "full" and finale(state, runtime, state.get("step", 0) + 1)
    settle = open_entries(codex) if ends else []
    entries = touched(codex, state["plan"], state.get("passage", ""), settle)
    near = await _nearness(entries, state, runtime)
    return tell(entries, words=TOLD_WORDS[tier], known=held, nearness=near)


async def _nearness(entries: Sequence[Entry], state: State, runtime: StoryRuntime) -> dict[str, float]:
    """Return how near the facts of entries are to the plan, where an entry has more of them than it is told of."""
    facts = [[line.text for line in entry.lines if line.aspect == "fact"] for entry in entries]
    several = [text for texts in facts if len(texts) > 1 for text in texts[-MOST_COMPARED:]]
    # Before the first passage the embedding model, which takes seconds to load, is not asked; nor where nothing is recalled.
    asked = several and state.get("step") and runtime.context.top_k
    return await runtime.recall.nearness(state["plan"], several) if asked else {}


async def contradictions(state: State, runtime: StoryRuntime, passage: str) -> list[Contradiction]:
    """Return what of a passage contradicts the codex before it; nothing where nobody asked, and in languages without rules."""
    context = runtime.context
    if context.continuity == "off" or not context.codex or not is_english(context.language):
        return []
    return find_contradictions(passage, await codex_before(state, runtime))


def find_contradictions(passage: str, codex: Codex) -> list[Contradiction]:
    """Return the sentences of an English passage that cannot be true together with an entry, with that entry's own."""
    told = [(sentence, _QUOTED.sub('""', sentence)) for sentence in _sentences(passage)]
    found: list[Contradiction] = []
    for entry in codex.named_in(passage):
        found += list(_of_entry(entry, told, codex))
    found += list(_of_renamed(told, codex))
    return found[:MOST_CONTRADICTIONS]


def _sentences(passage: str) -> list[str]:
    """Return the sentences of a passage, what is said and who says it together."""
    joined: list[str] = []
    for paragraph in passage.split("\n"):
        for sentence in sentences(paragraph):
            if joined and joined[-1].count('"') % 2:
                joined[-1] += f" {sentence}"
            else:
                joined.append(sentence)
    return joined


def _of_entry(entry: Entry, told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    status = entry.value("status")
    own = [name for name in entry.names if codex.find(name) is entry]
    if entry.kind == "person" and own:
        if status == "dead" and (said := _acting(own, told, ACTS)) and not _ALIVE.search(_about(own, told, said)):
            yield _of_aspect("dead", entry, "status", said, "alive")
        elif status == "absent" and (said := _acting(own, told, ACTS)) and not _IS_BACK.search(_about(own, told, said)):
            yield _of_aspect("absent", entry, "status", said, "alive")
        yield from _of_pronouns(entry, told, codex)
    if entry.kind == "thing" and own:
        thing = rf"(?:the|his|her|their) (?:{'|'.join(map(re.escape, own))})\b"
        about = " ".join(plain for _, plain in told if re.search(thing, plain))
        is_lost = status in ("lost", "destroyed") and not _IS_FOUND.search(about)
        if is_lost and (said := _first(rf"\b{_HANDLES} {thing}", told)):
            yield _of_aspect("lost", entry, "status", said, "found")
        yield from _of_holder(entry, thing, told, codex)


def _about(names: Sequence[str], told: Sequence[tuple[str, str]], said: str) -> str:
    """Return what a passage tells up to a sentence that `said` something of whom the names name.

    That is the sentences with such a name, and one before the first of them: who comes back is not always named in doing so.
    """
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b", re.IGNORECASE)
    until = [plain for _, plain in told[: [sentence for sentence, _ in told].index(said) + 1]]
    first = next((number for number, plain in enumerate(until) if named.search(plain)), len(until))
    before = until[max(0, first - 1) : first]
    return " ".join([*before, *(plain for plain in until if named.search(plain))])


def _of_holder(entry: Entry, thing: str, told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    """Tell of a thing that somebody takes out of their own pocket, while somebody else has it."""
    holder = codex.find(entry.value("holder"))
    if holder is None or holder.kind != "person":
        return
    own = thing.replace("(?:the|his|her|their)", "the", 1)  # her knife is another one than the knife that he has
    taken = rf"(?P<who>[A-Z][\w'’-]+) (?:took|takes|drew|draws|pulled|pulls) {own}[^.]*? {_OWN_POCKET}"
    for sentence, plain in told:
        match = re.search(taken, plain)
        who = codex.find(match["who"]) if match else None
        if who is not None and who is not holder and not _ELSEWHEN.search(plain):
            others = " ".join(other for other, _ in told[: [one for one, _ in told].index(sentence)])
            if not (
                re.search(thing.removeprefix("(?:the|his|her|their) "), others)
                and any(name in others for name in holder.names)
            ):
                yield _of_aspect("holder", entry, "holder", sentence, who.name)
            return


def _of_pronouns(entry: Entry, told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    known = entry.value("pronouns")
    for sentence, plain in told if known in ("he", "she") else ():
        for match in OF_ONESELF.finditer(plain):
            if codex.find(match["name"]) is entry and pronoun_of(match) != known:
                yield _of_aspect("pronouns", entry, "pronouns", sentence, pronoun_of(match))
                return


def _of_renamed(told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    renamed = [entry for entry in codex.entries.values() if entry.former and entry.kind in ("person", "place")]
    names = {name for entry in codex.entries.values() for name in entry.names} if renamed else set[str]()
    for entry in renamed:
        for former in entry.former:
            called = rf"^(?!.*\b(?:still|old|name|named|called)\b).*\b{re.escape(former)}\b"
            if former not in names and (said := _first(called, told)):
                holds = Line("fact", former, f"{former} is called {entry.name} now.", "", "", 0)
                yield contradiction("renamed", entry, holds, said, former)


def _acting(names: Sequence[str], told: Sequence[tuple[str, str]], acts: str) -> str:
    """Return the first sentence in which one of `names` does something; empty for none."""
    called = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return _first(
        rf"(?:^|[,;\"”] |\b(?:and|but|then|when|while) |{_WHEN} )(?:{called}) {acts}|"
        rf"[\"”] (?:said|asked|replied|whispered|answered) (?:{called})\b|"
        rf"^(?:Behind|In|On|At|By|Beside|There|Here|Under|Before)\b[^,;\"]{{0,40}}? "
        rf"(?:stood|sat|came|walked|knelt) (?:{called})\b",
        told,
    )


def _first(pattern: str, told: Sequence[tuple[str, str]]) -> str:
    return next((sentence for sentence, plain in told if re.search(pattern, plain) and not _ELSEWHEN.search(plain)), "")


def _of_aspect(rule: Rule, entry: Entry, aspect: str, said: str, value: str) -> Contradiction:
    line = next(line for line in entry.lines if line.aspect == aspect)
    return contradiction(rule, entry, line, said, value)


def contradiction(rule: Rule, entry: Entry, line: Line, said: str, value: str) -> Contradiction:
    """Return a contradiction between a line of an entry and what a passage `said`."""
    return Contradiction(
        rule=rule,
        entry=entry.name,
        kind=entry.kind,
        said=limit_words(" ".join(said.split()), 60),
        holds=sentence_of(entry, line),
        rests_on=line.rests_on,
        passage=line.passage,
        step=line.step,
        value=value,
    )
