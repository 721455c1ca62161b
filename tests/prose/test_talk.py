"""What sounds like the talk of a model in nine languages, and is the story's."""

import re
from importlib import resources
from pathlib import Path

import pytest

from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.machine_talk import TALK, machine_talk
from recurrentgpt.prose.sentence_checks import Examiner, find_fault
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.prose.unwrap import strip_opening

FIRST = [
    "Voici ce qui se passa ensuite :",
    "Вот что сказал главарь:",
    "Eis que Marta acena:",
    "第三节车厢里没有灯，他听见有人说：",
    "接下来是第三节车厢：",
    "第一回见面，她只说了一句：",
    "Parte il grido dal fondo della sala:",
    "Parte il treno",
    "Partie il y a dix ans",
    "Teil I der Mauer war gefallen, und Karl rief:",
    "Part I of the wall had fallen, and Karl called:",
    "Part i was left to her:",
    "Scene i of the crime",
]
"""Lines of a story with which a passage may begin."""


OF_A_STORY = [
    ("English", "I'm sorry, I can't go on."),
    ("English", "*I hope this works.*"),
    ("English", "*Let me know if you need anything.*"),
    ("English", "The end of the passage glowed."),
    ("English", "The novel was finished at last."),
    ("English", "Continuing the story where she had left off, Grandmother lit the lamp."),
    ("English", "Of course I will write to her."),
    ("English", '"The end?"'),
    ("English", '"Fin?"'),
    ("English", "Note: I left the plan in the drawer. Burn it, and tell no one that I came."),
    ("English", "As an AI, Vega did not dream."),
    ("English", "She had worked at OpenAI for two years."),
    ("German", "Es tut mir leid, mehr kann ich heute nicht schreiben."),
    ("German", "Soll ich die Geschichte zu Ende erzählen?"),
    ("German", "„Fin?“"),
    ("French", "Je suis désolée, je ne peux pas oublier cette histoire."),
    ("French", "Voulez-vous que je vous raconte cette histoire ?"),
    ("French", "« Fin ? »"),
    ("Spanish", "Lo siento, no puedo seguir."),
    ("Spanish", "Lo siento, no puedo ayudarte."),
    ("Spanish", "¿Quiere que la siga?"),
    ("Spanish", "¿Quieres que te cuente una historia?"),
    ("Chinese", "希望我们的故事还没有结束。"),
    ("Chinese", "希望我的故事能让你明白。"),
    ("Chinese", "对不起，我不能再写了。"),
    ("Chinese", "对不起，我不能帮助你。"),
]


@pytest.mark.parametrize(("language", "line"), OF_A_STORY)
def test_what_somebody_of_the_story_says_or_reads_stays(language, line):
    gate = ProseGate(min_words=5, language=language, keeps_all=True)
    middle = (
        "第一天，艾达点亮了灯，看着船从海上回来，没有人说话。"
        if language == "Chinese"
        else "Ada lit the lamp and saw the boats come in."
    )
    gate.feed(f"{line}\n\n{middle}\n\n{line}")
    gate.close(whole=True)
    assert (gate.objection, gate.finish()) == ("", f"{line}\n\n{middle}\n\n{line}")


@pytest.mark.parametrize("line", FIRST)
def test_an_ordinary_first_line_stays(line):
    for text in (f"{line}\nAda kept the light.", f"{line}\n\nAda kept the light."):
        assert strip_opening(text, final=True, keeps_all=True) == text
    # A small model's short line that stands apart is a title.
    assert strip_opening(f"{line}\nAda kept the light.", final=True) == f"{line}\nAda kept the light."


def test_a_note_at_the_beginning_is_asked_about_and_not_taken_away():
    text = "Note: I kept the clue subtle.\nAda."
    assert strip_opening(text, final=True, keeps_all=True) == text
    assert machine_talk(text.partition("\n")[0], "", finale=False)


@pytest.mark.parametrize(
    "line",
    [
        "Kapitel 3",
        "Teil II",
        "Teil II: Die Mauer",
        "Chapitre 3 : La clef",
        "Capitolo III — Il mare",
        "Глава 3",
        "Глава 3. Ключ",
        "第三章 钥匙",
        "第三章：钥匙",
        "第三回",
        "Part IV",
        "Chapter Two: The Bell",
        "Voici la suite :",
        "Вот следующая глава:",
        "以下是第三节：",
    ],
)
@pytest.mark.parametrize("keeps_all", [True, False])
def test_a_heading_and_an_announcement_go(line, keeps_all):
    assert strip_opening(f"{line}\nAda.", final=True, keeps_all=keeps_all) == "Ada."
    assert machine_talk(f"{line}\n", "", finale=False)


STORY = [
    ("Spanish", "Lo siento, mamá, pero no puedo seguir así."),
    ("Spanish", "Lo siento, mamá, pero no puedo seguir."),
    ("Italian", "Parte il colpo."),
    ("Italian", "Vuoi che scriva a tua madre?"),
    ("French", "Partie il y a dix ans."),
    ("French", "Veux-tu que je continue seul ?"),
    ("Japanese", "このまま帰れるでしょうか。"),
    ("Japanese", "続きが気になりますか。"),
    ("Japanese", "次に続きを読んだのは父です。"),
    ("Dutch", "Zal ik verder lopen?"),
    ("German", "Soll ich weitermachen?"),
    ("German", "Es tut mir leid, aber ich kann die Fassung nicht länger bewahren."),
    ("Russian", "Простите, что не могу писать чаще, но глава семьи болен."),
    ("English", "Note: we held the turn until the tide ran out."),
    ("English", "Note: the passage to the harbour is closed."),
    ("English", "I'm sorry, but I can't open it."),
    ("English", "I'm sorry, I can't continue this conversation."),
    ("German", "Es tut mir leid, aber ich kann die Szene nicht vergessen."),
]


