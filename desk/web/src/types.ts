// What the server sends; desk/backend/schemas.py is the other side.

export type RecalledEntry = { id: string; step: number; score: number; piece: string; summary: string };
/** A passage that has some words letter by letter. */
export type FoundWords = { id: string; step: number; times: number; piece: string };
export type Reason = { sentence: string; why: string };
export type Memory = { id: string; step: number; now: string[]; before: string[]; dropped: Reason[]; added: Reason[]; recalled: RecalledEntry[] };
export type CodexLine = { aspect: string; value: string; text: string; rests_on: string; passage: string; step: number; author: boolean };
/** `player` is who plays; `names` are all that it is called. */
export type CodexEntry = { name: string; kind: string; names: string[]; here: boolean; pinned: boolean; hidden: boolean; player: boolean; lines: CodexLine[] };
export type CodexHistory = { passage: string; step: number; do: string; aspect: string; said: string; author: boolean };
/** Titles of chapters by the step of their first passages; an empty one is a number. */
export type Chapters = Record<string, string>;
/** `first` is the version that a passage's corrections began from: what is typed belongs to all of them. */
export type PathEntry = [id: string, words: number, author: string, first?: string];

/** The text of an edit that is not in the log: `at` is the first version of its passage, `seen` the one that was edited, `now` what
    its passage reads. */
export type PendingEdit = { key: string; at: string; seen: string; step: number; text: string; now: string };

export type StoryView = {
  id: string;
  revision: number;
  mode: "novel" | "fiction";
  language: string;
  opened: boolean;
  title: string;
  genre: string;
  premise: string;
  author?: string;
  characters?: string[];
  outline?: string[];
  archived?: boolean;
  head: string;
  step: number;
  status?: string;
  branch?: string;
  words?: number;
  path: PathEntry[];
  /** When passages of this branch were written in the last two days, and their words; imported ones are none. */
  recent: [written: string, words: number][];
  plans: string[];
  waiting_plan?: string | null;
  memory?: Memory;
  root?: string;
  takes: string[];
  aside: { key: string; step: number; plan: string; text: string }[];
  pending_edits: PendingEdit[];
  unfinished_import: { done: number; total: number } | null;
  pending_replay: { step: number; text: string; done: number; total: number } | null;
};

/** What a story keeps from its reader. */
export type Hidden = { truth: string; clues: string[] };

/** A sentence of a passage that cannot be true together with the codex, and the earlier one that this rests on. */
export type Contradiction = { number: number; start: number; end: number; entry: string; said: string; holds: string; rests_on: string; passage: string; step: number };

/** One that was written a moment ago is first here without its contradictions. */
export type Passage = {
  id: string;
  parent: string;
  step: number;
  plan: string;
  plan_author: string;
  author: string;
  summary: string;
  text: string;
  contradictions?: Contradiction[];
};

export type MemoryChange = { before: string; after: string };

/** What somebody asked of the codex; `problem` is why it could not be made. */
export type AskedChange = { do: "add" | "line" | "alias" | "rename" | "merge" | "pin" | "hide" | "remove"; name: string; args: Record<string, unknown>; problem: string };

export type JobState = {
  busy: boolean;
  kind: string;
  stage: string;
  attempt: number;
  since: number;
  step: number;
  plan: string;
  draft: string;
  asked: number;
  done: number;
  stopping: boolean;
  progress: { done: number; total: number; what: string } | null;
  /** Title and premise of a story that is being founded, as far as they are written. */
  founding: string;
  replay: { done: number; total: number } | null;
  suggestions: Suggestion[];
  queue: string[];
  /** Edits of the memory that wait for the one that the passage in the making leaves, one sentence a line. */
  memory_changes: MemoryChange[];
  /** Changes of the codex that wait until what is in the making is there. */
  codex_changes: AskedChange[];
  /** Plans whose passages were written ahead. */
  ready: string[];
  error: string;
  note: string;
  revision: number;
};
/** Other words for characters of a passage's version `at`, counted as the server does; `text` is empty until they are here, and stays
    while others are in the making. `root` is the version that the passage's corrections began from. */
export type Suggestion = { key: string; at: string; root: string; start: number; end: number; how: "rewrite" | "expand" | "shorten" | "describe" | "rephrase"; take: number; text: string; changes: Change[]; error: string; working: boolean };

type Priced = { calls: number; input_tokens: number; cached_tokens: number; output_tokens: number; cost: string | null };
/** Of `choices`, made while passages were written ahead, so many were `ready`. */
export type Usage = Priced & { passages: number; in_all: Priced; choices: number; ready: number };
export type StorySummary = { story: string; title: string; genre: string; step: number; status: string; updated: string; archived: boolean; premise: string; words: number };
export type TreeNode = { id: string; parent: string; step: number; words: number; author: string; names: string[] };
export type Branch = { tip: string; left: string; nodes: string[]; words: number; first_step: number; last_step: number; is_head: boolean; names: string[]; superseded: boolean };
export type Tree = { head: string; names: Record<string, string>; passages: TreeNode[]; branches: Branch[] };
export type Change = { kind: "same" | "removed" | "added" | "changed"; before: string; after: string };
export type Diff = { a: string; b: string; plan: Change[]; text: Change[]; sentences: Change[]; memory_dropped: string[]; memory_added: string[] };
export type Cost = { passages: number; calls: number; input_tokens: number; output_tokens: number; seconds: number };
export type SettingField = {
  name: string;
  label: string;
  kind: "text" | "long" | "integer" | "number" | "boolean" | "choice" | "roles";
  description: string;
  unit: string;
  minimum: number | null;
  maximum: number | null;
  default: string | number | boolean | null;
  choices: string[];
  machine: boolean;
};
export type Source = { value: string | null; source: "here" | "environment" | "default" | "code"; variable: string };
/** Where a model may run, and the address that is filled in for it. */
export type Place = { name: string; base_url: string; about: string };
/** `known` is the window and the price of a model, in a sentence. */
export type Trial = { works: boolean; said: string; models: string[]; known: Record<string, string> };
export type Settings = { fields: SettingField[]; values: Record<string, unknown>; places?: Place[]; key?: string; in_force?: Record<"model" | "base_url", Source> };
export type Preview = { title: string; author: string; language: string; language_from: string; chapters: number; passages: number; words: number; first: string; calls: number; input_tokens: number; output_tokens: number };

/** Run something that may be refused; false where it was, and the reason is told. */
export type Attempt = (work: () => Promise<unknown>) => Promise<boolean>;

/** Ask the server to change the story in view; false where it refused, and then the page says why, or `attempt` tells it elsewhere. */
export type Ask = (method: "POST" | "PUT" | "DELETE", path: string, body?: unknown, attempt?: Attempt) => Promise<boolean>;

/** A passage to scroll to; `at` tells one wish from the next. */
export type Jump = { id: string; at: number };

/** The passage whose memory was asked for, the newest one at that time, and whether whoever asked wants to be taken to it. */
export type MemoryAsked = { id: string; head: string; goThere: boolean };
