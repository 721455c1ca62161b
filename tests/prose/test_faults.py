import pytest
from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.prose.quotations import narration
from recurrentgpt.prose.sentence_checks import Examiner, find_fault

GOOD = [
    '"Put it down before somebody sees it," Ewan said.',
    "“RUN!” Mara shouted. “They have opened the sluice — all of it!”",
    "Zoë Müller counted the crowns: three, four, five.",
    "He left at 7:45 with Łukasz, Renée and the naïve Señor Ibáñez.",
    "Then: silence.",
    "One thing was certain: Maya had lied.",
    "The sign above the door said NO ENTRY, and under it somebody had chalked a heart.",
    "The letter was short. “Dear Maya: I have sold the boat. I am sorry. Your father.”",
    '"Sure," he said, "and I am the Queen of Spain."',
    '"Here is the scene of the crime," the inspector said.',
    "It was the end of the road, and the beginning of the sand.",
    "She had read the chapter twice and understood none of it.",
    "No, no, no. He would not go back there.",
    "So it goes. The rain fell on the just and on the unjust, and mostly on the ferry.",
    "— Je ne sais pas, dit-il.",
    "1914 was a bad year for glass.",
    "In this house nobody spoke before noon.",
    "The story begins with a theft, or so my grandmother told it.".replace("my", "her").replace(
        "The story", "Her story"
    ),
    "He wrote two words on the slate, wiped them off, and wrote them again.",
    "They had 300 words for snow and not one for bread.",
    "The end of the road was close, and this was the last scene that she would paint.",
    "\"I'm sorry, but I can't help you,\" the guard said.",
    '"Give me a-" She was gone.',
    "Nobody asked whose it was, his or hers.",
    "Her blood type was O-.",
    "It was the first part of the story that worried her.",
    "He had to write it in about 300 words for the evening paper.",
    "The end of the story is close at hand.",
    "\"I'm so sorry, I can't help you with that bag,\" said the porter.",
    "“I'm sorry, but I can't open it,” the guard said.",
    "The plan was simple. The plan was always simple until Otto heard of it.",
    "He weighed it in his hand (it was lighter than it looked) and put it back.",
]
BAD = {
    "meta": [
        "The end is close in this scene, and the trouble comes to its hardest point.",
        "This is the last scene of the novel.",
        "Go on with it, in about 520 words.",
        "\"Greta, I'm sorry, but I can't help you with that,\" said Ada.",
        '"I’m sorry, I cannot assist with that request."',
        "Sure! Here is the next scene.",
        "Here is the passage you asked for.",
        "Here's a revised version of the scene:",
        "As an AI language model, I do not have feelings.",
        "I'm sorry, but I can't assist with that.",
        "I cannot continue this story.",
        "In this passage, Maya finds the key.",
        "The scene ends with Maya at the door.",
        "Note: the key is a symbol.",
        "The End.",
        "To be continued.",
        "Title: The Hidden Key",
        "(300 words)",
        "Word count: 312",
        "She opened the door. [...]",
        "Let me know if you would like another version.",
        "Next, let's add the physical action and continue.",
    ],
    "script": [
        "MAYA: We have to go.",
        "Maya Ortiz: We have to go.",
        'Maya: "We have to go."',
        "Maya (whispering): we have to go.",
        "INT. KITCHEN - NIGHT",
        "(He walks to the window.)",
        "[A door slams.]",
        "CUT TO the harbour.",
    ],
    "heading": [
        "# The Harbour",
        "Chapter 3: The Harbour",
        "Chapter Four",
        "Scene 2",
        "Epilogue",
        "**The Harbour**",
        "- She opens the door.",
        "1. She opens the door.",
        "* She opens the door.",
        "---",
    ],
    "alphabet": [
        "She opened the 门 and went in.",
        "He said привет to nobody.",
        "She smiled 😀 at him.",
        "He left，and she stayed.",
    ],
    "code": [
        '{"passage": 1',
        "```",
        "She ran.</p>",
        "print(story)",
        "See https://example.org for more.",
        "The number was 13785469780286548907284.",
    ],
    "cut": ["They reached the gate and the-.", "He put it into the bag,.", 'She said, "He is the."'],
    "control": ["She ran\x07.", "She ran\ufffd."],
    "role": ["<|im_start|>user", "She ran.</s>", "[INST] Go on [/INST]", "User: go on", "### Instruction: go on"],
    "loop": [
        "He ran and ran and ran and ran and ran to the door.",
        "She knew that he was going to be there by now and she knew that he was going to be there by now.",
    ],
}


