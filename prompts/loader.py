"""Load prompt templates strictly: an unknown template, a missing variable or bad syntax is one clear error.

Templates are Jinja2 in a sandbox, because a reader may bring their own (`directory`), and a template that
somebody else wrote must not be able to run code.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from recurrentgpt.schema.errors import PromptError

# What fills a template may hold a line like a turn's; only the template's own lines become marks, which nobody can guess.
_MARK = f"=== {secrets.token_hex(8)} "
_TURN = re.compile(r"^=== (user|assistant)[ \t]*$", re.MULTILINE)
ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False, autoescape=False
)


class Prompts:
    """Fill the templates of one tier (`small`, `full`) of one mode, a folder of templates.

    A template that exists in `directory` (same relative path) replaces the packaged one.
    """

    def __init__(self, tier: str, directory: str | Path | None = None, *, mode: str = "novel") -> None:
        self.mode, self.tier, self.directory = mode, tier, directory

    def fill(self, name: str, **variables: Any) -> str:
        """Return template `name` filled with `variables`; raise PromptError where they do not fit."""
        where, source = self._template(name)
        return _render(where, source, variables)

    def turns(self, name: str, **variables: Any) -> list[BaseMessage]:
        """Return template `name` filled as the turns of a conversation.

        A turn begins with a line `=== user` or `=== assistant`; a template without such lines is one turn of the user.
        The assistant's turns are marked as examples: up to the last of them a prompt is the same in every call of its kind.
        """
        where, source = self._template(name)
        filled = _render(where, _TURN.sub(lambda match: _MARK + match[1], source), variables)
        first, *rest = filled.split(_MARK)
        found: list[BaseMessage] = [HumanMessage(first.strip())] if first.strip() else []
        for turn in rest:
            role, _, text = turn.partition("\n")
            said = text.strip()
            found.append(AIMessage(said, example=True) if role.strip() == "assistant" else HumanMessage(said))
        return found

    def _template(self, name: str) -> tuple[str, str]:
        where = f"{self.mode}/{self.tier}/{name}.md"
        return where, _source(where, str(self.directory) if self.directory else None)


def last_turn(source: str) -> str:
    """Return whose turn a template ends with: `user` or `assistant`."""
    return str((_TURN.findall(source) or ["user"])[-1])


def _render(where: str, source: str, variables: Mapping[str, Any]) -> str:
    try:
        return _compiled(source).render(variables).strip()
    except UndefinedError as error:
        raise PromptError(
            f"Prompt template {where} uses a variable that is not given here: {error.message}."
        ) from error
    except (TemplateSyntaxError, SecurityError) as error:
        raise PromptError(f"Prompt template {where} cannot be used: {error}. Correct it and try again.") from error


@lru_cache(maxsize=256)
def _compiled(source: str) -> Template:
    return ENVIRONMENT.from_string(source)


@lru_cache(maxsize=256)
def _source(where: str, directory: str | None) -> str:
    if directory is not None and (override := Path(directory) / where).is_file():
        return override.read_text(encoding="utf-8")
    packaged = resources.files(__package__).joinpath(*where.split("/"))
    if not packaged.is_file():
        raise PromptError(f"There is no prompt template {where}.")
    return packaged.read_text(encoding="utf-8")
