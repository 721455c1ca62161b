"""What each call of a timestep is told: the shared prefix, invitations, the ending."""

import json
import re

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.nodes.routes import after_memory, after_write
from recurrentgpt.nodes.update_memory import MemoryChanges, clues_after
from recurrentgpt.testing import FaultyServer, story_replies


def reply(body):
    asked = [HumanMessage(str(message["content"])) for message in body["messages"]]
    if found := body.get("response_format"):
        asked.append(HumanMessage("JSON schema:\n" + json.dumps(found["json_schema"]["schema"])))
    return story_replies(asked)


async def test_every_later_call_of_a_timestep_begins_with_the_earlier_one(write):
    """Byte for byte, so that a server's prefix cache pays for the split."""
    with FaultyServer(text=reply) as server:
        await write(model="some-model", base_url=server.base_url, steps=3)
    said = [body["messages"] for body in server.requests]
    system, *_ = said[0]
    assert all(turns[0] == system for turns in said)
    writes = [at for at, body in enumerate(server.requests) if "response_format" not in body]
    assert len(writes) == 3
    for at in writes:
        asked = said[at]
        later = said[at + 1 : at + 4] if at != writes[-1] else said[at + 1 : at + 3]
        assert len(later) >= 2
        for turns in later:
            assert turns[: len(asked)] == asked
            assert turns[len(asked)]["role"] == "assistant"
    simulator, written = said[writes[1] - 1], said[writes[0] + 1][:-1]
    assert simulator[: len(written)] == written
    assert len(simulator) == len(written) + 1


async def test_the_choosing_request_shows_each_plan_once(write, model):
    commits = await write(steps=2)
    (choosing,) = [text for text in prompts_of(model) if "choose the plan" in text]
    assert [choosing.count(plan) for plan in commits[1]["candidate_plans"]] == [1, 1, 1]


def prompts_of(model):
    return ["\n".join(str(turn.text) for turn in call) for call in model.calls]


@pytest.mark.parametrize("mode", ["novel", "fiction"])
async def test_every_request_for_plans_says_that_they_differ_in_kind(write, model, mode):
    await write({"premise": "Mira tends a lamp.", "player": "Mira"}, steps=2, mode=mode)
    asking = [text for text in prompts_of(model) if "exactly 3 " in text]
    assert len([text for text in asking if "in kind" in text]) == len(asking) > 2


@pytest.mark.parametrize("mode", ["novel", "fiction"])
async def test_plans_of_the_last_passage_are_told_once_that_it_is_the_last(write, model, mode):
    await write({"premise": "Mira tends a lamp.", "player": "Mira"}, steps=2, ending=True, mode=mode)
    (asked,) = [
        found[1] for text in prompts_of(model) if (found := re.search(r"\nNow (?:propose|offer)(.*)", text, re.S))
    ]
    assert "number 2 of 2" in asked
    assert len(re.findall(r"\blast\b", asked)) == 1


async def test_founding_is_told_the_wanted_length(write, model):
    await write(steps=6, ending=True, min_words=120, max_words=240)
    assert "Its length: 6 passages of 120 to 240 words, and then it ends." in prompts_of(model)[0]
    assert "no more than 6 passages can tell" in prompts_of(model)[0]
    model.calls.clear()
    await write({"premise": "Bo tends an oven."}, steps=2)
    assert "as many as it takes" in prompts_of(model)[0], "a run that no ending was asked for is not the story's length"


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ((50, 120), "one or two sentences, 40 words at most"),
        ((200, 400), "two or three sentences, 70 words at most"),
        ((600, 900), "three to five sentences, 120 words at most"),
    ],
)
async def test_a_plan_is_as_long_as_fits_its_passage(write, model, words, length):
    await write(steps=1, min_words=words[0], max_words=words[1])
    assert f"{length} each: one scene, who does what in it" in prompts_of(model)[0]
    assert "the one to begin with comes first" in prompts_of(model)[0], "it is written without being chosen"
    (asked,) = [text for text in prompts_of(model) if "Now propose exactly 3 plans" in text]
    assert f"passage after the one you just wrote, {length} each" in asked
    assert "no two\nplans are of one kind" in asked


