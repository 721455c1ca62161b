"""`recurrentgpt mcp`: stories as tools for assistants."""

from __future__ import annotations

from typing import Annotated

import typer


def mcp(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve by HTTP at this port, instead of standard input."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen at; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Token that clients send: Authorization: Bearer TEXT.", show_default=False),
    ] = "",
) -> None:
    """Serve stories as tools for assistants (MCP, extra `mcp`).

    \b
    Examples:
      recurrentgpt mcp                  standard input and output, for an assistant that starts it
      recurrentgpt mcp --port 8765      http://127.0.0.1:8765/mcp, until Ctrl-C

    Tools: start_story, stories, read, choose_plan, write_plan, new_plans, edit_memory, finish, retry, goto, tree, recall,
    export.
    """
    from recurrentgpt.mcp_server import serve

    serve(port, host, token)
