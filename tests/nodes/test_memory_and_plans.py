"""update_memory and propose_plans: ceilings that hold, reasons that are true, plans that differ."""

import json
from itertools import pairwise

import pytest

from recurrentgpt.nodes.write import MOST_SAMPLES
from recurrentgpt.prose.list_marks import without_marks, without_number
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.testing import story_replies

KEY = "The tall captain hides a brass key beneath the stairs."


def changed(*add, drop=(), replace=(), why="It matters."):
    """Return a reply that changes the memory: `replace` holds pairs of a number and a sentence."""
    return json.dumps({
        "drop": [{"number": number, "why": why} for number in drop],
        "replace": [{"number": number, "sentence": sentence, "why": why} for number, sentence in replace],
        "add": [{"sentence": sentence, "why": why} for sentence in add],
        "summary": "Mira left.",
    })  # fmt: skip


def answering(model, reply, repair="{}"):
    """Let the model answer calls for a memory with `reply(number of the call)`, those for an repair with `repair`."""
    plain, calls, again = model.replies, [], []

    def replies(messages):
        text = plain(messages)
        fields = set(json.loads(text)) if text.startswith("{") else set()
        if {"drop", "summary", "turns"} <= fields:
            calls.append(messages)
            return reply(len(calls))
        if "drop" in fields:
            again.append(messages)
            return repair
        return text

    model.replies = replies
    return calls, again


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_memory_stays_within_its_ceilings_and_keeps_learning(write, model, tier):
    model.tier = tier
    commits = await write(steps=14)
    for before, after in pairwise(commits):
        old, new = before["short_term_memory"].splitlines(), after["short_term_memory"].splitlines()
        assert 1 <= len(new) <= 20
        assert count_words(after["short_term_memory"]) <= 500
        assert [item["sentence"] for item in after["rationale"]["added"]] == [line for line in new if line not in old]
        dropped = [item["sentence"] for item in after["rationale"]["dropped"]]
        assert set(dropped) >= {line for line in old if line not in new}
        assert not set(dropped) & set(new)
        assert after["rationale"]["added"]
        assert after["summary"]
    if tier == "small":
        assert len(commits[-1]["short_term_memory"].splitlines()) >= 10
        assert all(item["why"] for commit in commits for item in commit["rationale"]["dropped"])


LONG = [f"Mira counted {number} grey stones on the {number}th of May." for number in range(30)]


async def test_a_model_that_cannot_be_short_is_cut_to_the_ceilings(write, model):
    calls, again = answering(model, lambda number: changed(*LONG))
    opening, first = await write(steps=1)
    assert (len(calls), len(again)) == (1, 1), "it is asked once what else to drop"
    kept = first["short_term_memory"].splitlines()
    before = opening["short_term_memory"].splitlines()
    assert len(kept) <= 20
    assert set(kept) <= {*LONG, *before}
    dropped = [item for item in first["rationale"]["dropped"] if item["sentence"] in LONG]
    assert {item["sentence"] for item in dropped} == set(LONG) - set(kept)
    assert all("at most" in item["why"] for item in dropped)


async def test_what_is_too_much_is_asked_about_alone(write, model):
    """A memory over its ceilings costs a short reply about that, and not the whole memory a second time."""
    repair = json.dumps({
        "drop": [{"number": number, "why": "A stone is a stone."} for number in range(9, 31)],
        "replace": [{"number": 4, "sentence": "Mira lost count of the stones.", "why": "Shorter."}],
    })  # fmt: skip
    calls, again = answering(model, lambda number: changed(*LONG, drop=(1, 2, 3)), repair)
    opening, first = await write(steps=1)
    assert len(opening["short_term_memory"].splitlines()) == 3
    assert first["short_term_memory"].splitlines() == [*LONG[:3], "Mira lost count of the stones.", *LONG[4:8]]
    (asked,) = again
    *before, request = calls[0]
    assert asked[: len(before)] == before
    assert request.text.startswith(asked[len(before)].text), "a server's cache has all but the last turns"
    assert asked[-1].text.startswith("With that the short-term memory holds:\n1. Mira counted 0 grey stones")
    assert "That is 30 sentences and 300 words, and it keeps to 18 sentences and 450 words" in asked[-1].text
    assert [item["why"] for item in first["rationale"]["dropped"]] == ["It matters."] * 3
    assert first["usage"]["resamples"] == 1


