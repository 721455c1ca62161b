"""The toy study from its recorded calls, offline, and the report of a run: tables, tests, plots and rows."""

import csv
import json
import re
import shutil

import pytest
from typer.testing import CliRunner

from recurrentgpt.cli.app import app
from recurrentgpt.studies.baselines import personas
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.pairwise import pairs
from recurrentgpt.studies.measures.planted import passages_in, window_reach
from recurrentgpt.studies.measures.repetition import repetition
from recurrentgpt.studies.report.deviations import DIFFERENCES
from recurrentgpt.studies.report.document import Section, Table
from recurrentgpt.studies.report.figures import POOLED, results
from recurrentgpt.studies.report.preferences import paper_figures
from recurrentgpt.studies.report.sections import recall_section
from recurrentgpt.studies.report.site import write_site
from recurrentgpt.studies.report.write_report import latex, write_report
from recurrentgpt.studies.runs.costs import judging_cost
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import CRITERIA, Judge, read_plan, recordings_folder, with_systems
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author
from recurrentgpt.testing import FaultyServer

from .conftest import QUICK
from .readers import novel

PNG = b"\x89PNG"
USAGE = {"calls": 4, "input_tokens": 4000, "cached_tokens": 0, "output_tokens": 500, "seconds": 1.0, "resamples": 0}
PASSAGE = {"step": 1, "words": 300, "short_term_memory": "", "plans": 3, "usage": USAGE}


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
    assert len(novels) == len(list(folder.plan.jobs())) == 24
    assert {novel["system"] for novel in novels} == set(folder.plan.systems)
    fell_short = {novel["system"] for novel in novels if novel["words"] != pytest.approx(novel["target"], rel=0.2)}
    assert fell_short == {"one_shot", "single_call"}
    assert not list((toy / "run").glob("calls/*")), "a replay asks no model and records nothing"


def test_the_toy_was_recorded_with_shared_guards_too(toy, tmp_path):
    """Every call is found by the hash of its prompt, and one report has both."""
    done = CliRunner().invoke(app, ["study", "run", "toy", "--guards", "shared", "-o", str(tmp_path / "shared")])
    assert done.exit_code == 0, done.output
    novels = RunFolder.open(tmp_path / "shared").novels()
    assert len(novels) == 24
    assert {novel["outdated"] for novel in novels} == {0}
    runs = [str(toy / "run"), str(tmp_path / "shared")]
    assert CliRunner().invoke(app, ["study", "report", *runs, "-o", str(tmp_path / "report")]).exit_code == 0
    text = (tmp_path / "report" / "report.md").read_text()
    assert "| run | recurrentgpt | none | 2 |" in text
    assert "| shared | recurrentgpt | shared | 2 |" in text


def test_the_toy_report_has_every_part(toy):
    text = (toy / "report" / "report.md").read_text()
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["Novels and their cost", "How they read", "Measures without a judge"]
    assert {"Recall of planted facts", "Judges and annotators", "The run", "Deviations from the paper"} <= set(headings)
    pictures = list((toy / "report").glob("*.png"))
    assert {path.name for path in pictures} >= {"prompts.png", "repetition.png", "recall-retrieval.png"}
    assert all(path.read_bytes().startswith(PNG) for path in pictures)
    page = (toy / "report" / "report.html").read_text()
    assert all(f'src="{path.name}"' in page for path in pictures)
    with (toy / "report" / "measures.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    rows = [json.loads(line) for line in (toy / "report" / "measures.jsonl").read_text().splitlines()]
    assert [row["novel"] for row in table] == [row["novel"] for row in rows]
    assert len(rows) == 24


def measured(toy):
    return [json.loads(line) for line in (toy / "report" / "measures.jsonl").read_text().splitlines()]


def test_every_system_of_the_toy_has_a_row_among_the_deviations(toy):
    told = (toy / "report" / "report.md").read_text().partition("## Deviations from the paper")[2]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in told.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in row.split(", ")}
    assert {
        "recurrentgpt",
        "paper",
        "bare",
        "single_call",
        "rolling",
        "rolling_unlimited",
        "one_shot",
        "re3",
        "doc",
    } <= named
    assert "options.doc.published" in told
    every = {name for row in DIFFERENCES.rows for name in row[0].split(", ")}
    assert {name for name in SYSTEMS if not name.startswith(("rolling_", "one_shot"))} <= every | {
        system.name for system in personas.SYSTEMS
    }


def test_the_toy_says_what_it_cannot_show_before_its_first_table(toy):
    text = (toy / "report" / "report.md").read_text()
    head, _, rest = text.partition("\n| ")
    assert "24 novels of 1,200 words asked for, by 12 systems on qwen2.5-coder-1.5b" in head
    assert "Neither a judge nor anybody else has compared them." in head
    assert "2 premises decide nothing" in head
    assert "p = 0.5." in head
    assert "All of contradictions per 10000 is 0: it tells no systems apart. The 7 novels of which it is have" in rest
    assert "| contradictions per 10000 |" not in rest
    assert "| less recurrentgpt |" not in rest, "differences of two premises have no interval"
    (row,) = [row for row in measured(toy) if row["novel"] == "rolling_1024-mystery-01-s1"]
    assert (row["people_read"], row["contradictions_per_10000"]) == (0, None), (
        "nobody is known there who could be contradicted"
    )
    assert "in human band |" not in rest, "no novel is as long as that"


