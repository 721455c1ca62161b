"""Every system by name: what it is, and how its graph is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.studies.errors import StudyError

if TYPE_CHECKING:
    from recurrentgpt.studies.baselines.rolling import Builder


@dataclass(frozen=True)
class System:
    """One system of the comparison."""

    name: str
    what: str
    build: Callable[[], Builder]
    recurrent: bool = False
    """Whether it keeps plans, which have a contract to be held to."""
    remembers: bool = False
    """Whether it keeps a short-term memory."""
    recalls: bool = False
    """Whether it searches a long-term memory."""
    paced: bool = True
    """Whether its passages have 200 to 400 words each; those of one_shot, re3 and doc have lengths of their own."""


def _recurrent(variant: str) -> Callable[[], Builder]:
    def build() -> Builder:
        from recurrentgpt.studies.baselines import opening, recurrent, variants

        match variant:
            case "no_short_term_memory":
                return recurrent.recurrentgpt(
                    opening=opening.open_unremembered,
                    remember=variants.summarise,
                    templates=variants.WithoutShortTerm.of,
                )
            case "no_long_term_memory":
                return recurrent.recurrentgpt(recall=variants.recall_nothing, templates=variants.WithoutLongTerm.of)
            case "single_call":
                return recurrent.single_call(variants.step)
        return recurrent.recurrentgpt()

    return build


def _rolling(window: int | None) -> Callable[[], Builder]:
    def build() -> Builder:
        from recurrentgpt.studies.baselines.rolling import rolling

        return rolling(window)

    return build


def _one_shot() -> Builder:
    from recurrentgpt.studies.baselines.rolling import one_shot

    return one_shot()


def _re3() -> Builder:
    from recurrentgpt.studies.baselines.re3 import re3

    return re3()


def _doc() -> Builder:
    from recurrentgpt.studies.baselines.doc import doc

    return doc()


_ALL = (
    System(
        "recurrentgpt",
        "this project, the simulator choosing the plans",
        _recurrent(""),
        recurrent=True,
        remembers=True,
        recalls=True,
    ),
    System(
        "no_short_term_memory",
        "recurrentgpt without the short-term memory, in prompts and replies",
        _recurrent("no_short_term_memory"),
        recurrent=True,
        recalls=True,
    ),
    System(
        "no_long_term_memory",
        "recurrentgpt that recalls nothing of earlier passages but the last",
        _recurrent("no_long_term_memory"),
        recurrent=True,
        remembers=True,
    ),
    System(
        "single_call",
        "passage, memory and plans in one call, as in the paper's one prompt",
        _recurrent("single_call"),
        recurrent=True,
        remembers=True,
        recalls=True,
    ),
    System("rolling_1024", "header and the last of the story in 1,024 tokens", _rolling(1024)),
    System("rolling_4096", "header and the last of the story in 4,096 tokens", _rolling(4096)),
    System("rolling_unlimited", "header and the whole story so far", _rolling(None)),
    System("one_shot", "the whole novel in one call", _one_shot, paced=False),
    System("re3", "plan, draft, rewrite and edit (Re3)", _re3, paced=False),
    System("doc", "detailed outline control, without its controller (DOC)", _doc, paced=False),
)
SYSTEMS = {system.name: system for system in _ALL}


def find_system(name: str) -> System:
    """Return a system by its name; raise StudyError for an unknown one."""
    if name not in SYSTEMS:
        raise StudyError(f"There is no system {name!r}; the systems are {', '.join(SYSTEMS)}.")
    return SYSTEMS[name]
