"""What another package adds by entry points works as what this one has."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recurrentgpt.books.book import Book, Chapter
from recurrentgpt.books.readers import import_formats, read_book
from recurrentgpt.books.writers import export_formats, write_book
from recurrentgpt.infrastructure.entry_points import list_entry_points, load_entry_point
from recurrentgpt.library import Library
from recurrentgpt.schema.errors import BookError, ExtensionError
from recurrentgpt.story import Story

ANOTHER_PACKAGE = Path(__file__).parent / "another_package"


@pytest.fixture
def another_package(monkeypatch):
    """Install a package that adds to this one, as pip would: a module and what its distribution declares."""
    monkeypatch.syspath_prepend(ANOTHER_PACKAGE)
    yield
    sys.modules.pop("recurrentgpt_fountain", None)


@pytest.fixture
def book():
    """A book of one line."""
    chapters = [Chapter("", ["Mara woke."])]
    return Book("The Tide", "", "English", "mystery", "", "", datetime(2026, 3, 4, tzinfo=UTC), chapters)


def declare(folder, package, group, name, value, monkeypatch):
    """Install a distribution that declares one entry point."""
    metadata = folder / package / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(folder / package)


def test_nothing_is_added_where_no_package_is_installed():
    assert list_entry_points("recurrentgpt.export_formats") == {}
    with pytest.raises(ExtensionError, match="No package offers 'fountain'"):
        load_entry_point("recurrentgpt.export_formats", "fountain")


def test_a_story_is_exported_and_imported_in_a_format_of_another_package(another_package, tmp_path, model):
    from recurrentgpt.models.embeddings import HashEmbeddings

    with Library.open(tmp_path / "stories") as library:
        story = Story.new("fantasy", library=library, model=model, embeddings=HashEmbeddings())
        text = story.step().text
        path = story.export(tmp_path / "story.fountain")
        assert path.read_text().startswith("Title: ")
        again = read_book(path)
        assert "".join(again.chapters[0].paragraphs) == text.replace("\n\n", "")
        assert library.import_preview(path).words == len(text.split())


async def test_every_list_of_formats_names_those_of_another_package(another_package):
    from recurrentgpt.desk.routes.books import formats

    assert export_formats()[".fountain"] == "fountain, by recurrentgpt-fountain"
    assert next(iter(export_formats())) == ".md"
    assert import_formats()[-1] == ".fountain"
    with pytest.raises(BookError, match=r"\.fountain"):
        read_book(__file__)
    shown = await formats()
    assert {"format": "fountain", "name": "fountain, by recurrentgpt-fountain", "suffix": ".fountain"} in shown[
        "export"
    ]
    assert {"format": "fountain", "name": "fountain"} in shown["import"]


def test_a_package_that_cannot_be_loaded_is_named_and_spoils_nothing_else(tmp_path, monkeypatch, book):
    declare(tmp_path, "broken-format", "recurrentgpt.export_formats", "broken", "no_such_module:render", monkeypatch)
    write_book(book, tmp_path / "book.md")
    with pytest.raises(
        ExtensionError, match=r"broken-format .* cannot be loaded .*no_such_module.* update or remove it"
    ):
        write_book(book, tmp_path / "book.broken")
    assert not (tmp_path / "book.broken").exists()


def test_two_packages_that_claim_one_name_are_named(tmp_path, monkeypatch, book):
    for package in ("first-one", "second-one"):
        declare(tmp_path, package, "recurrentgpt.export_formats", "script", "json:dumps", monkeypatch)
    with pytest.raises(ExtensionError, match="first-one and second-one both offer 'script'"):
        write_book(book, tmp_path / "book.script")


def test_no_package_replaces_what_this_one_writes(tmp_path, monkeypatch, book):
    declare(tmp_path, "another-markdown", "recurrentgpt.export_formats", "md", "json:dumps", monkeypatch)
    assert export_formats()[".md"] == "Markdown"
    assert "Mara woke." in write_book(book, tmp_path / "book.md").read_text()
