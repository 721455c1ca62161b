"""`write -i`: every answer, bad answers, leaving and coming back."""

from __future__ import annotations

import json

import pytest

from recurrentgpt import Story
from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.keys import KEYS, TypedInput, understand
from recurrentgpt.schema.errors import BadAnswer


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("1", TypedInput("1", 1)),
        (" 3 ", TypedInput("1", 3)),
        ("2.", TypedInput("1", 2)),
        ("2)", TypedInput("1", 2)),
        ("2. She leaves.", TypedInput("w", text="2. She leaves.")),
        ("e", TypedInput("e")),
        ("E", TypedInput("e")),
        ("edit", TypedInput("e")),
        ("e 2", TypedInput("e", 2)),
        ("w", TypedInput("w")),
        ("w She leaves.", TypedInput("w", text="She leaves.")),
        ("a", TypedInput("a")),
        ("m", TypedInput("m")),
        ("s", TypedInput("s")),
        ("s 5", TypedInput("s", 5)),
        ("r", TypedInput("r")),
        ("replan", TypedInput("r")),
        ("q", TypedInput("q")),
        ("redo", TypedInput("y")),
        ("y 2", TypedInput("y", 2)),
        ("k 2", TypedInput("k", 2)),
        ("n The dog must live.", TypedInput("n", text="The dog must live.")),
        ("goto the dark ending", TypedInput("g", text="the dark ending")),
        ("Note that nobody came.", TypedInput("w", text="Note that nobody came.")),
        ("?", TypedInput("?")),
        ("undo 2", TypedInput("u", 2)),
        ("/undo", TypedInput("u")),
        ("/undo 2", TypedInput("u", 2)),
        ("/note The dog must live.", TypedInput("n", text="The dog must live.")),
        ("/save the dark ending", TypedInput("b", text="the dark ending")),
        ("/quit", TypedInput("q")),
        ("She leaves at night.", TypedInput("w", text="She leaves at night.")),
        ("a man walks in", TypedInput("w", text="a man walks in")),
        ("2 men walk in", TypedInput("w", text="2 men walk in")),
        ("她打开了门", TypedInput("w", text="她打开了门")),
    ],
)
def test_answers(line, reply):
    assert understand(line, 3) == reply


@pytest.mark.parametrize(
    ("line", "language", "reply"),
    [
        ("w lesie spotyka wilka", "Polish", TypedInput("w", text="w lesie spotyka wilka")),
        ("/w lesie spotyka wilka", "Polish", TypedInput("w", text="lesie spotyka wilka")),
        ("w mira leaves at night", "English", TypedInput("w", text="mira leaves at night")),
        ("o homem abre a porta", "Portuguese", TypedInput("w", text="o homem abre a porta")),
        ("o homem abre a porta", "English", TypedInput("w", text="o homem abre a porta")),
        ("o pacto muda tudo", "Portuguese", TypedInput("w", text="o pacto muda tudo")),
        ("o plano dele falha", "Portuguese", TypedInput("w", text="o plano dele falha")),
        ("o plano dele falha", "Português", TypedInput("w", text="o plano dele falha")),
        ("o pace o guerra", "Italian", TypedInput("w", text="o pace o guerra")),
        ("/o plano=3", "Portuguese", TypedInput("o", text="plano=3")),
        ("o max-words 600", "Portuguese", TypedInput("o", text="max-words 600")),
        ("o pace=slow max-words=600", "Portuguese", TypedInput("o", text="pace=slow max-words=600")),
        ("o max-words 600 please", "English", TypedInput("o", text="max-words 600 please")),
        ("o max_words 600", "English", TypedInput("o", text="max_words 600")),
        ("o pcae is slow", "English", TypedInput("o", text="pcae is slow")),
    ],
)
def test_a_plan_may_begin_with_a_word_of_one_letter(line, language, reply):
    assert understand(line, 3, language) == reply


def test_a_plan_is_read_in_the_language_of_its_story(cli, server):
    answers = "w lesie spotyka wilka\nq\n"
    assert cli("write", "-i", "--title", "Wilk", "--language", "Polish", stdin=answers).code == 0
    assert json.loads(cli("show", "wilk", "--json").out)["passages"][-1]["plan"] == "w lesie spotyka wilka"


def test_a_branch_can_have_the_name_of_a_command(cli, story):
    result = cli("write", story, "-i", stdin="b\nSave\nu\nb save\ng\nsave\nb\nUndo 2\nq\n")
    assert "is a command" not in result.err
    shown = cli("tree", story).out
    assert "save" in shown
    assert "Undo 2" in shown


