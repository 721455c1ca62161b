"""What another agent asks a storyteller for, as models and people phrase tasks: which story, and the answer for its next passage.

A model writes its task as a sentence ("Please continue story 0123456789ab with plan 2 and return the passage."). What names the
story and what goes without saying is taken off; what is left is for `nodes.human` to understand, as if somebody had typed it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recurrentgpt.nodes.human.phrases import A_STORY, agreed, is_no_premise, is_phrase, understand
from recurrentgpt.schema.errors import BadAnswer

GO_ON = "simulator"
"""The answer to a request that wants a passage and says nothing of what happens in it."""
_ID = r"(?P<id>[0-9a-f]{12})"
_QUOTED = r"[\"“'‘][^\"”\n]{1,80}[\"”'’]"
_NAMED = (
    rf"(?:\bstory(?:\s+(?:called|titled|named))?(?:\s+{_QUOTED},?)?[\s_-]*|\b(?=id\b))\(?\s*"
    rf"(?:(?:story|with|whose|of|the|ids?|is)(?![a-z])[\s_]*){{0,5}}[\s:=#\"'`(\[]*{_ID}\b[\"'`)\]]*"
)
_BARE = r"[`\"'(\[]*\b(?P<bare>(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{12})\b[`\"')\]]*"
_WRITE = r"(?:continue|resume|go\s+on|carry\s+on|proceed|keep\s+going|go\s+ahead|move\s+on|extend|advance|write|produce|generate)"
_PASSAGE = r"(?:passage|part|chapter|scene|section|step|turn)s?"
# What is looked for anywhere in a text repeats nothing without a bound: a long text would be gone over at every word of it.
_BEFORE = (
    r"(?:\b(?:please|now|then|and|to|can you|could you|would you|i want you to|i(?:'d| would) like you to)[\s,]+){0,4}"
    rf"(?:\b{_WRITE}\s+)?(?:\b(?:(?:the|a|another|one\s+more)\s+(?:next\s+|new\s+|more\s+)?|next\s+){_PASSAGE}\s+)?"
    r"(?:\b(?:with|on|in|for|of|from|to|using|within)\s+)?(?:\b(?:the|this|that|my|our|your|existing|same)\s+){0,3}"
)
_NAMING = re.compile(rf"{_BEFORE}(?:{_NAMED}|{_BARE})[\s:,.;)–—-]*", re.IGNORECASE)
_NAMING_PLAINLY = re.compile(_NAMED, re.IGNORECASE)

_SAYING = (
    r"please|then|now|and|also|next|new|full|complete|entire|whole|resulting|updated|proposed|exact|"
    r"verbatim|current|latest|last|previous|passage|passages|part|parts|chapter|chapters|scene|scenes|"
    r"text|plan|plans|option|options|story|stories|id|ids|result|results|output|the|its|a|an|all|"
    r"both|me|us|back|only|with|for|of|to|from|in|it|that|this|as|is|are|one|number|after|along|"
    r"together|so|far|again|out|aloud|word|by|once|more|ok|okay|yes|great|everything|following|"
    r"accordingly|what|happened|happens|you|can|could|would|will|at|end|there|user|has|have|been|written|appear|appears|"
    r"whether|if|"
    r"exists?|still|characters?|cast|title|status|summary|names|feedback|comments|markdown|json|format|up|first|main"
)
_WRITES = f"{_WRITE}|compose|draft|create|make"
_READS = (
    r"read|show|display|repeat|print|recite|recap|summari[sz]e|list|return|give|send|share|tell|provide|"
    r"report|include|reply|respond|export|present|look|check|fetch|retrieve|get|find|review|describe|explain|quote|open|load"
)
_GOES_WITHOUT_SAYING = re.compile(
    rf"(?:task|request|instructions?|hi|hello|hey|hi there|please|thanks|thank you)|"
    rf"(?:(?:{_SAYING})[\s,]+)*(?:{_WRITES}|{_READS})\b"
    rf"(?:[\s,:+&]+(?:{_SAYING}|{_WRITES}|{_READS})\b)*",
    re.IGNORECASE,
)
_A_PLAN = re.compile(r"\b(?:plan|option|choice)\b", re.IGNORECASE)
_TAIL = re.compile(
    rf"[\s,;]+(?:and|to|then|for|as|in)\b(?:[\s,]+(?:{_SAYING}|{_WRITES}|{_READS})\b){{1,24}}\W*$", re.IGNORECASE
)
_WRITING = re.compile(rf"\b(?:{_WRITES})\b", re.IGNORECASE)
_LABEL = (
    r"(?:(?:the|my|your|own|new|selected|chosen|next)[\s_]+)*"
    r"(?:plan|option|choice|answer|action|number|what\s+happens(?:\s+next)?)[\s_]*"
    r"(?:id|number|is|to\s+(?:use|follow|take))?\s*[:=]+\s*"
)
_JOINING = re.compile(
    rf"(?:(?:with|using|by|where|in\s+which|so\s+that|such\s+that|and)\b\s*|{_LABEL})+", re.IGNORECASE
)
_WHOEVER = r"(?:user|person|reader|player|human|customer|author)"
_CHOOSING = re.compile(
    r"(?:\b(?:please|now|then|ok|okay|so|"
    r"(?:write|writing|continuing|producing)(?:\s+(?:the|next|story|(?:passage|chapter|part)(?:\s+[0-9]+)?)\b)+|"
    rf"{_WRITE}|use|using|follow(?:ing)?|apply|execute|try|go|with|by|via|from|based on|according to|and|"
    r"choosing|taking|picking|selecting|"
    r"(?:choose|pick|select|take)(?=\s+(?:the\s+)?(?:plan|option|choice)\b)|"
    r"(?:give|propose|suggest|offer|make|create|get|ask for)(?:\s+(?:me|us|some|three|for))*|"
    r"(?:the\s+)?(?:user|person|reader|player|human|i|we|they|he|she)\s+(?:has\s+|have\s+)?(?:chose|chosen|picked|selected|took|"
    r"chooses|picks|selects|takes|prefers|wants?|would\s+like|said|says|replied|answered|decided\s+on|opted\s+for|"
    r"(?:is\s+)?going\s+with)(?:\s+to\s+(?:go|take|choose|use|pick|follow|see))?"
    r")\b[\s,:]*|"
    rf"(?:the\s+|my\s+)?{_WHOEVER}(?:['’]s)?\s+(?:chosen\s+|selected\s+|preferred\s+)?(?:choice|pick|selection|answer|"
    rf"decision|reply|plan(?=\s*(?:is|was|:)))\b(?:\s+(?:is|was))?[\s,:]*|"
    rf"{_LABEL})+",
    re.IGNORECASE,
)
_OF_THIS = re.compile(
    r"\s+(?:of\s+)?(?:(?:the|this|that|last|latest|current|newest|same)\s+){0,3}passage\W*$", re.IGNORECASE
)
_NUMBER_OF = re.compile(r"\b(plan|option|choice)\s+(?:number|no\.?|nr\.?|id)\s*(?=[#\w])", re.IGNORECASE)
_FROM_THERE = re.compile(
    r"from (?:where|the (?:point|place)) .{0,40}\b(?:left off|stopped|ended|is|was|stands)", re.IGNORECASE
)
_THEY_ASK = re.compile(
    rf"(?:the\s+|my\s+)?{_WHOEVER}\s+(?:asks?|asked|wonders|is\s+asking|wants\s+to\s+know|"
    rf"would\s+like\s+to\s+know)\s+(?:you\s+|me\s+)?"
    r"(?:who|what|where|when|why|how|which|whether|if|about)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_THEY_WANT = re.compile(
    rf"(?:the\s+|my\s+)?{_WHOEVER}\s+(?:wants|would\s+like|wishes|needs)\s+(?:you\s+)?to\s+(?:see\s+|have\s+|hear\s+)?",
    re.IGNORECASE,
)
_QUOTED_PLAN = re.compile(
    r"^(?:(?:with|using|by|following|use|follow|take|choose)\s+)?(?:(?:this|the|following|chosen|selected|own|their)\s+){0,3}"
    r"(?:(?:plan|option|choice)\s*[:=]?\s*)?[\"“](?P<plan>[^\"“”]+)[\"”][\s.]*$",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"(?P<choice>.{0,80}?\b(?:(?:plan|option|choice)\s*#?\w+|\w+\s+(?:plan|option|choice)))"
    r"(?:\s*[,;–—-]+\s*(?:(?:and|but|only)\s+)?|\s+(?:and|but|only)\s+)(?P<wish>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_WHICHEVER = re.compile(
    r"(?:please |and )?(?:with |choose |pick |use |take |select |follow |go with )+(?:whichever|whatever|any|the "
    r"best)\b(?:\s[\w'’]+){0,8}\W*",
    re.IGNORECASE,
)
_A_NUMBER = re.compile(
    r"\b(?:plan|option|opción|choix|plano|piano|nummer|numéro)\s*[#:]?\s*(?P<number>[0-9]{1,2})\b", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"(?:^|(?<=[.!?])\s|\n)(?:(?:please|now|ok|okay|then|great|thanks|forget (?:that|it)|instead|and|so|can (?:you|we)|"
    r"could (?:you|we)|would you|"
    r"i want(?: you)?(?: to)?|i(?:'d| would) like(?: you)?(?: to)?|let['’]s|actually|no|have|do)[\s,.!]+)*"
    r"(?:(?:write|begin|start|start over with|create|make|compose|do)(?: me| us)?|tell (?:me|us)|(?=(?:(?:a|an|one|another|"
    r"the)\s)?(?:another|new|different|"
    r"more|fresh|second|other)\s|another\s))\s?"
    r"(?:(?:(?:another|(?:a|an|one) (?:brand |completely |totally |whole )?(?:new|different|second|fresh|more|other)|(?:new|"
    r"different|fresh|one more)) (?:\w+ ){0,2}(?:story|novel|tale)\b"
    r"(?=\W*$|\s*[:,.;!?–—-]|\s+(?:please|about|of|in|with|where|for|set|on|this|that|instead|now)\b)"
    r"|an? (?:\w+ ){0,2}(?:story|novel|tale) (?:about|of|in which|with|where|set|for|instead)\b)"
    r"|(?:(?:a )?new|another) one,? (?:about|in|with|set)\b)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\n|[.;]\s*$")
MOST_WORDS = 12
"""Words of a task in which the number of a plan, wherever it stands, may be the choice."""
_AN_EXISTING = re.compile(
    rf"(?:(?:please|now|then|ok|okay|can you|could you|would you|i(?:['’]d| would) like you to|i want you to)[\s,]+)*"
    r"(?!.*\bwrite\s+(?:the|this|that|my|our)\s+(?:story|novel|tale|book)\s*[:.,–—-]\s*[^\W\d])"
    rf"(?:{_WRITE}(?:\s+(?:with|on|writing))?\s+(?:the|this|that|my|our|your)\s+(?:(?:current|existing|same|ongoing|last|"
    rf"previous)\s+)*(?:story|novel|tale|book)\b(?!\s+(?:of|about)\b)"
    rf"|{_WRITE}\s+(?:with\s+)?(?:the\s+)?next\s+{_PASSAGE}\b"
    rf"|(?:with\s+)?(?:the\s+)?next\s+{_PASSAGE}\b(?=\W*$|\W*\s(?:please|with|option|plan|[0-9])|\s*[:,–—-]|"
    r"\s+of\s+(?:the|this|my|our)\s+(?:story|novel|tale|book)\b))",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"\b(?:{_WRITES})\s+(?:\w+\s+){{0,2}}(?:first|opening)\b", re.IGNORECASE)
_ARTICLES = (
    "the|a|an|its|your|my|all|both|only|just|any|each|this|that|new|full|complete|entire|whole|resulting|proposed|exact"
)
_OF_THE_WORK = (
    "passages?|plans?|options?|choices?|stor(?:y|ies)|ids?|identifiers?|titles?|texts?|prose|results?|outputs?"
)
_REPORT = r"return|report|output|provide|include|reply|respond|give|send|show|share|present|list|tell"
_BEGIN = r"write|begin|start|create|compose|generate|produce|draft|stop"
# Of words that are a story's, too ("Write a story about words", "nothing", "the last stop"), only the phrases of an order.
_ABOUT_THE_REPLY = (
    r"(?:(?:about|around|roughly|approximately)\s+(?:[0-9]+\s*[–-]\s*)?)?[0-9]+[\s-]+words?|(?:and|then)\s+stop(?:\s+there)?|"
    rf"nothing\s+else|{_ARTICLES}|{_OF_THE_WORK}|interactive|first|opening|next|initial|one|two|three|[0-9]+|numbered|verbatim|"
    r"and|or|with|of|for|in|as|after|along|together|then|also|finally|back|to\s+(?:me|us|the\s+user|the\s+caller)|me|us|reply|response|answer|message|"
    r"afterwards|below|beyond|past|before|more|than|name|plain|json|markdown|format|following|when|done|so|can|be|continued?|later|it|i"
)
_TO_THE_WRITER = re.compile(
    r"(?:(?:your\s+)?(?:task|request|instructions?|requirements?|guidelines|deliverables?|output)\s*[:–—-]*\s*)?(?:"
    # A secret one is a spy, and the last one somebody in a story, too.
    r"you\s+are\s+(?:an?|the|our|my)\s+(?:(?:expert|helpful|skilled|professional|speciali[sz]ed|dedicated|creative|interactive|ai|"
    r"fiction|literary|narrative|novel|story|(?:story)?(?:writing|tell(?:ing|er))|writer|research)[\s-]+)*sub-?agent"
    r"|you\s+are\s+(?:an?|the|our|my)\s+(?:expert\s+|helpful\s+|skilled\s+|professional\s+)*"
    # An AI alone, or a literary agent, is somebody in a story.
    r"(?:(?:ai|fiction|literary)[\s-]+){0,2}(?:creative|story|story-?\s?writing|story-?\s?telling|writing|narrative)[\s-]+"
    r"(?:(?:creative|fiction|story|writing|ai)[\s-]+){0,2}(?:agent|assistant)"
    r"|(?:(?:please|then|and|also|finally|now|afterwards|in\s+your\s+(?:reply|response|answer|final\s+message))[\s,]+)*"
    r"(?:(?:make\s+sure\s+to|be\s+sure\s+to|remember\s+to|only|just)\s+)*"
    rf"(?:(?:{_REPORT})(?=\W.*\b(?:passage|ids?|identifier|prose|stor(?:y|ies)|full\s+text)\b)"
    rf"|(?:(?:do\s+not|don['’]t|never)\s+(?:{_BEGIN}|continue|go)|{_BEGIN})(?=\W.*\b(?:passages?|story|chapter)\b))"
    rf"(?:[\s,:;&+()/–—-]+(?:{_ABOUT_THE_REPLY})\b)*|)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence that a host says to its subagent, from its first word to its last: who it is, how far to write, what to report."""
