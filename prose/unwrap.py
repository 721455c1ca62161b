"""Take away what models put around a passage: announcements, headings, emphasis, quotation marks, a closing moral."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from recurrentgpt.prose.sentences import count_words, end_at_sentence, language_code, segments

# Emphasis only: a bullet ("* ") and a ruled line of its own stay, for they are faults and not wrappers.
_EMPHASIS = re.compile(r"(?<=\S)\*{1,3}|\*{1,3}(?=[^\s*])|(?<!\w)_{1,2}(?=\w)|(?<=[\w.,!?])_{1,2}(?!\w)")
"""Marks of emphasis; most text has none, which `without_emphasis` sees at once."""
_YES = r"(?:sure|certainly|of course|absolutely|okay)"
_WORK = r"(?:scene|passage|story|continuation|chapter|draft|version|text|revision|novel|excerpt)s?\b"
_NUMBER = r"(?:\d+|(?-i:[IVXLC]+)|one|two|three|four|five|six|seven|eight|nine|ten)(?![\w'’])"
"""A number; "i" and "il" are words."""


class Talk(NamedTuple):
    """What a language says to whoever asked for a passage, as alternatives of a pattern."""

    yes: str
    here: str
    work: str
    """What was asked for."""
    counts: str
    """What stands before the number of words."""
    words: str
    """What stands behind it."""
    offers: str
    offered: str
    """What is offered, wherever it stands."""
    goes_on: str
    """The verbs of what is offered or refused, at the end."""
    sorry: str
    cannot: str
    refused: str
    """What is refused, wherever it stands, and means nothing else."""
    ends: str


TALK = {
    "de": Talk(
        "gerne?|natürlich|selbstverständlich|klar|okay", "hier (?:ist|sind|folgt|kommt)|es folgt|nachfolgend|im folgenden",
        "abschnitt|passage|szene|fortsetzung|kapitel|fassung", "wörter|wörterzahl|wortanzahl|wortzahl|anzahl der wörter",
        "wörter|worte", "soll ich|(?:möchten|wollen) sie, dass ich|(?:möchtest|willst) du, dass ich",
        "abschnitt|passage|szene|fortsetzung|kapitel", "fortfahr",
        "(?:es )?tut mir (?:sehr )?leid|entschuldigung", "kann",
        "diese[nrs]? (?:abschnitt|passage|szene|kapitel)|anfrage|dabei (?:nicht )?helfen"
        "|diese[nrs]? (?:geschichte|roman|text) (?:nicht )?(?:schreiben|fortsetzen|fortführen|weiterschreiben)"
        r"|(?:fortfahren|fortsetzen|weiterschreiben)(?=\W*\Z)",
        "ende (?:des|der) (?:kapitels|abschnitts|passage|szene)|fortsetzung folgt",
    ),
    "fr": Talk(
        "bien sûr|certainement|d'accord|avec plaisir|très bien", "voici|voilà|ci-dessous",
        "passage|suite|scène|extrait|chapitre", "(?:nombre de )?mots", "mots",
        "(?:souhaitez|voulez|désirez|aimeriez)-vous que je|(?:souhaites|veux)-tu que je",
        "passage|suite|scène|extrait|chapitre", "continu|poursuiv|écri[vr]|rédige",
        "(?:je suis )?désolée?", "je ne peux",
        "demande|(?:cette|ce) (?:scène|passage|chapitre)|vous aider"
        "|(?:continuer|poursuivre|écrire|rédiger|aider) [^.,\\n]{0,15}cette histoire",
        "fin (?:du|de la|de l')\\s?(?:chapitre|passage|scène|extrait)|à suivre",
    ),
    "es": Talk(
        "¡?(?:claro(?: que sí)?|por supuesto)|desde luego|con gusto", "aquí (?:está|tienes?|va)|a continuación",
        "pasaje|escena|continuación|capítulo|fragmento", "(?:número|recuento|total|conteo) de palabras|palabras", "palabras",
        "(?:quieres?|deseas?|(?:te|le) gustaría|prefieres?) que",
        "pasaje|escena|continuación|capítulo|fragmento", "contin[uú]|prosig|escrib",
        "lo siento|lamento", "no puedo", "solicitud|petición|est[ae] (?:escena|pasaje|capítulo)"
        "|(?:continuar|escribir|ayudar\\w*) (?:con )?esta historia",
        "fin (?:del|de la) (?:capítulo|pasaje|escena|fragmento)|continuará",
    ),
    "it": Talk(
        "certo|certamente|naturalmente|va bene|volentieri", "ecco(?:ti|vi)?|di seguito",
        "brano|scena|seguito|capitolo|passaggio|continuazione", "(?:numero di |conteggio )?parole", "parole",
        "(?:vuoi|vuole|desideri|desidera|ti piacerebbe) che",
        "brano|scena|seguito|capitolo|passaggio|continuazione", "continu|prosegu|scriv",
        "mi dispiace|spiacente", "non posso",
        "richiesta|quest[oa] (?:scena|brano|capitolo)",
        "fine (?:del|della) (?:capitolo|brano|scena|passaggio)",
    ),
    "pt": Talk(
        "claro|com certeza|certamente|com prazer", "aqui (?:está|vai)|segue|a seguir|eis",
        "passagem|cena|continuação|capítulo|trecho", "(?:número de |contagem de )?palavras", "palavras",
        "(?:você )?(?:quer|queres|deseja|gostaria|prefere) que",
        "passagem|cena|continuação|capítulo|trecho", "continu|prossig|prosseguir|escrev",
        "desculpe|sinto muito|lamento", "não (?:posso|consigo)",
        "solicitação|pedido|es[ts][ea] (?:cena|trecho|capítulo)",
        "fim (?:do|da) (?:capítulo|trecho|cena|passagem)",
    ),
    "nl": Talk(
        "natuurlijk|zeker|prima|graag", "hier (?:is|volgt|komt)|hieronder", "passage|scène|vervolg|hoofdstuk|fragment",
        "(?:aantal )?woorden", "woorden", "zal ik|(?:wil je|wilt u) dat ik",
        "passage|scène|vervolg|hoofdstuk|fragment", "verder ?ga|doorga|verder schrij[fv]|doorschrij[fv]|voortzet",
        "het spijt me|sorry", "kan",
        "verzoek|(?:dit|deze) (?:passage|scène|hoofdstuk|fragment)",
        "einde (?:van )?(?:het |de |dit |deze )?(?:hoofdstuk|passage|scène|fragment)|wordt vervolgd",
    ),
    "ru": Talk(
        "конечно|хорошо|разумеется|с удовольствием", "вот|ниже|далее", "отрывок|сцена|продолжение|глава|фрагмент",
        "(?:количество |число )?слов", "слов", "хо(?:тите|чешь|тели бы вы), чтобы я|мне(?= продолж)",
        "отрывок|сцену|продолжение|главу|фрагмент|историю|рассказ|текст", "продолж|написа|дописа",
        "извините|простите|мне (?:очень )?жаль|к сожалению", "не могу",
        r"запрос\w{0,2}|эт(?:от|у) (?:отрывок|сцену|главу)",
        "конец (?:главы|отрывка|сцены)|продолжение следует",
    ),
    "zh": Talk(
        "好的?|当然(?:可以)?|當然(?:可以)?|没问题|沒問題", "(?:以下|下面|接下来|接下來|这里|這裡)就?[是为為]",
        "下一?[段章节節幕]|段落|第[0-9一二三四五六七八九十]+[段章节節幕](?![^\\W的])|章节|章節|续写|續寫|场景|場景",
        "[总總]?字[数數]", "字",
        "(?:(?:[你您]|是否){0,2}(?:需要|要不要|想让|想讓)|(?:[你您]|是否){1,2}(?:希望|要))我(?![们們的])",
        "续写|續寫|故事|下一[段章节節幕]|场景|場景|(?:继续|繼續|接着|往下)[写寫]", "(?:继续|繼續)(?:下去)?[吗嗎呢]?",
        "(?:很|非常)?(?:抱歉|对不起|對不起)", "无法|無法|不能", "[续續][写寫]|[写寫]这|[写寫]這|创作|創作|请求|請求",
        "[全本](?:文|章|段|节|節)(?:完|终|終|结束|結束)|未完待[续續]|待[续續]",
    ),
    "ja": Talk(
        "はい|承知(?:いた)?しました|かしこまりました|もちろんです", "(?:以下|次|こちら)[はが、]|以下に",
        "続き(?![をにも])|次の(?:場面|章|節|シーン|パッセージ)|本文", "文字[数數]", "文字",
        "続き|次の(?:場面|章|シーン|パッセージ)|(?=続け)", "ましょうか", "ましょうか",
        "(?:大変)?(?:申し訳(?:ありません|ございません)|すみません)", "(?=[^。\\n]*(?:できません|かねます))",
        "続き|次の(?:場面|章|節|シーン|パッセージ)|本文|物語|ご?(?:要望|依頼)|リクエスト",
        "(?:この)?章の?(?:終わり|おわり)|つづく|次回へ続く",
    ),
}  # fmt: skip
"""The talk of the languages that models write most, but for English, whose is better known."""


def talk_of(language: str | None) -> tuple[str, ...]:
    """Return the codes of the languages whose talk to expect; all of them in English, into which models slip with theirs."""
    code = "en" if language is None else language_code(language)
    return tuple(TALK) if code == "en" else (code,) if code in TALK else ()


def whole_words(code: str, alternatives: str) -> str:
    """Return a pattern of words that stand alone, where the language parts its words."""
    return rf"(?:{alternatives})" if code in ("zh", "ja") else rf"\b(?:{alternatives})\b"


_GAP = r"[^\n:：.,，!?。！？]{0,40}?"


def _announcement(code: str) -> str:
    talk = TALK[code]
    here, work = whole_words(code, talk.here), whole_words(code, talk.work)
    return (
        rf"(?:{talk.yes})\s?[!.,:，、！。]\s*{here}{_GAP}{work}{_GAP}\s?(?:です)?[:：.!。！]"
        rf"|{here}{_GAP}{work}{_GAP}\s?(?:[:：]|です。)"
    )


_UPPER = "(?-i:[A-ZÀ-ÖØ-ÞА-Я])"
_TITLED = rf"(?:[ \t]*[:：—–-][^\n]{{0,60}}|[.:]?[ \t]{{1,3}}{_UPPER}[^\n.,:;!?…。，：！？]{{0,60}}|[ \t]*\.)?"
"""The title that a number may have: behind a colon or a dash, or beginning with a capital."""
HEADING = (
    "(?:(?:kapitel|szene|teil|akt|abschnitt|chapitre|scène|partie|acte|capítulo|escena|parte|acto|pasaje|capitolo|scena|atto|brano"
    "|passaggio|cena|ato|trecho|passagem|hoofdstuk|deel|akte|passage|глава|сцена|часть|акт|отрывок)"
    rf"[ \t]{{1,3}}(?:\d+|(?-i:[IVXLC]+))(?![\w'’]){_TITLED}"
    r"|第[0-9０-９一二三四五六七八九十百零〇两兩]{1,5}"
    r"(?:[章幕話话](?:[ \t\u3000]*[:：—–-][^\n]{0,60}|[ \t\u3000]{1,3}[^\n.,:;。，：！？]{1,30})?|[回节節]))"
    r"(?=[ \t)\]）*]{0,9}(?:\n|\Z))"
)
"""A line that counts the parts of a story, in the same languages, with its title."""
NOTE = (
    r"(?:author'?s note[ \t]{0,3}:|note[ \t]{0,3}:(?=[^\n]*\b(?:i|we)(?:['’]ve| have)? (?:\w+ ){0,2}?"
    r"(?:kept|left|made|followed|tried|planted|placed|wrote|ended|avoided|used|added|stayed|stopped|set|held|changed)\b)"
    r"(?=[^\n]*\b(?:clue|passage|scene|outline|pacing|draft|prompt)s?\b)[^\n]*)"
)
"""A note in which a model speaks of how it wrote: of itself, and of a thing of the trade."""

_SAID_YES = (
    rf"{_YES}[!:]\s*\n+"
    rf"|{_YES}[!.,:]?\s+(?:here(?:['’]s| is| are| goes)|below (?:is|are)|i(?:['’]ll| will| can)|let(?:['’]s| me))\b"
    rf"(?=[^\n]*(?::\s*\n|{_WORK}|plan\b))[^\n:]{{0,120}}[:!.]\s*\n+"
    rf"|below (?:is|are) (?:(?:the|a|an|your|my) )?(?:\w+ ){{0,3}}{_WORK}[^\n:.,]{{0,60}}:\s*\n+"
)
_WRAPPERS = re.compile(
    rf"^\s*(?:{_SAID_YES}"
    rf"|here(?:['’]s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{_WORK}[^\n:]{{0,120}}[:.]\s*\n+"
    rf"|(?:title|scene)\s*:[^\n]{{0,80}}\n+"
    rf"|(?:(?:chapter|scene|part) {_NUMBER}{_TITLED}|{HEADING})[ \t]*\n+"
    r"|#{1,6} [^\n]{0,120}\n+|\*\*[^\n*]{0,99}[^\n*.!?…]\*\*:?\s*\n+|```\w*\s*\n|-{3,}\s*\n+"
    # A title, unless it says when the passage is: "3 March 1931".
    r"|(?=[^\n]{2,60}\n\s*\n)(?![^\n]*(?:\d{3}|\d\.? [^\W\d]))[A-Z0-9][^\n.!?…\"”’:,;]*\n\s*\n)",
    re.IGNORECASE,
)
"""What only announces a passage. What may be its first line stays: as a comment it is refused elsewhere, with the reason."""
_SAID_BEFORE = re.compile(
    rf"^\s*(?:{_SAID_YES}"
    rf"|here(?:['’]s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{_WORK}"
    r"(?:[^\n:.,]{0,60}:|(?: (?:again|for you|as requested))?[.!])\s*\n+"
    rf"|title\s*:[^\n]{{0,80}}\n+"
    rf"|(?P<bold>\*\*)?[(\[]?(?:(?:chapter|scene|part|passage) {_NUMBER}(?: of \d+)?(?:;[^\n]{{0,60}}|{_TITLED})"
    rf"|turn \d+\s?:[^\n]{{0,80}}|{HEADING})[)\]]?(?(bold)\*\*):?[ \t]*\n+"
    r"|#{1,6} [^\n]{0,120}\n+|```\w*\s*\n|-{3,}\s*\n+)",
    re.IGNORECASE,
)
"""What of it a capable model says: a short first line, or a headline, is its story's."""
_PREFACE = re.compile(
    rf"^\s*(?:{_YES}|here(?:['’]s| is| are)|below|title|chapter|scene|part|turn \d|note|#|\*\*|```|---|[(\[]|{HEADING}|"
    + "|".join(rf"(?:{talk.yes})\s?[!.,:，、！。]|{talk.here}" for talk in TALK.values())
    + ")",
    re.IGNORECASE,
)


