"""What the files of a run hold, as far as it is read; what is damaged is found here, and said of its file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, ValidationError

# Pydantic cannot read Python 3.11's own.
from typing_extensions import TypedDict

from recurrentgpt.schema.state import Usage
from recurrentgpt.studies.errors import StudyError, first_error
from recurrentgpt.studies.recording.jsonl import Row

_Number = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
_Preference = Annotated[float, Field(ge=0, le=1)]
_Tallies = dict[_Number, Annotated[list[int], Field(min_length=2, max_length=2)]]


class Manifest(TypedDict):
    """What ran, as the manifest of a run has it."""

    run: NotRequired[str]
    created: str
    commit: str
    versions: dict[str, str]
    machine: str
    plan: dict[str, Any]
    premises: NotRequired[dict[str, dict[_Number, str]]]
    models: NotRequired[dict[str, list[str]]]


class PassageUsage(TypedDict):
    """What one passage cost."""

    calls: int
    input_tokens: int


class PassageRecord(TypedDict):
    """One passage of a finished novel, as far as it is read."""

    step: int
    plan: NotRequired[str]
    text: NotRequired[str]
    words: int
    summary: NotRequired[str]
    short_term_memory: str
    plans: int
    offered: NotRequired[list[str]]
    """The plans that there were to choose from."""
    recalled: NotRequired[list[int]]
    usage: PassageUsage


class WrittenNovel(TypedDict):
    """What a story log knows of a novel that has ended."""

    usage: Usage
    passages: list[PassageRecord]


class NovelRecord(TypedDict):
    """One finished novel, as far as it is read."""

    id: str
    system: str
    genre: str
    number: int
    seed: NotRequired[int]
    unit: str
    premise: str
    target: Annotated[int, Field(gt=0)]
    words: int
    usage: Usage
    text: str
    passages: list[PassageRecord]
    models: list[str]
    outdated: int


class _Failure(TypedDict):
    novel: str
    error: str


class _Qualification(TypedDict):
    judge: str
    criterion: NotRequired[str]
    pairs: int
    right: int
    by_kind: dict[str, float]


class _Compared(TypedDict):
    unit: str
    first: str
    second: str
    criterion: str
    preference: _Preference


class _Quotes(TypedDict):
    a: list[str]
    b: list[str]


class _Verdict(_Compared):
    judge: str
    orders: NotRequired[Annotated[list[Literal["A", "B", "tie"]], Field(min_length=2, max_length=2)]]
    quotes: NotRequired[list[_Quotes]]


class _Label(_Compared):
    annotator: str


class _JudgeFailure(TypedDict):
    judge: str
    error: str


class _Adherence(TypedDict):
    judge: str
    novel: str
    step: int
    taken: Literal["yes", "partly", "no"]
    left: list[Literal["yes", "partly", "no"]]


class _Recall(TypedDict):
    system: str
    retrieval: _Tallies
    memory: _Tallies
    prompt: _Tallies
    text: _Tallies
    prompt_tokens: list[int]


MANIFEST: TypeAdapter[Any] = TypeAdapter(Manifest)
NOVEL: TypeAdapter[Any] = TypeAdapter(NovelRecord)
ROWS: dict[str, TypeAdapter[Any]] = {
    "failures.jsonl": TypeAdapter(_Failure),
    "qualification.jsonl": TypeAdapter(_Qualification),
    "verdicts.jsonl": TypeAdapter(_Verdict),
    "labels.jsonl": TypeAdapter(_Label),
    "judge_failures.jsonl": TypeAdapter(_JudgeFailure),
    "adherence.jsonl": TypeAdapter(_Adherence),
    "recall.jsonl": TypeAdapter(_Recall),
}


def check_form(path: Path, found: Row, form: TypeAdapter[Any]) -> Row:
    """Return what was read from a file, if it has everything that is needed of it; raise StudyError where it has not."""
    try:
        form.validate_python(found, strict=True)
    except ValidationError as error:
        raise StudyError(f"{path} is damaged, {first_error(error)}: restore it, or delete what is damaged.") from error
    return found
