"""Tell what makes a sentence unfit for a story: copied, looping, a script, a heading, a comment, a foreign alphabet.

Each rule looks for what models do and novelists do not. Where real fiction does the same thing (a shout in
capitals, a quoted letter, a refrain of three words, a name with an accent), the rule lets it pass: a missed fault costs
one bad sentence, a false one costs another sample at every such sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from recurrentgpt.prose.alphabets import foreign_characters
from recurrentgpt.prose.banned import BannedPhrases
from recurrentgpt.prose.looping import PassageIndex, find_loop
from recurrentgpt.prose.sentences import segments
from recurrentgpt.prose.shared_runs import ngrams, tokens
from recurrentgpt.prose.unwrap import HEADING, NOTE, TALK, Talk, announcement, talk_of, whole_words, without_emphasis

Kind = Literal[
    "banned",
    "copying",
    "loop",
    "script",
    "heading",
    "meta",
    "alphabet",
    "code",
    "control",
    "role",
    "narrator",
    "speaker",
]

MOST_ALIKE, FEWEST_WORDS = 0.75, 5
"""Share of their different words that two sentences of so many may have in common, before the one says the other again."""

COPY_LIMIT = 10
"""Most words in a row that a passage may share with another text. The contract says 12; the margin is for runs across a cut."""


@dataclass(frozen=True)
class Fault:
    """Say what is wrong with a piece of text: its kind, and the words that show it."""

    kind: Kind
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def find_fault(
    text: str,
    *,
    seen: Sequence[str] = (),
    before: str = "",
    language: str = "English",
    finale: bool = False,
    third_person: bool = False,
    copy_limit: int = COPY_LIMIT,
) -> Fault | None:
    """Return the first fault of `text`, one sentence or more, or None.

    `before` is what the same passage says before it, `seen` every text that it must not copy; `finale` allows "The end".
    """
    examiner = Examiner(seen=seen, language=language, finale=finale, third_person=third_person, copy_limit=copy_limit)
    for piece in segments(text, language):
        if piece.strip() and (fault := examiner.examine(piece, before)):
            return fault
        before += piece
    return None


class Examiner:
    """Examine the sentences of one passage, one after the other; what the passage must not copy is indexed once.

    Of a `capable` model's only what no story says is a fault: its lists, labels, brackets and foreign words are meant.
    """

    def __init__(
        self,
        *,
        seen: Sequence[str] = (),
        language: str = "English",
        finale: bool = False,
        third_person: bool = False,
        copy_limit: int = COPY_LIMIT,
        banned: Sequence[str] = (),
        capable: bool = False,
    ) -> None:
        self._capable = capable
        self._banned = BannedPhrases(banned)
        self.language, self.finale, self.third_person, self.copy_limit = language, finale, third_person, copy_limit
        self._index = PassageIndex()
        self._seen = set[tuple[str, ...]]().union(*(_runs(other, copy_limit + 1) for other in seen))
        self._previous = seen[0] if seen else ""

    def examine(self, sentence: str, before: str = "", *, emphasised: bool = False) -> Fault | None:
        """Return what is wrong with `sentence`, which follows `before` in its passage, or None."""
        if self._capable:
            return (
                self._ban(sentence, before)
                or _control(sentence)
                or machine_talk(sentence, before, finale=self.finale, language=self.language, emphasised=emphasised)
                or _labelled(sentence, before)
                or _other_language(sentence, self.language)
                or self._repeating(sentence, before)
            )
        return (
            self._ban(sentence, before)
            or _control(sentence)
            or _role(sentence)
            or _code(sentence)
            or _heading(sentence, before)
            or _meta(sentence, before, self.finale)
            or _script(sentence, before)
            or _alphabet(sentence, self.language)
            or (_narrator(sentence, before) if self.third_person else None)
            or _speaker(sentence, before)
            or self._repeating(sentence, before)
            or self._alike(sentence, before)
        )

    def _ban(self, sentence: str, before: str) -> Fault | None:
        phrase = self._banned.find(sentence, before)
        return Fault("banned", phrase) if phrase else None

    def _repeating(self, sentence: str, before: str) -> Fault | None:
        own = tokens(sentence)
        self._index.follow(before)
        if self._seen:
            for run in ngrams(self._index.last(self.copy_limit) + own, self.copy_limit + 1):
                if run in self._seen:
                    return Fault("copying", " ".join(run))
        found = find_loop(sentence, before, self._index, own)
        return Fault("loop", found) if found else None

    def _alike(self, sentence: str, before: str) -> Fault | None:
        """Tell of a sentence that says one of its passage, or of the one before, with a word changed."""
        own = frozenset(tokens(sentence))
        if len(own) < FEWEST_WORDS:
            return None
        denies, fewest, most = _denies(own), MOST_ALIKE * len(own), len(own) / MOST_ALIKE
        for paragraph in f"{before}\n{self._previous}".split("\n"):
            for other, told in _sentences_of(paragraph, self.language):
                # Most are too long or too short, which is soon told.
                if not fewest <= len(told) <= most:
                    continue
                # "I don't know" answers "I know", and says something else.
                if len(own & told) >= MOST_ALIKE * len(own | told) and denies == _denies(told):
                    return Fault("loop", other)
        return None


_DENYING = frozenset(
    {"no", "not", "never", "nobody", "none", "nothing", "nowhere", "neither", "nor", "cannot", "without"}
)


def _denies(words: frozenset[str]) -> bool:
    return not _DENYING.isdisjoint(words) or any(word.endswith("n't") for word in words)


@lru_cache(maxsize=256)
def _sentences_of(paragraph: str, language: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the sentences of a paragraph, each with its different words."""
    return tuple((piece.strip(), frozenset(tokens(piece))) for piece in segments(paragraph, language))


