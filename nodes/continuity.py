"""What the writer is told of people and things, and what in its passage contradicts that.

Rules would rather miss than accuse. A rule speaks only where a passage itself, outside of what its people say, names somebody
or something and tells of them what cannot be: memories, dreams and doubts are let pass, and so is whoever is found or comes
back in the same passage.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby, takewhile

from recurrentgpt.memory.codex import open_entries, sentence_of, tell, touched
from recurrentgpt.memory.dead_who_act import dead_in
from recurrentgpt.memory.told_of_people import tells_what_they_do
from recurrentgpt.nodes.codex_changes import (
    HE,
    MOST_SENTENCE_WORDS,
    OF_ONESELF,
    PERSON,
    SHE,
    ToldSentence,
    calling,
    deaths,
    is_alone,
    may_mean_another,
    names_pattern,
    pronoun_of,
    told_sentences,
)
from recurrentgpt.nodes.codex_names import NOBODY
from recurrentgpt.nodes.codex_verbs import ACTS, IRREGULAR, PLACE_LEFT
from recurrentgpt.nodes.prompt_values import codex_before, finale, people
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.nodes.small.reply_patterns import is_english
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.schema.codex import LASTING, Change, Codex, Contradiction, Entry, Line, Rule, Told, searched, sign_of
from recurrentgpt.schema.names import (
    ANYBODY,
    CALENDAR,
    CAPITALS,
    EPITHETS,
    PLACES,
    RANKS,
    epithets_of,
    form_of,
    is_name_part,
    key_of,
    parted,
    plain,
    spelled,
    without_article,
    without_epithets,
)
from recurrentgpt.schema.state import State

TOLD_WORDS = {"small": 45, "full": 260}
"""Most words that a writer of a tier is told of entries: about 80 and 400 tokens, with their names."""

MOST_COMPARED = 40
"""Facts of one entry that are held against the plan, the newest."""

NEAR, MOST_NEAR, MOST_ASKED = 0.35, 2, 400
"""Cosine from which on a plan is about what the author says of somebody whom it does not name, how many such lines are told, and
of how many, the last ones, that is asked: to embed so many takes two seconds, once."""

_ACT = re.compile(rf"(?:[\w'’-]+ ){{1,4}}?{ACTS}")
"""A sentence that begins with what somebody did."""

MOST_CONTRADICTIONS = 6
"""Of one passage."""

MOST_HEADING_WORDS = 10
"""Of a line that says of when is told what follows."""

_LETTER = re.compile(r"\w")

_LIKENESS = (
    r"(?:tape|cassette|record(?:ing|er)|video|footage|newsreel|projector|projection|hologram|holo|television|telly|TV|broadcast|"
    r"voicemail|answering machine|gramophone|portrait|photo(?:graph)?|picture|snapshot|polaroid|album|billboard|painting|fresco|"
    r"mural|engraving|etching|sketch|drawing|tapestry|mosaic|stained glass|window of the church|(?:east|west|chapel) window|"
    r"puppet|marionette|ventriloquist|replay|statue|bust|effigy|waxwork|medallion)s?"
)
"""What shows or sounds like somebody who is not there, and is hardly ever anything else."""
_SCREEN = (
    r"(?:film|reel|screen|monitor|lens|camera|poster|placard|hoarding|radio|wireless|mantel(?:piece)?|front row|new coin|"
    r"banknote)s?"
)
"""The same, of what also stands in a room or is a film of dust."""
_STUFF = r"(?:canvas|bronze|marble|plaster|wallpaper|negative|stamp)s?"
"""What somebody may be painted on or cast in, and most of what else there is."""
_MEDIUM = rf"(?:{_LIKENESS}|{_SCREEN}|{_STUFF})"
"""What shows or sounds like somebody, in a sentence that tells of them."""
_PAST_TIME = (
    r"(?:years?|months?|weeks?|days?|nights?|mornings?|evenings?|hours?|minutes?|decades?|centur(?:y|ies)|winters?|summers?|"
    r"springs?|autumns?|falls?|seasons?|moons?|cycles?|generations?|lifetimes?|harvests?)"
)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_LONG = r"(?:years?|winters?|summers?|springs?|autumns?|falls?|seasons?|decades?)"
_IN_THAT_YEAR = (
    rf"(?:it|this|that) (?:was|had been) (?:in )?(?:the|that|her|his|their|our) (?:[\w-]+ ){{0,2}}?{_LONG} "
    r"(?:of|when|that|before|after|he|she|they|in which)\b"
)
"""What says in which year something is told that is not of now: a night may be this one."""
_WORDS_ON = (
    r"(?:letters?|postcards?|telegrams?|diary|diaries|journals?|wills?(?! (?:of|to)\b)|files?|dossiers?|plaques?|"
    r"inscriptions?|memoirs?|chronicles?|biograph(?:y|ies)|obituar(?:y|ies)|clippings?|cuttings?|chapters?|manuscripts?|"
    r"transcripts?|depositions?|testaments?|stor(?:y|ies)|tales?|yarns?|legends?|fables?|anecdotes?|rumou?rs?|poems?|ballads?|"
    r"rhymes?|entr(?:y|ies)|reports?)"
)
"""What holds or tells words about somebody."""
_SAYS_WORDS = (
    r"(?:signs?|signboards?|notes?|columns?|pages?|headlines?|songs?|verses?|minutes|programmes?|newspapers?|gazettes?|papers?|"
    r"registers?|playbills?|ledgers?|gossip)"
)
"""The same, of what is read or heard of only where it says something."""
_READ_ALREADY = r"(?:to the end|twice|yet|through|and (?:then )?\w+ed)"
"""What says that nobody goes on reading."""
_READ = re.compile(
    # The report says of them what follows.
    rf"^\W*(?:(?:But|And|Then) )?(?:[Tt]he|[Aa]n?|[Tt]his|[Tt]hat|[Hh]is|[Hh]er|[Tt]heir) (?:[\w'’-]+ ){{0,2}}"
    rf"(?i:{_WORDS_ON}|{_SAYS_WORDS})(?: [\w'’-]+){{0,4}}? (?:said|says|read|reads|ran|went|began|told|tells|recorded|"
    rf"mentioned|went like|ran like|gave (?:him|her|them))(?! (?:away|up|out|off|down|so|no|nothing)\b)\b|"
    r"(?<!\bnot )(?<!\bnever )(?<!\b[Nn]obody )(?<!\b[Nn]obody had )(?<!n['’]t )"
    r"\b(?:read|reads|recited|copied|quoted|dictated) (?:out |aloud |over |from |in |through |about |them )*"
    rf"(?:the|an?|his|her|their|that|this) (?:[\w'’-]+ ){{0,2}}{_WORDS_ON}\b"
    rf"(?! {_READ_ALREADY}\b)|"
    rf"\b[Ii]t was (?:the|an?) (?:\w+ )?{_WORDS_ON} (?:that )?(?:[\w'’]+ ){{1,3}}(?:told|liked|loved|knew|sang|heard)\b|"
    r"\b[Tt]here (?:was|were) (?:rumou?rs|gossip|tales|stories|legends) (?:all|everywhere|(?:of|about) (?:him|her|them))\b|"
    rf"\b(?:[Ee]very (?:[\w'’-]+ ){{1,5}}?|[Ee]very(?:body|one) |[Aa]ll (?:[\w'’-]+ ){{1,4}}?)(?:knew|told|sang) the "
    rf"(?:\w+ )?(?:{_WORDS_ON}|songs?)\b|"
    r"\b(?:[Oo]ver|[Oo]n|[Aa]bove) (?:the|his|her|a) (?:\w+ )?(?:door|gate|window|shop|wall|lintel|bench|card|van) "
    r"(?:it |they )?(?:still )?(?:said|read)\b"
)
"""A sentence in which something that holds words says them, is read, or is told by everybody, before what it says."""
_PUTS_AWAY = re.compile(
    r"\b(?:folded|burned|burnt|tore|put|puts|laid|tucked|dropped|threw|handed|took|locked|hid|crumpled|pocketed|closed|shut|"
    r"slipped|pushed|signed|sealed|picked|opened) (?:it|them)\b"
)
"""What is done with what was read, before the story goes on."""
_ELSEWHEN = re.compile(
    r"\b(?:remember\w*|recall\w*|memory|memories|dream\w*|ghost\w*|spirit\w*|used to|as if|as though|ago\b|"
    rf"{_PAST_TIME} (?:earlier|before)\b|"
    r"before (?:he|she|they) died|grave|tomb|coffin|corpse|body|lifeless|morgue|urn|shroud|hearse|stretcher|trolley|"
    r"glassy|sightless|unseeing|began to (?:smell|rot|stink|stiffen)|in a (?:box|casket)|into the (?:ground|earth)|"
    rf"{_MEDIUM}\b|from (?:the|every|each|all|its|their|a) (?:\w+ )?(?:walls?|page|frame|cover)\b|"
    r"from every (?:drawer|corner|shelf|room)\b|"
    r"imagin\w*|echo\w*|voice of|['’]s voice|(?:in|by|of) (?:\w+ )?(?:letters?|diary)|wrote|written|"
    r"in (?:the|that|this|her|his) (?:\w+ )?(?:tale|story|song|play|novel|simulation|game|chapter|scene|verse|"
    r"act(?! of))\b|, (?:they|people|it) (?:said|read|ran)(?=[.,;])|"
    r"on page (?:\d+|\w+)\b|"
    r"ballad|legend|saga|obituary|eulogy|on (?:the )?stage|stage (?:left|right)|actress|actor|understudy|"
    r"in (?:the old|those) days|years (?:younger|older)|"
    r"in (?:his|her|their|my|our) (?:\w+ )?(?:heads?|minds?|thoughts|ears?)\b|"
    r"(?:back|corner|edge|depths?) of (?:his|her|their|my) mind\b|in ['’]\d\d\b|in 1\d{3}\b|"
    r"in (?:his|her|their) (?:youth|day|time|prime|(?:twen|thir|for|fif)ties)\b|"
    r"(?<!\bin )(?<!\bon )(?<!\bat )(?:the|that) (?:\w+ )?(?:year|summer|winter|spring|autumn|day|week|month|"
    r"night) (?:that |when )?(?:he|she|they|we|the|before)\b|(?:on|of) (?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)days|"
    r"(?<!\bas he did )(?<!\bas she did )every (?:\w+day|morning|evening|night|year|summer|winter|spring|autumn)|"
    r"each (?:morning|evening|night|year|summer|winter)\b|"
    r"(?:was|were) (?:only |just |barely |about |still )?(?:a (?:girl|boy|child)|young|small|little|\d+|six|seven|eight|nine|ten|"
    r"eleven|twelve|\w+teen|twenty(?:-\w+)?|thirty(?:-\w+)?)(?: years old)? when\b|"
    r"the (?:late|dead) [A-Z]\w+)",
    re.IGNORECASE,
)
"""What makes a sentence one of another time, or of nobody in the flesh, wherever it stands in it."""
_UNREAL = re.compile(
    r"\b(?:had(?! to\b)|once|would|could have|might|like|if|dead|that|how|than|when (?:he|she|they) (?:was|were)|never|no longer|"
    r"not|without|instead of|nor|neither|until|unless|since|somewhere|wherever|perhaps|maybe|surely|no doubt|"
    r"according to (?!(?:the|his|her) (?:clock|watch|map|plan|calendar|timetable|rules?)\b)|"
    r"(?:in|of) the (?:afterlife|hereafter))\b|n['’]t\b",
    re.IGNORECASE,
)
"""What makes unreal, or of another time, only what is told after it."""
_SHOWS = (
    r"(?:hung|hangs?|show(?:s|ed|ing)|flicker\w*|glow\w*|watch\w+|project(?:s|ed)|paint(?:s|ed|ing)?|carved|cast|unveiled|"
    r"struck|printed|(?:look|star|gaz|glanc)\w+ (?:at|into|up|down))"
)
"""What is done with stuff that shows somebody, and by it."""
_OF_SOMEBODY = r"of (?:him|her|them|(?-i:[A-Z]\w*))"
_FORGOTTEN = (
    r"(?:keys?|doors?|locks?|gates?|windows?|bags?|coats?|hats?|gloves|umbrellas?|errands?|lists?|tickets?|money|purse|wallet|"
    r"lamps?|stove|kettle|oven|bread|milk|sugar|salt|tea|soup|matches|candles?|parcels?|packages?|medicine|glasses|maps?|"
    r"ropes?|gun|knife|appointment|meeting|rules?|passwords?|codes?|numbers?|horses?|dogs?|hens)"
)
"""What somebody remembers who had only forgotten it."""
_DONE_WITH = (
    r"(?:rain|snow|freez|burn|clos|shut|paint|light|lit|said|lock|unlock|open|swept|clean|mend|repair|tor|broken|set|laid|"
    r"put|remov|scrubb|polish|cut|nail|board|stolen|seal)(?:ing|ed|t|n)?"
)
"""What had been done with a thing, or had fallen as rain, without a word of another time."""
_THEN = re.compile(
    rf"\b(?:{_PAST_TIME} (?:ago|earlier|before)|in those days|back then|as a (?:boy|girl|child)|used to|"
    rf"when (?:he|she|they) (?:was|were) (?:still |only |just )?(?:alive|young|a)|(?:day)?dream(?:ed|t|ing)?|{_IN_THAT_YEAR}|"
    r"it had all (?:begun|started|happened) (?:with|when|in|on|at|because|so)\b|"
    r"it (?:had )?(?:went|gone|happened) (?:like this|this way|as follows)|"
    r"let (?:his|her|their) (?:mind|thoughts) (?:drift|wander|go back)|"
    r"(?:mind|thoughts) (?:(?:drifted|wandered|strayed|went) back|returned to)|reverie|"
    r"it was (?:only |just )?(?:the|a) (?:\w+ )?(?:serial(?! (?:killer|number))|radio play|matin[ée]e)|"
    r"(?:he|she|I|(?-i:[A-Z][\w-]+)) was (?:only |just |barely |not yet |not quite )?(?:four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|\w{3,5}teen) (?:then|that year|at the time)|"
    r"(?:told|tell|tells|telling) it (?:to )?(?:(?:them|him|her|us) )?(?:best|every|each|like this|this way)\b|"
    r"told (?:them|him|her|us)(?=:)|(?:narrator|storyteller|minstrel|bard) (?:began|cleared)|"
    rf"remember\w*(?! to\b)(?! (?:the|an?|his|her|its|their) (?:\w+ )?{_FORGOTTEN}\b)|"
    rf"(?<!\bthere )had been(?! {_DONE_WITH}\b)|"
    rf"{_LIKENESS}|{_SHOWS}\b[^.!?]{{0,80}}\b{_STUFF}|{_STUFF}\b[^.!?]{{0,80}} {_SHOWS}|{_STUFF} {_OF_SOMEBODY}|"
    rf"(?<!\bdrew the )(?<!\bmoved the )(?<!\bfolded the ){_SCREEN}(?! (?:bag|case|strap|door|stood|lay|was (?:bare|empty|off|"
    rf"broken)|of (?!him\b|her\b|them\b|(?-i:[A-Z])))\b)|"
    r"(?:unfolded|opened|(?<!nobody had )(?<!not )read|reread) (?:the|his|her|their|an?) (?:\w+ )?"
    rf"(?:letter|note|diary|journal|postcard|will)(?! {_READ_ALREADY})|"
    r"machine (?:beeped|clicked|whirred)|as children|"
    r"(?:in|of|the|his|her) (?:\w+ )?fever|pills|deliri\w*|hallucinat\w*|morphine|opium|lights came up on|"
    r"(?:was|were) to play|"
    r"witness|testif\w*|testimony|confess\w*|recount\w*|described|through it again|(?:talked|spoke) (?:until|all|of)|"
    r"(?:put|lowered|set) the needle|record (?:crackled|hissed|played|spun)|"
    r"scrolled|swiped|(?:first|next|last) page (?:began|ran|read|said|told)|(?:at|after) the (?:wake|funeral)|"
    r"(?:struck up|sang|sings|read|reads|recited|gave|delivered|began) (?:the|an?|his|her) (?:\w+ )?"
    r"(?:eulogy|obituary|ballad|epitaph)|"
    r"curtain (?:rose|went up)|"
    r"(?:told|tell|telling|swapped|traded) (?:\w+ ){0,4}(?:stor(?:y|ies)|tales?|anecdotes)|"
    r"thought (?:back|of)|closed (?:his|her) eyes and saw)\b",
    re.IGNORECASE,
)
"""What makes of another time, or of nobody in the flesh, what its paragraph tells after it, and the next one if it ends so."""
_WOULD_HAVE = re.compile(
    r"^\W*(?:But |And |Oh, )?(?:He|She|They) would (?:never |not |surely |only )?have (?:loved|liked|hated|enjoyed|approved|"
    r"been proud|been pleased)\b(?! to\b)"
)
"""What makes of another time, or of no time, what is told next of whoever is gone."""
_ONLY_DREAMT = (
    r"\b(?:[Ii]t|[Aa]ll|[Tt]hat) (?:was|had been) (?:only |just |nothing but |all |merely )*an? (?:bad |foolish )?"
    r"(?:dream|nightmare|daydream|hallucination|mirage)\b"
)
_WOKE = r"(?:woke|awoke|awakened|jerked awake|started awake)"
_WHO = r"(?:[Hh]e|[Ss]he|[Tt]hey|I|(?!The\b|An?\b|His\b|Her\b|Then\b|But\b|And\b)[A-Z][\w-]+)"
_WAKES_ALONE = (
    rf"{_WHO} (?:\w+ )?{_WOKE}\b[^.;]*?(?:\b(?:and|to find|to see) (?:that )?(?:it was|the sun was|there was no|"
    r"(?:he|she) was (?:alone|in)|the (?:room|bed|chair|house) was)|\balone\b)"
)
"""Who wakes where nobody has been."""
_WAKES = re.compile(
    rf"\b{_WAKES_ALONE}|"
    # Who does something and wakes of it was asleep in doing it.
    rf"\b{_WHO} (?!(?:stirred|started|turned|sighed|groaned|moaned|rolled|jumped|coughed|sneezed|yawned|stretched|blinked|cried|"
    rf"heard|felt|sat|slept|had|was)\b)(?:{IRREGULAR}|[a-z]+ed) [^.;\"]*\band (?:then )?{_WOKE}\b"
    r"(?! (?:up )?(?:him|her|them|the|his|[A-Z]\w+)\b)|"
    r"\balarm (?:clock )?(?:rang|went|shrilled|buzzed|sounded)\b,? and (?:he|she|[A-Z][\w-]+) (?:lay|was (?:alone|awake|in)|"
    r"opened (?:his|her) eyes)\b|"
    rf"{_ONLY_DREAMT}|"
    # Who is called or seen from behind, and is another one.
    r"\b(?:(?:[Hh]e|[Ss]he|I) (?:\w+ and )?(?:caught (?:his|her) (?:sleeve|arm|hand)|called (?:out )?(?:his|her) name|"
    r"touched (?:his|her) (?:arm|shoulder|sleeve))|turned (?:his|her) (?:head|face))\b[^.]*(?:[.,]|, (?:and|but)) "
    r"(?:and |but )?[Ii]t was (?:only |just |merely )?(?:a stranger|somebody else|someone else|another (?:man|woman|boy|girl)|"
    r"not (?:him|he|she)\b)"
)
"""What makes a dream, or a mistake, of what is told before it."""
_WAKES_NEXT = re.compile(rf"\W*(?:(?:And |But )?[Tt]hen )?(?:{_WAKES_ALONE}|{_ONLY_DREAMT})")
"""The same, of how a paragraph begins."""
_ASLEEP = re.compile(r"\b(?:slept|asleep|dozed|lay down|went to (?:bed|sleep)|snored|turned in|nodded off)\b")
"""What somebody does who then wakes."""
_SALUTES = re.compile(r"\b(?:Dear|Dearest) [A-Z]\w+,")
"""How a letter begins."""
_GOES_ON = re.compile(r"\b(?:and|but) (?:\w+ly )?\w+ed\b")
"""What a sentence comes back to, from a memory."""
_HAD_DONE = re.compile(
    r"\b(?:(?:[Hh]e|[Ss]he|[Tt]hey) had (?!to\b|an?\b|the\b|no\b|his\b|her\b)|(?P<name>[A-Z][\w'’-]+) had (?!to\b))\w+"
)
"""What makes of another time what the next sentence of its paragraph tells, of the same one if it names them."""

_STARTS_NOW = re.compile(
    r"\W*(?:but |and |so )?(?:now|today|tonight|(?:the )?present(?: day)?|this (?:morning|afternoon|evening|night)|these days)\b",
    re.IGNORECASE,
)
_HEADS_ANOTHER_TIME = re.compile(
    rf"(?:.*\b)?{_PAST_TIME} (?:\w+ )?(?:earlier|before|ago|previously|past)\b.*|.*\b(?:1\d{{3}}|20\d\d)\b.*|"
    r"(?:then|before|earlier|once|once upon a time|long ago|long before|back then|in those days|the past|in the beginning|"
    r"flashback|a flashback|prologue|a memory|a dream|the dream|memor(?:y|ies)|in the dream|childhood|boyhood|girlhood|youth)|"
    r"(?:long )?before (?:the|that|it|all|everything|her|his|[A-Z])\b[^,]*|"
    rf"(?:that|last|the (?:last|first|previous|other)) {_PAST_TIME}(?: of .*)?|"
    rf"the (?:\w+ )?{_PAST_TIME} (?:of|when|that|before|it|the|[A-Z]).*|as a (?:boy|girl|child)|aged? \w+|\w+ years old|"
    rf"at (?:\w+teen|\w+ty(?:-\w+)?)|"
    rf"(?:\w+day, )?(?:the )?\d\d?(?:st|nd|rd|th)?(?: of)? {_MONTH}|(?:\w+day, )?{_MONTH}(?: the)? \d\d?(?:st|nd|rd|th)?|"
    r"(?:day|night|year|week|month|log|sol|stardate|tape|reel|chapter of the) (?:[\d.]+|one|two|three|four|five|six|"
    r"seven|\w+teen)|"
    r"(?:from )?(?:the |an? )?(?:\w+ )?(?:diary|journal|transcript|recording|testimony|deposition|statement|legend|ballad|tale|"
    r"story|letter)(?: (?:of|from|to) .*)?",
    re.IGNORECASE,
)
"""A heading, without its marks, under which all is of another time until the scene ends."""
_PLANS_ANOTHER_TIME = re.compile(
    rf"\bflash(?:es)? ?back|\b{_PAST_TIME} (?:earlier|ago|previously)\b|\b(?:in|of) an? (?:dream|memory|vision)\b|dream sequence",
    re.IGNORECASE,
)
"""A plan of a scene of another time."""
_IS_TOLD = re.compile(r"\b(?:he|she|it|they|i|we|you|had|has|have|was|were|is|are|did|would)\b", re.IGNORECASE)
"""What a heading has not."""
_OPENS_ANOTHER_TIME = re.compile(
    rf"\W*(?:(?:[\w-]+ ){{1,4}}{_PAST_TIME} (?:earlier|ago|previously|before(?=[,.:]))|{_IN_THAT_YEAR}|"
    rf"(?:in )?the (?:summer|winter|spring|autumn|fall|year) before\b|in (?:the \w+ of )?1\d{{3}}\b|"
    r"(?:once upon a time|long ago|back (?:then|in)|in those days|as a (?:boy|girl|child))\b|"
    r"when (?:[\w-]+ ){1,3}(?:was|were) (?:still |only |just )?(?:an? (?:boy|girl|child|young)|alive|young|little|small|"
    r"\d+|six|seven|"
    r"eight|nine|ten|eleven|twelve|\w+teen|twenty)\b)",
    re.IGNORECASE,
)
"""How a paragraph begins that takes the scene to another time."""
_PLAYS = re.compile(
    r"\b(?:(?:pressed|hit|pushed) play|(?:played|started|ran|replayed) (?:it|(?:the|his|her|their) (?:\w+ )?(?:tape|recording|"
    r"message|video|film|reel|clip|footage|record))|"
    r"(?:told|swapped|traded|exchanged|shared) (?:each other )?(?:\w+ )?(?:stories|tales|anecdotes|memories))\b",
    re.IGNORECASE,
)
"""What somebody begins to play or to tell, for as long as the scene lasts."""
_IS_OVER = re.compile(
    r"\b(?:(?:memory|dream|vision|recording|tape|video|film|message|screen|picture|hologram|projection|image|story|tale)s? "
    r"(?:\w+ )?(?:faded|ended|stopped|broke (?:off|up)|dissolved|went (?:dark|black|blank|dead)|was over|clicked|cut out|ran out|"
    r"flickered out)|(?:pressed|hit|pushed) (?:stop|pause)|switched (?:it|the \w+) off|(?:back (?:to|in) )?the present)\b",
    re.IGNORECASE,
)
_OTHER_WORLD = re.compile(
    r"(?<!like a )(?<!as a )(?<!than a )\b(?:ghosts?(?! of an?\b|town)|ghostly|apparitions?|spect(?:er|re)s?|revenants?|undead|"
    r"zombies?|vampires?|s[ée]ances?|the medium|underworld|afterlife|hereafter|netherworld|(?:the|among|of) shades|"
    r"haunted|limbo|purgatory|valhalla|hades|"
    r"reincarnat\w*|resurrect\w*|reanimat\w*|necromanc\w*|respawn\w*|game over|clones?|androids?|avatars?|"
    r"simulations?|planchettes?|ouija|(?:laid|placed|put) their (?:fingers|fingertips|hands) on|time machine|"
    r"wrong (?:year|decade|century)|(?:night|day) of the dead|coffin lid|fangs|portal|the copy)\b",
    re.IGNORECASE,
)
"""Where the dead may act."""
_SPOKEN_TO = re.compile(
    r"\b(?:grave\w*|headstone|tombstone|the stone|tomb|cemetery|churchyard|altar|shrine|candles?|pray\w*|urn|ashes|"
    r"empty chair|silently|inwardly|under (?:his|her) breath|heaven|the sky)\b",
    re.IGNORECASE,
)
"""Where the dead are spoken to."""
_MADE = (
    "said (?:it|that|so)|signed it|painted|built|founded|planted|designed|invented|composed|established|taught|"
    "carved|commissioned|bequeathed"
)
"""What is told of the dead whose work stands."""

_WORDS = frozenset((
    "Hope", "Grace", "Faith", "Charity", "Joy", "Dawn", "Eve", "Ivy", "Rose", "Lily", "Daisy", "Violet", "Iris", "Poppy",
    "Holly", "Hazel", "Olive", "Heather", "Fern", "Jasmine", "Laurel", "Willow", "Rowan", "Ash", "Aspen", "Clay", "Cliff",
    "Dale", "Glen", "Heath", "Forrest", "Forest", "Wood", "Woods", "Reed", "Reeds", "Brook", "Lake", "River", "Rivers",
    "Stone", "Flint", "Sterling", "Jewel", "Ruby", "Pearl", "Amber", "Opal", "Jade", "Coral", "Crystal", "Garnet", "Gold",
    "Silver", "Will", "Mark", "Marks", "Bill", "Rob", "Jack", "Frank", "Grant", "Pat", "Sue", "Art", "Ray", "Chase",
    "Drew", "Dean", "Earl", "Duke", "Prince", "King", "Baron", "Pope", "Bishop", "Abbot", "Parson", "Page", "Chance",
    "Lance", "Pierce", "Skip", "Sonny", "Rusty", "Sandy", "Stormy", "Sky", "Star", "Storm", "Rain", "Snow", "Frost",
    "Gale", "Wind", "Cloud", "Misty", "Mercy", "Patience", "Prudence", "Constance", "Verity", "Honor", "Honour",
    "Justice", "Felicity", "Harmony", "Melody", "Destiny", "Haven", "Heaven", "Angel", "Trinity", "Genesis", "Nova",
    "Journey", "Legend", "Serenity", "Temperance", "Clement", "Victor", "Noble", "Guy", "Miles", "Max", "Major",
    "Marshal", "Hunter", "Archer", "Fisher", "Carter", "Cooper", "Baker", "Butcher", "Cook", "Smith", "Mason", "Miller",
    "Porter", "Potter", "Sawyer", "Turner", "Walker", "Weaver", "Shepherd", "Tanner", "Ward", "Warden", "Bush", "Field",
    "Fields", "Hill", "Marsh", "Moor", "Bridges", "Church", "Temple", "Street", "Lane", "Park", "Parks", "Banks", "Ford",
    "Pool", "Bell", "Horn", "Ball", "Bird", "Robin", "Jay", "Wren", "Raven", "Crow", "Swan", "Dove", "Finch", "Hawk",
    "Drake", "Fox", "Wolf", "Lamb", "Bull", "Buck", "Bear", "Lion", "Pike", "Fish", "Bass", "Rice", "Berry", "Bean",
    "Cherry", "Lemon", "Ginger", "Rosemary", "Basil", "Sage", "Pepper", "Brown", "Black", "White", "Green", "Gray",
    "Grey", "Young", "Long", "Short", "Little", "Small", "Strong", "Wise", "Swift", "Sharp", "Stout", "Love", "Luck",
    "Day", "Knight", "Night", "Noon", "Moon", "Sun", "Penny", "Price", "Cash", "Rich", "Cross", "Law", "Case", "Cage",
    "Cane", "Key", "Lock", "Savage", "Hardy", "Moody", "Merry", "Bliss", "Hunt", "Race", "Rush", "Dash", "Bolt", "Blaze",
    "Ember", "Colt", "Cannon", "Blade", "Steel", "Rock", "Dusty", "Daily", "Fate", "Fortune", "Glory", "Liberty",
    "Victory", "Echo", "Shadow", "Ghost", "Smoke", "Summer", "Winter", "Autumn", "Spring",
))  # fmt: skip
"""Names that are words, too: where a sentence begins with one, its capital is no sign of a name."""
_NAMES_OF_MORE = frozenset((
    "April", "May", "June", "August", "Wednesday", "Friday", "English", "French", "German", "Holland", "London", "Paris",
    "Florence", "Chelsea", "Sydney", "Austin", "Dallas", "Virginia", "Georgia", "Carolina", "India", "China", "Asia",
    "Israel", "Jordan", "Chad", "Kent", "Lincoln", "Washington", "Troy", "Victoria", "Alexandria", "Charlotte", "Madison",
    "Savannah", "Vienna", "Siena", "Verona", "Milan", "Odessa", "Memphis", "Phoenix", "Cuba", "Lourdes", "Bristol",
    "Cleveland", "Houston", "Denver", "Lyon", "Nancy", "Venus", "Mars", "Mercury", "Jupiter", "Saturn", "Luna", "Diana",
    "Aurora", "Boston", "York", "Lancaster", "Hamilton", "Nile", "Shannon", "Clyde", "Trent", "Severn", "Easter", "Noel",
    "Christmas",
))  # fmt: skip
"""Names that months, places and stars have, too, with a capital wherever they stand."""
_ONLY_PEOPLE = (
    r"(?=(?: \w+ly)? (?:said|says|asked|asks|replied|whispered|answered|muttered|shouted|added|laughed|laughs|nodded|"
    r"nods|shrugged|grinned|frowned|knelt|coughed|yawned|winked|handed|unlocked|wiped|buttoned|glanced|sat down|"
    r"poured (?!in|down|through|from|"
    r"over|out of)|(?:shook|shakes) (?:his|her)|put (?:on|down|the|his|her)|took (?:off|the|his|her) )\b)"
)
"""What nobody but a person does, after a name that may be no one's."""

