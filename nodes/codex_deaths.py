"""Of whom an English sentence tells that they are dead.

A wrong death is graver than a missed one: who is dead for a figure of speech, in a play or in a dream, or lives after all in the
same sentence, is not dead, and what some live through (a shot, a poison) kills nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recurrentgpt.nodes.codex_doubts import FEW, NEXT_CLAUSE, NOUN_ENDS, is_doubted, is_unreal
from recurrentgpt.schema.codex import Entry
from recurrentgpt.schema.names import FAMILY, spelled

_BE = r"(?:is|was|lies|lay|has been|had been|were)"
_SELF = r"(?:him|her|them)sel(?:f|ves)"
_DEAD = (
    r"dead(?=[.,;:!?)\"”—–]|$| (?:in|at|on|by|of|from|and|before|after|when|since|now|within|under|beside|near|because|but|upon|"
    r"too|already|these|this|that|while|as|where|who|inside|behind|beneath|among|outside|for)\b)"
    r"(?! (?:on (?:his|her|their) (?:feet|back)|in the (?:water|eyes?)|in (?:his|her|my|their) (?:eyes|mind|heart)|at heart|"
    r"and (?:buried|gone) to|by comparison|of night|for (?:sleep|a)\b|inside(?=[.,;]|$)|from the (?:neck|waist))\b)"
)
"""Dead, and not "dead tired", "dead right" or "dead weight"."""
_OWN_LIFE = r"(?:his|her|their) (?:own )?life(?! (?:savings|to|of|in (?:his|her|their)|as|over|for granted)\b|['’]s)"
_TO_DEATH = (
    r"(?:bled|bleeds|froze|freezes|frozen|starved|starves|burned|burnt|choked|chokes|stabbed|beaten|crushed|trampled|worked|"
    r"drank|tortured|stoned|kicked|clubbed|mauled|hacked) (?:him|her)?(?:self )?to death"
)
_TO_PIECES = r"(?:apart|to (?:pieces|shreds|bits)|limb from limb)"
_BEASTS = (
    r"(?:wolves|wolf|dogs?|hounds?|bears?|lions?|tigers?|leopards?|beasts?|monsters?|sharks?|creatures?|zombies|rats|"
    r"crocodiles?|boars?|"
    r"hyenas|ghouls?|demons?|dragons?|trolls?|ogres?|giants?|horde|infected|undead|mob|blast|explosion|bomb|shells?|engine|"
    r"machine|"
    r"propellers?|serpents?|snakes?|spiders?|cannibals|ants|piranhas|worms?)"
)
_HEAVY = (
    r"(?:rocks?|boulders?|stones?|beams?|trees?|branch|wheels?|train|cart|wagon|lorry|truck|car|tram|bus|walls?|roof|ceiling|"
    r"tower|"
    r"columns?|chandelier|lift|elevator|machine|piano|anvil|giant|dragon|troll|crates?|barrels?|mast|ice|rubble|hooves|elephant|"
    r"horses?|cave-in|gate|tank)"
)
_DEEP = r"(?:sea|ocean|waves?|river|lake|flood|quicksand|bog|lava|flames|fire|whirlpool|maelstrom)"
_KILLED_BY = (
    r"(?:(?:run (?:over|down)|hit|struck|knocked down|thrown|robbed) and killed|killed(?! off\b)|"
    r"murdered|slain|executed(?! (?:well|badly|\w+ly)\b)|assassinated|"
    r"hanged(?! (?:(?:on|in) the (?:\w+ )?(?:wall|gallery|hall|museum)|upside down|by (?:his|her|the|their) (?:feet|ankles?|"
    r"heels|toes|arms?|wrists?|collar|hands|thumbs)))|beheaded|decapitated|guillotined|"
    r"drowned|strangled|electrocuted|asphyxiated|gassed|disembowelled|crucified|incinerated|vapori[sz]ed|gunned down|"
    r"lynched|garrotted|butchered|massacred|buried|cremated|shot dead|put to death|laid to rest(?! on\b)|"
    r"(?:burned|burnt)(?: alive)? at the stake|(?:burned|burnt) alive|"
    r"shot (?:through|in) the (?:heart|head|temple|back of the head)|"
    r"(?:pronounced|certified) dead|declared dead (?:by (?:the |a |two )?(?:doctor|coroner|physician|medic|surgeon|paramedic|"
    r"Doctor|Dr)s?|at the (?:scene|hospital))|blown to pieces(?= by\b)|cut down(?= by\b)|"
    rf"(?:crushed|trampled)(?= (?:by|under|beneath) {FEW}{_HEAVY}{NOUN_ENDS})|swallowed(?= by {FEW}{_DEEP}{NOUN_ENDS})|"
    rf"(?:(?:torn|ripped) {_TO_PIECES}|(?:eaten|devoured)(?: alive)?)(?= by {FEW}{_BEASTS}{NOUN_ENDS})|{_TO_DEATH})"
)
_BY_OWN_HAND = (
    rf"(?:hanged|killed|drowned) {_SELF}(?! (?:laughing|trying|working|to|over|for)\b)|"
    rf"shot {_SELF}(?! in the (?!head|heart|mouth))"
)
_DIES = re.compile(
    rf"(?:(?:had |has )?(?:just |already |since |at last |finally |also )?"
    rf"(?:{_BE} (?:later |long |now |already |quite |found |soon )?(?:{_DEAD}|no more\b(?! than)|{_KILLED_BY}|"
    r"no longer (?:alive|breathing|among the living))|"
    r"die[sd](?! (?:of (?:shame|boredom|laughing|laughter|embarrassment|curiosity|envy)|laughing|with (?:laughter|shame|envy)|"
    r"a (?:little|thousand)|(?:on the )?inside|down|on (?:him|her|them|me|us)|for (?:(?:his|her) (?:art|craft)|an? \w+))\b)|"
    r"perish(?:ed|es)(?! the thought)|"
    r"succumb(?:ed|s) to (?!(?:the |his |her )?(?:temptation|charm|urge|sleep|exhaustion|fatigue|pressure|tears|despair|"
    r"curiosity|"
    r"desire))|"
    r"drown(?:ed|s(?=[.,;!]|$| (?:off|near)\b| in (?:the|an?) (?:\w+ )?"
    r"(?:weir|river|sea|lake|pond|pool|well|harbour|harbor|bay|flood|canal|storm|water|bath)\b))"
    rf"(?! (?:the|a|an|his|her|their|out|all|every|him|her|it|them)\b)|{_BY_OWN_HAND}|{_TO_DEATH}|"
    r"flatlined|bled out|suffocated|asphyxiated|"
    r"(?:fell|jumped|leapt|leaped|plunged|plummeted) to (?:his|her|their) death|"
    r"(?:drew|breathed|breathes|draws|took) (?:his|her) last(?! (?:look|chance|step|bow|drink|seat|money|coin))|"
    r"pass(?:ed|es)(?: on)? in (?:his|her) sleep|"
    r"(?:fell|went|dived|dove|slipped|sank|jumped) (?:through|into|under|beneath|below) the (?:ice|water|waves|river|lake|sea|"
    r"surface)\b[^.;]*? (?:and )?never came (?:back )?up(?: again)?(?=[.;]|$)|"
    r"sacrificed (?:himself|herself) (?:for (?=(?-i:[A-Z])|him\b|her\b|them\b|us\b|the others\b)|to save\b)|"
    rf"pass(?:ed|es) away|(?:lost|gave|gave up|laid down|took) {_OWN_LIFE}|gave up the ghost(?=[.,;]|$| (?:in|at|on|and|before|"
    rf"after|that)\b)|"
    r"met (?:his|her) (?:death(?! wish)|end(?! of the (?:bargain|deal))|maker)|(?:fell|dropped|lay|sank down) "
    + _DEAD
    + r"|(?:stopped|ceased) breathing(?! (?:when|as|through|at the)\b)|expired|"
    r"(?:broke|breaks) (?:his|her|their) neck(?=[.,;]|$| (?:in|on|at|when|as|falling|before|and died)\b)|"
    r"(?:was|were) lost at sea(?=[.,;]|$| (?:in|last|that|when|before|off)\b)|went down with (?:his|her|their|the) ship\b|"
    r"never (?:woke|awoke|wakes)(?: up)?(?: again)?(?=[.,;]|$)|"
    r"(?:did not|didn['’]t|never|failed to) (?:survive|outlive|live (?:to see|through|until)|wake (?:up )?again|"
    r"regain consciousness|come out alive|recover and))\b)"
)
_OF_DEATH = re.compile(
    r"\b(?:died|dies|dead|death|kill|murder|drown|hanged|buried|slain|slew|executed|perish|corpse|strangle|behead|succumb|"
    r"body of|passed away|assassinated)"
)
_PRONOUN = re.compile(r"\b([Hh]e|[Ss]he) ")
_AT_ONCE = (
    r"(?:kill(?:s|ed)|murder(?:s|ed)|strangle[sd]|hang(?:s|ed)|executed|assassinated|slew|slain|beheaded|decapitated|butchered|"
    r"drowned|"
    r"smothered|buried|cremated|devoured|garrotted)"
)
_IN_TIME = (
    r"(?:put|clubbed|beat|kicked|hacked|burn(?:ed|t|s)|stoned|starved|choked|stab(?:bed|s)|crushed|trampled|mauled|tear|tears|"
    r"tore|"
    r"ripp?(?:ed|s)|"
    r"(?<!\bthe )(?<!\beach )(?<!\bevery )(?<!\bthat )(?<!\ba )(?<!\bfirst )shot|shoots|poison(?:ed|s)|wounded|struck|hit)"
)
_KILLED = re.compile(rf"\b(?P<kills>{_AT_ONCE}|(?P<slowly>{_IN_TIME})) (?:the |poor |old |young )*$")
_SHOOTS = re.compile(r"\b(?:firing squad|executioners?|hangman) (?:had |has )?(?:shot|shoots) $")
_TO_THE_END = re.compile(
    r" (?:to death|down dead|dead(?=[.,;]|$| (?:on|in|at|by|near|outside|before|where)\b)|at the stake|"
    r"alive(?= (?:in|at|on|for) the|, and (?:nobody|no one|none))|"
    rf"{_TO_PIECES}|"
    r"through the (?:heart|head|temple)|in the (?:head|heart|temple|back of the head))\b"
)
"""What makes a killing of a wound."""
_NOT_TO_DEATH = re.compile(
    r"(?:['’]s\b| in the (?:\w+ )?(?:arm|leg|foot|hand|knee|shoulder|thigh|side|back)\b| (?:a|an|the) \w+|"
    r" (?:off|out|down|time|upside down|by (?:his|her|the) (?:feet|ankles?|heels|collar|hair|wrists?)|from (?:the|"
    r"a) [^.;]*? by (?:his|her) \w+|"
    r"alive(?!, and (?:nobody|no one|none)\b))\b| with (?:(?:his|her|a) )?(?:eyes|glance|look|smile))"
)
_WHO_DIES = re.compile(r"[^.;]{0,60}?\band (?:then |soon |now )?(?P<who>he|she|they) ")
_AND_OTHERS = re.compile(
    r" and (?:(?:the|some|several|many|\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|"
    r"a (?:few|dozen|hundred)|an?) )(?:\w+ )?others?(?= (?:was|were|died|drowned|perished)\b)"
)
_AROUND_DEAD = (
    (
        re.compile(r"\b(?:crush(?:ed|es)|smash(?:ed|es)|shatter(?:ed|s)|bashed in|caved in) $"),
        re.compile(r"['’]s skull(?=[.,;!]|$| (?:with|against|under|and|on|in)\b)"),
    ),
    (
        re.compile(r"\b(?:took|takes|claim(?:ed|s)|ended|cost) $"),
        re.compile(r"(?:['’]s| (?:his|her)) life(?=[.,;!?]|$| (?:at|on|by|that|when|last)\b)"),
    ),
    (
        re.compile(
            r"\b(?i:fever|plague|cholera|typhus|typhoid|tuberculosis|consumption|smallpox|pox|influenza|pneumonia|sea|river|flood|waves|"
            r"undertow) (?:had |has |finally |at last )?(?:took|takes|taken|carried off) (?:poor |old |young |little )*$"
        ),
        re.compile(
            r"(?=[.,;]|$| (?:on the (?:\w+ )?(?:day|night|morning)|on \w+day|in (?:the (?:spring|summer|autumn|winter)|[A-Z])|"
            r"at (?:dawn|night|noon|last|\w+teen|sea)|before|last|that|when|within|overnight)\b)"
        ),
    ),
    (
        re.compile(r"\b(?:lost|loses) (?:(?:his|her|their) (?:\w+ )?(?:[a-z]+ ))?$"),
        re.compile(
            r" to (?:the |a )?(?:fever|plague|cholera|typhus|tuberculosis|consumption|smallpox|pox|influenza|pneumonia|sea|river|"
            r"flood)(?=[.,;]|$| (?:in|last|that|at|when|before)\b)"
        ),
    ),
    (re.compile(r"\b(?:laid|lays|lay) $"), re.compile(r" (?:to rest|in the ground|in (?:his|her) grave)\b(?! on)")),
    (re.compile(r"\bput $"), re.compile(r" (?:in the ground|in (?:his|her) grave)\b(?!-)")),
    (
        re.compile(r"\b(?:found|finds|left|leaves|discover(?:ed|s)|pronounced) $"),
        re.compile(rf" (?:lying |already )?(?:{_DEAD}(?! in (?:front|a (?:dream|vision)))|murdered|hanged|lifeless\b)"),
    ),
    (
        re.compile(r"\b(?:found|finds|discover(?:ed|s)|bur(?:ied|ies)|recover(?:ed|s)) $"),
        re.compile(
            r"['’]s? (?:dead body|corpse|remains|body(?=[.,;!?]|$| (?:in|on|at|under|beneath|behind|beside|by|near|among|inside|"
            r"floating|lying)\b))"
        ),
    ),
)
_TITLED = (
    r"(?:(?:[Tt]he )?(?:[Oo]ld|[Yy]oung|[Pp]oor|little|late|dear|Captain|Doctor|Dr\.?|Mr\.?|Mrs\.?|Miss|Sir|Lady|Father|Sister|"
    r"Uncle|Aunt) )*"
)
"""What stands before somebody's name and is told of them."""
_NAMES_AND = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2},? (?:and|or) "
"""Whoever is named before them."""
_BODY_OF = re.compile(
    r"\b(?i:(?:the )?(?:(?:dead |lifeless |drowned |cold )?(?:body|bodies|corpses?|remains|ashes|bones) of|"
    r"(?:held|attended|after|at|since|from) the (?:funeral|burial|wake) (?:of|for))) "
    rf"(?:{_NAMES_AND})?{_TITLED}$"
)
_OF_ANOTHER = re.compile(
    rf"(?:(?<!\bname )(?<!\bheard )(?<!\bhear )\bof (?:both )?|\b(?:{FAMILY.pattern}|friend)s? of (?:both )?{_NAMES_AND})"
    rf"{_TITLED}$"
)
"""What stands before somebody's name where what follows is told of whoever is theirs: the wife of Odo died."""
_FORETOLD = (
    r"(?! (?:\w+ )?(?:foretold|prophesied|predicted|faked|staged|feigned|planned|plotted|ordered|expected|imminent|near|set|"
    r"scheduled|"
    r"postponed|stayed|demanded|averted|a (?:lie|trick|sham|ruse|hoax|rumou?r|dream)|only|not|never)\b)"
)
_BODY = re.compile(
    r"['’]s? (?:(?:dead|lifeless|drowned|cold|charred|frozen) (?:body|corpse)|corpse|remains|ashes|body (?:was|had been|"
    r"is|lay|lies) "
    r"(?:\w+ )?(?:found|fished|recovered|discovered|buried|burned|burnt|cremated|identified|washed|carried|brought|laid|"
    r"dragged|cut|"
    r"in (?:the|a|his|her) (?:coffin|morgue|grave|crypt|chapel))|heart (?:gave out|stopped(?: beating)?(?=[.;]|$| for (?:good|"
    r"ever)))|"
    r"throat was (?:cut|slit)|(?:death|murder|suicide) (?:was|had been|came|shook|left|made)" + _FORETOLD + r"|"
    r"execution (?:took place|was carried out|shook)|funeral (?:was|had been|took|drew)"
    + _FORETOLD
    + r"|(?:tomb|grave)stone)\b"
)
_AND_THEN = re.compile(
    r"(?:[a-z][\w'’-]* ){0,4}?(?:by [A-Z]\w+(?: [A-Z]\w+)? |(?:[a-z][\w'’-]* ){0,4}?[a-z][\w'’-]*,? )"
    r"and (?:then |so |soon |there |finally |at last |later |that night )?(?=[a-z])"
)
"""What somebody does before the second of two verbs."""
_ASIDE = re.compile(
    r",(?: [A-Z][\w-]*(?: [A-Z][\w-]*)?['’]s?)?(?: [a-z][\w'’-]*){1,10}, |, who [^,;.()]{1,80}, | \([^,;.()]{1,60}\) "
)
"""What is said of somebody between their name and a verb: Martha's son; who drove the cart; (the driver)."""