@lru_cache(maxsize=128)
def _runs(text: str, size: int) -> frozenset[tuple[str, ...]]:
    """Return the runs of a text that is not to be copied: every passage of a while is held against the same ones."""
    return frozenset(ngrams(tokens(text), size))


_PLAIN = re.compile(r"[\n\r\t -~]+")


def _control(sentence: str) -> Fault | None:
    for character in _PLAIN.sub("", sentence):
        category = unicodedata.category(character)
        # Joiners (Cf) shape Arabic and Indic words, so of that class only what never does is a fault.
        if category in ("Cc", "Co", "Cs", "Cn") or character in "\ufffd\ufeff\u202a\u202b\u202c\u202d\u202e":
            return Fault("control", f"U+{ord(character):04X}")
    return None


_ROLE = re.compile(
    r"<\|[^|\n]{0,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|^\s*#{2,} ?(?:Instruction|Response)"
    r"|(?m:^\s*(?:Assistant|User|System|Human) ?:)"
)


def _role(sentence: str) -> Fault | None:
    match = _ROLE.search(sentence)
    return Fault("role", match.group().strip()) if match else None


_CODE = re.compile(
    r"```|</?[a-z][a-z0-9]*(?: [^<>\n]*)?/?>|[{}]|\"\s*:\s*[\"\[{\d]"
    r"|(?m:^\s*(?:def|class|import|print|return|var|const) ?\w*[\s(.].*[():;]\s*$)|https?://|==|!=|=>|\w\(\)|&[a-z]{2,6};|\\[nt]|\d{16}"
)


def _code(sentence: str) -> Fault | None:
    match = _CODE.search(sentence)
    return Fault("code", match.group().strip()) if match else None


_HEADING = re.compile(
    r"(?m:^\s*(?:#{1,6}\s|[-*_=]{3,}\s*$|\*\*[^*\n]+\*\*:?\s*$|[-*•+]\s+\S|\d{1,2}[.)](?:\s+\S|\s*$)|\|.*\|\s*$))|\*\*|__\w"
)
_NUMBERED = re.compile(
    r"(?:chapter|scene|part|act|section|episode|step)\s+"
    r"(?:\d+|[ivxlc]+|one|two|three|four|five|six|seven|eight|nine|ten)\b(?=\s*(?:[:.\n—–-]|$))|(?:epilogue|prologue)\s*(?:[:\n]|$)",
    re.IGNORECASE,
)