NO_STORY = (
    "Nothing was written, for this names no story. To go on with one, give its id with the number of a plan or with what happens "
    "next ('Story 0123456789ab: 2'); to begin one, say in a sentence what it is about."
)
NOT_AN_ANSWER = (
    "Nothing was written: a passage is written from the number of a plan, or from what happens next in a sentence."
)


def named_story(text: str) -> str | None:
    """Return the id of the story that a text names last, in words that leave no doubt; None for none."""
    found = _NAMING_PLAINLY.findall(_tidy(text))
    return found[-1].lower() if found else None


def asked_story(task: str) -> str | None:
    """Return the id of the story that a task names, also by nothing but its id or as a field of JSON; None for none."""
    fields = _fields(task)
    if fields is not None:
        return next((value for name, value in fields.items() if name in _STORY and isinstance(value, str)), None)
    found = _NAMING.search(_tidy(task))
    return (found["id"] or found["bare"]).lower() if found else None


def premise_of(task: str) -> str:
    """Return the premise in a task that begins a story, without what a host tells its subagent: who it is, and what to report.

    Only whole sentences and lines are left out, and of them those that have no other words; empty where nothing is left.
    """
    pieces = re.split(r"((?<=[.!?])\s+|\s*\n\s*)", task)
    kept = [
        piece + "".join(pieces[at + 1 : at + 2])
        for at, piece in enumerate(pieces)
        if at % 2 == 0 and piece.strip() and not _TO_THE_WRITER.fullmatch(piece.strip(" \t.!?:;,*#>-–—•()[]"))
    ]
    return "".join(kept).strip()