# What is said so of the living

_FEELINGS = (
    r"(?:kindness|kisses|boredom|curiosity|laughter|laughing|guilt|shame|remorse|love|wit|jokes?|words|red tape|bureaucracy|"
    r"paperwork|"
    r"debts?|tax(?:es)?|deadlines?|compliments|praise|attention|applause|cheers|questions|memories|regrets?|jealousy|envy|"
    r"nostalgia|"
    r"homework|exams?|letters|e?-?mails?|expectations?|news|numbers|details|sarcasm|ambition|routine|gossip|embarrassment|grief|"
    r"doubts?|indecision|longing|desire|defeat|self-pity|small talk|arguments?|work|charms?|smiles?|looks?|glances?|gaze|"
    r"beauty|eyes|"
    r"critics?|barbers?|reviewers?|voters?|electorate|editors?|comments?|fans|internet|headlines|in-laws|luxury|flowers|gifts|"
    r"presents|"
    r"blankets?|cushions?|pillows?|sand|confetti|laundry|papers?|books?|notes?|thoughts?|tears|sorrows?|sentiment|style|"
    r"silk|lace|furs|bills|requests|orders|marriage|job)"
)
"""What kills, buries and drowns in a manner of speaking."""
_FIGURE = re.compile(rf"\b(?:by|in|under|beneath|with|of|from|at) {FEW}{_FEELINGS}{NOUN_ENDS}")
_FIGURE_KILLS = re.compile(
    rf"\b(?:nobody|no one|nothing|{_FEELINGS}) (?:had |has |have |nearly |all |\w+ly )*\w+(?:ed|s|ew|ng) "
    r"(?:the |poor |old |young )*$",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?: (?:once|twice|thrice|again|nightly)\b|,? (?:over and over|again and again)\b| (?:\w+|a dozen) times\b| (?:every|"
    r"each)\b|"
    r"[^,;]* as [A-Z]\w+(?=[.;,]|$| (?:in the|on|every)\b)|"
    r" (?:a|for the) (?:first|second|third|fourth|fifth|\w+th) time\b|[^.;]*? for (?:\w+ ){0,3}(?:seconds?|minutes?|moments?|"
    r"heartbeats?)\b)"
)
"""What nobody does for good."""
_IN_A_GRAVE = re.compile(
    r"(?! up to\b| in (?!(?:the|an?|his|her|their|its|that|this)\b (?:\w+['’]?\w* ){0,3}?(?:grave\w*|church\w*|cemetery|crypt|"
    r"vault|tomb|plot|"
    r"ground|earth|garden|chapel|cathedral|abbey|monastery|fields?|meadow|woods?|forest|yard|orchard|valley|hills?|mountains?|"
    r"desert|"
    r"coffin|village|town|city|park|suit|dress|uniform|spring|summer|autumn|winter|morning|afternoon|evening|rain)\b|[A-Z]|"
    r"secret|"
    r"haste|state|silence|unhallowed|hallowed|consecrated|an unmarked|a pauper)|"
    rf" (?:under|beneath) {FEW}(?:avalanche|rubble|snow|landslide|mudslide|debris|collapse|weight|mountain|pile|heap|stack|load|"
    r"covers?|quilts?|ruins|ice)\b|"
    r" (?:alive|deep in|himself|herself)\b)"
)
"""What may follow "buried" of somebody who is dead."""
_IN_WATER = re.compile(
    r"(?! (?:in|under) (?!(?:the|an?|his|her|their|its|that|this|two|three|four|five|six|[A-Z]\w*)\b|(?:\w+ )?water\b))"
)
"""What may follow "drowned" of somebody who is dead."""

_ALIVE = re.compile(
    r"(?<!buried )(?<!burned )(?<!burnt )(?<!eaten )(?<!flayed )(?<!longer )(?<!not )(?<!seen )(?<!devoured )\balive\b|"
    r"\b(?:undead|unharmed|unhurt|after all|respawn\w*|reincarnat\w*|resurrect\w*|reanimat\w*|rematerial\w*|cloned|rebuilt|"
    r"coughed up|(?:kicked|broke|got) free|logged o(?:ut|ff)|fainted|"
    r"resuscitat\w*|faked|feigned|"
    r"(?:back|returned|restored|brought) (?:\w+ )?(?:to life|from the (?:dead|grave))|from the dead|still breath\w+|"
    r"(?:saved|rescued|revived|raised|healed|cured|spared) (?:him|her|them|who)\b|"
    r"(?:brought|called|shocked|talked|wished|prayed|sang|willed|kissed) (?:him|her|them|who) (?:\w+ )?(?:back|round)|"
    r"(?:dug|pulled|got|cut|dragged) (?:him|her|them|who) (?:\w+ )?(?:out|free|clear|down)|"
    r"(?:and|but|was|were|been|be|being|is) (?:then |soon |later |\w+ly )*(?:rescued|saved|revived|dug (?:\w+ )?(?:out|up)|"
    r"pulled (?:\w+ )?(?:out|free|clear)|brought (?:back|round)|healed|cured|spared|reprieved|pardoned|freed|restored)(?=[.,;]|"
    r"$| (?:by|"
    r"at|in|just|before|from|after|with|again)\b)|"
    r"(?:rewound|rewinds|undid|undoes|undone|reversed|reset|reloaded|restarted|turned back)\b)",
    re.IGNORECASE,
)
"""What tells of nobody who stays dead."""
_COMES_THROUGH = re.compile(
    r"\b(?:lived|lives)\b(?! (?:in|at|with|near|alone|among|under|beside|by|next|there|here)\b)|"
    r"\b(?:survive[sd]?(?! by\b)|pulled through|pulls through|recover(?:ed|s)|awoke|awakens|awakened|wok?en?|wakes|reviv(?:ed|"
    r"es)|"
    r"(?:came|comes|come) (?:back|to(?=[.,;]|$)|round|through)|(?:got|gets|stood|sat|rose|rises|jumped) (?:up|again)|rose|"
    r"rises|returned|"
    r"returns|escape[sd]|breathed|breathes|laugh(?:ed|s)|opened (?:his|her) eyes|regenerat\w+|reborn|walked away|is back|"
    r"was back|"
    r"was (?:only|merely|just) \w+|kept (?:walking|talking|going|fighting))\b",
    re.IGNORECASE,
)
"""What somebody does who lives after all."""
_AS_THEY_LIVED = re.compile(r"\b(?:where|as|that|which) (?:he|she|they|who) (?:had |has |once |always )*lived\b")
_SUBJECT = re.compile(
    r"(?:^|[,;:—–]|\b(?P<who>he|she|they|who)\b|\b(?:and|but|yet|then|though|although|or|to)\b)\s*"
    r"(?:(?:had|has|have|was|is|were|been|be|could|did|also|still|then|later|soon|somehow|again|just|now|even|always|twice|"
    r"at last|"
    r"in the end|\w+ly|(?:a|the next|one|an?) (?:moment|minute|hour|day|morning|week) (?:later)?|(?:minutes|hours|days|"
    r"weeks) later)\s+)*$",
    re.IGNORECASE,
)
"""What ends before a verb whose subject is whoever was told of before."""


def is_of_another(before: str, rest: str) -> bool:
    """Return whether what a sentence says behind a name, with its `rest`, it says of whoever is theirs: of the wife of Odo."""
    behind = _OF_ANOTHER.search(before)
    return behind is not None and not (rest.startswith(", who ") and behind[0].startswith("of "))


def verbs_of(fact: str, end: int) -> tuple[list[int], bool]:
    """Return where begins what somebody does who is named up to `end`, and whether something stands between."""
    rest, aside = fact[end:], _ASIDE.match(fact, end)
    # Mira, the eldest of three, died; Mira, who drove, died, and Mira, who died
    shifts = [len(", who "), *([aside.end() - end] if aside else [])] if rest.startswith(", who ") else []
    shifts = shifts or ([aside.end() - end] if aside else [0])
    at = [len(fact) - len(rest[shift:].lstrip()) for shift in shifts]
    further = _AND_THEN.match(fact, at[0])
    return [*at, further.end()] if further else at, shifts != [0]


def pronouns_of_the_dead(sentence: str) -> Iterator[re.Match[str]]:
    """Yield where a sentence says "he" or "she" of somebody, and that they die."""
    return (match for match in _PRONOUN.finditer(sentence) if _DIES.match(sentence, match.end()))


def may_tell_of_death(text: str) -> bool:
    """Return whether a text has a word by which deaths are mostly told: hardly any has, and it is found at once."""
    return _OF_DEATH.search(text) is not None


def is_told_dead(fact: str, start: int, end: int, entry: Entry) -> bool:
    """Return whether a fact tells of a person, whom it names from `start` to `end`, that they are dead."""
    return any(
        not is_doubted(fact, begins, ends)
        and not _is_figure(fact, begins, ends, start)
        and not is_unreal(fact)
        and not _lives_after_all(fact, ends, entry)
        for begins, ends in _told_of(fact, start, end, entry)
    )


def _told_of(fact: str, start: int, end: int, entry: Entry) -> Iterator[tuple[int, int]]:
    """Yield from where to where a fact tells by its words that somebody is dead whom it names from `start` to `end`."""
    before, rest = fact[:start], fact[end:]
    if body := _BODY.match(rest):
        yield start, end + body.end()
    for begins, ends in _AROUND_DEAD:
        if (first := begins.search(before)) and (last := ends.match(rest)):
            yield first.start(), end + last.end()
    if body := _BODY_OF.search(before):
        yield body.start(), end
    if rest[:1].strip("., ") or is_of_another(before, rest):
        return  # part of a longer word, or Mira's, or the wife of Mira
    others = _AND_OTHERS.match(rest)
    verbs, is_aside = verbs_of(fact, end + (others.end() if others else 0))
    for at in verbs:
        if died := _DIES.match(fact, at):
            yield verbs[0] if is_aside else start, died.end()
    if (killed := _KILLED.search(before)) and not _NOT_TO_DEATH.match(rest):
        last = _TO_THE_END.match(rest)
        if last or not killed["slowly"] or _SHOOTS.search(before):
            yield killed.start(), end + (last.end() if last else 0)
        elif (after := _WHO_DIES.match(fact, end)) and entry.value("pronouns") in ("", after["who"]):
            yield from ((killed.start(), died.end()) for died in (_DIES.match(fact, after.end()),) if died)


def _is_figure(fact: str, begins: int, ends: int, named: int) -> bool:
    """Return whether a fact says only in a manner of speaking, or not for good, that somebody dies whom it names at `named`."""
    clause = NEXT_CLAUSE.split(fact[ends:], maxsplit=1)[0]
    if _FIGURE.search(clause) or _FIGURE_KILLS.search(fact[:named]) or _AGAIN.match(clause):
        return True
    said = re.findall(r"[a-z]+", fact[begins:ends])
    verbs = {said[0], *said[-2:]} if said else set[str]()
    return ("buried" in verbs and said[-1] != "body" and not _IN_A_GRAVE.match(clause)) or (
        "drowned" in verbs and not _IN_WATER.match(clause)
    )


def _lives_after_all(fact: str, end: int, entry: Entry) -> bool:
    """Return whether a fact tells after `end` that somebody who died is alive."""
    names = "|".join(map(spelled, sorted(entry.names, key=len, reverse=True)))
    rest = _AS_THEY_LIVED.sub("", re.sub(rf"\b(?:{names})\b", "who", fact[end:]))
    if _ALIVE.search(rest):
        return True
    for match in _COMES_THROUGH.finditer(rest):
        subject = _SUBJECT.search(rest[: match.start()])
        others = {"he": "she", "she": "he"}.get(entry.value("pronouns"), "")
        if subject and (subject["who"] or "").casefold() != (others or "nobody"):
            return True
    return False
