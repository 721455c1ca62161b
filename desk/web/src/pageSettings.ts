// How the page looks to whoever reads on this machine: no business of the story's.
import { useSyncExternalStore } from "react";
import type { StoryView } from "./types";

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

const FEET_AND_INCHES = /[0-9]('[ -]?)[0-9]{1,2}(?:[.][0-9]+|[¼½¾])?(")/dg;
/** Of which kind a quotation is that a typographic mark opens or closes; ’ may be an apostrophe. */
const OPENS: Record<string, string> = { "“": '"', "„": '"', "«": '"', "‘": "'", "‚": "'", "‹": "'" };
const CLOSES: Record<string, string> = { "”": '"', "»": '"', "›": "'" };

/** A text with typographic quotation marks in the place of straight ones: letter for letter, so that every place in it stays its own;
    by the rules of prose/typography.py. */
export function typographic(text: string, language: string) {
  const [open, close, inner, end] = [...(MARKS[language.split("-")[0]!] ?? "“”‘’")] as [string, string, string, string];
  const measured = new Set([...text.matchAll(FEET_AND_INCHES)].flatMap(({ indices }) => [indices![1]![0], indices![2]![0]]));
  const isOpen: Record<string, boolean> = { '"': false, "'": false };
  const isLetter = (one: string) => /[\p{L}\p{N}]/u.test(one);
  return text.replace(/["'“„«”»‘‚‹’›]|\n\n/g, (mark, at: number) => {
    const [before, after] = [text[at - 1] ?? " ", text[at + 1] ?? " "];
    const kind = OPENS[mark] ?? CLOSES[mark];
    if (mark === "\n\n") isOpen['"'] = isOpen["'"] = false;
    else if (kind) isOpen[kind] = mark in OPENS;
    else if (mark === "’") isOpen["'"] &&= isLetter(before) && isLetter(after);
    if (!(mark in isOpen)) return mark;
    const isNumber = /[0-9]/.test(before) && (mark === '"' || !isLetter(after));
    if (measured.has(at) || (isNumber && !isOpen[mark])) return mark;
    const opens = /[\s([{*—–“„«‘‚‹"]/.test(before) && /[^\s,.;:!?)\]}…]/.test(after);
    if (mark === '"') {
      isOpen[mark] = opens || !isOpen[mark];
      return opens ? open : close;
    }
    if ((isLetter(before) && isLetter(after)) || /^'(?=\d|(?:tis|twas|em|til|cause|bout)\b)/i.test(text.slice(at, at + 7))) return "’";
    isOpen[mark] = opens;
    return opens ? inner : end;
  });
}

const WORDS = "desk.words";
type Counted = { since: number; stories: Record<string, number> };

function countedIn(store: Storage): Counted | null {
  try {
    return JSON.parse(store.getItem(WORDS) ?? "null") as Counted | null;
  } catch {
    // Without a place to keep it, each story is counted for itself.
    return null;
  }
}

function keepCounted(store: Storage, counted: Counted) {
  try {
    store.setItem(WORDS, JSON.stringify(counted));
  } catch {
    // As above.
  }
}

/** Words that were written since the day, or the sitting, began, in all stories that were opened here since: they count as they stand. */
export function wordsSince(story: string, recent: StoryView["recent"]): { today: number; sitting: number } {
  const count = (store: Storage, since: number, kept: Counted | null) => {
    const words = recent.reduce((sum, [written, more]) => (Date.parse(written) < since ? sum : sum + more), 0);
    const before = kept?.since === since ? kept.stories : {};
    const stories = { ...before, [story]: words };
    if (before[story] !== words) keepCounted(store, { since, stories });
    return Object.values(stories).reduce((sum, more) => sum + more, 0);
  };
  const sitting = countedIn(sessionStorage);
  return {
    today: count(localStorage, new Date().setHours(0, 0, 0, 0), countedIn(localStorage)),
    sitting: count(sessionStorage, sitting?.since ?? Math.floor(performance.timeOrigin), sitting),
  };
}

/** Take away what was counted of a story that is no more. */
export function forgetWords(story: string) {
  for (const store of [localStorage, sessionStorage]) {
    const counted = countedIn(store);
    if (counted && story in counted.stories) keepCounted(store, { ...counted, stories: Object.fromEntries(Object.entries(counted.stories).filter(([other]) => other !== story)) });
  }
}
