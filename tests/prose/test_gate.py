import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.prose.emphasis import emphasised, one_form
from recurrentgpt.prose.gate import MOST_IN_A_ROW, MOST_TENSES, ProseGate
from recurrentgpt.prose.machine_talk import machine_talk
from recurrentgpt.prose.sentence_checks import COPY_LIMIT, find_fault
from recurrentgpt.prose.sentences import count_words, segments
from recurrentgpt.prose.shared_runs import longest_shared_run
from recurrentgpt.prose.unwrap import strip_opening

NAMES = ["Ada", "Bruno", "Clara", "Otto"]


def prose(count: int, seed: int = 0, length: int = 8) -> str:
    """Return `count` sentences that share no run, in paragraphs of three."""
    dealer = random.Random(seed)
    lines = []
    for number in range(count):
        letters = ["".join(dealer.choices("abcdefghijklmnoprstu", k=dealer.randint(3, 7))) for _ in range(length)]
        lines.append(f"{dealer.choice(NAMES)} {' '.join(letters)}." + ("\n\n" if number % 3 == 2 else " "))
    return "".join(lines).strip()


def gate_of(text: str, size: int = 3, **settings) -> ProseGate:
    gate = ProseGate(**{"min_words": 20, "max_words": 80, **settings})
    for start in range(0, len(text), size):
        gate.feed(text[start : start + size])
    gate.close()
    return gate


def test_a_passage_stops_where_it_slips_into_the_present_and_not_for_ever():
    gate = ProseGate(min_words=20, max_words=80, past_tense=True)
    gate.feed("Clara opened the door. ")
    for sample in range(MOST_TENSES):
        gate.feed("Otto waits in the rain. She went in. ")
        assert (gate.fault and gate.fault.kind, gate.cut()) == ("tense", "Clara opened the door."), sample
    gate.feed(" Otto waits in the rain. She went in. ")
    gate.close()
    assert gate.finish() == "Clara opened the door. Otto waits in the rain. She went in."


@pytest.mark.parametrize("size", [1, 4, 17, 1000])
def test_good_prose_comes_through_unchanged(size):
    text = prose(5)
    gate = gate_of(text, size)
    assert gate.complete
    assert gate.fault is None
    assert gate.finish() == text
    assert gate.settled == len(gate.text)


def test_a_faulty_sentence_is_held_back_and_writing_goes_on_from_the_accepted_ones():
    good, more = prose(3), prose(3, seed=1)
    gate = gate_of(good + "\n\nBRUNO: We have to go. And more", min_words=40)
    assert gate.fault is not None
    assert gate.fault.kind == "script"
    assert not gate.complete
    assert gate.text[: gate.settled].rstrip() == good
    assert gate.cut() == good
    assert gate.fault is None
    for piece in more.split(" "):
        gate.feed(" " + piece)
    gate.close()
    assert gate.complete
    assert gate.finish() == f"{good} {more}"
    assert [fault.kind for fault in gate.refused] == ["script"]


def test_a_fault_past_the_fewest_words_needs_no_other_sample():
    gate = gate_of(prose(3) + "\n\nBRUNO: We have to go. And more")
    assert gate.fault is not None
    assert gate.complete
    assert gate.finish() == prose(3)


def test_a_continuation_that_starts_without_a_space_gets_one():
    gate = gate_of("Ada ran to the gate.")
    gate.cut()
    gate.feed("Bruno fell behind her.")
    gate.close()
    assert gate.finish() == "Ada ran to the gate. Bruno fell behind her."


def test_enough_stops_at_a_sentence_and_the_limit_is_hard():
    gate = gate_of(prose(40))
    assert gate.enough
    assert gate.complete
    passage = gate.finish()
    assert 50 <= count_words(passage) <= 80
    assert passage.endswith(".")
    before = gate.text
    gate.feed(" Otto came too late.")
    assert gate.text == before


def test_too_short_is_not_complete():
    gate = gate_of("Ada ran to the gate. She was too")
    assert not gate.complete
    assert gate.fault is None
    assert gate.words == 5
    assert gate.cut() == "Ada ran to the gate."


ANNOUNCEMENTS = pytest.mark.parametrize(
    "junk",
    [
        "Sure! Here is the next scene:\n\n",
        "Certainly! Here's the passage:\n",
        "Here is the next scene of the novel:\n\n",
        "# The Harbour\n\n",
        "**The Harbour**\n\n",
        "Title: The Harbour\n\n",
        "Chapter 3\n\n",
        "Chapter Three: She Goes.\n\n",
        "Part II. The Boat\n\n",
        "Scene: the quay at night.\n\n",
        "Absolutely. Here's your passage.\n\n",
        "Sure, here's what I came up with:\n\n",
        "Chapter 2 The Boat Comes In\n\n",
        "Certainly!\n\n",
        "The Harbour at Night\n\n",
        "```\n",
    ],
)


@ANNOUNCEMENTS
@pytest.mark.parametrize("size", [1, 6, 500])
def test_announcements_are_stripped_silently(junk, size):
    text = prose(4)
    gate = gate_of(junk + text, size)
    assert gate.refused == []
    assert gate.finish() == text


@ANNOUNCEMENTS
@pytest.mark.parametrize("size", [1, 6, 500])
def test_a_reply_that_goes_on_may_announce_itself_too(junk, size):
    first, second = prose(4), prose(4, seed=9)
    gate = gate_of(first, size, max_words=300, min_words=200)
    gate.close()
    gate.cut()
    for start in range(0, len(junk + second), size):
        gate.feed((junk + second)[start : start + size])
    assert gate.refused == []
    assert gate.finish().split() == [*first.split(), *second.split()]


