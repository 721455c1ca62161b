"""What novels start from: a run holds its premises, wherever it is and whatever becomes of the file that they were read from."""

import json
import re
import shutil

import pytest

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.judge_runner import judge_run
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import parse_plan, read_plan
from recurrentgpt.studies.runs.premises import GENRES
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author

from .conftest import PLAN, QUICK

CLOCK, WHALE = "A clock stops in Riga.", "A whale is found in the desert."


def quiet(event):
    """Take no notice."""


def told(path, *premises, more=""):
    """Write premises of the genre mystery, and what is said of others."""
    path.write_text(f"[mystery]\npremises = {json.dumps(premises)}\n{more}")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Give a folder with a plan whose premises and recordings are beside it, and work there."""
    path = tmp_path / "plans"
    (path / "calls").mkdir(parents=True)
    told(path / "mine.toml", CLOCK)
    own = PLAN.replace('["mystery", "fantasy"]', '["mystery"]') + 'premises_file = "mine.toml"\n'
    (path / "plan.toml").write_text(own)
    (path / "replayed.toml").write_text(f'{own}replay = "calls"\n')
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def finished(place):
    """Give the run of the plan, in a folder beside it."""
    folder = RunFolder.create(place / "run", read_plan("plan.toml"))
    assert run(folder, quiet, model=scripted_author(), retry=QUICK).finished == 2
    return folder


def forget(folder):
    """Make a run that of an earlier version, which held no premises."""
    manifest = folder.path / "manifest.json"
    known = json.loads(manifest.read_text())
    del known["premises"]
    manifest.write_text(json.dumps(known))


def test_a_plan_whose_premises_have_changed_is_refused(finished, place):
    told(place / "mine.toml", WHALE)
    for refuse in (RunFolder(finished.path).check, lambda plan: RunFolder.create(finished.path, plan)):
        with pytest.raises(StudyError, match=r"premise of recurrentgpt-mystery-01-s1 is not the one .* new folder"):
            refuse(read_plan("plan.toml"))
    assert {novel["premise"] for novel in RunFolder.open(finished.path).novels()} == {CLOCK}
    told(place / "mine.toml", CLOCK)
    assert RunFolder.create(finished.path, read_plan("plan.toml")).path == finished.path


def test_premises_of_further_novels_may_come(finished, place):
    own = (place / "plan.toml").read_text()
    more = own.replace("premises = 1", "premises = [2]").replace('"mystery"', '"mystery", "sea"')
    (place / "plan.toml").write_text(more)
    told(place / "mine.toml", CLOCK, WHALE, more=f'[sea]\npremises = ["{CLOCK}", "{WHALE}"]\n')
    again = RunFolder.create(finished.path, read_plan("plan.toml"))
    assert [job.premise for job in again.plan.jobs()] == [WHALE] * 4
    told(place / "mine.toml", WHALE, WHALE)
    (place / "plan.toml").write_text(own)
    with pytest.raises(StudyError, match="is not the one"):
        RunFolder.create(finished.path, read_plan("plan.toml"))


def test_a_run_is_read_from_anywhere_and_without_its_file_of_premises(finished, place, tmp_path, monkeypatch):
    shutil.move(finished.path, tmp_path / "archive")
    shutil.rmtree(place)
    monkeypatch.chdir(tmp_path)
    moved = RunFolder.open(tmp_path / "archive")
    assert [novel["premise"] for novel in moved.novels()] == [CLOCK] * 2
    assert run(moved, quiet, model=scripted_author(), retry=QUICK).kept == 2


@pytest.mark.parametrize("plan", ["plan.toml", "replayed.toml"])
def test_a_plan_is_the_same_by_whatever_path_it_is_named(place, monkeypatch, plan):
    folder = RunFolder.create(place / "run", read_plan(plan))
    for way in (f"../plans/{plan}", str(place / plan)):
        assert RunFolder.create(place / "run", read_plan(way)).plan == folder.plan
    monkeypatch.chdir(place.parent)
    assert RunFolder.create(place / "run", read_plan(f"plans/{plan}")).plan == folder.plan


def test_recordings_where_one_works_are_not_those_of_a_model(finished, place):
    plan = read_plan("plan.toml")
    with pytest.raises(StudyError, match=r"replay differs"):
        RunFolder.create(finished.path, plan.model_copy(update={"replay": str(place)}))


def test_a_run_of_an_earlier_version_has_its_recordings_where_they_were(place):
    folder = RunFolder.create(place / "run", read_plan("replayed.toml"))
    manifest = folder.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace(str(place / "calls"), "calls"))
    assert RunFolder.open(folder.path).plan.replay == "calls"
    assert RunFolder.create(folder.path, read_plan("replayed.toml")).plan.replay == str(place / "calls")


def test_nothing_is_made_for_recordings_that_are_not_there(place):
    (place / "calls").rmdir()
    with pytest.raises(StudyError, match=r"no folder of recordings .*plans/calls: correct `replay`"):
        RunFolder.create(place / "run", read_plan("replayed.toml"))
    assert not (place / "run").exists()


def test_a_run_of_an_earlier_version_is_read_while_its_premises_are_there(finished, place):
    forget(finished)
    assert len(RunFolder.open(finished.path).novels()) == 2
    assert "premises" in RunFolder.create(finished.path, read_plan("plan.toml")).manifest
    forget(finished)
    told(place / "mine.toml", WHALE)
    for use in (finished.novels, lambda: judge_run(finished, quiet), lambda: finished.check(read_plan("plan.toml"))):
        with pytest.raises(
            StudyError, match=r"novels/recurrentgpt-mystery-01-s1.json was written from another premise"
        ):
            use()


def test_a_novel_is_not_given_another_premise_than_it_was_written_from(finished, place):
    forget(finished)
    told(place / "mine.toml", WHALE)
    shutil.rmtree(finished.path / "novels")
    said = []
    run(finished, lambda event: said.append(event.what), model=scripted_author(), retry=QUICK)
    assert said.count("it was begun from another premise, and it is begun anew") == 2
    for job, novel in zip(finished.plan.jobs(), finished.novels(), strict=True):
        assert novel["premise"] == WHALE
        assert WHALE in finished.calls(job).read_text()


def of_genres(place, *genres, premise=CLOCK):
    """Return a plan of genres of one's own."""
    (place / "own.toml").write_text(
        "".join(f"[{json.dumps(genre)}]\npremises = [{json.dumps(premise)}]\n" for genre in genres)
    )
    text = PLAN.replace('["mystery", "fantasy"]', json.dumps(genres)) + 'premises_file = "own.toml"\n'
    return parse_plan(text, "own", place)


