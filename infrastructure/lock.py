"""One writer per story and machine: a lock file, released by the operating system when a process dies."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import AsyncFileLock, FileLock, Timeout

from recurrentgpt.schema.errors import StorageError, StoryBusy
from recurrentgpt.schema.story_id import check_story_id


def refuse_writers(folder: Path) -> None:
    """Raise StoryBusy where another process writes any story whose lock lies in `folder`."""
    for path in sorted(folder.glob("*.lock")):
        try:
            with FileLock(path, timeout=0):
                pass
        except Timeout as error:
            raise _busy(path) from error
        except OSError as error:
            raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> StorageError:
    return StorageError(f"Cannot write in {folder} ({error.strerror}): check its permissions.")


_held: set[Path] = set()
"""The locks that this process holds."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)


def _busy(lock: Path) -> StoryBusy:
    if lock in _held:
        return StoryBusy(
            f"Story {lock.stem} is being written by this very program, in a call or an iterator that is still open: let it end, "
            "or close it, and try again."
        )
    return StoryBusy(
        f"Story {lock.stem} is being written by another process: wait until it is done, or close it, and try again."
    )


@asynccontextmanager
async def writing(folder: Path | None, story: str) -> AsyncIterator[None]:
    """Hold the right to write `story`; raise StoryBusy where another process or object holds it.

    With no folder there is no lock: two writers then make siblings in the log, and nothing is lost either.
    """
    if folder is None:
        yield
        return
    check_story_id(story)
    path = folder / f"{story}.lock"
    lock = AsyncFileLock(path, timeout=0, thread_local=False)
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        await lock.acquire()
    except Timeout as error:
        raise _busy(path) from error
    except OSError as error:
        raise _unwritable(folder, error) from error
    _held.add(path)
    try:
        yield
    finally:
        _held.discard(path)
        await lock.release()
