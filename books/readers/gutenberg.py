"""Cut what Project Gutenberg puts before and after a book."""

from __future__ import annotations

import re

_START = re.compile(
    r"(?im)^[ \t]*(?:\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*(?:\n(?!\s*\n).*)*?\*\*\*"
    r"|\*END\*? ?THE SMALL PRINT!.*\*END\*?)[ \t]*$"
)
_END = re.compile(
    r"(?im)^[ \t]*(?:\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK|End of (?:the )?Project Gutenberg(?:'s|’s)?\b)"
)
_FACT = re.compile(r"(?im)^(title|author|language):[ \t]*(\S.*(?:\n[ \t]+\S.*)*)$")


def strip_licence(text: str) -> tuple[str, dict[str, str]]:
    """Return the book alone, and its title, author and language as the header says.

    A text that is not Project Gutenberg's is returned as it is, with nothing known.
    """
    start = _START.search(text, 0, 40_000)
    if start is None:
        return text, {}
    facts = {match[1].casefold(): " ".join(match[2].split()) for match in _FACT.finditer(text, 0, start.start())}
    end = _END.search(text, start.end())
    return text[start.end() : end.start() if end else len(text)], facts
