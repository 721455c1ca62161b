// What somebody typed and nobody stored yet: kept in the browser, so that a reload, an error or another passage loses none of it.
import { useEffect, useSyncExternalStore } from "react";
import { isNewerLocal, keep, newerThanLocal, remove } from "./durableText";
import type { PendingEdit } from "./types";

/** `base` is what was stored when it was begun, `at` the version of the passage that it was begun from, `kept` that it was typed
    before this editor was opened, `left` that its editor was closed in the tab that stored it, `lent` the key by which the server keeps it too, `saved` what
    of it was sent last, `adrift` that its editor vanished while somebody typed. */
export type UnsavedText = { text: string; base: string; at: string; open: boolean; kept: boolean; left?: boolean; lent?: string; saved?: string; adrift?: boolean };
const PREFIX = "desk.draft/";
/** Copies of a tab whose text another tab's stands in place of, and the lock that it holds while it lives. */
const OWN = "desk.tab-draft/";
const ALIVE = "desk.tab/";
const CLOSING_MS = 1000;
const CLOSING_LOOKS = 10;
/** A page that waits longer for the disk is shown without; what comes later is shown then. */
const PATIENCE_MS = 1000;
const tab = Math.random().toString(36).slice(2);
/** Where a tab's own copy is kept of what was typed under a name. */
const copyOf = (owner: string, key: string) => `${OWN}${owner}/${key}`;
const COPY = /^(.*)\/~\w+$/s;
/** Choices that are kept as texts are: nobody misses one that another choice took the place of. */
const CHOICE = /^start\/(genre|how)$|^codex\/.*\/kind$/s;
const drafts = new Map<string, UnsavedText>();
const listeners = new Set<() => void>();
const mounted = new Map<string, number>();
let version = 0;
let unsafe = false;
/** Where in a text somebody clicked, and how far down the screen. */
export type Spot = { caret: number; y: number };
let wanted: { key: string; spot?: Spot | undefined; atEnd?: boolean } | null = null;

function parsed(stored: string | null): UnsavedText | null {
  try {
    const { text, base, at, left, lent, saved } = JSON.parse(stored ?? "") as UnsavedText;
    return typeof text === "string" ? { text, base: String(base ?? ""), at: String(at ?? ""), open: true, kept: true, left: Boolean(left), lent: String(lent ?? ""), saved: String(saved ?? "") } : null;
  } catch {
    return null;
  }
}

/** What another tab keeps under this name since this one looked. */
function stored(key: string): (UnsavedText & { owner: string }) | null {
  try {
    const found = localStorage.getItem(PREFIX + key);
    const text = parsed(found);
    return text && { ...text, owner: (JSON.parse(found!) as { tab?: string }).tab ?? "" };
  } catch {
    return null;
  }
}

/** Whether somebody typed anything that is not stored in the story. */
const isTyped = (draft: UnsavedText | undefined) => Boolean(draft && draft.text !== draft.base);

const alive = async () => new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));

/** Put aside what another tab typed, since this one types in its place: it is offered by that tab, or here where that one is no more. */
async function putAside(key: string, { owner, text, base, at }: UnsavedText & { owner: string }) {
  if (CHOICE.test(key)) return;
  const copy = copyOf(owner, key);
  keep(copy, { text, base, at });
  // A tab that is being closed holds its lock a little longer, on a busy machine some seconds.
  for (let looks = 0; looks < CLOSING_LOOKS && localStorage.getItem(copy) !== null; looks++) {
    await takeOver();
    await new Promise((done) => setTimeout(done, CLOSING_MS));
  }
}

function tell() {
  version += 1;
  listeners.forEach((listener) => listener());
}

