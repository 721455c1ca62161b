"""In which state an English fact says that somebody is, where another state of the same kind makes it true no longer.

Whoever is a widow is not married, and whoever can swim is not who cannot. A fact is read clause by clause, and only where it
begins with whom it is of: what is wished, feared, told by others or true on Sundays alone, ends nothing and is ended by nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from recurrentgpt.memory.superseded import word_forms
from recurrentgpt.nodes.codex_doubts import DOUBTED, is_unreal
from recurrentgpt.schema.names import CALENDAR, FAMILY, OFFICE, RANKS, SOMEBODY


class State(NamedTuple):
    """What a clause says that somebody is, has, can or knows."""

    whose: str
    """The mark of whoever it is said of."""
    slot: str
    """Of what kind it is: of one kind, one state holds."""
    value: str
    about: frozenset[str] = frozenset()
    """With whom or what: a husband, a creditor, what somebody knows."""
    holds: bool = True
    """Whether it is said to be so; else that it is not."""
    is_past: bool = False
    """Whether it is said to have been so, with no word that it is so now."""
    is_new: bool = False
    """Whether a word says that it is so since now."""


MARK = r"§\w+"
"""What stands in a fact for somebody or something that is known."""
_WHO = rf"(?:{MARK}|[A-Z][\w-]*(?: [A-Z][\w-]*)*)"
_CREDITOR = rf"(?:{_WHO}|(?:the|his|her|their) [a-z]+)"
_BE = r"(?:is|was|are|were|has been|had been|became|becomes|remains|remained|feels|felt|got|gets|grew|went|turned)"
_POSS = r"(?:his|her|their)"
_HAD = r"(?:(?:has|had|have) )?"
_TIMES = rf"(?:spring|summer|autumn|winter|{'|'.join(sorted(CALENDAR))}|\d+)"
_TAIL = (
    rf"(?: (?:since .+|after .+|in (?:the )?{_TIMES}|on {_TIMES}|(?:this|last|that) \w+|yesterday|by .+|because .+|"
    r"for good|for ever|forever))?$"
)
_CELL = r"(?:prison|jail|gaol|dungeons?|cell|captivity|custody|chains|irons|fetters|stocks|galleys|madhouse|asylum)"
_IN_CELL = rf"(?:in|into|inside|to) (?:(?:the|a|an|{_POSS}) )?(?:{_WHO}['’]s )?(?:\w+ )?{_CELL}(?! of\b)"
_OUT_OF_CELL = (
    rf"(?:from|out of|of) (?:(?:the|a|an|{_POSS}) )?(?:{_WHO}['’]s )?(?:\w+ )?(?:{_CELL}|cellar|tower|hold|attic|"
    r"vault|pit)"
)
_ILLNESS = (
    r"(?:fever|cold|cough|flu|plague|measles|pneumonia|malaria|cholera|smallpox|consumption|illness|sickness|infection|"
    r"typhus)"
)
_BEARD = r"(?P<about>beard|moustache|mustache|whiskers|sideburns|goatee)"
_COLOURS = (
    "red|black|brown|white|grey|gray|blond|blonde|fair|golden|auburn|ginger|silver|dark|chestnut|flaxen|yellow|green|"
    "blue|pink|purple|copper|sandy|raven"
)
_LONG, _SHORT = "long|waist-length|flowing", "short|cropped|short-cropped|close-cropped"
_JOB = (
    r"(?:job|post|position|work|employment|office|command|commission|situation|crown|throne|practice|trade|"
    r"apprenticeship)"
)
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand"
)
_NUMBER = rf"(?:\d[\d,]*|(?:{'|'.join(_NUMBERS.split())})(?:[- ](?:{'|'.join(_NUMBERS.split())}))*)"
_COIN = r"(?:(?!back\b)[a-z]+ )?(?!back\b|for\b|to\b)[a-z]+"
_ALL_OWED = (
    rf"(?:in full|back|everything|all (?:that )?(?:he|she|they) owed|what (?:he|she|they) owed|(?:{_POSS}|the) (?:old |whole )?"
    r"(?:money|debts?|sum|rest|whole sum|loan|full sum|full amount|amount))"
)
_NO_COIN = (
    r"(?:(?:his|her|their) (?:life|freedom|happiness|place|job|success|name|rescue|health|sanity)|an? (?:\w+ )?"
    r"(?:apology|explanation|favou?r|answer|visit|letter|dance|promise|word|debt of gratitude|service|drink|dinner)|"
    r"(?:obedience|loyalty|thanks|gratitude|everything|nothing|allegiance|respect|love))"
)

_OF_SUBJECT: tuple[tuple[str, str, str], ...] = (
    # whom somebody is married to
    ("bond", "widowed", rf"{_BE} (?:left )?(?:an? )?(?:\w+ )?(?:widow|widower|widowed){_TAIL}"),
    ("bond", "widowed", rf"{_HAD}lost {_POSS} (?:husband|wife){_TAIL}"),
    ("bond", "single", rf"{_BE} (?:single|unmarried|unwed|unattached|an? (?:\w+ )?(?:bachelor|spinster|maiden)){_TAIL}"),
    ("bond", "single", rf"has no (?:husband|wife|spouse){_TAIL}"),
    ("bond", "single",
     rf"{_HAD}(?:broke|broken|called|calls|breaks|ended|ends|dissolved|cancelled) (?:off )?(?:the|{_POSS}) "
     rf"(?:engagement|betrothal)(?: (?:to|with) (?P<about>{_WHO}))?{_TAIL}"),
    ("bond", "married", rf"{_BE} (?:re)?(?:married|wed|wedded)(?: (?:to|with) (?P<about>{_WHO}))?(?!['’])(?:{_TAIL}| (?:in|at) "
     rf".+)"),
    ("bond", "married", rf"{_BE} (?P<about>{_WHO})['’]s (?:\w+ )?(?:wife|husband|bride|spouse){_TAIL}"),
    ("bond", "married", rf"{_BE} the (?:\w+ )?(?:wife|husband|spouse) of (?P<about>{_WHO})(?!['’]){_TAIL}"),
    ("bond", "married", r"has an? (?:\w+ )?(?:wife|husband)\b.*"),
    ("bond", "married",
     rf"{_HAD}(?:re)?(?:married|marries|weds|wed|wedded)(?: (?:(?:the|an?|{_POSS}) )?(?:[a-z][\w-]* ){{0,3}}?"
     rf"(?P<about>{_WHO})(?!['’]|,? and {_WHO}| [A-Z])| (?:the|an?|{_POSS}) (?:[a-z][\w-]* )?{OFFICE})?(?! (?:off|to)\b)"
     rf"(?:{_TAIL}| (?:in|at|with|for|on|before|under) .+)"),
    ("bond", "engaged",
     rf"{_BE} (?:engaged|betrothed|promised in marriage)(?: (?:to|with) (?:the )?(?:[a-z]\w* "
     rf")?(?P<about>{_WHO})(?!['’]))?{_TAIL}"),
    ("bond", "engaged", rf"{_BE} (?P<about>{_WHO})['’]s (?:fiancée?|betrothed|intended){_TAIL}"),
    ("bond", "divorced", rf"{_HAD}divorce[sd] (?P<about>{_WHO})(?!['’]){_TAIL}"),
    ("bond", "divorced", rf"{_BE} (?:divorced|separated)(?: (?:from|by) (?P<about>{_WHO}))?{_TAIL}"),
    ("bond", "divorced", rf"{_HAD}(?:divorced|separated|parted for good){_TAIL}"),
    # whether somebody is free
    ("freedom", "captive",
     rf"(?:{_BE}(?: being)?|sits|sat|lies|lay|languishes|languished) (?:{_IN_CELL}|an? (?:\w+ )?(?:prisoner|captive|hostage|"
     rf"slave)|"
     rf"the (?:prisoner|captive|hostage|slave) of|{_WHO}['’]s (?:prisoner|captive|hostage|slave)|imprisoned|jailed|captive|"
     r"locked (?:up|in|inside)|behind bars|under (?:lock and key|(?:house )?arrest)|"
     r"held (?:captive|prisoner|hostage|in|by)|enslaved|kidnapped|arrested|captured|incarcerated|"
     rf"taken (?:prisoner|captive|hostage)|thrown {_IN_CELL}|sent {_IN_CELL}|chained|tied (?:up|to)|bound hand)\b.*"),
    ("freedom", "free",
     rf"{_BE} (?:free|freed|set free|let (?:go|out)|released|at (?:large|liberty)|liberated|pardoned|ransomed|rescued|"
     rf"acquitted|unchained|untied|a free (?:man|woman)|out of (?:the )?{_CELL})(?: {_OUT_OF_CELL})?{_TAIL}"),
    ("freedom", "free",
     rf"{_HAD}(?:escaped|escapes|broke out|broken out|got out|got away|fled|walked out|dug {_POSS} way out|climbed out) "
     rf"{_OUT_OF_CELL}\b.*"),
    ("freedom", "free", rf"{_HAD}(?:escaped|broke free|broken free|escaped {_POSS} (?:captors|cell|chains|prison|"
     rf"guards)){_TAIL}"),
    ("freedom", "free",
     rf"{_HAD}(?:(?:re)?gained|won|bought|got back) {_POSS} (?:freedom|liberty){_TAIL}|walks free{_TAIL}|{_HAD}left (?:the "
     rf")?{_CELL}{_TAIL}"),
    # health
    ("health", "ill",
     rf"(?:{_BE}|lies|lay|fell|falls|fallen) (?:very |so )?(?:ill|sick|feverish|unwell|bedridden|ailing|wounded|injured)"
     rf"(?: (?:with|in bed|from) .*)?{_TAIL}"),
    ("health", "ill", rf"(?:has|had|caught|has caught|suffers from|is suffering from) (?:an? |the )?(?:\w+ )?{_ILLNESS}{_TAIL}"),
    ("health", "well",
     rf"{_HAD}(?:recovered|recovers|pulled through|got well|got over (?:the|{_POSS}) {_ILLNESS})(?: from .+)?{_TAIL}"),
    ("health", "well",
     rf"{_BE} (?:well|healthy|cured|healed|recovered|restored to health|in good health|in health|on {_POSS} feet)"
     rf"(?: (?:from|of) {_POSS} .+)?{_TAIL}"),
    ("sight", "blind", rf"{_BE} (?:quite )?(?:blind|sightless){_TAIL}|{_HAD}lost {_POSS} (?:eye)?sight\b.*"),
    ("sight", "seeing",
     rf"{_HAD}(?:re)?(?:gained|covered|got back|found) {_POSS} (?:eye)?sight\b.*|{_BE} (?:cured|healed) of {_POSS} blindness|"
     rf"(?:can|could) see{_TAIL}"),
    ("hearing", "deaf", rf"{_BE} (?:quite )?deaf{_TAIL}|{_HAD}lost {_POSS} hearing\b.*"),
    ("hearing", "hearing", rf"{_HAD}(?:re)?(?:gained|covered|got back) {_POSS} hearing\b.*|(?:can|could) hear{_TAIL}"),
    ("speech", "mute", rf"{_BE} (?:mute|dumb|speechless){_TAIL}|{_HAD}lost {_POSS} (?:voice|speech)\b.*"),
    ("speech", "speaking", rf"{_HAD}(?:re)?(?:gained|covered|got back|found) {_POSS} (?:voice|speech)\b.*|(?:can|could) "
     rf"speak{_TAIL}"),
    ("legs", "lame", rf"{_BE} (?:lame|crippled|paralysed|paralyzed|a cripple){_TAIL}"),
    ("legs", "walking", rf"(?:can|could|learn(?:ed|t) to) walk{_TAIL}|{_BE} (?:cured|healed) of {_POSS} lameness"),
    ("birth", "expecting",
     rf"{_BE} (?:\w+ months )?(?:pregnant|with child|expecting(?: an? (?:child|baby))?)(?: (?:with|by) .+)?{_TAIL}|"
     rf"expects an? (?:child|baby).*|carries .*child{_TAIL}"),
    ("birth", "delivered",
     rf"{_HAD}(?:gave birth|given birth|gives birth|miscarried|was delivered of)\b.*|"
     rf"{_HAD}(?:lost|had|bore|borne) (?:{_WHO} )?(?:an?|the|{_POSS}) (?:\w+ )?(?:baby|child|son|daughter|boy|girl){_TAIL}"),
    ("wealth", "poor",
     rf"{_BE} (?:very )?(?:poor|penniless|destitute|bankrupt|ruined|a (?:beggar|pauper|poor (?:man|woman))|in poverty)"
     rf"{_TAIL}|lives in poverty.*|"
     rf"{_HAD}(?:lost|gambled away) (?:{_POSS} (?:fortune|wealth)|all {_POSS} (?:money|wealth)|everything){_TAIL}"),
    ("wealth", "rich",
     rf"{_BE} (?:very |a )?(?:rich|wealthy|prosperous|well off|millionaire)(?: (?:man|woman|widow|merchant))?{_TAIL}|"
     rf"{_HAD}(?:came into|come into|inherited|made|won) (?:a|{_POSS}) (?:\w+ )?fortune\b.*"),
    ("drink", "drunk", rf"{_BE} (?:very |dead )?(?:drunk|tipsy|intoxicated){_TAIL}"),
    ("drink", "sober", rf"{_BE} sober{_TAIL}|{_HAD}sobered up{_TAIL}"),
    ("sleep", "asleep", rf"{_BE} (?:fast |sound )?asleep\b.*|(?:fell|falls) asleep\b.*|{_BE} (?:unconscious|in a coma){_TAIL}"),
    ("sleep", "awake",
     rf"{_HAD}(?:woke|wakes|woken|awoke|awakened|awakes)(?: up)?(?: (?:at|in|from|with) .+)?{_TAIL}|{_BE} (?:wide )?(?:awake|"
     rf"conscious){_TAIL}|"
     rf"{_HAD}(?:came to|regained consciousness){_TAIL}"),
    ("guilt", "guilty", rf"{_BE} (?:found |proved )?(?:guilty|convicted)(?: of (?P<about>.+))?"),
    ("guilt", "innocent", rf"{_BE} (?:found |proved |declared )?(?:innocent|acquitted|cleared)(?: of (?P<about>.+?))?{_TAIL}"),
    # what somebody feels for another
    ("love", "love", rf"(?:loves|adores|likes) (?P<about>.+)|{_BE} in love with (?P<about2>.+)|{_HAD}fell in love with "
     rf"(?P<about3>.+)"),
    ("love", "hate", r"(?:hates|despises|loathes|detests|dislikes) (?P<about>.+)|fell out of love with (?P<about2>.+)"),
    ("trust", "trust", r"trusts (?P<about>.+)"),
    ("trust", "distrust", rf"(?:distrusts|mistrusts|suspects) (?P<about>.+)|{_HAD}lost (?:all )?(?:trust|faith|confidence) in "
     rf"(?P<about2>.+)"),
    ("anger", "angry",
     rf"{_BE} (?:very )?(?:angry|furious|cross|annoyed) (?:with|at) (?P<about>.+)|(?:hates|resents) (?P<about2>.+)|"
     rf"(?:bears|holds) a grudge against (?P<about3>.+)|has not forgiven (?P<about4>.+)|bears (?P<about5>{_WHO}) a grudge"),
    ("anger", "forgiven",
     rf"(?:has |had )?(?:forgave|forgives|forgiven) (?P<about>{_WHO})(?!['’])(?: (?:everything|for .+|the (?!debt|money|loan|"
     rf"rent|sum).+))?{_TAIL}|"
     rf"{_HAD}(?:made|makes) (?:{_POSS} )?(?:peace|up) with (?P<about2>{_WHO}){_TAIL}|{_BE} reconciled (?:with|to) "
     rf"(?P<about3>{_WHO}){_TAIL}"),
    ("fear", "afraid", rf"{_BE} (?:very )?(?:afraid|scared|frightened|terrified) of (?P<about>.+)|(?:fears|dreads) "
     rf"(?P<about2>.+)"),
    ("fear", "brave",
     rf"{_HAD}(?:lost|overcame|overcome|conquered|mastered) {_POSS} (?:fear|dread|terror) of (?P<about>.+)"),
    # how somebody looks
    ("hair", "{colour}", rf"(?:has|had|has got) (?:[\w-]+,? )*?(?P<colour>{_COLOURS}) (?:\w+ )?hair{_TAIL}|{_BE} "
     rf"(?P<colour2>{_COLOURS})-haired{_TAIL}"),
    ("hair", "{colour}", rf"{_HAD}(?:dyed|dyes|coloured) {_POSS} hair (?P<colour>{_COLOURS}){_TAIL}"),
    ("hair", "none",
     rf"{_HAD}(?:cut|cuts|shaved|shaves|hacked|chopped) off (?:all )?(?:of )?{_POSS} (?:\w+ )?hair{_TAIL}|"
     rf"{_HAD}(?:cut|cuts|shaved|shaves|hacked|chopped) (?:all )?{_POSS} (?:\w+ )?hair off{_TAIL}|"
     rf"{_HAD}(?:shaved|shaves) {_POSS} head{_TAIL}|{_BE} (?:quite )?bald{_TAIL}|{_HAD}lost (?:all )?{_POSS} hair{_TAIL}|has no "
     rf"hair{_TAIL}"),
    ("hair length", "short",
     rf"{_HAD}(?:cut|cuts|cropped|crops|chopped|bobbed|shaved|hacked)(?: off)? (?:all )?(?:of )?{_POSS} (?:\w+ "
     rf")?(?:hair|braids?|plaits?|curls|locks)"
     rf"(?: (?:off|short|to .+))?{_TAIL}|(?:has|had|wears|wore) (?:{_POSS} )?(?:[\w-]+,? )*?(?:{_SHORT}) (?:\w+ )?hair{_TAIL}|"
     rf"wears {_POSS} hair (?:{_SHORT}){_TAIL}|{_HAD}shaved {_POSS} head{_TAIL}|{_BE} (?:quite )?bald{_TAIL}"),
    ("hair length", "long",
     rf"(?:has|had|wears|wore) (?:[\w-]+,? )*?(?:{_LONG}) (?:\w+,? )*?(?:hair|braids?|plaits?){_TAIL}|wears {_POSS} hair "
     rf"(?:{_LONG}|in (?:an? )?(?:\w+ )?(?:braids?|plaits?)){_TAIL}|"
     rf"(?:has|wears) (?:an? )?(?:\w+ )?(?:braids?|plaits?|ponytail){_TAIL}"),
    ("beard", "bearded", rf"(?:has|had|wears|wore|sports|grew|{_HAD}grown|is growing) (?:an? |{_POSS} )?(?:\w+,? "
     rf"){{0,2}}{_BEARD}{_TAIL}"),
    ("beard", "bearded", rf"{_BE} bearded{_TAIL}"),
    ("beard", "shaven", rf"{_HAD}(?:shaved|shaves|cut|took)(?: off)? {_POSS} (?:\w+ ){{0,2}}{_BEARD}(?: off)?{_TAIL}|{_BE} "
     rf"(?:clean-shaven|beardless){_TAIL}"),
    # what somebody does for a living, and how old they are
    ("work", "employed",
     rf"{_BE} (?:the|an?|{_WHO}['’]s) (?:[a-z][\w'’-]* ){{0,2}}?(?!{SOMEBODY}\b|{FAMILY.pattern}\b|thief|orphan|heir|spy|"
     rf"prisoner|(?:murder|kill|foreign|lon|sinn|drink|believ)er)"
     rf"(?P<about>{OFFICE}|{'|'.join(sorted(RANKS))}|king|queen|duke|duchess|chief)(?: (?:of|at|in|to|on|for) "
     rf".+)?{_TAIL}|"
     rf"{_BE} (?P<about3>{'|'.join(sorted(RANKS))}|king|queen|duke|duchess)(?: of .+)?{_TAIL}|"
     r"(?:works|worked|serves|served|is employed) (?:as (?:the |an? )?(?P<about2>[\w-]+)|for)\b.*"),
    ("work", "idle",
     rf"{_BE} (?:dismissed|sacked|fired|deposed|dethroned|demoted|discharged|removed from office|retired|unemployed|jobless|out "
     rf"of work|"
     rf"relieved of {_POSS} (?:post|command|duties))(?: as (?:the |an? )?(?P<about>[\w-]+))?(?: (?:from|of) .+)?{_TAIL}|"
     rf"{_HAD}(?:lost|gave up|given up|left|quit|resigned|laid down) (?:{_POSS}|the) {_JOB}(?: as (?:the |an? "
     rf")?(?P<about2>[\w-]+))?(?: (?:with|of) .+)?{_TAIL}|"
     rf"{_HAD}(?:resigned|abdicated|stepped down|retired)(?: as (?:the |an? )?(?P<about3>[\w-]+))?{_TAIL}|has no (?:work|job|"
     rf"employment|post){_TAIL}"),
    ("work", "employed",
     rf"{_HAD}(?:found|got|took|gets|finds) (?:work|an? (?:\w+ )?(?:job|post|position|place))\b.*|{_BE} (?:hired|appointed|"
     rf"employed)\b.*"),
    ("rank", "apprentice", rf"{_BE} (?:(?:an?|the) )?(?:[\w-]+(?:['’]s)? ){{0,2}}?(?:apprentice|novice|pupil|beginner)(?: (?:to|"
     rf"of|at|in) .+)?{_TAIL}"),
    ("rank", "master", rf"{_BE} an? (?:full |true )?(?:master|journeyman)(?: [a-z]+)?{_TAIL}|{_HAD}(?:finished|completed|ended) "
     rf"{_POSS} apprenticeship{_TAIL}"),
    ("company", "alone", rf"lives (?:alone|by (?:him|her)self){_TAIL}"),
    ("company", "with", rf"lives (?:together )?with (?P<about>{_WHO})\b.*|{_HAD}moved in with (?P<about2>{_WHO})\b.*|"
     rf"shares (?:an?|the|{_POSS}) (?:\w+ )?(?:rooms?|house|flat|cabin|cottage|hut|lodgings?) with "
     rf"(?P<about3>{_WHO})(?!['’]){_TAIL}"),
    ("peace", "war", rf"{_BE} (?P<about>{_WHO})['’]s (?:\w+ )?(?:enemy|rival|foe){_TAIL}|{_BE} an? (?:\w+ )?(?:enemy|rival) of "
     rf"(?P<about2>{_WHO})(?!['’]){_TAIL}"),
    ("peace", "peace", rf"{_BE} (?P<about>{_WHO})['’]s (?:\w+ )?(?:friend|ally){_TAIL}|{_BE} (?:good )?friends with "
     rf"(?P<about2>{_WHO})(?!['’]){_TAIL}"),
    ("age", "{number}", rf"{_BE} (?P<number>{_NUMBER})(?: (?:years old|years of age|of age))?{_TAIL}"),
    # debts
    ("debt", "paid",
     rf"{_HAD}(?:paid|repaid|pays|repays|reimbursed|paid off)(?: back)? (?P<about>{_CREDITOR})(?!['’]| [A-Z])(?: back)?"
     rf"(?: (?:{_ALL_OWED}|(?:the |{_POSS} )?(?P<sum>{_NUMBER} {_COIN})))?(?: back)?(?: (?:in full|with interest))?{_TAIL}"),
    ("debt", "paid",
     rf"{_HAD}(?:paid|repaid|pays|repays|gave|gives|handed|hands|returned|delivered|brought)(?: back)? "
     rf"(?P<about>{_CREDITOR})(?: back)? "
     rf"(?:(?:the|{_POSS}) (?:(?P<sum2>{_NUMBER} {_COIN})|(?P<sum3>[a-z][\w-]*(?: of [a-z]+)?))|(?P<sum4>{_NUMBER} {_COIN}) "
     rf"back)(?: back)?{_TAIL}"),
    ("debt", "paid",
     rf"{_HAD}(?:paid|repaid|pays|repays|gave|gives|handed|returned|delivered|brought)(?: back)? "
     rf"(?:{_ALL_OWED}|(?:the|{_POSS}) (?P<sum2>[a-z][\w-]*(?: of [a-z]+)?)|(?:the |{_POSS} )?(?P<sum>{_NUMBER} {_COIN}))(?: "
     rf"back)? "
     rf"to (?P<about>{_CREDITOR})(?!['’]| [A-Z])(?: in full)?{_TAIL}"),
    ("debt", "paid",
     rf"{_HAD}(?:paid|repaid|pays|settled|settles|cleared|discharged|worked off)(?: off)? (?:all )?(?:of )?(?:{_POSS}|the) "
     rf"(?:debts?|account|score)(?: (?:to|with) (?P<about>{_CREDITOR})(?!['’]))?{_TAIL}|{_BE} (?:out of|free of) debt{_TAIL}|"
     rf"{_BE} (?:quits|even|square) with (?P<about2>{_CREDITOR}){_TAIL}"),
    ("debt", "paid", rf"owes (?P<about>{_CREDITOR}) nothing(?: more)?{_TAIL}|owes nothing(?: more)? to "
     rf"(?P<about2>{_CREDITOR}){_TAIL}"),
    ("debt", "owing",
     rf"(?:owes|owed) (?P<about>{_CREDITOR}) (?!{_NO_COIN})(?P<sum>[^.;]+?)(?: for .+)?{_TAIL}|"
     rf"(?:owes|owed) (?!{_NO_COIN})(?P<sum2>[^.;]+?) to (?P<about2>{_CREDITOR})(?!['’])(?: for .+)?{_TAIL}|"
     rf"{_BE} (?:deep )?(?:in debt|indebted) to (?P<about3>{_CREDITOR}){_TAIL}|{_BE} (?P<about4>{_WHO})['’]s debtor{_TAIL}|"
     rf"{_HAD}borrowed (?P<sum5>{_NUMBER} {_COIN}|money) from (?P<about5>{_CREDITOR}){_TAIL}"),
    ("apology", "due", rf"owes (?P<about>{_WHO}) an? (?:\w+ )?apology{_TAIL}"),
    ("apology", "made", rf"{_HAD}(?:apologi[sz]e[sd]|made an? apology|begged pardon) (?:to|of) (?P<about>{_WHO})\b.*"),
    # things
    ("lock", "locked", rf"{_BE} (?:locked|bolted|barred|sealed){_TAIL}"),
    ("lock", "open", rf"{_BE} (?:un(?:locked|bolted|barred|sealed)|open|opened|wide open){_TAIL}"),
    ("door", "closed", rf"{_BE} (?:closed|shut|shut down|closed down){_TAIL}"),
    ("door", "open", rf"{_BE} (?:open|opened|reopened|wide open){_TAIL}|{_HAD}(?:re)?opened{_TAIL}"),
    ("light", "lit", rf"{_BE} (?:lit|burning|alight|aglow){_TAIL}|burns{_TAIL}"),
    ("light", "out", rf"{_BE} (?:out|unlit|dark|extinguished|put out|blown out|snuffed out){_TAIL}"),
    ("filling", "full", rf"{_BE} (?:full|filled)\b.*"),
    ("filling", "empty", rf"{_BE} (?:empty|emptied){_TAIL}"),
    ("damage", "broken", rf"{_BE} (?:broken|cracked|damaged|torn|out of order|in ruins){_TAIL}|(?:has|had) (?:stopped|a crack|a "
     rf"hole){_TAIL}"),
    ("damage", "mended", rf"{_BE} (?:mended|repaired|fixed|whole|rebuilt|restored|patched|in working order){_TAIL}"),
)  # fmt: skip
"""What is said behind the name of whoever it is of."""

_OF_OBJECT: tuple[tuple[str, str, str], ...] = (
    ("bond", "married", rf"(?P<about>{_WHO}) {_HAD}(?:married|marries|weds|wed) (?P<whom>{MARK})(?:{_TAIL}| (?:in|at|with|for|"
     rf"on|before) .+)"),
    ("bond", "divorced", rf"(?P<about>{_WHO}) {_HAD}divorce[sd] (?P<whom>{MARK}){_TAIL}"),
    ("bond", "single", rf"(?P<about>{_WHO}) {_HAD}jilted (?P<whom>{MARK}){_TAIL}"),
    ("freedom", "free",
     rf".+? (?:freed|released|liberated|ransomed|pardoned|untied|unchained|unbound|let out) (?P<whom>{MARK})(?: "
     rf"{_OUT_OF_CELL}.*|{_TAIL})"),
    ("freedom", "free",
     rf".+? (?:let|lets|set|sets) (?P<whom>{MARK}) (?:go|free|out(?: of .+)?){_TAIL}|"
     rf".+? (?:rescued|got|broke|bought|brought|saved|led) (?P<whom2>{MARK}) {_OUT_OF_CELL}\b.*"),
    ("freedom", "captive",
     rf".+? (?:arrested|imprisoned|jailed|captured|kidnapped|enslaved|locked up) (?P<whom>{MARK})(?!['’]).*|"
     rf".+? (?:threw|put|locked|clapped|sent) (?P<whom2>{MARK}) {_IN_CELL}\b.*|.+? locked (?P<whom3>{MARK}) up\b.*"),
    ("health", "well", rf".+? (?:cured|healed|nursed) (?P<whom>{MARK})(?: back to health| of .+)?{_TAIL}"),
    ("work", "idle", rf".+? (?:dismissed|sacked|deposed|fired) (?P<whom>{MARK})(?: as (?:the |an? )?(?P<about>[\w-]+))?(?: from "
     rf".+)?{_TAIL}"),
    ("debt", "paid",
     rf"(?P<about>{_WHO}) {_HAD}(?:forgave|forgives|remitted|cancelled|let) (?P<whom>{MARK}) (?:off )?(?:{_POSS}|the|all "
     rf"{_POSS}) (?:\w+ )?(?:debts?|money|loan|rent|sum).*|"
     rf"(?P<about2>{_WHO}) {_HAD}(?:cancelled|forgave|forgives|remitted) (?P<whom2>{MARK})['’]s? (?:\w+ )?debts?{_TAIL}|"
     rf"(?P<about3>{_WHO}) {_BE} (?:re)?paid(?: back)?(?: in full)? by (?P<whom3>{MARK}){_TAIL}|"
     rf"(?P<about4>{_WHO}) {_HAD}(?:got|gets|received|has) (?:(?:{_POSS}|the) (?:money|loan) back|back (?:{_POSS}|the) (?:money|"
     rf"loan)|"
     rf"(?:{_POSS}|the) money) from (?P<whom4>{MARK}){_TAIL}"),
    ("debt", "owing", rf"(?P<about>{_WHO}) is owed (?:(?P<sum>{_NUMBER} {_COIN})|.+?) by (?P<whom>{MARK}){_TAIL}"),
    ("work", "idle", rf".+? (?:replaced|succeeded|took over from) (?P<whom>{MARK})(?: as (?:the |an? )?(?P<about>[\w-]+))?(?: "
     rf"(?:of|in|on|at) .+)?{_TAIL}"),
    ("light", "out", rf".+? (?:put|blew|snuffed) (?:out )?the (?P<whom>{MARK})(?: out)?{_TAIL}"),
    ("light", "lit", rf".+? (?:lit|lights|relit) the (?P<whom>{MARK}){_TAIL}"),
    ("lock", "open", rf".+? (?:unlocked|unbolted|opened) the (?P<whom>{MARK}){_TAIL}"),
    ("lock", "locked", rf".+? (?:locked|bolted|barred|sealed) the (?P<whom>{MARK}){_TAIL}"),
    ("damage", "mended", rf".+? (?:mended|repaired|fixed|rebuilt|restored|patched) the (?P<whom>{MARK}){_TAIL}"),
    ("damage", "broken", rf".+? (?:broke|cracked|damaged|tore) the (?P<whom>{MARK}){_TAIL}"),
)  # fmt: skip
"""What somebody does to whoever it is of: whole clauses."""

_OF_OWNER: tuple[tuple[str, str, str], ...] = (
    ("bond", "widowed",
     r"(?:husband|wife) (?:(?:has |had )?(?:died|drowned|(?:fallen|fell) in (?:battle|action|the war))|"
     r"(?:is|was) (?:dead|killed|buried))\b.*"),
    ("bond", "married", rf"(?:wife|husband) is (?P<about>{_WHO}){_TAIL}"),
    ("bond", "single", rf"engagement(?: to (?P<about>{_WHO}))? (?:is|was) (?:over|off|broken(?: off)?|called off|"
     rf"dissolved){_TAIL}"),
    ("health", "well", rf"{_ILLNESS} (?:(?:is|was|has) (?:gone|over)|broke|has broken|passed|has passed|left (?:him|"
     rf"her)){_TAIL}"),
    ("birth", "delivered", r"(?:child|baby|son|daughter) (?:is|was) born\b.*"),
    ("hair", "{colour}", rf"hair (?:is|was|(?:has |had )?(?:turned|gone|grown|went|grew|become|became)) (?:quite |all |as "
     rf")?(?P<colour>{_COLOURS})\b(?:{_TAIL}| with .+| as .+| overnight)"),
    ("hair", "none", rf"hair (?:is|was|has been) (?:gone|(?:cut|shaved|shorn) off)\b.*|(?:hair|head) (?:is|was) (?:shaved|"
     rf"shorn){_TAIL}|hair fell out{_TAIL}"),
    ("hair", "any", rf"hair (?:has |had )?(?:grown|grew) back{_TAIL}"),
    ("hair length", "long", rf"hair (?:is|was|(?:has )?(?:grew|grown)) (?:very )?(?:{_LONG}){_TAIL}"),
    ("hair length", "short", rf"hair (?:is|was|has been) (?:very )?(?:{_SHORT}|cut short|cut|cut off|shorn|gone){_TAIL}"),
    ("beard", "shaven", rf"{_BEARD} (?:is|was) (?:gone|shaved off){_TAIL}"),
    ("debt", "paid", rf"debts?(?: to (?P<about>{_WHO}))? (?:is|was|are|were|has been|have been) (?:paid|repaid|settled|cleared|"
     rf"forgiven|cancelled)(?: off| in full)?{_TAIL}"),
    ("age", "{number}", rf"age is (?P<number>{_NUMBER}){_TAIL}"),
)  # fmt: skip
"""What is said behind "Ida's"."""

_OF_TWO: tuple[tuple[str, str, str], ...] = (
    ("bond", "married", rf"(?:are|were|got|have been|had been|got) (?:married|wed|wedded)(?:{_TAIL}| (?:in|at) .+)|(?:married|"
     rf"wed|are (?:husband|man) and wife)(?:{_TAIL}| (?:in|at) .+)"),
    ("bond", "engaged", rf"(?:are|were|got|became) (?:engaged|betrothed){_TAIL}"),
    ("bond", "divorced", rf"(?:(?:are|were|got|have) )?(?:divorced|separated){_TAIL}"),
    ("bond", "single", rf"(?:broke off|called off|ended) their (?:engagement|betrothal){_TAIL}"),
    ("peace", "war", rf"(?:are|were|became|remain) (?:bitter |sworn |old |deadly |mortal )?(?:enemies|rivals|foes|at (?:war|"
     rf"odds)|not on speaking terms){_TAIL}|(?:hate|distrust) each other{_TAIL}|(?:quarrelled|fell out){_TAIL}"),
    ("peace", "peace", rf"(?:have |had )?(?:made peace|made up|(?:are|were|became) (?:\w+ )?(?:friends|allies|reconciled)|"
     rf"buried the hatchet|forgave each other|shook hands and made peace){_TAIL}"),
)  # fmt: skip
"""What is said of two people."""

_ENDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("bond", "widowed"): frozenset(("married", "single")),
    ("bond", "married"): frozenset(("widowed", "single", "engaged", "divorced")),
    ("bond", "divorced"): frozenset(("married",)),
    ("bond", "single"): frozenset(("engaged", "married", "widowed")),
    ("bond", "engaged"): frozenset(),
    ("hair", "any"): frozenset(("none",)),
}
"""Which states another one ends, where it is not all others of its kind."""
_ANY_SUM = word_forms("money sum debt large small great deal much lot fortune bill loan some still")
"""How a debt is told without how much it is."""
_ONE_PARTNER = frozenset(("married", "engaged"))
_TOPICS = frozenset(("ability", "knowledge", "deed"))
_ALIKE = _TOPICS | {"love", "trust", "fear", "said", "anger", "own", "apology"}
"""Kinds of states that are about the same thing, or have nothing to do with each other."""

_BY_WORDS = _TOPICS | {"said", "own"}
_DENIAL = re.compile(r"\b(?:not|never|no|cannot|unable|unaware|ignorant|nothing|forg[eo]t\w*|lost)\b|n['’]t\b")
"""What a fact has that says of something that it is not so."""

_CAN = re.compile(
    rf"(?:can|could|is able to|was able to|knows how to|knew how to|{_HAD}(?:learn(?:ed|t|s)|taught (?:him|her)self|"
    rf"mastered)(?: how)? to) "
    r"(?!have\b|only\b|see how\b|tell\b)(?P<what>[a-z].*)"
)
_CANNOT = re.compile(
    rf"(?:(?:can|could) not|(?:is|was) (?:unable|not able) to|(?:does|did) not know how to|{_HAD}never learn(?:ed|t)(?: how)? to|"
    rf"{_HAD}(?:forgot|forgotten)(?: how)? to|{_HAD}lost the (?:ability|power) to) (?P<what>[a-z].*)"
)
_TAUGHT = re.compile(
    rf".+? (?:taught|teaches|showed) (?P<whom>{MARK})(?: how)? to (?P<what>.+)|"
    rf"(?P<whom2>{MARK}) was taught(?: by \S+)?(?: how)? to (?P<what2>.+)"
)
_UNDONE = re.compile(r"(?:has|had) (?:not|never)(?: yet| ever)? (?P<verb>[a-z]+)(?: (?P<what>.+))?")
_BASES: Mapping[str, str] = {
    form: base
    for base, forms in (
        ("swim", "swam swum"), ("speak", "spoke spoken"), ("write", "wrote written"), ("ride", "rode ridden"),
        ("see", "saw seen"),
        ("sing", "sang sung"), ("run", "ran"), ("fly", "flew flown"), ("drive", "drove driven"), ("hear", "heard"),
        ("sleep", "slept"), ("come", "came"), ("go", "went gone"), ("eat", "ate eaten"), ("drink", "drank drunk"),
        ("forgive", "forgave forgiven"), ("find", "found"), ("leave", "left"), ("meet", "met"), ("tell", "told"),
        ("give", "gave given"),
        ("take", "took taken"), ("stand", "stood"), ("fight", "fought"), ("catch", "caught"), ("make", "made"),
        ("pay", "paid"),
        ("sell", "sold"), ("keep", "kept"), ("hold", "held"), ("break", "broke broken"), ("bear", "bore borne"),
        ("kill", "killed"),
        ("play", "played"), ("try", "tried"),
        ("marry", "married"), ("win", "won"), ("begin", "began begun"), ("climb", "climbed"),
    )
    for form in forms.split()
}  # fmt: skip
"""Verbs by those of their forms that no ending makes."""
_NO_DEED = frozenset(["is", "was", "has", "does", "as", "his", "this", "its", "owes", "knows", "lives"])
_WHAT = (
    r"(?P<what>(?:(?:of|about|that|whether|if|who|whose|whom|what|where|when|why|how|which|the|an?|his|her|their)\b|"
    r"[A-Z§]).+)"
)
_KNOWS = re.compile(
    rf"(?:knows|knew|{_HAD}(?:learn(?:s|ed|t)|found out|discover(?:s|ed)|heard|hears|figured out|worked out|reali[sz]e[sd]|"
    rf"understood)|"
    rf"finds out|is aware|became aware|(?:is|was|has been|had been) told(?: by (?:the )?\S+)?)(?: all)? {_WHAT}"
)
_KNOWS_NOT = re.compile(
    rf"(?:(?:does|did) not (?:even )?know|(?:is|was|remains) (?:quite )?(?:unaware|ignorant|not aware)|(?:has|had) (?:not|never) "
    rf"(?:heard|learned|learnt|been told)|has no idea|knows nothing|knew nothing|never heard)(?: anything| yet)? {_WHAT}"
)
_FORGETS = re.compile(rf"{_HAD}(?:forgot|forgotten|forgets|lost all memory) (?:all )?{_WHAT}")
_TELLS = re.compile(
    rf".+? (?:tells|told|informs|informed|warned) (?P<whom>{MARK}) (?:all |everything )?{_WHAT}"
    rf"|.+? (?:confessed|revealed|admitted|explained) (?P<what2>.+) to (?P<whom2>{MARK})"
)
_ASKS = re.compile(r"(?P<conj>of|about|that|whether|if|who|whose|whom|what|where|when|why|how|which)\b")
_OWNS = re.compile(
    rf"(?:has|had|owns|keeps) (?P<how>no|{_NUMBER}|an?|some|many|several) (?P<what>[a-z-]+)(?: left)?{_TAIL}"
)
_OWNS_NONE = re.compile(
    rf"{_HAD}(?:sold|lost|gave away|given away|slaughtered|got rid of) (?:all )?(?:of )?(?:{_POSS}|the) (?:last "
    rf")?(?P<what>[a-z-]+)"
    rf"(?: (?:to|at|for|in) .+)?{_TAIL}"
)

_NOT = re.compile(
    r"^(?:(?P<do>do|does|did) not (?P<verb>\w+)|(?P<be>is|was|are|were|has|had|can|could) (?:not|never)\b|"
    r"(?:not|never) (?P<now>\w+)\b)"
)
_NOW = re.compile(
    r"\b(?:now|at last|finally|again|these days|any ?more|any longer|no longer|never again|instead|henceforth|by now)\b"
)
_IDLE = re.compile(
    r",? ?\b(?:now|finally|at last|in the end|already|still|also|too|again|once more|once again|at once|soon|then|anymore|any "
    r"more|any "
    r"longer|just|indeed|at all|by now|yet|these days|very much|(?:at )?long last|since then|henceforth|"
    r"(?:happi|secret|fluent|new|recent|complete|ful|bad|grave|serious|legal|official|dear|deep|tru|utter|total|sudden|eventual|"
    r"open|quiet|final|perfect|real|actual|terrib|bitter|great|free)ly)\b,?"
)
"""Words that change nothing of what is said to be so."""
_PASSING = re.compile(
    r"\b(?:on \w+days|every|each|sometimes|often|usually|seldom|rarely|at times|(?:in|at) (?:the )?(?:mornings?|evenings?|"
    r"afternoons?|nights?)|"
    r"tonight|today|tomorrow|by day|by night|until|till|unless|if|as long as|so long as|when|whenever|while|for (?:an?|one|two|"
    r"three|four|five|"
    r"ten|some|several|a few|the|many|most|\d+) (?:\w+ )?(?:hours?|minutes?|moments?|days?|nights?|while|weeks?|months?|years?|"
    r"evenings?|time)|"
    r"in (?:his|her|their) (?:dreams?|youth|childhood|mind|heart)|once|formerly|used to|as an? (?:boy|girl|child|young)|"
    r"(?:years|days|long) ago|in \d{4}|"
    r"nearly|almost|hardly|barely|scarcely|partly|half|only|as good as|as if|as though|like an?|enough|than)\b"
)
"""What makes of a state one that comes and goes, was of another time, or is none."""
_BEGINS = re.compile(
    rf"(?:(?:In|On|At|By|After|Since|From|During|That|This|Last|Now|Then|Soon|Finally|Later|Today|Again|Here|But|And|So|Yet|"
    rf"Meanwhile|"
    rf"Afterwards)\b[^,§]{{0,40}}?,? )?(?:[Tt]he |[Pp]oor |[Oo]ld |[Yy]oung )?(?P<who>{MARK}(?: and {MARK})?)(?P<own>['’]s?)?,? "
    rf"(?P<rest>[^ ].*)"
)
_JOINTS = re.compile(r"(?:[,;]? (?:and|but|so|yet|then) (?:then |now |so )?|[;,] )(?=\S)")
_VERB_BEGINS = re.compile(
    rf"(?:{_BE}|has|had|have|can|cannot|could|does|did|do|no|never|knows?|owes|lives|loves|hates|fears|trusts|works|wears|\w+ed|"
    r"learnt|lost|found|paid|cut|told|woke|gave|left|broke|made|forgave|won|got|fell|met|wed|let|set|took|sold)\b"
)


def states_of(marked: str) -> tuple[State, ...]:
    """Return the states that an English fact says of those whom its marks stand for."""
    return tuple(state for states in states_by_clause(marked) for state in states)


@lru_cache(maxsize=4096)
def states_by_clause(marked: str) -> tuple[tuple[State, ...], ...]:
    """Return the states that each clause of an English fact says of those whom its marks stand for."""
    marked = marked.strip().rstrip(".!")
    if re.search(r"[?\"“]|, who(?:se|m)? ", marked) or is_unreal(marked):
        return ((),)
    return tuple(tuple(_states_of_clause(clause)) for clause in _clauses(marked))


def ends_denials_alone(new: State) -> bool:
    """Return whether a state excludes nothing but that it is not so."""
    return new.holds and new.slot in _BY_WORDS and new.slot != "own"


@lru_cache(maxsize=65536)
def denies(fact: str) -> bool:
    """Return whether a fact says of anything that it is not so."""
    return _DENIAL.search(fact) is not None


def may_exclude(new: State, old: str) -> bool:
    """Return whether an older fact may say what a state excludes, by its words alone: most facts are told apart by those."""
    if new.slot not in _BY_WORDS:
        return True
    if ends_denials_alone(new):
        return denies(old)
    words = {word for word in new.about if not word.startswith(("§", "!", "?"))}
    return not words or not words.isdisjoint(word_forms(old))


def excludes(new: State, old: State) -> bool:
    """Return whether a state cannot be so together with an older one."""
    if (new.whose, new.slot) != (old.whose, old.slot) or (new.is_past and not old.is_past):
        return False
    if new.holds != old.holds:
        return new.value == old.value and _is_about(new, old)
    if not new.holds:
        return False
    if new.value == old.value:
        is_other = bool(new.about and old.about and new.about.isdisjoint(old.about))
        return new.slot == "bond" and new.value in _ONE_PARTNER and is_other
    if new.slot == "debt":
        return (new.value == "paid" or new.is_new) and _is_debt(new, old)
    if new.slot == "hair" and "any" not in (new.value, old.value):
        return new.value == "none" or old.value == "none" or _shade(new.value) != _shade(old.value)
    if new.slot == "age":
        return _number(new.value) != _number(old.value)
    if new.slot == "own":
        # A few may be some of many, and the cow that is sold one of three.
        ends = {"none": True, "one gone": old.value == "some"}.get(
            new.value, old.value == "none" or "some" not in (new.value, old.value)
        )
        return ends and _is_about(new, old)
    if new.slot == "work":
        return _is_about(new, old) or not new.about or new.value == "employed"
    if old.value not in _ENDS.get((new.slot, new.value), {old.value}):
        return False
    if new.slot == "bond":
        return new.value == "married" or old.value in ("single", "widowed") or _is_about(new, old)
    return _is_about(new, old)


_SHADES = (
    "blond blonde fair golden flaxen sandy yellow",
    "red auburn ginger copper chestnut",
    "black brown dark raven",
    "grey gray white silver",
)


def _shade(colour: str) -> str:
    """Return what a colour of hair is a shade of."""
    return next((shade for shade in _SHADES if colour in shade.split()), colour)


def _number(said: str) -> int:
    """Return what a number is, in figures or in words."""
    if said[0].isdigit():
        return int(said.replace(",", ""))
    found = 0
    for word in re.split(r"[- ]", said):
        place = _NUMBERS.split().index(word)
        value = place + 1 if place < 20 else (place - 17) * 10 if place < 27 else 100 if word == "hundred" else 1000
        found = found * value if value >= 100 else found + value
    return found


def _is_about(new: State, old: State) -> bool:
    """Return whether two states are about the same."""
    if new.slot in _ALIKE:
        return new.about == old.about
    return not new.about or not old.about or new.about == old.about


def _is_debt(new: State, old: State) -> bool:
    """Return whether a debt is the one that is paid, or is another sum now: to the same creditor, and as much."""
    (to, much), (owed, owed_much) = _parted(new.about), _parted(old.about)
    if to and owed and to != owed:
        return False
    return owed_much != much if new.value != "paid" else not much or much == owed_much


def _parted(about: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    sums = frozenset(word for word in about if word.startswith("="))
    return about - sums, sums


def _clauses(marked: str) -> Iterator[str]:
    """Yield the clauses of a fact, each with whom it is of."""
    begins = _BEGINS.match(marked)
    pair = begins["who"] if begins and " and " in begins["who"] else ""
    if pair:
        marked = marked.replace(pair, pair.replace(" and ", "&"), 1)
    subject = pair.replace(" and ", "&") if pair else begins["who"] if begins else ""
    marks = list(dict.fromkeys(re.findall(MARK, marked)))
    parts, at = list[str](), 0
    for joint in _JOINTS.finditer(marked):
        parts.append(marked[at : joint.start()])
        at = joint.end()
    parts.append(marked[at:])
    for number, part in enumerate(parts):
        own = _BEGINS.match(part.replace("&", " and "))
        if own is not None:
            subject = own["who"].replace(" and ", "&")
            yield part
        elif number and subject and _VERB_BEGINS.match(part):
            yield f"{subject} {part}"
        elif number and len(marks) == 1 and subject and (said := re.match(r"(?:he|she) ", part)):
            yield f"{subject} {part[said.end() :]}"
        elif number and len(marks) == 2 and part.startswith("they "):
            yield f"{'&'.join(marks)} {part.removeprefix('they ')}"
        else:
            yield part


def _states_of_clause(clause: str) -> Iterator[State]:
    is_new = bool(_NOW.search(clause))
    clause = (
        clause.replace("cannot", "can not").replace("can't", "can not").replace("n't", " not").replace("n’t", " not")
    )
    clause = re.sub(r"\bno longer\b", "not", clause)
    clause = " ".join(_IDLE.sub(" ", clause).split())
    if _PASSING.search(clause):
        return
    yield from (state for state in _of_object(clause) if not _is_doubtful(clause))
    begins = _BEGINS.fullmatch(clause.replace("&", " and "))
    if begins is None:
        return
    rest, people = begins["rest"], begins["who"].split(" and ")
    found = list(_of_owner(rest) if begins["own"] else _of_two(rest) if len(people) > 1 else _of_one(rest))
    past = bool(
        re.match(
            r"(?:was|were|had|could|did|knew|owed) (?!(?:\w+ly )?(?:\w+ed|set|let|thrown|taken|sent|told|cut)\b)|"
            r"was (?:re)?married to\b",
            rest,
        )
    )
    for slot, value, about, holds in found:
        for person in people:
            others = frozenset(people) - {person} if len(people) > 1 else about
            yield State(person, slot, value, others, holds, past and not is_new, is_new)


_Found = tuple[str, str, frozenset[str], bool]
"""Kind, value, what it is about, and whether it is so."""


def _of_one(rest: str) -> Iterator[_Found]:
    """Yield what is said behind somebody's name, or denied there."""
    yield from _of_topics(rest)
    positive, holds = rest, True
    if (said := _NOT.match(rest)) is not None:
        holds = False
        positive = _without_not(rest, said)
    first, _, after = positive.partition(" ")
    if _is_doubtful(after):
        return
    for slot, value, about in _matched(_OF_SUBJECT, positive):
        yield slot, value, about, holds
    if holds:
        yield from _of_things(rest)
        yield from _of_deeds(rest)
    words = _topic(positive)
    # Who did something one may not know, and that it was done one may: what is known is read word for word above.
    if words and not re.match(r"\w+ed$|kn[eo]ws?$", first):
        yield "said", "", words, holds


