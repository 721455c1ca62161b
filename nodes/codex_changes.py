"""What a passage changes in the codex, by rule from the facts that a small model notes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import ONE_EACH, Change, Codex, Entry
from recurrentgpt.schema.names import form_of, kin_of, spelled

MOST_CHANGES = 12
"""Of one passage; each is a row of its commit."""
MOST_NAME_WORDS, MOST_SENTENCE_WORDS = 8, 36

SPOKEN = re.compile(r"[\"“][^\"“”]*(?:[\"”]|$)", re.MULTILINE)
"""What people say in a passage."""


def longer_name(name: str, known: Entry, codex: Codex) -> Change | None:
    """Return that somebody is called by a longer form of their name, too; None for a name that is only titled, or says a role."""
    alias = " ".join(form_of(name).words)
    if kin_of(name) or codex.find(alias) is not None:
        return None
    return Change(entry=known.name, kind=known.kind, do="alias", value=alias)


def called_too(entry: Entry, alias: str) -> Entry:
    """Return an entry with another name."""
    return dataclasses.replace(entry, aliases=(*entry.aliases, alias))


def from_facts(summary: str, facts: Iterable[str], passage: str, codex: Codex, language: str) -> list[Change]:
    """Return the changes that a small model's facts tell of, and of its summary what a rule can read.

    What no rule reads of a fact is kept as it is said, with whoever it names first. The rules are for English and leave
    out whatever is doubted, wished or denied.
    """
    people = speakers(passage, codex) if is_english(language) else []
    known = Codex({**codex.entries, **{entry.name.casefold(): entry for entry in people}})
    longer = list(_longer_names((summary, *facts), known)) if is_english(language) else []
    for change in longer:
        old = known.entries[change["entry"].casefold()]
        known = known.with_entry(old, called_too(old, change["value"]))
    changes, told, lines = longer, set[str](), with_words(passage)
    for number, fact in enumerate(
        with_names((summary, *facts), known) if people or codex.entries else (summary, *facts)
    ):
        fact = shortened(fact, MOST_SENTENCE_WORDS)
        named, rests_on = known.named_in(fact), nearest(fact, lines)
        told |= {entry.name for entry in named}
        found = list(_by_rule(fact, named, known)) if is_english(language) else []
        if named and not found and number:
            found = [Change(entry=named[0].name, kind=named[0].kind, do="set", aspect="fact")]
        found = [change for change in found if not _revives(change, fact, known)]
        for change in found:
            changes.append(
                {**change, "text": fact, "rests_on": rests_on} if rests_on != fact else {**change, "text": fact}
            )
        if is_english(language):
            changes += [{**change, "rests_on": rests_on} for entry in named for change in _ended_by(fact, entry)]
    changes += [
        change for change in _pronouns(passage, known) if change["entry"] in told or codex.find(change["entry"])
    ]
    return _once(without_returned(changes, passage, known))[:MOST_CHANGES]


def _longer_names(told: Iterable[str], known: Codex) -> Iterator[Change]:
    """Yield by which longer forms of their names English sentences begin with somebody who is known."""
    seen = set[str]()
    for sentence in told:
        match = _BEGINS.match(sentence)
        if match is None or match[0].split()[-1] in _PLACES or match[0] in seen:
            continue
        seen.add(match[0])
        entry = known.meant(match[0]) if known.find(match[0]) is None else None
        if entry is not None and (longer := longer_name(match[0], entry, known)):
            yield longer


def deaths(passage: str, known: Codex) -> set[str]:
    """Return the names of those of whom an English passage tells, outside of what is said in it, that they are dead."""
    told = [sentence for part in passage.split("\n") for sentence in sentences(SPOKEN.sub('""', part))]
    return {
        change["entry"]
        for sentence in told
        if not sentence.endswith("?")
        for change in _by_rule(sentence, known.named_in(sentence), known)
        if change.get("value") == "dead" and not _returns({**change, "text": sentence}, passage, known)
    }


def with_names(told: Sequence[str], known: Codex) -> list[str]:
    """Return sentences with a name in place of the pronoun of whoever dies, where only one person can be meant.

    That is the only one whom the same sentence names before it, or with whom the one before that begins and whom alone it names.
    """
    named, before = list[str](), list[Entry]()
    for sentence in told:
        own = [entry for entry in known.named_in(sentence) if entry.kind == "person"]
        for match in _BEFALLS.finditer(sentence):
            pronoun = match[1].casefold()
            near = [entry for entry in own if any(name in sentence[: match.start()] for name in entry.names)]
            meant = near or ([] if own else before)
            if len(meant) == 1 and meant[0].value("pronouns") in ("", pronoun):
                sentence = f"{sentence[: match.start()]}{meant[0].name}{sentence[match.end(1) :]}"
                break
        named.append(sentence)
        before = own if len(own) == 1 and sentence.startswith(own[0].names) else []
    return named


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


def without_returned(changes: Sequence[Change], passage: str, known: Codex) -> list[Change]:
    """Return the changes without the absence of whoever acts in the same passage after it: they were out of the room."""
    return [change for change in changes if change.get("value") != "absent" or not _returns(change, passage, known)]


def _returns(change: Change, passage: str, known: Codex) -> bool:
    entry, told = known.find(change["entry"]), change.get("rests_on") or change.get("text", "")
    after = passage.partition(told)[2] if told else ""
    names = "|".join(map(spelled, entry.names)) if entry else ""
    return bool(after and names) and bool(
        re.search(
            rf"(?:^|[,.;!?\"”] |\n|\b(?:and|but|when|as) )(?:{names}) {ACTS}|[\"”] {_SPEAKS} (?:{names})\b", after
        )
    )


def _once(changes: Iterable[Change]) -> list[Change]:
    """Return the changes without those that only say again what another one says."""
    kept: dict[tuple[str, str, str, str], Change] = {}
    for change in changes:
        aspect = change.get("aspect", "fact")
        said = change.get("value", "") if aspect in ONE_EACH else change.get("text", "")
        kept.setdefault((change["entry"], change["do"], aspect, said), change)
    return list(kept.values())


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

_DOUBTED = re.compile(
    r"\b(?:not|never|no longer|almost|nearly|would|might|may|could|should|if|whether|thinks?|thought|believes?|believed|fears?|"
    r"feared|hopes?|hoped|dream\w*|pretend\w*|seems?|seemed|appears?|appeared|perhaps|maybe|claims?|claimed|wants?|wanted|plans?|"
    r"planned|threat\w*|until|unless|rumou?r\w*|suppos\w*|imagin\w*|suspect\w*|assum\w*|conclu\w*|convinced|"
    r"made up (?:his|her) mind|(?:said|told \w+|reported|announced) that|"
    r"going to|will|shall|to be|about to|sentenced|tr(?:y|ies|ied) to|meant to|had to)\b|n't\b",
    re.IGNORECASE,
)
_DOUBTED_LATER = re.compile(
    r"\b(?:if|unless|until|thinks?|thought|believed|feared|hoped|seems?|seemed|perhaps|maybe|or so|on the stage|in the play|"
    r"second act|third act)\b",
    re.IGNORECASE,
)
"""What makes doubtful what is said before it, too."""
_NEXT_CLAUSE = re.compile(r"[;:] |, (?:and|but|so|yet|who|which|whom|where) |[—–]")
"""Where a clause ends whose doubts are its own."""
_BE = r"(?:is|was|lies|lay|has been|had been|were)"
_SELF = r"(?:him|her|them)sel(?:f|ves)"
_DEAD_BUT = "tired|drunk|certain|sure|set|asleep|serious|right|wrong|beat|against|on (?:his|her) feet|to "
"""What makes of "dead" no more than "very"."""
_OWN_LIFE = r"(?:his|her|their) (?:own )?life"
_TO_DEATH = (
    r"(?:bled|bleeds|froze|freezes|frozen|starved|starves|burned|burnt|choked|chokes|stabbed|beaten|crushed|trampled|worked|"
    r"drank|tortured|stoned|kicked) (?:him|her)?(?:self )?to death"
)
_KILLED_BY = (
    r"(?:killed|murdered|slain|executed|assassinated|hanged|beheaded|guillotined|drowned|strangled|poisoned|electrocuted|"
    r"lynched|garrotted|butchered|massacred|buried|cremated|shot dead|put to death|laid to rest|"
    r"(?:crushed|swallowed|buried alive|blown to pieces|torn apart|cut down)(?= by\b))"
)
_SHIP = r"(?:train|ferry|boat|ship|steamer|packet|coach|stage|bus|plane|flight|tram|mail|barge|schooner|liner|carriage|express)"
_BACK_SOON = (
    r"(?! (?:for|to (?!(?:the|sea|war|prison)\b|[A-Z])|in|out|up|down|by the|on|over|through|towards?|from (?:his|"
    r"her) (?:mind|thoughts|face))\b)"
)
_AFTER_NAME: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("dead", re.compile(
        rf"(?:(?:had |has )?(?:just |already |since |at last |finally |also )?"
        rf"(?:{_BE} (?:later |long |now |already |quite |found )?(?:dead(?! (?:{_DEAD_BUT})\b)|"
        rf"no more\b(?! than)|{_KILLED_BY}(?! (?:in (?:his|her|a|"
        rf"the) (?:\w+ )?(?:work|book|"
        r"papers?|thoughts?)|with (?:kindness|work)|by (?:curiosity|boredom|kindness|laughter))\b)|"
        rf"{_TO_DEATH}|no longer (?:alive|breathing|among the living))|"
        r"die[sd](?! (?:of (?:shame|boredom|laughing|laughter|embarrassment|curiosity)|with (?:laughter|shame)|on (?:the )?stage|"
        r"a little|inside)\b)|perish(?:ed|es)|succumb(?:ed|s) to (?!the (?:temptation|charm|urge)|(?:his|her) (?:charm|"
        r"temptation)|"
        rf"sleep|temptation)|drowned(?! (?:the|a|an|his|her|their|out|in (?:work|debt|tears))\b)|(?:hanged|shot|killed|drowned|"
        rf"poisoned) {_SELF}|{_TO_DEATH}|fell to (?:his|her|their) death|(?:drew|breathed|breathes|draws) (?:his|her|their) last|"
        rf"pass(?:ed|es) away|(?:lost|gave|gave up|laid down|took) {_OWN_LIFE}|gave up the ghost|met (?:his|her) (?:death|end)|"
        r"(?:fell|dropped|lay|sank down) dead|(?:stopped|ceased) breathing|expired|"
        r"(?:did not|didn['’]t|never|failed to) (?:survive|outlive|live (?:to see|through|until)|wake again|regain consciousness|"
        r"come out alive|recover and))\b)"
    )),
    ("absent", re.compile(
        rf"(?:{_BE} (?:reported )?missing\b(?! (?:a|an|the|his|her|from (?:the|his|her) (?:room|table))\b)|"
        rf"{_BE} gone{_BACK_SOON}|{_BE} (?:far )?away (?:in|at) (?=[A-Z])|"
        r"(?:had |has )?(?:vanished|disappeared)(?! (?:in|into|behind|round|around|through|up|down|inside|under|below|"
        r"over|for)\b|, (?:\w+ly )?\w+ing\b)|"
        r"(?:had |has )(?:gone (?:to (?:the|[A-Z]\w+)|abroad|overseas|away for good)|"
        r"left(?=[.,;]| (?:by|before|without|with|already|yesterday|for)\b))|fled(?: (?:to|from|for) (?=[A-Z])|"
        r" (?:the (?:country|city|town|island|"
        r"village|province|valley)|abroad|over the|across the|in the night|by night|into (?:exile|the (?:mountains|hills|"
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
        rf"(?:{_BE} (?:still )?alive|{_BE} (?:released|freed|set free|acquitted|let go|home again)|survived|returned|returns|"
        r"came back|comes back|has returned|is back)\b"
    )),
)  # fmt: skip
_BEFALLS = re.compile(
    rf"\b([Hh]e|[Ss]he)(?= (?:{'|'.join(pattern.pattern for status, pattern in _AFTER_NAME if status == 'dead')}))"
)
_KILLED = re.compile(
    r"\b(?:kill(?:s|ed)|murder(?:s|ed)|shoots|(?<!the )(?<!each )(?<!every )(?<!that )(?<!a )(?<!first )shot|stab(?:s|"
    r"bed)|strangle[sd]|hang(?:s|ed)|poison(?:s|ed)|executed|"
    r"assassinated|slew|"
    r"beheaded|butchered|drowned|crushed|smothered|buried|cremated) (?:the |poor |old |young )*$|"
    r"\b(?:put|clubbed|beat|kicked|hacked|burned|burnt|stoned|starved|choked) $"
)
_NOT_TO_DEATH = re.compile(
    r"(?:['’]s\b| in the (?:\w+ )?(?:arm|leg|foot|hand|knee|shoulder|thigh|side|back)\b| (?:a|an|the) \w+| (?:with|in|under) "
    r"(?:questions|work|letters|kisses|gifts|kindness|a glance|a look|paper\w*|flowers))"
)
_ONLY_TO_DEATH = re.compile(r" (?:to death|down dead)\b")
_NOT_DEAD = rf"(?! (?:{_DEAD_BUT}|calm|broke|sober|ahead|cent(?:re|er)|straight|in (?:front|a (?:dream|vision))|on their feet)\b)"
_AROUND_DEAD = (
    (
        r"\b(?:took|takes|claim(?:ed|s)|ended|cost) $",
        r"(?:['’]s| (?:his|her)) life(?=[.,;!?]|$| (?:at|on|by|that|when|last)\b)",
    ),
    (r"\b(?:laid|lays|lay) $", r" (?:to rest|in the ground|in (?:his|her) grave)\b"),
    (r"\bput $", r" (?:in the ground|in (?:his|her) grave)\b(?!-)"),
    (
        r"\b(?:found|finds|left|leaves|discover(?:ed|s)) $",
        rf" (?:lying |already )?(?:dead{_NOT_DEAD}|murdered|hanged|lifeless)\b",
    ),
    (
        r"\b(?:found|finds|discover(?:ed|s)|bur(?:ied|ies)|recover(?:ed|s)) $",
        r"['’]s? (?:dead body|corpse|remains|body(?=[.,;!?]|$| (?:in|on|at|under|beneath|behind|beside|by|near|among|inside|"
        r"floating|lying)\b))",
    ),
)
_BODY_OF = re.compile(
    r"\b(?:the )?(?:(?:dead |lifeless |drowned |cold )?(?:body|corpse|remains|ashes|bones) of|"
    r"(?:held|attended|after|at|since|from) the (?:funeral|burial|wake) (?:of|for)) (?:poor |old |young )*$",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"['’]s? (?:(?:dead|lifeless|drowned|cold|charred|frozen) (?:body|corpse)|corpse|remains|ashes|body (?:was|had been|"
    r"is|lay|lies) "
    r"(?:\w+ )?(?:found|fished|recovered|discovered|buried|burned|burnt|cremated|identified|washed|carried|brought|laid|"
    r"dragged|cut|"
    r"in (?:the|a|his|her) (?:coffin|morgue|grave|crypt|chapel))|heart (?:stopped|gave out)|throat was (?:cut|slit)|"
    r"(?:death|murder|suicide|execution) (?:was|had been|came|shook|left|made)|funeral (?:was|had been|took|drew)|(?:tomb|"
    r"grave)stone)\b"
)
_AND_THEN = re.compile(
    r"(?:[a-z][\w'’-]* ){1,9}?and (?:then |so |soon |there |finally |at last |later |that night )?(?=[a-z])"
)
"""What somebody does before the second of two verbs."""
_UNSEEN = re.compile(
    r"\b(?:nobody|no one|none of them|no living soul) (?:had |has |have |ever )*(?:saw|seen|heard (?:of|from)) $",
    re.IGNORECASE,
)
_EVER = re.compile(r" (?:since|again|after that|any more|for (?:weeks|months|years|days))\b")
_ROLE = re.compile(
    r", the (?P<role>(?!(?:first|last|only|same|other|one|more|better|very|next|"
    r"way)\b)(?:[a-z][\w-]+ ){0,2}[a-z][\w-]+(?<!ing)(?<!est)),"
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
_NOUN = r"(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+"
_THING = rf"(?:(?:the|a|an|his|her|their|its)|\w+['’]s) (?P<thing>{_NOUN})"
_THE = rf"(?:the|his|her|their) (?P<thing>{_NOUN})"
_END = (
    r"(?=[.,;]|$| (?:of|in|on|at|by|to|from|under|inside|behind|around|with|for|and|but|that|which|who|as|while|when|into|"
    r"out|against|over|onto|across|near|beside|between|among|through|somewhere|there|here|again|away|back|off|down|up|last|"
    r"yesterday|before|after|during|\w+ by \w+)\b)"
)
_HOLDS = re.compile(
    r"(?:now )?(?:(?:carries|carried|holds|has|keeps|kept|pockets|pocketed|steals|stole|wears|owns|hides|hid|found|finds|"
    r"wins|won|"
    r"buys|bought|inherits|inherited|snatched|snatches|grabbed|grabs|seized|confiscated|swiped|filched|received|receives|"
    r"accepted|accepts|collected|claimed|acquired|acquires|owned|now has|now had|wore|walked off with|made off with|"
    r"went off with|ran off with|got hold of|took (?:possession|charge) of) "
    rf"{_THING}{_END}|(?:took|takes|got|gets|wrested|wrests) (?:back )?{_THE.replace('thing', 'taken')} (?:away )?from (?=[A-Z])|"
    rf"(?:picked|picks) up {_THE.replace('thing', 'picked')} and (?:kept|pocketed|keeps|pockets) it\b)"
)
_GIVEN = (
    r"(?:gives|gave|hands|handed|passes|passed|sells|sold|lends|lent|returns|returned|entrusts|entrusted|presents|presented|"
    r"bequeaths|bequeathed|leaves|left|sends|sent|slips|slipped|delivers|delivered|surrenders|surrendered|yields|yielded|"
    r"trades|traded|loans|loaned|throws|threw|tosses|tossed|brings|brought|offers|pays|grants|granted|pawned|lost)"
)
_TO = r"(?P<to>[A-Z][\w'’-]+)"
_GIVES = re.compile(
    rf"{_GIVEN} {_THING}(?: (?:back|over|on|away))? to {_TO}|"
    rf"(?:pressed|presses|pushed|pushes|put|puts|laid|dropped|thrust|placed|"
    rf"slipped) {_THE.replace('thing', 'pressed')} (?:in|into) "
    rf"{_TO.replace('to', 'hand')}['’]s? (?:\w+ )?(?:hands?|palm|pocket|fingers)"
)
_GIVES_FIRST = re.compile(
    rf"(?!lost|left){_GIVEN} {_TO} (?:back )?{_THING}{_END}|"
    rf"(?:presented|entrusted|provided|supplied) {_TO.replace('to', 'hand')} with {_THE.replace('thing', 'pressed')}{_END}|"
    rf"(?:made|makes) {_TO.replace('to', 'friend')} a (?:present|gift) of {_THE.replace('thing', 'present')}{_END}"
)
_DESTROYS = (
    r"(?:burn(?:s|ed|t)|destroy(?:s|ed)|smash(?:es|ed)|shatter(?:s|ed)|wreck(?:s|ed)|crush(?:es|ed)|shred(?:s|ded)?|"
    r"incinerat(?:es|ed)|"
    r"demolish(?:es|ed)|pulveri[sz]ed|obliterated|annihilated|consumed|devoured|sank|sunk|scuttled|melted(?: down)?|blew up|"
    r"(?:tears?|tore|rips?|ripped)(?: up)?)"
)
_MISLAYS = r"(?:los(?:es|t)|mislaid|mislays)"
_SWALLOWING = (
    r"(?:sea|river|lake|well|fire|flames|stove|furnace|water|harbour|harbor|canal|abyss|gulf|ocean|deep|bog|marsh|"
    r"pit|ravine|hearth|grate|waves)"
)
_LOSES = re.compile(
    rf"\b(?P<how>{_MISLAYS}|(?!tore |ripped |tears? |rips? ){_DESTROYS}) (?:down |up )?{_THE}{_END}(?! (?:to|for) [A-Z])|"
    rf"\b(?:tears?|tore|rips?|ripped) (?:up {_THE.replace('thing', 'torn')}{_END}|{_THE.replace('thing', 'ripped')} "
    r"(?:up|(?:in)?to (?:\w+ )?(?:pieces|shreds|bits|ribbons|scraps)|in (?:two|half|pieces)))|"
    rf"\b(?:dropped|knocked over|let go of) {_THE.replace('thing', 'broken')},? and (?:it|the \w+) (?:\w+ )?"
    r"(?:broke|shattered|smashed|sank|burst|carried it|swept it|swallowed it|took it)|"
    rf"\b(?:threw|throws|flung|flings|tossed|dropped|drops|fed|feeds|hurled|hurls|pitched|cast|casts|pushed|let) "
    rf"{_THE.replace('thing', 'thrown')} (?:fall |slip |drop |sink )?(?:in|into|to|over|on) (?:the|a) (?:\w+ )?{_SWALLOWING}\b|"
    rf"\b(?:broke|breaks|snapped|chopped|hacked|blew|cut) {_THE.replace('thing', 'snapped')} (?:in|into|to) "
    r"(?:two|half|pieces|bits|splinters|shreds|matchwood)\b"
)
_GONE_NOW = (
    r"(?:all |quite |now |completely |utterly |almost )?(?:lost|destroyed|burn(?:ed|t)(?: down| up)?|smashed|sunk|stolen|wrecked|"
    r"shattered|shredded|ruined beyond repair|crushed|incinerated|demolished|scuttled|melted down|torn (?:up|to (?:pieces|"
    r"shreds|bits))|"
    r"ripped (?:up|to (?:pieces|shreds))|in (?:pieces|ashes|splinters|shreds)|ashes|gone for (?:good|ever)|swept away|"
    r"washed away|"
    r"at the bottom of the \w+|consumed by|swallowed by|reduced to)"
)
_LOST = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:(?:is|was|has been|had been|lies|lay|were|got|went) (?P<how>{_GONE_NOW})|"
    r"(?P<gone>(?:sank(?= (?:in|off|with|without|beneath|below|under|at|within|to the bottom)\b|[.,;]|$)|shattered|"
    r"burned down|burnt down|burned up|disintegrated|went up in (?:flames|smoke)|"
    r"went down with (?:all|every|its|her)|went to the bottom|foundered|"
    r"(?:broke|fell|smashed|crumbled|cracked|split|burst|flew|went) (?:in|into|to) (?:\w+ )?(?:pieces|two|half|bits|"
    r"fragments|dust|splinters)|"
    r"(?:slipped|fell|dropped|slid|rolled|went)[^.;\"]* (?:sank|was lost|shattered|smashed|was gone))))\b|"
    r"^The (?:sea|river|fire|flames|flood|waves|tide|current|storm|water|mud|bog) (?:took|swallowed|carried off|consumed|"
    r"destroyed|"
    rf"carried away|swept away|claimed|ate|had) the (?P<taken>{_NOUN})(?=[.,;]|$)"
)
_RESTORED = re.compile(
    r"\b(?:(?<!seen )(?<!never )again|back|found|until|rebuilt|restored|mended|repaired|recovered|replaced|"
    r"for (?:a|an|two|three) \w+)\b"
)
"""What a sentence says of a thing that was lost for a while only."""
_BELONGS = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:(?:now )?(?:belongs|belonged|passed|passes|went|goes|fell) to {_TO}|(?:was|had been|is) "
    rf"(?:given|sold|left|handed|lent|bequeathed|entrusted|promised) to {_TO.replace('to', 'given')}|(?:is|was) (?:now )?"
    rf"{_TO.replace('to', 'owner')}['’]s? (?:now|property|own)\b)"
)
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
    "thread", "track", "money", "temper", "seat", "eye", "windows", "sun", "moon",
    "fire", "matches", "wood", "coal", "incense", "oil", "sight", "use", "trail", "scent", "power",
    "peace", "calm", "mood", "spirit", "spirits", "balance", "footing", "grip", "hold", "nerve", "self-control",
    "patience", "child",
    "baby", "boy", "girl", "man", "woman", "father", "mother", "son", "daughter", "wife", "husband", "brother", "sister",
    "friend",
    "enemy", "enemies", "army", "men", "people", "hopes", "hope", "dream", "dreams", "faith", "vote", "argument", "throne",
    "crown",
    "city", "town", "village", "country", "lips", "cheek", "cheeks", "ear", "ears", "arm", "arms", "leg", "legs", "foot", "feet",
    "knee", "knees", "hair", "skin", "blood", "flesh", "ground", "earth", "road", "air", "sky", "rest", "whole", "best", "worst",
    "first", "second", "last", "other", "others", "thing", "things", "stuff", "matter", "campaign", "glasses", "crew",
    "troops", "passengers",
    "family", "conversation", "subject",
    "question", "meal", "food", "tea", "coffee", "wine",
    "kiss", "glance", "smile", "blow", "push", "start", "shock", "nod", "answer", "order", "orders", "lie", "news",
    "illusion", "illusions", "spell", "argument", "stairs", "steps", "slope", "hill", "corner", "distance",
))  # fmt: skip
"""What one has or keeps and nobody can take out of a pocket."""
_SEVERAL = frozenset((
    "hat", "window", "glass", "bottle", "plate", "cup", "cigarette", "cigar", "candle", "room", "chair", "sofa", "stone",
    "branch",
    "page", "card", "flower", "rope", "box", "paper", "pen", "table", "curtain", "bed", "stick",
))  # fmt: skip
"""What a house has several of: without another word, the next one may be another."""


def _is_doubted(fact: str, start: int, end: int) -> bool:
    """Return whether a fact doubts, wishes or denies what it says from `start` to `end`: the clause around that does."""
    begins = max((match.end() for match in _NEXT_CLAUSE.finditer(fact, 0, start)), default=0)
    ends = next((match.start() for match in _NEXT_CLAUSE.finditer(fact, end)), len(fact))
    return bool(_DOUBTED.search(fact[begins:start]) or _DOUBTED_LATER.search(fact[end:ends]))


def _by_rule(fact: str, named: Sequence[Entry], known: Codex) -> Iterator[Change]:
    for entry in named:
        if entry.kind not in ("person", "thing"):
            continue
        # What two are called by means neither.
        own = [name for name in entry.names if known.find(name) is entry]
        for match in re.finditer("|".join(map(spelled, sorted(own, key=len, reverse=True))), fact) if own else ():
            yield from _of_name(fact, match.start(), match.end(), entry, known)
    for match in _LOSES.finditer(fact):
        thing = next(value for name, value in match.groupdict().items() if name != "how" and value)
        if (
            _is_thing(thing)
            and not _RESTORED.search(fact, match.end())
            and not _is_doubted(fact, match.start(), match.end())
        ):
            how = "lost" if match["thrown"] or re.match(_MISLAYS, match["how"] or "") else "destroyed"
            yield Change(entry=thing, kind="thing", do="set", aspect="status", value=how)
    for match in _LOST.finditer(fact):
        thing = match["thing"] or match["taken"]
        if (
            _is_thing(thing)
            and not _RESTORED.search(fact, match.end())
            and not _is_doubted(fact, match.start(), match.end())
        ):
            how = (
                "lost"
                if re.match("lost|stolen|sunk|gone|swept|washed|sank|at the", match["how"] or match["gone"] or "lost")
                else ""
            )
            yield Change(entry=thing, kind="thing", do="set", aspect="status", value=how or "destroyed")
    for match in _BELONGS.finditer(fact):
        if _is_thing(match["thing"]) and not _is_doubted(fact, match.start(), match.end()):
            to = match["to"] or match["given"] or match["owner"]
            about = Change(entry=match["thing"], kind="thing", do="set")
            yield from _held(about, known.find(to), to, known)
    yield from _renamed(fact, known)


def _of_name(fact: str, start: int, end: int, entry: Entry, known: Codex) -> Iterator[Change]:
    """Yield what a fact tells of an entry that it names from `start` to `end`."""
    rest, before = fact[end:], fact[:start]
    if _OTHER_NAME.search(before):
        return  # of Uncle March nothing is told by what Aunt March does
    about = Change(entry=entry.name, kind=entry.kind, do="set")
    dead: Change = {**about, "aspect": "status", "value": "dead"}
    if entry.kind == "person" and (body := _BODY.match(rest)) and not _is_doubted(fact, start, end + body.end()):
        yield dead
    around = any(re.search(begins, before) and re.match(ends, rest) for begins, ends in _AROUND_DEAD)
    if entry.kind == "person" and around and not _is_doubted(fact, start, end):
        yield dead
    if rest[:1].strip("., "):
        return  # part of a longer word, or Mira's
    shift = next((len(said) for said in (", who ", ",") if rest.startswith(said)), 0)
    if shift == 1:
        # Mira, the eldest of three, died
        aside = re.match(r",(?: [a-z][\w'’-]*){1,10}, ", rest)
        shift = aside.end() if aside else 0
    after = rest[shift:].lstrip()
    at = len(fact) - len(after)
    if entry.kind == "person":
        further = _AND_THEN.match(after)
        for begins in (at, at + further.end()) if further else (at,):
            for status, pattern in _AFTER_NAME:
                match = pattern.match(fact, begins)
                doubted = match is None or _is_doubted(fact, at if shift else start, match.end())
                if not doubted and (status != "absent" or not _FOR_NOW.search(before)):
                    yield {**about, "aspect": "status", "value": status}
        if _UNSEEN.search(before) and _EVER.match(rest) and not _is_doubted(fact, start, end):
            yield {**about, "aspect": "status", "value": "absent"}
        if role := _ROLE.match(rest):
            yield {**about, "aspect": "role", "value": role["role"]}
        killed = _KILLED.search(before)
        if (
            killed
            and not _NOT_TO_DEATH.match(rest)
            and not _is_doubted(fact, killed.start(), end)
            and (killed[0].split()[0] not in _SLOWLY or _ONLY_TO_DEATH.match(rest))
        ):
            yield dead
        if (
            re.search(r"\b(?:let|set) $", before)
            and re.match(r" (?:go|free)\b", rest)
            and not _is_doubted(fact, start, end)
        ):
            yield {**about, "aspect": "status", "value": "alive"}
        if (body := _BODY_OF.search(before)) and not _is_doubted(fact, body.start(), end):
            yield dead
        if re.search(_TAKEN, before) and _AWAY.match(rest.lstrip()) and not _is_doubted(fact, start, end):
            yield {**about, "aspect": "status", "value": "absent"}
    if (place := _IS_IN.match(after)) and not _is_doubted(fact, start, end):
        yield {**about, "aspect": "place", "value": place["where"]}
    if entry.kind == "person" and not _is_doubted(fact, start, end):
        yield from _possession(entry, after, known)
        if _PROMISED.match(after):
            name = shortened(fact.rstrip("."), MOST_NAME_WORDS)
            yield {**about, "kind": "promise", "entry": name, "aspect": "status", "value": "open"}


_SLOWLY = frozenset(("put", "clubbed", "beat", "kicked", "hacked", "burned", "burnt", "stoned", "starved", "choked"))
"""What kills where it is done to death."""


_KNOWS = re.compile(
    r"(?P<who>.+?) (?:now |finally )?(?:knows|learns|learned|learnt|discovers|discovered|finds out|found out) "
    r"(?P<what>.+)"
)
_KNOWS_NOT = re.compile(r"(?P<who>.+?) (?:still )?(?:does not|doesn['’]t) (?:yet )?know (?P<what>.+)")
_ASKS = re.compile(r"(?:that|whether|if) ")
_SOMEBODY = re.compile(r"(?:[Tt]he )?(?:[A-Z][\w'’-]+ ){1,3}")


def _ended_by(fact: str, entry: Entry) -> Iterator[Change]:
    """Yield the ends of those lines of an entry that an English fact takes back in the line's own words."""
    said = fact.rstrip(".")
    before, knows = said.replace("no longer ", "", 1), _KNOWS.fullmatch(said)
    if before == said and (knows is None or knows["who"] not in entry.names):
        return
    for line in entry.lines:
        if line.passage and line.aspect in ("fact", "unaware"):
            held = sentence_of(entry, line).rstrip(".")
            if (before != said and held == before) or (knows and _is_known(knows["what"], held, entry)):
                change = Change(entry=entry.name, kind=entry.kind, do="end", aspect=line.aspect)
                yield {**change, "text": line.text} if line.text else {**change, "value": line.value}


