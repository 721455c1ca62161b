"""Whether what is said of somebody is said in the present: what of a fact ends where they die, in whatever language.

A verb that no rule knows for a past one is taken for a present one: what is untrue of the dead does more harm than a deed of
theirs which only its passage tells.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recurrentgpt.schema.names import CAPITALS, UNSPACED

_ADVERBS = (
    r"(?:(?:still|now|always|often|also|secretly|alone|never|not|only|just|even|once|twice|then|first|later|soon|again|already|"
    r"ever|long|almost|quite|perhaps|maybe|sometimes|seldom|meanwhile|afterwards|indeed|instead|thus|no longer|no more|\w+ly|"
    r"himself|herself|themselves|both|all|each|noch|immer|jetzt|nun|nie|oft|auch|schon|einst|toujours|encore|jadis|siempre|"
    r"todavía|también|nunca|sempre|ancora|mai|ainda|também|nog|altijd|nooit|se|si|sich|ne|y|lui|no|non|não|não se|не|ещё|еще|"
    r"всегда|никогда|теперь|nie|zawsze)\s+|[sn]['’])"
)
"""What may stand before a verb."""
_BEGIN = re.compile(rf"\s*{_ADVERBS}*")

_BE = (
    r"(?:is|are|am|ist|sind|est|sont|es|son|está|están|è|sono|é|são|jest|są|är|er|be|being|lies|lie|remains|remain|stays|stay|"
    r"liegt|bleibt|gît|reste|yace|giace|jaz|ligt|blijft)"
)
_THE_DEAD = re.compile(
    rf"{_BE}\s+(?:(?:\w+ly|now|still|long|already|not|schon|noch|déjà|ya|già|já|al)\s+)*(?:dead|deceased|buried|gone|killed|"
    rf"murdered|drowned|"
    r"hanged|slain|mourned|missed|remembered|survived|missing|said|believed|thought|presumed|found|laid|lying|executed|"
    r"assassinated|beheaded|strangled|poisoned|shot|stabbed|known|innocent|guilty|responsible|related|to (?:blame|"
    r"be buried)|avenged|no (?:more|longer)|"
    r"unburied|unavenged|suspected|accused|named|called|born|tot|gestorben|verstorben|begraben|beerdigt|bestattet|ertrunken|"
    r"ermordet|gefallen|getötet|umgekommen|vermisst|verwandt|geboren|schuldig|unschuldig|morte?|mort[oai]|muert[oa]|décédée?|"
    r"enterrée?|noyée?|"
    r"tuée?|née?|fallecid[oa]|enterrad[oa]|difunt[oa]|nacid[oa]|decedut[oa]|sepolt[oa]|sepultad[oa]|falecid[oa]|uccis[oa]|"
    r"nat[oa]|dood|overleden|begraven|vermoord|verdronken|geboren|mart[wa]y?|död|død|begravd|begravet)\b"
    r"|(?:dies|die|perishes|drowns|falls(?! asleep| in love)|"
    r"lies?(?! to| about| ill\b| sick\b| awake| asleep| in bed| in wait| wounded)|rests|rots|"
    r"decays|haunts|hangs(?= from| in| on)|"
    r"leaves(?= behind| an? (?!\w+ (?:on|in|at|by|under|outside|for)\b)| no | two | three | everything| all |"
    r" (?:\w+ ){1,3}to [A-Z])|belongs|stirbt|ertrinkt|fällt|"
    r"liegt|ruht|"
    r"spukt|hinterlässt|meurt|tombe|gît|repose|hante|laisse|muere|yace|deja|muore|giace|lascia|morre|jaz|deixa|sterft|ligt|rust|"
    r"умирает|лежит|покоится|мертва?|мёртв|погиб|umiera|leży)(?!\w)"
    r"|(?:remains|stays) (?:un\w+ed|a (?:mystery|ghost|legend|memory))\b|(?:已经?)?(?:死|去世|亡)|[はが]死"
)
"""What is said in the present of the dead."""
_BONDS = (
    r"(?:lover|fiancée?|husband|wife|spouse|boyfriend|girlfriend|mistress|partner|roommate|flatmate|prisoner|hostage|captive|"
    r"guest|lodger|bodyguard|Geliebter?|Verlobter?|Ehemann|Ehefrau|Gast|Gefangener?|amante?|mari|"
    r"femme|époux|épouse|marido|esposa|novi[oa]|marito|moglie|namorad[oa])\b"
)
"""Whom somebody is to another while they live."""
_WHO = re.compile(
    rf"(?:is|are|ist|sind|est|sont|son|è|sono|são|är|er)\s+(?:(?:the|an?|one|his|her|their|my|our|your|der|die|das|ein|eine|sein|"
    rf"seine|ihre?|"
    r"le|la|les|une?|son|sa|el|los|las|una|su|il|lo|gli|uno|suo|sua|os?|as|uma?|seu|de|het|een|zijn|haar|ett)(?!\w)|l['’]|un['’]|"
    rf"(?=[{CAPITALS}]))|(?:es|é)\s|是"
)
"""What begins to tell who somebody is, which is told of the dead, too."""
_MODAL = re.compile(
    r"(?:can|cannot|can't|can’t|will|won't|won’t|must|shall|may|might|ought|should|kann|muss|darf|mag|soll)\b"
)
PARTICIPLE = (
    r"(?:\w+ed|been|done|gone|seen|taken|given|written|eaten|known|grown|thrown|flown|drawn|shown|sworn|worn|torn|born|"
    r"borne|stolen|"
    r"broken|spoken|chosen|frozen|forgotten|hidden|ridden|driven|risen|fallen|beaten|bitten|begun|sung|drunk|swum|run|come|"
    r"become|overcome|sunk|rung)"
)
IRREGULAR_PAST = (
    r"(?:(?:was|were|had|did|went|came|became|overcame|saw|ate|beat|began|bent|bet|bit|bled|blew|bore|bought|bound|bred|broke|"
    r"brought|"
    r"built|burnt|burst|cast|caught|chose|clung|cost|crept|cut|dealt|dove|drank|dreamt|drew|drove|dug|dwelt|fed|fell|felt|"
    r"fled|flew|"
    r"flung|forbade|foresaw|forgave|forgot|fought|found|froze|gave|got|grew|ground|heard|held|hid|hit|hung|hurt|kept|knelt|"
    r"knew|laid|"
    r"lay|leant|leapt|learnt|led|left|lent|let|lit|lost|made|meant|met|misled|mistook|outlived|paid|put|quit|ran|rang|read|"
    r"rode|rose|"
    r"said|sang|sank|sat|sent|set|sewed|shed|shone|shook|shot|shrank|shut|slept|slew|slid|slit|slung|smelt|sold|sought|"
    r"sowed|sped|"
    r"spent|spat|spilt|split|spoilt|spoke|spread|sprang|spun|stank|stole|stood|stove|strode|strove|struck|strung|stuck|"
    r"stung|swam|swept|"
    r"swore|swung|taught|thought|threw|thrust|told|took|tore|trod|undertook|understood|undid|upset|used|wed|went|wept|withdrew|"
    r"withheld|withstood|woke|won|wore|wound|wove|wrote|wrung|would|could|agreed|freed|"
    r"guaranteed|decreed)|(?:over|re|out|un|mis|fore|a|be)(?:heard|built|slept|ran|wrote|did|made|rose|woke|got|took|told|"
    r"read|went|saw|fell|held|sent|found|took|thought|came|set))"
)
_GERMANIC = (
    r"(?:war|kam|bekam|entkam|ging|verging|stand|verstand|lag|saß|sah|gab|nahm|fand|erfand|hielt|erhielt|behielt|ließ|"
    r"verließ|blieb|"
    r"starb|fiel|schrieb|trug|ertrug|schlug|erschlug|verlor|verriet|verschwand|stahl|sang|sprang|sank|trank|ertrank|floh|log|"
    r"betrog|schwor|warf|traf|brach|sprach|versprach|zog|erzog|flog|lief|rief|stieß|schoss|erschoss|schnitt|ritt|litt|stieg|"
    r"schwieg|stal|schlief|aß|las|bat|half|gewann|begann|fing|hing|wuchs|lud|grub|begrub|tat|riss|biss|griff|verbarg|wusch|schuf|"
    r"wurd|stach|erstach)(?:en)?|"
    r"(?:kwam|stond|zag|gaf|nam|vond|hield|liet|bleef|stierf|viel|schreef|droeg|sloeg|verdween|verdronk|dronk|zwom|loog|"
    r"bedroog|brak|trok|vloog|liep|riep|schoot|sneed|reed|leed|steeg|zweeg|sliep|hielp|begon|ving|kreeg|deed|zat|werd|"
    r"var|kom|dog|tog|gav|såg|fick|fik|gick|gik|stod|blev|ble|dräpte|drepte)"
)
_ROMANCE = (
    r"(?:\w+(?:ait|aient|èrent)|fut|furent|eut|eurent|vint|mourut|naquit|prit|mit|fit|perdit|tint|vécut|disparut|connut|reçut|"
    r"partit|sortit|trahit|vendit|écrivit|devint|tua|trouva|sauva|quitta|tomba|épousa|cacha|brûla|arracha|poignarda|"
    r"\w+(?:ó|aba|aban|ía|ían|aron|ieron|jeron|ò|ì|ava|avano|evano|ivano|arono|irono|erono|ou|avam|aram|eram|iram|iu)|"
    r"(?:av|viv|ten|dic|fac|pot|dov|sap|vol|cred|conosc|scriv|legg|posséd|possed|pren|vend|mett)eva|"
    r"era|eran|erano|fue|fueron|tuvo|hizo|dijo|estuvo|puso|vino|dio|vio|pudo|supo|quiso|trajo|"
    r"fu|furono|ebbe|fece|disse|venne|vide|prese|perse|uccise|mise|nacque|visse|scrisse|rimase|corse|chiese|rispose|decise|"
    r"foi|teve|fez|disse|veio|tinha|pôs|deu|viu|havia|vivia|sabia|queria|podia|dizia|trazia|\w{2,}(?:deu|ceu|reu|veu|beu|"
    r"meu|leu))"
)
_SLAVIC = r"(?:[а-яёіїє]+(?:л|ла|ло|ли|лся|лась|лось|лись)|\w+(?:ł|ła|ło|ły)|byl[aioy]?|zabil[aioy]?|zemřela?)"
_PAST = re.compile(rf"(?:{IRREGULAR_PAST}|{_GERMANIC}|{_ROMANCE}|{_SLAVIC}|\w+(?<!e)ed)(?!\w)")
_WEAK = re.compile(r"\w{2,}(?:te|de|ten|den)(?!\w)")
"""A past verb of a Germanic language; in a Romance one a present one may end so."""
_NOT_WEAK = re.compile(
    r"(?<!\w)(?:le|la|les|une?|una|el|los|las|gli|sa|ses|dans|avec|chez|sur|aux|à|di|del|della|con|sus|nel|nella|em|uma|que|che|"
    r"il|au)(?!\w)|(?<!\w)[dl]['’]|[ışğ]"
)
_PERFECT = re.compile(
    rf"(?:has|have)\s+(?:(?:\w+ly|never|not|already|long|since|also|once|just|only|always)\s+)*{PARTICIPLE}\b|"
    rf"(?:may|might|must|could|should|would|cannot|will)\s+(?:not\s+)?have\s+{PARTICIPLE}\b|"
    r"(?:hat|haben|wurde|worden|heeft|hebben)\s.*?\b(?:[a-zäöü]*ge\w+(?:t|en|d)|(?:be|ver|er|zer|ent|ont)\w+(?:t|en|d)|"
    r"\w+iert)\s*[.!]*$|(?:ist|sind|is)\s.*?\bge\w+en\s*[.!]*$|"
    r"(?:a|ont)\s(?!une?\b|les?\b|la\b|des\b|du\b|son\b|sa\b|ses\b|deux\b|trois\b|peur\b|[ld]['’])(?:\w+\s)?\w+(?:ée?s?|is|"
    r"it|ert|u|i)(?!\w)|"
    r"(?:s['’]est|est)\s(?:\w+\s)?(?:morte?|partie?|venue?|allée?|tombée?|devenue?|entrée?|sortie?|arrivée?|revenue?|disparue?|"
    r"enfuie?|noyée?|\w+ée)(?!\w)|(?:ha|han|hanno|había|havia)\s(?:\w+\s)?\w+(?:[aiu][dt]o|rto|cho|sto|eso|iso|uso)(?!\w)|"
    r"è\s(?:\w+\s)?(?:mort|partit|venut|andat|cadut|fuggit|scompars|rimast|diventat|tornat|stat)[oa](?!\w)|"
    r"(?=.*[ışğİ]).*\b\w+[dt][ıiuü]\s*[.!]*$|.*(?:[了过過].*|(?:た|었다|았다|였다|했다|था|थी|थे)\s*[.。!]*)$"
)
"""What somebody has done."""
_HAS = re.compile(r"(?:has|have)\b")
_NO_VERBS = re.compile(
    r"(?:of|in|on|at|by|with|from|to|for|as|and|or|but|who|whom|whose|which|that|than|the|an?|his|her|their|its|this|when|"
    r"while|if|"
    r"because|before|after|under|over|near|across|behind|beside|until|unless|towards|without|against|about|und|oder|aber|der|die|"
    r"das|dem|den|des|von|mit|aus|im|am|auf|bei|für|et|ou|mais|qui|que|dans|avec|pour|sur|au|du|le|la|les|de|y|o|pero|con|"
    r"para|por|"
    r"en|el|los|las|che|di|da|per|nel|il|lo|e|mas|em|com|na|van|met|uit|op|aan|het|een|и|или|но|из|с|в|на|который|которая)(?!\w)"
)
"""What no verb of somebody is that may follow their name."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PRONOUN = re.compile(r"(?:He|She|They|Er|Sie|Il|Elle|Lui|Lei|Ele|Ela|Él|Ella|Hij|Zij|Он|Она)(?= )")
"""With what a fact may begin that is told of an entry without its name."""

