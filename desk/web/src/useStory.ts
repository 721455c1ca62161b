// One story as it is now: the view, the work in hand and the passages, kept current by server-sent events.
import { useCallback, useEffect, useRef, useState } from "react";
import { PassageCache } from "./passageCache";
import { eventsOf, get, Refused } from "./api";
import type { JobState, Passage, StoryView } from "./types";

const IDLE: JobState = {
  busy: false, kind: "", stage: "", since: 0, step: 0, plan: "", draft: "", asked: 0, done: 0, stopping: false, progress: null,
  replay: null, error: "", note: "", revision: -1,
};
const RETRY_MS = 800;

export function useStory(story: string) {
  const [view, setView] = useState<StoryView | null>(null);
  const [job, setJob] = useState<JobState>(IDLE);
  const [lost, setLost] = useState(false);
  const [gone, setGone] = useState("");
  const [written, setWritten] = useState<Passage | null>(null);
  const cache = useRef(new PassageCache(story)).current;
  const shown = useRef<StoryView | null>(null);
  const left = useRef(false);

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
    let source: EventSource;
    let now = IDLE;
    let frame = 0;
    let timer = 0;
    let missed = false;
    let busy = false;
    left.current = false;
    const show = () => {
      // Words come faster than a screen can show them.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        // Work is over when its plans are here: nobody shall choose among those of the passage before.
        if (busy && !now.busy && shown.current?.revision !== now.revision) return;
        busy = now.busy;
        setJob(now);
      });
    };
    showJob.current = show;
    const take = (event: { event: string } & Record<string, unknown>) => {
      if (event.event === "state") {
        now = event as unknown as JobState;
        if (missed || shown.current?.revision !== now.revision) void read();
        missed = false;
      } else if (event.event === "prose") now = { ...now, draft: now.draft + String(event.text) };
      else if (event.event === "retract") now = { ...now, draft: now.draft.slice(0, Number(event.length)) };
      else if (event.event === "passage") {
        const passage = { ...(event as unknown as Passage), parent: "", plan_author: "", author: "model", summary: "" };
        if (!cache.get(passage.id)) cache.put(passage);
        if (now.kind !== "edit" && now.kind !== "replan" && shown.current) {
          // It stands on the page at once; the view that is read next says the rest.
          const path = shown.current.path.slice(0, passage.step - 1);
          shown.current = { ...shown.current, head: passage.id, step: passage.step, path: [...path, [passage.id, passage.text.split(/\s+/).length, "model"]] };
          setView(shown.current);
          now = { ...now, draft: "" };
        }
        setWritten(passage);
      }
      show();
    };
    const open = () => {
      source = new EventSource(eventsOf(story));
      source.onopen = () => setLost(false);
      source.onmessage = (message) => take(JSON.parse(message.data as string));
      source.onerror = () => {
        missed = true;
        setLost(true);
        if (source.readyState === EventSource.CLOSED) {
          window.clearTimeout(timer);
          timer = window.setTimeout(open, RETRY_MS);
          void read();
        }
      };
    };
    open();
    const back = () => document.visibilityState === "visible" && void read();
    document.addEventListener("visibilitychange", back);
    return () => {
      left.current = true;
      source.close();
      window.clearTimeout(timer);
      cancelAnimationFrame(frame);
      document.removeEventListener("visibilitychange", back);
    };
  }, [story, read, cache]);

  return { view, job, lost, gone, written, cache };
}

export type Live = ReturnType<typeof useStory>;