@pytest.mark.parametrize(
    "line",
    [
        "Part of him wanted to run.",
        "Part one of it was done.",
        "Here is what she wrote:",
        "Of course.",
        "Scene by scene, the play went wrong!",
        "Sure enough, the lamp was out.",
        "Of course the boat was late.",
        "Okay was the word for it, she thought.",
        "Certainly nobody had been at the screws.",
        "Here is where she fell.",
        "Here are the keys, all but one: the ninth.",
        "3 March 1931",
        "Hale, Tuesday 4 March",
    ],
)
@pytest.mark.parametrize("size", [1, 6, 500])
@pytest.mark.parametrize("keeps_all", [True, False])
def test_a_first_line_of_the_story_is_no_announcement(line, size, keeps_all):
    text = f"{line}\n\n{prose(4)}"
    gate = gate_of(text, size, keeps_all=keeps_all)
    assert gate.refused == []
    assert gate.finish() == text


def test_emphasis_is_stripped_silently():
    gate = gate_of("Ada *never* came back from the **old** _quay_ again, he said.")
    assert gate.finish() == "Ada never came back from the old quay again, he said."


def test_quotation_marks_around_the_whole_passage_are_stripped():
    text = prose(6)
    assert gate_of(f'"{text}"').finish() == text
    spoken = '"Go," Ada said.\n\n"No," said Bruno, "not before she has told us all of it."'
    assert gate_of(spoken).finish() == spoken


def test_copied_text_is_refused():
    earlier = prose(6, seed=9, length=14)
    gate = gate_of(prose(2) + " " + earlier, seen=[earlier], min_words=60)
    assert gate.fault is not None
    assert gate.fault.kind == "copying"
    assert len(gate.skipped) == MOST_IN_A_ROW
    assert longest_shared_run(gate.cut(), [earlier])[0] <= COPY_LIMIT


def test_one_repeated_sentence_is_left_out_while_the_stream_goes_on():
    before, after = prose(3), prose(3, seed=1)
    repeated = before.split(". ")[0] + "."
    gate = gate_of(f"{before}\n\n{repeated} {after}")
    assert gate.fault is None
    assert [fault.kind for fault in gate.skipped] == ["loop"]
    assert gate.finish() == f"{before}\n\n{after}"
    assert gate.settled == len(gate.text)


@pytest.mark.parametrize("size", [1, 7])
def test_a_quotation_said_again_as_it_comes_leaves_the_mark_and_the_space_before_it(size):
    said, after = '"You knew about the letter. You knew all along."', "She turned to the window."
    gate = ProseGate(min_words=5)
    for start in range(0, len(text := f"{said} {said} {after}"), size):
        gate.feed(text[start : start + size])
    gate.close()
    assert [fault.kind for fault in gate.skipped] == ["loop"]
    assert gate.text == f'{said} "You knew all along." {after}'


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_sample_that_begins_with_what_was_there_goes_on_after_a_space(size):
    before, after = prose(2), prose(1, seed=1)
    repeated = before.split(". ")[0] + "."
    gate = gate_of(before, min_words=40)
    assert gate.cut() == before
    for start in range(0, len(text := f"{repeated} {after}"), size):
        gate.feed(text[start : start + size])
    gate.close()
    assert [fault.kind for fault in gate.skipped] == ["loop"]
    assert gate.text == f"{before} {after}"


@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize(
    ("said", "left"),
    [
        ('"Listen. I know what you want here." He left.', '"Listen." He left.'),
        ('"I know what you want here. Leave now," Bruno said.', '"Leave now," Bruno said.'),
        ('Bruno spoke. "Listen. I know what you want here."', 'Bruno spoke. "Listen."'),
    ],
)
def test_a_repetition_within_a_quotation_leaves_the_quotation_whole(said, left, size):
    before = '"I know what you want here," Ada said.'
    gate = gate_of(f"{before}\n\n{said}\n\n{prose(2)}", size)
    assert gate.fault is None
    assert gate.finish() == f"{before}\n\n{left}\n\n{prose(2)}"


def test_a_quotation_of_nothing_else_than_a_repetition_leaves_no_mark():
    before = '"I know what you want here," Ada said.'
    gate = gate_of(f'{before}\n\nBruno left. "I know what you want here.\n\nNobody spoke.\n\n')
    assert gate.finish() == f"{before}\n\nBruno left.\n\nNobody spoke."


def test_words_that_were_run_together_are_parted():
    gate = gate_of(
        "Ada opened the parcel and wants to burn it now. She keeps theparcel withher and wantsher oldest feather herself.\n\n"
    )
    assert gate.finish().endswith("She keeps the parcel with her and wants her oldest feather herself.")


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_the_mark_of_an_open_quotation_stays_with_what_is_said(size):
    """Or what is cut after a fault leaves a mark behind, and a repetition in front of it cannot be left out."""
    gate = gate_of(
        'Ada laughed at them all. "Go home," Bruno said. "Go and bring it here. <|im_start|> Go home.\n\n', size
    )
    assert gate.fault
    assert gate.cut() == 'Ada laughed at them all. "Go home," Bruno said. "Go and bring it here."'
    gate = gate_of('Ada laughed at them all. "Go home," Bruno said. "<|im_start|> here. Go home."\n\n', size)
    assert gate.cut() == 'Ada laughed at them all. "Go home," Bruno said.'


def test_a_closing_moral_is_dropped_if_enough_is_left():
    text = prose(5)
    assert gate_of(f"{text}\n\nAda knew that their journey had only just begun.").finish() == text
    short = "Ada ran. Their journey had only just begun."
    assert gate_of(short).finish() == short


def test_an_unfinished_end_is_trimmed():
    assert gate_of(prose(4) + ' Otto said, "If you').finish() == prose(4)


