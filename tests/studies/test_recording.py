"""Recordings: every call is written down, and answers again without a model; a damaged file is a sentence."""

import json

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.models.calls import Meter, ask, write_stream
from recurrentgpt.models.roles import ResolvedModel, endpoint_model
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import ModelUnavailable
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.recording.recording import FileRecorder, Recording
from recurrentgpt.studies.recording.recording_models import record_model, replay_model
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers

pytestmark = pytest.mark.usefixtures("word_by_word")

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}


def scripted(reply="One two.\u2028 Three four."):
    return ResolvedModel(ScriptedChatModel(replies=lambda messages: reply), "scripted", "full", embedded=False)


async def said(model, text="Say it.", stop_after=None, **options):
    found, meter = [], Meter()
    stream = write_stream(model, [HumanMessage(text)], max_tokens=50, meter=meter, **options)
    async for piece in stream:
        found.append(piece)
        if stop_after and len(found) >= stop_after:
            break
    await stream.aclose()
    return found, meter.usage


async def test_a_recorded_call_is_answered_again_piece_by_piece_at_the_same_cost(tmp_path):
    path = tmp_path / "calls.jsonl"
    live = await said(record_model(scripted(), FileRecorder(path), "writer", 3), seed=1)
    again = await said(replay_model(Recording.read(path), "writer", 3), seed=1)
    assert again[0] == live[0]
    assert {**again[1], "seconds": 0} == {**live[1], "seconds": 0}
    header, call = map(json.loads, path.read_text().removesuffix("\n").split("\n"))
    assert header["model"]["name"] == "scripted"
    assert (call["role"], call["step"], call["parameters"]["seed"], call["usage"]["input"]) == ("writer", 3, 1, 2)
    assert call["messages"] == [["human", "Say it."]]
    assert call["seconds"] >= 0


async def test_what_a_reader_cut_short_is_recorded_as_far_as_it_was_read(tmp_path):
    path = tmp_path / "calls.jsonl"
    await said(record_model(scripted(), FileRecorder(path), "writer", 1), stop_after=2)
    (call,) = Recording.read(path).calls
    assert not call.whole
    assert call.reply.startswith("One two.")
    assert "four" not in call.reply


async def test_a_call_that_was_cut_short_has_its_estimated_cost_on_tape_and_again(tmp_path):
    path = tmp_path / "calls.jsonl"
    pieces, live = await said(record_model(scripted(), FileRecorder(path), "writer", 1), stop_after=2)
    (call,) = Recording.read(path).calls
    assert call.usage["estimated"] == 1
    assert (call.usage["input"], call.usage["output"]) == (live["input_tokens"], live["output_tokens"]) != (0, 0)
    again = await said(replay_model(Recording.read(path), "writer", 1), stop_after=2)
    assert again[0] == pieces
    assert {**again[1], "seconds": 0} == {**live, "seconds": 0}


@pytest.mark.parametrize("fault", ["cut", "stalled"])
async def test_a_call_that_failed_fails_again_unless_it_was_made_anew(tmp_path, fault):
    path = tmp_path / "calls.jsonl"
    recorder = FileRecorder(path)
    with FaultyServer(fault, "ok") as endpoint:
        model = endpoint_model("scripted", endpoint.base_url, "a-key", Context(timeout=2))
        with pytest.raises(ModelUnavailable):
            await said(record_model(model, recorder, "writer", 1))
        (call,) = Recording.read(path).calls
        assert (bool(call.reply), call.whole, call.failed) == (True, False, True)
        with pytest.raises(ModelUnavailable, match="A call of the writer at step 1 failed when it was recorded"):
            await said(replay_model(Recording.read(path), "writer", 1))
        with pytest.raises(StudyError, match="no answer"):
            await said(replay_model(Recording.read(path, in_order=True), "writer", 1), "Another prompt.")
        live = await said(record_model(model, recorder, "writer", 1))
    assert (await said(replay_model(Recording.read(path), "writer", 1)))[0] == live[0]


async def test_without_prompts_their_hash_alone_is_kept(tmp_path):
    path = tmp_path / "calls.jsonl"
    await said(record_model(scripted(), FileRecorder(path, prompts=False), "writer", 1), "A secret prompt.")
    assert "secret" not in path.read_text()
    assert (await said(replay_model(Recording.read(path), "writer", 1), "A secret prompt."))[0]


async def test_an_endpoint_is_replayed_with_the_prompts_it_had(tmp_path, monkeypatch):
    path = tmp_path / "calls.jsonl"
    with FaultyServer("ok", text=story_answers) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        from recurrentgpt.models.roles import aresolve_model

        model = await aresolve_model("writer", Context(model="scripted"))
        recorder = FileRecorder(path)
        live = await said(record_model(model, recorder, "writer", 1), seed=5)
        asked = record_model(model, recorder, "planner", 1)
        reply = await ask(asked, [HumanMessage("Plan.")], SCHEMA, max_tokens=50, meter=Meter())
    assert "a-key" not in path.read_text()
    recording = Recording.read(path)
    assert (await said(replay_model(recording, "writer", 1), seed=5))[0] == live[0]
    planner = replay_model(recording, "planner", 1)
    assert planner.speaks_openai
    assert await ask(planner, [HumanMessage("Plan.")], SCHEMA, max_tokens=50, meter=Meter()) == reply