@pytest.mark.parametrize(("language", "line"), STORY)
def test_what_only_sounds_like_talk_is_the_storys_in_its_language_and_in_english(language, line):
    assert Examiner(language=language, capable=True).examine(line, "Ada.\n\n") is None
    assert machine_talk(line, "", finale=False) is None


TALKS = [
    ("English", "I'm sorry, but I can't write that scene."),
    ("English", "I'm sorry, but I can't create this kind of content."),
    ("English", "I'm sorry, but I can't help with that."),
    ("English", "I'm sorry, but I can't fulfill this request."),
    ("German", "Es tut mir leid, aber ich kann diesen Text nicht schreiben."),
    ("German", "Es tut mir leid, aber ich kann dabei nicht helfen."),
    ("French", "Je suis désolé, mais je ne peux pas vous aider."),
    ("Russian", "Извините, но я не могу выполнить этот запрос."),
    ("German", "Soll ich mit der Geschichte fortfahren?"),
    ("German", "Es tut mir leid, aber ich kann diese Anfrage nicht erfüllen."),
    ("French", "Souhaitez-vous que je continue ?"),
    ("French", "Je suis désolé, mais je ne peux pas continuer cette histoire."),
    ("Spanish", "Lo siento, pero no puedo ayudarte con esta historia."),
    ("Italian", "Vuoi che scriva la prossima scena?"),
    ("Portuguese", "Desculpe, mas não posso continuar."),
    ("Dutch", "Zal ik doorgaan?"),
    ("Dutch", "Zal ik het volgende hoofdstuk schrijven?"),
    ("Russian", "Хотите, чтобы я продолжил?"),
    ("Chinese", "需要我继续吗？"),
    ("Chinese", "抱歉，我无法完成这个请求。"),
    ("Japanese", "続きを書きましょうか？"),
    ("Japanese", "申し訳ありませんが、ご要望にはお応えできません。"),
]


@pytest.mark.parametrize(("language", "line"), TALKS)
def test_the_talk_of_the_storys_language_is_found(language, line):
    assert Examiner(language=language, capable=True).examine(line, "Ada.\n\n")
    assert Examiner(language="English", capable=True).examine(line, "Ada.\n\n"), "models slip into English with it"


def test_the_talk_of_another_language_than_the_storys_and_english_is_not_looked_for():
    line = "Soll ich mit der Geschichte fortfahren?"
    for language in ("French", "Danish"):
        assert machine_talk(line, "", finale=False, language=language) is None
        assert machine_talk("Would you like me to continue?", "", finale=False, language=language)


@pytest.mark.parametrize("mark", ["*", "_"])
@pytest.mark.parametrize("line", ["I'm sorry, I can't continue.", "The boat is gone. I'm sorry, I can't continue."])
def test_an_emphasised_line_is_a_message_in_the_story_and_no_refusal(mark, line):
    text = f"The paper said:\n\n{mark}{line}{mark}"
    gate = ProseGate(min_words=5, max_words=80, keeps_all=True)
    gate.feed(text)
    gate.close(whole=True)
    assert (gate.objection, gate.finish()) == ("", text.replace("_", "*"))
    gate = ProseGate(min_words=5, max_words=80, keeps_all=True)
    gate.feed(text.replace(mark, ""))
    gate.close(whole=True)
    assert gate.objection


LONG = 50_000
BEGINNINGS = [
    *(
        "",
        "Kapitel 1",
        "Chapter 1",
        "Teil II:",
        "第三章",
        "第三回",
        "Note:",
        "Note: I kept",
        "Author's note",
        "Passage 1 of 3",
    ),
    *(
        "Sure!",
        "Sure, here is",
        "Here is the",
        "Below is",
        "Title:",
        "I'm sorry, I can't",
        "(Word count:",
        "End of",
        "---",
        "#",
    ),
    *(
        "Would you like me to",
        "The story is complete",
        "**Part 1",
        "[Clue:",
        "Voici",
        "Soll ich",
        "Lo siento, pero no puedo",
    ),
    *(talk.here.split("|")[0] for talk in TALK.values()),
]


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("filling", [" ", "x", "X", "字", "x ", "I ", "\t", ": "])
def test_a_long_line_is_read_at_once(beginning, filling):
    for end in ("", "x, y.", "\n"):
        text = f"{beginning} {filling * (LONG // len(filling))}{end}"
        machine_talk(text, "", finale=False)
        for keeps_all in (True, False):
            strip_opening(text, final=True, keeps_all=keeps_all)


PROMPTS = Path(str(resources.files("recurrentgpt.prompts")))
ASKED = re.compile(r"\{% (?:el)?if (?:pace|invite|finale)[^%]*%\}\n(?P<said>[^{]+)")


@pytest.mark.parametrize(
    "template", sorted(PROMPTS.glob("*/s*/write.md")), ids=lambda path: "/".join(path.parts[-3:-1])
)
def test_no_sentence_of_a_request_is_told_as_the_story(template):
    asked = [sentence for match in ASKED.finditer(template.read_text()) for sentence in sentences(match["said"])]
    assert len(asked) >= 6
    told = [sentence for sentence in asked if not find_fault(sentence, before="Ada laughed.\n\n")]
    assert told == []