_TOGETHER = (
    r"(?:lives?|living|dwells?|resides?|stays?|staying|lodges?|lodging|shares?|sharing|works?|working|travels?|sleeps?|sleeping|"
    r"boards?|rooms?|runs?|sails?|rides?|plays?|playing|eats?|dines?|drinks?|walks?|talks?|dances?|hunts?|fishes|studies|argues|"
    r"quarrels|wohnt|lebt|teilt|schläft|arbeitet|reist|vit|habite|partage|dort|travaille|vive|viven|"
    r"convive|comparte|trabaja|duerme|condivide|abita|lavora|dorme|mora|trabalha|divide|woont|leeft|deelt|slaapt|werkt|"
    r"живёт|живет|делит|работает|спит|mieszka|żyje|bor|lever|delar|deler)"
)
_WITH = r"(?:with|mit|bei|avec|chez|con|com|met|с|со|z|ze|med|hos)"
_MARRIED = (
    r"(?:married|engaged|betrothed|wed|wedded|promised|verheiratet|verlobt|mariée?|fiancée?|casad[oa]|prometid[oa]|"
    r"comprometid[oa]|sposat[oa]|fidanzat[oa]|noiv[oa]|getrouwd|verloofd|замужем|женат|помолвлена?|gift|förlovad|forlovet)"
)
_TOWARDS = (
    r"(?:(?:about|going|meaning|planning|hoping|on (?:his|her|their) way)\sto\s"
    r"(?:meet|see|visit|join|fetch|find|rescue|free|kill|fight|trick|rob|help)|"
    r"(?:travell?ing|riding|walking|sailing|driving|dancing|eating|dining|talking|arguing|quarrelling|fighting)\swith|"
    r"(?:feeding|tending|working for))"
)
"""What somebody is about to do, or is doing, with another who lives; who does not know of a death may wait, look and hide."""
_TIED = (
    rf"(?<!\w){_TOGETHER}(?:\s[^\s.;,]+){{0,4}}?\s{_WITH}\s(?:[{CAPITALS}][\w-]*\s(?:and|und|et|y|e|en|och|og|и)\s)?(?:§)"
    rf"(?![\w'’]|\s[{CAPITALS}])|"
    rf"(?<!\w)(?:is|are|ist|sind|est|está|è|é|is|är|er)\s(?:\w+\s){{0,2}}?(?:{_MARRIED}\s(?:to|with|{_WITH}|à|a|за|на)\s(?:§)|"
    rf"{_WITH}\s(?:§)\s{_MARRIED})(?!\w)|"
    rf"(?<!\w)(?:is|are|ist|est|es|è|é)\s(?:(?:§)['’]?s?\s{_BONDS}|(?:\w+['’]?\s){{1,2}}{_BONDS}\s(?:of|von|de|di|do|da|"
    rf"van)\s(?:§)(?!\w))|"
    r"(?<!\w)(?:is|are)\s(?:dating|courting|marrying|nursing|seeing|sleeping with|living with|"
    r"in a relationship with)\s(?:§)(?!\w)|(?<!\w)(?:will|is to|are to|is going to)\s(?:marry|wed)\s(?:§)(?!\w)|"
    rf"(?<!\w)(?:looks\safter|takes\scare\sof|cares\sfor|cooks\sfor|nurses|works\sfor)\s(?:§)(?![\w'’-]|\s[{CAPITALS}])|"
    rf"(?<!\w)(?:fears|dreads|obeys|serves|"
    rf"(?:relies|depends)\son|(?:is|are)\s(?:\w+\s)?(?:afraid|scared|frightened|terrified|jealous)\sof)\s(?:§)(?=[.,;]|$|\s(?:and|in|at)\b)|"
    # Whose friend or brother is met may be met still; so may who else is named.
    rf"(?<!\w)(?:is|are)\s(?:\w+\s){{0,2}}?{_TOWARDS}\s"
    rf"(?:§)(?![\w'’-]|\s[{CAPITALS}]|\s(?:and|or)\s|,\s|\sto\sbe\s(?:buried|avenged|mourned))"
)


