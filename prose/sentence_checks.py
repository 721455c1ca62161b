"""Tell what makes a sentence unfit for a story: copied, looping, a script, a heading, a comment, a foreign alphabet.

Each rule looks for what models do and novelists do not. Where real fiction does the same thing (a shout in
capitals, a quoted letter, a refrain of three words, a name with an accent), the rule lets it pass: a missed fault costs
one bad sentence, a false one costs another sample at every such sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from recurrentgpt.prose.alphabets import foreign_characters
from recurrentgpt.prose.banned import BannedPhrases
from recurrentgpt.prose.fault import LINE_SHOWN, Fault, line_of
from recurrentgpt.prose.looping import PassageIndex, find_loop
from recurrentgpt.prose.machine_talk import LABEL, machine_talk, remark
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentences import is_cut, segments, starts_line
from recurrentgpt.prose.shared_runs import ngrams, tokens

MOST_ALIKE, FEWEST_WORDS = 0.75, 5
"""Share of their different words that two sentences of so many may have in common, before the one says the other again."""

COPY_LIMIT = 10
"""Most words in a row that a passage may share with another text. The contract says 12; the margin is for runs across a cut."""


def find_fault(
    text: str,
    *,
    seen: Sequence[str] = (),
    before: str = "",
    language: str = "English",
    finale: bool = False,
    third_person: bool = False,
    past_tense: bool = False,
    copy_limit: int = COPY_LIMIT,
) -> Fault | None:
    """Return the first fault of `text`, one sentence or more, or None.

    `before` is what the same passage says before it, `seen` every text that it must not copy; `finale` allows "The end".
    """
    examiner = Examiner(
        seen=seen,
        language=language,
        finale=finale,
        third_person=third_person,
        past_tense=past_tense,
        copy_limit=copy_limit,
    )
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
        past_tense: bool = False,
        copy_limit: int = COPY_LIMIT,
        banned: Sequence[str] = (),
        strangers: Sequence[str] = (),
        capable: bool = False,
    ) -> None:
        self._capable = capable
        self._banned = BannedPhrases(banned)
        self._strangers = re.compile(rf"\b(?:{'|'.join(map(re.escape, strangers))})\b") if strangers else None
        self.language, self.finale, self.copy_limit = language, finale, copy_limit
        self.third_person, self.past_tense = third_person, past_tense
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
            or _cut(sentence, self.language)
            or _heading(sentence, before)
            or remark(sentence, before, self.finale)
            or _script(sentence, before)
            or _alphabet(sentence, self.language)
            or (_narrator(sentence, before) if self.third_person else None)
            or _speaker(sentence, before)
            or self._repeating(sentence, before)
            or self._alike(sentence, before)
            # The last one, for a gate lets it pass in the end.
            or (_present(sentence, before) if self.past_tense else None)
        )

    def _ban(self, sentence: str, before: str) -> Fault | None:
        if phrase := self._banned.find(sentence, before):
            return Fault("banned", phrase)
        stranger = self._strangers and self._strangers.search(sentence)
        return Fault("banned", stranger[0]) if stranger else None

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


def _cut(sentence: str, language: str) -> Fault | None:
    return Fault("cut", sentence[-LINE_SHOWN:].strip()) if is_cut(sentence, language) else None


def _heading(sentence: str, before: str) -> Fault | None:
    if match := _HEADING.search(sentence):
        at_line_start = match.start() > 0 or starts_line(before) or "**" in match.group() or "__" in match.group()
        if at_line_start:
            return Fault("heading", match.group().strip())
    if starts_line(before) and (numbered := _NUMBERED.match(sentence.strip())):
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
    lines = sentence if starts_line(before) else "\n".join(["", *sentence.split("\n")[1:]])
    if match := _DIRECTION.search(lines):
        return Fault("script", match.group().strip())
    for match in _SPEAKER.finditer(lines):
        name, aside = match.group(1), match.group(2)
        following = lines[match.end() : match.end() + 1]
        capital = name[0].isupper() or not name[0].islower()
        speaks = aside or name.isupper() or following in "\"“«‘'" or following.isupper()
        if capital and speaks and name.casefold() not in _NOT_SPEAKERS and not LABEL.match(name + ":"):
            return Fault("script", match.group().strip())
    return None


_LABEL = re.compile(r"(?m:^\s*[^\W\d_a-z]{3,}(?: [^\W\d_a-z]+){0,3}\s*(?:\([^)\n]*\))?\s*:\s*\S)|^\s*\w+ \([^)\n]*\):")
_CAMERA = re.compile(r"(?m:^\s*(?:INT\.|EXT\.|FADE (?:IN|OUT|TO)|CUT TO\b|DISSOLVE TO|SCENE\b.*:))")


def _labelled(sentence: str, before: str) -> Fault | None:
    """Return what makes a capable model's sentence a line of a script: a name in capitals, or an aside, before what is said."""
    lines = sentence if starts_line(before) else "\n".join(["", *sentence.split("\n")[1:]])
    match = _CAMERA.search(lines) or _LABEL.search(lines)
    return Fault("script", line_of(lines, match)) if match and _script(sentence, before) else None