def _starts_line(before: str) -> bool:
    return not before.strip() or before.rstrip(" ").endswith("\n")


def _heading(sentence: str, before: str) -> Fault | None:
    if match := _HEADING.search(sentence):
        at_line_start = match.start() > 0 or _starts_line(before) or "**" in match.group() or "__" in match.group()
        if at_line_start:
            return Fault("heading", match.group().strip())
    if _starts_line(before) and (numbered := _NUMBERED.match(sentence.strip())):
        return Fault("heading", numbered.group().strip())
    return None


# "Then: silence." is a sentence of a novel; "Maya: Run!" is a line of a script.
_NOT_SPEAKERS = frozenset(
    {"then", "now", "outside", "inside", "silence", "and", "but", "yes", "no", "so", "nothing", "still", "again",
     "one", "two", "three", "worse", "better", "result", "above", "below", "behind", "ahead", "there", "here",
     "first", "second", "third", "finally", "later", "today", "tonight", "tomorrow", "yesterday", "because", "or"}
)  # fmt: skip
_SPEAKER = re.compile(r"(?m:^\s*([^\W\d_][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3})(\s*\([^)\n]*\))?\s*:\s*(?=\S))")
_DIRECTION = re.compile(
    r"(?m:^\s*(?:INT\.|EXT\.|FADE (?:IN|OUT|TO)|CUT TO\b|DISSOLVE TO|SCENE\b.*:)"
    r"|^\s*\([^()\n]*\)\s*$|^\s*\[[^\[\]\n]*\]\s*$)"
)


def _script(sentence: str, before: str) -> Fault | None:
    lines = sentence if _starts_line(before) else "\n".join(["", *sentence.split("\n")[1:]])
    if match := _DIRECTION.search(lines):
        return Fault("script", match.group().strip())
    for match in _SPEAKER.finditer(lines):
        name, aside = match.group(1), match.group(2)
        following = lines[match.end() : match.end() + 1]
        capital = name[0].isupper() or not name[0].islower()
        speaks = aside or name.isupper() or following in "\"“«‘'" or following.isupper()
        if capital and speaks and name.casefold() not in _NOT_SPEAKERS and not _NOTE.match(name + ":"):
            return Fault("script", match.group().strip())
    return None


_NOTE = re.compile(
    r"(?:note|author'?s note|title|summary|plan|premise|outline|genre|word count|words|novel|people|setting|story|passage"
    r"|the next scene|next scene|continued|already told)\s*:",
    re.IGNORECASE,
)
_WORK = r"(?:scene|passage|story|continuation|chapter|draft|version|text|revision|novel|excerpt|plan)"
_META_BEGINNING = re.compile(
    "|".join(
        (
            r"(?:sure|certainly|of course|absolutely|okay|great)!",
            r"(?:sure|certainly|of course),? (?:here|i can|i'll|let me)\b",
            rf"here(?:'s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{_WORK}s?\b",
            r"i(?:'m| am) sorry,? but i (?:can(?:'t|not)|am (?:unable|not able))",
            r"i (?:can(?:'t|not)|am unable to) (?:assist|help with|fulfil|continue|write|provide|generate)",
            rf"(?:in )?(?:this|the) (?:next |final |above |following |last )?{_WORK} "
            r"(?:shows|ends|begins|opens|continues|closes|describes|explores|follows|takes place|is set|concludes|introduces)\b",
            rf"in this {_WORK}\b|the reader\b",
            r"word count\b|\(?(?:about |approximately )?\d{2,4} words\)?[.!]?$",
            r"let me know if\b|i hope (?:this|you enjoy)|feel free to\b|would you like me to\b",
            r"(?:continue|continuing) the (?:story|scene)\b|next, let'?s\b|let'?s (?:add|continue|write|start)\b",
            r"i(?:'ll| will) (?:start|begin|continue|write) (?:with|by|the (?:scene|story|passage))\b",
        )
    ),
    re.IGNORECASE,
)
_META_WITHIN = re.compile(
    r"\b(?:as an ai|(?:ai|large) language model|open ?ai|chatgpt|to be continued|"
    r"(?:end of|next) (?:the )?(?:scene|chapter|passage))\b",
    re.IGNORECASE,
)
_AROUND = r"[^\w\"“”„«»「」?？]*"
_THE_END = re.compile(
    rf"^{_AROUND}(?:the end|fin|end|全文[完终終]|[完终終]){_AROUND}$"
    r"|^\W*[(（\[【](?:ende|fine|fim|einde|конец|おわり|終わり)[)）\]】]\W*$",
    re.IGNORECASE,
)


