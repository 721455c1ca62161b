"""Who has a thing, and what is lost, as an English sentence tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recurrentgpt.nodes.codex_doubts import is_doubted
from recurrentgpt.schema.codex import Change, Codex, Entry
from recurrentgpt.schema.names import OFFICE, RANKS, without_article

_NOUN = r"(?:[a-z][\w-]* ){0,2}?[a-z][\w-]+"
_NAME = r"(?:(?:Mr|Mrs|Ms|Dr|St|Capt|Prof|Lt|Sgt|Col)\.|[A-Z][\w-]*(?:['’](?!s\b)\w+)*)"
_FULL_NAME = rf"{_NAME}(?: (?:(?:de|von|van) )?{_NAME}){{0,2}}"
_THING = rf"(?:(?:the|(?P<any>an?)|his|her|their|its)|(?:{_FULL_NAME}|\w+)['’]s) (?P<thing>{_NOUN})"
_THE = rf"(?:the|his|her|their) (?P<thing>{_NOUN})"
_END = (
    r"(?=[.,;]|$| (?:of|in|on|at|by|to|from|under|inside|behind|around|with|for|and|but|or|that|which|who|as|while|when|where|"
    r"into|"
    r"out|against|over|onto|across|near|beside|between|among|through|somewhere|there|here|again|away|back|off|down|up|last|"
    r"yesterday|before|after|during|since|until|because|so|if|than|like|now|today|tonight|tomorrow|these|this|too|also|still|"
    r"quite|very|rather|fairly|almost|nearly|just|"
    r"instead|anyway|already|alone|together|always|once more|once again|at last|as well|any|all|ready|inside|outside|aboard|"
    r"everywhere|forever|then|later|safely|secretly|tightly|openly|proudly|carefully|constantly|unharmed|intact|herself|himself|"
    r"themselves|next|every|each|overnight|(?:locked|wrapped|tied|hidden|tucked|clutched|slung|strapped|concealed|"
    r"stashed) (?:in|with|"
    r"to|up|away|under|behind|round|around|over|by|against)|\w+ by \w+)\b)"
)
"""What ends a thing's name."""
_HOLDS = re.compile(
    r"(?:(?:now|still|again|also|secretly) )?(?:(?:carries|carried|holds|has|keeps|kept|pockets|pocketed|steals|stole|wears|"
    r"owns|hides|"
    r"hid|found|finds|wins|won|"
    r"buys|bought|inherits|inherited|snatched|snatches|grabbed|grabs|seized|confiscated|swiped|filched|received|receives|"
    r"accepted|accepts|collected|claimed|acquired|acquires|owned|now has|now had|wore|walked off with|made off with|"
    r"went off with|ran off with|got hold of|took (?:possession|charge) of) "
    rf"{_THING}{_END}|(?:took|takes|got|gets|wrested|wrests) (?:back )?{_THE.replace('thing', 'taken')} (?:away )?from (?=[A-Z])|"
    rf"(?:took|takes) (?:{_FULL_NAME})['’]s (?P<theirs>{_NOUN}){_END}|"
    rf"(?:dropped|drops|slipped|slips|put|puts|thrust|stuffed|tucked|slid) {_THE.replace('thing', 'own')} (?:in|into|inside) "
    r"(?:his|her) own (?:\w+ )?(?:pocket|bag|purse|coat|belt|sleeve|satchel|handbag|case)\b|"
    rf"(?:picked|picks) up {_THE.replace('thing', 'picked')} and (?:kept|pocketed|keeps|pockets) it\b)"
)
_GIVEN = (
    r"(?:gives|gave|hands|handed|passes|passed|sells|sold|lends|lent|returns|returned|entrusts|entrusted|presents|presented|"
    r"bequeaths|bequeathed|leaves|left|sends|sent|slips|slipped|delivers|delivered|surrenders|surrendered|yields|yielded|"
    r"trades|traded|loans|loaned|throws|threw|tosses|tossed|brings|brought|offers|pays|grants|granted|pawned|lost)"
)
_TO = rf"(?P<to>{_FULL_NAME})\b(?!-\w| [A-Z])"
_OFFICE = (
    r"(?:(?!(?:river|tower|corner|border|other|former|latter|under|over|after|inner|outer|upper|lower)\b)[a-z]{3,}(?:er|or)|"
    rf"{OFFICE}|{'|'.join(sorted(RANKS))}|king|queen|prince|princess|count|countess|duke|duchess|lord|lady)"
)
"""What stands before a name and says what somebody is; the wife of Odo is not Odo."""
_NOT_THEIRS = r"(?!['’]s\b)"
_GIVES = re.compile(
    rf"{_GIVEN} {_THING}(?: (?:back|over|on|away))? to {_TO}{_NOT_THEIRS}|"
    rf"{_GIVEN} {_THE.replace('thing', 'given')} to (?:(?:the|an?|his|her) (?:\w+ )?{_OFFICE}|old) "
    rf"{_TO.replace('to', 'titled')}(?=[.,;]|$)|"
    rf"(?:leaves|left) {_THE.replace('thing', 'left')} with {_TO.replace('to', 'keeper')}{_NOT_THEIRS}|"
    rf"(?:pressed|presses|pushed|pushes|put|puts|laid|dropped|thrust|placed|"
    rf"slipped) {_THE.replace('thing', 'pressed')} (?:in|into) "
    rf"{_TO.replace('to', 'hand')}['’]s? (?:\w+ )?(?:hands?|palm|pocket|fingers|(?:bag|purse|basket|satchel)(?=[.,;]|$))"
)
_GIVES_FIRST = re.compile(
    rf"(?!lost|left){_GIVEN} {_TO} (?:back )?{_THING}{_END}|"
    rf"(?:presented|entrusted|provided|supplied) {_TO.replace('to', 'hand')} with {_THE.replace('thing', 'pressed')}{_END}|"
    rf"(?:made|makes) {_TO.replace('to', 'friend')} a (?:present|gift) of {_THE.replace('thing', 'present')}{_END}"
)
_PART_WITH = (
    r"(?:gives|gave|hands|handed|passes|passed|sells|sold|lends|lent|returns|returned|sends|sent|delivers|delivered|surrenders|"
    r"surrendered|trades|traded|threw|throws|tossed|brought|drops|dropped|donates|donated|pawns|pawned|discards|discarded|"
    r"abandons|abandoned|forgets|forgot|leaves|left|mislays|mislaid|loses|lost)"
)
_LETS_GO = re.compile(
    # no longer has it
    rf"(?:no longer (?:has|had|carries|carried|wears|wore|holds|held|keeps|kept|owns|owned)|(?:does not|doesn['’]t|did not|"
    rf"didn['’]t) "
    rf"(?:have|carry|hold|own|wear)) {_THING}{_END}(?! (?:to|of) )|"
    # gave it away, and to the girl at the desk
    rf"(?:gives|gave|hands|handed|passes|passed|sells|sold|lends|lent|returns|returned|sends|sent|surrenders|surrendered|"
    rf"trades|traded|"
    rf"donates|donated|pawns|pawned|discards|discarded|throws|threw) (?:(?:away|up|back|over|off) )?(?:(?:him|her|them|it|"
    rf"(?:the|an?) "
    rf"[a-z]+) )?{_THE.replace('thing', 'given')}(?= (?:to|away|back|over|for|up|on|off)\b|[.,;]|$)|"
    rf"(?:gets|got) rid of {_THE.replace('thing', 'rid')}{_END}|part(?:s|ed) with {_THE.replace('thing', 'parted')}{_END}|"
    # left it on the train
    rf"(?:leaves|left|forgets|forgot|abandons|abandoned|drops|dropped) {_THE.replace('thing', 'left')} "
    r"(?=(?:behind|on|in|at|under|aboard|beside|by|there|inside|outside|near|where|to|with)\b)"
)
_TAKES = re.compile(rf"(?:took|takes) the (?P<thing>{_NOUN})(?=[.;]|$|,? and (?:hid|kept|pocketed) it\b)")
"""How somebody takes what another one has, and keeps it."""
_RIDDEN = frozenset(
    ("ferry", "boat", "ship", "train", "coach", "cart", "car", "bus", "tram", "plane", "horse", "picture")
)
"""What one takes without having it after that."""
_ITS_WAY = re.compile(
    rf"[^.;]*?\b(?:and|but|then) (?:then |later |soon |\w+ly )?{_PART_WITH} (?:it|them)\b(?: (?:back|over|on))?"
    rf"(?: (?:to|with) (?:the )?(?P<to>{_FULL_NAME}))?"
)
"""What happens in the same sentence to a thing that somebody took."""
_HANDS_ON = re.compile(
    rf"(?:\w+ly )?[a-z]+ (?:up |out |down |off |back )?{_THE},? (?:and|then) (?:then |later |soon |\w+ly )?{_PART_WITH} it "
    rf"(?:back |over |on )?to {_TO}{_NOT_THEIRS}"
)
"""What one does with a thing, whatever it is, before one gives it to somebody."""
_AND_ANOTHER = re.compile(rf"\b(?P<one>(?:the|an?|his|her|their) {_NOUN}) and (?P<other>(?:the|an?) {_NOUN}){_END}")
"""Two things with which one and the same happens."""
_LEFT_IT = re.compile(
    rf"{_PART_WITH} it (?:back |over |on )?(?:behind|away|on|in|at|under|aboard|back|(?:to|with)(?: (?P<to>{_FULL_NAME}))?)\b"
)
_DESTROYS = (
    r"(?:burn(?:s|ed|t)|destroy(?:s|ed)|smash(?:es|ed)|shatter(?:s|ed)|wreck(?:s|ed)|crush(?:es|ed)|shred(?:s|ded)?|"
    r"incinerat(?:es|ed)|"
    r"demolish(?:es|ed)|pulveri[sz]ed|obliterated|annihilated|consumed|devoured|sank|sunk|scuttled|melted(?: down)?|blew up|"
    r"(?:tears?|tore|rips?|ripped)(?: up)?)"
)
_MISLAYS = r"(?:los(?:es|t)|mislaid|mislays)"
_SWALLOWING = (
    r"(?:sea|river|lake|well|fire|flames|stove|furnace|water|harbour|harbor|canal|abyss|gulf|ocean|deep|bog|marsh|"
    r"pit|ravine|hearth|grate|waves)"
)
_LOSES = re.compile(
    rf"\b(?P<how>{_MISLAYS}|(?!tore |ripped |tears? |rips? ){_DESTROYS}) (?:down |up )?{_THE}{_END}(?! (?:to|for) [A-Z])|"
    rf"\b(?:tears?|tore|rips?|ripped) (?:up {_THE.replace('thing', 'torn')}{_END}|{_THE.replace('thing', 'ripped')} "
    r"(?:up|(?:in)?to (?:\w+ )?(?:pieces|shreds|bits|ribbons|scraps)|in (?:two|half|pieces)))|"
    rf"\b(?:dropped|knocked over|let go of) {_THE.replace('thing', 'broken')},? and (?:it|the \w+) (?:\w+ )?"
    r"(?:broke|shattered|smashed|sank|burst|carried it|swept it|swallowed it|took it)|"
    rf"\b(?:threw|throws|flung|flings|tossed|dropped|drops|fed|feeds|hurled|hurls|pitched|cast|casts|pushed|let) "
    rf"{_THE.replace('thing', 'thrown')} (?:fall |slip |drop |sink )?(?:in|into|to|over|on) (?:the|a) (?:\w+ )?{_SWALLOWING}\b|"
    rf"\b(?:broke|breaks|snapped|chopped|hacked|blew|cut) {_THE.replace('thing', 'snapped')} (?:in|into|to) "
    r"(?:two|half|pieces|bits|splinters|shreds|matchwood)\b"
)
_GONE_NOW = (
    r"(?:all |quite |now |completely |utterly |almost )?"
    r"(?:lost(?! (?:in (?:the )?(?:thought|fog|mist|haze|distance)|for words|to (?:sight|view)|"
    r"on (?:him|her|them|[A-Z]\w+))\b)|"
    r"destroyed|burn(?:ed|t)(?: down| up)?|smashed|sunk|stolen|wrecked|"
    r"shattered|shredded|ruined beyond repair|crushed|incinerated|demolished|scuttled|melted down|torn (?:up|to (?:pieces|"
    r"shreds|bits))|"
    r"ripped (?:up|to (?:pieces|shreds))|in (?:pieces|ashes|splinters|shreds)|ashes|gone for (?:good|ever)|swept away|"
    r"washed away|"
    r"at the bottom of the \w+|consumed by|swallowed by|reduced to)"
)
_LOST = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:(?:is|was|has been|had been|lies|lay|were|got|went) (?P<how>{_GONE_NOW})|"
    r"(?P<gone>(?:sank(?= (?:in|off|with|without|beneath|below|under|at|within|to the bottom)\b|[.,;]|$)|shattered|"
    r"burned down|burnt down|burned up|disintegrated|went up in (?:flames|smoke)|"
    r"went down with (?:all|every|its|her)|went to the bottom|foundered|"
    r"(?:broke|fell|smashed|crumbled|cracked|split|burst|flew|went) (?:in|into|to) (?:\w+ )?(?:pieces|two|half|bits|"
    r"fragments|dust|splinters)|"
    r"(?:slipped|fell|dropped|slid|rolled|went)(?:(?:(?!,? (?:and|but|while|so) (?:the|an?|his|her|their) )[^.;\"])* "
    r"(?:sank|was lost|shattered|smashed|was gone)|[^.;\"]*, and it (?:was (?:lost|gone))))))\b|"
    r"^The (?:sea|river|fire|flames|flood|waves|tide|current|storm|water|mud|bog) (?:took|swallowed|carried off|consumed|"
    r"destroyed|"
    rf"carried away|swept away|claimed|ate|had) the (?P<taken>{_NOUN})(?=[.,;]|$)"
)
_DEEP = r"(?:sea|ocean|river|lake|harbour|harbor|canal|abyss|gulf|deep|bog|marsh|swamp|ravine|well|bay|pond|moat)"
_SLIPS_AWAY = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:(?:has |had )?(?:fell|fallen|dropped|slipped|slid|rolled|went|blew|plunged|tumbled) "
    rf"(?:[a-z]+ ){{0,4}}?(?:overboard|over the side|(?:in|into|to the bottom of) (?:the|a) (?:\w+ )?{_DEEP})(?=[.,;]|$| (?:and|"
    rf"at|in|that)\b)|"
    r"(?:is|was|has gone|had gone|went|goes) missing(?=[.,;]|$| (?:from|since|again)\b)|"
    r"(?:has |had )?(?:vanished|disappeared)(?=[.,;]|$| (?:from|in the night|overnight|without|one|that|last)\b))"
)
"""How a thing is lost that is known: of a cat, it would be told in the same words."""
_PULLED_OUT = re.compile(
    r"\b(?:(?:pulled|fished|snatched|caught|dragged|drew|picked|got) (?:it|them)|floats|floated)\b"
)
_AGAIN = r"(?:(?:now|at last|finally|again|later|then|since|safely|\w+ly) )*"
_IS_FOUND = (
    rf"(?:(?:is|was|has been|had been|were) {_AGAIN}(?:found|recovered|retrieved|returned|salvaged|discovered|brought (?:back|"
    rf"up|home|ashore)|"
    r"given back|handed back|sent back|dug (?:up|out)|fished (?:out|up|from)|pulled (?:out|up|from)|raised|washed (?:up|ashore)|"
    r"hauled up|"
    r"back|safe|there again|in the hands of)\b|"
    rf"(?:has |had )?{_AGAIN}(?:(?:turns|turned|washed|washes|showed|shows|came|comes|floated) (?:up|ashore|back|home|to light)|"
    r"reappear(?:ed|s)|resurfaced|surfaced|emerged|returned)\b|"
    r"(?:lies|lay|hangs|hung|stands|stood|rests|glitters|shines) (?:again )?(?:in|on|under|around|behind|beside|by|at) "
    rf"(?![^.;]*\b(?:bottom|{_DEEP})\b))(?! (?:missing|broken|empty)\b)"
)
"""What is said of a thing that was lost, behind its name."""
_FINDS = (
    r"(?:found|finds|discovered|discovers|recovered|recovers|retrieved|retrieves|salvaged|rescued|raised|returned(?: with)?|"
    r"returns(?: with)?|"
    r"(?:came|comes) (?:back|home|up) with|(?:brought|brings|gave|gives|handed|sent|got|gets|took|bought|won|fetched) (?:back )?|"
    r"(?:fished|fishes|dug|digs|pulled|pulls|dragged|hauled|drew|picked|dredged|scooped|plucked|lifted)(?: up| out)?)"
)
_TO_WHOM = rf"(?:(?:{_FULL_NAME}|him|her|them) (?:back )?)?"
_IS_WHOLE_AGAIN = (
    rf"(?:(?:is|was|has been|had been|were) {_AGAIN}(?:rebuilt|restored|repaired|mended|reassembled|remade|recast|fixed|"
    rf"reforged|resewn|"
    r"put (?:back )?together|glued together|pieced together|(?:as good as )?new|found (?:intact|unharmed|undamaged|whole))\b|"
    r"(?:is|was) whole again\b|(?:runs|ran|works|worked|stands|stood|floats|sails|burns|ticks|rings|sounds|goes) again\b)"
)
"""What is said of a thing that was destroyed, behind its name."""
_MAKES_WHOLE = (
    r"(?:rebuil(?:t|ds)|restore[sd]|repair(?:ed|s)|mend(?:ed|s)|reassemble[sd]|remade|recast|fixed|reforged|raised|"
    r"(?:glued|pieced|put|sewed|stitched)(?: (?:back )?together)?)"
)
_NOBODY = re.compile(r"\b(?:nobody|no one|none|neither|nothing|cannot|refused|failed)\b", re.IGNORECASE)
_RESTORED = re.compile(
    r"\b(?:(?<!seen )(?<!never )again|back|(?<!ever )(?<!not )found|until|rebuilt|restored|mended|repaired|recovered|replaced|"
    r"for (?:a|an|two|three) \w+)\b"
)
"""What a sentence says of a thing that was lost for a while only."""
_BELONGS = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:(?:now )?(?:belongs|belonged|passed|passes|went|goes|fell) to {_TO}{_NOT_THEIRS}|(?:was|"
    rf"had been|is) "
    rf"(?:given|sold|left|handed|lent|bequeathed|entrusted|promised) to {_TO.replace('to', 'given')}{_NOT_THEIRS}|(?:is|"
    rf"was) (?:now )?"
    rf"{_TO.replace('to', 'owner')}['’]s? (?:now|property|own)\b)"
)
_IS_WITH = re.compile(
    rf"\b[Tt]he (?P<thing>{_NOUN}) (?:is|was|has been) (?:(?:now|back|again|safe|safely|once more|finally|already) )*"
    rf"(?:(?:with|in the (?:hands|possession|keeping) of) (?P<with>{_FULL_NAME})(?!['’\w]| [A-Z])|"
    rf"(?P<owner>{_FULL_NAME})['’]s?(?=[.,;]|$| (?:again|since|for (?:good|ever)|once more)\b)|"
    rf"in (?P<hand>{_FULL_NAME})['’]s? (?:hands|possession|keeping|pocket)\b)"
)
"""What is said so of a thing that somebody may have, and of the doctor who is with Mara: it decides where the thing is known."""
_NO_THING = frozenset((
    "way", "time", "moment", "chance", "idea", "plan", "right", "name", "voice", "hand", "hands", "eyes", "face", "head",
    "breath", "silence", "door", "truth", "look", "word", "words", "life", "mind", "job", "place", "feeling", "reason",
    "secret", "choice", "night", "day", "courage", "strength", "heart", "body", "duty", "game", "match", "battle", "war",
    "bet", "race", "prize", "election", "case", "fight", "soup", "bread", "toast", "dinner", "supper", "fingers", "tongue",
    "thread", "track", "money", "temper", "seat", "eye", "windows", "sun", "moon", "fire", "matches", "wood", "coal",
    "incense", "oil", "sight", "use", "trail", "scent", "power", "peace", "calm", "mood", "spirit", "spirits", "balance",
    "footing", "grip", "hold", "nerve", "self-control", "patience", "child", "baby", "boy", "girl", "man", "woman", "father",
    "mother", "son", "daughter", "wife", "husband", "brother", "sister", "friend", "enemy", "enemies", "army", "men",
    "people", "hopes", "hope", "dream", "dreams", "faith", "vote", "argument", "throne", "crown", "city", "town", "village",
    "country", "lips", "cheek", "cheeks", "ear", "ears", "arm", "arms", "leg", "legs", "foot", "feet", "knee", "knees",
    "hair", "skin", "blood", "flesh", "ground", "earth", "road", "air", "sky", "rest", "whole", "best", "worst", "first",
    "second", "last", "other", "others", "thing", "things", "stuff", "matter", "campaign", "glasses", "crew", "troops",
    "passengers", "family", "conversation", "subject", "question", "meal", "food", "tea", "coffee", "wine", "kiss", "glance",
    "smile", "blow", "push", "start", "shock", "nod", "answer", "order", "orders", "lie", "news", "illusion", "illusions",
    "spell", "stairs", "steps", "slope", "hill", "corner", "distance", "flu", "cold", "fever", "measles", "plague", "cough",
    "headache", "illness", "disease", "hiccups", "shivers", "chills", "creeps", "jitters", "willies", "blues", "cancer",
    "mumps", "itch", "pain", "wound", "wounds", "scar", "scars", "bruise", "floor", "record", "lead", "advantage", "edge",
    "title", "rank", "office", "post", "position", "command", "helm", "stage", "fort", "line", "note", "vigil", "court",
    "meeting", "party", "class", "rule", "rules", "law", "company", "house", "home", "shop", "inn", "land", "farm", "estate",
    "business", "pace", "score", "count", "station", "field", "say", "impression", "habit", "talent", "taste", "sense",
    "urge", "nerves", "guts", "energy", "gaze", "interest", "pose", "view", "opinion", "belief", "promise", "appointment",
    "honour", "honor", "privilege", "blame", "fault", "credit", "benefit", "lottery", "contest", "trial", "award",
    "championship", "debate", "wager", "toss", "point", "points", "round", "tournament", "verdict", "seatbelt", "drinks",
    "vision", "curse", "blessing", "memory", "memories", "past", "future", "story", "joke", "entrance", "exit", "path",
    "cave", "island", "culprit", "killer", "murderer", "thief", "solution", "cure", "clue", "clues", "tracks", "footprints",
    "problem", "source", "cause", "signal", "details", "facts", "tour", "treatment", "cue", "lift", "ride", "slip", "boot",
    "sack", "shoulder", "finger", "go-ahead", "all-clear", "week", "month", "year", "hour", "afternoon", "evening", "morning",
    "minute", "weekend", "votes", "support", "trust", "respect", "love", "sympathy", "consent", "help", "pulse", "side",
    "advice", "call", "confession", "statement", "temperature", "offer", "bait", "nose", "chin", "jaw", "brow", "laugh",
    "build", "accent", "walk", "manner", "manners", "age", "gait", "stare", "frown", "health", "wealth", "birth", "youth",
    "death", "warmth", "depth", "effect", "cost", "price", "risk", "danger", "fear", "joy", "grief", "guilt", "shame",
    "anger", "rage", "pleasure", "feel", "doubt", "doubts", "suspect", "suspects", "witness", "doctor", "priest", "guard",
    "guards", "police", "captain", "king", "queen", "twins", "stranger", "crowd", "prisoner", "prisoners", "nightmare",
    "dead", "bloodline", "kingdom", "world", "audience", "attention", "majority", "evidence", "initiative", "floorboards",
    "sea", "ocean", "river", "lake", "shore", "coast", "horizon",
    "aisle", "aim", "wheel", "reins", "same", "most", "least", "more", "wind", "rain", "dark", "darkness", "heat", "means",
    "lights", "accounts", "old", "new", "little", "small", "big", "large", "good", "bad", "wrong", "long", "great", "only",
    "young", "black", "white", "red", "blue", "green", "sound", "noise", "smell", "exam", "test", "degree", "licence",
    "license", "leadership",
    "limp", "lisp", "stammer", "squint", "beard", "moustache",
    "mustache", "whiskers", "braid", "braids", "plait", "plaits", "ponytail", "oath", "vow", "vows", "pledge",
))  # fmt: skip
"""What one has or keeps and nobody can take out of a pocket."""
_NO_PART = frozenset(("and", "or", "but", "it", "he", "she", "they", "that", "which", "who"))
"""What is no part of a thing's name."""
_SEVERAL = frozenset((
    "hat", "window", "glass", "bottle", "plate", "cup", "cigarette", "cigar", "candle", "room", "chair", "sofa", "stone",
    "branch",
    "page", "card", "flower", "rope", "box", "paper", "pen", "table", "curtain", "bed", "stick",
))  # fmt: skip
"""What a house has several of: without another word, the next one may be another."""
_ABSTRACT = re.compile(r"\w{3,}(?:ness|ity|tion|sion|ment|ship|hood|ism|ance|ence|ency|ancy|dom|itis)")
_NOT_ABSTRACT = re.compile(
    r"instrument|document|garment|ornament|pigment|parchment|fragment|implement|testament|medicament|ointment|potion|lotion|"
    r"ration|"
    r"ammunition|invitation|prescription|petition|television|edition|manuscript|harness|lance|ambulance|appliance|fence|essence|"
    r"(?:air|star|space|war|steam|battle|flag|gun|light|long)ship|transmission|decoction|concoction|attachment|equipment"
)
_MAY_BE_A_THING = frozenset(
    (
        "safe",
        "clean",
        "dry",
        "open",
        "empty",
        "warm",
        "low",
        "straight",
        "high",
        "lit",
        "loaded",
        "loose",
        "tight",
        "aloft",
        "hidden",
    )
)
"""What is said of how one has a thing, or is part of its name: the visor safe, the iron safe."""


