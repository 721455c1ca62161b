"""Render a book as one web page to play: at each place the choices that were written, with nothing fetched.

Without scripts it is the branch to read. With them the page shows the passages up to one place, which its address keeps
after the `#`, and what was written to follow it.
"""

from __future__ import annotations

import itertools
from collections import Counter

from recurrentgpt.books.book import Book, BranchPassage
from recurrentgpt.books.file_text import clean, one_line, paragraphs
from recurrentgpt.books.writers.html import PAGE_STYLE, page_values
from recurrentgpt.books.writers.html_templates import environment
from recurrentgpt.prose.sentences import limit_words

BEGINNING = 12
"""Words of a passage that stand for its choice, where no plan says what it is."""

_STYLE = (
    PAGE_STYLE
    + """\
article { scroll-margin-top: 1.5em; }
h1:focus, article:focus { outline: none; }
article:first-of-type > p:first-child { text-indent: 0; }
article > h2 { margin: 4em 0 2em; font-size: 1.5em; }
main.played > article + article { margin-top: 1.6em; }
#next { margin-top: 3em; border-top: 1px solid var(--faint); padding-top: 1.4em; }
#next[hidden], #next [hidden] { display: none; }
#next h2 { margin: 0 0 1em; font-size: 1.15em; }
#next ul { list-style: none; margin: 0; padding: 0; }
#next a { display: block; box-sizing: border-box; min-height: 2.75rem; margin: 0 0 .7em; padding: .55em .9em;
  border: 1px solid var(--faint); border-radius: .4em; text-decoration: none; }
#next a:hover { border-color: var(--ink); }
#next a:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
#next .take { display: block; color: var(--faint); font-size: .9em; }
#next .moves { display: flex; flex-wrap: wrap; gap: .7em; margin: 1.4em 0 0; text-indent: 0; }
#next .moves a { margin: 0; }
@media print { #next { display: none; } }
"""
)

_SCRIPT = """
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const main = document.querySelector("main");
  const passages = new Map();
  const following = new Map();
  const found = [main, get("elsewhere").content].flatMap((place) => [...place.querySelectorAll("article")]);
  found.sort((one, other) => one.dataset.number - other.dataset.number);
  for (const passage of found) {
    const before = passage.dataset.after;
    passages.set(passage.id, passage);
    if (!following.has(before)) following.set(before, []);
    following.get(before).push(passage);
  }
  const beginnings = following.get("") ?? [];
  const first = beginnings.length === 1 ? beginnings[0] : null;

  const lead = (link, to) => {
    link.hidden = to === null;
    link.href = `#${to ?? ""}`;
  };
  const choice = (passage) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.dir = "auto";
    link.href = `#${passage.id}`;
    link.textContent = passage.dataset.choice;
    if (passage.dataset.take) {
      const take = link.appendChild(document.createElement("span"));
      take.className = "take";
      take.lang = "en";
      take.textContent = ` ${passage.dataset.take}`;
    }
    return item;
  };
  const show = (moved) => {
    const here = passages.get(location.hash.slice(1)) ?? first;
    const path = [];
    for (let passage = here; passage; passage = passages.get(passage.dataset.after)) path.push(passage);
    main.replaceChildren(...path.reverse());
    const ways = following.get(here ? here.id : "") ?? [];
    const asked = ways.length > 1;
    get("question").hidden = !asked;
    get("choices").hidden = !asked;
    get("choices").replaceChildren(...(asked ? ways.map(choice) : []));
    get("end").hidden = ways.length > 0;
    lead(get("on"), ways.length === 1 ? ways[0].id : null);
    lead(get("back"), here === first ? null : here.dataset.after);
    lead(get("again"), here === first ? null : "");
    if (!moved) return;
    // Whoever listens, or has no mouse, goes on with the new passage.
    const place = path.length > 1 ? here : document.querySelector("h1");
    place.focus({ preventScroll: true });
    place.scrollIntoView();
  };
  get("contents")?.remove();
  main.className = "played";
  get("next").hidden = false;
  addEventListener("hashchange", () => show(true));
  show(location.hash.length > 1);
})();
"""