def begins_another(task: str) -> bool:
    """Tell whether a task asks for a story beside those that there are, and names none."""
    return _ANOTHER.search(task.strip()) is not None and asked_story(task) is None


def begins_none(task: str) -> bool:
    """Tell whether a task that names no story is no premise: it means one that there is, or says nothing of one."""
    if not task.strip() or A_STORY.search(task) or _FIRST.search(task):
        return False
    if _AN_EXISTING.match(_tidy(task)):
        return True
    try:
        answer = asked_answer(task, ())
    except BadAnswer:
        return True
    return answer == GO_ON or not isinstance(answer, str) or is_no_premise(answer)


def asked_answer(task: str, plans: Sequence[str], asked: str = "") -> object:
    """Return the answer in a task that goes on with a story; raise BadAnswer, which asks back, where there is none in it.

    A yes is what the reply before `asked` back.
    """
    if (fields := _fields(task)) is not None:
        said = {name: value for name, value in fields.items() if name not in _STORY}
        return said["plan"] if list(said) == ["plan"] else said or GO_ON
    task, named = _tidy(task), asked_story(task) is not None
    text = _NAMING.sub(lambda it: "\n" if _ENDS.search(it[0]) else " ", task) if named else task
    text = text.strip(" \t\n,:;–—-") if named else text.strip()
    if named and not re.search(r"\w", text):
        return GO_ON
    if (meant := agreed(text, asked, plans)) is not None:
        return str(meant)
    parts = [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if re.search(r"\w", part)]
    kept = [part.strip() for part in parts if not _goes_without_saying(part.strip(" .!?:;,*-"))]
    choices = [text, *_choices(kept[0] if len(kept) == 1 else text)]
    if (chosen := next((it for it in choices if _plain(it, plans) is not None), None)) is not None:
        return chosen
    if (wished := _with_wishes(kept, plans)) is not None:
        return wished
    if (parts and not kept and not _WRITING.search(task)) or (len(kept) == 1 and _THEY_ASK.fullmatch(kept[0])):
        raise BadAnswer(NOT_AN_ANSWER)
    if (parts and not kept) or (len(kept) == 1 and _WHICHEVER.fullmatch(kept[0])):
        return GO_ON
    if (doubtful := next((it for it in choices if is_phrase(it, plans)), None)) is not None:
        return doubtful
    mentions = [int(it["number"]) for it in _A_NUMBER.finditer(text) if it.start() > 0]
    if (
        named
        and len(kept) == 1
        and len(mentions) == 1
        and 1 <= mentions[0] <= len(plans)
        and len(text.split()) <= MOST_WORDS
    ):
        return f"maybe plan {mentions[0]}"
    plan = " ".join(kept) if len(kept) < len(parts) else text
    if named and (quoted := _QUOTED_PLAN.match(plan)):
        return quoted["plan"]
    joining = _JOINING.match(plan) if named else None
    return plan[joining.end() :] if joining else plan


