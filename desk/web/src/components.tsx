// Small parts that every view uses.
import { Fragment, useEffect, useId, useLayoutEffect, useRef, useState, type ComponentProps, type FormEvent, type ReactNode } from "react";
import { emphasised } from "./format";
import { typographic, usePage } from "./pageSettings";
import { mountEditor, takeWish, type EditorField } from "./unsavedText";

const isDialog = () => (history.state as { dialog?: boolean } | null)?.dialog === true;
let dialogs = 0;
let leaving = false;
// A page that is loaded anew has no dialog open, whatever its entry says.
if (isDialog()) history.replaceState(null, "");

/** Let Back close what is open, instead of leaving the page behind it. */
function useBack(onClose: () => void) {
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const enter = () => isDialog() || history.pushState({ dialog: true }, "");
    const moved = () => {
      // The entry of a dialog that was closed before this one opened.
      if (leaving) enter();
      else if (!isDialog()) close.current();
      leaving = false;
    };
    dialogs += 1;
    enter();
    addEventListener("popstate", moved);
    return () => {
      dialogs -= 1;
      removeEventListener("popstate", moved);
      // One dialog may open another in its place.
      setTimeout(() => {
        if (dialogs || leaving || !isDialog()) return;
        leaving = true;
        addEventListener("popstate", () => setTimeout(() => (leaving = false)), { once: true });
        history.back();
      });
    };
  }, []);
}

