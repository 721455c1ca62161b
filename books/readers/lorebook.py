"""Read a lorebook as changes of a codex: SillyTavern's World Info, NovelAI's lorebook, a character card's book, all JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recurrentgpt.books.readers.lorebook_kinds import Judged, kind_of
from recurrentgpt.prose.model_text import model_text
from recurrentgpt.prose.sentences import count_words, ends_a_sentence, limit_words, sentences
from recurrentgpt.schema.codex import Change, Kind
from recurrentgpt.schema.errors import BookError

MOST_BYTES = 5_000_000
MOST_ENTRIES, MOST_LINES, MOST_LINE_WORDS, MOST_NAME_WORDS = 400, 40, 36, 8
MOST_NAMED = 5
"""Entries that are named of which something was left out."""

_PATTERN = re.compile(r"/(?:\\b)?(?P<open>\((?:\?:)?)?(?P<words>[\w '’|-]+)(?(open)\))(?:\\b)?/[a-z]*")
"""A pattern of SillyTavern's that only lists words."""
_MACRO = re.compile(r"\{\{\s*(\w+)[^{}]*\}\}")
_ORDER = re.compile(r"^@@.*$", re.MULTILINE)
"""A line of a card that tells the program what to do with the entry."""

_QUOTED = r"[\"“”„][^\"“”]*[\"“”]"
_VALUES = re.compile(rf"(?P<of>[^\W\d_][\w '’/-]{{0,40}})\(\s*(?P<values>{_QUOTED}(?:\s*\+\s*{_QUOTED})*)\s*\)")
"""An attribute of W++: `Hair("red" + "cropped")`."""
_BARE_VALUES = re.compile(r"^[\[{ ]*(?P<of>[^\W\d_][\w '’/-]{0,40})\((?P<values>[^()\"“”\n]+)\)[\]} ]*$", re.MULTILINE)
"""The same without quotation marks, on a line of its own."""
_OF = r"[^\W\d_][\w'’/&-]*(?: [\w'’/&-]+){0,3}"
_ATTRIBUTE = re.compile(rf"(?P<of>{_OF})\s*[:=：](?!//)\s*(?P<value>\S.*)")
"""An attribute in a line of its own: `Ruler: the Tallow Queen`."""
_NEXT_ATTRIBUTE = re.compile(rf"\s*[;,|；]\s*(?={_OF}\s*(?:[:=]\s|：))")
_MARK = re.compile(r"^(?:[-*•–—+>#~]+|\d{1,2}[.)])\s+")
"""What a line of a list begins with."""
_BREAK = re.compile(r"(?<=[;,:—–])\s+|(?<=[；，、：])")
"""Where a sentence may be parted that is too long for a line."""
WRAPPED = 50
"""Letters of a line behind which one that begins small goes on with it: whoever wraps lines does not do so before."""
_TAG = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})\s*")
_TITLE_PARTS = re.compile(r"\s*[:|]\s+|\s+[-–—/]\s+")

_LEFT_OUT = {
    "off": ("entry that is switched off", "entries that are switched off"),
    "empty": ("entry without a name or a text", "entries without a name or a text"),
    "sentences": (
        f"sentence beyond {MOST_LINES} lines of an entry",
        f"sentences beyond {MOST_LINES} lines of an entry",
    ),
    "ends": (
        f"end of a sentence of more than {MOST_LINE_WORDS} words",
        f"ends of sentences of more than {MOST_LINE_WORDS} words",
    ),
    "macros": (
        "sentence with a place for what the story has none of",
        "sentences with places for what the story has none of",
    ),
    "patterns": ("key that is a pattern", "keys that are patterns"),
    "conditions": (
        "secondary key, a condition for the others",
        "secondary keys, which are conditions for the others",
    ),
    "orders": ("line that tells a program what to do", "lines that tell a program what to do"),
}

