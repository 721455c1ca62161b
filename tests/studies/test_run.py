"""Plans and runs: what is read, what goes on after a crash, what fails, and what is never done twice."""

import asyncio
import json
from pathlib import Path

import pytest

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.runs.costs import estimate, per_1000_words
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import PRESETS, parse_plan, read_plan
from recurrentgpt.studies.runs.premises import GENRES, premises
from recurrentgpt.studies.runs.runner import novel_settings, run, write_novels
from recurrentgpt.studies.scripted_author import author_replies, scripted_author
from recurrentgpt.studies.study_context import pace
from recurrentgpt.testing import ScriptedChatModel

from .conftest import PLAN, QUICK, refusing


def quiet(event):
    """Take no notice."""


def test_there_are_twenty_premises_of_each_genre_and_none_twice():
    every = [premise for genre in GENRES for premise in premises(genre)]
    assert [len(premises(genre)) for genre in GENRES] == [20] * 6
    assert len(set(every)) == 120
    assert all(20 <= len(premise.split()) <= 70 for premise in every)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_can_be_read(name):
    plan = read_plan(name)
    jobs = list(plan.jobs())
    assert len({job.id for job in jobs}) == len(jobs)
    assert estimate(jobs, plan)["calls"] > 0


def test_the_tables_have_the_papers_lengths():
    plan = read_plan("table1")
    jobs = list(plan.jobs())
    assert len(jobs) == 8 * 20 * 6
    assert all({"paper", "bare"} < set(read_plan(name).systems) for name in ("table1", "table2"))
    settings = {job.system: novel_settings(plan, job) for job in jobs}
    assert (settings["re3"]["candidates"], settings["doc"]["candidates"], settings["doc"]["published"]) == (10, 8, True)
    assert {job.genre: job.words for job in jobs} == {
        **dict.fromkeys(GENRES[:3], 6000),
        **dict.fromkeys(GENRES[3:], 3000),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"rolling_1024"]', '"rolling_9"]'), "no system 'rolling_9'"),
        (('"fantasy"]', '"cookery"]'), "no premises of the genre 'cookery'"),
        (("premises = 1", "premises = 21"), "premise number 21 of mystery, which has 20"),
        (("premises = 1", "premises = []"), "a list of their numbers, from 1; it is empty"),
        (("premises = 1", "premises = -2"), "from 1; it is -2"),
        (("premises = 1", "premises = [1, 0]"), "from 1; it is 0"),
        (("premises = 1", 'premises = "all"'), "`premises` must be how many"),
        (("premises = 1", "premises = 100_000_000_000"), "premise number 21 of mystery"),
        (("words = 500", "words = {mystery = 500}"), "no length for fantasy"),
        (("words = 500", 'words = "long"'), "`words` must be a whole number, or a table"),
        (("parallel = 2", "parallel = 0"), "`parallel` must be at least 1"),
        (("parallel = 2", "parallel = 65"), "`parallel` must be at most 64"),
        (("parallel = 2", 'parallel = "many"'), "`parallel` must be a whole number"),
        (("parallel = 2", "paralell = 2"), "`paralell` is no setting"),
        (('name = "small"', ""), "`name` is missing"),
        (('name = "small"', 'name = "a/b"'), "`name` must be 1 to 40 letters"),
        (("parallel = 2", 'tier = "huge"'), "`tier` must be 'auto', 'small' or 'full'"),
        (("parallel = 2", "seeds = [true]"), "`seeds"),
        (("parallel = 2", "temperature = 99.0"), "`temperature` must be at most 2\\."),
        (("parallel = 2", "temperature = nan"), "`temperature` must be at most 2\\."),
        (("parallel = 2", 'base_url = "nonsense"'), "'nonsense' is none"),
        (("parallel = 2", 'base_url = "http://h:99999/v1"'), "begins with http:// or https://"),
        (("parallel = 2", '[[judges]]\nmodel = "m"\nbase_url = "ftp://h"'), "'ftp://h' is none"),
        (("parallel = 2", "[[judges]]\nmodel = 7"), "`judges.1.model` must be text"),
        (("parallel = 2", 'criteria = [""]'), "`criteria` must be a list of words"),
        (("parallel = 2", "price = {input = inf, output = 1}"), "`price.input` must be a number"),
        (
            ("parallel = 2", "options = {rolling_1024 = {candidates = 4}}"),
            "rolling_1024 compares no drafts, re3 and doc do",
        ),
        (
            ("parallel = 2", "options = {rolling_1024 = {published = true}}"),
            "rolling_1024 is one way alone, doc has two",
        ),
        (
            ("parallel = 2", 'options = {recurrentgpt = {adapter = "nowhere.gguf"}}'),
            "`options.recurrentgpt.adapter`: There is no adapter nowhere.gguf",
        ),
        (
            ("parallel = 2", 'base_url = "http://h/v1"\noptions = {recurrentgpt = {adapter = "storyteller"}}'),
            "`options.recurrentgpt.adapter`: only the embedded model wears one",
        ),
        (("parallel = 2", f"seeds = [{10**50}]"), "too long a name for a novel"),
        (("parallel = 2", 'premises_file = "none.toml"'), "cannot be read"),
        (("parallel = 2", "parallel = "), "not TOML"),
    ],
)
def test_a_plan_that_cannot_be_run_is_a_sentence(change, message):
    with pytest.raises(StudyError, match=message):
        parse_plan(PLAN.replace(*change), "small", Path())
    assert PLAN.replace(*change) != PLAN