@cache
def announcement(codes: tuple[str, ...] = tuple(TALK)) -> re.Pattern[str]:
    """Return the pattern of an announcement that is a line of its own, in some of the languages of `TALK`."""
    # Compiled where a passage is read: most commands read none.
    said = "|".join(map(_announcement, codes)) or r"(?!)"
    return re.compile(rf"\s*(?:{said})\s*(?:\n|\Z)\s*", re.IGNORECASE)


SCENE_BREAK = "* * *"
"""What stands between two scenes of one chapter or passage."""
_RULED = re.compile(r"[*_=~#•·⁂–—-]+(?: +[*_=~#•·⁂–—-]+)*")
LONGEST_VERSE = 70
"""Characters of a line of verse; longer lines are prose."""
_OPENS_SPEECH = ('"', "“", "„", "‘", "'", "«", "「", "『", "《", "—", "–", "-")
_ENDS_PROSE = re.compile(r"[.!?…。！？][\"”’'»」』*]*$")


def without_emphasis(text: str) -> str:
    """Return text without any mark of emphasis."""
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text else text


def strip_opening(text: str, *, final: bool, keeps_all: bool = False) -> str | None:
    """Return `text` without the lines that only announce a passage, or None while that cannot be told yet.

    With `keeps_all` a short first line stays that may be a title.
    """
    while match := (_SAID_BEFORE if keeps_all else _WRAPPERS).match(text) or (
        "\n" in text and announcement().match(text)
    ):
        text = text[match.end() :]
    undecided = "\n" not in text.strip() and (
        _PREFACE.match(text) or (len(text) < 60 and not re.search(r"[.!?…。！？]\S*\s", text))
    )
    if undecided and not final and len(text) < 200:
        return None
    return text.lstrip()


