// The question before a story is deleted for ever.
import { useState } from "react";
import { send } from "./api";
import { Dialog, Problem, useAttempt } from "./components";
import { count } from "./format";
import { forgetWords } from "./pageSettings";
import type { StorySummary } from "./types";
import { forget } from "./unsavedText";

export function EraseDialog(props: { story: StorySummary; onClose: () => void; onErased: () => void }) {
  const { story } = props;
  const [busy, setBusy] = useState(false);
  const { problem, setProblem, attempt } = useAttempt();
  const erase = async () => {
    setBusy(true);
    await attempt(async () => {
      await send("DELETE", `/stories/${story.story}`);
      forget(story.story);
      forgetWords(story.story);
      props.onErased();
    });
    setBusy(false);
  };
  return (
    <Dialog title="Erase this story for ever?" onClose={props.onClose}>
      <Problem text={problem} onClose={() => setProblem("")} />
      <p>
        “<bdi>{story.title || "Untitled"}</bdi>” has {count(story.step, "passage")} where it stands. They go, with every other branch, take and memory, and
        nobody can bring them back. To keep a copy, open the story and export Everything first.
      </p>
      <div className="row">
        <button disabled={busy} onClick={() => void erase()}>
          Erase it
        </button>
        <button className="quiet" autoFocus onClick={props.onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