def things_in(fact: str, known: Codex) -> Iterator[Change]:
    """Yield what an English fact tells of things, with whoever has them after their names."""
    for match in _LOSES.finditer(fact):
        thing = next(value for name, value in match.groupdict().items() if name != "how" and value)
        if _is_lost(thing, fact, match):
            how = "lost" if match["thrown"] or re.match(_MISLAYS, match["how"] or "") else "destroyed"
            yield Change(entry=thing, kind="thing", do="set", aspect="status", value=how)
    for match in _LOST.finditer(fact):
        thing = match["thing"] or match["taken"]
        if _is_lost(thing, fact, match):
            how = match["how"] or match["gone"] or "lost"
            is_lost = re.search("^(?:lost|stolen|sunk|gone|swept|washed|at the)|(?:sank|lost|gone)$|^sank", how)
            yield Change(entry=thing, kind="thing", do="set", aspect="status", value="lost" if is_lost else "destroyed")
    for match in _SLIPS_AWAY.finditer(fact):
        held = known.find(match["thing"])
        is_out = held is None or held.kind != "thing" or _PULLED_OUT.search(fact, match.end())
        if not is_out and _is_lost(match["thing"], fact, match):
            yield Change(entry=match["thing"], kind="thing", do="set", aspect="status", value="lost")
    yield from _there_again(fact, known)
    for pattern in (_BELONGS, _IS_WITH):
        for match in pattern.finditer(fact):
            thing, to = match["thing"], next(name for name in match.groups()[1:] if name)
            held = known.find(thing)
            is_thing = _is_thing(thing) if pattern is _BELONGS else held is not None and held.kind == "thing"
            if is_thing and not is_doubted(fact, match.start(), match.end()):
                yield from _held(thing, _whom(to, known), known)


