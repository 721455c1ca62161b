// Give a passage another text: the story goes on from it, or the later passages stay, at a price that is told before.
import { useEffect, useState } from "react";
import { get } from "./api";
import { count, duration, tokens } from "./format";
import type { EditorField } from "./unsavedText";
import type { Ask, Cost, Passage } from "./types";

/** What a text was made from: the version of its passage that was edited, and the refused edit that the server keeps. */
type From = Pick<EditorField, "seen" | "lent" | "saved" | "sent">;

/** From here on the server keeps the text, and gives it back if it cannot be stored. `takes` is the key of a suggestion that is in it. */
export async function savePassage(ask: Ask, passage: Passage, text: string, replay: boolean, from?: From, takes = "") {
  from?.sent(text);
  const done = await ask("POST", "/passage", { at: passage.id, text, replay, seen: from?.seen || passage.id, saved: from?.saved ?? "", instead: from?.lent ?? "", takes });
  if (!done) from?.sent(from.saved);
  return done;
}

/** Let the server forget a text that it keeps. */
export const forgetEdit = (ask: Ask, key: string) => ask("DELETE", `/passage?key=${encodeURIComponent(key)}`);

/** What it costs to keep the later passages, as soon as that is known; it is asked for once a passage, where it is `wanted`. */
export function useCost(story: string, passage: string, later: number, wanted: boolean) {
  const [cost, setCost] = useState<Cost | null>(null);
  const asks = wanted && later > 0;
  useEffect(() => {
    if (!asks) return;
    let here = true;
    void get<Cost>(`/stories/${story}/replay-cost`, { ref: passage }).then((found) => here && setCost(found), () => undefined);
    return () => {
      here = false;
      setCost(null);
    };
  }, [asks, later, passage, story]);
  return cost;
}

export function SaveText(props: { passage: Passage; text: string; from?: From; takes?: string; busy: boolean; later: number; cost: Cost | null; ask: Ask; verb: string; keep: string; onSaved?: () => void }) {
  const { passage, later, cost } = props;
  const save = (replay: boolean) => void savePassage(props.ask, passage, props.text, replay, props.from, props.takes).then((done) => done && props.onSaved?.());
  const disabled = props.busy || props.text.trim() === passage.text.trim();
  return (
    <>
      <div>
        <button className="primary" disabled={disabled} onClick={() => save(false)}>{props.verb}</button>
        <p className="hint">
          The memory and the plans are made anew from your text.
          {later > 0 && ` The ${count(later, "later passage")} ${later === 1 ? "stays as it is" : "stay as they are"}, on a branch of ${later === 1 ? "its" : "their"} own.`}
        </p>
      </div>
      {later > 0 && (
        <div>
          <button disabled={disabled} onClick={() => save(true)}>{props.keep} the {count(later, "later passage")}</button>
          <p className="hint">
            Word for word, with the memory rewritten for each
            {cost ? `: about ${count(cost.calls, "call")}, ${tokens(cost.input_tokens + cost.output_tokens)} tokens, ${duration(cost.seconds)}.` : "."}
          </p>
        </div>
      )}
    </>
  );
}