def _without_not(rest: str, said: re.Match[str]) -> str:
    """Return what a clause denies, as if it said so."""
    after = rest[said.end() :].strip()
    if said["do"]:
        verb = said["verb"]
        return f"{'has' if verb == 'have' else f'{verb}s'} {after}".strip()
    return f"{said['be'] or said['now']} {after}".strip()


def _of_two(rest: str) -> Iterator[_Found]:
    if not _is_doubtful(rest):
        for slot, value, _ in _matched(_OF_TWO, rest):
            yield slot, value, frozenset(), True
            if value == "peace":
                yield "anger", "forgiven", frozenset(), True


def _of_owner(rest: str) -> Iterator[_Found]:
    if not _is_doubtful(rest):
        for slot, value, about in _matched(_OF_OWNER, rest):
            yield slot, value, about, True


def _of_topics(rest: str) -> Iterator[_Found]:
    """Yield what somebody can or knows, and what not."""
    if (undone := _UNDONE.fullmatch(rest)) is not None:
        verb = undone["verb"]
        yield "deed", "", _doing(f"{_BASES.get(verb, verb)} {undone['what'] or ''}"), False
    for pattern, slot, holds in (
        (_CAN, "ability", True), (_CANNOT, "ability", False), (_KNOWS_NOT, "knowledge", False), (_FORGETS, "knowledge", False),
        (_KNOWS, "knowledge", True),
    ):  # fmt: skip
        match = pattern.fullmatch(rest)
        if match is None or _is_doubtful(match["what"]) or re.search(r"\bnot\b", match["what"]):
            continue
        if slot == "ability":
            yield slot, "", _doing(match["what"]), holds
        else:
            for about in _known(match["what"]):
                yield slot, "", about, holds
        return