class Author:
    """Let the model found a story and say what each passage moves; everything else stays as the fixture has it."""

    def __init__(self, model, **moved):
        self.plain, self.moved = model.replies, moved
        self.memories = 0
        model.replies = self

    def __call__(self, messages):
        text = self.plain(messages)
        if not text.startswith("{"):
            return text
        reply = json.loads(text)
        if "outline" in reply:
            outline = ["The lamp goes out.", "Bo is asked.", "The oil is found.", "Mira leaves."]
            reply |= {
                "outline": outline,
                "truth": "Bo sold the oil.",
                "clues": ["Oil on Bo's cuff: passage 2", "A sold lamp: passage 3"],
                "voice": "Dry.",
            }
            reply["premise"] = "Mira, who tends a lamp, wants it lit."
        if "turns" in reply:
            self.memories += 1
            moved = self.moved.get(f"after_{self.memories}", {})
            reply["turns"] = [{"number": number, "now": now} for number, now in moved.items() if number != "clues"]
            reply["clues"] = moved.get("clues", [])
        return json.dumps(reply)


async def test_whoever_is_ahead_is_not_told_of_a_turn_that_is_behind_it(write, model):
    Author(model, after_1={1: "done", 2: "done"})
    await write(steps=2, length=4)
    asked = prompts_of(model)
    assert any("This is passage 1 of 4; told evenly, it would belong to turn 1.\n" in text for text in asked)
    assert any("This is passage 2 of 4.\n" in text for text in asked)
    assert any("The next passage is number 2 of 4; what is" in text for text in asked)


async def test_the_last_passage_has_all_turns_that_are_left(write, model):
    Author(model, after_1={1: "done"})
    await write(steps=2, length=2, ending=True)
    assert any(
        "This is passage 2 of 2; told evenly, it would belong to turn 4.\n" in text for text in prompts_of(model)
    )


async def test_the_place_and_the_turns_are_told_to_every_request(write, model):
    Author(model, after_1={1: "done", 2: "under way"}, after_2={2: "done", 3: "under way", 9: "done"})
    commits = await write(steps=4, ending=True)
    assert [commit.get("turns") for commit in commits] == [
        None,
        ["done", "under way", "to come", "to come"],
        ["done", "done", "under way", "to come"],
        ["done", "done", "under way", "to come"],
        ["done", "done", "done", "done"],
    ], "a novel that is told has its last turn behind it, and none under way"
    asked = prompts_of(model)
    writes = [text for text in asked if "JSON schema:" not in text]
    places = [
        f"This is passage {number} of 4; told evenly, it would belong to turn {number}.\n" for number in (1, 2, 3)
    ]
    assert f"{places[0]}Of the clues above" in writes[0]
    assert f"{places[2]}Of the turns above: 1 and 2 done; 3 under way; 4 to come." in writes[2]
    plans = [text for text in asked if "Now propose" in text]
    assert f"{places[1]}Of the turns above: 1 done; 2 under way; 3 and 4 to come." in plans[1]
    assert "The next passage is number 3 of 4" in plans[1]
    choosing = [
        text.rpartition("The plans for the next passage are:")[2] for text in asked if "choose the plan" in text
    ]
    assert "number 3 of 4" in choosing[1]
    assert "Of the turns: 1 and 2 done; 3 under way; 4 to come." in choosing[1]


def test_clues_that_nobody_has_counted_from_the_beginning_are_not_counted():
    before = {"step": 3, "previous_clues": [], "brief": {"clues": ["Oil", "A lamp"]}}
    assert clues_after(before, MemoryChanges(summary="Oil.", clues=[1])) == []
    assert clues_after({**before, "step": 1}, MemoryChanges(summary="Oil.", clues=[1])) == ["done", "to come"]