def _there_again(fact: str, known: Codex) -> Iterator[Change]:
    """Yield that what was lost is found, or that what was destroyed is whole again."""
    for thing in known.gone:
        status = thing.value("status")
        called = "|".join(sorted(map(re.escape, map(without_article, thing.names)), key=len, reverse=True))
        if not re.search(rf"\b(?:{called})\b", fact):
            continue
        the = rf"(?:[Tt]he|his|her|their) (?:lost |stolen |missing |broken |old )?(?:{called})"
        if status == "lost":
            patterns = rf"\b{the} {_IS_FOUND}", rf"\b{_FINDS} ?{_TO_WHOM}{the}{_END}"
        else:
            together = r"(?: (?:back )?together)?"
            patterns = rf"\b{the} {_IS_WHOLE_AGAIN}", rf"\b{_MAKES_WHOLE} {the}{together}{_END}"
        for match in filter(None, (re.search(pattern, fact) for pattern in patterns)):
            is_put = status == "lost" or not match[0].startswith("put ") or "together" in match[0]
            denied = _NOBODY.search(fact, 0, match.end()) or is_doubted(fact, match.start(), match.end())
            if is_put and not denied:
                yield Change(entry=thing.name, kind="thing", do="end", aspect="status", value=status)
                break


def _is_lost(thing: str, fact: str, match: re.Match[str]) -> bool:
    return (
        _is_thing(thing)
        and not _RESTORED.search(fact, match.end())
        and not is_doubted(fact, match.start(), match.end())
    )