def _of_deeds(rest: str) -> Iterator[_Found]:
    """Yield that somebody can do, and has done, what a clause says that they do or did."""
    first, _, after = rest.partition(" ")
    base = _BASES.get(first, first)
    if first in _NO_DEED or not (base != first or re.fullmatch(r"[a-z]+(?:s|ed)", first)):
        return
    # Whoever swims in money cannot swim for that, and whoever reads a face cannot read.
    if not after or re.match(r"(?:across|to|through|over|up|along|back|ashore|away|home|out|with both)\b", after):
        yield "ability", "", _doing(base), True
    yield "ability", "", _doing(f"{base} {after}"), True
    yield (
        "deed",
        "",
        _doing(f"{base} {re.sub(r' (?:at|in|on|by|near|after|before) .+', '', f' {after}').strip()}"),
        True,
    )


def _known(what: str) -> Iterator[frozenset[str]]:
    """Yield what somebody knows: of a thing, or an answer to a question, which is asked by its own word."""
    asks = _ASKS.match(what)
    conj = asks["conj"] if asks else "about"
    words = _topic(what[asks.end() :] if asks else what)
    if conj in ("of", "about"):
        yield words
    elif words:
        yield words | {f"?{conj}"}


def _of_things(rest: str) -> Iterator[_Found]:
    """Yield how many of a kind somebody has."""
    if (owns := _OWNS.fullmatch(rest)) is not None:
        how = owns["how"]
        value = "none" if how == "no" else "some" if not re.fullmatch(_NUMBER, how) else how
        yield "own", value, word_forms(owns["what"]), True
    elif (none := _OWNS_NONE.fullmatch(rest)) is not None:
        is_all = none["what"].endswith("s") or re.search(r"\b(?:all|last)\b", rest)
        yield "own", "none" if is_all else "one gone", word_forms(none["what"]), True


