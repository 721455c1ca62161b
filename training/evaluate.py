"""Measure the writer with and without an adapter: `python -m training.evaluate --adapter teller.gguf -o out.jsonl`.

Every context is a scene of a story that no data comes from: the write call, then facts, then plans, as a story makes them, by the
same templates and with the same sampling. The scenes are kept as JSON Lines, so that readers can judge what rules cannot, and a
run that was broken off goes on. The same seeds are used for every way of writing.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import mean

from pydantic import BaseModel, ConfigDict, ValidationError

from training.blind_sheets import lines, markdown
from training.check import context as told
from training.client import Completion, CompletionEndpoint, complete
from training.conversation import Exchange, messages, plans_prompt, prompts, writing
from training.data import DATA, Premise, Scene, read_premises
from training.known_words import add_options, known_words
from training.measures import Measures, measure
from training.product import (
    FACTS,
    MOST_STORIES,
    MOVES,
    PLANS_TAUGHT,
    READERS_MOVES,
    WRITE_TAUGHT,
    WRITER,
    Adapter,
    Decoding,
    RecurrentGPTError,
    SettingsError,
    embedded_server,
    fetch,
    mend,
    prose_tokens,
    side_by_side,
    stop_servers,
)

PLANS = 3
LONGEST = 400
"""Words of a scene at most, as in a story when nothing else is set."""


class Written(BaseModel):
    """What one way of writing made of one context."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    way: str
    """`none`, or the adapter's name and strength."""
    scene: Scene
    measures: dict[str, float]
    first_try: dict[str, bool]
    """Which calls replied in the form that was asked for."""
    seconds: float
    uncached_tokens: int

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what makes this line another than the others."""
        return self.way, self.scene.story, self.scene.step


@dataclass(frozen=True)
class Way:
    """One way of writing that is measured."""

    name: str
    adapter: Adapter | None


def write(server: CompletionEndpoint, context: Scene, seed: int, way: str, known: frozenset[str]) -> Written:
    """Return the scene, its facts and the plans after it as the model makes them at the first try."""
    made: list[Completion] = []

    def ask(done: Sequence[Exchange], decoding: Decoding, longest: int = 0) -> str:
        sampling = {
            **decoding.sampling,
            "temperature": decoding.temperature,
            "max_tokens": longest or decoding.max_tokens,
        }
        made.append(complete(server, messages(context.mode, done), seed=seed + len(done), **sampling))
        return made[-1].text

    first = writing(context)
    passage = ask([first], WRITE_TAUGHT, prose_tokens(LONGEST))
    scene = context.model_copy(update={"passage": passage})
    talk = [Exchange("write", first.prompt, passage or "."), Exchange("facts", prompts(context.mode).fill("facts"), "")]
    noted = ask(talk, FACTS)
    deck = MOVES if context.mode == "novel" else READERS_MOVES
    moves = [deck[(seed + 7 * place) % len(deck)]["name"] for place in range(PLANS)]
    talk = [*talk[:1], Exchange("plans", plans_prompt(context, moves), "")]
    planned = ask(talk, PLANS_TAUGHT)
    facts, plans = _object(noted), _object(planned)
    figures = measure(passage, mode=context.mode, plan=context.plan, context=told(context), known=known)
    return Written(
        way=way,
        scene=scene.model_copy(
            update={
                "summary": str(facts.get("summary", "")),
                "facts": _strings(facts.get("facts")),
                "moves": moves,
                "plans": [str(plans.get(move, "")) for move in moves],
            }
        ),
        measures={name: float(value) for name, value in asdict(figures).items()},
        first_try={
            "write": 150 <= figures.words <= 450 and made[0].finish == "stop",
            "facts": bool(facts.get("summary")) and bool(_strings(facts.get("facts"))),
            "plans": set(plans) == set(moves) and all(isinstance(plan, str) and plan for plan in plans.values()),
        },
        seconds=round(sum(reply.seconds for reply in made), 1),
        uncached_tokens=sum(reply.prompt_tokens - reply.cached_tokens for reply in made),
    )


def contexts(premises: Iterable[Premise]) -> list[Scene]:
    """Return every scene of the stories as a context."""
    return [premise.context(step) for premise in premises for step in range(1, len(premise.turns) + 1)]


def table(results: Sequence[Written]) -> str:
    """Return the means of every way as a Markdown table, a row each."""
    names = [field.name for field in fields(Measures)]
    columns = [*names, "write", "facts", "plans", "words a minute", "uncached tokens"]
    rows = [["way", "scenes", *(name.replace("_", " ") for name in columns)]]
    for way in dict.fromkeys(result.way for result in results):
        own = [result for result in results if result.way == way]
        minutes = sum(result.seconds for result in own) / 60
        figures = [mean(result.measures[name] for result in own) for name in names]
        figures += [mean(result.first_try[call] for result in own) for call in ("write", "facts", "plans")]
        figures += [sum(result.measures["words"] for result in own) / minutes if minutes else 0.0]
        figures += [mean(result.uncached_tokens for result in own)]
        rows.append([way, str(len(own)), *(f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in figures)])
    return markdown(rows)


def read_written(places: Iterable[Path]) -> list[Written]:
    """Return the scenes of such files; raise SettingsError with the line that is none, or for a file that is not there."""
    found = []
    for place in places:
        if not place.is_file():
            raise SettingsError(f"There is no file {place}: name one that training.evaluate wrote.")
        for number, text in enumerate(lines(place), 1):
            try:
                found.append(Written.model_validate_json(text))
            except ValidationError as error:
                raise SettingsError(f"{place} line {number} is no scene: {error.errors()[0]['msg']}.") from error
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write every context in every way, and print the table."""
    options = _options(arguments)
    try:
        results = _run(options)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.evaluate: {error}", file=sys.stderr)
        return 1
    finally:
        stop_servers()
    print(table(results))
    return 0


