"""Which words say the status of an entry, in the languages that models write most, and what makes a status none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain

from recurrentgpt.schema.codex import Kind

STATUSES_OF: Mapping[Kind, tuple[str, ...]] = {
    "person": ("alive", "dead", "absent"),
    "place": ("lost", "found", "destroyed", "broken"),
    "thing": ("lost", "found", "destroyed", "broken"),
    "promise": ("open", "kept", "broken"),
    "question": ("open", "answered"),
}
"""What the status of an entry may be, by what it is; what is `found` is lost no longer."""
STATUSES = tuple(dict.fromkeys(chain.from_iterable(STATUSES_OF.values())))
"""All of them."""

_ENGLISH: Mapping[Kind, Mapping[str, str]] = {
    "person": {
        "dead": "deceased|killed|slain|murdered|executed|assassinated|hanged|beheaded|drowned|perished|died|"
        "passed away|shot dead|"
        "found dead|no longer alive",
        "alive": "living|still alive|survived|not dead|revived|resurrected|undead",
        "absent": "missing",
    },
    "thing": {"lost": "missing", "found": "recovered|retrieved"},
    # models answer promises, and keep questions
    "promise": {"kept": "fulfilled|answered"},
    "question": {"answered": "resolved|solved|kept", "open": "unanswered|unresolved|unsolved"},
}
"""Other English words for a status, by what an entry is."""

_OTHERS: Mapping[Kind, Mapping[str, str]] = {
    "person": {
        "dead": "tot|gestorben|verstorben|ermordet|getötet|ertrunken|erschossen|erschlagen|erstochen|erhängt|gehängt|"
        "hingerichtet|umgekommen|ums leben gekommen|nicht mehr am leben|"
        "mort(e)|décédé(e)|tué(e)|assassiné(e)|noyé(e)|exécuté(e)|pendu(e)|"
        "muerto/a|fallecido/a|difunto/a|asesinado/a|ahogado/a|ejecutado/a|ahorcado/a|"
        "morto/a|deceduto/a|defunto/a|ucciso/a|assassinato/a|annegato/a|giustiziato/a|impiccato/a|"
        "falecido/a|assassinado/a|afogado/a|executado/a|enforcado/a|"
        "dood|overleden|gestorven|vermoord|gedood|verdronken|omgekomen|gesneuveld|terechtgesteld|"
        "мёртв(а)|мертв(а)|умер(ла)|погиб(ла)|убит(а)|утонул(а)|казнён|казнена|скончался|скончалась|"
        "死|死了|已死|死亡|已死亡|去世|已去世|身亡|遇害|已故|死去|死んだ|死んでいる|亡くなった|故人|殺された|死亡した",
        "alive": "lebendig|lebt|lebt noch|am leben|noch am leben|nicht tot|überlebt|vivant(e)|en vie|toujours en vie|"
        "vivo/a|viva|con vida|"
        "in vita|com vida|levend|in leven|leeft|leeft nog|жив(а)|живой|живая|活着|还活着|生きている|生存",
        "absent": "abwesend|verschwunden|vermisst|absent(e)|disparu(e)|ausente|desaparecido/a|assente|scomparso/a|"
        "afwezig|verdwenen|"
        "vermist|отсутствует|пропал(а)|исчез(ла)|失踪|不在|行方不明",
    },
    "thing": {
        "lost": "verloren|verloren gegangen|verschwunden|vermisst|perdu(e)|égaré(e)|disparu(e)|perdido/a|extraviado/a|"
        "desaparecido/a|"
        "perso/a|perduto/a|smarrito/a|scomparso/a|kwijt|zoek|verdwenen|потерян(а)|потеряно|утерян(а)|утеряно|"
        "пропал(а)|пропало|"
        "丢失|遗失|遺失|失踪|紛失",
        "found": "gefunden|wiedergefunden|retrouvé(e)|encontrado/a|hallado/a|recuperado/a|ritrovato/a|achado/a|gevonden|"
        "teruggevonden|найден(а)|найдено|找到|找到了|見つかった",
        "destroyed": "zerstört|vernichtet|détruit(e)|anéanti(e)|destruido/a|distrutto/a|destruído/a|vernietigd|"
        "verwoest|"
        "уничтожен(а)|уничтожено|разрушен(а)|разрушено|被毁|毁坏|毁|破壊された",
        "broken": "kaputt|zerbrochen|cassé(e)|brisé(e)|roto/a|rotto/a|quebrado/a|kapot|gebroken|сломан(а)|сломано|破损|"
        "壊れた",
    },
    "promise": {
        "kept": "gehalten|eingelöst|erfüllt|tenu(e)|accompli(e)|cumplido/a|mantenuto/a|adempiuto/a|cumprido/a|"
        "gehouden|nagekomen|"
        "vervuld|ingelost|выполнен(а)|выполнено|исполнено|сдержано|履行|兑现|果たされた",
        "broken": "gebrochen|nicht gehalten|rompu(e)|trahi(e)|roto/a|incumplido/a|infranto/a|quebrado/a|descumprido/a|"
        "gebroken|"
        "нарушено|нарушен(а)|违背|破られた",
        "open": "offen|ouvert(e)|abierto/a|pendiente|aperto/a|aberto/a|pendente|открыто|открыт(а)|未履行",
    },
    "question": {
        "answered": "beantwortet|geklärt|gelöst|aufgeklärt|répondu(e)|résolu(e)|éclairci(e)|respondido/a|contestado/a|"
        "resuelto/a|"
        "aclarado/a|risposto/a|risolto/a|chiarito/a|resolvido/a|esclarecido/a|beantwoord|opgelost|opgehelderd|решён|"
        "решен(а)|решено|"
        "раскрыт(а)|раскрыто|已解答|已解决|已解決|解決|解決済み|解決した|解決された",
        "open": "offen|ungelöst|unbeantwortet|ouvert(e)|sans réponse|non résolu(e)|abierto/a|pendiente|sin respuesta|"
        "sin resolver|"
        "aperto/a|irrisolto/a|aberto/a|pendente|sem resposta|onbeantwoord|onopgelost|открыт(а)|открыто|未解|未解决|未解決",
    },
}
"""Words of other languages, with their other gender: `mort(e)`, `muerto/a`. Some words of them are of two languages."""

_IS = re.compile(
    r"(?:is|was|has been|had been|ist|war|wurde|est|était|fut|a été|está|estaba|fue|ha sido|è|era|é|foi|werd|"
    r"был[ао]?)\s+(?:now\s+)?"
)
"""What a status may begin with that is asked for without a verb."""
_GOES_ON = re.compile(
    r"\s*(?:$|[,;:(–—，。、；：（]|- | -|\b(?:in|at|on|by|of|from|and|since|after|before|when|while|during|with|near|beside|"
    r"under)\b)"
)
"""What may follow a status: nothing that makes another of it, as of "dead tired" and "killed Odo"."""
_GOES_ON_ELSEWHERE = re.compile(
    r"\s*(?:$|[,;:(–—，。、；：（]|- | -|\b(?:in|im|an|am|auf|bei|seit|durch|unter|nach|vor|neben|von|mit|und|dans|à|au|sur|"
    r"sous|depuis|"
    r"après|avant|par|et|en|desde|tras|por|bajo|y|nel|nella|dopo|sotto|e|no|na|em|após|op|bij|sinds|door|na|onder|в|"
    r"на|с|от|после|и)\b)"
)
"""The same after a word of another language; the French and their neighbours are "dead of" fatigue and laughter."""

_SAYING = (
    r"(?:thinks?|thought|believe[sd]?|assume[sd]?|suppose[sd]?|hope[sd]|fears|feared|claims|claimed|says?|said|"
    r"imagine[sd]?|"
    r"glaub(?:t|en|te|ten)|denk(?:t|en)|dachten?|mein(?:t|en)|hei(?:ß|ss)t|sagt|sagen|croi(?:t|ent)|croyai(?:t|ent)|"
    r"pense(?:nt)?|"
    r"dit|disent|creen|cree|creían|dicen|se dice|piensan|crede|credono|dicono|pensano|acham|dizem|pensam|denkt|denken|"
    r"gelooft|geloven|zegt|думают|считают|говорят)"
)
_END = r"\s*(?:$|[.,;:)!?—–])"
_DOUBTED = re.compile(
    # what is only said to be so
    rf"\bor so\b|\b{_SAYING}(?:-(?:on|t-on))?(?: (?:man|men|alle|allen))?{_END}|"
    r"\b(?:presum(?:ed|ably)|supposed(?:ly)?|apparently|seemingly|it seems|perhaps|maybe|possibly|probably|allegedly|"
    r"reportedly|"
    r"unconfirmed|officially|legally|not really|angeblich|vermeintlich|scheinbar|anscheinend|vermutlich|mutmaßlich|"
    r"offiziell|"
    r"womöglich|vielleicht|prétendument|soi-disant|apparemment|présumée?|officiellement|peut-être|supuestamente|"
    r"aparentemente|"
    r"presuntamente|al parecer|oficialmente|quizás?|tal vez|apparentemente|a quanto pare|ufficialmente|forse|"
    r"supostamente|"
    rf"talvez|vermoedelijk|zogenaamd|schijnbaar|misschien|якобы|предположительно|возможно){_END}|"
    r"^\W*(?:if|unless|until|as far as|as good as|falls|bis|si|hasta|fino|até|tot|als)\b|"
    r"\b(?:according to|in the eyes of|laut|selon|según|secondo|segundo|volgens|pretend\w*|fak(?:e|ed|ing)|feign\w*|"
    r"rumou?r\w*)\b|"
    # what is over again
    r"\b(?:but|yet|later|then|until|aber|dann|mais|puis|pero|luego|poi|mas|depois|maar|"
    r"toen)\b[^.;]{0,40}\b(?:live[sd]|alive|"
    r"survive[sd]|reviv\w+|resurrect\w+|respawn\w*|came back|comes back|brought back|rose again|lebt\w*|wiederbelebt|"
    r"auferst\w+|vivant\w*|ressuscit\w+|viv[eo]|resucit\w+|risort\w+|leeft|herre\w+)\b|"
    r"\?|据说|據說|似乎|可能|らしい|かもしれない|とされ|と思われ",
)
"""What makes of a status what is only thought, feigned, or over again."""
_UNREAL = re.compile(
    r"\b(?:(?:in|on|im|am|auf|dans|en|sur|au|nel|nella|nello|no|na|num|numa|em|op|во?|"
    r"на)\s+(?:[\w'’]+ ){0,3}?(?:[ld]['’])?|nell['’])"
    r"(?:dreams?|daydreams?|nightmares?|visions?|hallucinations?|simulations?|simulators?|plays?|films?|movies?|"
    r"novels?|books?|"
    r"stor(?:y|ies)|tales?|games?|songs?|poems?|paintings?|pictures?|(?:first|second|third|fourth|fifth|last|"
    r"final) act|rehearsals?|"
    r"episodes?|timelines?|effigy|stage|screen|paper|name only|training|theory|spirit|imagination|"
    r"(?:alp)?traum|träumen|albträumen|spiel|stück|theaterstück|roman|buch|geschichte|lied|bühne|papier|leinwand|"
    r"rêves?|cauchemars?|jeu|pièce|livre|histoire|scène|écran|"
    r"sueños?|pesadillas?|visión|simulación|juego|obra|película|novela|libro|cuento|escenario|papel|"
    r"sogn[oi]|incub[oi]|visione|simulazione|gioco|recita|romanzo|storia|palco|carta|"
    r"sonhos?|pesadelos?|visão|simulação|jogo|peça|filme|romance|livro|história|"
    r"dro(?:om|men)|nachtmerries?|visioen|simulatie|spel|toneelstuk|boek|verhaal|toneel|"
    r"сне|кошмаре|видении|игре|пьесе|фильме|романе|книге|сцене|бумаге)"
    r"(?=\s*(?:$|[.,;:()!?–—])|\s+(?:of|that|which|where|who|he|she|they|and|by|from|with)\b)|梦|夢|游戏|遊戲|ゲーム|物語"
)
"""Where all may happen: in a dream, a play, a game."""


_FIGURE = re.compile(
    r"\s*(?:on (?:his|her|their|its|my|our) feet|in (?:\w+['’]?s? )?(?:eyes|heart|mind)\b|in the (?:story|tale)|"
    r"from the (?:waist|neck|knees?) (?:down|up)|in (?:debts?|work|paperwork|tears|sorrow|grief|love)\b|by a thread|"
    r"of (?:shame|embarrassment|boredom|laughter|curiosity|envy)\b|to (?:the world|me|him|her|them|us)\b|.*\b(?:if|unless)\b)"
)
"""What makes of a word for a death a figure of speech, or what has not happened yet."""


def status_of(said: str, kind: Kind) -> tuple[str, str]:
    """Return the status with which begins what is said of one, and the words that say it; empty for none."""
    said = said.casefold()
    if begun := _IS.match(said):
        said = said[begun.end() :]
    for word, status in _words(kind).items():
        if not said.startswith(word):
            continue
        after = said[len(word) :]
        goes_on = _GOES_ON if word in STATUSES or word in _english(kind) else _GOES_ON_ELSEWHERE
        if goes_on.match(after) or (after and goes_on is _GOES_ON_ELSEWHERE and after[0] in "于在了於"):
            is_unreal = kind not in ("promise", "question") and (_UNREAL.search(after) or _FIGURE.match(after))
            return ("", "") if _DOUBTED.search(after) or is_unreal else (status, word)
    return "", ""


def is_of_another_kind(said: str, kind: Kind) -> bool:
    """Return whether what is said of one is a word for a status that only promises and questions have."""
    word = said.casefold().strip(" .")
    word = word[begun.end() :] if (begun := _IS.match(word)) else word
    return kind not in ("promise", "question") and word in ("kept", "answered", "fulfilled", "resolved")


def is_foreign(word: str, kind: Kind) -> bool:
    """Return whether a word for a status is no English one."""
    return word not in STATUSES and word not in _english(kind)


@cache
def _english(kind: Kind) -> frozenset[str]:
    return frozenset(word for word, _ in _forms(_ENGLISH.get(kind, {})))


@cache
def _words(kind: Kind) -> Mapping[str, str]:
    """Return all words for a status, with what they mean, the longest first: "lebt noch" before "lebt"."""
    other = _OTHERS.get("thing" if kind == "place" else kind, {})
    known = {
        **dict(_forms(other)),
        **dict(_forms(_ENGLISH.get(kind, {}))),
        **{status: status for status in STATUSES_OF[kind]},
    }
    return dict(sorted(known.items(), key=lambda word: -len(word[0])))


def _forms(words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for status, said in words.items():
        for word in said.split("|"):
            base, _, ending = word.partition("/" if "/" in word else "(")
            yield base, status
            if ending:
                yield (f"{base[: -len(ending)]}{ending}" if "/" in word else f"{base}{ending[:-1]}"), status