async def test_a_little_more_than_was_asked_for_is_nothing_to_ask_about(write, model):
    """The prompt asks for eighteen sentences and 450 words; twenty and 500 are kept as they are."""
    fits = [f"On {day} May Mira paid Bo {'silver ' * 18}coins." for day in range(1, 21)]
    calls, again = answering(model, lambda number: changed(*fits, drop=(1, 2, 3)))
    _, first = await write(steps=1)
    assert count_words(first["short_term_memory"]) == 500
    assert first["short_term_memory"].splitlines() == fits
    assert (len(calls), len(again)) == (1, 0)


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("He opened the gate.", True),
        ("Mira left the same evening.", True),
        ("Mira wrote to Bo the next day.", True),
        ("Mira rows at noon of 4 May and sails at dusk of that day.", False),
        ("Mira rows on the 4th of May, and he sails that day.", False),
        ("Mira sails that day, before the 4th of May.", True),
        ("May Vale left Bo that night.", True),
        ('Bo wrote "Come tonight, they know" on 4 May.', False),
        ("The heron on the gate is Mira's.", False),
    ],
)
async def test_a_sentence_that_cannot_be_read_alone_is_asked_about(write, model, sentence, asked):
    repair = json.dumps({"replace": [{"number": 1, "sentence": "Bo opened the gate on 4 May.", "why": "Who, when."}]})
    _, again = answering(model, lambda number: changed(sentence, drop=(1, 2, 3)), repair)
    _, first = await write(steps=1)
    assert first["short_term_memory"] == ("Bo opened the gate on 4 May." if asked else sentence)
    assert [("number 1 does not say who or when" in turns[-1].text) for turns in again] == [True] * asked


async def test_in_another_language_words_are_not_read_for_what_they_lean_on(write, model):
    _, again = answering(model, lambda number: changed("Die Tür ging auf.", "She wept."))
    await write(steps=1, language="German")
    assert again == []


async def test_reasons_belong_to_what_really_changed(write, model):
    memories = {
        1: changed("Mira has a lamp.", "Bo fell.", drop=(1, 2, 3)),
        2: changed(
            "Cy  sings.", "Mira has a lamp.", drop=(7, 2), replace=[(1, "Mira lost the lamp."), (2, "No.")], why="So."
        ),
    }
    answering(model, memories.__getitem__)
    commits = await write(steps=2)
    memory = ["Mira lost the lamp.", "No.", "Cy sings.", "Mira has a lamp."]
    assert commits[2]["short_term_memory"].splitlines() == memory
    assert commits[2]["rationale"] == {
        "dropped": [{"sentence": "Bo fell.", "why": "So."}],
        "added": [{"sentence": sentence, "why": "So."} for sentence in memory[:3]],
    }


async def test_a_sentence_that_is_dropped_and_replaced_is_replaced(write, model):
    answering(model, lambda number: changed(drop=(1, 2), replace=[(1, KEY)], why="So."))
    opening, first = await write(steps=1)
    before = opening["short_term_memory"].splitlines()
    assert first["short_term_memory"].splitlines() == [KEY, before[2]]
    assert first["rationale"] == {
        "dropped": [{"sentence": line, "why": "So."} for line in before[:2]],
        "added": [{"sentence": KEY, "why": "So."}],
    }


