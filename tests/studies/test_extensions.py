"""A system and a measure of another package, installed as pip would install them, are used as those of this one."""

import csv
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recurrentgpt.cli.app import app
from recurrentgpt.schema.errors import ExtensionError
from recurrentgpt.studies.baselines.catalogue import SYSTEMS, all_systems, find_system
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.measures.catalogue import MEASURES, all_measures
from recurrentgpt.studies.report.write_report import write_report
from recurrentgpt.studies.runs.costs import estimate
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import parse_plan
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author

from .conftest import QUICK

ANOTHER_PACKAGE = Path(__file__).parent / "another_package"
PLAN = """
name = "extended"
systems = ["outline_free", "rolling_1024"]
genres = ["mystery"]
premises = 1
words = 500
embedder = "hash-256"
"""


@pytest.fixture
def another_package(monkeypatch):
    """Install the package of `another_package`."""
    monkeypatch.syspath_prepend(ANOTHER_PACKAGE)
    yield
    sys.modules.pop("recurrentgpt_haiku", None)


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Give a function that installs a package with one module and one entry point."""

    def install(group, name, code):
        metadata = tmp_path / "site" / "oddments-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: oddments\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = oddments:THING\n")
        (tmp_path / "site" / "oddments.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path / "site")

    yield install
    sys.modules.pop("oddments", None)


def test_a_system_and_a_measure_of_another_package_are_in_run_estimate_list_and_report(another_package, tmp_path):
    plan = parse_plan(PLAN, "extended", tmp_path)
    assert estimate(list(plan.jobs()), plan)["calls"] == pytest.approx(3.5, abs=1)
    folder = RunFolder.create(tmp_path / "run", plan)
    assert run(folder, lambda event: None, model=scripted_author(), retry=QUICK).finished == 2
    write_report(folder, tmp_path / "report")
    with (tmp_path / "report" / "measures.csv").open(newline="") as file:
        rows = {row["system"]: row for row in csv.DictReader(file)}
    assert int(rows["outline_free"]["questions"]) >= 0
    text = (tmp_path / "report" / "report.md").read_text()
    assert "Questions: how many sentences of a novel ask something." in text
    assert "passage after passage" in CliRunner().invoke(app, ["study", "systems"]).stdout


def test_without_the_package_its_system_is_unknown_and_the_others_are_there():
    assert set(all_systems()) == set(SYSTEMS)
    assert set(all_measures()) == set(MEASURES)
    with pytest.raises(StudyError, match="no system 'outline_free'"):
        find_system("outline_free")


@pytest.mark.parametrize(
    ("group", "name", "look"),
    [("recurrentgpt.systems", "re3", all_systems), ("recurrentgpt.measures", "repetition", all_measures)],
)
def test_a_name_that_is_taken_is_refused_with_a_sentence(declare, group, name, look):
    declare(group, name, "THING = None\n")
    with pytest.raises(StudyError, match=f"oddments offers '{name}' as {group}, a name that is taken"):
        look()


def test_a_taken_name_spoils_no_packaged_system(declare):
    declare("recurrentgpt.systems", "re3", "THING = None\n")
    assert find_system("re3") is SYSTEMS["re3"]


def test_what_is_no_system_is_refused_with_a_sentence(declare):
    declare("recurrentgpt.systems", "odd", "THING = 'odd'\n")
    with pytest.raises(StudyError, match=r"oddments offers 'odd' as recurrentgpt.systems is no System of that name"):
        all_systems()


def test_a_package_that_cannot_be_imported_is_named(declare):
    declare("recurrentgpt.systems", "odd", "raise RuntimeError('broken')\n")
    with pytest.raises(ExtensionError, match=r"oddments .* cannot be loaded .*broken"):
        find_system("odd")


def test_two_measures_with_one_column_are_refused(declare):
    code = (
        "from recurrentgpt.studies.measures.measure import Measure\n"
        "THING = Measure(name='odd', description='Odd.', columns=('mtld',), compute=lambda novel, system: {'mtld': 0})\n"
    )
    declare("recurrentgpt.measures", "odd", code)
    with pytest.raises(StudyError, match="'repetition' and 'odd' both have a column 'mtld'"):
        all_measures()


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_every_system_says_what_it_is_and_costs_and_has_its_prompts(system):
    assert system.description
    assert system.novel_cost(3000).calls > 0
    assert system.novel_cost(6000).input_tokens >= system.novel_cost(3000).input_tokens
    assert system.prompts is None or list(system.prompts.glob("any/*.md"))