@given(st.text(alphabet='Ab c.!?"“”*#:\n', max_size=200), st.integers(min_value=1, max_value=9))
def test_the_pieces_do_not_matter_to_what_is_accepted(text, size):
    gate = gate_of(text, size, min_words=5, max_words=2000)
    passage = gate.finish()
    assert gate.text[: gate.settled] == gate.cut() or gate.cut().startswith(gate.text[: gate.settled].rstrip())
    assert count_words(passage) <= 2000
    assert "\n\n\n" not in passage
    assert passage == passage.strip()


@given(st.text(max_size=300))
def test_any_text_is_survived(text):
    gate = gate_of(text, 7)
    gate.finish()
    gate.cut()
    gate.finish()


def test_a_quotation_that_repeats_as_a_whole_is_left_out_at_the_end():
    told = (
        '"You said I was supposed to be at home," Ada said. "They were supposed to be here. You were supposed to be with Lena." '
        "Bo Lind folded the wet sail over the broken mast and looked for a dry rope in the locker.\n\n"
        '"I was supposed to be here. You were supposed to be with me."\n\n'
        "The harbour bell rang twice, and a boat without a lamp came round the mole."
    )
    gate = ProseGate(min_words=20, max_words=400)
    for word in told.split(" "):
        gate.feed(word + " ")
    passage = gate.finish()
    assert find_fault(passage) is None
    assert "I was supposed to be here" not in passage
    assert passage.endswith(
        "in the locker.\n\nThe harbour bell rang twice, and a boat without a lamp came round the mole."
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("He held up the ticket.", "He held up the ticket again."),
        ("Now he must find some place to live.", "Now he must find another place to live."),
        ('"Magnus," Victor said, looking at him carefully.', '"Victor," Magnus said, looking at him carefully.'),
        ("She must find another place to sleep.", "She must find anotherplace to sleep."),
    ],
)
@pytest.mark.parametrize("where", ["same passage", "passage before"])
def test_a_sentence_that_is_said_again_with_a_word_changed_is_left_out_of_a_small_models_passage(first, second, where):
    between = "The rain fell on the road.\n\n"
    gate = ProseGate(min_words=5, seen=[first] if where == "passage before" else [])
    gate.feed(f"{between if where == 'passage before' else f'{first} {between}'}{second} Nobody came.")
    told = gate.finish()
    assert second not in told
    assert "Nobody came." in told
    capable = ProseGate(min_words=5, keeps_all=True)
    capable.feed(f"{first} {between}{second} Nobody came.")
    assert second in capable.finish()


@pytest.mark.parametrize(
    "second",
    [
        "She did.",
        "He held her hand.",
        "Victor walked back into the house and sat on the stairs.",
        "Victor did not walk out of the house and down the stairs.",
        "Nobody had told him that the ticket was for another train.",
    ],
)
def test_a_sentence_that_says_something_of_its_own_stays(second):
    gate = ProseGate(min_words=5)
    gate.feed(
        f"He held up the ticket. Victor walked out of the house and down the stairs. She did. He held it. {second}"
    )
    assert gate.finish().endswith(second)


def test_sentences_that_a_small_model_ran_together_are_parted():
    gate = ProseGate(min_words=3)
    for piece in ("Felix laughed", " again.", "A", "nd he", " went down to the harbour.", "Why?Nobody knew."):
        gate.feed(piece)
    assert gate.finish() == "Felix laughed again. And he went down to the harbour. Why? Nobody knew."


def test_only_who_is_a_stranger_to_the_story_is_refused_by_name():
    gate = ProseGate(min_words=3, strangers=["Marten", "Petra"])
    gate.feed("A marten ran across the roof of the mill. Nobody saw where it went. ")
    gate.feed("Then Petra came in.")
    gate.close()
    assert str(gate.fault) == "banned: Petra"
    assert gate.finish() == "A marten ran across the roof of the mill. Nobody saw where it went."


def test_a_capable_models_full_stops_stay_as_they_are():
    gate = ProseGate(min_words=3, keeps_all=True)
    gate.feed("She typed main.Node and sent it to nobody.")
    gate.close(whole=True)
    assert gate.finish() == "She typed main.Node and sent it to nobody."


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Now she looks for anotherplace here.", "Now she looks for another place here."),
        ("Then she looks for somewhere toLive.", "Then she looks for somewhere to live."),
        ("She wanted toLive.", "She wanted to live."),
        ("He typed it on his iPhone.", "He typed it on his iPhone."),
        ("She kept a good lookout.", "She kept a good lookout."),
        ("Both of them wentInto town.", "Both of them wentInto town."),
        ("At last she came into the room.", "At last she came into the room."),
        ("At last he was alone.", "At last he was alone."),
    ],
)
def test_a_word_that_was_two_where_the_same_words_stood_before_it_is_parted(said, heard):
    """A penalty on repeating itself makes a small model run words together."""
    gate = ProseGate(
        min_words=3,
        seen=[
            "He looks for another place and waits. He looks for somewhere to live. Look out! "
            "Then she came in to supper, and he was a lone figure."
        ],
    )
    gate.feed(said)
    assert gate.finish() == heard


def test_a_run_up_that_leads_nowhere_costs_nothing():
    gate = ProseGate(min_words=40, max_words=80)
    gate.feed("Ada put the lamp on the wall. Bo Lind ran down to the water with both oars. ")
    gate.close()
    whole = gate.text.strip()
    gate.cut(back=1)
    gate.feed("He fell. ")
    gate.close()
    gate.cut(back=5)
    assert gate.text == ""
    assert gate.finish() == whole


