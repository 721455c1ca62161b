"""The toy study from its recorded calls, offline, and the report of a run: tables, tests, plots and rows."""

import csv
import json

import pytest
from typer.testing import CliRunner

from recurrentgpt.cli.app import app
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.plan import Judge
from recurrentgpt.studies.report.pages import write_report
from recurrentgpt.studies.runner import run
from recurrentgpt.studies.scripted import scripted_author

from .conftest import QUICK

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Give the folder of the toy study, run and reported as the issue's one command does."""
    path = tmp_path_factory.mktemp("toy")
    for command in (["run", "toy", "-o", str(path / "run")], ["report", str(path / "run"), "-o", str(path / "report")]):
        done = CliRunner().invoke(app, ["study", *command])
        assert done.exit_code == 0, done.output
    return path


def test_the_toy_study_is_written_from_recorded_calls(toy):
    folder = RunFolder.open(toy / "run")
    novels = folder.novels()
    assert len(novels) == len(list(folder.plan.jobs())) == 12
    assert {novel["system"] for novel in novels} == set(folder.plan.systems)
    assert all(novel["words"] == pytest.approx(novel["target"], rel=0.2) for novel in novels)
    assert not list((toy / "run").glob("calls/*")), "a replay asks no model and records nothing"


def test_the_toy_report_has_every_part(toy):
    text = (toy / "report" / "report.md").read_text()
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings[1] == "Measures without a judge"
    assert {"Recall of planted facts", "Win matrix", "The run", "Deviations from the paper"} <= set(headings)
    pictures = list((toy / "report").glob("*.png"))
    assert {path.name for path in pictures} >= {"prompts.png", "repetition.png", "recall-retrieval.png"}
    assert all(path.read_bytes().startswith(PNG) for path in pictures)
    page = (toy / "report" / "report.html").read_text()
    assert all(f'src="{path.name}"' in page for path in pictures)
    with (toy / "report" / "measures.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    rows = [json.loads(line) for line in (toy / "report" / "measures.jsonl").read_text().splitlines()]
    assert [row["novel"] for row in table] == [row["novel"] for row in rows]
    assert len(rows) == 12


def test_an_unknown_run_and_a_damaged_recording_are_a_sentence(toy, tmp_path):
    done = CliRunner().invoke(app, ["study", "report", str(tmp_path), "-o", str(tmp_path / "r")])
    assert done.exit_code != 0
    plan = RunFolder.open(toy / "run").plan.model_copy(update={"replay": str(tmp_path), "recall": 0})
    folder = RunFolder.create(tmp_path / "run", plan)
    (tmp_path / f"{next(plan.jobs()).id}.jsonl").write_text('{"format": "recurrentgpt-calls", "ver')
    outcome = run(folder, lambda event: None, retry=QUICK)
    assert outcome.finished == 0
    damaged, *missing = [row["error"] for row in folder.failures()]
    assert "cut off or damaged in line 1" in damaged
    assert all("There is no recording" in error for error in missing)
    with pytest.raises(StudyError, match="No novel of"):
        write_report(folder, tmp_path / "report")


@pytest.fixture
def judged(tmp_path, plan):
    """Give a run whose judge prefers recurrentgpt on one premise of two, is qualified, and agrees with two people."""
    plan = plan.model_copy(update={"judges": [Judge(model="reader", family="a"), Judge(model="blind")], "family": "a"})
    folder = RunFolder.create(tmp_path / "judged", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    for name, right in (("reader", 12), ("blind", 3)):
        kinds = dict.fromkeys(("shuffled", "doubled", "swapped"), right / 12)
        folder.append("qualification.jsonl", {"judge": name, "pairs": 12, "right": right, "by_kind": kinds})
    for unit, preference in (("mystery-01-s1", 1.0), ("fantasy-01-s1", 0.5)):
        for criterion in plan.criteria:
            row = {"unit": unit, "first": "recurrentgpt", "second": "rolling_1024", "criterion": criterion}
            folder.append("verdicts.jsonl", {**row, "judge": "reader", "preference": preference})
            folder.append("verdicts.jsonl", {**row, "judge": "blind", "preference": 0.0})
            for person in ("Ada", "Bob"):
                folder.append("labels.jsonl", {**row, "annotator": person, "preference": preference})
    return folder


def test_preferences_come_in_the_papers_shape_and_unqualified_judges_are_not_heard(judged, tmp_path):
    write_report(judged, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    judges = text.partition("preferred by judges")[2].partition("\n## ")[0]
    assert "| mystery | interesting | recurrentgpt : rolling_1024 | 100 : 0 |" in judges
    assert "| all genres | coherent | recurrentgpt : rolling_1024 | 75 : 25 |" in judges
    assert "| all genres | interesting | recurrentgpt : rolling_1024 | 75 : 25 |" in text.partition("by people")[2]
    assert "reader (the generator's own family) | 12/12" in text
    assert "| blind | 3/12 | 0.25 | 0.25 | 0.25 | not qualified |" in text
    assert "Krippendorff's alpha among 2 people on 4 items: 1.00" in text
    assert "| recurrentgpt |  | 75 |" in text.partition("## Win matrix")[2]
    assert "| models | scripted |" in text


def test_what_a_plan_is_called_cannot_run_in_the_page(judged, tmp_path):
    judged.append("failures.jsonl", {"novel": "x", "error": "<script>"})
    manifest = judged.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"commit": "', '"commit": "<script>alert(1)</script>'))
    write_report(judged, tmp_path / "report")
    assert "<script>" not in (tmp_path / "report" / "report.html").read_text()
