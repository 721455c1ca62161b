"""What people type when they are asked for a plan, and mean no plan by: a number in a phrase, a word for an action, a yes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from recurrentgpt.nodes.human.asides import (
    ANOTHER_TAKE,
    QUESTION,
    READING,
    REMARK,
    THIS,
    WISH,
    WORK,
    said_to_the_writer,
)
from recurrentgpt.schema.choice import ACTIONS, PLAN_ACTIONS, Action
from recurrentgpt.schema.errors import BadAnswer

LONGEST_PHRASE = 160
"""Characters; whatever is longer is a plan."""

NO_WORDS = "A plan of your own needs some words."
HELP = (
    "Answer with a number from 1 to {0} to choose a plan, with a plan of your own in a sentence, or with: another take, new "
    "plans, simulator, end."
)
_HOW_IT_ENDS = "To have its ending written, say in a sentence how it ends."
LEFT = (
    "Nothing was written: the story is kept as it stands, and the next answer goes on from there, whenever that is. "
    + _HOW_IT_ENDS
)
TO_END = (
    "Did you mean to end the story? Answer `end`, which writes nothing; to go on another day, leave it as it is: it is kept. "
    + _HOW_IT_ENDS
)
NO_PREMISE = (
    "Nothing was written, for this tells nothing of a story: say in a sentence what it is about, and it begins."
)
_NO_PLAN = 100
"""From this number on, one that is said is that of no plan."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = r"[+-]?[0-9]{1,9}"
_NOUN = "plan|option|choice|number|no\\.|nr\\.?|answer"
_PLAN_NOUNS = ("plan", "option", "choice")
_ANY_NUMBER = (
    rf"(?:the )?(?:(?P<noun>{_NOUN}) ?[:=]? ?)?#? ?"
    rf"(?:(?P<digits>{_DIGITS})(?:st|nd|rd|th)?|(?P<word>{'|'.join(_ORDINALS + _CARDINALS)}))"
    rf"(?: (?P<after>{_NOUN}|one))?"
)
_NUMBER = re.compile(_ANY_NUMBER)
_I_CHOOSE = (
    r"(?:i|we)(?: would|'d|'ll| will)? (?:like|choose|pick|take|select|prefer|want|mean|meant|vote for|think|say|go with|go for)"
    r"|(?:(?:i|we)(?:'m| am|'re| are) )?(?:going|continuing|sticking) with|make it|let me have|(?:continue|proceed|go ahead|"
    r"go on) with"
    r"|let'?s (?:choose|pick|take|try|go with|go for|do)|my (?:answer|choice|pick|vote|favou?rite) is"
    r"|choose|pick|take|select|accept|approve|do|try|use|go with|go for"
)
_PRAISED = (
    r"(?:is|sounds|looks|seems) (?:the )?(?:best|better|good|great|fine|perfect|nice|right|fun|interesting)|it is"
)
_CHOICE = re.compile(rf"(?P<chooses>(?:{_I_CHOOSE}) )?{_ANY_NUMBER}(?P<praised> (?:{_PRAISED}))?")
_PLACE = re.compile(rf"(?:(?:{_I_CHOOSE}) )?(?:the )?(last|middle)(?: one| plan| option)?")
_OTHERS = re.compile(rf"(?:not|reject|(?:all|any|anything|any plan|everything) but) {_ANY_NUMBER}")
_WORD = re.compile(r"#?[0-9]+(?:st|nd|rd|th)?|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]")
_CHOOSING = frozenset(
    ("choose", "choosing", "chose", "chosen", "pick", "picking", "picked", "take", "taking", "select", "selecting", "selected",
     "prefer", "want", "like", "love", "vote", "voting", "go", "going", "continue", "continuing", "proceed", "accept", "approve",
     "execute", "follow", "following", "use", "using", "gimme", "stick", "sticking")
)  # fmt: skip
_AROUND_A_CHOICE = frozenset(
    ("a", "an", "the", "this", "that", "it", "it's", "that's", "i", "i'd", "i'll", "i'm", "i've", "we", "we'd", "we'll",
     "we're", "me", "us", "my", "our", "your", "to", "for", "of", "with", "on", "in", "at", "and", "or", "so", "then",
     "just", "now", "really", "very", "be", "is", "am", "are", "would", "will", "let", "let's", "please", "pls", "plz",
     "thanks", "thx", "ok", "okay", "yes", "yeah", "yep", "sure", "well", "um", "uh", "hmm", "hm", "definitely",
     "absolutely", "certainly", "obviously", "clearly", "personally", "actually", "ahead", "instead", "too", "as", "by",
     "from", "via", "best", "better", "good", "great", "fine", "perfect", "nice", "right", "fun", "interesting",
     "favourite", "favorite", "cool", "awesome", "excellent", "most", "more", "seems", "sounds", "looks", "works", "see",
     "seeing", "have", "do", "try", "start", "begin", "run", "write", "writing", "make", "say", "next", "proposed",
     "number", "no", "nr", "option", "options", "plan", "plans", "choice", "answer", "suggestion", "idea", "pick", "one",
     "story", "passage", "opt", "proposal", "again", "could", "can", "you", "here", "much", "all", "way", "happy",
     "rather", "find", "goes", "gets", "get", "wanna", "gonna")
)  # fmt: skip
"""What may stand around a number that is chosen; any other word makes a sentence of it: "They pay 2 coins"."""
_DOUBTING = frozenset(
    ("maybe", "perhaps", "why", "probably", "possibly", "guess", "suppose", "think", "believe", "how", "about", "what", "might",
     "not", "don't", "doesn't")
)  # fmt: skip
_NUMBERED = frozenset(("plan", "option", "choice", "number", "opt", "proposal", "suggestion", "idea", "answer"))
_PLANS = frozenset(("plan", "option", "choice", "plans", "options", "choices"))
_JOINED = frozenset(
    ("either", "both", "first", "after", "combine", "combining", "mix", "mixing", "merge", "combined", "mixed", "together",
     "and", "or",
     "then", "with", "plus", "versus", "vs", ">", "-", "/", "&", "+", ",", "not", "than")
)  # fmt: skip
"""Between several numbers."""
_COMES_TO = re.compile(r"(?:ich|wir|je|nous|yo|io|eu|я|ik|ja|jag|jeg)\b\W+(?:\S+ ){1,4}(?P<digits>[0-9]{1,2})")
"""How somebody who chooses says it in other languages than English: "Ich nehme Plan 2"."""
_EDIT = re.compile(rf"(?:e|edit|change|modify|revise) {_ANY_NUMBER}")
_LIMITED = re.compile(rf"(?:(?:{_I_CHOOSE}) )?{_ANY_NUMBER}(?: please)?(?:,| [–—-]+)? (?:but|except) \S.*", re.DOTALL)
_SEVERAL = re.compile(
    rf"(?:{_DIGITS}|{'|'.join(_CARDINALS)})(?: ?(?:[,;/&+.-]|and|or) ?(?:{_DIGITS}|{'|'.join(_CARDINALS)}))+"
    "|both|all|(?:both|all)(?: of them| three| plans)"
)
_POLITE = re.compile(
    r"(?:(?:please|ok|okay|yes|yeah|yep|(?:can|could|would|will) you)[,.!]? |(?:then|and),? (?=\w+ ))+"
)
_POLITE_END = re.compile(r",? (?:please|pls|plz|then|thanks|thank you|now)$")
_OTHER_PLANS = re.compile(
    r"(?:(?:(?:show|give|offer|suggest|propose|generate|list|get|find|try)(?: (?:me|us))?|(?:i|we) (?:want|need)|i'd like|"
    r"i would like|(?:can|could|may) (?:i|we) (?:have|get|see)|have you got|any|let me see|let's see) )?"
    r"(?:some |a few |two |three |four |five |[0-9]+ |a |any |the )?(?:(?:new|next|more|other|different|better|fresh|"
    r"another|alternative)(?: set of)? "
    r"(?:plans?|options?|choices?|ideas?|suggestions?|proposals?|ones)|others|(?<=give me )[0-9]+ (?:plans|options|"
    r"ideas))(?: (?:for me|instead|for the next (?:one|passage)))?"
)
_LEFT_TO_OTHERS = re.compile(
    r"(?:your|dealer's|the (?:simulator|ai|model|computer)'s) (?:choice|call|pick|turn|decision)"
    r"|(?:let |have )?(?:you|yourself|the (?:simulator|ai|model|computer|dice|machine)|simulator|fate|chance|ai) "
    r"(?:choose|decide|pick|select)s?(?: (?:one|a plan|an option|for me|for us|the plan|what happens|what happens next|next))*"
    r"|you can (?:choose|decide|pick)|(?:i'll |i )?(?:let you (?:choose|decide|pick)|leave (?:it|that|this) (?:up )?to you)"
    r"|(?:choose|pick|decide|select)(?: (?:one|any|a plan|something|for yourself))? for (?:me|us)"
)
_ANY_OF_THEM = re.compile(
    r"(?:choose|pick|select|take|try|use)(?: (?:one|any|either|anything|something|whichever|whatever))"
    r"(?: (?:one|plan|option|of (?:them|these)|at random|randomly|you (?:like|want|prefer|think|find)(?: (?:is )?best)?))*"
    r"|which(?:ever|so ever)(?: (?:one|plan|option))?(?: you (?:like|want|prefer|think|find)(?: (?:is )?best)?)?"
    r"|random(?:ly)?(?: (?:plan|option|choice|one))?|surprise|auto|automatic(?:ally)?"
)
_NONE_OF_THEM = re.compile(
    r"(?:i'm|i am|we're|we are) (?:not|un)(?: ?(?:happy|satisfied|convinced)) (?:with|by) (?:any of )?"
    r"(?:these|those|them|it|this)(?: plans| options)?|"
    r"(?:i|we) (?:don't|do not|didn't) (?:really )?(?:like|want|love) (?:any of )?(?:these|those|them|(?:the|these|those) "
    r"(?:plans|options|"
    r"choices))|(?:none|neither|not any) of (?:these|those|them|the (?:plans|options|above))(?: plans| options)?"
    r"(?: (?:is|are|sounds?|looks?) (?:any )?good| (?:works?|appeals?)(?: (?:for|to) me)?)?"
    r"|(?:(?:i|we) (?:want|like|take) )?(?:no plans?|no options?|not (?:these|"
    r"those)(?: plans| options)?|"
    r"none of (?:these|those|them)|neither(?: one)?|nothing(?: good)?|no good)"
)
_DESCRIBED = re.compile(
    r"(?:(?:i|we)(?:'ll| will|'d|would)? (?:choose|pick|take|want|like|prefer|go with) |go with |take )?(?:the|that) "
    r"(?:(?P<named>\S+(?: \S+){0,2}) "
    r"(?:plan|option|choice|one)|(?:plan|option|choice|one) (?:with|about|where|in which|of|that) (?P<told>\S.*))"
)
"""A plan by what happens in it."""
_ENDS = re.compile(
    rf"(?:let's |let us |i want to |we can )?(?:end|finish|conclude|stop|wrap up|wrap|complete|quit)(?: (?:{THIS}|things|up|"
    rf"now|here|there|"
    r"already|for (?:now|today|tonight)|today))*(?: with (?:a|an|the) (?:\w+ )?ending)?"
    rf"|(?:write )?(?:the|an) (?:end|ending|epilogue|(?:final|closing) {WORK})"
    r"|(?:i'm|i am|we're|we are|all)? ?(?:done|finished|through)(?: (?:here|now|for (?:now|today)))?"
    r"|(?:that's|that is|that will be|it's|it is)? ?(?:enough|all|(?<=that's )it)"
    r"(?: (?:for (?:now|today)|now|of this|already))*|fin|no more"
)
_ENDS_PLAINLY = re.compile(
    r"(?:let's )?end (?:(?:the|this|my|our) (?:story|novel|tale)|it|story)(?: (?:here|now))*|end (?:here|now)"
)
_SEVERAL_PASSAGES = re.compile(
    r"(?:(?:write|give me|make|do|continue|go on|continue for|go on for|generate) )?(?:the next |another |for )?"
    rf"(?:[0-9]+|two|three|four|five|six|seven|eight|nine|ten|several|some|a few|many)(?: more)?(?: of the)?(?: {WORK}| more)"
)
_GOES_ON = re.compile(
    rf"(?:(?:write|continue with|give me|start|show me|go on with|begin|do) )?(?:the )?next (?:one|{WORK})|(?:continue|go "
    rf"on with) (?:{THIS})"
    r"|keep it up"
)
_LABELLED = re.compile(
    r"(?:(?:my|own|your own|new|next|the|a)\s+){0,2}(?:plan|write|answer|what happens(?: next)?|next(?: "
    r"passage)?)\s*[:=]\s+(?P<plan>\S.*)",
    re.DOTALL | re.IGNORECASE,
)
_CHANGED = re.compile(
    r"(?:e|edit|change|modify|revise|replace)\s+(?:plan|option|choice|number|no\.?)?\s*#?(?P<number>[0-9]{1,2})"
    r"(?:\s*:|\s+(?:in)?to(?: be)?:?|\s+with:?|\s+by:?)\s+(?P<plan>\S.*)",
    re.DOTALL | re.IGNORECASE,
)
"""A plan in place of one with this number."""
A_STORY = re.compile(
    r"\b(?:an?|another|new|some|one more)\b(?:[\s-]+[\w'’]+){0,4}?[\s-]+(?:story|stories|novel|novella|tale|book|adventure|"
    r"game)\b",
    re.IGNORECASE,
)
"""A story that there is none of yet: whoever asks for one begins it."""
_ABOUT_THE_PROGRAM = re.compile(rf"\b(?:you|your|yours|yourself|this|i|it|{WORK})\b")
_ASKS_FOR_HELP = re.compile(
    r"\b(?:can|could|do|does|should|must|am|have) (?:you|i|it|this)\b.*\b(?:do|works?|use|start|begin|explain|help|support|write|"
    r"answer|cost)\b|\bhow (?:this|it)\b.*\bworks?\b"
)
_MOST_ABOUT_IT = 7
"""Words of a question about the program; what a story asks itself is mostly longer."""
_ASKED_IN_WORDS = re.compile(r".*[?？]\W*|(?:tell|remind|explain)\b.*", re.DOTALL)
_AROUND = " .,:;!?()[]{}<>\"'“”‘’`*_~"
_MARKED = re.compile(
    r"(?P<noun>(?:plan|option|choice) )?#?(?P<number>[0-9]{1,2}) ?(?P<mark>[.):–—-]?)\s+(?P<plan>\S.*)",
    re.DOTALL | re.IGNORECASE,
)
"""A plan with the number that stands before it in the list."""

