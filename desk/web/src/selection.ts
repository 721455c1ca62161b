// What is selected in the manuscript: some characters of one passage.
import { useSyncExternalStore } from "react";
import { emphasised } from "./format";

/** Characters of a passage's text, as JavaScript counts them, and where on the page they end. */
export type Selected = { at: string; start: number; end: number; top: number };

let now: Selected | null = null;
const listeners = new Set<() => void>();

/** The part of a paragraph that a range holds; null for none. */
function within(range: Range, paragraph: HTMLElement) {
  if (!range.intersectsNode(paragraph)) return null;
  const part = document.createRange();
  part.selectNodeContents(paragraph);
  if (range.compareBoundaryPoints(Range.START_TO_START, part) > 0) part.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, part) < 0) part.setEnd(range.endContainer, range.endOffset);
  const before = document.createRange();
  before.selectNodeContents(paragraph);
  before.setEnd(part.startContainer, part.startOffset);
  const start = Number(paragraph.dataset.from) + before.toString().length;
  return { start, end: start + part.toString().length, text: part.toString() };
}

function read(): Selected | null {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const first = range.startContainer.parentElement?.closest<HTMLElement>("article > .prose") ?? (range.startContainer as HTMLElement).closest?.("article > .prose");
  const article = first?.closest<HTMLElement>("article[id^='p-']");
  if (!first || !article) return null;
  const parts = [...first.querySelectorAll<HTMLElement>("p[data-from]")].map((paragraph) => within(range, paragraph)).filter((part) => part?.text.trim());
  const bare = (text: string) => text.replace(/\s+/g, "");
  // What reaches into another passage, or into what stands between two, is nothing to work on.
  if (!parts.length || bare(parts.map((part) => part!.text).join("")) !== bare(range.toString())) return null;
  const end = range.getBoundingClientRect().bottom - article.getBoundingClientRect().top;
  return { at: article.id.slice(2), start: parts[0]!.start, end: parts.at(-1)!.end, top: Math.round(end) };
}

function look() {
  const found = read();
  if (JSON.stringify(found) === JSON.stringify(now)) return;
  now = found;
  listeners.forEach((listener) => listener());
}

const subscribe = (listener: () => void) => {
  if (!listeners.size) document.addEventListener("selectionchange", look);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (!listeners.size) document.removeEventListener("selectionchange", look);
  };
};

/** What is selected of this passage, if the selection is in it. */
export const useSelected = (passage: string) => useSyncExternalStore(subscribe, () => (now?.at === passage ? now : null));

/** Select a paragraph for whoever has no mouse: Shift and the arrows change what is selected. */
export function selectFirst(passage: string) {
  const paragraph = document.querySelector(`#p-${passage} > .prose > p`);
  // The keys of whoever is in a button do not reach the text.
  document.getElementById(`p-${passage}`)?.focus({ preventScroll: true });
  if (paragraph) getSelection()?.selectAllChildren(paragraph);
}

/** The place in a passage's text that stands at a point of the page. */
export function placeAt(x: number, y: number): number | null {
  const found = document.caretPositionFromPoint?.(x, y);
  const paragraph = found && (found.offsetNode instanceof Element ? found.offsetNode : found.offsetNode.parentElement)?.closest<HTMLElement>("p[data-from]");
  if (!paragraph) return null;
  const before = document.createRange();
  before.selectNodeContents(paragraph);
  before.setEnd(found.offsetNode, found.offset);
  return Number(paragraph.dataset.from) + before.toString().length;
}

/** A selection that begins or ends inside a word has the whole word. */
export function wholeWords(text: string, { start, end }: Pick<Selected, "start" | "end">): [number, number] {
  const [before, within, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  const front = LETTER_FIRST.test(within) ? LETTERS_LAST.exec(before)![0].length : 0;
  const back = LETTERS_LAST.exec(within)![0] ? LETTERS_FIRST.exec(after)![0].length : 0;
  return [start - front, end + back];
}
const LETTER_FIRST = /^[\p{L}\p{M}\p{N}]/u;
const LETTERS_FIRST = /^[\p{L}\p{M}\p{N}]*/u;
const LETTERS_LAST = /[\p{L}\p{M}\p{N}]*$/u;

/** The text up to where a selection ends: that word is whole, with the marks that end its sentence. */
export function upTo(text: string, selected: Selected) {
  const kept = text.slice(0, wholeWords(text, selected)[1]).trimEnd();
  return closed(text, kept + ENDING.exec(text.slice(kept.length))![0]);
}

/** The beginning of a text with the emphasis ended in which it ends. */
function closed(text: string, beginning: string) {
  let at = 0;
  for (const [piece, marked] of emphasised(text)) {
    const end = at + piece.length + (marked ? 2 : 0);
    if (marked && at < beginning.length && beginning.length < end) return beginning.length === at + 1 ? beginning.slice(0, -1).trimEnd() : `${beginning}*`;
    at = end;
  }
  return beginning;
}
const ENDING = /^[.!?…。!?*"'”’»)\]]*/;

const placesOf = (words: string, text: string) => {
  const found: number[] = [];
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) found.push(at);
  return found;
};

/** Where the characters from `start` up to `end` of a text, as the server counts them, stand in a later version of it; null where they
    stand there no more, as where whole words are parts of others by now, or where it would be a guess. */
export function movedTo(text: string, now: string, start: number, end: number): [number, number] | null {
  const [before, after] = [[...text], [...now]];
  const words = before.slice(start, end).join("");
  if (!words) return null;
  const isWhole = (text: string, from: number) => {
    const place = { start: from, end: from + words.length };
    return wholeWords(text, place).every((at, side) => at === [place.start, place.end][side]);
  };
  const wasWhole = isWhole(text, fromServer(text, start));
  const fits = (text: string, from: number) => !wasWhole || isWhole(text, from);
  const more = after.length - before.length;
  if (before.slice(0, end).every((letter, at) => letter === after[at]) && fits(now, fromServer(now, start))) return [start, end];
  if (start + more >= 0 && before.slice(start).every((letter, at) => letter === after[start + more + at]) && fits(now, fromServer(now, start + more))) return [start + more, end + more];
  // Changed before them and behind them: they stand there once, as they did before.
  const [were, are] = [text, now].map((text) => placesOf(words, text).filter((from) => fits(text, from)));
  if (were!.length !== 1 || are!.length !== 1) return null;
  const from = toServer(now, are![0]!);
  return [from, from + end - start];
}

/** The server counts characters, JavaScript halves of them. */
export const toServer = (text: string, offset: number) => [...text.slice(0, offset)].length;
export const fromServer = (text: string, offset: number) => [...text].slice(0, offset).join("").length;
export const replaced = (text: string, start: number, end: number, by: string) => {
  const letters = [...text];
  return letters.slice(0, start).join("") + by + letters.slice(end).join("");
};
