// Single keys, where nobody is typing, or was until a field vanished, and no dialog is open. Beside an open editor whose text is
// not saved they are no commands either: they are typed there.
import { useLayoutEffect, useRef } from "react";
import { isStray } from "./vanishedField";

const OFF = "desk.keys-off";

export const keysAreOff = () => localStorage.getItem(OFF) === "1";
export const setKeysOff = (off: boolean) => (off ? localStorage.setItem(OFF, "1") : localStorage.removeItem(OFF));

/** The editors that somebody was in, and the draft of the last one with the place of the caret in it. */
const visited = new WeakSet<Element>();
let last = { draft: "", caret: 0 };
document.addEventListener("selectionchange", () => {
  const at = document.activeElement;
  if (!(at instanceof HTMLTextAreaElement)) return;
  visited.add(at);
  last = { draft: at.dataset.draft ?? "", caret: at.selectionStart };
});

/** Whether a key is typed where somebody types, or meant for what a dialog, the browser or a method of input does with it. */
function isOthers(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return true;
  // A field that the key has closed is gone by now; one that it was given to has the caret by now.
  return [event.target, document.activeElement].some((at) => at instanceof Element && at.closest("input, textarea, select, [contenteditable]"));
}

/** Keys that give an editor of their own the caret, by what its draft is called. */
const OPENS: Record<string, string> = { w: "/own/", e: "/plan" };

function isInSight(element: Element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
}

// Before any command: what is pressed is typed where the caret is by then. Space turns the page.
document.addEventListener("keydown", (event) => {
  if (event.key.length !== 1 || event.key === " " || keysAreOff() || isOthers(event)) return;
  const open = [...document.querySelectorAll<HTMLTextAreaElement>("textarea[data-unsaved]")].filter((editor) => editor.checkVisibility());
  const own = OPENS[event.key.toLowerCase()];
  if (own && open.some((one) => one.dataset.draft!.includes(own))) return;
  // One that was sent and refused is a new one, with the same text.
  const again = open.find((one) => one.dataset.draft === last.draft);
  const editor = again ?? (isStray(event) ? undefined : (open.find(isInSight) ?? open.at(-1)));
  if (!editor) return;
  if (!visited.has(editor)) {
    const caret = again ? last.caret : editor.value.length;
    editor.setSelectionRange(caret, caret);
  }
  editor.focus();
});

export function useKeys(actions: Record<string, () => void>) {
  const now = useRef(actions);
  now.current = actions;
  // What can be seen can be pressed: an effect that waits for the picture would miss the first key.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.repeat || keysAreOff() || isOthers(event)) return;
      const action = now.current[event.key.toLowerCase()];
      if (!action || isStray(event)) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
