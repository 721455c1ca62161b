"""Deal people and first troubles for a new story: a small model left alone always tells of Dr. Elara in 2050.

Every deal depends on nothing but its key, so an opening can be repeated.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

# Each of these is one token of the embedded model after a space: a name of several is misspelt as soon as repetition is
# penalised. And their owners are commonly "she" or "he", which a small model otherwise forgets from line to line.
_WOMEN = (
    "Lena", "Ruth", "Clara", "Helen", "Nora", "Ada", "Rosa", "Irene", "Judith", "Ellen", "Diana", "Vera", "Esther",
    "Joan", "Stella", "Sylvia", "Hannah", "Iris", "Naomi", "Dorothy", "Claire", "Gloria", "Lydia", "Hazel", "Alma",
    "Pearl", "Anna", "Nina", "Carmen", "Sofia", "Marie", "Martha", "Rebecca", "Leah", "Rachel",
)  # fmt: skip
_MEN = (
    "Tomas", "Jonah", "Owen", "Pavel", "Desmond", "Hugo", "Felix", "Simon", "Victor", "Walter", "Oscar", "Leo",
    "Ivan", "Karl", "Arthur", "Lucas", "Anton", "Hector", "Julian", "Gabriel", "Conrad", "Bruno", "Roland", "Abel",
    "Otto", "Elias", "Magnus", "Theo", "Ralph", "Boris", "Franz", "Lars", "Omar", "Diego", "Pierre", "Samuel",
    "Daniel", "Caleb",
)  # fmt: skip
_FAMILIES = (
    "Hale", "Rowe", "Kerr", "Marsh", "Reed", "Lane", "Frost", "Nash", "Cross", "Webb", "Drake", "Blake", "Hart",
    "Shaw", "Ward", "Moss", "Kane", "Vale", "Wells", "Adams", "Becker", "Berg", "Klein", "Lang", "Meyer", "Ortiz",
    "Perez", "Silva", "Torres", "Vega", "Wong", "Yang", "Kim", "Khan", "Shah", "Singh", "Patel", "Hassan", "Cruz",
    "Diaz", "Flores", "Lopez",
)  # fmt: skip


def deal_names(key: str, count: int = 3) -> list[str]:
    """Return names for the people of a new story, no first or last name twice; models of all sizes love the same five."""
    dealer = random.Random(f"names {key}")
    women, men = dealer.sample(_WOMEN, count), dealer.sample(_MEN, count)
    first = [name for pair in zip(women, men, strict=True) for name in pair]
    start = dealer.randrange(2)
    families = dealer.sample(_FAMILIES, count)
    return [f"{given} {family}" for given, family in zip(first[start : start + count], families, strict=True)]


def woman(name: str) -> bool:
    """Return whether a dealt name is that of a woman."""
    return name.split()[0] in _WOMEN


_OPENERS = frozenset((
    "a", "after", "all", "an", "and", "as", "at", "before", "but", "by", "during", "each", "every", "for", "four",
    "from", "he", "her", "his", "how", "i", "if", "in", "it", "long", "many", "my", "no", "nobody", "of", "on", "once",
    "one", "or", "our", "she", "some", "somebody", "someone", "that", "the", "their", "there", "they", "this", "three",
    "to", "two", "under", "we", "what", "when", "where", "while", "who", "why", "with", "years",
))  # fmt: skip


def names_somebody(premise: str) -> bool:
    """Return whether an English premise has a name in it, as far as capitals tell."""
    return any(word.casefold() not in _OPENERS for word in re.findall(r"\b[A-ZÀ-ÖØ-Þ][\w’'-]*", premise))


_PEOPLE = {
    "science fiction": (
        "a salvage pilot", "a hull welder", "a ship's medic", "a keeper of sleepers", "a mapper of dead moons",
        "a mender of robots", "an ice miner", "a signal clerk",
    ),
    "romance": (
        "a ferry pilot", "a baker", "a wedding photographer", "a piano tuner", "a wine grower", "a night nurse",
        "a dressmaker", "a translator of letters",
    ),
    "fantasy": (
        "a bell founder", "a map engraver", "a dragon groom", "a hedge witch", "a bridge keeper", "a rune cutter",
        "a river priest", "a taster at the king's table",
    ),
    "horror": (
        "a night nurse", "a gravedigger", "a night guard", "a chimney sweep", "a piano tuner", "a hospice cook",
        "a well digger", "a seller of old houses",
    ),
    "mystery": (
        "a clerk of lost property", "a court stenographer", "a hotel night porter", "a village doctor", "an archivist",
        "a train conductor", "a map engraver", "a bookkeeper",
    ),
    "thriller": (
        "a night guard", "a courier", "a harbour pilot", "a bank auditor", "a court translator", "an ambulance driver",
        "a locksmith", "a radio operator",
    ),
    "historical": (
        "a ship's cook", "a scribe", "a printer's apprentice", "an army surgeon", "a silk weaver", "a lock keeper",
        "a salt merchant", "a bell founder",
    ),
    "western": (
        "a ferry hand", "a gravedigger", "a horse breaker", "a telegraph clerk", "a well digger", "a stagecoach driver",
        "a saloon piano player", "a country doctor",
    ),
    "young adult": (
        "a school runner", "a drummer", "a scholarship student", "a swimmer", "a summer lifeguard",
        "an apprentice beekeeper", "a skater", "a helper in the library",
    ),
    "literary": (
        "a beekeeper", "a translator of letters", "a glass blower", "a seed merchant", "a piano tuner", "a lock keeper",
        "a retired judge", "a museum guard",
    ),
}  # fmt: skip
_FINDS = {
    "science fiction": (
        "wakes a sleeper whose name is on no list", "hears a call from a ship that burned last year",
        "is ordered to switch off a machine that begs", "finds footprints outside the airlock",
        "meets a copy of the captain in the hold", "learns that the planet below has gone dark",
        "buys a robot that remembers a murder",
    ),
    "romance": (
        "is hired for the wedding of an old love", "opens a love letter posted nine years ago",
        "has to share a house for one winter with a rival", "is asked to play the fiance of a stranger for a week",
        "falls for the stranger who came to buy the shop", "inherits half a house, and an enemy inherits the other half",
        "learns who really wrote the letters of a year",
    ),
    "fantasy": (
        "hears a drowned bell ring under the lake", "is handed the crown by a dying thief",
        "finds a door that was not there yesterday", "wakes with a stranger's magic in both hands",
        "is owed a wish by the thing under the bridge", "finds a dragon's egg in a winter grave",
        "loses the only key to a tower that must stay shut",
    ),
    "horror": (
        "hears somebody knock from inside a wall", "finds a photograph that was taken tonight",
        "recognises the voice of a man who was buried", "sees a light in the house that burned down",
        "is followed home by a child without a shadow", "counts one guest too many at the table",
        "is thanked by a stranger for something done asleep",
    ),
    "mystery": (
        "finds a familiar name in a stranger's will", "finds the one page that was cut from the record",
        "sees a dead man buy a ticket", "opens a parcel posted nine years ago", "finds the wrong body in a family grave",
        "is sent the key to a room where somebody died", "hears a confession through a thin wall",
    ),
    "thriller": (
        "is paid to destroy a thing and keeps it", "is handed a child and told to run",
        "takes a call that was meant for a killer", "is mistaken for the person everybody fears",
        "finds a bomb with nine hours on its clock", "sees a murder that the cameras do not show",
        "learns whose name is next on the list",
    ),
    "historical": (
        "is asked to swear that a false thing is true", "hides a deserter under the floor",
        "finds a plague mark on the wrong door", "is paid to carry a letter through the enemy's lines",
        "recognises the prisoner who will hang in the morning", "is told to melt down the town's only bell",
        "finds a rebel's list with a friend's name on it",
    ),
    "western": (
        "finds the sheriff's horse without the sheriff", "is left a mine by a man nobody knew",
        "hides a wounded outlaw in the barn", "sees the river run dry in one night",
        "is mistaken for the gun that everybody fears", "finds the payroll box in a dry well",
        "reads a telegram that will hang the wrong man",
    ),
    "young adult": (
        "finds a diary that tells of tomorrow", "is dared to spend a night in the closed school",
        "gets messages from a friend who is missing", "is blamed for a fire that somebody else set",
        "moves into the room where the missing girl lived", "wins a prize that belongs to somebody else",
        "finds out that a teacher uses a false name",
    ),
    "literary": (
        "comes home to sell the house and finds it lived in", "is asked to speak at the funeral of an enemy",
        "finds the one page that was cut from a mother's diary", "teaches a language that nobody else remembers",
        "is forgiven by the wrong person", "keeps a secret for a friend who then dies",
        "receives an apology meant for somebody else",
    ),
}  # fmt: skip
_ANY = "mystery", "thriller", "literary"
"""Where a genre of the reader's own is dealt from: what could happen in any."""


def _deck(cards: Mapping[str, tuple[str, ...]], genre: str) -> tuple[str, ...]:
    genre = genre.strip().casefold()
    return cards.get(genre) or tuple(card for name in _ANY for card in cards[name])


def deal_readers(key: str, names: Sequence[str], genre: str) -> list[str]:
    """Return whom a reader may be, one for each name: "Lena Hale, a map engraver"."""
    dealer = random.Random(f"readers {key}")
    own = list(dict.fromkeys(_deck(_PEOPLE, genre)))
    others = sorted({who for deck in _PEOPLE.values() for who in deck} - set(own))
    people = dealer.sample(own, len(own)) + dealer.sample(others, len(others))
    return [f"{name}, {who}" for name, who in zip(names, people, strict=False)]


def deal_spark(key: str, genre: str) -> str:
    """Return one concrete trouble of this genre to build a story on where the reader gave no premise.

    It goes on after a name: "Lena Hale, a map engraver, sees a dead man buy a ticket".
    """
    dealer = random.Random(f"spark {key}")
    return f"{dealer.choice(_deck(_PEOPLE, genre))}, {dealer.choice(_deck(_FINDS, genre))}"
