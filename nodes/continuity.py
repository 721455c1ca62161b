"""What the writer is told of people and things, and what in its passage contradicts that.

Rules would rather miss than accuse. A rule speaks only where a passage itself, outside of what its people say, names somebody
or something and tells of them what cannot be: memories, dreams and doubts are let pass, and so is whoever is found or comes
back in the same passage.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from recurrentgpt.memory.codex import codex_at, open_entries, sentence_of, tell, touched
from recurrentgpt.nodes.codex_changes import ACTS, IRREGULAR, OF_ONESELF, SPOKEN, deaths, is_alone, pronoun_of
from recurrentgpt.nodes.codex_names import NOBODY
from recurrentgpt.nodes.prompt_values import finale
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.schema.codex import Codex, Contradiction, Entry, Line, Rule, Told
from recurrentgpt.schema.names import ANYBODY, parted, plain, spelled
from recurrentgpt.schema.state import State

TOLD_WORDS = {"small": 45, "full": 260}
"""Most words that a writer of a tier is told of entries: about 80 and 400 tokens, with their names."""

MOST_COMPARED = 40
"""Facts of one entry that are held against the plan, the newest."""

_ACT = re.compile(rf"(?:[\w'’-]+ ){{1,4}}?{ACTS}")
"""A sentence that begins with what somebody did."""

MOST_CONTRADICTIONS = 6
"""Of one passage."""

_ELSEWHEN = re.compile(
    r"\b(?:remember\w*|recall\w*|memory|memories|dream\w*|ghost\w*|spirit\w*|used to|as if|as though|(?:years|months|weeks) "
    r"(?:ago|earlier|before)|before (?:he|she|they) died|grave|tomb|coffin|corpse|body|lifeless|morgue|portrait|"
    r"photograph|picture|"
    r"statue|imagin\w*|echo\w*|voice of|(?:in|by|of) (?:\w+ )?(?:letters?|diary)|wrote|written|the (?:late|dead) [A-Z]\w+)\b",
    re.IGNORECASE,
)
"""What makes a sentence one of another time, or of nobody in the flesh, wherever it stands in it."""
_UNREAL = re.compile(
    r"\b(?:had(?! to\b)|once|would|could have|might|like|if|dead|that|how|than|when (?:he|she|they) (?:was|were)|never|no longer|"
    r"not|without|instead of|nor|neither|until|unless|since)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What makes unreal, or of another time, only what is told after it."""
_THEN = re.compile(
    r"\b(?:(?:years|months|weeks|decades) (?:ago|earlier|before)|in those days|back then|as a (?:boy|girl|child)|used to|"
    r"when (?:he|she|they) (?:was|were) (?:alive|young|a)|remember\w*|dream(?:ed|t|ing)?|had been)\b",
    re.IGNORECASE,
)
"""What makes of another time what the same paragraph tells after it."""