def _meta(sentence: str, before: str, finale: bool) -> Fault | None:
    plain = sentence.strip()
    if "[...]" in plain or "[…]" in plain:
        return Fault("meta", "[...]")
    if _THE_END.match(plain):
        return None if finale else Fault("meta", plain)
    if _starts_line(before) and (match := _NOTE.match(plain)):
        return Fault("meta", match.group())
    told = narration(plain, before).strip(" \n,")
    match = _META_BEGINNING.match(told) or _META_WITHIN.search(told)
    return Fault("meta", match.group()) if match else None


_TOKEN = re.compile(
    r"<\|[^|\n]{0,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|^\s*#{2,} ?(?:Instruction|Response)|\A\s*(?:Assistant|User) ?:"
)
_MARKUP = re.compile(r"```|</?[a-z][a-z0-9]*(?: [^<>\n]*)?/?>|\"\s*:\s*[\"\[{\d]")
_TITLE = re.compile(
    r"(?:#{1,6} \S|[(\[]?(?:(?:chapter|scene|part|act|section|episode|passage) "
    r"(?:\d+|(?-i:[IVXLC]+)|one|two|three|four|five|six|seven|eight|nine|ten)(?: of \d+)?"
    rf" ?(?:[:：;.—–-][^\n]{{0,80}})?|{HEADING}) ?[)\]]?\s?\Z|(?:epilogue|prologue)\W*\Z)",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"[^\S\n]+")
