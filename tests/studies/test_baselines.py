"""The baselines against their specification: what their prompts hold, in which order, and what is forgotten when."""

import json
import re

import pytest

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.schema.errors import ModelReplyError, ModelUnavailable
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.baselines.doc_outline import collapsed, entering, movement, people_at
from recurrentgpt.studies.baselines.drafts import draft_penalty
from recurrentgpt.studies.baselines.re3 import items, per_item
from recurrentgpt.studies.baselines.re3_facts import find_conflicts, merge_facts
from recurrentgpt.studies.baselines.text_windows import count_tokens
from recurrentgpt.studies.scripted_author import author_replies

from .conftest import PREMISE

PROSE = {"without": SCHEMA_HEADING}
REFUSAL = "I'm sorry, but I can't assist with that request."


def in_order(text, *marks):
    """Tell whether the marks come in this order."""
    places = [text.index(mark) for mark in marks]
    return places == sorted(places)


class TestRolling:
    @pytest.mark.parametrize("window", [1024, 4096])
    async def test_a_prompt_fills_its_window_and_no_more(self, write, window):
        novel = await write(f"rolling_{window}", 6000)
        sizes = [sum(count_tokens(str(m.text)) for m in call) for call in novel.model.calls[1:]]
        assert max(sizes) <= window
        assert sizes[-1] > window - 60

    async def test_the_oldest_is_forgotten_and_the_newest_is_there(self, write):
        novel = await write("rolling_1024", 2400)
        last = novel.prompts("Go on with the story", **PROSE)[-1]
        first, newest = novel.passages[0]["passage"], novel.passages[-2]["passage"]
        assert newest[-200:] in last
        assert first[:80] not in last
        # Cut at a sentence: the story in the prompt begins where a sentence does.
        story = last.partition("ends like this:\n\n")[2]
        whole = "\n\n".join(commit["passage"] for commit in novel.passages)
        assert whole[whole.index(story[:60]) - 2] in '.!?\n"'

    async def test_without_a_limit_nothing_is_forgotten(self, write):
        novel = await write("rolling_unlimited", 2400)
        last = novel.prompts("Go on with the story", **PROSE)[-1]
        assert all(commit["passage"] in last for commit in novel.passages[:-1])

    async def test_the_header_names_the_item_that_the_story_has_reached(self, write):
        novel = await write("rolling_1024", 2400)
        asked = novel.prompts("A mystery novel\nPremise:", **PROSE)
        outline = [commit["plan"] for commit in novel.passages]
        assert len(dict.fromkeys(outline)) == 4
        assert in_order(asked[0], "Premise: " + PREMISE, "Now: " + outline[0], "Begin the story")
        assert "Now: " + outline[-1] in asked[-1]
        assert all("summary" not in text.lower() for text in asked)

    async def test_only_the_last_step_asks_for_an_ending(self, write):
        novel = await write("rolling_1024", 1500)
        ends = ["bring it to its end" in text for text in novel.prompts("A mystery novel\nPremise:", **PROSE)]
        assert ends == [False] * (len(ends) - 1) + [True]

    async def test_one_shot_is_one_call(self, write):
        novel = await write("one_shot", 1500)
        assert len(novel.model.calls) == len(novel.passages) == 1
        assert "about 1500 words" in novel.prompts()[0]

    @pytest.mark.parametrize(("tier", "whole"), [("small", False), ("full", True)])
    async def test_a_small_model_which_would_refuse_is_not_asked_for_a_whole_novel(self, write, tier, whole):
        (asked,) = (await write("one_shot", 1500, tier=tier)).prompts()
        assert ("Write a whole mystery novel" in asked) is whole
        assert ("A mystery novel\nPremise:" in asked) is not whole
        assert "about 1500 words" in asked

    async def test_a_refusal_is_told_in_the_models_own_words(self, write):
        with pytest.raises(
            ModelReplyError, match=r"told no story, and said \"I'm sorry, but I can't assist with that request\.\""
        ):
            await write("one_shot", replies=lambda messages: REFUSAL)

    @pytest.mark.parametrize("system", ["one_shot", "rolling_1024"])
    async def test_a_refusal_is_no_draft_whatever_the_guards(self, write, system):
        refused = []

        def reply(messages):
            asked = str(messages[-1].text)
            if not refused and SCHEMA_HEADING not in asked:
                refused.append(asked)
                return REFUSAL
            return author_replies(messages)

        novel = await write(system, replies=reply, guards="none")
        assert refused
        assert sum(passage["usage"]["resamples"] for passage in novel.passages) == 1
        assert not any(REFUSAL in passage["passage"] for passage in novel.passages)

    @pytest.mark.parametrize(("system", "field"), [("paper", "paragraph"), ("single_call", "passage")])
    @pytest.mark.parametrize("guards", ["none", "shared"])
    async def test_a_heading_alone_is_no_passage_of_a_form_whatever_the_guards(self, write, system, field, guards):
        said = []

        def reply(messages):
            form = author_replies(messages)
            if said or f'"{field}": ' not in form:
                return form
            said.append(form)
            return json.dumps({**json.loads(form), field: "Scene 4 - Tamsin is given a deadline"})

        novel = await write(system, replies=reply, guards=guards)
        assert said
        assert sum(passage["usage"]["resamples"] for passage in novel.passages) == 1
        assert not any("deadline" in passage["passage"] for passage in novel.passages)


