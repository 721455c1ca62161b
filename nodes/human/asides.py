"""What people say to whoever writes, and not of the story: questions, remarks, wishes about the passage, requests to read."""

from __future__ import annotations

import re

QUESTION = (
    "Nothing was written: questions are not answered here. Where somebody in the story asks this, say who does "
    '("Mira asks: ...?"). '
)
REMARK = "Nothing was written: this says nothing that happens. "
READING = "Nothing was written: this asks to read, and a passage is written from what happens next. "
WISH = (
    "Nothing was written: how the story is told is no plan, but one of its settings (such as `style`, `tense` or `note`), which "
    "no answer changes; whoever runs this program can. Answer `another take` to have this passage once more from the same plan, "
    "or say in a sentence what happens next."
)
TALK_ALONE = 10
"""Words of a request or a question without a mark at its end; whatever is longer may be a sentence."""
SHORT_QUESTION = 5
"""Words of a question that begins with no word that asks in English; a longer one may tell of somebody who asks."""

WORK = (
    r"(?:stor(?:y|ies)|novel|tale|passages?|chapters?|scenes?|parts?|sections?|paragraphs?|texts?|versions?|responses?|"
    r"repl(?:y|ies)"
    r"|messages?|output|writing|prose|endings?|beginnings?|openings?|twists?|plots?|dialogues?|style|tone|pac(?:e|ing))"
)
THIS = (
    r"(?:it|this|that|(?:(?:the|this|that|your|my|our) )?(?:(?:very )?(?:last|latest|previous|current|same|whole|entire|next) )*"
    rf"{WORK})"
)

_WHO = r"(?:who|whom|whose|what|where|when|why|how|which)"
_IS = (
    r"(?:is|are|am|was|were|do|does|did|can|could|will|would|shall|should|may|might|must|has|have|had|isn't|aren't|wasn't|"
    r"weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|hasn't|haven't)"
)
_ASKING = re.compile(
    rf"(?:(?:and|but|so|wait|well|hey|sorry|ok|okay|then|now),? )*(?:(?:(?:in|on|from|to|for|with|by) )?{_WHO}(?:'s|'re|"
    rf"'d)?|{_IS}"
    r"|wer|wen|wem|wessen|was|wo|wohin|woher|wann|warum|wieso|wie|welche[rsnm]?|qui|que|quoi|où|quand|pourquoi|comment|"
    r"quel(?:le)?s?|est-ce"
    r"|chi|che|cosa|dove|perché|come|quale|quem|onde|quando|por que|como|qual|wie|wat|waar|wanneer|waarom|hoe|welke|kto|co|"
    r"gdzie|kiedy|"
    r"dlaczego|jak|czy|кто|что|где|куда|когда|почему|зачем|как|какой|какая)\b"
)
_PROPOSES = re.compile(
    r"(?:and |but |so )?(?:(?:what|how) (?:if|about)\b|why not\b|suppose|imagine|maybe|perhaps|or\b)"
    r"|was(?: wäre|,)? ?,? wenn|wie wäre|et si\b|¿?y si\b|¿?qué tal si\b|e se\b|wat als\b|co jeśli\b|а? ?что,? если|а если|"
    r"如果|要是|もし|"
    r"만약"
)
"""A question that says what may happen."""
_SPEAKS = re.compile(r"[\"“”„«»「」『』:：;；]|[-–—] |'\S.*\S'|‘|(?<!^)[.…!?]\s")
_ENDS_ASKING = re.compile(r"[?？؟⁇⁈]\s*[!?！？.…]*$")
_TOLD_WITHOUT_MARK = re.compile(
    r"how (?:old|long|big|far|many \S+) (?:is|are|was|were) \S+|"
    rf"{_WHO}(?:'?s| (?:one|plan|option) (?:is|sounds)| (?:happened|{_IS})) ?(?:\S+ ?){{0,3}}"
)

