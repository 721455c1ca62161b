import { useEffect, useRef, useState } from "react";
import { get, send } from "./api";
import { goTo } from "./route";
import { lendToStory, openAgain, useUnsavedText } from "./unsavedText";
import { EraseDialog } from "./EraseDialog";
import { FromTabs, Thrown } from "./PendingWork";
import { Problem, ShortInput, useAttempt } from "./components";
import { Input, MachineSettings } from "./Settings";
import { count, excerpt } from "./format";
import type { SettingField, StorySummary, Settings } from "./types";

type Shown = { stories: StorySummary[]; genres: string[] };

const [NOVEL, PLAY] = ["novel", "play"];
const TITLE = 90;
const PREMISE = 160;
/** Stories that are listed before the form of a new one. */
const FIRST = 4;
const ASKED_AT_FIRST = ["language", "point_of_view", "tense", "min_words", "max_words", "style"];

export function StartPage(props: { onFile: (file: File | undefined) => void }) {
  const [found, setFound] = useState<Shown | null>(null);
  const [asked, setAsked] = useState(false);
  const chosen = useUnsavedText("start/genre");
  const genre = chosen.text ?? "";
  const premise = useUnsavedText("start/premise");
  const player = useUnsavedText("start/player");
  const how = useUnsavedText("start/how");
  const play = how.text === null ? player.text !== null : how.text === PLAY;
  const [fields, setFields] = useState<SettingField[]>([]);
  const told = useUnsavedText("start/settings");
  const storySettings = JSON.parse(told.text || "{}") as Record<string, unknown>;
  const [busy, setBusy] = useState(false);
  const [settings, setSettings] = useState(false);
  const [all, setAll] = useState(false);
  const [every, setEvery] = useState(false);
  const [erased, setErased] = useState<StorySummary | null>(null);
  const { problem, setProblem, attempt } = useAttempt();
  const beginning = useAttempt();
  const refusal = useRef<HTMLDivElement>(null);
  const read = () => attempt(async () => setFound(await get<Shown>("/stories")));
  useEffect(() => {
    document.title = "The writing desk";
    void read().then(() => setAsked(true));
    void get<Settings>("/settings").then((known) => setFields(known.fields), () => undefined);
  }, []);

  // A refusal of several lines may begin at the lower edge of a phone.
  useEffect(() => void refusal.current?.scrollIntoView({ block: "nearest" }), [beginning.problem]);

  const begin = async () => {
    setBusy(true);
    await beginning.attempt(async () => {
      const wish = { genre, premise: premise.text ?? "", play, player: player.text ?? "", settings: storySettings };
      const { story } = await send<{ story: string }>("POST", "/stories", wish);
      // It goes when the first passage is there: a wrong key must not cost the premise.
      for (const field of [premise, player, how, chosen, told]) lendToStory(field.key, story, field.text ?? "");
      goTo(story);
    });
    setBusy(false);
  };
  const shown = (key: string) => key.includes("player") && how.change(PLAY);
  const stories = (found?.stories ?? []).filter((story) => all || !story.archived);
  const away = (found?.stories.length ?? 0) - (found?.stories.filter((story) => !story.archived).length ?? 0);

  return (
    <main className="start">
      <header>
        <h1>The writing desk</h1>
        <p className="lead">A novel of any length, passage by passage. You choose what happens next.</p>
      </header>
      <Problem text={problem} onClose={() => setProblem("")} />
      {stories.length > 0 && (
        <section aria-labelledby="stories">
          <h2 id="stories">Your stories</h2>
          <ul className="stories">
            {stories.slice(0, every || all ? undefined : FIRST).map((story) => (
              <li key={story.story}>
                <a href={`#/story/${story.story}`}>
                  <bdi>{excerpt(story.title, TITLE) || "Untitled"}</bdi>
                </a>
                <span className="hint">
                  {story.genre && `${story.genre} · `}{story.status === "unopened" ? "not written yet" : `${count(story.words, "word")} in ${count(story.step, "passage")}`} · {new Date(story.updated).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}
                  {story.archived && " · put away"}
                </span>
                {story.premise && story.premise !== story.title && <span className="hint" dir="auto">{excerpt(story.premise, PREMISE)}</span>}
                <span className="row">
                  {story.status !== "unopened" && <button
                    className="quiet"
                    aria-label={`${story.archived ? "Put back" : "Put away"} ${story.title}`}
                    onClick={() => void attempt(() => send("PUT", `/stories/${story.story}/archived`, { archived: !story.archived })).then(read)}
                  >
                    {story.archived ? "Put back" : "Put away"}
                  </button>}
                  {(story.archived || story.status === "unopened") && (
                    <button className="quiet" aria-label={`Erase ${story.title}`} onClick={() => setErased(story)}>
                      Erase
                    </button>
                  )}
                </span>
              </li>
            ))}
          </ul>
          {stories.length > FIRST && !all && <button className="quiet" aria-pressed={every} onClick={() => setEvery(!every)}>{every ? "Show fewer" : `Show all ${stories.length} stories`}</button>}
        </section>
      )}
      {away > 0 && (
        <button className="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? "Hide" : "Show"} {count(away, "story", "stories")} put away
        </button>
      )}
      {/* Genres that came later would move the button away from under a hand. */}
      {asked && <form
        className="begin"
        aria-label="A new story"
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        {stories.length > 0 && <h2>A new story</h2>}
        <label className="field">
          <span>What is it about?</span>
          <textarea rows={3} dir="auto" value={premise.text ?? ""} onChange={(event) => premise.change(event.target.value)} placeholder="A lighthouse keeper finds a stranger’s diary. Or leave it empty, and be surprised." />
          {premise.kept && <span className="kept">This is your text from before. {premise.begun ? "A story was begun from it, whose first passage is not written yet." : "No story was begun from it yet."}</span>}
        </label>
        <FromTabs owner="start" onBack={shown} />
        <Thrown owner="start" onBack={({ key }) => (openAgain(key), shown(key))} />
        <fieldset className="genres">
          <legend>Genre</legend>
          {["", ...(found?.genres ?? [])].map((name) => (
            <label key={name}>
              <input type="radio" name="genre" value={name} checked={genre === name} onChange={() => chosen.change(name)} />
              <span>{name || "any"}</span>
            </label>
          ))}
        </fieldset>
        <fieldset className="genres">
          <legend>How</legend>
          <label>
            <input type="radio" name="how" checked={!play} onChange={() => how.change(NOVEL)} />
            <span>write a novel</span>
          </label>
          <label>
            <input type="radio" name="how" checked={play} onChange={() => how.change(PLAY)} />
            <span>play a part in it</span>
          </label>
        </fieldset>
        {play && (
          <label className="field">
            <span>Who do you play?</span>
            <ShortInput aria-label="Who do you play?" dir="auto" maxLength={300} value={player.text ?? ""} onChange={(event) => player.change(event.target.value)} placeholder="A reluctant astronaut. Or leave it empty, and choose among three." />
          </label>
        )}
        <details>
          <summary>How it is told: language, point of view, length, style</summary>
          <div className="settings">
            {ASKED_AT_FIRST.flatMap((name) => fields.find((field) => field.name === name) ?? []).map((field) => (
              <Input key={field.name} field={field} value={storySettings[field.name]} set={(name, value) => told.change(JSON.stringify({ ...storySettings, [name]: value }))} />
            ))}
          </div>
        </details>
        <div ref={refusal}>
          <Problem text={beginning.problem} onClose={() => beginning.setProblem("")} />
        </div>
        <div className="row">
          <button className="primary" disabled={busy}>
            {busy ? "One moment" : "Begin"}
          </button>
          <label className="button quiet">
            Import a manuscript
            <input type="file" className="sr" accept=".txt,.md,.markdown,.docx,.epub,.json" onChange={(event) => {
                props.onFile(event.target.files?.[0]);
                event.target.value = "";
              }} />
          </label>
          <button type="button" className="quiet" onClick={() => setSettings(true)}>
            Model and endpoint
          </button>
        </div>
        <p className="hint">A text, Markdown, Word or EPUB file, or a story that was exported whole (.json), can be dropped anywhere on this page.</p>
      </form>}
      {erased && (
        <EraseDialog
          story={erased}
          onClose={() => setErased(null)}
          onErased={() => {
            setErased(null);
            void read();
          }}
        />
      )}
      {settings && <MachineSettings onClose={() => setSettings(false)} />}
    </main>
  );
}
