"""A thing that was lost, and lies there in the passage itself before somebody takes it."""

import pytest

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex

LOST = Change(
    entry="silver comb", kind="thing", do="set", aspect="status", value="lost", rests_on="The silver comb was lost."
)
CODEX = changed(Codex(), [LOST], "p1", 1)
TAKEN = "Karl took the silver comb and laid it on the table."


@pytest.mark.parametrize(
    "before",
    [
        "Under the floorboards lay the silver comb, dusty but whole.",
        "In the drawer lay the silver comb.",
    ],
)
def test_what_lies_there_before_it_is_taken_contradicts_nothing(before):
    assert not find_contradictions(f"{before} {TAKEN}", CODEX)


@pytest.mark.parametrize(
    "passage",
    [
        "{TAKEN} Under the floorboards lay the silver comb.",
        "There was the silver comb to think of. {TAKEN}",
        "There was the silver mirror. {TAKEN}",
        "At the bottom of the lake lay the silver comb. {TAKEN}",
        "At fault was the silver comb. {TAKEN}",
        "In the drawer lay the silver comb's box. {TAKEN}",
        "If in the drawer lay the silver comb, she would see it. {TAKEN}",
        "There was the silver comb case. {TAKEN}",
        "In the drawer was not the silver comb. {TAKEN}",
        '"There was the silver comb," she said. {TAKEN}',
        "Perhaps in the drawer lay the silver comb. {TAKEN}",
        "In the drawer lay the silver comb of her aunt. {TAKEN}",
        "There was no silver comb. {TAKEN}",
        "In the drawer lay the iron comb. {TAKEN}",
        "There was the question of the silver comb. {TAKEN}",
        "In the drawer lay a list. {TAKEN}",
        "On the stage lay the silver comb. {TAKEN}",
        "In his mind lay the silver comb. {TAKEN}",
        "They looked for the silver comb. {TAKEN}",
        "In the tale there lay the silver comb. {TAKEN}",
        "She hoped that there lay the silver comb. {TAKEN}",
        "Beside where the silver comb should be lay dust. {TAKEN}",
        "Once, under the bed lay the silver comb. {TAKEN}",
    ],
)
def test_what_only_seems_to_lie_there_or_lies_there_later_is_still_lost(passage):
    (found,) = find_contradictions(passage.replace("{TAKEN}", TAKEN), CODEX)
    assert (found["rule"], found["said"]) == ("lost", TAKEN)