class TestRe3:
    async def test_the_plan_comes_before_the_draft(self, write):
        novel = await write("re3", candidates=2)
        asked = novel.prompts()
        assert "Where and when is it set?" in asked[0]
        assert "main characters" in asked[1]
        assert "Outline its plot in 3 items" in asked[2]

    async def test_a_draft_prompt_has_its_parts_in_order(self, write):
        novel = await write("re3", 3000, candidates=2)
        last = novel.prompts("In the upcoming passage:", **PROSE)[-1]
        marks = re.findall(r"^(?:[A-Z][a-z]+(?: [a-z]+)*(?:, in short)?:|Go on with it)", last, re.MULTILINE)
        parts = ["People and places:", "The outline so far:", "What came before, in short:", "In the upcoming passage:"]
        assert marks == [*parts, "The passage brings the novel to its end:", "The story stops here:", "Go on with it"]
        assert PREMISE not in last
        outline = list(dict.fromkeys(commit["plan"] for commit in novel.passages))
        assert in_order(last, *outline)
        assert f"In the upcoming passage: {outline[-1]}" in last

    @pytest.mark.parametrize("system", ["re3", "doc"])
    async def test_every_draft_is_told_the_genre(self, write, system):
        novel = await write(system, 600, candidates=1)
        drafts = novel.prompts("In the upcoming passage:", **PROSE)
        assert drafts
        assert all("A mystery novel\n" in text for text in drafts)

    async def test_as_many_drafts_are_compared_as_were_published(self, write):
        assert {name: SYSTEMS[name].drafts for name in ("re3", "doc")} == {"re3": 10, "doc": 8}
        novel = await write("re3", 300)
        assert len(novel.prompts("Begin the story", **PROSE)) == 10

    async def test_the_first_draft_has_premise_setting_and_all_characters(self, write):
        novel = await write("re3", 600, candidates=1)
        first, *others = novel.prompts("In the upcoming passage:", **PROSE)
        assert f"The premise: {PREMISE}" in first
        assert all(f"- {name}: " in first for name in ("Mira Voss", "Tobias Kell", "Adela Marsh"))
        assert "Setting: " in first
        assert others
        assert not [text for text in others if PREMISE in text]

    async def test_who_is_met_on_the_way_is_described_like_the_planned(self, write):
        def replies(messages):
            told = author_replies(messages)
            form = json.loads(told) if told.startswith("{") else {}
            if form.get("facts"):
                quote = form["facts"][0]["quote"]
                form["facts"] = [{"entity": "Old Bruno", "attribute": "trade", "value": "ferryman", "quote": quote}]
                return json.dumps(form)
            return told

        novel = await write("re3", 1200, candidates=1, replies=replies)
        first, *others = novel.prompts("In the upcoming passage:", **PROSE)
        assert "Old Bruno" not in first
        assert [text for text in others if "- Old Bruno: trade ferryman" in text]

    async def test_the_prompt_keeps_its_limits(self, write):
        novel = await write("re3", 3000, candidates=2)
        for text in novel.prompts("In the upcoming passage:", **PROSE)[2:]:  # the first has everybody
            people = text.partition("People and places:")[2].partition("\n\n")[0]
            assert count_tokens(people) <= 128 + 8
            tail = text.partition("The story stops here:\n\n")[2].partition("\n\nGo on")[0]
            assert count_tokens(tail) <= 256
            summary = text.partition("in short:\n")[2].partition("\n\n")[0]
            assert count_tokens(summary) <= 128

    async def test_the_last_256_tokens_are_verbatim_and_the_rest_is_summed_up_once(self, write):
        novel = await write("re3", 3000, candidates=2)
        story = "\n\n".join(commit["passage"] for commit in novel.passages)
        told = [
            text.partition("in the story:\n")[2].partition("\n\nGive one")[0]
            for text in novel.prompts("Give one summary")
        ]
        places = [story.index(text[:50]) for text in told]
        assert places == sorted(set(places))
        tail = novel.prompts("In the upcoming passage:", **PROSE)[-1].partition("stops here:\n\n")[2]
        assert tail.partition("\n\nGo on")[0] in story

    def test_an_outline_has_three_items_and_more_for_a_long_novel(self):
        assert [(items(words), per_item(words)) for words in (1200, 2300, 3000, 6000)] == [
            (3, 2),
            (3, 4),
            (4, 4),
            (8, 4),
        ]

    async def test_people_named_in_the_item_come_first(self, write):
        novel = await write("re3", 3000, candidates=2)
        for text in novel.prompts("In the upcoming passage:", **PROSE)[2:]:  # the first has everybody
            item = text.partition("In the upcoming passage: ")[2].partition("\n")[0]
            people = re.findall(r"^- ([^:]+):", text.partition("People and places:")[2], re.MULTILINE)
            named = [any(part in item for part in name.split()) for name in people]
            assert named == sorted(named, reverse=True)

    async def test_a_draft_that_the_server_refuses_is_not_left_out(self, write):
        asked = []

        def busy(messages):
            prompt = "\n".join(str(turn.text) for turn in messages)
            asked.append(prompt)
            if "In the upcoming passage:" in prompt and SCHEMA_HEADING not in prompt and len(asked) % 2:
                raise ModelUnavailable("The server is busy.")
            return author_replies(messages)

        with pytest.raises(ModelUnavailable, match="busy"):
            await write("re3", candidates=4, replies=busy)

    async def test_the_best_graded_draft_is_taken(self, write):
        def graded(messages):
            asked = str(messages[-1].text)
            if "Grade every draft" not in asked:
                return author_replies(messages)
            drafts = re.split(r"\nDraft \d:\n", asked.partition("Grade every draft")[0])[1:]
            good = [10 if "orchard" in draft else 0 for draft in drafts]
            return json.dumps({"relevance": good, "coherence": good})

        novel = await write("re3", candidates=4, replies=graded)
        asked = novel.prompts("Grade every draft")
        chosen = sum("orchard" in commit["passage"] for commit in novel.passages)
        offered = sum("orchard" in text.partition("drafts of the next passage")[2] for text in asked)
        assert chosen == offered > 0

    async def test_the_first_passage_is_never_edited_and_a_contradiction_later_is(self, write):
        def contrary(messages):
            asked = str(messages[-1].text)
            told = asked.partition("From a story:\n\n")[2].partition("\n\nNote")[0]
            if told:
                value = "grey" if "Begin" not in asked and len(seen) == 0 else "brown"
                seen.append(value)
                fact = {"entity": "Mira", "attribute": "hair", "value": value, "quote": " ".join(told.split()[:4])}
                return json.dumps({"facts": [fact]})
            if "cannot be true" in asked or "both cannot be true" in asked:
                return json.dumps({"numbers": [1]})
            if "contradicts what was told before" in asked:
                told = asked.partition("The passage:\n\n")[2].partition("\n\nChange")[0]
                return told.replace("the", "THE", 1) + " Then she ran from the"
            return author_replies(messages)

        seen = []
        novel = await write("re3", candidates=1, replies=contrary)
        edits = novel.prompts("contradicts what was told before")
        assert len(edits) == len(novel.passages) - 1
        assert novel.passages[0]["passage"] not in "".join(edits)
        assert "the hair of Mira is grey" in edits[0]
        assert "THE" in novel.passages[1]["passage"]
        assert all(one["passage"][-1] in '.!?"' for one in novel.passages), (
            "an edit ends with a sentence, as a draft does"
        )