async def test_clues_are_ticked_off_and_the_others_have_still_to_be_planted(write, model):
    Author(model, after_1={"clues": [1, 9]}, after_2={"clues": []})
    commits = await write(steps=4, ending=True)
    assert [commit.get("clues") for commit in commits] == [None, *[["done", "to come"]] * 4]
    asked = prompts_of(model)
    writes = [text for text in asked if "JSON schema:" not in text]
    assert "\n1. Oil on Bo's cuff: passage 2\n2. A sold lamp: passage 3\n" in writes[0]
    told = [text.rpartition("Of the clues above: ")[2].partition("\n")[0] for text in writes]
    assert told == [
        "1 and 2 still to plant by passage 3.",
        *["1 told; 2 still to plant by passage 3."] * 2,
        "1 told; 2 never told.",
    ]
    memories = [text for text in asked if "Now bring the short-term memory up to date" in text]
    assert all("- clues: the number of each clue" in text for text in memories)
    choosing = [
        text.rpartition("The plans for the next passage are:")[2] for text in asked if "choose the plan" in text
    ]
    assert "Of the clues: 1 told; 2 still to plant by passage 3.\n" in choosing[0]
    plans = [text for text in asked if "Now propose" in text]
    assert "where a clue is still to plant, at least one has room for it" in plans[0]
    assert "has room for it" not in plans[-1], "the plans of the last passage plant nothing"


async def test_a_story_without_clues_is_told_of_none(write, model):
    author = Author(model)
    model.replies = lambda messages: re.sub(r'"clues": \[[^]]*\]', '"clues": []', author(messages))
    await write(steps=3, ending=True)
    founding, *later = (text.partition("JSON schema:")[0] for text in prompts_of(model))
    assert "clues" in founding
    assert not [text for text in later if "clue" in text.replace(founding, "")]


async def test_after_the_last_passage_there_is_only_a_summary(write, model):
    commits = await write(steps=2, ending=True)
    *_, last = prompts_of(model)
    assert "That was the last passage" in last
    assert [text for text in prompts_of(model) if "Now bring the short-term memory up to date" in text] != []
    assert commits[2]["summary"]
    assert commits[2]["short_term_memory"] == commits[1]["short_term_memory"]
    assert commits[2]["rationale"] == {"dropped": [], "added": []}
    assert commits[2]["candidate_plans"] == []
    assert commits[2]["turns"][-1] == "done", "whoever goes on after the end is not told that it is to come"
    assert "under way" not in commits[2]["turns"]
    assert commits[2]["usage"]["calls"] == 3, "the choice, the passage, the summary"


async def test_a_reader_decides_nothing_after_the_last_passage(write, write_prompts):
    await write({"premise": "Mira tends a lamp.", "player": "a keeper"}, mode="fiction", steps=2, ending=True)
    assert "has to decide again" in write_prompts()[0]
    assert "has to decide again" not in write_prompts()[1]
    assert "leave nothing to decide" in write_prompts()[1]


async def test_premises_voice_truth_and_clues_are_pinned(write, model, write_prompts):
    Author(model)
    await write(steps=2)
    for text in write_prompts():
        assert "Mira tends a lamp.\nMira, who tends a lamp, wants it lit.\n" in text
        assert "How it is told: Dry." in text
        assert "Bo sold the oil." in text
        assert "\n1. Oil on Bo's cuff: passage 2\n" in text
    assert all("gives away more of what lies behind" in text for text in prompts_of(model) if "Now propose" in text)


