"""The genres that a story is drawn from where nobody names one, and those that a premise names by itself."""

from __future__ import annotations

import re

GENRES = (
    "science fiction",
    "romance",
    "fantasy",
    "horror",
    "mystery",
    "thriller",
    "historical",
    "western",
    "young adult",
    "literary",
)

NEUTRAL_GENRE = "literary"
"""The genre of a premise that fits all of them: it asks for no magic, murder or marriage."""

_BY_USUAL_NAME = {
    "sci-fi": "science fiction", "scifi": "science fiction", "love": "romance", "romantic": "romance", "scary": "horror",
    "whodunit": "mystery", "detective": "detective", "crime": "crime", "spy": "spy", "rom-com": "romantic comedy",
    "romcom": "romantic comedy", "funny": "comic", "bedtime": "children's bedtime", "children's": "children's",
    **{name: name for name in (
        "gothic", "ghost", "comedy", "tragedy", "satire", "fable", "fairy tale", "noir", "dystopian", "cyberpunk", "steampunk",
        "space opera", "adventure", "comic", "supernatural", "paranormal", "coming-of-age", *GENRES,
    )},
}  # fmt: skip
"""What people call a genre, and what prompts call it."""
_OF_THEMSELVES = (
    "science fiction", "sci-fi", "scifi", "romance", "fantasy", "mystery", "thriller", "western", "whodunit", "rom-com", "romcom",
    "comedy", "tragedy", "satire", "fable", "fairy tale", "noir", "space opera",
)  # fmt: skip
"""Names that are a story by themselves; the others need the word: in "a gothic door" no genre is named."""
_KINDS = (
    "cosy|cozy|dark|epic|gothic|high|historical|murder|paranormal|political|psychological|romantic|spy|supernatural|urban|"
    "young adult"
)
_STORY = r"(?:\s+(?:short|picture|fan))?[\s-]+(?:story|stories|tale|novel|novella|book|fiction|saga|drama)\b"


def _any_of(names: tuple[str, ...]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"[\s-]+") for name in sorted(names, key=len, reverse=True))


_WITH_STORY = re.compile(
    rf"\b(?:(?P<kind>{_KINDS})\s+)?(?P<name>{_any_of(tuple(_BY_USUAL_NAME))}){_STORY}"
    # A comic book artist is somebody in it.
    r"(?!['-]|\s+(?!(?:about|after|and|as|at|based|between|but|by|called|during|for|from|full|i|in|inside|inspired|is|like|named|of|on|or|"
    r"please|set|so|that|the|through|titled|to|told|under|when|where|which|with|without|written|you|cent(?:er|r)ed|[a-z]{3,}ing)\b)\w)"
)
_DENIED = re.compile(
    r"(?:\b(?:no|not|never|nor|without|neither)|n't)\b"
    # A comma ends it where something else is said behind it, and not in a list.
    r"(?:(?!\bbut\b)[^.,;:!?\n]|,(?!\s*(?:an?|the|just|only|but|maybe|perhaps|rather|more|i|it|it's|in)\b))*$"
)
"""What says before a genre that the story is none of it."""
_AT_FIRST = re.compile(
    r"(?:^|[.!?:\n])\s*(?:(?:please|can you|could you|would you|i want|i(?:'d| would) like|let's have|now)\s+)*"
    r"(?:(?:write|tell|make|give|create|compose|begin|start)\s+(?:(?:me|us)\s+)?)?(?:(?:an?|another|the)\s+)?"
    rf"(?:[\w'-]+\s+){{0,2}}?(?:(?P<kind>{_KINDS})\s+)?(?P<name>{_any_of(_OF_THEMSELVES)})"
    r"(?=\s+(?:about|at|for|from|in|of|on|set|that|where|which|with|please)\b|\s*(?:[,.;:!?(–—]|$))"
)

_LABELLED = re.compile(
    # Where a line, a sentence or an entry of a list begins, up to where the next one does; a premise may be one line by now.
    r"(?:^|[\n.;!?]|\s[-–—*•]|(?-i:,(?=\s*\**Genre)))\s*(?:[-–—*•]\s+)?(?:\w+:\s+)?\**genre\**"
    r"\s*[:=]\s*\**\s*(?P<genre>[^\n.;:!?*]{2,60}?)\**\s*"
    r"(?=[\n.;!?]|\s[-–—*•]\s|,?\s+\**(?:main\s+|point\s+of\s+)?[\w-]+\**\s*[:=]|$)",
    re.IGNORECASE,
)
_ANY_GENRE = re.compile(
    r"(?:any(?:thing)?|what(?:so)?ever|whichever|not?|(?:yet )?to be|your?|up to|i|we|do(?:n't| not)|surprise|leave|left|"
    r"as (?:you|we|it))(?![\w-]).*"
    r"|none|n/?a|nil|null|open|free|un(?:specified|decided|known|defined|determined)|tb[acd]"
)
"""What says behind the label that there is none yet: that it may be any, that it is not told, that somebody else chooses."""
_MOST_LABEL_WORDS = 6


def labelled_genre(premise: str) -> str:
    """Return what a premise says behind the label "Genre:"; empty for nothing, and where that leaves it open."""
    for found in _LABELLED.finditer(premise):
        genre = " ".join(found["genre"].split()).strip(" ,\"'“”‘’")
        if not _ANY_GENRE.fullmatch(genre.casefold().replace("’", "'")) and len(genre.split()) <= _MOST_LABEL_WORDS:
            return genre.casefold()
    return ""


def named_genre(premise: str) -> str:
    """Return the genre that a premise names as the story's own ("a cosy mystery", "Genre: gothic horror"); empty for none."""
    if genre := labelled_genre(premise):
        return genre
    lines = premise.casefold().replace("’", "'").splitlines()
    told = "\n".join(" ".join(line.split()) for line in lines if line.strip())
    named = (*_WITH_STORY.finditer(told), *_AT_FIRST.finditer(told))
    found = next((match for match in named if not _DENIED.search(told, 0, match.start("name"))), None)
    if found is None:
        return ""
    name = re.sub(r"\s+", " ", found["name"])
    genre = _BY_USUAL_NAME.get(name) or _BY_USUAL_NAME[name.replace("-", " ")]
    return f"{found['kind']} {genre}" if found["kind"] else genre