def held_by(entry: Entry, after: str, known: Codex) -> Iterator[Change]:
    """Yield who has a thing now that somebody takes, has, gives or leaves, `after` being what a fact says after their name."""
    both = _AND_ANOTHER.search(after)
    # The children follow, and the door closed.
    if both is None or (" " in (other := without_article(both["other"])) and known.find(other, "thing") is None):
        yield from _held_one(entry, after, known)
        return
    for name in ("one", "other"):
        yield from _held_one(entry, f"{after[: both.start()]}{both[name]}{after[both.end() :]}", known)


def _held_one(entry: Entry, after: str, known: Codex) -> Iterator[Change]:
    for pattern in (_GIVES, _GIVES_FIRST, _HANDS_ON, _LETS_GO, _HOLDS):
        match = pattern.match(after)
        found = {name: said for name, said in match.groupdict().items() if said} if match else {}
        to = next((found.pop(name) for name in ("to", "hand", "friend", "keeper", "titled") if name in found), "")
        is_any = found.pop("any", "") != ""
        thing = _without_state(next(iter(found.values()), ""), known)
        if match is None or not _is_thing(thing):
            continue
        if pattern is _HOLDS and (passed := _ITS_WAY.match(after, match.end())):
            to, pattern = passed["to"] or "", _GIVES if passed["to"] else _LETS_GO
        if pattern is _LETS_GO:
            yield from _ended(thing, None if _HOLDS.match(after) else entry, known)
        elif not (is_any and _is_anothers(thing, entry, known)) and not (
            "theirs" in found and known.find(thing) is None
        ):
            yield from _held(thing, _whom(to, known) if to else entry, known)
        return
    taken = _TAKES.match(after)
    held = known.find(taken["thing"], "thing") if taken else None
    is_ridden = held is not None and held.name.split()[-1] in _RIDDEN
    if held is not None and not is_ridden and held.line("holder") and known.find(held.value("holder")) is not entry:
        yield from _held(held.name, entry, known)
    if (left := _LEFT_IT.match(after)) and len(own := known.held_by.get(entry.name, ())) == 1:
        yield from (
            _held(own[0].name, _whom(left["to"], known), known) if left["to"] else _ended(own[0].name, entry, known)
        )