def test_a_quotation_that_is_cut_short_is_closed():
    gate = gate_of(
        'Ada laughed at them all. "Go home," Bruno said. "Go and bring it here. <|im_end|> The night is cold.\n\n', 1000
    )
    assert gate.cut().endswith('"Go and bring it here."')
    gate.feed('\n\n"No," Ada said, and went to the door of the kitchen.\n\n')
    assert gate.finish().endswith('"Go and bring it here."\n\n"No," Ada said, and went to the door of the kitchen.')


@pytest.mark.parametrize(("opened", "closed"), [('"', '"'), ("“", "”")])
def test_the_last_quotation_of_a_passage_is_closed(opened, closed):
    gate = ProseGate(min_words=5, max_words=40)
    gate.feed(f"Ada laughed at all of them that night. {opened}It is late for all of us. Come home before the")
    assert gate.finish() == f"Ada laughed at all of them that night. {opened}It is late for all of us.{closed}"


def test_who_speaks_to_herself_by_name_is_left_out_and_what_she_says_stays():
    gate = gate_of('Ada laughed.\n\n"Ada," Ada said, and sat down. "Who has set the barn on fire?"\n\n', 1000)
    assert gate.fault is None
    assert gate.finish() == 'Ada laughed.\n\n"Who has set the barn on fire?"'


def test_a_quotation_is_closed_where_its_paragraph_ends():
    first, second = 'Ada laughed. "We will make it right. Come home now', '"No," Bruno said, and went to the door.'
    assert gate_of(f"{first}.\n\n{second}\n\n", 1000).finish() == f'{first}."\n\n{second}'


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_speech_in_single_marks_has_double_ones(size):
    told = "'Wait for me,' said Ada. 'I don't know the way. It is dark.' She went on.\n\nBo said, 'Come.'\n\n"
    assert gate_of(told, size).finish() == (
        '"Wait for me," said Ada. "I don\'t know the way. It is dark." She went on.\n\nBo said, "Come."'
    )


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "told",
    [
        "\"She told me, 'Go home. Stay there,' and left,\" said Ada.",
        "\"I heard him shout. 'Fire!' he cried. 'Fire!' And I ran,\" said Ada. He ran off.",
        "“I heard him shout. 'Fire!' he cried,” said Ada.",
        "'Twas late, and Ada slept.",
        "'Course he had, she thought.",
        "The dogs' bowls were empty, and 'Hamlet' lay on the floor.",
        "She read the sign, 'Keep Out', and laughed. The dog barked at her.",
        "It said: 'Keep Out of the Mill'. She went in.",
        "'Go home', said Ada. She sat down.",
    ],
)
def test_a_single_mark_that_may_be_anything_else_stays(told, size):
    assert gate_of(f"{told}\n\n", size).finish() == told


def test_a_speech_of_several_paragraphs_of_a_capable_model_opens_each_of_them():
    speech = '"We will make it right. Come home now.\n\n"There is nothing left to do here," Ada said.'
    gate = ProseGate(min_words=5, max_words=1000, keeps_all=True)
    gate.feed(speech)
    gate.close(whole=True)
    assert gate.finish() == speech


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_quotation_that_was_never_closed_hands_its_mark_to_no_narration(size):
    said = '"Is there anything at all you can tell me about the man in the tunnel'
    gate = gate_of(f'Ada rose. {said}?" she asked.\n\nBruno sat. {said}? Ada asked. Rain fell on the roof.\n\n', size)
    assert [fault.kind for fault in gate.skipped] == ["loop"]
    assert gate.finish() == f'Ada rose. {said}?" she asked.\n\nBruno sat. Rain fell on the roof.'


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('"Ada looked at the door again."', True),
        ('"Ada Weir shook her head and said, I can\'t. It burns." He left.', True),
        ('"She said, It is late. Go home."', True),
        ('Rain fell. "Bruno asked again. He held the key." It was old.', True),
        ('"Ada looked at me," he said.', False),
        ('"She looked at you. She wept." He rose.', False),
        ('"Ada stole it. She ran." He rose.', False),
        ('"She said she was tired." He rose.', False),
        ('"I saw her. She looked at the door." He rose.', False),
    ],
)
def test_what_somebody_does_stands_in_no_quotation_marks(size, written, told):
    kept = written.replace('"', "") if told else written
    gate = gate_of(f'"No," Bruno said.\n\n{written}\n\n"Why?" he asked. "Where is it?"\n\n', size)
    assert gate.finish() == f'"No," Bruno said.\n\n{kept}\n\n"Why?" he asked. "Where is it?"'


def test_a_capable_model_means_its_marks():
    text = '"No," Bruno said.\n\n"Ada looked at the door again."'
    gate = ProseGate(min_words=5, max_words=400, keeps_all=True)
    gate.feed(text)
    gate.close(whole=True)
    assert gate.finish() == text


def test_who_said_what_was_left_out_is_left_out_too():
    gate = gate_of(
        'Ada laughed. "I will be right back." Ada said.\n\nShe went. "I will be right back." Ada said.\n\n', 5
    )
    gate.feed("The door was open, and nobody stood behind it but the cat of the house.\n\n")
    assert gate.text.count("Ada said") == 1
    assert gate.text.endswith(
        "She went. \n\nThe door was open, and nobody stood behind it but the cat of the house.\n\n"
    )


def test_a_capable_models_passage_is_kept_to_its_last_word_whatever_its_length():
    """An image that ends a passage of more than twice the wanted length is the one that the next passage goes on from."""
    text = prose(20)
    gate = gate_of(text, min_words=20, max_words=80, keeps_all=True)
    assert count_words(text) > 2 * gate.max_words
    assert (gate.finish(), gate.objection, gate.complete) == (text, "", True)


def test_a_moral_and_a_joined_word_of_a_capable_model_are_its_own():
    text = prose(5) + "\n\nAda knew that nothing would ever be the same again."
    assert gate_of(text, keeps_all=True).finish() == text


