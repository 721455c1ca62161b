"""`study run --remote URL`: a server of LangGraph's protocol writes the novels, and this folder gets them.

A novel is a thread there, whose id is made of the run's and the novel's: whoever runs the folder again finds it and goes on.
The server runs the graphs of `recurrentgpt.studies.server.graphs` with models and keys of its own.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

import httpx
from langgraph_sdk.client import LangGraphClient

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.remote.server import asking, client_of, error_text
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.studies.errors import RunStopped, StudyError
from recurrentgpt.studies.recording.recording import read_roles, recorded_usage
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Job, Plan
from recurrentgpt.studies.runs.runner import (
    Notify,
    Outcome,
    Report,
    notify_passage,
    novel_settings,
    save_novel,
    write_novels,
)
from recurrentgpt.studies.runs.schemas import NovelRecord

GRAPHS = "langgraph-studies.json"
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds to wait before each further try to reach a server that has gone."""
MOST_IDLE = 4
"""Runs, or looks at one, that may end at once and bring nothing, before a novel is given up."""
AT_ONCE = 5.0
"""Seconds in which what ends has ended at once."""


def check_plan(plan: Plan) -> None:
    """Raise StudyError for a plan that a server has nothing to do for."""
    if plan.replay:
        raise StudyError(
            "This plan is answered from recorded calls, which needs no server: leave --remote out, or add --live to have "
            "its novels written there."
        )


def run_remote(folder: RunFolder, report: Report, url: str, *, token: str | None = None) -> Outcome:
    """Have the server at `url` write every novel of the folder's plan that is not finished.

    Raises StudyError where no server with these graphs answers, also when it stops to in the middle; what is under way is found
    again by the next run of the folder.
    """
    check_plan(folder.plan)
    with folder.writing_lock():
        return call(lambda: _run(folder, report, url, token))


def check_server(plan: Plan, url: str, token: str | None = None) -> None:
    """Raise StudyError, or what says why, unless the server at `url` can write the novels of the plan."""

    async def look() -> None:
        async with await client_of(url, token) as client:
            await _check(client, url, plan)

    check_plan(plan)
    call(look)


async def _run(folder: RunFolder, report: Report, url: str, token: str | None) -> Outcome:
    async with await client_of(url, token) as client:
        await _check(client, url, folder.plan)
        run = _Remote(client, url, folder)
        return await write_novels(folder, report, run.write)


