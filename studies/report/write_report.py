"""Write a report: report.html, report.md, tables.tex, the plots, and every figure as JSONL and CSV beside them."""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recurrentgpt.schema.errors import StorageError
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.measures.long_range import Evidence, evidence
from recurrentgpt.studies.report import plots, preferences, sections
from recurrentgpt.studies.report.deviations import deviation_section
from recurrentgpt.studies.report.document import Picture, Section, Table
from recurrentgpt.studies.report.figures import Result, agreements, measured_rows, results, win_rates
from recurrentgpt.studies.runs.folder import OWN, RunFolder
from recurrentgpt.studies.runs.schemas import NovelRecord

_CODE = re.compile(r"`([^`\n]+)`")
_FIGURE = re.compile(r"[-+.]?\d[\d,.]*(?: %)?(?: \(.*\))?$")
_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;overflow-wrap:break-word}"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto;overflow-wrap:normal}"
    "td,th{border:1px solid #bbb;padding:.2rem .6rem;text-align:left}"
    "td.figure{text-align:right}img{max-width:100%}summary{cursor:pointer;padding:.5rem 0}"
    ".novel{max-width:42rem;font-family:Georgia,serif;border-bottom:1px solid #bbb}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
"""What a page may load: nothing of anywhere else, and no script."""


def write_report(folder: RunFolder, target: Path, note: Callable[[str], None] = lambda text: None) -> list[Path]:
    """Write the report of a run into `target` and return its files.

    Raises StudyError where nothing is finished, and for a target that holds the files of a run.
    """
    novels = folder.novels()
    stopped = folder.stopped_novels()
    if not novels and not stopped:
        raise StudyError(f"No novel of {folder.path} is finished: run its plan first.")
    try:
        where = target.resolve()
        own = [where, *(place for place in where.parents if where.relative_to(place).parts[0] in OWN)]
        if any((place / "manifest.json").exists() for place in own):
            raise StudyError(
                f"{target} holds the files of a run, and a report would take their place: name another folder, for example "
                f"{folder.path / 'report'}."
            )
        target.mkdir(parents=True, exist_ok=True)
        return _write(folder, target, [*novels, *stopped], note)
    except OSError as error:
        raise StorageError(f"Cannot write the report into {target} ({error.strerror}): name another folder.") from error


def write_reports(
    folders: Sequence[RunFolder], target: Path, note: Callable[[str], None] = lambda text: None, *, apart: bool = False
) -> None:
    """Write the report of one run into `target`; of several runs each into a folder of its own there, and all side by side.

    With `apart` one run is treated as several are. Raises what `write_report` does, and StudyError for two runs whose folders
    have one name.
    """
    if len(folders) == 1 and not apart:
        write_report(folders[0], target, note)
        return
    names = [folder.path.resolve().name for folder in folders]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise StudyError(f"Two runs are called {twice}: give one folder another name.")
    for name, folder in zip(names, folders, strict=True):
        write_report(folder, target / name, lambda text, name=name: note(f"{name}: {text}"))  # type: ignore[misc]
    parts = [sections.runs_section(dict(zip(names, folders, strict=True)))]
    for name, folder in zip(names, folders, strict=True):
        compared = results(folder)
        for source in ("judges", "people"):
            if any(one.source == source for one in compared):
                part = preferences.table_section(folder.plan, compared, source)
                parts.append(Section(f"{name}. {part.heading}", [_within(name, shown) for shown in part.parts]))
    _pages("Studies side by side", target, parts)


def _within(folder: str, part: str | Table | Picture) -> str | Table | Picture:
    """Return a part of a report for a page above the report's own folder."""
    if isinstance(part, Table):
        return replace(part, caption=f"{folder}: {part.caption}")
    return replace(part, file=f"{folder}/{part.file}") if isinstance(part, Picture) else part


def _pages(title: str, target: Path, parts: list[Section]) -> None:
    for name, text in (("report.md", markdown), ("report.html", page), ("tables.tex", latex)):
        (target / name).write_text(text(title, parts), encoding="utf-8", errors="replace")