class TestDrafts:
    def test_faults_are_counted_as_specified(self):
        clean = "Mira lit the lamp. Tobias came late and said nothing."
        assert draft_penalty(clean, "") == 0
        assert draft_penalty("One two three four five six.", "One two three four five six.") == pytest.approx(
            0.3 * 2 + 1
        )
        assert draft_penalty("I lit the lamp.", "") == 10
        assert draft_penalty('"I lit it," Mira said. "You came late."', "") == 0
        assert draft_penalty("She thought of you.", "") == 10
        assert draft_penalty("## Chapter 2\n\nMira lit the lamp.", "") >= 10

    def test_we_and_quotations_in_single_marks_are_told_apart(self):
        told = ["We walked to our house.", "It was dark to us.", "You're late.", "“Stay,” he said, and I stayed."]
        told += ["Then I went.", "The boys' lamp was mine's and I knew it."]
        assert [draft_penalty(text, "") for text in told] == [10] * len(told)
        said = ["'I know you,' she said.", "‘I don’t know you,’ she said.", "'We came late. It was our boat.'"]
        said += [
            "The lamps of World War I ended.",
            "\"'I know,' he told me,\" said Mira.",
            "“It's our boat",
            "'We came",
        ]
        assert [draft_penalty(text, "") for text in said] == [0] * len(said)

    def test_a_fact_told_first_stays(self):
        def fact(value, entity="Mira Voss"):
            return {"entity": entity, "attribute": "Hair", "value": value, "quote": "q"}

        (clash,) = find_conflicts([fact("grey")], [fact("brown", "mira voss")])
        assert (clash["old"], clash["new"]) == ("grey", "brown")
        assert find_conflicts([fact("grey")], [fact("Grey")]) == []
        assert merge_facts([fact("grey")], [fact("brown"), fact("red", "Tobias")])[0]["value"] == "grey"

    def test_a_full_store_keeps_what_was_stated_first(self):
        def fact(number):
            return {"entity": f"Person {number}", "attribute": "hair", "value": "grey", "quote": "q"}

        store = []
        for number in range(0, 1200, 6):
            store = merge_facts(store, [fact(at) for at in range(number, number + 6)])
        assert store[:200] == [fact(at) for at in range(200)]
        assert len(store) == 1000


