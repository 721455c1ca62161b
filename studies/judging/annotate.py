"""A page on which people read two novels, blind, and say which is better; their labels go to the run.

Without readers it listens on this machine only, to requests that were made for it, and whoever reads says a name. Readers have a
link each, which is as good as their name and a secret of theirs: then it may listen elsewhere too. A page of another site can
neither read nor write.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import html
import os
import re
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from string import Template
from typing import Any, cast
from urllib.parse import parse_qs, urlencode

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.pairwise import QUESTIONS, Pair, pairs
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.schemas import NovelRecord

LOOPBACK = "127.0.0.1"
KEY_FILE = "readers.key"
"""File of a run from which its readers' links are made."""
MOST_BYTES = 10_000
_NAMES = "A name has 1 to 40 letters, digits, spaces, dots and dashes."
_NOBODY = "This is nobody's link: open the one that you were sent, all of it."
_LENGTH = re.compile(r"[0-9]{1,9}")
_ANNOTATOR = re.compile(r"[\w .-]{1,40}")
_ANSWERED = {
    "A": "You chose A; another answer takes its place.",
    "B": "You chose B; another answer takes its place.",
    "tie": "You chose neither; another answer takes its place.",
}
_SAME = "The same two novels as before, and another question below."
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"


@dataclass(frozen=True)
class Task:
    """Two novels and a question, A being the first system's novel or, when swapped, the second's."""

    pair: Pair
    criterion: str
    premise: str
    a: str
    b: str
    swapped: bool

    @property
    def id(self) -> str:
        """Return the task's name, which says nothing about who wrote what."""
        text = "/".join((self.pair.unit, self.pair.first, self.pair.second, self.criterion))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Annotation:
    """The tasks of a run, and who has done which."""

    def __init__(self, folder: RunFolder, readers: Sequence[str] = ()) -> None:
        if wrong := next((name for name in readers if not _ANNOTATOR.fullmatch(name)), None):
            raise StudyError(f"{_NAMES} {wrong!r:.60} is none.")
        self.folder, self.token = folder, secrets.token_urlsafe(16)
        self._lock = threading.Lock()
        self._pairs = pairs(folder)
        if not self._pairs:
            raise StudyError(
                f"{folder.path} holds no two finished novels of one premise to compare: run its plan first."
            )
        self.links = {name: _link(folder, name) for name in dict.fromkeys(readers)}
        """What stands for each reader's name in an address; empty where names themselves do."""

    def reader(self, given: str) -> str | None:
        """Return whom the name or link in a request stands for; None for nobody."""
        if self.links:
            asked = given.encode()
            return next((name for name, link in self.links.items() if hmac.compare_digest(link.encode(), asked)), None)
        return given if _ANNOTATOR.fullmatch(given) else None

    def tasks(self, annotator: str) -> list[Task]:
        """Return all tasks: pairs in this annotator's own order, A and B dealt for each, and all questions of a pair together."""
        found: list[Task] = []
        criteria = self.folder.plan.criteria
        for pair, first, second in sorted(self._pairs, key=lambda one: _shuffle_key(annotator, one[0], "order")):
            swapped = bool(_shuffle_key(annotator, pair, "sides") % 2)
            for criterion in criteria:
                texts = [_text_to_read(novel, criterion) for novel in (first, second)]
                a, b = reversed(texts) if swapped else texts
                found.append(Task(pair, criterion, first["premise"], a, b, swapped))
        return found

    def done(self, annotator: str) -> dict[str, str]:
        """Return what the annotator has said of which task, the oldest first; also to another server of this run."""
        rows = [row for row in self.folder.rows("labels.jsonl") if row["annotator"] == annotator]
        return {str(row.get("task")): str(row.get("verdict", "")) for row in rows}

    def label(self, annotator: str, task: str, verdict: str) -> None:
        """Store what an annotator says of a task; the last label holds. Raises StudyError for what is no label."""
        found = next((known for known in self.tasks(annotator) if known.id == task), None)
        if found is None or verdict not in ("A", "B", "tie"):
            raise StudyError("That is no label of this run: go back and choose A, B or neither.")
        first = {"A": 1.0, "B": 0.0, "tie": 0.5}[verdict]
        row = {
            "annotator": annotator,
            "task": task,
            **asdict(found.pair),
            "criterion": found.criterion,
            "verdict": verdict,
            "preference": 1 - first if found.swapped else first,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with self._lock:
            if self.done(annotator).get(task) != verdict:
                self.folder.append("labels.jsonl", row)


def _text_to_read(novel: NovelRecord, criterion: str) -> str:
    """Return what is read of a novel: for `control`, each passage after the plan that was chosen for it."""
    if criterion != "control":
        return novel["text"]
    parts: list[str] = []
    for passage in novel["passages"]:
        chosen = [f"[{passage.get('plan', '')}]"] if passage.get("offered") else []
        parts += [*chosen, passage.get("text", "")]
    return "\n\n".join(parts)


def _link(folder: RunFolder, reader: str) -> str:
    """Return what stands for a reader in an address: the same on every day of the run, and nothing that others can guess."""
    path = folder.path / KEY_FILE
    try:
        with (
            contextlib.suppress(FileExistsError),
            open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
        ):
            file.write(secrets.token_hex(16))
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read or written: check its permissions, or delete it.") from error
    if len(key) < 32:
        raise StudyError(f"{path} is damaged: delete it, and send readers the links that the command prints then.")
    return hmac.new(key.encode(), reader.encode(), hashlib.sha256).hexdigest()[:24]


def _shuffle_key(annotator: str, pair: Pair, salt: str) -> int:
    text = "/".join((annotator, pair.unit, pair.first, pair.second, salt))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def serve(
    folder: RunFolder, port: int, ready: Callable[[str], None], readers: Sequence[str] = (), host: str = LOOPBACK
) -> None:
    """Serve the page until interrupted; `ready` is told how to stop, and its address, or with `readers` each one's."""
    with server(folder, port, readers, host) as running:
        ready("Stop with Ctrl-C. Read at:")
        for address in addresses(running, host):
            ready(address)
        running.serve_forever()


def addresses(running: ThreadingHTTPServer, host: str = LOOPBACK) -> list[str]:
    """Return the page's address, or for each reader name and link."""
    where = f"http://{host}:{cast('tuple[str, int]', running.server_address)[1]}/"
    links = cast("type[_Handler]", running.RequestHandlerClass).tasks.links
    return [f"{name}: {where}?annotator={link}" for name, link in links.items()] or [where]


def server(folder: RunFolder, port: int, readers: Sequence[str] = (), host: str = LOOPBACK) -> ThreadingHTTPServer:
    """Return the server of the page; port 0 takes a free one. Raises StudyError for other hosts than this one without readers."""
    if host != LOOPBACK and not readers:
        raise StudyError("On another address than this machine's own, readers have links: name each with --reader.")
    annotation = Annotation(folder, readers)

    class Handler(_Handler):
        tasks = annotation

    try:
        return _Server((host, port), Handler)
    except OSError as error:
        raise StudyError(
            f"Port {port} of {host} cannot be used ({error.strerror}): name another with --port or --host."
        ) from error


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away: the terminal belongs to the command."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    tasks: Annotation
    server_version, sys_version = "recurrentgpt", ""
    timeout = 60
    """Seconds to wait for a browser that has said half of what it announced."""

    def do_GET(self) -> None:
        """Show the next task of the annotator named in the address."""
        self._answer(self._send_next)

    def do_POST(self) -> None:
        """Store a label and show the next task."""
        self._answer(self._store_label)

    def _answer(self, work: Callable[[], None]) -> None:
        """Do what was asked, if it may be asked, and say what is wrong with the run where something is."""
        if not self._is_same_origin():
            return
        try:
            work()
        except StudyError as error:
            self._send_message(500, str(error))

    def _send_next(self) -> None:
        path, _, query = self.path.partition("?")
        if path != "/":
            self._send_message(404, "There is nothing here.")
            return
        fields = {name: values[0] for name, values in parse_qs(query).items()}
        given = fields.get("annotator", "").strip()
        annotator = self.tasks.reader(given)
        if not given and not self.tasks.links:
            self._page("start", annotator="", kind="text", hidden="")
        elif annotator is None:
            self._send_message(403 if self.tasks.links else 400, _NOBODY if self.tasks.links else _NAMES)
        elif "begin" not in fields and not self.tasks.done(annotator):
            self._page("start", annotator=given, kind="hidden", hidden="hidden")
        else:
            self._send_task(annotator, given, fields.get("task", ""))

    def _store_label(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not _LENGTH.fullmatch(length) or int(length) > MOST_BYTES:
            self._send_message(413, "That is no label.")
            return
        fields = {
            name: values[0]
            for name, values in parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace")).items()
        }
        if not hmac.compare_digest(fields.get("token", "").encode(), self.tasks.token.encode()):
            self._send_message(403, "This page was loaded from an earlier run of the server: load it again.")
            return
        given = fields.get("annotator", "")
        if (annotator := self.tasks.reader(given)) is None:
            self._send_message(403 if self.tasks.links else 400, _NOBODY if self.tasks.links else _NAMES)
            return
        try:
            self.tasks.label(annotator, fields.get("task", ""), fields.get("verdict", ""))
        except StudyError as error:
            self._send_message(400, str(error))
            return
        self._send_task(annotator, given)

    def _send_task(self, annotator: str, given: str, again: str = "") -> None:
        """Show what the annotator reads next, or a task that is to be answered again; `given` stands for the name."""
        tasks, done = self.tasks.tasks(annotator), self.tasks.done(annotator)
        wanted = {again} & set(done) or {task.id for task in tasks if task.id not in done}
        task = next((task for task in tasks if task.id in wanted), None)
        known = [name for name in done if any(task.id == name for task in tasks)]
        earlier = known[: known.index(again)] if task and task.id == again else known
        back = f"/?{urlencode({'annotator': given, 'task': earlier[-1]})}" if earlier else ""
        if task is None:
            self._page("done", total=len(tasks), back=back)
            return
        place = tasks.index(task)
        self._page(
            "task",
            annotator=given,
            token=self.tasks.token,
            task=task.id,
            number=len(earlier) + 1,
            total=len(tasks),
            same=_SAME if place and tasks[place - 1].pair == task.pair else "",
            premise=task.premise,
            question=QUESTIONS.get(task.criterion, f"Which is more {task.criterion}?").capitalize(),
            said=_ANSWERED.get(done.get(task.id, ""), ""),
            back=back,
            hidden="" if back else "hidden",
            a=task.a,
            b=task.b,
        )

    def _is_same_origin(self) -> bool:
        """Refuse requests that were not made for this address: a foreign name that points here, a foreign page's form."""
        port = cast("tuple[str, int]", self.server.server_address)[1]
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        # A link is a secret, which a foreign name that points here does not know; without one the name is all there is.
        own = {host} if self.tasks.links else {f"127.0.0.1:{port}", f"localhost:{port}"}
        if host not in own or (origin and origin.partition("://")[2] not in own):
            self._send_message(403, "This page is for this machine: open the address that the command printed.")
            return False
        return True

    def _page(self, name: str, **values: Any) -> None:
        text = (resources.files("recurrentgpt.studies") / "data" / f"{name}.html").read_text(encoding="utf-8")
        self._send(200, Template(text).substitute({key: _escaped(str(value)) for key, value in values.items()}))

    def _send_message(self, status: int, message: str) -> None:
        self._send(status, f"<!doctype html><meta charset=utf-8><title>Two novels</title><p>{html.escape(message)}</p>")

    def _send(self, status: int, page: str) -> None:
        body = page.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"),
            # With "no-referrer" a browser keeps the origin of a form to itself, and its answer would be refused.
            ("Referrer-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the command."""


def _escaped(text: str) -> str:
    """Return text as HTML, its paragraphs kept by the style sheet."""
    return html.escape(text, quote=True)
