"""Lorebooks as they are written in the wild: nothing of them is lost without a word."""

import json
from collections import Counter

import pytest

from recurrentgpt.books.readers.lorebook import MOST_LINE_WORDS, read_lorebook, tell_left_out
from recurrentgpt.books.readers.lorebook_kinds import kind_of
from recurrentgpt.prose.sentences import count_words, words
from recurrentgpt.schema.errors import BookError


@pytest.fixture
def read(tmp_path):
    """Give what reads a lorebook of this content: lines, keys and what is left out."""

    def read(content, names=None):
        path = tmp_path / "lore.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        changes, left_out = read_lorebook(path, names)
        lines, keys = {}, {}
        for change in changes:
            lines.setdefault(change["entry"], []).extend([change["text"]] if change["do"] == "set" else [])
            keys.setdefault(change["entry"], []).extend([change["value"]] if change["do"] == "key" else [])
        return lines, keys, left_out

    return read


def _kinds(tmp_path, content, known=lambda name: None, names=None):
    path = tmp_path / "lore.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return {change["entry"]: change["kind"] for change in read_lorebook(path, names, known)[0]}


def of(text, title="Joren", **fields):
    return {"entries": [{"comment": title, "key": [title], "content": text, **fields}]}


SHEETS = {
    "W++": (
        '[Character("Joren")\n{\nAge("34" + "looks older")\nMind("stern (mostly)" + "kind")\n}]\nHe never sleeps.',
        ["Joren: Character: Joren; Age: 34, looks older; Mind: stern (mostly), kind.", "He never sleeps."],
    ),
    "W++ without quotation marks": (
        "Species(human)\nHair(red + cropped)",
        ["Joren: Species: human; Hair: red, cropped."],
    ),
    "lines": (
        "Name: Joren Thorn\nAge: 29\nSecret: he knows the tunnel",
        ["Joren: Name: Joren Thorn; Age: 29; Secret: he knows the tunnel."],
    ),
    "lines that end as sentences": (
        "Rolle: Schmuggler am Fluss.\nGeheimnis: Er kennt den Tunnel.",
        ["Joren: Rolle: Schmuggler am Fluss; Geheimnis: Er kennt den Tunnel."],
    ),
    "in brackets": (
        "Joren\n[ Type: smuggler; Fear: open water ]\nHe swims.",
        ["Joren: Type: smuggler; Fear: open water.", "He swims."],
    ),
    "with its name": (
        "[Joren: smuggler, one ear; personality: dry, clipped]",
        ["Joren: smuggler, one ear; personality: dry, clipped."],
    ),
    "Markdown": ("## Joren\n**Age:** 29\n**Role:** smuggler", ["Joren: Age: 29; Role: smuggler."]),
    "a list": (
        "- The quarter burned twice.\n- Nobody whistles there\n2) The wells are brackish.",
        ["The quarter burned twice. Nobody whistles there. The wells are brackish."],
    ),
    "wrapped prose": (
        "The old harbour town of Harrow lies on the coast, and its people\nare known for their salt.\nNobody stays.",
        ["The old harbour town of Harrow lies on the coast, and its people are known for their salt. Nobody stays."],
    ),
    "speech": ("He said: go. They met at ten: nobody came.", ["He said: go. They met at ten: nobody came."]),
    "another script": ("名前：朔太郎\n職業：刀鍛冶", ["Joren: 名前：朔太郎; 職業：刀鍛冶."]),
    "an address": ("See http://example.org/x for it", ["See http://example.org/x for it."]),
    "who it is for": ("{{user}} owes him salt.\nHe trusts {{user}}", ["Mira owes him salt. He trusts Mira."]),
}
OF_NO_KIND = ("lines that end as sentences", "another script")
"""Sheets that say in no English what they are of."""


@pytest.mark.parametrize("sheet", SHEETS)
def test_attributes_and_lines_are_parted_and_all_is_told(read, sheet):
    text, told = SHEETS[sheet]
    lines, _, left_out = read(of(text), {"user": "Mira"})
    assert lines == {"Joren": told}
    assert left_out == ({"guessed": ["Joren"]} if sheet in OF_NO_KIND else {})