_MADE = r"(?:scene|passage|continuation|draft|version|revision|excerpt|rewrite|next chapter|story)"
_MACHINE_TALK = re.compile(
    "|".join(
        (
            r"(?:sure|certainly|of course|absolutely|okay)[,!.:]? (?:here(?:'s| is| are) (?:the|a|an|your|my)"
            rf"|i(?:'ll| will) (?:write|continue) (?:the|this|that|an?|your) (?:\w+ ){{0,2}}{_MADE}|i can (?:write|help))\b",
            rf"here(?:'s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{_MADE}s?"
            r"(?: (?:for you|again|as requested|you asked for|of the (?:passage|scene|novel|story)|with [^.:\n]{0,60}))?"
            r"\s*[:.!]\W*\Z",
            r"i (?:can(?:'t|not)|am unable to) (?:assist with|help with (?:that|this)|fulfil"
            r"|(?:write|continue|generate) (?:this|that|the) (?:story|scene|passage|content))\b",
            r"\(?(?:word count|author'?s note|genre|premise|outline|summary)\s*:",
            r"(?:title|story|plan)\s*:.*\b(?:passage|scene|draft|word count|\d+ words|prompt)\b",
            r"note\s*:.*\b(?:this (?:passage|scene|draft)|word count|\d+ words|prompt)\b",
            rf"below (?:is|are) (?:(?:the|an?|your|my) )?(?:\w+ ){{0,3}}{_MADE}s?"
            r"(?: \d+(?: of \d+)?[:.!]|[^.:,\n]{0,40}:)\W*\Z",
            NOTE,
            rf"this {_MADE} (?:shows|describes|explores|introduces|concludes)\b",
            r"[(\[]?[~≈]? ?(?:about |approximately )?\d{2,4} words[)\]]?[.!]?\Z",
            r"let me know if (?:you(?:'d| would)? (?:like|want|need|prefer)|there(?:'s| is) anything|this works|any changes)\b",
            r"let me know what (?:you(?:'d| would)? (?:think|like|want|prefer)|(?:should )?happens? next|to (?:change|write))\b",
            r"i hope this (?:fits|suits|matches|follows|captures|serves) (?:the|your) "
            r"(?:plan|tone|voice|style|outline|request|story)\b",
            r"i hope (?:this (?:passage|scene|version|story|helps|works|meets)|you enjoy(?:ed)? (?:this|the (?:passage|story)))"
            r"\b",
            r"would you like me to (?:continue|write|go on|revise|add|change|expand)\b",
            r"feel free to (?:ask|let me know|request|edit|adjust)\b|continuing the (?:story|scene)[.:]?\W*\Z",
            r"\(?(?:the |this )?(?:story|passage|scene|novel|chapter) is(?: now| already)? (?:complete|finished|whole)\b"
            r"[^.\n]{0,60}\W*\Z",
            r"(?:there(?:'s| is) )?nothing (?:more|further|else|left)? ?to add\b[^.\n]{0,30}\W*\Z",
            r"\W*(?:(?:the )?end of|next) (?:the )?(?:scene|chapter|passage|part)(?: (?:\d+|one|two|three|four|five|six))?\W*\Z"
            r"|\W*to be continued\W*\Z",
            # What our own requests speak of: turns of the outline, clues to plant, a reply that is the passage alone.
            r"[(\[]?turn \d+ (?:is )?(?:now )?(?:done|complete|completed|finished|reached|under ?way)\b[^.\n]{0,40}\W*\Z",
            r"[(\[]clues?(?: (?:planted|placed|shown|given))?\s*:[^\n]*[)\]]\W*\Z|\[(?:done|end)\]\Z",
            r"[(\[][^\n]{0,60}\bclues?\b[^\n]{0,60} (?:is|are|ha(?:s|ve) been) (?:planted|placed|shown)\b[^\n]*[)\]]\W*\Z",
        )
    ),
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"\bas an? (?:ai|(?:ai |large )?language model|ai assistant),? (?:i|my)\b"
    r"|\bi(?:'m| am) (?:just |only )?an? (?:ai|(?:ai |large )?language model|ai assistant)\b"
    r"|\b(?:made|created|trained|developed) by open ?ai\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"i(?:'m| am) (?:very |so )?sorry[,;:]? (?:but )?i(?: can(?:'t|not)|(?:'m| am) (?:unable|not able) to) (?:assist\b|comply\b"
    r"|(?:continue|proceed|complete|fulfill?|generate|provide|create|produce)\b(?: (?:with )?(?:this|that))?\W*\Z"
    r"|(?:help(?: you)?|write|go (?:on|further)) (?:with |than )?(?:this|that)\W*\Z"
    r"|(?:continue|proceed|help|go (?:on|(?:any )?further)|write|complete|fulfill?|generate|provide|create|produce)\b(?:"
    r"[^.,;\n]{0,40}\b(?:writing|stor(?:y|ies)|(?:scene|passage|chapter|text|novel|request|content)s?)\b))",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"[(\[~≈\d]|word count|author|note\s*:|(?:the )?end of|to be continued", re.IGNORECASE)
_DASH = ("—", "–", "―", "- ")
"""What opens a paragraph of speech where quotation marks do not."""
_AUTHORS_NOTE = re.compile(rf"[(\[]?{NOTE}", re.IGNORECASE)
_RULE = re.compile(r"[-*_=#~]{3,}\s*\n\s*")


@cache
def _other_talk(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of what a model says in other languages than English, in a line of its own."""
    return _either(
        rf"[(（\[]?(?:{it.counts})\s?[:：]\s?[~≈]?\s?(?:\w{{1,9}}\.? )?\d{{2}}"
        rf"|[(（\[]?\s?(?:[~≈约約]|ca\.|circa|etwa|environ|unos|cerca de|ongeveer|около)?\s?\d{{2,5}} ?(?:{it.words})"
        r"[)）\]]?[.!。]?\Z"
        rf"|¿?(?:{it.offers})[^.\n?？。]{{0,40}}?(?:{whole_words(code, it.offered)}[^.\n?？。]{{0,40}}[?？。]"
        rf"|(?:{it.goes_on})\w{{0,9}}\s?[?？。])\W*\Z"
        rf"|[(（\[【]?\s?(?:{it.ends})[\s.…。!)）\]】]*\Z"
        for code, it in _talk(codes)
    )


@cache
def _other_refusal(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of how a model refuses in other languages than English: what it was asked for, or to go on at all."""
    return _either(
        rf"(?:{it.sorry})[^.,，、\n。]{{0,12}}[,，、]?[^.,，、\n。]{{0,18}}(?:{it.cannot})"
        rf"[^.,，\n。]{{0,60}}?(?:{whole_words(code, it.refused)}|(?:{it.goes_on})\w{{0,9}}\W*\Z)"
        for code, it in _talk(codes)
    )


def _talk(codes: tuple[str, ...]) -> list[tuple[str, Talk]]:
    return [(code, TALK[code]) for code in codes]


def _either(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


LINE_SHOWN = 60
"""Most characters of a line that a model is shown as what is wrong."""


def machine_talk(
    sentence: str, before: str, *, finale: bool, language: str | None = None, emphasised: bool = False
) -> Fault | None:
    """Return what in a sentence no story says: marks of chats and code, a heading, a word to whoever asked for the passage.

    What stands `emphasised` in its line is a message in the story, and refuses nobody.
    """
    if match := _TOKEN.search(sentence if not before.strip() else f".{sentence}"):
        return Fault("role", match.group().strip())
    if match := _MARKUP.search(sentence):
        return Fault("code", match.group().strip())
    plain = sentence.strip()
    if "[...]" in plain or "[…]" in plain:
        return Fault("meta", "[...]")
    if _THE_END.match(plain):
        return None if finale else Fault("meta", plain)
    if _starts_line(before) and (match := _TITLE.match(line := _BLANKS.sub(" ", sentence).strip())):
        return Fault("heading", _line_of(line, match))
    starts, paragraph = _starts_line(before), without_emphasis(before.rpartition("\n")[2]).lstrip()
    told = (
        narration(_RULE.sub("", plain, count=1) if _RULE.match(plain) else plain, before)
        .strip(" \n,")
        .replace("’", "'")
    )
    spoken = emphasised or paragraph.startswith(_DASH) or told[:1].islower()
    codes = talk_of(language)
    # A line in italics is read or thought in the story, unless it says what no story does.
    read = emphasised and not _OUTSIDE.match(told)
    match = (
        (_MACHINE_TALK.match(told) if (starts or not told[:1].islower()) and not read else None)
        or _MODEL.search(told)
        or (announcement(codes).match(told) or _other_talk(codes).match(told) if starts else None)
        or (None if spoken else _REFUSAL.match(told) or _other_refusal(codes).match(told))
        # The rest of a note is part of it.
        or _AUTHORS_NOTE.match(paragraph)
    )
    return Fault("meta", match.group().strip()) if match else None


_EMPHASISED = re.compile(r"\s*+(\*{1,3}|_{1,2})[^\s*_][^*_\n]*+(?:\1\W*)?")


def is_emphasised(sentence: str, before: str) -> bool:
    """Tell whether a sentence stands in a line that is emphasised from its beginning to where it ends."""
    return bool(_EMPHASISED.fullmatch(before.rpartition("\n")[2] + sentence))


_LABEL = re.compile(r"(?m:^\s*[^\W\d_a-z]{3,}(?: [^\W\d_a-z]+){0,3}\s*(?:\([^)\n]*\))?\s*:\s*\S)|^\s*\w+ \([^)\n]*\):")
_CAMERA = re.compile(r"(?m:^\s*(?:INT\.|EXT\.|FADE (?:IN|OUT|TO)|CUT TO\b|DISSOLVE TO|SCENE\b.*:))")


def _labelled(sentence: str, before: str) -> Fault | None:
    """Return what makes a capable model's sentence a line of a script: a name in capitals, or an aside, before what is said."""
    lines = sentence if _starts_line(before) else "\n".join(["", *sentence.split("\n")[1:]])
    match = _CAMERA.search(lines) or _LABEL.search(lines)
    return Fault("script", _line_of(lines, match)) if match and _script(sentence, before) else None


def _line_of(text: str, match: re.Match[str]) -> str:
    """Return the beginning of the line in which a pattern was found, as whoever wrote it knows it again."""
    return text[match.start() :].strip().partition("\n")[0][:LINE_SHOWN]


def _other_language(sentence: str, language: str) -> Fault | None:
    """Return the letters of another script that most of a sentence is written in: a word of it may be read in the story."""
    found = [character for character in foreign_characters(sentence, language) if character.isalpha()]
    letters = sum(character.isalpha() for character in sentence)
    slip = any(unicodedata.name(character, "").startswith(_SLIPS) for character in found)
    return Fault("alphabet", "".join(found[:12])) if found and (slip or len(found) > max(12, letters // 2)) else None


_SLIPS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Scripts into which models slip in the middle of a sentence of another."""


def narration(sentence: str, before: str = "") -> str:
    """Return `sentence` without what people say in it; `before` tells whether a quotation is still open."""
    paragraph = before.rpartition("\n")[2]
    text, begin, kept = paragraph + sentence, len(paragraph), []
    for said in _SAID.finditer(text):
        kept.append(text[begin : max(begin, said.start())])
        begin = max(begin, said.end())
    return "".join([*kept, text[begin:]])


_QUOTES = {'"': '"', "“": "”", "«": "»", "‘": "’", "「": "」", "『": "』"}
_SAID = re.compile(
    "|".join(
        (
            r"„[^“”]*(?:[“”]|\Z)|»[^«]*(?:«|\Z)",
            *(rf"{opens}[^{closes}]*(?:{closes}|\Z)" for opens, closes in _QUOTES.items()),
        )
    )
)
_FIRST_PERSON = re.compile(r"(?<![\w'’])(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]yself)(?![\w'’])")


def _narrator(sentence: str, before: str) -> Fault | None:
    # With straight single quotes one cannot tell speech from narration, so the rule stays silent there.
    if re.search(r"(?:^|\s)'\w", before.rsplit("\n", 1)[-1] + sentence):
        return None
    match = _FIRST_PERSON.search(narration(sentence, before))
    return Fault("narrator", match.group()) if match else None


_SAYS = r"(?:said|says|asked|asks|whispered|whispers|called|calls|replied|cried|shouted|answered)"
_TO_ONESELF = re.compile(
    rf'\s*"(?:[^"]*, )?(?P<last>[A-Z][\w’-]+)[,.]" (?P=last) {_SAYS}\b|\s*"(?P<first>[A-Z][\w’-]+), [^"]*" (?P=first) {_SAYS}\b'
)
_ASKS_A_NAME = re.compile(r"\b(?:names?|called|who)\b[^.\n]*\?", re.IGNORECASE)


def _speaker(sentence: str, before: str) -> Fault | None:
    """Find whoever speaks to themselves by name, unless somebody has just asked for it."""
    match = _TO_ONESELF.match(sentence)
    if match is None or _ASKS_A_NAME.search(before[-120:]):
        return None
    return Fault("speaker", match["last"] or match["first"])


def _alphabet(sentence: str, language: str) -> Fault | None:
    found = foreign_characters(sentence, language)
    return Fault("alphabet", found[:12]) if found else None