_CARD = {
    "description": "description",
    "personality": "personality",
    "scenario": "scenario",
    "first_mes": "first message",
    "mes_example": "examples of messages",
    "alternate_greetings": "other greetings",
    "group_only_greetings": "greetings of groups",
    "system_prompt": "system prompt",
    "post_history_instructions": "last instructions",
    "creator_notes": "notes of its creator",
}
"""What a character card has beside its book, by its field."""


def tell_left_out(left_out: Mapping[str, Sequence[str]]) -> str:
    """Return what of a lorebook did not come in, by kind and with the entries, and what was guessed; empty for nothing."""
    parts = [
        f"{len(whose):,} {forms[len(whose) != 1]}{_in_entries(whose)}"
        for kind, forms in _LEFT_OUT.items()
        if (whose := left_out.get(kind))
    ]
    if card := [name for field, name in _CARD.items() if left_out.get(field)]:
        parts.append(f"of the card all but its book: {', '.join(card)}")
    told = [f"Left out: {'; '.join(parts)}."] if parts else []
    if guessed := left_out.get("guessed"):
        told.append(f"Taken for things, since nothing says what they are: {_listed(guessed)}.")
    return " ".join(told)


def _in_entries(whose: Sequence[str]) -> str:
    return f" ({listed})" if (listed := _listed(whose)) else ""


def _listed(whose: Sequence[str]) -> str:
    names = [name for name in dict.fromkeys(whose) if name]
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def read_lorebook(
    path: Path, names: Mapping[str, str] | None = None, known: Callable[[str], Kind | None] = lambda name: None
) -> tuple[list[Change], dict[str, list[str]]]:
    """Return the entries of a lorebook that are switched on, and what was left out; raise BookError for no lorebook.

    What was left out is told by kind, with the entry's name for each time.

    Of an entry's text 40 lines are kept, and what is always on is pinned. Keys match in whatever letters, as whole words, unless
    the entry asks for theirs. `names` has who stands in the place of `char` and `user`, in a card's book `char` is the card's: a
    sentence with a place for whom there is no name for is left out. Secondary keys without a condition are keys. `known` says
    what a name is that the story has already. Entries of which nothing says what they are, are things, and told as `guessed`.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BookError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB, too large for a lorebook.")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BookError(f"{path} is no JSON in UTF-8: export the lorebook again.") from error
    of_card = Counter[str]()
    content, names = _book(path, content, names or {}, of_card)
    rows = content.get("entries")
    rows = list(rows.values()) if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BookError(f"{path} is no lorebook of SillyTavern or NovelAI, and no character card: it has no entries.")
    if len(rows) > MOST_ENTRIES:
        raise BookError(f"{path} has {len(rows):,} entries; at most {MOST_ENTRIES} fit: split it.")
    given = content.get("categories")
    categories = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    unused = [one["id"] for one in categories if one.get("enabled") is False and isinstance(one.get("id"), str)]
    on = [
        row for row in rows if not (row.get("disable") or row.get("enabled") is False or row.get("category") in unused)
    ]
    of_rows = [Counter[str]() for _ in on]
    keys = [_keys(row, names, own) for row, own in zip(on, of_rows, strict=True)]
    titles = _titles(on, keys, names)
    called = {
        one["id"]: one["name"]
        for one in categories
        if isinstance(one.get("id"), str) and isinstance(one.get("name"), str)
    }
    judges = [
        partial(kind_of, remarks=_remarks(row, title), groups=_groups(row, called), known=known)
        for row, title in zip(on, titles, strict=True)
    ]
    changes = [
        change
        for row, title, own, left, judge in zip(on, titles, keys, of_rows, judges, strict=True)
        for change in _entry(row, title, own, names, left, judge)
    ]
    if not changes:
        raise BookError(f"{path} has no entry with a name and a text.")
    off = [row for row in rows if row not in on]
    left_out = {
        "off": _titles(off, [_keys(row, names, Counter()) for row in off], names),
        **{kind: [""] for kind in of_card},
    }
    for title, left in zip(titles, of_rows, strict=True):
        for kind, count in left.items():
            left_out.setdefault(kind, []).extend([title] * count)
    return changes, {kind: whose for kind, whose in left_out.items() if whose}


def _book(
    path: Path, content: object, names: Mapping[str, str], left_out: Counter[str]
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Return what has the entries, and who is meant in it; of a character card that is its book."""
    if not isinstance(content, dict):
        return {}, names
    card = content["data"] if isinstance(content.get("data"), dict) else content
    if "entries" in content or "entries" in card:
        return (content if "entries" in content else card), names
    if (
        "character_book" not in card
        and "first_mes" not in card
        and not str(content.get("spec", "")).startswith("chara")
    ):
        return {}, names
    if not isinstance(book := card.get("character_book"), dict) or not book.get("entries"):
        raise BookError(
            f"{path} is a character card without a lorebook: say what it tells with `recurrentgpt codex STORY NAME --add person "
            "--fact TEXT`."
        )
    left_out.update(field for field in _CARD if card.get(field))
    who = _line(card["name"]) if isinstance(card.get("name"), str) else ""
    return book, {**names, "char": who} if who else names


