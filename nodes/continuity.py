"""What the writer is told of people and things, and what in its passage contradicts that.

Rules would rather miss than accuse. A rule speaks only where a passage itself, outside of what its people say, names somebody
or something and tells of them what cannot be: memories, dreams and doubts are let pass, and so is whoever is found or comes
back in the same passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recurrentgpt.memory.codex import codex_at, open_entries, sentence_of, tell
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

MOST_CONTRADICTIONS = 6
"""Of one passage."""

_QUOTED = re.compile(r"[\"“][^\"“”]*(?:[\"”]|$)", re.MULTILINE)
_ELSEWHEN = re.compile(
    r"\b(?:had|hadn't|remember\w*|recall\w*|memory|memories|dream\w*|ghost\w*|spirit\w*|once|used to|would|could have|might|"
    r"as if|as though|years ago|before (?:he|she|they) died|grave|tomb|coffin|corpse|body|portrait|photograph|picture|"
    r"statue|imagin\w*|"
    r"echo\w*|voice of|like|if|never|no longer|not|without|instead of|letter|diary|wrote|written)\b|n't\b",
    re.IGNORECASE,
)
"""What makes a sentence one of another time, or of nobody in the flesh."""

_IS_BACK = re.compile(
    r"\b(?:return\w*|back|found|find\w*|arriv\w*|appear\w*|emerg\w*|enter\w*|came|comes|stepped (?:in|out)|door|alive|"
    r"at last|again)\b",
    re.IGNORECASE,
)
_IS_FOUND = re.compile(
    r"\b(?:found|finds?|another|new|second|recover\w*|mended|repaired|rebuilt|spare|copy|again|back)\b", re.IGNORECASE
)
_HANDLES = (
    r"(?:took|takes|held|holds|drew|draws|pulled|pulls|lifted|lifts|raised|raises|opened|opens|carried|carries|handed|hands|lit|"
    r"lights|turned|turns|pocketed|unfolded|read|reads|swung|swings)"
)


_OWN_POCKET = (
    r"(?:from|out of) (?:his|her|their) (?:\w+ )?(?:pocket|belt|coat|bag|sleeve|purse|satchel|cloak|apron|boot)"
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
    return tell(codex, state["plan"], state.get("passage", ""), words=TOLD_WORDS[tier], known=held, also=settle)


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
    status, narrated = entry.value("status"), " ".join(plain for _, plain in told)
    own = [name for name in entry.names if codex.find(name) is entry]
    if entry.kind == "person" and own:
        if status == "dead" and (said := _acting(own, told, ACTS)):
            yield _contradiction("dead", entry, "status", said, "alive")
        elif status == "absent" and not _IS_BACK.search(narrated) and (said := _acting(own, told, ACTS)):
            yield _contradiction("absent", entry, "status", said, "alive")
        yield from _of_pronouns(entry, told, codex)
    if entry.kind == "thing" and own:
        thing = rf"(?:the|his|her|their) (?:{'|'.join(map(re.escape, own))})\b"
        if status in ("lost", "destroyed") and not _IS_FOUND.search(narrated):
            said = _first(rf"\b{_HANDLES} {thing}", told)
            if said:
                yield _contradiction("lost", entry, "status", said, "found")
        yield from _of_holder(entry, thing, told, codex)


def _of_holder(entry: Entry, thing: str, told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    """Tell of a thing that somebody takes out of their own pocket, while somebody else has it."""
    holder = codex.find(entry.value("holder"))
    if holder is None or holder.kind != "person":
        return
    taken = rf"(?P<who>[A-Z][\w'’-]+) (?:took|takes|drew|draws|pulled|pulls) {thing}[^.]*? {_OWN_POCKET}"
    for sentence, plain in told:
        match = re.search(taken, plain)
        who = codex.find(match["who"]) if match else None
        if who is not None and who is not holder and not _ELSEWHEN.search(plain):
            others = " ".join(other for other, _ in told[: [one for one, _ in told].index(sentence)])
            if not (
                re.search(thing.removeprefix("(?:the|his|her|their) "), others)
                and any(name in others for name in holder.names)
            ):
                yield _contradiction("holder", entry, "holder", sentence, who.name)
            return


def _of_pronouns(entry: Entry, told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    known = entry.value("pronouns")
    for sentence, plain in told if known in ("he", "she") else ():
        for match in OF_ONESELF.finditer(plain):
            if codex.find(match["name"]) is entry and pronoun_of(match) != known:
                yield _contradiction("pronouns", entry, "pronouns", sentence, pronoun_of(match))
                return


def _of_renamed(told: Sequence[tuple[str, str]], codex: Codex) -> Iterator[Contradiction]:
    names = {name for entry in codex.entries.values() for name in entry.names}
    for entry in codex.entries.values():
        for former in entry.former if entry.kind in ("person", "place") else ():
            if former not in names and (said := _first(rf"\b{re.escape(former)}\b", told)):
                holds = Line("fact", former, f"{former} is called {entry.name} now.", "", "", 0)
                yield _made("renamed", entry, holds, said, former)


def _acting(names: Sequence[str], told: Sequence[tuple[str, str]], acts: str) -> str:
    """Return the first sentence in which one of `names` does something; empty for none."""
    called = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return _first(
        rf"(?:^|[,;\"”] |\b(?:and|but|then|when|while) )(?:{called}) {acts}|"
        rf"[\"”] (?:said|asked|replied|whispered|answered) (?:{called})\b",
        told,
    )


def _first(pattern: str, told: Sequence[tuple[str, str]]) -> str:
    return next((sentence for sentence, plain in told if re.search(pattern, plain) and not _ELSEWHEN.search(plain)), "")


def _contradiction(rule: Rule, entry: Entry, aspect: str, said: str, value: str) -> Contradiction:
    line = next(line for line in entry.lines if line.aspect == aspect)
    return _made(rule, entry, line, said, value)


def _made(rule: Rule, entry: Entry, line: Line, said: str, value: str) -> Contradiction:
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
