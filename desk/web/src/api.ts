// What the server says and takes; desk/wire.py and desk/views.py are the other side.

export type Entry = { id: string; step: number; score: number; piece: string; summary: string };
export type Why = { sentence: string; why: string };
export type Memory = { id: string; step: number; now: string[]; before: string[]; dropped: Why[]; added: Why[]; recalled: Entry[] };
/** `first` is the version that a passage's corrections began from: what is typed belongs to all of them. */
export type OnPath = [id: string, words: number, author: string, first?: string];

export type View = {
  id: string;
  revision: number;
  mode: "novel" | "fiction";
  opened: boolean;
  title: string;
  genre: string;
  premise: string;
  characters?: string[];
  outline?: string[];
  archived?: boolean;
  head: string;
  step: number;
  status?: string;
  branch?: string;
  words?: number;
  path: OnPath[];
  plans: string[];
  waiting_plan?: string | null;
  memory?: Memory;
  root?: string;
  takes: string[];
  aside: { key: string; step: number; plan: string; text: string }[];
  pending_edit: { at: string; step: number; text: string } | null;
  unread: { done: number; total: number } | null;
  pending_replay: { step: number; done: number; total: number } | null;
};

export type Passage = {
  id: string;
  parent: string;
  step: number;
  plan: string;
  plan_author: string;
  author: string;
  summary: string;
  text: string;
};

export type Doing = {
  busy: boolean;
  kind: string;
  stage: string;
  since: number;
  step: number;
  plan: string;
  draft: string;
  asked: number;
  done: number;
  stopping: boolean;
  progress: { done: number; total: number; what: string } | null;
  replay: { done: number; total: number } | null;
  error: string;
  note: string;
  revision: number;
};

export type Usage = { calls: number; input_tokens: number; cached_tokens: number; output_tokens: number; passages: number; cost: string | null };
export type Listed = { story: string; title: string; genre: string; step: number; updated: string; archived: boolean };
export type TreeNode = { id: string; parent: string; step: number; words: number; author: string; names: string[] };
export type Branch = { tip: string; left: string; nodes: string[]; words: number; first_step: number; last_step: number; is_head: boolean; names: string[]; superseded: boolean };
export type Tree = { head: string; names: Record<string, string>; passages: TreeNode[]; branches: Branch[] };
export type Change = { kind: "same" | "removed" | "added" | "changed"; before: string; after: string };
export type Diff = { a: string; b: string; plan: Change[]; text: Change[]; memory_dropped: string[]; memory_added: string[] };
export type Cost = { passages: number; calls: number; input_tokens: number; output_tokens: number; seconds: number };
export type Field = {
  name: string;
  label: string;
  kind: "text" | "long" | "integer" | "number" | "boolean" | "choice" | "roles";
  description: string;
  default: string | number | boolean | null;
  choices: string[];
  machine: boolean;
};
export type Source = { value: string | null; source: "here" | "environment" | "default" | "code"; variable: string };
export type Settings = { fields: Field[]; values: Record<string, unknown>; key?: string; in_force?: Record<"model" | "base_url", Source> };
export type Preview = { title: string; author: string; language: string; chapters: number; passages: number; words: number; first: string; calls: number; input_tokens: number; output_tokens: number };

const ROOT = "/desk/api";

export const eventsOf = (story: string) => `${ROOT}/stories/${story}/events`;
export const exportOf = (story: string, format: string) => `${ROOT}/stories/${story}/export?format=${format}`;

export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function answer<T>(asked: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await asked;
  } catch {
    throw new Refused("The desk does not answer: is `recurrentgpt desk` still running? The page tries again by itself.", 0);
  }
  const body: unknown = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused((body as { error?: string }).error ?? `The desk failed (${response.status}).`, response.status);
  return body as T;
}

export const get = <T>(path: string, query: Record<string, string> = {}) => {
  const words = new URLSearchParams(query).toString();
  return answer<T>(fetch(`${ROOT}${path}${words ? `?${words}` : ""}`));
};

export const send = <T = unknown>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown) =>
  answer<T>(
    fetch(`${ROOT}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    }),
  );

export const upload = <T>(path: string, file: File, more: Record<string, string> = {}) => {
  const form = new FormData();
  form.append("file", file);
  for (const [name, value] of Object.entries(more)) form.append(name, value);
  return answer<T>(fetch(`${ROOT}${path}`, { method: "POST", body: form }));
};
