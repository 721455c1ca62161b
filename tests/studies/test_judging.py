"""Judges that fail, come back, are answered from their recordings, have keys of their own, or are kin."""

import json

import pytest

from recurrentgpt.schema.errors import ModelUnavailable
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.judge_runner import judge_run
from recurrentgpt.studies.judging.pairwise import counted_judges, failures, misquoted, remarks, same_family_judges
from recurrentgpt.studies.report.document import Table
from recurrentgpt.studies.report.figures import orders
from recurrentgpt.studies.report.sections import judge_section
from recurrentgpt.studies.runs.endpoints import check_keys
from recurrentgpt.studies.runs.families import known_family
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge
from recurrentgpt.testing import FaultyServer, ScriptedChatModel

from .conftest import QUICK, refusing
from .readers import MODELS, answer, faults, judged_run, reader, stories


def quiet(text):
    """Take no notice."""


def of_a_server(body):
    class Said:
        text = body["messages"][0]["content"]

    return reader([Said])


@pytest.fixture
def served():
    """Give a judge behind an endpoint."""
    with FaultyServer("ok", text=of_a_server) as endpoint:
        yield endpoint


@pytest.fixture
def refused():
    """Give an endpoint that lets no judge in, and sees at the first call what key it has."""
    with FaultyServer("401") as endpoint:
        yield endpoint


def test_a_judge_that_cannot_be_reached_has_failed_and_is_asked_again(tmp_path, plan):
    folder, said = judged_run(tmp_path / "run", plan, Judge(model="reader")), []

    def dead(messages):
        raise ModelUnavailable("Nobody answers: start the server.")

    assert judge_run(folder, said.append, models={"reader": ScriptedChatModel(replies=dead)}, retry=QUICK) == 1
    assert folder.rows("qualification.jsonl") == []
    assert [row["error"] for row in failures(folder)] == ["Nobody answers: start the server."]
    assert "reader failed: Nobody answers" in " ".join(said)
    assert judge_run(folder, quiet, models=MODELS, retry=QUICK) == 0
    assert set(counted_judges(folder)) == {"reader"}
    assert len(folder.rows("verdicts.jsonl")) == 4
    assert failures(folder) == []


def test_a_judge_that_goes_in_the_middle_keeps_its_verdicts_and_goes_on(tmp_path, plan):
    folder = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    chat = ScriptedChatModel(replies=refusing(reader, after=2 * 2 * 24 + 3))
    assert judge_run(folder, quiet, models={"reader": chat}, retry=QUICK) == 1
    assert set(counted_judges(folder)) == {"reader"}, "it had qualified"
    assert 0 < len(folder.rows("verdicts.jsonl")) + len(failures(folder)) < 4
    assert judge_run(folder, quiet, models=MODELS, retry=QUICK) == 0
    assert len(folder.rows("verdicts.jsonl")) == 4


def test_a_fault_that_passes_costs_a_judge_nothing(tmp_path, plan):
    folder, calls = judged_run(tmp_path / "run", plan, Judge(model="reader")), 0

    def limited(messages):
        nonlocal calls
        calls += 1
        if calls % 7 == 3:
            raise ModelUnavailable("The rate is limited: wait.")
        return reader(messages)

    assert judge_run(folder, quiet, models={"reader": ScriptedChatModel(replies=limited)}, retry=QUICK) == 0
    assert (len(folder.rows("verdicts.jsonl")), failures(folder)) == (4, [])


def test_judges_are_answered_from_their_recorded_calls(tmp_path, plan):
    judges = [Judge(model="reader"), Judge(model="blind"), Judge(model="silent")]
    live = judged_run(tmp_path / "live", plan, *judges[:2])
    judge_run(live, quiet, models=MODELS, retry=QUICK)
    replay = plan.model_copy(update={"replay": str(live.path / "calls")})
    folder, said = judged_run(tmp_path / "again", replay, *judges), []
    assert judge_run(folder, said.append, retry=QUICK) == 0
    for name in ("verdicts.jsonl", "qualification.jsonl"):
        assert sorted(map(str, folder.rows(name))) == sorted(map(str, live.rows(name)))
    assert "silent has no recorded calls in" in " ".join(said)


