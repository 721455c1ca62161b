"""Answers in the words of agent-chat-ui and Agent Inbox, and a chat that only sends messages."""

import json

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langgraph.checkpoint.base.id import uuid6

from recurrentgpt.nodes.human.answers import parse_answer
from recurrentgpt.schema.errors import BadAnswer, SettingsError
from recurrentgpt.schema.messages import LONGEST_MESSAGE, latest_exchange

PLAN = "Zephyrine swims beneath the quicksilver aqueduct and returns with one glove."


@pytest.fixture
async def asked(in_memory):
    """Give a player who was just asked what shall happen after passage 1."""
    it = in_memory()
    it.first = await it.begin()
    return it


def edited(asked, **changes):
    """Return the arguments of the proposed action, some of them changed, as a form sends them."""
    return {**asked.first["action_requests"][0]["args"], **changes}


def inbox_reads(value):
    """Read a question as `normalizeInterrupt` of Agent Inbox's main branch does (f38301b, August 2026)."""
    request, decisions = value["action_requests"][0], value["review_configs"][0]["allowed_decisions"]
    return {
        "args": request.get("arguments", {}),
        "description": request.get("description"),
        "submits": [name for name in ("approve", "edit", "reject") if name in decisions],
    }


def chat_reads(value):
    """Read a question as `createDefaultHumanResponse` of agent-chat-ui does (254cd6f)."""
    request = value["action_requests"][0]
    review = next(it for it in value["review_configs"] if it["action_name"] == request["name"])
    decisions = review["allowed_decisions"]
    return {
        "args": dict(request["args"]),
        "description": request.get("description"),
        "submits": [name for name in ("approve", "edit", "reject") if name in decisions],
    }


@pytest.mark.parametrize("reads", [inbox_reads, chat_reads])
def test_the_question_is_readable_by_both_inboxes(asked, reads):
    form, plans = reads(asked.first), asked.first["candidate_plans"]
    memory = asked.first["short_term_memory"]
    assert form["args"] == {"number": 1, "plan": "", "short_term_memory": memory}
    assert form["submits"] == ["approve", "edit", "reject"]
    assert all(text in form["description"] for text in (asked.first["passage"], asked.first["question"], *plans))


def test_the_question_says_each_thing_once_and_again_only_where_an_inbox_reads_it(asked):
    told = json.dumps(asked.first)
    count = {name: told.count(json.dumps(asked.first[name])[1:-1]) for name in ("passage", "short_term_memory")}
    # Beside our own field: in the description that both show; in the form of each of both, where it can be edited.
    assert count == {"passage": 2, "short_term_memory": 3}
    assert [told.count(json.dumps(plan)[1:-1]) for plan in asked.first["candidate_plans"]] == [2, 2, 2]
    for reads in (inbox_reads, chat_reads):
        form = reads(asked.first)
        seen = form["description"] + "".join(map(str, form["args"].values()))
        texts = (asked.first["passage"], asked.first["short_term_memory"], *asked.first["candidate_plans"])
        assert [seen.count(text) for text in texts] == [1] * 5, "whoever reads one of them reads each thing once"


@pytest.mark.parametrize("number", [1, 3])
async def test_a_form_that_was_filled_in_with_the_first_plan_is_still_understood(asked, number):
    """As a question shows it that was asked before this version."""
    args = edited(asked, number=number, plan=asked.first["candidate_plans"][0])
    await asked.answer({"decisions": [{"type": "edit", "edited_action": {"name": "choose_plan", "args": args}}]})
    assert (await asked.state())["plan"] == asked.first["candidate_plans"][number - 1]


@pytest.mark.parametrize(
    "shape",
    [
        lambda words: [{"type": "response", "args": words}],
        lambda words: {"decisions": [{"type": "reject", "args": words}]},
        lambda words: {"decisions": [{"type": "reject", "message": words}]},
    ],
    ids=["agent inbox", "agent inbox, newer", "agent-chat-ui"],
)
async def test_a_number_in_the_field_for_words_chooses_that_plan(asked, shape):
    question = await asked.answer(shape("2"))
    assert (question["step"], (await asked.state())["plan"]) == (2, asked.first["candidate_plans"][1])


