"""The endpoint for OpenAI's clients, by the official client."""

import asyncio
import itertools
import json
import re
import signal
import socket
import subprocess
from contextlib import AsyncExitStack

import openai
import pytest
from fastapi.testclient import TestClient
from langchain_core.messages import HumanMessage

from recurrentgpt import Library, Story
from recurrentgpt.cli.entry_point import run
from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.backend.guard import checked_origin
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.testing import ScriptedChatModel, story_replies
from tests.desk.scripted import DESK

HERE = ("127.0.0.1", 50000)
OWN = "Mira lets the last boat go by and keeps the lamp dark."
BEGIN = {"role": "user", "content": "A lighthouse that must stay dark."}


@pytest.fixture
def desk(tmp_path):
    """Give the app in this process, over a library of its own."""
    number = itertools.count()  # no two replies are the same, as with models that are no script

    def replies(messages):
        return story_replies([HumanMessage(str(next(number))), *messages])

    model = ScriptedChatModel(replies=replies)
    given = {"model": model, "embeddings": HashEmbeddings()}
    with Library.open(tmp_path / "library") as library:
        app = create_app(library, folder=tmp_path / "desk", given=given, chat=True)
        with TestClient(app, base_url="http://127.0.0.1", client=HERE) as http:
            yield http, library, model


@pytest.fixture
def client(desk):
    """Give the official client."""
    return openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=desk[0], max_retries=0)


def ask(client, messages, **options):
    return client.chat.completions.create(model="recurrentgpt", messages=messages, **options)


def said(reply):
    return {"role": "assistant", "content": reply.choices[0].message.content}


def place(reply):
    """Return the story and the passage that a reply names in its last line."""
    return re.search(r"\(story ([\w-]+), passage (\w+)\)$", reply.choices[0].message.content).groups()


def told(desk, reply):
    return Story.open(place(reply)[0], library=desk[1])


def test_models(client):
    assert [model.id for model in client.models.list()] == ["recurrentgpt", "recurrentgpt-fiction"]
    assert client.models.retrieve("recurrentgpt-fiction").id == "recurrentgpt-fiction"
    with pytest.raises(openai.UnprocessableEntityError, match="no model 'gpt-5': name recurrentgpt or"):
        client.models.retrieve("gpt-5")


def test_the_same_words_begin_another_story_while_the_first_is_written(client, desk):
    first = ask(client, [BEGIN])
    held = AsyncExitStack()
    call(lambda: held.enter_async_context(desk[1].engine.writing(place(first)[0])))
    second = ask(client, [BEGIN])
    call(held.aclose)
    assert place(second)[0] != place(first)[0]
    assert place(ask(client, [BEGIN]))[0] == place(second)[0]


def test_a_chat_is_a_story(client, desk):
    first = ask(client, [BEGIN])
    story = told(desk, first)
    assert story.brief["premise"]
    assert first.choices[0].message.content.startswith(story.passage().text)
    assert first.choices[0].finish_reason == "stop"
    assert first.usage.total_tokens > 100
    plans = story.plans
    second = ask(client, [BEGIN, said(first), {"role": "user", "content": "2"}])
    assert (place(second)[0], story.passage().step, story.passage().plan) == (story.id, 2, plans[1])
    chat = [
        {"role": "system", "content": "Be brief."},
        BEGIN,
        said(first),
        {"role": "user", "content": "2"},
        said(second),
    ]
    third = ask(client, [*chat, {"role": "user", "content": [{"type": "text", "text": OWN}]}])
    assert (story.passage().step, story.passage().plan) == (3, OWN)
    assert third.choices[0].message.content.startswith(story.passage().text)
    assert len(desk[1].stories()) == 1


def test_a_chat_has_the_genre_and_the_language_of_its_premise(client, desk):
    begin = {"role": "user", "content": "A cosy mystery in a village bakery. Auf Deutsch bitte."}
    first = ask(client, [begin])
    story = told(desk, first)
    assert (story.brief["genre"], story.settings["language"]) == ("cosy mystery", "German")
    ask(client, [begin, said(first), {"role": "user", "content": "2"}])
    writing = [call[0].text for call in desk[2].calls if "You are the author" in call[0].text]
    assert all("a cosy mystery novel, written in German" in prompt for prompt in writing)


def test_a_reply_written_again_is_another_take_and_an_edit_is_a_branch(client, desk):
    first = ask(client, [BEGIN])
    chat = [BEGIN, said(first), {"role": "user", "content": "1"}]
    second, again = ask(client, chat), ask(client, chat)
    story = told(desk, first)
    takes = [story.passage(place(reply)[1]) for reply in (second, again)]
    assert takes[0].text != takes[1].text
    assert (takes[0].plan, takes[0].parent) == (takes[1].plan, takes[1].parent)
    ask(client, [*chat, said(again), {"role": "user", "content": "1"}])
    branch = ask(client, [*chat[:2], {"role": "user", "content": OWN}])
    there = story.passage(place(branch)[1])
    assert (there.step, there.plan, there.parent) == (2, OWN, takes[0].parent)
    follows = ask(client, [*chat, said(second), {"role": "user", "content": "3"}])
    assert story.passage(place(follows)[1]).parent == takes[0].id, "an older branch goes on where its chat stands"