def test_verdicts_that_were_not_recorded_are_failures_and_not_invented(tmp_path, plan):
    live = judged_run(tmp_path / "live", plan.model_copy(update={"criteria": ["coherent"]}), Judge(model="reader"))
    judge_run(live, quiet, models=MODELS, retry=QUICK)
    replay = plan.model_copy(update={"replay": str(live.path / "calls")})
    folder = judged_run(tmp_path / "again", replay, Judge(model="reader"))
    judge_run(folder, quiet, retry=QUICK)
    assert {row["criterion"] for row in folder.rows("verdicts.jsonl")} == {"coherent"}
    assert [row["criterion"] for row in failures(folder)] == ["interesting"], "it cannot even qualify"
    assert all("holds no answer to the judge's prompt" in row["error"] for row in failures(folder))


def test_the_generators_key_goes_to_no_other_address(tmp_path, plan, served, refused, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-generator")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    judge_run(judged_run(tmp_path / "none", plan, Judge(model="m", base_url=refused.base_url)), quiet, retry=QUICK)
    assert set(refused.keys) == {"none"}
    monkeypatch.setenv("KEY_OF_THE_JUDGE", "its-own-key")
    own = Judge(model="m", base_url=served.base_url, api_key_env="KEY_OF_THE_JUDGE")
    folder = judged_run(tmp_path / "own", plan, own)
    assert judge_run(folder, quiet, retry=QUICK) == 0
    assert set(served.keys) == {"its-own-key"}
    assert "its-own-key" not in "".join(path.read_text() for path in folder.path.rglob("*.json*"))


@pytest.mark.parametrize("where", ["plan", "environment", "nowhere"])
def test_at_the_generators_own_address_a_judge_has_its_key(tmp_path, plan, refused, monkeypatch, where):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-generator")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if where == "environment":
        monkeypatch.setenv("OPENAI_BASE_URL", refused.base_url + "/")
    if where == "plan":
        plan = plan.model_copy(update={"base_url": refused.base_url})
    address = refused.base_url if where != "plan" else None
    judge_run(judged_run(tmp_path / "run", plan, Judge(model="m", base_url=address)), quiet, retry=QUICK)
    assert set(refused.keys) == ({"none"} if where == "nowhere" else {"key-of-the-generator"})


def test_a_refusal_names_the_key_that_was_asked_with(tmp_path, plan, monkeypatch):
    monkeypatch.setenv("KEY_OF_THE_JUDGE", "its-own-key")
    with FaultyServer("401") as endpoint:
        bare = Judge(model="bare", base_url=endpoint.base_url)
        keyed = Judge(model="keyed", base_url=endpoint.base_url, api_key_env="KEY_OF_THE_JUDGE")
        folder = judged_run(tmp_path / "run", plan, bare, keyed)
        assert judge_run(folder, quiet, retry=QUICK) == 2
    first, second = (row["error"] for row in failures(folder))
    assert "asked without a key: `api_key_env`" in first
    assert "check KEY_OF_THE_JUDGE" in second
    assert "its-own-key" not in second


def test_a_key_that_is_not_there_is_said_before_anything_is_paid_for(plan, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    plan = plan.model_copy(update={"judges": [Judge(model="m", api_key_env="NOT_SET")]})
    with pytest.raises(StudyError, match="environment variable NOT_SET, which is not set"):
        check_keys(plan)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("meta-llama/Meta-Llama-3.1-70B-Instruct", "meta"),
        ("us.anthropic.claude-4", "anthropic"),
        ("Hermes-3-Llama-3.1-8B", "meta"),
        ("deepseek-r1-distill-llama-70b", "deepseek"),
        ("commander", ""),
    ],
)
def test_a_family_is_told_by_the_first_name_of_one(model, family):
    assert known_family(model) == family


def test_verdicts_of_the_generators_family_do_not_count_and_that_is_said(tmp_path, plan):
    judges = [Judge(model=name, family=family) for name, family in (("reader", "A"), ("other", "b"), ("scripted", "c"))]
    folder = judged_run(tmp_path / "run", plan, *judges, family="a")
    folder.note_models({"writer": "scripted"})
    chats = {judge.model: ScriptedChatModel(replies=reader) for judge in judges}
    said = []
    judge_run(folder, said.append, models=chats, retry=QUICK)
    assert set(counted_judges(folder)) == {"other"}
    assert said[-3:] == remarks(folder)
    assert "reader is of the generator's own family" in said[-3]
    assert "scripted is of the generator's own family" in said[-2]
    assert "Verdicts of 1 of 3 judges count: fewer than 3" in said[-1]


