"""What somebody has learned: what they did not know is over, in the languages that models write most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Change, Entry
from recurrentgpt.schema.names import plain

_LEARNS = (
    r"knows?|learns?|learned|learnt|discover(?:s|ed)|finds out|found out|reali[sz]e[sd]|understands?|understood|"
    r"is aware|(?:is|was|has been) told|works out|worked out|figures out|figured out|recogni[sz]e[sd]|"
    r"weiß|erfährt|erfuhr|erfahren|entdeckte?|begreift|begriff|erkennt|erkannte|versteht|verstand|"
    r"sait|apprend|apprit|appris|découvre|découvrit|découvert|comprend|comprit|compris|"
    r"sabe|supo|descubre|descubrió|descubierto|comprende|comprendió|se entera de|se enteró de|"
    r"sa|scopre|scoprì|scoperto|capisce|capì|apprende|apprese|saputo|"
    r"descobre|descobriu|soube|compreende|percebe|percebeu|weet|ontdekt|ontdekte|verneemt|vernam|begrijpt|begreep|"
    r"знает|узнаёт|узнает|узнала?|понял|поняла|понимает"
)
_STEPS = (
    r"(?:(?:now|finally|at last|also|already|then|just|has|had|soon|later|both|fully|\w+ly|jetzt|nun|endlich|hat|"
    r"schon|auch|inzwischen|"
    r"a|enfin|maintenant|désormais|ya|ahora|por fin|ha|ora|finalmente|agora|já|nu|eindelijk|heeft|теперь|наконец|"
    r"уже)\s+)"
)
_TELLS = (
    r"(?:tells|told|informs|informed|(?:confesse[sd]|reveals|revealed|admits|admitted|explains|explained) to|sagte?|"
    r"erzählte?|gesteht|"
    r"gestand|verrät|verriet|dit à|avoue à|avoua à|révèle à|révéla à|(?:le )?(?:dice|dijo|confiesa|confesó|revela|"
    r"reveló) a|"
    r"(?:disse|confessa|confessò|rivela|rivelò|conta|contou|confessou|revelou) a|vertelt|vertelde|bekent|bekende)"
)
_ASKS = re.compile(
    r"(?:(?P<that>that|whether|if|dass|ob|que|qu'|si|se|che|dat|of|что)|(?P<who>who|whom|whose|what|which|wer|wen|wem|"
    r"was|welche\w*|qui|"
    r"quoi|quel\w*|quién\w*|qué|cuál|chi|che cosa|quem|wie|wat|welke|кто)|(?P<how>where|when|why|how|wo|wann|warum|"
    r"weshalb|où|quand|"
    r"pourquoi|comment|dónde|cuándo|por qué|cómo|dove|quando|perché|come|onde|por que|como|waar|wanneer|waarom|hoe|"
    r"где|когда|почему|как))(?:\s+|(?<='))"
)
"""How what somebody does not know begins."""
_DENIED = re.compile(
    r"\b(?:not|never|nothing|nicht|nie|pas|jamais|nada|niente|niets|non|não|no|niet|не)\b|n't\b", re.IGNORECASE
)
_SMALL = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "and", "or",
    "of", "in", "on", "at", "to", "by", "for", "with", "it", "he", "she", "they", "his", "her", "their", "him", "them",
    "der", "die", "das", "den", "dem", "ein", "eine", "ist", "war", "hat", "sein", "seine", "ihr", "ihre", "er", "sie",
    "es", "und", "im", "le", "la", "les", "un", "une", "est", "sont", "sa", "son", "ses", "il", "elle", "et", "de", "du",
    "des", "el", "los", "las", "una", "su", "sus", "y", "en", "lo", "gli", "uno", "è", "ha", "suo", "sua", "e", "o", "os",
    "as", "um", "uma", "é", "seu", "het", "een", "zijn", "haar", "hij", "zij", "и", "в", "на", "он", "она",
))  # fmt: skip
_ENDING = re.compile(r"(?<=...)(?:ing|ied|ies|ed|es|s|e|en|n|t)$")


_KNOWS = re.compile(rf"\s+{_STEPS}*(?:{_LEARNS})\s+{_STEPS}*(?P<what>.+)", re.IGNORECASE)
_IS_TOLD = re.compile(rf"(?P<teller>[^,;:.]{{1,60}}?)\s+{_STEPS}*{_TELLS}\s+(?P<rest>.+)", re.IGNORECASE)


def learned(unaware: Iterable[Entry], text: str) -> Iterator[Change]:
    """Yield the ends of what somebody did not know and a fact tells that they have learned, or were told."""
    text = plain(text).rstrip(" .")
    for entry in unaware if _KNOWS.search(text) or _IS_TOLD.match(text) else ():
        what, teller = _learned(entry, text)
        for line in entry.lines if what else ():
            if line.aspect == "unaware" and _answers(what, teller, line.value, entry):
                change = Change(entry=entry.name, kind=entry.kind, do="end", aspect="unaware", value=line.value)
                yield {**change, "text": line.text} if line.text else change


def _learned(entry: Entry, text: str) -> tuple[str, str]:
    """Return what a sentence says that somebody knows now, and who told them; empty for nothing."""
    for name in sorted((name for name in map(plain, entry.names) if name in text), key=len, reverse=True):
        if text.startswith(name):
            match = _KNOWS.fullmatch(text, len(name))
            return (match["what"], "") if match and not _DENIED.match(match["what"]) else ("", "")
        told = _IS_TOLD.fullmatch(text)
        if told and told["rest"].startswith(name) and not _DENIED.search(told["teller"]):
            return told["rest"][len(name) :].strip(" ,"), told["teller"]
    return "", ""


def _answers(what: str, teller: str, unknown: str, entry: Entry) -> bool:
    """Return whether what somebody was told says what they did not know."""
    asked, said = _ASKS.match(plain(unknown).casefold()), _ASKS.match(what.casefold())
    wanted, own = _said(unknown, asked, entry), _said(what, said, entry)
    if not wanted or not wanted <= own | _said(teller, None, entry):
        return False
    if asked is None or asked["that"]:
        return True
    if said is not None and said[0] == asked[0]:
        return True
    # Who did it is known by a name; where and why it is, by no word that a rule knows.
    return bool(asked["who"]) and len(wanted) > 1 and bool(own - wanted)


def _said(text: str, begins: re.Match[str] | None, entry: Entry) -> set[str]:
    """Return what a clause says, in one form of each word, beside whom it is told of."""
    own = {_ENDING.sub("", word) for name in entry.names for word in tokens(name)}
    return {
        _ENDING.sub("", word.removesuffix("'s")) for word in content(plain(text)[begins.end() if begins else 0 :])
    } - own


def content(text: str) -> set[str]:
    """Return the words of a text that say something of their own."""
    return {word for word in tokens(text) if word not in _SMALL}