def _choices(text: str) -> Iterator[str]:
    """Yield what may be the choice in a sentence, with less and less around it."""
    text = _OF_THIS.sub("", _TAIL.sub("", text))
    yield text
    if found := _QUOTED_PLAN.match(text):
        yield found["plan"]
    if found := _CHOOSING.match(text):
        text = text[found.end() :] or text
    yield re.sub(r"[\"“'](\d+)[\"”']", r"\1", _NUMBER_OF.sub(r"\1 ", text))


def _with_wishes(parts: Sequence[str], plans: Sequence[str]) -> object:
    """Return the plan that the first of these sentences chooses, edited by what the others wish for; None where none is."""
    if not parts or not _A_PLAN.search(parts[0]):
        return None
    first, *others = parts
    wished = _WISHED.fullmatch(first)
    divided: list[tuple[str, Sequence[str]]] = [(first, others)] if others else []
    # "The second plan and the money are gone." is a sentence.
    if wished and (re.search(r"\d", wished["choice"]) or _CHOOSING.match(wished["choice"])):
        wish = wished["wish"]
        more = [] if _goes_without_saying(wish.strip(" .!?")) else [wish[0].upper() + wish[1:]]
        divided.append((wished["choice"], [*more, *others]))
    for chooses, wishes in divided:
        for choice in _choices(chooses):
            number = _plain(choice, plans)
            if isinstance(number, int) and 1 <= number <= len(plans):
                if not wishes:
                    return number
                return {"action": "edit", "number": number, "plan": " ".join((plans[number - 1], *wishes))}
    return None


def _goes_without_saying(part: str) -> bool:
    part = _THEY_WANT.sub("", part)
    return (_GOES_WITHOUT_SAYING.fullmatch(part) or _FROM_THERE.fullmatch(part)) is not None


def _plain(text: str, plans: Sequence[str]) -> int | str | None:
    """Return the number or the action that a text is beyond doubt; None for none."""
    try:
        return understand(text, plans)
    except BadAnswer:
        return None


def _tidy(text: str) -> str:
    """Return a text without the marks of Markdown, and without runs of blanks, over which patterns would go again and again."""
    unmarked = re.sub(r"\*{1,3}|(?m:^[^\S\n]*(?:[-•]|#{1,6})[^\S\n]+)", "", text).replace("w/ ", "with ")
    return re.sub(r"\n\s*", "\n", re.sub(r"[^\S\n]+", " ", unmarked)).strip()


_STORY = ("story", "story_id", "id")


def _fields(task: str) -> Mapping[str, Any] | None:
    if not task.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(task)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and fields.keys() & set(_STORY) else None