def test_a_judge_of_the_generators_kin_is_not_asked_whatever_its_family_is_called(tmp_path, plan):
    folder = judged_run(tmp_path / "run", plan, Judge(model="meta-llama/Llama-3.1-8B"), Judge(model="gpt-4o"))
    folder.note_models({"writer": "gpt-4o-mini-2024-07-18"})
    chats = {judge.model: ScriptedChatModel(replies=reader) for judge in folder.plan.judges}
    assert same_family_judges(folder) == {"gpt-4o"}
    judge_run(folder, quiet, models=chats, retry=QUICK)
    assert chats["gpt-4o"].calls == []
    assert set(counted_judges(folder)) == {"meta-llama/Llama-3.1-8B"}


def test_a_judge_is_added_to_a_run_that_was_replayed(tmp_path, plan, served):
    replay = plan.model_copy(update={"replay": str(tmp_path)})
    folder, said = judged_run(tmp_path / "run", replay, Judge(model="m", base_url=served.base_url)), []
    judge_run(folder, said.append, retry=QUICK)
    assert "`recurrentgpt study judge" in " ".join(said)
    assert folder.rows("verdicts.jsonl") == []
    judge_run(folder, quiet, live=["m"], retry=QUICK)
    assert len(folder.rows("verdicts.jsonl")) == 4
    assert (folder.path / "calls" / "judge-m.jsonl").exists()


def test_why_nobody_can_qualify_is_said_where_novels_name_nobody(tmp_path, plan):
    folder = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    for one in folder.novels():
        path = folder.path / "novels" / f"{one['id']}.json"
        path.write_text(json.dumps({**one, "text": "the rain fell on the roof, and the lamp burned low.\n\n" * 40}))
    said = []
    judge_run(folder, said.append, models=MODELS, retry=QUICK)
    assert [text for text in said if "nobody is named in these novels" in text]
    assert not folder.rows("verdicts.jsonl")


def test_a_flip_and_a_tie_are_both_half_and_told_apart(tmp_path, plan):
    judges = [Judge(model=name) for name in ("first", "undecided", "reader")]
    folder = judged_run(tmp_path / "run", plan, *judges)

    def after(side):
        def reply(messages):
            a, b = stories(messages)
            return reader(messages) if faults(a) != faults(b) else answer(messages, side)

        return ScriptedChatModel(replies=reply)

    judge_run(folder, quiet, models={"first": after("A"), "undecided": after("tie"), **MODELS}, retry=QUICK)
    rows = {(row["judge"], tuple(row["orders"])) for row in folder.rows("verdicts.jsonl")}
    assert rows == {("first", ("A", "A")), ("undecided", ("tie", "tie")), ("reader", ("A", "B"))}
    assert {row["preference"] for row in folder.rows("verdicts.jsonl") if row["judge"] != "reader"} == {0.5}
    found = {one.judge: one for one in orders(folder)}
    assert [(one.flips, one.ties, one.agree, one.first) for one in found.values()] == [
        (4, 0, 0, 1.0),
        (0, 4, 0, None),
        (0, 0, 4, 0.5),
    ]
    said = [part for part in judge_section(folder).parts if isinstance(part, str)]
    assert [part for part in said if "follow the order" in part] == [
        "The verdicts of first follow the order on 4 of 4 pairs: these are ties, and draw every preference towards 50."
    ]


@pytest.mark.parametrize(
    "quotes",
    [
        (["{a}"], []),
        ([], ["{b}"]),
        (["{a}"], ["", "The king was never dead at all."]),
        (["{a}", "lit lamp 1. Then Tobias ... and married"], ["{b}"]),
        (["{a}"], ["..."]),
        (["“”"], ["{b}"]),
        (["{a}"], ["the"]),
        (["Mira ... lamp 1 ... Tobias"], ["{b}"]),
        (["{b}"], ["{a}"]),
    ],
)
def test_a_verdict_that_does_not_quote_each_story_in_its_own_words_is_spoilt(tmp_path, plan, quotes):
    def invents(messages):
        a, b = stories(messages)
        said = json.loads(reader(messages))
        if faults(a) != faults(b):
            return json.dumps(said)
        lines = {"a": a.partition("\n")[0], "b": b.partition("\n")[0]}
        mine, theirs = ([quote.format(**lines) for quote in side] for side in quotes)
        return json.dumps({**said, "quotes_a": mine, "quotes_b": theirs})

    folder = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    judge_run(folder, quiet, models={"reader": ScriptedChatModel(replies=invents)}, retry=QUICK)
    assert folder.rows("verdicts.jsonl") == []
    assert len(failures(folder)) == 4
    assert all("quote" in row["error"] for row in failures(folder))


