"""The folder of a run: what may change between runs, what was cut off or damaged, and what its manifest says."""

import json

import pytest

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.report.write_report import write_report
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, Options, Price, parse_plan
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author
from recurrentgpt.testing import ScriptedChatModel

from .conftest import PLAN, QUICK


def quiet(event):
    """Take no notice."""


@pytest.fixture
def finished(folder):
    """Give a folder whose four novels are written."""
    run(folder, quiet, model=scripted_author(), retry=QUICK)
    return folder


def test_what_does_not_decide_a_novel_may_change_and_novels_are_added(finished, plan):
    more = {
        "judges": [Judge(model="reader")], "parallel": 1, "price": Price(input=1, output=2), "seeds": [1, 2], "recall": 4,
        "systems": ["recurrentgpt", "rolling_1024", "one_shot"], "genres": ["mystery", "fantasy", "horror"],
        "options": {"re3": Options(candidates=2)}, "words": {"mystery": 500, "fantasy": 500, "horror": 600},
    }  # fmt: skip
    before = finished.novels()
    again = RunFolder.create(finished.path, plan.model_copy(update=more))
    assert again.plan.judges[0].model == "reader"
    outcome = run(again, quiet, model=scripted_author(), retry=QUICK)
    assert (outcome.kept, outcome.finished) == (4, 3 * 3 * 2 - 4)
    assert [novel for novel in again.novels() if novel in before] == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "other"), ("model", "another"), ("base_url", "http://127.0.0.1:9/v1"), ("tier", "small"), ("temperature", 0.1),
        ("embedder", "default"), ("words", {"mystery": 500, "fantasy": 501}),
        ("options", {"recurrentgpt": Options(candidates=3)}), ("replay", "elsewhere"),
    ],
)  # fmt: skip
def test_what_decides_a_novel_may_not_change(folder, plan, field, value):
    with pytest.raises(StudyError, match=rf"another plan \({field} differs\)"):
        RunFolder.create(folder.path, plan.model_copy(update={field: value}))
    assert folder.plan == plan


def test_a_plan_is_not_changed_under_a_run_that_is_at_work(folder, plan):
    with folder.writing_lock(), pytest.raises(StudyError, match="written by another process"):
        RunFolder.create(folder.path, plan.model_copy(update={"parallel": 1}))


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_what_a_crash_cut_off_is_mended_before_the_next_line(folder, cut):
    rows = [{"judge": "reader", "error": f"Zoë fell {number} times"} for number in range(3)]
    for row in rows:
        folder.append("judge_failures.jsonl", row)
    path = folder.path / "judge_failures.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    whole = folder.rows("judge_failures.jsonl")
    folder.append("judge_failures.jsonl", rows[0])
    assert folder.rows("judge_failures.jsonl") == [*whole, rows[0]]
    assert len(whole) == {1: 3, 20: 2, 60: 1}[cut]


def test_a_line_cut_in_the_middle_of_a_letter_is_half_a_line(folder):
    folder.append("failures.jsonl", {"novel": "a", "error": "b"})
    with (folder.path / "failures.jsonl").open("ab") as file:
        file.write('{"novel": "Zoë'.encode()[:-1])
    assert [row["novel"] for row in folder.rows("failures.jsonl")] == ["a"]


def test_of_rows_about_the_same_thing_the_last_holds(folder):
    row = {"annotator": "Ada", "unit": "u", "first": "x", "second": "y", "criterion": "coherent"}
    for preference in (1.0, 0.0, 0.5):
        folder.append("labels.jsonl", {**row, "preference": preference})
    folder.append("labels.jsonl", {**row, "annotator": "Bob", "preference": 1.0})
    assert [found["preference"] for found in folder.rows("labels.jsonl")] == [0.5, 1.0]


