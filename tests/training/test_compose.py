"""The short form that people write."""

from __future__ import annotations

from pathlib import Path

import pytest

from recurrentgpt.schema.errors import SettingsError
from training.check import main as check_main
from training.compose import main as compose_main
from training.compose import premises, scenes
from training.data import Source, line, read_scenes

from .scenes import scene

STORY = """
@ tide n mystery | The Tide Book
P Nora Teague keeps the tide book of a harbour. Somebody has cut a page out of it.
C Nora Teague: keeper of the tide book
C Simon Rudd: a clerk, who wants to leave
M Nora Teague keeps the tide book in a desk. / Simon Rudd has the second key.
T Nora Teague opens the desk and asks Simon Rudd for his key. He says that he lost it. >> Simon has no key. / A page is gone.
T Nora carries the red wax to the notary, who knows the seal on it. >> The notary knows the seal.
T Simon Rudd gives Nora the page and walks down to the boat. >> The page is back.
"""
PASSAGE = scene().passage.replace("\n\n", "\n")
FIRST = f"""
# tide 1 0
{PASSAGE}
S: Nora Teague finds Sunday's page cut out of the tide book, and Simon Rudd says that he lost his key.
F: Sunday's page is gone from the tide book. / Simon Rudd says that he lost his key in the water.
P clue: Nora Teague carries the red wax to the notary, who knows the seal. It belongs to a man who is dead.
P arrival: A boat comes in with nobody at the oars. Simon Rudd runs down to it before Nora can see what lies in it.
C 1 The wax is all that she has.
"""
DRAFT = scene(passage="Nora opens the desk.", source=Source(hand="model", seed=0, model="abc"))


def test_a_story_and_its_scenes_are_composed() -> None:
    (story,) = premises(STORY)
    assert (story.mode, story.genre, len(story.turns)) == ("novel", "mystery", 3)
    assert story.start[1] == "Simon Rudd has the second key."
    first, second = scenes(FIRST + f"\n# tide 2\n{PASSAGE}", [story], {DRAFT.key: DRAFT})
    assert first.passage == scene().passage
    assert (first.draft, first.source.hand, first.source.model) == ("Nora opens the desk.", "mended", "abc")
    assert first.choice is not None
    assert first.choice.plan == story.turns[1].plan == second.plan
    assert second.memory == [*story.start, *first.facts]
    assert second.ending.endswith('"It is raining," he said.')
    assert (second.facts, second.source.hand, second.draft) == (["The notary knows the seal."], "written", "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FIRST.replace("# tide 1 0", "# tide 4"), "No scene of a story laid out"),
        (FIRST.replace("# tide 1 0", "# other 1"), "No scene of a story laid out"),
        (FIRST.replace("# tide 1 0", "# tide 2"), "write the scene before it first"),
        (FIRST.replace("# tide 1 0", "# tide 1 7"), "there is no draft of this seed"),
        (f"# tide 1\n{PASSAGE}\n# tide 2\n{PASSAGE}\n# tide 3\n{PASSAGE}\nC 1 It ends.", "nothing is chosen after it"),
    ],
)
def test_what_cannot_be_composed_is_told(text: str, found: str) -> None:
    with pytest.raises(SettingsError, match=found):
        list(scenes(text, premises(STORY), {DRAFT.key: DRAFT}))


def test_a_line_without_a_form_is_told() -> None:
    with pytest.raises(SettingsError, match="none of the forms of a story laid out: Z nothing"):
        list(premises(STORY + "Z nothing\n"))


def test_the_command_makes_files_that_pass_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "story.txt").write_text(STORY)
    (tmp_path / "scenes.txt").write_text(FIRST)
    (tmp_path / "drafts.jsonl").write_text(line(DRAFT))
    laid, made = tmp_path / "premises.jsonl", tmp_path / "scenes.jsonl"
    assert compose_main(["premises", str(tmp_path / "story.txt"), "-o", str(laid)]) == 0
    command = ["scenes", str(tmp_path / "scenes.txt"), "-o", str(made), "--premises", str(laid), "--drafts"]
    assert compose_main([*command, str(tmp_path / "drafts.jsonl")]) == 0
    assert [found.key for found in read_scenes([made])] == [("tide", 1, 0)]
    assert check_main([str(made), "--premises", str(laid), "--held-out"]) == 0
    assert compose_main(command) == 1
    assert "there is no draft of this seed" in capsys.readouterr().err
