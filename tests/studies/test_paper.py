"""paper and bare: what stands in their prompts, and what guards change."""

import json
import re
from itertools import pairwise

import pytest

from recurrentgpt.models.decoding import CHOOSE, FACTS, OPEN, PLANS, WRITE
from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.report.sections import guards_table
from recurrentgpt.studies.runs.plan import parse_plan, with_guards
from recurrentgpt.studies.scripted_author import author_replies
from recurrentgpt.studies.study_context import StudyContext
from recurrentgpt.testing import ScriptedChatModel

PROSE = ("passage", "paragraph")
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


async def test_bare_is_told_no_line_for_every_earlier_passage(write):
    line = "The story so far, a line for each passage"
    assert (await write("recurrentgpt", 1500)).prompts(line)
    assert not (await write("bare", 1500)).prompts(line)


async def test_without_guards_a_copy_is_not_refused(write):
    copy = "The bell rang over the drowned village, and nobody who heard it spoke of it again that winter."

    def replies(messages):
        told = author_replies(messages)
        asks_for_prose = SCHEMA_HEADING not in "\n".join(str(message.text) for message in messages)
        return f"{copy} {told}" if asks_for_prose else told

    guarded = await write("recurrentgpt", 900, replies=replies)
    unguarded = await write("recurrentgpt", 900, replies=replies, guards="none")
    assert [copy in passage["passage"] for passage in guarded.passages[:2]] == [True, False]
    assert sum(copy in passage["passage"] for passage in unguarded.passages) == len(unguarded.passages)


def test_without_guards_no_prompt_of_a_small_model_has_worked_examples():
    assert StudyContext().own_voice
    assert not StudyContext(guards="shared").own_voice


def test_a_plan_says_how_guards_stand(tmp_path):
    text = 'name = "g"\nsystems = ["recurrentgpt"]\ngenres = ["mystery"]\npremises = 1\n'
    for said, held in (
        ("", "own"),
        ('guards = "shared"', "shared"),
        ("guards = false", "none"),
        ("guards = true", "own"),
    ):
        assert parse_plan(f"{text}{said}\n", "g", tmp_path).guards == held
    with pytest.raises(StudyError, match="shared, own or none, not 'some'"):
        with_guards(parse_plan(text, "g", tmp_path), "some")


@pytest.mark.parametrize("system", sorted(name for name, system in SYSTEMS.items() if system.watched))
async def test_with_shared_guards_no_system_copies_and_without_any_each_may(write, system):
    copy = "The bell rang over the drowned village, and nobody who heard it spoke of it again that winter."

    def replies(messages):
        told = author_replies(messages)
        if not told.startswith("{"):
            return f"{copy} {told}"
        form = json.loads(told)
        return json.dumps({key: f"{copy} {form[key]}" if key in PROSE else form[key] for key in form})

    copies = {}
    for guards in ("shared", "none"):
        novel = await write(system, 600, replies=replies, guards=guards, candidates=2)
        copies[guards] = [copy in passage["passage"] for passage in novel.passages]
    assert copies["none"][1:]
    assert all(copies["none"])
    # What neither the prompt nor the passage before has is not watched, so that it may come back later.
    assert not any(both == (True, True) for both in pairwise(copies["shared"]))


LOOP = "The lamp went out on the long quay. Nobody in the house said a word about it."


@pytest.mark.parametrize("tier", ["full", "small"])
@pytest.mark.parametrize("system", sorted(SYSTEMS))
async def test_without_guards_every_system_takes_what_the_model_says(write, system, tier):
    def replies(messages):
        told = author_replies(messages)
        if not told.startswith("{"):
            return " ".join([LOOP] * 60)
        form = json.loads(told)
        return json.dumps({key: " ".join([LOOP] * 20) if key in PROSE else form[key] for key in form})

    class Tiered(ScriptedChatModel):
        tier: str = "full"

    novel = await write(system, 600, chat=Tiered(tier=tier, replies=replies), guards="none", candidates=2)
    assert novel.result["words"] == pytest.approx(600, rel=0.2)
    for passage in novel.passages:
        assert set(sentences(passage["passage"])) <= set(sentences(LOOP))
    asked = [call for call in novel.model.calls if SCHEMA_HEADING not in "\n".join(str(turn.text) for turn in call)]
    assert not [call for call in asked if call[-1].type == "ai" or "Reply with the continuation" in str(call[-1].text)]


@pytest.mark.parametrize("guards", ["none", "shared"])
async def test_a_single_call_has_no_grammar_but_its_own(write, guards):
    class Small(ScriptedChatModel):
        tier: str = "small"

    novel = await write("single_call", 600, chat=Small(replies=author_replies), guards=guards)
    asked = [str(call[-1].text).partition(SCHEMA_HEADING)[2] for call in novel.model.calls]
    forms = [json.loads(form)["properties"] for form in asked if '"passage"' in form]
    assert forms
    assert not [form for form in forms if "pattern" in form["passage"]]


