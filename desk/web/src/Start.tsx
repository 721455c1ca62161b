import { useEffect, useState, type DragEvent } from "react";
import { get, send, upload, type Listed, type Preview } from "./api";
import { goTo } from "./App";
import { Dialog, Problem, useAttempt } from "./parts";
import { MachineSettings } from "./Settings";
import { count, tokens } from "./words";

type Shown = { stories: Listed[]; genres: string[] };

export function Start() {
  const [found, setFound] = useState<Shown | null>(null);
  const [genre, setGenre] = useState("");
  const [premise, setPremise] = useState("");
  const [play, setPlay] = useState(false);
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const [settings, setSettings] = useState(false);
  const [book, setBook] = useState<{ preview: Preview; file: File } | null>(null);
  const [all, setAll] = useState(false);
  const { problem, setProblem, attempt } = useAttempt();
  const read = () => attempt(async () => setFound(await get<Shown>("/stories")));
  useEffect(() => {
    document.title = "The writing desk";
    void read();
  }, []);

  const begin = async () => {
    setBusy(true);
    await attempt(async () => goTo((await send<{ story: string }>("POST", "/stories", { genre, premise, play })).story));
    setBusy(false);
  };
  const look = (file: File | undefined) =>
    file &&
    attempt(async () => {
      setBusy(true);
      try {
        if (file.name.toLowerCase().endsWith(".json")) goTo((await upload<{ story: string }>("/imports/begin", file)).story);
        else setBook({ preview: await upload<Preview>("/imports", file), file });
      } finally {
        setBusy(false);
      }
    });
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void look(event.dataTransfer.files[0]);
  };
  const stories = (found?.stories ?? []).filter((story) => all || !story.archived);
  const away = (found?.stories.length ?? 0) - (found?.stories.filter((story) => !story.archived).length ?? 0);

  return (
    <main
      className={`start ${over ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <header>
        <h1>The writing desk</h1>
        <p className="lead">A novel of any length, passage by passage. You choose what happens next.</p>
      </header>
      <Problem text={problem} onClose={() => setProblem("")} />
      <form
        className="begin"
        aria-label="A new story"
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <label className="field">
          <span>What is it about?</span>
          <textarea rows={3} dir="auto" value={premise} onChange={(event) => setPremise(event.target.value)} placeholder="A lighthouse keeper finds a stranger’s diary. Or leave it empty, and be surprised." />
        </label>
        <fieldset className="genres">
          <legend>Genre</legend>
          {["", ...(found?.genres ?? [])].map((name) => (
            <label key={name}>
              <input type="radio" name="genre" value={name} checked={genre === name} onChange={() => setGenre(name)} />
              <span>{name || "any"}</span>
            </label>
          ))}
        </fieldset>
        <fieldset className="genres">
          <legend>How</legend>
          <label>
            <input type="radio" name="how" checked={!play} onChange={() => setPlay(false)} />
            <span>write a novel</span>
          </label>
          <label>
            <input type="radio" name="how" checked={play} onChange={() => setPlay(true)} />
            <span>play a part in it</span>
          </label>
        </fieldset>
        <div className="row">
          <button className="primary" disabled={busy}>
            {busy ? "One moment" : "Begin"}
          </button>
          <label className="button quiet">
            Import a manuscript
            <input type="file" className="sr" accept=".txt,.md,.markdown,.docx,.epub,.json" onChange={(event) => void look(event.target.files?.[0])} />
          </label>
          <button type="button" className="quiet" onClick={() => setSettings(true)}>
            Model and settings
          </button>
        </div>
        <p className="hint">A text, Markdown, Word or EPUB file, or a story that was exported whole (.json), can be dropped anywhere on this page.</p>
      </form>
      {stories.length > 0 && (
        <section aria-labelledby="stories">
          <h2 id="stories">Your stories</h2>
          <ul className="stories">
            {stories.map((story) => (
              <li key={story.story}>
                <a href={`#/story/${story.story}`}>
                  <bdi>{story.title || "Untitled"}</bdi>
                </a>
                <span className="hint">
                  {story.genre} · {count(story.step, "passage")} · {new Date(story.updated).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}
                  {story.archived && " · put away"}
                </span>
                <button
                  className="quiet"
                  aria-label={`${story.archived ? "Put back" : "Put away"} ${story.title}`}
                  onClick={() => void attempt(() => send("PUT", `/stories/${story.story}/archived`, { archived: !story.archived })).then(read)}
                >
                  {story.archived ? "Put back" : "Put away"}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {away > 0 && (
        <button className="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? "Hide" : "Show"} {count(away, "story", "stories")} put away
        </button>
      )}
      {settings && <MachineSettings onClose={() => setSettings(false)} />}
      {book && <Imported {...book} onClose={() => setBook(null)} />}
    </main>
  );
}

function Imported(props: { preview: Preview; file: File; onClose: () => void }) {
  const { preview } = props;
  const { problem, attempt } = useAttempt();
  const [fast, setFast] = useState(true);
  const [busy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    await attempt(async () => goTo((await upload<{ story: string }>("/imports/begin", props.file, { fast: String(fast) })).story));
    setBusy(false);
  };
  return (
    <Dialog title="Import a manuscript" onClose={props.onClose}>
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
          ? "The telling sentence of each passage becomes its summary. It takes seconds and costs nothing."
          : `About ${count(preview.calls, "call")} and ${tokens(preview.input_tokens + preview.output_tokens)} tokens. It can be stopped, and the same file goes on.`}
      </p>
      <Problem text={problem} />
      <div className="row">
        <button className="primary" disabled={busy} onClick={() => void begin()}>
          {busy ? "Importing" : "Import it"}
        </button>
        <button className="quiet" onClick={props.onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