_OUT_OF_CHARACTER = re.compile(
    r"[(\[{*/ ]*(?:ooc|out of character|o\.o\.c|a/n|author's note)\b.*|\(\(.*\)\)", re.DOTALL
)
_LIKING = r"(?:love|loved|like|liked|enjoy|enjoyed|hate|hated|dislike|disliked|adore|adored)"
_GOOD = (
    r"(?:good|great|nice|lovely|beautiful|wonderful|amazing|awesome|brilliant|excellent|fantastic|perfect|superb|cool|fun|funny|"
    r"interesting|exciting|gripping|impressive|clever|incredible|stunning|marvellous|marvelous|terrific|gorgeous|epic|"
    r"well (?:done|written)|bad|boring|dull|terrible|awful|horrible|poor|lame|meh|ugly|weak|stupid|confusing|disappointing|"
    r"repetitive|predictable|better|best|worse|worst)"
)
_VERY = (
    r"(?:so|very|really|pretty|quite|rather|absolutely|simply|just|truly|too|not|all|super|such|a|an|the|another|still)"
)
_WAS = (
    rf"(?:(?:{THIS}|these|those|both|all of (?:them|these)|(?:the|these|those|all) (?:plans|options|ideas))"
    r"(?: (?:is|was|are|were|looks|looked|sounds|sounded|reads|seems|feels|isn't|wasn't)|'s) )"
)
_JUDGES = re.compile(
    rf"(?:(?:oh|ah|hm+|wow|ha|haha|hehe|lol|yes|ok|okay|hey|and|but|what|how|i (?:think|find|found)|now|again),? )*"
    rf"(?:{_WAS}?(?:{_VERY} )*{_GOOD}(?:(?:,| and| but)? (?:{_VERY} )*{_GOOD})*(?: (?:job|work|one|stuff|{WORK}))?"
    rf"|(?:(?:i|we) )?(?:(?:really|do|did|just|absolutely) )*(?:{_LIKING}|(?:do not|don't|did not|didn't) (?:really "
    rf")?(?:like|love))"
    rf" (?:how (?:it|this|that) (?:is|was)|{THIS}|these|those|every(?:thing)?|all of (?:it|this))|(?:wow|omg|whoa|yay|"
    rf"woohoo|ha|haha|[0-9]+(?:/[0-9]+| stars| points))"
    r")(?: (?:so far|ever|so much|a lot|very much|indeed|too|though|again|here|now|at all|very|already|really))*"
)
_THANKS = re.compile(
    r"(?=.*\b(?:thanks|thank you|thx|cheers|bye|goodbye|goodnight|good night|see you|that(?:'s| is| was| will be) all)\b)"
    r"(?:(?:that's|i'm|we're|it's|done|finished|very|will|be|no|more|perfect|good|lovely|many|thanks|thank|thx|cheers|you|"
    r"so|very|much|a|lot|bye|goodbye|goodnight|good|night|see|later|tomorrow|for|now|"
    r"today|all|that|this|it|is|was|your|help|great|nice|ok|okay|and|the|wonderful|again|everybody|everyone|i|we|am|to|bed|back|"
    rf"then|{WORK})\b[\s,.!]*)+"
)
_PUZZLED = re.compile(
    r"(?:that|this|it)(?: (?:makes? no sense|(?:doesn't|does not|didn't) make (?:any )?sense)|(?:'s| is| was)(?: not|n't)? "
    r"(?:wrong|what i "
    r"(?:wanted|meant|asked for|said|expected)))|(?:i|we) (?:don't|do not|didn't) (?:understand|get|follow)(?: (?:it|this|that))?"
    r"|you (?:already|just) (?:wrote|said|used|told)(?: me| us)? (?:it|this|that)|(?:you|it) (?:repeats?|are repeating) "
    r"(?:your|it)self"
    r"|i'm (?:bored|confused|impressed)|there(?: is|'s| are) (?:a |some |an )?(?:typos?|mistakes?|errors?)(?: in .*)?"
    r"|(?:hello|hi|hey) (?:there|again|everyone)|good (?:morning|evening|afternoon)|ty|tysm|talk to you later|(?:got to|"
    r"gotta) go|"
    r"(?:let's )?(?:continue|go on) (?:tomorrow|later|another day)|i'm tired"
)
_WAITS = re.compile(
    r"(?:please )?(?:wait|hold on|hang on|one (?:moment|sec|second|minute)|just a (?:moment|sec|second|minute)|pause|brb|"
    r"ttyl|afk|"
    r"let me think|let me (?:see|read)(?: (?:it|this|that))?)(?: (?:a|one|for a) (?:moment|sec|second|minute|bit))?"
)