_PLAY = environment.from_string(
    """\
{% extends "page.html" %}
{% block heading_attributes %} tabindex="-1"{% endblock %}
{% macro article(passage) %}
<article id="{{ passage.id }}" tabindex="-1" data-number="{{ passage.number }}" data-after="{{ passage.after }}" \
data-choice="{{ passage.choice }}" data-take="{{ passage.take }}">
{% if passage.heading %}
<h2>{{ passage.heading }}</h2>
{% endif %}
{% for paragraph in passage.paragraphs %}
{{ paragraph | paragraph }}
{% endfor %}
</article>
{% endmacro %}
{% block body %}
{% if contents | length > 1 %}
<nav id="contents">
<ol>
{% for passage in contents %}
<li><a href="#{{ passage.id }}">{{ passage.heading }}</a></li>
{% endfor %}
</ol>
</nav>
{% endif %}
<main>
{% for passage in told %}
{{ article(passage) }}
{%- endfor %}
</main>
<nav id="next" lang="en" aria-label="What happens next" hidden>
<h2 id="question" dir="ltr">What happens next?</h2>
<ul id="choices" lang="{{ tag }}"></ul>
<p id="end" class="plain" dir="ltr">What was written ends here.</p>
<p class="moves">
<a id="on" href="#">Go on</a>
<a id="back" href="#">Back</a>
<a id="again" href="#">Begin again</a>
</p>
</nav>
<template id="elsewhere">
{% for passage in others %}
{{ article(passage) }}
{%- endfor %}
</template>
<script>{{ script | safe }}</script>
{% endblock %}
"""
)


def render(book: Book) -> bytes:
    """Return the book as a UTF-8 page whose own policy lets in nothing but its own style and its own script."""
    passages = book.branch_passages or _in_a_row(book)
    headings = _headings(book)
    takes = Counter((passage.after, passage.choice) for passage in passages)
    seen, values = Counter[tuple[str, str]](), []
    for number, passage in enumerate(passages):
        place = (passage.after, passage.choice)
        seen[place] += 1
        text = clean(passage.text)
        values.append(
            {
                "id": _id(passage.key),
                "number": number,
                "after": _id(passage.after),
                "choice": one_line(passage.choice) or limit_words(one_line(text), BEGINNING),
                # Written from one plan, only its words tell a passage from another take of it.
                "take": f"take {seen[place]} of {takes[place]}" if passage.choice and takes[place] > 1 else "",
                "heading": next(headings) if passage.told else one_line(passage.title),
                "paragraphs": paragraphs(text),
                "told": passage.told,
            }
        )
    told = [passage for passage in values if passage["told"]]
    page = _PLAY.render(
        **page_values(book, _STYLE, _SCRIPT),
        told=told,
        contents=[passage for passage in told if passage["heading"]],
        others=[passage for passage in values if not passage["told"]],
    )
    return page.encode()


def _id(key: str) -> str:
    return f"p-{key}" if key else ""


def _in_a_row(book: Book) -> list[BranchPassage]:
    """Return the passages of a book that has no branches, each after the one before it."""
    texts = [passage for chapter in book.chapters for passage in chapter.passages]
    keys = ["", *(str(number) for number in range(1, len(texts) + 1))]
    return [
        BranchPassage(key, after, "", text, told=True)
        for (after, key), text in zip(itertools.pairwise(keys), texts, strict=True)
    ]


def _headings(book: Book) -> itertools.chain[str]:
    """Return what stands above each passage of the chapters: the heading above the first of each, and nothing above others."""
    return itertools.chain.from_iterable(
        [heading, *([""] * (len(chapter.passages) - 1))]
        for heading, chapter in zip(book.headings, book.chapters, strict=True)
        if chapter.passages
    )