def _said_titles(row: Mapping[str, Any]) -> list[str]:
    named = (row.get(field) for field in ("displayName", "comment", "name"))
    return [text for text in named if isinstance(text, str) and text.strip()]


def _titles(rows: Sequence[Mapping[str, Any]], keys: Sequence[list[str]], names: Mapping[str, str]) -> list[str]:
    """Return what each entry is called: `Maelis (W++)` and `NPC: Maelis` is Maelis, where no other entry is."""
    whole: list[str] = []
    for row, own in zip(rows, keys, strict=True):
        titles = [_line(_with_names(text, names)) for text in _said_titles(row)]
        whole.append(next((title for title in titles if title), own[0] if own else ""))
    bare = [_bare(title, own) for title, own in zip(whole, keys, strict=True)]
    often = Counter(map(str.casefold, bare))
    return [short if often[short.casefold()] == 1 else title for title, short in zip(whole, bare, strict=True)]


def _bare(title: str, keys: Sequence[str]) -> str:
    """Return a title without what stands beside the name in it: in brackets, or before or behind a key of the entry."""
    title = _TAG.sub(" ", title).strip(" -–—:|") or title
    known = {key.casefold() for key in keys}
    named = [part for part in _TITLE_PARTS.split(title) if part.casefold() in known]
    return named[0] if len(named) == 1 else title


def _remarks(row: Mapping[str, Any], name: str) -> list[str]:
    """Return what stands in the title of an entry beside its name: `(item)`, `NPC -`."""
    title = next(iter(_said_titles(row)), "")
    parts = [*_TAG.findall(title), *_TITLE_PARTS.split(_TAG.sub(" ", title))]
    remarks = [part.strip(" -–—:|()[]{}") for part in parts]
    return [remark for remark in remarks if remark and not name.casefold().startswith(remark.casefold())]


def _groups(row: Mapping[str, Any], categories: Mapping[str, str]) -> list[str]:
    """Return what an entry is put in: SillyTavern's groups, NovelAI's category by its name."""
    category = row.get("category")
    given = [row.get("group"), categories.get(category) if isinstance(category, str) else None]
    return [text for text in given if isinstance(text, str) and text.strip()]


def _entry(
    row: Mapping[str, Any],
    name: str,
    keys: Sequence[str],
    names: Mapping[str, str],
    left_out: Counter[str],
    judge: Callable[[str, str], Judged],
) -> list[Change]:
    text = next((row[field] for field in ("content", "text") if isinstance(row.get(field), str)), "")
    text = model_text("".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text))
    left_out["orders"] += len(_ORDER.findall(text))
    text = _ORDER.sub("", text)
    lines = _lines(text, name, names, left_out)
    if not name or not lines:
        left_out["empty"] += 1
        return []
    kind, is_told = judge(name, _MACRO.sub(lambda match: names.get(match[1].casefold(), "Somebody"), text))
    left_out["guessed"] += not is_told
    about = Change(entry=name, kind=kind, do="set")
    found: list[Change] = [{**about, "aspect": "fact", "text": line} for line in lines]
    found += [{**about, "do": "key", "value": key} for key in _as_matched(row, name, keys) if key != name]
    return [*found, {**about, "do": "pin"}] if row.get("constant") or row.get("forceActivation") else found


