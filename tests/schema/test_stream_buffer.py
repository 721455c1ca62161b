"""The text of a passage in the making, as its writer and its readers hold it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.schema.stream_buffer import StreamBuffer


def _prose(text: str, settled: int) -> dict[str, object]:
    return {"event": "prose", "text": text, "settled": settled}


def test_what_is_retracted_is_gone_and_what_is_settled_stays():
    buffer = StreamBuffer()
    assert buffer.apply(_prose("The lamp went out. Sure, here", 19))
    assert buffer.apply({"event": "retract", "length": 19})
    assert buffer.apply(_prose("It rained.", 29))
    assert (buffer.text, buffer.settled) == ("The lamp went out. It rained.", 29)


def test_a_retraction_of_settled_text_unsettles_it():
    buffer = StreamBuffer("The lamp went out.", settled=18)
    buffer.retract(8)
    assert (buffer.text, buffer.settled) == ("The lamp", 8)


def test_settled_text_is_released_once():
    buffer = StreamBuffer()
    buffer.add("The lamp went out. And th", 18)
    assert buffer.release() == "The lamp went out."
    assert buffer.release() == ""
    buffer.add("en it rained.", 38)
    assert buffer.release() == " And then it rained."


def test_another_passage_begins_with_nothing():
    buffer = StreamBuffer()
    buffer.add("The lamp went out.", 18)
    assert buffer.release()
    assert not buffer.apply({"event": "stage", "node": "retrieve"})
    assert buffer.text
    assert buffer.apply({"event": "stage", "node": "write"})
    assert buffer == StreamBuffer()


@pytest.mark.parametrize("event", [{"event": "passage", "text": "x"}, {"event": "done"}, {}])
def test_other_events_change_nothing(event):
    buffer = StreamBuffer("The lamp.", settled=4)
    assert not buffer.apply(event)
    assert buffer == StreamBuffer("The lamp.", settled=4)


def test_the_same_again_is_no_event():
    buffer = StreamBuffer("The lamp.", settled=4)
    assert buffer.become("The lamp.", 4) == []
    assert buffer.become("The lamp.", 9) == [_prose("", 9)]
    retract = {"event": "retract", "length": 5, "why": "It was no lamp."}
    assert buffer.become("The light.", 4, "It was no lamp.") == [retract, _prose("ight.", 4)]


@given(st.lists(st.tuples(st.text("ab\n🌉", max_size=12), st.floats(0, 1))))
def test_a_reader_holds_what_its_writer_holds(states):
    writer, reader = StreamBuffer(), StreamBuffer()
    for text, share in states:
        for event in writer.become(text, int(len(text) * share)):
            assert reader.apply(event)
        assert reader.text == writer.text == text
        assert writer.settled <= reader.settled <= len(text)
