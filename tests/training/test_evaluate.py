"""What rules say of a scene, and the table with and without an adapter."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from training import evaluate
from training.data import Scene, line
from training.evaluate import Written, read_written
from training.evaluate import main as evaluate_main
from training.measures import (
    clauses,
    cliches,
    joined_words,
    measure,
    new_names,
    plan_carried_out,
    present_share,
    repeated,
    retold,
    vocabulary,
)
from training.product import ModelUnavailable

from .scenes import premise, scene
from .test_sample import Server

PLAN = (
    "Nora carries the tide book to the ferry and asks Old Hester at what hour she came in. "
    "Hester shows her a receipt, but Simon tears it in two."
)
DONE = (
    "Nora carried the tide book down to the ferry. Old Hester was mending a net. Nora asked her at what hour she had come in. "
    "Nobody spoke. Hester reached into her boot and showed her a receipt. The rain began. Simon tore it in two."
)


def test_a_plan_is_its_clauses() -> None:
    assert clauses(PLAN) == [
        "Nora carries the tide book to the ferry",
        "asks Old Hester at what hour she came in",
        "Hester shows her a receipt",
        "Simon tears it in two",
    ]
    assert clauses("They go down to Mrs. Quill, who gives no money back.") == [
        "They go down to Mrs Quill, who gives no money back"
    ]


def test_a_plan_is_carried_out_in_order() -> None:
    assert plan_carried_out(PLAN, DONE) == 1.0
    backwards = " ".join(reversed([f"{text}." for text in DONE.rstrip(".").split(". ")]))
    assert plan_carried_out(PLAN, backwards) <= 0.5
    assert plan_carried_out(PLAN, DONE.replace("Simon tore it in two.", "It grew dark.")) == 0.75
    assert plan_carried_out(PLAN, "The bear ate nine apples. It slept.") == 0.0


def test_a_plan_told_again_is_no_scene() -> None:
    assert retold(PLAN, PLAN.replace("carries", "carried").replace("tears", "tore")) > 0.9
    assert retold(PLAN, DONE) < 0.4
    assert retold(PLAN, "") == 0.0


def test_the_tense_is_that_of_the_narrator_alone() -> None:
    assert present_share('"She is here and she knows it," he said. He looked away.') == 0.0
    assert present_share("She walks in and looks round. He says nothing.") == 1.0
    assert present_share("You push the door and ask him for the key.") == 1.0
    assert present_share("It is closed, and you have kept the key. You push.") == 1.0
    assert present_share("It was closed. She opened it.") == 0.0


def test_joined_words_are_two_known_ones() -> None:
    known = vocabulary(["Please take care of the parcel and the teapot."])
    assert joined_words("Please takecare of theparcel and the teapot.", known) == ["takecare", "theparcel"]


def test_repetition_and_worn_phrases() -> None:
    assert repeated(["a", "b", "c", "d", "a", "b", "c", "d"], 4) == pytest.approx(0.2)
    assert repeated(["a"], 4) == 0.0
    assert cliches("She felt a sense of relief.") == ["a sense of"]


def test_only_people_whom_nobody_knows_are_new() -> None:
    text = 'Nora saw the man. "Come in," said Ferdinand to Nora. Then he left with Olga.'
    assert new_names(text, ["Nora Teague: a keeper", "Olga's hat"]) == ["Ferdinand"]


def test_a_scene_in_figures() -> None:
    found = measure(
        'Nora sees the man. "Come in.\n\nHe walks on.',
        mode="novel",
        plan=PLAN,
        context=["Nora"],
        known=frozenset({"nora"}),
    )
    assert (found.words, found.unclosed, found.new_names, found.joined) == (9, 1, 0, 0)
    assert found.wrong_tense == 1.0
    assert measure("You walk on.", mode="fiction", plan=PLAN, context=[], known=frozenset()).wrong_tense == 0.0


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve scenes, facts and plans; with an adapter the plan is carried out."""
    server = Server()
    worn: list[Any] = []

    def reply(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        if asked.startswith("Note what"):
            return json.dumps({"summary": "It is done.", "facts": ["The drawer is open."]})
        if "ways:" in asked:
            names = [text[2:].partition(":")[0] for text in asked.splitlines() if text.startswith("- ")]
            return json.dumps(dict.fromkeys(names, "Nora goes home.")) if worn[-1] else "I cannot."
        return scene().passage if worn[-1] else "The bear sleeps and sleeps and sleeps and sleeps."

    def serve(path: Path, adapter: Any = None) -> Any:
        worn.append(adapter)
        return server.endpoint

    monkeypatch.setattr(server, "reply", reply)
    monkeypatch.setattr(evaluate, "embedded_server", serve)
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_the_table_with_and_without(tmp_path: Path, writer: Server, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "held.jsonl").write_text(line(premise("held")))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"foot": 1, "steps": 2, "footsteps": 3}}}))
    command = [str(tmp_path / "held.jsonl"), "-o", str(tmp_path / "out.jsonl"), "--known", "--contexts", "2"]
    command += ["--dictionary", str(tmp_path / "tokenizer.json")]
    command += ["--model", str(tmp_path / "model.gguf"), "--adapter", str(tmp_path / "teller.gguf"), "--scale", "0.5"]
    assert evaluate_main(command) == 0
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()]
    header, plain, worn = rows[0], dict(zip(rows[0], rows[2], strict=True)), dict(zip(rows[0], rows[3], strict=True))
    assert header[:5] == ["way", "scenes", "words", "plan", "retold"]
    assert (plain["way"], worn["way"]) == ("none", "teller at 0.5")
    assert plain["scenes"] == worn["scenes"] == "2"
    assert float(plain["plan"]) < float(worn["plan"])
    assert (plain["plans"], worn["plans"]) == ("0.00", "1.00")
    assert (plain["write"], worn["write"]) == ("0.00", "1.00")
    assert plain["uncached tokens"] == "18"

    calls = len(writer.bodies)
    assert calls == 2 * 2 * 3
    assert [len(body["messages"]) for body in writer.bodies[:3]] == [2, 4, 4]
    assert evaluate_main(command) == 0
    assert len(writer.bodies) == calls, "what was written is not written again"
    sampled = [(body["temperature"], body["max_tokens"], body.get("presence_penalty")) for body in writer.bodies[:3]]
    assert sampled == [(0.6, 860, 0.35), (0.3, 320, None), (0.7, 420, None)], "as in a story"

    assert evaluate_main([*command, "--dictionary", str(tmp_path / "out.jsonl")]) == 1
    assert "is no tokenizer.json" in capsys.readouterr().err