def _is_known(what: str, held: str, entry: Entry) -> bool:
    """Return whether a line says of an entry that it does not know, in the same words, what it knows now."""
    unknown = _KNOWS_NOT.fullmatch(held) if " know " in held else None
    if unknown is None or unknown["who"] not in entry.names:
        return False
    asked, known = _ASKS.sub("", unknown["what"], count=1), _ASKS.sub("", what, count=1)
    somebody = _SOMEBODY.match(known)
    return known == asked or bool(somebody and f"who {known[somebody.end() :]}" == asked)


def _is_thing(name: str) -> bool:
    """Return whether the rules follow a thing: what everybody has several of, they do not."""
    words = name.split()
    if len(words) == 1 and name in _SEVERAL:
        return False
    return (
        words[-1] not in _NO_THING and not name.endswith("ly") and words[0] not in ("other", "last", "first", "whole")
    )


def _possession(entry: Entry, after: str, known: Codex) -> Iterator[Change]:
    for pattern in (_GIVES, _GIVES_FIRST, _HOLDS):
        match = pattern.match(after)
        found = match.groupdict() if match else {}
        thing = next(
            (found[name] for name in ("thing", "pressed", "present", "taken", "picked") if found.get(name)), ""
        )
        if match is None or not _is_thing(thing or "door"):
            continue
        about = Change(entry=thing, kind="thing", do="set")
        to = next((found[name] for name in ("to", "hand", "friend") if found.get(name)), entry.name)
        to = to.removesuffix("'s").removesuffix("’s")
        yield from _held(about, known.find(to), to, known)
        return


