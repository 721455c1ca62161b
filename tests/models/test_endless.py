"""Streams that never end, and reasoning that is no prose: every call is bounded, and only the story is kept."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from recurrentgpt.models import calls, http_client, reasoning
from recurrentgpt.models.calls import Meter, ask, is_transient
from recurrentgpt.schema.errors import ModelRefused, ModelTooSlow, ModelUnavailable, ReasoningShown
from recurrentgpt.testing import Behaviour, FaultyServer
from tests.conftest import NEVER

from .calling import FACTS, QUESTION, Facts, model_of, written


@pytest.mark.parametrize("behaviour", ["thinking", "think tags"])
async def test_reasoning_is_no_prose_and_no_json(behaviour: Behaviour) -> None:
    with FaultyServer(behaviour) as server:
        assert await written(model_of(server), Meter()) == "TELL ME A FACT"
    with FaultyServer(behaviour, text=FACTS) as server:
        assert (await ask(model_of(server), QUESTION, Facts, max_tokens=50, meter=Meter())).facts
        assert len(server.requests) == 1


@pytest.mark.parametrize("way", ["stream", "request"])
async def test_a_cancellation_that_was_lost_while_a_connection_was_made_ends_the_call(way: str) -> None:
    """The HTTP client connects in a scope of its own, and takes a cancellation in the same moment for that one's."""
    with FaultyServer("hang") as server:
        model, client = model_of(server, timeout=NEVER), http_client.LoopClient()

        async def lost() -> None:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            await (written(model, Meter()) if way == "stream" else client.post(f"{server.base_url}/chat/completions"))

        call = asyncio.create_task(lost())
        await asyncio.sleep(0)
        call.cancel()
        ended, _ = await asyncio.wait([call], timeout=NEVER / 2)
        assert call in ended
        assert call.cancelled()
        assert server.requests == []


MARKS = [
    ("<thought>\n", "</thought>\n"),
    ("<reasoning>", "</reasoning>"),
    ("<Think>", "</Think>\n"),
    ('<think type="plan">', "</think>"),
    ("[THINK]", "[/THINK]\n"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis", "<|channel|>final"),
    ("<|channel>thought\n", "<channel|>"),
    ("<seed:think>", "</seed:think>"),
]
"""How models begin and end what is no reply of theirs, as it stands in the text where no server takes it out."""
THOUGHT = 'The user wants a fact.\n\nIs it {"facts": ["none"]}? <hm> [so]'


@pytest.mark.parametrize(("opening", "closing"), MARKS)
async def test_reasoning_is_taken_out_however_it_is_marked(opening: str, closing: str) -> None:
    with FaultyServer(text=f"{opening}{THOUGHT}{closing}The lamp went out.") as server:
        assert await written(model_of(server), Meter()) == "The lamp went out."
    with FaultyServer(text=f"{opening}{THOUGHT}{closing}{FACTS}") as server:
        reply = await ask(model_of(server), QUESTION, Facts, max_tokens=50, meter=Meter())
        assert (reply.facts, len(server.requests)) == (["The lamp went out."], 1)
    with FaultyServer(text=opening + THOUGHT) as server, pytest.raises(ModelUnavailable, match="empty reply"):
        await written(model_of(server), Meter())


@pytest.mark.parametrize("length", range(1, 30))
@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_reasoning_is_taken_out_in_whatever_pieces_it_comes(opening: str, closing: str, length: int) -> None:
    text = f"{opening}{THOUGHT}{closing}The lamp < went out.\n\n[Blank.] <"
    tags = reasoning.ThinkTagFilter()
    reply = "".join(tags.feed(text[at : at + length]) for at in range(0, len(text), length)) + tags.close()
    assert (reply, tags.unopened) == ("The lamp < went out.\n\n[Blank.] <", False)


@pytest.mark.parametrize("text", ["Let me think of a lamp.</think>\n\nThe lamp went out.", "Hmm.</think>The lamp."])
async def test_reasoning_without_a_beginning_is_shown_once_and_left_out_from_then_on(text: str) -> None:
    with FaultyServer(text=text) as server:
        model = model_of(server)
        with pytest.raises(ReasoningShown, match="left out from now on"):
            await written(model, Meter())
        assert await written(model, Meter()) == text.partition("</think>")[2].strip()


async def test_a_reply_that_was_taken_for_reasoning_to_its_end_is_heard_the_next_time() -> None:
    with FaultyServer(text="The lamp went out.") as server:
        model = model_of(server)
        model.seen.begins_reasoning = True
        with pytest.raises(ModelUnavailable, match="empty reply"):
            await written(model, Meter())
        assert await written(model, Meter()) == "The lamp went out."


async def test_an_object_after_reasoning_without_a_beginning_is_read() -> None:
    with FaultyServer(text='Is {"facts": ["none"]} right? No.</think>' + FACTS) as server:
        reply = await ask(model_of(server), QUESTION, Facts, max_tokens=50, meter=Meter())
    assert reply.facts == ["The lamp went out."]


async def test_a_reply_that_is_nothing_but_reasoning_says_so() -> None:
    with FaultyServer(text="<think>and on and on") as server, pytest.raises(ModelUnavailable, match="empty reply"):
        await written(model_of(server), Meter())


@pytest.mark.parametrize("text", ["a < b, and <the lamp", "2 <", "He wrote <thin ice> on it."])
async def test_what_only_begins_like_a_tag_stays(text: str) -> None:
    with FaultyServer(text=text) as server:
        assert await written(model_of(server), Meter()) == text


@pytest.mark.parametrize("behaviour", ["blank", "spaces", "no choices", "roles"])
async def test_a_stream_without_use_ends_after_the_timeout(behaviour: Behaviour) -> None:
    with FaultyServer(behaviour) as server, pytest.raises(ModelUnavailable, match="said nothing for too long"):
        await written(model_of(server, timeout=0.3), Meter())


async def test_reasoning_without_end_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning, "REASONING_TIMEOUTS", 0.02)
    with FaultyServer("reasoning") as server, pytest.raises(ModelTooSlow, match="reasoned for too long"):
        await written(model_of(server), Meter())


