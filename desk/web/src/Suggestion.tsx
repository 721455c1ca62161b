// Other words for a selection: asked for beside it, shown with what differs, and taken or left.
import { useEffect, useLayoutEffect, useRef } from "react";
import { Marked } from "./ComparePassages";
import { Problem } from "./components";
import { SaveText, savePassage } from "./SaveText";
import { replaced, toServer, upTo, wholeWords, type Selected } from "./selection";
import type { Ask, Passage, Suggestion } from "./types";

const WAYS = { rewrite: "Rewrite", expand: "Expand", shorten: "Shorten", describe: "Describe", rephrase: "In other words" };

type Props = { passage: Passage; story: string; busy: boolean; later: number; ask: Ask };

export function SelectionTools(props: Props & { selected: Selected }) {
  const { passage, selected, later } = props;
  const end = upTo(passage.text, selected);
  const atEnd = end.trim() === passage.text.trim();
  const goOn = () => {
    const asked = atEnd ? props.ask("POST", "/goto", { at: passage.id }) : savePassage(props.ask, passage, end, false);
    void asked.then((done) => done && getSelection()?.removeAllRanges());
  };
  const work = (how: string) => {
    const [start, end] = wholeWords(passage.text, selected).map((at) => toServer(passage.text, at));
    void props.ask("POST", "/suggestion", { at: passage.id, start, end, how }).then((done) => done && getSelection()?.removeAllRanges());
  };
  return (
    // A press on a button shall not take the selection away before it is a click.
    <div className="selection" role="group" aria-label="Work on the selection" style={{ top: selected.top }} onPointerDown={(event) => event.preventDefault()} onMouseDown={(event) => event.preventDefault()}>
      {Object.entries(WAYS).map(([how, name]) => <button key={how} disabled={props.busy} onClick={() => work(how)}>{name}</button>)}
      <button disabled={props.busy || (atEnd && !later)} title="The passage ends where the selection does; all that came after stays on a branch of its own" onClick={goOn}>Continue from here</button>
    </div>
  );
}

export function SuggestionView(props: Props & { suggestion: Suggestion }) {
  const { suggestion, passage, ask } = props;
  const place = useRef<HTMLElement>(null);
  const { at, start, end, how, text, error } = suggestion;
  useEffect(() => {
    // The button that asked for it is gone; whoever uses the keyboard goes on from here.
    if (document.activeElement?.contains(place.current) ?? true) place.current?.focus({ preventScroll: true });
    place.current?.scrollIntoView({ block: "nearest" });
  }, [text, error]);
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
    <section ref={place} className="suggestion" tabIndex={-1} aria-label="Suggestion for the selection">
      <p className="hint" role="status">
        {text ? "Words that only one of them has are underlined. Nothing changes until you take it." : error ? "" : `${WAYS[how]}: the model is at work.`}
      </p>
      <Problem text={error} />
      {text && (
        <div className="sides">
          {(["before", "after"] as const).map((side) => (
            <section key={side} aria-label={SIDES[side]}>
              <h2>{SIDES[side]}</h2>
              <div className="selected" dir="auto"><Marked changes={suggestion.changes} side={side} /></div>
            </section>
          ))}
        </div>
      )}
      {text && (
        <div className="follows">
          <SaveText {...props} text={replaced(passage.text, start, end, text)} verb={props.later ? "Take it and continue from here" : "Take it"} keep="Take it and keep" />
        </div>
      )}
      <div className="row">
        {(text || error) && <button disabled={props.busy} onClick={() => void ask("POST", "/suggestion", { at, start, end, how })}>{error ? "Try again" : "Another"}</button>}
        <button className="quiet" onClick={() => void ask("DELETE", "/suggestion")}>{text || error ? "Leave it" : "Stop"}</button>
      </div>
    </section>
  );
}

const SIDES = { before: "As it is", after: "Suggested" };
