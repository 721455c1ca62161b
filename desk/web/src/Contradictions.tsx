// Sentences of a passage that cannot be true together with the codex: marked in the text, opened with both sentences.
import { createContext, useContext, useEffect, useRef, useState } from "react";
import type { Mark } from "./components";
import { count } from "./format";
import { fromServer } from "./selection";
import type { Ask, Contradiction, Passage } from "./types";
import type { Spot } from "./unsavedText";

/** How to bring another passage to the screen. */
export const GoToPassage = createContext<(id: string) => void>(() => undefined);

/** What is said of some characters of a passage, as JavaScript counts them. */
type Place = { start: number; end: number; found: Contradiction[] };

/** Sentences that overlap are one place. */
function placesOf({ text, contradictions }: Passage) {
  const places: Place[] = [];
  for (const one of [...(contradictions ?? [])].sort((a, b) => a.start - b.start)) {
    const [start, end] = [fromServer(text, one.start), fromServer(text, one.end)];
    const last = places.at(-1);
    if (last && start < last.end) {
      last.end = Math.max(last.end, end);
      last.found.push(one);
    } else places.push({ start, end, found: [one] });
  }
  return places;
}

const noteId = (passage: Passage) => `contradicts-${passage.id}`;

/** The marks of a passage's contradictions, and the place that is opened. */
export function useContradictions(passage: Passage) {
  const [at, setAt] = useState("");
  const keyOf = (place: Place) => `${passage.id}/${place.start}`;
  const places = placesOf(passage);
  const marks = places.map((place): Mark => {
    const open = keyOf(place) === at;
    const toggle = () => getSelection()?.isCollapsed !== false && setAt(open ? "" : keyOf(place));
    return {
      ...place,
      show: (text) => (
        <span
          className="contradicts"
          role="button"
          tabIndex={0}
          aria-expanded={open}
          aria-describedby={noteId(passage)}
          title="It contradicts the codex"
          onClick={toggle}
          onKeyDown={(event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            setAt(open ? "" : keyOf(place));
          }}
        >
          {text}
        </span>
      ),
    };
  });
  return { marks, place: places.find((place) => keyOf(place) === at) ?? null, onClose: () => setAt("") };
}

type Props = { passage: Passage; at: string; busy: boolean; later: number; ask: Ask; marks: Mark[]; place: Place | null; onClose: () => void; onEdit: (text: string, spot: Spot) => void };

/** What is told of the marks, and below the passage the contradictions of the one that is opened. */
export function Contradictions(props: Props) {
  const { passage, place, later, busy } = props;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest" });
  }, [place?.start]);
  const mark = () => section.current?.parentElement?.querySelector<HTMLElement>(".contradicts[aria-expanded=true]");
  const close = () => {
    mark()?.focus({ preventScroll: true });
    props.onClose();
  };
  const edit = () => {
    props.onEdit(passage.text, { caret: place!.start, y: mark()?.getBoundingClientRect().top ?? 0 });
    props.onClose();
  };
  const accept = async (number: number) => {
    // The passage has another version then; whoever uses the keyboard goes on in the manuscript.
    if (await props.ask("POST", "/codex/meant", { at: passage.id, number })) document.querySelector<HTMLElement>(".manuscript")?.focus({ preventScroll: true });
  };
  if (!props.marks.length) return null;
  return (
    <>
      <span id={noteId(passage)} hidden>It contradicts the codex. Opened, it shows what it contradicts, below the passage.</span>
      {place && (
        <section ref={section} className="contradiction" aria-label="It contradicts the codex" onKeyDown={(event) => event.key === "Escape" && close()}>
          {place.found.map((one) => (
            <div key={one.number} className="both">
              <p className="label">The passage says</p>
              <blockquote dir="auto">{one.said}</blockquote>
              <p className="label">The codex holds, of <bdi>{one.entry}</bdi></p>
              <blockquote dir="auto">{one.holds}</blockquote>
              <Source of={one} />
              <div>
                <button disabled={busy} onClick={() => void accept(one.number)}>It is meant so</button>
                <p className="hint">
                  The codex says from here what the passage says; undo takes it back.
                  {later > 0 && ` The ${count(later, "later passage")} ${later === 1 ? "stays as it is" : "stay as they are"}.`}
                </p>
              </div>
            </div>
          ))}
          <div className="row">
            <button onClick={edit}>Edit the passage</button>
            <button disabled={busy} onClick={() => void props.ask("POST", "/retry", { at: props.at })}>Another take</button>
            <button className="quiet" onClick={close}>Close</button>
          </div>
        </section>
      )}
    </>
  );
}

/** The earlier sentence that the codex rests on, and the way to its passage. */
function Source({ of }: { of: Contradiction }) {
  const goTo = useContext(GoToPassage);
  return (
    <>
      <p className="label">{of.step ? "It rests on" : "The author, or the brief, says so"}</p>
      {of.rests_on && of.rests_on !== of.holds && <blockquote dir="auto">{of.rests_on}</blockquote>}
      {of.step > 0 && <p>{of.passage ? <button className="quiet" onClick={() => goTo(of.passage)}>Go to passage {of.step}</button> : `passage ${of.step}`}</p>}
    </>
  );
}