def test_contexts_side_by_side_are_written_as_one_by_one(
    tmp_path: Path, writer: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "held.jsonl").write_text(line(premise("held")))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {}}}))
    command = [str(tmp_path / "held.jsonl"), "--known", "--contexts", "2", "--model", str(tmp_path / "model.gguf")]
    command += ["--dictionary", str(tmp_path / "tokenizer.json")]
    assert evaluate_main([*command, "-o", str(tmp_path / "alone.jsonl")]) == 0
    both, answer = threading.Barrier(2, timeout=60), writer.reply

    def reply(body: dict[str, Any]) -> str:
        both.wait()
        return answer(body)

    monkeypatch.setattr(writer, "reply", reply)
    assert evaluate_main([*command, "-o", str(tmp_path / "beside.jsonl"), "--parallel", "2"]) == 0
    alone, beside = (
        sorted(
            (row.model_copy(update={"seconds": 0.0}) for row in read_written([tmp_path / name])),
            key=lambda row: row.key,
        )
        for name in ("alone.jsonl", "beside.jsonl")
    )
    assert alone == beside
    assert len(alone) == 2


def test_after_a_context_that_fails_what_is_being_written_is_kept_and_no_other_is_begun(
    tmp_path: Path, writer: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "held.jsonl").write_text(line(premise("held")))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {}}}))
    command = [str(tmp_path / "held.jsonl"), "--known", "--contexts", "3", "--model", str(tmp_path / "model.gguf")]
    command += ["--dictionary", str(tmp_path / "tokenizer.json"), "-o", str(tmp_path / "out.jsonl"), "--parallel", "2"]
    both, gone, usual, begun = threading.Barrier(2, timeout=60), threading.Event(), evaluate.write, list[int]()

    def write(server: Any, context: Scene, *more: Any) -> Written:
        begun.append(context.step)
        both.wait()
        if context.step == 1:
            gone.set()
            raise ModelUnavailable("The server is gone.")
        assert gone.wait(60)
        return usual(server, context, *more)

    monkeypatch.setattr(evaluate, "write", write)
    assert evaluate_main(command) == 1
    assert "The server is gone." in capsys.readouterr().err
    assert [row.scene.step for row in read_written([tmp_path / "out.jsonl"])] == [2]
    assert sorted(begun) == [1, 2]
