// The story as a book. Only what is near the screen is in the page: blocks elsewhere keep their place by their height.
import { Fragment, memo, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { PassageCache } from "./passageCache";
import type { Live } from "./useStory";
import { Did, PassageView } from "./PassageView";
import { Prose } from "./components";
import { firstOf } from "./format";
import type { Ask, Chapters, Jump, PathEntry, StoryView, Suggestion } from "./types";

const BLOCK = 8;
const HEIGHT_OF_A_WORD = 3.1;

type Shared = { language: string; chapters: Chapters; cache: PassageCache; suggestions: Suggestion[]; play: boolean; busy: boolean; ask: Ask; later: number; story: string; onMemory: (id: string) => void };

export function Manuscript(props: { live: Live; view: StoryView; chapters: Chapters; jump: Jump | null; ask: Ask; onMemory: (id: string) => void; onSight: (id: string) => void }) {
  const { view, live } = props;
  const { job, cache } = live;
  const play = view.mode === "fiction";
  const root = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const draft = useRef<HTMLElement>(null);
  const drafting = Boolean(job.draft) && job.step > 0;
  // Another take is written in the place of the one that stands there.
  const path = drafting && job.step <= view.step ? view.path.slice(0, job.step - 1) : view.path;
  const blocks = useMemo(() => {
    const found: PathEntry[][] = [];
    for (let first = 0; first < path.length; first += BLOCK) found.push(path.slice(first, first + BLOCK));
    return found;
  }, [path]);

  // A story opens where it is being written; afterwards the page follows the words only if the reader is with them.
  const opened = useRef(false);
  const follows = useRef(true);
  useEffect(() => {
    let timer = 0;
    const keep = () => props.onSight(keepPlace(view.id, follows.current));
    const near = () => {
      const at = end.current?.getBoundingClientRect();
      if (at) follows.current = at.top < innerHeight + 160;
      window.clearTimeout(timer);
      timer = window.setTimeout(keep, PLACE_MS);
    };
    const scroller = root.current;
    scroller?.addEventListener("scroll", near, { passive: true });
    addEventListener("pagehide", keep);
    addEventListener("scroll", near, { passive: true });
    return () => {
      window.clearTimeout(timer);
      removeEventListener("pagehide", keep);
      scroller?.removeEventListener("scroll", near);
      removeEventListener("scroll", near);
    };
  }, []);
  useLayoutEffect(() => {
    if (opened.current) return;
    opened.current = true;
    const last = path.at(-1);
    const kept = placeIn(view.id);
    if (kept && path.some((entry) => entry[0] === kept.id)) void show(kept.id, "start", false, kept.above);
    else if (last && !drafting) void show(last[0], "start");
  }, [path, drafting]);
  const landed = useRef(false);
  useEffect(() => {
    // A manuscript that was read goes on at its end.
    if (job.kind !== "import" || job.busy || landed.current) return;
    landed.current = true;
    const last = view.path.at(-1);
    if (last) void show(last[0], "start");
  }, [job.kind, job.busy, view.path]);
  useLayoutEffect(() => {
    // New words come to the reader once, at their beginning; the page does not run away under whoever reads.
    if (drafting && (follows.current || job.asked < 2)) draft.current?.scrollIntoView({ block: "start" });
  }, [drafting, job.step]);
  const drafted = useRef(0);
  useLayoutEffect(() => {
    if (drafting) drafted.current = job.step;
  }, [drafting, job.step]);
  useLayoutEffect(() => {
    // One that was written ahead has no words that come: it is brought as their beginning would be.
    const { written } = live;
    if (written && job.kind === "write" && written.step !== drafted.current && (follows.current || job.asked < 2)) void show(written.id, "start");
    drafted.current = 0;
  }, [live.written]);
  useEffect(() => {
    if (props.jump) void show(props.jump.id, "start", true);
  }, [props.jump]);

  return (
    <main ref={root} className="manuscript" tabIndex={0} aria-label="Manuscript">
      <div className="leaf" lang={view.language === "und" ? undefined : view.language}>
        <header className="opening">
          <p className="genre">{view.genre}</p>
          <p className="book-title" aria-hidden="true"><bdi>{view.title}</bdi></p>
          {view.author && <p className="author"><bdi>{view.author}</bdi></p>}
          {view.premise && (view.step > 0 || drafting) && <p className="premise" dir="auto">{view.premise}</p>}
        </header>
        {/* Before the first passage the premise is what there is to read. */}
        {view.step === 0 && !drafting && view.premise && <div className="passage begins-with"><Prose text={view.premise} /></div>}
        {blocks.map((entries, number) => (
          <Block key={number} first={number * BLOCK + 1} entries={entries} language={view.language} chapters={props.chapters} cache={cache} suggestions={job.suggestions} play={play} busy={job.busy} ask={props.ask} later={view.step} story={view.id} onMemory={props.onMemory} />
        ))}
        {drafting && (
          <article ref={draft} className={`passage draft ${job.step === 1 ? "first" : ""}`} aria-label={`Passage ${job.step}, being written`} aria-busy={job.busy}>
            <span className="number" aria-hidden="true">{job.step}</span>
            {play && <Did step={job.step} what={job.plan} />}
            <Prose text={job.draft} language={view.language} />
          </article>
        )}
        <div ref={end} className="end" />
      </div>
    </main>
  );
}

const Block = memo(function Block(props: Shared & { first: number; entries: PathEntry[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  const height = useRef(0);
  useEffect(() => {
    const element = place.current!;
    const watch = new IntersectionObserver(
      (seen) => {
        const is = seen.at(-1)!.isIntersecting;
        if (!is && element.offsetHeight) height.current = element.getBoundingClientRect().height;
        // What somebody types in stays, wherever they look meanwhile.
        setNear(is || Boolean(element.querySelector(".writing, .suggestion")));
      },
      // On a wide screen the manuscript scrolls, on a narrow one the page.
      { rootMargin: "1200px 0px", scrollMargin: "1200px 0px" } as IntersectionObserverInit,
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const ids = props.entries.map((entry) => entry[0]);
  useEffect(() => {
    if (near) props.cache.want(ids);
  }, [near, ids.join()]);
  const expected = height.current || props.entries.reduce((sum, entry) => sum + 60 + entry[1] * HEIGHT_OF_A_WORD, 0);
  return (
    <div ref={place} className="block" data-first={props.first} data-ids={ids.join(" ")} style={near ? {} : { height: expected }}>
      {near &&
        props.entries.map((entry, at) => {
          const step = props.first + at;
          const title = props.chapters[step];
          return (
            <Fragment key={firstOf(entry)}>
              {title !== undefined && <h2 className="chapter" dir="auto">{title || numberOf(props.chapters, step)}</h2>}
              <Slot {...props} entry={entry} step={step} chapter={title ?? null} />
            </Fragment>
          );
        })}
    </div>
  );
});

/** A chapter without a title has its number; what stands before the first one that was set is a chapter too. */
const numberOf = (chapters: Chapters, step: number) => new Set([1, ...Object.keys(chapters).map(Number).filter((other) => other <= step)]).size;

/** Of every passage that has none the same: it is not drawn anew. */
const NONE: Suggestion[] = [];

function Slot(props: Shared & { entry: PathEntry; step: number; chapter: string | null }) {
  const [id, words, author] = props.entry;
  const found = useSyncExternalStore(props.cache.subscribe, () => props.cache.get(id));
  // A version that is yet to come leaves the one before it drawn: an open menu and its editors stay with whoever is at them.
  const drawn = useRef({ passage: found, author });
  if (found) drawn.current = { passage: found, author };
  const { passage } = drawn.current;
  const here = props.suggestions.filter((one) => one.root === firstOf(props.entry));
  if (!passage) return <article id={`p-${id}`} className="passage waiting" aria-label={`Passage ${props.step}`} style={{ minHeight: 60 + words * HEIGHT_OF_A_WORD }} />;
  return <PassageView passage={passage} at={id} chapter={props.chapter} language={props.language} first={firstOf(props.entry)} step={props.step} author={drawn.current.author} busy={props.busy} later={props.later - props.step} ask={props.ask} story={props.story} cache={props.cache} suggestions={here.length ? here : NONE} play={props.play} onMemory={props.onMemory} />;
}

const PLACE_MS = 150;
const PLACE = "desk.place/";
type Place = { id: string; above: number };

/** Keep where somebody reads, for a reload and for Back, and return the passage; whoever is at the end is brought to the end. */
function keepPlace(story: string, atEnd: boolean): string {
  const passage = [...document.querySelectorAll("article.passage[id]")].find((element) => element.getBoundingClientRect().bottom > innerHeight / 4);
  if (atEnd || !passage) sessionStorage.removeItem(PLACE + story);
  else sessionStorage.setItem(PLACE + story, JSON.stringify({ id: passage.id.slice(2), above: passage.getBoundingClientRect().top }));
  return atEnd || !passage ? "" : passage.id.slice(2);
}

function placeIn(story: string): Place | null {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE + story) ?? "null") as Place | null;
  } catch {
    return null;
  }
}

/** On a wide screen the manuscript scrolls, on a narrow one the page. */
function scrollerOf(element: Element) {
  const manuscript = element.closest(".manuscript");
  return manuscript && manuscript.scrollHeight > manuscript.clientHeight ? manuscript : document.documentElement;
}

const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/** Bring a passage to the screen, first by its block's place, then by its own, as heights become known; whoever acts meanwhile is let go where they want. */
async function show(id: string, block: ScrollLogicalPosition, focus = false, above?: number) {
  const done = new AbortController();
  for (const act of ACTS) addEventListener(act, () => done.abort(), { capture: true, passive: true, signal: done.signal });
  for (let round = 0; round < 12 && !done.signal.aborted; round++) {
    // The version before it may still be drawn in its place.
    const passage = document.getElementById(`p-${id}`) ?? document.querySelector<HTMLElement>(`[data-at="${id}"]`);
    const target = passage ?? document.querySelector(`[data-ids~="${id}"]`);
    target?.scrollIntoView({ block });
    if (target && target === passage && above !== undefined) scrollerOf(passage).scrollBy(0, passage.getBoundingClientRect().top - above);
    await new Promise((next) => setTimeout(next, 60));
    if (done.signal.aborted) return;
    if (passage && !passage.classList.contains("waiting")) {
      if (focus) {
        // Once: whoever has gone on from there, as by a screen reader, is not fetched back.
        focus = false;
        // Whoever goes there to write has the caret in the text already.
        if (!passage.contains(document.activeElement)) passage.focus({ preventScroll: true });
        passage.classList.add("found");
        setTimeout(() => passage.classList.remove("found"), 1600);
      }
      if (round > 2) break;
    }
  }
  done.abort();
}