def _held(about: Change, holder: Entry | None, name: str, known: Codex) -> Iterator[Change]:
    """Yield who has a thing now; what somebody has is lost no longer."""
    yield {**about, "aspect": "holder", "value": holder.name if holder else name}
    thing = known.find(about["entry"])
    if thing is not None and thing.value("status") in ("lost", "destroyed"):
        yield {**about, "aspect": "status", "value": "kept"}


_NAME = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_BEGINS = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+(?:['’][A-Z]\w+)?){1,2}(?=['’]s?\b|,? [a-z])")
"""A name of two words or three with which a sentence begins that goes on about it."""
_PLACES = frozenset((
    "Street", "Road", "Lane", "Alley", "Avenue", "Square", "Bridge", "Hill", "House", "Hall", "Manor", "Castle", "Abbey",
    "Church", "College", "School", "Park", "Garden", "Gardens", "Island", "Bay", "Point", "River", "Lake", "Harbour", "Harbor",
    "Town", "City", "Village", "County", "Valley", "Station", "Inn", "Gate", "Tower", "Mill", "Farm", "Wood", "Woods", "Forest",
    "Arms", "Bank", "Hotel", "Hospital", "Prison", "Museum", "Press", "Company", "Brothers",
))  # fmt: skip
"""What makes of a name before it that of a place or a house."""
_FROM_THEN = r"(?:now\b|from (?:then|that|this) [^.,;]*on\b|ever (?:after|since)\b)"
_TITLED = r"(?:Mr|Mrs|Miss|Ms|Dr|Sir|Lady|Lord|King|Queen|Prince|Princess|Emperor|Pope|Count|Countess|President)"
_PLACED = rf"(?!{_TITLED}\b\.?){_NAME}"
_RENAMED = (
    re.compile(rf"\b(?P<old>{_NAME}) (?:is|was|has been|had been) (?:renamed|rechristened) (?:to |as )?(?P<new>{_NAME})"),
    re.compile(
        rf"\b(?:renamed|rechristened) (?:the \w+ )?(?P<old>{_NAME})(?:(?:,| as| to)? (?P<new>{_NAME})|,? [^.;]*\b"
        rf"called (?P<later>{_NAME}))"
    ),
    re.compile(
        rf"\b(?P<old>{_NAME}) (?:is|was) (?:now (?:called|known as|named) (?P<new>{_NAME})|"
        rf"called (?P<later>{_NAME}) {_FROM_THEN})"
    ),
    re.compile(
        rf"\b(?P<old>{_NAME}) (?:had |has )?(?:changed (?:his|her|its) name to|(?:took|adopted|assumed|received|got|bore) the "
        rf"(?:new )?name(?: of)?|went by the name of|now goes by|now went by|goes by the name of) (?:the )?(?P<new>{_NAME})"
    ),
    re.compile(
        rf"\b(?P<old>{_NAME}) (?:[a-z][\w'’-]* ){{0,8}}?(?:called|calls|styled|named) (?:himself|herself|"
        rf"itself) (?P<new>{_NAME})(?= now\b|"
        rf"[.,;]|$| {_FROM_THEN})"
    ),
    re.compile(rf"\bgave (?P<old>{_NAME}) (?:a|the|its|his|her) new name,? (?:of )?(?P<new>{_NAME})"),
    re.compile(rf"\b(?P<old>{_NAME}) (?:was|is|had been) given (?:a|the) (?:new )?name,? (?:of )?(?P<new>{_NAME})"),
    re.compile(
        rf"\b(?P<old>{_PLACED}) (?:became|becomes) (?P<new>{_PLACED})(?= on (?:every|all|the) maps?\b|[.,;]|$)"
        r"(?! of\b)"
    ),
    re.compile(rf"\bonce called (?P<old>{_NAME})[^.;]*\b(?:now|today) (?:called |known as )?(?P<new>{_NAME})"),
)  # fmt: skip


