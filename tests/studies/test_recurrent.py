"""recurrentgpt and its variants: what each prompt holds, and that a novel ends at its length."""

import json
import re

import pytest

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.sentences import numbered, sentences
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.scripted_author import author_replies
from recurrentgpt.testing import ScriptedChatModel

VARIANTS = ["recurrentgpt", "no_short_term_memory", "no_long_term_memory", "single_call"]


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "doc"])
@pytest.mark.parametrize("words", [900, 1500])
async def test_a_novel_is_as_long_as_its_target_within_a_tenth(write, system, words):
    novel = await write(system, words, candidates=2)
    assert novel.result["status"] == "finished"
    assert novel.result["words"] == pytest.approx(words, rel=0.1)


async def test_every_prompt_of_a_step_begins_with_the_one_before(write):
    novel = await write("recurrentgpt")
    prompts = ["\n".join(str(m.text) for m in call) for call in novel.model.calls]
    # A passage that came too short is gone on with, between its writing and the rest.
    prompts = [text for text in prompts if not text.endswith("Reply with the continuation alone.")]
    asked = [text for text in prompts if SCHEMA_HEADING not in text]
    # Memory and plans go on from it; after the last passage there are no plans.
    longer = [sum(text.startswith(writing) and text != writing for text in prompts) for writing in asked]
    assert min(longer[:-1]) >= 2
    assert longer[-1] == 1


async def test_recurrentgpt_remembers_both_ways(write):
    novel = await write("recurrentgpt", 1500)
    last = novel.prompts("Write the next passage", without=SCHEMA_HEADING)[-1]
    assert "Earlier passages that bear on this one:" in last
    memory = novel.passages[-2]["short_term_memory"]
    assert memory
    assert numbered(memory.splitlines()) in last
    assert novel.passages[-2]["passage"] in last


async def test_without_a_short_term_memory_no_prompt_speaks_of_one(write):
    novel = await write("no_short_term_memory", 1500)
    asked = novel.prompts()
    assert "Plan a mystery novel" in asked[0]
    assert not [text for text in asked if "memory" in text.lower()]
    assert {commit["short_term_memory"] for commit in novel.commits} == {""}


async def test_without_a_short_term_memory_recall_goes_on(write):
    novel = await write("no_short_term_memory", 1500)
    assert novel.passages[-1]["recalled"]
    assert all(commit["summary"] for commit in novel.passages)
    assert "Earlier passages that bear on this one:" in novel.prompts("Write the next passage")[-1]
    assert novel.passages[-2]["passage"] in novel.prompts("Write the next passage")[-1]


async def test_without_a_long_term_memory_nothing_is_recalled_and_the_last_passage_stays(write):
    novel = await write("no_long_term_memory", 1500)
    assert not [commit for commit in novel.passages if commit["recalled"]]
    assert not novel.prompts("Earlier passages that bear on this one:")
    last = novel.prompts("Write the next passage", without=SCHEMA_HEADING)[-1]
    assert numbered(novel.passages[-2]["short_term_memory"].splitlines()) in last
    assert novel.passages[-2]["passage"] in last


@pytest.mark.parametrize("tier", ["full", "small"])
@pytest.mark.parametrize("system", ["no_long_term_memory", "bare_no_long_term_memory"])
async def test_without_a_long_term_memory_the_gate_watches_what_would_be_recalled(write, system, tier, monkeypatch):
    watched = []

    class Gate(ProseGate):
        def __init__(self, *, seen=(), **given):
            super().__init__(seen=seen, **given)
            watched.append(list(seen))

    monkeypatch.setattr("recurrentgpt.nodes.write.ProseGate", Gate)
    # A small model is watched over its last passages anyway.
    monkeypatch.setattr("recurrentgpt.nodes.write.WATCHED", 1)
    chat = ScriptedChatModel(tier=tier, replies=author_replies)
    novel = await write(system, 1500, chat=chat)
    earlier = {sentence for passage in novel.passages[:-2] for sentence in sentences(passage["passage"])}
    seen = [sentence for sentence in earlier if any(sentence in piece for piece in watched[-1])]
    assert seen
    assert not [commit for commit in novel.passages if commit["recalled"]]
    assert not novel.prompts("Earlier passages that bear on this one:")
    asked = [text for text in novel.prompts(novel.passages[-1]["plan"]) if novel.passages[-2]["passage"][-40:] in text]
    assert asked
    assert not [text for text in asked for sentence in seen if sentence in text]