@pytest.mark.parametrize(
    "line", ["", "0", "4", "-1", "99999999999999999999", "4.", "2.)", "x", "leave", "!", "²", "/dance now", "/undo it"]
)
def test_bad_answers_say_why(line):
    with pytest.raises(BadAnswer):
        understand(line, 3)


def _plans(err, at=-1):
    """Return the plans that were shown."""
    shown = err.split("What happens next?")[at].splitlines()
    return [line[2:].strip() for line in shown if line[:2] in ("1 ", "2 ", "3 ")][:3]


def _first_write(server, plan):
    """Return the first prompt for prose that holds this plan word for word."""
    prompts = (
        "\n".join(message["content"] for message in body["messages"])
        for body in server.requests
        if "response_format" not in body
    )
    return next(prompt for prompt in prompts if plan in prompt)


def test_a_whole_human_turn(cli, server):
    """Choose 2, edit plan 1, write an own plan, edit the memory, leave in the middle of a choice, come back."""
    answers = (
        "2\ne\n1\nShe polishes the edited lantern.\nm\n+ Zelda owns the blue key.\n\nThey sail to the island.\nq\n"
    )
    result = cli("write", "-i", "--title", "Turns", stdin=answers)
    assert result.code == 0, result.err
    saved = json.loads(cli("show", "turns", "--json").out)
    passages = saved["passages"]
    assert [passage["step"] for passage in passages] == [1, 2, 3, 4]
    assert passages[1]["plan"] == _plans(result.err, 1)[1]
    assert passages[2]["plan"] == "She polishes the edited lantern."
    assert passages[3]["plan"] == "They sail to the island."
    second, third, fourth = (_first_write(server, passage["plan"]) for passage in passages[1:])
    assert "Zelda owns the blue key." in fourth
    assert "Zelda owns the blue key." not in second + third
    assert result.out == "\n\n".join(passage["text"] for passage in passages) + "\n"

    again = cli("write", "turns", "-i", stdin="q\n")
    assert again.code == 0
    assert _plans(again.err) == _plans(result.err)
    assert again.out == ""


def test_the_choice_is_still_there_in_a_new_process(cli, story, process):
    seen = []
    for answers in ("foo\n", ""):
        with process("write", story, "-i") as running:
            seen.append(running.communicate(answers)[1])
        assert running.returncode == 0
    assert _plans(seen[0]) == _plans(seen[1]) != []


def test_end_of_input_is_q(cli, story):
    result = cli("write", story, "-i", stdin="")
    assert result.code == 0
    assert result.out == ""
    assert f"Continue: recurrentgpt write {story} -i" in result.err


@pytest.mark.parametrize("slip", ["s x", "u two", "e two", "q now", "1 2", "undo it"])
def test_a_slip_of_the_fingers_is_no_plan(cli, story, slip):
    before = json.loads(cli("show", story, "--json").out)["passages"]
    result = cli("write", story, "-i", stdin=f"{slip}\nq\n")
    assert "begins like a key, and is none" in result.err
    assert json.loads(cli("show", story, "--json").out)["passages"] == before


@pytest.mark.parametrize(
    ("key", "command"),
    [
        *((key, "/undo") for key in ("b", "n", "p", "w", "e 1", "m\n1", "g")),
        *(("b", command) for command in ("/undo 2", "u", "u 2", "undo")),
    ],
)
def test_a_command_at_a_question_below_the_first_is_no_answer(cli, story, server, key, command):
    before, asked = cli("show", story, "--json", "--settings").out, len(server.requests)
    result = cli("write", story, "-i", stdin=f"{key}\n{command}\nq\n")
    assert result.code == 0, result.err
    assert f"{command!r} is a command" in result.err
    assert cli("show", story, "--json", "--settings").out == before
    assert json.loads(cli("tree", story, "--json").out)["names"] == {}
    assert len(server.requests) == asked


def test_bad_answers_are_asked_again(cli, story):
    result = cli("write", story, "-i", stdin="x\n7\n\ne\n9\ns\n0\nw\n\nq\n")
    assert result.code == 0
    assert "neither a key nor a plan" in result.err
    assert "There is no plan 7" in result.err
    assert "numbered 1 to 3" in result.err
    assert "1 or more" in result.err
    assert "Nothing was changed" in result.err
    assert result.out == ""


def test_help_names_every_key(cli, story):
    err = cli("write", story, "-i", stdin="?\nq\n").err
    assert all(f"  {key}  " in err for key in KEYS)