_WHEN = (
    r"^(?:Then|Now|Later|Soon|Meanwhile|Outside|Inside|Upstairs|Downstairs|"
    r"(?:At|On|In|That|This|Next|Across|Behind|Beside|Under|Over|From|With|After|During|Near|Between|Through|Around|Along|Below|"
    r"Above|By|Every|One|Back|Halfway|Opposite|Without)(?: (?!(?:of|with|by|to|for|from|than|and)\b)[\w'’-]+){1,5}),?"
)
"""What a sentence may begin with before whoever does something in it."""
_IS_BACK = re.compile(
    r"\b(?:return\w*|back|found|find\w*|arriv\w*|appear\w*|emerg\w*|enter\w*|came|comes|stepped (?:in|out)|door|alive|"
    r"at last|again|home|releas\w*|freed|set free|let (?:[\w'’-]+ ){1,2}(?:go|out)|reached|landed|"
    r"got (?:off|down|in|away|out of)|escap\w*|broke (?:out(?! in)|free|loose)|rescued|ransomed|acquitted|pardoned|reprieved)\b",
    re.IGNORECASE,
)
_SHORT_ABSENCE = re.compile(
    r"\b(?:left|leaves|went|goes|gone|vanished|vanishes|disappeared|disappears|slipped|stepped|fled)(?: [a-z]+ly| early|"
    r" again| out)? "
    r"(?:(?:for|from|to|during|in|on) )?(?:(?:work|school|church|mass|market|lunch|dinner|supper|breakfast|bed)\b|the (?:\w+ )?"
    r"(?:office|shop|market|garage|bank|party|ball|dance|dinner|feast|wedding|funeral|meeting|room|table|hall|kitchen|"
    r"shift|class|lesson|rehearsal|pub|inn|church|theatre|crowd|day|night|evening|afternoon|"
    r"weekend)\b|an? (?:walk|ride|drive|drink|smoke|errand|meeting)\b)|"
    r"\bleft (?:at|by) (?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|noon|midnight|dawn|daybreak|dusk|"
    r"first light)\b"
)
"""Who is gone for a day at most may be anywhere in the next passage."""
_CALLS = re.compile(
    r"\b(?:(?:tele)?phone\w*|Dear(?:est)? [A-Z]\w+|receiver|the line (?:\w+ )?(?:crackled|hummed|hissed|went|clicked)|"
    r"(?:over|on) the (?:radio|wire|line|"
    r"intercom)|dial+ed|video call)\b",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"\b(?:letters?|telegrams?|postcards?|e-?mails?|parcels?|messages?|screen)\b",
    re.IGNORECASE,
)
"""How one hears of those who are away."""
_NO_SETTING = (
    r"(?:first|last|same|next|other|one|that|this|morning|evening|night|afternoon|noon|midnight|dawn|dusk|end|middle|"
    r"moment|table|counter|desk|room|window|door|doorway|fire|fireplace|stove|bed|bar|corner|stairs?|threshold|wall|"
    r"board|other side|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|six|seven|eight|nine|ten|eleven|twelve|\d\w*|time|silence|answer|reply|"
    r"turn|spite|least|once|his|her|breakfast|lunch|dinner|supper|tea)\b"
)
_SETTING = re.compile(
    r"\W*(?:Meanwhile|Elsewhere|Far (?:away|off|from)|(?:[\w-]+ )?(?:miles|leagues) (?:away|off)|"
    rf"(?:At|In|On|Off|Aboard|Beyond|Outside|Near|Up|Down) (?:(?:the|an?|his|her|their) )?(?!{_NO_SETTING}|{_MONTH}\b)[\w'’-]+)"
)
"""How a sentence begins that says where it plays."""
_LATER = re.compile(
    rf"\b{_PAST_TIME} (?:later|after|on(?=,)|passed|went by|had passed)\b|\bby (?:spring|summer|autumn|winter|then)\b|"
    r"\bthe (?:next|following) (?:year|month|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
_TRAVELS = re.compile(
    r"\b(?:train|plane|flight|coach|bus|ferry|ship|boat|steamer|liner) (?:\w+ )?(?:was (?:\w+ ){1,3}late|got in|pulled in|"
    r"drew in|landed|docked|set (?:him|her|them) down|touched down|came in|put (?:[\w-]+ ){1,2}(?:ashore|down))\b|"
    r"\b(?:[Aa]t|[Ii]n|[Tt]hrough|[Oo]utside) (?:the )?(?:\w+ )?(?:airport|arrivals|customs)\b|"
    rf"\b(?:took|were|was) (?:[\w-]+ ){{1,3}}{_PAST_TIME} (?:to (?:get|reach|travel|drive|walk|ride|cross)|on the road)\b|"
    r"\b(?:after|at the end of) (?:the|that|their|her|his) (?:\w+ )?(?:journey|voyage|crossing|drive|flight)\b",
)
"""How others come to where somebody went."""
_FAR_PLACES = tuple(
    (re.compile(rf"\b(?:{gone})\b", re.IGNORECASE), re.compile(rf"\b(?:{there})\b", re.IGNORECASE))
    for gone, there in (
        ("sea|ships?|sail\\w*|navy|boat|steamer|schooner|liner|voyage|ferry",
         "captain|ropes?|oars?|sea|deck|masts?|rigging|sails?|cabin|waves?|crew|hull|helm|keel|porthole|bunk|cape|"
         "horizon|ship|gunwale"),
        ("prison|imprisoned|jail(?:ed)?|gaol|cells?|arrested|camp|galleys|irons|(?:taken|held) (?:prisoner|captive)|"
         "kidnapped|abducted",
         "cells?|bars|warders?|ward(?:en|ress)|guards?|bunk|prisoners?|prison|jail(?:er)?|gaol(?:er)?|turnkey|lock-up|dungeon|"
         "chains|irons|handcuff\\w*|captors?|ransom"),
        ("prison|imprisoned|jail(?:ed)?|gaol|cells?|arrested",
         "court(?:room)?|magistrate|judge|jury|trial|assizes|the dock|counsel|verdict|sentenced?|gallows|scaffold"),
        ("war|army|navy|regiment|front|legion|enlisted|joined",
         "trench(?:es)?|sergeant|rifles?|regiment|battalion|shells?|camp|tents?|barracks|march(?:ed)?|column"),
        ("circus", "lions?|ring|tents?|clowns?|sawdust|trapeze|elephants?|horses?"),
        ("ran away|ran off|left|fled|moved|went|emigrated|sailed|train",
         "hotel|lodgings|boarding house|landlady|hostel|doorways|inn|strangers?|foreign|passport|abroad"),
        ("prison|jail|jailed|gaol|cells?|arrested|hospital|asylum", "visit\\w*"),
        ("hospital|asylum|madhouse", "ward|nurses?|doctors?|matron|bandages?"),
        ("train|express|coach|bus|plane|flight|stage", "compartment|carriage|corridor|platform|conductor|seat|station|aisle"),
    )
)  # fmt: skip
"""Where those who left by such a way are at home."""
_NO_PLACE = frozenset((
    "left", "leaves", "gone", "went", "goes", "away", "from", "with", "that", "this", "then", "there", "they", "them",
    "their", "night", "morning", "evening", "spring", "summer", "autumn", "winter", "year", "since", "still", "never",
    "again", "before", "after", "whole", "family", "last", "only", "took", "take", "taken", "train", "absent", "missing",
    "some", "same", "seen", "heard", "come", "back", "would", "could", "days", "weeks", "months", "years", "into", "over",
    "without", "word", "been", "have", "were", "said", "the", "and", "for", "his", "her", "was", "has", "had", "its", "him",
    "she", "who", "but", "not", "all", "out", "off", "are", "one", "two", "new", "old",
))  # fmt: skip
"""Words that are no place somebody went to."""
_LEFT = re.compile(rf"\b(?:left|leaves) {PLACE_LEFT}")
_STAYED = re.compile(
    r",? (?:and|but|while) (?:(?:his|her|their) [a-z]+ )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)? "
    r"(?:stayed|remained|kept|was left|watched|waved|wept)\b[^.;]*"
)
"""Who stayed where somebody left, and with what."""
_ALIVE = re.compile(r"\b(?:alive|survived|resurrected|not dead|from the dead)\b", re.IGNORECASE)
_IS_FOUND = re.compile(
    r"(?:bought|borrowed|hired|mislaid|found|finds?|another|new|second|different|next|recover\w*|mend(?:ed|s)|"
    r"repair(?:ed|s)|rebuil[dt]\w*|restored|replaced|retrieved|fished|dug|salvaged|spare|"
    r"cop(?:y|ies)|again|back|remains|ruins?|wreck(?:age)?|pieces|ashes|shards|"
    r"fragments|burnt|burned|broken|shattered|ruined|sunken|charred)"
)
_FINDS_MORE = re.compile(r"\b(?:find|finds|found) (?=(?:the|an?|his|her|their|no|some|what|nothing|it|that|out)\b)")
"""Finding something else with it, or in it."""
_IT_IS_BACK = re.compile(
    r"\b(?:(?:handed|given|gave|brought|sent) it (?:back|in)|(?:tide|sea|river|lake|waves|bog|ice|thief|thieves|divers?|nets?) "
    r"(?:\w+ )?(?:given|gave|cast|thrown|threw|washed|brought) it (?:up|back|ashore|out)|"
    r"(?:washed|fished|dug|pulled|hauled|dredged|coughed) it (?:\w+ )?(?:up|out|ashore))\b|"
    r"\b(?:found it(?! (?:\w+ )?(?:to|that|hard|difficult|easy|odd|strange|impossible)\b)|(?:recovered|retrieved|returned|mended|"
    r"repaired|restored) it)\b|"
    r"\b(?P<it>[Ii]t (?:(?:had )?(?:turned up|come back|came back|been found|been handed in|been mended|been repaired)|"
    r"(?:was|had been) (?:found|mended|returned|recovered|repaired|copied)))\b|"
    r"\bone (?:just |exactly |very |rather )?like it\b"
)
"""What tells of a thing, without its name, that it is there again, or that there is another one."""
_DOER = re.compile(r"\b(?:the|an?|his|her|their|some) (?:[\w-]+ ){1,2}(?:(?:had|has|then) )?$", re.IGNORECASE)
_OTHER_NOUN = re.compile(r"\b(?:the|an?|his|her|their|its|this|that) [a-z]", re.IGNORECASE)
"""Who does it, just before what they do, and what else "it" may mean."""
_NOT_BACK = re.compile(r"\b(?:never|not|nobody|no one|none|if|would|could)\b|n['’]t\b")
_NOT_HANDLED = (
    r"(?:missed|mourned|regretted|remembered|wanted|needed|described|mentioned|destroyed|burned|smashed|searched|replaced|"
    r"loved|imagined|dropped|recovered|passed|called|named|followed|stared|looked|gazed|pointed|thought|talked|asked|wondered|"
    r"dreamed|hoped|wished|longed|begged|prayed|listened|hunted|dragged|dived|sifted|ruined|shattered|wrecked|sank|lost|stole|"
    r"fought|told|sought|said|saw|blamed|cursed|owed|cost|paid|burnt|melted|sold|demanded|reached|feared|tore|ripped|broke|"
    r"crushed|promised|offered|seemed|happened|reported|discovered|noticed|supposed|believed|explained|peered)"
)
_HANDLES = (
    r"(?:take|hold|lift|raise|open|carrie|hand|light|turn|read|swing|wind|drink|put|wear|lay|spread|set|steer|play|ring|"
    r"ride|drive|row|polishe|touche|unfold|close|shut|pour|clean|dust)s|"
    rf"(?!{_NOT_HANDLED}\b)(?:{IRREGULAR}|[a-z]{{2,}}(?<!e)ed)"
)
_FINDS = (
    r"(?:find|recover|retrieve)s|found|recovered|retrieved|(?:dug|digs|dig|fished|fishes|picked|picks|brought|brings) up|"
    r"(?:fished|fishes|pulled|pulls) out"
)
_NOTHING_ELSE = (
    r"(?=\W*$|[^\w\s'’-]|\s+(?:and|but|or|then|as|while|when|before|after|until|so|"
    r"[a-z]+ly|up|down|out|off|away|back|aside|over|open|shut|again|in|on|at|to|into|onto|from|with|by|through|across|"
    r"against|under|around|between|towards?|beside|behind|above|along)\b)"
)
"""What stands behind a name that is not the beginning of another: the key ring is no key."""
_ANYBODY_WHO = (
    r"\b(?:(?:[Tt]he|[Aa]n?|[Ss]ome|[Aa]nother|[Ee]very|[Ee]ach|[Hh]is|[Hh]er|[Tt]heir)"
    r"(?: (?!(?:and|but|who|I|we|you|it|he|she|they)\b)[a-z][\w-]*){1,3}|[Ss]omebody|[Ss]omeone|[Nn]obody)(?:,? and)? "
)
"""Somebody without a name, before what they do."""
_ANOTHER_ONE = r"(?= (?:that|which|who|whose|by the|above|beside|outside|hanging|standing|belonging|of)\b)"
"""What tells which of several is meant."""
_EVERYBODYS = frozenset((
    "knife", "pen", "pencil", "handkerchief", "umbrella", "hat", "cap", "coat", "gloves", "glove", "scarf", "purse",
    "wallet", "lighter", "matches", "cigarettes", "cigar", "pipe", "comb", "phone", "notebook", "cup", "mug", "spoon",
    "fork", "glass", "glasses", "keys", "bag", "basket", "bottle", "cloth", "needle", "thread", "scissors", "candle",
    "torch", "flashlight", "string", "rope", "bread", "apple", "money", "apron", "spectacles",
))  # fmt: skip
"""What everybody has one of: the knife from her belt is hers."""
_EVERY_ROOMS = frozenset((
    "lamp", "book", "ring", "door", "window", "gate", "gun", "box", "chair", "table", "bed", "clock", "mirror", "picture",
    "boat", "cart", "horse",
))  # fmt: skip
"""What there is another one of wherever one comes."""
_PATH = (
    r"(?: (?:up|on|down|out|aside|away|over|open))?(?: (?:from|into|in|on|onto|through|with|out of|inside|aboard|at|"
    r"to|over|upon|under))?"
)
_PART = r"(?: (?:the|a|his|her|some|one) (?:\w+ ){1,3}(?:of|from|into|in|on|with|to|upon))?"
"""Of what is handled, what else the verb may have before it: the first page of, the dust from."""


_BY_ONESELF = re.compile(
    r"(?:nodd|bow|shak|shook|nods|duck|cock)\w* (?:his|her) (?:own )?head|scratch\w* (?:his|her) \w+|"
    r"(?:clear\w*|h[eo]ld\w*|caught|catch\w*) (?:up )?"
    r"(?:his|her) (?:throat|breath)|under (?:his|her) breath|(?:roll|narrow)\w* (?:his|her) eyes|"
    r"(?:clench|gritt|gnash|ground)\w* (?:his|her) (?:jaw|teeth)|(?:rais|lower|dropp)\w* (?:his|her) voice|"
    r"(?:shrug|squar|hunch)\w* (?:his|her) shoulders|to (?:his|her) feet|heel|(?:made up|chang\w+|lost) (?:his|"
    r"her) (?:mind|temper|balance|footing|nerve)|(?:purs|bit)\w* (?:his|her) (?:lips?|tongue)|(?:him|her)self"
)
"""What nobody does with another's body; a mouth is wiped and a coat taken off for a child, or for the sick."""
_HARDLY_ANOTHERS = re.compile(
    r"(?:cross|stretch|fold)\w* (?:his|her) (?:arms|legs)|rubb\w* (?:his|her) eyes|(?:rais|knit|furrow|wrinkl)\w* (?:his|her)"
)
"""What is done with another's only where that one is told of just before."""
_IN_DISGUISE = re.compile(
    r"\b(?:disguise\w*|dressed as|(?:[Ii]n|[Ww]ith|[Uu]nder|[Bb]ehind|on|wore|wears|wearing|donned|straightened|adjusted) "
    r"(?:the|an?|his|her) (?:\w+ )?(?:false|fake|painted|pencilled|paper) (?:beard|mou?stache|whiskers|wig)|"
    r"(?!(?:It|That|This|There|He|She)\b)[A-Z]\w+ was (?:Lord|Sir|King|Prince|Duke|Count|Private|Mr|Lady|Queen|Mrs|Miss)\b"
    r"(?!(?: [A-Z][\w-]*)*['’])|"
    r"pretend\w* to be (?:an?\b|the\b|[A-Z])|impersonat\w*|masquerad\w*|"
    r"play(?:ed|ing) the part|was (?:not|no longer) [A-Z]\w*|wasn['’]t [A-Z]\w*|swapped bodies|in the body of)\b"
)
_SOMEBODY = re.compile(
    rf"\b(?:I|me|my|we|us|our|they|them|their|(?:some|any|no|every)(?:body|one)|{PERSON})\b", re.IGNORECASE
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
    r"waistcoat|jacket|vest|shirt|knapsack|rucksack|pack|basket|case|wallet|hat|neck|arms?|shoulders?|finger|wrist|"
    r"waist|lapel|chest|bosom|breast|throat|ear|back|robe|gown|skirts?|trousers|pouch|holster|scabbard|saddlebag|"
    r"handbag|briefcase))"
)
_OWN_PLACE = (
    r"(?:(?:from|out of|in|into|inside|under|around|round|on|to|against|at|over|across|behind) (?:under )?(?:his|her|their) "
    rf"{_OWN_NOUN})\b"
)


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
    # A small model has no words to spare for what may be meant; in other languages any sentence has words of any other one.
    fewest = 0 if tier == "small" else 1 if is_english(runtime.context.language) else 2
    entries = touched(codex, state["plan"], state.get("passage", ""), settle, fewest=fewest)
    if tier == "small" and is_english(runtime.context.language):
        entries = [_without_acts(entry, state.get("step", 0)) if entry.kind == "person" else entry for entry in entries]
    found = await _by_meaning(codex, {entry.name for entry in entries}, state, runtime)
    dead = _dead_of_brief(codex, entries, found, state)
    names = {entry.name for entry in dead}
    entries = [*dead, *entries, *(entry for entry in found if entry.name not in names)]
    near = await _nearness(entries, state, runtime)
    return tell(entries, words=TOLD_WORDS[tier], known=held, nearness=near)


def _dead_of_brief(codex: Codex, told: Sequence[Entry], found: Sequence[Entry], state: State) -> list[Entry]:
    """Return those of the brief who are dead and not told of, with that and what is `found` of them.

    Every prompt names them among the people of the story, and that they are dead takes few words.
    """
    dead = {entry.name: entry for name in people(state) if (entry := codex.find(name, "person")) and entry.is_dead}
    names, also = {entry.name for entry in told}, {entry.name: entry.lines for entry in found}
    return [
        dataclasses.replace(entry, lines=(dataclasses.replace(died, text=""), *also.get(name, ())))
        for name, entry in dead.items()
        if name not in names and (died := entry.line("status"))
    ]


async def _by_meaning(codex: Codex, told: Collection[str], state: State, runtime: StoryRuntime) -> list[Entry]:
    """Return the entries of which the author says what is nearest to the plan, where that names none of them, with that alone.

    What passages say is found by the recall, in the passages themselves; what the author says stands in none. The embedder
    finds any two sentences of some languages alike.
    """
    if not state.get("step") or not runtime.context.top_k or not is_english(runtime.context.language):
        return []
    said = [
        (sentence_of(entry, line), entry, line)
        for entry in codex.entries.values()
        if entry.name not in told
        # It stands before all that passages say.
        for line in takewhile(lambda line: not line.passage, entry.lines)
        if line.aspect in LASTING and line.aspect != "role"
    ][-MOST_ASKED:]
    near = await runtime.recall.nearness(state["plan"], [text for text, *_ in said]) if said else {}
    about = [one for one in said if near.get(one[0], 0.0) >= NEAR]
    found: dict[str, tuple[Entry, list[Line]]] = {}
    for _, entry, line in sorted(about, key=lambda one: -near[one[0]])[:MOST_NEAR]:
        found.setdefault(entry.name, (entry, []))[1].append(line)
    return [dataclasses.replace(entry, lines=tuple(lines)) for entry, lines in found.values()]


def _without_acts(entry: Entry, step: int) -> Entry:
    """Return an entry without what passages tell that somebody did, and where they were before the passage before the last.

    A small model notes hardly any other facts, and tells once more what it is told is still true; that somebody is elsewhere by
    now, it seldom notes. What the author says stays.
    """
    lines = tuple(
        line
        for line in entry.lines
        if not line.passage
        or not ((line.aspect == "fact" and _ACT.match(line.text)) or (line.aspect == "place" and line.step < step - 1))
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
    codex = await codex_before(state, runtime)
    return find_contradictions(passage, codex, plan=state.get("plan", ""), before=state.get("passage", ""))


_MEETING = (
    r"\b(?:greeted|thanked|helped|joined|interrupted|asked|introduced|overtook|bowed to|waved to|nodded to|"
    r"grinned at|smiled at)"
)
"""What one does with the living."""


_LONGER_NAME = re.compile(rf"[{CAPITALS}][\w'-]*\.?(?: [{CAPITALS}][\w'-]*)+")
"""Words in capitals one behind the other: King John, Then Tom Reed."""


@dataclasses.dataclass(frozen=True)
class _Passage:
    """The sentences of a passage, with what a rule asks of all of them only where it is about to accuse somebody."""

    sentences: Sequence[ToldSentence]
    plan: str = ""
    before: str = ""
    """The passage before it."""

    @cached_property
    def text(self) -> str:
        """All that is told outside of what people say."""
        return " ".join(sentence.plain for sentence in self.sentences)

    @cached_property
    def epithets(self) -> frozenset[str]:
        """The epithets that may stand before names in it, in small letters."""
        words = searched(self.text).words
        return frozenset(word for word in EPITHETS if word.capitalize() in words)

    @cached_property
    def plain_sentences(self) -> tuple[str, ...]:
        """All sentences of it with what people say in them, with one form of each letter."""
        return tuple(plain(sentence.said) for sentence in self.sentences)

    @cached_property
    def is_of_another_world(self) -> bool:
        """Whether it tells of ghosts, or of those who rise again."""
        return bool(_OTHER_WORLD.search(self.text))

    @cached_property
    def elsewhen(self) -> frozenset[int]:
        """The paragraphs of which all is of another time: under such a heading or behind such a beginning till the scene ends."""
        return self._elsewhen[0]

    @cached_property
    def plain_text(self) -> str:
        """All of it, with one form of each letter."""
        return " ".join(self.plain_sentences)

    @property
    def ends_elsewhen(self) -> bool:
        """Whether its last scene is one of another time."""
        return self._elsewhen[1]

    @cached_property
    def _elsewhen(self) -> tuple[frozenset[int], bool]:
        then = bool(_PLANS_ANOTHER_TIME.search(self.plan)) or (
            bool(self.before) and _Passage(told_sentences(self.before)).ends_elsewhen
        )
        found, next_one = set[int](), False
        for number, group in groupby(self.sentences, key=lambda sentence: sentence.paragraph):
            lines = [sentence.plain for sentence in group]
            begins, ends = lines[0], lines[-1].strip(" *_#~[]()—–-.:!")
            is_heading = len(ends.split()) <= MOST_HEADING_WORDS and not _IS_TOLD.search(ends)
            if not _LETTER.search(begins) or begins.startswith("#") or _STARTS_NOW.match(begins):
                then = next_one = False
            then = then or bool(_OPENS_ANOTHER_TIME.match(begins))
            if then or next_one:
                found.add(number)
            # Headings and what is begun to be played or told are over with the scene, memories with the next paragraph.
            then = then or (is_heading and bool(_HEADS_ANOTHER_TIME.fullmatch(ends)))
            for sentence in lines:
                then = (then or bool(_PLAYS.search(sentence))) and not _IS_OVER.search(sentence)
            next_one = (match := _THEN.search(lines[-1])) is not None and not _GOES_ON.search(lines[-1], match.end())
        return frozenset(found), then


def find_contradictions(passage: str, codex: Codex, plan: str = "", before: str = "") -> list[Contradiction]:
    """Return the sentences of an English passage that cannot be true together with an entry, with that entry's own.

    A passage goes on in the time in which its plan is, and in which the one `before` it ended.
    """
    told = _Passage(told_sentences(passage), plan, before)
    found: list[Contradiction] = []
    for entry in codex.named_in(passage):
        found += list(_of_entry(entry, told, codex))
    found += list(_of_renamed(told, codex))
    return found[:MOST_CONTRADICTIONS]


def of_the_once_living(
    passage: str, noted: Iterable[str], died: Iterable[Entry], codex: Codex
) -> Iterator[Contradiction]:
    """Yield of each of those who `died` before a passage which was written as they lived that it tells of them as living.

    What names nobody there may name them in what was `noted` of it.
    """
    said = [one for part in passage.split("\n") for one in sentences(part)]
    noted = [one for part in noted for one in sentences(part)]
    for entry in died:
        they = dead_in(codex, entry, was_alive=True)
        told = [one for one in said if they.is_named_living_in(one)]
        told = told or [one for one in noted if they.is_named_living_in(one)]
        if not told:
            there = codex.named_in("\n".join((passage, *noted)))
            # "Her father" may be another's where she is not.
            if any(owner in there for owner, _ in codex.relations(entry)):
                told = [one for one in (*said, *noted) if they.lives_in(one)]
        if told:
            acts = next((one for one in told if tells_what_they_do(one, they.names)), told[0])
            called = [*they.names, *they.kin]
            yield {**_of_aspect("dead", entry, "status", acts, "alive"), "was_alive": True, "called": called}


def _of_entry(entry: Entry, told: _Passage, codex: Codex) -> Iterator[Contradiction]:
    status = entry.value("status")
    own = _own_names(entry, told, codex)
    if entry.kind == "person" and own:
        called = _called(entry, own, told, codex)
        if status in ("dead", "absent") and (act := _acting(called, told, dead=status == "dead")) is not None:
            back, may_be = (_ALIVE, _may_be_another) if status == "dead" else (_IS_BACK, _may_be_there)
            # Who is back may say so; the dead say nothing.
            about = f"{_about(called, told, act)} {act.said if status == 'absent' else ''}"
            if not back.search(about) and not may_be(entry, told, act):
                yield _of_aspect("dead" if status == "dead" else "absent", entry, "status", act.said, "alive")
        yield from _of_pronouns(entry, told, codex)
    if entry.kind == "thing" and own:
        names = _thing_names(own)
        short = _short_names(entry, told, codex)
        is_lost = entry.is_gone and not _found_again("|".join((names, *map(re.escape, short))), told)
        if is_lost and (act := _at_hand(_HANDLES, own, short, told)) and not _lies_there(names, own, told, act):
            yield _of_aspect("lost", entry, "status", act.said, "found")
        one_of_a_kind = all(" " in name for name in entry.names)
        found = list(_of_holder(entry, names, told, codex, one_of_a_kind=one_of_a_kind))
        for said, behind in short.items():
            found = found or list(_of_holder(entry, re.escape(said), told, codex, behind=behind, one_of_a_kind=False))
        yield from found


def _short_names(entry: Entry, told: _Passage, codex: Codex) -> dict[str, str]:
    """Return the shorter names by which a passage means a thing, each with a pattern of what has to stand behind it.

    Out of nowhere, "the lamp" may be the one of the room, but hardly one that somebody has on them, and every door has a key;
    and what everybody has one of, is anybody's.
    """
    if not entry.is_gone and not entry.line("holder"):
        return {}
    names = dict.fromkeys(told.plain_text[start:end] for start, end in codex.short_places(entry, told.plain_text))
    texts = [text for text in (told.plan, told.before) if names and text]
    # Who has it matters only where it is told of by its own name: by "the letter" any other one may be meant.
    own = [key_of(without_article(name)) for name in entry.own_names if " " in name and not entry.is_gone]
    named = [text for text in texts if not own or any(name in plain(text).casefold() for name in own)]
    is_told = any(one is entry for text in named for one in codex.named_in(text))
    words = {word for text in texts for word in searched(text).small_words}
    anybodys = _EVERYBODYS if entry.is_gone else _EVERYBODYS | _EVERY_ROOMS
    found = dict[str, str]()
    for name in names:
        if " " in name or (is_told and name.casefold() not in anybodys):
            found[name] = _NOTHING_ELSE
        elif name.casefold() not in words | anybodys | {"key"}:
            found[name] = f"(?= {_OWN_PLACE})"
    return found


def _may_be_short_for_another(name: str, entry: Entry, told: _Passage, codex: Codex) -> bool:
    """Return whether a passage tells of somebody living by a longer name: Tom may be Tom Reed there, and John King John."""
    if entry.kind != "person":
        return False
    # Tom King and Tom van Reed are known by their names alone.
    known = (
        longer
        for other in codex.answering(key_of(name), "person")
        for longer in other.own_names
        if longer.startswith(f"{name} ") and sign_of(longer).place_in(searched(told.text)) >= 0
    )
    unknown = _longer_names(name, entry, told) if entry.value("status") in ("dead", "absent") else ()
    return any(
        (meant := codex.meant(longer, "person")) is None or not (meant is entry or meant.is_dead)
        for longer in chain(known, unknown)
    )


def _longer_names(name: str, entry: Entry, told: _Passage) -> Iterator[str]:
    """Tell with which titles before it, and with which names behind it that are none of theirs, a passage has somebody's name."""
    called = plain(name)
    own = {word for one in entry.own_names for word in plain(one).split()}
    # Pell Farm is no Pell, and Tom Hill is somebody.
    places = PLACES if any(" " in one and plain(one).split()[-1] == called for one in entry.own_names) else ()
    # Most sentences have not the name, which is found without a pattern.
    for run in chain.from_iterable(_LONGER_NAME.findall(one) for one in told.plain_sentences if called in one):
        before, found, behind = f" {run} ".partition(f" {called} ")
        if not found:
            continue
        words = (word.removesuffix("'s") for word in behind.split())
        further = list(takewhile(lambda word: is_name_part(word) and word not in CALENDAR, words))
        if further and further[0] in places:
            continue
        longer, last = " ".join([called, *further]), " ".join(before.split()[-1:])
        title = form_of(f"{last} {longer}").title
        if title or not own.issuperset(further):
            yield f"{last} {longer}".strip() if title or last.casefold() in entry.titles else longer


def _own_names(entry: Entry, told: _Passage, codex: Codex) -> list[str]:
    """Return what an entry is called that nothing else is; where a passage tells of Young Tom, Tom may be he, and not Old Tom."""
    own = [name for name in codex.names_of(entry) if not _may_be_short_for_another(name, entry, told, codex)]
    # Most passages have no other epithet, which is found without a pattern.
    if not entry.has_epithet or told.epithets <= {word for name in entry.own_names for word in epithets_of(name)}:
        return own
    return [
        name
        for name in own
        if not any(entry.is_another_at(told.text, match.start()) for match in sign_of(name).pattern.finditer(told.text))
    ]


def _called(entry: Entry, own: Collection[str], told: _Passage, codex: Codex) -> str:
    """Return the pattern of the `own` names and the roles by which a passage can mean nobody but a person."""
    roles = [role for role in codex.own_roles(entry) if _means_nobody_else(role, entry, told, codex)]
    # The fisherman from Hull is another one than the fisherman.
    further = r"(?! (?:from|of|with|who|whose|in|at|on|by|that)\b)"
    before = rf"(?:(?i:{'|'.join(entry.may_be_before)}) ){{0,2}}"
    return "|".join(
        [
            *map(spelled, codex.titled(entry, told.plain_text)),
            # Sir Aldous Wren is Sir Aldous.
            *(
                rf"{re.escape(title)}\.? {spelled(name)}"
                for title in sorted({one.split()[0].rstrip(".") for one in entry.own_names if form_of(one).title})
                for name in own
                if " " not in name
            ),
            # The Ida Morrow is a ship.
            *(rf"(?<!\b[Tt]he ){before}{_as_a_name(name)}" for name in sorted(own, key=len, reverse=True)),
            *(f"[Tt]he {re.escape(role)}{further}" for role in roles),
        ]
    )


def _thing_names(own: Collection[str]) -> str:
    bare = {parted(plain(name)).bare for name in own}
    return "|".join(map(spelled, sorted(bare, key=lambda name: (-len(name), name))))


def _at_hand(verbs: str, own: Collection[str], short: Mapping[str, str], told: _Passage) -> ToldSentence | None:
    """Return the first sentence in which somebody does with a thing what `verbs` say, by its own names or its short ones."""
    names, is_own = _thing_names(own), any(" " in parted(plain(name)).bare for name in own)
    act = _handled(verbs, f"(?:the|his|her|their) (?:{names})", names, own, told, is_own=is_own)
    for said, behind in short.items():
        by = f"the {re.escape(said)}{behind}"
        act = act or _handled(verbs, by, re.escape(said), [said], told, is_own=False)
    return act


def _handled(
    verbs: str, by: str, names: str, besides: Collection[str], told: _Passage, *, is_own: bool
) -> ToldSentence | None:
    """Return the first sentence in which somebody handles what is called so; one that `is_own` is nobody else's."""
    handled = rf"\b(?:{verbs}){_PATH}{_PART} {by}\b(?![ -][a-z]+(?:['’]s|s) (?:of|where)\b)"
    act = _first(handled, told, besides=besides)
    # In somebody else's house there is another umbrella; that one is his, and the one above the door.
    others = rf"{_ANYBODY_WHO}{handled}|(?:his|her|their) (?:{names})\b|\b(?:{names})\b{_ANOTHER_ONE}"
    return act if act is not None and (is_own or not re.search(others, act.plain)) else None


def no_longer_gone(passage: str, codex: Codex, plan: str = "", before: str = "") -> list[Change]:
    """Return the ends of the absence of whoever acts or speaks in an English passage, and of the loss of what is at hand in it.

    It does not matter whether the passage contradicts the codex in that: what comes after it goes on from there. Whoever is
    heard from afar is still away. What the author says of the whole branch no passage ends.
    """
    away = [entry for entry in codex.entries.values() if entry.is_away]
    # Most passages name none of them, which is found without a pattern.
    small = passage.casefold() if away else ""
    named = [
        entry for entry in away if any(name.split()[-1].casefold() in small for name in (*entry.names, *entry.roles))
    ]
    told, found = _Passage(told_sentences(passage) if named else [], plan, before), list[Change]()
    for entry in named:
        line, own = entry.line("status"), _own_names(entry, told, codex)
        if line is None or not own:
            continue
        if entry.kind == "person":
            act = _acting(_called(entry, own, told, codex), told, dead=False)
            act = None if act is None or _is_afar(told, act, entry.value("place")) else act
        else:
            act = _at_hand(rf"{_FINDS}|{_HANDLES}", own, _short_names(entry, told, codex), told)
        if act is not None:
            rests_on = limit_words(" ".join(act.said.split()), MOST_SENTENCE_WORDS)
            about = Change(entry=entry.name, kind=entry.kind, do="end", aspect="status", value=line.value)
            about = {**about, "text": line.text} if line.text else about
            found.append({**about, "rests_on": rests_on})
    return found


_AFAR = re.compile(
    r"\b(?:miles|leagues|hours|days) away\b|\bfar (?:away|off)\b|\belsewhere\b|\bacross the (?:sea|ocean|water|border)\b|"
    r"\b(?:pictured|imagined)\b|\bwould [^.]*\?|\bto (?:his|her|their) mind\b"
)
"""Where and in whose mind somebody is told of who is not here."""
_COMES = re.compile(
    r"\b(?:(?:came|comes) (?:home|in|back|up|down|through|round)|return(?:s|ed)|(?:is|was) back|arriv(?:es|ed)|enter(?:s|ed)|"
    r"(?:walked|stepped) in)\b"
)


def _is_afar(told: _Passage, act: ToldSentence, place: str) -> bool:
    """Return whether somebody who acts or speaks may do so where they went, in a letter or at the other end of a line."""
    at = told.sentences.index(act)
    until = " ".join(one.plain for one in told.sentences[: at + 1])
    near = " ".join(one.plain for one in told.sentences[max(0, at - 1) : at + 1])
    # A place without a name may be one of here, too.
    named = [word for word in re.findall(r"\w+", place) if word[0].isupper()]
    there = rf"\b(?<!from )(?:{'|'.join(map(re.escape, named or place.split()[-1:]))})\b" if place else "(?!)"
    if re.search(there, act.plain):
        return True
    if not _COMES.search(act.plain) and (_AFAR.search(near) or (named and re.search(there, until))):
        return True
    scene = " ".join(one.said for one in told.sentences if one.paragraph == act.paragraph)
    return bool(_CALLS.search(until) or _WRITES.search(scene))


def _means_nobody_else(role: str, entry: Entry, told: _Passage, codex: Codex) -> bool:
    """Return whether a passage can mean nobody but an entry by a role that no other one has.

    Of one word, it may be anybody's who has it after them, who is told of for the first time, or whom nobody knows.
    """
    is_one_word = " " not in role
    head = re.split(r" (?:of|from|in|at|on|with|to)\b", role)[0].split()[-1]
    text = " ".join(sentence.said for sentence in told.sentences)
    # After a doctor's death there is another one.
    if head.casefold() in ANYBODY or (is_one_word and (not entry.is_dead or head.casefold() in RANKS)):
        return False
    if re.search(rf"{_INTRODUCED}(?:{re.escape(head)}s?{f'|{PERSON}' if is_one_word else ''})\b", text, re.IGNORECASE):
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
    begins = [match[1] for sentence in told.sentences if (match := _BY_NAME.match(sentence.plain))]
    return all(word in known or word in NOBODY for word in (*begins, *_CAPITAL.findall(text)))


def _found_again(names: str, told: _Passage) -> bool:
    """Return whether a passage tells of a thing that it is found or mended, or means another one."""
    if _it_is_back(names, told):
        return True
    for sentence in told.sentences:
        for match in re.finditer(rf"\b(?:{names})\b", sentence.plain, re.IGNORECASE):
            before = re.split(r"[,;:]", sentence.plain[: match.start()])[-1].split()
            after = _FINDS_MORE.sub(" ", re.split(r"[,;:]", sentence.plain[match.end() :])[0]).split()
            if before[-1:] in (["a"], ["an"]) or any(
                _IS_FOUND.fullmatch(word.strip('".,!?').casefold()) for word in (*before[-5:], *after[:6])
            ):
                return True
    return False


def _lies_there(names: str, own: Collection[str], told: _Passage, act: ToldSentence) -> bool:
    """Return whether a passage tells up to a sentence that there lay what was lost, here and now."""
    there = re.compile(
        r"^(?!.*\b(?:bottom|lake|sea|river|pond|portrait|picture|painting|inventory|list)\b)"
        r"(?:And |But )?(?:[Tt]here|(?:Under|In|Behind|On|At|Among|Beneath|Beside|Inside|Between)\b[^,;:\"]{1,50}?),? "
        rf"(?:lay|hung) (?:the|his|her|their) (?:{names})(?=[.,;!]|$| (?:in|on|under|behind|beside|and)\b)"
    )
    until = told.sentences[: told.sentences.index(act)]
    return any(
        (match := there.search(sentence.plain)) is not None and not _is_elsewhen(sentence, match.end(), own, told)
        for sentence in until
    )


def _it_is_back(names: str, told: _Passage) -> bool:
    """Return whether a passage tells of a thing as "it" that it is there, next to its name and with no other noun between."""
    named = re.compile(rf"\b(?:{names})\b", re.IGNORECASE)
    begins = re.compile(rf"\W*(?:the|his|her|their) (?:{names})\b", re.IGNORECASE)
    lines = ["", *(sentence.plain for sentence in told.sentences), ""]
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if (match := _IT_IS_BACK.search(line)) is None or _NOT_BACK.search(line):
            continue
        until = line[: match.start()] if match["it"] else _DOER.sub("", line[: match.start()])
        is_another = re.match(rf"(?: [\w'’-]+){{0,3}}, (?:the|an?) (?!(?:{names})\b)", line[match.end() :])
        *_, near = named.split(f"{before} {until}")
        # What a sentence begins with is what the next one calls "it", whatever else it names.
        near = "" if begins.match(before) else near
        is_named = named.search(before) or named.search(line) or named.search(after)
        if is_named and not is_another and (match[0].startswith("one") or not _OTHER_NOUN.search(near)):
            return True
    return False


def _about(called: str, told: _Passage, act: ToldSentence) -> str:
    """Return what a passage tells of somebody up to what they do.

    That is the sentences with such a name, and one before the first of them in its paragraph: who comes back is not always
    named in doing so.
    """
    named = re.compile(rf"\b(?:{called})\b")
    until = told.sentences[: told.sentences.index(act) + 1]
    first = next((number for number, sentence in enumerate(until) if named.search(sentence.plain)), len(until) - 1)
    before = [one.plain for one in until[max(0, first - 1) : first] if one.paragraph == until[first].paragraph]
    return " ".join([*before, *(sentence.plain for sentence in until if named.search(sentence.plain))])


def _of_holder(
    entry: Entry, names: str, told: _Passage, codex: Codex, *, behind: str = "", one_of_a_kind: bool
) -> Iterator[Contradiction]:
    """Tell of a thing that somebody has on them, while somebody else has it; `behind` is what has to stand behind its names."""
    holder = codex.find(entry.value("holder"))
    if holder is None or holder.kind != "person" or names.casefold() in _EVERYBODYS:
        return
    # Her knife is another one than the knife that he has.
    # Of two words or more it is hardly another one, and hardly passed from hand to hand untold.
    the = "(?:the|his|her|their)" if one_of_a_kind else "the"
    with_it = (
        r"(?:locked|unlocked|opened|cut|struck|lit|dug|pried|prised|scraped|carved|sealed|signed|stabbed|tied|bound|"
        r"swept|stirred|measured|broke|smashed)"
    )
    taken = re.compile(
        rf"(?P<who>[A-Z][\w'’-]+)(?: (?:\w+ly|still))? (?:{_HANDLES}|had|has|wears|carries)(?: up| on| down| out| off)? {the} "
        rf"(?:{names}){behind}\b[^.]*? {_OWN_PLACE}|\b[Tt]he (?:{names}){behind} (?:[a-z]+ )?(?:on|in|from|under|around|round|at|"
        rf"out of) (?P<whose>[A-Z][\w'’-]+)['’]s? {_OWN_NOUN}\b"
    )
    if one_of_a_kind and not any(
        re.search(rf"\b{re.escape(name)}\b", sentence.said) for sentence in told.sentences for name in holder.names
    ):
        taken = re.compile(
            rf"{taken.pattern}|(?P<has>[A-Z][\w'’-]+)(?: \w+ly)? (?:had|carried|carries|wore|wears|owned|owns|put on|"
            rf"saddled|mounted|kept|rode|pocketed|polished|locked|brandished|drew|tucked|"
            rf"was (?:wearing|carrying|holding|riding)|is (?:wearing|carrying)) {the} (?:{names}){behind}\b|"
            rf"(?P<with>[A-Z][\w'’-]+)(?: \w+ly)? {with_it} (?:\w+ ){{1,4}}with {the} (?:{names}){behind}\b"
        )
    for number, sentence in enumerate(told.sentences):
        match = taken.search(sentence.plain)
        who = codex.find(next(filter(None, match.groups()))) if match else None
        if match is None or who is None or who is holder or _is_elsewhen(sentence, match.start(), entry.names, told):
            continue
        others = " ".join(one.said for one in told.sentences[:number])
        if any(name in match[0] for name in holder.names):
            return
        if not (re.search(rf"\b(?:{names})\b", others) and any(name in others for name in holder.names)):
            yield _of_aspect("holder", entry, "holder", sentence.said, who.name)
        return


def _of_pronouns(entry: Entry, told: _Passage, codex: Codex) -> Iterator[Contradiction]:
    known = entry.value("pronouns")
    if known not in ("he", "she"):
        return
    for sentence in told.sentences:
        for match in OF_ONESELF.finditer(sentence.plain):
            if not is_alone(match, entry) or codex.find(match["name"]) is not entry or pronoun_of(match) == known:
                continue
            if not _may_be_anothers(match, entry, sentence, told, codex):
                yield _of_aspect("pronouns", entry, "pronouns", sentence.said, pronoun_of(match))
                return
    wrong = "she" if known == "he" else "he"
    if (said := _called_otherwise(entry, wrong, told, codex)) is not None:
        yield _of_aspect("pronouns", entry, "pronouns", said.said, wrong)


def _may_be_anothers(match: re.Match[str], entry: Entry, sentence: ToldSentence, told: _Passage, codex: Codex) -> bool:
    """Return whether it may be somebody else's mouth, coat or hands that a match of OF_ONESELF tells of."""
    if _IN_DISGUISE.search(told.text):
        return True
    if _BY_ONESELF.search(sentence.plain[match.start() : match.end() + 20]):
        return False
    last = 1 if _HARDLY_ANOTHERS.search(sentence.plain[match.start() : match.end() + 20]) else 2
    paragraphs = sorted({one.paragraph for one in told.sentences if one.paragraph <= sentence.paragraph})[-last:]
    near = " ".join(one.plain for one in told.sentences if one.paragraph in paragraphs).replace(sentence.plain, " ")
    near = f"{near} {sentence.plain[: match.start()]}"
    named = {word for name in entry.names for word in name.split()}
    return bool(
        _SOMEBODY.search(near)
        or re.search(HE if pronoun_of(match) == "he" else SHE, near, re.IGNORECASE)
        or any(one.kind == "person" and one is not entry for one in codex.named_in(near))
        or any(word not in named for word in _CAPITAL.findall(near))
    )


_OF_WHO_IS_THERE = re.compile(
    r"\b(?:he|she) (?:\w+ly )?(?:was|is|had|has|would|could|came|comes|arrived|appeared|entered|followed|waited|stood|"
    r"turned up)\b",
    re.IGNORECASE,
)
"""What begins to tell of somebody else as much as it goes on about who was told of last."""


def _called_otherwise(entry: Entry, wrong: str, told: _Passage, codex: Codex) -> ToldSentence | None:
    """Return the sentence of a passage that calls somebody by the wrong pronoun, or tells that they are what they are not."""
    called = names_pattern(entry, codex)
    what = "man|boy|lad" if wrong == "he" else "woman|girl|lass"
    is_what = rf"^(?:{called}) (?:is|was) an? (?:[a-z][\w-]*,? ){{0,3}}?(?:{what})(?=[.;,]|$| (?:with|who)\b)"
    if (said := _first(is_what, told)) is not None:
        return None if _IN_DISGUISE.search(told.text) else said
    found = calling(wrong, entry, told.sentences, codex)
    if (
        not found
        or _OF_WHO_IS_THERE.search(found[0].plain)
        or re.search(HE if wrong == "he" else SHE, told.before, re.IGNORECASE)
    ):
        return None
    # A passage may go on about whoever the one before it told of.
    return None if may_mean_another(wrong, entry, told.before, codex) else found[0]


def _of_renamed(told: _Passage, codex: Codex) -> Iterator[Contradiction]:
    renamed = [entry for entry in codex.entries.values() if entry.former and entry.kind in ("person", "place")]
    names = {name for entry in codex.entries.values() for name in entry.names} if renamed else set[str]()
    for entry in renamed:
        for former in entry.former:
            called = rf"^(?!.*\b(?:still|old|name|named|called)\b).*\b{re.escape(former)}\b"
            if former not in names and (act := _first(called, told, besides=[former])) is not None:
                holds = Line("fact", former, f"{former} is called {entry.name} now.", "", "", 0)
                yield contradiction("renamed", entry, holds, act.said, former)


_SAID = "(?:said|asked|replied|whispered|answered|called|cried|muttered|shouted|added|says|asks)"


def _as_a_name(name: str) -> str:
    """Return a pattern of a name where it is one: of a word that is a name, too, only where it must mean somebody."""
    pattern = spelled(name)
    if name in _NAMES_OF_MORE:
        return rf"(?:(?<=said )|(?<=asked )|(?<=replied )|(?<=whispered )){pattern}|{pattern}{_ONLY_PEOPLE}"
    return rf"(?:(?<=[a-z,;] ){pattern}|{pattern}{_ONLY_PEOPLE})" if name in _WORDS else pattern


def _may_be_another(entry: Entry, told: _Passage, act: ToldSentence) -> bool:
    """Return whether it is none of the dead who acts in a passage: a ghost, a namesake, a ship, or who goes by their name."""
    names, text = "|".join(map(spelled, entry.names)), told.text
    for name in entry.own_names:
        text = text.replace(name, without_epithets(name))  # Little Annie is no other Annie
    like = r"(?:namesake|impost[eo]r|look-?alike|doppelg[aä]nger|twin|double)"
    return told.is_of_another_world or bool(
        re.search(
            rf"\b(?i:the|an?|another|other|new|second|little|young|baby|cousin|nephew|niece|(?:grand)?(?:son|daughter),?|"
            rf"named|christened|(?:called|calling) (?:him|her|it|them)(?:self)?|named (?:after|for)) (?:{names})\b(?![ -][A-Z])|"
            rf"\b(?:{names}), (?:his|her|their|the|an?|[A-Z]\w+['’]s) (?:[\w'’]+ ){{0,3}}(?:nephew|niece|"
            rf"(?:grand)?(?:son|daughter)|cousin|younger|second|puppy|dog|cat|horse|ship)\b|\bhad (?:his|her) name\b|"
            rf"\b(?:Storm|Hurricane|Operation|Project|Camp|Fort|Lake|Mount|Port|Villa|HMS|SS|Saint|St\.?) (?:{names})\b|"
            rf"(?<=[a-z,] )(?:an?|another) (?:[\w-]+ ){{1,4}}called (?:{names})"
            rf"(?=[.,;:]|$| (?:who|that|which|and|in|on|at|with)\b)|"
            rf"\b(?i:the|his|her|their|its) (?:[\w-]+ ){{1,3}}(?:was|is|were) called (?:{names})\b(?!['’])|"
            rf"\b(?:sign|signboard|board|plate|nameplate|plaque|card|label|door|window|shopfront|awning|letters|van|it|ticket) "
            rf"(?:still |now |only |simply )?(?:said|says|read|reads|spelled|spelt|bore the name(?: of)?)"
            rf"(?: out)? (?:{names})\b(?!['’])|"
            rf"\b(?:[Hh]e|[Ss]he|who|[Tt]hey) (?:was|were|became|had become|played|plays|would be) (?:{names})\b(?!['’])|"
            rf"\b(?:{names})(?:['’]s?| had an?) (?:identical )?(?:twin|double)\b|"
            rf"\b(?:{names}), (?:or who(?:m)?ever|(?:they|people|everybody|everyone) called (?:him|her|it))\b|"
            rf"\b(?:{names})(?:['’]s|, (?:the|an?|his|her)) (?:\w+ )?{like}\b|"
            rf"\b{like},? (?:of |to |called |named )?(?:{names})\b|"
            rf"\b(?:image|picture|double) of (?:his|her|their) (?:dead|late|lost)\b|"
            rf"\b(?:named|christened|called) (?:the|an?|his|her|their|its) (?:\w+ )?(?:\w+ )?(?:after |for )?(?:{names})\b",
            text,
        )
        or any(
            re.search(
                rf"\b(?:I['’]m|I am|I['’]ll be|call me|[Mm]y name is|you(?:['’]re| are| be)) (?:{names})\b", one.said
            )
            and not re.search(rf"\b(?:{names})\b", one.plain)
            for one in told.sentences
        )
    )


def _may_be_there(entry: Entry, told: _Passage, act: ToldSentence) -> bool:
    """Return whether somebody acts where they went to, is heard from afar, or may be back by the time of a passage."""
    line = entry.line("status")
    gone = f"{line.text} {line.rests_on}" if line else ""
    until = " ".join(one.plain for one in told.sentences[: told.sentences.index(act) + 1])
    scene = " ".join(one.said for one in told.sentences if one.paragraph == act.paragraph)
    opens = next(one.plain for one in told.sentences if one.paragraph == act.paragraph)
    if _SHORT_ABSENCE.search(gone) or _LATER.search(until) or _is_afar(told, act, entry.value("place")):
        return True
    if _TRAVELS.search(scene) or _SETTING.match(act.plain) or _SETTING.match(opens):
        return True
    if any(name in told.plan for name in entry.names):
        return True
    own = {word for name in entry.names for word in name.casefold().split()}
    # Who acts in the place that they left is there no longer.
    left_for = _STAYED.sub(" ", _LEFT.sub(" ", gone))
    places = set(re.findall(r"[a-z]{3,}", left_for.casefold())) - own - _NO_PLACE
    if places & set(re.findall(r"[a-z]{3,}", scene.casefold())):
        return True
    return any(left.search(gone) and there.search(scene) for left, there in _FAR_PLACES)


def _acting(called: str, told: _Passage, *, dead: bool) -> ToldSentence | None:
    """Return the first sentence in which somebody who is called so does something; None for none."""
    return _first(
        rf"(?:^|[,;:\"”—–] ?|\b(?:and|but|then|when|while|as(?! (?:{called}) {_SAID})|so) |"
        rf"{_WHEN} )(?:{called})(?:, (?:the|a|an|his|her|who)\b"
        rf"[^,;\"]{{1,60}},)? (?!(?:{_MADE})\b)(?:{ACTS})(?! (?:not|no|nothing)\b)|"
        rf"^(?:And )?[Tt]here was (?:{called}), (?!(?:dying|lying|floating|hanging|bleeding|rotting|being)\b)[a-z]+ing\b|"
        rf"\b(?:{called})['’]s (?:laugh|smile|grin|fingers|gaze|glance|footsteps?|hands?) (?:{ACTS})|"
        rf"{_MEETING if dead and not _SPOKEN_TO.search(told.text) else '(?!)'} (?:{called})\b(?!(?: [A-Z][\w-]*)?['’])|"
        rf"[\"”] {_SAID} (?:{called})\b(?!(?: [A-Z][\w-]*)?['’])|"
        rf"^(?:Behind|In|On|At|By|Beside|There|Here|Under|Before|Across|Through|Down|Up|From|Outside|Inside)\b[^,;\"]{{0,40}}? "
        rf"(?:stood|sat|came|walked|knelt|ran|waited|strode|climbed) (?:{called})\b",
        told,
    )


def _first(pattern: str, told: _Passage, besides: Collection[str] = ()) -> ToldSentence | None:
    """Return the first sentence that tells so of here and now; what `besides` names makes none one of another time."""
    for sentence in told.sentences:
        match = re.search(pattern, sentence.plain)
        if match and not _is_elsewhen(sentence, match.end(), besides, told):
            return sentence
    return None


def _is_elsewhen(sentence: ToldSentence, end: int, besides: Collection[str], told: _Passage) -> bool:
    """Return whether a sentence tells of another time, or of nobody in the flesh, what it does up to `end`."""
    plain = sentence.plain
    for name in besides:
        plain = plain.replace(name, "_" * len(name))
    until = told.sentences[: told.sentences.index(sentence)]
    before = [one.plain for one in until if one.paragraph == sentence.paragraph]
    return (
        bool(_ELSEWHEN.search(plain) or _UNREAL.search(plain[:end]) or _THEN.search(" ".join(before)))
        or any(_SALUTES.search(one.said) for one in told.sentences if one.paragraph == sentence.paragraph)
        or any((match["name"] or "") in sentence.plain for match in _HAD_DONE.finditer("".join(before[-1:])))
        or _is_read(before)
        or any(map(_WOULD_HAVE.search, before[-1:]))
        or sentence.paragraph in told.elsewhen
        or _is_dreamt(sentence, told)
    )


def _is_dreamt(sentence: ToldSentence, told: _Passage) -> bool:
    """Return whether somebody wakes, or sees their mistake, behind a sentence: in its paragraph, or as the next one begins."""
    if _ASLEEP.search(sentence.plain):
        return False
    after = told.sentences[told.sentences.index(sentence) + 1 :]
    if _WAKES.search(" ".join(one.plain for one in after if one.paragraph == sentence.paragraph)):
        return True
    further = next((one for one in after if one.paragraph > sentence.paragraph), None)
    return further is not None and bool(_WAKES_NEXT.match(further.plain))


def _is_read(before: Sequence[str]) -> bool:
    """Return whether what is told behind some sentences of a paragraph may be what somebody reads or hears in them."""
    is_read = False
    for sentence in before:
        is_read = (is_read and not _PUTS_AWAY.search(sentence)) or bool(_READ.search(sentence))
    return is_read


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
