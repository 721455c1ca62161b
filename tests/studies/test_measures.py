"""Measures against texts whose answer is known, and the recall of planted facts against what must come out."""

import random

import pytest

from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.measures.catalogue import MEASURES
from recurrentgpt.studies.measures.entities import entities, named_in
from recurrentgpt.studies.measures.planted import distances, levels, retrieval, window_reach
from recurrentgpt.studies.measures.repetition import curve, in_band, mtld, repetition
from recurrentgpt.studies.measures.step_contract import contract, slope
from recurrentgpt.studies.measures.world import World
from recurrentgpt.studies.measures.world_author import memory_half_life


def test_a_text_that_never_repeats_and_one_that_only_does():
    words = [f"word{number}" for number in range(2000)]
    fresh, worn = repetition(" ".join(words)), repetition("the lamp went out again " * 400)
    assert (fresh.repeated_4grams, fresh.distinct_2) == (0.0, 1.0)
    assert worn.repeated_4grams > 0.99
    assert worn.distinct_2 < 0.01
    assert worn.zlib_ratio > 20 > fresh.zlib_ratio
    assert worn.mtld < fresh.mtld


def test_repetition_by_hand():
    # Five runs of four words, of which the last is the first again.
    assert repetition("a b c d a b c d").repeated_4grams == pytest.approx(1 / 5)
    assert [words for words, _ in curve("a b c d " * 300, every=500)] == [500, 1000, 1200]
    assert repetition("").words == 0
    assert curve("") == []


def test_mtld_by_hand():
    # Three words: the ratio falls to 2/3 with the third, so every factor is three words long, from both ends.
    assert mtld(["a", "a", "b", "a", "a", "b"]) < mtld(["a", "b", "c", "d", "e", "a"])
    assert mtld(["a"] * 10) == 2.0
    assert mtld([]) == 0.0


def test_the_human_band_is_for_texts_of_its_length_alone():
    words = [f"word{number}" for number in range(6000)]
    assert in_band(repetition(" ".join(words[:1000]))) is None
    found = in_band(repetition(" ".join(words)))
    assert found is not None
    assert not found["repeated_4grams"]


def test_eyes_that_change_and_people_who_vanish():
    text = (
        "Mira's eyes were green. Once Tobias came with Mira. Then Tobias left Mira. Nobody asked Tobias why.\n\n"
        + "The lamp burned and Mira watched it all night long with care. " * 6
        + "\n\nLate that night Mira's brown eyes closed. A man who was 40 saw Adela once."
    )
    found = entities(text)
    assert found.conflicts == ["The eyes of Mira is green, then brown."]
    assert found.vanished == ["Tobias"]
    assert entities("Grey-eyed Mira came. Later Mira's gray eyes shone.").conflicts == []
    assert entities("").names == 0


@pytest.mark.parametrize(
    ("text", "conflicts"),
    [
        ("The Captain's eyes were blue. The Pilot's eyes were blue, and the Captain's green eyes shone.", []),
        ("Mrs Hart's hair was grey. Mrs Penn's hair was black.", []),
        ("But Anna's eyes were blue. But Tom's eyes were green.", []),
        ("But Anna's eyes were blue. Later Anna's eyes were green.", ["The eyes of Anna is blue, then green."]),
        ("Jiří's eyes were blue. Jiřina's eyes were green.", []),
    ],
)
def test_a_title_and_a_conjunction_are_nobody(text, conflicts):
    assert entities(text).conflicts == conflicts


def test_the_curve_has_at_each_length_what_the_text_so_far_repeats():
    text = " ".join(f"word{number % 300}" for number in range(1234))
    words = text.split()
    found = curve(text)
    assert [end for end, _ in found] == [500, 1000, 1234]
    assert [share for _, share in found] == [repetition(" ".join(words[:end])).repeated_4grams for end, _ in found]
    assert curve("") == []
    assert curve("Three words only.") == [(3, 0.0)]