async def _check(client: LangGraphClient, url: str, plan: Plan) -> None:
    """Raise StudyError unless the server has a graph for every system of the plan."""
    no_server = StudyError(f"What answers at {url} is no server of LangGraph's protocol: check the address.")
    try:
        found = [item for name in plan.systems for item in await client.assistants.search(graph_id=name, limit=1)]
        known = {item["graph_id"] for item in found}
    except httpx.HTTPStatusError as error:
        if error.response.status_code in (404, 405, 501):
            raise no_server from error
        with asking(url):
            raise
    except httpx.TransportError as error:
        raise RunStopped(f"No server answers at {url}; check the address, and that it is running.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise no_server from error
    if missing := [name for name in plan.systems if name not in known]:
        raise StudyError(
            f"The server at {url} has no graph {missing[0]!r}: start it with the systems of the studies, "
            f"`langgraph dev --config {GRAPHS}`."
        )


class _Remote:
    """A run on a server."""

    def __init__(self, client: LangGraphClient, url: str, folder: RunFolder) -> None:
        self._client, self._url, self._folder, self._plan = client, url, folder, folder.plan
        self._last: dict[str, str] = {}
        """The last event that was heard of each run."""

    async def write(self, job: Job, notify: Notify) -> NovelRecord:
        """Bring one novel to its end on the server and into the folder."""
        thread = str(uuid.uuid5(uuid.NAMESPACE_URL, f"recurrentgpt/{self._folder.run}/{job.id}"))
        with asking(self._url):
            values = await self._finished(thread, job, notify)
            novel = self._keep(job, values)
            with suppress(httpx.HTTPError):
                # The folder has everything, and the server's log the story.
                await self._client.threads.delete(thread)
        return novel

    def _keep(self, job: Job, values: Mapping[str, Any]) -> NovelRecord:
        if not {"written", "calls"} <= set(values):
            raise StudyError(
                f"The graph {job.system!r} at {self._url} is not that of the studies: start the server with {GRAPHS}."
            )
        calls = self._folder.calls(job)
        self._folder.write_calls(job, values["calls"])
        return save_novel(self._folder, job, values["written"], read_roles(calls), recorded_usage(calls))

    async def _finished(self, thread: str, job: Job, notify: Notify) -> dict[str, Any]:
        """Return the state of the novel's thread at its end, however often the server has to be asked to go on."""
        lost = idle = 0
        reached = None
        while True:
            began = asyncio.get_running_loop().time()
            try:
                state = await self._state(thread, job)
                # A server that is there and refuses to work has not come back.
                if reached != (reached := (state["values"].get("words"), state["next"])):
                    lost = 0
                if state["values"].get("status") == "finished" and not state["next"]:
                    return cast("dict[str, Any]", state["values"])
                if await self._advance(thread, job, state, notify):
                    idle = 0
                    continue
                idle += 1
            except (httpx.TransportError, httpx.HTTPStatusError) as error:
                status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else 0
                cut = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
                if cut and asyncio.get_running_loop().time() - began > AT_ONCE:
                    lost = 0  # some proxies end long streams, while the server works on
                if status not in (0, 429, 502, 503, 504) or (status and lost == len(WAITS)):
                    raise
                if lost == len(WAITS):
                    raise RunStopped(
                        f"The server at {self._url} has gone: start it again, and run the plan again to go on. What is "
                        "finished is in the folder, and what it was writing is kept there."
                    ) from error
                if not lost:
                    notify("waits for the server")
                await asyncio.sleep(WAITS[lost])
                lost += 1
                continue
            if idle == MOST_IDLE:
                raise StudyError(f"The server at {self._url} does not go on with this novel; see its log.")
            await asyncio.sleep(WAITS[idle - 1])

    async def _state(self, thread: str, job: Job) -> dict[str, Any]:
        """Return how the thread stands; a server that has forgotten it, or never had it, makes it."""
        about = {"study": self._plan.name, "novel": job.id}
        # Without its graph's name, a thread that is made again has no state.
        await self._client.threads.create(thread_id=thread, graph_id=job.system, metadata=about, if_exists="do_nothing")
        state = cast("dict[str, Any]", await self._client.threads.get_state(thread))
        return {**state, "values": state["values"] if isinstance(state["values"], dict) else {}}

    async def _advance(self, thread: str, job: Job, state: dict[str, Any], notify: Notify) -> bool:
        """Go on with the novel until its run ends, and tell whether that took it any further."""
        active = [run for status in ("running", "pending") for run in await self._runs(thread, status)]
        began, moved, failure, run = asyncio.get_running_loop().time(), False, None, ""
        try:
            run = (active[0] if active else await self._begin(thread, job, state))["run_id"]
            if run not in self._last:
                notify("goes on" if active or state["next"] else "begins", state["values"].get("words", 0))
            # From the beginning of the run, also where it began before this program did.
            last = self._last.setdefault(run, "-1")
            async for part in self._client.runs.join_stream(thread, run, stream_mode="updates", last_event_id=last):
                self._last[run] = part.id or self._last[run]
                if part.event == "error":
                    failure = part.data
                elif part.event.startswith("updates") and isinstance(part.data, dict):
                    moved = True
                    notify_passage(part.data, notify)
            status = (await self._client.runs.get(thread, run))["status"]
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in (404, 409):
                raise
            # A server that was killed may have forgotten its runs, but not what they wrote; and one that ends a run is busy.
            return moved
        except asyncio.CancelledError:
            # Whoever stops the run does not want to pay for more.
            if run:
                await self._cancel(thread, run)
            raise
        if status == "error":
            raise StoryError(error_text(failure or await self._error(thread)))
        moved = moved or asyncio.get_running_loop().time() - began > AT_ONCE
        if active and not moved and status in ("pending", "running"):
            # Some servers do not know that whoever ran it is gone.
            await self._cancel(thread, run)
        return moved

    async def _runs(self, thread: str, status: Any) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", await self._client.runs.list(thread, status=status, limit=1))

    async def _begin(self, thread: str, job: Job, state: dict[str, Any]) -> dict[str, Any]:
        """Start a run that begins the novel, or goes on where its thread stands."""
        if state["next"]:
            # Aegra wants to be told from where. Named by its id, the newest checkpoint would be one to fork from: the system
            # inside would begin anew.
            start: dict[str, Any] = {"input": None, "checkpoint": {"checkpoint_ns": ""}}
        else:
            start = {"input": {"genre": job.genre, "premise": job.premise}}
        given = {name: value for name, value in novel_settings(self._plan, job).items() if value is not None}
        context = {**given, "record": "prompts" if self._plan.record_prompts else "calls"}
        run = await self._client.runs.create(
            thread, job.system, **start, context=context, stream_mode=["updates"], stream_subgraphs=True,
            stream_resumable=True, multitask_strategy="reject", durability="sync",
        )  # fmt: skip
        return cast("dict[str, Any]", run)

    async def _cancel(self, thread: str, run: str) -> None:
        with suppress(httpx.HTTPError):
            await self._client.runs.cancel(thread, run)

    async def _error(self, thread: str) -> Any:
        """Return what a thread says that its last run failed of."""
        tasks = (await self._client.threads.get_state(thread))["tasks"]
        return next((task["error"] for task in tasks if task.get("error")), "The server does not say why; see its log.")