_READS = (
    r"(?:summari[sz]e|recap|list|show|display|print|tell|give|read|repeat|recite|translate|explain|describe|get|fetch|check|export|"
    r"save|count|retrieve|remind|return|quote)"
)
_OF_THE_WORK = (
    rf"(?:{WORK}|plans?|options?|choices?|ideas?|characters?|cast|status|state|summary|recap|memory|outline|title|premise|"
    rf"genre|codex|"
    r"history|progress|transcript|(?:what )?(?:has )?happened|story's|id)"
)
_AROUND_IT = (
    rf"(?:{_OF_THE_WORK}|me|us|to|of|the|a|an|all|every|this|that|it|its|my|our|your|last|latest|previous|current|first|so|"
    rf"far|again|"
    r"once|more|aloud|out|with|and|in|for|short|brief|please|verbatim|word|by|full|whole|entire|until|till|up|now|names?|main)"
)
_TO_READ = re.compile(
    rf"(?:{_READS}|(?:i (?:want|would like|'d like)|i'd like) to (?:see|read|know|have)|let me (?:see|read))"
    rf"(?= .*\b{_OF_THE_WORK}\b|$)(?:,? {_AROUND_IT}\b)*(?:,? (?:(?:in|to|into) \S+(?: (?:words|sentences|lines))?|(?:in|"
    rf"as) (?:one|two|three|a few) \S+|"
    r"as (?:a )?\S+))?"
)
_TOLD = re.compile(rf"(?:tell|remind) (?:me|us) (?:more|about|{_WHO})\b.*|explain (?:{_WHO}|to me|it|this|that)\b.*")
_READ_ALONE = re.compile(
    rf"(?:save|export|print|explain|summari[sz]e|recap|translate)(?: (?:it|this|that))?(?: (?:in)?to \S+)?|read {THIS}(?: again)?"
    r"|(?:the |story )?(?:summary|status|recap|title|transcript|story so far)(?: so far)?|catch me up|print everything"
    r"|read (?:it|this) (?:to|for) me|save and quit"
)

_QUALITY = (
    r"(?:long|short|dark|light|bright|slow|fast|funny|scary|sad|happy|gloomy|cheerful|simple|clear|deep|rich|poetic|vivid|"
    r"serious|"
    r"detailed|descriptive|dramatic|romantic|violent|graphic|emotional|realistic|exciting|interesting|concise|creepy|"
    r"verbose|wordy|"
    r"humorous|suspenseful|mysterious|intense|boring|repetitive|vague)"
)
_COMPARED = (
    r"(?:longer|shorter|darker|lighter|brighter|slower|faster|funnier|scarier|sadder|happier|gloomier|simpler|clearer|"
    r"deeper|richer|"
    r"better|weirder|creepier|grimmer|grittier|softer|tighter|spicier)"
)
_SUBSTANCE = (
    r"(?:details?|dialogues?|descriptions?|action|suspense|tension|emotions?|humou?r|drama|romance|words|depth|pace|"
    r"description and dialogue)"
)
_DEGREE = r"(?:a bit|a little|a lot|much|even|way|somewhat|far|slightly|still|be|sound|feel|read|just|please)"
_BARE_WISH = (
    rf"(?:{_DEGREE} )*(?:{_COMPARED}|(?:more|less|too|so|not so|not as|not enough|not) {_QUALITY}|(?:more|less|some more|"
    rf"add more|"
    rf"add some|too much|too many|not enough|fewer|use more|use less|with more|with less) {_SUBSTANCE})(?: {WORK})?"
)
_ANY_WISH = (
    rf"(?:{_DEGREE} )*(?:[a-z]+er|(?:more|less|not (?:so|as)|too) [a-z]+(?: [a-z]+)?|{_QUALITY}|{_COMPARED} {WORK})"
)
_WISHES = re.compile(
    rf"(?:(?:{_WAS}|i want (?:it )?|i'd like (?:it )?|can it be |i prefer (?:it )?)?{_BARE_WISH}"
    rf"|(?:make|keep|write|turn|get|do|want|have) (?:{THIS}|things|everything|them) {_ANY_WISH}"
    rf"|write (?:longer|shorter|better|more|less) ?{WORK}?|use (?:a |an )?(?:{_COMPARED}|more \S+|less \S+|{_QUALITY}) {WORK}"
    rf"|(?:be|don't be|do not be) (?:(?:so|too|a bit|a little|less|more|even) )*(?:{_COMPARED}|{_QUALITY})"
    r"|(?:fix|correct|remove|delete|drop|avoid|use|stop using|stop|change|don't use)(?: \S+){0,4} (?:typos?|spelling|"
    r"grammar|adjectives?|adverbs?|"
    r"wording|tenses?|clich[eé]s?|(?:last|previous|first) (?:sentence|paragraph|line))(?: (?:in|of|from) .*)?"
    r"|(?:write |continue |go on |answer |speak )?(?:it |this )?in (?:english|german|french|spanish|italian|portuguese|"
    r"dutch|polish|russian|"
    r"chinese|japanese|korean|arabic|hindi|turkish|latin|(?:the )?(?:present|past) tense|(?:the )?(?:first|third|second) person)"
    rf"|(?:lengthen|shorten|expand|extend|improve|condense|polish|shrink|proofread|correct) {THIS})"
    rf"(?:(?:,| and|, and| but) (?:{_ANY_WISH}|{_BARE_WISH}))*(?: (?:next time|this time|please|from now on|again|than "
    rf"(?:that|this)))*"
)

