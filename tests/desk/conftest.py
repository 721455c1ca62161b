"""What the tests of the desk share: a client of the app itself, a desk as a process, and pages of a real browser."""

from __future__ import annotations

import signal
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from recurrentgpt.desk.app import create_app
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel
from tests.conftest import PATIENCE
from tests.desk.scripted import DESK, paced
from tests.warm_process import Forked, WarmProcess

ROOT = Path(__file__).parents[2]
API = "/desk/api"
HOST = "http://127.0.0.1"
HERE = ("127.0.0.1", 50000)


class Client:
    """The app in this process, with what tests ask for again and again."""

    def __init__(self, client: TestClient, model: ScriptedChatModel) -> None:
        self.http, self.model = client, model
        self.app = client.app

    def get(self, path: str, **query: str) -> Any:
        return self.answer(self.http.get(API + path, params=query))

    def send(self, method: str, path: str, body: object = None) -> Any:
        return self.answer(self.http.request(method, API + path, json={} if body is None else body))

    def refused(self, method: str, path: str, body: object = None, **query: str) -> tuple[int, str]:
        response = self.http.request(method, API + path, json=body, params=query)
        assert response.status_code >= 400, response.text
        return response.status_code, response.json()["error"]

    def answer(self, response: httpx.Response) -> Any:
        assert response.status_code == 200, response.text
        return response.json()

    def jobs(self, story: str) -> Any:
        return self.app.state.desk.stories[story]

    def wait(self, story: str) -> dict[str, Any]:
        """Wait until the work on a story has ended, and return the story."""
        self.http.portal.call(self.jobs(story).ended)
        return self.get(f"/stories/{story}")

    def begin(self, **fields: object) -> dict[str, Any]:
        """Begin a story, and return it when its first passage is written."""
        story = self.send("POST", "/stories", {"genre": "mystery", "premise": "Mira tends a lamp.", **fields})["story"]
        return self.wait(story)

    def write(self, story: str, **fields: object) -> dict[str, Any]:
        self.send("POST", f"/stories/{story}/write", fields)
        return self.wait(story)

    def texts(self, view: dict[str, Any]) -> list[str]:
        ids = ",".join(entry[0] for entry in view["path"])
        return [passage["text"] for passage in self.get(f"/stories/{view['id']}/passages", ids=ids)]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Give a library on SQLite."""
    with Library.open(tmp_path / "library") as opened:
        yield opened


@pytest.fixture
def client(library: Library, tmp_path: Path) -> Iterator[Client]:
    """Give the app over that library, with a scripted model."""
    model = paced(tmp_path, 0.0)
    settings = {"model": model, "embeddings": HashEmbeddings(), "new_character": 0.0, "seed": 7}
    app = create_app(library, folder=tmp_path / "desk", given=settings)
    with TestClient(app, base_url=HOST, client=HERE) as opened:
        yield Client(opened, model)


class Served:
    """A desk that runs as a process of its own."""

    def __init__(self, warm: WarmProcess, home: Path) -> None:
        self.warm, self.home = warm, home
        self.port = 0
        self._process: Forked | None = None
        home.mkdir(parents=True, exist_ok=True)
        self.calls = self.starts = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/desk/"

    @property
    def hold(self) -> Path:
        """While this file exists, the model waits in the middle of each passage."""
        return self.home / "hold"

    def count_calls(self, request: pytest.FixtureRequest) -> None:
        """Let the model say in this test what it says in it every time."""
        self.calls = zlib.crc32(request.node.nodeid.encode())
        (self.home / "calls").write_text(str(self.calls))

    def start(self) -> None:
        # Started again, it says nothing that it said before.
        self.starts += 1
        (self.home / "calls").write_text(str(self.calls + 1000 * self.starts))
        command = ("-m", "tests.desk.scripted", "--home", str(self.home), "--port", str(self.port))
        self._process = self.warm.start(*command, stdout=subprocess.PIPE, imports=DESK)
        self.port = int(self._process.stdout.readline())

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="session")
def shared_desk(warm: WarmProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give one desk for all tests that do not stop it."""
    served = Served(warm, tmp_path_factory.mktemp("desk"))
    served.start()
    yield served
    served.end()