def test_somebody_is_one_by_first_and_last_name_and_what_has_an_article_is_nobody():
    assert entities("Then Uncle Tom saw Uncle Ben. " * 3).names == 3, "an uncle more, and two people"
    assert (
        entities("On Monday Anna came. Then Anna saw Tom on Monday. Tom left Anna and Tom." + " Monday Anna." * 2).names
        == 3
    )
    told = (
        'Then Tamsin Ironwell saw the Golden Sun. The Golden Sun saw Tamsin. "Are You there?" said Tamsin to Ironwell.'
    )
    assert entities(f"{told} The Golden Sun set. Did You see the Golden Sun? said Tamsin.").names == 1


def test_what_opens_speech_is_no_name_and_a_surname_is_nobody_else():
    passages = [
        'Then Anna Voss came. "Welcome," said Tom. Anna said, "What is it?" and Tom said, "Let it be." She said: "As you like."',
        'So Voss left Tom. "Ugh. Welcome," Tom said. "What now?"',
    ]
    assert named_in(passages) == [{"Anna", "Tom"}, {"Anna", "Tom"}]


def test_a_memory_that_brings_all_that_there_is_has_left_nothing_out():
    def recalled(*found):
        steps = [{**passage(step), "recalled": list(numbers)} for step, numbers in enumerate(found, start=1)]
        return MEASURES["recalled passages"].compute({"passages": steps}, find_system("recurrentgpt"))

    assert recalled((), (), (1,), (2, 1)) == {"recalled": 0.75, "something_left_out": 0}
    # Two pieces of one passage are that passage.
    assert recalled((), (), (1,), (2, 2)) == {"recalled": 0.5, "something_left_out": 0.25}
    assert recalled((), (), ()) == {"recalled": None, "something_left_out": None}


def test_words_of_a_short_novel_are_not_compared_with_those_of_a_long_one():
    short, whole = ({"text": " ".join(f"w{number}" for number in range(many))} for many in (999, 1000))
    of_short, of_whole = (MEASURES["repetition"].compute(novel, find_system("one_shot")) for novel in (short, whole))
    assert (of_short["distinct_2"], of_short["repeated_4grams_of_1000"]) == (None, None)
    assert (of_whole["distinct_2"], of_whole["repeated_4grams_of_1000"]) == (1, 0)


def passage(step, words=300, memory=12, plans=3):
    lines = "\n".join(f"Sentence {number} of it." for number in range(memory))
    return {"step": step, "words": words, "short_term_memory": lines, "plans": plans}


def test_the_contract_counts_what_was_kept():
    passages = [passage(1), passage(2, words=150), passage(3, memory=21), passage(7, memory=5), passage(8, plans=0)]
    novel = {"passages": passages, "usage": {"calls": 20, "resamples": 2}, "outdated": 0}
    kept = contract(novel, recurrent=True, remembers=True, paced=True)
    assert (kept.steps, kept.passage, kept.memory, kept.plans) == (5, 3 / 4, 3 / 5, 1)
    assert (kept.first_try, kept.retries) == (0.9, 2)
    alike = {**novel, "passages": [{**one, "offered": ["She goes.", "She stays.", "She goes."]} for one in passages]}
    assert contract(alike, recurrent=True, remembers=True, paced=True).plans == 0, "two plans are the same"
    replayed = contract({**novel, "outdated": 1}, recurrent=True, remembers=True, paced=True)
    assert (replayed.first_try, replayed.retries) == (None, None), "replies to other prompts"
    other = contract(novel, recurrent=False, remembers=False, paced=False)
    assert (other.passage, other.memory, other.plans) == (None, None, None)


def test_a_slope_is_told_from_noise():
    dealer = random.Random(4)
    flat = [1000 + dealer.gauss(0, 40) for _ in range(1000)]
    grows = [value + step for step, value in enumerate(flat)]
    assert slope(flat).flat
    assert not slope(grows).flat
    assert slope(grows).per_step == pytest.approx(1, abs=0.05)
    assert slope([5, 5]).flat
    assert slope([7.0] * 50).flat