async def test_the_ablations_of_bare_lose_one_memory_and_nothing_else(write):
    bare = (await write("bare", 1500)).prompts("Write the next passage", without=SCHEMA_HEADING)[-1]
    assert "Short-term memory" in bare
    assert "Earlier passages that bear on this one:" in bare
    unremembered = await write("bare_no_short_term_memory", 1500)
    asked = unremembered.prompts("Write the next passage", without=SCHEMA_HEADING)
    assert "Earlier passages that bear on this one:" in asked[-1]
    assert not [text for text in unremembered.prompts() if "memory" in text.lower()]
    forgetful = await write("bare_no_long_term_memory", 1500)
    asked = forgetful.prompts("Write the next passage", without=SCHEMA_HEADING)
    assert numbered(forgetful.passages[-2]["short_term_memory"].splitlines()) in asked[-1]
    assert not forgetful.prompts("Earlier passages that bear on this one:")
    for novel in (unremembered, forgetful):
        assert not [text for text in novel.prompts("Write the next passage") if "Its people:" in text]
        assert not novel.prompts("Where it is going")
        assert not novel.prompts("The story so far, a line for each passage")


async def test_without_a_long_term_memory_no_prompt_speaks_of_earlier_passages(write):
    novel = await write("no_long_term_memory", 900)
    asked = novel.prompts("Write the next passage", without=SCHEMA_HEADING)
    assert not [text for text in novel.prompts() if "earlier passages" in text]
    assert "Stay true to the memory.\n" in asked[0]
    assert all("Stay true to the memory and the previous passage." in text for text in asked[1:])


async def test_a_single_call_writes_passage_memory_and_plans(write):
    novel = await write("single_call", 1500)
    steps = len(novel.passages)
    asked = novel.prompts("Now do three things at once")
    # The rest is one opening and a choice before every passage but the first.
    assert len(asked) == steps
    assert len(novel.model.calls) == steps + 1 + (steps - 1)
    assert "Write the next passage of the novel" not in asked[-1]
    assert numbered(novel.passages[-2]["short_term_memory"].splitlines()) in asked[-1]
    assert "Earlier passages that bear on this one:" in asked[-1]
    # The plans are asked for as the engine asks for them.
    (plans,) = re.findall(r"one scene,.*$", asked[-1], re.MULTILINE)
    assert plans == "one scene, who does what in it, one change that it brings about, and where it stops"
    assert all(len(commit["candidate_plans"]) == 3 for commit in novel.passages[:-1])


async def test_a_single_call_that_breaks_the_ceilings_is_cut(write):
    def much(messages):
        text = author_replies(messages)
        if "Now do three things at once" not in str(messages[-1].text):
            return text
        reply = json.loads(text)
        reply["short_term_memory"] = [f"Sentence {number} of a long memory." for number in range(40)]
        return json.dumps(reply)

    novel = await write("single_call", 900, replies=much)
    assert all(len(commit["short_term_memory"].splitlines()) == 20 for commit in novel.passages)


async def test_a_single_call_whose_memory_has_no_end_is_asked_for_one_that_has(write):
    def endless(messages):
        if "Now do three things at once" not in str(messages):
            return author_replies(messages)
        bounded = '"maxItems": 20' in str(messages)
        return author_replies(messages) if bounded else '{"passage": "Mira lit the lamp.", "short_term_memory": ["It'

    novel = await write("single_call", 900, chat=Small(replies=endless))
    assert novel.result["status"] == "finished"
    asked = [form["properties"]["short_term_memory"] for form in forms(novel) if "passage" in form["properties"]]
    assert [entry.get("maxItems") for entry in asked] == [None, None, 20] * len(novel.passages)


async def test_a_model_that_has_nothing_to_add_goes_on_from_a_little_before(write):
    ended = []

    def terse(messages):
        text, begun = author_replies(messages), [str(turn.text) for turn in messages if turn.type == "ai"]
        if SCHEMA_HEADING in str(messages[-1].text):
            return text
        if begun and begun[-1][-30:] in ended:
            return ""
        said = " ".join(sentences(text)[:14])
        ended.append(said[-30:])
        return said

    novel = await write("rolling_1024", 600, replies=terse)
    assert novel.result["words"] == pytest.approx(600, rel=0.3)
    assert len(ended) > len(novel.passages), "it went on from what it had ended"


