// The texts of passages: fetched when they come near the screen, and kept while their story is open.
import { get, Refused } from "./api";
import type { Passage } from "./types";

const RETRY_MS = 800;
const MOST_IN_A_REQUEST = 40;

export class PassageCache {
  private texts = new Map<string, Passage>();
  private wanted = new Set<string>();
  private listeners = new Set<() => void>();
  private timer = 0;

  constructor(private story: string) {}

  get = (id: string) => this.texts.get(id);

  put(passage: Passage) {
    this.texts.set(passage.id, passage);
    this.listeners.forEach((listener) => listener());
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  want(ids: string[]) {
    for (const id of ids) if (!this.texts.has(id)) this.wanted.add(id);
    if (this.wanted.size && !this.timer) this.timer = window.setTimeout(() => void this.fetch(), 0);
  }

  /** Read a passage again, which stays as it is here until then. */
  renew(id: string) {
    this.wanted.add(id);
    this.want([]);
  }

  private async fetch() {
    const ids = [...this.wanted].slice(0, MOST_IN_A_REQUEST);
    try {
      for (const passage of await get<Passage[]>(`/stories/${this.story}/passages`, { ids: ids.join(",") })) this.texts.set(passage.id, passage);
      ids.forEach((id) => this.wanted.delete(id));
      this.listeners.forEach((listener) => listener());
    } catch (problem) {
      if (problem instanceof Refused && problem.status) this.wanted.clear();
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    this.timer = 0;
    this.want([]);
  }
}