def _without_state(thing: str, known: Codex) -> str:
    """Return a thing without the word for how somebody has it; empty where that may be part of its name."""
    bare, _, last = thing.rpartition(" ")
    if not bare or last not in _MAY_BE_A_THING or known.find(thing) is not None:
        return thing
    return bare if known.find(bare) is not None else ""


def _is_thing(name: str) -> bool:
    """Return whether the rules follow a thing: what everybody has several of, they do not."""
    words = name.split()
    if not words or (len(words) == 1 and name in _SEVERAL):
        return False
    last = words[-1]
    return (
        last not in _NO_THING
        and not name.endswith("ly")
        and words[0] not in ("other", "last", "first", "whole", "same")
        and _NO_PART.isdisjoint(words)
        and not (_ABSTRACT.fullmatch(last) and not _NOT_ABSTRACT.search(last))
    )


def _is_anothers(thing: str, entry: Entry, known: Codex) -> bool:
    """Return whether somebody else has a thing of a name: a visor is another one than the visor that he has."""
    held = known.find(thing)
    return held is not None and held.value("holder") != "" and known.find(held.value("holder")) is not entry


def _whom(name: str, known: Codex) -> Entry | str | None:
    """Return whom a name means, or the name of somebody unknown; None for a place."""
    entry = known.meant(name) or known.find(name)
    if entry is None and " " in name and (first := known.find(name.split()[0])) is not None and first.name not in name:
        entry = first  # gave Mara Monday's paper
    return None if entry is not None and entry.kind == "place" else entry or name


def _held(thing: str, holder: Entry | str | None, known: Codex) -> Iterator[Change]:
    """Yield who has a thing now."""
    if holder is None:
        return
    value = holder if isinstance(holder, str) else holder.name
    yield Change(entry=thing, kind="thing", do="set", aspect="holder", value=value)


def _ended(thing: str, holder: Entry | None, known: Codex) -> Iterator[Change]:
    """Yield that somebody, or anybody, has a thing no longer, where it is known that they had it."""
    held = known.find(thing)
    if held is None or held.kind != "thing" or not held.line("holder"):
        return
    if holder is None or known.find(held.value("holder")) is holder:
        yield Change(entry=held.name, kind="thing", do="end", aspect="holder", value=held.value("holder"))
