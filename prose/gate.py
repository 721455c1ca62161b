"""Hold the text of one passage while it streams in, and let in only sentences that are fit to read.

The loop of a writer:

    gate = ProseGate(min_words=200, max_words=400, seen=earlier_passages)
    for attempt in range(5):
        for piece in stream(prompt, prefill=gate.text):
            gate.feed(piece)
            if gate.fault or gate.enough:
                break
        gate.close()
        if gate.complete:
            break
        gate.cut()
    passage = gate.finish()
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from recurrentgpt.prose.emphasis import is_emphasised, line_by_line, one_form, single_marks, without_emphasis
from recurrentgpt.prose.fault import Fault, Kind
from recurrentgpt.prose.joined_words import fours, split_joined_words, split_repeated
from recurrentgpt.prose.machine_talk import machine_talk
from recurrentgpt.prose.markup import quoted_as_emphasis, without_marks_of_lines, without_markup
from recurrentgpt.prose.model_text import without_stray_joiners
from recurrentgpt.prose.quotations import (
    close_quotation,
    close_quotations,
    is_balanced,
    open_quotation,
    with_double_marks,
    without_mark_of_narration,
)
from recurrentgpt.prose.sentence_checks import COPY_LIMIT, Examiner
from recurrentgpt.prose.sentences import (
    after_last_space,
    count_words,
    end_at_sentence,
    ends_a_sentence,
    language_code,
    limit_words,
    segments,
    starts_line,
    words,
)
from recurrentgpt.prose.unwrap import (
    is_ruled,
    paragraphs,
    strip_moral,
    strip_opening,
    unwrap_quotes,
)

REPEATING = ("loop", "copying")
"""Kinds of faults of a sentence that says what was said."""
LEFT_OUT = (*REPEATING, "speaker")
"""Kinds of faults of a sentence that nobody misses."""

_CURLY = re.compile("[“”]")

_NO_SPACE = re.compile(r"(?:^|\s)[^\s.]*[a-z]{2}[.!?]$")
"""What a sentence ends with behind which a small model left out the space; a name with a dot in it goes on."""

_GOES_ON = re.compile(r"[\w ,'’-]*")
"""Text without any mark that may end a sentence, as nearly every piece of a stream finds it."""

MOST_REFRAINS = 3
"""Repeated sentences that may be meant: of more, a capable model is told."""

GROOVE = 0.5
"""Share of a capable model's sentences that are repetitions, above which they are left out where it insists on them."""

MOST_ECHOES = 12
"""Lines of speech, song or writing that may come back in a capable model's passage before it is told of them."""

MOST_SKIPPED, MOST_IN_A_ROW = 20, 5
"""Repeated sentences that one passage may lose without another sample, in all and one after the other."""

MOST_TENSES = 3
"""Times that a passage stops where it slips into the present; from then on that is how it is told."""

MOST_BANNED = 2
"""Times that the stream of a small model stops at a banned phrase; from then on the sentence that holds one is left out."""

_TAG = re.compile(
    r"(?:\w+ ){1,3}(?:said|says|asked|asks|called|calls|whispered|whispers|shouted|repeated|replied|answered)(?: \w+){0,3}\.\s*"
    r"|(?:said|asked|called|whispered|shouted|repeated|replied|answered)(?: \w+){1,3}\.\s*"
)
"""Who said something, as a sentence of its own: with what was said left out, so is this."""

_READ_OUT = re.compile(r"\s*([*_])(?![*_])[^*_\n]+:[^*_\n]*\w")
"""A line in italics with a speaker in it: something that is read or heard in the story, and no line of a script."""


_LABELLED = re.compile(r"\s*\*(?!\*)[^*\n:]{1,40}(?::\*|\*:)[^\S\n]*[^\s*]")
"""A line of a script whose speaker alone is emphasised."""