_WHEN = (
    r"^(?:Then|Now|Later|Soon|Meanwhile|Outside|Inside|Upstairs|Downstairs|"
    r"(?:At|On|In|That|This|Next|Across|Behind|Beside|Under|Over|From|With|After|During|Near|Between|Through|Around|Along|Below|"
    r"Above|By|Every|One|Back|Halfway|Opposite|Without)(?: (?!(?:of|with|by|to|for|from|than|and)\b)[\w'’-]+){1,5}),?"
)
"""What a sentence may begin with before whoever does something in it."""
_IS_BACK = re.compile(
    r"\b(?:return\w*|back|found|find\w*|arriv\w*|appear\w*|emerg\w*|enter\w*|came|comes|stepped (?:in|out)|door|alive|"
    r"at last|again)\b",
    re.IGNORECASE,
)
_ALIVE = re.compile(r"\b(?:alive|survived|resurrected|not dead|from the dead)\b", re.IGNORECASE)
_IS_FOUND = re.compile(
    r"(?:found|finds?|another|new|second|different|next|recover\w*|mend(?:ed|s)|repair(?:ed|s)|rebuil[dt]\w*|restored|replaced|"
    r"retrieved|fished|dug|salvaged|spare|cop(?:y|ies)|again|back|remains|ruins?|wreck(?:age)?|pieces|ashes|shards|"
    r"fragments|burnt|burned|broken|shattered|ruined|sunken|charred)"
)
_NOT_HANDLED = (
    r"(?:missed|mourned|regretted|remembered|wanted|needed|described|mentioned|destroyed|burned|smashed|searched|replaced|"
    r"loved|imagined|dropped|recovered|passed|called|named|followed|stared|looked|gazed|pointed|thought|talked|asked|wondered|"
    r"dreamed|hoped|wished|longed|begged|prayed|listened|hunted|dragged|dived|sifted|ruined|shattered|wrecked|sank|lost|stole|"
    r"fought|told|sought|said|saw|blamed|cursed|owed|cost|paid|burnt|melted|sold|demanded|reached|feared|tore|ripped|broke|"
    r"crushed|promised|offered|seemed|happened|reported|discovered|noticed|supposed|believed|explained|stared|peered)"
)
_HANDLES = (
    r"(?:take|hold|lift|raise|open|carrie|hand|light|turn|read|swing|wind|drink|put|wear|lay|spread|set|steer|play|ring|"
    r"ride|drive|"
    r"row|polishe|touche|unfold|close|shut|pour|clean|dust)s|"
    rf"(?!{_NOT_HANDLED}\b)(?:{IRREGULAR}|[a-z]{{2,}}(?<!e)ed)"
)
_PATH = (
    r"(?: (?:up|on|down|out|aside|away|over|open))?(?: (?:from|into|in|on|onto|through|with|out of|inside|aboard|at|"
    r"to|over|upon|under))?"
)
_PART = r"(?: (?:the|a|his|her|some|one) (?:\w+ ){1,3}(?:of|from|into|in|on|with|to|upon))?"
"""Of what is handled, what else the verb may have before it: the first page of, the dust from."""


_SHE, _HE = r"\b(?:she|hers?|herself)\b", r"\b(?:he|him|his|himself)\b"
_PERSON = (
    r"(?:\w*(?:man|men|boys?|girls?|lady|ladies)|people|"
    r"(?:god|grand)?(?:father|mother|brother|sister|son|daughter|aunt|uncle|cousin|nephew|niece|husband|wife|wives|widow\w*)s?|"
    r"(?:fellow|lad|lass|guy|king|queen|prince|princess|lord|sir|stranger|guest|visitor|guard|soldier|sailor|doctor|nurse|priest|"
    r"captain|driver|clerk|child|children|baby|kid|twin|friend|lover|neighbo[u]?r|servant|maid|cook|teacher|pupil|student|"
    r"officer|inspector|detective|sergeant|thief|killer|boss|dog|cat|horse|ghost|figure|voice|other|both|two|together|"
    r"\w+(?:keeper|maker|smith|master|wright|herd|person|folk))s?)"
)
_SOMEBODY = re.compile(
    rf"\b(?:I|me|my|we|us|our|they|them|their|(?:some|any|no|every)(?:body|one)|{_PERSON})\b", re.IGNORECASE
)
"""Whom a pronoun may mean beside a name."""
_CAPITAL = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]*")
"""A word in capitals inside a sentence: somebody's name, as far as nobody knows better."""
_BY_NAME = re.compile(rf"([A-Z][\w'’-]+) {ACTS}")
_INTRODUCED = (
    r"\b(?:an?|another|some|other|one|two|three|four|five|six|several|many|few|every|each)\s(?:[a-z][\w'’-]*\s){0,3}?"
)
"""What stands before somebody of whom a passage tells for the first time, but for who they are."""