/** Change a draft, or take it away; only what differs from what is stored already is worth keeping. */
export function setUnsaved(key: string, draft: UnsavedText | null) {
  // What another tab has stored under this name and this one never showed.
  const other = stored(key);
  const shown = [draft?.text, drafts.get(key)?.text];
  if (other && other.owner !== tab && !shown.includes(other.text)) void putAside(key, other).catch(() => (unsafe = true));
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  try {
    if (draft && isTyped(draft)) keep(PREFIX + key, { text: draft.text, base: draft.base, at: draft.at, left: !draft.open, lent: draft.lent, saved: draft.saved, tab });
    else remove(PREFIX + key);
    remove(copyOf(tab, key));
  } catch {
    unsafe = true;
  }
  tell();
}

try {
  for (let at = 0; at < localStorage.length; at++) {
    const name = localStorage.key(at) ?? "";
    const found = name.startsWith(PREFIX) && parsed(localStorage.getItem(name));
    if (found) drafts.set(name.slice(PREFIX.length), found);
  }
} catch {
  unsafe = true;
}
// Another tab stored the same text, or goes on with it, where no editor is open here; what stands in an open editor stays.
addEventListener("storage", (event) => {
  const key = event.key?.startsWith(PREFIX) ? event.key.slice(PREFIX.length) : "";
  const mine = drafts.get(key);
  if (!mine) return;
  // Most fields are in sight all the time: one that was typed in here is an open editor.
  const open = mounted.get(key) || mine.adrift || (!mine.kept && isTyped(mine) && !CHOICE.test(key));
  if (!open && mine.text !== parsed(event.oldValue)?.text) return;
  const theirs = parsed(event.newValue);
  if (open) {
    // The other tab took its copy away: a reload shall find this one.
    if (!theirs) setUnsaved(key, mine);
    else if (isTyped(mine) && theirs.text !== mine.text) keepOwn(key, mine);
    else if (!isTyped(mine) && theirs.left) {
      // It would have been shown, had this editor been opened a moment later.
      drafts.set(key, theirs);
      tell();
    }
    return;
  }
  const aside = parsed(localStorage.getItem(copyOf(tab, key)));
  if (aside) {
    setUnsaved(`${key}/~${tab}`, { ...aside, open: false });
    remove(copyOf(tab, key));
  }
  if (theirs) drafts.set(key, { ...theirs, open: mine.open });
  else drafts.delete(key);
  tell();
});
/** Keep what is typed here apart: another tab's text has taken its place, and this tab may be gone without a word. */
function keepOwn(key: string, { text, base, at, lent, saved }: UnsavedText) {
  try {
    keep(copyOf(tab, key), { text, base, at, lent, saved });
  } catch {
    unsafe = true;
  }
}

const copies = () => Object.keys(localStorage).filter((name) => name.startsWith(OWN));

/** Offer what was typed in tabs that are no more, beside what another tab typed in the same editor. */
async function takeOver() {
  const living = await alive();
  for (const name of copies()) {
    const [owner = "", ...rest] = name.slice(OWN.length).split("/");
    if (living.has(ALIVE + owner)) continue;
    const key = rest.join("/");
    const found = parsed(localStorage.getItem(name));
    remove(name);
    if (found && found.text !== drafts.get(key)?.text && !CHOICE.test(key)) setUnsaved(drafts.has(key) ? `${key}/~${owner || tab}` : key, found);
  }
}
/** Take over what a browser that died had on the disk and not in localStorage; beside what is typed already. */
async function takeOverDurable() {
  for (const [name, value] of await newerThanLocal().catch(() => [])) {
    const found = parsed(value);
    if (name.startsWith(OWN)) localStorage.setItem(name, value);
    else if (found && name.startsWith(PREFIX)) {
      const key = name.slice(PREFIX.length);
      const there = drafts.get(key);
      const typed = there && (!there.kept || isNewerLocal(name, value)) && isTyped(there) && there.text !== found.text;
      if (!typed) setUnsaved(key, found);
      else if (!CHOICE.test(key)) setUnsaved(`${key}/~${Math.random().toString(36).slice(2)}`, { ...found, open: false });
    }
  }
  await takeOver();
}
/** All that was typed before is here, or the disk is slow. */
export const ready = Promise.race([takeOverDurable().catch(() => void (unsafe = true)), new Promise((done) => setTimeout(done, PATIENCE_MS))]);

