// A text field that vanishes under whoever types in it: the place where its text went has the focus, and no letter is a command.
import { setAdrift } from "./unsavedText";

/** Milliseconds without a key after which whoever typed has seen that their field is gone; fewer where they sent it themselves. */
const CALM_MS = { taken: 1500, sent: 250 };
const TEXT = "textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=file]), [contenteditable]";
/** The editor of a draft, by the draft's name. */
const nameOf = (field: HTMLElement) => field.dataset.draft ?? "";

let field: HTMLElement | null = null;
/** Whether somebody sent or left what is in the field: then it goes because they want it to. */
let ended: "" | "sent" | "left" = "";
let gone = { draft: "", start: 0, end: 0 };
let quietUntil = 0;
let calm = CALM_MS.taken;

const watch = new MutationObserver(() => {
  if (field && !field.isConnected) vanished(field);
  if (gone.draft) giveBack();
});

function vanished(left: HTMLElement) {
  field = null;
  calm = ended ? CALM_MS.sent : CALM_MS.taken;
  quietUntil = ended === "left" ? 0 : performance.now() + calm;
  if (ended) return stopWatching();
  const { selectionStart, selectionEnd } = left as HTMLTextAreaElement;
  gone = { draft: nameOf(left), start: selectionStart ?? 0, end: selectionEnd ?? 0 };
  if (!gone.draft) stopWatching();
  else if (!placeOf(gone.draft)) setAdrift(gone.draft);
}

const placeOf = (draft: string) => [...document.querySelectorAll<HTMLTextAreaElement>("[data-draft]")].find((place) => nameOf(place) === draft);

/** Go on where the text stands now, as soon as it stands anywhere. */
function giveBack() {
  const { draft, start, end } = gone;
  const place = placeOf(draft);
  if (!place) return;
  stopWatching();
  // It may stand where somebody has to look for it: in what is folded away.
  for (let fold = place.closest("details:not([open])"); fold; fold = place.closest("details:not([open])")) (fold as HTMLDetailsElement).open = true;
  place.focus();
  // A choice among words has no caret.
  place.setSelectionRange?.(start, end);
}

function stopWatching() {
  gone = { draft: "", start: 0, end: 0 };
  watch.disconnect();
}

addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches(TEXT)) {
    // What the page itself brings to the hand once a field is gone does not end the wait for its text.
    if (field?.isConnected) field = null;
    return;
  }
  stopWatching();
  [field, ended] = [target, ""];
  watch.observe(document, { childList: true, subtree: true });
});
addEventListener("focusout", () => {
  // Of a field that vanishes the observer knows more.
  queueMicrotask(() => field?.isConnected && document.hasFocus() && document.activeElement !== field && (field = null));
});
addEventListener(
  "pointerdown",
  () => {
    quietUntil = 0;
    if (gone.draft) stopWatching();
  },
  { capture: true },
);
addEventListener(
  "keydown",
  ({ key, ctrlKey, metaKey }) => {
    if (!field) return;
    const sent = key === "Enter" && (ctrlKey || metaKey || field.matches("input"));
    ended = sent ? "sent" : key === "Escape" ? "left" : "";
    if (ended) quietUntil = 0;
  },
  { capture: true },
);

/** Whether a key is a letter of somebody who was typing a moment ago, in a field that has vanished since. */
export function isStray({ key }: KeyboardEvent) {
  const now = performance.now();
  const stray = key.length === 1 && now < quietUntil;
  if (stray) quietUntil = now + calm;
  else if (gone.draft) stopWatching();
  return stray;
}