def _of_object(clause: str) -> Iterator[State]:
    """Yield what somebody does to whoever it changes."""
    for slot, value, pattern in _compiled(_OF_OBJECT):
        match = pattern.fullmatch(clause)
        if match is not None:
            whom = next(said for name, said in match.groupdict().items() if name.startswith("whom") and said)
            yield State(whom, slot, value, _about(match))
    for pattern, slot in ((_TAUGHT, "ability"), (_TELLS, "knowledge")):
        if (match := pattern.fullmatch(clause)) is not None:
            whom = match["whom"] or match["whom2"]
            what = match["what"] or match["what2"]
            if slot == "ability":
                yield State(whom, slot, "", _doing(what))
            else:
                for about in _known(what):
                    yield State(whom, slot, "", about)


def _matched(table: tuple[tuple[str, str, str], ...], said: str) -> Iterator[tuple[str, str, frozenset[str]]]:
    for slot, value, pattern in _compiled(table):
        match = pattern.fullmatch(said)
        if match is not None:
            named = next(
                (text for name, text in match.groupdict().items() if name.startswith(("colour", "number")) and text), ""
            )
            yield slot, named or value, _about(match)


@lru_cache(maxsize=8)
def _compiled(table: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    return tuple((slot, value, re.compile(pattern)) for slot, value, pattern in table)


def _about(match: re.Match[str]) -> frozenset[str]:
    found = match.groupdict()
    about = next((said for name, said in found.items() if name.startswith("about") and said), "")
    much = next((said for name, said in found.items() if name.startswith("sum") and said), "")
    words = frozenset((about,)) if re.fullmatch(MARK, about) else _topic(about)
    return words | frozenset(f"={word}" for word in word_forms(much) - _ANY_SUM)


def _doing(what: str) -> frozenset[str]:
    """Return what a verb and all behind it say: whoever wants to learn to swim does not swim."""
    return _topic(what) | {f"!{word}" for word in word_forms(what.split()[0])}


def _topic(what: str) -> frozenset[str]:
    marks = frozenset(re.findall(MARK, what))
    return marks | word_forms(re.sub(MARK, " ", what))


def _is_doubtful(said: str) -> bool:
    return bool(DOUBTED.search(re.sub(r"\bfear (?=of\b)", "", said)))