def test_nothing_of_a_long_text_is_lost(read):
    customs = ", ".join(f"custom {number} is kept in the house of every guild" for number in range(9))
    told = " ".join(f"Sentence {number} tells of salt." for number in range(12))
    for text in (
        f"Type: city\nCustoms: {customs}",
        f"It is a city of which they say that {customs}.",
        f"Type: city\nLore: {told}",
    ):
        lines, _, left_out = read(of(text, "Ostra"))
        assert left_out == {}
        assert all(count_words(line) <= MOST_LINE_WORDS for line in lines["Ostra"])
        assert all("Ostra" in line for line in lines["Ostra"][1:])
        assert not Counter(words(text)) - Counter(words(" ".join(lines["Ostra"])))


def test_keys_are_looked_for_in_whatever_letters_unless_they_ask_for_theirs(read):
    assert read(of("They fly.", "Dragons", key=["Dragon", "WYRM"]))[1] == {"Dragons": ["dragon", "wyrm", "dragons"]}
    assert read(of("They fly.", "Ice", key=["ICE"], caseSensitive=True))[1] == {"Ice": ["ICE"]}
    novelai = {"entries": [{"displayName": "Fog", "text": "It is wet.", "keys": ["fog & harbour", "Mist"]}]}
    assert read(novelai)[1:] == ({"Fog": ["mist"]}, {"patterns": ["Fog"]})


def test_an_entry_is_called_by_its_name_without_what_stands_beside_it(read):
    rows = [
        ("Maelis (W++)", "Maelis"),
        ("NPC: Joren", "joren"),
        ("[Place] Salt Quarter", "salt"),
        ("Inez | thief", "Inez"),
    ]
    rows += [("Dragon (old)", "wyrm"), ("Dragon (young)", "whelp"), ("History of Odo", "Odo"), ("(draft)", "draft")]
    book = {"entries": [{"comment": title, "key": [key], "content": "It is told."} for title, key in rows]}
    names = ["Maelis", "Joren", "Salt Quarter", "Inez", "Dragon (old)", "Dragon (young)", "History of Odo", "(draft)"]
    assert list(read(book)[0]) == names


def test_what_a_category_switches_off_stays_out(read):
    rows = [
        {"displayName": name, "text": "It is told.", "keys": [], "category": of}
        for name, of in (("In", "a"), ("Out", "b"), ("Bare", None))
    ]
    categories = [{"id": "a", "enabled": True}, {"id": "b", "enabled": False}, {"enabled": False}]
    lines, _, left_out = read({"lorebookVersion": 5, "entries": rows, "categories": categories})
    assert (list(lines), left_out) == (["In", "Bare"], {"off": ["Out"]})


def card(**data):
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Maelis", "first_mes": "Hi.", **data}}


@pytest.mark.parametrize("spec", ["chara_card_v2", "chara_card_v3"])
def test_a_character_card_gives_its_book(read, spec):
    rows = [
        {"keys": ["Vell"], "content": "@@depth 4\nVell is the city of {{char}}.", "enabled": True, "constant": True},
        {"keys": ["drag(on|ons)", "wyrm"], "use_regex": True, "content": "It flies.", "comment": "Dragon"},
        {"keys": ["x"], "content": "Never.", "enabled": False},
    ]
    given = {**card(description="A captain.", character_book={"entries": rows}), "spec": spec}
    lines, keys, left_out = read(given, {"char": "Somebody"})
    assert lines == {"Vell": ["Vell is the city of Maelis."], "Dragon": ["It flies."]}
    assert keys["Dragon"] == ["wyrm"]
    assert left_out == {
        "off": ["x"],
        "orders": ["Vell"],
        "patterns": ["Dragon"],
        "description": [""],
        "first_mes": [""],
    }
    told = tell_left_out(left_out)
    assert "1 line that tells a program what to do (Vell)" in told
    assert told.endswith("of the card all but its book: description, first message.")


def test_a_card_without_a_book_is_told_from_what_is_no_lorebook(read):
    for given in (
        card(),
        card(character_book={"entries": []}),
        {"name": "Maelis", "first_mes": "Hi.", "char_persona": ""},
    ):
        with pytest.raises(BookError, match="is a character card without a lorebook"):
            read(given)
    with pytest.raises(BookError, match="no character card: it has no entries"):
        read({"data": {"name": "Maelis"}})