def test_a_capable_models_emphasis_stays_in_one_form_and_other_marks_as_they_are():
    said = 'She read **Wick Rock.** It said _one thing. Then another._ "*No,*" he said*. A snake_case*name stood there.'
    kept = 'She read *Wick Rock.* It said *one thing. Then another.* "*No,*" he said*. A snake_case*name stood there.'
    assert gate_of(said, keeps_all=True).finish() == kept
    assert "*" not in gate_of(said).finish()


@pytest.mark.parametrize("mark", ["*", "_", "**"])
@pytest.mark.parametrize("size", [1, 6, 500])
def test_a_capable_models_emphasis_of_several_lines_is_that_of_each_line(mark, size):
    letter = "The boat was late by a quarter of an hour. I saw her wave from the steps, and I did not wave."
    said = (
        f"He wrote:\n\n{mark}{letter}\nT. Gell, keeper.{mark}\n\n{mark}I asked.\n\nNobody came.{mark}\n\nShe read it."
    )
    kept = f"He wrote:\n\n*{letter}*\n\n*T. Gell, keeper.*\n\n*I asked.*\n\n*Nobody came.*\n\nShe read it."
    assert gate_of(said, size, keeps_all=True).finish() == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("周敏**没有**回答，*从来*不撒谎。", "周敏*没有*回答，*从来*不撒谎。"),
        ("彼は*決して*嘘をつかない。", "彼は*決して*嘘をつかない。"),
        ("2*3*4 and f*ck*ng stay.", "2*3*4 and f*ck*ng stay."),
    ],
)
def test_emphasis_needs_no_space_where_words_have_none(said, kept):
    assert one_form(said) == kept
    assert [piece for piece, marked in emphasised(kept) if marked] == re.findall(r"(?<![a-z0-9])\*(\w+)\*", kept)


LETTER = (
    "I have gone down to the weir to shut the sluice, because Oswin will not. If I am not back by six you are to take the "
    "ledger out from under the stove and carry it to the chapel, and to nobody else. The key is on the hook behind the clock."
)


@pytest.mark.parametrize(
    "letter", [f'"{LETTER}"', f"“{LETTER}”", f"*{LETTER}*", f'"{LETTER}\n\n"{LETTER[::-1].lower()}."']
)
def test_a_letter_that_is_read_again_is_not_objected_to_and_whole(letter):
    text = f"{prose(3)}\n\n{letter}\n\nNobody spoke."
    gate = gate_of(text, seen=[letter], keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text)


def test_entries_of_a_register_are_asked_about_and_kept():
    entries = "\n\n".join(
        f"{day} July 1905. One standard pound of brass. Compared with the county's own. Found correct in all. A. Pell."
        for day in (3, 10, 17, 24, 31)
    )
    text = f"{prose(14, length=14)}\n\n{entries}"
    gate = gate_of(text, keeps_all=True)
    assert "loop" in gate.objection
    assert gate.finish() == text


def test_no_joiner_stands_between_plain_letters():
    said = prose(3).replace(" ", " \u200d", 1).replace("a", "a\u200d", 1) + " 👩\u200d🚀 came."
    assert gate_of(said, keeps_all=True).finish() == prose(3) + " 👩\u200d🚀 came."