class Small(ScriptedChatModel):
    tier: str = "small"


def forms(novel):
    """Return the JSON schemas that a novel's model was asked to fill in."""
    found = [str(call[-1].text).partition(SCHEMA_HEADING)[2] for call in novel.model.calls]
    return [json.loads(form) for form in found if form]


@pytest.mark.parametrize("system", ["rolling_1024", "re3", "doc"])
async def test_no_text_of_a_small_models_form_is_without_an_end(write, system):
    def texts(node):
        if isinstance(node, list):
            return [text for item in node for text in texts(item)]
        if not isinstance(node, dict):
            return []
        return [node] * (node.get("type") == "string") + [text for value in node.values() for text in texts(value)]

    small, full = await write(system, 600, chat=Small(replies=author_replies)), await write(system, 600)
    assert texts(forms(small))
    assert {text.get("maxLength") for text in texts(forms(small))} == {600}
    assert {text.get("maxLength") for text in texts(forms(full))} == {None}


async def test_the_papers_forms_have_room_for_a_passage_and_an_end(write):
    novel = await write("paper", 600, chat=Small(replies=author_replies))
    texts = {
        f"{form['title']} {name}": text.get("maxLength") or text.get("items", {}).get("maxLength")
        for form in forms(novel)
        for name, text in form["properties"].items()
        if text["type"] != "integer"
    }
    assert texts.pop("Step paragraph") == texts.pop("Step memory") == 2000
    assert set(texts.values()) == {600}


async def test_a_single_call_holds_a_small_model_to_the_length_of_a_passage(write):
    novel = await write("single_call", 900, chat=Small(replies=author_replies))
    (schema, *_) = [form["properties"] for form in forms(novel) if "passage" in form["properties"]]
    short = "The rain came down. " * 3
    assert not re.fullmatch(schema["passage"]["pattern"], short.strip())
    assert re.fullmatch(schema["passage"]["pattern"], (short * 8 + "“Is it late,” she asked?").strip())
    assert re.fullmatch(schema["plans"]["items"]["pattern"], "Mira opens the letter. Then the lamp goes out.")
    assert set(schema["short_term_memory"]["items"]) == {"type", "pattern"}


@pytest.mark.parametrize(
    ("tries", "guards", "outcome"),
    [(1, "own", "written again"), (2, "own", "written again"), (4, "own", "fails"), (2, "shared", "stands")],
)
async def test_a_single_call_that_writes_far_too_little(write, tries, guards, outcome):
    seen = []

    def short(messages):
        text = author_replies(messages)
        if "Now do three things at once" not in str(messages) or len(seen) >= tries:
            return text
        seen.append(1)
        return json.dumps({**json.loads(text), "passage": "Mira lit the lamp. She waited for Tobias on the quay."})

    if outcome == "fails":
        with pytest.raises(ModelReplyError, match="passage has 11 words"):
            await write("single_call", 900, replies=short, guards=guards)
        return
    novel = await write("single_call", 900, replies=short, guards=guards)
    first = len(novel.passages[0]["passage"].split())
    assert (first == 11) is (outcome == "stands")
    assert novel.result["words"] == pytest.approx(900, rel=0.1)


async def test_only_the_last_passage_is_asked_to_end_the_novel(write):
    novel = await write("recurrentgpt", 1500)
    asked = novel.prompts("Write the next passage", without=SCHEMA_HEADING)
    assert ["This is the last passage" in text for text in asked] == [False] * (len(asked) - 1) + [True]
    assert all(len(commit["candidate_plans"]) == 3 for commit in novel.passages[:-1])
    assert novel.passages[-1]["candidate_plans"] == []


@pytest.mark.parametrize("system", VARIANTS)
async def test_two_runs_of_one_seed_are_the_same(write, system):
    first, second = await write(system, 900), await write(system, 900)
    assert [commit["passage"] for commit in first.commits] == [commit["passage"] for commit in second.commits]
