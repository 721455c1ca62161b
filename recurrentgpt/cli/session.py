"""One run of `write`: turn what happens in the story into prose on standard output, or into JSON Lines."""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, cast

from recurrentgpt.cli.console import one_line, print_json, visible
from recurrentgpt.cli.page import Page
from recurrentgpt.cli.screen import Screen
from recurrentgpt.events import Event
from recurrentgpt.loop import call
from recurrentgpt.models.calls import total_usage
from recurrentgpt.story import Story

_DOING = {
    "open_story": "imagining the story",
    "retrieve": "recalling earlier passages",
    "write": "writing passage {step}",
    "update_memory": "updating the memory",
    "propose_plans": "proposing plans",
    "commit": "saving to the long-term memory",
    "simulator": "choosing the next plan",
}
_FIELDS = {
    "story": ("event", "story", "title"),
    "passage": ("event", "story", "id", "parent", "step", "plan", "text"),
    "memory": ("event", "step", "short_term_memory", "dropped", "added", "recalled"),
    "plans": ("event", "step", "plans", "chosen", "plan"),
}
_USAGE = ("calls", "input_tokens", "cached_tokens", "output_tokens")


class Session:
    """What was written since the command started, and how it is shown."""

    def __init__(self, story: Story, screen: Screen, *, json: bool, options: list[str]) -> None:
        self.story, self.screen, self.json = story, screen, json
        self._options = options
        self.began = time.monotonic()
        self.steps = self.words = 0
        self.usage = total_usage([])
        self.title = ""
        self.step, self.plan = 0, ""
        """The passage that is to be written next, less one, and its plan as far as it is known."""
        self._told = False
        self._page: Page | None = None
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
        head = call(lambda: self.story.library.chronicle.head(self.story.id))
        if head is None:
            return
        self.step, self.title = head["step"], self.story.title
        self.plan = self.story.waiting_plan or ""
        self.announce()

    def exists(self) -> bool:
        """Tell whether anything of the story is in the log."""
        return call(lambda: self.story.library.chronicle.head(self.story.id)) is not None

    @property
    def resume(self) -> str:
        """Return the command that goes on with this story as it was begun."""
        return shlex.join(["recurrentgpt", "write", self.story.id, *self._options])

    def announce(self) -> None:
        """Say which story this is, once."""
        if self._told:
            return
        self._told = True
        if self.json:
            print_json({"event": "story", "story": self.story.id, "title": visible(self.title)})
        else:
            self.screen.remark(f"{one_line(self.title)}  {self.story.id}", style="bold")

    # Writing

    def write(self, steps: int) -> None:
        """Write passages and show them."""
        self._follow(self.story.stream(steps))

    def another_take(self) -> None:
        """Write the newest passage once more and show it."""
        log, story = self.story.library.chronicle, self.story
        self.plan = call(lambda: log.get(story.id, story_head))["plan"] if (story_head := story.head) else ""
        self.step -= 1
        try:
            self._follow(self.story.another_take(), remark="another take")
        except BaseException:
            self.step += 1
            raise

    def new_plans(self) -> None:
        """Ask for other plans."""
        self._follow(self.story.new_plans())

    def choose(self, answer: object) -> str:
        """Choose the next plan, tell it to whoever reads JSON, and return it."""
        plans = self.story.plans
        self.plan = plan = self.story.choose(answer)
        if self.json:
            chosen = plans.index(plan) if plan in plans else None
            self._tell({"event": "plans", "step": self.step, "plans": plans, "chosen": chosen, "plan": plan})
        return plan

    def close(self) -> None:
        """Say what was done, what it cost, and how to go on."""
        usage = {name: self.usage[name] for name in _USAGE}  # type: ignore[literal-required]
        if self.json:
            self._tell({"event": "done", "story": self.story.id, "steps": self.steps, "usage": usage})
            return
        tokens = self.usage["input_tokens"] + self.usage["output_tokens"]
        seconds = time.monotonic() - self.began
        parts = [
            f"{one_line(self.title)} ({self.story.id})",
            f"{self.words:,} words",
            _count(self.usage["calls"], "call"),
        ]
        parts += [f"{tokens:,} tokens", f"{seconds:.0f} s"]
        if self._printed:
            self.screen.remark("")
        self.screen.remark(" · ".join(parts))
        self.screen.remark(f"Continue: {self.resume}")

    def _follow(self, events: Iterator[Event], remark: str = "") -> None:
        self._page, writes = None, False
        # An interrupt in here must stop the writing too, not only the reading.
        with closing(cast("Generator[Event]", events)) as found:
            for event in found:
                match event["event"]:
                    case "stage":
                        writes = writes or event["node"] == "write"
                        self._stage(event["node"], remark)
                    case "prose":
                        self._prose(event["text"], event["settled"])
                    case "retract" if self._page is not None:
                        self._page.retract(event["length"])
                    case "story":
                        self.title = event["title"]
                        self.announce()
                    case "passage":
                        self._passage(event, new=writes, remark=remark)
                        remark = ""
                    case "memory":
                        self._tell(event)
                    case "plans":
                        self.plan = event["plan"] or ""
                        self._tell(event)
                    case "done":
                        self.usage = total_usage([self.usage, event["usage"]])
        self.screen.rest()

    def _stage(self, node: str, remark: str) -> None:
        doing = _DOING.get(node)
        if node == "write":
            if self._page is not None and self._page.shown:
                self.screen.remark("(The model was cut off; this passage begins again.)")
            elif self._page is None and not self.json:
                self._heading(remark)
            self._page = page = self._new_page()
            self.screen.doing(_DOING["write"].format(step=self.step + 1), lambda: page.words)
        elif doing:
            self.screen.doing(doing)

    def _new_page(self) -> Page:
        context = self.story.context
        return Page(min_words=context.min_words, language=context.language)

    def _heading(self, remark: str = "") -> None:
        """Show which passage comes now and what it is to tell, apart from the story."""
        if self._printed:
            self.screen.put("\n")
        if not self.plan and self._told:
            self.plan = self.story.waiting_plan or ""
        number = f"{self.step + 1}" + (f" ({remark})" if remark else "")
        plan = f"  {one_line(self.plan)}" if self.plan else ""
        self.screen.remark(("" if self._printed else "\n") + f"{number}{plan}" + ("\n" if self.screen.terminal else ""))

    def _prose(self, piece: str, settled: int) -> None:
        if self._page is not None:
            final = self._page.write(piece, settled)
            if final and not self.json:
                self.screen.put(final)

    def _passage(self, event: Event, *, new: bool, remark: str) -> None:
        """Print what is not printed yet of a finished passage; proposing new plans reports the old passage again."""
        finished = event["step"] > self.step
        self._tell(event)
        if finished and not self.json:
            if self._page is None:
                # It was written before a crash, and only saved now.
                self.plan = event["plan"]
                self._heading(remark)
                self._page = self._new_page()
            rest, kept = self._page.finish(event["text"])
            self.screen.put(rest + "\n")
            self._printed = True
            if not kept:
                self.screen.remark(f"(Its last words were revised; `recurrentgpt show {self.story.id}` has them.)")
        if finished:
            self.steps += 1
            self.words += len(event["text"].split())
        self.step, self._page, self.plan = event["step"], None, ""

    def _tell(self, event: Mapping[str, Any]) -> None:
        """Print an event with the fields that are promised, where JSON is wanted."""
        if self.json:
            names = _FIELDS.get(event["event"], tuple(event))
            print_json({name: event[name] for name in names})


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