@pytest.fixture(scope="module")
def changed_toy(tmp_path_factory):
    """Replay two systems of the toy from another premise in one genre of two."""
    plan = with_systems(read_plan("toy"), ["rolling_1024", "one_shot"]).model_copy(update={"recall": 0})
    premises = {genre: dict(plan.chosen_premises(genre)) for genre in plan.genres}
    premises["fantasy"][1] += " It rains."
    folder = RunFolder.create(tmp_path_factory.mktemp("changed") / "run", plan.with_premises(premises))
    run(folder, lambda event: None, retry=QUICK)
    return folder


def test_what_is_counted_of_prompts_is_blank_where_they_have_changed_since_the_recording(changed_toy, tmp_path):
    folder = changed_toy
    head, _, rest = reported(folder, tmp_path).partition("\n| ")
    assert "prompts have changed since the recording was made" in head
    assert "prompts have changed since" not in rest
    changed = [row for row in measured(tmp_path) if row["changed_prompts"]]
    assert {row["genre"] for row in changed} == {"fantasy"}
    of_prompts = ("first_try", "retries", "input_tokens", "cached_tokens", "prompt_mean", "prompt_slope")
    assert all(row[name] is None for row in changed for name in of_prompts), "those were other prompts"
    kept = [row for row in measured(tmp_path) if not row["changed_prompts"]]
    assert kept
    assert all(row["input_tokens"] and row["prompt_mean"] for row in kept)


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


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Give the folder in which the novels of a judged run are kept, once they are written."""
    return tmp_path_factory.mktemp("written") / "judged"


@pytest.fixture
def judged(tmp_path, plan, written):
    """Give a run whose judge prefers recurrentgpt on one premise of two, is qualified, and agrees with two people."""
    plan = plan.model_copy(update={"judges": [Judge(model="reader", family="b"), Judge(model="blind")], "family": "a"})
    if not written.exists():
        run(RunFolder.create(written, plan), lambda event: None, model=scripted_author(), retry=QUICK)
    shutil.copytree(written, tmp_path / "judged")
    folder = RunFolder.open(tmp_path / "judged")
    for name, right in (("reader", 24), ("blind", 6)):
        kinds = dict.fromkeys(("shuffled", "doubled", "swapped"), right / 24)
        for criterion in plan.criteria:
            row = {"judge": name, "criterion": criterion, "pairs": 24, "right": right, "by_kind": kinds}
            folder.append("qualification.jsonl", row)
    for unit, preference in (("mystery-01-s1", 1.0), ("fantasy-01-s1", 0.5)):
        for criterion in plan.criteria:
            row = {"unit": unit, "first": "recurrentgpt", "second": "rolling_1024", "criterion": criterion}
            folder.append("verdicts.jsonl", {**row, "judge": "reader", "preference": preference})
            folder.append("verdicts.jsonl", {**row, "judge": "blind", "preference": 0.0})
            for person in ("Ada", "Bob"):
                folder.append("labels.jsonl", {**row, "annotator": person, "preference": preference})
    return folder


def reported(folder, tmp_path):
    write_report(folder, tmp_path / "report")
    return (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize("place", [".", "calls", "novels", "novels/deeper", "report/..", "../link"])
def test_a_report_does_not_take_the_place_of_a_runs_own_files(judged, place):
    (judged.path / "../link").symlink_to(judged.path, target_is_directory=True)
    before = {path: path.stat().st_mtime_ns for path in judged.path.rglob("*")}
    with pytest.raises(StudyError, match=r"holds the files of a run, .* name another folder"):
        write_report(judged, judged.path / place)
    assert {path: path.stat().st_mtime_ns for path in judged.path.rglob("*")} == before


def test_a_report_may_lie_in_the_folder_of_its_run(judged):
    (judged.path / "report").mkdir()
    for _ in range(2):
        assert "report.html" in {path.name for path in write_report(judged, judged.path / "report")}
    assert len(RunFolder.open(judged.path).novels()) == 4


def test_preferences_come_in_the_papers_shape_and_unqualified_judges_are_not_heard(judged, tmp_path):
    text = reported(judged, tmp_path)
    judges = text.partition("preferred by judges")[2].partition("\n## ")[0]
    heads = [line for line in judges.splitlines() if "| all genres |" in line]
    assert [line.split(" | ")[0] for line in heads] == ["| interesting", "| coherent"]
    assert all(line.startswith(f"| {name} | mystery | fantasy |") for line, name in zip(heads, CRITERIA, strict=True))
    rows = [line for line in judges.splitlines() if line.startswith("| rolling_1024 |")]
    assert [re.findall(r"\d+ : \d+ \(", row) for row in rows] == [["100 : 0 (", "50 : 50 (", "75 : 25 ("]] * 2
    assert "| reader | coherent | 24/24" in text
    assert "Verdicts of 1 of 2 judges count: fewer than 3" in text
    assert "| blind | coherent | 6/24 | 0.25 | 0.25 | 0.25 | 0 | 0 | 0 | 0 | not qualified |" in text
    for criterion in CRITERIA:
        assert f"Krippendorff's alpha of {criterion} among 2 people on 2 items" in text
    assert "a tie as far from either as they are from each other: 1.00" in text
    assert "| models | scripted |" in text


def test_several_runs_are_reported_side_by_side(judged, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(judged.path, other)
    RunFolder.create(other, judged.plan.model_copy(update={"judges": []}))
    done = CliRunner().invoke(app, ["study", "report", str(judged.path), str(other), "-o", str(tmp_path / "both")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "both" / "report.md").read_text()
    assert re.findall(r"^\| (judged|other) \| (\w+) \| own \| 2 \|", text, re.MULTILINE) == [
        (run, system) for run in ("judged", "other") for system in judged.plan.systems
    ]
    assert "## judged. Preferences: preferred by judges, guards: own" in text
    assert "## other. Preferences: preferred by people, guards: own" in text
    assert "## other. Preferences: preferred by judges" not in text, "it has no judge"
    assert all((tmp_path / "both" / name / "report.html").exists() for name in ("judged", "other"))
    drawn = re.findall(r'src="([^"]+)"', (tmp_path / "both" / "report.html").read_text())
    assert drawn == ["judged/preferences-judges.png", "judged/preferences-people.png", "other/preferences-people.png"]
    assert all((tmp_path / "both" / file).read_bytes().startswith(PNG) for file in drawn)
    same = CliRunner().invoke(app, ["study", "report", str(other), str(other), "-o", str(tmp_path / "same")])
    assert same.exit_code != 0


def test_tables_are_there_for_latex(judged, tmp_path):
    reported(judged, tmp_path)
    text = (tmp_path / "report" / "tables.tex").read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 5
    assert r"rolling\_1024 & 100 : 0" in text
    assert latex("t", [Section("50 % & more", [Table(["a_b", "c"], [["{x}^2", "\\"]])])]).splitlines()[2:8] == [
        r"\caption{50 \% \& more}",
        r"\label{tab:50-more}",
        r"\begin{tabular}{lr}\hline",
        r"a\_b & c \\\hline",
        r"\{x\}\textasciicircum{}2 & \textbackslash{} \\",
        r"\hline\end{tabular}",
    ]


def test_text_in_tables_for_latex_is_broken_into_lines(judged, tmp_path):
    reported(judged, tmp_path)
    text = (tmp_path / "report" / "tables.tex").read_text()
    tables = re.findall(r"\\begin\{tabular\}\{(.*?)\}\\hline\n(.*?)\\hline\\end", text, re.DOTALL)
    assert len(tables) > 5
    for columns, body in tables:
        kinds = re.findall(r"p\{[\d.]+\\linewidth\}|[lr]", columns)
        assert sum(float(width) for width in re.findall(r"p\{([\d.]+)", columns)) <= 0.95
        for row in body.removesuffix("\n").split(" \\\\"):
            cells = row.strip().removeprefix("\\hline").strip().split(" & ")
            assert all(kind.startswith("p") for kind, cell in zip(kinds, cells, strict=False) if len(cell) > 60)
    for columns, body in tables:
        rows = [row.removeprefix("\\hline").strip().split(" & ") for row in body.removesuffix("\n").split(" \\\\")]
        widest = [
            max(len(cell.replace("\\", "")) for cell in cells)
            for cells in zip(*filter(lambda row: len(row) > 1, rows), strict=False)
        ]
        letters = 0 if "p{" in columns else sum(widest)
        # Of Computer Modern a digit has 4 points at this size, and two columns are 6 apart.
        assert len(widest) <= 2 or 4 * letters + 6 * len(widest) <= 345, columns
    wide = Table(["system", *(f"figure {number}" for number in range(9))], [["re3", *["0.1 (0.2 and 0.3)"] * 9]])
    parts = latex("t", [Section("a", [wide])])
    assert parts.count("re3 &") == parts.count("system &") == 3, "the first column stands in each part"
    assert [parts.count(f"figure {number}") for number in range(9)] == [1] * 9
    assert parts.count(r"\label{") == 1
    long = [["word " * 20, "word " * 20]] * 12
    assert ", part 2}" in latex("t", [Section("a", [Table(["b", "c"], long)])])
    captions = re.findall(r"\\caption\{(.*)\}", text)
    assert len(captions) == len(set(captions)), "each table says what it is"


def test_a_rival_is_another_runs_first_system(judged, tmp_path):
    other = tmp_path / "strong"
    shutil.copytree(judged.path, other)
    folder = RunFolder.create(judged.path, judged.plan.model_copy(update={"rivals": {"gpt4": other}}))
    compared = {(pair.first, pair.second) for pair, _, _ in pairs(folder)}
    assert compared == {("recurrentgpt", "rolling_1024"), ("recurrentgpt", "gpt4")}
    for unit in ("mystery-01-s1", "fantasy-01-s1"):
        for criterion in CRITERIA:
            label(folder, unit, "gpt4", criterion, 0.0)
    text = reported(folder, tmp_path)
    assert "| gpt4 | 0 : 100" in text
    assert "| gpt4, the paper |  | 27.1 : 71.7 |" in text
    assert "| gpt4 | 100 |" in text.partition("## Win matrix")[2].partition("\n## ")[0]


def test_all_systems_are_compared_with_each_other_where_the_plan_says_so(plan):
    plan = plan.model_copy(update={"systems": ["recurrentgpt", "rolling_1024", "one_shot"]})
    assert len(plan.compared()) == 2
    every = plan.model_copy(update={"compare": "all"})
    assert every.compared() == [*plan.compared(), ("rolling_1024", "one_shot")]
    judging = {"judges": [Judge(model="reader")], "criteria": ["coherent"]}
    alone = [
        judging_cost(one.model_copy(update=judging), qualified={("reader", "coherent"): True}).calls
        for one in (plan, every)
    ]
    assert alone == [2 * 2 * 2, 2 * 3 * 2]


def test_preferences_come_in_the_order_of_the_plan_and_not_of_the_verdicts(tmp_path, plan):
    plan = plan.model_copy(update={"systems": ["recurrentgpt", "rolling_1024", "one_shot"], "genres": ["mystery"]})
    folder = RunFolder.create(tmp_path / "run", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    for second, criterion in (("one_shot", "coherent"), ("one_shot", "interesting"), ("rolling_1024", "coherent")):
        label(folder, "mystery-01-s1", second, criterion, 1.0)
    found = [(one.criterion, one.second) for one in results(folder) if one.genre == POOLED]
    assert found == [("interesting", "one_shot"), ("coherent", "rolling_1024"), ("coherent", "one_shot")]


def test_every_pair_that_was_compared_is_tested_with_the_others(tmp_path, plan):
    plan = plan.model_copy(update={"systems": ["recurrentgpt", "rolling_1024", "one_shot"], "criteria": ["coherent"]})
    folder = RunFolder.create(tmp_path / "run", plan)
    for job in plan.jobs():
        folder.save_novel(job, novel(job))
    for unit in ("mystery-01-s1", "fantasy-01-s1"):
        label(folder, unit, "rolling_1024", "coherent", 1.0)
    (alone,) = [one for one in results(folder) if one.genre == POOLED]
    assert alone.holm == alone.found.p == 0.5
    for unit, preference in (("mystery-01-s1", 1.0), ("fantasy-01-s1", 0.0)):
        label(folder, unit, "one_shot", "coherent", preference, first="rolling_1024")
    found = {(one.first, one.second): one for one in results(folder) if one.genre == POOLED}
    assert list(found) == [("recurrentgpt", "rolling_1024"), ("rolling_1024", "one_shot")]
    assert [one.holm for one in found.values()] == [1.0, 1.0], "two tests where there was one"
    text = reported(folder, tmp_path)
    people = text.partition("preferred by people")[2].partition("\n## ")[0]
    assert "| rolling_1024 : one_shot | coherent | 50 : 50 (0 to 100; n = 2) | 1/0/1 |" in people
    assert "| rolling_1024 | 100 : 0" in people


def test_a_rival_whose_run_has_gone_is_said_and_left_out_until_it_is_there_again(judged, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(judged.path, other)
    folder = RunFolder.create(judged.path, judged.plan.model_copy(update={"rivals": {"gpt4": other}}))
    label(folder, "mystery-01-s1", "gpt4", "coherent", 1.0)
    assert "| gpt4 | " in reported(folder, tmp_path)
    other.rename(tmp_path / "moved")
    text = reported(folder, tmp_path)
    assert "| gpt4 | " not in text
    assert f"The run of the rival gpt4 is no longer in {other}" in text
    write_site([folder], tmp_path / "site")
    with pytest.raises(StudyError, match=f"The rival gpt4 is to be in {other}, where there is no run of a study"):
        RunFolder.create(tmp_path / "new", folder.plan)
    assert not (tmp_path / "new").exists(), "it is said before anything is made"


def test_agreement_of_two_premises_has_no_interval_and_decides_nothing(judged):
    for row in [row for row in judged.rows("labels.jsonl") if row["annotator"] == "Ada"]:
        judged.append("labels.jsonl", {**row, "annotator": "Cleo"})
    done = CliRunner().invoke(app, ["study", "agreement", str(judged.path)])
    said = " ".join(done.output.split())
    assert "reader for people on coherent: it cannot be told yet" in said
    assert "wants 30 premises, and there are 2." in said
    assert "may not" not in said
    (row,) = [line for line in done.output.splitlines() if line.split()[:2] == ["coherent", "people"]]
    assert row.split()[2:] == ["3", "2", "1.00"]
    assert "Krippendorff's alpha of coherent among 3 people on 2 items" in reported(judged, judged.path.parent)


def test_a_judge_that_a_command_has_added_stays_when_the_plan_is_run_again(toy, tmp_path):
    path = tmp_path / "again"
    shutil.copytree(toy / "run", path)
    plan = RunFolder.open(path).plan
    judges = [Judge(model="reader", family="b", added=True), Judge(model="of the plan", family="b")]
    other = tmp_path / "other"
    shutil.copytree(toy / "run", other)
    RunFolder.create(path, plan.model_copy(update={"judges": judges, "rivals": {"gpt4": other}}))
    done = CliRunner().invoke(app, ["study", "run", "toy", "-o", str(path), "--yes"])
    assert done.exit_code == 0, done.output
    again = RunFolder.open(path).plan
    assert again.judges == judges[:1], "what a plan no longer names is no longer heard"
    assert again.rivals == {"gpt4": other}


def test_what_one_system_failed_to_finish_can_be_counted_as_lost(judged, tmp_path):
    assert "| asked for | finished | failed |" not in reported(judged, tmp_path)
    (job,) = [job for job in judged.plan.jobs() if job.id == "rolling_1024-fantasy-01-s1"]
    assert all(one.failed == (0, 0) and one.failures_lost == one.found.rate for one in results(judged))
    (judged.path / "novels" / f"{job.id}.json").unlink()
    rows = [row for row in judged.rows("verdicts.jsonl") if row["unit"] != job.unit]
    (judged.path / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (judged.path / "labels.jsonl").unlink()
    judged.add_failure(job, "It wrote no usable passage.")
    text = reported(judged, tmp_path)
    assert [(one.found.rate, one.failures_lost, one.failed) for one in results(judged)] == [
        (1.0, 1.0, (0, 0)),
        (1.0, 1.0, (0, 1)),
    ] * 2
    assert text.count("| 100 (0 : 1) |") == 2
    (judged.path / "verdicts.jsonl").write_text(json.dumps(rows[0]) + "\n")
    other = tmp_path / "other"
    shutil.copytree(judged.path, other)
    rival = RunFolder.create(
        other, judged.plan.model_copy(update={"rivals": {"gpt4": judged.path}, "systems": ["recurrentgpt"]})
    )
    label(rival, "mystery-01-s1", "gpt4", "coherent", 1.0)
    assert [one.failures_lost for one in results(rival)] == [1.0, None], "fantasy is still to be compared"
    label(rival, "fantasy-01-s1", "gpt4", "coherent", 1.0)
    assert {(one.failed, one.failures_lost) for one in results(rival)} == {((0, 0), 1.0)}
    assert "| recurrentgpt | 2 | 2 | 0 |\n| rolling_1024 | 2 | 1 | 1 |" in text


def test_a_judge_of_the_generators_own_family_is_in_no_figure(judged, tmp_path):
    text = reported(RunFolder.create(judged.path, judged.plan.model_copy(update={"family": "B"})), tmp_path)
    assert "reader (the generator's own family) | coherent | 24/24" in text
    assert "reader is of the generator's own family: it is not asked, and what it said is in no figure" in text
    assert "No qualified judge has compared these novels" in text


def test_judges_and_people_have_a_matrix_each(judged, tmp_path):
    judged.append("labels.jsonl", {**judged.rows("labels.jsonl")[0], "annotator": "Cem", "preference": 0.0})
    matrix = reported(judged, tmp_path).partition("## Win matrix")[2].partition("\n## ")[0]
    tables = re.findall(r"^\| (\w+), by (\w+) \|.*\n.*\n\| recurrentgpt \|  \| (\d+) \|", matrix, re.MULTILINE)
    assert tables == [
        ("interesting", "judges", "75"),
        ("coherent", "judges", "75"),
        ("interesting", "people", "58"),
        ("coherent", "people", "75"),
    ]
    pictures = re.findall(r"\((wins-.*?)\)", matrix)
    assert pictures == [f"wins-{source}-{number}.png" for source in ("judges", "people") for number in (1, 2)]
    assert set(pictures) == {path.name for path in tmp_path.rglob("wins-*.png")}
    assert "preference" in matrix
    assert "of premises" not in matrix


def label(folder, unit, second, criterion, preference, annotator="Ada", first="recurrentgpt"):
    row = {"unit": unit, "first": first, "second": second, "criterion": criterion}
    folder.append("labels.jsonl", {**row, "annotator": annotator, "preference": preference})


def test_seeds_are_averaged_within_a_premise_before_any_test(tmp_path, plan):
    plan = plan.model_copy(update={"seeds": [1, 2, 3, 4], "premises": 2, "criteria": ["coherent"]})
    folder = RunFolder.create(tmp_path / "run", plan)
    for job in plan.jobs():
        if job.system == "recurrentgpt":
            folder.save_novel(job, novel(job))
            # The first seed alone is lost.
            label(folder, job.unit, "rolling_1024", "coherent", float(job.seed > 1))
    (pooled,) = [one.found for one in results(folder) if one.genre == POOLED]
    assert (pooled.premises, pooled.wins, pooled.rate) == (4, 4, 0.75)
    assert pooled.p == pytest.approx(2 / 2**4), "the four premises are tested, and not their sixteen novels"


def test_what_somebody_said_twice_is_heard_once(judged):
    for _ in range(3):
        label(judged, "fantasy-01-s1", "rolling_1024", "coherent", 1.0)
    (found,) = [
        one.found
        for one in results(judged)
        if (one.source, one.genre, one.criterion) == ("people", "fantasy", "coherent")
    ]
    assert found.rate == (1.0 + 0.5) / 2


def test_novels_that_miss_their_length_are_marked_and_counted_beside_each_comparison(judged, tmp_path):
    (job,) = [job for job in judged.plan.jobs() if job.id == "rolling_1024-mystery-01-s1"]
    judged.save_novel(job, {**judged.novel(job), "words": 37})
    text = reported(judged, tmp_path)
    assert "| rolling_1024-mystery-01-s1 | 37 | 500 | -92.6 % |" in text
    rows = [line for line in text.splitlines() if line.startswith("| rolling_1024 | 100 : 0")]
    assert len(rows) == 4
    assert all(row.endswith("| 0 : 1 of 2 |  |  |") for row in rows)
    assert "novel off its target" not in reported(finished(judged, job), tmp_path)


def finished(folder, job):
    """Put a novel back to the length that it was asked for."""
    folder.save_novel(job, {**folder.novel(job), "words": job.words})
    return folder


def test_the_papers_figures_are_shown_for_any_plan_with_such_a_comparison(judged, tmp_path, monkeypatch):
    said = "its own figures as printed"
    assert said not in reported(judged, tmp_path), "the paper has no rolling_1024"
    noted = {"mystery/recurrentgpt/rolling_1024/coherent": "61 : 52"}
    monkeypatch.setattr("recurrentgpt.studies.report.preferences.paper_figures", lambda: noted)
    text = reported(judged, tmp_path)
    assert text.count("| rolling, the paper | 61 : 52 |  |  |") == 2
    assert said in text


def test_a_report_of_calls_that_are_gone_or_damaged_says_no_date(toy, tmp_path):
    run_path = tmp_path / "replayed"
    shutil.copytree(toy / "run", run_path)
    calls = tmp_path / "calls"
    shutil.copytree(recordings_folder(RunFolder.open(toy / "run").plan), calls)
    plan = RunFolder.open(run_path).plan.model_copy(update={"replay": str(calls)})
    manifest = json.loads((run_path / "manifest.json").read_text())
    manifest["plan"]["replay"] = plan.replay
    (run_path / "manifest.json").write_text(json.dumps(manifest))
    folder = RunFolder.open(run_path)
    assert "which was made on 2026-11-29 and" in reported(folder, tmp_path)
    for path in calls.glob("*"):
        path.write_bytes(path.read_bytes()[:-20].replace(b'"at"', b"at", 1))
    assert "those of the recording, which does not name its machine" in reported(folder, tmp_path)
    shutil.rmtree(calls)
    assert "those of the recording, which does not name its machine" in reported(folder, tmp_path)


def test_a_site_of_packaged_calls_has_them_with_what_judges_said_and_makes_its_novels_again(toy, tmp_path):
    run_path = tmp_path / "judged"
    shutil.copytree(toy / "run", run_path)
    folder = RunFolder.open(run_path)
    RunFolder.create(run_path, folder.plan.model_copy(update={"judges": [Judge(model="reader", family="b")]}))
    row = {
        "unit": "mystery-01-s1",
        "first": "recurrentgpt",
        "second": "re3",
        "criterion": "coherent",
        "judge": "reader",
    }
    folder.append("verdicts.jsonl", {**row, "preference": 1.0})
    (run_path / "calls").mkdir(exist_ok=True)
    (run_path / "calls" / "judge-reader.jsonl").write_text('{"format": "recurrentgpt-calls"}\n')
    write_site([folder], tmp_path / "site")
    place = tmp_path / "site" / "judged" / "recordings"
    assert {path.name for path in place.glob("*")} == {"calls", "plan.toml", "premises.toml", "verdicts.jsonl"}
    assert "judge-reader.jsonl" in {path.name for path in (place / "calls").glob("*")}
    assert len(list((place / "calls").glob("*-s1.jsonl"))) == 24
    page = (tmp_path / "site" / "index.html").read_text()
    assert "`" not in page
    assert 'href="judged/recordings/verdicts.jsonl"' in page
    assert "replay_in_order" not in (place / "plan.toml").read_text(), "every prompt is as it was recorded"
    # Of the calls beside it, and of no others.
    (place / "calls" / "single_call-mystery-01-s1.jsonl").unlink()
    plan = with_systems(read_plan(str(place / "plan.toml")), ["single_call"])
    again = RunFolder.create(tmp_path / "again", plan.model_copy(update={"recall": 0, "judges": []}))
    run(again, lambda event: None, retry=QUICK)
    first = {novel["id"]: novel["text"] for novel in folder.novels()}
    assert [(novel["id"], novel["text"] == first[novel["id"]]) for novel in again.novels()] == [
        ("single_call-fantasy-01-s1", True)
    ]


def test_a_site_of_changed_prompts_is_answered_in_order(changed_toy, tmp_path):
    write_site([changed_toy], tmp_path / "site")
    name = changed_toy.path.name
    assert "Prompts have changed since these calls were recorded" in (tmp_path / "site" / "index.html").read_text()
    plan = read_plan(str(tmp_path / "site" / name / "recordings" / "plan.toml"))
    again = RunFolder.create(tmp_path / "again", plan)
    run(again, lambda event: None, retry=QUICK)
    assert [novel["text"] for novel in again.novels()] == [novel["text"] for novel in changed_toy.novels()]
    assert any(novel["outdated"] for novel in again.novels())


def test_the_toy_is_judged_by_a_scripted_judge_at_an_endpoint(toy, tmp_path):
    shutil.copytree(toy / "run", tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    written = {novel["text"] for novel in folder.novels()}

    def judge(body):
        """Prefer a novel of the run to a corrupted copy, and of two the one that repeats itself less."""
        asked = body["messages"][0]["content"]
        texts = [asked.partition(f"STORY {side}\n")[2].partition("\n===")[0] for side in "AB"]
        marks = [(text in written, -repetition(text).repeated_4grams) for text in texts]
        verdict = "tie" if marks[0] == marks[1] else "AB"[marks.index(max(marks))]
        quotes = [[" ".join(text.split()[:8])] for text in texts]
        return json.dumps({"quotes_a": quotes[0], "quotes_b": quotes[1], "verdict": verdict})

    with FaultyServer("ok", text=judge) as served:
        command = ["study", "judge", str(folder.path), "--judge", "rules", "--base-url", served.base_url, "--yes"]
        done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert {(row["pairs"], row["right"]) for row in folder.rows("qualification.jsonl")} == {(24, 24)}
    less = {novel["id"]: repetition(novel["text"]).repeated_4grams for novel in folder.novels()}
    rows = folder.rows("verdicts.jsonl")
    assert len(rows) == 11 * 2 * len(CRITERIA)
    for row in rows:
        first, second = (less[f"{row[place]}-{row['unit']}"] for place in ("first", "second"))
        assert row["preference"] == (0.5 if first == second else float(first < second))
    judges = reported(RunFolder.open(folder.path), tmp_path).partition("preferred by judges, guards: none")[2]
    assert "| rules | coherent | 24/24" in judges
    assert "| one_shot | " in judges
    assert "Verdicts of 1 of 1 judges count: fewer than 3" in judges


def test_the_papers_figures_are_there_before_anybody_has_judged(toy):
    text = (toy / "report" / "report.md").read_text()
    nobody = text.partition("## Preferences, guards: none")[2].partition("\n## ")[0]
    assert "The plan names no judge" in nobody
    assert "Nobody has labelled these novels yet" in nobody
    assert ", the paper |" not in nobody
    printed = text.partition("## What the paper's readers preferred")[2].partition("\n## ")[0]
    assert printed.index("Compare the direction, not the digits.") < printed.index("| interesting: RecurrentGPT over |")
    rows = [line for line in printed.splitlines() if ", the paper |" in line]
    printed_of = ["rolling", "no_short_term_memory", "no_long_term_memory", "re3", "doc"]
    assert [row.split(" | ")[0] for row in rows] == [f"| {system}, the paper" for system in printed_of] * 2
    assert rows[3] == "| re3, the paper | 63.8 : 35.1 | 66.8 : 27.9 |"
    assert "its own figures as printed" in printed
    assert text.count("| re3, the paper |") == 2


def test_all_rows_of_the_papers_tables_are_there():
    rows = paper_figures()
    sums = [sum(map(float, row.split(" : "))) for row in rows.values()]
    assert len(rows) == 48
    assert sum(total > 100.05 for total in sums) == 18
    assert rows["thriller/recurrentgpt/doc/coherent"] == "58.1 : 37.0"
    assert rows["fantasy/recurrentgpt/gpt4/interesting"] == "27.1 : 71.7"


def test_what_a_system_does_not_have_is_left_blank(toy):
    rows = {row["system"]: row for row in map(json.loads, (toy / "report" / "measures.jsonl").read_text().splitlines())}
    assert {system for system, row in rows.items() if row["passages_in_length"] is None} == {"one_shot", "re3", "doc"}
    assert all(row["prompt_slope"] is None for row in rows.values() if row["steps"] < 10)
    text = (toy / "report" / "report.md").read_text()
    assert "## Win matrix" not in text
    assert "No judge has been asked." in text
    page = (toy / "report" / "report.html").read_text()
    assert "`" not in page
    assert "<code>off target</code>" in page


def test_seconds_and_cached_tokens_are_told_of_what_a_model_wrote_and_not_of_a_recording(toy, judged, tmp_path):
    replayed = (toy / "report" / "report.md").read_text().partition("## Measures")[0]
    assert "| seconds |" not in replayed
    assert "`seconds` and `cached tokens` are in measures.csv" in replayed
    assert "| cached tokens | seconds |" in reported(judged, tmp_path)


def test_each_system_is_named_and_its_novel_shown_before_anything_is_measured(toy):
    head = (toy / "report" / "report.md").read_text().partition("## Measures")[0]
    assert "| doc | detailed outline control" in head
    (row,) = [
        line for line in head.partition("| system | begins | ends |")[2].splitlines() if line.startswith("| doc |")
    ]
    novel = RunFolder.open(toy / "run").novels()
    words = next(one["text"] for one in novel if one["id"] == "doc-fantasy-01-s1").split()
    assert row == f"| doc | {' '.join(words[:40])} | {' '.join(words[-40:])} |"


def test_systems_that_have_the_same_guards_stand_in_one_row(toy):
    text = (toy / "report" / "report.md").read_text()
    assert "| paper, single_call | let stand | let stand |" in text
    assert "| recurrentgpt, bare, no_short_term_memory, no_long_term_memory | let stand |" in text


def test_what_failed_stands_together(judged, tmp_path):
    job = next(iter(judged.plan.jobs()))
    (judged.path / "novels" / f"{job.id}.json").unlink()
    judged.add_failure(job, "The account is empty.")
    text = reported(judged, tmp_path)
    assert (
        "1 novel has failed and is in no figure:\n\n| novel | error |\n| --- | --- |\n"
        "| recurrentgpt-mystery-01-s1 | The account is empty. |"
    ) in text
    page = (tmp_path / "report" / "report.html").read_text()
    assert "in no figure:</p>\n<table><tr><th>novel</th><th>error</th>" in page


def test_texts_tables_and_plots_stand_where_they_are_read(toy):
    text = (toy / "report" / "report.md").read_text()
    repetition = ("Repetition:", "| repeated 4grams |", "(repetition.png)", "Prompt tokens per call", "(prompts.png)")
    recall = (
        "| retrieval |",
        "(recall-retrieval.png)",
        "| memory |",
        "Prompt tokens of each step",
        "| prompt tokens | steps |",
    )
    found = [text.index(mark) for mark in (*repetition, *recall)]
    assert found == sorted(found)


def test_tables_say_how_many_premises_and_novels_they_are_of(tmp_path, plan):
    plan = plan.model_copy(update={"seeds": [1, 2], "genres": ["mystery"]})
    folder = RunFolder.create(tmp_path / "run", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    text = reported(folder, tmp_path)
    assert text.count("| system | premises | novels |") == 6
    assert text.count("| recurrentgpt | 1 | 2 |") == 6
    assert "The plan names no judge" in text


@pytest.mark.parametrize(
    ("premises", "spread", "less"),
    [(1, "30", ""), (2, "40 (30 and 50)", ""), (3, "50 (0.317 to 99.7)", "-6 (-13.5 to 1.45)")],
)
def test_means_have_their_interval_or_both_values_and_differences_are_of_the_same_premise(
    tmp_path, plan, premises, spread, less
):
    plan = plan.model_copy(update={"genres": ["mystery"], "premises": premises})
    folder = RunFolder.create(tmp_path / "run", plan)
    for job in plan.jobs():
        many, fewer = {1: (30, 3), 2: (50, 9), 3: (70, 6)}[job.number]
        steps = many - fewer * (job.system != "recurrentgpt")
        folder.save_novel(job, {**novel(job), "passages": [PASSAGE] * steps})
    text = reported(folder, tmp_path)
    assert f"| recurrentgpt | {premises} | {premises} | {spread} |" in text
    contract = text.partition("The contract:")[2]
    assert ("| less recurrentgpt | steps |" in contract) == bool(less), "differences of two premises have no interval"
    assert (f"| rolling_1024 | {less} |" in contract) == bool(less)


def test_of_many_novels_off_their_target_some_are_listed(judged, tmp_path, monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.report.sections._LISTED", 2)
    for job in judged.plan.jobs():
        judged.save_novel(job, {**judged.novel(job), "words": 37})
    text = reported(judged, tmp_path)
    assert "Off by more than a tenth are 4 of 4 novels" in text
    assert "the first 2 are listed, and all are in measures.csv" in text
    assert text.count("| 37 | 500 | -92.6 % |") == 2


def test_how_preferences_are_read_is_said_once(judged, tmp_path):
    assert reported(judged, tmp_path).count("A row is a system, a column a genre.") == 1


def test_what_a_plan_is_called_cannot_run_in_the_page(judged, tmp_path):
    judged.append("failures.jsonl", {"novel": "x", "error": "<script>"})
    manifest = judged.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"commit": "', '"commit": "<script>alert(1)</script>'))
    write_report(judged, tmp_path / "report")
    assert "<script>" not in (tmp_path / "report" / "report.html").read_text()


def test_recall_says_whose_it_is_and_where_it_tells_nothing_apart():
    rows = [
        {
            "system": name,
            "retrieval": {"2": (5, 5)},
            "memory": {},
            "prompt": {"2": (5, 5)},
            "text": {"2": (there, 5)},
            "prompt_tokens": [],
        }
        for name, there in (("recurrentgpt", 5), ("rolling_1024", 0))
    ]
    said = [part for part in recall_section(rows).parts if isinstance(part, str)]
    assert "A scripted author of the full tier, and not the model of the novels" in said[0]
    assert (
        "Retrieval of recurrentgpt, rolling_1024 is 1.00 throughout: how far it would reach, it does not tell." in said
    )
    assert "Text of recurrentgpt is 1.00 throughout: how far it would reach, it does not tell." in said
    assert not [part for part in said if part.startswith("Text of rolling_1024")]
    assert [part for part in said if part.startswith("By its arithmetic the window of rolling_1024 holds ")]
    assert "Each figure is of 5 facts" in " ".join(said)
    assert "equal budgets" not in " ".join(said), "no step has told what its prompts are"


def test_recall_names_what_is_not_measured_and_the_window_of_the_same_tokens():
    tallies = {"retrieval": {}, "memory": {}, "prompt": {"2": (3, 5)}, "text": {"2": (3, 5)}}
    rows = [{"system": name, **tallies, "prompt_tokens": [10_000] * 30} for name in ("bare", "rolling_1024")]
    systems = ["bare", "rolling_1024", "rolling_unlimited", "re3", "doc"]
    said = " ".join(part for part in recall_section(rows, systems=systems).parts if isinstance(part, str))
    assert "rolling_unlimited is not measured: its prompts hold all" in said
    assert "Not measured are re3, doc: the scripted author cannot answer their prompts." in said
    assert f"{passages_in(10_000):.1f} passages for bare: it would have every fact up to there" in said
    assert passages_in(1024) == window_reach("rolling_1024")
    assert "Not measured" not in " ".join(part for part in recall_section(rows).parts if isinstance(part, str))


def test_a_text_that_has_what_its_prompt_had_is_not_shown_by_itself():
    tallies = {"retrieval": {}, "memory": {}, "prompt": {"2": (3, 5)}, "text": {"2": (3, 5)}}
    rows = [{"system": "rolling_1024", **tallies, "prompt_tokens": []}]
    assert [table.headings[0] for table in recall_section(rows).tables] == ["prompt", "prompt tokens"]
