// Other words for a selection: asked for beside it, shown with what differs, and taken or left.
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { Marked } from "./ComparePassages";
import { Problem } from "./components";
import type { PassageCache } from "./passageCache";
import { SaveText, savePassage } from "./SaveText";
import { movedTo, replaced, toServer, upTo, wholeWords, type Selected } from "./selection";
import type { Ask, Cost, Passage, Suggestion } from "./types";

const WAYS = { rewrite: "Rewrite", expand: "Expand", shorten: "Shorten", describe: "Describe", rephrase: "In other words" };

const GONE = "It can be taken no more, for the words that it was for have been changed. It stands here until you leave it.";

type Props = { passage: Passage; at: string; story: string; busy: boolean; later: number; ask: Ask };

/** The keys of what this page asked for just now, and has not shown yet. */
const asked = new Set<string>();

/** Ask for other words, in the place of those that have this key already; return whether they are in the making. */
async function suggest(ask: Ask, what: { at: string; start: number; end: number; how: string }, key: string) {
  asked.add(key);
  const done = await ask("POST", "/suggestion", { ...what, key });
  if (!done) asked.delete(key);
  return done;
}

export function SelectionTools(props: Props & { selected: Selected }) {
  const { passage, selected, later } = props;
  const end = upTo(passage.text, selected);
  const atEnd = end.trim() === passage.text.trim();
  const goOn = () => {
    const asked = atEnd ? props.ask("POST", "/goto", { at: props.at }) : savePassage(props.ask, passage, end, false);
    void asked.then((done) => done && getSelection()?.removeAllRanges());
  };
  const work = (how: string) => {
    const [start, end] = wholeWords(passage.text, selected).map((at) => toServer(passage.text, at));
    void suggest(props.ask, { at: passage.id, start: start!, end: end!, how }, Math.random().toString(36).slice(2)).then((done) => done && getSelection()?.removeAllRanges());
  };
  return (
    // A press on a button shall not take the selection away before it is a click.
    <div className="selection" role="group" aria-label="Work on the selection" style={{ top: selected.top }} onPointerDown={(event) => event.preventDefault()} onMouseDown={(event) => event.preventDefault()}>
      {Object.entries(WAYS).map(([how, name]) => <button key={how} disabled={props.busy} onClick={() => work(how)}>{name}</button>)}
      <button disabled={props.busy || (atEnd && !later)} title="The passage ends where the selection does; all that came after stays on a branch of its own" onClick={goOn}>Continue from here</button>
    </div>
  );
}

/** Where the words of a suggestion stand in the passage as it reads now: null where they stand there no more, undefined until that is known. */
function useWords({ at, start, end }: Suggestion, passage: Passage, cache: PassageCache) {
  useEffect(() => cache.want([at]), [cache, at]);
  const asked = useSyncExternalStore(cache.subscribe, () => cache.get(at));
  if (at === passage.id) return { start, end };
  if (!asked) return undefined;
  const moved = movedTo(asked.text, passage.text, start, end);
  return moved && { start: moved[0], end: moved[1] };
}

export function SuggestionView(props: Props & { suggestion: Suggestion; cache: PassageCache; cost: Cost | null }) {
  const { suggestion, passage, ask } = props;
  const place = useRef<HTMLDivElement>(null);
  const awaited = useRef(false);
  const { key, how, text, error, working } = suggestion;
  const words = useWords(suggestion, passage, props.cache);
  useEffect(() => {
    // Whoever reads elsewhere is not fetched by what stood here before, or was asked for in another window.
    if (asked.delete(key)) awaited.current = true;
    if (!awaited.current) return;
    awaited.current = working;
    // The button that asked for it is gone; whoever uses the keyboard goes on from here.
    if (document.activeElement?.contains(place.current) ?? true) place.current?.focus({ preventScroll: true });
    place.current?.scrollIntoView({ block: "nearest" });
  }, [text, error, working]);
  useLayoutEffect(() => {
    const section = place.current!;
    const passage = section.closest("article")!;
    const manuscript = section.closest(".manuscript")!;
    return () => {
      // Where it fills the screen the browser has nothing to hold on to when it goes: what stands below it stays where it was.
      if (section.getBoundingClientRect().top >= Math.max(0, manuscript.getBoundingClientRect().top)) return;
      const foot = passage.getBoundingClientRect().bottom;
      queueMicrotask(() => {
        if (!passage.isConnected) return;
        // On a wide screen the manuscript scrolls, on a narrow one the page.
        for (const scroller of [manuscript, document.documentElement]) scroller.scrollBy(0, passage.getBoundingClientRect().bottom - foot);
      });
    };
  }, []);
  return (
    <div ref={place} className="suggestion" role="group" tabIndex={-1} aria-label="Suggestion for the selection">
      <p className="hint" role="status">
        {working ? `${WAYS[how]}: the model is at work.` : words === null ? GONE : text ? "Words that only one of them has are underlined. Nothing changes until you take it." : ""}
      </p>
      <Problem text={error} />
      {text && (
        <div className="sides">
          {(["before", "after"] as const).map((side) => (
            <div key={side} role="group" aria-label={SIDES[side]}>
              <h2>{SIDES[side]}</h2>
              <div className="selected" dir="auto"><Marked changes={suggestion.changes} side={side} /></div>
            </div>
          ))}
        </div>
      )}
      {text && words && (
        <div className="follows">
          <SaveText {...props} text={replaced(passage.text, words.start, words.end, text)} takes={key} verb={props.later ? "Take it and continue from here" : "Take it"} keep="Take it and keep" />
        </div>
      )}
      <div className="row">
        {!working && words && <button disabled={props.busy} onClick={() => void suggest(ask, { at: passage.id, ...words, how }, key)}>{error ? "Try again" : "Another"}</button>}
        <button className="quiet" onClick={() => void ask("DELETE", `/suggestion?key=${encodeURIComponent(key)}`)}>{working ? "Stop" : "Leave it"}</button>
      </div>
    </div>
  );
}

const SIDES = { before: "As it is", after: "Suggested" };