def _as_matched(row: Mapping[str, Any], name: str, keys: Sequence[str]) -> list[str]:
    """Return the keys of an entry as the codex looks for them: in whatever letters those that are written small."""
    if row.get("caseSensitive") or row.get("case_sensitive"):
        return list(dict.fromkeys(keys))
    small = [key.lower() for key in keys]
    # Whoever looks for a dragon means the dragons, too.
    form = [name.lower()] if any(name.lower().startswith(key) for key in small) else []
    return list(dict.fromkeys([*small, *form]))


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _line(text: str) -> str:
    text = model_text("".join(letter if letter.isprintable() else " " for letter in text))
    return limit_words(" ".join(text.split()), MOST_NAME_WORDS)


def _keys(row: Mapping[str, Any], names: Mapping[str, str], left_out: Counter[str]) -> list[str]:
    """Return the words that bring an entry to the writer, its secondary ones where no condition is made of them."""
    given = [*_texts(row.get("key")), *_texts(row.get("keys"))]
    secondary = [key for key in (*_texts(row.get("keysecondary")), *_texts(row.get("secondary_keys"))) if key.strip()]
    if row.get("selective") and given:
        left_out["conditions"] += len(secondary)
    else:
        given += secondary
    if row.get("use_regex"):
        given = [key if key.strip().startswith("/") else f"/{key.strip()}/" for key in given]
    found: list[str] = []
    for key in given:
        words = _PATTERN.fullmatch(key.strip())
        # With NovelAI, both words of "fog & harbour" have to be there.
        if (key.strip().startswith("/") and words is None) or ("text" in row and " & " in key):
            left_out["patterns"] += 1
            continue
        found += [_line(_with_names(part, names)) for part in (words["words"].split("|") if words else [key])]
    return [key for key in dict.fromkeys(found) if key]


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names in the places for them; empty where one has none."""
    found = [names.get(match[1].casefold(), "") for match in _MACRO.finditer(text)]
    return _MACRO.sub(lambda match: names[match[1].casefold()], text) if all(found) else ""


def _lines(text: str, name: str, names: Mapping[str, str], left_out: Counter[str]) -> list[str]:
    """Return a text as lines of whole sentences and whole attributes, these behind the name of the entry."""
    lines: list[str] = []
    beyond, was_attribute = 0, False
    for given, is_attribute in _parts(text, name):
        named = _with_names(given, names)
        if not named:
            left_out["macros"] += 1
            continue
        for piece in _in_words(named, name, left_out, is_attribute=is_attribute):
            own = count_words(piece) - is_attribute * count_words(name)
            if lines and is_attribute == was_attribute and count_words(lines[-1]) + own <= MOST_LINE_WORDS:
                lines[-1] = (
                    f"{lines[-1][:-1]}; {piece.removeprefix(f'{name}: ')}." if is_attribute else f"{lines[-1]} {piece}"
                )
            elif len(lines) == MOST_LINES:
                beyond += 1
            else:
                lines.append(f"{piece}." if is_attribute else piece)
                was_attribute = is_attribute
    left_out["sentences"] += beyond
    return lines


def _in_words(text: str, name: str, left_out: Counter[str], *, is_attribute: bool) -> list[str]:
    """Return a sentence or an attribute in as many pieces as fit in lines, those of one behind the name of the entry.

    It is parted where it pauses, and cut where it does not.
    """
    head = f"{name}: "
    whole = f"{head}{text.rstrip(' .。')}" if is_attribute else text
    if count_words(whole) <= MOST_LINE_WORDS:
        return [whole]
    if is_attribute and (attribute := _ATTRIBUTE.fullmatch(text)):
        head, text = f"{head}{attribute['of']}: ", attribute["value"]
    found, room = list[str](), MOST_LINE_WORDS - count_words(head)
    for part in (part for sentence in sentences(text) for part in _BREAK.split(sentence)):
        if found and count_words(found[-1]) + count_words(part) <= room:
            found[-1] += f" {part}"
            continue
        left_out["ends"] += count_words(part) > room
        found.append(limit_words(part, room))
    if is_attribute:
        return [f"{head}{part.rstrip(' .。;,')}" for part in found]
    return [part if not number else f"{head}{part}" for number, part in enumerate(found)]


def _parts(text: str, name: str) -> list[tuple[str, bool]]:
    """Return the sentences and attributes of a text in their order, and of each whether it is an attribute.

    Attributes are those of W++ (`Age("34")`), and those in lines or brackets: `Type: city; Ruler: the Tallow Queen`.
    """
    text = _BARE_VALUES.sub(_as_attribute, _VALUES.sub(_as_attribute, text))
    found: list[tuple[str, bool]] = []
    prose: list[str] = []
    lines = _unwrapped(text)
    read = [[part for part in map(_bare_text, _NEXT_ATTRIBUTE.split(_bare_text(line))) if part] for line in lines]
    of_lines = [[_ATTRIBUTE.fullmatch(part) for part in parts] for parts in read]
    is_sheet = sum(bool(attributes) and all(attributes) for attributes in of_lines) > 1
    for line, attributes in zip(lines, of_lines, strict=True):
        # "He said: go." is a sentence, where it is the only one of its kind.
        is_told = is_sheet or len(attributes) > 1 or not ends_a_sentence(line) or line[0] == "["
        if attributes and all(attributes) and is_told:
            found += [(sentence, False) for sentence in _prose(prose, name)]
            prose = []
            # Of an attribute that is called as the entry is, the name stands before the line.
            found += [
                (match["value"] if match["of"].casefold() == name.casefold() else match[0], True)
                for match in attributes
                if match
            ]
        else:
            prose.append(line)
    return [*found, *((sentence, False) for sentence in _prose(prose, name))]


def _bare_text(line: str) -> str:
    """Return a line without the brackets around it; two braces are a place for a name."""
    line = line.strip(" ;[]")
    line = line if line.startswith("{{") else line.lstrip(" ;[{")
    return line if line.endswith("}}") else line.rstrip(" ;]}")


def _as_attribute(match: re.Match[str]) -> str:
    values = [value.strip(' "“”„') for value in match["values"].split("+")]
    return f"\n{match['of'].strip()}: {', '.join(value for value in values if value)}\n"


def _unwrapped(text: str) -> list[str]:
    """Return the lines of a text without marks of lists, those that go on with one another together."""
    lines: list[str] = []
    last = ""
    for given in text.splitlines():
        line = " ".join(given.replace("**", "").replace("__", "").split())
        goes_on = len(last) >= WRAPPED and not ends_a_sentence(last) and line[:1].islower()
        if goes_on and not _ATTRIBUTE.fullmatch(line):
            lines[-1] += f" {line}"
        elif line := _MARK.sub("", line, count=1):
            lines.append(line)
        last = line
    return lines


def _prose(lines: Sequence[str], name: str) -> list[str]:
    """Return the sentences of lines, each line ended as one; a heading that is the name of the entry says nothing."""
    found: list[str] = []
    for line in lines:
        bare = _bare_text(line)
        if not count_words(bare) or bare.strip(" :.*_#").casefold() == name.casefold():
            continue
        found += sentences(bare if ends_a_sentence(bare) or bare[-1] in ":;,…" else f"{bare}.")
    return found
