"""Settings: the form follows the library's own fields, and a key goes in and never comes out."""

from __future__ import annotations

import dataclasses
import os
import stat

import pytest

from recurrentgpt.desk.forms import HIDDEN, fields
from recurrentgpt.graph.context import Context
from tests.desk.conftest import API, Client

KEY = "sk-this-is-the-secret-key"


def test_every_field_of_the_library_is_in_the_form_or_hidden_on_purpose() -> None:
    names = {item.name for item in dataclasses.fields(Context)}
    assert names - set(HIDDEN) <= {field["name"] for field in fields()}
    assert set(HIDDEN) <= names


def test_a_setting_of_a_story_holds_for_its_next_passage(client: Client) -> None:
    story = client.begin()["id"]
    before = len(client.model.calls)
    client.send("PUT", f"/stories/{story}/settings", {"values": {"plans": 5, "language": "Latin"}})
    after = client.write(story, number=1)
    assert len(after["plans"]) == 5
    asked = "\n".join(str(message.text) for call in client.model.calls[before:] for message in call)
    assert "Latin" in asked
    assert client.get(f"/stories/{story}/settings")["values"]["language"] == "Latin"


def test_a_setting_may_be_taken_back(client: Client) -> None:
    story = client.begin()["id"]
    client.send("PUT", f"/stories/{story}/settings", {"values": {"plans": 5}})
    client.send("PUT", f"/stories/{story}/settings", {"values": {"plans": None}})
    assert client.get(f"/stories/{story}/settings")["values"]["plans"] == 3


@pytest.mark.parametrize(
    "values",
    [
        {"nonsense": 1},
        {"min_words": "many"},
        {"plans": 50},
        {"selector": "human"},
        {"model": "x"},
        {"budget": -1},
        {"budget": True},
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_and_nothing_changes(
    client: Client, values: dict[str, object]
) -> None:
    story = client.begin()["id"]
    before = client.get(f"/stories/{story}/settings")["values"]
    assert client.refused("PUT", f"/stories/{story}/settings", {"values": values})[0] == 422
    assert client.get(f"/stories/{story}/settings")["values"] == before


def test_the_machine_keeps_models_by_role(client: Client) -> None:
    client.send("PUT", "/settings", {"values": {"models": {"writer": "big", "memory": "small"}, "timeout": 30}})
    assert client.get("/settings")["values"] == {"models": {"writer": "big", "memory": "small"}, "timeout": 30}
    assert client.refused("PUT", "/settings", {"values": {"models": {"poet": "big"}}})[0] == 422
    assert client.refused("PUT", "/settings", {"values": {"models": {"writer": 1}}})[0] == 422


def test_a_key_is_used_and_kept_and_in_no_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = client.send("PUT", "/settings", {"values": {}, "key": KEY})
    assert answer["key"] == "kept"
    assert os.environ["OPENAI_API_KEY"] == KEY
    story = client.begin()["id"]
    for path in ("/settings", f"/stories/{story}", f"/stories/{story}/settings", f"/stories/{story}/tree", "/stories"):
        assert KEY not in client.http.get(API + path).text
    kept = client.app.state.desk.shelf.folder / "desk.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not any(KEY.encode() in path.read_bytes() for path in kept.parent.parent.rglob("*.db*"))
    assert client.send("PUT", "/settings", {"values": {}, "key": ""})["key"] == ""
    assert "OPENAI_API_KEY" not in os.environ
    assert KEY not in kept.read_text()


def test_a_key_that_is_none_is_refused(client: Client) -> None:
    for key in ("a\nb", "x" * 600, "ключ"):
        status, why = client.refused("PUT", "/settings", {"values": {}, "key": key})
        assert status == 422
        assert key not in why