async def test_the_last_two_passages_are_whole_and_the_others_a_line(write, model, write_prompts):
    commits = await write(steps=5)
    fifth, steps = write_prompts()[4], {commit["step"]: commit for commit in commits}
    assert [steps[number]["passage"] in fifth for number in (1, 2, 3, 4)] == [False, False, True, True]
    lines = "\n".join(f"{number}. {steps[number]['summary']}" for number in (1, 2, 3, 4))
    assert f"The story so far, a line for each passage:\n{lines}\n\nShort-term memory" in fifth
    recalled = fifth.partition("Earlier passages that bear on this one:")[2].partition("The passage before")[0]
    assert set(re.findall(r"^- passage (\d): ", recalled, re.MULTILINE)) <= {"1", "2"}
    assert "- passage " in recalled
    assert not any(steps[number]["summary"] in recalled for number in (1, 2)), (
        "a line that stands above is not told again"
    )


async def test_a_long_past_gives_way_to_what_is_recalled(write, model, write_prompts, monkeypatch):
    monkeypatch.setattr("recurrentgpt.nodes.prompt_values.USUAL_WINDOW", 8 * 400)
    commits = await write(steps=4)
    assert "The story so far" not in write_prompts()[3]
    assert commits[2]["passage"] not in write_prompts()[3]
    recalled = write_prompts()[3].partition("Earlier passages that bear on this one:\n")[2]
    assert f"- passage 1: {commits[1]['summary']}" in recalled
    assert f"- passage 2: {commits[2]['summary']} It says:" in recalled


async def test_what_is_recalled_tells_the_memory_no_second_time(write, model, write_prompts):
    plain, told = model.replies, "Bo hid the brass key of the lamp room under the third stair."

    def replies(messages):
        reply = json.loads(text) if (text := plain(messages)).startswith("{") else {}
        if "drop" in reply and "summary" in reply:
            return json.dumps({"add": [{"sentence": told, "why": "new"}], "summary": told})
        return text

    model.replies = replies
    await write(steps=4, past_tokens=0)
    fourth = write_prompts()[3]
    recalled = fourth.partition("Earlier passages that bear on this one:")[2].partition("The previous passage")[0]
    assert fourth.count(told) == 1
    assert "- passage 1: It says:" in recalled


@pytest.mark.parametrize(("room", "told"), [(0, False), (400, False), (4000, True)])
async def test_what_the_past_may_take_is_a_setting(write, write_prompts, room, told):
    commits = await write(steps=4, past_tokens=room)
    assert ("The story so far" in write_prompts()[3]) is told
    assert (commits[2]["passage"] in write_prompts()[3]) is told