void navigator.locks?.request(ALIVE + tab, () => new Promise(() => {}));
const lookForGone = () => void takeOver().catch(() => (unsafe = true));
lookForGone();
// One that is being closed holds its lock a little longer; others go while this one is away.
setTimeout(lookForGone, CLOSING_MS);
document.addEventListener("visibilitychange", lookForGone);
addEventListener("beforeunload", (event) => {
  const lost = ([key, draft]: [string, UnsavedText]) => isTyped(draft) && (unsafe || ![PREFIX + key, copyOf(tab, key)].some((place) => parsed(localStorage.getItem(place))?.text === draft.text));
  if ([...drafts].some(lost)) event.preventDefault();
});

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** An editor shows a draft, until the returned function is called. */
export function mountEditor(key: string) {
  const change = (by: number) => {
    mounted.set(key, (mounted.get(key) ?? 0) + by);
    tell();
  };
  const found = drafts.get(key);
  if (found?.adrift) drafts.set(key, { ...found, adrift: false });
  change(1);
  return () => {
    const left = drafts.get(key);
    if (left) drafts.set(key, { ...left, kept: true });
    change(-1);
  };
}

/** The editor of a draft vanished while somebody typed in it: they go on where the draft is offered. */
export function setAdrift(key: string) {
  const draft = drafts.get(key) ?? { text: "", base: "", at: "", open: true, kept: false };
  if (draft.open) setUnsaved(key, { ...draft, adrift: true });
}

/** What was typed for entries of the codex that are no more is offered beside the story: every other one has its field. */
export function setLostLinesAdrift(story: string) {
  const lost = ([key, draft]: [string, UnsavedText]) => key.startsWith(`codex/stories/${story}/`) && !mounted.get(key) && !COPY.test(key) && !CHOICE.test(key) && !draft.adrift && isTyped(draft);
  [...drafts].filter(lost).forEach(([key]) => setAdrift(key));
}

/** Whether a draft is of this story, or of this form. */
const isOf = (key: string, owner: string) => `${key}/`.startsWith(`${owner}/`) || key.includes(`/stories/${owner}/`);

/** What was typed of a story or a form, and is not stored. */
export function useTexts(owner: string): [key: string, draft: UnsavedText][] {
  useSyncExternalStore(subscribe, () => version);
  return [...drafts].filter(([key, draft]) => isOf(key, owner) && !CHOICE.test(key) && (draft.adrift || isTyped(draft)));
}