NO = (
    "no", "n", "nope", "nah", "no way", "no thanks", "none", "none of them", "none of these", "none of the above", "nein",
     "non", "nee", "нет", "いいえ", "不", "아니요", "neither",
    "not these", "reject", "rejected",
)  # fmt: skip

_NAMES: dict[str, Action] = {action.replace("_", " "): action for action in ACTIONS if action not in PLAN_ACTIONS}
_SAID: dict[Action, str] = {
    "another_take": "retry, retake, again, try again, try it again, once more, write it again",
    "new_plans": "new plan, more plans, other plans, different plans, new options, more options, other options",
    "simulator": "you choose, you decide, you pick, surprise me, up to you, dealer's choice, simulate, autopilot",
    "end": "end it, end it here, end story, end the story",
}
_ACTIONS = _NAMES | {phrase: action for action, phrases in _SAID.items() for phrase in phrases.split(", ")}
_ONCE_MORE = (
    "Did you mean this passage once more, or other plans for the next one? Answer `another take` or `new plans`."
)
_SOMEBODY_ELSE = "Did you mean that somebody else chooses? Answer `simulator`, or say in a sentence what happens next."
_NOT_BACK = (
    "An answer leads on from this passage and not back: to go on from an earlier one, edit what you sent there, where this "
    "program lets you. Answer `another take` to have this one once more, or say in a sentence what happens next."
)
_OTHER_THAN_THAT = "Did you mean one of the other plans? Answer with its number, or `new plans` for others than these."
_REFUSED = "Did you mean other plans? Answer `new plans`, or say in a sentence what happens instead."
_ASKED_BACK = {
    phrase: question
    for phrases, question in (
        (
            "stop, stop it, stop here, q, quit, quit the game, exit, bye, finish, finish it, the end",
            TO_END,
        ),
        (
            ", ".join((*NO, "r")),
            _REFUSED,
        ),
        (
            "another, another one, other, different, more, new, something else, regenerate, regenerate it, regen, reroll, redo, "
            "redo it, redo this, redo that, rewrite, rewrite it, rewrite this, rewrite that",
            _ONCE_MORE,
        ),
        (
            "any, anything, you do it, i can't decide, i cannot decide, can't decide, hard to choose, don't care, "
            "go wild, whatever, whatever you like, whatever you want, either, random, i don't care, "
            "i dont care, you, "
            "s, "
            "i don't know, i dont know, idk, dunno, no idea, not sure, i'm not sure, im not sure, unsure, no preference",
            _SOMEBODY_ELSE,
        ),
        (
            "restart, start over, start again, start anew, begin again, new story, a new story, another story, new game, reset",
            "Did you mean another story? Begin it in a thread or chat of its own: this one is kept. To go on here, answer with a "
            "number, or say in a sentence what happens next.",
        ),
        ("undo, undo it, undo that, u, back, go back, rewind, previous", _NOT_BACK),
        ("a", "Did you mean this passage once more, or the first plan? Answer `another take` or 1."),
        (
            "e, edit, edit a plan, edit the plan",
            "To change a plan, say in a sentence all that happens next; to take one as it is, answer with its number.",
        ),
        (
            "m, memory, show memory, edit memory, edit the memory",
            "Did you mean to change the memory? No answer in words does that: what is to be remembered is told in a passage. "
            "Say in a sentence what happens next, or answer with a number.",
        ),
    )
    for phrase in phrases.split(", ")
}
_WITH_A_NUMBER = (
    (
        re.compile(r"(?:u|undo|g|goto|back|back to|go back|go back to|rewind|rewind to)(?: passage)? #?[0-9]+"),
        _NOT_BACK,
    ),
    (re.compile(r"(?:a|again|retry|retake|redo) #?[0-9]+"), _ONCE_MORE),
    (re.compile(r"(?:s|simulator|simulate|autopilot) [0-9]+"), _SOMEBODY_ELSE),
)
"""What stands before the number of a passage, or of passages, and not of a plan."""
_ASKED_BACK_LIKE = (
    (
        _SEVERAL_PASSAGES,
        "Nothing was written: in words, each answer is for one passage. Answer `simulator` to have the next one chosen for you, "
        "and again after it, or say in a sentence what happens next.",
    ),
    (_ANY_OF_THEM, _SOMEBODY_ELSE),
    (_NONE_OF_THEM, _REFUSED),
    (_ENDS, TO_END),
    (
        re.compile(
            rf"(?:undo|rewind|delete|remove|revert|discard|scrap|go back|take back)(?: (?:to|by|one|a|two|three|"
            rf"[0-9]+))*(?: {THIS})"
            rf"|(?:go )?back to (?:the )?(?:beginning|start|{WORK} [0-9]+)"
        ),
        _NOT_BACK,
    ),
    (
        re.compile(
            r"(?:give me |try |do |i want )?something (?:else|different|better|new)|(?:try|do) (?:harder|better)"
        ),
        _ONCE_MORE,
    ),
    (re.compile(rf"repeat(?: {THIS})?|do (?:it|this|that) again"), _ONCE_MORE),
)
"""What is asked back by its shape."""
_YES = frozenset(
    ("yes", "y", "ja", "oui", "si", "sí", "sì", "sim", "tak", "да", "はい", "是", "네",
     "ok", "okay", "k", "sure", "sure thing", "fine", "yep", "yeah", "yup", "alright", "all right", "good",
     "good idea", "great", "cool", "nice", "excellent", "awesome", "perfect", "do it", "sounds good", "sounds great",
     "looks good", "looks great", "love it", "like it", "lgtm", "that works", "works for me", "go for it", "that one",
     "this one", "approve", "approved", "accept", "accepted", "agreed", "\U0001f44d")
)  # fmt: skip
_GO_ON = frozenset(
    ("continue", "continue the story", "continue story", "continue writing", "go", "go on", "go ahead", "keep going",
     "keep writing", "carry on", "move on", "proceed", "resume", "next", "next one", "next passage", "next scene",
     "next chapter")
)  # fmt: skip
_I_DID = re.compile(
    r"(?:(?:i|we) (?:do|did|mean|meant)(?: (?:it|that|this|so))?(?: one)?|(?:it|that|this)(?:'s| is| was) (?:it|right|correct|"
    r"(?:that|the) one|what (?:i|we) (?:mean|meant)))|right|correct|exactly|indeed|of course"
)
_OFFERS = re.compile(
    r"Did you mean [^?\n]*\? Answer (?:(?P<number>[0-9]+)\b|`(?P<action>[a-z ]+)`)(?! or)|(?P<several>Did you mean [^\n]*)"
)
"""A question that is asked back, with the one answer that it offers; one that offers several has no yes."""
_MOVES = frozenset(
    ("go", "go on", "go ahead", "go back", "keep going", "carry on", "move on", "proceed", "start over", "start again",
     "begin again", "do it", "do it again", "accept", "approve", "reject", "wait", "hold on", "hang on",
     "n", "e", "w", "ne", "nw", "se", "sw", "enough", "that's enough", "stop it", "stop now")
)  # fmt: skip
"""What the player of a story may do, too."""
_GREETINGS = frozenset(
    ("hi", "hello", "hey", "hallo", "hola", "bonjour", "ciao", "привет", "你好", "thanks", "thank you")
)
_PLAYERS_SAY = frozenset(("please", "huh", "what", "why", "who", "how", "where", "when", "which"))
_UNSURE = frozenset(("i don't know", "i dont know", "i'm not sure", "i don't care", "whatever", "no idea", "not sure"))
_SPEECH = _YES | frozenset(NO) | _GREETINGS | _PLAYERS_SAY | _UNSURE
"""What the player of a story may say to somebody in it."""
_NO_ANSWER = frozenset(
    ("help", "help me", "help me choose", "h", "test", "hm", "hmm", "cancel", "skip", "pass", "save", "load", "menu",
     "write", "choose", "null", "nil",
     "undefined", "true", "false", "nan", "ii", "iii", "iv", "object object", "lol", "lmao", "rofl", "haha", "hehe", "wow",
     "wtf", "omg", "options", "plans", "choices", "what are my options", "what are the options", "what are the plans",
     "which plans", "which options", "show plans", "show the plans", "show me the plans", "show options", "show the options",
     "show me the options", "show me my options", "list plans", "list the plans", "list options", "how do i answer",
     "how do i choose", "how does this work", "what can i do", "what can i say", "what can i answer", "what do i do",
     "what should i do", "what do you mean", "what now", "what next", "what happens next", "the latter", "the former", "my own",
     "i'll write my own", "write my own", "show help", "commands", "show commands", "show me the commands", "same",
     "the same", "same again", "same plan", "same as before", "ditto", "as above")
) | _GREETINGS | _PLAYERS_SAY  # fmt: skip