@pytest.mark.parametrize(("answer", "shown"), [("l", [2]), ("l 2", [1, 2]), ("read", [2]), ("/look 9", [1, 2])])
def test_what_was_written_is_read_again(cli, story, answer, shown):
    result = cli("write", story, "-i", stdin=f"{answer}\nq\n")
    assert result.code == 0, result.err
    assert result.out == "", "nothing of it is new"
    told, passages = " ".join(result.err.split()), json.loads(cli("show", story, "--json").out)["passages"]
    assert [passage["step"] for passage in passages if " ".join(passage["text"].split()) in told] == shown


def test_another_take_keeps_both(cli, story, server):
    result = cli("write", story, "-i", stdin="a\nq\n")
    assert result.code == 0, result.err
    assert "2 (another take)" in result.err
    saved = json.loads(cli("show", story, "--json").out)["passages"]
    assert [passage["step"] for passage in saved] == [1, 2]
    assert result.out == saved[1]["text"] + "\n"


def test_new_plans_do_not_print_the_passage_again(cli, story):
    result = cli("write", story, "-i", stdin="r\nq\n")
    assert result.code == 0, result.err
    assert result.out == ""
    assert result.err.count("What happens next?") == 2


def test_the_simulator_drives_for_a_while(cli, story):
    result = cli("write", story, "-i", stdin="s\n2\ns 1\nq\n")
    assert result.code == 0, result.err
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 5


def test_steps_bound_an_interactive_run(cli, story):
    result = cli("write", story, "-i", "--steps", "2", stdin="1\ns 9\nq\n")
    assert result.code == 0
    assert len(json.loads(cli("show", story, "--json").out)["passages"]) == 4


def test_the_memory_is_edited_sentence_by_sentence(cli, story):
    result = cli("write", story, "-i", stdin="m\n1\nThe first is another.\n-2\n+ One more.\n99\n\nq\n")
    assert result.code == 0
    assert "Type the number of a sentence" in result.err
    memory = json.loads(cli("memory", story, "--json").out)["short_term_memory"].splitlines()
    assert memory[0] == "The first is another."
    assert memory[-1] == "One more."


def test_a_memory_beyond_its_ceiling_is_refused(cli, story):
    result = cli("write", story, "-i", stdin="m\n" + "+ One more sentence.\n" * 21 + "\nq\n")
    assert result.code == 0
    assert "at most 20 sentences" in result.err


def test_events_of_a_human_choice(cli, story):
    result = cli("write", story, "-i", "--json", stdin="3\nq\n")
    assert result.code == 0
    kinds = [event["event"] for event in result.events]
    assert kinds == ["story", "plans", "plans", "passage", "memory", "plans", "done"]
    waiting, chosen, passage = result.events[1:4]
    assert (waiting["chosen"], waiting["plan"], waiting["step"]) == (None, None, 2)
    assert chosen["plans"] == waiting["plans"]
    assert chosen["chosen"] == 2
    assert passage["plan"] == chosen["plan"] == waiting["plans"][2]


def test_a_plan_chosen_before_a_fault_is_written_at_the_next_start(cli, story, server):
    server.script = ["401"]
    failed = cli("write", story, "-i", stdin="She burns the bridge.\n")
    assert failed.code == 1
    assert f"Continue: recurrentgpt write {story} -i" in failed.err
    server.script = ["ok"]
    result = cli("write", story, "-i", stdin="q\n")
    assert result.code == 0
    assert json.loads(cli("show", story, "--json").out)["passages"][-1]["plan"] == "She burns the bridge."


def test_a_story_is_changed_from_within(cli, story, server):
    """Undo and redo, take up another take, change note and settings, name the branch, edit the passage."""
    answers = [
        "u", "y",  # back, and again
        "a", "k", "1", "k 9",  # another take, and the first one again
        "n The dog must live.", "o pace=slow max-words=300", "o", "min-words=250", "o paice=slow", "o max-words=1",
        "b the dark ending", "p", "She closes the door for good.", "u", "y", "m", "+ It rains.", "", "u", "y", "q",
    ]  # fmt: skip
    first = json.loads(cli("show", story, "--json").out)["passages"]
    result = cli("write", story, "-i", stdin="\n".join(answers) + "\n")
    assert result.code == 0, result.err
    told = " ".join(result.err.split())
    assert told.index("Undone: passage 2.") < told.index("Done again: passage 2.")
    assert told.index("Undone: the edit of passage 2.") < told.index("Done again: the edit of passage 2.")
    assert "Undone: the change of the memory after passage 2." in told
    assert "The takes are numbered 1 to 2" in told
    assert "max-words is 300 from the next passage on." in told
    assert "did you mean pace?" in told
    assert "max_words" not in told
    assert "Passage 2 is edited." in told
    settings = json.loads(cli("show", story, "--settings", "--json").out)["settings"]
    assert (settings["note"], settings["pace"], settings["max_words"]) == ("The dog must live.", "slow", 300)
    assert settings["min_words"] == 250
    saved = json.loads(cli("show", story, "--json").out)["passages"]
    assert saved[0]["text"] == first[0]["text"]
    assert (saved[1]["text"], saved[1]["plan"]) == ("She closes the door for good.", first[1]["plan"])
    tree = json.loads(cli("tree", story, "--json").out)
    assert tree["names"] == {"the dark ending": saved[1]["id"]}
    assert len(tree["passages"]) == 6, "the opening, the first passage, its two takes, the edited one, another memory"
    assert cli("write", story, "-i", stdin="1\nq\n").code == 0
    assert "The dog must live." in _first_write(
        server, json.loads(cli("show", story, "--json").out)["passages"][2]["plan"]
    )