async def test_a_prompt_that_was_not_recorded_is_an_error(tmp_path):
    path = tmp_path / "calls.jsonl"
    await said(record_model(scripted(), FileRecorder(path), "writer", 1))
    recording = Recording.read(path)
    with pytest.raises(StudyError, match="holds no answer to the writer's prompt at step 2"):
        await said(replay_model(recording, "writer", 2), "Another prompt.")
    with pytest.raises(StudyError, match="no calls of the judge"):
        replay_model(recording, "judge", 1)


async def test_a_recording_older_than_the_prompts_is_played_in_its_order_only_where_that_was_asked_for(tmp_path):
    path = tmp_path / "calls.jsonl"
    for prompt, reply in (("One.", "First."), ("Two.", "Second."), ("Three.", "Third.")):
        await said(record_model(scripted(reply), FileRecorder(path), "writer", 1), prompt)
    recording = Recording.read(path, in_order=True)
    told = [
        "".join((await said(replay_model(recording, "writer", 1), prompt))[0])
        for prompt in ("Two.", "New one.", "New three.")
    ]
    assert told == ["Second.", "First.", "Third."]
    assert recording.outdated == 2
    # A guard that is newer than the recording may ask once more.
    assert "".join((await said(replay_model(recording, "writer", 1), "One more."))[0]) == "Third."
    with pytest.raises(StudyError, match=r"holds no answer to the writer's prompt at step 2.*--live"):
        await said(replay_model(Recording.read(path, in_order=True), "writer", 2), "New one.")


async def test_of_calls_that_came_in_another_order_the_seed_tells_which_is_which(tmp_path):
    path = tmp_path / "calls.jsonl"
    for seed, reply in ((2, "Second draft."), (1, "First draft.")):
        await said(record_model(scripted(reply), FileRecorder(path), "writer", 1), f"Draft {seed}.", seed=seed)
    recording = Recording.read(path, in_order=True)
    told = ["".join((await said(replay_model(recording, "writer", 1), "Draft.", seed=seed))[0]) for seed in (1, 2)]
    assert told == ["First draft.", "Second draft."]
    assert recording.outdated == 2


async def test_of_a_call_made_twice_the_later_one_counts(tmp_path):
    path = tmp_path / "calls.jsonl"
    for reply in ("First.", "Second."):
        await said(record_model(scripted(reply), FileRecorder(path), "writer", 1))
    assert "".join((await said(replay_model(Recording.read(path), "writer", 1)))[0]) == "Second."


async def test_a_file_cut_in_the_middle_is_a_sentence_and_a_recorder_goes_on(tmp_path):
    path = tmp_path / "calls.jsonl"
    await said(record_model(scripted(), FileRecorder(path), "writer", 1))
    whole = path.read_text()
    path.write_text(whole + whole[-40:-1])
    with pytest.raises(StudyError, match=r"cut off or damaged in line 3"):
        Recording.read(path)
    await said(record_model(scripted(), FileRecorder(path), "writer", 1))
    assert len(Recording.read(path).calls) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "recurrentgpt-calls", "version": 9, "role": "writer", "model": {}}\n', "version 9"),
        ('{"a": 1}\n', "no header"),
        ("\xff\xfe nonsense", "damaged"),
        ('{"format": "recurrentgpt-calls", "version": 1, "role": "w", "model": {"name": "m", "tier": "full", '
         '"embedded": false, "openai": false}}\n{"key": "k"}\n', "call that is damaged, `role` is missing"),
        ('{"format": "recurrentgpt-calls", "version": 1, "role": "w", "model": {"name": 3}}\n', "header, `model.name` must"),
        ('{"format": "recurrentgpt-calls", "version": 1}\n', "damaged header, `role` is missing"),
    ],
)  # fmt: skip
def test_what_is_no_recording_is_said(tmp_path, text, message):
    path = tmp_path / "calls.jsonl"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        Recording.read(path)
    with pytest.raises(StudyError, match="cannot be read"):
        Recording.read(tmp_path / "missing.jsonl")


def test_another_model_under_the_same_name_is_refused(tmp_path):
    path = tmp_path / "calls.jsonl"
    record_model(scripted(), FileRecorder(path), "writer", 1)
    other = ResolvedModel(ScriptedChatModel(), "another", "full", embedded=False)
    with pytest.raises(StudyError, match="was begun with scripted as writer, and this run has another"):
        record_model(other, FileRecorder(path), "writer", 1)