async def test_sentences_without_their_reasons_are_taken_as_they_are_said(write, model):
    model.tier = "full"
    reply = {
        **json.loads(changed()),
        "add": [KEY, "  "],
        "replace": ["1: Mira owes Bo two coins.", "(2) Bo has a boat."],
    }
    calls, again = answering(model, lambda number: json.dumps(reply))
    opening, first = await write(steps=1)
    assert (len(calls), len(again)) == (1, 0)
    *_, third = opening["short_term_memory"].splitlines()
    memory = ["Mira owes Bo two coins.", "Bo has a boat.", third, KEY]
    assert first["short_term_memory"].splitlines() == memory
    added = [{"sentence": line, "why": ""} for line in memory if line != third]
    assert first["rationale"]["added"] == added


@pytest.mark.parametrize("said", [KEY, "3. M\u00e4rz 1936: Bo kam zur\u00fcck."])
async def test_a_replacement_that_does_not_say_of_what_is_asked_about(write, model, said):
    model.tier = "full"
    reply = {**json.loads(changed("Bo fell.")), "replace": [said]}
    _, again = answering(model, lambda number: json.dumps(reply))
    opening, first = await write(steps=1)
    assert "Number 1 under replace of your reply cannot be used (it is an object)" in again[0][-1].text
    assert first["short_term_memory"].splitlines() == [*opening["short_term_memory"].splitlines(), "Bo fell."]


async def test_a_memory_of_which_nothing_is_left_holds_the_passage(write, model):
    answering(model, lambda number: changed(drop=(1, 2, 3)))
    _, first = await write(steps=1)
    assert first["short_term_memory"] == "Mira left."


async def test_the_memory_is_told_once_in_a_timestep(write, model):
    calls, _ = answering(model, lambda number: changed(f"Mira has {number} lamps."))
    await write(steps=2)
    told = "\n".join(str(turn.text) for turn in calls[1])
    assert told.count("Mira has 1 lamps.") == 1
    assert "4. Mira has 1 lamps." in told


async def test_templates_that_show_no_numbers_have_the_memory_told_with_them(write, model, tmp_path):
    (tmp_path / "novel" / "full").mkdir(parents=True)
    (tmp_path / "novel" / "full" / "write.md").write_text("{{ plan }} {{ memory | join(' ') }}")
    calls, _ = answering(
        model, lambda number: changed(f"Mira has {number} lamps.", drop=(1, 2, 3) if number == 1 else ())
    )
    await write(steps=2, prompts=str(tmp_path))
    assert "It held:\n1. Mira has 1 lamps.\n" in calls[1][-1].text


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("tier", ["small", "full"])
async def test_as_many_plans_as_asked_for(write, model, tier, count):
    model.tier = tier
    commits = await write(steps=2, plans=count)
    assert [len(commit["candidate_plans"]) for commit in commits[1:]] == [count, count]
    assert 1 <= len(commits[0]["candidate_plans"]) <= count
    assert all(len(set(commit["candidate_plans"])) == len(commit["candidate_plans"]) for commit in commits[1:])


@pytest.mark.parametrize(("offered", "asked"), [((5,), 1), ((2, 3), 2), ((2, 1), 2)])
async def test_a_capable_model_that_miscounts_its_plans_is_asked_again_for_too_few_alone(write, model, offered, asked):
    plain, calls = model.replies, []
    plans = ["**A reversal:** Mira runs to the old mill.", "Bo hides.", "A storm comes.", "Ada lies.", "Jon pays."]

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and set(json.loads(text)) == {"plans"}:
            calls.append(messages)
            return json.dumps({"plans": plans[: offered[len(calls) - 1]]})
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert len(calls) == asked
    assert commits[1]["candidate_plans"] == ["Mira runs to the old mill.", *plans[1 : min(3, offered[-1])]]


async def test_a_model_that_gives_no_plans_is_told_how_many_are_wanted_and_so_is_whoever_runs_it(write, model):
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and set(json.loads(text)) == {"plans"}:
            calls.append(messages)
            return json.dumps({"plans": []})
        return text

    model.replies = replies
    with pytest.raises(ModelReplyError, match=r"two tries \(It has 0 plans and needs 1 or more\)"):
        await write(steps=1)
    assert "It has 0 plans and needs 1 or more." in calls[1][-1].text


