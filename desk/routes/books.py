"""Routes of books: a story as a file in every format, and a manuscript that was dropped on the page."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Annotated, cast
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, UploadFile
from fastapi.responses import Response

from recurrentgpt.books.file_names import safe_name
from recurrentgpt.books.readers import import_formats
from recurrentgpt.books.writers import export_formats, file_suffix, find_format
from recurrentgpt.desk.backend.dependencies import DeskDep, OpenedJobsDep
from recurrentgpt.desk.backend.import_progress import as_far_as_read
from recurrentgpt.desk.backend.schemas import ERROR_RESPONSES, JobStarted
from recurrentgpt.desk.backend.story_jobs import StoryJobs
from recurrentgpt.engine.story_export import tell_left_out
from recurrentgpt.schema.errors import BookError, RecurrentGPTError
from recurrentgpt.schema.events import Event

router = APIRouter(tags=["books"], responses=ERROR_RESPONSES)

WHOLE = "json"
"""The format that holds the whole tree, and can be restored."""
_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}


@router.get("/stories/{story}/export", response_class=Response, responses={200: {"content": {"*/*": {}}}})
async def export(jobs: OpenedJobsDep, format: Annotated[str, Query(max_length=100)], quotes: bool = False) -> Response:
    """Return the story as a file to save, in one of the formats that `formats` lists; a book with typographic `quotes` or not."""
    extension = f".{WHOLE}" if format.casefold() == WHOLE else find_format(format)
    async with temporary_folder() as folder:
        path = await jobs.story.aexport(folder / f"story{extension}", quotes=quotes)
        data = await asyncio.to_thread(path.read_bytes)
    view = await jobs.story.abook()
    suffix = extension if extension == f".{WHOLE}" else file_suffix(extension)
    name = quote(f"{safe_name(view.title)}{suffix}", safe="")
    # A story is a file to keep and never a page of the desk.
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(data, media_type=_TYPES.get(suffix, "application/octet-stream"), headers=headers)


@router.get("/formats")
async def formats() -> dict[str, list[dict[str, str]]]:
    """List the formats in which a story can be saved, and those that can be dropped on the page."""
    saved = [
        {"format": extension[1:], "name": name, "suffix": file_suffix(extension)}
        for extension, name in export_formats().items()
    ]
    return {
        "export": [*saved, {"format": WHOLE, "name": "Everything", "suffix": f".{WHOLE}"}],
        "import": [{"format": extension[1:], "name": extension[1:]} for extension in (*import_formats(), f".{WHOLE}")],
    }


@router.post("/imports")
async def preview(desk: DeskDep, file: UploadFile) -> dict[str, str | int]:
    """Return what a manuscript holds and what it would cost, before anything is done with it."""
    library = await desk.library()
    async with temporary_folder() as folder:
        path = await _taken(file, folder)
        with told_by_name(path):
            return (await library.aimport_preview(path)).as_json()


@router.post("/imports/begin")
async def begin(desk: DeskDep, file: UploadFile, fast: Annotated[bool, Form()] = True) -> JobStarted:
    """Make a story of a manuscript, or restore one that was saved whole.

    With `fast` the summaries are taken from the text itself; otherwise a model writes the memory. The same file again goes
    on where an import was stopped.
    """
    library = await desk.library()
    folder = await _made()
    try:
        path = await _taken(file, folder, f".{WHOLE}")
        with told_by_name(path):
            if path.suffix == f".{WHOLE}":
                left_out: dict[str, int] = {}
                restored = await library.arestore(path, on_left_out=left_out.update)
                await _remove(folder)
                return JobStarted(story=restored.id, left_out=tell_left_out(left_out))
            events = cast("AsyncGenerator[Event]", library.aimport_book(path, fast=fast, **desk.given()))
            first = await anext(events)
            assert first["event"] == "story"
    except BaseException:
        await _remove(folder)
        raise
    jobs = await desk.story_jobs(first["story"])
    jobs.check_idle()
    jobs.unfinished_import = jobs.unfinished_import or {"done": 0, "total": 0}
    jobs.start("import", _rest(events, folder, jobs))
    return JobStarted(story=jobs.story.id)


async def _rest(events: AsyncGenerator[Event], folder: Path, jobs: StoryJobs) -> AsyncGenerator[Event]:
    try:
        async with aclosing(events) as source:
            async for event in source:
                if event["event"] == "import":
                    jobs.unfinished_import = {"done": event["done"], "total": event["total"]}
                    jobs.save_soon()
                yield event
        jobs.unfinished_import = None
    finally:
        await _remove(folder)
        if jobs.unfinished_import:
            # Stopped, it may have a passage in the log of which it was not told.
            with suppress(RecurrentGPTError, ValueError):  # what keeps the log from being read, the work itself told
                log = jobs.story.engine.log
                jobs.unfinished_import = await as_far_as_read(log, jobs.story.id, jobs.unfinished_import)
            jobs.save_soon()


@asynccontextmanager
async def temporary_folder() -> AsyncIterator[Path]:
    """Give a folder for a file that comes or goes, and remove it."""
    folder = await _made()
    try:
        yield folder
    finally:
        await _remove(folder)


async def _made() -> Path:
    return Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="recurrentgpt-"))


async def _remove(folder: Path) -> None:
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _taken(file: UploadFile, folder: Path, *more: str) -> Path:
    """Write an uploaded file to `folder` under a safe name, and return where."""
    name = (file.filename or "").replace("\0", "")
    suffix = Path(name).suffix.casefold()
    if suffix not in (known := [*import_formats(), *more]):
        raise BookError(f"A file of this kind cannot be imported; a book can be read from {', '.join(known)}.")
    path = folder / f"{safe_name(Path(name).stem)}{suffix}"
    data = await file.read()
    await asyncio.to_thread(path.write_bytes, data)
    return path


@contextmanager
def told_by_name(path: Path) -> Iterator[None]:
    """Tell of a file by its name: whoever dropped it does not know where it lay for a moment."""
    try:
        yield
    except BookError as error:
        raise BookError(str(error).replace(str(path), path.name)) from error
