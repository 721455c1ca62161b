// One story as it is now: the view, the work in hand and the passages, kept current by server-sent events.
import { useCallback, useEffect, useRef, useState } from "react";
import { PassageCache } from "./passageCache";
import { eventsOf, get, Refused } from "./api";
import type { JobState, Passage, StoryView } from "./types";

/** Before the first event nobody knows whether the story is being written; every state that the server tells has a revision. */
const UNHEARD: JobState = {
  busy: false, kind: "", stage: "", attempt: 1, since: 0, step: 0, plan: "", draft: "", asked: 0, done: 0, stopping: false, progress: null, founding: "",
  replay: null, suggestions: [], queue: [], memory_changes: [], codex_changes: [], ready: [], error: "", note: "", revision: -1,
};
const RETRY_MS = 800;
const GLANCE_MS = 2000;
const MOST_STREAMS = 4;

/** Hold one of the few places for a stream until `signal` ends it; false where none is free.
    A browser keeps six connections to one server, for all its tabs: more streams would leave none for requests. */
async function holdPlace(signal: AbortSignal): Promise<boolean> {
  if (!navigator.locks) return true;
  for (let number = 0; number < MOST_STREAMS; number++) {
    const held = await new Promise<boolean>((tell) => {
      void navigator.locks.request(`desk.stream/${number}`, { ifAvailable: true }, (lock) => {
        tell(Boolean(lock));
        return lock && !signal.aborted ? new Promise<void>((leave) => signal.addEventListener("abort", () => leave())) : undefined;
      });
    });
    if (held) return true;
  }
  return false;
}

/** Whether the story is being written, as soon as the server has said it; anew when somebody comes back to this tab. */
function unheard() {
  let resolve: (busy: boolean) => void;
  const standing = { heard: false, busy: new Promise<boolean>((told) => (resolve = told)), tell: (busy: boolean) => { standing.heard = true; resolve(busy); } };
  return standing;
}

export function useStory(story: string) {
  const [view, setView] = useState<StoryView | null>(null);
  const [job, setJob] = useState<JobState>(UNHEARD);
  const [lost, setLost] = useState(false);
  const [gone, setGone] = useState("");
  const [written, setWritten] = useState<Passage | null>(null);
  const cache = useRef(new PassageCache(story)).current;
  const shown = useRef<StoryView | null>(null);
  const left = useRef(false);

  const standing = useRef(unheard());

  const reading = useRef(false);
  const again = useRef(false);
  const showJob = useRef(() => {});

  const read = useCallback(async () => {
    // One at a time: of two that overlap the older could come last. What changes meanwhile is read once more.
    again.current = true;
    if (reading.current) return;
    reading.current = true;
    while (again.current) {
      again.current = false;
      try {
        const fresh = await get<StoryView>(`/stories/${story}`);
        shown.current = fresh;
        setView(fresh);
        showJob.current();
      } catch (problem) {
        if (problem instanceof Refused && problem.status === 404) setGone(problem.message);
        else {
          await new Promise((done) => setTimeout(done, RETRY_MS));
          again.current = !left.current;
        }
      }
    }
    reading.current = false;
  }, [story]);

  useEffect(() => {
    let source: EventSource | undefined;
    let place = new AbortController();
    let now = UNHEARD;
    let frame = 0;
    let timer = 0;
    let missed = false;
    let busy = false;
    left.current = false;
    const turn = () => {
      frame = 0;
      // Work is over when its plans are here: nobody shall choose among those of the passage before.
      if (busy && !now.busy && shown.current?.revision !== now.revision) return;
      busy = now.busy;
      setJob(now);
    };
    const show = () => {
      // Words come faster than a screen can show them; that work began is shown before the view that it changes.
      if (now.busy && !busy) turn();
      else frame ||= requestAnimationFrame(turn);
    };
    showJob.current = show;
    const take = (event: { event: string } & Record<string, unknown>) => {
      if (event.event === "state") {
        const told = event as unknown as JobState;
        // The same ones are told with every state: passages are drawn anew where there are others.
        now = JSON.stringify(told.suggestions) === JSON.stringify(now.suggestions) ? { ...told, suggestions: now.suggestions } : told;
        standing.current.tell(now.busy);
        if (missed || shown.current?.revision !== now.revision) void read();
        missed = false;
      } else if (event.event === "prose") now = { ...now, draft: now.draft + String(event.text) };
      else if (event.event === "retract") now = { ...now, draft: now.draft.slice(0, Number(event.length)) };
      else if (event.event === "passage") {
        // The event counts the contradictions; what they are is read with the passage.
        const passage = { ...(event as unknown as Passage), parent: "", plan_author: "", author: "model", summary: "", contradictions: [] };
        if (!cache.get(passage.id)) cache.put(passage);
        cache.renew(passage.id);
        if (now.kind !== "edit" && now.kind !== "replan" && shown.current) {
          // It stands on the page at once; the view that is read next says the rest.
          const path = shown.current.path.slice(0, passage.step - 1);
          shown.current = { ...shown.current, head: passage.id, root: passage.id, step: passage.step, path: [...path, [passage.id, passage.text.split(/\s+/).length, "model"]] };
          setView(shown.current);
          now = { ...now, draft: "" };
        }
        setWritten(passage);
      }
      show();
    };
    const close = () => {
      place.abort();
      source?.close();
      window.clearTimeout(timer);
    };
    const open = async () => {
      close();
      const mine = (place = new AbortController());
      const stays = await holdPlace(mine.signal);
      if (mine.signal.aborted) return;
      const stream = (source = new EventSource(eventsOf(story)));
      stream.onopen = () => setLost(false);
      stream.onmessage = (message) => {
        take(JSON.parse(message.data as string));
        if (stays) return;
        // The first event says how things stand; where there is no place to listen, the page looks in again.
        stream.close();
        timer = window.setTimeout(() => void open(), GLANCE_MS);
      };
      stream.onerror = () => {
        missed = true;
        setLost(true);
        if (stream.readyState !== EventSource.CLOSED) return;
        timer = window.setTimeout(() => void open(), RETRY_MS);
        void read();
      };
    };
    // A tab that nobody sees needs no stream: it is told how things stand when it is looked at again.
    const seen = () => {
      if (document.visibilityState !== "visible") {
        standing.current = unheard();
        return close();
      }
      void open();
      void read();
    };
    void open();
    document.addEventListener("visibilitychange", seen);
    return () => {
      left.current = true;
      close();
      cancelAnimationFrame(frame);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [story, read, cache]);

  return { view, job, lost, gone, written, cache, standing };
}

export type Live = ReturnType<typeof useStory>;