async def test_a_founding_of_objects_is_read(write, model):
    """Where no server holds a model to the form, some give an object for each person, turn and plan."""
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and "characters" in (reply := json.loads(text)):
            calls.append(messages)
            reply["characters"] = [{"who": "the keeper", "name": "Mira Lind", "wants": "oil"}, "Bo: a clerk"]
            reply["outline"] = [{"turn": 1, "what": "The lamp goes out."}, {"turn": 2, "what": "It is lit."}]
            reply["plans"] = [
                {"kind": "loss", "plan": plan, "reason": f"{plan} Nobody expects it.", "odds": 0.7, "note": None}
                for plan in PLANS
            ]
            return json.dumps(reply)
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert (commits[0]["candidate_plans"], len(calls)) == (PLANS, 1)
    prompts = "\n".join(message.text for call in model.calls for message in call)
    assert "- Mira Lind: the keeper, oil\n- Bo: a clerk\n" in prompts
    assert "1. The lamp goes out.\n2. It is lit.\n" in prompts


PLANS = ["Mira runs to the old mill.", "Bo hides the ledger.", "A stranger asks for oil."]


@pytest.mark.parametrize(
    "offered",
    [
        pytest.param(PLANS, id="no object around them"),
        pytest.param({"plans": [{"kind": "discovery", "plan": plan} for plan in PLANS]}, id="an object each"),
    ],
)
async def test_plans_in_another_form_are_read(write, model, offered):
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and set(json.loads(text)) == {"plans"}:
            calls.append(messages)
            return json.dumps(offered)
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert commits[1]["candidate_plans"] == PLANS
    assert len(calls) == 1


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize(
    ("said", "read"),
    [("Plan 2", True), ("2", True), ("2.", True), ("**2** (the mill)", True), ("-2", False), ("2 or 3", False)],
)
async def test_the_number_of_a_choice_is_read_where_it_is_clear(write, model, tier, said, read):
    model.tier, plain, calls = tier, model.replies, []

    def replies(messages):
        text = plain(messages)
        reply = json.loads(text) if text.startswith("{") else {}
        if "index" not in reply:
            return text
        calls.append(messages)
        return json.dumps({**reply, "index": said if len(calls) == 1 else 2, "plan": "2. Mira rows out alone."})

    model.replies = replies
    commits = await write(steps=2)
    assert len(calls) == (1 if read else 2)
    assert commits[2]["plan"].removeprefix("2. ") == "Mira rows out alone."