_OWN_NOUN = (
    r"(?:(?:own|breast|coat|inside|left|right|hip) )?(?:(?:pockets?|belt|coat|bag|sleeve|purse|satchel|cloak|apron|boots?|"
    r"waistcoat|jacket|vest|shirt|knapsack|rucksack|"
    r"pack|basket|case|wallet|hat|neck|arm|arms|shoulders?|finger|wrist|waist|lapel|chest|bosom|breast|throat|ear|back|robe|gown|"
    r"skirts?|trousers|pouch|holster|scabbard|saddlebag|handbag|briefcase))"
)
_OWN_PLACE = (
    r"(?:(?:from|out of|in|into|inside|under|around|round|on|to|against|at|over|across|behind) (?:under )?(?:his|her|their) "
    rf"{_OWN_NOUN})\b"
)


async def codex_before(state: State, runtime: StoryRuntime) -> Codex:
    """Return the codex as it was before the passage that is in the making or was just written."""
    return await codex_at(runtime.log, state["story"], state.get("head", ""), state.get("overlay", ""), state["brief"])


async def living(state: State, runtime: StoryRuntime, names: list[str], passage: str = "") -> list[str]:
    """Return those of `names` who are not dead by the codex or a `passage` after it; all of them where nobody is left."""
    if not runtime.context.codex:
        return names
    codex = await codex_before(state, runtime)
    died = deaths(passage, codex) if is_english(runtime.context.language) else set[str]()
    left = [
        name
        for name in names
        if (entry := codex.find(name)) is None or not (entry.value("status") == "dead" or entry.name in died)
    ]
    return left or names


async def told_entries(state: State, runtime: StoryRuntime, known: Sequence[str]) -> list[Told]:
    """Return what the writer of the next passage is told of everybody and everything in the plan and the last passage.

    `known` are sentences that the prompt holds beside the memory.
    """
    if not runtime.context.codex:
        return []
    held = [*state.get("short_term_memory", "").splitlines(), *state["brief"]["characters"], *known]
    codex, tier = await codex_before(state, runtime), (await runtime.model("writer")).tier
    # What the story has left open, it settles before it ends.
    ends = tier == "full" and finale(state, runtime, state.get("step", 0) + 1)
    settle = open_entries(codex) if ends else []
    entries = touched(codex, state["plan"], state.get("passage", ""), settle)
    if tier == "small" and is_english(runtime.context.language):
        entries = [_without_acts(entry) if entry.kind == "person" else entry for entry in entries]
    near = await _nearness(entries, state, runtime)
    return tell(entries, words=TOLD_WORDS[tier], known=held, nearness=near)


def _without_acts(entry: Entry) -> Entry:
    """Return an entry without what passages tell that somebody did.

    A small model notes hardly any other facts, and tells once more what it is told is still true. What the author says stays.
    """
    lines = tuple(
        line for line in entry.lines if line.aspect != "fact" or not line.passage or not _ACT.match(line.text)
    )
    return entry if lines == entry.lines else dataclasses.replace(entry, lines=lines)


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


_MEETING = (
    r"\b(?:greeted|thanked|helped|joined|interrupted|asked|introduced|overtook|bowed to|waved to|nodded to|"
    r"grinned at|smiled at)"
)
"""What one does with the living."""


class _Sentence(NamedTuple):
    """A sentence of a passage."""

    said: str
    plain: str
    """Without what people say in it."""
    paragraph: int


def find_contradictions(passage: str, codex: Codex) -> list[Contradiction]:
    """Return the sentences of an English passage that cannot be true together with an entry, with that entry's own."""
    told = _sentences(passage)
    found: list[Contradiction] = []
    for entry in codex.named_in(passage):
        found += list(_of_entry(entry, told, codex))
    found += list(_of_renamed(told, codex))
    return found[:MOST_CONTRADICTIONS]


def _sentences(passage: str) -> list[_Sentence]:
    """Return the sentences of a passage, what is said and who says it together."""
    joined: list[tuple[str, int]] = []
    for number, paragraph in enumerate(passage.split("\n")):
        for sentence in sentences(paragraph):
            if joined and joined[-1][0].count('"') % 2:
                joined[-1] = (f"{joined[-1][0]} {sentence}", joined[-1][1])
            else:
                joined.append((sentence, number))
    return [_Sentence(said, SPOKEN.sub('""', said), number) for said, number in joined]


