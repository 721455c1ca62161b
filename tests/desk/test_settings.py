"""Settings: the form follows the library's own fields, and a key goes in and never comes out."""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.backend.settings_form import HIDDEN, fields
from recurrentgpt.library import Library
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import ModelRefused
from tests.desk.conftest import API, HERE, HOST, Client

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


def test_a_setting_of_a_story_that_failed_at_its_beginning_may_be_taken_back(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(messages: object) -> str:
        raise ModelRefused("No.")

    replies = client.model.replies
    client.model.replies = refuse
    story = client.begin()["id"]
    client.send("PUT", f"/stories/{story}/settings", {"values": {"plans": 5}})
    client.send("PUT", f"/stories/{story}/settings", {"values": {"plans": None}})
    client.model.replies = replies
    assert len(client.write(story)["plans"]) == 3


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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"prompts": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"base_url": "http://me:secret@127.0.0.1/v1"}, "holds a name or a password"),
    ],
)
def test_what_the_machine_cannot_use_is_refused_as_a_mistake(
    client: Client, values: dict[str, object], said: str
) -> None:
    status, error = client.refused("PUT", "/settings", {"values": values})
    assert (status, said in error, "secret" in error) == (422, True, False)
    assert client.get("/settings")["values"] == {}


def test_a_key_is_used_and_kept_and_in_no_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = client.send("PUT", "/settings", {"values": {}, "key": KEY})
    assert answer["key"] == "kept"
    assert os.environ["OPENAI_API_KEY"] == KEY
    story = client.begin()["id"]
    for path in ("/settings", f"/stories/{story}", f"/stories/{story}/settings", f"/stories/{story}/tree", "/stories"):
        assert KEY not in client.http.get(API + path).text
    kept = client.app.state.desk.disk.folder / "desk.json"
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


def test_no_field_asks_for_what_only_code_can_give(client: Client) -> None:
    names = {field["name"] for field in client.get("/settings")["fields"]}
    assert not names & {"embeddings", "vector_store"}
    story = client.begin()["id"]
    assert client.refused("PUT", f"/stories/{story}/settings", {"values": {"vector_store": "FAISS"}})[0] == 422


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "localhost:11434", "http://", "http://a b", "http://x:99999"]
)
def test_an_endpoint_that_is_none_is_refused_when_it_is_saved(client: Client, address: str) -> None:
    status, why = client.refused("PUT", "/settings", {"values": {"base_url": address}})
    assert status == 422
    assert "http://127.0.0.1:11434/v1" in why
    assert client.get("/settings")["values"] == {}


def test_the_form_says_which_model_writes_and_why(library: Library, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("RECURRENTGPT_MODEL", "big")
        app = create_app(library, folder=tmp_path / "desk")
        with TestClient(app, base_url=HOST, client=HERE) as http:
            force = http.get(f"{API}/settings").json()["in_force"]
            assert force["model"] == {"value": "big", "source": "environment", "variable": "RECURRENTGPT_MODEL"}
            assert force["base_url"]["value"] == "http://127.0.0.1:9/v1"
            changed = http.put(f"{API}/settings", json={"values": {"model": "small"}}).json()["in_force"]
            assert (changed["model"]["value"], changed["model"]["source"]) == ("small", "here")


def test_a_fault_is_told_by_the_names_that_the_page_uses(client: Client) -> None:
    story = client.begin()["id"]
    words = {"min_words": 500, "max_words": 100}
    _, why = client.refused("PUT", f"/stories/{story}/settings", {"values": words})
    assert "fewest words" in why
    assert "min_words" not in why
    _, why = client.refused("PUT", f"/stories/{story}/settings", {"values": {"temperature": 9}})
    assert why.startswith("Temperature")
    assert [field["name"] for field in client.get("/settings")["fields"]][:2] == ["style", "note"]


def test_the_cost_is_told_where_prices_are_written_down(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECURRENTGPT_HOME", str(tmp_path))
    story = client.begin()["id"]
    assert client.get(f"/stories/{story}/usage")["cost"] is None
    (tmp_path / "prices.toml").write_text('currency = "EUR"\ninput = 1000\noutput = 1000\n')
    assert client.get(f"/stories/{story}/usage")["cost"].endswith(" EUR")