async def test_plans_that_say_the_same_are_asked_for_again(write, model):
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{") and set(json.loads(text)) == {"plans"}:
            calls.append(messages)
            if len(calls) == 1:
                return json.dumps({"plans": ["Mira runs to the old mill."] * 2 + ["Bo hides."]})
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert len(calls) == 2
    assert "must go its own way" in calls[1][-1].text
    assert len(set(commits[1]["candidate_plans"])) == 3
    assert commits[1]["usage"]["resamples"] == 1


@pytest.mark.parametrize(("happened", "problem"), [("", "say the same"), (KEY, "has happened")])
async def test_a_small_models_plans_say_something_new_in_meaning_too(write, model, happened, problem):
    model.tier, plain, calls = "small", model.replies, []
    turned = " ".join(reversed(KEY.split()))

    def replies(messages):
        text = plain(messages)
        fields = json.loads(text) if text.startswith("{") else {}
        if len(fields) == 3 and not {"why", "summary", "facts"} & set(fields):
            calls.append(messages)
            if len(calls) == 1:
                first, _, third = fields
                return json.dumps({**fields, first: turned} | ({} if happened else {third: KEY}))
        return text

    model.replies = replies
    commits = await write({"premise": "Mira tends a lamp.", "plan": happened or "Mira waits."}, steps=1)
    assert len(calls) == 2
    assert problem in calls[1][-1].text
    assert commits[1]["usage"]["resamples"] == 1


@pytest.mark.parametrize("alike", [2, 4])
async def test_a_small_model_that_says_its_plans_again_is_asked_anew(write, model, alike):
    model.tier, plain, calls = "small", model.replies, []

    def replies(messages):
        text = plain(messages)
        fields = json.loads(text) if text.startswith("{") else {}
        if len(fields) == 3 and not {"why", "summary", "facts"} & set(fields):
            calls.append([message.text for message in messages])
            if len(calls) <= alike:
                return json.dumps(dict.fromkeys(fields, KEY))
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert calls[0] == calls[2] != calls[1]
    assert commits[1]["usage"]["resamples"] == len(calls) - 1 == (2 if alike == 2 else 3)
    assert len(set(commits[1]["candidate_plans"])) == (3 if alike == 2 else 1)


async def test_plans_of_two_replies_that_cannot_be_used_make_three_that_can(write, model):
    model.tier, plain, said = "small", model.replies, []
    lamp, boat = "Mira trims the wick of the great lamp.", "Mira rows out to the wreck."

    def replies(messages):
        text = plain(messages)
        fields = json.loads(text) if text.startswith("{") else {}
        if len(fields) == 3 and not {"why", "summary", "facts"} & set(fields) and len(said) < 2:
            said.append(dict(zip(fields, ([KEY, KEY, lamp], [lamp, boat, boat])[len(said)], strict=True)))
            return json.dumps(said[-1])
        return text

    model.replies = replies
    commits = await write(steps=1)
    assert commits[1]["candidate_plans"] == [KEY, boat, lamp]
    assert commits[1]["usage"]["resamples"] == 1, "nothing is asked a third time"


@pytest.mark.parametrize(
    "reply", ["", "   ", "I'm sorry, but I can't help with that.", "Chapter 1\n\n# The End", "word " * 600]
)
async def test_prose_that_stays_unusable_ends_after_some_samples(write, model, write_prompts, reply):
    plain = model.replies
    model.replies = lambda messages: text if (text := plain(messages)).startswith("{") else reply
    with pytest.raises(Exception, match="try again") as caught:
        await write(steps=1)
    assert isinstance(caught.value, ModelReplyError) or not reply.strip()
    assert len(write_prompts()) <= MOST_SAMPLES


async def test_a_short_sample_is_continued_from_where_it_stopped(write, model, write_prompts):
    plain, parts = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{"):
            return text
        parts.append(" ".join(text.split("\n\n")[:2]))
        return parts[-1]

    model.replies = replies
    commits = await write(steps=1, min_words=200)
    assert len(parts) > 1
    words = commits[1]["passage"].split()
    assert 200 <= len(words) <= 400
    assert words[: len(parts[0].split())] == parts[0].split()
    assert parts[0] in write_prompts()[1]
    # A memory that is asked about again is no sample of the passage.
    repairs = sum("With that the short-term memory holds" in str(call[-1].text) for call in model.calls)
    assert commits[1]["usage"]["resamples"] - repairs == len(parts) - 1


def writing(model, *passages):
    """Let the model answer calls for prose with these passages in their order, and others as before."""
    left = list(passages)
    model.replies = lambda messages: text if (text := story_replies(messages)).startswith("{") else left.pop(0)


def scene(count):
    words = [f"{letter}{ending}" for letter in "bcdfgklmprst" for ending in ("ench", "oat", "ridge", "all", "ell")]
    return "\n\n".join(
        f"Mira {words[n]}ed the {words[-n - 1]} by the {words[n // 2]} {n + 1} times." for n in range(count)
    )


@pytest.mark.parametrize("last", ["The last lamp was hers.", '"I never told him to\u2014"', "*Yours, Nan*"])
async def test_not_a_word_of_a_capable_models_passage_is_lost(write, model, last):
    passage = f"{scene(14)}\n\n* * *\n\n{last}"
    writing(model, passage)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == passage
    assert commit["usage"]["resamples"] == 0


async def test_a_passage_that_is_much_too_long_is_kept_as_it_is(write, model, write_prompts):
    writing(model, scene(30))
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert count_words(scene(30)) > 200
    assert commit["passage"] == scene(30)
    assert len(write_prompts()) == 1


async def test_a_comment_is_asked_about_with_the_reason(write, model, write_prompts):
    clean = scene(8)
    writing(model, f"{clean}\n\nMIRA: We have to go.", clean)
    _, commit = await write(steps=1, min_words=60, max_words=100)
    assert commit["passage"] == clean
    assert "script" in write_prompts()[1]


async def test_the_place_in_the_novel_is_told_and_the_end_leaves_no_room(write, write_prompts, model):
    await write(steps=2, ending=True, new_character=1.0)
    first, last = write_prompts()[0], write_prompts()[-1]
    assert "passage 1 of 2" in first
    assert "passage 2 of 2" in last
    assert "Leave room" not in last
    assert "new character" not in last


BAD = {"sentence": "The reeve keeps a ledger of the dead at Oldstone."}
"""An entry without its reason."""


def with_bad_entry(**parts):
    """Return a reply to a call for a memory of which one entry cannot be used."""
    good = {"sentence": KEY, "why": "It opens the door."}
    reply = {"drop": [], "replace": [], "add": [good, BAD], "turns": [], "clues": [], "summary": "Mira left."}
    return json.dumps({**reply, **parts})


async def test_a_bad_entry_is_asked_for_again_alone(write, model):
    model.tier = "full"
    mended = {"add": [{**BAD, "why": "The dead are counted."}]}
    calls, again = answering(model, lambda number: with_bad_entry(), repair=json.dumps(mended))
    commit = (await write(steps=1))[1]
    assert (len(calls), len(again)) == (1, 1), "what was good is not asked for again"
    assert {KEY, BAD["sentence"]} <= set(commit["short_term_memory"].splitlines())
    assert {"sentence": BAD["sentence"], "why": "The dead are counted."} in commit["rationale"]["added"]
    *_, shown, request = again[0]
    assert KEY in shown.text
    assert BAD["sentence"] in request.text
    assert "Number 2 under add of your reply cannot be used (why: Field required)" in request.text
    assert commit["usage"]["resamples"] == 1


async def test_of_a_bad_entry_twice_the_rest_stays(write, model):
    model.tier = "full"
    calls, again = answering(model, lambda number: with_bad_entry(), repair=json.dumps({"add": [BAD]}))
    commit = (await write(steps=1))[1]
    assert len(calls) == 1
    assert KEY in commit["short_term_memory"]
    assert BAD["sentence"] not in commit["short_term_memory"]
    assert len(again) == 2, "a repair of which nothing can be used is asked for once more"


async def test_a_summary_that_is_missing_is_asked_for_alone(write, model):
    model.tier = "full"
    repair = json.dumps({"drop": [], "replace": [], "summary": "Mira came home."})
    good = [{"sentence": KEY, "why": "It opens the door."}]
    calls, again = answering(model, lambda number: with_bad_entry(summary=None, add=good), repair=repair)
    commit = (await write(steps=1))[1]
    assert (len(calls), len(again)) == (1, 1)
    assert "Your reply lacks its summary" in again[0][-1].text
    assert commit["summary"] == "Mira came home."
    assert KEY in commit["short_term_memory"]


async def test_a_reply_with_no_entry_of_use_is_asked_for_again_whole_and_shown_whole(write, model):
    model.tier = "full"
    long = [[f"Number {number} is no entry but a list of some length about the ferry."] for number in range(120)]
    good = changed(KEY)
    calls, again = answering(model, lambda n: with_bad_entry(add=long, summary="Mira left.") if n == 1 else good)
    commit = (await write(steps=1))[1]
    assert (len(calls), len(again)) == (2, 0)
    assert long[-1][0] in calls[1][-2].text, "the old reply is shown to its end"
    assert KEY in commit["short_term_memory"]


async def test_what_is_wrong_with_a_reply_is_said_of_the_reply_as_it_was_given(write, model):
    """The number of a bad entry is its number in the reply that is shown, and the request asks for its part by name."""
    model.tier = "full"
    good = {"sentence": KEY, "why": "It opens the door."}
    bare = ["The reeve keeps a ledger of the dead."]
    _, again = answering(model, lambda number: with_bad_entry(add=[bare, good]))
    await write(steps=1)
    *_, shown, request = again[0]
    assert json.loads(shown.text)["add"] == [bare, good]
    assert "Number 1 under add of your reply cannot be used (it is an object)" in request.text
    assert "\n- add: " in request.text.partition("Give only what puts this right")[2]


@pytest.mark.parametrize("part", ["replace", "add"])
async def test_a_replacement_of_a_sentence_that_is_not_there_is_asked_about(write, model, part):
    """What it was to say is not lost without a word, whether it was the number that was wrong or the part."""
    model.tier = "full"
    put_right = {"sentence": KEY, "why": "It opens the door."}
    repair = json.dumps({"drop": [], part: [{"number": 1, **put_right} if part == "replace" else put_right]})
    calls, again = answering(model, lambda number: changed(replace=[(40, KEY)]), repair=repair)
    commit = (await write(steps=1))[1]
    assert (len(calls), len(again)) == (1, 1)
    assert (
        "Number 1 under replace of your reply cannot be used (number: the memory held 3 sentences" in again[0][-1].text
    )
    asked = again[0][-1].text.partition("Give only what puts this right")[2]
    assert "\n- replace: " in asked
    assert "\n- add: " in asked
    assert commit["short_term_memory"].splitlines()[0 if part == "replace" else -1] == KEY


async def test_numbers_that_a_model_gives_its_sentences_are_not_told_twice(write, model):
    model.tier = "full"
    new = ["Mira owes Bo two coins.", "Bo owes Mira a boat."]
    numbered = [f"{number}. {sentence}" for number, sentence in enumerate(new, 3)]
    answering(model, lambda number: changed(*numbered, replace=[(2, f"2. {KEY}")]))
    commit = (await write(steps=1))[1]
    _, second, *others = commit["short_term_memory"].splitlines()
    assert second == KEY
    assert others[-2:] == new


@pytest.mark.parametrize("mark", ["{}. ", "{}) ", "({}) ", "- ", "Plan {} (cost): ", "Plan {}: "])
async def test_plans_turns_and_clues_are_kept_without_the_marks_of_their_list(write, model, write_prompts, mark):
    plain = model.replies
    plans = ["Mira rows to the island.", "Bo hides the ledger.", "A stranger asks for oil."]

    def replies(messages):
        text = plain(messages)
        if not text.startswith("{") or "plans" not in (reply := json.loads(text)):
            return text
        marked = [mark.format(number) + plan for number, plan in enumerate(plans, 1)]
        turns = {"outline": marked, "clues": marked} if "outline" in reply else {}
        return json.dumps({**reply, **turns, "plans": marked})

    model.tier, model.replies = "full", replies
    opening, first = await write(steps=1)
    assert opening["candidate_plans"] == plans
    assert first["candidate_plans"] == plans
    listed = "\n".join(f"{number}. {plan}" for number, plan in enumerate(plans, 1))
    assert write_prompts()[0].count(listed) == 2, "the turns and the clues"


def test_a_number_that_counts_nothing_stays():
    days = ["14. Februar 1936: Mira fand das Boot.", "3. März 1936: Bo kam zurück."]
    assert without_marks(days) == days
    assert without_marks(days[:1]) == days[:1]
    assert without_number(days[0], 3) == days[0]