def typed_number(text: str) -> int | None:
    """Return the number that a text is, as people write one: 2, 2., #2, (2), plan 2, the second one; None where it is none."""
    found = _NUMBER.fullmatch(_plain(_bare(text))) if len(text) <= LONGEST_PHRASE else None
    return _number(found) if found else None


def typed_action(text: str) -> Action | None:
    """Return the action that a text asks for, as people write one: another take, retry; None where it is none."""
    return _ACTIONS.get(_bare(text))


def names_plan_or_action(text: str) -> bool:
    """Tell whether a text is the number of a plan or the name of an action that sets no plan."""
    return typed_number(text) is not None or _bare(text) in _NAMES


def offers_action(sentence: str) -> bool:
    """Tell whether a sentence of the reason with which an answer was asked back offers an action that sets no plan."""
    return HELP.partition("or with:")[2] in sentence or any(f"`{name}`" in sentence for name in _NAMES)


def agreed(text: str, asked: str, plans: Sequence[str]) -> int | Action | None:
    """Return what a yes to the question that was `asked` back means, the answer that it offers; None for any other text.

    Raises BadAnswer, which asks back, for a no, and for a yes where several answers were offered.
    """
    # What was asked is of the state, which anybody may have changed, and is checked later.
    offer = _OFFERS.match(asked) if isinstance(asked, str) and len(text) <= LONGEST_PHRASE else None
    if offer is None:
        return None
    said = _bare(text)
    phrase = _plain(said)
    if said in NO or phrase in NO:
        raise BadAnswer(HELP.format(len(plans)))
    agrees = not {said, phrase}.isdisjoint(_YES) or _I_DID.fullmatch(phrase) is not None
    # Whoever is asked whether to end, and says "continue", does not mean yes.
    if not agrees and not (offer["number"] and not {said, phrase}.isdisjoint(_GO_ON)):
        return None
    if offer["several"]:
        raise BadAnswer(offer["several"])
    return int(offer["number"]) if offer["number"] else _NAMES[offer["action"]]