def test_who_is_forgotten_has_said_nothing_and_others_have(finished, plan):
    judges = [Judge(model="reader/1"), Judge(model="other")]
    run = RunFolder.create(finished.path, plan.model_copy(update={"judges": judges}))
    pair = {"unit": "u", "first": "x", "second": "y", "criterion": "coherent", "preference": 1.0}
    for name in ("reader/1", "other"):
        run.append("verdicts.jsonl", {"judge": name, **pair})
        run.append("judge_failures.jsonl", {"judge": name, "error": "gone"})
        (run.path / "calls" / Judge(model=name).file).write_text("{}\n")
    for name in ("Ada", "Bob"):
        run.append("labels.jsonl", {"annotator": name, **pair})
    assert run.speakers() == {"reader/1", "other", "Ada", "Bob"}
    assert (run.forget("reader/1"), run.forget("Ada"), run.forget("Zoë")) == (2, 1, 0)
    assert run.speakers() == {"other", "Bob"}
    assert [row["judge"] for row in run.rows("verdicts.jsonl")] == ["other"]
    assert [judge.model for judge in run.plan.judges] == ["other"]
    assert sorted(path.name for path in run.path.glob("calls/judge-*")) == ["judge-other.jsonl"]
    assert len(run.novels()) == 4


@pytest.mark.parametrize("row", [{"judge": "reader"}, {"preference": 1.0}, 7, "text"])
def test_a_row_without_its_fields_is_a_sentence(folder, row):
    (folder.path / "verdicts.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(StudyError, match=r"verdicts.jsonl is damaged"):
        folder.rows("verdicts.jsonl")


@pytest.mark.parametrize("preference", [2, "high", None, float("nan")])
def test_a_preference_that_is_none_is_a_sentence(folder, preference):
    row = {"judge": "j", "unit": "u", "first": "x", "second": "y", "criterion": "c", "preference": preference}
    folder.append("verdicts.jsonl", row)
    with pytest.raises(StudyError, match=r"verdicts.jsonl is damaged, `preference` must be"):
        folder.rows("verdicts.jsonl")


def test_a_novel_without_its_fields_is_a_sentence_for_report_and_run(finished):
    job = next(finished.plan.jobs())
    (finished.path / "novels" / f"{job.id}.json").write_text('{"id": "x"}')
    with pytest.raises(StudyError, match=r"novels/.*damaged, `system` is missing: restore it, or delete"):
        finished.novels()
    with pytest.raises(StudyError, match="damaged"):
        run(finished, quiet, model=scripted_author(), retry=QUICK)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("usage", {}), ("usage", None), ("text", None), ("passages", [{"step": 1}]), ("passages", {}), ("words", "500"),
        ("target", 0), ("models", None), ("system", "another"), ("unit", "mystery-02-s1"), ("number", None), ("outdated", "no"),
    ],
)  # fmt: skip
def test_damage_within_a_novel_is_a_sentence_that_names_its_file(finished, tmp_path, field, value):
    path = finished.path / "novels" / f"{next(finished.plan.jobs()).id}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(StudyError, match=rf"novels/.*\.json (is damaged, `{field}|holds another novel)"):
        write_report(finished, tmp_path / "report")


@pytest.mark.parametrize(
    ("name", "row", "field"),
    [
        ("qualification.jsonl", {"judge": "j", "pairs": "x", "right": 3, "by_kind": {}}, "pairs"),
        ("qualification.jsonl", {"judge": "j", "pairs": 3, "right": 3, "by_kind": None}, "by_kind"),
        (
            "recall.jsonl",
            {"system": "recurrentgpt", "level": "text", "distance": 1, "there": 1, "tries": 1},
            "retrieval",
        ),
        ("failures.jsonl", {"novel": "x", "error": None}, "error"),
        ("manifest.json", {"versions": None}, "versions"),
        ("manifest.json", {"models": {"writer": None}}, "models.writer"),
        ("manifest.json", {"premises": {"mystery": {"first": "x"}}}, "premises.mystery"),
        ("manifest.json", {"plan": []}, "plan"),
    ],
)
def test_damage_within_rows_and_manifest_is_a_sentence_that_names_its_file(finished, tmp_path, name, row, field):
    path = finished.path / name
    known = json.loads(path.read_text()) if name == "manifest.json" else {}
    path.write_text(json.dumps({**known, **row}) + "\n")
    with pytest.raises(StudyError, match=rf"{name} is damaged, `{field}"):
        write_report(finished, tmp_path / "report")


def test_a_manifest_of_a_newer_plan_or_without_its_fields_is_a_sentence(folder):
    manifest = folder.path / "manifest.json"
    known = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**known, "plan": {**known["plan"], "colour": "blue"}}))
    with pytest.raises(
        StudyError, match=r"manifest.json cannot be read, `colour` is no setting: read it with the version"
    ):
        RunFolder.open(folder.path).novels()
    del known["commit"]
    manifest.write_text(json.dumps(known))
    with pytest.raises(StudyError, match="damaged, `commit` is missing"):
        RunFolder.open(folder.path)