export function Dialog(props: { title: string; wide?: boolean; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useBack(props.onClose);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={dialog} className={props.wide ? "wide" : ""} aria-labelledby="dialog-title" onClose={props.onClose} onCancel={props.onClose}>
      <header className="dialog-head">
        <h2 id="dialog-title">{props.title}</h2>
        <button className="quiet" onClick={props.onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {props.children}
    </dialog>
  );
}

/** A paragraph that opens with a quotation mark, which hangs in the margin. */
const OPENS = /^["'“‘„«‚‹]/;

/** What stands between two scenes of a passage. */
const SCENE_BREAK = "* * *";

/** Characters of a text that are shown in a way of their own, as JavaScript counts them. */
export type Mark = { start: number; end: number; show: (text: ReactNode) => ReactNode };

/** A paragraph that begins at `from`, with what is emphasised and what is marked in it. */
function Pieces(props: { text: string; from: number; marks: Mark[] }) {
  const runs: { mark: Mark | undefined; nodes: ReactNode[] }[] = [];
  let at = props.from;
  for (const [piece, emphatic] of emphasised(props.text)) {
    const begin = at + Number(emphatic);
    const end = begin + piece.length;
    const inside = props.marks.flatMap((mark) => [mark.start, mark.end]).filter((place) => begin < place && place < end);
    const cuts = [begin, ...inside.sort((a, b) => a - b), end];
    // Out of sight, and there: a copied or selected text is the passage's own.
    const asterisk = <span className="mark" aria-hidden="true">*</span>;
    for (const [number, start] of cuts.slice(0, -1).entries()) {
      const text = piece.slice(start - begin, cuts[number + 1]! - begin);
      const mark = props.marks.find((one) => one.start <= start && start < one.end);
      if (!runs.length || runs.at(-1)!.mark !== mark) runs.push({ mark, nodes: [] });
      runs.at(-1)!.nodes.push(emphatic ? <em key={start}>{number === 0 && asterisk}{text}{number === cuts.length - 2 && asterisk}</em> : text);
    }
    at = end + Number(emphatic);
  }
  return runs.map(({ mark, nodes }, number) => <Fragment key={number}>{mark ? mark.show(nodes) : nodes}</Fragment>);
}

/** Paragraphs of a story: text, whatever it looks like. Each knows where in the text it begins. */
export function Prose(props: { text: string; language?: string; marks?: Mark[] }) {
  const page = usePage();
  const paragraphs = [...props.text.matchAll(/[^\n](?:\n?[^\n])*/g)].filter(([paragraph]) => paragraph.trim());
  return paragraphs.map((found, number) => (
    <p key={number} className={found[0] === SCENE_BREAK ? "break" : OPENS.test(found[0]) ? "hung" : undefined} data-from={found.index} dir="auto">
      <Pieces text={page.quotes ? typographic(found[0], props.language ?? "en") : found[0]} from={found.index} marks={props.marks ?? []} />
    </p>
  ));
}

/** How far down the screen the line of a place in a text area is: the same text is laid out over it, for an area does not say. */
function lineAt(area: HTMLTextAreaElement, caret: number) {
  const style = getComputedStyle(area);
  const [sheet, mark] = [document.createElement("div"), document.createElement("span")];
  sheet.style.cssText = `position: absolute; visibility: hidden; white-space: pre-wrap; overflow-wrap: break-word; box-sizing: border-box; width: ${area.offsetWidth}px; padding: ${style.padding}; border: ${style.borderTopWidth} solid; font: ${style.font}; font-variant-numeric: ${style.fontVariantNumeric}`;
  mark.textContent = area.value.slice(caret) || " ";
  sheet.append(area.value.slice(0, caret), mark);
  area.before(sheet);
  const line = mark.getClientRects()[0]!;
  const down = line.top + line.height / 2 - sheet.getBoundingClientRect().top;
  sheet.remove();
  return area.getBoundingClientRect().top + down;
}

/** Let whoever uses the keyboard go on from here, where what had the focus is gone. */
function giveFocusBack(to: string) {
  requestAnimationFrame(() => document.activeElement === document.body && document.querySelector<HTMLElement>(to)?.focus({ preventScroll: true }));
}

/** Takes one of those that wait out of its list, and is gone with it: `back` has the focus afterwards. */
export function TakeOut({ label, back, onClick }: { label: string; back: string; onClick: () => void }) {
  useEffect(() => () => giveFocusBack(back), []);
  return <button className="quiet" aria-label={label} onClick={onClick}>Take out</button>;
}

/** A text area that grows with its text and keeps what is typed; Ctrl-Enter is its first button. `back` has the focus afterwards.
    One that is `adrift` stands in for the editor of its text, which has vanished. */
export function Writing(props: { label: string; field: EditorField; rows?: number; placeholder?: string; back?: string; atEnd?: boolean; adrift?: boolean; children?: ReactNode; onSubmit?: () => void }) {
  const { field } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const text = field.text ?? "";
  useLayoutEffect(() => {
    if (!area.current) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight + 2}px`;
  }, [text]);
  useEffect(() => {
    const gone = props.adrift ? () => undefined : mountEditor(field.key);
    return () => {
      gone();
      if (props.back) giveFocusBack(props.back);
    };
  }, [field.key]);
  // Each time that it is drawn: it may be asked for where it stands open.
  useEffect(() => {
    const wish = takeWish(field.key);
    if (!wish) return;
    const element = area.current!;
    const { spot, atEnd = props.atEnd } = wish;
    element.focus({ preventScroll: Boolean(spot) });
    const caret = spot?.caret ?? (atEnd ? element.value.length : 0);
    element.setSelectionRange(caret, caret);
    // The line that was clicked stays under the pointer; on a wide screen the manuscript scrolls, on a narrow one the page.
    if (spot) for (const scroller of [element.closest(".manuscript"), document.documentElement]) scroller?.scrollBy(0, lineAt(element, caret) - spot.y);
  });
  return (
    <div className="writing">
      <textarea
        ref={area}
        aria-label={props.label}
        data-draft={field.key}
        data-unsaved={text !== field.base || undefined}
        dir="auto"
        rows={props.rows ?? 2}
        value={text}
        placeholder={props.placeholder}
        onChange={(event) => field.change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) props.onSubmit?.();
          if (event.key === "Escape") {
            event.preventDefault();
            field.close();
          }
        }}
      />
      {field.kept && <p className="kept">This is your text from before. It is not saved in the story yet.</p>}
      {props.children}
    </div>
  );
}

/** The text that this one was begun from was changed since: what stands there now is shown before it can be saved over. */
export function ChangedMeanwhile(props: { what: string; now: string; onKeep: () => void; onTake: () => void }) {
  return (
    <div className="offer" role="group" aria-label="Changed meanwhile">
      <p role="status">{props.what} was changed meanwhile. Now it reads:</p>
      <blockquote dir="auto">{props.now}</blockquote>
      <div className="row">
        <button type="button" onClick={props.onKeep}>Go on with mine</button>
        <button type="button" className="quiet" onClick={props.onTake}>Take this one</button>
      </div>
    </div>
  );
}

/** A field of at most so many letters. The browser cuts off a pasted text without a word: here it is said, as long as the field holds
    what was left of it. */
export function ShortInput({ maxLength, ...props }: ComponentProps<"input"> & { maxLength: number; value: string }) {
  const [cut, setCut] = useState({ letters: 0, left: "" });
  const hint = useId();
  const told = cut.letters > 0 && cut.left === props.value;
  const put = (field: HTMLInputElement, data: DataTransfer) => {
    const text = data.getData("text").replace(/\r\n/g, "\n");
    const room = maxLength - field.value.length + (field.selectionEnd ?? 0) - (field.selectionStart ?? 0);
    setCut({ letters: text.length - room, left: field.value });
  };
  const stay = (event: FormEvent<HTMLInputElement>) => {
    const left = event.currentTarget.value;
    if (/^insertFrom(Paste|Drop)$/.test((event.nativeEvent as InputEvent).inputType)) setCut((now) => ({ ...now, left }));
  };
  return (
    <>
      <input
        {...props}
        maxLength={maxLength}
        aria-describedby={[props["aria-describedby"], told && hint].filter(Boolean).join(" ") || undefined}
        onPaste={(event) => {
          put(event.currentTarget, event.clipboardData);
          props.onPaste?.(event);
        }}
        onDrop={(event) => {
          put(event.currentTarget, event.dataTransfer);
          props.onDrop?.(event);
        }}
        onInput={(event) => {
          stay(event);
          props.onInput?.(event);
        }}
      />
      {told && (
        <p id={hint} className="hint cut" role="alert">{`${maxLength.toLocaleString("en-GB")} letters have room here: the last ${cut.letters === 1 ? "one of what was put in is" : `${cut.letters.toLocaleString("en-GB")} of what was put in are`} left out.`}</p>
      )}
    </>
  );
}

export function Problem(props: { text: string; children?: ReactNode; onClose?: () => void }) {
  const alert = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const panel = alert.current?.closest("aside");
    // Where the panel was scrolled on it would be told out of sight; on a narrow screen it stands at the foot of the page.
    if (panel && panel.scrollHeight > panel.clientHeight) alert.current!.scrollIntoView({ block: "nearest" });
  }, [props.text]);
  if (!props.text) return null;
  return (
    <div ref={alert} className="problem" role="alert">
      <p dir="auto">{props.text}</p>
      {props.children}
      {props.onClose && (
        <button className="quiet" onClick={props.onClose}>
          Dismiss
        </button>
      )}
    </div>
  );
}

/** Run something that may be refused, and keep the reason. */
export function useAttempt() {
  const [problem, setProblem] = useState("");
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    // The same reason again is told again.
    setProblem("");
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return false;
    }
  };
  return { problem, setProblem, attempt };
}

export function Elapsed(props: { since: number }) {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round(now - props.since));
  return seconds > 2 ? <span aria-hidden="true"> · {seconds} s</span> : null;
}
