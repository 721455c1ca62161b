"""People and first troubles are dealt by the key, from the genre's own decks."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from recurrentgpt.nodes.small.seed_ideas import deal_names, deal_readers, deal_spark, names_somebody, woman
from recurrentgpt.schema.genres import GENRES

keys = st.text(max_size=20)
NAMES = [
    "Ruth Kerr",
    "Otto Hale",
    "Lena Moss",
    "Karl Reed",
    "Nora Webb",
    "Ivan Shaw",
    "Ada Kane",
    "Leo Vale",
    "Vera Lane",
]


@given(keys, st.integers(1, 12))
def test_names_are_dealt_without_repetition(key, count):
    names = deal_names(key, count)
    assert names == deal_names(key, count)
    assert len({name.split()[0] for name in names}) == len({name.split()[-1] for name in names}) == count
    assert {woman(name) for name in names} == ({True, False} if count > 1 else {woman(names[0])})


def test_other_keys_deal_otherwise():
    assert len({deal_spark(str(key), "fantasy") for key in range(200)}) > 40
    assert len({tuple(deal_names(str(key))) for key in range(200)}) > 190


@pytest.mark.parametrize("genre", GENRES)
def test_every_genre_has_troubles_of_its_own(genre):
    dealt = {deal_spark(str(key), genre).partition(", ")[2] for key in range(300)}
    others = {
        deal_spark(str(key), other).partition(", ")[2] for key in range(300) for other in GENRES if other != genre
    }
    assert len(dealt) > 5
    assert not dealt & others
    assert deal_spark("1", genre.title()) == deal_spark("1", genre)


def test_a_genre_of_the_readers_own_is_dealt_too():
    assert len({deal_spark(str(key), "solarpunk") for key in range(300)}) > 100


@pytest.mark.parametrize("genre", [*GENRES, "solarpunk"])
def test_each_reader_may_be_somebody_else(genre):
    readers = deal_readers("1", NAMES, genre)
    assert [reader.partition(", ")[0] for reader in readers] == NAMES
    assert len({reader.partition(", ")[2] for reader in readers}) == len(NAMES)


@pytest.mark.parametrize(
    ("premise", "named"),
    [
        ("A lighthouse keeper finds a stranger's diary.", False),
        ("In the harbour two sisters wait. Nobody comes.", False),
        ("", False),
        ("Mira tends a lamp.", True),
        ("A keeper called Mira tends a lamp.", True),
        ("the Titan burns", True),
    ],
)
def test_a_name_in_a_premise_is_seen(premise, named):
    assert names_somebody(premise) == named
