// Single keys, where nobody is typing, or was until a field vanished, and no dialog is open. Beside an open editor whose text is
// not saved they are no commands either: they are typed there.
import { useLayoutEffect, useRef } from "react";
import { isStray } from "./vanishedField";

const OFF = "desk.keys-off";

export const keysAreOff = () => localStorage.getItem(OFF) === "1";
export const setKeysOff = (off: boolean) => (off ? localStorage.setItem(OFF, "1") : localStorage.removeItem(OFF));

/** The editors that somebody was in, and the draft of the last one. */
const visited = new WeakSet<Element>();
let last = "";
addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLTextAreaElement)) return;
  visited.add(target);
  last = target.dataset.draft ?? "";
});

/** Whether a key is typed where somebody types, or meant for what a dialog, the browser or a method of input does with it. */
function isOthers(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return true;
  return Boolean(document.activeElement?.closest("input, textarea, select, [contenteditable]"));
}

// Before any command: what is pressed is typed where the caret is by then.
document.addEventListener("keydown", (event) => {
  if (event.key.length !== 1 || isOthers(event)) return;
  if (event.key === " " && document.activeElement?.closest("button, a, summary, [role]")) return;
  const open = [...document.querySelectorAll<HTMLTextAreaElement>("textarea[data-unsaved]")].filter((editor) => editor.checkVisibility());
  // One that was sent and refused is a new one, with the same text.
  const editor = open.find((one) => one.dataset.draft === last) ?? (isStray(event) ? undefined : open.at(-1));
  if (editor && !visited.has(editor)) editor.setSelectionRange(editor.value.length, editor.value.length);
  editor?.focus();
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