def _write(folder: RunFolder, target: Path, novels: list[NovelRecord], note: Callable[[str], None]) -> list[Path]:
    note(f"measuring {len(novels)} novels")
    rows, compared, recall = measured_rows(folder), results(folder), folder.rows("recall.jsonl")
    accused = [
        {"novel": novel["id"], "system": novel["system"], **asdict(one)} for novel in novels for one in evidence(novel)
    ]
    parts = [
        sections.cost_section(folder, rows),
        sections.excerpts_section(folder),
        sections.measure_section(folder, rows),
    ]
    if recall:
        parts.append(sections.recall_section(recall, systems=folder.plan.systems))
    if adhered := sections.adherence_section(folder):
        parts.append(adhered)
    if compared:
        parts += [preferences.table_section(folder.plan, compared, source) for source in ("judges", "people")]
    else:
        parts.append(preferences.nobody_section(folder.plan))
    if matrix := preferences.matrix_section(folder):
        parts.append(matrix)
    parts += [sections.judge_section(folder), sections.run_section(folder), deviation_section(folder.plan)]
    if not compared and (printed := preferences.paper_section(folder.plan)):
        parts.append(printed)
    note("drawing")
    plots.prompts([novel for novel in novels if not novel["outdated"]], target / "prompts.png")
    plots.repeats(novels, target / "repetition.png")
    for level in sections.drawn_levels(recall):
        plots.recall(recall, level, target / f"recall-{level}.png")
    for source in ("judges", "people"):
        if mine := preferences.of_first(folder.plan, compared, source):
            plots.preferences(mine, target / f"preferences-{source}.png")
        for criterion, shares in win_rates(folder, source).items():
            known = preferences.compared_systems(folder.plan, shares)
            plots.wins(shares, known, target / preferences.wins_picture(folder.plan, source, criterion))
    _pages(f"Study {folder.plan.name}", target, parts)
    _rows(target / "measures", rows)
    _rows(target / "contradictions", accused, ["novel", "system", *(field.name for field in fields(Evidence))])
    _rows(
        target / "comparisons",
        [_flat(result) for result in compared],
        ["source", "genre", "criterion", "first", "second"],
    )
    _rows(target / "agreement", agreements(folder), ["criterion", "among", "raters"])
    levels = [row for found in recall for row in _levels(found)]
    _rows(target / "recall", levels, ["system", "level", "distance", "there", "tries"])
    return sorted(target.iterdir())


def markdown(title: str, sections: list[Section]) -> str:
    """Return the report as Markdown."""
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.heading}", ""]
        for part in section.parts:
            match part:
                case Table():
                    lines += _markdown_table(part)
                case Picture(file, caption):
                    lines.append(f"![{caption}]({file})")
                case _:
                    lines.append(part)
            lines.append("")
    return "\n".join(lines)


def page(title: str, sections: list[Section]) -> str:
    """Return the report as one HTML page; whatever came from a plan or a model is escaped."""
    return page_of(title, [f"<h1>{html.escape(title)}</h1>", *section_lines(sections)])


def page_of(title: str, body: list[str]) -> str:
    """Return an HTML page that loads nothing of anywhere else; `body` is HTML already."""
    head = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><meta name="referrer" content="no-referrer">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
    )
    return "\n".join([head, *body, "</html>\n"])


def section_lines(sections: list[Section]) -> list[str]:
    """Return sections as lines of HTML, everything escaped."""
    body: list[str] = []
    for section in sections:
        body.append(f"<h2>{html.escape(section.heading)}</h2>")
        for part in section.parts:
            match part:
                case Table():
                    body.append(table_line(part))
                case Picture(file, caption):
                    said = html.escape(caption, quote=True)
                    shown = f'<img src="{html.escape(quote(file), quote=True)}" alt="{said}">'
                    body.append(f"<figure>{shown}<figcaption>{said}</figcaption></figure>")
                case _:
                    body.append(f"<p>{with_code(part)}</p>")
    return body


def latex(title: str, sections: list[Section]) -> str:
    """Return the tables of the report for a LaTeX document, which needs no package for them.

    Columns of text are as wide as the page has room for, and tables of such columns are divided into several of a page each.
    Other tables that are too wide are divided by columns, of which the first stands in each part.
    """
    lines, labels = [f"% {' '.join(title.split())}"], Counter[str]()
    for section in sections:
        for table in section.tables:
            label = _label(table.caption or section.heading)
            labels[label] += 1
            label += f"-{labels[label]}" if labels[label] > 1 else ""
            for number, (size, shown) in enumerate(_tex_parts(table), start=1):
                part = f", part {number}" if number > 1 else ""
                lines += [
                    rf"\begin{{table}}[htbp]\centering{size.command}",
                    rf"\caption{{{_tex(table.caption or section.heading)}{part}}}",
                    *([rf"\label{{tab:{label}}}"] if number == 1 else []),
                    rf"\begin{{tabular}}{{{_columns(shown)}}}\hline",
                    rf"{_tex_row(shown.headings)}\hline",
                    *map(_tex_row, shown.rows),
                    r"\hline\end{tabular}",
                    r"\end{table}",
                    "",
                ]
    return "\n".join(lines)