async def test_a_sentence_that_comes_with_a_rejection_is_the_plan(asked):
    question = await asked.answer({"decisions": [{"type": "reject", "message": PLAN}]})
    assert (question["step"], (await asked.state())["plan"]) == (2, PLAN)


@pytest.mark.parametrize(
    "shape",
    [
        lambda args: {"decisions": [{"type": "edit", "edited_action": {"name": "choose_plan", "args": args}}]},
        lambda args: [{"type": "edit", "args": {"action": "choose_plan", "args": args}}],
        lambda args: {"type": "edit", "args": {"action": "choose_plan", "arguments": args}},
    ],
    ids=["agent-chat-ui", "agent inbox", "bare"],
)
@pytest.mark.parametrize(
    ("changes", "plan", "index"),
    [({"number": 3}, 3, 2), ({"number": "2"}, 2, 1), ({}, 1, 0), ({"plan": PLAN}, PLAN, 0),
     ({"number": 2, "plan": PLAN}, PLAN, 1), ({"number": "", "plan": PLAN}, PLAN, None)],
)  # fmt: skip
async def test_an_edited_action_changes_what_was_changed(asked, shape, changes, plan, index):
    question = await asked.answer(shape(edited(asked, **changes)))
    assert question["step"] == 2, question.get("problem")
    state = await asked.state()
    assert state["plan"] == (plan if isinstance(plan, str) else asked.first["candidate_plans"][plan - 1])
    assert state["choice"]["index"] == index
    head = await asked.log.get(state["story"], state["head"])
    before = await asked.log.get(state["story"], head["parent"])
    assert not before["amends"], "the memory came back unchanged, so there is nothing to correct"


async def test_an_edited_action_can_edit_the_memory(asked, write_prompts, model):
    model.calls.clear()
    args = edited(asked, number=2, short_term_memory="Zoltan owes Mira a horse.")
    await asked.answer({"decisions": [{"type": "edit", "edited_action": {"name": "choose_plan", "args": args}}]})
    assert "Zoltan owes Mira a horse." in write_prompts()[0]


@pytest.mark.parametrize("words", ["", " \n"])
async def test_a_memory_that_is_emptied_in_the_form_is_empty(asked, words):
    before = await asked.state()
    args = {"number": 2, "plan": asked.first["candidate_plans"][0], "short_term_memory": words}
    await asked.answer({"decisions": [{"type": "edit", "edited_action": {"name": "choose_plan", "args": args}}]})
    state = await asked.state()
    assert (state["step"], state["previous_memory"]) == (before["step"] + 1, "")
    new = await asked.log.get(state["story"], state["head"])
    assert (await asked.log.get(state["story"], new["parent"]))["short_term_memory"] == ""
    # A form that begins empty says nothing of the memory.
    await asked.answer({"action": "choose", "number": 1, "plan": "", "short_term_memory": words})
    assert (await asked.state())["previous_memory"] == state["short_term_memory"] != ""


@pytest.mark.parametrize("answer", [{"decisions": [{"type": "approve"}]}, [{"type": "accept", "args": None}]])
async def test_approval_takes_the_first_plan(asked, answer):
    await asked.answer(answer)
    assert (await asked.state())["plan"] == asked.first["candidate_plans"][0]


@pytest.mark.parametrize(
    "answer",
    [{"decisions": [{"type": "respond", "message": PLAN}]}, [{"type": "response", "args": PLAN}]],
)
async def test_words_are_an_own_plan(asked, answer):
    await asked.answer(answer)
    assert (await asked.state())["plan"] == PLAN


@pytest.mark.parametrize(
    ("message", "action"),
    [
        ("another take", "another_take"),
        ("simulator", "simulator"),
        ("end", "end"),
        ("option 2", "choose"),
        ("Ada flees.", "write"),
        ("no", "new_plans"),
        ("I do not like any of these.", "new_plans"),
    ],
)
def test_what_is_said_with_a_rejection_means_what_it_says(message, action):
    answer = parse_answer({"decisions": [{"type": "reject", "message": message}]}, ["Ada runs.", "Bo hides a spoon."])
    assert answer.action == action


def test_a_rejection_that_says_yes_is_asked_back():
    with pytest.raises(BadAnswer, match="Did you mean plan 1"):
        parse_answer({"decisions": [{"type": "reject", "message": "yes"}]}, ["Ada runs.", "Bo hides a spoon."])


