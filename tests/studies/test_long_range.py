"""The long study: what a long text contradicts and tells anew, and the plan `long` at a small size."""

import json
import shutil

import pytest

from benchmarks import contradictions
from recurrentgpt.schema.errors import ModelRefused
from recurrentgpt.studies.measures.long_range import long_range
from recurrentgpt.studies.measures.planted_contradictions import planted_texts
from recurrentgpt.studies.report.write_report import write_report
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import read_plan
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import author_replies, scripted_author
from recurrentgpt.testing import ScriptedChatModel

from .conftest import QUICK, refusing


def test_the_dead_who_act_contradict_and_their_memory_does_not():
    lives = '"Stay here," said Tobias Kell. Tobias opened the door.'
    dies = "Mira lit the lamp. Tobias Kell was dead. Mira wept."
    acts = "Tobias opened the door and took the lamp."
    assert long_range([lives, dies, f"It was night. {acts}"]).contradictions == [acts]
    assert long_range([lives, dies, "Mira remembered how Tobias Kell had opened the door."]).contradictions == []
    assert long_range([lives, "Mira feared that Tobias Kell was dead.", acts]).contradictions == []
    assert long_range([lives, acts, dies]).contradictions == []


def test_a_contradiction_is_told_once_and_the_text_goes_on_from_there():
    lives = '"Stay here," said Tobias Kell.'
    dies = "Mira lit the lamp. Tobias Kell was dead. Mira wept."
    acts = ["Tobias opened the door.", "Tobias took the lamp.", "Tobias laughed."]
    assert long_range([lives, dies, *acts]).contradictions == acts[:1]


def test_what_is_planted_is_found_and_the_innocent_are_let_be():
    found = contradictions.planted(text for text in planted_texts() if text.part != "held_out")
    assert sum(int(share.partition(" of ")[2]) for share in found["found"].values()) >= 100
    assert found["share"] >= 0.95
    assert found["accused"] == []
    assert found["innocent"] >= 30


def test_a_book_is_read_without_what_its_publisher_adds():
    pages = ["Mira's grey eyes shone. " + "Rain fell on the yard. " * 80, "Mira's brown eyes shone."]
    found = contradictions.book(
        "Licence\r\n*** START OF THE BOOK ***\n" + "\n\n".join(pages) + "\n*** END ***\nLicence"
    )
    assert found["words"] == 408
    assert len(found["sentences"]) == 1
    assert found["per 10,000"] == round(10_000 / 408, 2)


def test_eyes_that_change_over_passages_contradict():
    assert len(long_range(["Mira's grey eyes shone.", "Mira's brown eyes shone."]).contradictions) == 1


def test_a_contradiction_is_listed_with_its_sentence_and_what_it_contradicts():
    lives = '"Stay here," said Tobias Kell. Mira\'s grey eyes shone.'
    dies = "Mira lit the lamp. Tobias Kell was dead. Mira wept."
    acts = "It was night. Tobias opened the door and took the lamp. Mira's brown eyes shone."
    dead, looks = long_range([lives, dies, acts]).evidence
    assert (dead.passage, dead.rule, dead.entry) == (3, "dead", "Tobias Kell")
    assert dead.sentence == "Tobias opened the door and took the lamp."
    assert dead.holds == "Tobias Kell was dead."
    assert (looks.passage, looks.entry, looks.sentence) == (3, "Mira", "Mira's brown eyes shone.")
    assert looks.holds == "The eyes of Mira is grey, then brown."


