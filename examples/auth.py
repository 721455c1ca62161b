"""Stories of one's own on a shared server: nobody reads, resumes or finds another's. Name it in langgraph.json:

    "auth": { "path": "./examples/auth.py:auth", "disable_studio_auth": true }

Tokens are in STORY_TOKENS as `token:user,token:user`; put your own look-up in `who`. What a run reads and writes in the log
is its user's by itself; these rules keep the threads apart, and the server's key at home.
"""

import hmac
import os
from typing import Any

from langgraph_sdk import Auth

auth = Auth()
# Not for a client to say: what sends the server's key elsewhere, spends it on another model, or reads the server's disk.
KEPT = {"adapter", "base_url", "model", "models", "prompts"}


@auth.authenticate
async def who(headers: dict[Any, Any]) -> Auth.types.MinimalUserDict:
    """Return the user whose token came with the request; LangGraph's server gives headers as bytes, Aegra as text."""
    said = headers.get("authorization") or headers.get(b"authorization", b"").decode("latin-1")
    given = said.removeprefix("Bearer ").encode()
    for entry in os.environ.get("STORY_TOKENS", "").split(","):
        token, _, user = entry.partition(":")
        if token and user and hmac.compare_digest(token.encode(), given):
            return {"identity": user, "is_authenticated": True}
    raise Auth.exceptions.HTTPException(status_code=401, detail="Give your token: Authorization: Bearer <token>.")


@auth.on
async def nothing_else(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Refuse what no rule below allows."""
    return False


@auth.on.assistants.read
@auth.on.assistants.search
async def anybody(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Let everybody see which graphs there are."""
    return True


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str]:
    """Mark new threads with their owner, and show everybody only their own."""
    if named := ", ".join(sorted(said(value))):
        raise Auth.exceptions.HTTPException(status_code=403, detail=f"A client cannot set {named}.")
    if value.get("metadata") is None:  # else in place: the server goes on with the dictionary that it gave
        value["metadata"] = {}
    value["metadata"]["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


def said(value: dict[str, Any]) -> set[str]:
    """Return what a request sets of KEPT; every server puts a run's context and configuration elsewhere."""
    here = {key for name in ("context", "configurable") for key in KEPT if (value.get(name) or {}).get(key)}
    return here.union(*(said(part) for part in value.values() if isinstance(part, dict)))
