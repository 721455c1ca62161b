"""What an English sentence doubts, wishes, denies, has from hearsay or only plays: no rule of the codex reads it as so."""

from __future__ import annotations

import re

DOUBTED = re.compile(
    r"\b(?:not|never|no longer|almost|nearly|would|might|(?-i:may|(?<!.)May)|could|should|if|"
    r"whether|thinks?|thought|believes?|believed|fears?|"
    r"feared|hopes?|hoped|dream\w*|pretend\w*|seems?|seemed|appears?|appeared|perhaps|maybe|claims?|claimed|wants?|wanted|plans?|"
    r"planned|threat\w*|until|unless|rumou?r\w*|suppos\w*|imagin\w*|suspect\w*|assum\w*|conclu\w*|convinced|"
    r"made up (?:his|her) mind|"
    r"(?<!his )(?<!her )(?<!their )wish(?:es|ed)(?= (?:that )?(?:(?:old|poor|young|the) )?$)|"
    r"(?:(?:prays|prayed|says|said|writes|wrote|lied|lies|joked|swore|insisted|reported|announced|whispered)"
    r"(?: to [^,.;]{1,30}?)?|"
    r"told(?: [^,.;]{1,30}?)?|given out|"
    r"(?:put|noised) (?:about|abroad|around|round)|(?:has|had|have) it|"
    r"(?:word|talk|gossip|whispers?|tales?|story|stories)(?: (?:in|on|of) [^,.;]{1,30}?)? (?:had |has )?"
    r"(?:goes|went|gone|ran|got|flew|spread|was|were|is)(?: [\w'’-]+){0,4}) that|"
    r"(?:they|people|folks?|some|many|most|every(?:body|one)|some(?:body|one)) (?:said|say|says)(?= (?:old |poor |young )?$)|"
    r"according to|going to|will|shall|to be|about to|sentenced|tr(?:y|ies|ied) to|meant to|had to)\b|n't\b",
    re.IGNORECASE,
)
_DOUBTED_LATER = re.compile(
    r"\b(?:if|unless|until|thinks?|thought|believed|feared|hoped|seems?|seemed|perhaps|maybe|or so|believes|lied|joked|claims|"
    r"claimed|according to|(?:(?:it (?:was|is)|they|people) (?:said|say)|had it)(?=[.,;]|$)|on the stage|in the play|"
    r"second act|third act)\b",
    re.IGNORECASE,
)
"""What makes doubtful what is said before it, too."""
NEXT_CLAUSE = re.compile(r"[;:] |, (?:and|but|so|yet|who|which|whom|where) |[—–]")
"""Where a clause ends whose doubts are its own."""

NOUN_ENDS = (
    r"(?=['’]s\b|[.,;:!?)\"”—–]|$| (?:and|but|or|that|which|who|where|when|while|in|on|at|of|by|to|for|from|with|as|after|before|"
    r"because|until|than|he|she|they|it|again|every|each|once|twice|last|tonight|today|yesterday|now|is|was|had|has|"
    r"one|two|three|four|five|six|seven|eight|nine|ten)\b| \d| [A-Z])"
)
"""What follows a noun that is part of no longer one: in the game, not in the game reserve."""
FEW = (
    r"(?:(?!(?:and|but|or|after|before|of|at|on|by|from|to|with|in|when|while|for|near|under|behind|where|who|that|which|as)\b)"
    r"[\w'’-]+ ){0,4}?"
)
"""What stands between a preposition and its noun."""
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|last|final|next|opening|\d+(?:st|nd|rd|th))"
_UNREAL = re.compile(
    rf"\b(?:[Ii]n|[Ii]nto|[Dd]uring|[Tt]hroughout) {FEW}(?:(?:day)?dreams?|nightmares?|visions?|hallucinations?|fantasy|"
    rf"imagination|"
    r"plays?|pantomime|opera|ballet|musical|films?|movies?|novels?|books?|(?:short )?stor(?:y|ies)|(?:fairy )?tales?|legends?|"
    r"myths?|"
    r"songs?|ballads?|poems?|verses?|(?:video |computer )?games?|simulations?|simulators?|sims?|shows?|series|seasons?|episodes?|"
    rf"{_ORDINAL} (?:act|round|level|lap|inning|half|set)|(?:act|round|level) (?:\d+|one|two|three|four|five)|scenes?|drafts?|"
    r"chapters?|performances?|scripts?|screenplays?|rehearsals?|exercises?|training|drills?|holodeck|holograms?|metaverse|"
    r"re-?enactments?|"
    r"prophec(?:y|ies)|(?:other |another |alternate )?timelines?|futures?|paintings?|drawings?|pictures?|comics?|cartoons?|"
    r"jokes?|"
    r"charades|effigy|absentia|jest|spirit|theory|press|papers|newspapers?|polls|ratings|reviews?|rankings|standings|debates?|"
    r"(?:semi-?|quarter-?)?finals?|elections?|tournament|league|match|playoffs?|virtual reality|VR|cyberspace|loop)"
    rf"{NOUN_ENDS}|"
    r"\b[Oo]n (?:the )?(?:holodeck|simulator|stage|screen|paper|(?:chess ?)?board|set|page|canvas|television|TV|air|"
    r"catwalk)\b(?! of| ship)|"
    r"\b[Aa]t bridge\b|"
    r"\b[Aa]t (?:the |an? )?(?:chess|cards|poker|checkers|draughts|dice|billiards|tag|hide-and-seek|tennis|football|"
    r"golf|cricket|darts|"
    r"table tennis|ping-pong|paintball|laser tag|trivia|charades|the box office|the polls|the ballot)\b|"
    r"\bas an? (?:\w+ )?(?:character|actor|actress|extra|avatar)\b|"
    r"\b(?:scene|story|play|film|novel|song|ballad|poem|game|tale|dream|nightmare|vision|painting|picture|"
    r"prophecy)s? (?:in which|where|"
    r"about|of how|in whom)\b|"
    r"\b(?:novel|play|film|story|script|episode|author|novelist|playwright|screenwriter|writers) (?:\w+ )?(?:kill|murder|execut|"
    r"hang|drown|behead|strangl)\w*|"
    r"^(?:Every|Each) (?:night|evening|day|week|time|year|performance|show|episode|round|game|[A-Z]\w+day)\b|"
    r"\b(?:virtual|simulated|mock|fake|false|sham|imaginary|make-believe|staged|wax|toy|fictional|fictitious) [a-z]|"
    r"\b(?:understudy|matin[ée]es?)\b|"
    r"\b(?:dreamed|dreamt|hallucinat\w+|play(?:s|ed|ing) dead)\b"
)


def is_doubted(fact: str, start: int, end: int) -> bool:
    """Return whether a fact doubts, wishes or denies what it says from `start` to `end`: the clause around that does."""
    begins = max((match.end() for match in NEXT_CLAUSE.finditer(fact, 0, start)), default=0)
    ends = next((match.start() for match in NEXT_CLAUSE.finditer(fact, end)), len(fact))
    return bool(DOUBTED.search(fact[begins:start]) or _DOUBTED_LATER.search(fact[end:ends]))


def is_unreal(fact: str) -> bool:
    """Return whether a fact tells of a dream, a play, a game or another such thing in which all may happen."""
    return bool(_UNREAL.search(fact))