async def test_an_edited_memory_is_told_to_whoever_chooses(write, model):
    """What a person put into it is in no earlier turn of the conversation."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.store.memory import InMemoryStore
    from langgraph.types import Command

    from recurrentgpt.graph.story import build_story_graph
    from recurrentgpt.models.embeddings import HashEmbeddings
    from recurrentgpt.schema.context import Context

    graph = build_story_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    config = {"configurable": {"thread_id": "1"}}
    context = Context(model=model, embeddings=HashEmbeddings(), min_words=100, seed=1)
    await graph.ainvoke({"premise": "Mira tends a lamp."}, config, context=context)
    answer = {"action": "simulator", "passages": 1, "short_term_memory": "Zoltan owes Mira a horse."}
    await graph.ainvoke(Command(resume=answer), config, context=context)
    (choosing,) = [text for text in prompts_of(model) if "choose the plan" in text]
    assert "The short-term memory is now:\nZoltan owes Mira a horse.\n" in choosing


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_an_ending_is_steered_to_when_it_is_wanted(write, write_prompts, model, tier):
    model.tier = tier
    await write(steps=5, ending=True)
    near = [("nearing its end" in text or "The end is close" in text) for text in write_prompts()]
    last = [("last passage" in text or "last scene of the novel" in text) for text in write_prompts()]
    assert near == [False, False, True, True, False]
    assert last == [False, False, False, False, True]


@pytest.mark.parametrize(("tier", "steps"), [("small", 2), ("small", 3), ("full", 2), ("full", 3), ("full", 4)])
async def test_no_passage_of_the_first_half_is_near_the_end(write, write_prompts, model, tier, steps):
    model.tier = tier
    await write(steps=steps, ending=True)
    for text in write_prompts()[: steps // 2]:
        assert "nearing its end" not in text
        assert "The end is close" not in text


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_an_open_story_is_not_steered_to_an_end(write, write_prompts, model, tier):
    model.tier = tier
    await write(steps=3)
    for text in write_prompts():
        assert "last passage of the novel" not in text
        assert "The end is close" not in text


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_new_characters_are_invited_as_often_as_asked(write, write_prompts, model, tier):
    model.tier = tier

    async def invited(**settings):
        model.calls.clear()
        await write(**settings)
        return [("enter here" in text or "comes into this scene" in text) for text in write_prompts()]

    assert await invited(steps=3, new_character=1.0) == [True] * 3
    assert await invited(steps=3, new_character=0.0) == [False] * 3
    some = await invited(steps=9, new_character=0.5, seed=1)
    assert True in some
    assert False in some
    assert await invited(steps=9, new_character=0.5, seed=1) == some
    assert await invited(steps=9, new_character=0.5, seed=3) != some


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_the_brief_is_in_every_prompt_and_language_and_length_are_told(write, write_prompts, model, tier):
    model.tier = tier
    commits = await write(steps=2, min_words=70, max_words=130)
    assert len(commits) == 3
    for text in write_prompts():
        assert "Mira tends a lamp." in text
        assert "70 to 130 words" in text or "about 100 words" in text


async def test_a_readers_own_prompts_replace_the_packaged_ones(write, write_prompts, tmp_path):
    (tmp_path / "novel" / "full").mkdir(parents=True)
    (tmp_path / "novel" / "full" / "write.md").write_text("Write as Zoltan would: {{ plan }} {{ memory | length }}")
    commits = await write(steps=1, prompts=str(tmp_path))
    assert f"Write as Zoltan would: {commits[1]['plan']} " in write_prompts()[0]


LEFT = "Mira has not yet asked Bo about the oil."


class Unreached(Author):
    """Let the model say what the first passage did not reach of its plan."""

    def __call__(self, messages):
        text = super().__call__(messages)
        if not text.startswith("{") or "unreached" not in (reply := json.loads(text)):
            return text
        return json.dumps({**reply, "unreached": LEFT if self.memories == 1 else ""})


@pytest.mark.parametrize("mode", ["novel", "fiction"])
async def test_what_a_passage_did_not_reach_is_told_to_plans_choice_and_the_next_passage(write, model, mode):
    Unreached(model)
    commits = await write({"premise": "Mira tends a lamp.", "player": "Mira"}, steps=3, mode=mode)
    written = [commit for commit in commits if commit["step"]]
    assert [commit.get("unreached") for commit in written] == [LEFT, None, None]
    last_turns = [str(call[-1].text) for call in model.calls]
    told = [text for text in last_turns if LEFT in text]
    assert len(told) == 3
    (plans,) = [text for text in told if "exactly 3 plans" in text or "exactly 3 choices" in text]
    (choice,) = [text for text in told if "- index: its number" in text]
    (prose,) = [text for text in told if "JSON schema:" not in text]
    assert "did not reach this, which may come now" in plans
    assert "did not reach this, which may come now" in choice
    assert "did not reach this, and it has not happened" in prose


async def test_what_was_not_reached_is_one_sentence_of_bounded_length(write, model):
    Unreached(model)
    plain = model.replies
    model.replies = lambda messages: plain(messages).replace(LEFT, "word " * 400)
    commits = await write(steps=1)
    assert len(commits[1]["unreached"].split()) == 40


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("None.", False),
        ("Nothing", False),
        ("N/A", False),
        ("-", False),
        ("Nichts.", False),
        ("なし。", False),
        ("Nothing was left unreached.", False),
        ("None; the passage reached all of its plan.", False),
        ("It reached everything.", False),
        ("Nothing remains.", False),
        ("Nothing of the plan remains to be reached.", False),
        ("The whole plan was reached.", False),
        ("The plan was carried out completely; nothing is left of it.", False),
        ("All of the plan was reached; nothing remains.", False),
        ("All of its plan was reached, so nothing remains.", False),
        ("Nothing remains, as the passage has reached all of its plan.", False),
        ("Nothing of the letter was found.", True),
        ("Nothing of the plan was reached.", True),
        ("All of the plan was reached; nothing remains but the ledger.", True),
        ("The plan was reached up to the ledger.", True),
        ("The plan was not reached.", True),
        ("Nothing remains of the boat.", True),
        ("None of the guests has seen the ledger.", True),
        ("Nothing is said yet of the ledger.", True),
        ("The passage has not reached all of its plan: the ledger is still shut.", True),
        ("No one has opened the ledger.", True),
    ],
)
async def test_that_nothing_is_left_of_a_plan_is_not_told_as_what_is_left(write, model, said, told):
    Unreached(model)
    plain = model.replies
    model.replies = lambda messages: plain(messages).replace(LEFT, said)
    commits = await write(steps=2)
    assert commits[1].get("unreached") == (said if told else None)
    assert any("did not reach this" in text for text in prompts_of(model)) is told


@pytest.mark.parametrize(("said", "told"), [([], None), (None, None), ([LEFT], LEFT)])
async def test_an_optional_text_may_come_as_a_list_or_as_null(write, model, said, told):
    """Where nothing else is noted, too: no list of such a reply has an entry."""
    author = Author(model)
    plain = author.__call__

    def replies(messages):
        text = plain(messages)
        if not text.startswith("{") or "unreached" not in (reply := json.loads(text)):
            return text
        nothing = {name: [] for name, value in reply.items() if isinstance(value, list)}
        return json.dumps({**reply, **nothing, "unreached": said})

    model.replies = replies
    commits = await write(steps=1)
    assert commits[1].get("unreached") == told
    assert sum('"unreached"' in str(call[-1].text) for call in model.calls) == 1


async def test_near_the_end_no_request_speaks_of_arrivals_or_only_of_those_who_are_there(write, model):
    """Somebody of the brief may still have to come in, and nobody else does."""
    await write(steps=5, ending=True)
    asking = [call[-1].text for call in model.calls if "Now propose exactly" in call[-1].text]
    assert ["an arrival" in text for text in asking] == [True, False, False, False]
    near = [text for text in prompts_of(model) if "nearing its end" in text]
    assert near
    assert all("with the people it has" in text for text in near)


async def test_clues_that_are_told_are_not_asked_to_be_planted(write, model, write_prompts):
    Author(model, after_1={"clues": [1, 2]})
    await write(steps=2)
    (asked, *_) = [call[-1].text for call in model.calls if "Now propose exactly" in call[-1].text]
    assert "to plant" not in asked
    first, second = write_prompts()
    assert "A clue whose place this is" in first
    assert "A clue whose place this is" not in second
    assert "earlier passages" not in first
    assert "earlier passages" in second


async def test_plans_are_asked_for_with_the_turns_as_the_passage_left_them(write, model):
    Author(model, after_1={1: "done", 2: "under way", "clues": [1]})
    await write(steps=2)
    (asked, *_) = [call[-1].text for call in model.calls if "Now propose exactly" in call[-1].text]
    assert "Of the turns: 1 done; 2 under way; 3 and 4 to come." in asked
    assert "Of the clues: 1 told; 2 still to plant." in asked


def test_plans_wait_for_the_memory_where_the_passage_left_none_and_are_made_once():
    assert after_write({"candidate_plans": ["Old."]}) == ["update_memory", "propose_plans"]
    assert after_memory({"candidate_plans": ["Old."]}) == "commit", "beside it they are being made"
    assert after_write({"candidate_plans": []}) == ["update_memory"]
    assert after_memory({"candidate_plans": []}) == "propose_plans"
    assert after_memory({"candidate_plans": [], "next_plan": "She goes on."}) == "commit", "one is chosen already"