def _of_entry(entry: Entry, told: Sequence[_Sentence], codex: Codex) -> Iterator[Contradiction]:
    status = entry.value("status")
    own = [name for name in entry.names if codex.find(name) is entry]
    if entry.kind == "person" and own:
        roles = [role for role in codex.own_roles(entry) if _means_nobody_else(role, entry, told, codex)]
        # The fisherman from Hull is another one than the fisherman.
        further = r"(?! (?:from|of|with|who|whose|in|at|on|by|that)\b)"
        called = "|".join(
            [
                *map(spelled, sorted(own, key=len, reverse=True)),
                *(f"[Tt]he {re.escape(role)}{further}" for role in roles),
            ]
        )
        if status in ("dead", "absent") and (act := _acting(called, told, dead=status == "dead")) is not None:
            back = _ALIVE if status == "dead" else _IS_BACK
            if not back.search(_about(called, told, act)):
                yield _of_aspect("dead" if status == "dead" else "absent", entry, "status", act.said, "alive")
        yield from _of_pronouns(entry, told, codex)
    if entry.kind == "thing" and own:
        bare = {parted(plain(name)).bare for name in own}
        names = "|".join(map(spelled, sorted(bare, key=lambda name: (-len(name), name))))
        if status in ("lost", "destroyed") and not _found_again(names, told):
            handled = (
                rf"\b(?:{_HANDLES}){_PATH}{_PART} (?:the|his|her|their) (?:{names})\b"
                r"(?![ -][a-z]+(?:['’]s|s) (?:of|where)\b)"
            )
            if (act := _first(handled, told, besides=own)) is not None:
                yield _of_aspect("lost", entry, "status", act.said, "found")
        yield from _of_holder(entry, names, told, codex)


def _means_nobody_else(role: str, entry: Entry, told: Sequence[_Sentence], codex: Codex) -> bool:
    """Return whether a passage can mean nobody but an entry by a role that no other one has.

    Of one word, it may be anybody's who has it after them, who is told of for the first time, or whom nobody knows.
    """
    is_one_word = " " not in role
    head = re.split(r" (?:of|from|in|at|on|with|to)\b", role)[0].split()[-1]
    text = " ".join(sentence.said for sentence in told)
    if head.casefold() in ANYBODY or (is_one_word and entry.value("status") != "dead"):
        return False
    if re.search(rf"{_INTRODUCED}(?:{re.escape(head)}s?{f'|{_PERSON}' if is_one_word else ''})\b", text, re.IGNORECASE):
        return False
    if not is_one_word:
        return True
    others = [one for one in codex.entries.values() if one.kind == "person" and one is not entry]
    if any(role in line.text or role in line.value for one in others for line in one.lines):
        return False
    here = [one for one in codex.named_in(text) if one is not entry]
    if any(one.kind == "person" and one.line("role") is None for one in here):
        return False
    known = {word for one in (entry, *here) for name in one.names for word in name.split()}
    begins = [match[1] for sentence in told if (match := _BY_NAME.match(sentence.plain))]
    return all(word in known or word in NOBODY for word in (*begins, *_CAPITAL.findall(text)))


def _found_again(names: str, told: Sequence[_Sentence]) -> bool:
    """Return whether a passage tells of a thing that it is found or mended, or means another one."""
    for sentence in told:
        for match in re.finditer(rf"\b(?:{names})\b", sentence.plain, re.IGNORECASE):
            before = re.split(r"[,;:]", sentence.plain[: match.start()])[-1].split()
            after = re.split(r"[,;:]", sentence.plain[match.end() :])[0].split()
            if before[-1:] in (["a"], ["an"]) or any(
                _IS_FOUND.fullmatch(word.strip('".,!?').casefold()) for word in (*before[-5:], *after[:6])
            ):
                return True
    return False