def _renamed(fact: str, known: Codex) -> Iterator[Change]:
    for match in filter(None, (pattern.search(fact) for pattern in _RENAMED)):
        old = match["old"].removeprefix("The ")
        if old.split()[0] in NOBODY or _is_doubted(fact, match.start(), match.end()):
            continue
        entry = known.find(old)
        if entry is not None and entry.kind == "person" and "became" in match[0]:
            continue  # a clerk who became Lord Mayor is called what he was called
        if entry is None or entry.value("status") != "dead":
            kind = entry.kind if entry else "place"
            yield Change(
                entry=entry.name if entry else old,
                kind=kind,
                do="rename",
                value=match["new"] or match.groupdict().get("later") or "",
            )


_LIFELESS = (
    "died|killed|buried|drowned|hanged|murdered|passed|vanished|disappeared|looked|seemed|appeared|remained|rested|stared|"
    "floated|"
    "drifted|rotted|smelled|belonged|mattered|haunted|owned|lived|loved|hated|used|wanted|needed|deserved|called|named|covered|"
    "wrapped|dressed|stretched|resembled|failed|existed|ended|turned|feared|followed|wished|intended|promised|inherited|"
    "slumped|sprawled|weighed|stiffened|dangled|stayed|sagged|lolled|swayed|collapsed|occupied|"
    "received|suffered|tended|indeed|supposed|expected|proved|engaged|married|related|attended|surrounded|reduced|"
    "bled|perished|succumbed|expired|shot|stabbed|strangled|poisoned|beheaded|executed|cremated|interred|mourned|missed|"
    "accused|arrested|convicted|condemned|forgotten|remembered|renamed|possessed|required|lacked|bequeathed|dreaded|"
    "concerned|represented|reminded|counted|aged|born"
)
"""What is also said of the dead, or of the living as of another time."""
IRREGULAR = (
    r"(?:ate|beat|began|bent|bet|bit|blew|bought|broke|brought|built|burst|came|caught|chose|clung|crept|cut|dealt|did|"
    r"drank|drew|"
    r"drove|dug|dwelt|fed|fought|fled|flew|flung|forbade|forgave|froze|gave|got|ground|held|hid|hit|hung|hurt|knelt|laid|"
    r"leant|leapt|"
    r"learnt|led|lent|let|lit|made|met|mowed|paid|put|quit|ran|rang|read|rode|rose|sang|sat|said|saw|sent|set|shone|shook|"
    r"shook|shut|"
    r"slept|slid|slit|slung|sold|sought|spent|spat|split|spoke|spread|sprang|spun|stood|stole|strode|strove|struck|stuck|"
    r"stung|swam|"
    r"swept|swore|swung|taught|thought|threw|thrust|told|took|tore|trod|understood|went|wept|woke|won|wore|wound|wove|"
    r"wrote|wrung)"
)
_LASTS = (
    r"(?:is|was|has|does|lies|seems|rests|remains|belongs|means|owns|dies|rots|haunts|looks|weighs|as|his|this|its|us|"
    r"thus|perhaps|"
    r"always|sometimes|besides|was|knows|loves|hates|likes|needs|wants|fears|deserves|lives|stays|floats|sleeps|vanishes|"
    r"disappears|"
    r"plus|versus|towards|afterwards|across|less|less|yes)"
)
ACTS = (
    rf"(?:\w+ly |only |just |then |still |also |now |both )?(?:{IRREGULAR}(?<!hung)|hung (?!from|in|by|there|dead)|"
    r"turned (?:to|round|around|away|the)|looked (?:up|at|down|round|over|across|into|out)|"
    r"(?:is|was) (?:still |already |now |just |\w+ly )?(?!(?:missing|lying|hanging|rotting|dying|going|floating|being|living|"
    r"decomposing|bleeding|wearing|nothing|something|anything|everything|lacking|losing|sinking|suffering|fading|failing)\b)"
    r"[a-z]{2,}ing|"
    rf"(?!{_LASTS}\b)[a-z]{{2,}}[a-rt-z]s|crosses|tosses|passes|presses|kisses|guesses|dresses|"
    rf"(?!(?:{_LIFELESS})\b)[a-z]{{2,}}(?<!e)ed)\b"
)
"""What only the living do, after a name."""

