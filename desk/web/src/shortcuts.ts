// Single keys, where nobody is typing, or was until a field vanished, and no dialog is open.
import { useLayoutEffect, useRef } from "react";
import { isStray } from "./vanishedField";

const OFF = "desk.keys-off";

export const keysAreOff = () => localStorage.getItem(OFF) === "1";
export const setKeysOff = (off: boolean) => (off ? localStorage.setItem(OFF, "1") : localStorage.removeItem(OFF));

export function useKeys(actions: Record<string, () => void>) {
  const now = useRef(actions);
  now.current = actions;
  // What can be seen can be pressed: an effect that waits for the picture would miss the first key.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || keysAreOff()) return;
      if (document.querySelector("dialog[open]")) return;
      const at = event.target as HTMLElement;
      if (at.closest("input, textarea, select, [contenteditable]")) return;
      const action = now.current[event.key.toLowerCase()];
      if (!action || isStray(event)) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