def _about(called: str, told: Sequence[_Sentence], act: _Sentence) -> str:
    """Return what a passage tells of somebody up to what they do.

    That is the sentences with such a name, and one before the first of them in its paragraph: who comes back is not always
    named in doing so.
    """
    named = re.compile(rf"\b(?:{called})\b")
    until = told[: told.index(act) + 1]
    first = next((number for number, sentence in enumerate(until) if named.search(sentence.plain)), len(until) - 1)
    before = [one.plain for one in until[max(0, first - 1) : first] if one.paragraph == until[first].paragraph]
    return " ".join([*before, *(sentence.plain for sentence in until if named.search(sentence.plain))])


def _of_holder(entry: Entry, names: str, told: Sequence[_Sentence], codex: Codex) -> Iterator[Contradiction]:
    """Tell of a thing that somebody has on them, while somebody else has it."""
    holder = codex.find(entry.value("holder"))
    if holder is None or holder.kind != "person":
        return
    # Her knife is another one than the knife that he has.
    # Of two words or more it is hardly another one, and hardly passed from hand to hand untold.
    one_of_a_kind = all(" " in name for name in entry.names)
    the = "(?:the|his|her|their)" if one_of_a_kind else "the"
    with_it = (
        r"(?:locked|unlocked|opened|cut|struck|lit|dug|pried|prised|scraped|carved|sealed|signed|stabbed|tied|bound|swept|stirred|"
        r"measured|broke|smashed)"
    )
    taken = re.compile(
        rf"(?P<who>[A-Z][\w'’-]+)(?: \w+ly)? (?:{_HANDLES}|had|has|wears|carries)(?: up| on| down| out| off)? {the} (?:{names})\b"
        rf"[^.]*? {_OWN_PLACE}|"
        rf"\b[Tt]he (?:{names}) (?:[a-z]+ )?(?:on|in|from|under|around|round|at|"
        rf"out of) (?P<whose>[A-Z][\w'’-]+)['’]s? {_OWN_NOUN}\b"
    )
    if one_of_a_kind and not any(
        re.search(rf"\b{re.escape(name)}\b", sentence.said) for sentence in told for name in holder.names
    ):
        taken = re.compile(
            rf"{taken.pattern}|(?P<has>[A-Z][\w'’-]+)(?: \w+ly)? (?:had|carried|carries|wore|wears|owned|owns|put on|"
            rf"saddled|mounted|kept|"
            rf"rode|pocketed|polished|locked|brandished|drew|tucked|was (?:wearing|carrying|holding|riding)|is (?:wearing|"
            rf"carrying)) "
            rf"{the} (?:{names})\b|"
            rf"(?P<with>[A-Z][\w'’-]+)(?: \w+ly)? {with_it} (?:\w+ ){{1,4}}with {the} (?:{names})\b"
        )
    for number, sentence in enumerate(told):
        match = taken.search(sentence.plain)
        who = codex.find(next(filter(None, match.groups()))) if match else None
        if match is None or who is None or who is holder or _is_elsewhen(sentence, match.start(), entry.names, told):
            continue
        others = " ".join(one.said for one in told[:number])
        between = match[0]
        if any(name in between for name in holder.names):
            return
        if not (re.search(rf"\b(?:{names})\b", others) and any(name in others for name in holder.names)):
            yield _of_aspect("holder", entry, "holder", sentence.said, who.name)
        return


def _of_pronouns(entry: Entry, told: Sequence[_Sentence], codex: Codex) -> Iterator[Contradiction]:
    known = entry.value("pronouns")
    for sentence in told if known in ("he", "she") else ():
        for match in OF_ONESELF.finditer(sentence.plain):
            if is_alone(match, entry) and codex.find(match["name"]) is entry and pronoun_of(match) != known:
                yield _of_aspect("pronouns", entry, "pronouns", sentence.said, pronoun_of(match))
                return
    if known in ("he", "she") and (after := _after_its_name(entry, known, told, codex)) is not None:
        yield _of_aspect("pronouns", entry, "pronouns", after.said, "she" if known == "he" else "he")


