"""Render a book as EPUB 3.3: a page a chapter, contents, landmarks, metadata."""

from __future__ import annotations

import io
from typing import Any

from recurrentgpt.books.book import Book
from recurrentgpt.books.file_text import direction, language_tag, one_line
from recurrentgpt.books.writers.html_templates import STYLE, environment
from recurrentgpt.books.writers.zip_file import write_archive

_CONTAINER = """\
<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""

_PACKAGE = environment.from_string(
    """\
<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="{{ tag }}" \
dir="{{ direction }}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{{ book.urn }}</dc:identifier>
<dc:title>{{ book.name }}</dc:title>
<dc:language>{{ tag }}</dc:language>
{% if author %}
<dc:creator id="author">{{ author }}</dc:creator>
<meta refines="#author" property="role" scheme="marc:relators">aut</meta>
{% endif %}
{% if description %}
<dc:description>{{ description }}</dc:description>
{% endif %}
{% if genre %}
<dc:subject>{{ genre }}</dc:subject>
{% endif %}
<dc:date>{{ moment }}</dc:date>
<meta property="dcterms:modified">{{ moment }}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityFeature">readingOrder</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="style" href="style.css" media-type="text/css"/>
<item id="title" href="title.xhtml" media-type="application/xhtml+xml"/>
{% for name in names %}
<item id="{{ name }}" href="{{ name }}.xhtml" media-type="application/xhtml+xml"/>
{% endfor %}
</manifest>
<spine page-progression-direction="{{ direction }}">
<itemref idref="title"/>
<itemref idref="nav"/>
{% for name in names %}
<itemref idref="{{ name }}"/>
{% endfor %}
</spine>
</package>
"""
)

_TITLE = environment.from_string(
    """\
{% extends "page.xhtml" %}
{% block body %}
<section epub:type="titlepage" class="title-page">
<h1>{{ title }}</h1>
{% if author %}
<p class="author">{{ author }}</p>
{% endif %}
{% if description %}
<p class="description">{{ description }}</p>
{% endif %}
</section>
{% endblock %}
"""
)

_NAV = environment.from_string(
    """\
{% extends "page.xhtml" %}
{% block body %}
<nav epub:type="toc" role="doc-toc" id="toc">
<h1>{{ title }}</h1>
<ol>
{% for name, heading in entries %}
<li><a href="{{ name }}.xhtml">{{ heading }}</a></li>
{% endfor %}
</ol>
</nav>
<nav epub:type="landmarks" hidden="hidden">
<ol>
<li><a epub:type="titlepage" href="title.xhtml">{{ title }}</a></li>
<li><a epub:type="toc" href="nav.xhtml">{{ title }}</a></li>
<li><a epub:type="bodymatter" href="{{ entries[0][0] }}.xhtml">{{ entries[0][1] }}</a></li>
</ol>
</nav>
{% endblock %}
"""
)

_CHAPTER = environment.from_string(
    """\
{% extends "page.xhtml" %}
{% block body %}
<section epub:type="chapter" role="doc-chapter">
{% if heading %}
<h1>{{ heading }}</h1>
{% endif %}
{% for paragraph in paragraphs %}
{{ paragraph | paragraph }}
{% endfor %}
</section>
{% endblock %}
"""
)

_STYLE = (
    """\
body { margin: 0; padding: 0 4%; line-height: 1.45; }
h1 { margin: 3em 0 2em; font-size: 1.5em; }
nav ol { list-style: none; margin: 0; padding: 0; text-align: center; }
nav li { margin: .5em 0; }
nav a { color: inherit; text-decoration: none; }
"""
    + STYLE
)


def render(book: Book) -> bytes:
    """Return the book as an EPUB file."""
    tag = language_tag(book.language)
    width = max(3, len(str(len(book.chapters))))
    names = [f"chapter-{number:0{width}}" for number in range(1, len(book.chapters) + 1)]
    common: dict[str, Any] = {
        "tag": tag,
        "direction": direction(tag, next((text for item in book.chapters for text in item.paragraphs), book.name)),
        "author": one_line(book.author),
        "description": one_line(book.description),
    }
    package = _PACKAGE.render(
        **common, book=book, genre=one_line(book.genre), moment=book.moment.strftime("%Y-%m-%dT%H:%M:%SZ"), names=names
    )
    headings = book.headings
    entries = [(name, heading or book.name) for name, heading in zip(names, headings, strict=True)]
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "EPUB/package.opf": package,
        "EPUB/nav.xhtml": _NAV.render(**common, title=book.name, entries=entries),
        "EPUB/title.xhtml": _TITLE.render(**common, title=book.name),
        "EPUB/style.css": _STYLE,
    }
    for (name, title), heading, chapter in zip(entries, headings, book.chapters, strict=True):
        page = _CHAPTER.render(**common, title=title, heading=heading, paragraphs=chapter.paragraphs)
        members[f"EPUB/{name}.xhtml"] = page
    file = io.BytesIO()
    write_archive(file, {name: text.encode() for name, text in members.items()}, book.moment)
    return file.getvalue()
