"""paper and bare: what stands in their prompts, and what guards change."""

import json
import re

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.studies.runs.plan import parse_plan
from recurrentgpt.studies.scripted_author import author_replies
from recurrentgpt.studies.study_context import StudyContext

PAPER_WORDS = ("Memory:", "Last paragraph:", "Instruction:", "Related paragraphs:")


async def test_the_papers_prompt_has_its_four_inputs_and_nothing_else(write):
    novel = await write("paper", 1500)
    steps = novel.prompts("Instruction:")
    assert len(steps) == len(novel.passages) - 1
    for mark in PAPER_WORDS:
        assert mark in steps[-1]
    everything = "\n".join(novel.prompts()).casefold()
    assert "outline:" not in everything
    assert "characters" not in everything
    assert "its people" not in everything
    before, last = novel.passages[-2:]
    assert before["short_term_memory"] in steps[-1]
    assert before["passage"] in steps[-1]
    assert last["plan"] in steps[-1]
    assert last["recalled"]
    recalled = next(passage for passage in novel.passages if passage["step"] == last["recalled"][0]["step"])
    assert recalled["passage"] in steps[-1]


async def test_the_papers_step_is_one_call_and_one_choice(write):
    novel = await write("paper", 1500)
    assert len(novel.model.calls) == 2 * len(novel.passages) - 1
    assert all(len(passage["candidate_plans"]) == 3 for passage in novel.passages)
    assert all(passage["short_term_memory"] for passage in novel.passages)
    assert novel.passages[1]["rationale"]["added"] or novel.passages[1]["rationale"]["dropped"]


async def test_bare_never_tells_of_outline_cast_or_codex(write):
    def replies(messages):
        told = author_replies(messages)
        if not told.startswith("{") or "codex" not in json.loads(told):
            return told
        asked = "\n".join(str(message.text) for message in messages)
        named = sorted(set(re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}\b", asked)))
        return json.dumps(
            {**json.loads(told), "codex": [{"name": name, "aspect": "look", "value": "grey"} for name in named[:8]]}
        )

    usual = await write("recurrentgpt", 900, replies=replies)
    bare = await write("bare", 900, replies=replies)
    asked = "Write the next passage"
    assert "Its people:" in usual.prompts(asked)[0]
    assert not bare.prompts("Its people:")
    assert not bare.prompts("Where it is going:")
    assert usual.prompts("What is true now:")
    assert not bare.prompts("What is true now:")
    assert "Short-term memory" in bare.prompts(asked, without=SCHEMA_HEADING)[0]


async def test_without_guards_a_copy_is_not_refused(write):
    copy = "The bell rang over the drowned village, and nobody who heard it spoke of it again that winter."

    def replies(messages):
        told = author_replies(messages)
        asks_for_prose = SCHEMA_HEADING not in "\n".join(str(message.text) for message in messages)
        return f"{copy} {told}" if asks_for_prose else told

    guarded = await write("recurrentgpt", 900, replies=replies)
    unguarded = await write("recurrentgpt", 900, replies=replies, guards=False)
    assert [copy in passage["passage"] for passage in guarded.passages[:2]] == [True, False]
    assert sum(copy in passage["passage"] for passage in unguarded.passages) == len(unguarded.passages)


def test_without_guards_no_prompt_of_a_small_model_has_worked_examples():
    assert StudyContext().own_voice
    assert not StudyContext(guards=False).own_voice


def test_a_plan_says_how_guards_stand(tmp_path):
    text = 'name = "g"\nsystems = ["recurrentgpt"]\ngenres = ["mystery"]\npremises = 1\n'
    assert parse_plan(text, "g", tmp_path).guards
    assert not parse_plan(text + "guards = false\n", "g", tmp_path).guards
    assert json.loads(parse_plan(text, "g", tmp_path).model_dump_json())["guards"] is True
