"""An OpenAI-compatible server on loopback that answers, or fails, exactly as a test tells it."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Literal, cast

Behaviour = Literal[
    "ok", "garbage", "empty", "apology", "half json", "cut", "unfinished", "stalled", "endless", "hang",
    "no schema", "no json_schema", "no temperature", "too long", "filter", "thinking", "thinking in reasoning",
    "thinking in a list", "think tags", "long thinking", "half", "half thought", "few tokens", "small cap", "small window",
    "form in reasoning", "no max_tokens", "no stream_options", "no system role",
    "blank", "spaces", "no choices", "roles", "reasoning", "flood", "compressed",
    "redirect", "fickle", "400", "401", "403", "404", "422", "429", "500",
]  # fmt: skip
Answer = Callable[[dict[str, Any]], str]

_APOLOGY = "I'm sorry, but I can't help with that request."
_MESSAGES = {
    "400": "The request could not be understood.",
    "401": "Incorrect API key provided: {key}.",
    "403": "This key may not use that model.",
    "404": "The model does not exist.",
    "422": "A field has the wrong type.",
    "429": "Rate limit reached for requests.",
    "500": "The server had an error.",
    "no schema": "'response_format' of this type is unknown to this server.",
    "no json_schema": 'response_format type must be one of "text" or "json_object", but got: json_schema',
    "no temperature": "Unsupported value: 'temperature' does not support this value with this model.",
    "few tokens": "Invalid 'max_tokens': values above 8192 are not supported by this model.",
    "no max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "no stream_options": "Unknown parameter: 'stream_options'.",
    "no system role": "System role not supported",
    "small cap": "max_tokens is too large: this model supports at most 8192 completion tokens.",
    "small window": "This model's maximum context length is 4096 tokens. However, you requested more of them in the completion.",
    "filter": "Our content policy was triggered by 'seed', by 'temperature' and by a schema in the prompt.",
    "too long": "This model's maximum context length is 8192 tokens.",
}
_NEVER_ENDING: dict[str, dict[str, Any]] = {
    "endless": {"content": " word" * 20},
    "blank": {"content": ""},
    "spaces": {"content": " \n"},
    "roles": {"role": "assistant"},
    "reasoning": {"reasoning_content": "", "reasoning": " hmm"},
}
"""What is sent over and over until the client hangs up."""
_THINKING: dict[str, Callable[[str], dict[str, Any]]] = {
    "thinking": lambda word: {"content": "", "reasoning_content": word},
    "thinking in reasoning": lambda word: {"content": "", "reasoning_content": "", "reasoning": word},
    "thinking in a list": lambda word: {
        "content": [{"type": "thinking", "thinking": [{"type": "text", "text": word}]}]
    },
    "long thinking": lambda word: {"reasoning": word},
    "half thought": lambda word: {"reasoning": word},
}
"""Where a server puts the reasoning of its model."""
_LONG_THINKING = 10_000
"""Tokens that a model takes which thinks for long."""
_FEW_TOKENS, _SMALL_WINDOW = 8192, 1500
"""Tokens of a reply that a server allows which allows few."""


def _plain(body: dict[str, Any]) -> str:
    """Answer a request with its last message in capitals, or with an object when a schema is given."""
    return "{}" if "response_format" in body else str(body["messages"][-1]["content"]).upper()


def pieces_of(words: int) -> re.Pattern[str]:
    """Return what finds a text's pieces of so many words, each with the spaces before it."""
    return re.compile(rf"\s*+\S++(?:\s++\S++){{0,{words - 1}}}+(?:\s++\Z)?")


class Streaming:
    """How scripted replies are streamed: word by word, as models do; a suite of many stories asks for longer pieces."""

    pieces: ClassVar[re.Pattern[str]] = pieces_of(1)
    """What a reply is divided into."""


