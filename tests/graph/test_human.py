"""The human's turn: every kind of answer, answers that cannot be used, and where the chosen words arrive."""

import re

import pytest
from langgraph.types import Command

from recurrentgpt.nodes.human.answers import parse_answer
from recurrentgpt.schema.choice import ACTIONS
from recurrentgpt.schema.errors import BadAnswer, RecurrentGPTError

PLAN = "Zephyrine swims beneath the quicksilver aqueduct and returns with one glove."


@pytest.fixture(scope="module")
def begun():
    """Keep a player who was asked what shall happen after passage 1, once there is one."""
    return []


@pytest.fixture
async def asked(in_memory, model, begun):
    """Give a player who was just asked what shall happen after passage 1: the passage is written once for all tests."""
    if not begun:
        it = in_memory()
        it.first = await it.begin()
        begun.append(it)
        model.calls.clear()
    it = in_memory(like=begun[0])
    it.first = begun[0].first
    return it


@pytest.mark.parametrize(
    "answer",
    [
        3,
        "3",
        " +3 ",
        "3.",
        "Plan 3",
        "#3",
        "3)",
        "option 3",
        "third",
        "3rd",
        "The third one, please.",
        "plan three",
        '{"number": 3}',
        [{"type": "response", "args": "number 3"}],
        {"number": 3},
        {"number": "3"},
        {"number": 3.0},
        {"action": "choose", "number": 3},
    ],
)
async def test_a_number_chooses_that_plan(asked, write_prompts, answer):
    await asked.answer(answer)
    state = await asked.state()
    assert state["plan"] == asked.first["candidate_plans"][2]
    assert (state["plan_author"], state["choice"]["index"]) == ("model", 2)
    assert asked.first["candidate_plans"][2] in write_prompts()[0]


@pytest.mark.parametrize(
    ("answer", "index"),
    [(PLAN, None), ({"plan": PLAN}, None), ({"action": "write", "plan": PLAN}, None), ({"number": 2, "plan": PLAN}, 1),
     ({"action": "edit", "number": 2, "plan": PLAN}, 1)],
)  # fmt: skip
@pytest.mark.parametrize("tier", ["small", "full"])
async def test_own_words_reach_the_next_passage_word_for_word(in_memory, model, write_prompts, tier, answer, index):
    model.tier = tier
    it = in_memory()
    await it.begin()
    before = len(model.calls)
    question = await it.answer(answer)
    assert question["step"] == 2
    assert PLAN in write_prompts(before)[0]
    state = await it.state()
    assert (state["plan"], state["plan_author"], state["choice"]["index"]) == (PLAN, "human", index)
    head = await it.log.get(state["story"], state["head"])
    assert (head["plan"], head["plan_author"]) == (PLAN, "human")


async def test_another_take_writes_the_same_plan_again_beside_the_first(asked):
    before = await asked.state()
    question = await asked.answer({"action": "another_take"})
    after = await asked.state()
    links = await asked.links()
    assert question["step"] == 1
    assert after["plan"] == before["plan"]
    assert links[after["head"]]["parent"] == links[before["head"]]["parent"]
    assert before["head"] in links


async def test_every_take_is_sampled_with_another_seed(asked, model):
    async def seeds(answer):
        beginning = len(model.options)
        await asked.answer(answer)
        return {options["seed"] for options in model.options[beginning:]}

    model.options.clear()
    first, second = await seeds({"action": "another_take"}), await seeds({"action": "another_take"})
    assert first.isdisjoint(second)
    third, fourth = await seeds({"action": "new_plans"}), await seeds({"action": "new_plans"})
    assert third.isdisjoint(fourth)


async def test_another_take_does_not_lengthen_the_run(in_memory):
    it = in_memory(steps=3)
    await it.begin()
    assert (await it.answer(1))["step"] == 2
    assert (await it.answer({"action": "another_take"}))["step"] == 2
    result = await it.answer(1)
    assert (result["step"], "question" in result) == (3, False)