/** What of it no editor shows, copies from other tabs among it, or one of the manuscript, which may be far from where it was opened. */
export function useHiddenTexts(owner: string): [key: string, draft: UnsavedText][] {
  // A field that is always at hand shows its own text, but for a chapter's title, which stands behind a passage's menu; its copies
  // are shown by nothing else.
  const shown = (key: string) => !key.startsWith(`${owner}/`) && !COPY.test(key) && !/\/chapter\//.test(key);
  return useTexts(owner).filter(([key, draft]) => draft.adrift || (!shown(key) && (!mounted.get(key) || (draft.kept && /\/(text|summary)\//.test(key)))));
}

const DISCARDED = "desk.discarded";
const MOST_DISCARDED = 20;
export type Discarded = { key: string; draft: UnsavedText };
let discarded: Discarded[] = [];
try {
  const found: unknown = JSON.parse(sessionStorage.getItem(DISCARDED) ?? "[]");
  if (Array.isArray(found)) discarded = found as Discarded[];
} catch {
  // It is none of ours.
}

function keepDiscarded(all: Discarded[]) {
  discarded = all.slice(0, MOST_DISCARDED);
  try {
    sessionStorage.setItem(DISCARDED, JSON.stringify(discarded));
  } catch {
    // It can be taken back until the page is left.
  }
}

const without = (key: string, text: string) => discarded.filter((one) => one.key !== key || one.draft.text !== text);

/** Throw away what was typed; it can be taken back, for Cancel is next to Save. */
export function discard(key: string) {
  const draft = drafts.get(key);
  if (draft?.text.trim() && isTyped(draft)) keepDiscarded([{ key, draft }, ...without(key, draft.text)]);
  setUnsaved(key, null);
}

/** What was thrown away of a story or a form, the last first. */
export function useDiscarded(owner: string): Discarded[] {
  useSyncExternalStore(subscribe, () => version);
  return discarded.filter(({ key }) => isOf(key, owner));
}

/** Take back what was thrown away; what was typed in its place since can be taken back in turn. */
export function takeBack(thrown: Discarded) {
  discard(thrown.key);
  keepDiscarded(without(thrown.key, thrown.draft.text));
  // The server was told to forget it.
  setUnsaved(thrown.key, { ...thrown.draft, lent: "", open: false, kept: true });
}

/** Let what was thrown away go for good. */
export function letGo(owner: string) {
  keepDiscarded(discarded.filter(({ key }) => !isOf(key, owner)));
  tell();
}

/** Keep a text that would go, as if it had been typed and left; beside one that is typed meanwhile. */
export function layAside(key: string, text: string, at: string, base = "") {
  const typed = drafts.get(key)?.text.trim();
  if (typed === text.trim()) return;
  const copy = Math.random().toString(36).slice(2);
  setUnsaved(typed ? `${key}/~${copy}` : key, { text, base, at, open: false, kept: true });
}

/** Forget the copies of a text that was laid aside, for it is in the story now. */
export function forgetLaidAside(key: string, text: string) {
  [...drafts].filter(([name, draft]) => (COPY.exec(name)?.[1] ?? name) === key && draft.kept && draft.text.trim() === text.trim()).forEach(([name]) => setUnsaved(name, null));
}

/** Take away all drafts of a story that is no more. */
export function forget(story: string) {
  [...drafts.keys()].filter((key) => isOf(key, story)).forEach((key) => setUnsaved(key, null));
  letGo(story);
  copies().filter((name) => name.includes(`/${story}/`)).forEach(remove);
}

/** Open the editor of a draft wherever it is shown, with the caret in it; a copy of a tab that is no more changes places with it. */
export function openAgain(name: string) {
  const draft = drafts.get(name);
  const key = COPY.exec(name)?.[1] ?? name;
  wanted = { key, atEnd: true };
  if (key !== name) {
    const other = drafts.get(key);
    setUnsaved(name, other && isTyped(other) ? { ...other, open: false, kept: true } : null);
  }
  if (draft) setUnsaved(key, { ...draft, open: true });
}

/** Open the editor of a draft, with what was typed before or else with this text. */
export function openEditor(key: string, text: string, at: string, spot?: Spot) {
  wanted = { key, spot };
  const there = drafts.get(key) ?? stored(key);
  setUnsaved(key, { text, base: text, kept: false, ...there, at: there?.at || at, open: true });
}

/** Whether somebody asked for this editor, and it is not there yet. */
export const isWanted = (key: string) => wanted?.key === key;

/** Return what somebody wanted who asked for this editor; null where a page was loaded. */
export function takeWish(key: string) {
  const wish = wanted?.key === key ? wanted : null;
  if (wish) wanted = null;
  return wish;
}

/** The edits of each story that the server keeps, as they were last told. */
const pending = new Map<string, PendingEdit[]>();

/** Show all texts of a story that the server keeps until they can be stored: each in its editor, or beside what is typed there.
    Those that it keeps no more go, unless somebody has typed on in them. */
export function showServerCopies(story: string, edits: PendingEdit[]) {
  const before = pending.get(story) ?? [];
  pending.set(story, edits);
  for (const [key, draft] of drafts) {
    if (!draft.lent || !isOf(key, story) || edits.some((edit) => edit.key === draft.lent)) continue;
    const same = before.some((edit) => edit.key === draft.lent && edit.text === draft.text);
    setUnsaved(key, same ? null : { ...draft, lent: "" });
  }
  for (const { key: lent, at, seen, step, text, now } of edits) {
    if ([...drafts.values()].some((draft) => draft.lent === lent)) continue;
    const key = `${story}/text/${at}/${step}`;
    const there = drafts.get(key);
    if (there?.text === text) setUnsaved(key, { ...there, lent });
    else setUnsaved(there ? `${key}/~${lent}` : key, { text, base: now, at: seen, open: !there, kept: true, lent });
  }
}

/** The premise that a story was begun from stays until its first passage is written. */
export function lendToStory(key: string, story: string, sent: string) {
  const text = drafts.get(key);
  // What was typed while it was sent is of no story yet.
  if (text?.text === sent) setUnsaved(key, { ...text, at: story });
}

export function dropOpening(story: string) {
  for (const [key, text] of drafts) if (key.startsWith("start/") && text.at === story) setUnsaved(key, null);
}

/** One field's draft, named by the story, what it is, the passage it belongs to and its number. */
export function useUnsavedText(key: string, at = "") {
  useSyncExternalStore(subscribe, () => version);
  const draft = drafts.get(key);
  const put = (changes: Partial<UnsavedText>) => setUnsaved(key, { text: "", base: "", open: true, kept: false, ...drafts.get(key), at: (at && drafts.get(key)?.at) || at, ...changes });
  return {
    key,
    /** The text of the open editor; null where there is none. */
    text: draft?.open ? draft.text : null,
    /** The story that was begun from it already, of a text of the start page. */
    begun: draft?.at ?? "",
    kept: Boolean(draft?.kept && isTyped(draft)),
    /** The version of the passage that it was begun from. */
    seen: draft?.at ?? "",
    lent: draft?.lent ?? "",
    /** The text that it was begun from. */
    base: draft?.base ?? "",
    /** What of it was sent last: where that stands in the story, nobody else has changed it. */
    saved: draft?.saved ?? "",
    sent: (text: string) => void (drafts.has(key) && put({ saved: text })),
    /** Go on with it upon another version, whose text was seen. */
    rebase: (version: string, text: string) => put({ at: version, base: text }),
    open: (text = "", spot?: Spot) => openEditor(key, text, at, spot),
    /** What is typed now; `base` is what it is begun from, where that is told by nothing else. */
    change: (text: string, base?: string) => put({ text, kept: false, ...(base !== undefined && { base }) }),
    /** Close the editor; what was typed is offered again. */
    close: () => {
      const now = drafts.get(key);
      if (isTyped(now)) put({ open: false, kept: true, adrift: false });
      else setUnsaved(key, null);
    },
    /** Forget what was in it as it was drawn, for that is stored, but for what is `left` of it; what was typed since stays. */
    drop: (left = "") => {
      const now = drafts.get(key);
      if (now && draft && now.text !== draft.text) setUnsaved(key, { ...now, base: draft.text, lent: "" });
      else setUnsaved(key, now && left ? { ...now, text: left } : null);
      // One that is refused at once may be told of before this: it is shown again.
      const story = key.split("/")[0]!;
      const edits = pending.get(story);
      if (edits) showServerCopies(story, edits.filter((edit) => edit.key !== draft?.lent));
    },
    /** Throw it away: it can be taken back. */
    discard: () => discard(key),
  };
}

/** The draft of a field that is its own editor; what is spread over it says whose it is, should it vanish under whoever types. */
export function useField(key: string) {
  const field = useUnsavedText(key);
  useEffect(() => mountEditor(key), [key]);
  return { ...field, mark: { "data-draft": key } };
}

export type EditorField = ReturnType<typeof useUnsavedText>;