@pytest.mark.parametrize("quote", ["...", "“”", "the", "Mira"])
def test_a_judge_that_quotes_no_run_of_words_does_not_qualify(tmp_path, plan, quote):
    def quotes_little(messages):
        return json.dumps({**json.loads(reader(messages)), "quotes_a": [quote], "quotes_b": [quote]})

    folder = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    judge_run(folder, quiet, models={"reader": ScriptedChatModel(replies=quotes_little)}, retry=QUICK)
    assert [row["right"] for row in folder.rows("qualification.jsonl")] == [0, 0]
    assert counted_judges(folder) == {}


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("They ... crossed THE ice at night", "“They crossed,” she said. They had crossed the ice at night."),
        ("Gone.", "Gone."),
        ("他走进了房间", "雨停了。他走进了房间,看见一个人。"),
        (" ", "Nobody asked for blanks, and they say nothing."),
    ],
)
def test_a_run_of_words_is_a_quote_in_any_script(quote, text):
    assert misquoted([quote], text, "story A") is None


def test_kinship_is_told_by_the_name_of_who_wrote_where_the_plan_does_not_say_it(tmp_path, plan):
    folder = judged_run(tmp_path / "run", plan, Judge(model="gpt-4o"))
    unknown = "The plan does not say the `family` of the generator, so"
    assert unknown in " ".join(remarks(folder))
    folder.note_models({"writer": "qwen2.5-coder-1.5b-instruct-q4_k_m"})
    assert "does not say" not in " ".join(remarks(folder))
    folder.note_models({"writer": "some-finetune"})
    assert unknown in " ".join(remarks(folder)), "one of two writers has no family"


def test_a_judge_is_heard_by_the_criterion_that_it_qualified_for(tmp_path, plan):
    def one_eyed(messages):
        return reader(messages) if "more coherent" in messages[0].text else answer(messages, "A")

    folder = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    judge_run(folder, quiet, models={"reader": ScriptedChatModel(replies=one_eyed)}, retry=QUICK)
    assert counted_judges(folder) == {"reader": {"coherent"}}
    assert {row["criterion"] for row in folder.rows("verdicts.jsonl")} == {"coherent"}
    assert [row["pairs"] for row in folder.rows("qualification.jsonl")] == [24, 24]


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        (lambda messages: answer(messages, "A"), "flip"),
        (lambda messages: answer(messages, "tie"), "tie"),
        (lambda messages: answer(messages, "AB"[json.loads(reader(messages))["verdict"] == "A"]), "contrary"),
        (lambda messages: "I like both, thank you.", "spoilt"),
    ],
)
def test_how_a_judge_failed_to_qualify_is_kept_and_shown(tmp_path, plan, says, wrong):
    folder = judged_run(tmp_path / "run", plan, Judge(model="odd"))
    judge_run(folder, quiet, models={"odd": ScriptedChatModel(replies=says)}, retry=QUICK)
    told = folder.rows("qualification.jsonl")
    assert told
    assert all(row["wrong"] == {wrong: row["pairs"]} for row in told)
    table = next(part for part in judge_section(folder).parts if isinstance(part, Table))
    assert all(dict(zip(table.headings, row, strict=True))[wrong] == "24" for row in table.rows)


def test_a_judge_that_is_no_longer_in_the_plan_is_not_heard(tmp_path, plan):
    folder = judged_run(tmp_path / "run", plan, Judge(model="reader", family="b"), family="a")
    judge_run(folder, quiet, models=MODELS, retry=QUICK)
    assert set(counted_judges(folder)) == {"reader"}
    folder = RunFolder.create(folder.path, folder.plan.model_copy(update={"judges": [Judge(model="blind")]}))
    assert counted_judges(folder) == {}
    judge_run(folder, quiet, models=MODELS, retry=QUICK)
    assert {row["judge"] for row in folder.rows("qualification.jsonl")} == {"reader", "blind"}
    assert "The plan does not say the `family` of blind" in " ".join(remarks(folder))
