"""What a model says to whoever asked it for a passage: announcements, remarks on its work, offers, refusals, by language.

A language more is a row of `TALK`, and its word for a chapter in `HEADING`; English stands in patterns of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from recurrentgpt.prose.emphasis import without_emphasis
from recurrentgpt.prose.fault import Fault, line_of
from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentences import language_code, starts_line

YES = r"(?:sure|certainly|of course|absolutely|okay)"
WORK = r"(?:scene|passage|story|continuation|chapter|draft|version|text|revision|novel|excerpt)s?\b"
NUMBER = r"(?:\d+|(?-i:[IVXLC]+)|one|two|three|four|five|six|seven|eight|nine|ten)(?![\w'’])"
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


def _whole_words(code: str, alternatives: str) -> str:
    """Return a pattern of words that stand alone, where the language parts its words."""
    return rf"(?:{alternatives})" if code in ("zh", "ja") else rf"\b(?:{alternatives})\b"


_GAP = r"[^\n:：.,，!?。！？]{0,40}?"


def _announcement(code: str) -> str:
    talk = TALK[code]
    here, work = _whole_words(code, talk.here), _whole_words(code, talk.work)
    return (
        rf"(?:{talk.yes})\s?[!.,:，、！。]\s*{here}{_GAP}{work}{_GAP}\s?(?:です)?[:：.!。！]"
        rf"|{here}{_GAP}{work}{_GAP}\s?(?:[:：]|です。)"
    )


_UPPER = "(?-i:[A-ZÀ-ÖØ-ÞА-Я])"
TITLED = rf"(?:[ \t]*[:：—–-][^\n]{{0,60}}|[.:]?[ \t]{{1,3}}{_UPPER}[^\n.,:;!?…。，：！？]{{0,60}}|[ \t]*\.)?"
"""The title that a number may have: behind a colon or a dash, or beginning with a capital."""
HEADING = (
    "(?:(?:kapitel|szene|teil|akt|abschnitt|chapitre|scène|partie|acte|capítulo|escena|parte|acto|pasaje|capitolo|scena|atto|brano"
    "|passaggio|cena|ato|trecho|passagem|hoofdstuk|deel|akte|passage|глава|сцена|часть|акт|отрывок)"
    rf"[ \t]{{1,3}}(?:\d+|(?-i:[IVXLC]+))(?![\w'’]){TITLED}"
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

SAID_YES = (
    rf"{YES}[!:]\s*\n+"
    rf"|{YES}[!.,:]?\s+(?:here(?:['’]s| is| are| goes)|below (?:is|are)|i(?:['’]ll| will| can)|let(?:['’]s| me))\b"
    rf"(?=[^\n]*(?::\s*\n|{WORK}|plan\b))[^\n:]{{0,120}}[:!.]\s*\n+"
    rf"|below (?:is|are) (?:(?:the|a|an|your|my) )?(?:\w+ ){{0,3}}{WORK}[^\n:.,]{{0,60}}:\s*\n+"
)


@cache
def announcement(codes: tuple[str, ...] = tuple(TALK)) -> re.Pattern[str]:
    """Return the pattern of an announcement that is a line of its own, in some of the languages of `TALK`."""
    # Compiled where a passage is read: most commands read none.
    said = "|".join(map(_announcement, codes)) or r"(?!)"
    return re.compile(rf"\s*(?:{said})\s*(?:\n|\Z)\s*", re.IGNORECASE)


LABEL = re.compile(
    r"(?:note|author'?s note|title|summary|plan|premise|outline|genre|word count|words|novel|people|setting|story|passage"
    r"|the next scene|next scene|continued|already told)\s*:",
    re.IGNORECASE,
)
"""What a model puts before what it says of its work."""
_ITS_WORK = r"(?:scene|passage|story|continuation|chapter|draft|version|text|revision|novel|excerpt|plan)"
_META_BEGINNING = re.compile(
    "|".join(
        (
            r"(?:sure|certainly|of course|absolutely|okay|great)!",
            r"(?:sure|certainly|of course),? (?:here|i can|i'll|let me)\b",
            rf"here(?:'s| is| are) (?:the|a|an|your|my|another|some) (?:\w+ ){{0,3}}{_ITS_WORK}s?\b",
            r"i(?:'m| am) sorry,? but i (?:can(?:'t|not)|am (?:unable|not able))",
            r"i (?:can(?:'t|not)|am unable to) (?:assist|help with|fulfil|continue|write|provide|generate)",
            rf"(?:in )?(?:this|the) (?:next |final |above |following |last )?{_ITS_WORK} "
            r"(?:shows|ends|begins|opens|continues|closes|describes|explores|follows|takes place|is set|concludes|introduces)\b",
            rf"in this {_ITS_WORK}\b|the reader\b",
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
# What the requests of small models say of a scene; `tests/prose/test_talk.py` reads that from the templates.
_ASKED_FOR = re.compile(
    "|".join(
        (
            r"\bend (?:of the (?:novel|story) )?is close(?:,|:)? in this scene\b|^the end of the (?:novel|story) is close[.!]?$",
            r"\btrouble comes to its hardest point\b|\band the last lines show a quiet picture\b",
            r"^it ends with a quiet picture[.!]?$",
            r"^(?:this|it) is the last (?:scene|part) of the (?:novel|story)\b(?:[.:!]|$)",
            r"\bstay in one moment of this scene\b|^several things happen in this scene, one upon the other",
            r"\bsomebody new, with a name of their own\b",
            r"^(?:write|begin|continue|tell|go on with) (?:it|this|the (?:next |first )?(?:scene|story|passage))\b"
            r"[^.\n]{0,30}\babout \d[\d,]* words[.!]?$",
        )
    ),
    re.IGNORECASE,
)
_REFUSED_ALOUD = re.compile(
    r"\bi(?:'m| am) (?:very |so )?sorry,? (?:but )?i (?:can(?:'t|not)|am (?:unable|not able) to) (?:help|assist)(?: you)? with "
    r"(?:that|this)(?: (?:request|task))?(?=[.,!\"”]|$)",
    re.IGNORECASE,
)
"""A refusal that a small model gives to somebody of the story to say; few novels have it in these words."""
_AROUND = r"[^\w\"“”„«»「」?？]*"
_THE_END = re.compile(
    rf"^{_AROUND}(?:the end|fin|end|全文[完终終]|[完终終]){_AROUND}$"
    r"|^\W*[(（\[【](?:ende|fine|fim|einde|конец|おわり|終わり)[)）\]】]\W*$",
    re.IGNORECASE,
)


def remark(sentence: str, before: str, finale: bool) -> Fault | None:
    """Return what in a small model's sentence is about its work, and no story; `finale` allows "The end"."""
    plain = sentence.strip()
    if "[...]" in plain or "[…]" in plain:
        return Fault("meta", "[...]")
    if _THE_END.match(plain):
        return None if finale else Fault("meta", plain)
    if starts_line(before) and (match := LABEL.match(plain)):
        return Fault("meta", match.group())
    told = narration(plain, before).strip(" \n,")
    match = (
        _META_BEGINNING.match(told)
        or _META_WITHIN.search(told)
        or _ASKED_FOR.search(told)
        or _REFUSED_ALOUD.search(plain.replace("’", "'"))
    )
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
        rf"|¿?(?:{it.offers})[^.\n?？。]{{0,40}}?(?:{_whole_words(code, it.offered)}[^.\n?？。]{{0,40}}[?？。]"
        rf"|(?:{it.goes_on})\w{{0,9}}\s?[?？。])\W*\Z"
        rf"|[(（\[【]?\s?(?:{it.ends})[\s.…。!)）\]】]*\Z"
        for code, it in _talk(codes)
    )


@cache
def _other_refusal(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of how a model refuses in other languages than English: what it was asked for, or to go on at all."""
    return _either(
        rf"(?:{it.sorry})[^.,，、\n。]{{0,12}}[,，、]?[^.,，、\n。]{{0,18}}(?:{it.cannot})"
        rf"[^.,，\n。]{{0,60}}?(?:{_whole_words(code, it.refused)}|(?:{it.goes_on})\w{{0,9}}\W*\Z)"
        for code, it in _talk(codes)
    )


def _talk(codes: tuple[str, ...]) -> list[tuple[str, Talk]]:
    return [(code, TALK[code]) for code in codes]


def _either(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


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
    if starts_line(before) and (match := _TITLE.match(line := _BLANKS.sub(" ", sentence).strip())):
        return Fault("heading", line_of(line, match))
    starts, paragraph = starts_line(before), without_emphasis(before.rpartition("\n")[2]).lstrip()
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
