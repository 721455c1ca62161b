"""The page of events shows the types as they are, and what a story yields is what the types say."""

import pytest
from pydantic import TypeAdapter

from docs.events import PAGE, draw, list_kinds
from recurrentgpt import Library, Story
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel


def test_the_page_shows_the_events_as_they_are():
    assert PAGE.read_text(encoding="utf-8") == draw(), "run: python -m docs.events"


@pytest.fixture
def happened(tmp_path):
    """Give the events of everything that yields some."""
    settings = {"model": ScriptedChatModel(), "embeddings": HashEmbeddings(), "min_words": 20}
    book = tmp_path / "book.txt"
    book.write_text("The lamp went out.\n\n" * 40)
    with Library.open(tmp_path / "library") as library:
        story = Story.new("fantasy", library=library, **settings)
        events = [*story.begin(), *story.stream(2), *story.retry(), *story.replan()]
        events += story.edit_passage(2, "Mira lit the lamp and waited. " * 8, replay=True)
        events += library.import_book(book, **settings)
    return events


def test_every_event_has_the_fields_of_its_kind(happened):
    kinds = list_kinds()
    for event in happened:
        kind = kinds[event["event"]]
        assert event.keys() == kind.__annotations__.keys(), event
        TypeAdapter(kind).validate_python(event, strict=True)
    assert {event["event"] for event in happened} >= kinds.keys() - {"retract"}