async def test_new_plans_keep_the_passage_and_the_old_plans(asked, model):
    before = await asked.state()
    model.replies = lambda messages: '{"plans": ["Ada runs.", "Bo hides a spoon.", "Cy sings at dawn."]}'
    question = await asked.answer({"action": "new_plans"})
    assert question["candidate_plans"] == ["Ada runs.", "Bo hides a spoon.", "Cy sings at dawn."]
    assert question["passage"] == before["passage"]
    after = await asked.state()
    old, new = await asked.log.get_many(after["story"], [before["head"], after["head"]])
    assert new["amends"] == old["id"]
    assert old["candidate_plans"] == asked.first["candidate_plans"]
    assert new["candidate_plans"] == question["candidate_plans"]
    assert len(model.calls) == 1, "the passage and the memory stay as they are"


@pytest.mark.parametrize("passages", [1, 2])
async def test_the_simulator_drives_for_as_many_passages_as_it_is_handed(asked, passages):
    question = await asked.answer({"action": "simulator", "passages": passages})
    assert question["step"] == 1 + passages
    assert "question" in question
    assert (await asked.state())["choice"]["by"] == "simulator"


async def test_the_simulator_drives_to_the_end_of_the_run(in_memory):
    it = in_memory(steps=4)
    await it.begin()
    result = await it.answer({"action": "simulator", "passages": 0})
    assert (result["step"], "question" in result) == (4, False)


async def test_end_ends_and_the_story_can_still_be_reopened(asked):
    result = await asked.answer({"action": "end"})
    assert (result["status"], result["step"]) == ("finished", 1)
    assert (await asked.graph.aget_state(asked.config)).next == ()
    head = await asked.log.head(result["story"])
    assert head["status"] == "finished"
    again = asked.question(await asked.run({"story": result["story"]}))
    assert again["candidate_plans"] == asked.first["candidate_plans"]


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize(
    "answer",
    [{"number": 1}, {"plan": PLAN}, {"action": "simulator"}],
    ids=["choose", "write", "simulator"],
)
async def test_an_edited_memory_reaches_the_next_passage_and_the_log(in_memory, model, write_prompts, tier, answer):
    model.tier = tier
    it = in_memory()
    await it.begin()
    before = await it.state()
    calls = len(model.calls)
    await it.answer({**answer, "short_term_memory": "Zoltan owes Mira a horse.\nThe lamp is blue. Nobody knows."})
    edited = "Zoltan owes Mira a horse.\nThe lamp is blue.\nNobody knows."
    prompt = write_prompts(calls)[0]
    assert all(line in prompt for line in edited.splitlines())
    assert before["short_term_memory"].splitlines()[0] not in prompt.partition("From further back:")[0]
    state = await it.state()
    new = await it.log.get(state["story"], state["head"])
    amended = await it.log.get(state["story"], new["parent"])
    assert (amended["amends"], amended["short_term_memory"]) == (before["head"], edited)
    old = await it.log.get(state["story"], before["head"])
    assert old["short_term_memory"] == before["short_term_memory"]
    assert amended["parent"] == old["parent"]


@pytest.mark.parametrize("action", ["new_plans", "end"])
async def test_an_edited_memory_is_in_the_log_whatever_the_action(asked, model, action):
    before = await asked.state()
    await asked.answer({"action": action, "short_term_memory": "Zoltan owes Mira a horse."})
    state = await asked.state()
    amended = await asked.log.get(state["story"], state["head"])
    assert amended["short_term_memory"] == "Zoltan owes Mira a horse."
    assert amended["amends"] == before["head"]
    assert (await asked.log.head(state["story"]))["head"] == amended["id"]