def _after_its_name(entry: Entry, known: str, told: Sequence[_Sentence], codex: Codex) -> _Sentence | None:
    """Return the sentence that calls somebody by the wrong pronoun right behind one that begins with their name.

    That may be anybody whom a passage before this one told of: only where this one has nobody else, and nowhere the right one,
    is it they.
    """
    plain = " ".join(sentence.plain for sentence in told)
    right, wrong = (_SHE, _HE) if known == "she" else (_HE, _SHE)
    others = [one for one in codex.named_in(" ".join(sentence.said for sentence in told)) if one is not entry]
    if re.search(right, plain, re.IGNORECASE) or any(one.kind == "person" for one in others):
        return None
    named = {word for one in (entry, *others) for name in one.names for word in name.split()}
    if _SOMEBODY.search(plain) or any(word not in named for word in _CAPITAL.findall(plain)):
        return None
    called = "|".join(spelled(name) for name in entry.names if codex.find(name) is entry)
    for before, after in pairwise(told):
        if re.search(wrong, before.plain, re.IGNORECASE):
            # Whom this one means, a later one may mean too.
            return None
        begins = re.match(rf"(?:{called}) (?:{ACTS})", before.plain) and before.paragraph == after.paragraph
        if begins and re.match(r"(?:He|She)\b", after.plain):
            return after
    return None


def _of_renamed(told: Sequence[_Sentence], codex: Codex) -> Iterator[Contradiction]:
    renamed = [entry for entry in codex.entries.values() if entry.former and entry.kind in ("person", "place")]
    names = {name for entry in codex.entries.values() for name in entry.names} if renamed else set[str]()
    for entry in renamed:
        for former in entry.former:
            called = rf"^(?!.*\b(?:still|old|name|named|called)\b).*\b{re.escape(former)}\b"
            if former not in names and (act := _first(called, told, besides=[former])) is not None:
                holds = Line("fact", former, f"{former} is called {entry.name} now.", "", "", 0)
                yield contradiction("renamed", entry, holds, act.said, former)


def _acting(called: str, told: Sequence[_Sentence], *, dead: bool) -> _Sentence | None:
    """Return the first sentence in which somebody who is called so does something; None for none."""
    return _first(
        rf"(?:^|[,;:\"”—–] ?|\b(?:and|but|then|when|while|as|so|because|where) |{_WHEN} )(?:{called})(?:, (?:the|a|an|his|"
        rf"her|who)\b"
        rf"[^,;\"]{{1,60}},)? (?:{ACTS})|"
        rf"\bIt (?:was|is) (?:{called}) who\b(?! (?:had|was|is|died))|"
        rf"\b(?:{called})['’]s (?:laugh|smile|grin|fingers|gaze|glance|footsteps?|hands?) (?:{ACTS})|"
        rf"{_MEETING if dead else '(?!)'} (?:{called})\b(?!['’])|"
        rf"[\"”] (?:said|asked|replied|whispered|answered|called|cried|muttered|shouted|added|says|asks) (?:{called})\b|"
        rf"^(?:Behind|In|On|At|By|Beside|There|Here|Under|Before|Across|Through|Down|Up|From|Outside|Inside)\b[^,;\"]{{0,40}}? "
        rf"(?:stood|sat|came|walked|knelt|ran|waited|strode|climbed) (?:{called})\b",
        told,
        besides=(),
    )


def _first(pattern: str, told: Sequence[_Sentence], besides: Collection[str]) -> _Sentence | None:
    """Return the first sentence that tells so of here and now; what `besides` names makes none one of another time."""
    for sentence in told:
        match = re.search(pattern, sentence.plain)
        if match and not _is_elsewhen(sentence, match.end(), besides, told):
            return sentence
    return None


def _is_elsewhen(sentence: _Sentence, end: int, besides: Collection[str], told: Sequence[_Sentence]) -> bool:
    """Return whether a sentence tells of another time, or of nobody in the flesh, what it does up to `end`."""
    plain = sentence.plain
    for name in besides:
        plain = plain.replace(name, "_" * len(name))
    before = " ".join(one.plain for one in told[: told.index(sentence)] if one.paragraph == sentence.paragraph)
    return bool(_ELSEWHEN.search(plain) or _UNREAL.search(plain[:end]) or _THEN.search(before))


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
