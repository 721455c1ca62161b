"""A results page as a folder that needs nothing else: reports, novels to read blind, and recordings to replay.

It works from a disk, without a network and without scripts. Novels of one premise stand on one page under letters; who wrote
which is behind a fold at its end.
"""

from __future__ import annotations

import hashlib
import html
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recurrentgpt.schema.errors import StorageError
from recurrentgpt.studies.report.document import Section, Table
from recurrentgpt.studies.report.sections import runs_section
from recurrentgpt.studies.report.write_report import page_of, section_lines, table_line, write_reports
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Plan, recordings_folder
from recurrentgpt.studies.runs.schemas import NovelRecord

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ABOUT = (
    "Each run has a report, its novels to read blind, and the recorded calls that its novels can be made of again without a "
    "model: `recurrentgpt study run PLAN -o FOLDER` with the plan beside them."
)
_OUTDATED = (
    "Prompts have changed since these calls were recorded: those that were not are answered with the next reply of their role "
    "and step, as they were in this run."
)
_SAID = ("verdicts.jsonl", "qualification.jsonl", "adherence.jsonl")
"""What judges said of a run; what people said has their names in it."""


def write_site(folders: Sequence[RunFolder], target: Path, note: Callable[[str], None] = lambda text: None) -> None:
    """Write reports, novels and recordings of one run or several into `target`; its index.html leads to all of them.

    Raises what `write_reports` does.
    """
    named = {folder.path.resolve().name: folder for folder in folders}
    write_reports(folders, target, note, apart=True)
    body = ["<h1>Results</h1>", *section_lines([Section("What is here", [_ABOUT])])]
    try:
        for name, folder in named.items():
            note(f"{name}: novels to read, and recordings")
            body += _run(folder, target / name, name)
        _write_page(target / "index.html", "Results", [*body, *section_lines([runs_section(named)])])
    except OSError as error:
        raise StorageError(f"Cannot write the site into {target} ({error.strerror}): name another folder.") from error


def _run(folder: RunFolder, target: Path, name: str) -> list[str]:
    """Write the novels and recordings of a run, and return what the index says of it."""
    read = _write_novels(folder, target / "read")
    where = quote(name)
    links = [f'<li><a href="{where}/report.html">The report</a>, with its tables and plots</li>']
    for unit, title in read.items():
        links.append(f'<li><a href="{where}/read/{quote(unit)}.html">{html.escape(title)}</a></li>')
    # Prompts may have changed since the calls were recorded that this run was answered from.
    outdated = any(novel["outdated"] for novel in folder.novels())
    calls, said = _write_recordings(folder, target / "recordings", in_order=outdated)
    if calls:
        named = [f'<a href="{where}/recordings/calls/{quote(call)}">{html.escape(call)}</a>' for call in calls]
        links.append(
            f'<li><a href="{where}/recordings/plan.toml">The plan</a> and the calls to replay'
            f"<details><summary>{len(calls)} files</summary>{', '.join(named)}</details></li>"
        )
    if calls and outdated:
        links.append(f"<li>{_OUTDATED}</li>")
    links += [f'<li><a href="{where}/recordings/{name}">{name}</a>, what judges said</li>' for name in said]
    return [f"<h2>{html.escape(name)}</h2>", "<ul>", *links, "</ul>"]


def _write_novels(folder: RunFolder, target: Path) -> dict[str, str]:
    """Write a page for every premise and seed, and return what each is called by the name of its file."""
    units: dict[str, dict[str, NovelRecord]] = defaultdict(dict)
    for (system, unit), novel in folder.compared_novels().items():
        units[unit][system] = novel
    target.mkdir(parents=True, exist_ok=True)
    titles: dict[str, str] = {}
    for unit, novels in units.items():
        some = next(iter(novels.values()))
        titles[unit] = f"Read blind: {some['genre']} {some['number']}, {len(novels)} novels of one premise"
        _write_page(target / f"{unit}.html", titles[unit], _blind(unit, novels))
    return titles