@pytest.fixture
def desk(shared_desk: Served, request: pytest.FixtureRequest) -> Served:
    """Give the desk that the tests share, and which they do not stop."""
    shared_desk.count_calls(request)
    return shared_desk


@pytest.fixture
def own_desk(warm: WarmProcess, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """Give a desk that a test may kill."""
    served = Served(warm, tmp_path / "own")
    served.count_calls(request)
    served.start()
    yield served
    served.end(signal.SIGKILL)


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    """Give one page of the usual size."""
    return open_page()


# Waits are written as functions, "() => ...": the page's policy lets no text be evaluated once a wait is under way.


def begin(page: Any, address: str, passages: int = 1) -> None:
    """Begin a story on a page, and write passages of it."""
    page.goto(address)
    page.get_by_label("What is it about?").fill("Mira tends a lamp.")
    page.get_by_role("button", name="Begin").click()
    for number in range(1, passages + 1):
        written(page, number)
        if number < passages:
            page.keyboard.press("1")


def written(page: Any, number: int) -> None:
    """Wait until this many passages are written and plans wait for a choice."""
    page.get_by_text(f"passage {number}", exact=True).wait_for()
    page.locator(".plans .card").first.wait_for()


def send(page: Any) -> None:
    """Send what is typed, and wait until its field has been gone for the quarter of a second in which no letter is a command."""
    field = page.evaluate_handle("document.activeElement")
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        """field => {
            if (!field.isConnected) window.goneAt ??= performance.now();
            return performance.now() > window.goneAt + 300;
        }""",
        arg=field,
    )
    page.evaluate("delete window.goneAt")


def stop(page: Any, button: Any) -> None:
    """Stop the writing, and wait until the desk knows: what is let go before would end by itself."""
    with page.expect_response(lambda response: "/stop" in response.url):
        button.click()


def there_are(locator: Any, number: int) -> None:
    """Wait until so many of something are on the page."""
    from playwright.sync_api import expect

    expect(locator).to_have_count(number, timeout=PATIENCE)


def dialogs_closed(page: Any) -> None:
    """Wait until no dialog is open and the way back that it took is done, which a reload would be lost in."""
    there_are(page.locator("dialog[open]"), 0)
    page.wait_for_function("() => !history.state?.dialog")


def in_sight(part: Any) -> None:
    """Wait until a part of the page is in sight."""
    from playwright.sync_api import expect

    expect(part).to_be_in_viewport(timeout=PATIENCE)


def has_value(field: Any, text: str) -> None:
    """Wait until a field of the page holds this text."""
    from playwright.sync_api import expect

    expect(field).to_have_value(text, timeout=PATIENCE)


def at_rest(locator: Any) -> dict[str, int]:
    """Wait until a part of the page has moved no more for a third of a second, and return where it is, in whole pixels.

    A page that brings a passage to the screen looks again as heights become known. A mouse has whole pixels: pressed at half of
    one that lies between two letters, Chromium 156 selects nothing however far it is dragged (5 of 100 places on a line).
    """
    box: dict[str, float] = locator.evaluate(
        """element => new Promise((done) => {
            let before = '', still = 0;
            const look = () => {
                const { x, y, width, height } = element.getBoundingClientRect();
                const now = JSON.stringify({ x, y, width, height });
                still = now === before ? still + 1 : 0;
                before = now;
                return still < 20 ? requestAnimationFrame(look) : done(JSON.parse(now));
            };
            look();
        })"""
    )
    return {side: round(value) for side, value in box.items()}


def text_of(page: Any, number: int) -> str:
    """Return the first paragraph of a passage as the page holds it: beside a large initial no space is drawn."""
    shown: str | None = (
        page.locator(f"article.passage[aria-label^='Passage {number}']").locator("p").first.text_content()
    )
    return shown or ""
