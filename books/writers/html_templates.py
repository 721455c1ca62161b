"""What web pages and EPUB pages share: templates that escape every value, and how a book looks."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from recurrentgpt.prose.emphasis import emphasised

environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _lines(paragraph: str) -> Markup:
    return Markup("<br/>").join(_line(line) for line in paragraph.split("\n"))


def _line(line: str) -> Markup:
    return Markup("").join(
        Markup("<em>{}</em>").format(piece) if marked else escape(piece) for piece, marked in emphasised(line)
    )


def _digest(inline: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()


environment.filters["lines"] = _lines
environment.filters["digest"] = _digest

STYLE = """\
p { margin: 0; text-indent: 1.4em; text-align: start; hyphens: auto; -webkit-hyphens: auto; orphans: 2; widows: 2; }
h1 + p, h2 + p, section > p:first-child, p.plain { text-indent: 0; }
h1, h2 { font-weight: normal; line-height: 1.25; text-align: center; hyphens: none; -webkit-hyphens: none; }
.title-page { text-align: center; }
.title-page h1 { margin: 25% 0 1em; font-size: 2em; }
.title-page p { margin: 0 0 2em; text-align: center; text-indent: 0; }
.title-page .description { font-style: italic; }
"""
"""Rules of a printed page. No colour of letters or paper: a reader's night mode must be free to choose both."""