@pytest.mark.parametrize("sentence", GOOD)
def test_fiction_passes(sentence):
    assert find_fault(sentence, before="It was late.\n\n") is None


@pytest.mark.parametrize(("kind", "sentence"), [(kind, sentence) for kind in BAD for sentence in BAD[kind]])
def test_what_is_no_fiction_is_refused(kind, sentence):
    fault = find_fault(sentence, before="It was late.\n\n")
    assert fault is not None
    assert fault.kind == kind
    assert str(fault).startswith(f"{kind}: ")


SOURCE = "The weight dropped, struck the stone an inch from his foot, and split down the middle of it."


def test_copying_is_measured_in_words_and_not_in_marks():
    fault = find_fault("THE WEIGHT dropped; struck the stone an inch from his foot and split.", seen=[SOURCE])
    assert fault is not None
    assert fault.kind == "copying"
    assert find_fault("The weight dropped, struck the stone and split.", seen=[SOURCE]) is None


def test_copying_across_a_sentence_border_is_seen():
    seen = ["She took the can in one hand. Then she walked to the far gate and knocked."]
    assert find_fault("Then she walked to the far", before="She took the can in one hand. ", seen=seen)


def test_a_sentence_said_again_is_a_loop_and_a_refrain_is_not():
    before = "He took a deep breath, feeling the tension in his heart. So it goes. "
    assert find_fault("He took a deep breath, feeling the tension in his heart.", before=before).kind == "loop"
    assert find_fault("So it goes.", before=before) is None
    assert find_fault("He took a boat, and the sea was calm for an hour or two.", before=before) is None


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ('"What do you want here?" Anna said. "Nothing."\n\n', '"What do you want here?" Hugo said.'),
        ('"Get out! Get out! ', 'Get out!" Anna shouted.'),
        ("“Open it.” “No.” “Open it.” “No.” “Open it.” “No.” ", "“Open it,” she said."),
        ("", '"Get out! Get out! Get out!" she called.'),
        ('"Maya?" she said. "Maya?" "Maya?" "Maya?" "Maya?"\n\n', '"Maya?" Anna said again.'),
    ],
)
def test_people_who_say_the_same_again_and_again_are_a_loop(before, sentence):
    assert find_fault(sentence, before=before).kind == "loop"


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ('"Open it," she said.\n\n', '"Open it."'),
        ('"Who is there?" she said.\n\n', '"Who is there?" he said after her.'),
        ('"Run! Run! ', 'Run!" Anna shouted.'),
        ('"What do you want here?" Anna said.\n\n', '"What do you want?" Hugo said.'),
        ("", '"Get out! Get out!" she called.'),
        ('"Maya?" she said. "Maya?" "Maya?" "Maya?"\n\n', '"Maya?" Anna said again.'),
    ],
)
def test_people_may_say_a_short_thing_again(before, sentence):
    assert find_fault(sentence, before=before) is None


def test_the_end_is_for_the_last_passage():
    assert find_fault("The End", finale=True) is None


@pytest.mark.parametrize(
    ("sentence", "speaker"),
    [
        ('"Carmen," Carmen said, her voice low.', "Carmen"),
        ('"Listen to me, Carmen," Carmen called.', "Carmen"),
        ('"Carmen, stop this," Carmen whispered.', "Carmen"),
        ('"Daniel," Carmen said.', None),
        ('"Carmen is here," Carmen said.', None),
        ('"Carmen," she said.', None),
    ],
)
def test_nobody_speaks_to_themselves_by_name(sentence, speaker):
    fault = find_fault(sentence, before="The lamp went out.\n\n")
    assert (fault and (fault.kind, fault.detail)) == (speaker and ("speaker", speaker))
    assert find_fault(sentence, before='"What is your name?" he asked.\n\n') is None