_SPEAKS = (
    r"(?:said|says|asked|asks|whispered|whispers|replied|replies|answered|answers|called|calls|shouted|muttered|cried|told|"
    r"tells)"
)
_NEW = re.compile(
    rf"\b{_SPEAKS} ([A-Z][a-z]{{2,}}(?: [A-Z][a-z]{{2,}})?)\b|\b([A-Z][a-z]{{2,}}(?: [A-Z][a-z]{{2,}})?) {_SPEAKS}\b"
)
NOBODY = frozenset((
    "He", "She", "It", "They", "We", "You", "Who", "Nobody", "Somebody", "Someone", "Everyone", "Everybody", "Both",
    "Neither", "Mother", "Father", "God", "The", "That", "This", "What", "Then", "Now", "Once", "One", "Another",
    "Mama", "Papa", "Mum", "Dad", "And", "But", "When", "While", "After", "Before", "As", "If", "So", "Yes", "No", "Oh", "Well",
    "There", "Here", "Even", "Only", "Perhaps", "Still", "Though", "Because", "For", "Or", "Yet", "Nor", "Till", "Until",
))  # fmt: skip


def speakers(passage: str, codex: Codex) -> list[Entry]:
    """Return the people who speak in a passage and are no entry yet."""
    names = {first or second for first, second in _NEW.findall(passage)}
    return [
        Entry(name, "person") for name in sorted(names) if name.split()[0] not in NOBODY and codex.meant(name) is None
    ]


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
    rf"ran (?:a hand|(?:his|her) (?:fingers|hand)) through (?P<u>{_HIS}hair\b))|"
    rf"(?:put|thrust|shoved|plunged|dug|stuck) (?:both )?(?P<v>{_HIS}hands) (?:in|into|deep))|"
    rf"(?:muttered|cursed|swore|murmured|hummed|whistled|said|laughed) under (?P<w>{_HIS}breath\b))"
)
OF_ONESELF = re.compile(
    rf"\b(?P<name>[A-Z][\w'’-]+)(?:,| {_SPEAKS}(?: \w+ly)?,)? (?:slowly |only |just |\w+ly )?(?:{_OWN}|(?P<i>himself|herself)\b|"
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
    name, (*first, last) = match["name"], entry.name.split()
    before = match.string[: match.start()]
    if _GOVERNED.search(before) or (_OTHER_NAME.search(before) and not before.endswith(f"{' '.join(first)} ")):
        return False
    return not first or name != last or match.string[: match.start()].endswith(f"{' '.join(first)} ")


def _pronouns(passage: str, codex: Codex) -> Iterator[Change]:
    said: dict[str, set[str]] = {}
    for match in OF_ONESELF.finditer(passage):
        entry = codex.find(match["name"])
        if entry and entry.kind == "person" and not entry.value("pronouns") and is_alone(match, entry):
            said.setdefault(entry.name, set()).add(pronoun_of(match))
    for name, found in said.items():
        if len(found) == 1:
            yield Change(entry=name, kind="person", do="set", aspect="pronouns", value=found.pop())