async def test_reasoning_without_end_is_bounded_in_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "THINKING_TOKENS", 10)
    with FaultyServer("reasoning") as server, pytest.raises(ModelRefused, match="before it wrote a word"):
        await written(model_of(server), Meter())


async def test_a_whole_call_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning, "CALL_TIMEOUTS", 0.02)
    with FaultyServer("endless") as server, pytest.raises(ModelTooSlow, match="did not end") as caught:
        await written(model_of(server), Meter(), max_tokens=1_000_000)
    assert not is_transient(caught.value), "what took so long is not asked for four times more"


async def test_a_reply_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MOST_BYTES", 1_000_000)
    with FaultyServer("flood") as server, pytest.raises(ModelUnavailable, match="more than 1 MB"):
        await written(model_of(server), Meter())


async def test_a_reply_that_was_compressed_unasked_is_refused() -> None:
    with FaultyServer("compressed") as server, pytest.raises(ModelUnavailable, match="compressed"):
        await written(model_of(server), Meter())


async def test_a_prompt_is_not_carried_to_another_host() -> None:
    with FaultyServer() as stranger, FaultyServer("redirect", elsewhere=stranger.base_url) as server:
        with pytest.raises(ModelRefused, match=r"redirect.*127\.0\.0\.1.*nothing was sent there"):
            await written(model_of(server), Meter())
        assert (stranger.requests, stranger.keys) == ([], [])


async def test_a_redirect_at_the_same_address_is_followed() -> None:
    with FaultyServer("redirect", "ok") as server:
        server.elsewhere = server.base_url
        assert await written(model_of(server), Meter()) == "TELL ME A FACT"
    assert len(server.requests) == 2


async def test_a_redirect_in_a_circle_is_said_to_be_one() -> None:
    with FaultyServer("redirect") as server:
        server.elsewhere = server.base_url
        with pytest.raises(ModelRefused, match="redirects in a circle"):
            await written(model_of(server), Meter())