def test_a_world_tells_every_fact_once():
    world = World(3)
    values = [world.fact(number).value for number in range(1, world.size + 1)]
    assert len(set(values)) == world.size
    for number in (1, 500, world.size):
        fact = world.fact(number)
        assert world.passage(number).count(fact.value) == 1
        assert fact.value not in fact.plan
        assert fact.value not in world.summary(number)
        assert fact.owner in fact.plan
        assert fact.thing in fact.plan
    assert world.passage(7) == World(3).passage(7) != World(4).passage(7)


def rates(found):
    return {distance: there / tries for distance, (there, tries) in found.items()}


@pytest.mark.parametrize("window", [1024, 4096])
def test_rolling_falls_off_where_its_window_ends(window):
    found = levels(f"rolling_{window}", 16, steps=60)
    reach = window_reach(f"rolling_{window}")
    assert reach is not None
    for distance, rate in rates(found.prompt).items():
        if distance < reach - 1:
            assert rate == 1.0
        if distance > reach + 1:
            assert rate == 0.0
    assert found.memory == found.retrieval == {}, "it has neither"
    assert slope(found.prompt_tokens, warm_up=20).flat


def test_without_a_long_term_memory_facts_go_with_the_half_life_of_the_other():
    found = levels("no_long_term_memory", 16, steps=240)
    memory, prompt = rates(found.memory), rates(found.prompt)
    assert prompt[1] == 1.0
    for distance in (4, 8, 16):
        assert memory[distance] == pytest.approx(0.5 ** ((distance - 1) / memory_half_life()), abs=0.12)
        assert prompt[distance] == pytest.approx(memory[distance], abs=0.02)
    assert found.retrieval == {}


def test_recurrentgpt_keeps_more_in_its_prompts_than_its_memory_holds(monkeypatch):
    # Summaries fill their share of a window before prompts are as long as they get: of a small one, soon.
    monkeypatch.setattr("recurrentgpt.nodes.prompt_values.USUAL_WINDOW", 4000)
    # Enough of them that what a few recall, one more than another, is told from growth.
    found = levels("recurrentgpt", 16, steps=160)
    assert sum(rates(found.prompt).values()) > sum(rates(found.memory).values())
    assert slope(found.prompt_tokens, warm_up=25).flat
    # The text says what the prompt held, and nothing else: all levels are of the same facts.
    assert found.text == found.prompt
    tries = {level: {at: tally[1] for at, tally in getattr(found, level).items()} for level in ("memory", "retrieval")}
    assert tries["memory"] == {at: tally[1] for at, tally in found.text.items()}
    assert tries["retrieval"] == {at: count for at, count in tries["memory"].items() if at > 1}


def test_bad_distances_are_said():
    assert distances(20) == [1, 2, 4, 8, 16, 20]
    assert distances(16) == [1, 2, 4, 8, 16]
    assert distances(1) == [1]
    with pytest.raises(StudyError, match="1 or more"):
        distances(0)
    with pytest.raises(StudyError, match="holds 1280 facts"):
        retrieval(HashEmbeddings(), 1024, facts=300)


# Hashes of words know no meaning, by which recall goes first: the further back, the more it shows (docs/studies.md has MiniLM's).
@pytest.mark.parametrize(("farthest", "least"), [(64, 0.95), pytest.param(1024, 0.75, marks=pytest.mark.long)])
def test_a_fact_is_found_at_any_distance_among_hundreds_like_it(farthest, least):
    found = retrieval(HashEmbeddings(), farthest)
    assert list(found) == distances(farthest)
    assert min(found.values()) >= least


def test_retrieval_of_one_seed_is_the_same_twice():
    found = retrieval(HashEmbeddings(), 8, facts=20)
    assert found == retrieval(HashEmbeddings(), 8, facts=20)
