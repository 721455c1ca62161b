"""What a command writes: turn what happens in the story into prose on standard output, or into JSON Lines."""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, cast

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import counted, one_line, print_json, visible
from recurrentgpt.cli.terminal.passage_printer import PassagePrinter, Piece
from recurrentgpt.cli.terminal.screen import Screen
from recurrentgpt.models.calls import total_usage
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.events import Event, ImportEvent, PassageEvent, ReplayEvent
from recurrentgpt.story_protocol import StoryProtocol

_ACTIVITIES = {
    "open_story": "imagining the story",
    "retrieve": "recalling earlier passages",
    "write": "writing passage {step}",
    "update_memory": "updating the memory",
    "propose_plans": "proposing plans",
    "commit": "saving to the long-term memory",
    "simulator": "choosing the next plan",
}
_EVENT_FIELDS = {
    "story": ("event", "story", "title"),
    "passage": ("event", "story", "id", "parent", "step", "plan", "text", "contradictions"),
    "memory": ("event", "step", "short_term_memory", "dropped", "added", "recalled"),
    "plans": ("event", "step", "plans", "chosen", "plan"),
}
_USAGE = ("calls", "input_tokens", "cached_tokens", "output_tokens")


class Renderer:
    """What was written since the command started, and how it is shown."""

    def __init__(
        self, story: StoryProtocol, screen: Screen, *, json: bool, options: Sequence[str], command: str = "write"
    ) -> None:
        self.story, self.screen, self.json = story, screen, json
        self.options, self.command = list(options), command
        self.again: list[str] = []
        """What goes on with work that stopped short, where it is another command than `resume`."""
        self.began = time.monotonic()
        self.steps = self.words = 0
        self.usage = total_usage([])
        self.budget = story.context.budget_tokens
        """Most tokens that the command may use; 0 for no limit."""
        self.title = ""
        self.step, self.plan = 0, ""
        """The passage that is to be written next, less one, and its plan as far as it is known."""
        self._announced = self._offered = False
        self._shown: tuple[int, list[str]] | None = None
        """The passage and the plans after it that somebody was asked to choose from last."""
        self._count = ""
        self.stopped: str | None = None
        """Why the newest run ended before what was asked of it."""
        self._printer: PassagePrinter | None = None
        self._asked_between = False
        """Whether a question stands between the beginning of a passage and its rest."""
        self.unfinished = ""
        """The passage that was being written when all stopped, in words; empty for none."""
        self._since, self._first = 0.0, 0
        self._printed = False

    # The story's place

    def prepare(self, memory: str | None, plan: str | None) -> None:
        """Give a story that has begun another memory or its next plan, before it goes on."""
        if memory is not None:
            self.story.edit_memory(memory)
        if plan is not None:
            self.choose(plan)

    def look(self) -> None:
        """Read where the story stands."""
        if self.exists():
            self.step, self.title = self.story.passage().step, self.story.title
            self.plan = self.story.waiting_plan or ""
            self._offered = False
            self.announce()

    def exists(self) -> bool:
        """Tell whether anything of the story is in the log."""
        return bool(self.story.head)

    @property
    def tokens(self) -> int:
        """Return how many tokens were read and written since the command started."""
        return self.usage["input_tokens"] + self.usage["output_tokens"]

    @property
    def unspent(self) -> int:
        """Return how many tokens of the budget are left, at least one; 0 for no limit."""
        return self.budget and max(self.budget - self.tokens, 1)

    @property
    def waits(self) -> bool:
        """Tell whether the story waits for a choice."""
        return not self.plan and self.exists() and bool(self.step or self.story.plans)

    @property
    def resume(self) -> str:
        """Return the command that goes on with this story as it was begun."""
        left = max(0, self.story.context.length - self.step) if self.command == "write" else 0
        return shlex.join(
            ["recurrentgpt", self.command, self.story.id, *([f"--steps={left}"] if left else []), *self.options]
        )

    def announce(self) -> None:
        """Say which story this is, once."""
        if self._announced:
            return
        self._announced = True
        if self.json:
            print_json({"event": "story", "story": self.story.id, "title": visible(self.title)})
        else:
            self.screen.remark(f"{one_line(self.title)}  {self.story.id}", style="bold")

    # Writing

    def write(self, steps: int) -> None:
        """Write passages and show them."""
        self._follow(self.story.stream(steps))

    def write_ahead(self) -> None:
        """Let passages be written while somebody reads and thinks, where that was asked for."""
        self.story.write_ahead(self.unspent)

    def begin(self) -> None:
        """Open a new story, up to its first choice."""
        self._follow(self.story.begin())

    @property
    def in_the_making(self) -> str:
        """Return the whole sentences of a passage that was stopped; empty for none, and where they cannot be kept."""
        return self._printer.sentences if self._printer is not None and self.story.keeps_sentences else ""

    @property
    def is_told(self) -> bool:
        """Tell whether a passage is written to its end, and its memory or the next plans were stopped."""
        return bool(self.in_the_making) and not self.unfinished

    def show_rest(self) -> None:
        """Show the whole sentences of a passage that were held back, since its last ones might have been left out."""
        if self._printer is not None and self.screen.watched and not self.json:
            self._put(self._printer.rest())

    def keep(self) -> None:
        """Take the whole sentences of a passage that was stopped for all of it."""
        self._asked_between = True
        self._follow(self.story.keep(self.in_the_making), printer=self._printer)

    def go_on(self) -> None:
        """Write a passage that was stopped to its end, from its whole sentences."""
        self._asked_between = True
        self._follow(self.story.go_on(self.in_the_making), printer=self._printer)

    def discard(self) -> None:
        """Throw a passage away that was stopped, with its plan."""
        self.story.discard()
        self._printer, self.unfinished = None, ""
        self.look()

    def retry(self, ref: str | None = None) -> None:
        """Write a passage (the newest, if none is named) once more and show it."""
        passage, before = self.story.passage(ref), (self.plan, self.step)
        self.plan, self.step = passage.plan, passage.step - 1
        try:
            self._follow(self.story.retry(ref), remark="another take")
        except Exception:
            self.plan, self.step = before
            raise

    def replan(self, ref: str | None = None) -> None:
        """Ask for other plans."""
        self._follow(self.story.replan(ref), quiet=True)

    def work(self, events: Iterator[Event]) -> None:
        """Follow work of which nothing is prose to show, as an edit or an import."""
        self._follow(events, quiet=True)
        self.look()

    def offer(self) -> list[str]:
        """Return the plans that wait for a choice, and tell them to whoever reads JSON, where no run has."""
        passage = self.story.passage()
        self._shown = (passage.step, passage.plans)
        if not self._offered:
            self._tell_plans(passage.plans, None)
        return passage.plans

    @property
    def moved(self) -> bool:
        """Tell whether the story went elsewhere since its plans were offered, as from another terminal."""
        passage = self.story.passage()
        return self._shown is not None and self._shown != (passage.step, passage.plans)

    def choose(self, answer: object) -> str:
        """Choose the next plan, tell it to whoever reads JSON, and return it."""
        plans = self.story.plans
        if not plans and str(answer).strip().isdecimal():
            raise BadAnswer("This story has ended and has no plans to choose from: say in words what is to happen.")
        self.plan = plan = self.story.choose(answer)
        self._tell_plans(plans, plan)
        return plan

    def _tell_plans(self, plans: list[str], plan: str | None) -> None:
        chosen = plans.index(plan) if plan in plans else None
        self._tell({"event": "plans", "step": self.step, "plans": plans, "chosen": chosen, "plan": plan})

    def close(self) -> None:
        """Say what was done, what it cost, and how to go on."""
        usage = {name: self.usage[name] for name in _USAGE}  # type: ignore[literal-required]
        if self.json:
            done = {"event": "done", "story": self.story.id, "steps": self.steps, "usage": usage}
            self._tell({**done, "stopped": self.stopped})
            return
        if self.stopped == "budget":
            self.screen.remark("Stopped here: the next passage might use more than the --budget-tokens that are left.")
        tokens = self.tokens
        seconds = time.monotonic() - self.began
        parts = [f"{one_line(self.title)} ({self.story.id})", *([f"{self.words:,} words"] if self.words else [])]
        tally = self.story.snapshot().ahead
        if tally and tally["choices"]:
            parts.append(f"{tally['ready']} of {counted(tally['choices'], 'choice')} ready")
        parts += [counted(self.usage["calls"], "call"), f"{tokens:,} tokens", f"{seconds:.0f} s"]
        if self._printed:
            self.screen.remark("")
        self.screen.remark(" · ".join(parts))
        self.screen.remark(f"Continue: {self.resume}")

    def _follow(
        self, events: Iterator[Event], remark: str = "", *, quiet: bool = False, printer: PassagePrinter | None = None
    ) -> None:
        """Show what happens; with `quiet`, no prose and no heading; with a `printer`, the rest of what that one began."""
        self._printer = printer
        # An interrupt in here must stop the writing too, not only the reading.
        with prompt.keys_off(), closing(cast("Generator[Event]", events)) as found:
            for event in found:
                # An event is shown whole or not at all.
                with prompt.ctrl_c_later():
                    match event["event"]:
                        case "stage" if event["node"] == "write" and not quiet:
                            self.unfinished = f"{f'{remark} of ' if remark else ''}passage {self.step + 1}"
                            self._begin_passage(remark)
                        case "stage" if doing := _ACTIVITIES.get(event["node"]):
                            self.unfinished = ""
                            self.show_rest()
                            self.screen.doing(doing.format(step=self.step + 1) + self._count)
                            if quiet or (event["node"] == "open_story" and not self._announced):
                                self._say(doing)
                        case "founding":
                            self.screen.about(f"{event['title']}\n{event['premise']}".strip())
                        case "prose" if self._printer is not None:
                            if self.screen.watched and not self.json:
                                self._put(self._printer.write(event["text"], event["settled"]))
                            else:
                                # Nothing can be taken back of what is in a file.
                                self._printer.buffer.add(event["text"], event["settled"])
                        case "retract" if self._printer is not None:
                            # An older server gives no reason.
                            self._printer.retract(event["length"], event.get("why", ""))
                        case "story":
                            self.title = event["title"]
                            self.announce()
                        case "passage":
                            self._tell(event)
                            if not quiet:
                                self._end_passage(event, remark)
                                remark = ""
                            self._tell_contradictions(event)
                        case "memory":
                            self._tell(event)
                        case "plans":
                            self.plan = event["plan"] or ""
                            self._tell(event)
                        case "replay" | "import":
                            self._progress(event)
                        case "done":
                            self.usage = total_usage([self.usage, event["usage"]])
                            self.stopped = event.get("stopped")
        self._count = ""
        self.screen.rest()

    def _say(self, doing: str) -> None:
        """Say in a line what is being done, where no status can stand and no heading comes."""
        if not (self.screen.animated or self.json or self._count):
            self.screen.remark(f"{doing[0].upper()}{doing[1:]}.")

    def _progress(self, event: ReplayEvent | ImportEvent) -> None:
        """Say how far work on many passages is, and about how long the rest will take."""
        self._tell(event)
        done, total = event["done"], event["total"]
        if done == 1 or event["kept"]:
            self._since, self._first = time.monotonic(), done
        each = (time.monotonic() - self._since) / max(done - self._first, 1)
        left = f", about {duration(each * (total - done))} left" if done > self._first and done < total else ""
        self._count = f" ({done:,} of {total:,} passages{left})"
        # Where no status can stand, every tenth of the way is a line.
        if not self.screen.animated and not self.json and done * 10 // total > (done - 1) * 10 // total:
            self.screen.remark(f"{done:,} of {total:,} passages")
        self.screen.doing(f"remembering{self._count}")

    def _begin_passage(self, remark: str) -> None:
        if self._printer is None:
            self._printer = self._new_printer()
            if not self.json:
                self._heading(remark)
        else:
            self._printer.begin_again("" if self._asked_between else "The model was cut off.")
        printer = self._printer
        self.screen.doing(_ACTIVITIES["write"].format(step=self.step + 1), lambda: printer.words)

    def _new_printer(self) -> PassagePrinter:
        context = self.story.context
        return PassagePrinter(min_words=context.min_words, language=context.language)

    def _put(self, piece: Piece) -> None:
        """Print a piece of a passage, and before it that it takes the place of another."""
        text = piece.text
        if piece.remark:
            self.screen.put("\n\n")
            self.screen.remark(f"{piece.remark}\n", style="yellow")
        elif self._asked_between:
            # It begins a line: a question stood between.
            text = text.lstrip(" ")
        self._asked_between = self._asked_between and not text
        self.screen.put(text)

    def _heading(self, remark: str = "") -> None:
        """Show which passage comes now and what it is to tell, apart from the story."""
        if self._printed:
            self.screen.put("\n")
        if not self.plan and self._announced:
            self.plan = self.story.waiting_plan or ""
        number = f"{self.step + 1}" + (f" ({remark})" if remark else "")
        plan = f"  {one_line(self.plan)}" if self.plan else ""
        self.screen.remark(("" if self._printed else "\n") + f"{number}{plan}" + ("\n" if self.screen.terminal else ""))

    def _end_passage(self, event: PassageEvent, remark: str) -> None:
        """Print what is not printed yet of a finished passage; one of a step that is over was printed before."""
        finished = event["step"] > self.step
        if finished and not self.json:
            if self._printer is None:
                # It was written before a crash, and only saved now.
                self.plan = event["plan"]
                self._heading(remark)
                self._printer = self._new_printer()
            self._put(self._printer.finish(event["text"]))
            self.screen.put("\n")
            self._asked_between = False
            self._printed = True
        if finished:
            self.steps += 1
            self.words += len(event["text"].split())
        self.step, self._printer, self.plan = event["step"], None, ""

    def _tell_contradictions(self, event: PassageEvent) -> None:
        """Say in a line that something in a passage contradicts the codex, and what shows it."""
        if (count := event["contradictions"]) and not self.json:
            often = "once" if count == 1 else f"{count} times"
            self.screen.remark(
                f"Passage {event['step']} contradicts the codex {often}: `recurrentgpt show {event['story']}` marks what "
                "and why.",
                style="yellow",
            )

    def _tell(self, event: Mapping[str, Any]) -> None:
        """Print an event with the fields that are promised, where JSON is wanted."""
        self._offered = event["event"] == "plans" and event["plan"] is None
        if self.json:
            names = _EVENT_FIELDS.get(event["event"], tuple(event))
            print_json({name: event[name] for name in names})


def duration(seconds: float) -> str:
    """Return about how long something takes, in words."""
    if seconds < 90:
        return counted(max(round(seconds), 1), "second")
    return counted(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:.1f} hours"