def test_a_system_may_wear_an_adapter():
    plan = parse_plan(PLAN + 'options = {recurrentgpt = {adapter = "storyteller@0.6"}}\n', "small", Path())
    assert plan.options["recurrentgpt"].adapter == "storyteller@0.6"


def test_a_plan_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(StudyError, match="There is no plan"):
        read_plan(str(tmp_path / "none.toml"))
    with pytest.raises(StudyError, match="There is no plan"):
        read_plan(str(tmp_path))


def test_premises_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text('["cookery"]\npremises = ["A cook finds\\n a spoon."]\n')
    plan = PLAN.replace('["mystery", "fantasy"]', '["cookery"]') + 'premises_file = "mine.toml"\n'
    assert [job.premise for job in parse_plan(plan, "p", tmp_path).jobs()] == ["A cook finds a spoon."] * 2
    (tmp_path / "other.toml").write_text('cookery = ["x"]')
    with pytest.raises(StudyError, match="needs a list"):
        premises("cookery", tmp_path / "other.toml")


@pytest.mark.parametrize("target", [600, 3000, 6000])
def test_any_passages_within_their_pace_end_within_a_tenth(target):
    for share in (0.0, 0.5, 1.0):
        written, steps = 0, 0
        while True:
            now = pace(written, target)
            written += round(now.least + share * (now.most - now.least))
            steps += 1
            if now.finale == "last" and written >= 0.9 * target:
                break
        assert 0.9 * target <= written <= 1.1 * target
        assert steps < target / 100


def test_a_run_writes_every_novel_and_its_calls(folder):
    outcome = run(folder, quiet, model=scripted_author(), retry=QUICK)
    assert (outcome.finished, outcome.kept, outcome.failed) == (4, 0, 0)
    novels = folder.novels()
    assert [novel["id"] for novel in novels] == [job.id for job in folder.plan.jobs()]
    for job, novel in zip(folder.plan.jobs(), novels, strict=True):
        calls = [json.loads(line) for line in folder.calls(job).read_text().split("\n") if line]
        assert sum("key" in row for row in calls) == novel["usage"]["calls"]
        assert novel["text"].count("\n\n") >= len(novel["passages"]) - 1
    assert folder.manifest["versions"]["langgraph"]


def test_a_run_is_answered_from_its_recordings(folder, tmp_path):
    run(folder, quiet, model=scripted_author(), retry=QUICK)
    plan = folder.plan.model_copy(update={"replay": str(folder.path / "calls")})
    again = RunFolder.create(tmp_path / "again", plan)
    run(again, quiet, retry=QUICK)
    assert [novel["text"] for novel in again.novels()] == [novel["text"] for novel in folder.novels()]


def test_a_replay_tells_the_time_that_the_recording_took(folder, tmp_path):
    run(folder, quiet, model=scripted_author(), retry=QUICK)
    taken = {}
    for job in folder.plan.jobs():
        path = folder.calls(job)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**row, "seconds": 100.5} if "key" in row else row) + "\n" for row in rows))
        taken[job.id] = 100.5 * sum("key" in row for row in rows)
    plan = folder.plan.model_copy(update={"replay": str(folder.path / "calls")})
    again = RunFolder.create(tmp_path / "again", plan)
    run(again, quiet, retry=QUICK)
    for novel in again.novels():
        assert novel["usage"]["seconds"] == pytest.approx(taken[novel["id"]])
        assert {part["usage"]["seconds"] for part in novel["passages"]} == {None}


async def test_a_novel_that_is_told_to_stop_has_not_failed(folder):
    begun = asyncio.Event()

    async def closing(job, tell):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("no active connection")

    told = []
    task = asyncio.create_task(write_novels(folder, told.append, closing))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert folder.rows("failures.jsonl") == []
    assert told == []


