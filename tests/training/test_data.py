"""The form of the training data, the conversation made of it, and what the check finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recurrentgpt.schema.errors import SettingsError
from training.check import faults, kept, premise_faults, scene_faults, story_faults
from training.check import main as check_main
from training.conversation import exchanges, lesson, messages, openings
from training.data import DATA, Source, line, read_premises, read_scenes
from training.product import last_sentences

from .scenes import premise, scene


def test_the_data_of_the_repository_is_sound() -> None:
    premises, held_out = read_premises([DATA / "premises"]), read_premises([DATA / "heldout"])
    assert list(faults(read_scenes([DATA / "mended"]), premises, held_out)) == []
    assert len(held_out) >= 12
    assert sum(len(story.turns) for story in held_out) >= 60


def test_a_line_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text(line(scene()) + "\n" + line(scene(step=2)))
    assert read_scenes([tmp_path]) == [scene(), scene(step=2)]


def test_a_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text(line(scene()) + json.dumps({"story": "x", "step": 0}) + "\n")
    with pytest.raises(SettingsError, match=r"scenes\.jsonl, line 2: step: "):
        read_scenes([file])
    with pytest.raises(SettingsError, match="There is no file or folder"):
        read_scenes([tmp_path / "nowhere"])


def test_two_stories_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(premise()))
    (tmp_path / "b.jsonl").write_text(line(premise()))
    with pytest.raises(SettingsError, match="Two stories are called tide"):
        read_premises([tmp_path])


def test_a_context_holds_what_was_laid_out_before_it() -> None:
    story = premise(turns=3)
    third = story.context(3)
    assert third.memory == [*story.start, "Drawer 1 of the desk is open.", "Drawer 2 of the desk is open."]
    assert third.ending == "Drawer 2 of the desk is open."
    assert third.finale == "last"
    assert third.outline[0] == "Nora Teague opens drawer 1 of the desk with her key."
    assert story.context(1).ending == ""


def test_an_outline_is_the_first_sentence_of_each_turn() -> None:
    turn = premise().turns[0].model_copy(update={"plan": "Nora asks Mrs. Quill for the key. Simon laughs."})
    assert premise().model_copy(update={"turns": [turn] * 3}).outline == ["Nora asks Mrs. Quill for the key."] * 3


def test_a_context_follows_the_scene_before_it() -> None:
    before = scene(
        passage="She left. He stayed. The door closed. It was night.",
        memory=["Nora has a key."] * 12,
        facts=["Nora left."],
    )
    second = premise().context(2, before)
    assert second.ending == "He stayed. The door closed. It was night."
    assert second.memory == [*["Nora has a key."] * 11, "Nora left."]


def test_the_conversation_grows_from_the_scene_to_the_choice() -> None:
    found = exchanges(scene())
    assert [exchange.call for exchange in found] == ["write", "facts", "plans", "choose"]
    assert scene().plan in found[0].prompt
    assert json.loads(found[1].reply) == {"summary": scene().summary, "facts": scene().facts}
    assert list(json.loads(found[2].reply)) == ["clue", "arrival"]
    assert "Nora asks in the town." in found[2].prompt, "the turn to come"
    assert json.loads(found[3].reply)["index"] == 1
    roles = [message["role"] for message in messages("novel", found)]
    assert roles == ["system", *["user", "assistant"] * 4]
    asked = messages("novel", exchanges(scene(passage="", summary="", plans=[], choice=None)))
    assert [message["role"] for message in asked] == ["system", "user"]


@pytest.mark.parametrize(
    ("step", "told"), [(1, "first scene:"), (2, "The end of the novel is close."), (3, "the last scene")]
)
def test_the_prompt_says_where_the_story_is(step: int, told: str) -> None:
    assert told in exchanges(scene(step=step, outline=scene().outline))[0].prompt


def test_fiction_is_told_to_the_reader() -> None:
    played = scene(mode="fiction", ending="You wait.")
    talk = messages("fiction", exchanges(played))
    assert "in the second person and the present tense" in talk[0]["content"]
    assert "The reader decides: " in talk[1]["content"]


def test_a_story_is_founded_as_it_was_laid_out() -> None:
    named, told, alone = openings(premise())
    assert {named.reply, told.reply} == {alone.reply}
    founded = json.loads(alone.reply)
    assert founded["characters"][1] == {"name": "Simon Rudd", "who": "a clerk, who wants to leave"}
    assert len(founded["outline"]) == 3
    assert founded["plan"] == premise().turns[0].plan
    assert "People: Nora Teague, Simon Rudd" in named.prompt
    assert "It is about this: Nora Teague keeps the tide book of a harbour." in told.prompt
    assert "Nora" not in alone.prompt


def test_the_reader_is_told_of_a_story_to_play() -> None:
    played = premise(mode="fiction", start=["You are Linh.", "You keep the tide book in a desk."])
    named, told, alone = (call.prompt for call in openings(played))
    assert "The reader is Linh." in named
    assert "The reader is Linh." in told
    assert "Linh" not in alone


def test_a_sound_scene_has_no_fault() -> None:
    assert list(scene_faults(scene())) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"passage": "Nora Teague opened the desk."}, "the passage has 5 words"),
        ({"passage": scene().passage.replace('"It is raining,"', '"It is raining,')}, "a quotation does not close"),
        ({"passage": scene().passage.replace("It is wax", "It is w\u00e4x")}, "characters that a small model"),
        ({"passage": scene().passage.replace("He took", "A sense of relief came. He took")}, "worn phrases: a sense of"),
        ({"passage": scene().passage.replace("She looked at his coat.", "'Look at that coat,' she said.")}, "single quotation"),
        ({"passage": scene().passage.replace("She looked", "\nShe looked")}, "a single line break"),
        ({"plan": "The bear eats nine apples in a cellar. A queen climbs onto the roof with an axe."}, "of the plan"),
        ({"facts": ["She lost it.", "The key is gone."]}, "does not say whom it is about: She lost it."),
        ({"facts": ["The key is gone.", "The key belongs to Ferdinand."]}, "a fact names Ferdinand"),
        ({"facts": ["The key is gone."]}, "there are 1 facts"),
        ({"summary": "Too short."}, "the summary is not one sentence"),
        ({"moves": ["clue", "dance"]}, "no story has the moves dance"),
        ({"plans": [scene().plans[0], scene().plans[0]]}, "two plans say the same"),
        ({"plans": [scene().plans[0], "Nora Teague decides to look for the page in all the rooms."]}, "a plan says decides to"),
        ({"plans": [], "moves": [], "choice": None}, "plans follow from every scene but the last"),
        ({"source": Source(hand="mended")}, "the draft is missing"),
        ({"memory": ["Nora Teague is here."] * 13}, "the memory has 13 sentences"),
    ],
)  # fmt: skip
def test_a_fault_of_a_scene_is_found(changes: dict[str, object], found: str) -> None:
    assert [fault for fault in scene_faults(scene(**changes)) if found in fault]


def test_the_next_scene_goes_on_from_the_last() -> None:
    first = scene()
    assert first.choice is not None
    second = {
        "step": 2,
        "plan": first.choice.plan,
        "ending": last_sentences(first.passage, 3),
        "memory": [*first.memory, *first.facts],
    }
    assert list(story_faults([first, scene(**second)])) == []
    for change, found in (
        ({"ending": "It was over."}, "the ending is not that"),
        ({"plan": "Nora goes home."}, "the plan is not the chosen one"),
        ({"memory": ["Nora Teague lives."]}, "the memory holds none"),
        ({"title": "Another"}, "the title is another"),
    ):
        assert [fault for _, fault in story_faults([first, scene(**second | change)]) if found in fault]


def test_a_story_laid_out_badly_is_told() -> None:
    assert list(premise_faults(premise())) == []
    assert [fault for fault in premise_faults(premise(turns=2)) if "2 turns" in fault]
    alike = premise(characters=["Nora Teague: a keeper", "Ned Rudd: a clerk"])
    assert [fault for fault in premise_faults(alike) if "names begin alike" in fault]


def test_held_out_stories_are_not_learnt_from() -> None:
    assert "tide: it is held out, and must not be learnt from" in list(faults([scene()], [], [premise()]))


def test_how_much_of_a_draft_is_kept() -> None:
    assert kept(scene(draft="Nora opened the old desk.", passage="Nora opened the desk.")) == 1.0
    assert kept(scene(draft="It rained.", passage="Nora opened the desk.")) == 0.0


def test_the_command_fails_where_anything_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(line(scene()))
    bad.write_text(line(scene(facts=["It is over."])))
    assert check_main([str(good), "--premises", "--held-out"]) == 0
    assert "1 scenes of 1 stories" in capsys.readouterr().out
    assert check_main([str(bad), "--premises", "--held-out"]) == 1
    assert "tide scene 1: there are 1 facts" in capsys.readouterr().out


def test_every_later_call_is_taught_after_the_scene_alone() -> None:
    taught = {tuple(exchange.call for exchange in lesson(scene(story=f"story {number}"))) for number in range(40)}
    assert taught == {("write", "facts"), ("write", "plans"), ("write", "choose")}
    ended = scene(summary="", facts=[], moves=[], plans=[], choice=None)
    assert [exchange.call for exchange in lesson(ended)] == ["write"]


def test_the_mended_drafts_are_sound_and_of_scenes_that_are_learnt() -> None:
    learnt = {(found.story, found.step) for found in read_scenes([DATA / "mended"])}
    for mended in read_scenes([DATA / "own_drafts"]):
        assert list(scene_faults(mended)) == []
        assert mended.draft
        assert (mended.story, mended.step) in learnt