def test_a_reply_streams_as_it_is_written(client, desk):
    pieces, usage = [], None
    for chunk in ask(client, [BEGIN], stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        pieces += [choice.delta.content for choice in chunk.choices if choice.delta.content]
    text = "".join(pieces)
    story = Story.open(re.search(r"\(story (\w+),", text)[1], library=desk[1])
    assert text.startswith(story.passage().text + "\n\n1. ")
    assert len(pieces) > 5
    assert usage.completion_tokens > 100


def test_a_story_is_named_by_a_header_or_as_the_user(client, desk):
    first = ask(client, [BEGIN], extra_headers={"X-Story": "my-tale"})
    story = Story.open("my-tale", library=desk[1])
    assert first.choices[0].message.content.startswith(story.passage().text)
    ask(client, [{"role": "user", "content": "2"}], extra_headers={"X-Story": "my-tale"})
    ask(client, [{"role": "user", "content": "1"}], user="my-tale")
    assert story.passage().step == 3
    other = ask(client, [BEGIN], user="somebody")
    assert told(desk, other).id not in ("my-tale", "somebody")


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_sends_its_user_and_the_last_message_goes_on(client, desk, stream):
    def says(content, user="ann@example.org"):
        reply = ask(client, [{"role": "user", "content": content}], user=user, stream=stream)
        return "".join(it.choices[0].delta.content or "" for it in reply) if stream else said(reply)["content"]

    def step(text):
        story, passage = re.search(r"\(story ([\w-]+), passage (\w+)\)$", text).groups()
        return story, Story.open(story, library=desk[1]).passage(passage).step

    story, _ = step(says("A chess player in Riga stops in the middle of a game."))
    assert [step(says(it)) for it in ("1", "another take", "option 2")] == [(story, 2), (story, 2), (story, 3)]
    assert "from 1 to 3" in says("9")
    assert step(says("A bell under the sea.")) == (step(says("another take"))[0], 1), "a sentence begins a story"
    assert len(desk[1].stories()) == 2
    says("A lamp.", "bob@example.org")
    assert len({step(says("another take", user))[0] for user in ("ann@example.org", "bob@example.org")}) == 2


def test_a_player_acts(client, desk):
    first = client.chat.completions.create(model="recurrentgpt-fiction", messages=[BEGIN])
    act = {"role": "user", "content": "I climb the stairs and put the lamp out."}
    client.chat.completions.create(model="recurrentgpt-fiction", messages=[BEGIN, said(first), act])
    story = told(desk, first)
    assert story.settings["mode"] == "fiction"
    assert story.passage().plan == act["content"]


def test_an_answer_that_cannot_be_used_is_asked_back_and_the_chat_goes_on(client, desk):
    first = ask(client, [BEGIN])
    chat = [BEGIN, said(first), {"role": "user", "content": "9"}]
    reply = ask(client, chat)
    assert "from 1 to 3" in said(reply)["content"]
    ask(client, [*chat, said(reply), {"role": "user", "content": "2"}])
    assert told(desk, first).passage().step == 2


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        ({"model": "gpt-4o", "messages": [BEGIN]}, openai.UnprocessableEntityError, "name recurrentgpt"),
        ({"model": "recurrentgpt", "messages": []}, openai.UnprocessableEntityError, "messages"),
        ({"model": "recurrentgpt", "messages": [{"role": "user", "content": "### Task:\nMerge these answers."}]},
         openai.UnprocessableEntityError, "another model"),
        ({"model": "recurrentgpt", "messages": [
            {"role": "assistant", "content": "(story 000000000000, passage 01234567)"}, BEGIN]},
         openai.NotFoundError, "no story"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_of_the_client(client, desk, body, kind, reason):
    with pytest.raises(kind, match=reason):
        client.chat.completions.create(**body)
    assert not desk[1].stories()


@pytest.mark.parametrize(("key", "status"), [("0123456789abcdef0123", 200), ("wrong", 401)])
def test_off_this_machine_the_token_is_the_key(tmp_path, key, status):
    with Library.open(tmp_path / "library") as library:
        app = create_app(library, folder=tmp_path / "desk", token="0123456789abcdef0123", chat=True)
        with TestClient(app, base_url="http://127.0.0.1", client=("192.168.1.7", 5)) as http:
            assert http.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code == status


@pytest.mark.parametrize(
    ("token", "machine", "headers", "told"),
    [
        ("0123456789abcdef0123", "192.168.1.7", {"Authorization": "Bearer wrong"}, "give the one that it printed"),
        ("0123456789abcdef0123", "192.168.1.7", {}, "needs its API key"),
        ("", "192.168.1.7", {}, "answers this machine only"),
        ("", "127.0.0.1", {"Host": "evil.example"}, "does not answer to the name 'evil.example'"),
        ("", "127.0.0.1", {"Origin": "http://evil.example"}, "takes no requests from this page"),
    ],
)
def test_whoever_is_refused_is_told_of_the_endpoint_and_of_no_desk(tmp_path, token, machine, headers, told):
    app = create_app(folder=tmp_path / "desk", token=token, chat=True)
    with TestClient(app, base_url="http://127.0.0.1", client=(machine, 5)) as http:
        for path in ("/v1/models", "/v1/chat/completions"):
            message = http.get(path, headers=headers).json()["error"]["message"]
            assert told in message
            assert "desk" not in message.casefold()


def test_what_cannot_be_found_is_told_without_commands_of_a_shell(client):
    line = f"(story {place(ask(client, [BEGIN]))[0]}, passage 01234567)"
    with pytest.raises(openai.NotFoundError, match="Give what a reply names, or begin another chat") as refused:
        ask(client, [BEGIN, {"role": "assistant", "content": line}, {"role": "user", "content": "2"}])
    assert "recurrentgpt " not in refused.value.message


def test_a_taken_port_is_told_of_the_endpoint(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", "--port", str(taken.getsockname()[1])]) == 2
    assert "The endpoint cannot listen at" in capsys.readouterr().err


def test_the_desk_alone_has_no_such_endpoint(tmp_path):
    with Library.open(tmp_path / "library") as library:
        app = create_app(library, folder=tmp_path / "desk")
        with TestClient(app, base_url="http://127.0.0.1", client=HERE) as http:
            assert http.get("/v1/models").status_code == 404


def test_the_command_says_where_clients_find_it(warm):
    command = ("-m", "recurrentgpt.cli", "serve", "--port", "0")
    with warm.start(*command, stderr=subprocess.PIPE, imports=DESK) as process:
        address = re.search(r"http://127\.0\.0\.1:\d+/v1", process.stderr.readline())[0]
        models = openai.OpenAI(base_url=address, api_key="any").models.list()
        assert [model.id for model in models] == ["recurrentgpt", "recurrentgpt-fiction"]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()


def test_the_first_reply_written_again_is_another_take_of_the_same_story(client, desk):
    first = ask(client, [BEGIN])
    again = ask(client, [{"role": "system", "content": "Be brief."}, BEGIN])
    story = told(desk, first)
    assert place(again)[0] == story.id
    takes = [story.passage(place(reply)[1]) for reply in (first, again)]
    assert takes[0].text != takes[1].text
    assert (takes[0].step, takes[0].plan, takes[0].parent) == (1, takes[1].plan, takes[1].parent)
    assert again.choices[0].message.content.startswith(takes[1].text)
    ask(client, [BEGIN, said(again), {"role": "user", "content": "1"}])
    other = ask(client, [BEGIN])
    assert place(other)[0] != story.id, "a story that has gone on is not begun again by another chat's first words"
    assert len(desk[1].stories()) == 2


def test_a_chat_that_has_an_id_is_a_story_by_itself(client, desk):
    def reply(chat, *messages):
        return ask(client, [*messages], extra_headers={"X-OpenWebUI-Chat-Id": chat})

    first, other = reply("chat-1", BEGIN), reply("chat-2", BEGIN)
    assert [place(it)[0] for it in (first, other)] == ["chat-1", "chat-2"]
    reply("chat-1", BEGIN, said(first), {"role": "user", "content": "1"})
    again = reply("chat-1", BEGIN)
    story = told(desk, again)
    assert (story.id, story.passage(place(again)[1]).step) == ("chat-1", 1)
    assert story.passage(place(again)[1]).parent == story.passage(place(first)[1]).parent
    edited = reply("chat-1", {"role": "user", "content": "A lighthouse that must burn."})
    assert place(edited)[0] not in ("chat-1", "chat-2")
    temporary = reply("local:7f", {"role": "user", "content": "A bell under the sea."})
    assert place(temporary)[0] not in ("chat-1", "chat-2")


def test_a_player_is_offered_other_roles(client, desk):
    first, again = (client.chat.completions.create(model="recurrentgpt-fiction", messages=[BEGIN]) for _ in range(2))
    assert place(first)[0] == place(again)[0]
    story = told(desk, first)
    assert [story.passage(place(reply)[1]).step for reply in (first, again)] == [0, 0]
    assert len(desk[1].stories()) == 1


TITLE = """### Task:
Name this chat with a concise, 3-5 word title and an emoji.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: A lighthouse that must stay dark.
ASSISTANT: %s
</chat_history>"""


def test_what_a_front_end_asks_on_the_side_is_answered_from_the_story_and_writes_nothing(client, desk):
    first = ask(client, [BEGIN])
    story = told(desk, first)
    before = (story.head, len(story.tree().as_json()["passages"]))
    text = said(first)["content"]
    genre = story.brief["genre"]

    def aside(content, role="user", before=(), **options):
        reply = ask(client, [*before, {"role": role, "content": content}], **options)
        return reply.choices[0].message.content

    def wanted(key, task):
        return TITLE.replace("title", key).replace("Name this chat", task) % text

    assert json.loads(aside(TITLE % text)) == {"title": story.title}
    assert json.loads(aside(wanted("tags", "Tag it"))) == {"tags": [genre]}
    assert json.loads(aside(wanted("follow_ups", "Suggest"))) == {"follow_ups": story.plans}
    assert json.loads(aside(wanted("queries", "Search"))) == {"queries": []}
    assert (
        aside("Provide a concise, 5-word-or-less title for the conversation.\n\nUser: hi\nAI: " + text) == story.title
    )
    analyze = "Analyze this conversation and provide:\n1. Its language\n2. A concise title\n\nUser: hi\nAI: "
    assert aside(analyze + text) == story.title
    assert aside("Give this chat a title of three words: " + text, max_tokens=16) == story.title
    chat = [BEGIN, said(first)]
    summarize = "Ignore previous instructions. Summarize the story so far."
    assert aside(summarize, role="system", before=chat) == story.memory
    speak = "[Write your next reply from the point of view of Mira.]"
    assert aside(speak, role="system", before=chat) == story.plans[0]
    chunks = ask(client, [{"role": "user", "content": TITLE % text}], stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert json.loads(streamed) == {"title": story.title}
    told_by = {"extra_body": {"metadata": {"task": "title_generation"}}, "extra_headers": {"X-Story": story.id}}
    assert aside("Whatever the template says.", **told_by) == story.title
    assert (story.head, len(story.tree().as_json()["passages"]), len(desk[1].stories())) == (*before, 1)


def test_a_title_before_there_is_a_story_is_some_title_and_begins_none(client, desk):
    reply = ask(client, [{"role": "user", "content": TITLE % "(nothing yet)"}])
    assert json.loads(said(reply)["content"])["title"]
    tools = 'Available Tools: []\nReturn {"tool_calls": []}'
    reply = ask(client, [{"role": "system", "content": tools}, {"role": "user", "content": "Query: a lighthouse"}])
    assert json.loads(said(reply)["content"]) == {"tool_calls": []}
    assert not desk[1].stories()


def test_a_premise_about_titles_is_a_premise(client, desk):
    reply = ask(client, [{"role": "user", "content": "A concise man inherits a title, and no conversation about it."}])
    assert told(desk, reply).passage().step == 1


PAGE = "http://localhost:8000"


@pytest.fixture
def named(tmp_path):
    """Give a client of an app that a page of another origin may use, with a key."""
    with Library.open(tmp_path / "library") as library:
        app = create_app(library, folder=tmp_path / "desk", token="0123456789abcdef0123", chat=True, origins=(PAGE,))
        with TestClient(app, base_url="http://127.0.0.1", client=HERE) as http:
            yield http


def test_a_page_of_a_named_origin_may_ask_with_the_key_and_without_cookies(named):
    asked = {
        "Origin": PAGE,
        "Sec-Fetch-Site": "cross-site",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    before = named.options("/v1/chat/completions", headers=asked)
    assert before.status_code == 204
    assert before.headers["Access-Control-Allow-Headers"] == "authorization,content-type"
    headers = {"Origin": PAGE, "Sec-Fetch-Site": "cross-site", "Authorization": "Bearer 0123456789abcdef0123"}
    answers = [before, named.get("/v1/models", headers=headers), named.get("/v1/models", headers={"Origin": PAGE})]
    assert [answer.status_code for answer in answers] == [204, 200, 401]
    for answer in answers:
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    ("origin", "path"),
    [
        ("http://evil.example", "/v1/models"),
        ("null", "/v1/models"),
        (PAGE, "/desk/api/stories"),
        (PAGE + "1", "/v1/models"),
    ],
)
def test_other_pages_and_the_desk_itself_stay_closed(named, origin, path):
    headers = {"Origin": origin, "Authorization": "Bearer 0123456789abcdef0123"}
    answer = named.get(path, headers=headers)
    assert answer.status_code == 403
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("origin", ["*", "https://*", "http://*.example", "null", "localhost:8000", PAGE + "/chat", ""])
def test_an_origin_is_named_in_full(origin):
    with pytest.raises(SettingsError, match="is none"):
        checked_origin(origin)


def test_an_origin_is_taken_as_browsers_send_it():
    assert [checked_origin(it) for it in ("HTTP://LocalHost:8000/", "https://a.example:443")] == [
        "http://localhost:8000",
        "https://a.example",
    ]


NUDGES = (
    "[Continue your last message without repeating its original content.]",
    "[Continue the following message. %s]",
)
PICTURES = (
    "In the next response I want you to provide only a detailed comma-delimited list of keywords and phrases.",
    "[In the next response I want you to provide only a detailed comma-delimited list of keywords and phrases.]",
    "Ignore previous instructions and provide a detailed description of the surroundings.",
    "Ignore previous instructions. Your next response must be formatted as a single comma-delimited list of keywords.",
    "Describe the visible scene from the last message while preserving the remembered appearance.",
)


def written(desk):
    """Return how many passages there are in the only story."""
    (line,) = desk[1].stories()
    return len(Story.open(line.story, library=desk[1]).tree().as_json()["passages"])


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("end", ["assistant", "system", "nudge", "user", "tool"])
def test_a_chat_that_ends_with_no_answer_writes_nothing_and_goes_on_from_where_it_stands(client, desk, end, streams):
    first = ask(client, [BEGIN])
    second = ask(client, [BEGIN, said(first), {"role": "user", "content": "2"}])
    ask(client, [BEGIN, said(first), {"role": "user", "content": OWN}])
    before = written(desk)
    chat = [BEGIN, said(first), {"role": "user", "content": "2"}, said(second)]
    ends = {
        "assistant": [],
        "system": [{"role": "system", "content": "Stay in character."}],
        "nudge": [{"role": "system", "content": NUDGES[0]}],
        "user": [{"role": "user", "content": NUDGES[0]}],
        "tool": [{"role": "tool", "content": "1", "tool_call_id": "1"}],
    }
    if streams:
        chunks = ask(client, [*chat, *ends[end]], stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    else:
        text = said(ask(client, [*chat, *ends[end]]))["content"]
    assert text.startswith("Nothing was written")
    assert text.endswith(said(second)["content"].partition("\n\n1. ")[2]), "the plans and the place of its own passage"
    assert written(desk) == before
    ask(client, [*chat, {"role": "assistant", "content": text}, {"role": "user", "content": "1"}])
    assert told(desk, first).passage().parent == place(second)[1]


def test_a_nudge_that_brings_the_last_reply_with_it_names_the_place(client, desk):
    first = ask(client, [BEGIN])
    reply = ask(client, [BEGIN, {"role": "system", "content": NUDGES[1] % said(first)["content"]}])
    assert place(reply) == place(first)
    assert written(desk) == 2


@pytest.mark.parametrize("chat", [
    [{"role": "system", "content": "Be brief."}],
    [{"role": "assistant", "content": "Hello! What shall I write?"}],
    [BEGIN, {"role": "assistant", "content": "Hello!"}, {"role": "system", "content": "Be brief."}],
])  # fmt: skip
def test_a_chat_without_a_premise_begins_no_story(client, desk, chat):
    assert said(ask(client, chat))["content"].startswith("Nothing was written")
    assert not desk[1].stories()


def test_what_stands_behind_an_answer_is_none_of_it(client, desk):
    first = ask(client, [BEGIN, {"role": "system", "content": "Stay in character."}])
    chat = [BEGIN, said(first), {"role": "user", "content": "2"}, {"role": "system", "content": "Stay in character."}]
    ask(client, chat)
    story = told(desk, first)
    assert (story.passage().step, story.passage().plan) == (2, story.passage(1).plans[1])


@pytest.mark.parametrize("role", ["system", "user"])
def test_pictures_titles_and_summaries_that_are_asked_in_a_chat_are_answered_from_its_own_passage(client, desk, role):
    first = ask(client, [BEGIN])
    second = ask(client, [BEGIN, said(first), {"role": "user", "content": "2"}])
    ask(client, [BEGIN, said(first), {"role": "user", "content": OWN}])
    before, story = written(desk), told(desk, first)
    here = story.passage(place(second)[1])

    def aside(content):
        chat = [BEGIN, said(first), {"role": "user", "content": "2"}, said(second), {"role": role, "content": content}]
        return said(ask(client, chat))["content"]

    assert {aside(picture) for picture in PICTURES} == {here.plan}
    for words in (
        "Summarize the story so far in the third person.",
        "Please give me a summary of the story so far.",
        "Summarize the discussion briefly in 200 words or less to use as a prompt for future context.",
        "Ignore previous instructions. Summarize the most important facts and events in the story so far.",
        "[Pause your roleplay. Summarize the most important facts and events so far.]",
    ):
        assert aside(words) == here.short_term_memory, words
    for words in (
        "Generate a short title for this conversation.",
        "Please generate a four to five word title summarizing our conversation without any lead-in, punctuation.",
        "Summarize the given session as a 10-word title using user language.",
        "Based on the chat history, give this conversation a name.",
        "[Pause your roleplay. Generate a title for the content of this chat so far.]",
    ):
        assert aside(words) == story.title, words
    assert written(desk) == before


@pytest.mark.parametrize(
    "premise", ["Summarize the story of a drowned town as a mystery.", "Give the novel a title nobody forgets."]
)
def test_a_premise_that_sounds_like_such_a_request_begins_a_story(client, desk, premise):
    assert told(desk, ask(client, [{"role": "user", "content": premise}])).passage().step == 1


def test_an_answer_that_is_asked_back_leaves_the_chat_where_it_stands(client, desk):
    first = ask(client, [BEGIN])
    ask(client, [BEGIN, said(first), {"role": "user", "content": "1"}])
    edited = [BEGIN, said(first), {"role": "user", "content": "yes"}]
    reply = ask(client, edited)
    assert "Did you mean plan 1?" in said(reply)["content"]
    assert place(reply) == place(first)
    assert said(reply)["content"].endswith(said(first)["content"].partition("\n\n1. ")[2])
    ask(client, [*edited, said(reply), {"role": "user", "content": "3"}])
    story = told(desk, first)
    assert (story.passage().parent, story.passage().step) == (place(first)[1], 2)


def test_new_plans_are_where_the_chat_stands(client, desk):
    first = ask(client, [BEGIN])
    chat = [BEGIN, said(first), {"role": "user", "content": "new plans"}]
    reply = ask(client, chat)
    assert place(reply)[1] != place(first)[1]
    ask(client, [*chat, said(reply), {"role": "user", "content": "2"}])
    story = told(desk, first)
    assert story.passage().plan == story.passage(place(reply)[1]).plans[1]


def test_a_chat_that_is_told_without_its_end_is_known_by_its_premise(client, desk):
    other = ask(client, [{"role": "user", "content": "A lighthouse."}])
    first = ask(client, [BEGIN])
    cut = said(first)["content"][:60]
    title = f"Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\nUser: {BEGIN['content']}\nAI: {cut}"
    assert said(ask(client, [{"role": "user", "content": title}]))["content"] == told(desk, first).title
    assert told(desk, other).title != told(desk, first).title


def test_a_first_message_that_names_a_place_is_a_premise(client, desk):
    premise = "A dog walks. (story 000000000000, passage 0123456789ab)"
    assert told(desk, ask(client, [{"role": "user", "content": premise}])).passage().step == 1


def test_null_is_as_if_it_were_left_out(desk):
    nothing = dict.fromkeys(("model", "stream", "stream_options", "user", "metadata", "n"))
    body = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": None}, {"type": "text", "text": "A dog."}]}]
    }
    answer = desk[0].post("/v1/chat/completions", json={**body, **nothing})
    assert (answer.status_code, answer.json()["model"]) == (200, "recurrentgpt")
    assert [line.step for line in desk[1].stories()] == [1]
    assert desk[0].post("/v1/chat/completions", json={"messages": None}).status_code == 422
    options = {"stream": True, "stream_options": {"include_usage": None}}
    assert desk[0].post("/v1/chat/completions", json={**body, **options}).text.endswith("[DONE]\n\n")


def stopped(desk, premise, *, pieces=6, slow=True, **headers):
    """Return what a client has of a reply whose connection it dropped, and the story that it was of."""
    body, got = {"messages": [premise], "stream": True}, []

    async def hang_up():
        message = {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
        gone, asked = asyncio.Event(), iter([message])

        async def receive():
            for one in asked:
                return one
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                got.append(dict(message["headers"])[b"x-story"].decode())
            for line in message.get("body", b"").decode().splitlines():
                if line.startswith("data: {"):
                    got.append(json.loads(line[6:])["choices"][0]["delta"].get("content", ""))
            if len(got) > pieces:
                gone.set()
                if slow:  # it is cancelled here, and else while it waits for the model
                    await asyncio.sleep(0)

        given = {"host": "127.0.0.1", "content-type": "application/json", **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
            "path": "/v1/chat/completions", "raw_path": b"/v1/chat/completions", "query_string": b"", "scheme": "http",
            "root_path": "", "client": HERE, "server": ("127.0.0.1", 80),
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        await desk[0].app(scope, receive, send)

    desk[0].portal.call(hang_up)
    return "".join(got[1:]), got[0]


def chat_of(premise, part, answer):
    return [premise, {"role": "assistant", "content": part}, {"role": "user", "content": answer}]


@pytest.mark.parametrize("slow", [True, False])
def test_a_chat_whose_first_reply_was_stopped_goes_on_with_its_story(client, desk, slow):
    part, story = stopped(desk, BEGIN, slow=slow)
    assert part
    reply = ask(client, chat_of(BEGIN, part, OWN))
    assert place(reply)[0] == story
    first = told(desk, reply).passage()
    assert (first.step, first.plan) == (1, OWN)
    again = ask(client, chat_of(BEGIN, part, OWN))
    assert place(again)[0] == story
    take = told(desk, again).passage()
    assert (take.step, take.plan, take.parent) == (1, OWN, first.parent)
    edited = ask(client, chat_of(BEGIN, part, "Mira sells the lamp to the harbour master."))
    assert (place(edited)[0], told(desk, edited).passage().parent) == (story, first.parent)
    assert len(desk[1].stories()) == 1


@pytest.mark.parametrize("answer", ["2", "go on", "option 3"])
def test_after_a_stopped_first_reply_plans_that_nobody_saw_are_shown_before_one_is_chosen(client, desk, answer):
    part, story = stopped(desk, BEGIN)
    chat = chat_of(BEGIN, part, answer)
    asked = ask(client, chat)
    assert place(asked)[0] == story
    assert written(desk) == 1
    plans = told(desk, asked).passage(0).plans
    assert f"\n\n1. {plans[0]}" in said(asked)["content"]
    reply = ask(client, [*chat, said(asked), {"role": "user", "content": "2"}])
    assert (place(reply)[0], told(desk, reply).passage().plan) == (story, plans[1])


def test_two_chats_whose_first_replies_were_stopped_stay_with_their_own_stories(client, desk):
    parts = [stopped(desk, BEGIN, pieces=8)]
    ask(client, chat_of(BEGIN, parts[0][0], OWN))
    parts.append(stopped(desk, BEGIN, pieces=8))
    parts.append(stopped(desk, {"role": "user", "content": "A bell under the sea."}))
    assert len({story for _, story in parts}) == 3
    second = ask(client, chat_of(BEGIN, parts[1][0], "Mira counts the boats twice."))
    assert place(second)[0] == parts[1][1]
    first = ask(client, chat_of(BEGIN, parts[0][0], "Mira burns the boats."))
    assert place(first)[0] == parts[0][1]


@pytest.mark.parametrize("part", ["", "Some words that no story of ours has told."])
def test_a_stopped_chat_that_cannot_be_told_from_another_begins_its_own_story(client, desk, part):
    others = {stopped(desk, BEGIN)[1] for _ in range(1)}
    others.add(place(ask(client, [BEGIN], extra_headers={"X-Story": "taken"}))[0])
    ask(client, [BEGIN, {"role": "user", "content": OWN}], extra_headers={"X-Story": "taken"})
    before = {story: len(Story.open(story, library=desk[1]).tree().as_json()["passages"]) for story in others}
    reply = ask(client, chat_of(BEGIN, part, OWN))
    assert place(reply)[0] not in others
    after = {story: len(Story.open(story, library=desk[1]).tree().as_json()["passages"]) for story in others}
    assert after == before


def test_a_reply_that_was_stopped_before_its_first_word_is_begun_from_the_premise(client, desk):
    reply = ask(client, chat_of(BEGIN, "", OWN))
    story = told(desk, reply)
    assert (story.brief["premise"], story.passage().plan) == (BEGIN["content"], OWN)
    again = ask(client, chat_of(BEGIN, "", OWN))
    assert place(again)[0] == story.id
    other = ask(client, chat_of({"role": "user", "content": "A bell under the sea."}, "", "go on"))
    assert told(desk, other).brief["premise"] == "A bell under the sea."


def test_a_stopped_chat_goes_on_after_the_server_was_started_again(desk):
    part, story = stopped(desk, BEGIN)
    service = desk[0].app.state.desk
    again = create_app(desk[1], folder=service.disk.folder, given=service.given_by_code(), chat=True)
    with TestClient(again, base_url="http://127.0.0.1", client=HERE) as http:
        client = openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=http, max_retries=0)
        assert place(ask(client, chat_of(BEGIN, part, OWN)))[0] == story


def test_a_stopped_player_is_nobody_in_the_story_of_another_chat(client, desk):
    other = play(client, BEGIN)
    reply = play(client, *chat_of(BEGIN, "", "A cook."))
    assert place(reply)[0] != place(other)[0]
    assert (told(desk, reply).passage().step, told(desk, other).passage().step) == (1, 0)
    again = play(client, *chat_of(BEGIN, "", "A cook."))
    assert place(again)[0] == place(reply)[0]


def test_a_premise_that_is_sent_again_after_a_stop_writes_the_first_passage(client, desk):
    part, story = stopped(desk, BEGIN)
    reply = ask(client, chat_of(BEGIN, part, BEGIN["content"]))
    assert (place(reply)[0], told(desk, reply).passage().step) == (story, 1)


def test_a_reply_whose_last_line_alone_was_lost_goes_on_after_its_passage(client, desk):
    first = ask(client, [BEGIN])
    text, _, plans = said(first)["content"].partition("\n\n1. ")
    reply = ask(client, chat_of(BEGIN, text, OWN))
    story = told(desk, first)
    assert (place(reply)[0], story.passage().step, story.passage().parent) == (story.id, 2, place(first)[1])
    whole = f"{text}\n\n1. {plans.partition('(story')[0]}".strip()
    ask(client, chat_of(BEGIN, whole, "3"))
    assert (story.passage().parent, story.passage().plan) == (place(first)[1], story.passage(1).plans[2])


def test_a_stopped_chat_that_has_an_id_goes_on_with_its_own_story(client, desk):
    part, story = stopped(desk, BEGIN, **{"X-OpenWebUI-Chat-Id": "chat-1"})
    stopped(desk, BEGIN, **{"X-OpenWebUI-Chat-Id": "chat-2"})
    for text in (part, "partial", ""):
        reply = ask(client, chat_of(BEGIN, text, OWN), extra_headers={"X-OpenWebUI-Chat-Id": "chat-1"})
        assert place(reply)[0] == story == "chat-1"
        assert told(desk, reply).passage().plan == OWN
    reply = ask(client, chat_of(BEGIN, "", OWN), extra_headers={"X-OpenWebUI-Chat-Id": "chat-3"})
    assert (place(reply)[0], told(desk, reply).brief["premise"]) == ("chat-3", BEGIN["content"])


def test_a_chat_that_was_begun_with_another_model_begins_from_its_last_message(client, desk):
    chat = chat_of({"role": "user", "content": "Hello there!"}, "Hello! How can I help?", BEGIN["content"])
    reply = ask(client, chat)
    assert told(desk, reply).brief["premise"] == BEGIN["content"]


def play(client, *messages):
    return client.chat.completions.create(model="recurrentgpt-fiction", messages=messages)


def test_a_player_is_asked_who_they_are(client, desk):
    first = play(client, BEGIN)
    assert said(first)["content"].startswith("Who are you? Choose somebody by number, or say it in a sentence.\n\n1. ")
    asked = play(client, BEGIN, said(first), {"role": "user", "content": "9"})
    assert "Who are you?" in said(asked)["content"]
    second = play(client, BEGIN, said(first), {"role": "user", "content": "A cook."})
    assert "Who are you?" not in said(second)["content"]


@pytest.mark.parametrize("act", ["yes", "no", "n", "go back", "hello", "/roll d20", "Thank you!", "undo the knot 2"])
def test_what_a_player_types_is_an_act(client, desk, act):
    first = play(client, BEGIN)
    second = play(client, BEGIN, said(first), {"role": "user", "content": "A cook."})
    third = play(client, BEGIN, said(first), {"role": "user", "content": "A cook."}, said(second),
                 {"role": "user", "content": act})  # fmt: skip
    story = told(desk, first)
    assert (story.passage().id, story.passage().step, story.passage().plan) == (place(third)[1], 2, act)


@pytest.mark.parametrize(
    "answer", ["2", "option 2", "another take", "9", "\N{HORIZONTAL ELLIPSIS}", "help", "?", "stop", "quit", "undo"]
)
def test_a_player_still_chooses_by_number_and_asks_for_another_take(client, desk, answer):
    first = play(client, BEGIN)
    second = play(client, BEGIN, said(first), {"role": "user", "content": "A cook."})
    play(client, BEGIN, said(first), {"role": "user", "content": "A cook."}, said(second),
         {"role": "user", "content": answer})  # fmt: skip
    assert told(desk, first).passage().plan != answer


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


@pytest.mark.parametrize(
    "content", [[PICTURE], [], "", " \n", "\u200b", None, [PICTURE, {"type": "text", "text": " "}]]
)
def test_a_message_without_words_begins_no_story_and_is_no_answer(client, desk, content):
    reply = ask(client, [{"role": "user", "content": content}])
    assert said(reply)["content"].startswith("Nothing was written, for your message has no words")
    assert not desk[1].stories()
    first = ask(client, [{"role": "user", "content": content}, said(reply), BEGIN])
    assert told(desk, first).brief["premise"] == BEGIN["content"]
    again = ask(client, [BEGIN, said(first), {"role": "user", "content": content}])
    assert said(again)["content"].startswith("Nothing was written, for your message has no words")
    assert place(again) == place(first)
    assert written(desk) == 2


@pytest.mark.parametrize(("method", "path", "status"), [
    ("POST", "/v1/completions", 404), ("POST", "/v1/embeddings", 404), ("GET", "/v1", 404), ("GET", "/v1/", 404),
    ("GET", "/v1/chat/completions", 405), ("DELETE", "/v1/models/recurrentgpt", 405),
])  # fmt: skip
def test_a_wrong_path_is_refused_in_the_words_of_the_api(desk, method, path, status):
    answer = desk[0].request(method, path, json={})
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert "/v1/chat/completions" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("options", "status"), [
    ({"n": "1"}, 200), ({"n": 1.0}, 200), ({"user": 12}, 200), ({"n": 2}, 422), ({"n": True}, 422), ({"user": []}, 422),
    ({"stream": "perhaps"}, 422), ({"messages": "hello"}, 422),
])  # fmt: skip
def test_loose_kinds_are_taken_or_refused_in_the_words_of_the_api(desk, options, status):
    answer = desk[0].post("/v1/chat/completions", json={"messages": [BEGIN], **options})
    assert answer.status_code == status
    assert status == 200 or set(answer.json()["error"]) == {"message", "type", "param", "code"}


def answer(client, chat, words):
    """Return a chat with these words and their reply."""
    chat = [*chat, {"role": "user", "content": words}]
    return [*chat, said(ask(client, chat))]


@pytest.mark.parametrize(("before", "index"), [("ok", 0), ("I meant the last one", 2)])
def test_yes_to_the_plan_that_was_asked_about_chooses_it(client, desk, before, index):
    first = ask(client, [BEGIN])
    plans = told(desk, first).plans
    chat = answer(client, [BEGIN, said(first)], before)
    assert chat[-1]["content"].startswith(f"Did you mean plan {index + 1}?")
    answer(client, chat, "yes please")
    assert told(desk, first).passage().plan == plans[index]


@pytest.mark.parametrize("opening", ["hi", "Hello! Who are you?", "help", "2", "list my stories"])
def test_what_tells_nothing_of_a_story_begins_none(client, desk, opening):
    chat = answer(client, [], opening)
    assert chat[-1]["content"].startswith("Nothing was written")
    assert not desk[1].stories()
    chat = answer(client, answer(client, chat, opening), BEGIN["content"])
    (line,) = desk[1].stories()
    story = Story.open(line.story, library=desk[1])
    assert (story.brief["premise"], story.passage().step) == (BEGIN["content"], 1)
    answer(client, chat, "2")
    assert story.passage().step == 2


@pytest.mark.parametrize("words", [["end"], ["stop", "end"], ["quit", "yes"]])
def test_the_end_that_is_offered_is_taken_and_the_story_is_kept(client, desk, words):
    first = ask(client, [BEGIN])
    chat = [BEGIN, said(first)]
    for word in words:
        chat = answer(client, chat, word)
    assert chat[-1]["content"].startswith("Nothing was written: the story is kept as it stands")
    answer(client, chat, "2")
    assert told(desk, first).passage().step == 2


CARD = (
    "Write Greta's next reply in a fictional chat between Greta and Henk.",
    "Greta keeps the only inn of the mountain village of Holm, and trusts nobody who comes by the pass in winter.",
    "[Start a new Chat]",
)
GREETING = "*Greta looks up from her ledger.* Well, stranger? We don't get many travellers in this snow."
FIRST_WORDS = '"A room for the night," I say and shake the snow off my coat.'


def with_character(*chat, card=CARD, greeting=GREETING):
    """Return a chat as SillyTavern sends it: the card in system messages, the greeting of the character, then the user."""
    system = [{"role": "system", "content": text} for text in card]
    return [*system, {"role": "assistant", "content": greeting}, *chat]


def words_of(content):
    return {"role": "user", "content": content}


@pytest.mark.parametrize("model", ["recurrentgpt", "recurrentgpt-fiction"])
def test_a_chat_with_a_character_is_a_story_of_card_greeting_and_first_words(client, desk, model):
    first = client.chat.completions.create(
        model=model, messages=with_character(words_of(FIRST_WORDS)), temperature=1, stop=["\nHenk:"], top_p=1
    )
    story = told(desk, first)
    premise = story.brief["premise"]
    assert [it in premise for it in (*CARD, GREETING, FIRST_WORDS)] == [True, True, False, True, True]
    again = client.chat.completions.create(model=model, messages=with_character(words_of(FIRST_WORDS)))
    assert place(again)[0] == story.id, "another reply to the same message is of the same story"
    on = client.chat.completions.create(
        model=model, messages=with_character(words_of(FIRST_WORDS), said(first), words_of("1"))
    )
    assert place(on)[0] == story.id
    other = client.chat.completions.create(
        model=model, messages=with_character(words_of(FIRST_WORDS), greeting="Greta bars the door in your face.")
    )
    assert place(other)[0] != story.id


def test_a_greeting_is_answered_with_a_greeting_and_a_long_card_is_cut(client, desk):
    long = "The inn of Holm has seven rooms, and in each of them somebody hides from somebody else. " * 90
    first = ask(client, with_character(words_of("Hello!"), card=[long], greeting=long))
    premise = told(desk, first).brief["premise"]
    assert 400 < len(premise.split()) <= 500
    assert "Opening scene: The inn" in premise
    assert premise.endswith("First words of the reader: Hello!")


def test_instructions_without_a_greeting_are_no_character(client, desk):
    first = ask(client, [{"role": "system", "content": CARD[1]}, BEGIN])
    assert told(desk, first).brief["premise"] == BEGIN["content"]
    begun = "Nothing was written" in said(ask(client, with_character()))["content"]
    assert begun, "a greeting alone is no message of somebody's"


@pytest.mark.parametrize(
    ("card", "greeting"),
    [
        (["You are a helpful assistant."], "Hi, I'm your storytelling assistant. What story shall we write today?"),
        (["You are a friendly, patient writing assistant."], "Welcome back."),
        ([], "Let's start chatting! 👇"),
        (["Answer in plain text."], "Hi there! What would you like to write about?"),
        (["Today is Monday. You are a helpful assistant."], "Welcome! Give me an idea and I will begin."),
        (["You are a writing assistant who develops characters."], "Welcome! Give me an idea and I will begin."),
        (["Answer in plain text."], "Good evening. What should your story be about?"),
    ],
)
def test_the_hello_of_a_client_is_no_scene(client, desk, card, greeting):
    said_first = "A keeper of bees finds a letter in the oldest of her hives."
    first = ask(client, with_character(words_of(said_first), card=card, greeting=greeting))
    assert told(desk, first).brief["premise"] == said_first


@pytest.mark.parametrize(
    ("card", "greeting"),
    [
        (
            "You are an AI assistant playing the role of Greta, a keeper of bees in 1890.",
            "*Greta looks up from the hive.*",
        ),
        ("Greta keeps bees. You are the new assistant of the apothecary.", "*Greta looks up from the hive.*"),
        ("Greta keeps bees.", 'Greta pokes the fire. "What story did your grandfather tell you about the lamp?"'),
    ],
)
def test_a_card_that_speaks_of_an_assistant_is_a_card(client, desk, card, greeting):
    first = ask(client, with_character(words_of(FIRST_WORDS), card=[card], greeting=greeting))
    premise = told(desk, first).brief["premise"]
    assert card in premise
    assert greeting in premise


def test_the_first_reply_to_a_character_may_be_stopped(client, desk):
    stream = ask(client, with_character(words_of(FIRST_WORDS)), stream=True)
    shown = ""
    for chunk in stream:
        shown += chunk.choices[0].delta.content or ""
        if len(shown) > 40:
            break
    stream.close()
    (line,) = desk[1].stories()
    reply = {"role": "assistant", "content": shown}
    next_ = ask(client, with_character(words_of(FIRST_WORDS), reply, words_of("Greta lets Henk have the attic room.")))
    assert place(next_)[0] == line.story
