"""Somebody at the choice: simulated writers, what their choices were, and whether passages carry them out."""

import json
import re

import pytest
from typer.testing import CliRunner

from recurrentgpt.cli.app import app
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.baselines.personas import PERSONAS
from recurrentgpt.studies.judging.adherence import adherence, judge_adherence, unasked
from recurrentgpt.studies.measures.choices import MEASURE, origin, steps
from recurrentgpt.studies.report.write_report import write_report
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, read_plan
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author
from recurrentgpt.testing import ScriptedChatModel

from .conftest import QUICK
from .readers import novel

DOOR, SEA, LAMP = "Mira opens the green door.", "Tobias sails across the northern sea.", "Adela lights a lantern."


def passage(plan, text, offered=(DOOR, SEA, LAMP)):
    return {"step": 2, "plan": plan, "text": text, "words": len(text.split()), "offered": list(offered)}


def test_a_plan_is_one_that_was_offered_or_made_of_it_or_ones_own():
    assert origin(DOOR, [DOOR, SEA]) == DOOR
    assert origin("Mira opens the green door at night.", [SEA, DOOR]) == DOOR
    assert origin("Nobody speaks for seven years.", [SEA, DOOR]) is None
    assert origin("Nobody speaks.", []) is None


def test_a_choice_shows_in_the_text_as_far_as_the_plan_that_was_taken_does_and_the_others_do_not():
    text = "Mira opened the green door, and nobody was there."
    (taken,) = steps([passage(DOOR, text)])
    assert (taken.how, taken.follows, taken.follows_others) == ("accepted", 1.0, 0.0)
    (other,) = steps([passage(SEA, text)])
    assert (other.follows, other.follows_others) == (0.0, 0.5)


def test_what_is_typed_takes_attention():
    text = "Mira opened the green door."
    accepted, edited, own = (
        steps([passage(plan, text)])[0].minutes
        for plan in (DOOR, "Mira opens the green door tonight.", "Kasimir counts his seven coins twice.")
    )
    assert accepted < edited < own


def test_a_passage_before_which_nothing_was_offered_has_no_choice():
    assert steps([passage(DOOR, "Mira slept.", offered=())]) == []


@pytest.mark.parametrize("system", PERSONAS)
async def test_a_persona_takes_changes_and_writes_plans_at_its_rates(write, system):
    novel = await write(system, 6000)
    offered = {commit["id"]: commit["candidate_plans"] for commit in novel.commits}
    choices = [(commit["plan"], offered[commit["parent"]]) for commit in novel.passages[1:]]
    taken = sum(plan in plans for plan, plans in choices) / len(choices)
    assert taken == pytest.approx(PERSONAS[system].accepts, abs=0.25)
    asked = novel.prompts(PERSONAS[system].wish)
    assert len(asked) >= len(choices)
    own = sum("Take none of them." in text for text in asked) / len(asked)
    assert own == pytest.approx(1 - PERSONAS[system].accepts - PERSONAS[system].edits, abs=0.25)


def test_players_play(tmp_path):
    small = {"words": 600, "genres": ["mystery"], "premises": 1, "embedder": "hash-256"}
    folder = RunFolder.create(tmp_path / "plays", read_plan("plays").model_copy(update=small))
    model = scripted_author()
    assert run(folder, lambda event: None, model=model, retry=QUICK).failed == 0
    prompts = ["\n".join(str(message.text) for message in call) for call in model.calls]
    asked = [text for text in prompts if "The program offers these plans" in text]
    assert asked
    assert all("you are its main character" in text for text in asked)
    told = [text for text in prompts if text not in asked]
    assert told
    assert all("interactive" in text for text in told)


def judging(happens):
    """Return a judge that says of each plan what `happens` says of it, with a quote of the passage."""

    def reply(messages):
        asked = str(messages[-1].text)
        text = asked.partition("=== PASSAGE\n")[2].partition("\n=== END")[0]
        plans = [line.partition(". ")[2] for line in asked.splitlines() if line[:1].isdigit() and ". " in line]
        quote = " ".join(text.split()[:4])
        said = [{"number": at, "quote": quote, "happens": happens(plan)} for at, plan in enumerate(plans, start=1)]
        return json.dumps({"plans": said})

    return ScriptedChatModel(tier="full", model_name="judge", replies=reply)


@pytest.fixture
def written(tmp_path):
    """Give a finished run of the plan `sessions`, at a small size."""
    plan = read_plan("sessions")
    assert plan.systems[-1] == "recurrentgpt"
    small = plan.model_copy(update={"words": 900, "genres": ["mystery"], "premises": 1, "embedder": "hash-256"})
    folder = RunFolder.create(tmp_path / "sessions", small)
    assert run(folder, lambda event: None, model=scripted_author(), retry=QUICK).failed == 0
    return folder