class ProseGate:
    """Collect a passage sentence by sentence; stop at the first unfit one, and at the end of the last that fits.

    `seen` holds the texts that the passage must not copy, `banned` the phrases that it must not hold, `strangers` the names of
    people who are none of the story's, `third_person` refuses a narrator who says "I", `past_tense` what is told in the
    present, a few times; `finale` allows "The end". With `keeps_all`, for a capable model, nothing is cut at a length and
    nothing stops the stream: `objection` says what is wrong with the passage, so that it can be asked for again; its emphasis
    stays, as `prose.emphasis` has it.
    """

    def __init__(
        self,
        *,
        min_words: int = 200,
        max_words: int = 400,
        seen: Sequence[str] = (),
        language: str = "English",
        finale: bool = False,
        third_person: bool = False,
        past_tense: bool = False,
        copy_limit: int = COPY_LIMIT,
        keeps_all: bool = False,
        banned: Sequence[str] = (),
        strangers: Sequence[str] = (),
    ) -> None:
        self.min_words, self.max_words, self.language, self.keeps_all = min_words, max_words, language, keeps_all
        self.fault: Fault | None = None
        self.refused: list[Fault] = []
        """Every fault of this passage, the present one included."""
        self.reply = ""
        """All that was fed, as it came."""
        self.skipped: list[Fault] = []
        """Repeated sentences that were left out while the stream went on."""
        self._in_a_row = 0
        self._unfit = False
        """Whether something was accepted of a capable model that is to be objected to."""
        self._echoes = self._sentences = 0
        """Lines of speech, song or writing that came back, and all sentences."""
        self._mark = ""
        """What opens a quotation whose first sentence was left out, until there is another one."""
        self._unsaid = False
        """Whether the sentence before was a quotation that was left out."""
        self._stray = False
        """Whether the paragraph lost a mark that opened no quotation, whose fellow may follow."""
        self._begins = True
        """Whether a reply begins here, which may announce what it writes."""
        self._settled = self._longest = ""
        self._tail = ""
        self._counted, self._count = "", 0
        self._parts_words = language_code(language) == "en" and not keeps_all
        """Whether words that were run together are parted."""
        self._known = set[str]()
        self._said: dict[tuple[str, str, str], str] = {}
        for text in seen if self._parts_words else ():
            self._learn(text)
        self._examiner = Examiner(
            seen=seen,
            language=language,
            finale=finale,
            third_person=third_person,
            past_tense=past_tense,
            copy_limit=copy_limit,
            banned=banned,
            strangers=strangers,
            capable=keeps_all,
        )
        self._whole = False
        """Whether the reply came to its own end."""

    @property
    def text(self) -> str:
        """Return all text so far, the sentence in the making included."""
        return self._settled + self._tail

    @property
    def settled(self) -> int:
        """Return how many characters of `text` are accepted: white space at their end aside, they do not change any more."""
        return len(self._settled)

    @property
    def words(self) -> int:
        """Return the number of accepted words."""
        if not self._settled.startswith(self._counted):
            self._counted, self._count = "", 0
        # Each word is counted once, and not at every piece of the stream.
        end = after_last_space(self._settled)
        if end > len(self._counted):
            self._count += count_words(self._settled[len(self._counted) : end])
            self._counted = self._settled[:end]
        return self._count + count_words(self._settled[end:])

    @property
    def enough(self) -> bool:
        """Tell whether to stop here: the next sentence may not fit, or a paragraph ended past the middle of the range."""
        if self.keeps_all:
            return False
        count = self.words
        at_break = self._tail.startswith("\n") or (not self._tail.strip() and self._settled.endswith("\n"))
        return count >= self.max_words - 20 or (at_break and count >= 0.35 * self.min_words + 0.65 * self.max_words)

    @property
    def complete(self) -> bool:
        """Tell whether the passage needs no further sample: after a fault too, it may end with what was accepted before."""
        return self.enough or self.words >= self.min_words

    @property
    def may_be_meant(self) -> bool:
        """Tell whether the objection is only to what a story may show too: a notice, a heading, a foreign word, an echo."""
        unfit = {fault.kind for fault in self.refused if fault.kind != "loop"}
        return bool(unfit) and unfit <= {"script", "heading", "code", "alphabet", "copying"}

    @property
    def objection(self) -> str:
        """What a capable model is told when its passage is asked for again; empty for a passage that can stand."""
        if banned := dict.fromkeys(fault.detail for fault in self.refused if fault.kind == "banned"):
            return f"It held what the author has banned: {'; '.join(banned)}."
        refrains = [fault for fault in self.refused if fault.kind == "loop"]
        unfit = [fault for fault in self.refused if fault.kind != "loop"]
        if faults := unfit or refrains[MOST_REFRAINS:]:
            return f"It held what no reader should meet ({faults[0]})."
        return ""

    def feed(self, piece: str) -> None:
        """Take the next piece of the stream; after a fault, or once there is enough, it is ignored."""
        if self.fault or self.enough or not piece:
            return
        self.reply += piece
        if not self._tail and self._settled and not self._settled[-1].isspace() and _starts_word(piece):
            piece = " " + piece
        self._tail += piece
        self._settle(final=False)

    def close(self, *, whole: bool = False) -> None:
        """Judge what is left when the stream is over: a last sentence has no successor that would show its end.

        Where the reply is `whole`, as its model ended it, the last line of a capable model's need not end as a sentence does.
        """
        self._whole = whole
        if self.fault is None and not self.enough:
            self._settle(final=True, whole=whole and self.keeps_all)

    def cut(self, back: int = 0) -> str:
        """Drop what is not accepted and return the rest, from which the model can go on writing.

        `back` drops that many accepted sentences too: a model that stumbles twice at the same place needs a run-up.
        """
        self._tail, self.fault, self._in_a_row, self._mark, self._unsaid, self._begins = "", None, 0, "", False, True
        self._settled = close_quotation(self._settled.rstrip())
        self._longest = max(self._longest, self._settled, key=len)
        if back:
            self._settled = close_quotation("".join(segments(self._settled, self.language)[:-back]).rstrip())
        return self._settled

    def finish(self) -> str:
        """Return the passage: whole accepted sentences, at most `max_words`, without wrappers and closing morals.

        Of a capable model's passage all stays but what it says to whoever asked for it, before it begins and after it ends.
        """
        self.close(whole=self._whole)
        if not self.complete:
            # A run-up that led nowhere must not cost what was there before it.
            self._settled = max(self._longest, self._settled, key=len)
        settled = self._settled
        if self.keeps_all:
            settled = without_marks_of_lines(self._without_machine_talk(settled))
            settled = line_by_line(quoted_as_emphasis(settled))
        text = unwrap_quotes(paragraphs(settled, keeps_all=self.keeps_all), keeps_all=self.keeps_all)
        if self.keeps_all:
            text = one_form(text)
            repeated = sum(fault.kind in REPEATING for fault in self.refused)
            text = self._sieved(text) if repeated > max(MOST_REFRAINS, GROOVE * self._sentences) else text
            # What looks like an open quotation at the end of a whole reply may be a mark of inches.
            return text if self._whole else close_quotation(text)
        text = self._sieved(text)
        if self._parts_words:
            text = with_double_marks(text)
        text = limit_words(text, self.max_words, self.language)
        text = end_at_sentence(text)
        return close_quotations(strip_moral(text, self.min_words, self.language))

    def _without_machine_talk(self, text: str) -> str:
        """Return `text` without the machine talk at its very beginning and end."""
        if not self._unfit:
            return text
        pieces = segments(text, self.language)

        def talks(number: int) -> bool:
            bare, before = without_emphasis(pieces[number]), "".join(pieces[:number])
            finale, emphasised = self._examiner.finale, is_emphasised(pieces[number], before)
            fault = machine_talk(bare, before, finale=finale, language=self.language, emphasised=emphasised)
            return not bare.strip() or fault is not None

        # The rest of a note is known by what stands before it.
        del pieces[: next((number for number in range(len(pieces)) if not talks(number)), len(pieces))]
        while pieces and talks(-1):
            del pieces[-1]
        return "".join(pieces).strip()

    def _sieved(self, text: str) -> str:
        """Return `text` without repetitions that show only now: two short sentences of one quotation are a long one."""
        kept = ""
        for piece in segments(text, self.language):
            if not piece.strip() and kept.endswith("\n"):
                # Of a paragraph of which nothing stays.
                continue
            fault = self._examiner.examine(piece, kept) if piece.strip() else None
            if fault is None or fault.kind not in LEFT_OUT or not is_balanced(piece):
                kept += piece
            elif piece.endswith("\n"):
                kept = kept.rstrip() + piece[len(piece.rstrip()) :]
        return kept.strip()

    def _settle(self, *, final: bool, whole: bool = False) -> None:
        if self._begins:
            opening = strip_opening(self._tail, final=final, keeps_all=self.keeps_all)
            if opening is None:
                return
            if self._settled and opening:
                # What goes on after a cut may announce itself, too; what stays of it stands apart from what was there.
                opening = (self._tail[: len(self._tail) - len(self._tail.lstrip())] or " ") + opening
            self._tail = opening
        if not self.keeps_all:
            self._tail = without_emphasis(self._tail)
        if not final and _GOES_ON.fullmatch(self._tail):
            return
        pieces = segments(self._tail, self.language)
        if not final and pieces and not pieces[-1].endswith("\n"):
            pieces.pop()
        self._begins = self._begins and not pieces
        for piece in pieces:
            unfinished = final and piece is pieces[-1] and not ends_a_sentence(piece)
            if unfinished and not whole:
                return
            length = len(piece)
            if not piece.isascii():
                piece = without_stray_joiners(piece)
            if self._parts_words and not self._mark and piece[:1].isupper() and _NO_SPACE.search(self._settled[-40:]):
                piece = f" {piece}"
            if self._parts_words:
                piece = split_repeated(split_joined_words(piece, self._known), self._settled, self._said)
            if self._mark:
                # A model that did not close it says who spoke inside it.
                self._unsaid = self._unsaid or (not self.keeps_all and _TAG.fullmatch(piece) is not None)
                piece, self._mark = (self._mark + piece if piece.strip() and not self._unsaid else piece), ""
            if not self.keeps_all:
                piece = self._without_stray_marks(piece)
            if self._unsaid and _TAG.fullmatch(piece):
                piece = piece[len(piece.rstrip()) :] if piece.endswith("\n") else ""
            if self.keeps_all:
                piece = single_marks(without_markup(piece))
            bare = without_emphasis(piece)
            ruled = self.keeps_all and is_ruled(piece)
            fault = None
            if bare.strip() and not ruled:
                emphasised = self.keeps_all and is_emphasised(piece, self._settled)
                fault = self._examiner.examine(bare, self._settled, emphasised=emphasised)
            if fault and fault.kind == "tense" and self._times_refused("tense") >= MOST_TENSES:
                fault = None
            if unfinished and fault and fault.kind in REPEATING:
                # A groove comes to no stop.
                return
            if self.keeps_all:
                self._sentences += bool(bare.strip())
                if fault and fault.kind == "script" and _READ_OUT.match(piece):
                    # What is read out in the story is no script.
                    fault = None
                elif fault is None and starts_line(self._settled) and (label := _LABELLED.match(piece)):
                    fault = Fault("script", label.group().strip())
                if fault and fault.kind in REPEATING and self._echoes < MOST_ECHOES and _is_echo(piece, self._settled):
                    # The refrain of a song, a letter that is read again.
                    self._echoes += 1
                    fault = None
                if fault:
                    self.refused.append(fault)
                    self._unfit = True
                self._tail = self._tail[length:]
                self._unsaid = fault is not None and fault.kind == "banned" and _ends_speech(piece)
                if fault and fault.kind == "banned":
                    piece = self._marks_of(piece)
                elif fault and fault.kind in ("role", "control"):
                    piece = piece[len(piece.rstrip()) :]
                self._settled += piece
                continue
            rest = self._rest(fault, piece) if fault else None
            if fault and rest is None:
                self.fault = fault
                self.refused.append(fault)
                return
            self._tail = self._tail[length:]
            self._unsaid = bool(fault and _ends_speech(piece))
            if fault and rest is not None:
                self.skipped.append(fault)
                self._in_a_row += 1
                if rest == '"':
                    rest, self._mark = "", rest
                elif rest.startswith('"'):
                    self._settled = self._settled.rstrip()
                if not rest and self._settled and not self._settled[-1].isspace():
                    # It was the first of its sample: what follows stands apart from what was there before.
                    rest = piece[: len(piece) - len(piece.lstrip())]
                piece = rest
            elif piece.strip():
                self._in_a_row = 0
                if self._parts_words:
                    self._learn(piece)
            self._settled += piece
            if self.enough:
                return

    def _learn(self, text: str) -> None:
        """Keep the words of a text, by which those are known that were run together later."""
        self._known |= _words_of(text)
        self._said.update(fours(text))

    def _without_stray_marks(self, piece: str) -> str:
        """Return a sentence that tells what somebody does without the quotation marks that a small model puts around it."""
        if starts_line(self._settled):
            self._stray = False
        if not open_quotation(self._settled) and (told := without_mark_of_narration(piece)) != piece:
            self._stray = not told.endswith("\n") and piece.count('"') == 1
            return told
        if self._stray and piece.count('"') == 1 and _ends_speech(piece):
            # It closes what is not open any more.
            self._stray = False
            return piece.replace('"', "")
        return piece

    def _times_refused(self, kind: Kind) -> int:
        return sum(fault.kind == kind for fault in self.refused)

    def _rest(self, fault: Fault, piece: str) -> str | None:
        """Return what stays of a sentence that nobody misses, or None where it cannot be left out.

        Leaving it out costs no other sample. A stream that does nothing but repeat is not worth it. Of a sentence that opens or
        closes a quotation of several its mark stays, and who said it: `"Wait. I don't know," he said.` is then `"Wait." he said.`
        """
        if fault.kind == "banned":
            return self._marks_of(piece) if self._times_refused("banned") >= MOST_BANNED else None
        if fault.kind not in LEFT_OUT or self._in_a_row >= MOST_IN_A_ROW or len(self.skipped) >= MOST_SKIPPED:
            return None
        if is_balanced(piece):
            return piece[len(piece.rstrip()) :] if piece.endswith("\n") else ""
        if piece.count('"') != 1 or _CURLY.search(piece):
            return None
        said, _, told = piece.partition('"')
        if not said.strip():
            return None if piece.endswith("\n") else '"'
        spoken_before = self._settled.rpartition("\n")[2].rpartition('"')[2].strip()
        return f'"{told}' if spoken_before and ends_a_sentence(spoken_before) else None

    def _marks_of(self, piece: str) -> str:
        """Return what stays of a sentence that is left out: the mark that closes a quotation, and the end of a paragraph.

        A mark that opens a quotation waits for the next sentence of it.
        """
        end = piece[len(piece.rstrip()) :] if piece.endswith("\n") else ""
        if is_balanced(piece):
            pass
        elif open_quotation(self._settled):
            self._settled = close_quotation(self._settled.rstrip())
        elif not end:
            self._mark = "“" if "“" in piece else '"'
        return end or (" " if self._settled and not self._settled[-1].isspace() else "")


@lru_cache(maxsize=128)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _is_echo(piece: str, before: str) -> bool:
    """Tell whether a sentence is speech, or writing in italics, or a line of its own."""
    inside = open_quotation(before) or before.rpartition("\n\n")[2].count("*") % 2
    return bool(inside) or piece.lstrip().startswith(('"', "“", "*")) or (starts_line(before) and piece.endswith("\n"))


def _ends_speech(piece: str) -> bool:
    return piece.rstrip().endswith(('"', "”"))


def _starts_word(piece: str) -> bool:
    return piece[0].isalnum() or piece[0] in "\"“‘«'—"