def test_the_report_lists_the_sentences_that_contradict(small, tmp_path):
    plan = small.model_copy(update={"words": 400, "systems": ["rolling_4096"]})
    folder = RunFolder.create(tmp_path / "run", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    (novel,), (job,) = folder.novels(), plan.jobs()
    told = ['"Stay here," said Tobias Kell. Tobias Kell was dead.', "Tobias opened the door."]
    passages = [{**novel["passages"][0], "step": step, "text": text} for step, text in enumerate(told, start=1)]
    folder.save_novel(job, {**novel, "passages": passages})
    write_report(folder, tmp_path / "report")
    (row,) = map(json.loads, (tmp_path / "report" / "contradictions.jsonl").read_text().splitlines())
    assert (row["novel"], row["system"], row["passage"]) == (job.id, "rolling_4096", 2)
    assert row["sentence"] == "Tobias opened the door."
    assert "dead" in row["holds"]
    assert "Tobias opened the door." in (tmp_path / "report" / "contradictions.csv").read_text()
    assert "`contradictions.csv`" in (tmp_path / "report" / "report.md").read_text()


def test_news_is_what_was_not_told_before():
    first = "At noon Mira Voss met Tobias by the lamp."
    found = long_range([first, first, "At night Mira Voss met Adela by the lamp."]).new_facts
    assert found[0] > 0
    assert found[1:] == [0, 1]
    assert long_range([first, "Then Voss met Tobias.", 'So Mira said, "Welcome."']).new_facts[1:] == [0, 0], (
        "told by surname"
    )


@pytest.fixture
def small():
    """Give the plan `long` at a hundredth of its size."""
    plan = read_plan("long")
    assert plan.systems == ["recurrentgpt", "bare", "paper", "rolling_4096", "rolling_unlimited"]
    assert plan.length("mystery") == 30_000
    return plan.model_copy(update={"words": 2700, "genres": ["mystery"], "embedder": "hash-256"}).with_premises(
        {"mystery": dict(plan.chosen_premises("mystery"))}
    )


def test_the_long_study_goes_on_where_it_was_stopped_and_is_reported(small, tmp_path):
    folder = RunFolder.create(tmp_path / "long", small)
    broke = ScriptedChatModel(tier="full", model_name="scripted", replies=refusing(author_replies, after=60))
    stopped = run(folder, lambda event: None, model=broke, retry=QUICK)
    assert stopped.failed
    asked = len(broke.calls)
    again = scripted_author()
    outcome = run(folder, lambda event: None, model=again, retry=QUICK)
    assert (outcome.failed, outcome.finished + outcome.kept) == (0, 5)
    whole = scripted_author()
    run(RunFolder.create(tmp_path / "whole", small), lambda event: None, model=whole, retry=QUICK)
    assert len(again.calls) < len(whole.calls) < asked + len(again.calls) + 10, (
        "finished passages are not asked for again"
    )
    assert [novel["text"] for novel in folder.novels()] == [
        novel["text"] for novel in RunFolder.open(tmp_path / "whole").novels()
    ]
    write_report(folder, tmp_path / "report")
    rows = [json.loads(line) for line in (tmp_path / "report" / "measures.jsonl").read_text().splitlines()]
    assert [row["system"] for row in rows] == small.systems
    for name in (
        "people_read",
        "new_facts",
        "new_facts_per_1000",
        "new_facts_late",
        "repeated_4grams",
        "prompt_mean",
        "input_tokens",
    ):
        assert all(row[name] is not None for row in rows), name
    text = (tmp_path / "report" / "report.md").read_text()
    assert "All of people read is 0" in text, "nobody speaks in it who could be contradicted"


def test_a_novel_that_stopped_is_measured_as_far_as_it_was_written(small, tmp_path):
    plan = small.model_copy(update={"systems": ["rolling_4096", "rolling_unlimited"]})
    folder = RunFolder.create(tmp_path / "run", plan)

    def narrow(messages):
        if sum(len(str(message.text)) for message in messages) > 8000:
            raise ModelRefused("The prompt does not fit into the model's context: take a larger one.")
        return author_replies(messages)

    chat = ScriptedChatModel(tier="full", model_name="scripted", replies=narrow)
    outcome = run(folder, lambda event: None, model=chat, retry=QUICK)
    assert outcome.failed == 2
    (short, other), (job, _) = folder.stopped_novels(), plan.jobs()
    assert short["id"] == job.id
    assert 300 < short["words"] < short["target"]
    write_report(folder, tmp_path / "report")
    rows = [json.loads(line) for line in (tmp_path / "report" / "measures.jsonl").read_text().splitlines()]
    assert [(row["system"], row["stopped"], row["words"]) for row in rows] == [
        ("rolling_4096, stopped", 1, short["words"]),
        ("rolling_unlimited, stopped", 1, other["words"]),
    ]
    text = (tmp_path / "report" / "report.md").read_text()
    assert f"| {job.id} | {len(short['passages'])} | {short['words']:,} | 2,700 | The prompt does not fit" in text
    assert "in no figure" not in text
    (first,) = [job for job in plan.jobs() if job.system == "rolling_4096"]
    shutil.copytree(folder.path, tmp_path / "half")
    half = RunFolder.open(tmp_path / "half")
    half.save_novel(first, {**short, "words": short["target"]})
    write_report(half, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    assert "| rolling_unlimited, stopped | 1 | 1 |" in text
    assert "less rolling_4096" not in text, "what stopped is compared with none"
    again = scripted_author()
    assert run(folder, lambda event: None, model=again, retry=QUICK).failed == 0
    assert folder.stopped_novels() == []
    write_report(folder, tmp_path / "report")
    assert ", stopped" not in (tmp_path / "report" / "report.md").read_text()


def test_money_is_in_the_table_of_costs_where_the_plan_has_a_price(small, tmp_path):
    from recurrentgpt.studies.runs.plan import Price

    plan = small.model_copy(update={"words": 400, "systems": ["rolling_4096"], "price": Price(input=10, output=100)})
    folder = RunFolder.create(tmp_path / "run", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    (novel,) = folder.novels()
    money = (10 * novel["usage"]["input_tokens"] + 100 * novel["usage"]["output_tokens"]) / 1_000_000
    write_report(folder, tmp_path / "report")
    (row,) = map(json.loads, (tmp_path / "report" / "measures.jsonl").read_text().splitlines())
    assert row["money"] == pytest.approx(money, abs=1e-4)
    assert "| money |" in (tmp_path / "report" / "report.md").read_text()