def test_a_judge_tells_the_plan_that_was_taken_from_those_that_were_left(written, tmp_path):
    taken = {part["plan"] for novel in written.novels() for part in novel["passages"]}
    judge = Judge(model="judge", family="other")
    left = len(unasked(written, "judge"))
    model = judging(lambda plan: "yes" if plan in taken else "partly")
    assert judge_adherence(written, judge, lambda said: None, model=model) == 0
    assert len(model.calls) == left
    found = adherence(written)
    assert [one.system for one in found] == written.plan.systems
    assert all(one.effect == pytest.approx(one.taken - one.left) for one in found)
    assert {(one.premises, one.low, one.high) for one in found} == {(1, None, None)}, "one premise has no interval"
    # What one novel left may be what another took.
    assert {one.taken for one in found} == {1.0}
    assert all(0.5 <= one.left < 0.75 for one in found)
    for row in written.rows("adherence.jsonl"):
        assert sorted([row["place"], *row["left_places"]]) == list(range(1, 2 + len(row["left"])))
        assert len(row["left_quotes"]) == len(row["left"])
    write_report(written, tmp_path / "report", lambda said: None)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8").partition("## Adherence to plans")[2]
    assert all(f"| judge | {one.system} | 1 | {one.passages} | 1.00 | {one.left:.2f} |" in text for one in found)
    assert judge_adherence(written, judge, lambda said: None, model=model) == 0
    assert len(model.calls) == left, "no passage is asked about twice"
    shown = CliRunner().invoke(app, ["study", "adherence", str(written.path), "--json"])
    assert [json.loads(line)["taken"] for line in shown.stdout.splitlines()] == [1.0] * 4


def test_adherence_is_a_mean_over_premises_with_their_interval(tmp_path):
    small = {"words": 900, "genres": ["mystery"], "premises": 3, "embedder": "hash-256", "systems": ["recurrentgpt"]}
    folder = RunFolder.create(tmp_path / "sessions", read_plan("sessions").model_copy(update=small))
    said = {1: ["yes"] * 9, 2: ["yes"], 3: ["partly"]}
    for job in folder.plan.jobs():
        folder.save_novel(job, {**novel(job), "words": 900})
        for step, taken in enumerate(said[job.number], start=1):
            folder.append(
                "adherence.jsonl", {"judge": "j", "novel": job.id, "step": step, "taken": taken, "left": ["no"]}
            )
    (found,) = adherence(folder)
    assert (found.premises, found.passages) == (3, 11)
    assert found.taken == found.effect == pytest.approx(2.5 / 3), "nine passages of one premise weigh as one"
    assert found.low < found.effect < found.high
    for job in list(folder.plan.jobs())[:2]:
        for step in range(1, 10):
            folder.append("adherence.jsonl", {"judge": "j", "novel": job.id, "step": step, "taken": "yes", "left": []})
    (found,) = adherence(folder)
    assert (found.taken, found.left, found.effect) == (pytest.approx(2.5 / 3), 0, 0.5), "two premises left nothing"
    assert (found.low, found.high) == (None, None)


def test_what_is_said_to_happen_has_to_be_quoted(written):
    def unquoted(messages):
        plans = re.findall(r"(?m)^\d+\. ", str(messages[0].text))
        said = [{"number": at, "quote": "Never was such a night.", "happens": "yes"} for at in range(1, len(plans) + 1)]
        return json.dumps({"plans": said})

    said = []
    model = ScriptedChatModel(tier="full", model_name="judge", replies=unquoted)
    failed = judge_adherence(written, Judge(model="judge", family="other"), said.append, model=model)
    assert failed == len(unasked(written, "judge")) > 0
    assert "no usable answer in two tries" in said[0]


def test_a_judge_of_the_generators_family_is_refused(written):
    shown = CliRunner().invoke(app, ["study", "adherence", str(written.path), "--judge", "scripted"])
    assert "own family" in str(shown.exception or shown.output)


def test_choices_stand_in_the_report(written, tmp_path):
    write_report(written, tmp_path / "report", lambda said: None)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "follows plan" in text.replace("_", " ")
    rows = [MEASURE.compute(novel, SYSTEMS[novel["system"]]) for novel in written.novels()]
    assert rows[0]["accepted"] == 1.0
    assert all(row["words_per_minute"] > 0 for row in rows)