def test_finished_novels_are_never_written_again(folder):
    run(folder, quiet, model=scripted_author(), retry=QUICK)
    idle = ScriptedChatModel(replies=[])
    outcome = run(folder, quiet, model=idle, retry=QUICK)
    assert (outcome.finished, outcome.kept, outcome.failed) == (0, 4, 0)
    assert idle.calls == []


def test_a_novel_that_failed_goes_on_where_it_stopped_and_is_the_same(folder, tmp_path):
    broken = ScriptedChatModel(tier="full", model_name="scripted", replies=refusing(author_replies, after=6))
    outcome = run(folder, quiet, model=broken, retry=QUICK)
    assert outcome.failed > 0
    assert "The account is empty" in folder.failures()[0]["error"]
    steps = []
    healed = ScriptedChatModel(tier="full", model_name="scripted", replies=author_replies)
    run(folder, lambda event: steps.append(event.what), model=healed, retry=QUICK)
    assert "goes on" in steps
    assert folder.failures() == []
    whole = RunFolder.create(tmp_path / "whole", folder.plan)
    fresh = ScriptedChatModel(tier="full", model_name="scripted", replies=author_replies)
    run(whole, quiet, model=fresh, retry=QUICK)
    assert [novel["text"] for novel in folder.novels()] == [novel["text"] for novel in whole.novels()]
    assert len(healed.calls) < len(fresh.calls)


def test_what_a_crash_left_behind_was_paid_for_and_is_counted(tmp_path, plan):
    folder = RunFolder.create(tmp_path / "run", plan.model_copy(update={"systems": ["re3"], "genres": ["mystery"]}))
    (job,) = folder.plan.jobs()

    def tried(replies):
        model = ScriptedChatModel(tier="full", model_name="scripted", replies=replies)
        failed = run(folder, quiet, model=model, retry=QUICK).failed
        rows = map(json.loads, folder.calls(job).read_text().splitlines())
        return failed, [row for row in rows if "key" in row]

    failed, rows = tried(refusing(author_replies, after=2))
    assert failed == 1
    # A process that dies in a step has made calls that are recorded and in no passage of the log: here, the last one.
    with folder.calls(job).open("a") as file:
        file.write(json.dumps(rows[-1]) + "\n")
    failed, rows = tried(author_replies)
    assert failed == 0
    usage = folder.novel(job)["usage"]
    assert usage["calls"] == len(rows)
    for kind in ("input", "cached", "output"):
        assert usage[f"{kind}_tokens"] == sum(row["usage"][kind] for row in rows)
    assert usage["seconds"] == pytest.approx(sum(row["seconds"] for row in rows))


@pytest.mark.parametrize("ended", [True, False])
def test_a_novel_whose_story_log_is_lost_is_begun_anew(folder, ended):
    replies = author_replies if ended else refusing(author_replies, after=9)
    broken = ScriptedChatModel(tier="full", model_name="scripted", replies=replies)
    assert bool(run(folder, quiet, model=broken, retry=QUICK).failed) != ended
    for path in [*folder.path.glob("stories.db*"), *folder.path.glob("novels/*")]:
        path.unlink()
    said = []
    whole = ScriptedChatModel(tier="full", model_name="scripted", replies=author_replies)
    assert run(folder, lambda event: said.append(event.what), model=whole, retry=QUICK).finished == 4
    assert "stories.db does not have what was written of it, and it is begun anew" in said
    assert all(len(novel["passages"]) > 1 for novel in folder.novels())


def test_a_folder_of_another_plan_or_version_or_kind_is_a_sentence(folder, tmp_path, plan):
    with pytest.raises(StudyError, match=r"another plan \(words differs\)"):
        RunFolder.create(folder.path, plan.model_copy(update={"words": 600}))
    manifest = folder.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 7'))
    with pytest.raises(StudyError, match="format 7, this one reads 1"):
        RunFolder.open(folder.path)
    manifest.write_text("{")
    with pytest.raises(StudyError, match="cannot be read"):
        RunFolder.open(folder.path)
    with pytest.raises(StudyError, match="is no run of a study"):
        RunFolder.open(tmp_path)
    with pytest.raises(StudyError, match="is not empty and no run"):
        RunFolder.create(tmp_path, plan)


def test_two_processes_do_not_write_one_run(folder):
    with folder.writing_lock(), pytest.raises(StudyError, match="written by another process"), folder.writing_lock():
        pass


async def test_costs_in_the_list_are_what_systems_cost(write):
    for name in ("recurrentgpt", "rolling_1024", "single_call"):
        novel = await write(name, 3000)
        calls = len(novel.model.calls) / (novel.result["words"] / 1000)
        assert per_1000_words(name).calls == pytest.approx(calls, rel=0.35)