_ONCE = r"(?:again|once more|once again|one more time|another time|anew|from scratch|differently|over)"
_REDOES = r"(?:redo|retry|retake|rewrite|re-write|regenerate|regen|reroll|rephrase|reword|revise|redraft|repeat)"
ANOTHER_TAKE = re.compile(
    rf"(?!repeat)(?:{_REDOES}(?: {THIS}(?<!it)(?<!this)(?<!that)| (?:it|this|that)(?= {_ONCE}))(?: {_ONCE})?"
    rf"|{_REDOES} {_ONCE}|(?:write|generate|tell) {THIS} {_ONCE}|(?:write|try|generate) (?:another|one more|a new|a different) "
    rf"(?:take|version|try|attempt)(?: of {THIS})?|(?:one more time|once again|once more)|(?:another|one more|a new|a different) "
    rf"(?:take|version|try|attempt)(?: (?:on|of|at) {THIS})?)"
)
_TAKEN_WITH_A_WISH = re.compile(
    rf"(?:{_REDOES}|write|try) (?:{THIS}|{_ONCE})(?: {_ONCE})?,? (?:but|with|without|in|so|as|from|and|more|"
    rf"less|{_COMPARED})\b.*"
    rf"|(?:one more time|another take|another version|again|once more),? (?:but|with|without|{_COMPARED}|more|less)\b.*"
)


def said_to_the_writer(text: str, phrase: str, *, played: bool = False) -> str | None:
    """Return how to ask back what is said to whoever writes, and nothing that happens; None for a sentence of the story.

    `phrase` is the text in small letters, without marks and politeness around it. Whoever plays may ask, thank and
    praise somebody in the story.
    """
    small = text.casefold().replace("’", "'").strip()
    if _OUT_OF_CHARACTER.fullmatch(small):
        return REMARK
    if _WISHES.fullmatch(phrase) or _TAKEN_WITH_A_WISH.fullmatch(phrase):
        return WISH
    if _TO_READ.fullmatch(phrase) or _READ_ALONE.fullmatch(phrase):
        return READING
    bare = small.strip(" .!?,*_~()")
    asks = _asks(small)
    if not played and any(kind.fullmatch(said) for kind in (_JUDGES, _THANKS, _PUZZLED) for said in (phrase, bare)):
        return REMARK
    if played:
        return QUESTION if asks and re.search(rf"\b{_OF_THE_WORK}\b", phrase) else None
    if _WAITS.fullmatch(phrase):
        return REMARK
    if _TOLD.fullmatch(phrase) and len(phrase.split()) <= TALK_ALONE and not _SPEAKS.search(small) and "," not in small:
        return READING
    return QUESTION if asks else None


def _asks(small: str) -> bool:
    """Tell whether a text is a question and no more: no proposal, nobody's speech, no sentence that ends in one."""
    asked = _ENDS_ASKING.search(small)
    if not asked:
        return _TOLD_WITHOUT_MARK.fullmatch(small) is not None
    if _PROPOSES.match(small) or _SPEAKS.search(small):
        return False
    alone = not re.search(r"[,，、…]", small) and len(small.split()) <= SHORT_QUESTION
    return alone or small.startswith("¿") or _ASKING.match(small) is not None