def test_novels_of_the_papers_genres_have_the_names_that_they_had():
    plan = read_plan("table1")
    assert {job.unit for job in plan.jobs() if job.number == 7} == {
        f"{genre.replace(' ', '-')}-07-s1" for genre in GENRES
    }


def test_genres_of_ones_own_may_be_called_anything(place):
    genres = ["sci-fi/space", "ciencia ficción", "детектив", "нуар", "../../etc", "Mystery \n?"]
    folder = RunFolder.create(place / "run", of_genres(place, *genres))
    assert run(folder, quiet, model=scripted_author(), retry=QUICK).finished == 12, folder.failures()
    names = [path.stem for path in (folder.path / "novels").iterdir()]
    assert len(names) == 12
    assert {"rolling_1024-sci-fi-space-01-s1", "rolling_1024-ciencia-ficcion-01-s1", "recurrentgpt-etc-01-s1"} < set(
        names
    )
    assert all(re.fullmatch(r"[\w-]{1,64}", name, re.ASCII) for name in names)
    assert [novel["genre"] for novel in folder.novels()][::2] == genres


@pytest.mark.parametrize(
    ("genres", "premise", "message"),
    [
        (("my stery", "my-stery"), CLOCK, "'my stery' and 'my-stery' would have the same files"),
        (("Mystery", "mystery"), CLOCK, "would have the same files"),
        (("m" * 60,), CLOCK, "too long a name"),
        (("mystery",), "word " * 600, "recurrentgpt-mystery-01-s1 cannot be written. .* at most"),
    ],
)
def test_genres_and_premises_that_cannot_be_written_are_said_when_the_plan_is_read(place, genres, premise, message):
    with pytest.raises(StudyError, match=message):
        of_genres(place, *genres, premise=premise)