def _other_language(sentence: str, language: str) -> Fault | None:
    """Return the letters of another script that most of a sentence is written in: a word of it may be read in the story."""
    found = [character for character in foreign_characters(sentence, language) if character.isalpha()]
    if not found:
        return None
    letters = sum(character.isalpha() for character in sentence)
    slip = any(unicodedata.name(character, "").startswith(_SLIPS) for character in found)
    return Fault("alphabet", "".join(found[:12])) if slip or len(found) > max(12, letters // 2) else None


_SLIPS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Scripts into which models slip in the middle of a sentence of another."""


_FIRST_PERSON = re.compile(r"(?<![\w'’])(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]yself)(?![\w'’])")


def _narrator(sentence: str, before: str) -> Fault | None:
    match = _FIRST_PERSON.search(_told(sentence, before))
    return Fault("narrator", match.group()) if match else None


def _told(sentence: str, before: str) -> str:
    """Return what nobody says; with straight single quotes one cannot tell, and nothing is returned."""
    single = re.search(r"(?:^|\s)'\w", before.rsplit("\n", 1)[-1] + sentence)
    return "" if single else narration(sentence, before)


_NO_NAME = (
    r"(?:The|This|That|These|Those|An?|His|Her|Its|Their|My|Your|Our|All|Both|Some|Many|Most|More|Few|Other|Only|No|Nobody|"
    r"Somebody|Whoever|It|There|What|Who|Which|Then|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Twelve|\w+teen|\w+ty|\w+even|"
    r"Several|Such|Like|For|After|Before|Behind|Without|Within|Through|Between|Beyond|Among|In|On|At|By|With|From|Of|To)\b"
)
_NO_VERB = (
    r"(?:was|as|his|this|its|us|thus|perhaps|besides|always|sometimes|afterwards|towards|across|less|plus|yes|upstairs|"
    r"downstairs|sideways|\w+wards|indoors|outdoors|hours|days|weeks|months|years)\b"
)
_DOES = "opens|closes|begins|smiles|nods|asks|says|sits|comes|takes"
"""What things and people who have no name do now, of what is no noun, too."""
_IN_THE_PRESENT = re.compile(
    rf"(?<![\w'’])(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir) [a-z]+[^\Ws] (?:{_DOES})\b"
    rf"|(?<![\w'’])(?<!\b[Tt]he )(?:[Hh]e|[Ss]he|(?!{_NO_NAME})[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
    rf"(?: (?:\w+ly|still|also|then|only|just|never|not))? (?:is|has|does|(?!{_NO_VERB})[a-z]{{2,}}[^\Ws]s)\b"
)
"""Somebody or something, and what they do now. Of 40,694 sentences in the past that were written for training it finds 27."""


def _present(sentence: str, before: str) -> Fault | None:
    match = _IN_THE_PRESENT.search(_told(sentence, before))
    return Fault("tense", match.group()) if match else None


def in_the_present(text: str) -> float:
    """Return the share of the sentences of an English text that are told in the present."""
    before, found, pieces = "", 0, [piece for piece in segments(text, "English") if piece.strip()]
    for piece in pieces:
        found += _present(piece, before) is not None
        before += piece
    return found / max(len(pieces), 1)


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