def is_ruled(line: str) -> bool:
    """Tell whether a line holds nothing but marks that part two scenes."""
    return bool(_RULED.fullmatch(line.strip()))


def paragraphs(text: str, *, keeps_all: bool = False) -> str:
    """Return the text with one blank line between paragraphs, and without lines that hold no word.

    With `keeps_all`, a ruled line between two paragraphs is a scene break, and short lines that blank lines set apart together
    are one paragraph, verse, unless they are lines of speech or most of them end as sentences do.
    """
    blocks: list[list[str]] = [[]]
    # Where there is no blank line at all, each line is a paragraph.
    verse = keeps_all and bool(re.search(r"\S[^\S\n]*\n\s*\n\s*[^\W_]", text))
    for line in text.split("\n"):
        line = re.sub(r"[ \t\u00a0]+", " ", line).strip()
        if keeps_all and is_ruled(line):
            blocks += [[SCENE_BREAK], []]
        elif not line or (not keeps_all and re.fullmatch(r"[\W_]+", line)):
            blocks.append([])
        else:
            blocks[-1].append(line)
    kept = list[list[str]]()
    for block in filter(None, blocks):
        # A break stands between two scenes, once.
        if block != [SCENE_BREAK] or (kept and kept[-1] != block):
            kept.append(block)
    if kept and kept[-1] == [SCENE_BREAK]:
        kept.pop()
    return "\n\n".join(("\n" if verse and _is_verse(block) else "\n\n").join(block) for block in kept)


