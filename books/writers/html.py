"""Render a book as one web page that needs nothing else: no script, no font, no picture, nothing fetched."""

from __future__ import annotations

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import direction, language_tag, one_line
from recurrentgpt.books.writers.html_templates import STYLE, environment

PAGE_STYLE = (
    """\
:root { color-scheme: light dark; --paper: #fdfcf8; --ink: #24211c; --faint: #57524a; }
@media (prefers-color-scheme: dark) { :root { --paper: #171614; --ink: #d9d4c8; --faint: #aaa497; } }
html { background: var(--paper); color: var(--ink); }
body { max-width: 34em; margin: 0 auto; padding: 2em 1.2em 6em; line-height: 1.55; font-size: 1.125rem;
  font-family: "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, serif; overflow-wrap: break-word; }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: .2em; }
nav ol { list-style: none; margin: 2em 0; padding: 0; text-align: center; }
nav li { margin: .4em 0; }
section { margin-top: 6em; }
section h2 { margin: 0 0 2em; font-size: 1.5em; }
"""
    + STYLE
    + """\
@media print {
  @page { margin: 2.2cm 2cm; }
  :root { --paper: #fff; --ink: #000; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  .title-page, nav { break-after: page; }
  section { break-before: page; margin: 0; }
  h2 { break-after: avoid; }
  a { text-decoration: none; }
}
"""
)

_READ = environment.from_string(
    """\
{% extends "page.html" %}
{% block body %}
{% if chapters | length > 1 %}
<nav>
<ol>
{% for heading, _ in chapters %}
<li><a href="#chapter-{{ loop.index }}">{{ heading }}</a></li>
{% endfor %}
</ol>
</nav>
{% endif %}
<main>
{% for heading, chapter in chapters %}
<section id="chapter-{{ loop.index }}">
{% if heading %}
<h2>{{ heading }}</h2>
{% endif %}
{% for paragraph in chapter.paragraphs %}
{{ paragraph | paragraph }}
{% endfor %}
</section>
{% endfor %}
</main>
{% endblock %}
"""
)


def render(book: Book) -> bytes:
    """Return the book as a UTF-8 page whose own policy forbids everything but its own style."""
    chapters = list(zip(book.headings, book.chapters, strict=True))
    return _READ.render(**page_values(book, PAGE_STYLE), chapters=chapters).encode()


def page_values(book: Book, style: str, script: str = "") -> dict[str, object]:
    """Return what "page.html" tells of a book, and the style and the script that alone its policy lets in."""
    tag = language_tag(book.language)
    return {
        "book": book,
        "tag": tag,
        "direction": direction(tag, sample(book)),
        "style": style,
        "script": script,
        "facts": [
            ("author", one_line(book.author)),
            ("description", one_line(book.description)),
            ("keywords", one_line(book.genre)),
            ("dcterms.identifier", book.urn),
            ("dcterms.created", book.moment.isoformat()),
        ],
    }


def sample(book: Book) -> str:
    """Return the start of the book's text, from which the direction of an unknown language shows."""
    return next((text for chapter in book.chapters for text in chapter.paragraphs), book.name)