def test_a_story_that_shall_end_keeps_its_length_from_the_first_passage_on(cli, server):
    result = cli("write", "-i", "--title", "Ends", "--ending", "--steps", "4", stdin="1\nq\n")
    assert result.code == 0, result.err
    assert json.loads(cli("show", "ends", "--settings", "--json").out)["settings"]["length"] == 4
    assert "--steps=2" in result.err.rpartition("Continue: ")[2]
    result = cli("write", "ends", "-i", "--ending", "--steps", "4", stdin="q\n")
    assert result.code == 0, result.err
    assert json.loads(cli("show", "ends", "--settings", "--json").out)["settings"]["length"] == 6


@pytest.mark.parametrize(
    ("command", "answer"), [(["write", "-i"], "1"), (["play"], "I wait."), (["write", "-i", "--json"], "w She leaves.")]
)
def test_an_answer_to_plans_that_another_terminal_has_left_behind_is_not_taken(
    cli, server, monkeypatch, command, answer
):
    command_line = ["play", "--genre", "mystery", "--title", "Elsewhere", "--auto", "2"]
    assert cli(*command_line).code == 0
    if command[0] == "write":
        assert cli("set", "elsewhere", "mode=novel").code == 0
    asked = []

    def elsewhere(renderer):
        asked.append(renderer.story.head)
        if len(asked) == 1:
            Story.open("elsewhere").undo()

    monkeypatch.setattr("recurrentgpt.cli.terminal.renderer.Renderer.write_ahead", elsewhere)
    result = cli(command[0], "elsewhere", *command[1:], stdin=f"{answer}\n/quit\n")
    assert result.code == 0, result.err
    assert "stands after passage 1 now, so the answer was not taken" in result.err
    shown = json.loads(cli("show", "elsewhere", "--json").out)["passages"]
    assert [passage["step"] for passage in shown] == [1]
    if "--json" in command:
        offered = [event for event in result.events if event["event"] == "plans"]
        assert [event["step"] for event in offered] == [2, 1]
        assert offered[1]["plans"] == shown[0]["plans"]


def test_leaving_needs_no_plans(cli, story, monkeypatch):
    monkeypatch.setattr(
        "recurrentgpt.cli.terminal.renderer.Renderer.write_ahead", lambda _: Story.open("The Glass Bridge").undo()
    )
    result = cli("write", story, "-i", stdin="q\n")
    assert result.code == 0, result.err
    assert "elsewhere" not in result.err


def test_a_memory_is_edited_where_it_was_shown(cli, story, monkeypatch):
    def read(question):
        if question.startswith("Memory") and not moved:
            moved.append(Story.open(story).step())
        return ask(question)

    moved, ask = [], prompt.ask
    monkeypatch.setattr(prompt, "ask", lambda question, *_, **__: read(question))
    assert cli("write", story, "-i", stdin="m\n+ It rains.\n\nq\n").code == 0
    here = Story.open(story).passage()
    assert (here.step, here.short_term_memory.splitlines()[-1]) == (2, "It rains.")
    assert moved[0].step == 3
    assert "It rains." not in moved[0].short_term_memory


def test_a_turn_at_the_terminal_is_in_the_language_of_the_premise(cli, server):
    told = "Schreib mir eine Geschichte über einen Leuchtturmwärter, der nachts die Schiffe zählt."
    assert cli("write", "-i", "--title", "Nacht", "--premise", told, stdin="1\nq\n").code == 0
    systems = [body["messages"][0]["content"] for body in server.requests]
    assert any("written in German" in prompt for prompt in systems)
    assert not any("written in English" in prompt for prompt in systems)