def test_a_lorebook_of_the_third_specification_is_read(read):
    book = {
        "spec": "lorebook_v3",
        "data": {"entries": [{"keys": ["Vell"], "content": "Vell is a city.", "enabled": True}]},
    }
    assert read(book)[0] == {"Vell": ["Vell is a city."]}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("Adeline Foyle", "Adeline Foyle walks with a silver cane.", "person"),
        ("Captain Rudd", "Captain Rudd is feared in every town.", "person"),
        ("Odo", "Odo hates fish. He sings.", "person"),
        ("Anna Church", "Anna Church is tall. She limps.", "person"),
        ("Church", "The church has no bell. Odo sold it, and his brother drank.", "place"),
        ("the old quarry", "Nobody goes there.", "place"),
        ("Church of the Lamp", "It burned.", "place"),
        ("Captain Hall", "Captain Hall commands the garrison of Marrow.", "person"),
        ("Mrs. Lane", "Mrs. Lane keeps bees.", "person"),
        ("Sir Thomas Wood", "Sir Thomas Wood owns the mill.", "person"),
        ("Jack Hill", "Jack Hill is the mayor of Marrow and drinks.", "person"),
        ("Ned Hill", "Ned Hill drinks.", "person"),
        ("Marrow", "Marrow is a city ruled by his sister.", "place"),
        ("Rose Garden", "Rose Garden is a tavern run by Ned. He drinks.", "place"),
        ("Maria Lake", "Maria Lake sells fish.", "person"),
        ("Lantern Bridge", "Lantern Bridge spans the Ash.", "place"),
        ("Town Hall", "Town Hall faces the square.", "place"),
        ("Black Lake", "Black Lake freezes in winter.", "place"),
        ("Great Hall", "The interior of the palace.", "place"),
        ("King Valley", "Runs east.", "place"),
        ("Doctor Lane", "A street of surgeons.", "place"),
        ("Emily Park", "Emily Park is a school teacher.", "person"),
        ("Ellen Church", "Ellen Church is a woman of fifty who limps.", "person"),
        ("Captain Field", "A soldier of forty; he limps.", "person"),
        ("Dr. Lane", "Nobody trusts the old doctor. His wife is dead.", "person"),
        ("Emily Park", "Age: 22. Personality: shy.", "person"),
        ("Anna Church", "Anna Church is a nurse who loves her cat.", "person"),
        ("Brooke Lake", "Gender: female. Pronouns: she/her.", "person"),
        ("Heather Moor", "(she/her) Always late.", "person"),
        ("Lady Hall", "Lady Hall is feared.", "person"),
        ("Father Wood", "Father Wood is old.", "person"),
        ("Forest", "A boy with his dog.", "person"),
        ("Forest", "Forest is a boy with his dog.", "person"),
        ("Castle Hill", "Castle Hill overlooks the harbour.", "place"),
        ("Vale Park", "A man died here, and his dog waits.", "place"),
        ("Gallows Hill", "Gallows Hill is where Odo lost his wife.", "place"),
        ("Church", "A gift from the king.", "place"),
        ("King Street", "The soldiers live there.", "place"),
        ("The Long Field", "The Long Field is a soldier of a meadow.", "place"),
        ("Marrow", "Marrow is a cold, wet fishing village. Its people hate him.", "place"),
        ("Silver Compass", "The Silver Compass points to whoever lies.", "thing"),
        ("silver compass", "It points to whoever lies.", "thing"),
        ("Night Tax", "Night Tax is paid by whoever walks after dark.", "thing"),
        # Somebody by what they are said to be, though a place stands in the text.
        ("Tovin", "Tovin is a clockmaker who lives above the bakery.", "person"),
        ("Corin Ash", "Corin Ash is Odo's lover.", "person"),
        ("Duchess Orla", "Duchess of the coast and of three cities.", "person"),
        ("Hedda", "Hedda, once a priestess of the temple, sells relics.", "person"),
        ("Vessia", "A rogue AI. Cold, brilliant.", "person"),
        ("Bela", "Bela is 34, tall, a baker in the old quarter.", "person"),
        ("Joren", "Joren is {{user}}'s childhood friend from the island.", "person"),
        ("Nyx", "[Nyx; succubus; violet eyes; bound to the tower]", "person"),
        ("Garrick", "[ Garrick: bounty hunter, one ear; lives: the harbour ]", "person"),
        ("Ilse", "Name: Ilse Brandt\nOccupation: courier of the city", "person"),
        # And by what they do.
        ("Ysra", "Ysra keeps bees.", "person"),
        ("Marn", "Marn lives in the lighthouse.", "person"),
        ("Odo", "Loves the market. Hates the sea.", "person"),
        ("Odo Vane", "Vane runs the inn by the bridge.", "person"),
        ("Hedda", "Born at sea, tall, deaf in one ear.", "person"),
        ("Emrys", "Tall, gaunt. Emrys built the tower himself and has not left it in years.", "person"),
        # Animals with a name are somebody, and their kinds are not.
        ("Biscuit", "Biscuit is Ilse's dog, a three-legged terrier.", "person"),
        ("Frost Wolf", "A wolf of the northern forests.", "thing"),
        ("Elf", "An elf lives for three hundred years. She never forgives.", "thing"),
        ("Rangers", "Scouts who keep the border. They own a bow and a horse.", "thing"),
        # Places and things are no people for those who stand in their texts.
        ("Ostermark", "Ostermark is a cold northern kingdom. It has its king, and his mother.", "place"),
        ("The Rusty Anchor", "The Rusty Anchor is a tavern on the docks run by Odo and his wife.", "place"),
        (
            "Emberfall",
            "Emberfall lies under a volcano. A queen rules it, whom nobody has seen since her youth.",
            "place",
        ),
        ("Hearth", "Dwarven city carved in the rock. It burns.", "place"),
        ("Ember", "Older than the city. Its people keep to their houses.", "place"),
        ("Grief", "Grief is a sword that weeps for her who forged it. She died by it.", "thing"),
        ("Widowmaker", "The axe of a king who lost his head.", "thing"),
        ("Oathstone", "Whoever swears by the Oathstone and breaks his word goes blind.", "thing"),
        ("Hedda's amulet", "Her mother carved it. Hedda never takes it off.", "thing"),
        ("The Petrel", "A smuggling ship. Her captain sails her to the island.", "thing"),
        ("The Drowned Church", "A cult that worships the sea. Its priests hold their breath.", "thing"),
        ("House Ashdown", "An old noble family, rich in wine.", "thing"),
        ("Council of Nine", "The merchants who govern the city.", "thing"),
        # What somebody does is no trade of several, who are said to be so or go on as it.
        ("Anna", "Anna: Cooks at the inn. She sings.", "person"),
        ("Odo", "Odo: Guards at night and sleeps by day.", "person"),
        ("Odo", "Judges in the old court. He limps.", "person"),
        ("Odo", "Pilots. He limps.", "person"),
        ("Odo", "Never cooks. He limps.", "person"),
        ("Odo", "Shops at the market. He limps.", "person"),
        ("Anna", "Sings, bakes and cooks. Nobody has seen her sleep.", "person"),
        ("Ravel", "Merchants, cooks and thieves.", "thing"),
        ("Odo", "Pilots the ferry.", "person"),
        ("Wardens", "Guards of the border.", "thing"),
        ("Night Watch", "Guards at the gate. They sleep.", "thing"),
        ("Red Hand", "Soldiers in red. He who joins them never leaves. His name is struck out.", "thing"),
        ("Vell", "Ruins in the north. He died here.", "place"),
        ("Vexa", "Vexa are pilots in the north.", "thing"),
        ("Ravel", "The guards at the gate.", "thing"),
        ("Ravel", "Merchants, sailors and thieves.", "thing"),
        ("Pale Hand", "Assassins in the old court.", "thing"),
        ("The Nine", "Assassins.", "thing"),
        # Somebody may be called a monster, and what is one is a thing.
        ("Anna", "Anna is a monster. She kills.", "person"),
        ("Anna", "Anna is a monster. Nobody trusts her. She kills.", "person"),
        ("Vesna", "A creature of the night. She drinks blood.", "person"),
        ("Vesna", "a force of nature. She never rests.", "person"),
        ("Vesna", "the terror of the north; she burns what she takes.", "person"),
        ("Anna Reed", "Anna Reed is a fighter. She never rests.", "person"),
        ("Vesna", "A creature of habit, she rises early.", "person"),
        ("Gorm", "A monster of the deep.", "thing"),
        ("Night Horror", "A monster. Odo met it once. He ran.", "thing"),
        ("Night Horror", "A monster that Odo met. He ran.", "thing"),
        ("Night Horror", "A monster. He who meets it dies.", "thing"),
        ("The Petrel", "A freighter. She is slow.", "thing"),
        # Sheets of people.
        ("Vesna", "Race: elf. Class: mage.", "person"),
        ("Vesna", "Species: human\nRole: healer", "person"),
        ("Vesna", "[Race: drow; Weapon: axe]", "person"),
        ("Vesna", "Vesna\nClass: assassin", "person"),
        ("Vesna", "Home: Harrow. Age: 30.", "person"),
        ("Frost Wolf", "Species: wolf", "thing"),
        ("Dire Wolf", "Species: Canis dirus. Habitat: the north.", "thing"),
        ("Elves", "Race: elf. They live long.", "thing"),
        ("Petrel", "Class: ship. Crew: 40.", "thing"),
        ("Far Eye", "A spyglass.", "thing"),
        ("Ashford", "Population 3,000.", "place"),
        ("Ashford", "It has a population of about 3,000.", "place"),
        ("House Vane", "House Vane rules the north. Its lord is old.", "thing"),
        ("Clan Vane", "Clan Vane hunts the north.", "thing"),
        ("House Vane", "House Vane stands on the hill.", "place"),
        ("Sunstone", "Only a mage can wield it. He must bleed.", "thing"),
        ("Sunstone", "Only a mage can wield it. He must bleed. His hands burn.", "thing"),
        ("Moonblade", "A knight found it. He died.", "thing"),
        ("Odo", "Odo owns a boat and loves it. He limps.", "person"),
        ("Odo", "No guard has seen it coming. He kills at night.", "person"),
        ("Odo", "The mayor hates it when Odo sings. He limps.", "person"),
    ],
)
def test_what_an_entry_is_its_name_and_its_text_say(tmp_path, name, text, kind):
    assert _kinds(tmp_path, of(text, name), names={"user": "Signe"}) == {name: kind}