def test_the_report_says_which_guards_each_system_has(plan):
    plan = plan.model_copy(update={"systems": ["recurrentgpt", "rolling_1024", "paper", "one_shot"]})
    tables = {guards: guards_table(with_guards(plan, guards)) for guards in ("own", "shared", "none")}
    by_name = {
        guards: {name: cells for names, *cells in table.rows for name in names.split(", ")}
        for guards, table in tables.items()
    }
    found = {guards: {name: rows[name] for name in plan.systems} for guards, rows in by_name.items()}
    kept, stand = ["kept out"] * 2, ["let stand"] * 2
    assert [row[:2] for row in found["own"].values()] == [kept, ["let stand", "kept out"], stand, stand]
    assert [row[:2] for row in found["shared"].values()] == [kept, kept, kept, stand]
    assert [row[:2] for row in found["none"].values()] == [stand] * 4
    pieces, samples = "comes in one piece", "up to 8 samples, each going on, then one piece"
    assert [row[2] for row in found["shared"].values()] == [samples, samples, pieces, pieces]
    assert [row[3:5] for row in found["own"].values()] == [["of scenes", "yes"], *[["none", "none"]] * 3]
    dealt, others = "dealt moves, embedded model", ["none", "as said", "none"]
    assert [row[5] for row in found["own"].values()] == [f"{dealt}; asked again where alike", *others]
    assert [row[5] for guards in ("shared", "none") for row in found[guards].values()] == [dealt, *others] * 2
    assert [table.headings[0] for table in tables.values()] == ["guards: own", "guards: shared", "guards: none"]
    assert {cell for guards in ("shared", "none") for row in found[guards].values() for cell in row[3:5]} == {"none"}
    plan = plan.model_copy(update={"systems": ["one_shot", "re3", "paper", "doc"], "guards": "none"})
    assert [row[0] for row in guards_table(plan).rows] == ["one_shot, re3, doc", "paper"], (
        "those alike stand in one row"
    )


@pytest.mark.parametrize("system", ["recurrentgpt", "rolling_4096"])
async def test_a_passage_that_no_sample_brings_fails_with_its_own_guards_and_comes_in_one_piece_with_shared_ones(
    write, system
):
    loop = "Harriet lit the lamp on the quay. " * 60

    def looping(messages):
        is_form = SCHEMA_HEADING in "\n".join(str(turn.text) for turn in messages)
        return author_replies(messages) if is_form else loop

    def small():
        return ScriptedChatModel(tier="small", replies=looping)

    with pytest.raises(ModelReplyError, match="no usable passage in"):
        await write(system, 600, chat=small(), guards="own")
    novel = await write(system, 600, chat=small(), guards="shared")
    assert novel.passages
    for passage in novel.passages:
        assert set(sentences(passage["passage"])) == set(sentences(loop)), "what is mostly repetition stands"
        assert passage["usage"]["resamples"] >= 7


FORM_OF_PLANS = re.compile('"title": "(Plans|Proposals)"')


@pytest.mark.parametrize("tier", ["full", "small"])
@pytest.mark.parametrize("system", ["recurrentgpt", "bare"])
async def test_plans_that_are_alike_are_asked_for_again_with_its_own_guards_alone(write, system, tier):
    alike = "Harriet opens the door and goes down to the quay. Then she counts the boats."

    def replies(messages):
        told = author_replies(messages)
        if not FORM_OF_PLANS.search(str(messages[-1].text).partition(SCHEMA_HEADING)[2]):
            return told
        form = json.loads(told)
        return json.dumps(
            {key: [alike] * len(value) if isinstance(value, list) else alike for key, value in form.items()}
        )

    asked = {}
    for guards in ("own", "shared", "none"):
        novel = await write(system, 900, chat=ScriptedChatModel(tier=tier, replies=replies), guards=guards)
        proposed = [passage["candidate_plans"] for passage in novel.passages[:-1]]
        assert [alike] * 3 in proposed, "what the author says is what is chosen from"
        schemas = [str(call[-1].text).partition(SCHEMA_HEADING)[2] for call in novel.model.calls]
        asked[guards] = sum(bool(FORM_OF_PLANS.search(schema)) for schema in schemas) - len(proposed)
    assert asked["own"] > asked["shared"] == asked["none"]


KINDS = {
    "": WRITE,
    "Step": WRITE,
    **dict.fromkeys(("Opening", "Setting", "Characters", "Outline", "Events", "Leaves"), OPEN),
    "Plans": PLANS,
    **dict.fromkeys(("Facts", "Summary", "SummaryReply", "Contradictions"), FACTS),
    **dict.fromkeys(("Choice", "ReaderChoice", "Verdicts", "Grades"), CHOOSE),
}
"""How a small model's calls are sampled, by the title of the form that they fill in; prose has none."""


@pytest.mark.parametrize("system", sorted(SYSTEMS))
async def test_every_call_of_a_small_model_is_sampled_as_its_kind_is_in_all_systems(write, system):
    chat = ScriptedChatModel(tier="small", replies=author_replies)
    novel = await write(system, 600, chat=chat, guards="none", candidates=2)
    assert novel.model.calls
    for call, given in zip(novel.model.calls, novel.model.options, strict=True):
        form = str(call[-1].text).partition(SCHEMA_HEADING)[2]
        assert given["temperature"] == KINDS[json.loads(form)["title"] if form else ""].temperature