def test_the_manifest_has_the_models_that_were_used_and_all_versions(finished):
    models = finished.manifest["models"]
    assert set(models) >= {"writer", "planner", "memory"}
    assert set(map(tuple, models.values())) == {("scripted",)}
    assert {"python", "langgraph", "scipy", "matplotlib"} <= set(finished.manifest["versions"])
    finished.note_models({"judge": "reader"})
    finished.note_models({"judge": "another"})
    assert finished.manifest["models"] == {**models, "judge": ["another", "reader"]}


def test_a_manifest_of_an_earlier_version_is_gone_on_with(finished):
    manifest = finished.path / "manifest.json"
    known = json.loads(manifest.read_text())
    del known["models"]
    known["plan"]["judges"] = [{"model": "reader", "base_url": None, "family": ""}]
    manifest.write_text(json.dumps(known))
    again = RunFolder.create(finished.path, finished.plan)
    assert run(again, quiet, model=ScriptedChatModel(replies=[]), retry=QUICK).kept == 4
    assert len(RunFolder.open(again.path).novels()) == 4


def test_a_judge_that_is_added_may_not_write_where_another_one_does(folder, plan):
    RunFolder.create(folder.path, plan.model_copy(update={"judges": [Judge(model="a/b")]}))
    twice = [Judge(model="a/b"), Judge(model="a_b")]
    with pytest.raises(StudyError, match="Two judges are called a_b"):
        RunFolder.create(folder.path, plan.model_copy(update={"judges": twice}))
    assert [one.model for one in folder.plan.judges] == ["a/b"]


def test_what_a_plan_names_twice_is_there_once(tmp_path):
    twice = PLAN.replace('["mystery", "fantasy"]', '["mystery", "mystery"]').replace(
        "premises = 1", "premises = [1, 2, 1]"
    )
    judge = '\n[[judges]]\nmodel = "m"\n'
    plan = parse_plan(f'{twice}seeds = [1, 1]\ncriteria = ["coherent", "coherent"]{judge}{judge}', "small", tmp_path)
    assert len(list(plan.jobs())) == len({job.id for job in plan.jobs()}) == 4
    assert (plan.criteria, len(plan.judges)) == (["coherent"], 1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "not 50"),
        ('[[judges]]\nmodel = "a/b"\n[[judges]]\nmodel = "a/b"\nfamily = "x"\n', "Two judges are called a/b"),
        ('[[judges]]\nmodel = "a/b"\n[[judges]]\nmodel = "a_b"\n', "Two judges are called a_b"),
        ('[[judges]]\nmodel = "a"\napi_key_env = "sk-12345"\n', "api_key_env"),
    ],
)
def test_a_plan_that_could_not_be_run_is_said_before_it_is(tmp_path, more, message):
    text = PLAN + more if more else PLAN.replace("words = 500", "words = 50")
    with pytest.raises(StudyError, match=message) as error:
        parse_plan(text, "small", tmp_path)
    assert "12345" not in str(error.value), "what may be a key is not repeated"
