"""What a judge finds of planted contradictions is measured as the engine asks it, without a network."""

import json
import re

import pytest

from benchmarks import contradictions
from recurrentgpt.models.roles import resolve_model
from recurrentgpt.nodes.continuity_judge import Question
from recurrentgpt.prompts import Prompts
from recurrentgpt.schema.context import Context
from recurrentgpt.studies.measures.planted_contradictions import INNOCENT, THEN, planted_texts
from recurrentgpt.testing import ScriptedChatModel

TEXTS = [text for text in planted_texts() if text.part == "held_out"]
FEW = [TEXTS[0], *[text for text in TEXTS if text.kind == "looks"][:3], TEXTS[-1]]


def quoting(texts):
    """Answer with the planted sentence, which cannot be together with the line that tells the other."""

    def replies(messages):
        asked = str(messages[-1].text)
        lines = dict(re.findall(r"^(\d+)\. (.*)$", asked, re.MULTILINE))
        found = [
            {"sentence": text.then, "number": int(number)}
            for text in texts
            for number, line in lines.items()
            if text.then in asked and text.first in line
        ]
        return json.dumps({"contradictions": found})

    return replies


def asked(replies):
    chat = ScriptedChatModel(replies=replies, model_name="judge")
    return chat, resolve_model("judge", Context(models={"judge": chat}))


def test_a_judge_is_shown_the_sentence_that_a_passage_contradicts():
    for text in TEXTS[::8]:
        question = Question.about(
            text.passages[THEN], contradictions.told_codex(text.passages[:THEN]), Prompts("full", mode="fiction")
        )
        assert text.first in question.prompt
        assert text.then in question.prompt
        assert text.kind not in question.prompt.split()


def test_what_a_judge_finds_is_counted_beside_the_rules_and_with_them():
    chat, judge = asked(quoting(FEW))
    found = contradictions.judged(FEW, judge, ["sentences"])
    assert found["rules"] == contradictions.planted(FEW)
    assert found["rules"]["share"] < 1
    own = found["judge, sentences"]
    assert (own["found"], own["innocent"]) == ({"dead": "1 of 1", "looks": "3 of 3"}, 1)
    assert own["accused"] == [text.then for text in FEW if text.kind == INNOCENT]
    assert (own["asked"], own["unanswered"], len(chat.calls)) == (5, 0, 5)
    assert found["rules and judge, sentences"]["share"] == 1


def test_a_judge_is_shown_what_the_rules_read_and_not_asked_where_they_read_nothing():
    chat, judge = asked(quoting(FEW))
    found = contradictions.judged(FEW, judge, ["rules"])["judge, rules"]
    assert found["asked"] == len(chat.calls) < 5
    assert found["share"] < 1


def test_what_a_judge_quotes_elsewhere_is_an_accusation_and_no_find():
    def replies(messages):
        last = str(messages[-1].text).partition("The passage:\n")[2].partition("\n")[0]
        return json.dumps({"contradictions": [{"sentence": last, "number": 1}]})

    _, judge = asked(replies)
    found = contradictions.judged(FEW, judge, ["sentences"])["judge, sentences"]
    assert found["share"] == 0
    assert len(found["accused"]) == 5


def test_only_what_was_not_answered_is_asked_again(tmp_path):
    saved = tmp_path / "replies.jsonl"
    chat, judge = asked(lambda messages: "{" if FEW[1].then in messages[0].text else '{"contradictions": []}')
    found = contradictions.judged(FEW, judge, ["sentences"], save=saved)
    assert found["judge, sentences"]["unanswered"] == 1
    chat, judge = asked(quoting(FEW))
    found = contradictions.judged(FEW, judge, ["sentences"], save=saved)
    assert len(chat.calls) == 1
    assert found["judge, sentences"]["found"] == {"dead": "0 of 1", "looks": "1 of 3"}
    assert found["judge, sentences"]["unanswered"] == 0


def test_a_small_model_is_refused_as_the_engine_asks_none(monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["contradictions", "--judge-model", "qwen2.5-1.5b", "--judge-url", "http://127.0.0.1:9/v1"]
    )
    with pytest.raises(SystemExit):
        contradictions.main()
    assert "small model" in capsys.readouterr().err