LEAVES = [
    {"event": "Mira finds the letter.", "parent": 0, "setting": "the lamp room", "characters": ["Mira"]},
    {"event": "Mira asks Tobias.", "parent": 0, "setting": "the quay", "characters": ["Mira", "Tobias"]},
    {"event": "Tobias runs.", "parent": 1, "setting": "The Quay", "characters": ["Tobias"]},
]


class TestDoc:
    def test_the_outline_so_far_is_collapsed(self):
        main = ["The letter comes.", "The hunt begins."]
        assert collapsed(main, LEAVES, 1) == ["Mira finds the letter."]
        assert collapsed(main, LEAVES, 2) == ["The letter comes."]

    def test_people_are_described_up_to_the_leaf(self):
        people = [{"name": "Mira", "portrait": "a keeper"}, {"name": "Tobias", "portrait": "a pilot"}]
        assert people_at(people, LEAVES, 0) == ["Mira: a keeper"]
        assert people_at(people, LEAVES, 2) == ["Tobias: a pilot Lately: Mira asks Tobias."]

    def test_moves_and_entrances(self):
        assert movement(LEAVES, 1) == "The story moves from the lamp room to the quay."
        assert movement(LEAVES, 2) == ""
        assert entering(LEAVES, 1) == ["Tobias"]
        assert entering(LEAVES, 2) == []

    async def test_the_outline_is_made_level_by_level_and_filtered(self, write):
        novel = await write("doc", 900, candidates=1)
        asked = novel.prompts()
        kinds = [
            kind
            for text in asked[2:]
            for kind in ("Give its plot", "Divide this part", "Proposed events", "Give for each event")
            if kind in text
        ]
        first = ["Give its plot", "Proposed events"]
        assert kinds[:2] == first
        assert kinds.count("Divide this part") >= 3
        assert kinds.index("Divide this part") < kinds.index("Give for each event")
        divided = novel.prompts("Divide this part")
        assert "What happens in the next part:" in divided[0]
        assert "What happens before:" in divided[-1]

    async def test_known_and_repeated_events_are_left_out(self, write):
        def repeating(messages):
            asked = str(messages[-1].text)
            if "Divide this part into" in asked:
                count = int(re.findall(r"into (\d) events", asked)[0])
                return json.dumps({"events": ["Mira runs over the bridge at night."] * count})
            return author_replies(messages)

        novel = await write("doc", 900, candidates=1, replies=repeating)
        assert len(novel.prompts("Divide this part")) == 6, "every part is divided twice"

    async def test_a_filter_that_passes_nothing_leaves_leaves_enough_for_the_length(self, write):
        def strict(messages):
            # Only the filter's replies have these fields.
            return author_replies(messages).replace('"in_order": true', '"in_order": false')

        novel = await write("doc", 6000, candidates=1, replies=strict)
        assert 9 <= len({passage["plan"] for passage in novel.passages}) <= 16
        assert novel.result["words"] == pytest.approx(6000, rel=0.1)

    async def test_a_draft_prompt_has_its_parts_in_order(self, write):
        novel = await write("doc", 900, candidates=1)
        last = novel.prompts("In the upcoming passage:", **PROSE)[-1]
        marks = ["Premise:", "This part of the story:", "People:", "The outline so far:", "in short:", "Just before:"]
        assert in_order(last, *marks, "In the upcoming passage:", "The story stops here:")
        moves = novel.prompts("In the upcoming passage:", "The story moves from", **PROSE)
        assert moves
        assert "Only after that:" in novel.prompts("In the upcoming passage:", **PROSE)[0]
        tails = [
            text.partition("stops here:\n\n")[2].partition("\n\nGo on")[0] for text in novel.prompts("stops here:")
        ]
        assert max(map(count_tokens, tails)) <= 256

    def test_of_three_levels_what_is_over_is_told_by_its_part(self):
        leaves = [
            {**leaf, "parent": 0, "part": part} for leaf, part in zip(LEAVES, ("One.", "One.", "Two."), strict=True)
        ]
        assert collapsed(["The letter comes."], leaves, 1) == ["Mira finds the letter."]
        assert collapsed(["The letter comes."], leaves, 2) == ["One."]

    async def test_as_published_it_has_three_levels_and_short_passages_graded_with_their_leaf(self, write):
        novel = await write("doc", 3000, candidates=1, published=True)
        drafted = novel.prompts("In the upcoming passage:", **PROSE)
        assert all(text.count("This part of the story:") == 2 for text in drafted)
        assert len({passage["plan"] for passage in novel.passages}) >= 20
        sizes = [int(size) for text in drafted for size in re.findall(r"in about (\d+) words", text)]
        assert sorted(sizes)[len(sizes) // 2] <= 50
        first, second = novel.passages[:2]
        assert first["plan"] == second["plan"], "a leaf has several passages"
        graded = novel.prompts("Grade every draft")
        assert "has told so far" not in graded[0]
        assert f"has told so far:\n\n{first['passage']}" in graded[1]
        assert novel.result["words"] == pytest.approx(3000, rel=0.1)

    async def test_a_falling_score_ends_a_leaf(self, write, monkeypatch):
        monkeypatch.setattr("recurrentgpt.studies.baselines.drafts.FAULTS_WEIGHT", 0.0)

        def graded(later):
            def replies(messages):
                asked = str(messages[-1].text)
                if "Grade every draft" in asked:
                    grade = 10 if "In it," in asked else later
                    names = (
                        ["relevance", "coherence"]
                        + ["move"] * ("moves:" in asked)
                        + ["entering"] * ("come in:" in asked)
                    )
                    return json.dumps({name: [grade] for name in names})
                return author_replies(messages)

            return replies

        steady = await write("doc", 2400, candidates=1, replies=graded(10))
        novel = await write("doc", 2400, candidates=1, replies=graded(2))
        dropped, kept = (len(one.prompts("Grade every draft")) - len(one.passages) for one in (novel, steady))
        assert dropped > kept == 0
        assert novel.result["words"] == pytest.approx(2400, rel=0.1)


@pytest.mark.parametrize("system", sorted(SYSTEMS))
async def test_no_system_writes_what_the_author_has_banned(write, system):
    tell = "It was a testament to the drowned bell, and nobody spoke of it."

    def replies(messages):
        told = author_replies(messages)
        if not told.startswith("{"):
            return f"{tell} {told}"
        form = json.loads(told)
        return json.dumps(
            {name: f"{tell} {form[name]}" if name in ("passage", "paragraph") else form[name] for name in form}
        )

    novel = await write(system, 600, replies=replies, banned="a testament to; tapestry", guards="none", candidates=2)
    assert novel.passages
    assert not [passage["passage"] for passage in novel.passages if "testament" in passage["passage"]]
    assert tell in (await write(system, 600, replies=replies, guards="none", candidates=2)).passages[0]["passage"]
