"""The desk as a web application: JSON and server-sent events over `Story`, and the page that shows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from recurrentgpt.desk import NEEDS
from recurrentgpt.schema.errors import MissingExtra

try:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import RedirectResponse, Response
    from starlette.exceptions import HTTPException
    from starlette.staticfiles import StaticFiles
except ImportError as error:
    raise MissingExtra(NEEDS) from error

from recurrentgpt.desk.backend.guard import LOCAL, Guard, is_api, refused
from recurrentgpt.desk.backend.service import Desk
from recurrentgpt.desk.backend.settings_form import client_message, page_message
from recurrentgpt.desk.routes import books, chat_completions, codex, editing, reading, settings, writing
from recurrentgpt.library import Library
from recurrentgpt.schema.errors import (
    BAD_USAGE,
    BookError,
    ModelError,
    PromptError,
    RecurrentGPTError,
    StoryBusy,
    StoryError,
    StoryNotFound,
)

STATIC = Path(__file__).parent / "static"
_STATUS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    (StoryNotFound, 404),
    (StoryBusy, 409),
    (StoryError, 409),
    ((*BAD_USAGE, BookError, PromptError), 422),
    (ModelError, 424),
)


def create_app(
    library: Library | None = None,
    *,
    folder: Path | None = None,
    given: Mapping[str, Any] | None = None,
    names: tuple[str, ...] = LOCAL,
    token: str = "",
    mounted: bool = False,
    chat: bool = False,
    origins: tuple[str, ...] = (),
) -> FastAPI:
    """Return the desk over a library (default: the user's own), which is opened at the first request.

    `given` are settings of every story, as code may give them. `names` are the host names that it answers to; a `token`
    is asked from everybody. `mounted` leaves every path but /desk to the host that the app is mounted in.
    `chat` adds the endpoint at /v1 for OpenAI's clients, which a mounted app never has; pages of
    the `origins` may use it.
    """
    desk = Desk(library, folder, given)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await desk.start()
        yield
        await desk.stop()

    # FastAPI's own pages of documentation load scripts from elsewhere.
    app = FastAPI(
        title="The writing desk", lifespan=life, docs_url=None, redoc_url=None, openapi_url="/desk/api/openapi.json"
    )
    app.state.desk = desk
    for routes in (reading, writing, editing, codex, settings, books):
        app.include_router(routes.router, prefix="/desk/api")
    if chat and not mounted:
        app.include_router(chat_completions.router, prefix="/v1")
    app.add_exception_handler(RecurrentGPTError, _failure)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.mount("/desk", StaticFiles(directory=STATIC, html=True, check_dir=False), name="page")
    if not mounted:

        @app.get("/", include_in_schema=False)
        async def page() -> RedirectResponse:
            return RedirectResponse("/desk/")

    app.add_middleware(Guard, names=names, token=token, under="/desk" if mounted else "/", origins=origins)
    return app


async def _failure(request: Request, error: Exception) -> Response:
    assert isinstance(error, RecurrentGPTError)
    status, path = next((status for kind, status in _STATUS if isinstance(error, kind)), 507), request.url.path
    message = client_message(error) if is_api(path) else page_message(error)
    return refused(path, status, message, type(error).__name__)


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0] if error.errors() else {"loc": ("body",), "msg": "it is not JSON"}
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return refused(request.url.path, 422, f"{where[:60]}: {str(first['msg'])[:200]}.")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why, path = f"{error.detail}.", request.url.path
    if is_api(path):
        why = f"{why} Here are GET /v1/models and POST /v1/chat/completions, and nothing else."
    answer = refused(path, error.status_code, why, "invalid_request_error")
    answer.headers.update(error.headers or {})
    return answer