async def test_a_rejection_asks_for_other_plans_and_silence_is_for_the_simulator(asked):
    question = await asked.answer({"decisions": [{"type": "reject", "message": "dull"}]})
    assert (question["step"], question["passage"]) == (1, asked.first["passage"])
    assert question["candidate_plans"] != asked.first["candidate_plans"]
    question = await asked.answer([{"type": "ignore", "args": None}])
    assert question["step"] == 2
    assert (await asked.state())["choice"]["by"] == "simulator"


@pytest.mark.parametrize("words", ["another take", "Another_Take"])
async def test_actions_can_be_said(asked, words):
    question = await asked.answer(words)
    assert question["step"] == 1
    assert question["passage"] != asked.first["passage"]


BAD = [
    ({"decisions": []}, "one answer"), ({"decisions": [{"type": "approve"}] * 2}, "one answer"), ({"decisions": 5}, "list"),
    ({"decisions": ["approve"]}, "one answer"), ([{"type": "dance"}], "no decision 'dance'"), ([], "one answer"),
    ({"decisions": [{"type": "edit"}]}, "args"), ([{"type": "edit", "args": "x"}], "args"),
    ([{"type": "response", "args": {"a": 1}}], "text"), ({"decisions": [{"type": "respond", "message": " "}]}, "some words"),
    ({"decisions": [{"type": "edit", "edited_action": {"args": {"number": 9}}}]}, "from 1 to 3"),
    ({"type": ["edit"]}, "no decision"), ({"decisions": {"type": "approve"}}, "list"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reason"), BAD)
async def test_a_bad_decision_is_asked_again(asked, answer, reason):
    again = await asked.answer(answer)
    assert reason in again["problem"]
    assert again["problem"] in again["action_requests"][0]["description"]
    assert (await asked.answer(1))["step"] == 2


async def test_a_chat_starts_a_story_and_answers_with_messages_alone(in_memory):
    it = in_memory()
    question = it.question(await it.run({"messages": [HumanMessage("A lighthouse that must stay dark.")]}))
    state = await it.state()
    assert state["premise"] == "A lighthouse that must stay dark."
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert state["messages"][1].content.startswith(question["passage"])
    assert f"2. {question['candidate_plans'][1]}" in state["messages"][1].content
    await it.run({"messages": [{"type": "human", "content": "2"}]})
    state = await it.state()
    assert (state["step"], state["plan"]) == (2, question["candidate_plans"][1])
    await it.run({"messages": [{"role": "user", "content": [{"type": "text", "text": PLAN}]}]})
    state = await it.state()
    assert (state["step"], state["plan"], state["plan_author"]) == (3, PLAN, "human")
    assert state["messages"][0].content == PLAN
    assert len(state["messages"]) == 2


async def test_a_chat_is_told_why_its_answer_cannot_be_used(in_memory):
    it = in_memory()
    first = it.question(await it.run({"messages": "A lighthouse that must stay dark."}))
    again = it.question(await it.run({"messages": "9"}))
    assert "from 1 to 3" in again["problem"]
    assert again["candidate_plans"] == first["candidate_plans"]
    state = await it.state()
    assert "from 1 to 3" in state["messages"][-1].content
    question = it.question(await it.run({"messages": "1"}))
    assert (question["step"], question.get("problem")) == (2, None)


@pytest.mark.parametrize(
    ("words", "step", "status"),
    [
        ("another take", 1, "choosing"),
        ("new plans", 1, "choosing"),
        ("simulator", 2, "choosing"),
        ("end", 1, "finished"),
    ],
)
async def test_a_chat_can_ask_for_every_action(in_memory, words, step, status):
    it = in_memory()
    first = it.question(await it.run({"messages": "A lighthouse that must stay dark."}))
    await it.run({"messages": words})
    state = await it.state()
    assert (state["step"], state["status"]) == (step, status)
    assert (await it.log.head(state["story"]))["status"] == status
    changed = state["passage"] != first["passage"], state["candidate_plans"] != first["candidate_plans"]
    assert changed == {"another take": (True, True), "new plans": (False, True), "simulator": (True, True)}.get(
        words, (False, False)
    )


async def test_a_choice_by_number_is_told_as_the_plan_it_chose(asked):
    await asked.answer(2)
    said, told = (await asked.state())["messages"]
    assert (said.type, said.content) == ("human", asked.first["candidate_plans"][1])
    assert told.type == "ai"


async def test_a_chat_may_say_the_same_three_times(in_memory):
    it = in_memory()
    it.question(await it.run({"messages": "A lighthouse that must stay dark."}))
    for step in (2, 3, 4):
        await it.run({"messages": "Mira walks on."})
        state = await it.state()
        assert (state["step"], state["plan"], state["next_plan"]) == (step, "Mira walks on.", "")


async def test_hosts_read_the_passage_from_the_last_message(in_memory):
    """As deepagents does with what its subagents return, and agent-chat-ui with a thread."""
    it = in_memory(selector="simulator", steps=1)
    result = await it.run({"messages": [{"role": "user", "content": "A lighthouse that must stay dark."}]})
    assert isinstance(result["messages"][-1], AIMessage)
    assert result["messages"][-1].content == result["passage"]


async def test_messages_of_an_older_checkpoint_are_read(player):
    """They were dictionaries there."""
    it = player()
    await it.begin()
    old = [{"id": "a", "type": "human", "content": "A lamp."}, {"id": "b", "type": "ai", "content": "It burns."}]
    saver, saved = it.graph.checkpointer, await it.graph.checkpointer.aget_tuple(it.config)
    saved.checkpoint["channel_values"]["messages"] = old
    versions = {"messages": saver.get_next_version(saved.checkpoint["channel_versions"]["messages"], None)}
    saved.checkpoint["channel_versions"].update(versions)
    newer = {**saved.checkpoint, "id": str(uuid6(clock_seq=-2))}
    await saver.aput(saved.config, newer, saved.metadata, versions)
    assert (await it.answer(2))["step"] == 2
    said, told = (await it.state())["messages"]
    assert (said.type, told.type) == ("human", "ai")


def test_a_message_can_be_taken_back_and_replaced():
    kept = latest_exchange([], [HumanMessage("A lamp.", id="1"), AIMessage("It burns.", id="2")])
    assert latest_exchange(kept, [AIMessage("It went out.", id="2")])[1].content == "It went out."
    assert [message.id for message in latest_exchange(kept, [RemoveMessage("2")])] == ["1"]
    assert all(message.id for message in latest_exchange(kept, "And then?"))


@pytest.mark.parametrize(
    "wrong", [7, [{"content": "no type"}], [["a", "b", "c"]], [{"type": "teapot", "content": "x"}]]
)
def test_what_is_no_message_is_one_sentence(wrong):
    with pytest.raises(SettingsError, match="messages is text or a list"):
        latest_exchange([], wrong)


def test_an_exchange_stays_two_messages_of_bounded_length():
    kept = []
    for number in range(50):
        kept = latest_exchange(
            kept, [("human", "x" * 99_999), ("system", "obey"), ("tool" if number < 0 else "ai", str(number))]
        )
    assert [message.type for message in kept] == ["human", "ai"]
    assert len(kept[0].content) == LONGEST_MESSAGE


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_the_stream_of_messages_is_the_passage_and_nothing_else(in_memory, model, tier, way):
    model.tier = tier
    it, said = in_memory(selector="simulator", steps=2), {}
    given = {"premise": "Mira tends a lamp."}
    if way == "stream":
        chunks = list(it.graph.stream(given, it.config, context=it.context, stream_mode="messages"))
    else:
        chunks = [part async for part in it.graph.astream(given, it.config, context=it.context, stream_mode="messages")]
    for chunk, about in chunks:
        assert isinstance(chunk, AIMessageChunk)
        assert about["langgraph_node"] == "write"
        said.setdefault(chunk.id, []).append(chunk.text)
    state = await it.state()
    commits = await it.log.get_many(state["story"], (await it.log.path(state["story"], state["head"]))[1:])
    assert ["".join(parts) for parts in said.values()] == [commit["passage"] for commit in commits]
    assert all(len(parts) > 3 for parts in said.values()), "it comes sentence by sentence"
    assert state["messages"][-1].id == list(said)[-1], "a chat replaces what it streamed by what was told"
