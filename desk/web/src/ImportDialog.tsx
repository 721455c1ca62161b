// A manuscript that is dropped on any page, or chosen: what it holds and what it costs is said before it becomes a story.
import { useEffect, useState } from "react";
import { upload } from "./api";
import { goTo } from "./route";
import { Dialog, Problem, useAttempt } from "./components";
import { count, tokens } from "./format";
import type { Preview } from "./types";

/** Take files that are dropped anywhere: a browser would open them in place of the page. */
export function useImport() {
  const [file, setFile] = useState<File | null>(null);
  const [over, setOver] = useState(false);
  useEffect(() => {
    const dragged = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(event.type === "dragover");
      if (event.type === "drop" && event.dataTransfer.files[0]) setFile(event.dataTransfer.files[0]);
    };
    const left = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    addEventListener("dragover", dragged);
    addEventListener("drop", dragged);
    addEventListener("dragleave", left);
    return () => {
      removeEventListener("dragover", dragged);
      removeEventListener("drop", dragged);
      removeEventListener("dragleave", left);
    };
  }, []);
  return {
    onFile: (chosen: File | undefined) => chosen && setFile(chosen),
    shown: (
      <>
        {over && <div className="over" aria-hidden="true" />}
        {file && <ImportDialog key={`${file.name} ${file.lastModified}`} file={file} onClose={() => setFile(null)} />}
      </>
    ),
  };
}

type Started = { story: string; left_out: string };

function ImportDialog(props: { file: File; onClose: () => void }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const whole = props.file.name.toLowerCase().endsWith(".json");
  const { problem, attempt } = useAttempt();
  useEffect(() => {
    if (!whole) void attempt(async () => setPreview(await upload<Preview>("/imports", props.file)));
  }, []);
  const [fast, setFast] = useState(true);
  const [busy, setBusy] = useState(false);
  const [cleaned, setCleaned] = useState<Started | null>(null);
  const open = (story: string) => {
    goTo(story);
    props.onClose();
  };
  const begin = async () => {
    setBusy(true);
    await attempt(async () => {
      const started = await upload<Started>("/imports/begin", props.file, { fast: String(fast) });
      if (started.left_out) setCleaned(started);
      else open(started.story);
    });
    setBusy(false);
  };
  if (cleaned)
    return (
      <Dialog title="Import a manuscript" onClose={() => open(cleaned.story)}>
        <p className="lead">{props.file.name} is restored with all its branches.</p>
        <p>{cleaned.left_out}</p>
        <button className="primary" onClick={() => open(cleaned.story)}>
          Open the story
        </button>
      </Dialog>
    );
  return (
    <Dialog title="Import a manuscript" onClose={props.onClose}>
      {whole && <p className="lead">{props.file.name} is restored with all its branches.</p>}
      {!whole && !preview && !problem && <p className="lead">Reading {props.file.name}</p>}
      {preview && (
        <>
          <p className="lead">
            <bdi>{preview.title}</bdi>
            {preview.author && <> by <bdi>{preview.author}</bdi></>}
          </p>
          <p>
            {count(preview.words, "word")} in {count(preview.chapters, "chapter")} become {count(preview.passages, "passage")}, and the story goes on from the last one.
          </p>
          <blockquote dir="auto">{preview.first}</blockquote>
          <fieldset className="genres">
            <legend>Who reads it for the memory</legend>
            <label>
              <input type="radio" name="fast" checked={fast} onChange={() => setFast(true)} />
              <span>nobody: its own sentences</span>
            </label>
            <label>
              <input type="radio" name="fast" checked={!fast} onChange={() => setFast(false)} />
              <span>the model</span>
            </label>
          </fieldset>
          <p className="hint">
            {fast
              ? "The telling sentence of each passage becomes its summary. It costs nothing; a long book takes some minutes."
              : `About ${count(preview.calls, "call")} and ${tokens(preview.input_tokens + preview.output_tokens)} tokens. It can be stopped, and the same file goes on.`}
          </p>
        </>
      )}
      <Problem text={problem} />
      <div className="row">
        <button className="primary" disabled={busy || !(whole || preview)} onClick={() => void begin()}>
          {busy ? "Importing" : "Import it"}
        </button>
        <button className="quiet" onClick={props.onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