class FaultyServer(Streaming):
    """Serve `/chat/completions`, streamed or not, with one scripted behaviour per request and the last one for all others.

    `cut` drops the connection in mid-reply, `unfinished` ends politely but without a finish reason, `stalled` says nothing
    more in mid-reply, `endless` writes until the client hangs up, `hang` says nothing at all, `no schema`, `no max_tokens`,
    `no temperature`, `no stream_options` and `no system role` refuse only requests with that, and `no json_schema` those
    with that form; `filter` refuses in words that name fields, `thinking` and `think tags` and their like reason before
    they answer, `long thinking` for more tokens than a reply has, `half thought` for so many that half of a reply is left,
    `few tokens` like `long thinking` where a request with more than 8192 is refused, `small cap` refuses those and answers
    others, `small window` refuses those with more than 1500, `form in reasoning` ends a reply in a form with its reasoning,
    as LM Studio does, `half` meets the limit in the middle of a reply, `blank`, `spaces`, `no choices`, `roles`,
    `reasoning` and `flood` stream without end and without prose, `compressed` sends what nobody asked to be compressed,
    `redirect` sends the client to `elsewhere`, and `fickle` promises to keep a connection and answers nothing more on it.
    Use it as a context manager. `text` makes the reply of `ok` from the request's body."""

    def __init__(self, *script: Behaviour, text: Answer | str = _plain, elsewhere: str = "") -> None:
        self.script: Sequence[Behaviour] = script or ("ok",)
        self.elsewhere = elsewhere
        self.answer: Answer = text if callable(text) else lambda body: text
        self.requests: list[Mapping[str, Any]] = []
        """The bodies of all requests."""
        self.keys: list[str] = []
        """The keys that came with them."""
        self.connections = 0
        self.hung_up = threading.Event()
        """Set when a client closed its connection before the reply was complete."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)

    @property
    def base_url(self) -> str:
        """Return what OPENAI_BASE_URL is to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_behaviour(self, body: Mapping[str, Any], key: str) -> Behaviour:
        """Record a request and return how it is to be answered."""
        with self._lock:
            behaviour = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(body)
            self.keys.append(key)
        if behaviour == "no schema" and "response_format" not in body:
            return "ok"
        if behaviour == "no json_schema" and body.get("response_format", {}).get("type") != "json_schema":
            return "ok"
        if behaviour == "no temperature" and "temperature" not in body:
            return "ok"
        if behaviour == "few tokens" and _limit_of(body) <= _FEW_TOKENS:
            return "long thinking"
        if behaviour == "small cap" and _limit_of(body) <= _FEW_TOKENS:
            return "ok"
        if behaviour == "small window" and _limit_of(body) <= _SMALL_WINDOW:
            return "ok"
        if behaviour == "no max_tokens" and "max_tokens" not in body:
            return "ok"
        if behaviour == "no stream_options" and "stream_options" not in body:
            return "ok"
        if behaviour == "no system role" and all(message["role"] != "system" for message in body["messages"]):
            return "ok"
        if behaviour == "form in reasoning" and "response_format" not in body:
            return "ok"
        return behaviour


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: FaultyServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet: a client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Or a short reply waits 40 ms, with its headers sent, for the client to acknowledge these.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.asked = 0
        cast(_Server, self.server).owner.connections += 1

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        """List the one model."""
        self._send(200, json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))

    def do_POST(self) -> None:
        """Answer a chat completion as the script says."""
        owner = cast(_Server, self.server).owner
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        behaviour = owner.next_behaviour(body, key)
        self.asked += 1
        if behaviour == "hang":
            owner.closing.wait()
            self.close_connection = True
        elif behaviour == "fickle" and self.asked > 1:
            self.close_connection = True
        elif behaviour == "garbage":
            kind = "text/event-stream" if body.get("stream") else "application/json"
            self._send(200, "data: <<<this is no JSON>>>\n\n", kind)
        elif behaviour == "redirect":
            self._send(307, "", headers={"location": owner.elsewhere + self.path.removeprefix("/v1")})
        elif behaviour == "compressed":
            self._send(200, gzip.compress(b": \n" * 1000), "text/event-stream", {"content-encoding": "gzip"})
        elif behaviour in _MESSAGES:
            status = int(behaviour) if behaviour.isdigit() else 400
            message = _MESSAGES[behaviour].format(key=key)
            self._send(status, json.dumps({"error": {"message": message, "type": "error", "code": behaviour}}))
        else:
            self._reply(behaviour, body, owner)

    def _reply(self, behaviour: Behaviour, body: dict[str, Any], owner: FaultyServer) -> None:
        text = {"empty": "", "apology": _APOLOGY, "half json": '{"facts": ["The lamp went out'}.get(behaviour)
        text = owner.answer(body) if text is None else text
        asked = sum(len(str(message["content"]).split()) for message in body["messages"])
        usage = {
            "prompt_tokens": asked,
            "completion_tokens": len(text.split()),
            "total_tokens": asked + len(text.split()),
            "prompt_tokens_details": {"cached_tokens": asked // 2},
        }
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._send(200, json.dumps({**_envelope(body), "choices": [choice], "usage": usage}))
            return
        try:
            self._stream(behaviour, body, text, usage, owner)
        except OSError:
            owner.hung_up.set()
            self.close_connection = True

    def _stream(
        self, behaviour: Behaviour, body: dict[str, Any], text: str, usage: dict[str, Any], owner: FaultyServer
    ) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if behaviour in ("cut", "unfinished", "stalled"):
            words = text.split(" ")
            text = " ".join(words[: max(1, len(words) // 2)])
        pieces = owner.pieces.findall(text) or [text]
        if behaviour in _THINKING:
            for word in ("Let", " me", " think"):
                self._event(body, {"delta": _THINKING[behaviour](word), "finish_reason": None})
        if behaviour == "form in reasoning":
            self._event(body, {"delta": {"content": "", "reasoning_content": text}, "finish_reason": None})
            pieces = []
        cut_short = behaviour in ("long thinking", "half thought") and _limit_of(body) <= _LONG_THINKING
        cut_short |= behaviour == "half"
        if cut_short:
            pieces = [] if behaviour == "long thinking" else pieces[: len(pieces) // 2]
        if behaviour == "think tags":
            pieces = ["<th", "ink>Let me {think}", "</thi", "nk>\n\n", *pieces]
        for piece in [] if behaviour in _NEVER_ENDING or behaviour in ("no choices", "flood") else pieces:
            self._event(body, {"delta": {"role": "assistant", "content": piece}, "finish_reason": None})
        if behaviour == "stalled":
            owner.closing.wait()
        if behaviour in ("cut", "stalled"):
            self.close_connection = True
            return
        while behaviour in _NEVER_ENDING and not owner.closing.wait(0.005):
            self._event(body, {"delta": _NEVER_ENDING[behaviour], "finish_reason": None})
        while behaviour == "no choices" and not owner.closing.wait(0.005):
            self._chunk(json.dumps({**_envelope(body), "choices": []}))
        while behaviour == "flood" and not owner.closing.is_set():
            self._raw(b": " + b"x" * 65_536 + b"\n")
        if behaviour != "unfinished":
            self._event(body, {"delta": {}, "finish_reason": "length" if cut_short else "stop"})
            if (body.get("stream_options") or {}).get("include_usage"):
                self._chunk(json.dumps({**_envelope(body), "choices": [], "usage": usage}))
            self._chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, body: dict[str, Any], choice: dict[str, Any]) -> None:
        self._chunk(json.dumps({**_envelope(body), "choices": [{"index": 0, **choice}]}))

    def _chunk(self, data: str) -> None:
        self._raw(f"data: {data}\n\n".encode())

    def _raw(self, event: bytes) -> None:
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")

    def _send(
        self, status: int, reply: str | bytes, kind: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        payload = reply.encode() if isinstance(reply, str) else reply
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


def _limit_of(body: Mapping[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or _LONG_THINKING + 1)


def _envelope(body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "scripted")}
