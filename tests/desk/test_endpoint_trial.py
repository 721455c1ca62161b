"""The form says whether a model answers, in a sentence, and sends a key to nobody who was not named."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from recurrentgpt import testing_server
from recurrentgpt.desk.app import create_app
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library
from recurrentgpt.models.endpoint_check import Listing, list_models
from recurrentgpt.testing import FaultyServer
from recurrentgpt.testing_server import Behaviour
from tests.desk.conftest import HERE, HOST, Client, Served, has_value, there_are
from tests.desk.scripted import paced

KEY = "sk-this-is-the-secret-key"
NOWHERE = "http://127.0.0.1:9/v1"


class Endpoint:
    """A server that answers a question for its models in one way."""

    def __init__(self, status: int, body: str, location: str = "") -> None:
        self.keys: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

            def do_GET(self) -> None:
                owner.keys.append(self.headers["authorization"].removeprefix("Bearer "))
                self.send_response(status)
                if location:
                    self.send_header("location", location)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self) -> Endpoint:
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


@pytest.fixture
def client(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Give a desk to which code gives no model."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with TestClient(create_app(library, folder=tmp_path / "desk"), base_url=HOST, client=HERE) as opened:
        yield Client(opened, paced(tmp_path, 0.0))


def tried(client: Client, what: str = "test", **form: str) -> dict[str, Any]:
    found: dict[str, Any] = client.send("POST", f"/settings/{what}", form)
    return found


def test_a_model_that_answers(client: Client) -> None:
    with FaultyServer() as server:
        found = tried(client, model="scripted", base_url=server.base_url, key=KEY)
        assert found == {
            "works": True,
            "said": f"It works: scripted answers at {server.base_url}.",
            "models": ["scripted"],
            "known": {},
        }
        assert server.keys == [KEY]
    assert client.get("/settings")["values"] == {}
    assert client.get("/settings")["key"] == ""
    assert not any(KEY in path.read_text() for path in client.app.state.desk.disk.folder.rglob("*") if path.is_file())


def test_the_models_of_an_endpoint(client: Client) -> None:
    with FaultyServer() as server:
        assert tried(client, "models", base_url=server.base_url)["models"] == ["scripted"]
        assert server.requests == [], "that costs nothing"
    assert "Choose where the model runs" in tried(client, "models")["said"]


def test_a_model_is_called_what_its_name_is(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recurrentgpt.models.endpoint_check.PATIENCE_TO_LOAD", 0.2)
    with FaultyServer("hang") as server:
        said = tried(client, model="scripted", base_url=server.base_url, key=KEY)["said"]
    assert said.startswith("scripted said nothing for too long (0.2 seconds")


def test_nothing_listens_there(client: Client) -> None:
    for what in ("test", "models"):
        found = tried(client, what, model="x", base_url=NOWHERE)
        assert found["works"] is False
        assert found["said"].startswith(f"Nothing answers at {NOWHERE} (")
        assert found["said"].endswith("start that server, or correct the address.")


def test_where_the_network_fails_nobody_is_told_to_start_a_server_of_somebody_else(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*host: object, **more: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert tried(client, model="x", base_url="https://api.example.com/v1", key=KEY)["said"] == (
        "Nothing answers at https://api.example.com/v1 (the name api.example.com is not known to the network): check that "
        "this machine is online, that the address is right, and that its server runs."
    )


def test_a_wrong_key_where_the_list_asks_for_one(client: Client) -> None:
    with Endpoint(401, "{}") as server:
        said = tried(client, model="x", base_url=server.base_url, key=KEY)["said"]
        assert said == f"{server.base_url} refuses the key (401): type a key of this endpoint."


def test_a_key_that_may_not_list_models_may_write(client: Client) -> None:
    with Endpoint(403, "{}") as server:
        assert "lists no models; type the name" in tried(client, "models", base_url=server.base_url, key=KEY)["said"]
        assert "refuses the key" not in tried(client, model="x", base_url=server.base_url, key=KEY)["said"]


def test_a_key_that_no_request_can_carry_is_not_told() -> None:
    with FaultyServer() as server:
        listing = call(lambda: list_models(server.base_url, "sk-two\nlines"))
        assert (listing.fault, "sk-" in listing.why, server.connections) == ("key", False, 0)


def test_a_wrong_key_where_everybody_may_see_the_list(client: Client) -> None:
    with FaultyServer("401") as server:
        found = tried(client, model="scripted", base_url=server.base_url, key=KEY)
        assert found["works"] is False
        assert "refused the request with status 401: check the key" in found["said"]
        assert "OPENAI" not in found["said"]
        assert KEY not in found["said"]


def test_no_such_model(client: Client) -> None:
    with FaultyServer("404") as server:
        found = tried(client, model="qwen", base_url=server.base_url)
        assert found["said"] == f"{server.base_url} has no model 'qwen': it has scripted."
        assert tried(client, base_url=server.base_url)["said"].startswith("No model is named yet.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("400", "The request could not be understood"),
        ("422", "A field has the wrong type"),
        ("401", "refused the request with status 401: check the key"),
        ("403", "refused the request with status 403: check that the key may use this model"),
        ("429", "is limiting the rate of requests; wait a little and try again"),
        ("500", "failed with status 500; wait a little and try again"),
    ],
)
def test_what_the_server_answered_is_told_of_a_model_that_its_list_leaves_out(
    client: Client, answer: Behaviour, said: str
) -> None:
    with FaultyServer(answer) as server:
        found = tried(client, model="qwen", base_url=server.base_url, key=KEY)
    assert said in found["said"]
    assert "has no model" not in found["said"]
    assert (found["works"], found["models"]) == (False, ["scripted"])


def test_a_model_that_the_server_refuses_as_a_bad_request_is_none_of_its_list(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(testing_server._MESSAGES, "400", "Model 'qwen' not found: load it first.")
    with FaultyServer("400") as server:
        found = tried(client, model="qwen", base_url=server.base_url)
    assert found["said"] == f"{server.base_url} has no model 'qwen': it has scripted."


@pytest.mark.parametrize(
    ("status", "said"), [(429, "limits the rate of requests (429)"), (503, "failed with status 503")]
)
def test_a_list_that_fails_for_a_while_is_no_list_without_models(client: Client, status: int, said: str) -> None:
    with Endpoint(status, "{}") as server:
        found = tried(client, "models", base_url=server.base_url)["said"]
    assert found == f"{server.base_url} {said}: wait a little, and list its models again."


def test_the_page_says_what_the_server_answered(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_role("button", name="Model and endpoint").click()
    page.locator("[name=model]").fill("qwen")
    with FaultyServer("429") as server:
        page.locator("[name=base_url]").fill(server.base_url)
        page.get_by_role("button", name="Test", exact=True).click()
        page.get_by_role("alert").get_by_text("is limiting the rate of requests").wait_for()
        there_are(page.get_by_text("has no model"), 0)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [(200, "<html>Welcome", "its list of models is not JSON"), (302, "", "redirects to an address that nobody named")],
)
def test_what_is_not_openai_compatible(client: Client, status: int, body: str, said: str) -> None:
    with FaultyServer() as elsewhere, Endpoint(status, body, f"{elsewhere.base_url}/models") as server:
        found = tried(client, model="x", base_url=server.base_url, key=KEY)
        assert f"is not OpenAI-compatible: {'it ' * (status == 302)}{said}" in found["said"]
        assert (elsewhere.connections, server.keys) == (0, [KEY])


LISTED = [
    {"id": "a/large", "context_length": 200_000, "pricing": {"prompt": "0.000003", "completion": "0.000015"}},
    {"id": "a/cheap", "context_length": 32_768, "pricing": {"prompt": "0.00000004", "completion": "0.0000006"}},
    {"id": "a/free", "context_length": 8192, "pricing": {"prompt": "0", "completion": "0"}},
    {"id": "auto", "context_length": 2_000_000, "pricing": {"prompt": "-1", "completion": "-1"}},
    {"id": "served", "max_model_len": 40_960},
    {"id": "odd", "context_length": "large", "pricing": {"prompt": "nan", "completion": "much"}},
    {"id": "odder", "context_length": -1, "pricing": ["0.1"]},
]
KNOWN = {
    "a/large": "Its window is 200,000 tokens. It costs $3.00 for a million tokens read, $15.00 written.",
    "a/cheap": "Its window is 32,768 tokens. It costs $0.04 for a million tokens read, $0.60 written.",
    "a/free": "Its window is 8,192 tokens. It is free of charge.",
    "auto": "Its window is 2,000,000 tokens.",
    "served": "Its window is 40,960 tokens.",
}


def test_the_window_and_the_price_of_a_model_where_they_are_known(client: Client) -> None:
    with Endpoint(200, json.dumps({"data": LISTED})) as server:
        found = tried(client, "models", base_url=server.base_url)
    assert found["models"] == [entry["id"] for entry in LISTED]
    assert found["known"] == KNOWN


def test_a_window_that_the_list_leaves_out_is_the_one_of_such_a_server(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listing(address: str, key: str | None) -> Listing:
        return Listing(("qwen3:14b",))

    monkeypatch.setattr("recurrentgpt.desk.backend.endpoint_trial.list_models", listing)
    known = tried(client, "models", base_url="http://127.0.0.1:11434/v1")["known"]
    assert known == {"qwen3:14b": "Its window is 4,096 tokens unless its server is told otherwise."}


def test_the_form_tells_it_beside_the_model_that_is_chosen(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_role("button", name="Model and endpoint").click()
    page.get_by_text("a small model, with a window of 8,192 tokens").wait_for()
    address, model = page.locator("[name=base_url]"), page.locator("[name=model]")
    about = page.locator("#about-model")
    with Endpoint(200, json.dumps({"data": LISTED})) as server:
        address.fill(server.base_url)
        page.get_by_role("button", name="List its models").click()
        page.get_by_role("status").get_by_text("a/large").wait_for()
        for name, said in KNOWN.items():
            model.fill(name)
            about.get_by_text(said).wait_for()
    model.fill("odd")
    there_are(about.locator(".known"), 0)
    model.fill("a/large")
    about.locator(".known").wait_for()
    address.fill(NOWHERE)
    there_are(about.locator(".known"), 0)


def test_a_list_that_is_odd_is_no_fault(client: Client) -> None:
    for odd in ({"data": [{"id": 7}, 3, {}]}, [], {"data": None}, 7):
        with Endpoint(200, json.dumps(odd)) as server:
            assert "lists no models" in tried(client, "models", base_url=server.base_url)["said"]


def test_a_key_goes_to_its_own_endpoint_only(client: Client) -> None:
    with FaultyServer() as mine, Endpoint(401, "{}") as other:
        client.send("PUT", "/settings", {"values": {"base_url": mine.base_url, "model": "scripted"}, "key": KEY})
        assert tried(client, model="scripted", base_url=mine.base_url)["works"] is True
        assert mine.keys == [KEY]
        assert tried(client)["said"].startswith("No endpoint is set: the embedded model writes"), (
            "as an emptied form says"
        )
        said = tried(client, model="x", base_url=other.base_url)["said"]
        assert said.endswith("The one you have is another endpoint's and was not sent: type its own.")
        assert other.keys == ["none"]


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"base_url": "file:///etc/passwd"}, 422, "begins with http:// or https://"),
        ({"base_url": "http://me:secret@127.0.0.1/v1"}, 422, "holds a name or a password"),
        ({"base_url": NOWHERE, "key": "a\nb"}, 422, "plain characters"),
    ],
)
def test_what_cannot_be_asked_is_refused(client: Client, form: dict[str, str], status: int, said: str) -> None:
    for what in ("test", "models"):
        found, why = client.refused("POST", f"/settings/{what}", form)
        assert (found, said in why, "secret" in why) == (status, True, False)


def test_without_an_endpoint_the_embedded_model_writes(client: Client) -> None:
    assert tried(client)["said"].startswith("No endpoint is set: the embedded model writes")
    assert tried(client, model="nowhere.gguf") == {
        "works": False,
        "said": "There is no file nowhere.gguf.",
        "models": [],
        "known": {},
    }
    assert "choose where it runs" in tried(client, model="gpt-5")["said"]


def test_a_place_fills_in_its_address_and_a_test_says_what_is_wrong(page: Any, desk: Served) -> None:
    page.goto(desk.address)
    page.get_by_role("button", name="Model and endpoint").click()
    place = page.get_by_label("Where the model runs")
    address = page.locator("[name=base_url]")
    address.wait_for()
    has_value(place, "This machine, embedded")
    place.select_option("Ollama")
    has_value(address, "http://127.0.0.1:11434/v1")
    place.select_option("Any other")
    has_value(address, "http://127.0.0.1:11434/v1")
    address.fill(NOWHERE)
    has_value(place, "Any other")
    page.get_by_role("button", name="Test", exact=True).click()
    page.get_by_role("alert").get_by_text(f"Nothing answers at {NOWHERE}").wait_for()
    with FaultyServer() as server:
        address.fill(server.base_url)
        page.get_by_role("button", name="List its models").focus()
        page.keyboard.press("Enter")
        page.get_by_role("status").get_by_text(f"{server.base_url} has scripted.").wait_for()
        assert page.locator("datalist option").get_attribute("value") == "scripted"
        page.locator("[name=model]").fill("scripted")
        page.get_by_label("Key of the endpoint").fill(KEY)
        page.get_by_role("button", name="Test", exact=True).click()
        page.get_by_text(f"It works: scripted answers at {server.base_url}.").wait_for()
        assert server.keys == [KEY]
    place.select_option("Ollama")
    has_value(page.get_by_label("Key of the endpoint"), "")
    place.select_option("This machine, embedded")
    page.get_by_role("button", name="Test", exact=True).click()
    page.get_by_text("The program that runs the desk gives the model: there is nothing to test.").wait_for()
    assert KEY not in page.evaluate("() => JSON.stringify({...localStorage, ...sessionStorage})")


@pytest.mark.parametrize(("width", "height"), [(1280, 860), (390, 640)])
def test_the_answer_is_in_sight_and_what_is_needed_comes_first(
    page: Any, desk: Served, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(desk.address)
    page.get_by_role("button", name="Model and endpoint").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("[name=base_url]").fill(NOWHERE)
    there_are(dialog.locator("input:visible, select:visible"), 4)
    dialog.get_by_label("Key of the endpoint").fill(KEY)
    dialog.locator("[name=model]").fill("x")
    dialog.get_by_role("button", name="Test", exact=True).click()
    said = dialog.get_by_role("alert").get_by_text(f"Nothing answers at {NOWHERE}")
    said.wait_for()
    assert said.evaluate(
        """element => {
            const { left, top, bottom } = element.getBoundingClientRect();
            return [top + 1, bottom - 1].every((y) => document.elementFromPoint(left + 2, y) === element);
        }"""
    )
    # A field that is refused is shown, and so is one that was typed in.
    dialog.get_by_text("More settings").click()
    timeout = dialog.locator("[name=timeout]")
    timeout.fill("-5")
    dialog.get_by_text("More settings").click()
    timeout.wait_for(state="hidden")
    dialog.get_by_role("button", name="Save").click()
    timeout.wait_for()
