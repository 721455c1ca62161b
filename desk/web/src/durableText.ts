// localStorage, and the same in IndexedDB: a browser writes localStorage down late, and one that dies takes the last minute along.

const STORE = "texts";
const FLUSH_MS = 500;
/** Marks of what was taken out of localStorage, until it is out of IndexedDB too: a page may be left in between. */
const REMOVED = "desk.removed/";

type Change = { value: string | null; marks: string[] };
const changes = new Map<string, Change>();
let timer = 0;

const opened = new Promise<IDBDatabase>((done, fail) => {
  const request = indexedDB.open("desk.texts", 1);
  request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});
// A browser that has none, as some private windows, keeps what localStorage keeps.
opened.catch(() => undefined);

/** Write down what was changed: it waits until it is on the disk, for a write may fail. */
async function flush() {
  window.clearTimeout(timer);
  timer = 0;
  const now = [...changes];
  if (!now.length) return;
  const base = await opened.catch(() => null);
  if (base) await new Promise<void>((done, fail) => {
    // "strict": it is on the disk when this is done, also where the machine dies.
    const transaction = base.transaction(STORE, "readwrite", { durability: "strict" });
    const texts = transaction.objectStore(STORE);
    for (const [name, { value }] of now) value === null ? texts.delete(name) : texts.put(value, name);
    transaction.oncomplete = () => done();
    transaction.onabort = () => fail(transaction.error);
  });
  for (const [name, entry] of now) {
    entry.marks.forEach((mark) => localStorage.removeItem(mark));
    // What was changed meanwhile is written next.
    if (changes.get(name) === entry) changes.delete(name);
  }
}

const flushNow = () => void flush().catch(() => void (timer ||= window.setTimeout(flushNow, FLUSH_MS)));
addEventListener("pagehide", flushNow);
document.addEventListener("visibilitychange", flushNow);

function change(name: string, value: string | null, mark?: string) {
  changes.set(name, { value, marks: [...(changes.get(name)?.marks ?? []), ...(mark ? [mark] : [])] });
  timer ||= window.setTimeout(flushNow, mark ? 0 : FLUSH_MS);
}

/** Keep an object under a name, with the time; raises what localStorage does where that is full. */
export function keep(name: string, fields: object) {
  const value = JSON.stringify({ ...fields, time: Date.now() });
  change(name, value);
  localStorage.setItem(name, value);
}

/** Keep nothing more under a name. */
export function remove(name: string) {
  if (localStorage.getItem(name) === null && !changes.has(name)) return;
  localStorage.removeItem(name);
  const mark = REMOVED + Math.random().toString(36).slice(2);
  localStorage.setItem(mark, JSON.stringify({ name, time: Date.now() }));
  change(name, null, mark);
}

function timeOf(value: string | null | undefined): number {
  try {
    return Number((JSON.parse(value ?? "") as { time?: number }).time ?? 0);
  } catch {
    return 0;
  }
}

/** Whether localStorage has something under a name that is newer than this. */
export const isNewerLocal = (name: string, value: string) => timeOf(localStorage.getItem(name)) > timeOf(value);

/** Return what IndexedDB has that localStorage lacked when this was asked, or had in an older state: what was typed before a browser died.
    A disk may be slow: what is typed meanwhile is newer, and in place of none of it. */
export async function newerThanLocal(): Promise<[name: string, value: string][]> {
  const local = new Map(Object.keys(localStorage).map((name) => [name, localStorage.getItem(name)]));
  const texts = (await opened).transaction(STORE).objectStore(STORE);
  const all = <T>(request: IDBRequest<T[]>) => new Promise<T[]>((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
  const [names, values] = await Promise.all([all(texts.getAllKeys()), all<string>(texts.getAll())]);
  const removed = new Map<string, number>();
  for (const mark of [...local.keys()].filter((name) => name.startsWith(REMOVED))) {
    const { name, time } = JSON.parse(local.get(mark)!) as { name: string; time: number };
    removed.set(name, Math.max(time, removed.get(name) ?? 0));
    const at = names.indexOf(name);
    if (at < 0 || timeOf(values[at]!) <= time) change(name, null, mark);
    else localStorage.removeItem(mark);
  }
  return names.flatMap((name, at): [string, string][] => {
    const [value, time] = [values[at]!, timeOf(values[at]!)];
    const known = Math.max(timeOf(local.get(String(name))), removed.get(String(name)) ?? 0);
    return time > known ? [[String(name), value]] : [];
  });
}