@dataclass(frozen=True)
class _TexSize:
    """A size of letters, and how wide they are, in points."""

    command: str
    letter: float
    between: float
    """Two columns are so far from each other."""

    def columns(self, widths: Sequence[int]) -> int:
        """Return how many of these columns, whose widths are in letters, a page has room for: at least two."""
        wide = list(accumulate(self.letter * width + self.between for width in widths))
        return max(2, sum(reached <= _TEX_PAGE for reached in wide))


_TEX_PAGE = 345
"""Points of a line of LaTeX's article on A4 and letter paper; others have more."""
_TEX_SIZES = (_TexSize(r"\small", 4.8, 12), _TexSize(r"\scriptsize\setlength{\tabcolsep}{3pt}", 3.9, 6))
_TEX_TEXT, _TEX_ROWS = 40, 8
"""Characters from which a cell is text, which is broken into lines, and rows of a table of such cells on one page."""


def _label(caption: str) -> str:
    """Return what a table is referred to by: letters that LaTeX takes there."""
    return "-".join(re.findall(r"[a-z0-9]+", caption.lower())) or "table"


def _columns(table: Table) -> str:
    """Return the columns of a table as LaTeX has them: text shares the width of the page by its length."""
    longest = _widths(table)
    texts = [length for length in longest if length > _TEX_TEXT]
    room = max(0.4, 0.9 - 0.012 * (sum(longest) - sum(texts)))
    return "".join(
        rf"p{{{room * length**0.5 / sum(text**0.5 for text in texts):.2f}\linewidth}}"
        if length > _TEX_TEXT
        else "r"
        if at
        else "l"
        for at, length in enumerate(longest)
    )


def _tex_parts(table: Table) -> list[tuple[_TexSize, Table]]:
    """Return a table in parts that fit on a page each, with the size that it is set in."""
    widths = _widths(table)
    wide = [min(width, _TEX_TEXT) for width in widths]
    size = next((size for size in _TEX_SIZES if size.columns(wide) >= len(wide)), _TEX_SIZES[-1])
    parts, at = list[Table](), 1
    while at < len(wide) or not parts:
        until = at - 1 + size.columns([wide[0], *wide[at:]])
        rows = [[row[0], *row[at:until]] for row in table.rows]
        parts.append(Table([table.headings[0], *table.headings[at:until]], rows, table.caption))
        at = until
    per = _TEX_ROWS if max(widths) > _TEX_TEXT else max(1, len(table.rows))
    return [
        (size, Table(part.headings, part.rows[first : first + per], part.caption))
        for part in parts
        for first in range(0, max(1, len(part.rows)), per)
    ]


def _widths(table: Table) -> list[int]:
    """Return the letters of the longest cell of each column."""
    return [max(map(len, cells)) for cells in zip(table.headings, *table.rows, strict=True)]


def _tex_row(cells: list[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}


def _tex(text: str) -> str:
    """Return text as LaTeX shows it."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _markdown_table(table: Table) -> list[str]:
    def row(cells: list[str]) -> str:
        return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"

    return [row(table.headings), "|" + " --- |" * len(table.headings), *map(row, table.rows)]


def with_code(text: str) -> str:
    """Return text as HTML, with what stands between backticks as code, as Markdown shows it."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text))


def table_line(table: Table) -> str:
    """Return a table as HTML."""

    def cell(text: str) -> str:
        return f"<td{' class=figure' * bool(_FIGURE.match(text))}>{html.escape(text)}</td>"

    headings = "".join(f"<th>{html.escape(heading)}</th>" for heading in table.headings)
    rows = ("".join(map(cell, cells)) for cells in table.rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in (headings, *rows)) + "</table>"


def _flat(result: Result) -> dict[str, Any]:
    found = asdict(result)
    sides = ("words", "off", "failed")
    pairs = {f"{name}_{side}": found[name][at] for name in sides for at, side in enumerate(("first", "second"))}
    alone = {name: value for name, value in found.items() if name not in ("found", *sides)}
    return {**alone, **found["found"], **pairs}


def _levels(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"system": found["system"], "level": level, "distance": int(way), "there": there, "tries": tries}
        for level in sections.LEVELS
        for way, (there, tries) in found[level].items()
    ]


def _rows(path: Path, rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> None:
    """Write rows as JSONL and CSV, which begins with `columns`, also where there are no rows."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.with_suffix(".jsonl").write_text(lines, encoding="utf-8")
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys([*columns, *(name for row in rows for name in row)])))
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    """Return a value that a spreadsheet takes for text where it is text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