def _blind(unit: str, novels: dict[str, NovelRecord]) -> list[str]:
    """Return the novels of one premise under letters, dealt by chance, and who wrote which behind a fold."""
    dealt = sorted(novels, key=lambda system: hashlib.sha256(f"{unit}/{system}".encode()).hexdigest())
    body = [
        f"<h1>{html.escape(unit)}</h1>",
        f"<p>The premise of all: {html.escape(novels[dealt[0]]['premise'])}</p>",
        "<p>Read before you look who wrote which.</p>",
    ]
    rows: list[list[str]] = []
    for at, system in enumerate(dealt):
        letter, novel = _letter(at), novels[system]
        text = "".join(f"<p>{html.escape(part)}</p>" for part in novel["text"].split("\n\n") if part.strip())
        body.append(f'<details class="novel"><summary>Novel {letter}</summary>{text}</details>')
        rows.append([letter, system, ", ".join(novel["models"]), f"{novel['words']:,}"])
    key = table_line(Table(["novel", "system", "models", "words"], rows))
    return [*body, "<details><summary>Who wrote which</summary>", key, "</details>", _BACK]


def _write_page(path: Path, title: str, body: list[str]) -> None:
    path.write_text(page_of(title, body), encoding="utf-8", errors="replace")


_BACK = '<p><a href="../../index.html">All results</a></p>'


def _letter(at: int) -> str:
    return _LETTERS[at % 26] + (str(at // 26 + 1) if at >= 26 else "")


def _write_recordings(folder: RunFolder, target: Path, *, in_order: bool) -> tuple[list[str], list[str]]:
    """Copy the calls of a run, with a plan that is answered from them, and what judges said; return the names of both."""
    plan = folder.plan
    said = [name for name in _SAID if (folder.path / name).exists()]
    wanted = {f"{novel['id']}.jsonl" for novel in folder.novels()} | {judge.file for judge in plan.judges}
    # A judge of a run that was replayed may have been asked: its calls are the run's own.
    places = [place for place in (recordings_folder(plan), folder.path / "calls") if place]
    found = {path.name: path for place in places for path in place.glob("*.jsonl")}
    kept = sorted(name for name in found if name in wanted or name.startswith("adherence-"))
    if kept or said:
        (target / "calls").mkdir(parents=True, exist_ok=True)
    for name in said:
        shutil.copyfile(folder.path / name, target / name)
    for name in kept:
        shutil.copyfile(found[name], target / "calls" / name)
    if kept:
        _write_plan(plan, target, in_order=in_order)
    return kept, said


def _write_plan(plan: Plan, target: Path, *, in_order: bool) -> None:
    """Write a plan that is answered from the calls beside it, and its premises."""
    # Where judges and writers were asked, and with whose key, is nobody's business who replays them.
    judges = [judge.model_copy(update={"base_url": None, "api_key_env": None}) for judge in plan.judges]
    changes = {
        "replay": "calls",
        "replay_in_order": in_order,
        "premises_file": Path("premises.toml"),
        "rivals": {},
        "base_url": None,
        "judges": judges,
    }
    replayed = plan.model_copy(update=changes).model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    _write_toml(target / "plan.toml", replayed)
    _write_toml(target / "premises.toml", {genre: {"premises": _numbered(plan, genre)} for genre in plan.genres})


def _numbered(plan: Plan, genre: str) -> list[str]:
    """Return the premises of a genre so that each has its number again; those between are of no novel."""
    said = dict(plan.chosen_premises(genre))
    return [said.get(number, "(not of this run)") for number in range(1, max(said) + 1)]


def _write_toml(path: Path, values: Mapping[str, Any]) -> None:
    """Write values with a line for each name."""
    lines = [f"{_toml(name)} = {_toml(value)}\n" for name, value in values.items()]
    path.write_text("".join(lines), encoding="utf-8", errors="replace")


def _toml(value: Any) -> str:
    """Return a value as TOML has it: like JSON, but for tables."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_toml(name)} = {_toml(item)}" for name, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