BAD = [
    (0, "from 1 to 3"), (4, "from 1 to 3"), (-1, "from 1 to 3"), ("9", "from 1 to 3"), ("", "some words"), ("   ", "some words"),
    (True, "number from 1"), (2.5, "it is 2.5"), ([1], "this is [1]"), ({"number": "4"}, "from 1 to 3"),
    ({"number": "many"}, "from 1 to 3"), ({"number": [2]}, "from 1 to 3"), ({"plan": {"a": 1}}, "A plan is text"),
    ({"plan": ["x", "y"]}, "A plan is text"),
    ({"short_term_memory": "Mira is tired."}, "With the memory goes a choice"),
    ({"action": "simulator", "passages": 2**62}, "0 to 1000"),
    ({"action": "dance"}, "no action 'dance'"), ({"action": "edit", "number": 1}, "some words"),
    ({"action": "choose"}, "from 1 to 3"), ({"action": "simulator", "passages": -2}, "whole number"),
    ({"number": 1, "short_term_memory": "Mira runs. " * 21}, "20 sentences"),
    ({"number": 1, "short_term_memory": "word " * 501}, "500 words"), ({"number": 1, "short_term_memory": 7}, "text"),
    ("word " * 401, "400 words"), ("A plan with a bell \x07 in it.", "control character"),
    ("A plan with half a letter \ud800 in it.", "control character"),
    ({"number": 1, "short_term_memory": "A nought \x00 here."}, "control character"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reason"), BAD)
async def test_a_bad_answer_is_asked_again_with_the_reason(asked, answer, reason):
    again = await asked.answer(answer)
    assert reason in again["problem"]
    told = {"problem", "action_requests"}
    assert {name: again[name] for name in again if name not in told} == {
        name: asked.first[name] for name in asked.first if name not in told
    }
    assert reason in again["action_requests"][0]["description"]
    snapshot = await asked.graph.aget_state(asked.config)
    assert snapshot.next == ("select_plan",)
    assert not any(task.error for task in snapshot.tasks)


@pytest.mark.parametrize("answer", ["--5", "+-5", "9" * 5000])
async def test_what_only_looks_like_a_number_is_asked_again(asked, answer):
    assert "some words" in (await asked.answer(answer))["problem"]


EDITS = [
    ({"passage": 5}, "`passage`"), ({"candidate_plans": None}, "`candidate_plans`"), ({"step": "x"}, "`step`"),
    ({"short_term_memory": ["Mira."]}, "`short_term_memory`"), ({"brief": {"title": "A"}}, "`brief.genre`"),
    ({"short_term_memory": "Mira runs.\n" * 21}, "21 sentences"), ({"short_term_memory": "word " * 501}, "501 words"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "reason"), EDITS)
async def test_an_edit_that_cannot_be_used_is_a_sentence_and_can_be_put_right(asked, edit, reason):
    before = await asked.state()
    await asked.graph.aupdate_state(asked.config, edit, as_node="commit")
    with pytest.raises(RecurrentGPTError, match=reason):
        await asked.run(None)
    await asked.graph.aupdate_state(asked.config, {name: before[name] for name in edit}, as_node="commit")
    assert asked.question(await asked.run(None))["step"] == 1
    assert (await asked.answer(1))["step"] == 2


DOUBTFUL = [
    ("yes", "Did you mean plan 1?"), ("OK", "Did you mean plan 1?"), ("ok.", "plan 1"), ("maybe 2", "Did you mean plan 2?"),
    ("2?", "Did you mean plan 2?"), ("continue", "Did you mean plan 1?"), ("Go on.", "plan 1"), ("next", "plan 1"),
    ("please continue", "plan 1"), ("proceed", "plan 1"), ("keep going", "plan 1"), ("Sounds good!", "plan 1"),
    ("lgtm", "plan 1"), ("accept", "plan 1"), ("\U0001f44d", "plan 1"), ("yes, please", "plan 1"), ("reject", "`new plans`"),
    ("restart", "another story"), ("start over", "another story"), ("new story", "another story"),
    ("redo it", "`another take` or `new plans`"), ("go back", "not back"), ("undo 2", "not back"), ("goto 3", "not back"),
    ("retry 2", "`another take`"), ("help me choose", "number from 1 to 3"), ("What are my options?", "number from 1 to 3"),
    ("how do I answer?", "number from 1 to 3"), ("idk", "`simulator`"), ("I don\u2019t know", "`simulator`"),
    ("not sure", "`simulator`"), ("s", "`simulator`"), ("r", "`new plans`"), ("a", "`another take`"), ("m", "change the memory"),
    ("q", "`end`"), ("the middle one", "Did you mean plan 2?"), ("do the second", "Did you mean plan 2?"),
    ("not 2", "one of the other plans"), ("reject 2", "one of the other plans"), ("not the second", "one of the other plans"),
    ("anything but 2", "one of the other plans"), ("edit 2", "To change plan 2"), ("2 but with a dog", "To change plan 2"),
    ("second plan, but with a dog", "To change plan 2"),
    ("Option 2, but Mira dies on the way and the horse carries her home alone in the rain.", "To change plan 2"),
    ("lol", "number from 1 to 3"), ("\U0001f600", "some words"), ("[object Object]", "number from 1 to 3"),
    ("1. Bo hides a spoon.", "Did you mean plan 2?"), ("Plan 9: Bo hides a spoon.", "Did you mean plan 2?"),
    ("the last one", "Did you mean plan 3?"), ("I take two", "Did you mean plan 2?"),
    ("yeah", "plan 1"), ("nah", "`new plans`"), ("both", "One plan"), ("1 and 2", "One plan"), ("1.5", "One plan"),
    ("undo", "not back"), ("/undo", "not back"), ("null", "number from 1 to 3"),
    ("hi", "number from 1 to 3"), ("option b", "number from 1 to 3"), ("reroll", "`another take` or `new plans`"),
    ("stop please", "`end`"), ("whatever", "`simulator`"), ('{"choice": 2}', "this one has choice"),
    ("help", "number from 1 to 3"), ("?", "another take"), ("stop", "`end`"), ("quit", "`end`"),
    ("no", "`new plans`"), ('{"number": 2', "JSON"), ("#4", "from 1 to 3"), ("fourth", "from 1 to 3"),
    ('{"number": 7}', "from 1 to 3"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "asked_back"), DOUBTFUL)
def test_what_is_no_sentence_is_asked_back(answer, asked_back):
    with pytest.raises(BadAnswer, match=re.escape(asked_back)):
        parse_answer(answer, ["Ada runs.", "Bo hides a spoon.", "Cy sings."])


@pytest.mark.parametrize(
    "answer",
    [
        "(2)", "[2]", '"2"', "**2**", "2:", "２", "no. 2", "go with 2", "I choose 2", "I pick option 2", "please 2",
        "I'd like the second plan", "let's go with the second option", '```json\n{"number": 2}\n```', "Bo hides a spoon.",
        "2. Bo hides a spoon.", "2) bo hides a spoon", "Plan 2: Bo hides a spoon.", "Option 2 \u2014 bo hides a spoon", "ok 2",
        "okay second", "2 is best", "2 sounds good", "I think 2 is best", "My answer is 2", "accept plan 2", "answer: 2",
    ],
)  # fmt: skip
def test_a_plan_is_chosen_as_people_say_it(answer):
    chosen = parse_answer(answer, ["Ada runs.", "Bo hides a spoon.", "Cy sings."])
    assert (chosen.action, chosen.index) == ("choose", 1)


@pytest.mark.parametrize(
    ("words", "action"),
    [("more plans", "new_plans"), ("you choose", "simulator"), ("End the story.", "end"), ("/retry", "another_take"),
     ("show me other options", "new_plans"), ("Give me new plans!", "new_plans"), ("can you retry?", "another_take"),
     ("dealer's choice", "simulator")],
)  # fmt: skip
def test_an_action_is_asked_for_in_words(words, action):
    assert parse_answer(words, ["Ada runs."]).action == action


@pytest.mark.parametrize(
    "marked", ["2. Bo hides two spoons.", "Plan 2: Bo hides two spoons.", "option 2 - Bo hides two spoons."]
)
def test_a_plan_of_ones_own_loses_the_number_that_was_copied_with_it(marked):
    assert parse_answer(marked, ["Ada runs.", "Bo hides a spoon."]).plan == "Bo hides two spoons."


@pytest.mark.parametrize("words", ["retry", "again", "another take"])
def test_a_retry_is_another_take(words):
    assert parse_answer(words, ["Ada runs."]).action == "another_take"


@pytest.mark.parametrize(
    "sentence",
    [
        "Go on to the mill.",
        "Continue the search for Mira in the cellar.",
        "Nobody is sure of the second key.",
        "Next, Mira opens the gate.",
        "Not one of them answers.",
        "Not one.",
        "One is right.",
        "Number 2, but nobody else, hears the bell.",
        "The second one, but not the first, opens.",
        "Perfect silence fell.",
        "Mira is not sure.",
        "Accept the offer.",
        "Start over in another town.",
        "Plan 9 fails.",
        "Plan the second robbery.",
        "Go back to the inn.",
        "Show me the way out, said Bo.",
        "Anything but rain would do.",
        "Whatever you like best is yours, said Ada.",
        "2 soldiers enter the house.",
        "Second thoughts plague Mira.",
        "north",
        "Stop the clock before noon.",
        "No one answers.",
        "take the lamp",
        "I want more",
        "继续",
    ],
)
def test_a_sentence_is_a_plan(sentence):
    answer = parse_answer(sentence, ["Ada runs.", "Bo hides a spoon."])
    assert (answer.action, answer.plan) == ("write", sentence)


PLANS = ["Ada runs.", "Bo hides a spoon.", "Cy sings."]
FORMS = [
    ({"action": "choose", "plan": "Mira swims."}, "write", None, "Mira swims."),
    ({"action": "choose", "number": 2, "plan": "Bo hides a spoon."}, "choose", 1, "Bo hides a spoon."),
    ({"action": "choose", "plan": "Bo hides a spoon."}, "choose", 1, "Bo hides a spoon."),
    ({"action": "edit", "number": 2, "plan": "2. Bo hides two spoons."}, "edit", 1, "Bo hides two spoons."),
    ({"action": "write", "number": 1, "plan": "Mira swims."}, "write", None, "Mira swims."),
    ({"plan": "2"}, "choose", 1, "Bo hides a spoon."), ({"plan": "option 2"}, "choose", 1, "Bo hides a spoon."),
    ({"action": "write", "plan": "2"}, "choose", 1, "Bo hides a spoon."),
    ({"number": 2, "plan": "second"}, "choose", 1, "Bo hides a spoon."),
    ({"action": "another take"}, "another_take", None, ""), ({"action": "Retry"}, "another_take", None, ""),
    ({"plan": "another take"}, "another_take", None, ""), ({"action": "new plans"}, "new_plans", None, ""),
    ([{"type": "edit", "args": {"args": {"number": 1, "plan": "2"}}}], "choose", 1, "Bo hides a spoon."),
    ([{"type": "edit", "args": {"args": {"number": 1, "plan": "end"}}}], "end", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("form", "action", "index", "plan"), FORMS)
def test_a_form_means_what_was_typed_into_it(form, action, index, plan):
    answer = parse_answer(form, PLANS)
    assert (answer.action, answer.index, answer.plan) == (action, index, plan)


def test_passages_and_memory_stay_beside_an_action_that_was_typed_as_a_plan():
    answer = parse_answer({"plan": "simulator", "passages": 4, "short_term_memory": "Ada is tired."}, PLANS)
    assert (answer.action, answer.passages, answer.memory) == ("simulator", 4, "Ada is tired.")


CONTRADICTIONS = [
    ({"action": "choose", "number": 1, "plan": "Mira swims."}, "plan 1 as it is, or the plan that you wrote?"),
    ({"action": "choose", "number": 1, "plan": "Bo hides a spoon."}, "plan 1, or plan 2?"),
    ({"action": "edit", "number": 3, "plan": "2"}, "plan 3, or plan 2?"),
    ({"number": 1, "plan": "another take"}, "plan 1, or `another take`?"),
    ({"action": "new_plans", "plan": "Mira swims."}, "`new plans`, or the plan that you wrote?"),
    ({"action": "write", "plan": "stop"}, "end the story?"), ({"plan": "help"}, "number from 1 to 3"),
    ({"plan": '{"number": 2}'}, "JSON"), ({"action": "choose"}, "none was given"),
    ([{"type": "edit", "args": {"args": {"number": 1, "plan": "help"}}}], "number from 1 to 3"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "asked_back"), CONTRADICTIONS)
def test_a_form_that_says_two_things_is_asked_back(form, asked_back):
    with pytest.raises(BadAnswer, match=re.escape(asked_back)):
        parse_answer(form, PLANS)


@pytest.mark.parametrize("act", ["stop", "no", "again", "hello", "Go back"])
def test_what_a_player_does_is_written_as_it_was_typed(act):
    answer = parse_answer({"action": "write", "plan": act}, PLANS, played=True)
    assert (answer.action, answer.plan) == ("write", act)
    assert parse_answer({"action": "write", "plan": "option 2"}, PLANS, played=True).index == 1
    assert parse_answer({"action": "write", "plan": "new plans"}, PLANS, played=True).action == "new_plans"


@pytest.mark.parametrize("act", ["Go back", "Go on.", "Keep going", "Sit down", "Run", "Accept"])
def test_an_order_is_what_a_player_does(act):
    answer = parse_answer(act, PLANS, played=True)
    assert (answer.action, answer.plan) == ("write", act)
    with pytest.raises(BadAnswer, match="plan 1"):
        parse_answer("next", PLANS, played=True)


async def test_a_player_is_understood_as_one(in_memory):
    it = in_memory(mode="fiction")
    await it.begin(player="a thief")
    assert (await it.answer("Go back"))["step"] == 2
    assert (await it.state())["plan"] == "Go back"


@pytest.mark.parametrize("said", ["a thief", "I am a thief.", "I'm a thief", "You are a thief."])
async def test_whoever_says_who_they_are_is_that(in_memory, said):
    it = in_memory(mode="fiction")
    await it.begin(player=said)
    assert (await it.state())["written_plan"].startswith("You are a thief. ")


LINES, PARAGRAPH = "Mira goes.\r\nBo\tstays.\n\n They meet.\n", "Mira goes. Bo stays. They meet."


@pytest.mark.parametrize("answer", [LINES, {"plan": LINES}, {"number": 1, "plan": LINES}])
def test_a_plan_of_several_lines_is_one_paragraph(answer):
    assert parse_answer(answer, ["Ada runs."]).plan == PARAGRAPH


async def test_a_plan_in_the_input_is_one_paragraph(asked, in_memory):
    assert asked.question(await asked.run({"plan": LINES}))["step"] == 2
    assert (await asked.state())["written_plan"] == PARAGRAPH
    new = in_memory()
    await new.begin(plan=LINES)
    assert (await new.state())["written_plan"] == PARAGRAPH


async def test_without_plans_one_can_still_be_written(asked):
    await asked.graph.aupdate_state(asked.config, {"candidate_plans": []}, as_node="commit")
    assert asked.question(await asked.run(None))["candidate_plans"] == []
    assert "no plans to choose from" in (await asked.answer(1))["problem"]
    assert (await asked.answer(PLAN))["step"] == 2


async def test_bad_answers_do_not_pile_up(asked):
    await asked.answer(99)
    again = await asked.answer("")
    assert "some words" in again["problem"]
    assert (await asked.answer(1))["step"] == 2


async def test_another_take_of_an_opening_is_a_bad_answer(asked):
    path = await asked.log.path(asked.first["story"], (await asked.state())["head"])
    at_opening = asked.question(await asked.run({"story": asked.first["story"], "head": path[0]}))
    assert at_opening["step"] == 0
    again = await asked.answer({"action": "another_take"})
    assert "no passage" in again["problem"]
    assert (await asked.answer(2))["step"] == 1


async def test_the_interrupt_carries_the_schema_of_its_answer(asked):
    (interrupt,) = (await asked.graph.aget_state(asked.config)).interrupts
    assert interrupt.response_schema["properties"]["action"]["enum"] == list(ACTIONS)
    assert interrupt.response_schema["properties"]["number"]["maximum"] == 3


async def test_an_update_without_as_node_leaves_the_simulator_at_the_choice(player):
    """update_state() knows no context, and goes by what the last run said."""
    one = player(selector="simulator", steps=3)
    await one.run({"premise": "Mira tends a lamp."}, interrupt_after=["commit"])
    await one.run(None, interrupt_after=["commit"])
    await one.graph.aupdate_state(one.config, {"short_term_memory": "Zelda owns the blue key."})
    assert (await one.graph.aget_state(one.config)).next == ("simulator",)
    result = await one.run(None)
    assert "__interrupt__" not in result
    assert result["step"] == 3


async def test_an_answer_counts_also_where_the_simulator_is_to_choose(player):
    one = player()
    await one.begin()
    one.context.selector, one.context.last_step = "simulator", 2
    result = await one.answer("She burns the letter.")
    assert (result["step"], result["plan"]) == (2, "She burns the letter.")


SUBMITS = [
    ({}, "This story has begun, and waits for a choice."),
    ({"genre": "fantasy", "premise": "Mira tends a lamp."}, "This story has begun, and waits for a choice."),
    ({"genre": None, "premise": "", "story": "", "head": ""}, "This story has begun, and waits for a choice."),
    ({"premise": "A clerk finds his own name."}, "another premise in an input begins another story, in a thread of its own"),
    ({"genre": "crime", "title": "The Clerk"}, "another title or genre in an input"),
    ({"title": "The Clerk"}, "To change this story, edit the state."),
    ({"player": "a reluctant clerk"}, "another player in an input"),
    ({"short_term_memory": "Zoltan owes Mira a horse."}, "another short term memory in an input"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "told"), SUBMITS)
async def test_a_second_submit_is_told_what_can_be_done(asked, sent, told):
    before = await asked.state()
    again = asked.question(await asked.run(sent))
    assert told in again["problem"]
    assert "Answer with a number from 1 to 3" in again["problem"]
    same = ("story", "title", "genre", "premise", "brief", "head", "step", "short_term_memory", "candidate_plans")
    assert {name: (await asked.state())[name] for name in same} == {name: before[name] for name in same}
    assert (await asked.answer(1)).get("problem") is None
    assert (await asked.state())["step"] == 2


async def test_a_submit_after_the_end_is_told_that_the_story_is_open_again(asked):
    await asked.answer("end")
    again = asked.question(await asked.run({}))
    assert again["problem"].startswith("This story had ended, and is open again. Answer with a number")
    assert (await asked.answer(1))["step"] == 2


async def test_a_story_that_is_opened_by_its_id_is_asked_without_a_word(asked):
    assert asked.question(await asked.run({"story": asked.first["story"]})).get("problem") is None


async def test_a_plan_is_written_and_what_is_of_no_use_beside_it_is_told(asked):
    again = asked.question(await asked.run({"plan": PLAN, "title": "The Clerk"}))
    assert (again["step"], (await asked.state())["written_plan"]) == (2, PLAN)
    assert "another title in an input" in again["problem"]


async def test_a_story_to_play_asks_who_plays_and_then_what_they_do(in_memory):
    it = in_memory(mode="fiction")
    begun = it.question(await it.run({"premise": "A lighthouse that must stay dark."}))
    assert begun["question"].startswith("Who are you?")
    assert (await it.answer("Somebody who sells oil to the keepers."))["question"].startswith("What do you do?")


@pytest.mark.parametrize("yes", ["yes", "Yes, please."])
async def test_yes_to_the_plan_that_was_asked_about_chooses_it(asked, yes):
    assert "Did you mean plan 3?" in (await asked.answer("the last one"))["problem"]
    assert (await asked.answer(yes))["step"] == 2
    assert (await asked.state())["written_plan"] == asked.first["candidate_plans"][2]


async def test_yes_in_a_chat_is_the_plan_that_was_asked_about(asked):
    await asked.run({"messages": [{"role": "user", "content": "how about 2"}]})
    assert "Did you mean plan 2?" in (await asked.state())["messages"][-1].text
    await asked.run({"messages": [{"role": "user", "content": "yes"}]})
    assert (await asked.state())["written_plan"] == asked.first["candidate_plans"][1]


@pytest.mark.parametrize("opening", ["hi", "Hello! Who are you?", "2"])
async def test_a_chat_begins_no_story_from_what_tells_nothing_of_one(in_memory, opening):
    it = in_memory()
    result = await it.run({"messages": [{"role": "user", "content": opening}]})
    assert result["messages"][-1].text.startswith("Nothing was written")
    assert "__interrupt__" not in result
    begun = it.question(await it.run({"messages": [{"role": "user", "content": "A lighthouse that must stay dark."}]}))
    assert (begun["step"], (await it.state())["premise"]) == (1, "A lighthouse that must stay dark.")
    assert not (await it.state())["problem"]


@pytest.mark.parametrize(
    "words", ["yes", "No.", "Hello!", "Thank you very much!", "I don't know", "/roll d20", "Why?", "Good morning!"]
)
async def test_a_player_may_say_it(words):
    answer = parse_answer(words, PLANS, played=True)
    assert (answer.action, answer.plan) == ("write", words)


@pytest.mark.parametrize("words", ["help", "?", "stop", "quit", "undo", "restart", "commands", "what are my options?"])
def test_what_a_player_says_to_the_program_is_asked_back(words):
    with pytest.raises(BadAnswer):
        parse_answer(words, PLANS, played=True)


async def test_yes_is_nobody_to_play(in_memory):
    it = in_memory(mode="fiction")
    await it.run({"premise": "A lighthouse that must stay dark."})
    assert "Did you mean plan 1?" in (await it.answer("yes"))["problem"]
    assert (await it.answer("yes"))["step"] == 1


@pytest.mark.parametrize("first", ["resume", "chat"])
async def test_a_message_that_comes_while_an_answer_is_written_is_told_to_be_of_no_use(in_memory, first):
    it, late = in_memory(), "Anna leaves the ship at dawn."
    plan = (await it.begin())["candidate_plans"][0]
    answer = Command(resume=1) if first == "resume" else {"messages": [("user", "1")]}
    # As a server's multitask_strategy="interrupt" leaves the thread.
    await it.run(answer, interrupt_before=["retrieve"])
    asked = it.question(await it.run({"messages": [("user", late)]}))
    assert (asked["step"], it.result["plan"]) == (2, plan)
    assert asked["problem"].startswith("This message was not used, for it came when passage 2 was being written")
    assert late in asked["problem"]
    assert [message.type for message in it.result["messages"]] == ["human", "ai"]
    assert it.result["messages"][0].text == plan
    assert "problem" not in it.question(await it.run({"messages": [("user", late)]}))
    assert (it.result["step"], it.result["plan"]) == (3, late)


@pytest.mark.parametrize("given", [{}, {"messages": [("user", "1")]}])
async def test_an_answer_that_is_sent_again_while_it_is_written_is_no_other(in_memory, given):
    it = in_memory()
    await it.begin()
    await it.run({"messages": [("user", "1")]}, interrupt_before=["retrieve"])
    assert "problem" not in it.question(await it.run(given))
    assert (it.result["step"], it.result["messages"][0].text) == (2, "1")