def _is_verse(lines: list[str]) -> bool:
    spoken = sum(line.startswith(_OPENS_SPEECH) for line in lines)
    whole = sum(bool(_ENDS_PROSE.search(line)) for line in lines)
    return spoken < 2 and 2 * whole <= len(lines) and all(len(line) <= LONGEST_VERSE for line in lines)


def unwrap_quotes(text: str, *, keeps_all: bool = False) -> str:
    """Remove one pair of quotation marks around a whole passage of several paragraphs.

    With `keeps_all`, not where they may be those of a speech: one of several paragraphs opens each, and closes the last alone.
    """
    first = text.split("\n", 1)[0]
    if (
        "\n" in text
        and text[0] in '"“'
        and text[-1] in '"”'
        and first.count(text[0]) == 1
        and not re.search(r'["”]', first[1:])
        and not (keeps_all and re.search(rf"\n\s*{text[0]}", text))
    ):
        return text[1:-1].strip()
    return text


_MORAL = re.compile(
    "|".join(
        (
            r"\blittle did \w+ know\b|\bwould never be the same\b|\bonly the beginning\b",
            r"\b(?:had|was|were) (?:only )?just (?:begun|beginning)\b",
            r"\b(?:testament|reminder) (?:to|of|that)\b|\bpower of (?:love|friendship|hope)\b",
            r"\bwhatever (?:the future|came next|lay ahead|challenges)\b|\bno matter what\b.*\btogether\b",
            r"\b(?:journey|adventure|story|battle) (?:was )?(?:far from over|ahead)\b",
            r"\b(?:sense|feeling) of (?:hope|purpose|determination|peace|accomplishment|closure|relief)\b",
            r"\bready (?:to face|for) (?:whatever|anything|any|the challenges)\b|\bonly time would tell\b",
            r"\bwork(?:ed|ing)? together\b",
            r"\b(?:he|she|they) knew (?:that )?(?:it|this|he|she|they|there) (?:was|were|would|had)\b",
            r"\bwould (?:find a way|get through|be ready|never forget)\b|\bfor the first time in (?:years|a long time)\b",
        )
    ),
    re.IGNORECASE,
)


def strip_moral(text: str, min_words: int, language: str) -> str:
    """Drop closing sentences that say what it all meant, as long as the passage stays long enough."""
    for _ in range(3):
        pieces = segments(text, language)
        if len(pieces) < 3 or not _MORAL.search(pieces[-1]) or '"' in pieces[-1]:
            break
        shorter = end_at_sentence("".join(pieces[:-1]).rstrip())
        if count_words(shorter) < min_words:
            break
        text = shorter
    return text
