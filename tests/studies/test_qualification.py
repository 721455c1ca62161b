"""How many corrupted copies a judge is shown, what a slip costs it, and how many of its calls are under way at a time."""

import asyncio

import pytest

from recurrentgpt.studies.judging import judge_runner as judging
from recurrentgpt.studies.judging.judge_runner import judge_run
from recurrentgpt.studies.judging.pairwise import JudgeReply, Verdicts, counted_judges
from recurrentgpt.studies.runs.costs import judging_cost
from recurrentgpt.studies.runs.plan import Judge
from recurrentgpt.testing import ScriptedChatModel

from .conftest import QUICK, refusing
from .readers import answer, judged_run, reader


def judged(folder, chat):
    """Return what a run says while its one judge is asked."""
    said = []
    assert judge_run(folder, said.append, models={"reader": chat}, retry=QUICK) == 0
    return " ".join(said)


@pytest.fixture
def grow(tmp_path, plan):
    """Give a function that returns one run with ever more premises of two genres."""

    def grown(premises, genres=("mystery", "fantasy")):
        larger = plan.model_copy(update={"premises": premises, "genres": list(genres)})
        return judged_run(tmp_path / "run", larger, Judge(model="reader"))

    return grown


@pytest.mark.parametrize(("slips", "told"), [([True], 23), ([True, False, True], 22)])
def test_a_judge_is_shown_24_pairs_by_each_criterion_of_however_few_novels(grow, slips, told):
    left = iter(slips)

    def slipping(messages):
        return (
            answer(messages, "tie") if "more coherent" in messages[0].text and next(left, False) else reader(messages)
        )

    folder, chat = grow(1, ["fantasy"]), ScriptedChatModel(replies=slipping)
    said = judged(folder, chat)
    assert f"reader told {told} of 24 stories from corrupted copies, asked which is coherent" in said
    assert "reader told 24 of 24 stories from corrupted copies, asked which is interesting" in said
    heard = {"coherent", "interesting"} if told >= 23 else {"interesting"}
    assert counted_judges(folder) == {"reader": heard}
    assert len(chat.calls) == 2 * (2 * 24 + len(heard))
    assert len({unit for row in folder.rows("qualification.jsonl") for unit in row["units"]}) == 8


def test_a_judge_that_has_seen_24_is_shown_no_more(grow):
    chat = ScriptedChatModel(replies=reader)
    judged(grow(4), chat)
    folder = grow(5)
    assert "from corrupted copies" not in judged(folder, chat)
    assert [row["pairs"] for row in folder.rows("qualification.jsonl")] == [24, 24]
    assert len(chat.calls) == 2 * (2 * 24 + 10 * 2)


def test_a_judge_that_goes_while_it_qualifies_keeps_what_it_told(grow):
    folder, chat = grow(2), ScriptedChatModel(replies=refusing(reader, after=7))
    assert judge_run(folder, lambda text: None, models={"reader": chat}, retry=QUICK) == 1
    assert [row["pairs"] for row in folder.rows("qualification.jsonl")] == [3]
    again = ScriptedChatModel(replies=reader)
    assert "told 24 of 24" in judged(folder, again)
    assert len(again.calls) == 2 * (21 + 24) + 2 * 8


def test_no_more_calls_of_a_judge_are_under_way_than_the_plan_allows(grow, monkeypatch):
    now = most = 0

    async def slow(*given):
        nonlocal now, most
        now += 1
        most = max(now, most)
        for _ in range(3):
            await asyncio.sleep(0)
        now -= 1
        quoted = {"quotes_a": ["Mira"], "quotes_b": ["Mira"]}
        return Verdicts(JudgeReply(verdict="A", **quoted), JudgeReply(verdict="B", **quoted))

    monkeypatch.setattr(judging, "judge_both_orders", slow)
    for parallel in (1, 6):
        folder, most = grow(3), 0
        (folder.path / "verdicts.jsonl").unlink(missing_ok=True)
        folder = folder.create(folder.path, folder.plan.model_copy(update={"parallel": parallel}))
        judge_run(folder, lambda text: None, models={"reader": ScriptedChatModel()}, retry=QUICK)
        assert most == parallel


def test_spoilt_copies_that_are_missing_are_told_of_beforehand(plan):
    plan = plan.model_copy(update={"premises": 4, "judges": [Judge(model="reader")]})
    both = [("reader", criterion) for criterion in plan.criteria]
    verdicts = judging_cost(plan, qualified=dict.fromkeys(both, True)).calls
    assert verdicts == 8 * 2 * 2
    shown = {both[0]: 1, both[1]: 8}
    assert judging_cost(plan, qualified=dict.fromkeys(both, True), shown=shown).calls == verdicts + 7 * 3 * 2
    assert judging_cost(plan, qualified=dict.fromkeys(both, False), shown=dict.fromkeys(both, 8)).calls == 0
    assert judging_cost(plan).calls == verdicts + 2 * 8 * 3 * 2
    assert judging_cost(plan, refused={"reader"}).calls == 0
    few = plan.model_copy(update={"premises": 1})
    assert judging_cost(few).calls == 2 * 2 * 2 + 2 * 8 * 3 * 2
