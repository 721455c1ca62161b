"""`recurrentgpt desk` and `recurrentgpt serve`: the page in the browser, and the endpoint for OpenAI's clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

HERE = "127.0.0.1"
Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address to listen at; any but this machine's own asks for a token.")
]


def desk(
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port of the page; 0 is a free one. [default: 8066, or a free one where that is taken]",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
    host: Host = HERE,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Token that the page asks for. [default: none here, a new one elsewhere]"),
    ] = None,
) -> None:
    """Open the writing desk in the browser (extra `desk`).

    \b
    Examples:
      recurrentgpt desk
      recurrentgpt desk --port 8021 --no-browser
      recurrentgpt desk --host 0.0.0.0         for other machines; prints an address with a token

    It shows the novel, its choices, its memory and its branches. It runs on this machine, without an account, until Ctrl-C;
    what is written is saved at every passage.
    """
    from recurrentgpt.cli.terminal.console import note
    from recurrentgpt.desk.serve import USUAL_PORT, open_browser

    def ready(address: str, key: str) -> None:
        page = f"{address}/desk/" + (f"?token={key}" if key else "")
        why = f" Port {USUAL_PORT} is taken: a page that was left open there looks for it there." * (
            port is None and not address.endswith(f":{USUAL_PORT}")
        )
        note(f"The desk is at {page} (Ctrl-C ends it; everything written is saved).{why}")
        if not no_browser:
            open_browser(page)

    _serve(port, host, token, ready)


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 is a free one.")] = 8067,
    host: Host = HERE,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The API key of clients. [default: none here, a new one elsewhere]"),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Let pages of this origin use it from a browser (CORS); may be repeated."),
    ] = None,
) -> None:
    """Serve stories to any client of OpenAI's API: a chat is a story (extra `desk`).

    \b
    Examples:
      recurrentgpt serve                       http://127.0.0.1:8067/v1, for clients on this machine
      recurrentgpt serve --host 0.0.0.0        for other machines; prints the API key
      recurrentgpt serve --allow-origin http://localhost:8000

    The first message of a chat is the premise, each later one is the number of a plan, a plan in a sentence, or an action:
    another take, new plans, simulator. Another reply to the same message is another take, an edited message a branch.
    Models: recurrentgpt (a novel), recurrentgpt-fiction (a story to play). The desk is at /desk/.
    """
    from recurrentgpt.cli.terminal.console import note

    def ready(address: str, key: str) -> None:
        with_key = f" with the API key {key}" if key else ", and any API key"
        note(f"Clients find stories at {address}/v1{with_key} (Ctrl-C ends it; everything written is saved).")

    _serve(port, host, token, ready, chat=True, origins=tuple(allow_origin or ()))


def _serve(
    port: int | None,
    host: str,
    token: str | None,
    ready: Callable[[str, str], None],
    *,
    chat: bool = False,
    origins: tuple[str, ...] = (),
) -> None:
    """Serve the desk's app, and tell `ready` its address and its token."""
    import secrets

    from recurrentgpt.schema.errors import SettingsError

    if token is not None and (len(token) < 16 or not token.isascii() or not token.isalnum()):
        raise SettingsError("A token is 16 or more letters and digits; leave --token out for one that is drawn.")
    if host not in (HERE, "localhost", "::1") and token is None:
        token = secrets.token_hex(16)
    from recurrentgpt.desk.app import create_app
    from recurrentgpt.desk.backend.guard import LOCAL, checked_origin
    from recurrentgpt.desk.serve import bound, outward, serve

    allowed = tuple(map(checked_origin, origins))
    listening = bound(HERE if host == "localhost" else host, port, "The endpoint" if chat else "The desk")
    shown = outward(host) if host in ("0.0.0.0", "::") else host  # noqa: S104 - somebody asked for it
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{listening.getsockname()[1]}"
    app = create_app(names=(*LOCAL, shown, host), token=token or "", chat=chat, origins=allowed)
    serve(app, listening, ready=lambda: ready(address, token or ""))