@pytest.mark.parametrize("text", ["", "She sings.", "A city."])
def test_what_has_no_name_is_judged_by_its_text(text):
    kinds = {"": "thing", "She sings.": "person", "A city.": "place"}
    assert kind_of("", text, [], [], lambda name: None).kind == kinds[text]


def test_what_a_file_says_of_an_entry_goes_before_its_text(tmp_path):
    """Remarks in titles, groups and categories, and the type in a sheet; a group that is only somewhere says nothing."""
    told = "Odo loves her, and her brother drinks."
    titled = [("Vell (place)", told), ("Location - Sorn", told), ("Mave (sword)", told), ("NPC: Ashes", "It burns.")]
    rows = [{"comment": title, "key": [title.split()[-1]], "content": text} for title, text in titled]
    rows[0]["key"], rows[2]["key"] = ["Vell"], ["Mave"]
    rows += [
        {"comment": "Pyre", "key": [], "content": told, "group": "Factions"},
        {"comment": "Hollow", "key": [], "content": "Type: city\nRuler: her son"},
        {"comment": "Ines", "key": [], "content": "Ines loves fish.", "group": "tavern"},
    ]
    assert _kinds(tmp_path, {"entries": rows}) == {
        "Vell": "place",
        "Sorn": "place",
        "Mave": "thing",
        "Ashes": "person",
        "Pyre": "thing",
        "Hollow": "place",
        "Ines": "person",
    }
    named = {"Main Characters": "Grey", "Places of interest": "Ives", "Items": "Letter", "World": "Ines"}
    novelai = {
        "entries": [
            {"displayName": name, "keys": [], "text": "Odo found it.", "category": category}
            for category, name in named.items()
        ],
        "categories": [{"id": category, "name": category} for category in named],
    }
    assert _kinds(tmp_path, novelai) == {"Grey": "person", "Ives": "place", "Letter": "thing", "Ines": "thing"}


def test_what_the_story_knows_goes_before_what_can_only_be_guessed(tmp_path):
    rows = [("Ines", "Seen by the sea."), ("Vell", "Nobody has forgotten."), ("Sorn", "Sorn is a city.")]
    book = {"entries": [{"comment": name, "key": [], "content": text} for name, text in rows]}
    known = {"Ines": "person", "Vell": "place", "Sorn": "person"}
    assert _kinds(tmp_path, book, known.get) == {"Ines": "person", "Vell": "place", "Sorn": "place"}


def test_it_is_told_where_nothing_says_what_an_entry_is(read):
    left_out = read(of("Nobody has forgotten.", "Vell"))[2]
    assert tell_left_out(left_out) == "Taken for things, since nothing says what they are: Vell."
    assert tell_left_out(read(of("It is a city.", "Vell"))[2]) == ""