def _run(options: argparse.Namespace) -> list[Written]:
    premises = read_premises(options.premises)
    wanted = contexts(premises)[: options.contexts]
    known = known_words(premises, options)
    output: Path = options.output
    output.parent.mkdir(parents=True, exist_ok=True)
    mend(output)
    results = read_written([output] if output.exists() else [])
    done = {result.key for result in results}
    path = options.model or fetch(WRITER)
    ways = [Way("none", None)] if options.plain else []
    for scale in options.scale if options.adapter else []:
        ways.append(Way(f"{options.adapter.stem} at {scale:g}", Adapter(options.adapter, scale)))
    for way in ways:
        open_contexts = [
            (options.seed + 100 * number, context)
            for number, context in enumerate(wanted, 1)
            if (way.name, context.story, context.step) not in done
        ]
        for written in _written(way, path, open_contexts, known, options.parallel):
            results.append(written)
            with output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(written.model_dump(exclude_defaults=True), ensure_ascii=False) + "\n")
            scene, figures = written.scene, written.measures
            print(
                f"{way.name}: {sum(result.way == way.name for result in results)} of {len(wanted)}: {scene.story} scene "
                f"{scene.step}: {figures['words']:.0f} words, plan {figures['plan']:.2f}, {written.seconds:.0f} s",
                file=sys.stderr,
            )
        stop_servers()
    return results


def _written(
    way: Way, path: Path, wanted: Sequence[tuple[int, Scene]], known: frozenset[str], parallel: int
) -> Iterator[Written]:
    """Yield what one way makes of the contexts, each with its seed, as it is made: so many of them side by side.

    Where one fails, none is begun any more, those that are being written are yielded, and then its error is raised.
    """
    if not wanted:
        return
    with side_by_side(parallel):
        server = embedded_server(path, way.adapter)
    stop = threading.Event()

    def attempt(seed: int, context: Scene) -> Written | None:
        if stop.is_set():
            return None
        try:
            return write(server, context, seed, way.name, known)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(parallel) as pool:
        writing = [pool.submit(attempt, seed, context) for seed, context in wanted]
        failed: BaseException | None = None
        try:
            for done in as_completed(writing):
                if error := done.exception():
                    failed = failed or error
                elif written := done.result():
                    yield written
        finally:
            pool.shutdown(cancel_futures=True)
    if failed:
        raise failed


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate", description="Measure the writer, with and without an adapter."
    )
    parser.add_argument(
        "premises", nargs="*", type=Path, default=[DATA / "heldout"], help="stories laid out, held out by default"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the scenes, JSON Lines; a file that exists is gone on with"
    )
    parser.add_argument("--adapter", type=Path, help="a GGUF adapter")
    parser.add_argument(
        "--scale", type=float, action="append", help="its strength; may be given several times (default 1)"
    )
    parser.add_argument("--no-plain", dest="plain", action="store_false", help="leave out the model without an adapter")
    parser.add_argument("--contexts", type=int, help="only so many contexts")
    add_options(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--parallel",
        type=int,
        choices=range(1, MOST_STORIES + 1),
        default=1,
        help="contexts side by side: sooner done, each of them slower (default 1)",
    )
    parser.add_argument("--model", type=Path, help="a GGUF file; the embedded writer by default")
    options = parser.parse_args(arguments)
    options.scale = options.scale or [1.0]
    return options


if __name__ == "__main__":
    sys.exit(main())
