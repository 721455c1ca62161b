"""Another package: screenplays in Fountain, written and read."""

from recurrentgpt.books.book import Book, Manuscript, ManuscriptChapter


def render(book: Book) -> bytes:
    """Return a book as a screenplay: each chapter a section, each paragraph an action."""
    parts = [f"Title: {book.name}"]
    for heading, chapter in zip(book.headings, book.chapters, strict=True):
        parts += [f"# {heading}", *chapter.paragraphs]
    return "\n\n".join(parts).encode()


def read(data: bytes, name: str) -> Manuscript:
    """Return the manuscript in a screenplay."""
    title, *parts = data.decode().split("\n\n")
    chapters: list[ManuscriptChapter] = []
    for part in parts:
        if part.startswith("# "):
            chapters.append(ManuscriptChapter(part[2:], []))
        else:
            chapters[-1].paragraphs.append(part)
    return Manuscript(title.removeprefix("Title: ") or name, "", "English", chapters)
