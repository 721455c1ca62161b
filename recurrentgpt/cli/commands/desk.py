"""`recurrentgpt desk`: the page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

HERE = "127.0.0.1"


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
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen at; any but this machine's own asks for a token.")
    ] = HERE,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Token that the page asks for. [default: none here, a new one elsewhere]"),
    ] = None,
) -> None:
    """Open the writing desk in the browser.

    \b
    Examples:
      recurrentgpt desk
      recurrentgpt desk --port 8021 --no-browser
      recurrentgpt desk --host 0.0.0.0         for other machines; prints an address with a token

    It shows the novel, its choices, its memory and its branches. It runs on this machine, without an account, until Ctrl-C;
    what is written is saved at every passage.
    """
    import secrets

    from recurrentgpt.cli.terminal.console import note
    from recurrentgpt.schema.errors import SettingsError

    if token is not None and (len(token) < 16 or not token.isascii() or not token.isalnum()):
        raise SettingsError("A token is 16 or more letters and digits; leave --token out for one that is drawn.")
    local = host in (HERE, "localhost", "::1")
    if not local and token is None:
        token = secrets.token_hex(16)
    from recurrentgpt.desk.app import create_app
    from recurrentgpt.desk.backend.guard import LOCAL
    from recurrentgpt.desk.serve import USUAL_PORT, bound, open_browser, outward, serve

    listening = bound(HERE if host == "localhost" else host, port)
    shown = outward(host) if host in ("0.0.0.0", "::") else host  # noqa: S104 - somebody asked for it
    name = f"[{shown}]" if ":" in shown else shown
    found = listening.getsockname()[1]
    address = f"http://{name}:{found}/desk/" + (f"?token={token}" if token else "")
    why = f" Port {USUAL_PORT} is taken: a page that was left open there looks for it there." * (
        port is None and found != USUAL_PORT
    )
    app = create_app(names=(*LOCAL, shown, host), token=token or "")

    def ready() -> None:
        note(f"The desk is at {address} (Ctrl-C ends it; everything written is saved).{why}")
        if not no_browser:
            open_browser(address)

    serve(app, listening, ready=ready)
