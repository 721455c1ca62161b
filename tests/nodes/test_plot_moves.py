"""The decks that a small model is dealt from."""

from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.nodes.small.plot_moves import CLOSING_MOVES, MOVES, deal

seeds = st.integers(0, 2**31)


@given(seeds, st.integers(1, 9), st.integers(0, 10_000))
def test_a_deal_has_different_moves_and_can_be_repeated(seed, count, step):
    dealt = deal(step, seed, count)
    assert len({move["name"] for move in dealt}) == count
    assert deal(step, seed, count) == dealt
    assert all(move["name"].isidentifier() for move in dealt)


@given(seeds, st.integers(1, 9))
def test_no_move_comes_back_before_the_deck_is_used_up(seed, count):
    turns = len(MOVES) // count
    names = [move["name"] for step in range(turns) for move in deal(step, seed, count)]
    assert len(set(names)) == len(names)


@given(seeds, st.integers(1, 9), st.sampled_from(["near", "last"]))
def test_the_end_is_dealt_from_the_closing_deck(seed, count, finale):
    names = {move["name"].rstrip("_") for move in CLOSING_MOVES}
    dealt = {move["name"] for move in deal(3, seed, count, finale=finale)}
    assert len(dealt) == count
    assert dealt <= names or count > len(names)