@lru_cache(maxsize=4096)
def is_present(said: str) -> bool:
    """Return whether what follows somebody's name says in the present what they do, have or are, but for who they are."""
    said = _BEGIN.sub("", said, count=1)
    first = said[:1]
    if not first.isalpha() or _THE_DEAD.match(said):
        return False
    if who := _WHO.match(said):
        return bool(re.match(rf"\s*(?:[\w'’-]+\s){{0,2}}?{_BONDS}", said[who.end() :]))
    if _PERFECT.match(said) or _PAST.match(said):
        return False
    if _MODAL.match(said) or _HAS.match(said) or _UNSPACED.match(first):
        return True
    if _WEAK.match(said) and not _NOT_WEAK.search(said):
        return False
    return first.islower() and not _NO_VERBS.match(said)


def is_present_of_them(fact: str) -> bool:
    """Return whether a fact that begins with a pronoun says in the present what somebody does, has or is."""
    match = _PRONOUN.match(fact)
    return match is not None and is_present(fact[match.end() :])


def lives_with(sentence: str, called: str) -> bool:
    """Return whether a sentence says in the present that another lives with somebody, is married to them, or shares with them.

    `called` is a pattern of their names.
    """
    return _tied(called).search(sentence) is not None


@lru_cache(maxsize=1024)
def _tied(called: str) -> re.Pattern[str]:
    return re.compile(_TIED.replace("§", called))
