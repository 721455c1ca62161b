// How the page looks to whoever reads on this machine: no business of the story's.
import { useSyncExternalStore } from "react";

export const FONTS = { serif: "Serif", sans: "Sans serif", mono: "Typewriter" } as const;
export type PageSettings = { font: keyof typeof FONTS; size: number; width: number; quotes: boolean; daily: number; sitting: number };

const KEY = "desk.page";
const PLAIN: PageSettings = { font: "serif", size: 100, width: 33, quotes: false, daily: 0, sitting: 0 };
const listeners = new Set<() => void>();

function read(): PageSettings {
  try {
    return { ...PLAIN, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<PageSettings>) };
  } catch {
    return PLAIN;
  }
}
let now = read();

const tell = () => listeners.forEach((listener) => listener());
addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  now = read();
  tell();
});

export function changePage(changes: Partial<PageSettings>) {
  now = { ...now, ...changes };
  localStorage.setItem(KEY, JSON.stringify(now));
  tell();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
export const usePage = () => useSyncExternalStore(subscribe, () => now);

const MARKS: Record<string, string> = { de: "„“‚‘", cs: "„“‚‘", fr: "«»‹›", it: "«»“”", es: "«»“”", ru: "«»„“", pl: "„”‚’", sv: "””’’", fi: "””’’" };

/** A text with typographic quotation marks in the place of straight ones: letter for letter, so that every place in it stays its own. */
export function typographic(text: string, language: string) {
  const [open, close, inner, end] = [...(MARKS[language.split("-")[0]!] ?? "“”‘’")] as [string, string, string, string];
  return text.replace(/["']/g, (mark, at: number) => {
    const [before, after] = [text[at - 1] ?? " ", text[at + 1] ?? " "];
    const opens = /[\s([{*—–“„«‘‚‹"]/.test(before) && /[^\s,.;:!?)\]}…]/.test(after);
    if (mark === '"') return opens ? open : close;
    const leftOut = /^'(?=\d|(?:tis|twas|em|til|cause|bout)\b)/i.test(text.slice(at, at + 7));
    if (leftOut || (/\p{L}/u.test(before) && /\p{L}/u.test(after))) return "’";
    return opens ? inner : end;
  });
}

const wordsKey = (story: string) => `desk.words/${story}`;

/** Words that were written since the day, or the sitting, began: what stood there before is no part of them. */
export function wordsSince(story: string, words: number): { today: number; sitting: number } {
  const since = (store: Storage, of: string) => {
    const key = wordsKey(story);
    try {
      const kept = JSON.parse(store.getItem(key) ?? "null") as { of: string; from: number } | null;
      if (kept?.of === of) return Math.max(0, words - kept.from);
      store.setItem(key, JSON.stringify({ of, from: words }));
    } catch {
      // Without a place to keep it, the count begins with every look.
    }
    return 0;
  };
  return { today: since(localStorage, new Date().toDateString()), sitting: since(sessionStorage, "") };
}

/** Take away what was counted of a story that is no more. */
export function forgetWords(story: string) {
  try {
    for (const store of [localStorage, sessionStorage]) store.removeItem(wordsKey(story));
  } catch {
    // Without a place to keep it, nothing was kept.
  }
}
