"""What web pages and EPUB pages share: templates that escape every value, and how a book looks."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from recurrentgpt.prose.emphasis import emphasised
from recurrentgpt.prose.unwrap import SCENE_BREAK

_LAYOUTS = {
    "page.html": """\
<!DOCTYPE html>
<html lang="{{ tag }}" dir="{{ direction }}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{ style | digest }}'; \
{% if script %}script-src '{{ script | digest }}'; {% endif %}base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{{ book.name }}</title>
{% for name, value in facts if value %}
<meta name="{{ name }}" content="{{ value }}">
{% endfor %}
<style>{{ style | safe }}</style>
</head>
<body>
<header class="title-page">
<h1{% block heading_attributes %}{% endblock %}>{{ book.name }}</h1>
{% for name, value in facts if value and name in ("author", "description") %}
<p class="{{ name }}">{{ value }}</p>
{% endfor %}
</header>
{% block body %}{% endblock %}</body>
</html>
""",
    "page.xhtml": """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="{{ tag }}" \
xml:lang="{{ tag }}" dir="{{ direction }}">
<head>
<title>{{ title }}</title>
<link rel="stylesheet" type="text/css" href="style.css"/>
</head>
<body>
{% block body %}{% endblock %}</body>
</html>
""",
}
"""What pages extend: a web page with its title page, and a page of an EPUB."""

environment = Environment(
    autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=DictLoader(_LAYOUTS)
)


def _paragraph(text: str) -> Markup:
    kind = Markup(' class="break"') if text == SCENE_BREAK else ""
    return Markup("<p{}>{}</p>").format(kind, Markup("<br/>").join(_line(line) for line in text.split("\n")))


def _line(line: str) -> Markup:
    return Markup("").join(
        Markup("<em>{}</em>").format(piece) if marked else escape(piece) for piece, marked in emphasised(line)
    )


def _digest(inline: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()


environment.filters["paragraph"] = _paragraph
environment.filters["digest"] = _digest

STYLE = """\
p { margin: 0; text-indent: 1.4em; text-align: start; hyphens: auto; -webkit-hyphens: auto; orphans: 2; widows: 2; }
h1 + p, h2 + p, section > p:first-child, p.plain, p.break, p.break + p { text-indent: 0; }
p.break { margin: 1em 0; text-align: center; }
h1, h2 { font-weight: normal; line-height: 1.25; text-align: center; hyphens: none; -webkit-hyphens: none; }
.title-page { text-align: center; }
.title-page h1 { margin: 25% 0 1em; font-size: 2em; }
.title-page p { margin: 0 0 2em; text-align: center; text-indent: 0; }
.title-page .description { font-style: italic; }
"""
"""Rules of a printed page. No colour of letters or paper: a reader's night mode must be free to choose both."""