def test_a_first_person_narrator_is_refused_on_request_and_speech_is_not():
    assert find_fault("I opened the door.", third_person=True).kind == "narrator"
    assert find_fault("She asked for my papers.", third_person=True).kind == "narrator"
    assert find_fault('"I opened the door," she said.', third_person=True) is None
    assert find_fault('I saw it." She sat.', before='He nodded. "Yes. ', third_person=True) is None
    assert find_fault("I opened the door.") is None


@pytest.mark.parametrize(
    ("sentence", "slip"),
    [
        ("Clara Reed is sitting on the stairs.", "Clara Reed is"),
        ("He does not answer.", "He does"),
        ("Otto still looks at her.", "Otto still looks"),
        ('"Wait," she says, and she takes it.', "she says"),
        ("The door creaks, and Otto comes in.", "Otto comes"),
        ("The door opens and a boy stands there.", "The door opens"),
        ("Only then did they turn and take the key.", None),
        ("His good looks had gone, and the fruit stands were closed.", None),
        ("As the saying goes, the river falls into the gorge.", None),
        ("They had walked down the cellar steps.", None),
        ("The other looked up.", None),
        ("He was late, as always.", None),
        ("She lifts nobody.", "She lifts"),
        ('"He looks at her," said Otto.', None),
        ("'He looks at her,' said Otto.", None),
        ("He asked what there is to see.", None),
        ("The stairs went down.", None),
        ("For hours nobody came.", None),
        ("Ada followed Otto upstairs.", None),
        ("He knew the Reed sisters.", None),
        ("Seven boats came in, and Otto perhaps slept.", None),
    ],
)
def test_what_is_told_in_the_present_is_refused_on_request_and_speech_is_not(sentence, slip):
    fault = find_fault(sentence, past_tense=True)
    assert (fault and (fault.kind, fault.detail)) == (slip and ("tense", slip))
    assert find_fault(sentence) is None


def test_other_languages_have_their_own_alphabet():
    assert find_fault("Она открыла дверь.", language="Russian") is None
    assert find_fault("Она открыла door.", language="Russian") is None
    assert find_fault("She opened the door.", language="Russian").kind == "alphabet"
    assert find_fault("彼は「待って！」と言った。", language="Japanese") is None
    assert find_fault("她打开了门，走了。", language="Chinese") is None
    assert find_fault("그는 문을 열었다.", language="Korean") is None
    assert find_fault("Tlhingan Hol?", language="Klingon") is None


def test_narration_is_what_is_left_without_speech():
    assert narration('"I know," she said. "I was there." He nodded.') == " she said.  He nodded."
    assert narration('over." He left.', 'She sat. "It is ') == " He left."
    assert narration("“No,” he said.") == " he said."


PIECES = st.sampled_from(
    ["Run! ", '"Get out!" ', '"I know. ', 'You know," he said. ', "She wept.\n\n", "我们走了。", "Dark", "ness fell. ",
     "He went to the old mill by the river and waited there for her. ",
     "The lamp went out again and nobody saw it go out again. "]
)  # fmt: skip


@given(st.lists(st.tuples(PIECES, st.booleans()), max_size=20))
def test_who_has_examined_a_passage_so_far_finds_what_whoever_comes_anew_finds(pieces):
    """A passage is also cut, and goes on from an earlier place."""
    examiner, before = Examiner(), ""
    for piece, cut in pieces:
        assert bool(examiner.examine(piece, before)) == bool(Examiner().examine(piece, before))
        before = before[: len(before) // 2] if cut else before + piece


def test_what_is_a_cut_in_english_is_a_word_elsewhere():
    for language, sentence in (
        ("German", "Er sah sie lange an."),
        ("French", "Il y vécut un an."),
        ("Polish", "To nie my."),
    ):
        assert find_fault(sentence, language=language) is None
    assert find_fault("Er nahm den Schlüssel und die-.", language="German").kind == "cut"
