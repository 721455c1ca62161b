"""Who may talk to the desk: its own page, on this machine, and nobody else's page.

A browser sends requests to 127.0.0.1 for any page that is open in it. So a name that an attacker points at this machine is
refused by `Host`, another site's page by `Origin` and `Sec-Fetch-Site`, and another machine by its address, or without a token.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recurrentgpt.schema.errors import SettingsError

LOCAL = ("127.0.0.1", "localhost", "::1")
COOKIE = "recurrentgpt_desk"
MOST_BYTES = 1_000_000
MOST_BYTES_OF_A_BOOK = 100_000_000

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Refuse what does not come from the desk's own page, as ASGI middleware.

    With a `token` every request must bring it: once in the address, from then on in a cookie, or as a bearer token. `under`
    is the only path that is guarded, for an app that is mounted in a host's server. Pages of the `origins` may use what is
    under /v1/, without cookies.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        names: Iterable[str] = LOCAL,
        token: str = "",
        under: str = "/",
        origins: Iterable[str] = (),
    ) -> None:
        self.app, self.names, self.token, self.under = app, frozenset(names), token, under
        self.origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the reason why not."""
        if scope["type"] != "http" or not scope["path"].startswith(self.under):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if origin := self._named_origin(scope, headers):
            send = _with_cors(send, origin)
        answer = self._refusal(scope, headers) or self._preflight(scope, headers) or self._key(scope, headers)
        if answer is not None:
            await answer(scope, receive, _with_headers(send, scope["path"]))
            return
        most = MOST_BYTES_OF_A_BOOK if "/imports" in scope["path"] else MOST_BYTES
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            answer = refused(scope["path"], 413, f"That is too large: at most {most // 1_000_000} MB can be sent here.")
            await answer(scope, receive, _with_headers(send, scope["path"]))
            return
        await self.app(scope, _limited(receive, most), _with_headers(send, scope["path"]))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        path = scope["path"]
        if not self.token and not _from_here(scope, headers):
            # A host's server may listen to a network, where anybody can send any `Host`.
            return _refused(
                path,
                403,
                page="The desk answers this machine only; for another, run `recurrentgpt desk --host` with a token.",
                client="This endpoint answers this machine only: whoever starts it can open it to others, with an API key.",
            )
        host = headers.get("host", "")
        if not self._known(host):
            return _refused(
                path,
                400,
                page=f"The desk does not answer to the name {host[:80]!r}; open it at the address it printed.",
                client=f"This endpoint does not answer to the name {host[:80]!r}: use the address that it printed.",
            )
        if self._named_origin(scope, headers):
            return None
        origin = headers.get("origin")
        elsewhere = origin is not None and urlsplit(origin).netloc != host
        crossing = headers.get("sec-fetch-site") in ("cross-site", "same-site") and (
            scope["method"] not in ("GET", "HEAD") or headers.get("sec-fetch-mode") != "navigate" or "/api/" in path
        )
        if not (elsewhere or crossing):
            return None
        return _refused(
            path,
            403,
            page="The desk takes requests from its own page only.",
            client="This endpoint takes no requests from this page: whoever starts it can allow the page's origin.",
        )

    def _named_origin(self, scope: Scope, headers: Headers) -> str:
        """Return the origin of a request where it is one that may send it; empty for all others."""
        origin = headers.get("origin", "")
        return origin if origin in self.origins and scope["path"].startswith("/v1/") else ""

    def _preflight(self, scope: Scope, headers: Headers) -> Response | None:
        """Return what a browser is told before a page of a named origin may ask; it brings no token yet."""
        if scope["method"] != "OPTIONS" or not self._named_origin(scope, headers):
            return None
        allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Max-Age": "600"}
        if asked := headers.get("access-control-request-headers"):
            allowed["Access-Control-Allow-Headers"] = asked
        return Response(status_code=204, headers=allowed)

    def _known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self.names:
            return True
        if not self.token:
            return False
        try:
            # An address is no name that somebody could point elsewhere.
            return bool(ip_address(name))
        except ValueError:
            return False

    def _key(self, scope: Scope, headers: Headers) -> Response | None:
        """Return what to answer to a request without the token, or with the token in its address."""
        if not self.token:
            return None
        cookie = SimpleCookie()
        try:
            cookie.load(headers.get("cookie", ""))
        except CookieError:
            cookie.clear()
        given = cookie[COOKIE].value if COOKIE in cookie else headers.get("authorization", "").removeprefix("Bearer ")
        if self._fits(given):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and self._fits(query.pop("token", [""])[0]):
            rest = urlencode(query, doseq=True)
            # A path that begins with two slashes would be the name of another host.
            path = "/" + scope["path"].lstrip("/\\")
            moved = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
            moved.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", path="/")
            return moved
        return _refused(
            scope["path"],
            401,
            page="This desk needs its token: open its address with ?token= and the token that it printed at its start.",
            client="This endpoint needs its API key: give the one that it printed at its start.",
        )

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Return whether a request was sent on this machine, and not through a proxy that says so."""
    try:
        here = ip_address((scope.get("client") or ("",))[0]).is_loopback
    except ValueError:
        return False
    return here and not {"forwarded", "x-forwarded-for"} & set(headers.keys())


def is_api(path: str) -> bool:
    """Tell whether a path is one for OpenAI's clients."""
    return path == "/v1" or path.startswith("/v1/")


def refused(path: str, status: int, why: str, kind: str = "Refused") -> Response:
    """Return an answer that says why not, as pages read it, or under /v1/ as OpenAI's clients do."""
    error: object = {"message": why, "type": kind, "param": None, "code": None} if is_api(path) else why
    return JSONResponse({"error": error}, status_code=status)


def _refused(path: str, status: int, *, page: str, client: str) -> Response:
    """Return an answer that says why not, to whom reads it: a page of the desk, or a client of the endpoint."""
    return refused(path, status, client if is_api(path) else page)


def _with_headers(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            if "/assets/" not in path:
                headers["Cache-Control"] = "no-store"
        await send(message)

    return sending


def _with_cors(send: Send, origin: str) -> Send:
    """Let pages of an origin read an answer; without Allow-Credentials a browser sends no cookie and shows none."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "X-Story"
            headers.add_vary_header("Origin")
        await send(message)

    return sending


def checked_origin(text: str) -> str:
    """Return an origin as browsers send it; raise SettingsError for a text that names none, and for any at once."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    plain = not (parts.query or parts.fragment or "@" in parts.netloc) and parts.path in ("", "/")
    if parts.scheme not in ("http", "https") or not plain or not host or "*" in host:
        raise SettingsError(
            f"An origin is a scheme, a host and perhaps a port, such as http://localhost:8000; {text[:80]!r} is none."
        )
    usual = {"http": 80, "https": 443}[parts.scheme]
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, usual) else "")


def _limited(receive: Receive, most: int) -> Receive:
    """Return a `receive` that hangs up on a body longer than it may be, whatever its headers said."""
    taken = 0

    async def receiving() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= most else {"type": "http.disconnect"}

    return receiving