def test_emphasis_in_tags_is_emphasis():
    said = f"{prose(3)}\n\nShe read <i>Wick Rock.</i> It said <em>one thing. Then another.</em> <b>No</b>, he said."
    kept = f"{prose(3)}\n\nShe read *Wick Rock.* It said *one thing. Then another.* *No*, he said."
    gate = gate_of(said, keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", kept)
    assert "code" in gate_of(said.replace("<b>", "<a href=x>"), keeps_all=True).objection


@pytest.mark.parametrize("size", [1, 6, 500])
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("He wrote:\n\n> My dear Nora,\n>\n> It was open.", "He wrote:\n\n*My dear Nora,*\n\n*It was open.*"),
        ("He wrote:\n\n> It was *open* by three.", "He wrote:\n\nIt was *open* by three."),
        ("The sign read<br>NO LANDING<br/>after dark.", "The sign read\nNO LANDING\nafter dark."),
        ("The telegram, `WEIR OPEN STOP COME`, was all.", "The telegram, *WEIR OPEN STOP COME*, was all."),
        ("She read [the notice](https://example.org/a) twice.", "She read the notice twice."),
        ("It was <u>never</u> so.", "It was *never* so."),
        (r"He wrote 5\*4 and \"no\" &amp; went&nbsp;on &mdash; quickly.", 'He wrote 5*4 and "no" & went on — quickly.'),
        ("She went.\n\n\\* \\* \\*\n\nHe came.", "She went.\n\n* * *\n\nHe came."),
        ("The board said ~~sold~~ let.", "The board said sold let."),
        ("~~It was sold. It was let.~~ It stood empty.", "It was sold. It was let. It stood empty."),
        ("She went.\n\n~~~\n\nIt cost ~~ 5 then, or~~so.", "She went.\n\n* * *\n\nIt cost ~~ 5 then, or~~so."),
    ],
)
def test_a_capable_models_markup_is_converted(said, kept, size):
    gate = gate_of(f"{prose(3)}\n\n{said}\n\nThat was all.", size, keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", f"{prose(3)}\n\n{kept}\n\nThat was all.")


@pytest.mark.parametrize("size", [1, 6, 500])
@pytest.mark.parametrize("heading", ["## Tuesday", "# Tuesday #", "###### *Tuesday*", "> ## Tuesday"])
def test_a_heading_that_a_capable_model_insists_on_is_its_line(heading, size):
    gate = gate_of(f"{prose(3)}\n\n{heading}\n\nRoom #4 was # 5 of them.", size, keeps_all=True)
    line = "Tuesday" if heading[0] == "#" and "*" not in heading else "*Tuesday*"
    assert gate.finish() == f"{prose(3)}\n\n{line}\n\nRoom #4 was # 5 of them."
    assert "heading" in gate.objection or ">" in heading


@pytest.mark.parametrize("said", ["```python\nprint(1)\n```", "&lt;|im_start|&gt; was there.", '{"plan": "no"}'])
def test_markup_that_is_no_prose_of_a_capable_model_is_objected_to(said):
    assert gate_of(f"{prose(3)}\n\n{said}\n\nThat was all.", keeps_all=True).objection


def test_a_passage_that_is_quoted_as_a_whole_is_no_emphasis():
    text = prose(3)
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    assert gate_of(quoted, keeps_all=True).finish() == text


def test_a_mark_that_pairs_with_none_emphasises_no_lines():
    said = 'The *sign stood there.\n\n"*No,*" he said, and saw 5 * 3 of them.\n\nIt was so* again.'
    assert gate_of(said, keeps_all=True).finish() == said


@pytest.mark.parametrize(
    "line",
    [
        "“Tell him to f*** off,” said Tom, and the p***k was told.",
        "The letter was to Lord M___ of D____ and dated 18__.",
        "It was Lord M___'s boat, and not Lady D___'s.",
        "On the slate was 5*4=20 and under it 3 * 7.",
        "The weights* were light, and the measures* were long.",
        "The file was called tide_table_1931.",
        'The board was 6" wide.',
    ],
)
@pytest.mark.parametrize("size", [1, 6, 500])
def test_marks_that_are_no_pair_around_words_stay(line, size):
    for text in (f"{prose(3)}\n\n{line}", f"{line}\n\n{prose(3)}"):
        gate = ProseGate(min_words=20, max_words=80, keeps_all=True)
        for start in range(0, len(text), size):
            gate.feed(text[start : start + size])
        gate.close(whole=True)
        assert (gate.objection, gate.finish()) == ("", text)


STORY = [
    "He stopped at the end of the passage and felt for the latch.",
    "The reader at the next desk coughed and put down the ledger.",
    "She turned the page to the next chapter of the ledger and saw the stain.",
    "The passage ends at a green door, and behind it was the cellar.",
    "In this story that Clara told there was always a dog.",
    "(It was never found, though they dragged the harbour twice.)",
    "[Three pages are torn out here.]",
    "Rudd: I never saw the boat.",
    "Note: the key is under the mat.",
    "Step one: find the boat.",
    "1. Ten sacks of flour.\n\n2. One brass pound.",
    "- Ten sacks of flour.\n\n- One brass pound.",
    "Over the door was cut γνῶθι σεαυτόν, and nobody could read it.",
    "The stamp said Мурманск in purple ink.",
    "The card showed ♠ and ♥ in the corner.",
    "I can't write any more tonight, the candle is out.",
    "I'll begin with the boat, because it was the boat that did it.",
    "Let me know if the rope comes, the note said.",
    "The card said https://halepoint.example and nothing else.",
    "\n\n".join(['"Heave away, my lads, heave away and home," they sang.'] * 6),
]
"""What novels say, and what looks like the talk of a model or like markup all the same."""


@pytest.mark.parametrize("line", STORY)
@pytest.mark.parametrize("size", [6, 500])
def test_ordinary_prose_of_a_capable_model_is_not_objected_to(line, size):
    for text in (f"{prose(3)}\n\n{line}\n\n{prose(3, seed=1)}", f"{line}\n\n{prose(3)}", f"{prose(3)}\n\n{line}"):
        gate = gate_of(text, size, keeps_all=True)
        gate.close(whole=True)
        assert (gate.objection, gate.finish()) == ("", text)


@pytest.mark.parametrize(
    "line",
    [
        "Midnight",
        "It rained",
        "Later that night",
        "Here is the story of the bell, as Ada told it.",
        "*DROWNED MAN FOUND AT HALE POINT*",
    ],
)
@pytest.mark.parametrize("size", [1, 6, 500])
def test_a_short_first_line_of_a_capable_model_stays(line, size):
    text = f"{line}\n\n{prose(4)}"
    gate = gate_of(text, size, keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text)
    assert gate_of(text.replace("*", "**"), size, keeps_all=True).finish() == text


@pytest.mark.parametrize(
    "line",
    [
        "Here is the passage:",
        "Sure!",
        "Passage 3",
        "Chapter 3",
        "**Chapter 3: The Bell**",
        "## The Bell",
        "Sure! Here is the next passage:",
        "Here's the revised passage.",
        "Certainly. Below is passage 4 of 6.",
        "Below is the next passage:",
        "Okay, here goes:",
        "[Passage 4]",
        "(Passage 1 of 3; turn 1 under way)",
        "Turn 2: Oswin threatens her",
        "Note: I kept the clue subtle. It should not stand out.",
        "Hier ist der nächste Abschnitt:",
        "Gerne! Hier ist die nächste Passage des Romans:",
        "Voici le passage suivant :",
        "Bien sûr ! Voici le passage suivant :",
        "Aquí está el siguiente pasaje:",
        "¡Claro! Aquí tienes la continuación:",
        "Certo! Ecco il prossimo brano:",
        "Aqui está a próxima passagem:",
        "Natuurlijk! Hier is de volgende passage:",
        "Вот следующий отрывок:",
        "好的，以下是下一段：",
        "はい、以下が続きです。",
        "Kapitel 3",
        "Chapitre 3 : La clef",
        "Capítulo 3",
        "Capitolo III",
        "Hoofdstuk 3",
        "Глава 3",
        "第三章 钥匙",
    ],
)
@pytest.mark.parametrize("size", [1, 6, 500])
def test_an_announcement_of_a_capable_model_goes(line, size):
    gate = gate_of(f"{line}\n\n{prose(4)}", size, keeps_all=True)
    assert gate.finish() == prose(4)


@pytest.mark.parametrize(
    "line",
    [
        "Would you like me to continue?",
        "Let me know if you would like any changes.",
        "I'm sorry, but I can't go further than this.",
        "(Word count: 240)",
        "Word count: 240",
        "I hope you enjoyed this passage!",
        "End of passage 3",
        "To be continued...",
        "```",
        "I'm sorry, I can't continue.",
        "I am sorry, I cannot continue with this.",
        "I’m sorry, I’m unable to continue.",
        "---\n*Word count: 312*",
        "~ 350 words",
        "(~350 words)",
        "I hope this fits the plan!",
        "Note: I kept the clue subtle.",
        "*Note: I kept the clue subtle. It should not stand out.*",
        "[DONE]",
        "(Passage 1 of 3; turn 1 under way)",
        "Turn 2 done.",
        "[Clue planted: the wet ledger]",
        "*(The clue of the ledger is planted here.)*",
        "(Wörter: 312)",
        "(Nombre de mots : 312)",
        "(Número de palabras: 312)",
        "（字数：312）",
        "（約312文字）",
        "Количество слов: 312",
        "Soll ich mit der nächsten Passage fortfahren?",
        "Souhaitez-vous que je continue ?",
        "¿Quieres que continúe?",
        "Vuoi che continui?",
        "Você quer que eu continue?",
        "Wil je dat ik verder ga?",
        "Хотите, чтобы я продолжил?",
        "需要我继续吗？",
        "続きを書きましょうか？",
        "(Ende des Kapitels)",
        "Fortsetzung folgt...",
        "(À suivre)",
        "(Конец главы)",
        "(全文完)",
        "（全文完）",
        "Es tut mir leid, aber ich kann diese Geschichte nicht fortsetzen.",
        "Es tut mir leid, aber ich kann diese Anfrage nicht erfüllen.",
        "Je suis désolé, mais je ne peux pas continuer.",
        "Lo siento, pero no puedo continuar con esta historia.",
        "Mi dispiace, ma non posso continuare.",
        "Desculpe, mas não posso continuar.",
        "Het spijt me, maar ik kan niet verder schrijven.",
        "Извините, но я не могу продолжить.",
        "抱歉，我无法继续写这个故事。",
        "申し訳ありませんが、続きを書くことができません。",
    ],
)
def test_machine_talk_is_objected_to_and_at_the_end_it_goes(line):
    gate = ProseGate(min_words=20, max_words=80, keeps_all=True)
    gate.feed(f"{prose(6)}\n\n{line}")
    gate.close(whole=True)
    assert gate.objection
    assert gate.finish() == prose(6)


@pytest.mark.parametrize(
    "last",
    [
        "T. Gell, keeper",
        "*Yours, Nan*",
        "She turned\u2014",
        '"I never told him to\u2014"',
        "And the bell, and the bell, and",
    ],
)
@pytest.mark.parametrize("size", [1, 6, 500])
def test_the_last_line_of_a_whole_reply_is_kept_however_it_ends(last, size):
    text = f"{prose(6)}\n\n{last}"
    gate = ProseGate(min_words=20, max_words=80, keeps_all=True)
    for start in range(0, len(text), size):
        gate.feed(text[start : start + size])
    gate.close(whole=True)
    assert (gate.objection, gate.finish()) == ("", text)
    assert gate_of(text, size, keeps_all=True).finish().startswith(prose(6)), (
        "a reply that broke off ends at a sentence"
    )


@pytest.mark.parametrize(
    "line",
    [
        "\"I'm sorry, I can't continue,\" said Nan.",
        "“I’m sorry. I’m sorry, I can’t continue.”",
        "I'm sorry, I can't continue our friendship after this.",
        "What do you do?",
        "Was tust du?",
        "Que faites-vous ?",
        "¿Qué haces?",
        "你要怎么做？",
        "Note: the ferry does not run on Sundays.",
        "(The clue had been there all along, in the ledger.)",
        "He owed her 350 words, and a ring.",
        "Below is the harbour, and the boats.",
        "I hope this finds you well.",
        "„Es tut mir leid, aber ich kann nicht fortfahren“, sagte er.",
        "»Soll ich mit der Geschichte fortfahren?«, fragte sie.",
        "« Je suis désolé, mais je ne peux pas continuer. »",
        "— Je suis désolé, mais je ne peux pas continuer.",
        "— Non. Je suis désolé, mais je ne peux pas continuer.",
        "—Lo siento, pero no puedo seguir —dijo Ana.",
        "「申し訳ありませんが、続きを書くことができません」と彼は言った。",
        "“抱歉，我无法继续。”他说。",
        "Es tut mir leid, aber ich kann morgen nicht kommen.",
        "Lieber Hans, es tut mir leid, dass ich erst heute schreibe.",
        "Hier ist der Brief:",
        "Hier ist der Abschnitt des Ufers, an dem sie ihn fanden.",
        "Voilà la scène : elle, lui, le couteau.",
        "Le passage était étroit.",
        "Parte l'ultimo treno per Roma.",
        "Teil des Dachs war fort.",
        "第三回他来的时候，门已经锁了。",
        "这是他最后的故事：",
        "Вот и глава семьи, подумала она.",
        "Вот, сцена пуста.",
        "Kann ich das Kapitel schließen?",
        "Ecco il mare.",
        "Zal ik de hond meenemen?",
    ],
)
def test_what_only_sounds_like_machine_talk_is_the_storys(line):
    for text in (line, f"Ada.\n\n{line}\n\nOtto.", f"{prose(2)}\n\n{line}"):
        before, _, _ = text.rpartition(line)
        pieces = segments(line, "German")
        faults = [machine_talk(it, before + "".join(pieces[:at]), finale=False) for at, it in enumerate(pieces)]
        assert faults == [None] * len(pieces)
        assert (strip_opening(f"{text}\n\nOtto.", final=True, keeps_all=True) or "").startswith(text[:40])


def test_a_story_may_end_with_the_end_of_its_language():
    assert machine_talk("（全文完）", "", finale=False)
    assert machine_talk("（全文完）", "", finale=True) is None


def test_a_comment_without_a_stop_is_one_all_the_same():
    gate = ProseGate(min_words=20, max_words=80, keeps_all=True)
    gate.feed(f"{prose(6)}\n\nWord count: 48")
    gate.close(whole=True)
    assert "meta" in gate.objection


@pytest.mark.parametrize("ruled", ["* * *", "***", "---", "~", "#", "\u2042", "_ _ _"])
def test_a_ruled_line_between_paragraphs_of_a_capable_model_is_a_scene_break(ruled):
    text = f"{prose(3)}\n\n* * *\n\n{prose(3, seed=1)}"
    gate = gate_of(f"{ruled}\n\n{text.replace('* * *', ruled)}\n\n{ruled}", keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text)


def test_a_speech_without_words_is_a_line_of_its_own():
    text = f'{prose(3)}\n\n"..."\n\n{prose(3, seed=1)}'
    assert gate_of(text, keeps_all=True).finish() == text


def test_a_speech_of_several_paragraphs_keeps_the_mark_that_opens_it():
    one = '"Ada kept the light. She kept it well.\n\n"She kept it till the ink ran dry," said Bruno. "Late."'
    two = '"Ada kept the light.\n\n"She kept it," said Bruno.\n\n"No."'
    curly = "\u201cAda kept the light.\n\n\u201cShe kept it till it went out. I saw it go.\u201d"
    for text in (one, two, curly):
        assert gate_of(text, min_words=5, keeps_all=True).finish() == text


def test_a_few_sentences_of_an_earlier_passage_are_objected_to_and_kept_where_a_capable_model_insists():
    again = prose(1, length=30, seed=5)
    text = f"{prose(6)}\n\n{again}"
    gate = gate_of(text, seen=[again], keeps_all=True)
    assert "copying" in gate.objection
    assert gate.finish() == text, "the last line of a passage is never cut"
    copies = prose(9, length=14)
    copied = gate_of(copies, seen=[copies], keeps_all=True)
    assert "copying" in copied.objection
    assert copied.finish() == "", "nothing but copies is no passage"


def test_a_rhyme_that_comes_back_in_italics_is_meant():
    rhyme = "*A pound and a pound and the pan goes down, best fed bairns in all of the town.*"
    text = f"{prose(3)}\n\n{rhyme}\n\n{prose(3, seed=1)}"
    gate = gate_of(text, seen=[rhyme], keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text)
    assert "copying" in gate_of(text.replace("*", ""), seen=[rhyme.replace("*", "")], keeps_all=True).objection


def test_lines_of_a_rhyme_in_a_capable_models_passage_stay_lines():
    rhyme = "*A pound and a pound and the pan goes down,*\n*Best fed bairns in all of the town.*"
    text = f"{prose(3)}\n\n{rhyme}\n\n{prose(3, seed=1)}"
    assert gate_of(text, keeps_all=True).finish() == text
    assert gate_of(f"{rhyme}\n\n{prose(3)}", keeps_all=True).finish() == f"{rhyme}\n\n{prose(3)}"
    assert rhyme.replace("\n", "\n\n").replace("*", "") in gate_of(text).finish()


@pytest.mark.parametrize(
    "lines",
    [
        '"No," she said.\n"Yes," he said.',
        "He went.\n" + "She stayed there for a very long time. " * 3,
        "He ran.\nShe followed him down.\nThe door shut.",
    ],
)
def test_lines_of_speech_and_of_prose_are_paragraphs(lines):
    text = f"{prose(3)}\n\n{lines.strip()}"
    assert gate_of(text, keeps_all=True).finish() == text.replace("\n\n", "\n").replace("\n", "\n\n")
    short = "Ada went home.\nNobody saw her.\nIt was late."
    assert gate_of(short, 1, keeps_all=True).finish() == short.replace("\n", "\n\n"), "without any blank line"


def test_what_a_capable_model_insists_on_in_its_passage_is_objected_to_and_stays():
    text = prose(3) + "\n\nBRUNO: We have to go.\n\n" + prose(3, seed=1)
    gate = gate_of(text, keeps_all=True)
    assert "script" in gate.objection
    assert gate.finish() == text


@pytest.mark.parametrize("read", ["*Prisoner: I weighed it all, sir.*", "_Prisoner: I weighed it all, sir. He sat._"])
def test_a_line_in_italics_is_read_in_the_story_and_no_script(read):
    text = f"{prose(3)}\n\n{read}\n\n{prose(3, seed=1)}"
    gate = gate_of(text, keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text.replace("_", "*"))
    assert "script" in gate_of(text.replace(read, "*Prisoner:* I weighed it all, sir."), keeps_all=True).objection


def test_a_refrain_of_a_capable_model_stays_and_a_groove_is_objected_to():
    said = prose(1, length=14)
    text = f"{said} {prose(3, seed=1)} {said}"
    gate = gate_of(text, keeps_all=True)
    assert (gate.objection, gate.finish()) == ("", text)
    groove = gate_of(f"{prose(3, seed=1)} {' '.join([said] * 9)}", keeps_all=True)
    assert "loop" in groove.objection or "copying" in groove.objection
    assert groove.finish() == f"{prose(3, seed=1)} {said}"
