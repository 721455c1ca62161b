// Numbers and stages in words.
import type { JobState, PathEntry } from "./types";

export const count = (number: number, one: string, many = `${one}s`) => `${number.toLocaleString("en-GB")} ${number === 1 ? one : many}`;

/** The first version of a passage, which all later ones of it share. */
export const firstOf = (entry: PathEntry) => entry[3] ?? entry[0];

/** Whether two texts differ in nothing but white space. */
export const isSame = (text: string, other: string) => text.trim().replace(/\s+/g, " ") === other.trim().replace(/\s+/g, " ");

export function duration(seconds: number) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export const tokens = (number: number) => (number < 10_000 ? number.toLocaleString("en-GB") : `${Math.round(number / 1000).toLocaleString("en-GB")}k`);

const STAGES: Record<string, string> = {
  "": "Getting ready",
  open_story: "Imagining the story",
  retrieve: "Recalling earlier passages",
  update_memory: "Rewriting the memory",
  propose_plans: "Thinking of what could happen next",
  commit: "Saving it, and filing it for recall",
  simulator: "Choosing the next plan",
  select_plan: "Choosing the next plan",
};

export function stage(job: JobState) {
  if (job.progress) {
    const { done, total, what } = job.progress;
    const part = total ? ` (${Math.round(done / 1e6).toLocaleString("en-GB")} of ${Math.round(total / 1e6).toLocaleString("en-GB")} MB)` : "";
    return `${what.charAt(0).toUpperCase()}${what.slice(1)}${part}`;
  }
  if (job.replay && job.kind === "import") return `Reading passage ${job.replay.done} of ${job.replay.total}`;
  if (job.replay) return `Rewriting the memory: passage ${job.replay.done} of ${job.replay.total}`;
  if (job.stage === "write") return job.draft ? `Writing passage ${job.step}` : `Reading before passage ${job.step}`;
  if (job.kind === "rework") return "Thinking of other words";
  if (job.kind === "keep") return "Keeping what is there; rewriting the memory";
  return STAGES[job.stage] ?? "Working";
}

export const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;

export const AUTHORS: Record<string, { mark: string; name: string }> = {
  model: { mark: "", name: "the model" },
  human: { mark: "you", name: "you" },
  edited: { mark: "edited", name: "the model, edited by you" },
};

/** The beginning of a text, cut between two words. */
export function excerpt(text: string, most: number) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), most / 2)).replace(/[\s,;:–—-]+$/, "")}…`;
}

/** A letter of a script that sets its words apart, in which no emphasis begins or ends within a word. */
const SPACED =
  "(?![\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uac00-\\ud7af])[\\p{L}\\p{N}_]";
const EMPHASIS = new RegExp(`(?<!\\*|${SPACED})\\*(?=[^\\s*])([^*\\n]{1,2000}?)(?<=[^\\s*])\\*(?!\\*|${SPACED})`, "u");

/** A text in pieces, and whether each is emphasised: what a book prints in italics stands between single asterisks (prose/emphasis.py). */
export const emphasised = (text: string): [string, boolean][] =>
  text.split(EMPHASIS).map((piece, at) => [piece, at % 2 === 1]);
