"""What is logged and traced: names, numbers and ids; never a text, never a key."""

import io
import json
import logging

import pytest

from recurrentgpt import Library, MissingExtra, Story
from recurrentgpt.infrastructure import telemetry
from recurrentgpt.infrastructure.logs import QUIET, log_json
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import FaultyServer, ScriptedChatModel, story_answers

KEY = "sk-never-to-be-seen-4711"
PREMISE = "Zephyrine keeps the quicksilver aqueduct."


@pytest.fixture
def logged():
    """Give the lines that are logged as JSON, and put logging back as it was."""
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ("", *QUIET)}
    stream = io.StringIO()
    handler = log_json(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def told(user_folder, monkeypatch):
    """Give the folder of a story that was written with a key, through a real client."""

    def write():
        with FaultyServer(text=story_answers) as server, Library.open(user_folder) as library:
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            story = Story.new(
                premise=PREMISE,
                library=library,
                model="scripted",
                base_url=server.base_url,
                embeddings=HashEmbeddings(),
            )
            for _ in range(2):
                story.step()
            assert set(server.keys) == {KEY}
            return story.id, [passage.text for passage in story.passages()]

    return write


def test_every_node_is_a_line_without_a_word_of_the_story(logged, told):
    story, texts = told()
    lines = [line for line in logged() if line["logger"] == "recurrentgpt.nodes"]
    assert {"open_story", "retrieve", "write", "update_memory", "propose_plans", "commit"} <= {
        line["node"] for line in lines
    }
    assert {line["story"] for line in lines} <= {story}
    wrote = [line for line in lines if line["node"] == "write"]
    assert [line["step"] for line in wrote] == [0, 1]
    assert all(line["calls"] and line["output_tokens"] and line["seconds"] > 0 for line in wrote)
    said = json.dumps(logged())
    assert KEY not in said
    assert "quicksilver" not in said
    assert not any(text[:40] in said for text in texts)


def test_a_key_that_turns_up_in_a_record_is_hidden(logged, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    logging.getLogger("somebody").warning("refused: %s", KEY)
    try:
        raise ValueError(KEY)
    except ValueError:
        logging.getLogger("somebody").exception("it failed")
    first, second = logged()
    assert first["message"] == "refused: [hidden]"
    assert (second["message"], second["error"]) == ("it failed", "ValueError")


def test_no_row_of_any_database_holds_the_key(told, user_folder):
    told()
    files = [path for path in user_folder.rglob("*") if path.is_file()]
    assert {"stories.db", "checkpoints.db"} <= {path.name for path in files}
    assert any(PREMISE.encode() in path.read_bytes() for path in files), "the search finds what is there"
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


@pytest.fixture
def spans(monkeypatch):
    """Give the spans that were finished, in a provider of the test's own."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    telemetry._tracer.cache_clear()
    yield exporter.get_finished_spans
    telemetry._tracer.cache_clear()


@pytest.mark.parametrize(("value", "wanted"), [("1", True), ("", False), ("0", False), ("false", False)])
def test_spans_are_off_unless_asked_for(spans, user_folder, monkeypatch, value, wanted):
    monkeypatch.setenv(telemetry.VARIABLE, value)
    with Library.open(user_folder) as library:
        story = Story.new(premise=PREMISE, library=library, model=ScriptedChatModel(), embeddings=HashEmbeddings())
        passage = story.step()
    if not wanted:
        assert not spans()
        return
    assert "recurrentgpt.write" in {span.name for span in spans()}
    carried = json.dumps([dict(span.attributes) for span in spans()])
    assert story.id in carried
    assert "quicksilver" not in carried
    assert passage.text[:40] not in carried


def test_telemetry_that_is_not_installed_is_one_sentence(monkeypatch):
    monkeypatch.setenv(telemetry.VARIABLE, "1")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry", None)
    telemetry._tracer.cache_clear()
    with pytest.raises(MissingExtra, match="telemetry"), telemetry.observed("write", "s", 1, dict):
        pass