def understand(text: str, plans: Sequence[str], *, played: bool = False) -> int | Action | None:
    """Return the number of the plan or the action that a text means; None for one that is a plan of its own.

    Raises BadAnswer, which asks back, for what may mean one of several things and is no plan. In a story that is `played`, an
    order such as "Go back" is what the player does, and a yes, a no, a greeting or thanks what they say.
    """
    if (number := _listed(text, plans)) is not None:
        return number
    said = _bare(text)
    limited = _LIMITED.fullmatch(said)
    # "Number two, but nobody else" may be somebody.
    if limited and (_names_plan(limited) or (limited["digits"] and not limited["noun"])):
        _ask_to_edit(_number(limited), plans)
    wordless = not any(map(str.isalpha, text)) and text != "?"
    if len(text) > LONGEST_PHRASE:
        if wordless:
            raise BadAnswer(NO_WORDS)
        return None
    if played and said in _MOVES:
        return None
    phrase = _plain(said)
    found = _CHOICE.fullmatch(phrase)
    plain = found and (found["digits"] or found["noun"] or _names_plan(found))
    # "One is right." is a sentence.
    if found and (plain or not found["praised"] or found["word"] in _ORDINALS):
        number, plain = _number(found), plain or not (found["chooses"] or found["praised"])
        return number if plain and not text.endswith("?") else _doubtful(number, plans)
    for known in (said, phrase):
        if action := _ACTIONS.get(known) or _asked_action(known):
            return action
    if played and (text.startswith("/roll") or not {said, phrase}.isdisjoint(_SPEECH)):
        return None
    for known in (said, phrase):
        if question := _ASKED_BACK.get(known):
            raise BadAnswer(question)
        if known in _YES or known in _GO_ON:
            return _doubtful(1, plans)
    _ask_what_is_meant_of_a_number(phrase, plans)
    if place := _PLACE.fullmatch(phrase):
        if place[1] == "last":
            return _doubtful(len(plans), plans)
        if len(plans) % 2:
            return _doubtful(len(plans) // 2 + 1, plans)
        raise BadAnswer(HELP.format(len(plans)))
    if _SEVERAL.fullmatch(phrase):
        raise BadAnswer("One plan is chosen at a time: answer with one number, or say in a sentence what happens next.")
    named = re.fullmatch(
        r"(?:plan|option|choice|number) \S+|(?:(?:the|a|my|your|own) )*(?:plan|option|choice|number)s?", phrase
    )
    if (
        phrase in _NO_ANSWER
        or named
        or text == "?"
        or (len(phrase) == 1 and phrase.isascii())
        or re.fullmatch(r"/\w+|/roll\b.*", text)
    ):
        raise BadAnswer(HELP.format(len(plans)))
    if wordless:
        raise BadAnswer(NO_WORDS)
    if (number := _among_words_of_choosing(text, plans)) is not None:
        return number
    if not played and (came := _COMES_TO.fullmatch(said)):
        return _doubtful(int(came["digits"]), plans)
    if told := _DESCRIBED.fullmatch(phrase):
        if described := _described(told["named"] or told["told"], plans):
            return _doubtful(described, plans)
        if told["named"] and re.search(r"\b(?:plan|option)$", phrase):
            raise BadAnswer(HELP.format(len(plans)))
    if _GOES_ON.fullmatch(phrase):
        return _doubtful(1, plans)
    for pattern, question in _ASKED_BACK_LIKE:
        if pattern.fullmatch(phrase):
            raise BadAnswer(question)
    if question := said_to_the_writer(text, phrase, played=played):
        raise BadAnswer(question + ("" if question == WISH else HELP.format(len(plans))))
    if (several := _in_sentences(text, plans, played=played)) is not None:
        return several
    near = re.search(r"[1-9]", said) if len(said.split()) <= 2 else None
    if near and int(near[0]) <= len(plans):
        return _doubtful(int(near[0]), plans)
    return None


def _asked_action(phrase: str) -> Action | None:
    """Return the action that a phrase asks for in a sentence of its own; None for none."""
    asked: tuple[tuple[re.Pattern[str], Action], ...] = (
        (_OTHER_PLANS, "new_plans"),
        (_LEFT_TO_OTHERS, "simulator"),
        (ANOTHER_TAKE, "another_take"),
        (_ENDS_PLAINLY, "end"),
    )
    return next((action for pattern, action in asked if pattern.fullmatch(phrase)), None)


def _among_words_of_choosing(text: str, plans: Sequence[str]) -> int | None:
    """Return the one number of a plan that a text names, where all its other words are those of somebody who chooses.

    Raises BadAnswer, which asks back, where that is not sure, or where there are several; returns None for a sentence.
    """
    folded = re.sub(r"(?<=\w)'s\b", " is", _folded(text)).replace("thank you", "thanks").replace("for sure", "sure")
    words = _WORD.findall(folded)
    numbers, others, named = [], [], False
    for at, word in enumerate(words):
        before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        noun = before in _NUMBERED or (before == "." and at > 1 and words[at - 2] in ("no", "nr"))
        digits = re.fullmatch(r"#?([0-9]{1,9})(?:st|nd|rd|th)?", word)
        if digits:
            numbers.append(int(digits[1]))
        elif word in _ORDINALS and (before in ("the", "my", "your") or after in (*_NUMBERED, "one")):
            numbers.append(_ORDINALS.index(word) + 1)
            named = named or not _PLANS.isdisjoint(words)
        elif word in _CARDINALS and (noun or (word != "one" and _CHOOSING & set(words))):
            numbers.append(_CARDINALS.index(word) + 1)
        else:
            others.append(word)
            continue
        named = named or noun or after in _NUMBERED
    said = {word for word in others if word[0].isalpha()}
    if not numbers or said - _AROUND_A_CHOICE - _CHOOSING - _DOUBTING - (_JOINED if len(numbers) > 1 else frozenset()):
        return None
    number = numbers[0]
    if len(numbers) > 1 and {"the", "vote"} <= said:
        return None
    if len(numbers) > 1:
        raise BadAnswer("One plan is chosen at a time: answer with one number, or say in a sentence what happens next.")
    if number > len(plans) and not (named or said & _CHOOSING):
        return None
    if said & {"not", "don't", "doesn't"}:
        raise BadAnswer(_OTHER_THAN_THAT)
    digits_or_named = named or any(word.lstrip("#")[:1].isdigit() for word in words)
    plain = digits_or_named and not (said & _DOUBTING) and not text.rstrip().endswith(("?", "？"))
    # "I have 2" may be somebody's count.
    counts = not named and said & {"have", "see", "make", "do", "am", "are", "is"} and not said & _CHOOSING
    return number if plain and not counts else _doubtful(number, plans)


def _described(words: str, plans: Sequence[str]) -> int | None:
    """Return the number of the one plan that has all words of a description; None where none has, or several have."""
    wanted = {word for word in re.findall(r"[^\W\d_]+", words) if word not in _AROUND_A_CHOICE}
    having = [number for number, plan in enumerate(plans, 1) if wanted <= set(re.findall(r"[^\W\d_]+", _folded(plan)))]
    return having[0] if wanted and len(having) == 1 else None


def _in_sentences(text: str, plans: Sequence[str], *, played: bool) -> int | Action | None:
    """Return what the sentences of a text mean together, where each is said to whoever writes; None for a plan."""
    for divided in (r"(?<=[.!?…。！？])\s+|\n+", r",\s+"):
        parts = [part for part in re.split(divided, text.strip()) if re.search(r"\w", part)]
        if len(parts) > 1:
            break
    else:
        return None
    # "Ada runs. Make it dark.", where the first is a plan that was offered, is that plan with words of one's own.
    if any(_bare(part) in map(_bare, plans) for part in parts):
        return None
    meant: list[int | Action] = []
    problems: list[BadAnswer] = []
    for part in parts:
        try:
            said = understand(part, plans, played=played)
        except BadAnswer as fault:
            problems.append(fault)
        else:
            if said is None:
                return None
            meant.append(said)
    serious = [fault for fault in problems if not str(fault).startswith((REMARK, HELP[:20]))]
    if len(meant) == 1 and not serious:
        return meant[0]
    if len(meant) > 1:
        raise BadAnswer(HELP.format(len(plans)))
    raise (serious or problems)[0]


def _ask_what_is_meant_of_a_number(phrase: str, plans: Sequence[str]) -> None:
    """Raise BadAnswer where a number is named and its plan is not chosen: refused, to be changed, or that of a passage."""
    for pattern, question in _WITH_A_NUMBER:
        if pattern.fullmatch(phrase):
            raise BadAnswer(question)
    # "Not one." is a sentence.
    if (found := _OTHERS.fullmatch(phrase)) and (found["word"] not in _CARDINALS or _names_plan(found)):
        raise BadAnswer(_OTHER_THAN_THAT)
    if (found := _EDIT.fullmatch(phrase)) and (found["word"] not in _CARDINALS or _names_plan(found)):
        _ask_to_edit(_number(found), plans)


def _ask_to_edit(number: int, plans: Sequence[str]) -> None:
    if 1 <= number <= len(plans):
        raise BadAnswer(
            f"To change plan {number}, say in a sentence all that happens next; to take it as it is, answer {number}."
        )


def _plain(said: str) -> str:
    """Return a text in small letters without what is said for politeness."""
    said = _POLITE_END.sub("", said)
    return said[found.end() :] if (found := _POLITE.match(said)) else said


def _names_plan(found: re.Match[str]) -> bool:
    return found["noun"] in _PLAN_NOUNS or found["after"] in _PLAN_NOUNS


def is_no_premise(text: str, *, is_form: bool = False) -> bool:
    """Tell whether a text with which a story shall begin is plainly nothing of one: a number, a greeting, a word of help.

    Where other fields of a form tell of the story (`is_form`), a word that would be an answer may be one of it: "The End".
    """
    if A_STORY.search(text):
        return False
    try:
        meant = understand(text, ())
    except BadAnswer as fault:
        if not str(fault).startswith((QUESTION, READING)):
            return not is_form or str(fault) == HELP.format(0)
        said = _bare(text)
        if not _ASKED_IN_WORDS.fullmatch(text.casefold().strip()):
            return True
        # "Who killed the mayor?" may be what a story is about, and "Can you write about a whale?" says what.
        asks = _plain(said)
        is_short = len(said.split()) <= _MOST_ABOUT_IT
        is_about_it = bool((_ABOUT_THE_PROGRAM if is_short else _ASKS_FOR_HELP).search(said))
        return is_about_it and (asks == said or is_no_premise(asks, is_form=is_form))
    if isinstance(meant, int):
        # So many plans there never are: it is a year, or a title.
        return meant < _NO_PLAN
    # Who lets it be chosen begins a story all the same.
    return not is_form and meant is not None and meant != "simulator"


def told_premise(text: str, *others: str) -> str:
    """Return the premise of a form whose fields beside it hold `others`: empty, to be made up, where it may be anything.

    Raises BadAnswer for one that plainly says nothing of a story.
    """
    if not text.strip() or _is_left_open(text):
        return ""
    if is_no_premise(text, is_form=any(other.strip() for other in others)):
        raise BadAnswer(NO_PREMISE)
    return text


def _is_left_open(text: str) -> bool:
    try:
        # "Autopilot" is a title.
        return understand(text, ()) == "simulator" and len(text.split()) > 1
    except BadAnswer as fault:
        return str(fault) == _SOMEBODY_ELSE


def refuses(text: str) -> bool:
    """Tell whether a text says no to all plans, and nothing of what shall happen instead."""
    said = _bare(text)
    return (
        said in NO
        or re.search(r"\b(?:any|all|none|neither) of (?:these|them)\b|\bthese (?:plans|options)\b", said) is not None
        or (len(text) <= LONGEST_PHRASE and said_to_the_writer(text, _plain(said)) in (REMARK, WISH))
    )


def is_phrase(text: str, plans: Sequence[str]) -> bool:
    """Tell whether a text is, or may be, something else than a plan of its own."""
    try:
        return understand(text, plans) is not None
    except BadAnswer:
        return True


def changed_plan(text: str, plans: Sequence[str]) -> tuple[int, str] | None:
    """Return the number of a plan and the words that a text sets in its place ("edit 2: Mira dies"); None for none."""
    changed = _CHANGED.fullmatch(text)
    if not changed or not 1 <= (number := int(changed["number"])) <= len(plans) or is_phrase(changed["plan"], plans):
        return None
    return number, changed["plan"]


def without_number(text: str, plans: Sequence[str]) -> str:
    """Return a plan without what it begins with as a list or a form has it: the number of one of `plans`, or "Plan:"."""
    if labelled := _LABELLED.fullmatch(text):
        return labelled["plan"]
    marked = _MARKED.fullmatch(text)
    # "2 soldiers enter" and "12: the hour strikes" are sentences.
    mark = marked["mark"] if marked and (marked["noun"] or marked["mark"] in (".", ")", ":")) else ""
    listed = marked and mark and 1 <= int(marked["number"]) <= len(plans)
    return marked["plan"] if marked and listed else text


def _listed(text: str, plans: Sequence[str]) -> int | None:
    """Return the number of the plan whose own words a text is, with or without its number."""
    known = [_bare(plan) for plan in plans]
    for said in filter(None, (text, (marked := _MARKED.fullmatch(text)) and marked["plan"])):
        if (words := _bare(said)) and words in known:
            number = int(marked["number"]) if marked and said != text else known.index(words) + 1
            own = 1 <= number <= len(plans) and known[number - 1] == words
            return number if own else _doubtful(known.index(words) + 1, plans)
    return None


def _bare(text: str) -> str:
    """Return a text as `_folded` does, without the marks around it."""
    return _folded(text).strip(_AROUND)


def _folded(text: str) -> str:
    """Return a text in small letters and on one line; digits of every kind and width are 0 to 9."""
    plain = unicodedata.normalize("NFKC", text).replace("\ufe0f", "").replace("\u20e3", "")
    plain = "".join(
        str(digit) if (digit := unicodedata.digit(letter, None)) is not None else letter for letter in plain
    )
    plain = " ".join(plain.casefold().replace("’", "'").replace("_", " ").removeprefix("/").split())
    return re.sub(r"\b(do|did|does|is)nt\b", r"\1n't", re.sub(r"\bim\b", "i'm", plain))


def _number(found: re.Match[str]) -> int:
    if found["digits"]:
        return int(found["digits"])
    return (_ORDINALS if found["word"] in _ORDINALS else _CARDINALS).index(found["word"]) + 1


def _doubtful(number: int, plans: Sequence[str]) -> int:
    """Ask back whether a plan was meant; a number that no plan has is returned, to be refused as such."""
    if not 1 <= number <= len(plans):
        return number
    raise BadAnswer(f"Did you mean plan {number}? Answer {number}, or say in a sentence what happens next.")
