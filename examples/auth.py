"""Stories of one's own on a shared server: nobody reads, resumes or finds another's. Name it in langgraph.json:

    "auth": { "path": "./examples/auth.py:auth" }

Tokens are in STORY_TOKENS as `token:user,token:user`; put your own look-up in `who`.
"""

import hmac
import os
from typing import Any

from langgraph_sdk import Auth

auth = Auth()
# Not for a client to say: what spends the server's key elsewhere or reads its disk, and which story of the log to open. A
# thread knows its own story.
KEPT = {"base_url", "prompts", "model", "models", "story", "head"}


@auth.authenticate
async def who(authorization: str | None) -> Auth.types.MinimalUserDict:
    """Return the user whose token came with the request: `Authorization: Bearer <token>`."""
    given = (authorization or "").removeprefix("Bearer ").encode()
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
    run = value.get("kwargs") or {}
    said = [run.get("input"), run.get("context"), (run.get("config") or {}).get("configurable")]
    if any(isinstance(part, dict) and KEPT & {name for name in part if part[name]} for part in said):
        raise Auth.exceptions.HTTPException(status_code=403, detail=f"A client cannot set {', '.join(sorted(KEPT))}.")
    value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}
